"""Many calls under one limit of time: what is late ends, and nothing else does."""

from __future__ import annotations

import asyncio

import pytest

from voirdire.deadlines import Deadlines


async def ask(deadlines: Deadlines, event: asyncio.Event) -> str:
    try:
        with deadlines.limit():
            await event.wait()
    except TimeoutError:
        return "late"
    return "in time"


def test_late_calls_end_and_those_begun_after_them_go_on():
    async def run():
        deadlines, never, answered = Deadlines(0.2), asyncio.Event(), asyncio.Event()
        late = [asyncio.create_task(ask(deadlines, never)) for _ in range(3)]
        good = asyncio.create_task(ask(deadlines, answered))
        await asyncio.sleep(0)
        answered.set()
        first = await asyncio.gather(good, *late)
        # The timer has gone off with nothing left to wait for: it is set up anew for later calls.
        again = await ask(deadlines, never)
        return [*first, again]

    assert asyncio.run(run()) == ["in time", "late", "late", "late", "late"]


def test_a_call_begun_later_has_all_of_its_time():
    async def run():
        deadlines, never, loop = Deadlines(0.3), asyncio.Event(), asyncio.get_running_loop()

        async def timed():
            began = loop.time()
            assert await ask(deadlines, never) == "late"
            return loop.time() - began

        first = asyncio.create_task(timed())
        await asyncio.sleep(0.2)
        return await asyncio.gather(first, timed())

    assert min(asyncio.run(run())) >= 0.29


def test_a_cancellation_by_anybody_else_is_no_timeout():
    async def run():
        deadlines, never = Deadlines(3600), asyncio.Event()
        task = asyncio.create_task(ask(deadlines, never))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())


def test_of_two_limits_that_are_due_at_once_each_is_taken_back():
    async def run():
        inner, outer = Deadlines(0.01), Deadlines(0.01)
        try:
            with outer.limit():
                said = await ask(inner, asyncio.Event())
        except TimeoutError:
            said = "late"
        task = asyncio.current_task()
        await asyncio.sleep(0)  # would raise, had a cancellation been left behind
        return said, task.cancelling()

    assert asyncio.run(run()) == ("late", 0)


def test_an_error_of_the_call_itself_goes_on():
    async def run():
        with Deadlines(3600).limit():
            raise ValueError("its own")

    with pytest.raises(ValueError, match="its own"):
        asyncio.run(run())
