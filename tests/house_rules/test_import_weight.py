"""A cold process that enqueues one job must be quick: what it imports is counted, module by module."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig

import pytest

from tests.house_rules.tree import SRC

HEAVY = {
    "argparse",
    "asyncio",
    "concurrent",
    "contextlib",
    "dataclasses",
    "datetime",
    "enum",
    "functools",
    "hashlib",
    "importlib.metadata",
    "inspect",
    "json",
    "logging",
    "pathlib",
    "pydantic",
    "random",
    "re",
    "threading",
    "typing",
    "uuid",
}
IMPORT = "import holdfast"
OPEN = "from holdfast import App; app = App('sqlite:///x.db')"
ENQUEUE = f"{OPEN}; app.enqueue('thumbnail', {{'path': 'a.png'}})"
TWICE = "; ".join([OPEN] + ["app.enqueue('thumbnail', {'path': 'a.png'}, coalesce_key='a', queue='q')"] * 2)
BLOCK = f"""{OPEN}
with app.transaction() as tx:
    tx.execute('select 1')
    app.enqueue('thumbnail', {{'path': 'a.png'}})
"""


def heavy_modules_after(code: str, folder) -> set[str]:
    """Run the code in a bare interpreter (no site, no environment, no .pth file) and look at sys.modules."""
    paths = [str(SRC), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    program = (
        f"import sys; sys.path += {paths!r}\n{code}\nloaded = list(sys.modules); import json; print(json.dumps(loaded))"
    )
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        cwd=folder,
        env={},
        capture_output=True,
        check=False,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return HEAVY & set(json.loads(run.stdout))


@pytest.mark.parametrize(
    "code",
    [IMPORT, OPEN, ENQUEUE, TWICE, BLOCK],
    ids=["import", "open", "enqueue by name", "newest wins", "transaction"],
)
def test_the_cold_path_imports_nothing_heavy(tmp_path, code):
    assert heavy_modules_after(code, tmp_path) == set()


@pytest.mark.parametrize("name", sorted(HEAVY - {"concurrent"}))
def test_the_count_sees_a_heavy_module(tmp_path, name):
    assert name in heavy_modules_after(f"import {name}", tmp_path)


def test_the_bare_interpreter_itself_is_light(tmp_path):
    assert heavy_modules_after("pass", tmp_path) == set()
