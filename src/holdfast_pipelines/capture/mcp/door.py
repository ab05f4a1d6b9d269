"""An MCP server whose failures are told once, here: a code, what is wrong, what to do next. Never a trace.

Tools and resources raise what the verbs below them raise. A client that asks wrongly gets an error it can mend; what
nobody foresaw is named by its kind alone, because its text may quote anything (HOLDFAST_DEBUG=1: the server logs it).
"""

from __future__ import annotations

import os
import sys
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.stdio import stdio_server
from pydantic import ValidationError

import holdfast
from holdfast_pipelines.capture.mcp.requests import Requests


class Door(MCPServer[Any]):
    """Tools and resources, with errors in our words."""

    async def run_stdio_async(self) -> None:
        """Serve standard input and output; what cannot be read is answered, too."""
        requests = Requests(sys.stdin.buffer)
        given: Any = requests  # the SDK reads lines, and asks no more of it
        async with stdio_server(stdin=given) as (read, write):
            requests.begin(write)
            server = self._lowlevel_server
            await server.run(read, write, server.create_initialization_options())

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool; ToolError says what was wrong with the call."""
        tools = {tool.name: tool.input_schema for tool in await self.list_tools()}
        if name not in tools:
            raise ToolError(f"BAD_OPTION: no such tool; there are {', '.join(tools)}")
        if too_many := arguments.keys() - tools[name]["properties"].keys():
            raise ToolError(f"BAD_OPTION: {name} takes {', '.join(tools[name]['properties'])}, not {_named(too_many)}")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if _is_fault(error):
                raise
            raise ToolError(told(error.__cause__ or error)) from None

    async def read_resource(self, uri: Any, context: Any = None) -> Any:
        """Read a resource; ResourceError says why it could not be read."""
        try:
            return await super().read_resource(uri, context)
        except ResourceNotFoundError:
            known = ", ".join(resource.uri for resource in await self.list_resources())
            raise ResourceNotFoundError(f"BAD_OPTION: no such resource; there are {known}") from None
        except ResourceError as error:
            if _is_fault(error):
                raise
            raise ResourceError(told(error.__cause__ or error)) from None


def told(error: BaseException) -> str:
    """One line for whoever asked."""
    if isinstance(error, holdfast.HoldfastError):
        return f"{error.code}: {error}"
    if isinstance(error, ValidationError):
        wrong = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_input=False))
        return f"BAD_OPTION: {'; '.join(wrong)}. The tool's input schema says what it takes"
    if isinstance(error, ToolError | ResourceError):
        return str(error)
    kind = type(error).__name__
    return f"UNEXPECTED: {kind}: this is a fault of Holdfast; HOLDFAST_DEBUG=1 in the server's environment shows where"


def _is_fault(error: BaseException) -> bool:
    """Whether somebody looks for a fault and wants it logged with its trace."""
    known = (holdfast.HoldfastError, ValidationError, ToolError, ResourceError)
    return os.environ.get("HOLDFAST_DEBUG") == "1" and not isinstance(error.__cause__, known)


def _named(names: set[str]) -> str:
    """Names of the caller's own: shown so far that he knows them again."""
    return ", ".join(ascii(name[:50]) for name in sorted(names)[:5])
