"""The package itself: light to import, and its errors travel."""

from __future__ import annotations

import json
import os
import pickle
import site
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast.model import errors

HEAVY = {"asyncio", "pydantic", "pytest", "sqlite3", "apsw", "threading", "dataclasses", "typing", "inspect"}


def loaded_after(code, folder):
    program = (
        f"import sys; before = set(sys.modules); {code}; import json; print(json.dumps([*(set(sys.modules) - before)]))"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(holdfast.__file__).parents[1])}
    run = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path += {site.getsitepackages()!r}; {program}"],
        cwd=folder,
        env=environment,
        capture_output=True,
        check=False,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return set(json.loads(run.stdout))


def test_importing_the_package_loads_the_package_alone(tmp_path):
    loaded = loaded_after("import holdfast", tmp_path)
    assert {name for name in loaded if name.startswith("holdfast")} == {"holdfast"}
    assert loaded & HEAVY == set()


def test_an_error_class_is_loaded_without_the_rest(tmp_path):
    loaded = loaded_after("from holdfast import Permanent", tmp_path)
    assert "holdfast.app" not in loaded
    assert loaded & {"asyncio", "pydantic"} == set()


def test_enqueueing_by_name_needs_no_schema_library(tmp_path):
    loaded = loaded_after("import holdfast; holdfast.App('sqlite:///jobs.db').enqueue('mail', {'to': 'x'})", tmp_path)
    assert loaded & {"asyncio", "pydantic", "holdfast.handler", "holdfast.testing"} == set()


def test_every_public_name_is_what_it_says():
    for name in holdfast.__all__:
        assert getattr(holdfast, name).__name__ == name


ERRORS = [
    *(kind("CODE", "what to do next") for kind in vars(errors).values()
      if isinstance(kind, type) and issubclass(kind, holdfast.HoldfastError)),
    holdfast.Permanent("never"),
    holdfast.Retry("later", after=5),
    holdfast.Snooze(30),
    holdfast.AwaitAuth("log in", "https://example.org", "key", expires=60),
]  # fmt: skip


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_every_error_can_be_sent_to_another_process(error):
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_the_tree_of_errors_lets_callers_catch_by_kind():
    assert issubclass(holdfast.KeyConflict, holdfast.Conflict)
    assert issubclass(holdfast.PayloadError, holdfast.BadInput)
    assert all(
        issubclass(kind, errors.ResultError)
        for kind in (holdfast.JobFailed, holdfast.JobCancelled, holdfast.ResultTimeout)
    )
    assert not issubclass(holdfast.Permanent, holdfast.HoldfastError)
