"""One request to the Messages API through the official SDK: one host, one try, a bounded answer in a bounded time.

All that touches the SDK stands here, so that nothing of it is imported until a question is asked.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import anthropic
import httpx2

LONGEST_ANSWER = 512 * 1024  # bytes; the longest answer that is asked for has about 20,000
CONNECT_SECONDS = 5.0
_TALKERS = ("anthropic", "httpx2", "httpcore2")  # at the level DEBUG they write texts and headers down


class Unreachable(Exception):
    """Nobody was there: nothing was sent."""


class Lost(Exception):
    """The request was sent, and no whole answer came: nobody knows whether it was done."""


class TooLarge(Exception):
    """The answer was longer than any answer can be, or packed so that nobody knows how long it is."""


class Elsewhere(Exception):
    """The request would have gone to another host than the configured one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back, unread."""

    status: int
    content: bytes
    retry_after: str | None


def post(request: dict[str, Any], *, url: str, key: str, timeout: float) -> Answer:
    """Send one request; whatever the other side does, this ends within `timeout` seconds."""
    for name in _TALKERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    return asyncio.run(_post(request, url=url, key=key, timeout=timeout))


async def _post(request: dict[str, Any], *, url: str, key: str, timeout: float) -> Answer:  # noqa: ASYNC109
    limits = httpx2.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout))
    carrier = httpx2.AsyncClient(
        transport=OneHost(url),
        timeout=limits,
        trust_env=False,  # no proxy, no netrc: the configured host alone is dialled
        follow_redirects=False,
        headers={"Accept-Encoding": "identity"},
    )
    async with anthropic.AsyncAnthropic(
        api_key=key, base_url=url, max_retries=0, timeout=limits, open_telemetry=False, http_client=carrier
    ) as client:
        try:
            async with asyncio.timeout(timeout):  # of all of it: a server may also drip
                raw = await client.messages.with_raw_response.create(**request)
                return _answer(raw.http_response, await raw.read())
        except anthropic.APIStatusError as error:
            return _answer(error.response, error.response.content)
        except (TimeoutError, anthropic.APITimeoutError) as error:
            raise _kind(error, f"gave no answer within {timeout:g} seconds") from None
        except anthropic.APIConnectionError as error:
            raise _kind(error, "broke the connection off") from None
        except anthropic.AnthropicError as error:
            raise Lost(f"could not be asked: the SDK raised {type(error).__name__}") from None


def _answer(response: httpx2.Response, content: bytes) -> Answer:
    return Answer(status=response.status_code, content=content, retry_after=response.headers.get("retry-after"))


def _kind(error: Exception, text: str) -> Exception:
    cause = error.__cause__
    if isinstance(cause, TooLarge | Elsewhere):
        return cause
    if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
        return Unreachable("cannot be reached")
    return Lost(text)


class OneHost(httpx2.AsyncBaseTransport):
    """Carries requests to one origin and stops reading an answer that grows too long."""

    def __init__(self, url: str) -> None:
        self._origin = _origin(httpx2.URL(url))
        self._inner = httpx2.AsyncHTTPTransport(verify=_authorities(), trust_env=False, retries=0)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if _origin(request.url) != self._origin:
            raise Elsewhere("a request for another host was not sent")
        response = await self._inner.handle_async_request(request)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()
            raise TooLarge("packed answers are not read")  # few bytes can unpack to any number
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Counted(response.stream)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        total = 0
        async for part in self._stream:
            total += len(part)
            if total > LONGEST_ANSWER:
                raise TooLarge("the answer is too long")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


@cache
def _authorities() -> ssl.SSLContext:
    """Who may vouch for a host; read once, for it takes a tenth of a second."""
    return httpx2.create_ssl_context(trust_env=False)


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port
