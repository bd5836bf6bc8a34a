"""Recording of requests and answers in S3, at up to three places on their way."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from dpd.manifest.base import ManifestModel
from dpd.manifest.primitives import Int32, Items, refuse_repeats

CaptureMode = Literal["Input", "Output"]
ContentTypes = Annotated[
    tuple[str, ...],
    Field(
        strict=False,
        min_length=1,
        max_length=10,
        json_schema_extra={"x-kubernetes-list-type": "set"},
    ),
    AfterValidator(refuse_repeats),
]


class CaptureContentTypeHeader(ManifestModel):
    """Content types that count as CSV or JSON."""

    csv_content_types: ContentTypes | None = None
    json_content_types: ContentTypes | None = None


class CaptureOption(ManifestModel):
    """One direction to record."""

    capture_mode: CaptureMode


class LoadBalancerCapture(ManifestModel):
    """Access logs of the load balancer."""

    enabled: bool


class BufferConfig(ManifestModel):
    """When records are written out: at this many, or after this long."""

    batch_size: Annotated[Int32, Field(ge=1, le=1000)] = 10
    flush_interval_seconds: Annotated[Int32, Field(ge=10, le=300)] = 60


class PayloadConfig(ManifestModel):
    """How much of a payload is recorded."""

    max_payload_size_kb: Annotated[Int32, Field(ge=0, le=10240)] = 0
    """0 records all of it."""


class SagemakerEndpointCapture(ManifestModel):
    """Recording at the SageMaker endpoint."""

    enabled: bool
    initial_sampling_percentage: Annotated[Int32, Field(ge=0, le=100)] | None = None
    """Default: 100."""
    capture_options: Annotated[Items[CaptureOption], Field(min_length=1, max_length=32)] | None = (
        None
    )
    """Default: both directions."""
    capture_content_type_header: CaptureContentTypeHeader | None = None
    kms_key_id: Annotated[str, Field(max_length=2048, pattern="^[a-zA-Z0-9:/_-]*$")] | None = None


class ModelPodCapture(SagemakerEndpointCapture):
    """Recording in the model's pod."""

    buffer_config: BufferConfig | None = None
    payload_config: PayloadConfig | None = None


class DataCapture(ManifestModel):
    """Recording of requests and answers."""

    s3_uri: Annotated[str, Field(max_length=512, pattern="^s3://([^/]+)(/[^,=]*)?$")] | None = None
    """Default: the bucket of the TLS certificate."""
    sagemaker_endpoint: SagemakerEndpointCapture | None = None
    load_balancer: LoadBalancerCapture | None = None
    model_pod: ModelPodCapture | None = None
