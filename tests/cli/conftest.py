"""A private store, and the command line on it: in this process where speed matters."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator

import pytest

from holdfast import App
from holdfast.cli import main
from tests.cli.given import Answer


@pytest.fixture
def url(tmp_path) -> str:
    return f"sqlite:///{tmp_path}/jobs.db?synchronous=normal"


@pytest.fixture
def app(url) -> Iterator[App]:
    with App(url) as app:
        yield app


@pytest.fixture
def bare(monkeypatch, tmp_path, capsys) -> Callable[..., Answer]:
    """`holdfast` in an empty folder, with nothing in the environment."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("HOLDFAST_URL", "HOLDFAST_DEBUG"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str, stdin: str = "") -> Answer:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        capsys.readouterr()
        code = main(list(arguments))
        return Answer(code, *capsys.readouterr())

    return call


@pytest.fixture
def cli(bare, monkeypatch, url) -> Callable[..., Answer]:
    """`holdfast` on the private store."""
    monkeypatch.setenv("HOLDFAST_URL", url)
    return bare
