"""Waiting until the store has what was handed to it: a place is given back only then."""

from __future__ import annotations

import asyncio
from collections import deque


class Commits:
    """Counts records committed since the writer was started, and wakes who waits for theirs.

    The writer commits in the order in which records were put, so that one count says all.
    """

    def __init__(self) -> None:
        self.kept = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    async def reached(self, put: int) -> None:
        """Wait until the first `put` records are committed, or writing has failed."""
        if self.kept >= put:
            return
        woken = asyncio.get_running_loop().create_future()
        self._waiting.append((put, woken))
        await woken

    def advance(self, records: int) -> None:
        """So many more records are committed; none says that writing has failed: wake everyone."""
        self.kept += records
        while self._waiting and (not records or self._waiting[0][0] <= self.kept):
            _, woken = self._waiting.popleft()
            if not woken.done():
                woken.set_result(None)
