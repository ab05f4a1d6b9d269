"""A limit: how many runs at once, or starts in a time, a key allows. Which limit a key falls under, and what its name
may be.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from holdfast.model.errors import BadInput
from holdfast.model.request import check_name, check_timeout, shown

FAIR, EXCLUSIVE = "fair:", "exclusive:"  # names of limits that queues fall under as a whole
_OF = "\x1f"  # between a queue and its tenant: no name holds it
ASIDE = "aside\x1f"  # before the key of a line: those who stand aside from it
LINES = "lines\x1f"  # before the name of a limit that was said anew: all lines that it rules
HERD = "herd\x1f"  # before the name of a rule: jobs that do not know it yet
SHARE = 4  # jobs of a tenant in one round, for each unit of its weight
MOST_UNITS = 1_000_000
MOST_RATE = 1_000_000
MOST_TENANTS = 1_000
_CATCH_UP_MS = 200  # whoever looks comes a little late each time: without it, the rate would not be reached
_MARGIN = 1.005  # and with it, a minute must still not hold more starts than its rate


@dataclass(frozen=True, slots=True)
class Limit:
    """What a person or the code says of a key, or of a family of keys."""

    name: str
    concurrency: int | None = None
    scope: str = "cluster"
    rate: float | None = None
    per_ms: int = 1_000
    burst: float | None = None
    queues: tuple[str, ...] = ()
    weights: tuple[tuple[str, int], ...] = ()
    code: str | None = None
    removed: bool = False
    updated_at: str = ""
    updated_by: str = ""

    @property
    def is_fair(self) -> bool:
        """Whether it shares queues between tenants."""
        return self.name.startswith(FAIR)

    @property
    def is_paced(self) -> bool:
        """Whether it is kept what was given out of a key, and when."""
        return self.is_fair or bool(self.rate)

    @property
    def gap(self) -> float:
        """Milliseconds from one start to the next."""
        assert self.rate, "asked of limits with a rate that is not zero"
        return _MARGIN * self.per_ms / self.rate

    @property
    def slack(self) -> float:
        """Milliseconds for which starts that were missed are made up for."""
        return _CATCH_UP_MS if self.burst is None else (self.burst - 1) * self.gap

    @property
    def most_at_once(self) -> float:
        """Starts that may come together, after a time without any."""
        return self.slack / self.gap + 1

    @property
    def source(self) -> str:
        """Who has the word: the code, or a person."""
        return "code" if self.updated_by == "code" else "runtime"

    def weight(self, tenant: str) -> int:
        """How many shares a tenant has."""
        return dict(self.weights).get(tenant, 1)

    def words(self) -> str:
        """What it allows, for people."""
        parts = []
        if self.is_fair:
            heavy = ", ".join(f"{tenant}: {weight}" for tenant, weight in self.weights)
            parts.append(f"tenants take turns{f' ({heavy})' if heavy else ''}")
        if self.concurrency is not None:
            parts.append(f"{self.concurrency} at once{' on each host' if self.scope == 'host' else ''}")
        if self.rate is not None:
            parts.append(f"{self.rate:g} starts in {self.per_ms / 1000:g} s")
        return ", ".join(parts)

    def said(self) -> str:
        """What it says, as JSON text: two that say the same have the same text."""
        said = {
            "concurrency": self.concurrency, "scope": self.scope, "rate": self.rate, "per_ms": self.per_ms,
            "burst": self.burst, "queues": list(self.queues), "weights": dict(self.weights),
        }  # fmt: skip
        return json.dumps(said, sort_keys=True)

    def as_said(self, text: str) -> Limit:
        """The same limit with what such a text says."""
        said = json.loads(text)
        weights = tuple(sorted(said.pop("weights").items()))
        return replace(self, queues=tuple(said.pop("queues")), weights=weights, **said)

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "name": self.name, "concurrency": self.concurrency, "scope": self.scope, "rate": self.rate,
            "per": self.per_ms / 1000, "burst": self.burst, "queues": list(self.queues),
            "weights": dict(self.weights), "source": self.source, "removed": self.removed,
            "updated_at": self.updated_at, "updated_by": self.updated_by,
        }  # fmt: skip


def limit_of(
    name: object,
    *,
    concurrency: object = None,
    rate: object = None,
    per: object = 1,
    burst: object = None,
    scope: object = "cluster",
) -> Limit:
    """A checked limit on keys."""
    name = check_limit_name(name)
    if concurrency is None and rate is None:
        raise BadInput("BAD_LIMIT", "a limit says how many at once (concurrency) or how many starts in a time (rate)")
    if concurrency is not None and not (type(concurrency) is int and 0 <= concurrency <= MOST_UNITS):
        raise BadInput("BAD_LIMIT", f"concurrency is a whole number from 0 to {MOST_UNITS}, not {shown(concurrency)}")
    if scope not in ("cluster", "host"):
        raise BadInput("BAD_LIMIT", f"scope is cluster or host, not {shown(scope)}")
    if scope == "host" and concurrency is None:
        raise BadInput("BAD_LIMIT", "a limit for each host needs a concurrency: rates go for the whole cluster")
    if rate is not None:
        rate = _number("rate", rate, 0, MOST_RATE)
    elif burst is not None:
        raise BadInput("BAD_LIMIT", "burst says how many starts of a rate are made up for at once: give a rate")
    return Limit(
        name=name,
        concurrency=concurrency,
        scope=str(scope),
        rate=rate,
        per_ms=check_timeout(per, "per"),
        burst=None if burst is None else _number("burst", burst, 1, MOST_UNITS),
    )


def fair(queue: object, weights: object = None) -> Limit:
    """A queue whose tenants take turns."""
    queue = check_name("queue", queue)
    given = {} if weights is None else weights
    if not isinstance(given, Mapping) or len(given) > MOST_TENANTS:
        raise BadInput(
            "BAD_LIMIT",
            f'weights go by tenant, {MOST_TENANTS} at most, as in weights={{"acme": 2}}, not {shown(given)}',
        )
    for tenant, weight in given.items():
        check_name("a tenant of weights", tenant)
        if type(weight) is not int or not 1 <= weight <= 100:  # noqa: PLR2004
            raise BadInput("BAD_LIMIT", f"a weight is a whole number from 1 to 100, not {shown(weight)}")
    return Limit(name=FAIR + queue, queues=(queue,), weights=tuple(sorted(given.items())))


def exclusive(*queues: object) -> Limit:
    """Queues of which one job at a time runs."""
    names = sorted({check_name("queue", queue) for queue in queues})
    if not names:
        raise BadInput("BAD_LIMIT", 'name the queues that exclude each other: app.exclusive("gpu", "browser")')
    return Limit(name=EXCLUSIVE + "+".join(names), concurrency=1, queues=tuple(names))


def check_limit_name(name: object) -> str:
    """The name of a limit, as of the keys under it."""
    name = check_name("a limit's name", name)
    if name.startswith((FAIR, EXCLUSIVE)):
        raise BadInput("BAD_LIMIT", f"{name[:50]!a}: names that begin so are for whole queues; choose another")
    return name


def under(key: str, limits: dict[str, Limit]) -> Limit | None:
    """The limit that a key falls under: the one of its own name, else the one of its family."""
    return limits.get(key) or limits.get(key.partition(_OF if key.startswith(FAIR) else ":")[0])


def rule_of(key: str) -> str:
    """The name of the rule that a tenant's share is of."""
    return key.partition(_OF)[0]


def lines_under(name: str) -> list[tuple[str, str]]:
    """Between which texts the keys lie that a limit may rule."""
    return [shares_of(name)] if name.startswith(FAIR) else [(name + ":", name + ";")]


def tenant_of(key: str) -> str:
    """Whose share a key is."""
    return key.partition(_OF)[2]


def shares_of(name: str) -> tuple[str, str]:
    """Between which two texts the shares of a queue lie."""
    return name + _OF, name + chr(ord(_OF) + 1)


def readable(key: str) -> str:
    """A key, for people."""
    return key.replace(_OF, " of ")


def keys_for(queue: str, tenant: str, rules: tuple[Limit, ...]) -> tuple[list[str], list[str]]:
    """The keys that a job has by its queue: shares, and exclusions."""
    meant = [rule for rule in rules if queue in rule.queues]
    shares = [rule.name + _OF + tenant for rule in meant if rule.is_fair]
    return shares, [rule.name for rule in meant if not rule.is_fair]


def _number(what: str, value: object, least: float, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise BadInput("BAD_LIMIT", f"{what} is a number from {least} to {most}, not {shown(value)}")
    return float(value)
