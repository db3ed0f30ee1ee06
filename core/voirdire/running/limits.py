"""How fast one model may be called: requests and tokens a minute, and calls at once."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from voirdire.secrets import scrub

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from voirdire.errors import FaultKind, ModelError
    from voirdire.study import ModelLimits, RunSpec


#: Seconds' worth of allowance that may be used at once after a pause.
#: More would be refused: providers divide their minute into windows of seconds.
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
        # `_free_at` is when all that was taken will have come in again; one
        # number does for a queue.
        now = self._clock()
        wait = max(0.0, self._free_at - BURST - now)
        # What was not used does not gather beyond `BURST`: it counts from now.
        self._free_at = max(now, self._free_at) + amount * self._each
        return wait

    def correct(self, amount: float) -> None:
        """Take what was used beyond the reservation, or give back (a negative amount)."""
        self._free_at += amount * self._each


#: Why fewer calls to a model are open than the study allows.
Holds = Literal["", "asked to wait", "throttled", "rising", "model", "allowance", "cost", "last"]


@dataclass(frozen=True, slots=True)
class OpenCalls:
    """How many calls to a model are under way, and what holds back more of them.

    Attributes
    ----------
    model : str
        As the study names it.
    open : int
        Calls under way.
    limit, concurrency : int
        How many may be at present, and how many the study allows.
    held : str
        What keeps the limit below `concurrency`, or calls below the limit: the provider asked to
        wait; it answered 429 or 529; the limit rises from `start_concurrency`; the model bears no
        more at once; requests or tokens a minute are used up; calls under way may cost what is
        left of `max_cost`; fewer tasks are left. Empty where nothing of these does.
    throttled : int
        How often the limit was cut, which only 429 and 529 do.
    paused : float
        Seconds that the provider asks to wait.
    doing : str
        What a model that says so is at, in its own words.
    """

    model: str
    open: int
    limit: int
    concurrency: int
    held: Holds = ""
    throttled: int = 0
    paused: float = 0.0
    doing: str = ""

    def __add__(self, other: OpenCalls) -> OpenCalls:
        """Those of two workers, who each have a share of the study's `concurrency`."""
        return OpenCalls(
            self.model,
            self.open + other.open,
            self.limit + other.limit,
            self.concurrency + other.concurrency,
            self.held or other.held,
            self.throttled + other.throttled,
            max(self.paused, other.paused),
            "; ".join(filter(None, (self.doing, other.doing))),
        )

    def __str__(self) -> str:
        """In words, as progress and `session status` say it."""
        text = f"{self.open} of {self.concurrency} calls open"
        if self.held == "asked to wait":
            return f"{text} (waiting {self.paused:.0f} s as its provider asks)"
        why = {
            "": "",
            "throttled": f"{self.limit} at once, since 429 or 529 came; cut {self.throttled} "
            "times, rising again",
            "rising": f"{self.limit} at once, rising from start_concurrency",
            "model": f"its model takes {self.limit} at once",
            "allowance": "requests or tokens a minute are used up",
            "cost": "they may cost what is left of max_cost",
            "last": "no more are left to ask",
        }[self.held]
        said = "; ".join(filter(None, (why, self.doing)))
        return f"{text} ({said})" if said else text


#: Answers of a round at least, the share of them that may be throttled, and how many prove nothing.
ROUND, STRAY, ALONE = 20, 0.05, 1
#: The share that a cut takes off: what was throttled, within these bounds.
LEAST_CUT, MOST_CUT = 0.1, 0.5


