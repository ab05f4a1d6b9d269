"""Queries live one to a file; this reads a folder of them, each when it is first needed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Queries(dict[str, str]):
    """Name of a query -> its text, in the form the driver takes."""

    def __init__(self, read: Callable[[str], bytes], compile_placeholders: Callable[[str], str] = str) -> None:
        super().__init__()
        self._read = read
        self._compile = compile_placeholders

    def __missing__(self, name: str) -> str:
        text = self._compile(self._read(f"sql/{name}.sql").decode())
        self[name] = text
        return text
