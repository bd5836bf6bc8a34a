"""Certificates and the DNS record that goes with a custom one."""

from typing import Annotated

from pydantic import Field

from dpd.manifest.base import ManifestModel


class CustomCertificateConfig(ManifestModel):
    """A certificate from ACM in place of the operator's self-signed one."""

    acm_arn: Annotated[
        str, Field(pattern=r"^arn:aws:acm:[a-z0-9-]+:[0-9]{12}:certificate/[a-fA-F0-9-]+$")
    ]
    domain_name: Annotated[
        str,
        Field(
            max_length=253,
            pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$",
        ),
    ]
    """One domain of the certificate, in lower case and without wildcard."""


class TlsConfig(ManifestModel):
    """Where the operator puts its certificate, or which one it uses instead."""

    tls_certificate_output_s3_uri: Annotated[str, Field(pattern="^s3://([^/]+)/?(.*)$")] | None = (
        None
    )
    """Default: the bucket that the operator was installed with."""
    custom_certificate_config: CustomCertificateConfig | None = None


class DnsConfig(ManifestModel):
    """A Route 53 record, which needs a custom certificate."""

    hosted_zone_id: Annotated[str, Field(pattern="^Z[A-Z0-9]+$")]
