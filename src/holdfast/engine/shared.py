"""One read of a group for all coroutines that want it.

A change wakes all who wait for a group, and each wants to see it. To count a group means to read it all, so they share:
who comes while a read is under way gets the next one, because that one may be from before the change that woke him.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from holdfast.engine.groups import progress

if TYPE_CHECKING:
    from holdfast.engine.desk import Desk

    Place = tuple[asyncio.AbstractEventLoop, str, str]


class SharedProgress:
    """The progress of groups, for the coroutines of this process."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._wanted: dict[Place, list[asyncio.Future[dict[str, Any]]]] = {}
        self._readers: dict[Place, asyncio.Task[None]] = {}

    async def read(self, key: str, tenant: str = "") -> dict[str, Any]:
        """The group in numbers, read after this was called."""
        loop = asyncio.get_running_loop()
        place = (loop, tenant, key)
        seen: asyncio.Future[dict[str, Any]] = loop.create_future()
        self._wanted.setdefault(place, []).append(seen)
        if place not in self._readers:
            self._readers[place] = loop.create_task(self._serve(place))
        return await seen

    async def _serve(self, place: Place) -> None:
        _, tenant, key = place
        try:
            while futures := self._wanted.pop(place, None):
                try:
                    seen = await self._desk.aread(progress, key, tenant)
                except Exception as error:  # noqa: BLE001  # each of them gets it
                    for future in futures:
                        if not future.done():
                            future.set_exception(error)
                else:
                    for future in futures:
                        if not future.done():
                            future.set_result(seen)
        finally:
            del self._readers[place]
