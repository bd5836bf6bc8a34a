"""Raw `spec` fields laid over a spec, for what the environment file has no word for."""

from collections.abc import Iterator, Mapping
from typing import Any

from dpd.manifest.endpoint_config import InferenceEndpointSpec
from dpd.manifest.names import Path, fields_at
from dpd.manifest.refusals import refuse, unknown_field


def merge_overrides(spec: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return `spec` with `overrides` laid over it, by the rules of JSON merge patch (RFC 7396).

    Mappings merge, lists and scalars replace, null removes the key. Neither argument changes.
    """
    merged = dict(spec)
    for key, value in overrides.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, Mapping):
            below = merged.get(key)
            merged[key] = merge_overrides(below if isinstance(below, Mapping) else {}, value)
        else:
            merged[key] = value
    return merged


def override_spec(
    spec: InferenceEndpointSpec, overrides: Mapping[str, Any]
) -> InferenceEndpointSpec:
    """Return `spec` with `overrides` laid over it, checked like any other spec.

    Raises:
        ValidationError: with paths that start at the spec; a field that does not exist is an
            error even where null would remove it.
    """
    unknown = [
        unknown_field(InferenceEndpointSpec, path, None)
        for path in _removed(overrides)
        if (known := fields_at(InferenceEndpointSpec, path[:-1])) and path[-1] not in known
    ]
    if unknown:
        raise refuse(InferenceEndpointSpec.__name__, unknown)
    return InferenceEndpointSpec.from_manifest(merge_overrides(spec.to_manifest(), overrides))


def _removed(overrides: Mapping[str, Any], above: Path = ()) -> Iterator[Path]:
    for key, value in overrides.items():
        if value is None:
            yield (*above, key)
        elif isinstance(value, Mapping):
            yield from _removed(value, (*above, key))
