"""Facts about AWS, models and images, as data files with their sources."""

from dpd.catalog.addons import Addon, addons
from dpd.catalog.images import WorkerImage, worker_images
from dpd.catalog.instance_types import InstanceType, ec2_instance_types, instance_types
from dpd.catalog.models import MlaAttention, ModelArchitecture, model_architectures
from dpd.catalog.regions import health_monitoring_agent_accounts
from dpd.catalog.routers import Router, routers

__all__ = [
    "Addon",
    "InstanceType",
    "MlaAttention",
    "ModelArchitecture",
    "Router",
    "WorkerImage",
    "addons",
    "ec2_instance_types",
    "health_monitoring_agent_accounts",
    "instance_types",
    "model_architectures",
    "routers",
    "worker_images",
]
