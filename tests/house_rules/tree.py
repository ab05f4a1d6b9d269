"""The project's own files, as the house rules look at them."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
TESTS = ROOT / "tests"
DOCS = ROOT / "docs"
STORE = SRC / "holdfast" / "store"


def python_files(*folders: Path) -> list[Path]:
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


def sql_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.sql"))


def syntax(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text(encoding="utf-8"), filename=str(path)))


def place(path: Path, line: int | None = None) -> str:
    """Return the path as a reader would click on it."""
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
    return name if line is None else f"{name}:{line}"


def project_files() -> list[Path]:
    """All files that are, or would be, part of a commit; in a release archive all files."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
    )
    names = listing.stdout.split("\0") if listing.returncode == 0 else []
    paths = [ROOT / name for name in names if name] or list(ROOT.rglob("*"))
    return sorted(path for path in paths if path.is_file())
