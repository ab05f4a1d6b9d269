"""From the address of a receiver to where a connection may go.

Address parsers disagree, and what one of them checks another one connects to. So this one is strict: it takes the plain
form alone and refuses whatever could be read in two ways. What it answers is all that the sender gets to see.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from holdfast.model.errors import BadInput
from holdfast.webhooks.addresses import Address, Network, refusal

_LONGEST = 2_048
_LONGEST_HOST = 253
_PLAIN = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+")  # what RFC 3986 lets stand in an address
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")  # a last label that some resolvers take for an IPv4 address
_AUTHORITY = re.compile(r"(?P<host>\[[^\]]*\]|[^:\[\]]*)(?::(?P<port>[0-9]*))?")
_PORT = re.compile(r"[1-9][0-9]{0,4}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Where deliveries may go. The narrowest by default; the operator widens it, never a receiver."""

    http: bool = False
    ports: frozenset[int] = frozenset()  # beside the usual one
    private: tuple[Network, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A checked address, in its parts."""

    secure: bool
    host: str
    port: int
    path: str
    address: Address | None  # where the host is one already

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.secure else 80) else f"{host}:{self.port}"


def check_url(url: str, rules: Rules) -> Target:
    """The parts of an address that may be delivered to; BadInput says why another may not."""
    scheme, rest = _scheme(url, rules)
    if "#" in rest:
        raise _refused("it has a fragment (#): leave that out, servers never see it")
    split = next((at for at, letter in enumerate(rest) if letter in "/?"), len(rest))
    authority, path = rest[:split], rest[split:]
    host, address = _host(authority)
    target = Target(
        secure=scheme == "https",
        host=host,
        port=_port(authority, scheme, rules),
        path=path if path.startswith("/") else f"/{path}",
        address=address,
    )
    if address is not None:
        check_addresses(host, [address], rules)
    return target


def check_addresses(host: str, addresses: Iterable[Address], rules: Rules) -> None:
    """Every address of a host must be public: one that is not makes the host suspect, not just itself."""
    for address in addresses:
        reason = refusal(address, rules.private)
        if reason is not None:
            name = f"{address} is" if host == str(address) else f"{host} has the address {address}, which is"
            raise _refused(f"{name} not public ({reason}): if it is meant, `app.webhooks.allow(private=[...])`")


def _scheme(url: object, rules: Rules) -> tuple[str, str]:
    if not isinstance(url, str) or len(url) > _LONGEST:
        raise _refused(f"it is not text of at most {_LONGEST} characters")
    if not _PLAIN.fullmatch(url):
        raise _refused(
            "it has a character that has no place in an address: percent-encode it in the path, and write a "
            "host of other letters in its ASCII form (xn--...)"
        )
    scheme, separator, rest = url.partition("://")
    known = {"https", "http"} if rules.http else {"https"}
    if not separator or scheme.lower() not in known:
        raise _refused("it must begin with https://" + ("" if rules.http else "; `app.webhooks.allow(http=True)`"))
    return scheme.lower(), rest


def _host(authority: str) -> tuple[str, Address | None]:
    if "@" in authority:
        raise _refused("it names a user (@): credentials do not belong into an address")
    if "%" in authority:
        raise _refused("its host has a percent sign: write the host as it is, and no zone")
    found = _AUTHORITY.fullmatch(authority)
    host = "" if found is None else found["host"].lower()
    if host.startswith("["):
        try:
            return str(address := IPv6Address(host[1:-1])), address
        except ValueError:
            raise _refused("what stands in its brackets is no IPv6 address") from None
    if len(host) > _LONGEST_HOST or not _NAME.fullmatch(host):
        raise _refused("its host is no plain name or address (no empty part, no dot at the end)")
    if not _NUMBER.fullmatch(host.rpartition(".")[2]):
        return host, None
    try:
        return host, ip_address(host)
    except ValueError:
        raise _refused("its host is a number in disguise: write an IPv4 address as four decimal numbers") from None


def _port(authority: str, scheme: str, rules: Rules) -> int:
    usual = 443 if scheme == "https" else 80
    found = _AUTHORITY.fullmatch(authority)
    given = None if found is None else found["port"]
    if given is None:
        return usual
    allowed = rules.ports | {usual}
    if not _PORT.fullmatch(given) or int(given) not in allowed:
        names = ", ".join(map(str, sorted(allowed)))
        raise _refused(f"its port is not among {names}: if it is meant, `app.webhooks.allow(ports=[...])`")
    return int(given)


def _refused(why: str) -> BadInput:
    return BadInput("WEBHOOK_REFUSED", f"the address is refused: {why}")
