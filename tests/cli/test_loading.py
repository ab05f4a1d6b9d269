"""An application that cannot be had: one line that says what to write instead, and nothing of it is called."""

from __future__ import annotations

import pytest

from tests.cli.given import process

SHOP = """
from pathlib import Path

import holdfast

queue = holdfast.App("sqlite:///jobs.db?synchronous=normal")
number = 7


@queue.job
def ship(order: int = 0) -> None:
    Path("shipped").touch()


def nothing():
    return None
"""
JOB = "error BAD_OPTION: ship is a job, not an App: name the App; write shop:queue\n"
BROKEN = "error APP_NOT_LOADED: the application could not be loaded: ValueError: one two "


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "broken.py").write_text('raise ValueError("one\\ntwo")')
    return tmp_path


@pytest.mark.parametrize("command", ["worker", "serve"])
@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("shop:ship", JOB),
        ("shop", "error BAD_OPTION: module 'shop' (FOLDER/shop.py) has no 'app': write shop:queue\n"),
        ("shop.py", "error BAD_OPTION: 'shop.py' is a file: name its module, as in shop:app\n"),
        ("./site/shop.py:queue", "error BAD_OPTION: './site/shop.py' is a file: name its module, as in site.shop:queue\n"),
        ("shop:number", "error BAD_OPTION: 'shop:number' is a int, not a holdfast.App: write shop:queue\n"),
        ("shop:nothing", "error BAD_OPTION: 'shop:nothing' is a NoneType, not a holdfast.App: write shop:queue\n"),
        ("shopp:app", "error BAD_OPTION: there is no module 'shopp' in FOLDER: "),
        ("broken:app", BROKEN),
    ],
)  # fmt: skip
def test_what_is_no_application_is_told_in_one_line(folder, command, spec, told):
    port = ["--port", "0"] if command == "serve" else []
    answer = process(command, spec, *port, cwd=folder)
    assert answer.code == 2
    assert answer.err.startswith(told.replace("FOLDER", str(folder)))
    assert answer.err.count("\n") == 1
    assert not (folder / "shipped").exists()


def test_the_error_of_a_module_names_its_line(folder):
    assert process("worker", "broken:app", cwd=folder).err.endswith(f"({folder}/broken.py, line 1)\n")


@pytest.mark.parametrize("command", ["worker", "serve"])
def test_a_module_that_is_not_there_is_told_with_the_folder_that_was_looked_in(folder, command):
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    answer = process(command, "shop:queue", cwd=elsewhere)
    assert answer.err == (
        f"error BAD_OPTION: there is no module 'shop' in {elsewhere}: a module is found from the folder in which the "
        "command is run, so run it where shop.py or shop/ is, or check the name; write module:app\n"
    )


def test_a_module_inside_a_package_that_is_not_there_is_told_with_its_file(folder):
    answer = process("worker", "mysite.jobs:app", cwd=folder)
    assert "where mysite/ is, or check the name; write module:app\n" in answer.err
