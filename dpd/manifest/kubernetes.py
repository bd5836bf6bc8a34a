"""What may be changed about the pods themselves."""

from dpd.manifest.base import ManifestModel
from dpd.manifest.primitives import DnsName, Items, KubernetesObject


class KubernetesSpec(ManifestModel):
    """Additions to the pods. Operator v3.2 knows no tolerations."""

    service_account_name: DnsName | None = None
    """Default: the namespace's default service account."""
    scheduler_name: DnsName | None = None
    init_containers: Items[KubernetesObject] | None = None
    volumes: Items[KubernetesObject] | None = None
