"""The worker image of an endpoint, and the programs inside it."""

from dataclasses import dataclass

from dpd.catalog import worker_images
from dpd.config import SelfManagedEndpoint


@dataclass(frozen=True)
class Image:
    """A container image and where its vLLM and its Python are."""

    reference: str
    vllm: str

    @property
    def python(self) -> str:
        """The Python that vLLM is installed in."""
        return self.vllm.removesuffix("vllm") + "python3"


def worker_image(endpoint: SelfManagedEndpoint) -> Image:
    """Return the image; one of a repository that the catalog knows has its programs there too."""
    known = worker_images().get(endpoint.image)
    if known:
        return Image(known.reference, known.executable)
    repository = endpoint.image.partition("@")[0].rpartition(":")[0]
    executables = {
        image.reference.rpartition(":")[0]: image.executable for image in worker_images().values()
    }
    return Image(endpoint.image, executables.get(repository, "vllm"))
