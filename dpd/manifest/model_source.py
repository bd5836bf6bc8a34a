"""Where the weights come from."""

from typing import Annotated, Literal

from pydantic import Field

from dpd.manifest.base import ManifestModel
from dpd.manifest.key_selector import KeySelector

ModelSourceType = Literal["fsx", "s3", "huggingface", "kubernetesVolume"]


class FsxStorage(ManifestModel):
    """An FSx for Lustre file system."""

    file_system_id: str
    dns_name: str | None = None
    mount_name: str | None = None


class S3Storage(ManifestModel):
    """A bucket, mounted by the S3 CSI driver."""

    bucket_name: str
    region: str


class HuggingFaceModel(ManifestModel):
    """A model of the Hugging Face Hub, downloaded by an init container."""

    model_id: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_.-]+/[a-zA-Z0-9_.-]+$")]
    """Organization and name, such as `meta-llama/Llama-3.1-8B-Instruct`."""
    commit_sha: Annotated[str, Field(pattern="^[0-9a-f]{40}$")] | None = None
    """Default: the head of the main branch."""
    token_secret_ref: KeySelector | None = None
    """Only the init container sees the token."""


class ModelSourceConfig(ManifestModel):
    """Where the weights come from; the part that belongs to the type is filled in."""

    model_source_type: ModelSourceType
    model_location: str | None = None
    """Folder within the bucket or file system."""
    prefetch_enabled: bool = False
    """Read the weights into host memory before the server loads them."""
    s3_storage: S3Storage | None = None
    fsx_storage: FsxStorage | None = None
    hugging_face_model: HuggingFaceModel | None = None
