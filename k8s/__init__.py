"""Kubernetes manifests as cdk8s charts: configuration in, manifests out, nothing else."""
