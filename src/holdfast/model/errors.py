"""Everything that Holdfast raises, and what a handler may raise.

HoldfastError
├── BadInput            what was asked for cannot be: mend the call
│   ├── PayloadError    ... because of its payload
│   └── BadSignature    ... because nobody knows who sent it
├── NotFound            no such job, batch or schedule
├── Conflict            the thing asked for clashes with what is stored
│   └── KeyConflict     ... the idempotency key belongs to another request
├── QueueFull           the queue is at its maximum depth
├── StoreError          the database cannot be used (now, or at all)
└── ResultError         the job did not give a result
    ├── JobFailed       it ended failed or dead_letter
    ├── JobCancelled    it was cancelled
    └── ResultTimeout   it has not ended yet

HandlerSignal           what a handler raises to say how its run ends
├── Permanent           retrying cannot cure this
├── Retry               try again, after a time of the handler's choice
├── Snooze              not now; spends no attempt
└── AwaitAuth           a person must act first

Every error carries a stable `code` from CODES and a message that says what to do next.
"""

from __future__ import annotations

CODES: dict[str, str] = {
    "BAD_OPTION": "an option is unknown, or its value cannot be",
    "APP_NOT_LOADED": "the module of the application raised an error while it was imported",
    "PRIORITY_OUT_OF_RANGE": "priority is a whole number from 1 (first) to 10",
    "BAD_DATE": "scheduled_at or delay is not a usable point in time",
    "BAD_NAME": "a type, queue, tenant, group or key is empty, too long or has control characters",
    "BAD_LIMIT": "a limit's name, number or rate cannot be",
    "BAD_SCHEDULE": "a schedule's cron expression, interval, time zone or policy cannot be",
    "BAD_URL": "the store's address cannot be understood",
    "PAYLOAD_INVALID": "the payload does not fit the handler's signature",
    "PAYLOAD_NOT_JSON": "the payload is not strict JSON",
    "PAYLOAD_TOO_LARGE": "the payload is over the size limit",
    "PAYLOAD_TOO_DEEP": "the payload is nested too deeply",
    "RESULT_UNSTORABLE": "the handler's result is not strict JSON, or too large",
    "UNKNOWN_TYPE": "no handler of that type is registered in this process",
    "GROUP_NOT_FOUND": "no job bears this group",
    "JOB_NOT_FOUND": "no job has that id",
    "BATCH_NOT_FOUND": "no batch has that id",
    "LIMIT_NOT_FOUND": "no limit has that name",
    "SCHEDULE_NOT_FOUND": "no schedule has that name",
    "SUBSCRIPTION_NOT_FOUND": "no subscription has that name",
    "LEARNING_NOT_FOUND": "no learning has that id",
    "UPLOAD_NOT_FOUND": "no learning with that id was approved, so there is no upload of it",
    "UPLOAD_REFUSED": "a learning could not be shared: the node, the chain or the contract said no",
    "SHARING_OFF": "learnings cannot be approved while sharing is off",
    "NOT_IN_CODE": "the schedule was made at run time, so there is no code to go back to",
    "PARENT_NOT_FOUND": "a job that another shall wait for is not there, or is another tenant's",
    "PARENT_FAILED": "a job that this one waited for ended failed, dead_letter or cancelled",
    "CHILDREN_WAIT": "jobs that have not ended wait for that one, or waited for it",
    "FOLLOW_UP_REFUSED": "what a run asked to be done next cannot be stored",
    "LEASE_LOST": "the run is over for its worker: its lease is lost, or it was cancelled",
    "TRANSACTION_TOO_LONG": "a handler's transaction was open for more than a second on SQLite, or awaited for 30",
    "WRONG_STATUS": "the job's status does not allow that",
    "SUPERSEDED": "a newer request with the same coalesce key has taken its place",
    "KEY_CONFLICT": "the idempotency key is taken by a job of another type or payload",
    "QUEUE_FULL": "the queue is at its maximum depth and the job's priority is not high",
    "STORE_UNAVAILABLE": "the database did not answer in time",
    "SCOPE_BUSY": "a transaction that enqueues into the group or for the tenant is open",
    "STORE_FULL": "the disk is full, or nearly",
    "STORE_READ_ONLY": "the database cannot be written",
    "STORED_NOT_JSON": "another program wrote into the job what is not JSON",
    "STORE_CANNOT_OPEN": "the database file cannot be opened or created",
    "STORE_MISSING": "there is no database at the address yet",
    "STORE_CORRUPT": "the database file is damaged",
    "STORE_REFUSED": "the database refused the statement",
    "STORE_MOVED": "the jobs of this store were moved to another one",
    "STORE_FORBIDDEN": "the database role may not do that, or not for this tenant",
    "TARGET_NOT_EMPTY": "the store that jobs should be moved to is in use",
    "RUNS_UNDER_WAY": "jobs cannot be moved while some of them run",
    "MOVE_NOT_VERIFIED": "what was read back after a move is not what was sent",
    "MOVE_UNFINISHED": "it is not known whether a move was made",
    "NOTHING_TO_UNDO": "no move between these two stores is there to be undone",
    "FORKED_IN_TRANSACTION": "the process was forked while its parent held a transaction open",
    "STORE_CLOSED": "the application was closed",
    "NOT_A_DATABASE": "the file is not a SQLite database",
    "FOREIGN_TABLES": "the database has a job_queue table that is not Holdfast's",
    "SCHEMA_TOO_NEW": "the database was written by a newer Holdfast",
    "SCHEMA_MISSING": "the database has no Holdfast tables yet, or older ones",
    "UNSAFE_SQLITE": "the SQLite library has the WAL-reset corruption bug",
    "NETWORK_FILE_SYSTEM": "SQLite's write-ahead log does not work on network file systems",
    "WRONG_CONNECTION": "that connection cannot carry an enqueue for this store",
    "CANNOT_LISTEN": "the address of the HTTP door is taken, or cannot be had",
    "USE_AWAIT": "a blocking call was made inside a running event loop",
    "JOB_FAILED": "the job ended failed or dead_letter",
    "JOB_CANCELLED": "the job was cancelled",
    "RESULT_TIMEOUT": "the job has not ended within the time",
    "HANDLER_ERROR": "the handler raised an error",
    "TIMEOUT": "the handler ran past its time-out",
    "LEASE_EXPIRED": "the worker stopped renewing its lease",
    "WORKER_DIED": "the worker's process ended during the run",
    "CANCELLED": "stopped on request",
    "TOO_MANY_PARKS": "the job has waited for a person too many times",
    "AUTH_EXPIRED": "nobody did in time what a parked job waits for",
    "NO_SECRET": "there is no key to encrypt with, or none that can be used",
    "WEBHOOK_REFUSED": "a webhook may not go to that address",
    "WEBHOOK_ENDPOINT": "no endpoint for webhooks has that name",
    "WEBHOOK_SECRET": "the secret of a webhook is missing, or none that can be used",
    "WEBHOOK_UNREACHABLE": "the receiver of a webhook gave no answer",
    "WEBHOOK_ANSWER": "the receiver of a webhook answered with something else than success",
    "BAD_SIGNATURE": "a webhook that came in is not signed, wrongly signed, or too old",
}


