"""The public JSON form of a job on its way to a worker or over a wire: header, context, payload."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from holdfast.model.errors import BadInput
from holdfast.model.payload import decode, encode

CONTEXT_FIELDS = ("user_id", "user_role", "correlation_id", "trace_id", "traceparent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """Who asked for what, when. System jobs have no `user_id`."""

    job_id: str
    type: str
    version: int
    created_at: str
    payload: dict[str, Any]
    tenant: str = ""
    context: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """The wire form."""
        return encode(
            {
                "header": {
                    "job_id": self.job_id,
                    "type": self.type,
                    "version": self.version,
                    "correlation_id": self.context.get("correlation_id"),
                    "created_at": self.created_at,
                },
                "context": {
                    "user_id": self.context.get("user_id"),
                    "user_role": self.context.get("user_role"),
                    "trace_id": self.context.get("trace_id"),
                    "tenant": self.tenant,
                },
                "payload": self.payload,
            },
            what="envelope",
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> Envelope:
        """Read the wire form; anything else is refused."""
        value = decode(text, what="envelope")
        match value:
            case {
                "header": {
                    "job_id": str(job_id),
                    "type": str(kind),
                    "version": int(version),
                    "created_at": str(at),
                },
                "context": dict(context),
                "payload": dict(payload),
            } if isinstance(context.get("tenant"), str | None):
                correlation = value["header"].get("correlation_id")
                known = {name: context.get(name) for name in ("user_id", "user_role", "trace_id")}
                return cls(
                    job_id=job_id,
                    type=kind,
                    version=version,
                    created_at=at,
                    payload=payload,
                    tenant=context.get("tenant") or "",
                    context=known | {"correlation_id": correlation},
                )
            case _:
                raise BadInput("PAYLOAD_INVALID", "an envelope is an object with header, context and payload")


def check_context(context: dict[str, Any]) -> str:
    """The JSON text of a job's context; only the known fields, all short text or null."""
    if not isinstance(context, dict):
        raise BadInput("BAD_OPTION", f"context is an object with {', '.join(CONTEXT_FIELDS)}")
    unknown = sorted(str(name) for name in set(context) - set(CONTEXT_FIELDS))
    if unknown:
        raise BadInput(
            "BAD_OPTION", f"unknown context {', '.join(unknown)}; context takes: {', '.join(CONTEXT_FIELDS)}"
        )
    wrong = [name for name, value in context.items() if not isinstance(value, str | None)]
    if wrong:
        raise BadInput("BAD_OPTION", f"context {', '.join(wrong)} must be text or null")
    return encode(context, what="context", limit=8 * 1024)
