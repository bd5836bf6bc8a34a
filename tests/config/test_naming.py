"""Names hold to the limits of AWS and Kubernetes, whatever the environment is called."""

import re
from itertools import product

import pytest

from dpd.catalog import health_monitoring_agent_accounts
from dpd.config import Environment, naming

REGIONS = sorted(health_monitoring_agent_accounts())
ZONES = {
    "us-east-1": "use1", "us-east-2": "use2", "us-west-1": "usw1", "us-west-2": "usw2",
    "ca-central-1": "cac1", "sa-east-1": "sae1", "eu-central-1": "euc1", "eu-north-1": "eun1",
    "eu-west-1": "euw1", "eu-west-2": "euw2", "eu-south-2": "eus2", "ap-northeast-1": "apne1",
    "ap-south-1": "aps1", "ap-southeast-1": "apse1", "ap-southeast-2": "apse2",
    "ap-southeast-3": "apse3", "ap-southeast-4": "apse4", "us-gov-west-1": "usgw1",
}  # fmt: skip


@pytest.fixture(params=product(["a", "e" * 16], REGIONS), ids="-".join)
def extreme(request: pytest.FixtureRequest, environment: Environment) -> Environment:
    """The shortest and the longest environment name, in every region."""
    name, region = request.param
    return environment.model_copy(update={"name": name, "region": region})


def test_buckets_are_distinct_bucket_names(extreme: Environment) -> None:
    """3 to 63 characters; two begin with what AWS's managed policies grant."""
    buckets = [
        naming.model_bucket(extreme),
        naming.lifecycle_bucket(extreme),
        naming.tls_bucket(extreme),
        naming.access_log_bucket(extreme),
    ]
    assert len(set(buckets)) == 4
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]", bucket) for bucket in buckets)
    assert naming.lifecycle_bucket(extreme).startswith("sagemaker-")
    assert naming.tls_bucket(extreme).startswith("hyperpod-tls-")


def test_role_cluster_and_stack_names_fit(extreme: Environment) -> None:
    """IAM: 64; clusters: 63; stacks: 128 characters."""
    assert naming.operator_role(extreme).startswith("SageMakerHyperPodInference")
    assert len(naming.operator_role(extreme)) <= 64
    assert re.fullmatch(r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}", naming.cluster_name(extreme))
    stack = naming.endpoint_stack_name(extreme, "n" * 40)
    assert re.fullmatch(r"[a-zA-Z][a-zA-Z0-9-]{0,127}", stack)
    assert stack.startswith(f"dpd-{extreme.name}-endpoint-")


def test_sagemaker_endpoint_name_fits(extreme: Environment) -> None:
    """63 characters; empty where none is wanted."""
    endpoint = extreme.endpoints[0].model_copy(update={"name": "n" * 40})
    name = naming.sagemaker_endpoint_name(extreme, endpoint)
    assert re.fullmatch(r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}", name)
    without = endpoint.model_copy(update={"sagemaker_endpoint": False})
    assert naming.sagemaker_endpoint_name(extreme, without) == ""


def test_url_names_the_routing_service(environment: Environment) -> None:
    """The Service is in the operator's namespace, not in the endpoint's."""
    endpoint = environment.endpoints[0].model_copy(update={"namespace": "team"})
    assert naming.router(endpoint) == "chat-team-router"
    service = naming.routing_service(endpoint)
    assert service == "chat-team-routing-service"
    host = f"{service}.{naming.OPERATOR_NAMESPACE}.svc.cluster.local"
    assert naming.endpoint_url(endpoint).startswith(f"http://{host}:443/")


@pytest.mark.parametrize(("region", "prefix"), ZONES.items())
def test_zone_ids_begin_like_the_region(region: str, prefix: str) -> None:
    """As AWS spells them."""
    assert naming.availability_zone_prefix(region) == prefix


def test_zone_prefixes_tell_regions_apart() -> None:
    """Every region in the catalog has one, and no two the same."""
    assert set(REGIONS) <= set(ZONES)
    assert len({naming.availability_zone_prefix(region) for region in REGIONS}) == len(REGIONS)
