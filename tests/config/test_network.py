"""Address blocks and zones."""

from ipaddress import IPv4Network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from dpd.config.network import AvailabilityZoneId, Cidr

CIDR = TypeAdapter(Cidr)
ZONE = TypeAdapter(AvailabilityZoneId)


@settings(derandomize=True, max_examples=100, deadline=None, database=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 32))
def test_blocks_survive_a_dump(address: int, prefix: int) -> None:
    """Any block is read and written the same."""
    block = IPv4Network((address >> (32 - prefix) << (32 - prefix), prefix))
    assert CIDR.validate_python(str(block)) == block
    assert CIDR.dump_python(block, mode="json") == str(block)


@pytest.mark.parametrize(
    "value",
    [
        "10.1.0.0",
        "10.1.0.1/16",
        "10.1/16",
        "10.1.0.0/33",
        "10.1.0.0/255.255.0.0",
        "256.0.0.0/8",
        "",
        "::/0",
        "10.1.0.0/16 ",
        "10.1.0.0/16\n",
        "\u0661\u0660.1.0.0/16",
        "010.1.0.0/16",
        None,
        5,
        [],
        {},
        True,
    ],
)
def test_everything_else_is_refused(value: object) -> None:
    """Host bits, netmasks, IPv6 and other types; an example shows what is meant."""
    with pytest.raises(ValidationError, match="host bits are zero"):
        CIDR.validate_python(value)


@pytest.mark.parametrize("zone", ["use2-az1", "apne1-az4", "usgw1-az3", "euc1-az12"])
def test_zone_ids(zone: str) -> None:
    """By id, which is the same place in every account."""
    assert ZONE.validate_python(zone) == zone


@pytest.mark.parametrize(
    "zone", ["us-east-2a", "use2", "use2-az", "USE2-AZ1", "use2-az1 ", "a", ""]
)
def test_zone_names_are_no_ids(zone: str) -> None:
    """The letter of a zone name differs by account."""
    with pytest.raises(ValidationError):
        ZONE.validate_python(zone)
