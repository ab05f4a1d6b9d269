"""Alerts as users ask for them: `app.alerts(...)`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from holdfast.handler import Handler
    from holdfast.model.alert import Alarm


class AlertDoor:
    """The part of an application that is about alerts. On the cold path of a hook, so free of heavy imports."""

    alarm: Alarm | None  # for a worker to watch by

    def alerts(
        self,
        *,
        depth: float = 1_000,
        age: float = 3_600,
        success: float = 0.95,
        dead_letters: float = 10,
        p95: float = 10,
        every: float = 300,
        job: Handler[Any, Any] | None = None,
        webhook: str | None = None,
        command: Sequence[str] = (),
    ) -> None:
        """Say when a type of a queue is in trouble, and who is told beside the log: `app.alerts(depth=500, job=page)`.

        Trouble is more than `depth` jobs waiting, the oldest for more than `age` seconds, a share of less than
        `success` ended well, more than `dead_letters`, or a 95th percentile of the runs over `p95` seconds, all of them
        in the last hour, looked at `every` so many seconds by one worker. Each is told once, with an all-clear: to a
        `job`, which gets it as its arguments; to an endpoint of `app.webhooks`; to a `command`, as JSON on its input.
        """
        from holdfast.model.alert import alarm  # noqa: PLC0415

        limits = {"depth": depth, "age": age, "success": success, "dead_letters": dead_letters, "p95": p95}
        told = None if job is None else _takes_alerts(job)
        self.alarm = alarm(limits, every=every, job=told, webhook=webhook, command=command)


def _takes_alerts(job: Any) -> tuple[str, str]:
    """The type and queue of a handler that can be told."""
    from holdfast.handler import Handler  # noqa: PLC0415
    from holdfast.model.alert import Alert  # noqa: PLC0415
    from holdfast.model.errors import BadInput, PayloadError  # noqa: PLC0415
    from holdfast.model.request import shown  # noqa: PLC0415

    if not isinstance(job, Handler):
        raise BadInput("BAD_OPTION", f"job is a handler, made by @app.job, not {shown(job)}")
    definition = job.definition
    try:
        definition.signature.dump((), Alert("depth", "images", "thumbnail", "warning", 1.5, 1.0).as_json())
    except PayloadError as error:
        raise BadInput(
            "BAD_OPTION",
            f"{definition.type} cannot take an alert ({error}): let it take {', '.join(Alert._fields)}, or **alert",
        ) from None
    return definition.type, definition.queue
