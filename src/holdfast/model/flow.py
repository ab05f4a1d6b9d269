"""What ties a job to others: parents it waits for, limits it counts against, the batch it is part of."""

from __future__ import annotations

from holdfast.model.errors import BadInput
from holdfast.model.request import check_name, shown

MOST_PARENTS = 1_000
MOST_LIMITS = 4


class Flow:
    """The ties of a new job; most jobs have none, and then no Flow."""

    __slots__ = ("batch", "depends_on", "item", "limits", "on_parent")

    def __init__(
        self,
        *,
        depends_on: tuple[str, ...] = (),
        on_parent: str | None = None,
        limits: tuple[str, ...] = (),
        batch: str | None = None,
        item: int | None = None,
    ) -> None:
        self.depends_on = depends_on
        self.on_parent = on_parent
        self.limits = limits
        self.batch = batch
        self.item = item


def check_flow(depends_on: object, on_parent: object, limits: object) -> Flow:
    """The ties that a caller asks for."""
    parents = _names("depends_on", depends_on, MOST_PARENTS)
    if on_parent not in (None, "cancel", "run"):
        raise BadInput("BAD_OPTION", f"on_parent is cancel or run, not {shown(on_parent)}")
    if on_parent is not None and not parents:
        raise BadInput("BAD_OPTION", "on_parent says what becomes of a job whose parent fails: give depends_on, too")
    return Flow(
        depends_on=parents,
        on_parent="run" if on_parent == "run" else None,
        limits=() if limits is None else _keys(limits),
    )


def _keys(limits: object) -> tuple[str, ...]:
    from holdfast.model.limit import check_limit_name  # noqa: PLC0415  # most jobs have none

    return tuple(map(check_limit_name, _names("limits", limits, MOST_LIMITS)))


def _names(what: str, given: object, most: int) -> tuple[str, ...]:
    """Ids of jobs (or handles of them), or keys of limits: each once, in their order."""
    if given is None:
        return ()
    if not isinstance(given, list | tuple):
        given = (given,)
    names = tuple(dict.fromkeys(check_name(what, getattr(one, "id", one)) for one in given))
    if len(names) > most:
        raise BadInput("BAD_OPTION", f"{what} takes at most {most}, not {len(names)}")
    return names
