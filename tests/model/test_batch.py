"""Which part of a batch a job is, from its row alone."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from holdfast.model.batch import part_of
from holdfast.model.job import Job

NOTHING = dict.fromkeys((field.name for field in fields(Job)), None)
JOB = Job(**NOTHING | {"id": "a", "type": "t"})


@pytest.mark.parametrize(
    ("facts", "part"),
    [
        ({"payload": {"items": [[0, {}]]}}, None),
        ({"batch": "b", "item": 7, "payload": {"items": [[1, {}]]}}, {"id": "b", "first": 7, "last": 7}),
        ({"batch": "b", "payload": {"items": [[50, {}]]}}, {"id": "b", "first": 50, "last": 50}),
        ({"batch": "b", "payload": {"items": [[50, {}], [51, {}], [52, {}]]}}, {"id": "b", "first": 50, "last": 52}),
        ({"batch": "b", "payload": {"class": "NotJson"}}, {"id": "b", "first": None, "last": None}),
    ],
)
def test_a_job_tells_its_part_of_a_batch(facts, part):
    assert part_of(replace(JOB, **facts)) == part
