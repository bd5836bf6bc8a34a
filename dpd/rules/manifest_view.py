"""From a custom resource, however wrong its values may be, to the view that the rules take."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from dpd.catalog import ModelArchitecture, model_architectures
from dpd.catalog import vllm_flags as vllm
from dpd.catalog.vllm_flags import Flag
from dpd.config.source import KeyPath
from dpd.planner.memory import weight_formats
from dpd.rules.view import SAGEMAKER_PREFIX, EndpointView, Role, Written, is_for_sagemaker

INSTANCE_TYPE_LABEL = "node.kubernetes.io/instance-type"

_ROLE_FIELDS = {"prefill": ("pdSpec", "prefillSpec"), "decode": ("pdSpec", "decodingSpec")}
_DTYPES = {"half": "float16", "float": "float32"}
_SIXTEEN_BITS = {"bfloat16", "float16"}
_MODEL_SUFFIX = r"(instruct|chat|base|it|hf|fp8|bf16)*\d{0,4}"
_QUANTIZED = r"awq|gptq|int[48]|w\d+a\d+|bnb|gguf|nvfp4|mxfp4|quant"


class Knowledge(NamedTuple):
    """What an environment file knows beyond the custom resource."""

    architecture: str
    """Its name or alias in the catalog."""
    dtype: str
    weight_format: str
    instance_types: Mapping[str, str]
    """Instance type by role."""


def manifest_view(
    document: Mapping[str, Any],
    *,
    path: KeyPath = (),
    locate: Callable[[KeyPath], KeyPath] | None = None,
    knowledge: Knowledge | None = None,
) -> EndpointView:
    """Return the view of a custom resource.

    Args:
        document: The parsed document.
        path: Where it lies in its file.
        locate: From a path in `spec` to where the value was written. Default: the same place.
        knowledge: What is known beyond the document.
    """
    spec, metadata = _mapping(document.get("spec")), _mapping(document.get("metadata"))
    above = path if locate else (*path, "metadata")

    def in_document(keys: KeyPath) -> KeyPath:
        return (*path, "spec", *keys)

    find = locate or in_document
    image = _text(_mapping(spec.get("worker")).get("image"))
    command = _list(_mapping(spec.get("worker")).get("command"))
    shared = [
        *vllm.parse(_after_program(command), ("worker", "command")),
        *vllm.parse(_words(_mapping(spec.get("worker")).get("args")), ("worker", "args")),
    ]
    shared = [_moved(flag, find) for flag in shared]
    variables = _variables(spec, find)
    roles, arguments = [], list(shared)
    shared = [*_flags_from(variables), *shared]
    for name, keys in _roles(spec):
        own = vllm.parse(
            _words(_mapping(_at(spec, keys)).get("args")) if keys else [], (*keys, "args")
        )
        own = [_moved(flag, find) for flag in own]
        arguments += own
        given_type = knowledge.instance_types.get(name) if knowledge else None
        role = _role(name, keys, spec, find, shared, own, given_type)
        is_open = is_for_sagemaker(image, variables) or "config" in role.flags
        roles.append(role._replace(has_more_flags=is_open))
    architecture = knowledge.architecture if knowledge else _architecture(spec, shared)
    model = model_architectures().get(architecture)
    # Every model of the catalog computes in bfloat16 unless told otherwise.
    dtype = knowledge.dtype if knowledge else "bfloat16" if model else None
    return EndpointView(
        path=path,
        name=Written(_text(metadata.get("name")), (*above, "name")),
        namespace=Written(_text(metadata.get("namespace")) or "default", (*above, "namespace")),
        is_environment=locate is not None,
        spec=spec,
        locate=find,
        image=Written(image, find(("worker", "image"))),
        is_vllm=_is_vllm(image, command),
        roles=tuple(roles),
        arguments=tuple(arguments),
        variables=variables,
        architecture=model,
        architecture_name=architecture,
        dtype=dtype,
        weight_format=_weight_format(
            {flag.name: flag.value for flag in shared},
            stored=knowledge.weight_format if knowledge else _stored(spec, model),
            dtype=dtype,
        ),
    )


def _roles(spec: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    if spec.get("pdSpec") is not None:
        yield from _ROLE_FIELDS.items()
    else:
        yield "worker", ()


def _role(
    name: str,
    keys: tuple[str, ...],
    spec: Mapping[str, Any],
    find: Callable[[KeyPath], KeyPath],
    shared: list[Flag],
    own: list[Flag],
    given_type: str | None,
) -> Role:
    fields = _mapping(_at(spec, keys))
    # A disaggregated endpoint ignores the worker's resources and uses its roles'.
    where = (*keys, "resources") if keys else ("worker", "resources")
    resources = _mapping(_at(spec, where))
    overridden = {flag.name for flag in own}
    selector = _pairs(fields.get("nodeSelector"), (*keys, "nodeSelector"), find) if keys else {}
    replicas = fields.get("replicas", 1)
    return Role(
        name=name,
        path=find(keys),
        replicas=Written(replicas if type(replicas) is int else 1, find((*keys, "replicas"))),
        flags={
            flag.name: flag
            for flag in (*(flag for flag in shared if flag.name not in overridden), *own)
        },
        requests=_pairs(resources.get("requests"), (*where, "requests"), find),
        limits=_pairs(resources.get("limits"), (*where, "limits"), find),
        node_selector=selector,
        instance_type=_instance_type(spec, selector, find, given_type, keys),
        has_more_flags=False,
    )


def _instance_type(
    spec: Mapping[str, Any],
    selector: Mapping[str, Written[str]],
    find: Callable[[KeyPath], KeyPath],
    given: str | None,
    keys: tuple[str, ...],
) -> Written[str] | None:
    if given is not None:
        return Written(given, find((*keys, "nodeSelector")))
    if INSTANCE_TYPE_LABEL in selector:
        return selector[INSTANCE_TYPE_LABEL]
    if isinstance(one := spec.get("instanceType"), str):
        return Written(one, find(("instanceType",)))
    match _list(spec.get("instanceTypes")):
        case [str() as only]:
            return Written(only, find(("instanceTypes", 0)))
    return None


def _variables(
    spec: Mapping[str, Any], find: Callable[[KeyPath], KeyPath]
) -> dict[str, Written[str | None]]:
    keys = ("worker", "environmentVariables")
    variables: dict[str, Written[str | None]] = {}
    for index, entry in enumerate(_list(_at(spec, keys))):
        if isinstance(name := _mapping(entry).get("name"), str):
            where = find((*keys, index, "value" if "value" in entry else "name"))
            variables[name] = Written(_as_text(entry.get("value")), where)
    return variables


def _flags_from(variables: Mapping[str, Written[str | None]]) -> Iterator[Flag]:
    """Yield the flags that AWS's images for SageMaker make of their variables."""
    for name, written in variables.items():
        if name.startswith(SAGEMAKER_PREFIX) and written.value is not None:
            flag = name.removeprefix(SAGEMAKER_PREFIX).lower().replace("_", "-")
            for each in vllm.parse([f"--{flag}={written.value}"], ()):
                yield each._replace(path=written.path)


