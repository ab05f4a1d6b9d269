"""Which addresses are public: by the tables, and not by the mercy of Python's version."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.webhooks.addresses import carried, refusal
from tests.webhooks.forms import PUBLIC, PUBLIC_6, SPECIAL_4, SPECIAL_6


@pytest.mark.parametrize("text", [*SPECIAL_4, *SPECIAL_6])
def test_a_special_address_is_refused_for_a_reason_of_our_own(text):
    assert refusal(ip_address(text)) not in (None, "not public")


@pytest.mark.parametrize("text", [PUBLIC, PUBLIC_6, "1.1.1.1", "172.15.255.255", "172.32.0.0", "100.63.255.255", "100.128.0.0",
                                  "169.253.255.255", "223.255.255.255", "2001:200::1", "2003::1", "3ffe::1"])  # fmt: skip
def test_the_neighbours_of_special_addresses_are_public(text):
    assert refusal(ip_address(text)) is None


@given(st.ip_addresses())
def test_nothing_is_public_that_python_does_not_call_so(address):
    if refusal(address) is None:
        assert address.is_global
        assert not address.is_multicast


@given(st.ip_addresses(v=4))
def test_an_address_inside_another_is_found(inner):
    low = int(inner)
    for outer in (
        IPv6Address(0xFFFF << 32 | low),
        IPv6Address(0x64_FF9B << 96 | low),
        IPv6Address(0x2002 << 112 | low << 80),
        IPv6Address(0x2001_0000 << 96 | (low ^ 0xFFFF_FFFF)),
        IPv6Address(0x2606_2800 << 96 | 0x5EFE << 32 | low),
    ):
        assert carried(outer) == inner
        assert refusal(outer) is not None
    assert carried(inner) is None


def test_a_plain_address_carries_nothing():
    assert carried(IPv6Address(PUBLIC_6)) is None
    assert carried(IPv4Address(PUBLIC)) is None
