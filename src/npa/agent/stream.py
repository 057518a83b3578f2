"""The events of a job as they come, without a thread for whoever listens."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

from npa.agent.jobs import Job, Told

HEARTBEAT = 15.0  # seconds: a proxy closes what is silent


async def follow(job: Job, after: int = 0, heartbeat: float = HEARTBEAT) -> AsyncIterator[Told | None]:
    """Yield the events after one, as they come, until the job has ended; None where it was silent."""
    loop, changed = asyncio.get_running_loop(), asyncio.Event()

    def told() -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended before the job
            loop.call_soon_threadsafe(changed.set)

    with job.listening(told):
        while True:
            changed.clear()
            fresh, ended = job.since(after)
            for each in fresh:
                after = each.number
                yield each
            if ended:
                return
            try:
                await asyncio.wait_for(changed.wait(), heartbeat)
            except TimeoutError:
                yield None


async def server_sent(job: Job, after: int = 0) -> AsyncIterator[bytes]:
    """Yield the events as an event stream has them; the last one, `end`, is the job's document."""
    async for each in follow(job, after):
        if each is None:
            yield b": still here\n\n"
        else:
            yield _event(each.event.kind, json.dumps(each.document()), each.number)
    yield _event("end", json.dumps(job.document()))


def _event(kind: str, data: str, number: int = 0) -> bytes:
    # JSON has no line break in it, so one `data` line is enough.
    head = f"id: {number}\n" if number else ""
    return f"{head}event: {kind}\ndata: {data}\n\n".encode()
