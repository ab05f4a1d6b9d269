from __future__ import annotations

from collections import Counter

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_text

from holdfast.http.metrics import KEPT_SECONDS, Totals
from holdfast.model.figures import bucket_of


def samples(site, **headers):
    reply = site.get("/metrics", headers=headers)
    assert reply.status == 200
    assert reply.headers["content-type"].startswith("text/plain")
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in read_text(reply.body.decode())
        for sample in family.samples
    }


def test_the_figures_are_told_under_their_names(site):
    @site.app.job(queue="idle")
    def idle() -> None: ...

    site.post("/v1/jobs", [{"type": "a"}, {"type": "a"}, {"type": "a"}, {"type": "b", "queue": "slow"}])
    site.complete("a")
    site.claim("a")
    site.dead("c")
    site.post("/v1/queues/slow/pause")

    seen = samples(site)

    line = (("queue", "default"), ("type", "a"))
    dead = (("queue", "default"), ("type", "c"))
    assert seen["holdfast_queue_depth", line] == 1
    assert seen["holdfast_jobs_in_progress", line] == 1
    assert seen["holdfast_completed_last_hour", line] == 1
    assert seen["holdfast_dead_letters", dead] == 1
    assert seen["holdfast_failed_last_hour", dead] == 1
    assert seen["holdfast_expired_leases", line] == 0
    assert seen["holdfast_oldest_job_age_seconds", line] >= 0
    assert seen["queue_depth", (("queue", "default"),)] == 1
    assert seen["queue_depth", (("queue", "idle"),)] == 0
    assert seen["queue_age_sec", (("queue", "slow"),)] >= 0
    assert seen["holdfast_queue_paused", (("queue", "slow"),)] == 1
    assert seen["jobs_failed_total", dead] == 1
    assert seen["holdfast_jobs_total", (("outcome", "completed"), *line)] == 1
    assert seen["task_end_to_end_latency_count", line] == 1
    assert seen["task_end_to_end_latency_bucket", (("le", "+Inf"), *line)] == 1
    for quantile in ("0.5", "0.95", "0.99"):
        assert seen["holdfast_run_duration_seconds", (("quantile", quantile), *line)] >= 0
    assert seen["holdfast_workers", ()] == 0


def test_the_store_is_asked_at_most_once_in_five_seconds(site):
    assert KEPT_SECONDS == 5
    samples(site)
    site.post("/v1/jobs", {"type": "a"})

    assert ("holdfast_queue_depth", (("queue", "default"), ("type", "a"))) not in samples(site)


def test_openmetrics_is_spoken_to_those_who_ask(site):
    site.post("/v1/jobs", {"type": "a"})
    site.complete("a")

    reply = site.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})

    assert reply.headers["content-type"].startswith("application/openmetrics-text")
    assert {family.name for family in read_openmetrics(reply.body.decode())} >= {"jobs_failed", "queue_depth"}


@pytest.mark.parametrize("name", ['quo"te', "back\\slash", "br{ace}", "ünïcode", "<b>"])
def test_any_name_survives_as_a_label(site, name):
    site.post("/v1/jobs", {"type": name, "queue": name})

    assert samples(site)["holdfast_queue_depth", (("queue", name), ("type", name))] == 1


class Figures:
    """A stand-in for the store's figures: endings by minute, forgotten from the front."""

    def __init__(self) -> None:
        self.now = 0
        self.kept: list[tuple[int, int]] = []

    def figures(self, since):
        counts = Counter(bucket for at, bucket in self.kept if at >= since // 60_000 * 60_000)
        return [("q", "t", "completed", "run", bucket, count) for bucket, count in counts.items()]


def test_totals_only_grow_while_the_store_forgets():
    figures, totals, ended = Figures(), Totals(), 0
    for minute in range(1, 200):
        figures.now = minute * 60_000 + 30_000
        figures.kept.append((figures.now, bucket_of(minute % 7)))
        ended += 1
        figures.kept = [one for one in figures.kept if one[0] > figures.now - 10 * 60_000]
        assert sum(totals.read(figures).values()) == ended
        late = (figures.now - 60_000, 3)  # stamped in the minute before, committed after we looked
        figures.kept.append(late)
        ended += 1
    assert sum(totals.read(figures).values()) == ended
