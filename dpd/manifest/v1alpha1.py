"""Documents of the older version of the custom resource.

v1alpha1 is v1 with less: the same types and defaults, fewer fields, two model sources, and an
instance type that must be named. So a document that is right as v1alpha1 is right as v1.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args

from dpd.manifest.endpoint_config import API_VERSION, KIND
from dpd.manifest.model_source import ModelSourceType
from dpd.manifest.refusals import Refusal, refuse

API_VERSION_V1ALPHA1: Final = "inference.sagemaker.aws.amazon.com/v1alpha1"

ONLY_IN_V1 = frozenset(
    {
        "spec.autoScalingSpec.cloudWatchTriggerList",
        "spec.autoScalingSpec.prometheusTriggerList",
        "spec.dataCapture",
        "spec.dnsConfig",
        "spec.instanceTypes",
        "spec.intelligentRoutingSpec",
        "spec.kubernetes",
        "spec.kvCacheSpec",
        "spec.maxDeployTimeInSeconds",
        "spec.modelSourceConfig.huggingFaceModel",
        "spec.nodeAffinity",
        "spec.pdSpec",
        "spec.tlsConfig.customCertificateConfig",
        "spec.worker.args",
        "spec.worker.command",
        "spec.worker.probes",
        "spec.worker.requestLimits",
        "spec.worker.workingDir",
    }
)
"""Fields that the API server drops from a v1alpha1 document without a word."""
REQUIRED_IN_V1ALPHA1 = frozenset({"spec.instanceType"})
"""Fields that v1 no longer requires."""
MODEL_SOURCE_TYPES: frozenset[ModelSourceType] = frozenset({"fsx", "s3"})


def upgrade_v1alpha1(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a v1alpha1 document as v1, yet to be validated.

    Raises:
        ValidationError: with the path of everything that v1alpha1 does not allow but v1 does.
    """
    if refusals := list(_refusals(document)):
        raise refuse(f"{KIND} v1alpha1", refusals)
    return {**document, "apiVersion": API_VERSION}


def _refusals(document: Mapping[str, Any]) -> Iterator[Refusal]:
    for name in sorted(ONLY_IN_V1):
        if (given := _value(document, name)) is not None:
            message = f"v1alpha1 has no {name}; remove it or set apiVersion to {API_VERSION}"
            yield Refusal(tuple(name.split(".")), "unknown_field", message, given)
    for name in sorted(REQUIRED_IN_V1ALPHA1):
        if _value(document, name) is None:
            message = f"v1alpha1 requires {name}; add it or set apiVersion to {API_VERSION}"
            yield Refusal(tuple(name.split(".")), "missing", message, document)
    name = "spec.modelSourceConfig.modelSourceType"
    source = _value(document, name)
    if any(source == kind for kind in get_args(ModelSourceType) if kind not in MODEL_SOURCE_TYPES):
        allowed = " and ".join(sorted(MODEL_SOURCE_TYPES))
        message = f"v1alpha1 knows only {allowed}; set apiVersion to {API_VERSION}"
        yield Refusal(tuple(name.split(".")), "literal_error", message, source)


def _value(document: Mapping[str, Any], name: str) -> object:
    value: object = document
    for key in name.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
