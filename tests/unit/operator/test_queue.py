from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as some

from npa.operator.runtime import backoff
from npa.operator.runtime.queue import Queue

HALF = 0.5


def runs(test: Callable[[Queue[str]], Awaitable[None]]) -> None:
    async def body() -> None:
        queue: Queue[str] = Queue(chance=lambda: HALF)
        try:
            async with asyncio.timeout(10):
                await test(queue)
        finally:
            queue.close()

    asyncio.run(body())


def test_a_key_asked_for_often_is_looked_at_once() -> None:
    async def test(queue: Queue[str]) -> None:
        for _ in range(3):
            queue.add("a")

        assert queue.depth == 1
        assert await queue.take() == "a"
        queue.done("a")
        assert queue.idle

    runs(test)


def test_a_key_that_is_looked_at_is_given_to_nobody_else() -> None:
    async def test(queue: Queue[str]) -> None:
        queue.add("a")
        await queue.take()
        queue.add("a")
        queue.add("b")

        assert await queue.take() == "b"
        assert queue.depth == 0

    runs(test)


def test_what_is_asked_for_at_once_comes_before_the_others_and_only_once() -> None:
    async def test(queue: Queue[str]) -> None:
        for key in ("a", "b", "c"):
            queue.add(key)
        queue.add("c", now=True)

        assert [await queue.take() for _ in range(3)] == ["c", "a", "b"]
        for key in ("a", "b", "c"):
            queue.done(key)
        queue.add("d")
        assert (await queue.take(), queue.depth) == ("d", 0)

    runs(test)


def test_what_is_asked_for_at_once_does_not_rest() -> None:
    async def body() -> None:
        queue: Queue[str] = Queue(spacing=60.0)
        for now in (True, False):
            queue.add("a", now=True)
            await queue.take()
            queue.add("a", now=now)  # while it is looked at
            queue.done("a")

            assert queue.depth == int(now)
            if now:
                await queue.take()
                queue.done("a")
        queue.close()

    asyncio.run(body())


def test_what_took_long_rests_long() -> None:
    async def test(queue: Queue[str]) -> None:
        queue.add("a")
        await queue.take()
        queue.done("a", rest=60.0)
        queue.add("a")

        assert queue.depth == 0
        queue.add("a", now=True)
        assert queue.depth == 1

    runs(test)


def test_what_happens_meanwhile_is_looked_at_once_more() -> None:
    async def test(queue: Queue[str]) -> None:
        queue.add("a")
        await queue.take()
        queue.add("a")
        queue.add("a")
        queue.done("a")

        assert await queue.take() == "a"
        queue.done("a")
        assert queue.idle

    runs(test)


def test_a_key_that_failed_waits_whatever_happens_and_others_do_not() -> None:
    async def test(queue: Queue[str]) -> None:
        queue.add("a")
        await queue.take()
        queue.failed("a")
        queue.add("a")
        queue.add("b")

        assert queue.depth == 1
        assert await queue.take() == "b"
        assert await queue.take() == "a"

    runs(test)


def test_somebody_who_changes_what_is_wanted_need_not_wait() -> None:
    async def test(queue: Queue[str]) -> None:
        queue.add("a")
        await queue.take()
        queue.failed("a")
        queue.add("a", now=True)

        assert queue.depth == 1

    runs(test)


def test_what_happens_while_a_key_fails_is_not_looked_at_before_its_time() -> None:
    async def test(queue: Queue[str]) -> None:
        queue.add("a")
        await queue.take()
        queue.add("a")
        queue.failed("a")

        assert queue.depth == 0
        assert await queue.take() == "a"

    runs(test)


def test_each_failure_in_a_row_waits_longer_and_success_forgets_them() -> None:
    async def test(queue: Queue[str]) -> None:
        waits = []
        for _ in range(3):
            queue.add("a", now=True)
            await queue.take()
            waits.append(queue.failed("a"))

        assert waits == [backoff.delay(count, HALF) for count in (1, 2, 3)]
        queue.add("a", now=True)
        await queue.take()
        queue.done("a")
        assert queue.failures("a") == 0

    runs(test)


def test_of_several_timers_the_earliest_counts() -> None:
    async def test(queue: Queue[str]) -> None:
        queue.add_in("a", 3600)
        queue.add_in("a", 0.01)
        queue.add_in("a", 3600)

        assert await queue.take() == "a"
        queue.done("a")
        assert queue.idle

    runs(test)


def test_a_closed_queue_gives_out_nothing() -> None:
    async def test(queue: Queue[str]) -> None:
        queue.add("a")
        queue.close()

        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await queue.take()

    runs(test)


@given(some.integers(1, 1000), some.floats(0, 1, exclude_max=True))
def test_a_delay_begins_below_a_second_and_has_an_end(failures: int, chance: float) -> None:
    delay = backoff.delay(failures, chance)

    assert backoff.FIRST * backoff.SPREAD <= delay <= backoff.MOST
    assert backoff.delay(1, chance) < 1
    assert backoff.delay(failures + 1, chance) >= delay


def test_a_storm_of_events_costs_few_looks_and_a_person_s_change_none_of_the_rest() -> None:
    async def body() -> None:
        queue: Queue[str] = Queue(spacing=3600)
        queue.add("a")
        await queue.take()
        queue.add("a")
        queue.done("a")
        queue.add("a")

        assert queue.depth == 0
        queue.add("a", now=True)
        assert queue.depth == 1
        queue.close()

    asyncio.run(body())
