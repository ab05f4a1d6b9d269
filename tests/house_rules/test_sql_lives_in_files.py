"""One query a file, equal names on both stores, no SQL in Python (docs/decisions/0003)."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.house_rules.tree import SRC, STORE, place, python_files, sql_files, syntax

QUERY = re.compile(
    r"""
    (?: (?:select|SELECT) \s+ \S                         # title case is prose: "Select a queue"
      | (?i:insert \s+ (?:or \s+ \w+ \s+)? into \s+ \S
          | update \s+ (?:or \s+ \w+ \s+)? [\w.{}"]+ \s+ (?:as \s+ \w+ \s+)? set \s
          | delete \s+ from \s+ \S
          | with \s+ (?:recursive \s+)? \w+ \s* (?:\([^)]*\))? \s* as \s+ (?:(?:not \s+)? materialized \s*)? \(
          | (?:create|alter|drop) \s+ (?:(?:temp|temporary|unique|virtual|materialized|or \s+ replace) \s+)*
              (?:table|index|trigger|view|function|schema|role|type|policy|extension|sequence) \s+ \S
          | truncate \s+ table \s
        )
    )""",
    re.VERBOSE,
)
CONTROL = re.compile(
    r"""(?ix) (?: pragma \s+ \w+ .*
      | begin (?:\s+ (?:immediate|deferred|exclusive|transaction) )* ;?
      | commit ;? | rollback (?:\s+ to .*)? ;? | savepoint \s+ \S+ | release \s+ savepoint .* ) \Z""",
)
# Queries that one store has and the other cannot use, and why.
ONLY = {
    "sqlite": {
        "lane_priorities": "PostgreSQL reads lines priority by priority in one statement",
        "lanes": "PostgreSQL finds the lanes inside the claim: a statement of its own would be a round trip more",
        "due": "the same, for the head of each lane",
        "claimed": "PostgreSQL's driver takes all rows of an answer at once; SQLite's hands the interpreter over for each",
        "complete": "the same: `finish` ends many at once there",
        "insert_alike": "PostgreSQL has COPY for many",
        "parents_any": "PostgreSQL's `finish` tells whether anybody waits for what it ended",
        "others": "a SQLite file is ours or somebody's; a PostgreSQL database is shared, and its tables are made on request",
        "stopping_one": "PostgreSQL notes it in the statement that cancels the run, under its lock",
    },
    "postgres": {
        "claim_rest": "SQLite's claims never meet: it has one writer",
        "newest_lock": "the same",
        "pause_lock": "the same",
        "pause_patience": "the same",
        "cancel_lock": "the same",
        "cancel_lock_shared": "the same",
        "paused_among": "SQLite has no COPY, beside which one has to ask",
        "limits_lock": "SQLite has one writer",
        "insert_limited": "SQLite's indexes keep no entries of what is gone, so its jobs get their keys afterwards",
        "claim_on": "SQLite's indexes keep no entries of what is gone",
        "insert_alone": "SQLite's transactions cost no round trips",
        "insert_copy": "SQLite has no COPY",
        "settings": "SQLite's settings are the connection's",
        "crowd": "SQLite's signals cost next to nothing",
        "session": "SQLite has no pooler to be told apart from",
        "keep_settings": "SQLite plans every statement alike",
        "unlocked": "SQLite's transactions wait for no row: it has one writer",
        "purge_hold": "the same",
        "incoming": "COPY needs a place to put the rows",
        "incoming_copy": "SQLite has no COPY",
        "insert_many": "the same",
        "insert_rows": "SQLite's callers have no temporary table to be spared",
        "mark": "SQLite's commits are always answered",
        "became": "the same",
        "migrating": "SQLite's write lock is enough",
        "now": "SQLite has no clock of its own",
        "place": "SQLite's place is the path of its file",
        "bound": "SQLite has no roles",
        "policed": "the same",
        "move_shown": "the same",
        "move_lock": "SQLite's write lock is enough",
        "move_still": "the same",
        "move_alone": "the same",
    },
}
COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
QUOTED = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"")


def sql_in_strings(paths: list[Path]) -> list[str]:
    found = {
        (path, node.lineno)
        for path in paths
        for node in syntax(path)
        if isinstance(node, ast.Constant | ast.JoinedStr) and is_sql(text_of(node), path)
    }
    return [place(path, line) for path, line in sorted(found)]


def text_of(node: ast.Constant | ast.JoinedStr) -> str:
    """Return the text of a string; in an f-string, `{}` stands for what is put in."""
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return node.value if isinstance(node.value, str) else ""


def is_sql(text: str, path: Path) -> bool:
    text = COMMENT.sub(" ", text).strip()
    if CONTROL.match(text):
        return not may_control_transactions(path)
    return QUERY.match(text) is not None


def may_control_transactions(path: Path) -> bool:
    return path.name == "connection.py" and path.parent.parent.name == "store"


def unnamed(paths: list[Path]) -> list[str]:
    """Files whose first line is not `-- name: why`, with the name of the file."""
    return [
        place(path)
        for path in paths
        if not re.match(rf"-- {re.escape(path.stem)}: \S", path.read_text(encoding="utf-8"))
    ]


def crowded(paths: list[Path]) -> list[str]:
    """Files with more than one statement, or with none."""
    return [place(path) for path in paths if len(statements(path.read_text(encoding="utf-8"))) != 1]


def statements(text: str) -> list[str]:
    bare = QUOTED.sub("''", COMMENT.sub(" ", text))
    return [part for part in bare.split(";") if part.strip()]


def queries(back_end: str) -> list[Path]:
    return sorted((STORE / back_end / "sql").glob("*.sql"))


def test_no_sql_stands_in_a_python_string():
    assert sql_in_strings(python_files(SRC)) == []


def test_every_sql_file_opens_with_its_name_and_the_reason_it_exists():
    assert sql_files(SRC), "there are no .sql files under src"
    assert unnamed(sql_files(SRC)) == []


def test_a_query_file_holds_one_statement():
    assert queries("sqlite"), "there are no query files for SQLite"
    assert crowded(queries("sqlite") + queries("postgres")) == []


def test_both_stores_have_the_same_queries():
    assert sorted(folder.parent.name for folder in STORE.glob("*/sql")) == sorted(ONLY)
    common = {back_end: {path.stem for path in queries(back_end)} - ONLY[back_end].keys() for back_end in ONLY}
    assert common["sqlite"] == common["postgres"]


@pytest.mark.parametrize("back_end", ["sqlite", "postgres"])
def test_a_query_said_to_be_of_one_store_is_of_that_store_alone(back_end):
    (other,) = set(ONLY) - {back_end}
    assert {path.stem for path in queries(back_end)} >= ONLY[back_end].keys()
    assert {path.stem for path in queries(other)} & ONLY[back_end].keys() == set()


@pytest.mark.parametrize(
    "line",
    [
        'q = "select 1"',
        'q = """\n  SELECT id\n from job_queue"""',
        'q = "insert or ignore into job_queue values (1)"',
        'q = f"update {table} set x = 1"',
        'q = "delete from job_queue"',
        'q = "with due as (select 1) select * from due"',
        'q = "-- why\\ncreate unique index i on t (c)"',
        'q = "alter table job_queue add column x"',
        'q = "drop table job_queue"',
        'q = "pragma journal_mode = wal"',
        'q = "begin immediate"',
        'q = "COMMIT"',
        'q = "rollback to here"',
        'q = "savepoint here"',
    ],
)
def test_the_rule_sees_sql_in_a_string(tmp_path, line):
    sample = tmp_path / "sample.py"
    sample.write_text(line)
    assert sql_in_strings([sample]) == ["sample.py:1"]


@pytest.mark.parametrize(
    "line",
    [
        'text = "Select a queue with --queue"',
        'text = "update the address and try again"',
        'text = "with a signal the worker wakes at once"',
        'text = "delete the file and start again"',
        'text = "create the folder first"',
        'verb = "release"',
        'verb = "begin with a letter"',
    ],
)
def test_the_rule_leaves_plain_english_alone(tmp_path, line):
    sample = tmp_path / "sample.py"
    sample.write_text(line)
    assert sql_in_strings([sample]) == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('q = "begin immediate"', []),
        ('q = "pragma foreign_keys = on"', []),
        ('q = "select 1"', ["connection.py:1"]),
    ],
)
def test_only_a_connection_module_may_control_transactions(tmp_path, line, found):
    sample = tmp_path / "store" / "sqlite" / "connection.py"
    sample.parent.mkdir(parents=True)
    sample.write_text(line)
    assert sql_in_strings([sample]) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("-- claim: take due jobs\nselect 1", []),
        ("-- finish: end a run\nselect 1", ["claim.sql"]),
        ("-- claim:\nselect 1", ["claim.sql"]),
        ("select 1", ["claim.sql"]),
    ],
)
def test_the_rule_reads_the_first_line_of_a_query(tmp_path, text, found):
    sample = tmp_path / "claim.sql"
    sample.write_text(text)
    assert unnamed([sample]) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("-- a; b\nselect ';' /* ; */;\n", []),
        ("select 1; select 2", ["claim.sql"]),
        ("-- nothing here\n", ["claim.sql"]),
    ],
)
def test_the_rule_counts_statements(tmp_path, text, found):
    sample = tmp_path / "claim.sql"
    sample.write_text(text)
    assert crowded([sample]) == found
