"""Statements that the driver has composed are run as they are."""

from __future__ import annotations

from psycopg import sql

from tests.store.given import write


def test_a_composed_statement_is_run_in_a_block(pg):
    statement = sql.SQL("select count(*) from {}").format(sql.Identifier("job_queue"))
    assert write(pg, lambda tx: tx.execute(statement)) == [(0,)]
