"""Jobs over HTTP: enqueue, list, look, wait, cancel, retry, explain."""

from __future__ import annotations

from typing import Any

from holdfast.engine import jobs, parking
from holdfast.engine.cancels import acancel_job
from holdfast.engine.explain import explain
from holdfast.http import verbs
from holdfast.http.door import Call
from holdfast.http.shapes import (
    AuditQuery,
    CancelBody,
    DeadLetterBody,
    DeadLettersQuery,
    JobQuery,
    JobsQuery,
    NewJobBody,
    PurgeBody,
    ResumeBody,
    ResumeManyBody,
)
from holdfast.model.errors import BadInput, HoldfastError
from holdfast.model.request import NewJob

ACTOR = "http"


async def enqueue_jobs(call: Call) -> Any:
    """All jobs of the body are stored, or none."""
    many = isinstance(call.body, list)
    bodies: list[NewJobBody] = call.body if many else [call.body]
    new = [_new_job(call, body, index if many else None) for index, body in enumerate(bodies)]
    answers = await call.app.desk.awrite(verbs.enqueue_and_look, new, call.app.max_depth) if new else []
    return answers if many else answers[0]


async def list_jobs(call: Call) -> Any:
    query: JobsQuery = call.query
    where = query.model_dump(mode="json", include={"status", "type", "queue", "group", "tenant"})
    found, following = await call.app.desk.aread(jobs.list_jobs, limit=query.limit, before=query.before, **where)
    items = [verbs.summary(job) if query.view == "summary" else job.as_json() for job in found]
    return {"items": items, "next": following}


async def show_job(call: Call) -> Any:
    """The job; with `wait`, once its version is past `since`, or as it is when the time is over."""
    query: JobQuery = call.query
    job_id = call.part("id")
    job, family = await call.app.desk.aread(jobs.get_with_family, job_id)
    # Without `since` the caller wants news of a job that goes on; one that has ended is told at once.
    news_to_come = job.version <= query.since if query.since is not None else not job.ended
    if query.wait > 0 and news_to_come:
        since = job.version if query.since is None else query.since
        await call.door.wait_for_change(call.request, job_id, since, query.wait)
        job, family = await call.app.desk.aread(jobs.get_with_family, job_id)
    return job.as_json() | family


async def cancel_job(call: Call) -> Any:
    body: CancelBody = call.body
    return await acancel_job(call.app.desk, call.part("id"), mode=body.mode, actor=ACTOR)


async def retry_job(call: Call) -> Any:
    return (await call.app.desk.awrite(jobs.retry, call.part("id"), actor=ACTOR)).as_json()


async def resume_job(call: Call) -> Any:
    body: ResumeBody = call.body
    return (await call.app.desk.awrite(parking.resume, call.part("id"), data=body.data, actor=ACTOR)).as_json()


async def resume_jobs(call: Call) -> Any:
    body: ResumeManyBody = call.body
    ids, following = await call.app.desk.awrite(
        parking.resume_page,
        body.after,
        key=body.key,
        group=body.group,
        tenant=body.tenant,
        data=body.data,
        actor=ACTOR,
    )
    return {"count": len(ids), "ids": ids, "next": following}


async def explain_job(call: Call) -> Any:
    return await call.app.desk.aread(explain, call.part("id"))


async def show_history(call: Call) -> Any:
    job_id = call.part("id")
    return {"id": job_id, "items": await call.app.desk.aread(jobs.history, job_id)}


async def list_dead_letters(call: Call) -> Any:
    query: DeadLettersQuery = call.query
    found = await call.app.desk.aread(
        jobs.dead_letters, before=query.before, limit=query.limit, type=query.type, tenant=query.tenant
    )
    following = found[-1].id if len(found) == query.limit else None
    return {"items": [job.as_json() for job in found], "next": following}


async def retry_dead_letters(call: Call) -> Any:
    body: DeadLetterBody = call.body
    count = await call.app.desk.awrite(verbs.retry_dead, body.limit, body.type, body.tenant, actor=ACTOR)
    return {"count": count, "more": count == body.limit}


async def purge_dead_letters(call: Call) -> Any:
    body: PurgeBody = call.body
    if body.all == (body.type is not None or body.tenant is not None):
        raise BadInput("BAD_OPTION", 'say which: a type, a tenant, or {"all": true} for every dead letter')
    count = await call.app.desk.awrite(verbs.purge_dead, body.limit, body.type, body.tenant, actor=ACTOR)
    return {"count": count, "more": count == body.limit}


async def show_audit(call: Call) -> Any:
    query: AuditQuery = call.query
    found = await call.app.desk.aread(jobs.audit, before=query.before, limit=query.limit, tenant=query.tenant)
    return {"items": found, "next": found[-1]["id"] if len(found) == query.limit else None}


def _new_job(call: Call, body: NewJobBody, index: int | None) -> NewJob:
    try:
        return call.app.new_job(body.type, body.payload, body.options())
    except HoldfastError as error:
        if index is None:
            raise
        raise type(error)(error.code, f"job {index} of the list: {error}") from None
