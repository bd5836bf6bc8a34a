"""One endpoint as the rules see it, whether it stands in an environment file or in a manifest.

Every value remembers where it was written. What cannot be known from the file is None, and rules
about it stay silent.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from dpd.catalog import InstanceType, ModelArchitecture, WorkerImage, instance_types, worker_images
from dpd.catalog import vllm_flags as vllm
from dpd.catalog.vllm_flags import Flag
from dpd.config.source import KeyPath

Value = TypeVar("Value")
SAGEMAKER_PREFIX = "SM_VLLM_"
"""AWS's vLLM images for SageMaker make a flag of every variable that begins so."""


def is_for_sagemaker(image: str, variables: Iterable[str]) -> bool:
    """Return whether an image is AWS's for SageMaker, by its tag or by what it is told."""
    is_told = any(name.startswith(SAGEMAKER_PREFIX) for name in variables)
    return is_told or "sagemaker" in image.rpartition(":")[2]


class Written(NamedTuple, Generic[Value]):
    """A value and where it was written; for a default, where it would be."""

    value: Value
    path: KeyPath


class Role(NamedTuple):
    """Workers of one role: `prefill`, `decode`, or `worker` where they are not separate."""

    name: str
    path: KeyPath
    replicas: Written[int]
    flags: Mapping[str, Flag]
    """vLLM arguments in force: the role's own ones before those of all workers."""
    requests: Mapping[str, Written[str]]
    limits: Mapping[str, Written[str]]
    node_selector: Mapping[str, Written[str]]
    instance_type: Written[str] | None
    """The type of the nodes; None where it is not known or there are several."""
    has_more_flags: bool
    """Whether vLLM also takes flags from a file or from what starts it: absent ones are open."""

    @property
    def node(self) -> InstanceType | None:
        """The catalog's facts about the nodes."""
        return instance_types().get(self.instance_type.value) if self.instance_type else None

    def number(self, flag: str, default: int | None) -> Written[int] | None:
        """Return the whole number that a flag gives, or the default; None where unknown."""
        return self._read(flag, default, vllm.whole_number)

    def decimal(self, flag: str, default: float) -> Written[float] | None:
        """Return the number that a flag gives, or the default; None where it gives none."""
        return self._read(flag, default, vllm.number_of)

    def text(self, flag: str, default: str) -> Written[str]:
        """Return what a flag says, or the default."""
        written = self.flags.get(flag)
        if written:
            return Written(written.value, written.path)
        return Written("" if self.has_more_flags else default, self.path)

    def amount(self, resource: str) -> Written[int] | None:
        """Return how much of a resource a worker asks for, in units or bytes."""
        written = self.requests.get(resource) or self.limits.get(resource)
        if written is None or (amount := quantity(written.value)) is None:
            return None
        return Written(amount, written.path)

    @property
    def tensor_parallel(self) -> Written[int] | None:
        """GPUs over which each layer is divided."""
        return self.number("tensor-parallel-size", 1)

    @property
    def gpus(self) -> Written[int] | None:
        """GPUs of one worker."""
        return self.amount("nvidia.com/gpu")

    def _read(
        self, flag: str, default: Value | None, read: Callable[[str], Value | None]
    ) -> Written[Value] | None:
        written = self.flags.get(flag)
        if written is None and self.has_more_flags:
            return None
        value = default if written is None else read(written.value)
        path = self.path if written is None else written.path
        return None if value is None else Written(value, path)


class EndpointView(NamedTuple):
    """One endpoint."""

    path: KeyPath
    name: Written[str]
    namespace: Written[str]
    is_environment: bool
    """Whether it stands in an environment file."""
    spec: Mapping[str, Any]
    """`spec` of the custom resource as it would be or is written."""
    locate: Callable[[KeyPath], KeyPath]
    """From a path in `spec` to where the value was written."""
    image: Written[str]
    is_vllm: bool
    """Whether the arguments go to `vllm serve`."""
    roles: tuple[Role, ...]
    arguments: tuple[Flag, ...]
    """All arguments as written, of all workers and of the roles."""
    variables: Mapping[str, Written[str | None]]
    """Environment variables; None for a value that is taken from elsewhere."""
    architecture: ModelArchitecture | None
    architecture_name: str
    """What the file calls it, or the catalog."""
    dtype: str | None
    """What `--dtype auto` is: the type of the model's activations."""
    weight_format: str | None

    @property
    def is_disaggregated(self) -> bool:
        """Whether prefill and decode are separate."""
        return self.spec.get("pdSpec") is not None

    @property
    def is_quantized(self) -> bool:
        """Whether the weights are in another format than activations, or that is not known."""
        return self.weight_format not in ("bfloat16", "float16", "float32")

    @property
    def is_for_sagemaker(self) -> bool:
        """Whether the image is AWS's for SageMaker, which takes flags as variables."""
        return is_for_sagemaker(self.image.value, self.variables)

    @property
    def prefill(self) -> Role | None:
        """The prefill workers of a disaggregated endpoint."""
        return self._role("prefill")

    @property
    def decode(self) -> Role | None:
        """The decode workers of a disaggregated endpoint."""
        return self._role("decode")

    @property
    def known_image(self) -> WorkerImage | None:
        """The catalog's image, which may be a copy of it in another registry."""
        name = self.image.value.rsplit("/", 1)[-1]
        for known in worker_images().values():
            if known.reference.rsplit("/", 1)[-1] == name:
                return known
        return None

    @property
    def threshold(self) -> Written[int] | None:
        """Tokens from which a prompt goes through prefill workers."""
        written = self.written("pdSpec", "routingThreshold", default=4096)
        is_number = isinstance(written.value, int) and not isinstance(written.value, bool)
        return written if self.is_disaggregated and is_number else None

    @property
    def is_evenly_divided(self) -> bool:
        """Whether the tensor parallel size is one that rules for it have nothing against.

        Where it is not, sums and other sizes would only follow from the mistake.
        """
        sizes = [role.tensor_parallel for role in self.roles]
        values = {size.value for size in sizes if size}
        heads = self.architecture.attention_heads if self.architecture else 0
        gpus = min((role.node.gpu_count for role in self.roles if role.node), default=0)
        return len(values) <= 1 and all(
            value > 0 and heads % value == 0 and (not gpus or value <= gpus) for value in values
        )

    def written(self, *keys: str, default: Any = None) -> Written[Any]:
        """Return what stands in `spec` under these keys, or the default."""
        value: Any = self.spec
        for key in keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        return Written(default if value is None else value, self.locate(keys))

    def variable(self, name: str) -> str | None:
        """Return the value of an environment variable; None where it is not set here."""
        written = self.variables.get(name)
        return written.value if written else None

    def _role(self, name: str) -> Role | None:
        return next((role for role in self.roles if role.name == name), None)


_UNITS = {
    **{"": 1, "m": 0.001, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15},
    **{"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50},
}


def quantity(text: str) -> int | None:
    """Return a Kubernetes quantity as a whole number, rounded up; None if it is none."""
    digits = text.rstrip("KMGTPEikmnu")
    value, unit = vllm.number_of(digits or "?"), _UNITS.get(text[len(digits) :])
    if value is None or unit is None or digits != digits.strip():
        return None
    return -int(-(value * unit) // 1)


class ManifestFile(NamedTuple):
    """The endpoints of one file of manifests."""

    views: tuple[tuple[int, EndpointView], ...]
    """Each with the position of its document; paths of findings start with that position."""
