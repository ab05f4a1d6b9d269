"""The routing table. The site's routes and its document are both made from it, so they cannot drift apart."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from holdfast.http import answers, batches, flow_answers, groups, house, jobs, limits, schedules, shapes, subscriptions
from holdfast.http.door import Call

_JOB = {"type": "thumbnail", "payload": {"path": "a.png", "width": 200}, "queue": "images", "priority": 3}
_SCHEDULE = {"name": "nightly", "type": "report", "cron": "0 3 * * *", "tz": "Europe/Vienna"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One method of one path: what it takes, what it does, what it answers."""

    method: str
    path: str
    name: str
    run: Callable[[Call], Awaitable[Any]]
    summary: str
    section: str
    query: type[BaseModel] | None = None  # None: whatever stands there is ignored
    body: type[shapes.Body] | None = None
    body_required: bool = False
    most: int = 1  # more than one: the body may also be a list of so many
    answer: type[BaseModel] | None = None
    status: int = 200
    media_type: str = "application/json"
    problems: tuple[int, ...] = ()
    example: Any = None
    answer_example: Any = None


def _get(path: str, name: str, run: Callable[[Call], Awaitable[Any]], summary: str, section: str, **more: Any) -> Entry:
    more.setdefault("query", shapes.NoQuery)
    return Entry(method="GET", path=path, name=name, run=run, summary=summary, section=section, **more)


def _post(
    path: str, name: str, run: Callable[[Call], Awaitable[Any]], summary: str, section: str, **more: Any
) -> Entry:
    more = {"query": shapes.NoQuery, "body": shapes.NoBody} | more
    more["problems"] = (403, 408, 413, 415, *more.get("problems", ()))
    return Entry(method="POST", path=path, name=name, run=run, summary=summary, section=section, **more)


