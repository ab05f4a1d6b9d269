"""Compiled patterns survive their process, and nothing that cannot be trusted is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SRC = Path(__file__).parents[3] / "src"


def run(folder, code: str) -> str:
    program = f"import sys; sys.path.insert(0, {str(SRC)!r}); from holdfast_pipelines.capture import swift; F = {str(folder)!r}; {code}"
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


USE = (
    "swift.load(F); a = swift.compiled(r'(?i)(?P<one>a+)b|c{2,3}+'); b = swift.compiled(r'[^x]\\d'); "
    "print(a.findall('aab CC'), a.match('AB')['one'], a.flags, b.sub(lambda m: '-', 'a1x2'), len(swift._fresh)); swift.save(F)"
)


def test_what_one_process_compiled_the_next_one_does_not(tmp_path):
    first = run(tmp_path, USE)
    second = run(tmp_path, USE)
    assert first.endswith(" 2")
    assert second.endswith(" 0")
    assert first[:-1] == second[:-1]


def test_patterns_of_other_processes_are_kept(tmp_path):
    run(tmp_path, USE)
    run(tmp_path, "swift.load(F); swift.compiled('other'); swift.save(F)")
    assert run(tmp_path, USE).endswith(" 0")


def test_a_file_that_is_damaged_is_not_used(tmp_path):
    good = run(tmp_path, USE)
    (path,) = tmp_path.iterdir()
    assert path.stat().st_mode & 0o077 == 0
    content = path.read_bytes()
    for damaged in (b"", b"x" * 40, content[:200], content[:-8], content[:-40] + b"\xff" * 40):
        path.write_bytes(damaged)
        assert run(tmp_path, USE)[:-1] == good[:-1]


def test_a_folder_that_is_not_there_is_no_reason_to_fail(tmp_path):
    assert run(tmp_path / "nowhere", USE).endswith(" 2")


def test_a_folder_in_the_place_of_the_file_is_no_reason_to_fail(tmp_path):
    run(tmp_path, USE)
    (path,) = tmp_path.iterdir()
    path.unlink()
    path.mkdir()
    assert run(tmp_path, USE).endswith(" 2")
