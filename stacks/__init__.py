"""Stacks: what is deployed and destroyed together."""

from stacks.environment import build_environment

__all__ = ["build_environment"]
