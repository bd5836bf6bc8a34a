"""An endpoint may change, but not become another one in place."""

from typing import Any

import pytest

HERE = {"Namespace": "models", "Name": "llama"}
WORKERS = {"Deployments": ["llama-prefill", "llama-decode"]}
MOVES = {
    "namespace": (HERE, {**HERE, "Namespace": "elsewhere"}),
    "name": (HERE, {**HERE, "Name": "other"}),
    "runtime": (HERE, HERE | WORKERS),
    "namespace of Deployments": (HERE | WORKERS, {**HERE, **WORKERS, "Namespace": "elsewhere"}),
    "all": (HERE | WORKERS, {"Namespace": "elsewhere", "Name": "other"}),
}
CHANGES = {
    "weights": (HERE, HERE | {"Prefix": "models/llama-2"}),
    "Deployments": (HERE | WORKERS, HERE | {"Deployments": ["llama-decode"]}),
}
moves = pytest.mark.parametrize(("old", "new"), MOVES.values(), ids=MOVES)


def update(waiter: Any, old: Any, new: Any, *, there: Any) -> None:
    """Ask for an update, as CloudFormation does where an endpoint is there."""
    event = {
        "PhysicalResourceId": waiter.identity.physical_id(there, suffix="weights"),
        "OldResourceProperties": old,
        "ResourceProperties": new,
    }
    waiter.identity.require_same_endpoint(event, waiter.identity.physical_id(new, suffix="weights"))


@moves
@pytest.mark.parametrize("back", [False, True])
def test_move_is_refused(waiter: Any, old: Any, new: Any, back: bool) -> None:
    """In both directions; with what there is, what was asked for, and the way there."""
    if back:
        old, new = new, old
    with pytest.raises(waiter.failure.Failure) as caught:
        update(waiter, old, new, there=old)
    line = str(caught.value)
    before, after = (waiter.identity.named_endpoint(properties) for properties in (old, new))
    assert f" from {before} to {after} in place" in line
    assert line.endswith("; destroy the endpoint's stack first, then deploy it")


@moves
def test_refused_move_can_be_rolled_back(waiter: Any, old: Any, new: Any) -> None:
    """CloudFormation asks for another update, whose old properties are the refused ones."""
    update(waiter, new, old, there=old)


@pytest.mark.parametrize(("old", "new"), CHANGES.values(), ids=CHANGES)
def test_change_is_accepted(waiter: Any, old: Any, new: Any) -> None:
    """And is no other identity, for which CloudFormation would delete this one."""
    update(waiter, old, new, there=old)


def test_endpoints_have_different_ids(waiter: Any) -> None:
    """Each of them, for each of the two resources."""
    endpoints = [*(pair[0] for pair in MOVES.values()), *(pair[1] for pair in MOVES.values())]
    unlike = {(e["Namespace"], e["Name"], "Deployments" in e) for e in endpoints}
    ids = {
        waiter.identity.physical_id(e, suffix=s) for e in endpoints for s in ("weights", "ready")
    }
    assert len(ids) == 2 * len(unlike)