class RateLimiter:
    """The calls to one model at once: a limit that gives way at throttling and creeps up again.

    Until the first cut every success raises the limit by one; after it, a round of successes does,
    a round being as many answers as the limit. Throttled answers are counted over a round: a stray
    one says little of the load, and cutting at each would end at a few calls whatever the provider
    bears. More of them cut the limit by their share, once for all the calls that were under way.
    """

    def __init__(self, limits: ModelLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = limits.concurrency or 1
        self.limit = float(limits.start_concurrency or self.most)
        self.in_flight = self.setbacks = 0
        #: Answers of this round, and those of them that were throttled.
        self._came = self._throttled = 0
        #: Calls that wait for requests or tokens of the next minute.
        self._allowed_later = 0
        self._clock = clock
        self._waiting: deque[asyncio.Future[None]] = deque()
        # Before any time that a clock shows: there was no setback yet.
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

    def calls(self, model: str, concurrency: int) -> OpenCalls:
        """How many calls are open, and why fewer than the `concurrency` of the study."""
        held: Holds = ""
        if self.paused:
            held = "asked to wait"
        elif self._allowed_later:
            held = "allowance"
        elif self.limit < self.most:
            held = "throttled" if self.setbacks else "rising"
        elif self.most < concurrency:
            held = "model"
        limit = int(self.limit)
        return OpenCalls(
            model, self.in_flight, limit, concurrency, held, self.setbacks, round(self.paused, 1)
        )

    def enter_now(self) -> bool:
        """Take a place if there is one and no allowance to count: then nobody need wait."""
        free = not (self._requests or self._tokens or self._waiting) and self._has_room()
        # A truth value counts as 0 or 1; this is asked at every call, and
        # spares most of them a future.
        self.in_flight += free
        return free

    async def enter(self, tokens: float = 0.0) -> None:
        """Wait for the allowance, then for a place."""
        # Both allowances are taken before the wait, so that nobody who
        # comes later takes them first.
        wait = max(
            self._requests.reserve(1) if self._requests else 0.0,
            self._tokens.reserve(tokens) if self._tokens else 0.0,
        )
        if wait > 0:
            self._allowed_later += 1
            try:
                await asyncio.sleep(wait)
            finally:
                self._allowed_later -= 1
        if not self._waiting and self._has_room():
            self.in_flight += 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            # The place was handed over in the same turn in which this call was cancelled: it must
            # be passed on, or it would be lost to all.
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
        self._count()
        if self.limit < self.most:
            # As TCP does: fast while nothing is known, then by one for
            # each round of `limit` calls.
            step = 1.0 if self._cut_at < 0 else 1.0 / self.limit
            self.limit = min(self.most, self.limit + step)

    def setback(self, started: float, pause: float = 0.0) -> None:
        """A call that started at that time was throttled: give way, and pause."""
        now = self._clock()
        # Calls that began before the last cut were too many already then; cutting for each of
        # them would end at one call.
        if started >= self._cut_at:
            self._count()
            self._throttled += 1
            if self._throttled > max(ALONE, STRAY * max(self.limit, self._came)):
                self._cut(now)
        if now + pause > self._open_at and pause > 0:
            self._open_at = now + pause
            # Nobody leaves during a pause, so that a timer must wake who waits; a little later,
            # for it may fire just before `_open_at` by this clock.
            asyncio.get_running_loop().call_later(pause + 0.001, self._wake)

    def _count(self) -> None:
        if self._came >= max(self.limit, ROUND):
            self._came = self._throttled = 0
        self._came += 1

    def _cut(self, now: float) -> None:
        share = min(max(self._throttled / self._came, LEAST_CUT), MOST_CUT)
        self.limit, self._cut_at = max(1.0, self.limit * (1 - share)), now
        self.setbacks += 1
        self._came = self._throttled = 0

    def _has_room(self) -> bool:
        return self.in_flight < int(self.limit) and self._clock() >= self._open_at

    def _wake(self) -> None:
        while self._waiting and self._has_room():
            place = self._waiting.popleft()
            # A call that was cancelled while it waited left its future in the queue.
            if not place.done():
                self.in_flight += 1
                place.set_result(None)


def _bucket(a_minute: float | None, clock: Callable[[], float]) -> Bucket | None:
    return None if a_minute is None else Bucket(a_minute, clock)


#: The provider has too much to do: its whole limiter pauses, and patience is counted in time.
THROTTLED: frozenset[FaultKind] = frozenset({"rate_limit", "overloaded"})
#: No other call to that model can fare better: its rater is suspended at once.
HOPELESS: frozenset[FaultKind] = frozenset({"auth", "quota", "refused_parameter"})
#: Nothing was sent or only this item is at fault: it says nothing about the model.
OF_THE_ITEM: frozenset[FaultKind] = frozenset({"empty_input"})


def wait_before(fault: ModelError, tries: int, spec: RunSpec, chance: random.Random) -> float:
    """Seconds before the next try: exponential with jitter, never less than a Retry-After.

    ``min(cap, backoff * 2 ** (tries - 1))``, of which a random half is kept. A Retry-After is
    obeyed up to `retry_after_cap`, plus up to a tenth so that calls do not come back in one wave.
    """
    asked = fault.retry_after
    if isinstance(asked, int | float) and asked > 0:
        return min(asked, spec.retry_after_cap) * (1 + 0.1 * chance.random())
    # 2.0 ** 1024 would overflow, and the cap is reached long before.
    wait = min(spec.backoff_cap, spec.backoff * 2.0 ** min(tries - 1, 30))
    # Half is kept: from 0 on some would come back at once, without any chance calls come in waves.
    return wait * (0.5 + 0.5 * chance.random())


def may_retry(fault: ModelError, tries: int, waited: float, spec: RunSpec) -> bool:
    """Whether to try again: a passing fault, within the study's retries or patience."""
    if not fault.retryable:
        return False
    # How often a provider asks to wait depends on how many calls are made; how long, on the load.
    if fault.kind in THROTTLED:
        return waited < spec.patience
    return tries <= spec.retries


_SAY = {
    "auth": "its key was refused",
    "quota": "billing: its account is out of credit",
    "refused_parameter": "its model refuses a parameter",
}


class Breaker:
    """Opens after so many failed calls in a row, or at once where no call can succeed.

    `answered` says that the rater's model has answered before, in an earlier run.

    Attributes
    ----------
    reason : str
        Why it is open; empty while it is closed.
    """

    def __init__(self, threshold: int, *, answered: bool = False) -> None:
        self._threshold, self._row = threshold, 0
        self._answered = answered
        self.reason = ""

    def succeeded(self) -> None:
        """A call came back with a reply: the row of failures ends."""
        self._row, self._answered = 0, True

    def suspend(self, reason: str) -> None:
        """Open at once: the rater itself is broken."""
        self.reason = self.reason or scrub(reason)

    def failed(self, fault: ModelError) -> None:
        """A call was given up."""
        # What one item brings about must not suspend a rater: a hundred long
        # texts in a row are no outage.
        if self.reason or self._of_the_item(fault):
            return
        self._row += 1
        if fault.kind in HOPELESS:
            self.reason = f"{_SAY[fault.kind]} ({scrub(str(fault))})"
        elif self._row >= self._threshold:
            last = f"{fault.kind}: {scrub(str(fault))}"
            self.reason = f"{self._row} calls failed in a row, the last by {last}"

    def _of_the_item(self, fault: ModelError) -> bool:
        """Whether other requests may fare better; of a model that has answered, a 400 says so."""
        # 400, 413 and 422 blame the request. Until a model has answered once that may be its
        # parameters, which all its requests share.
        refused = fault.kind == "bad_request" and fault.status_code in {400, 413, 422}
        return fault.of_item or fault.kind in OF_THE_ITEM or (refused and self._answered)