def _architecture(spec: Mapping[str, Any], flags: list[Flag]) -> str:
    """Return the one architecture that all names of the model agree on, or nothing."""
    source = _mapping(spec.get("modelSourceConfig"))
    served = next((flag.value for flag in flags if flag.name == "served-model-name"), "")
    names = (
        _text(spec.get("modelName")),
        _text(source.get("modelLocation")),
        _text(_mapping(source.get("huggingFaceModel")).get("modelId")),
        served,
    )
    found = [model for name in names for model in _named(name)]
    return found[0].name if found and all(model is found[0] for model in found) else ""


def _named(name: str) -> Iterator[ModelArchitecture]:
    given = _letters(name.rstrip("/").rsplit("/", 1)[-1]).removeprefix("meta")
    matching = {
        known: model
        for known, model in model_architectures().items()
        if given.startswith(_letters(known))
        and re.fullmatch(_MODEL_SUFFIX, given[len(_letters(known)) :])
    }
    if matching:
        yield matching[max(matching, key=len)]


def _stored(spec: Mapping[str, Any], model: ModelArchitecture | None) -> str | None:
    """Return how the weights are stored, by their name, else as the model was published.

    `auto` is what `--dtype` says; None where neither is known.
    """
    location = _text(_mapping(spec.get("modelSourceConfig")).get("modelLocation"))
    name = f"{_text(spec.get('modelName'))} {location}".casefold()
    if re.search(_QUANTIZED, name):
        return None
    if "fp8" in name:
        return "fp8"
    is_as_published = model is not None and "bf16" not in name
    return (model.quantization if model and is_as_published else None) or "auto"


def _weight_format(
    flags: Mapping[str, str], *, stored: str | None, dtype: str | None
) -> str | None:
    quantization = flags.get("quantization", "")
    if quantization and quantization not in ("auto", "none"):
        return quantization if quantization in weight_formats() else None
    if stored is None or stored not in {"auto", *_SIXTEEN_BITS}:
        return stored
    given = flags.get("dtype", "auto")
    given = (dtype or given) if given == "auto" else _DTYPES.get(given, given)
    return given if given in weight_formats() else None


def _is_vllm(image: str, command: list[Any]) -> bool:
    """Return whether the arguments go to vLLM: by the image's name, unless a command says other."""
    if command:
        return "vllm" in " ".join(map(str, command)) and not any(
            " " in str(word) for word in command
        )
    return "vllm" in re.split(r"[:@]", image.rsplit("/", 1)[-1])[0]


def _after_program(command: list[Any]) -> list[Any]:
    """Return a command with nothing in place of the words before vLLM's arguments."""
    last = next((i for i, word in enumerate(command) if word == "serve"), None)
    if last is None:
        last = next((i for i, word in enumerate(command) if "vllm" in str(word)), len(command))
    return [None] * (last + 1) + _words(command[last + 1 :])


def _moved(flag: Flag, find: Callable[[KeyPath], KeyPath]) -> Flag:
    return flag._replace(path=find(flag.path))


def _pairs(
    value: Any, keys: KeyPath, find: Callable[[KeyPath], KeyPath]
) -> dict[str, Written[str]]:
    return {
        str(key): Written(str(item), find((*keys, key)))
        for key, item in _mapping(value).items()
        if isinstance(item, str | int) and not isinstance(item, bool)
    }


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def _at(value: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        value = _mapping(value).get(key)
    return value


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _words(value: Any) -> list[str | None]:
    return [_as_text(word) for word in _list(value)]


def _as_text(value: Any) -> str | None:
    """Return text, also of a number whose quotes were forgotten: the schema tells of those."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if isinstance(value, str) or is_number else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
