"""The pipeline's own statements: one file each, read when first used."""

from __future__ import annotations

import os

_texts: dict[str, str] = {}


def query(name: str) -> str:
    """The statement of a file, without the line that says why it exists."""
    if name not in _texts:
        path = os.path.join(os.path.dirname(__file__), "sql", f"{name}.sql")  # noqa: PTH118, PTH120
        text: str = __loader__.get_data(path).decode()  # type: ignore[name-defined]
        _texts[name] = text.partition("\n")[2].strip().removesuffix(";")
    return _texts[name]


def statements(name: str) -> list[str]:
    """The statements of a file that holds several, parted by blank lines."""
    return [part for part in query(name).split(";\n\n") if part.strip()]
