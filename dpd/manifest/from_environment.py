"""Builds the custom resource of an endpoint."""

from pydantic import ValidationError

from dpd.config import Environment
from dpd.errors import UserError
from dpd.manifest.endpoint_config import (
    InferenceEndpointConfig,
    InferenceEndpointSpec,
)
from dpd.manifest.endpoint_spec import AnyEndpoint, endpoint_spec
from dpd.manifest.metadata import ObjectMeta
from dpd.manifest.overrides import override_spec


def endpoint_config(environment: Environment, endpoint: AnyEndpoint) -> InferenceEndpointConfig:
    """Return the custom resource of an endpoint, its raw `overrides` merged in last.

    Raises:
        UserError: An override names a field that the custom resource does not have, or gives it
            a value that it does not take.
    """
    spec = InferenceEndpointSpec.from_manifest(endpoint_spec(environment, endpoint))
    if endpoint.overrides:
        try:
            spec = override_spec(spec, endpoint.overrides)
        except ValidationError as error:
            raise UserError(*_lines(endpoint, error)) from None
    metadata = ObjectMeta(name=endpoint.name, namespace=endpoint.resolved_namespace)
    return InferenceEndpointConfig(metadata=metadata, spec=spec)


def _lines(endpoint: AnyEndpoint, error: ValidationError) -> list[str]:
    return [
        f"endpoints.{endpoint.name}.overrides.{'.'.join(map(str, item['loc']))}: {item['msg']}"
        for item in error.errors(include_url=False)
    ]
