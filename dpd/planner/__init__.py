"""Capacity planning: KV arithmetic, a step-time model, a simulation and the search over plans.

Nothing is imported here: `dpd check` needs only `dpd.planner.memory`, and that must stay light.
"""
