"""The container that serves the model."""

from typing import Annotated

from pydantic import Field

from dpd.manifest.base import ManifestModel
from dpd.manifest.env_var import EnvVar
from dpd.manifest.primitives import Int32, Items, NamedItems
from dpd.manifest.probes import Probes
from dpd.manifest.resources import ResourceRequirements


class ModelInvocationPort(ManifestModel):
    """Port on which the model server listens."""

    name: Annotated[str, Field(pattern="^http$|^grpc$")] = "http"
    container_port: Annotated[Int32, Field(ge=1, le=65535)]


class ModelVolumeMount(ManifestModel):
    """Where the weights appear in the container."""

    name: str
    mount_path: str = "/opt/ml/model"


class RequestLimits(ManifestModel):
    """What the nginx sidecar lets through to one pod."""

    max_concurrent_requests: Annotated[Int32, Field(ge=1)] | None = None
    """Default: no limit."""
    max_queue_size: Annotated[Int32, Field(ge=0)] | None = None
    """Requests that wait once the limit is reached. Default: none, they are refused at once."""
    overflow_status_code: Annotated[Int32, Field(ge=400, le=599)] = 429


class Worker(ManifestModel):
    """The container that serves the model; in a disaggregated endpoint, of both roles."""

    image: str
    command: Items[str] | None = None
    args: Items[str] | None = None
    """In a disaggregated endpoint a role's own arguments win over these."""
    working_dir: str | None = None
    model_invocation_port: ModelInvocationPort
    model_volume_mount: ModelVolumeMount
    resources: ResourceRequirements
    """Required by the schema, though a disaggregated endpoint uses its roles' resources only."""
    environment_variables: NamedItems[EnvVar] | None = None
    """Cannot be changed once the endpoint exists."""
    probes: Probes | None = None
    request_limits: RequestLimits | None = None
