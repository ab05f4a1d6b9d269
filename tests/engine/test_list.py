"""Listings: newest first, by page, narrowed by what the job is."""

# A transaction that is left by an error is one block.
# ruff: noqa: PT012

from __future__ import annotations

import pytest

from holdfast.engine import jobs
from holdfast.model.errors import BadInput, NotFound
from tests.engine.given import ended, enqueue, get, new_job

WINDOW = 10_000  # so many rows the store looks at in one go
MANY = WINDOW + 500
EDGE = MANY - 1 - WINDOW  # the job on which the first window ends


def listed(desk, **where):
    found, _ = desk.read(jobs.list_jobs, **where)
    return [job.id for job in found]


def all_pages(desk, limit, **where):
    """Every id, page by page, as a program walks a listing."""
    ids, cursor = [], None
    while True:
        found, cursor = desk.read(jobs.list_jobs, before=cursor, limit=limit, **where)
        ids += [job.id for job in found]
        if cursor is None:
            return ids


@pytest.fixture
def crowded(desk):
    """Many jobs, of which four are of a rare type, one of them on the edge of a window; all ids, newest first."""
    kinds = ["rare" if number in (0, EDGE, 5_000, 10_000) else "mail" for number in range(MANY)]
    ids = [job_id for job_id, _ in desk.write(jobs.enqueue, [new_job(kind) for kind in kinds])]
    return ids[::-1], [job_id for job_id, kind in zip(ids, kinds, strict=True) if kind == "rare"][::-1]


def test_the_newest_come_first(desk):
    ids = [enqueue(desk) for _ in range(5)]
    assert listed(desk) == ids[::-1]


def test_fifty_are_listed_unless_told_otherwise(desk):
    desk.write(jobs.enqueue, [new_job() for _ in range(60)])
    assert len(listed(desk)) == 50


def test_an_empty_store_lists_nothing_and_has_no_next_page(desk):
    assert desk.read(jobs.list_jobs) == ([], None)


def test_pages_follow_each_other_without_gap_or_repeat(desk):
    ids = [enqueue(desk) for _ in range(7)]
    assert all_pages(desk, 3) == ids[::-1]


def test_a_page_that_ends_exactly_at_the_last_job_loses_nothing(desk):
    ids = [enqueue(desk) for _ in range(6)]
    assert all_pages(desk, 3) == ids[::-1]


def test_pages_cross_the_windows_of_a_crowded_table(desk, crowded):
    everything, _ = crowded
    assert all_pages(desk, 1_000) == everything


def test_rare_matches_are_found_in_a_crowded_table(desk, crowded):
    _, rare = crowded
    assert len(rare) == 4
    assert all_pages(desk, 2, type="rare") == rare
    assert all_pages(desk, 1, type="rare") == rare
    assert listed(desk, type="rare") == rare


def test_a_filter_that_matches_nothing_ends_in_a_crowded_table(desk, crowded):
    assert desk.read(jobs.list_jobs, type="no such type") == ([], None)


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ({"status": "queued"}, {"plain", "image", "gpu", "grouped", "hers"}),
        ({"status": "completed"}, {"done"}),
        ({"type": "image"}, {"image"}),
        ({"queue": "gpu"}, {"gpu"}),
        ({"group": "g"}, {"grouped"}),
        ({"tenant": "her"}, {"hers"}),
        ({"tenant": "her", "type": "image"}, set()),
        ({"status": None, "type": None}, {"plain", "image", "gpu", "grouped", "hers", "done"}),
    ],
)
def test_a_listing_is_narrowed_by_what_the_job_is(desk, where, found):
    names = {ended(desk): "done"}
    names |= {
        enqueue(desk): "plain",
        enqueue(desk, "image"): "image",
        enqueue(desk, queue="gpu"): "gpu",
        enqueue(desk, group="g"): "grouped",
        enqueue(desk, tenant="her"): "hers",
    }
    assert {names[job_id] for job_id in listed(desk, **where)} == found


@pytest.mark.parametrize("limit", [0, -1, 1_001])
def test_a_page_has_one_to_a_thousand_jobs(desk, limit):
    with pytest.raises(BadInput, match="limit is a whole number from 1 to 1000") as caught:
        listed(desk, limit=limit)
    assert caught.value.code == "BAD_OPTION"


def test_a_status_that_is_none_is_refused_with_those_there_are(desk):
    with pytest.raises(BadInput, match="'done' is no status; there are: queued, in_progress") as caught:
        listed(desk, status="done")
    assert caught.value.code == "BAD_OPTION"


def test_one_job_is_got_by_its_id(desk):
    job_id = enqueue(desk, payload='{"to":"x"}')
    assert get(desk, job_id).payload == {"to": "x"}


@pytest.mark.parametrize("job_id", ["", "x", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "x" * 10_000, "'; drop table job_queue; --"])
def test_an_unknown_id_is_not_found_and_is_not_repeated_at_length(desk, job_id):
    with pytest.raises(NotFound) as caught:
        get(desk, job_id)
    assert caught.value.code == "JOB_NOT_FOUND"
    assert len(str(caught.value)) < 150


def test_another_tenant_s_job_is_not_found(desk):
    job_id = enqueue(desk, tenant="her")
    assert desk.read(jobs.get, job_id, "her").id == job_id
    for verb in (jobs.get, jobs.history, jobs.cancel, jobs.retry, jobs.purge):
        with pytest.raises(NotFound):
            if verb in (jobs.get, jobs.history):
                desk.read(verb, job_id, "him")
            else:
                desk.write(verb, job_id, tenant="him")
    assert get(desk, job_id).status == "queued"
