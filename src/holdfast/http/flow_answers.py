"""What the HTTP door answers about jobs that belong together: groups, batches, pauses, subscriptions."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from holdfast.http.answers import Answer, Failure, PauseView
from holdfast.model.status import Status


class GroupPause(PauseView):
    """What holds a group back: a pause of its own, or of its tenant."""

    scope: str


class GroupError(Answer):
    """Why a job of a group ended badly."""

    id: str
    type: str
    status: Status
    code: str
    message: str


class GroupView(Answer):
    """A group in numbers."""

    key: str
    tenant: str
    version: str = Field(description="changes with every visible change; compare it, and read nothing into it")
    total: int
    done: int = Field(description="jobs that have ended, well or not")
    failed: int = Field(description="jobs that ended failed or as dead letters")
    percent: float
    counts: dict[Status, int]
    paused: list[GroupPause]
    errors: list[GroupError] = Field(description="the oldest ten")


class GroupCancelled(Answer):
    """What a cancel of a group did."""

    key: str
    tenant: str
    mode: str
    cancelled: int
    asked: int = Field(description="runs that may still complete")
    by_status: dict[str, int] = Field(description="by the status that was left")
    by_type: dict[str, dict[str, int]]
    left_alone: dict[str, int] = Field(description="jobs of other types, which go on")
    still_running: int = Field(description="handlers that had not stopped when this was answered")


class ScopeSwitched(Answer):
    """What a pause or resume of a group or a tenant did."""

    scope: str
    tenant: str
    name: str
    paused: bool
    changed: bool
    jobs: int = Field(description="how many were held, or let go")


class ScopePaused(PauseView):
    """Something that is paused."""

    scope: Literal["queue", "group", "tenant"]
    tenant: str
    name: str


class Pauses(Answer):
    """All that is paused."""

    items: list[ScopePaused]


class SubscriptionView(Answer):
    """Which ends of jobs an endpoint hears of."""

    name: str
    endpoint: str
    ends: list[str]
    types: list[str]
    queues: list[str]
    groups: list[str]
    tenant: str | None = Field(description="null: jobs of every tenant")
    with_result: bool
    max_attempts: int


class Subscriptions(Answer):
    """Every subscription by name."""

    items: list[SubscriptionView]


class Unsubscribed(Answer):
    """A subscription that is gone."""

    name: str
    changed: bool


class BatchView(Answer):
    """A batch: how many of its items have ended, and how."""

    id: str
    type: str
    queue: str
    group: str | None
    tenant: str
    total: int
    done: int
    failed: int
    cancelled: int
    running: int = Field(description="items that have not ended")
    percent: float
    idempotency_key: str | None
    callback_job: str | None = Field(description="the job that was enqueued when the last item had ended")
    created_at: str
    ended_at: str | None
    version: int


class BatchPage(Answer):
    """A page of batches, and the cursor of the next one."""

    items: list[BatchView]
    next: str | None = Field(description="pass it as `before`; null at the end")


class ItemView(Answer):
    """An item that has ended."""

    number: int = Field(description="its place in the batch, from 0")
    status: Literal["done", "failed", "cancelled"]
    result: Any
    error: Failure | None
    job: str = Field(description="the job it ended in: a chunk, or its own")


class ItemPage(Answer):
    """A page of items, and the cursor of the next one."""

    items: list[ItemView]
    next: int | None = Field(description="pass it as `after`; null at the end, for now")
