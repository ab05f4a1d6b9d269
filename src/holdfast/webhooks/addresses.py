"""Which addresses are public: a webhook may not reach into the network that the worker stands in.

The tables are the special-purpose registries of IANA. They stand here because Python's own `is_global` differs between
its versions and knows neither the addresses that carry another one inside them nor those that clouds made special.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_SPECIAL: tuple[tuple[Network, str], ...] = tuple((ip_network(network), reason) for network, reason in (
    ("0.0.0.0/8", "this host"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "shared inside a carrier"),
    ("127.0.0.0/8", "loopback"),
    ("168.63.129.16/32", "a cloud's own service"),
    ("169.254.0.0/16", "link-local"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.0/24", "reserved for protocols"),
    ("192.0.2.0/24", "for examples"),
    ("192.88.99.0/24", "a 6to4 relay"),
    ("192.168.0.0/16", "private"),
    ("198.18.0.0/15", "for benchmarks"),
    ("198.51.100.0/24", "for examples"),
    ("203.0.113.0/24", "for examples"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
    ("::/128", "unspecified"),
    ("::1/128", "loopback"),
    ("::/96", "IPv4 inside IPv6"),
    ("::ffff:0:0/96", "IPv4 inside IPv6"),
    ("::ffff:0:0:0/96", "IPv4 inside IPv6"),
    ("64:ff9b::/96", "IPv4 inside IPv6 (NAT64)"),
    ("64:ff9b:1::/48", "IPv4 inside IPv6 (NAT64)"),
    ("2001::/32", "IPv4 inside IPv6 (Teredo)"),
    ("2001::/23", "reserved for protocols"),
    ("2001:db8::/32", "for examples"),
    ("2002::/16", "IPv4 inside IPv6 (6to4)"),
    ("3fff::/20", "for examples"),
    ("fc00::/7", "private"),
    ("fe80::/10", "link-local"),
    ("fec0::/10", "site-local"),
    ("ff00::/8", "multicast"),
))  # fmt: skip
_UNICAST = IPv6Network("2000::/3")  # all that was ever given out; the rest is reserved
_NAT64 = IPv6Network("64:ff9b::/96")
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)  # the middle of an address that carries IPv4 in its last 32 bits


def refusal(address: Address, allowed: Iterable[Network] = ()) -> str | None:
    """Why the address is not public; None if it is, or if one of the `allowed` networks holds it.

    An address that carries another one is allowed only together with that one.
    """
    networks = tuple(allowed)
    if any(address in network for network in networks):
        inner = carried(address)
        return None if inner is None else refusal(inner, networks)
    for network, reason in _SPECIAL:
        if address in network:
            return reason
    if isinstance(address, IPv6Address):
        if address not in _UNICAST:
            return "reserved"
        if carried(address) is not None:
            return "IPv4 inside IPv6 (ISATAP)"
    return None if address.is_global else "not public"


def carried(address: Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address leads to."""
    if isinstance(address, IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    middle = int(address) >> 32 & 0xFFFF_FFFF
    if address in _NAT64 or middle in _ISATAP:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return None