TABLE: tuple[Entry, ...] = (
    _post(
        "/v1/jobs", "enqueue", jobs.enqueue_jobs, "Enqueue one job, or a list of up to 1,000: all or none", "jobs",
        body=shapes.NewJobBody, body_required=True, most=shapes.MOST_ENQUEUED, answer=answers.Enqueued, status=202,
        problems=(409, 429), example=_JOB,
        answer_example={"id": "01JHQ8Y3M0G5V7T2K4N6P8R0SD", "status": "queued", "created": True, "outcome": "created"},
    ),
    _get(
        "/v1/jobs", "list_jobs", jobs.list_jobs, "List jobs, newest first", "jobs",
        query=shapes.JobsQuery, answer=answers.JobPage,
    ),
    _get(
        "/v1/jobs/{id}", "show_job", jobs.show_job, "Show a job; with `wait`, after its next change", "jobs",
        query=shapes.JobQuery, answer=answers.JobShown, problems=(404,),
    ),
    _post(
        "/v1/jobs/{id}/cancel", "cancel_job", jobs.cancel_job, "Stop a job", "jobs",
        body=shapes.CancelBody, answer=answers.Cancelled, problems=(404,), example={"mode": "graceful"},
    ),
    _post(
        "/v1/jobs/{id}/retry", "retry_job", jobs.retry_job, "Send a failed or dead-lettered job round again", "jobs",
        answer=answers.JobView, problems=(404, 409),
    ),
    _post(
        "/v1/jobs/{id}/resume", "resume_job", jobs.resume_job, "Let a parked job go on", "jobs",
        body=shapes.ResumeBody, answer=answers.JobView, problems=(404, 409), example={"data": {"code": "123456"}},
    ),
    _post(
        "/v1/resume", "resume_jobs", jobs.resume_jobs, "Let parked jobs go on that wait for one key, or are of a group",
        "jobs", body=shapes.ResumeManyBody, body_required=True, answer=answers.Resumed, example={"key": "example.org"},
    ),
    _get(
        "/v1/jobs/{id}/explain", "explain_job", jobs.explain_job, "Why the job does not run now", "jobs",
        answer=answers.Explanation, problems=(404,),
    ),
    _get(
        "/v1/jobs/{id}/history", "job_history", jobs.show_history, "What happened to the job", "jobs",
        answer=answers.History, problems=(404,),
    ),
    _post(
        "/v1/groups/{key:path}/cancel", "cancel_group", groups.cancel_group, "Stop a group, or some types of it",
        "groups", body=shapes.GroupCancelBody, answer=flow_answers.GroupCancelled,
        example={"mode": "graceful", "wait": 10},
    ),
    _post(
        "/v1/groups/{key:path}/pause", "pause_group", groups.pause_group, "Let no job of a group begin", "groups",
        body=shapes.TenantBody, answer=flow_answers.ScopeSwitched,
    ),
    _post(
        "/v1/groups/{key:path}/resume", "resume_group", groups.resume_group, "Let jobs of a group begin again",
        "groups", body=shapes.TenantBody, answer=flow_answers.ScopeSwitched,
    ),
    _get(
        "/v1/groups/{key:path}", "show_group", groups.show_group,
        "A group in numbers; with `wait`, after its next change", "groups",
        query=shapes.GroupQuery, answer=flow_answers.GroupView, problems=(404,),
    ),
    _post(
        "/v1/tenants/{name:path}/pause", "pause_tenant", groups.pause_tenant, "Let no job of a tenant begin", "tenants",
        answer=flow_answers.ScopeSwitched,
    ),
    _post(
        "/v1/tenants/{name:path}/resume", "resume_tenant", groups.resume_tenant, "Let jobs of a tenant begin again",
        "tenants", answer=flow_answers.ScopeSwitched,
    ),
    _get(
        "/v1/pauses", "list_pauses", groups.list_pauses, "What is paused: queues, groups, tenants", "queues",
        answer=flow_answers.Pauses,
    ),
    _get(
        "/v1/batches", "list_batches", batches.list_batches, "List batches, newest first", "batches",
        query=shapes.BatchesQuery, answer=flow_answers.BatchPage,
    ),
    _get(
        "/v1/batches/{id}", "show_batch", batches.show_batch, "How far a batch is", "batches",
        answer=flow_answers.BatchView, problems=(404,),
    ),
    _get(
        "/v1/batches/{id}/items", "list_items", batches.list_items, "Items of a batch that have ended, by number",
        "batches", query=shapes.ItemsQuery, answer=flow_answers.ItemPage, problems=(404,),
    ),
    _post(
        "/v1/batches/{id}/cancel", "cancel_batch", batches.cancel_batch, "Cancel what has not ended of a batch",
        "batches", answer=flow_answers.BatchView, problems=(404,),
    ),
    _get("/v1/queues", "list_queues", house.list_queues, "List the queues", "queues", answer=answers.Queues),
    _post(
        "/v1/queues/{name:path}/pause", "pause_queue", house.pause_queue, "Stop claims from a queue", "queues",
        answer=answers.QueueSwitched,
    ),
    _post(
        "/v1/queues/{name:path}/resume", "resume_queue", house.resume_queue, "Let claims go on", "queues",
        answer=answers.QueueSwitched,
    ),
    _get(
        "/v1/schedules", "list_schedules", schedules.list_schedules, "List the schedules", "schedules",
        answer=answers.Schedules,
    ),
    _post(
        "/v1/schedules", "add_schedule", schedules.add_schedule, "Make a schedule, or change one until a reset",
        "schedules", body=shapes.NewScheduleBody, body_required=True, answer=answers.ScheduleView, example=_SCHEDULE,
    ),
    *(
        _post(
            f"/v1/schedules/{{name:path}}/{verb}", f"{verb}_schedule", run, summary, "schedules",
            answer=answer, problems=problems,
        )
        for verb, run, summary, answer, problems in (
            ("pause", schedules.pause_schedule, "Let no tick make a job", answers.ScheduleView, (404,)),
            ("resume", schedules.resume_schedule, "Let ticks make jobs again", answers.ScheduleView, (404,)),
            ("trigger", schedules.trigger_schedule, "Make its job now", answers.Triggered, (404,)),
            ("remove", schedules.remove_schedule, "Make no more jobs", answers.ScheduleView, (404,)),
            ("reset", schedules.reset_schedule, "Go back to what the code says", answers.ScheduleView, (404, 409)),
        )
    ),
    _get(
        "/v1/schedules/{name:path}", "show_schedule", schedules.show_schedule, "Show a schedule", "schedules",
        answer=answers.ScheduleView, problems=(404,),
    ),
    _get("/v1/limits", "list_limits", limits.list_limits, "List the limits", "limits", answer=answers.Limits),
    _post(
        "/v1/limits", "set_limit", limits.set_limit, "Set a limit; it beats the code until a reset", "limits",
        body=shapes.LimitBody, body_required=True, answer=answers.LimitView,
        example={"name": "domain", "concurrency": 1},
    ),
    _post(
        "/v1/limits/{name:path}/drop", "drop_limit", limits.drop_limit, "Limit no more", "limits",
        answer=answers.LimitView, problems=(404,),
    ),
    _post(
        "/v1/limits/{name:path}/reset", "reset_limit", limits.reset_limit, "Go back to what the code says", "limits",
        answer=answers.LimitView, problems=(404, 409),
    ),
    _get(
        "/v1/subscriptions", "list_subscriptions", subscriptions.list_subscriptions,
        "List who hears of the ends of which jobs", "subscriptions", answer=flow_answers.Subscriptions,
    ),
    _post(
        "/v1/subscriptions", "add_subscription", subscriptions.add_subscription,
        "Tell an endpoint when jobs end, or change what it hears of", "subscriptions", body=shapes.SubscriptionBody,
        body_required=True, answer=flow_answers.SubscriptionView,
        example={"name": "ops", "endpoint": "pager", "ends": ["dead_letter"]},
    ),
    _post(
        "/v1/subscriptions/{name:path}/remove", "remove_subscription", subscriptions.remove_subscription,
        "Tell it no more", "subscriptions", answer=flow_answers.Unsubscribed, problems=(404,),
    ),
    _get(
        "/v1/dead-letter", "list_dead_letters", jobs.list_dead_letters, "List dead letters, newest first",
        "dead letters", query=shapes.DeadLettersQuery, answer=answers.JobPage,
    ),
    _post(
        "/v1/dead-letter/retry", "retry_dead_letters", jobs.retry_dead_letters,
        "Send a batch of dead letters round again", "dead letters",
        body=shapes.DeadLetterBody, answer=answers.Handled, example={"type": "thumbnail"},
    ),
    _post(
        "/v1/dead-letter/purge", "purge_dead_letters", jobs.purge_dead_letters,
        "Delete a batch of dead letters for good", "dead letters",
        body=shapes.PurgeBody, body_required=True, answer=answers.Handled, example={"type": "thumbnail"},
    ),
    _get(
        "/v1/audit", "audit", jobs.show_audit, "Who deleted which jobs by hand, newest first", "dead letters",
        query=shapes.AuditQuery, answer=answers.Audit,
    ),
    _get("/v1/stats", "statistics", house.show_statistics, "The house in numbers", "house", answer=answers.Statistics),
    _get("/v1/workers", "list_workers", house.list_workers, "Workers heard of lately", "house", answer=answers.Workers),
    _get(
        "/v1/events", "events", house.stream_events, "Changes as they happen, as server-sent events", "house",
        media_type="text/event-stream",
    ),
    _get("/v1/health/live", "live", house.live, "Whether the server turns", "health", answer=answers.Health),
    _get("/v1/health/ready", "ready", house.ready, "Whether the store answers", "health", answer=answers.Health),
    _get(
        "/metrics", "metrics", house.show_metrics, "Figures for Prometheus", "house", query=None,
        media_type="text/plain",
    ),
    _get("/", "overview", house.show_overview, "The live overview page", "pages", query=None, media_type="text/html"),
)  # fmt: skip
