from __future__ import annotations

import pytest

import holdfast
from holdfast.testing import drain


@pytest.fixture
def batch(app):
    @app.job
    def square(n: int) -> int:
        if n == 2:
            raise holdfast.Permanent("not two")
        return n * n

    @app.job
    def report(batch: str) -> None: ...

    return app.map(square, [{"n": n} for n in range(4)], callback=report, group="shop", key="import", tenant="acme")


def test_batches_are_listed(cli, app, batch):
    head, line = cli("batches").out.splitlines()
    assert head.split() == ["ID", "TYPE", "STATE", "DONE", "FAILED", "TOTAL", "PERCENT", "AGE", "ENDED"]
    assert line.split()[:7] == [batch.id, "square", "running", "0", "0", "4", "0"]
    drain(app)
    (shown,) = cli("batches", "--json").json
    assert (shown["id"], shown["done"], shown["failed"], shown["percent"]) == (batch.id, 3, 1, 100.0)
    assert cli("batches").out.splitlines()[1].split()[2:7] == ["ended", "3", "1", "4", "100"]
    assert cli("batches", "--tenant", "nobody", "--json").json == []


def test_without_batches_it_says_how_to_make_one(cli, app):
    app.jobs()
    assert "app.map" in cli("batches").err


def test_a_batch_is_shown(cli, app, batch):
    assert "4: 0 done, 0 failed, 4 to come (0 %)" in cli("batch", "show", batch.id).out
    drain(app)
    told = cli("batch", "show", batch.id).out
    for text in ("4: 3 done, 1 failed, 0 to come (100 %)", "shop", "import", "acme", "callback", "ended"):
        assert text in told
    assert cli("batch", "show", batch.id, "--json").json["callback_job"] is not None
    answer = cli("batch", "show", "nobody")
    assert (answer.code, "BATCH_NOT_FOUND" in answer.err) == (1, True)


def test_items_are_listed(cli, app, batch):
    assert "no items" in cli("batch", "items", batch.id).err
    drain(app)
    head, *lines = cli("batch", "items", batch.id).out.splitlines()
    assert head.split() == ["ITEM", "STATUS", "JOB", "RESULT", "OR", "ERROR"]
    assert [line.split()[1] for line in lines] == ["done", "done", "failed", "done"]
    (failed,) = cli("batch", "items", batch.id, "--failed").out.splitlines()[1:]
    assert failed.endswith("not two")
    (last,) = cli("batch", "items", batch.id, "--after", "2", "--json").json
    assert (last["number"], last["result"]) == (3, 9)


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_batch_is_cancelled(cli, batch, form):
    answer = cli("batch", "cancel", batch.id, *form)
    if form:
        assert (answer.json["cancelled"], answer.json["cancelled_jobs"]) == (4, 1)
    else:
        assert answer.out == f"batch {batch.id} has ended: 0 items done, 0 failed, 4 cancelled\n"


def test_a_job_tells_of_its_batch(cli, app, batch):
    (chunk,) = app.jobs()
    assert batch.id in cli("job", "show", chunk.id).out
    assert f"IN_BATCH: a chunk of batch {batch.id}" in cli("job", "explain", chunk.id).out
    single = app.map("square", [{"n": 1}], chunk=1)
    assert f"{single.id}, item 0" in cli("job", "show", app.jobs()[0].id).out
