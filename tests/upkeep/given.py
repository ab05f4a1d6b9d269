"""Given jobs, and runs in the hands of an owner."""

from __future__ import annotations

from holdfast.engine import jobs, leases
from holdfast.engine.desk import Desk
from holdfast.model.job import Job
from holdfast.model.lease import Claim, Lane
from holdfast.model.request import NewJob
from holdfast.store.port import Order

LEASE_MS = 9_000


def waiting(desk: Desk, count: int = 1, *, type: str = "work") -> list[str]:
    return [job_id for job_id, _ in desk.write(jobs.enqueue, [NewJob(type, "{}") for _ in range(count)])]


def running(desk: Desk, owner: str, count: int = 1, *, type: str = "work") -> list[Claim]:
    waiting(desk, count, type=type)
    return desk.write(leases.claim, Order(owner, [Lane("default", type)], count, LEASE_MS))


def job(desk: Desk, job_id: str) -> Job:
    return desk.read(jobs.get, job_id)