class HoldfastError(Exception):
    """Base of all errors that Holdfast raises at a caller."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.code, str(self))


class BadInput(HoldfastError):
    """What was asked for cannot be."""


class PayloadError(BadInput):
    """The payload cannot be stored or does not fit the handler."""


class BadSignature(BadInput):
    """A webhook that came in is not what it says."""


class NotFound(HoldfastError):
    """No such job, batch or schedule."""


class Conflict(HoldfastError):
    """The request clashes with what is stored."""


class KeyConflict(Conflict):
    """The idempotency key belongs to another request."""


class QueueFull(HoldfastError):
    """The queue is at its maximum depth."""


class StoreError(HoldfastError):
    """The database cannot be used."""


class ResultError(HoldfastError):
    """The job did not give a result."""


class JobFailed(ResultError):
    """The job ended failed or dead_letter."""


class JobCancelled(ResultError):
    """The job was cancelled."""


class ResultTimeout(ResultError):
    """The job has not ended yet."""


def install(extra: str) -> str:
    """What to do where the libraries of an extra are missing. Holdfast is not on the package index."""
    return f'install the extra {extra}, for example by pip install "/path/to/the/clone[{extra}]"'


class HandlerSignal(Exception):  # these are verdicts of a handler, not errors of ours
    """What a handler raises to say how its run ends."""

    code: str | None = None  # a handler may give its reason a code of its own


class Permanent(HandlerSignal):
    """Retrying cannot cure this: the job ends `failed` at once."""


class Retry(HandlerSignal):
    """Try again, `after` seconds from now; spends an attempt like any failure."""

    def __init__(self, message: str = "", *, after: float | None = None) -> None:
        super().__init__(message)
        self.after = None if after is None else _seconds(after)


class Snooze(HandlerSignal):
    """Not now: run again in `seconds`, spending no attempt."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = _seconds(seconds)

    def __str__(self) -> str:
        return f"snoozed for {self.seconds} s"


class AwaitAuth(HandlerSignal):
    """A person must act first: the job is parked, and runs again when somebody resumes it; spends no attempt.

    `url` is where the person goes to, `key` what several jobs wait for together. Nobody within `expires` seconds, and
    the job ends `dead_letter`.
    """

    def __init__(self, reason: str, url: str | None = None, key: str | None = None, *, expires: float = 10_800) -> None:
        from holdfast.model.parking import check_address, check_key, check_reason  # noqa: PLC0415  # it imports this

        super().__init__(reason)
        self.reason = check_reason(reason)
        self.url = check_address(url)
        self.key = check_key(key)
        self.expires = _seconds(expires)


def _seconds(value: float) -> float:
    """A handler that asks for an impossible time should hear of it where it asks. A timedelta is a time, too."""
    value = value.total_seconds() if hasattr(value, "total_seconds") else value
    if isinstance(value, int | float) and 0 <= value < 1e10:  # noqa: PLR2004  # false of not-a-number too
        return value
    raise ValueError(f"a number of seconds from 0 up is needed, not {value!r}")
