"""One frame of `holdfast top`: what is read from the store, and how it is laid out in the room there is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from holdfast.cli import verbs
from holdfast.cli.fitting import fitted
from holdfast.cli.plain import age, clean, coming, count, many, span
from holdfast.cli.render import STATUS_STYLE, Cell, instant, progress_text, rich_text
from holdfast.cli.stats import duration, success
from holdfast.engine import queues as house
from holdfast.engine.figures import CAP, statistics
from holdfast.engine.jobs import dead_letters
from holdfast.model import stamp
from holdfast.model.status import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.model.job import Job
    from holdfast.store.port import Transaction

WIDE = 110
_MOST = 50  # rows of a section; more fit on no screen
_BAR = 10
_GOOD_SHARE = 95
_HEAD_LINES = 2
_WHOLE = 100
_MOST_PAUSES = 3
_MORE = ("P99", "TOTAL P95", "BLOCKED", "LIMITED", "PARKED", "FAILED")  # where there is room; the last go first
_LESS = ("P50", "OK", "OLDEST", "DONE/MIN", "P95")  # go next, in this order


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What one look at the store shows."""

    url: str
    now: int = 0
    lines: list[dict[str, Any]] = field(default_factory=list)
    paused: list[str] = field(default_factory=list)
    rates: dict[tuple[str, str], float] = field(default_factory=dict)
    workers: list[dict[str, Any]] = field(default_factory=list)
    running: list[Job] = field(default_factory=list)
    failures: list[Job] = field(default_factory=list)
    next_tick: int | None = None
    pauses: list[dict[str, Any]] = field(default_factory=list)  # of groups and tenants
    problem: str = ""

    def stale(self, problem: str) -> View:
        """The same view, with the reason why it is not a newer one."""
        return replace(self, problem=problem)


class Section(NamedTuple):
    """A table with the columns it has room for. A column is its name, its side and its share of spare room."""

    columns: Sequence[tuple[str, str, int]]
    rows: list[list[object]]
    empty: str
    names: tuple[str, ...] = ()  # where there are some, columns make room for them: those in `spare`, in this order
    spare: tuple[str, ...] = ()


def look(tx: Transaction, url: str) -> View:
    """Everything a frame shows, at one instant."""
    seen = statistics(tx, cap=CAP)
    ended = [
        job
        for status in (Status.DEAD_LETTER, Status.FAILED)
        for job in dead_letters(tx, status=status.value, limit=_MOST)
    ]
    return View(
        url=url,
        now=tx.now,
        lines=seen["lines"],
        paused=seen["paused"],
        rates=verbs.rates(tx),
        workers=house.workers(tx, silent_too=True),
        running=verbs.running(tx, _MOST),
        next_tick=tx.due_schedules()[1],
        pauses=[one for one in tx.pauses() if one["scope"] != "queue"],
        failures=sorted(ended, key=lambda job: job.completed_at or job.created_at, reverse=True)[:_MOST],
    )


def frame(view: View, width: int, height: int, *, live: bool = False) -> RenderableType:
    """The view in the room there is: each section gets its share of the lines, and says what it left out."""
    wide = width >= WIDE
    sections = (_lines(view), _workers(view, wide=wide), _runs(view, wide=wide), _failures(view, wide=wide))
    room = height - _HEAD_LINES - 2 * len(sections) - int(live)
    shares = _shared([max(len(section.rows), 1) for section in sections], room)
    parts: list[RenderableType] = [_head(view, width), _summary(view)]
    for section, share in zip(sections, shares, strict=True):
        parts += [Text(""), _table(section, share, width)]
    if live:
        parts.append(Text("q quits", style="dim"))
    return Group(*parts)


def _shared(needs: list[int], room: int) -> list[int]:
    """Lines for each need: one each at least, then round by round to those that still want some."""
    given = [1] * len(needs)
    for _ in range(max(0, room - len(needs))):
        wanting = [index for index, need in enumerate(needs) if given[index] < need]
        if not wanting:
            break
        given[min(wanting, key=lambda index: given[index])] += 1
    return given


def _head(view: View, width: int) -> Text:
    title, moment = " holdfast top ", f" {stamp.to_text(view.now)[11:19]} UTC "
    room = width - len(title) - len(moment)
    url = clean(view.url)
    url = url if len(url) <= room else "…" + url[-max(room - 1, 0) :]
    return Text(f"{title}{url:^{max(room, 0)}}{moment}", style="bold reverse", no_wrap=True, overflow="crop")


def _summary(view: View) -> Text:
    if view.problem:
        return Text(f" {clean(view.problem)}", style="bold red", no_wrap=True, overflow="ellipsis")
    waiting, running, dead, expired = (
        sum(line[name] for line in view.lines) for name in ("waiting", "running", "dead", "expired")
    )
    parts = [
        f"{count(waiting)} waiting", f"{count(running)} running", f"{sum(view.rates.values()):.1f} done/min",
        many(sum(worker["alive"] for worker in view.workers), "worker"), f"{count(dead)} dead",
    ]  # fmt: skip
    parts += [f"{many(expired, 'lease')} expired"] if expired else []
    parked = sum(line["awaiting_auth"] for line in view.lines)
    parts += [f"{count(parked)} parked"] if parked else []
    parts += [f"{count(held)} {name}" for name in ("blocked", "limited") if (held := sum(x[name] for x in view.lines))]
    parts += [f"next tick {coming(view.next_tick, view.now)}"] if view.next_tick is not None else []
    parts += [f"{one['scope']} {clean(one['name'])} paused" for one in view.pauses[:_MOST_PAUSES]]
    return Text(" " + " · ".join(parts), no_wrap=True, overflow="ellipsis")


