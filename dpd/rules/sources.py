"""Where the facts behind the rules are published."""

_SAGEMAKER = "https://docs.aws.amazon.com/sagemaker/latest/dg"
_LMCACHE = "https://github.com/LMCache/LMCache"
_VLLM = "https://docs.vllm.ai/en/v0.19.0"

DPD_GUIDE = f"{_SAGEMAKER}/sagemaker-hyperpod-model-deployment-dpd.html"
DPD_TROUBLESHOOTING = f"{_SAGEMAKER}/sagemaker-hyperpod-model-deployment-ts-dpd.html"
DPD_BLOG = (
    "https://aws.amazon.com/blogs/machine-learning/"
    "disaggregated-prefill-and-decode-for-llm-inference-on-sagemaker-hyperpod/"
)
OPERATOR_SETUP = f"{_SAGEMAKER}/sagemaker-hyperpod-model-deployment-setup.html"
RELEASE_NOTES = f"{_SAGEMAKER}/sagemaker-hyperpod-inference-release-notes.html"
GATEWAY_GUIDE = f"{_SAGEMAKER}/sagemaker-hyperpod-model-deployment-inference-gateway.html"
EKS_ENDPOINT = "https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html"
HYPERPOD_PREREQUISITES = f"{_SAGEMAKER}/sagemaker-hyperpod-prerequisites.html"
HYPERPOD_EKS_PREREQUISITES = f"{_SAGEMAKER}/sagemaker-hyperpod-eks-prerequisites.html"
HYPERPOD_LABELS = "https://github.com/aws/sagemaker-hyperpod-cli/issues/386"
CRD = (
    "https://github.com/aws/sagemaker-hyperpod-cli/blob/main/helm_chart/HyperPodHelmChart/charts/"
    "inference-operator/config/crd/"
    "inference.sagemaker.aws.amazon.com_inferenceendpointconfigs.yaml"
)
INSTANCE_TYPES = "https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html"
EFA_GUIDE = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html"
EFA_CHEATSHEET = "https://github.com/awslabs/awsome-distributed-ai"
COSMOS_REPORT = "a report from running Cosmos Reason on HyperPod; no AWS page says it"
TRAINING_PLANS = f"{_SAGEMAKER}/reserve-capacity-with-training-plans.html"
VLLM_FLAGS = f"{_VLLM}/cli/serve/"
VLLM_CONFIG = f"{_VLLM}/api/vllm/config/"
VLLM_KV_CACHE = f"{_VLLM}/api/vllm/v1/core/kv_cache_utils/"
VLLM_NIXL = f"{_VLLM}/features/nixl_connector_usage/"
LMCACHE_CONFIG = f"{_LMCACHE}/blob/v0.4.3/lmcache/v1/config.py"
LMCACHE_PD_BACKEND = f"{_LMCACHE}/blob/v0.4.3/lmcache/v1/storage_backend/pd_backend.py"
KUBERNETES_RESOURCES = (
    "https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/"
)
KUBERNETES_NAMES = "https://kubernetes.io/docs/concepts/overview/working-with-objects/names/"
KUBERNETES_VOLUMES = "https://kubernetes.io/docs/concepts/storage/volumes/#emptydir"


def issue(repository: str, number: int) -> str:
    """Return the address of an issue or pull request."""
    return f"https://github.com/{repository}/issues/{number}"
