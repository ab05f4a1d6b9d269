"""Durable background jobs for Python: one file on a laptop, one PostgreSQL in production, the same code.

The names below are the public API. They are loaded when first used, so that `import holdfast` costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.app import App as App
    from holdfast.handle import Handle as Handle
    from holdfast.handler import Handler as Handler
    from holdfast.model.backoff import Backoff as Backoff
    from holdfast.model.errors import AwaitAuth as AwaitAuth
    from holdfast.model.errors import BadInput as BadInput
    from holdfast.model.errors import Conflict as Conflict
    from holdfast.model.errors import HoldfastError as HoldfastError
    from holdfast.model.errors import JobCancelled as JobCancelled
    from holdfast.model.errors import JobFailed as JobFailed
    from holdfast.model.errors import KeyConflict as KeyConflict
    from holdfast.model.errors import NotFound as NotFound
    from holdfast.model.errors import PayloadError as PayloadError
    from holdfast.model.errors import Permanent as Permanent
    from holdfast.model.errors import QueueFull as QueueFull
    from holdfast.model.errors import ResultTimeout as ResultTimeout
    from holdfast.model.errors import Retry as Retry
    from holdfast.model.errors import Snooze as Snooze
    from holdfast.model.errors import StoreError as StoreError
    from holdfast.model.job import Job as Job
    from holdfast.model.keys import content_key as content_key
    from holdfast.model.status import Status as Status
    from holdfast.worker.context import JobContext as JobContext

_ERRORS = (
    "AwaitAuth", "BadInput", "Conflict", "HoldfastError", "JobCancelled", "JobFailed", "KeyConflict", "NotFound",
    "PayloadError", "Permanent", "QueueFull", "ResultTimeout", "Retry", "Snooze", "StoreError",
)  # fmt: skip
_HOMES = {
    "App": "holdfast.app",
    "Backoff": "holdfast.model.backoff",
    "Handle": "holdfast.handle",
    "Handler": "holdfast.handler",
    "Job": "holdfast.model.job",
    "JobContext": "holdfast.worker.context",
    "Status": "holdfast.model.status",
    "content_key": "holdfast.model.keys",
} | dict.fromkeys(_ERRORS, "holdfast.model.errors")

__all__ = sorted(_HOMES)  # noqa: PLE0605
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    # Not importlib.import_module: that package alone would cost a cold hook half a millisecond.
    value = getattr(__import__(_HOMES[name], fromlist=[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
