"""Work that goes on beside other work, and ends with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any


@asynccontextmanager
async def background(*work: Coroutine[Any, Any, None]) -> AsyncIterator[tuple[asyncio.Task[None], ...]]:
    """Run coroutines beside a block; they are cancelled, and waited for, when it ends."""
    tasks = tuple(asyncio.create_task(each) for each in work)
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def first(stop: asyncio.Event, *tasks: asyncio.Task[None]) -> None:
    """Return once told to stop, or one of the tasks has ended; raise what that one failed of."""
    told = asyncio.create_task(wait(stop))
    try:
        done, _ = await asyncio.wait({told, *tasks}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        told.cancel()
    for task in done - {told}:
        task.result()


async def wait(event: asyncio.Event) -> None:
    """Return once an event is set."""
    await event.wait()
