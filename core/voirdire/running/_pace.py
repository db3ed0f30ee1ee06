"""How fast one model may be called: requests and tokens a minute, and calls at once."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from voirdire.study import ModelLimits

#: Seconds' worth of allowance that may be used at once after a pause.
BURST = 1.0


class Bucket:
    """An allowance a minute, spent evenly (the generic cell rate algorithm).

    Examples
    --------
    >>> bucket = Bucket(60, clock=lambda: 0.0)
    >>> [bucket.reserve(1) for _ in range(4)]
    [0.0, 0.0, 1.0, 2.0]
    """

    def __init__(self, a_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._each, self._clock = 60 / a_minute, clock
        self._free_at = clock()

    def reserve(self, amount: float) -> float:
        """Take an amount, and say how many seconds to wait before using it."""
        now = self._clock()
        wait = max(0.0, self._free_at - BURST - now)
        self._free_at = max(now, self._free_at) + amount * self._each
        return wait

    def correct(self, amount: float) -> None:
        """Take what was used beyond the reservation, or give back (a negative amount)."""
        self._free_at += amount * self._each


class Lane:
    """The calls to one model at once: a limit that gives way at throttling and creeps up again.

    Until the first setback every success raises the limit by one; after it, a round of successes
    does. A setback halves it, once for all the calls that were under way at the time.
    """

    def __init__(self, limits: ModelLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = limits.concurrency or 1
        self.limit = float(limits.start_concurrency or self.most)
        self.in_flight = 0
        self._clock = clock
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._cut_at, self._open_at = -1.0, 0.0
        self._requests = _bucket(limits.requests_per_minute, clock)
        self._tokens = _bucket(limits.tokens_per_minute, clock)

    @property
    def counts_tokens(self) -> bool:
        """Whether calls must say how many tokens they are about to use."""
        return self._tokens is not None

    @property
    def paused(self) -> float:
        """Seconds until calls may be made again, after the provider has asked to wait."""
        return max(0.0, self._open_at - self._clock())

    async def enter(self, tokens: float = 0.0) -> None:
        """Wait for the allowance, then for a place."""
        wait = max(
            self._requests.reserve(1) if self._requests else 0.0,
            self._tokens.reserve(tokens) if self._tokens else 0.0,
        )
        if wait > 0:
            await asyncio.sleep(wait)
        if not self._waiting and self._has_room():
            self.in_flight += 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.leave()
            raise

    def leave(self) -> None:
        """Give the place back."""
        self.in_flight -= 1
        if self._waiting:
            self._wake()

    def used(self, beyond: float) -> None:
        """Tokens used beyond those announced to `enter`."""
        if self._tokens:
            self._tokens.correct(beyond)

    def succeeded(self) -> None:
        """A call came back well: creep up."""
        if self.limit < self.most:
            step = 1.0 if self._cut_at < 0 else 1.0 / self.limit
            self.limit = min(self.most, self.limit + step)

    def setback(self, started: float, pause: float = 0.0) -> None:
        """A call that started at that time was throttled or failed: give way, and pause."""
        now = self._clock()
        if started >= self._cut_at:
            self.limit, self._cut_at = max(1.0, self.limit / 2), now
        if now + pause > self._open_at and pause > 0:
            self._open_at = now + pause
            asyncio.get_running_loop().call_later(pause + 0.001, self._wake)

    def _has_room(self) -> bool:
        return self.in_flight < int(self.limit) and self._clock() >= self._open_at

    def _wake(self) -> None:
        while self._waiting and self._has_room():
            place = self._waiting.popleft()
            if not place.done():
                self.in_flight += 1
                place.set_result(None)


def _bucket(a_minute: float | None, clock: Callable[[], float]) -> Bucket | None:
    return None if a_minute is None else Bucket(a_minute, clock)
