"""What people type who come from other tools, and what they mean by it here."""

from __future__ import annotations

_RUN = "`holdfast worker MODULE:APP`, or `holdfast up MODULE:APP` with the overview page?"
_LIST = "`holdfast jobs`?"
_PAGE = "`holdfast up MODULE:APP`, or `holdfast serve` without a worker?"

# Not here: what is done to one job (show, retry, cancel ...), which the root looks up in `holdfast job`.
GUESSES = {
    "list": _LIST,
    "ls": _LIST,
    "ps": "`holdfast top`, or `holdfast workers`?",
    "status": "`holdfast job show ID` for one job, or `holdfast stats` for all?",
    "info": "`holdfast stats`, or `holdfast doctor`?",
    "run": _RUN,
    "start": _RUN,
    "work": _RUN,
    "add": "`holdfast enqueue TYPE --payload JSON`?",
    "push": "`holdfast enqueue TYPE --payload JSON`?",
    "delete": "`holdfast job cancel ID`, or `holdfast dlq purge`?",
    "purge": "`holdfast dlq purge`?",
    "failed": "`holdfast jobs --status failed`, or `holdfast dlq list`?",
    "pause": "`holdfast queues pause NAME`?",
    "stop": "Ctrl-C at the worker, or `holdfast queues pause NAME`?",
    "logs": "`holdfast job history ID`, or `holdfast top`?",
    "web": _PAGE,
    "dashboard": _PAGE,
    "ui": _PAGE,
    "init": "`holdfast migrate`?",
    "dlq show": "`holdfast job show ID`?",
    "job list": _LIST,
    "job ls": _LIST,
    "schedule run": "`holdfast schedule trigger NAME`?",
}

_PLACES = "use --coroutines, --threads or --processes"
_APP = "write it without an option, as in `holdfast {} jobs:app`"

OPTIONS = {f"{command} {option}": _PLACES for command in ("worker", "up") for option in ("--concurrency", "-c", "-w")}
OPTIONS |= {
    f"{command} {option}": _APP.format(command) for command in ("worker", "up", "serve") for option in ("--app", "-A")
}
