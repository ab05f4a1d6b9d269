"""What a handler asks to be done next: as it names it, and as it is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.model.errors import BadInput
from holdfast.model.request import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.model.lease import Claim
    from holdfast.model.request import NewJob


def asked_for(call: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The call of a handler with its arguments, or one that was made before.

    Both are made by the application, which stands above the worker: they are known by what they can do.
    """
    if callable(getattr(call, "call", None)) and callable(getattr(call, "new_job", None)):
        return call.call(*args, **kwargs)
    if not callable(getattr(call, "new_job", None)):
        raise BadInput(
            "BAD_OPTION",
            f'give a handler and its arguments, or a call such as thumbnail.call("a.png"), not {shown(call)}',
        )
    if args or kwargs:
        raise BadInput("BAD_OPTION", "a call has its arguments already: give the handler itself, or the call alone")
    return call


def inherit(job: NewJob, claim: Claim) -> NewJob:
    """What the request leaves open is as with the job that asks for it."""
    job.tenant = job.tenant or claim.tenant
    job.group = claim.group if job.group is None else job.group
    job.context = claim.context if job.context == "{}" else job.context
    return job
