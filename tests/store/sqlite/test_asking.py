"""A transaction for those who only enqueue: it has a part of the verbs, and becomes a whole one when others are asked."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.store.sql import _PARAMETER, Queries
from holdfast.store.sqlite import store as sqlite_store
from holdfast.store.sqlite.asking import Asking
from holdfast.store.sqlite.transaction import SqliteTransaction

SRC = Path(sqlite_store.__file__).parents[3]
QUERIES = Path(sqlite_store.__file__).parent / "sql"


def test_what_both_have_is_the_same():
    """Else a verb would do one thing in a cold process, and another in one that has loaded the rest."""
    names = {name for name in dir(Asking) if not name.startswith("__")} | {"__init__", "__getattr__"}
    assert {name for name in names if getattr(Asking, name) is not getattr(SqliteTransaction, name)} == set()


def run(code: str, folder) -> str:
    """In a process of its own, which has loaded nothing else."""
    program = (
        f"import sys; sys.path.insert(0, {str(SRC)!r})\nimport holdfast\napp = holdfast.App('sqlite:///x.db')\n{code}"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "code",
    [
        "app.enqueue('a')",
        "app.enqueue('a', coalesce_key='k'); app.enqueue('a', coalesce_key='k')",
        "app.enqueue('a', key='k'); app.enqueue('b')",
        "app.enqueue('a', group='g', tenant='t')",
    ],
)
def test_whoever_only_enqueues_loads_no_more(tmp_path, code):
    assert run(f"{code}\nprint('holdfast.store.sqlite.transaction' in sys.modules)", tmp_path) == "False\n"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("one = app.enqueue('a', key='k'); print(app.enqueue('a', key='k').id == one.id)", "True\n"),
        ("for n in (2, 1):\n    one = app.enqueue('a', coalesce_key='k', sequence=n)\nprint(one.outcome)", "discarded\n"),
        ("one = app.enqueue('a'); two = app.enqueue('b', depends_on=[one.id]); print(two.status().value)", "queued\n"),
        ("one = app.enqueue('a', limits=['x']); print(one.status().value)", "queued\n"),
        ("with app.transaction() as tx:\n    one = app.enqueue('a'); print(one.status().value, tx.newer(one.id))",
         "queued None\n"),
    ],
    ids=["a key that is taken", "a request that comes late", "a job with a parent", "a job with a limit", "a verb of others"],
)  # fmt: skip
def test_what_is_more_than_that_works_as_ever(tmp_path, code, told):
    assert run(code, tmp_path) == told
    assert run(f"{code}\nprint('holdfast.store.sqlite.transaction' in sys.modules)", tmp_path).endswith("True\n")


def test_a_verb_that_nobody_has_is_an_error(tmp_path):
    code = "with app.transaction() as tx:\n    for _ in range(2):\n        try:\n            tx.dance\n        except AttributeError as error:\n            print(error)"
    assert run(code, tmp_path) == "a transaction has no verb 'dance'\n" * 2


@pytest.mark.parametrize("path", sorted(QUERIES.glob("*.sql")), ids=lambda path: path.stem)
def test_numbers_take_the_place_of_the_names_that_the_pattern_finds(path):
    queries = Queries(lambda name: (QUERIES.parent / name).read_bytes())
    names: dict[str, int] = {}
    wanted = re.sub(_PARAMETER, lambda found: f"?{names.setdefault(found[1], len(names) + 1)}", path.read_text())
    if names:
        text, in_order = queries.by_place(path.stem)
        assert text == wanted
        assert in_order(names) == (tuple(names.values()) if len(names) > 1 else 1)
