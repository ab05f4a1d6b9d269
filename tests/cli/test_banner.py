"""What a worker says of its store when it starts holds no secret."""

from __future__ import annotations

import pytest

from holdfast.cli.running import _without_secret


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("sqlite:///jobs.db?synchronous=full", "sqlite:///jobs.db"),
        ("postgresql://db.example.org/jobs", "postgresql://db.example.org/jobs"),
        ("postgresql://app:hunter2@db.example.org/jobs", "postgresql://...@db.example.org/jobs"),
        ("postgresql://db.example.org/jobs?password=hunter2", "postgresql://db.example.org/jobs"),
        ("postgresql:///jobs?password=hunter2@home&host=/run", "postgresql://..."),
        ("postgresql://app:hunter2?@db.example.org/jobs", "postgresql://..."),
    ],
)
def test_a_store_is_named_without_its_secrets(url, told):
    assert _without_secret(url) == told
