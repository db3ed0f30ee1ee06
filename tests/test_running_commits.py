"""A place is given back only when the store has what was put."""

from __future__ import annotations

import asyncio
import queue

import pytest
from test_store_session import call_of, keep, opened

from voirdire.running.workers import Commits
from voirdire.store import _writer


def woken_by(*advances: int, put: int) -> list[bool]:
    """After each commit of so many records: whether a task that waits for `put` goes on."""

    async def run() -> list[bool]:
        commits = Commits()
        task = asyncio.create_task(commits.reached(put))
        await asyncio.sleep(0)
        seen = []
        for records in advances:
            commits.advance(records)
            await asyncio.sleep(0)
            seen.append(task.done())
        task.cancel()
        return seen

    return asyncio.run(run())


def test_a_task_waits_for_its_own_records_and_no_more():
    assert woken_by(2, 1, 1, put=3) == [False, True, True]
    assert woken_by(5, put=3) == [True]
    assert woken_by(1, put=0) == [True]


def test_when_writing_fails_everyone_is_woken():
    assert woken_by(1, 0, put=9) == [False, True]


def test_a_cancelled_task_costs_the_others_nothing():
    async def run() -> bool:
        commits = Commits()
        first, second = (asyncio.create_task(commits.reached(1)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.sleep(0)
        commits.advance(1)
        await asyncio.sleep(0)
        return second.done()

    assert asyncio.run(run())


def test_replies_wait_only_for_their_like_and_few_of_them(tmp_path, monkeypatch):
    """A kill loses what waits, which was paid for."""
    monkeypatch.setattr(_writer, "GATHER", 600.0)
    commits = queue.Queue()
    with opened(tmp_path) as session:
        session.start(lambda group: commits.put(len(group)))

        def put(*items):
            for item in items:
                keep(session, call_of(item))  # its attempt and its end

        put("i1")
        assert commits.get(timeout=60) == 2  # it came alone: only its own end was waited for
        put("i2", "i1", "i2")
        with pytest.raises(queue.Empty):
            commits.get(timeout=10 * _writer.SETTLE)
        put("i1")
        assert commits.get(timeout=60) == _writer.FEW
        put("i1")
        session.hurry()
        assert commits.get(timeout=60) > 0  # as soon as somebody waits for it
