"""Collection of metrics."""

from typing import Annotated

from pydantic import Field

from dpd.manifest.base import ManifestModel
from dpd.manifest.primitives import Int32


class ModelMetrics(ManifestModel):
    """Where the model server exposes its metrics."""

    path: Annotated[str, Field(pattern=r"^/[a-zA-Z0-9\-_.\/]*$")] = "/metrics"
    port: Annotated[Int32, Field(ge=1024, le=65535)] = 8080
    """vLLM serves its metrics on the port that it takes requests on."""


class MetricsConfig(ManifestModel):
    """Collection of metrics from the sidecar and the model server."""

    enabled: bool = True
    metrics_scrape_interval_seconds: Annotated[Int32, Field(ge=5, le=300)] = 15
    model_metrics: ModelMetrics | None = None
