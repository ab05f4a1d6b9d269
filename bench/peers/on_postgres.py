"""Holdfast and the PostgreSQL peers, turn by turn on one server, with the targets that are set against them."""

from __future__ import annotations

from bench.peers.workloads import OURS, Setting, Sizes, kills, memory, workload
from holdfast.cli.measures.rounds import AtLeast, AtMost, Below, Workload

PEERS = {
    OURS: "ours_postgres",
    "PgQueuer": "pgqueuer",
    "Awa": "awa",
    "FlexiQ": "flexiq_postgres",
    "Oban": "oban",
    "Procrastinate": "procrastinate",
}
FAST = frozenset({OURS, "PgQueuer", "Awa"})
SIZES = Sizes(drain=5_000, drain_fast=40_000)


def groups(setting: Setting, names: list[str], only: frozenset[str]) -> list[list[Workload]]:
    """All in one group: every peer once a round."""
    ahead = [AtLeast(OURS, name, 1) for name in PEERS if name != OURS]
    pick_up = (
        Below(OURS, "p50 ms", 2.5),
        Below(OURS, "p99 ms", 5),
        AtMost(OURS, "p50 ms", "PgQueuer", 1),
        AtMost(OURS, "p99 ms", "PgQueuer", 1),
    )
    made = [
        workload("W1", "enqueue one at a time", names, setting, *ahead),
        workload("W2", "enqueue in bulk", names, setting, AtLeast(OURS, "PgQueuer", 1.5)),
        _drains(names, setting),
        workload("W4", "an idle worker, then a job every 20 ms", names, setting, *pick_up),
        _growth(names, setting),
        *kills(names, setting),
        memory(names, setting),
    ]
    return [[one for one in made if one.sides and (not only or one.name in only)]]


def _drains(names: list[str], setting: Setting) -> Workload:
    one = {name: setting.side(name, "W3") for name in names}
    two = {f"{name} x2": setting.side(name, "W3x2") for name in names}
    targets = (
        AtLeast(OURS, "PgQueuer", 1.5),
        AtLeast(OURS, "Awa", 3),
        AtLeast(f"{OURS} x2", "PgQueuer x2", 1.2),
    )
    return Workload(
        name="W3",
        title="drain, 1 and 2 worker processes",
        sides=one | two,
        targets=targets if OURS in names else (),
    )


def _growth(names: list[str], setting: Setting) -> Workload:
    """Few peers and few rounds: a million rows are no small matter."""
    many, few = f", {setting.sizes.large:,} queued", ", 1,000 queued"
    sides = {f"{OURS}{few}": setting.side(OURS, "W5small")} if OURS in names else {}
    sides |= {f"{name}{many}": setting.side(name, "W5") for name in names if name in (OURS, "PgQueuer")}
    targets = (AtLeast(f"{OURS}{many}", f"{OURS}{few}", 0.9),) if OURS in names else ()
    return Workload(name="W5", title="drain in a large queue", sides=sides, targets=targets, rounds=3)
