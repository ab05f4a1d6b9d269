"""What is said of a signal that cannot be reached."""

from __future__ import annotations

import pytest

from holdfast.signals.network import reason
from holdfast.signals.postgres import PostgresNetwork


@pytest.mark.parametrize("password", ["%zzhunter2", "not hunter2"])
def test_an_address_that_the_driver_cannot_read_is_told_without_the_password(password):
    with pytest.raises(Exception, match="cannot read the whole address") as caught:
        PostgresNetwork(f"postgresql://ann:{password}@127.0.0.1:1/jobs").connect(hear=False)
    assert "hunter2" not in reason(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("address", "named"),
    [
        ("postgresql://ann:hunter2@db.example:5433/jobs", "db.example:5433"),
        ("postgresql://ann:hunter2@db1,db2/jobs?sslmode=require", "db1,db2"),
        ("postgresql:///jobs?host=%2Frun%2Fpostgresql&user=ann&password=hunter2", "/run/postgresql"),
        ("postgresql://ann:hunter2@%2Frun%2Fpostgresql/jobs", "/run/postgresql"),
        ("postgresql:///jobs?hostaddr=192.0.2.1", "192.0.2.1"),
        ("postgresql:///jobs", "the default socket of this machine"),
    ],
)
def test_the_log_names_the_host_or_the_folder_of_the_socket(monkeypatch, address, named):
    monkeypatch.delenv("PGHOST", raising=False)
    assert PostgresNetwork(address).name == f"PostgreSQL at {named}"


def test_without_a_host_in_the_address_that_of_the_environment_is_named(monkeypatch):
    monkeypatch.setenv("PGHOST", "/var/run/postgresql")
    assert PostgresNetwork("postgresql:///jobs").name == "PostgreSQL at /var/run/postgresql"
