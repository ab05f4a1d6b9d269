"""Let parked jobs go on: by id, by the key they wait for, or by group."""

from __future__ import annotations

from holdfast.engine.jobs import dead_letters, get
from holdfast.model.errors import BadInput, Conflict
from holdfast.model.request import check_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.engine.desk import Desk
    from holdfast.model.job import Job
    from holdfast.store.port import Transaction

PAGE = 500


def resume_all(
    desk: Desk,
    job_id: str | None = None,
    *,
    key: str | None = None,
    group: str | None = None,
    tenant: str | None = None,
    data: object = None,
    actor: str | None = None,
) -> list[str]:
    """The jobs that go on, page by page: one by its id, or all of a tenant that wait for a key or are of a group."""
    if (job_id is not None) + (key is not None) + (group is not None) != 1:
        raise BadInput("BAD_OPTION", "say which jobs to resume: one id, or the key they wait for, or a group")
    if job_id is not None:
        return [desk.write(resume, job_id, data=data, tenant=tenant, actor=actor).id]
    resumed: list[str] = []
    after: str | None = ""
    while after is not None:  # ids only grow: one that parks again meanwhile is not met twice
        page, after = desk.write(resume_page, after, key=key, group=group, tenant=tenant or "", data=data, actor=actor)
        resumed += page
    return resumed


def resume(
    tx: Transaction,
    job_id: str,
    *,
    data: object = None,
    tenant: str | None = None,
    actor: str | None = None,
) -> Job:
    """Let one parked job go on; `data` is for its handler alone."""
    text = answer_of(data)
    job = get(tx, job_id, tenant)
    if not tx.unpark([(job_id, _sealed(job_id, text))], actor):
        raise Conflict("WRONG_STATUS", f"job {job_id} is {job.status.value}: only a parked job is resumed")
    return get(tx, job_id, tenant)


def resume_page(
    tx: Transaction,
    after: str = "",
    *,
    key: str | None = None,
    group: str | None = None,
    tenant: str = "",
    data: object = None,
    actor: str | None = None,
) -> tuple[list[str], str | None]:
    """Let parked jobs go on that wait for one key, or are of one group: their ids, and where the next page begins."""
    if (key is None) == (group is None):
        raise BadInput("BAD_OPTION", "say which jobs to resume: one id, or the key they wait for, or a group")
    check_name("key" if group is None else "group", key if group is None else group)
    if tenant:
        check_name("tenant", tenant)
    text = answer_of(data)
    found = tx.parked(tenant=tenant, key=key, group=group, after=after, limit=PAGE)
    resumed = tx.unpark([(job_id, _sealed(job_id, text)) for job_id in found], actor) if found else []
    return resumed, found[-1] if len(found) == PAGE else None


def parked(
    tx: Transaction,
    *,
    before: str | None = None,
    limit: int = 50,
    type: str | None = None,
    tenant: str | None = None,
) -> list[Job]:
    """The jobs that wait for a person, newest first."""
    return dead_letters(tx, status="awaiting_auth", before=before, limit=limit, type=type, tenant=tenant)


def answer_of(data: object) -> str | None:
    """What a person gives, checked, as text. Refused where it could not be encrypted."""
    if data is None:
        return None
    from holdfast.engine.sealing import check_secret  # noqa: PLC0415  # most resumes carry nothing
    from holdfast.model.parking import check_answer  # noqa: PLC0415

    text = check_answer(data)
    check_secret()
    return text


def _sealed(job_id: str, text: str | None) -> str | None:
    if text is None:
        return None
    from holdfast.engine.sealing import seal  # noqa: PLC0415

    return seal(job_id, text)
