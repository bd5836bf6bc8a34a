"""Core of hyperpod-dpd: configuration, catalog, rules and planner.

Nothing below this package imports aws_cdk, cdk8s or jsii, so that commands start at once.
"""