def _table(section: Section, share: int, width: int) -> RenderableType:
    table = Table(box=None, expand=True, pad_edge=False, padding=(0, 1), header_style="bold reverse")
    rows = section.rows
    shown = rows if len(rows) <= share else rows[: share - 1]
    widths: dict[int, int] = {}
    if section.names:
        heads = [name for name, _, _ in section.columns]
        widths = fitted(heads, shown, width, names=section.names, spare=section.spare)
    places = list(widths) or range(len(section.columns))
    for place in places:
        name, side, ratio = section.columns[place]
        table.add_column(
            name,
            justify="right" if side == ">" else "left",
            width=widths.get(place),
            ratio=ratio or None,
            no_wrap=not ratio,
            overflow="ellipsis",
        )
    for row in shown:
        table.add_row(*(rich_text(row[place]) for place in places))
    if len(shown) == len(rows) > 0:
        return table
    rest = f"… {len(rows) - len(shown)} more" if rows else section.empty
    return Group(table, Text(rest, style="dim", no_wrap=True, overflow="ellipsis"))


def _lines(view: View) -> Section:
    figures = ("WAIT", "OLDEST", "RUN", "DONE/MIN", "OK", "P50", "P95", *_MORE, "DEAD")
    columns = [("QUEUE", "<", 0), ("TYPE", "<", 0), *((name, ">", 0) for name in figures)]
    busiest = sorted(view.lines, key=lambda line: (-line["waiting"] - line["running"], line["queue"], line["type"]))
    rows = [_line(view, line) for line in busiest]
    return Section(columns, rows, "no jobs in the last hour", ("QUEUE", "TYPE"), (*_MORE[::-1], *_LESS))


def _line(view: View, line: dict[str, Any]) -> list[object]:
    paused = line["queue"] in view.paused
    share = success(line)
    row: list[object] = [
        Cell(f"‖ {line['queue']}", "bold yellow") if paused else line["queue"],
        line["type"],
        Cell(count(line["waiting"], CAP), "cyan" if line["waiting"] else "dim"),
        span(line["oldest_s"]) if line["oldest_s"] > 0 else "",
        Cell(count(line["running"]), "bold blue" if line["running"] else "dim"),
        f"{view.rates.get((line['queue'], line['type']), 0):.1f}",
        Cell(share, "green" if share and float(share[:-1]) >= _GOOD_SHARE else "red"),
        duration(line["run_p50_ms"]),
        duration(line["run_p95_ms"]),
        duration(line["run_p99_ms"]),
        duration(line["total_p95_ms"]),
        count(line["blocked"], CAP),
        count(line["limited"], CAP),
        count(line["awaiting_auth"]),
        count(line["failed"]),
    ]
    return [*row, Cell(count(line["dead"], CAP), "bold red" if line["dead"] else "dim")]


def _workers(view: View, *, wide: bool) -> Section:
    columns = [("WORKER", "<", 3), ("STATE", "<", 0), ("HEARD OF", ">", 0), ("RUN", ">", 0), ("DRAWS FROM", "<", 4)]
    columns += [("TYPES", "<", 3)] if wide else []
    rows: list[list[object]] = []
    for worker in sorted(view.workers, key=lambda worker: (not worker["alive"], worker["id"])):
        lanes = worker["lanes"]
        row: list[object] = [
            worker["id"],
            Cell("alive", "green") if worker["alive"] else Cell("silent", "yellow"),
            age(stamp.from_text(worker["seen_at"]), view.now),
            f"{worker['running']}/{worker['places']}",
            ", ".join(sorted({lane["queue"] for lane in lanes})),
        ]
        rows.append([*row, ", ".join(sorted({lane["type"] for lane in lanes}))] if wide else row)
    return Section(columns, rows, "none was heard of: `holdfast worker MODULE:APP` starts one")


def _runs(view: View, *, wide: bool) -> Section:
    columns = [("RUNNING JOB", "<", 0), ("TYPE", "<", 2), ("RUN", ">", 0), ("FOR", ">", 0)]
    columns += [("PROGRESS", "<", 0), ("", "<", 3)] + ([("AT", "<", 2)] if wide else [])
    rows: list[list[object]] = []
    for job in view.running:
        since = instant(job.started_at) or view.now
        row: list[object] = [
            job.id,
            job.type,
            f"{job.attempts}/{job.max_attempts}",
            span((view.now - since) / 1000),
            Cell(bar(job.progress or {}), "green"),
            Cell(progress_text(job.progress or {}), "dim"),
        ]
        rows.append([*row, job.lease_owner or ""] if wide else row)
    return Section(columns, rows, "none")


def _failures(view: View, *, wide: bool) -> Section:
    columns = [("FAILED JOB", "<", 0), ("WHEN", ">", 0), ("TYPE", "<", 2)]
    columns += [("STATUS", "<", 0)] if wide else []
    rows: list[list[object]] = []
    for job in view.failures:
        style = STATUS_STYLE[job.status]
        row: list[object] = [
            job.id,
            age(instant(job.completed_at), view.now),
            job.type if wide else Cell(job.type, style),
        ]
        row += [Cell(job.status.value, style)] if wide else []
        rows.append(
            [*row, "" if job.error is None else f"{job.error.get('class', '')}: {job.error.get('message', '')}"]
        )
    return Section([*columns, ("ERROR", "<", 4)], rows, "none")


def bar(progress: dict[str, Any]) -> str:
    """A bar of fixed width; empty where the run does not tell how far it is."""
    done, total = progress.get("done"), progress.get("total")
    if not isinstance(done, int | float) or not isinstance(total, int | float) or total <= 0:
        return ""
    full = round(_BAR * min(max(done / total, 0), 1))
    return "█" * full + "░" * (_BAR - full) + f"{min(max(_WHOLE * done / total, 0), _WHOLE):4.0f}%"
