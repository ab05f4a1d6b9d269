"""The command line: a door. It parses, calls a verb of the engine and renders; it holds no rules.

Each command is a module of its own with a click command named `command`, loaded only when it is called or asked for
help, so that `holdfast enqueue` stays quick. To add one: write the module, and its line below.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import click

# section of the help -> command -> the sentence that its own help begins with
SECTIONS: dict[str, dict[str, str]] = {
    "Run": {
        "up": "Run jobs and serve the overview page, until a signal stops both.",
        "worker": "Run jobs of the application at MODULE:APP until a signal stops it.",
        "serve": "Serve the HTTP API and the overview page on this machine.",
    },
    "Jobs": {
        "enqueue": "Store a job of TYPE for a worker to run.",
        "jobs": "List the newest jobs.",
        "job": "Look at one job, or act on it.",
        "group": "Look at a group of jobs, or act on all of it.",
        "parked": "List the jobs that wait for a person, and what for.",
        "schedules": "List the schedules: which jobs run again and again, and when.",
        "schedule": "Look at one schedule, make one, or act on it.",
        "batches": "List the newest batches, and how far each is.",
        "batch": "Look at one batch, or cancel it. `app.map(...)` makes batches.",
        "dlq": "Deal with dead letters: jobs that used up their attempts.",
        "webhook": "Look at deliveries of webhooks, send them again, and say who hears of ends.",
        "audit": "List who deleted which jobs by hand.",
    },
    "Queues and workers": {
        "queues": "List, pause and resume queues.",
        "tenants": "List, pause and resume tenants.",
        "limits": "List what limits the jobs; say it anew, or take it back.",
        "workers": "List the workers that were heard of.",
        "stats": "Show depth, age, endings and durations by queue and type.",
        "top": "Watch queues, workers, runs and failures live.",
    },
    "The store": {
        "migrate": "Make the tables, or bring them up to date.",
        "sql": "Print the schema as plain SQL.",
        "promote": "Move a SQLite queue to PostgreSQL, or back, and prove that nothing was lost.",
        "doctor": "Check the store and its surroundings, and say what to do next.",
    },
    "Pipelines": {
        "capture": "Capture coding sessions, and find what they taught.",
    },
    "Prove it": {
        "chaos": "Kill real workers on this machine, and count what was lost.",
        "bench": "Measure how fast Holdfast is on this machine, beside what its disk allows.",
    },
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command line; answers its exit code: 0 done, 1 what was asked for failed, 2 wrong use."""
    import sys  # noqa: PLC0415

    from holdfast.cli.ending import run  # noqa: PLC0415

    return run(root(), sys.argv[1:] if arguments is None else arguments)


def root() -> click.Group:
    """The whole tree of commands."""
    from holdfast.cli.tree import Root  # noqa: PLC0415

    return Root(SECTIONS)
