"""Health probes of the worker container."""

from dpd.manifest.base import ManifestModel
from dpd.manifest.primitives import Int32, Int64, IntOrString, Items


class ExecAction(ManifestModel):
    """A command that succeeds with exit status 0."""

    command: Items[str] | None = None


class GrpcAction(ManifestModel):
    """A gRPC health check."""

    port: Int32
    service: str = ""


class HttpHeader(ManifestModel):
    """A header of the probe's request."""

    name: str
    value: str


class HttpGetAction(ManifestModel):
    """A request that succeeds with a status from 200 to 399."""

    scheme: str | None = None
    host: str | None = None
    port: IntOrString
    path: str | None = None
    http_headers: Items[HttpHeader] | None = None


class TcpSocketAction(ManifestModel):
    """A connection that can be opened."""

    host: str | None = None
    port: IntOrString


class Probe(ManifestModel):
    """One probe; exactly one of its four actions. Times are in seconds."""

    exec: ExecAction | None = None
    grpc: GrpcAction | None = None
    http_get: HttpGetAction | None = None
    tcp_socket: TcpSocketAction | None = None
    initial_delay_seconds: Int32 | None = None
    period_seconds: Int32 | None = None
    timeout_seconds: Int32 | None = None
    success_threshold: Int32 | None = None
    failure_threshold: Int32 | None = None
    termination_grace_period_seconds: Int64 | None = None


class Probes(ManifestModel):
    """The worker's probes; without a readiness probe the operator sets its own."""

    startup_probe: Probe | None = None
    readiness_probe: Probe | None = None
    liveness_probe: Probe | None = None
