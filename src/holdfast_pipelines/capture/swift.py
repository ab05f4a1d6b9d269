"""Compiled patterns, kept between processes: a cold hook would spend more time on compiling than on looking.

What is kept is the regular-expression engine's own code for a pattern, under the text of the pattern and in a file
named after the engine's version. So a changed pattern or another Python never meets old code. The engine checks code
that it is given; whatever cannot be used is compiled anew.
"""

from __future__ import annotations

import _sre  # type: ignore[import-not-found,unused-ignore]
import os

from holdfast_pipelines.capture.texts import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any

_MOST = 500  # patterns, so that those of older versions go one day
_HEADER = 8  # digits of the length of what comes first
_ready: dict[str, re.Pattern[str]] = {}
_kept: dict[str, Any] = {}
_fresh: set[str] = set()
_code = memoryview(b"")


def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern, made at most once in a process."""
    found = _ready.get(pattern)
    if found is None:
        found = _revived(pattern) if pattern in _kept else None
        if found is None:
            import re  # noqa: PLC0415  # with all that it imports, it takes longer than the patterns

            found = re.compile(pattern)
            _fresh.add(pattern)
        _ready[pattern] = found
    return found


def file_in(folder: str) -> str:
    """Where patterns are kept for this version of the engine."""
    return os.path.join(folder, f"patterns-{_sre.MAGIC}-{_sre.CODESIZE}")  # noqa: PTH118


def load(folder: str) -> None:
    """Know what earlier processes have compiled. What cannot be read is compiled anew."""
    global _code  # noqa: PLW0603  # one for the process, as the patterns are
    try:
        descriptor = os.open(file_in(folder), os.O_RDONLY)
    except OSError:
        return
    try:
        content = os.read(descriptor, os.fstat(descriptor).st_size)
    except OSError:  # a folder, say: it is only kept for speed
        return
    finally:
        os.close(descriptor)
    try:
        start = _HEADER + int(content[:_HEADER])
        _kept.update(loads(content[_HEADER:start].decode()))
        _code = memoryview(content)[start:].cast("I")
    except (ValueError, TypeError):
        _kept.clear()


def save(folder: str) -> None:
    """Keep what was compiled here; never raises for a file that cannot be written."""
    if not _fresh:
        return
    header: dict[str, Any] = {}
    codes: list[int] = []
    try:
        for pattern in (*_fresh, *list(_kept)[:_MOST]):
            if pattern in _fresh:
                flags, code, groups, names, places = _taken_apart(pattern)
            else:
                flags, start, end, groups, names, places = _kept[pattern]
                code = _code[start:end].tolist()
            header[pattern] = [flags, len(codes), len(codes) + len(code), groups, names, places]
            codes += code
        written = dumps(header).encode()
        written += b" " * (-len(written) % 4)
        blob = b"".join(number.to_bytes(4, _byte_order()) for number in codes)
        _write(file_in(folder), f"{len(written):0{_HEADER}}".encode() + written + blob)
    except (OSError, AttributeError, OverflowError, ValueError, TypeError):  # no space, or an engine made differently
        return


def _revived(pattern: str) -> re.Pattern[str] | None:
    try:
        flags, start, end, groups, names, places = _kept[pattern]
        revived: re.Pattern[str] = _sre.compile(pattern, flags, _code[start:end].tolist(), groups, names, tuple(places))
    except (ValueError, TypeError, RuntimeError, OverflowError):
        return None
    return revived


def _taken_apart(pattern: str) -> tuple[int, list[int], int, dict[str, int], list[str | None]]:
    """What `re.compile` hands to its engine."""
    import re  # noqa: PLC0415

    engine: Any = re
    parsed = engine._parser.parse(pattern, 0)  # noqa: SLF001
    code = engine._compiler._code(parsed, 0)  # noqa: SLF001
    names: dict[str, int] = parsed.state.groupdict
    places: list[str | None] = [None] * parsed.state.groups
    for name, place in names.items():
        places[place] = name
    return parsed.state.flags, [int(number) for number in code], parsed.state.groups - 1, names, places


def _byte_order() -> Any:
    import sys  # noqa: PLC0415

    return sys.byteorder


def _write(path: str, content: bytes) -> None:
    temporary = f"{path}.{os.getpid()}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(descriptor, content)
    finally:
        os.close(descriptor)
    os.replace(temporary, path)  # noqa: PTH105
