"""The door for the next coding session: an MCP server that finds what earlier ones taught.

`fence` marks what was stored as data, `door` tells failures in our words, `tools` are what a client can ask for,
`serve` runs it, `companion` is the worker that it carries, and `registration` makes it known to Claude Code.
"""

from __future__ import annotations

from typing import Any


def server() -> Any:
    """The module `serve`, which needs the extra `mcp`."""
    import gc  # noqa: PLC0415

    import holdfast  # noqa: PLC0415

    gc.disable()  # thousands of classes are made that stay: looking for garbage among them takes a fifth of the start
    try:
        from holdfast_pipelines.capture.mcp import serve  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise holdfast.BadInput(
            "BAD_OPTION", f"{error.name} is not installed: install Holdfast with its extra mcp"
        ) from None
    finally:
        gc.freeze()
        gc.enable()
    return serve
