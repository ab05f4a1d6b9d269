"""On SQLite, frameworks that use the standard library's driver."""

from __future__ import annotations

import django
import pytest
import sqlalchemy
from django.conf import settings
from django.db import connections, transaction
from django.db.utils import ConnectionHandler
from sqlalchemy.orm import Session

import holdfast


@pytest.fixture
def app(tmp_path):
    settings = "driver=sqlite3&allow_unsafe_sqlite=1&synchronous=normal"
    with holdfast.App(f"sqlite:///{tmp_path}/jobs.db?{settings}") as application:
        application.statistics()
        yield application


@pytest.fixture
def engine(tmp_path):
    made = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/jobs.db")
    yield made
    made.dispose()


@pytest.mark.parametrize("open_on", [sqlalchemy.Engine.connect, Session])
def test_a_job_rides_on_sqlalchemy(app, engine, open_on):
    with open_on(engine) as own:
        gone = app.enqueue("ship", connection=own)
        own.rollback()
        kept = app.enqueue("ship", connection=own)
        own.execute(sqlalchemy.text("create table orders (id integer)"))
        also = app.enqueue("ship", connection=own)
        own.commit()
    assert {job.id for job in app.jobs()} == {kept.id, also.id}
    with pytest.raises(holdfast.NotFound):
        gone.status()


async def test_a_coroutine_may_use_a_plain_connection(app, engine):
    with engine.connect() as own:
        handle = await app.aenqueue("ship", connection=own)
        own.commit()
    assert handle.status() == "queued"


def test_a_job_rides_on_django(app, tmp_path):
    if not settings.configured:
        settings.configure(USE_TZ=True)
        django.setup()
    handler = ConnectionHandler(
        {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": str(tmp_path / "jobs.db")}}
    )
    connections["default"] = own = handler["default"]
    with transaction.atomic():
        gone = app.enqueue("ship", connection=own)
        transaction.set_rollback(True)
    with transaction.atomic():
        kept = app.enqueue("ship", connection=own)
        assert app.jobs() == []
    own.close()
    assert [job.id for job in app.jobs()] == [kept.id]
    assert gone.id != kept.id


def test_another_library_is_still_refused(tmp_path, engine):
    with holdfast.App(f"sqlite:///{tmp_path}/jobs.db") as app:
        app.statistics()
        with engine.connect() as own, pytest.raises(holdfast.StoreError, match=r"\?driver=sqlite3"):
            app.enqueue("ship", connection=own)
