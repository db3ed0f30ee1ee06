"""One rater at work: its calls are made here, each attempt kept."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from voirdire.deadlines import Deadlines
from voirdire.errors import BROKEN_PLUGIN, ModelError, PluginError
from voirdire.protocols import Converses, FollowsUp, Replays, TakesTime
from voirdire.running._models import sound
from voirdire.running._stop import StoppedError
from voirdire.running.budget import cost_of, estimate_cost, estimate_tokens, spent_cost
from voirdire.running.limits import THROTTLED, may_retry, wait_before
from voirdire.schema import Reply, Usage
from voirdire.secrets import Hider, environment_keys
from voirdire.store.counts import Spent
from voirdire.store.records import Attempt, CallMaker
from voirdire.tools import failure_in

if TYPE_CHECKING:
    import random
    from collections.abc import Awaitable, Callable, Sequence

    from voirdire.protocols import Batches
    from voirdire.running._stop import Stop
    from voirdire.running.budget import Budget, Tally
    from voirdire.running.limits import Breaker, OpenCalls, RateLimiter
    from voirdire.schema import Request, Status
    from voirdire.store.raters import Participant
    from voirdire.store.records import Call
    from voirdire.store.session import Session
    from voirdire.study import Prices, RunSpec


#: Texts of a rater of which one at least must be readable, and what a text is read as that is not.
FIRST_TEXTS, _UNREAD = 10, frozenset({"unparsable", "truncated"})
#: Seconds after which a call that waits looks whether it is still wanted.
LOOK = 0.25


def usage_billed(fault: ModelError) -> Usage | None:
    """The tokens that were counted for a call all the same that came to nothing."""
    counted = fault.billed
    # With one of the two counts no cost can be given, and a sum with it would look complete.
    if counted is None or counted.input is None or counted.output is None:
        return None
    written = getattr(counted, "written", None)
    return Usage(counted.input, counted.output, counted.cached, counted.reasoning, written)


class Commits:
    """Counts records committed since the writer was started, and wakes who waits for theirs.

    The writer commits in the order in which records were put, so that one count says all.
    """

    def __init__(self) -> None:
        self.kept = 0
        self._waiting: deque[tuple[int, Callable[[], None]]] = deque()

    def then(self, put: int, call: Callable[[], None]) -> None:
        """Call back once the first `put` records are committed, or writing has failed."""
        if self.kept >= put:
            call()
        else:
            self._waiting.append((put, call))

    async def reached(self, put: int) -> None:
        """Wait until the first `put` records are committed, or writing has failed."""
        woken = asyncio.Event()
        self.then(put, woken.set)
        await woken.wait()

    def advance(self, records: int) -> None:
        """So many more records are committed; none says that writing has failed: call everyone."""
        self.kept += records
        # Those who wait for a writer that has failed are called too: they ask
        # it by `check`, and raise.
        while self._waiting and (not records or self._waiting[0][0] <= self.kept):
            self._waiting.popleft()[1]()


@dataclass(frozen=True, slots=True)
class Road:
    """The way to one model: `complete` and `limiter` are shared by all who ask that model.

    `identity` names the model with its options; `batches` takes its calls in one piece; `prepare`
    makes it ready, where it must be, and `progress` says how far it is.
    """

    complete: Callable[[Request], Awaitable[Reply]]
    limiter: RateLimiter
    breaker: Breaker
    prices: Prices | None
    identity: str = ""
    batches: Batches | None = None
    prepare: Callable[[], Awaitable[None]] | None = None
    progress: Callable[[], str] = str


@dataclass
class Worker:
    """Everything that a rater's calls need; `endpoints` leads to its models, by role."""

    participant: Participant
    endpoints: dict[str, Road]
    budget: Budget
    tally: Tally
    spec: RunSpec
    session: Session
    stop: Stop
    chance: random.Random
    commits: Commits = field(default_factory=Commits)
    calls: CallMaker = field(default_factory=CallMaker)
    committing: int = 0
    queued: set[asyncio.Task[Any]] = field(default_factory=set)
    open: set[asyncio.Task[None]] = field(default_factory=set)
    freed: asyncio.Event = field(default_factory=asyncio.Event)
    broken: BaseException | None = None
    unread: int = 0
    unreadable: int = 0
    readable: bool = False
    tools_called: int = 0
    tools_failed: int = 0

    def __post_init__(self) -> None:
        rater = self.participant.rater
        #: What to ask next, of a rater that takes several steps.
        # Looked up once: `isinstance` of a Protocol looks for its attributes anew at each call.
        self.follow_up: Any = rater.follow_up if isinstance(rater, FollowsUp) else None
        self.converses = isinstance(rater, Converses)
        if self.converses:
            self.follow_up = rater.next_of
        self.slow = isinstance(rater, TakesTime) and rater.slow
        self.replays = rater.follows if isinstance(rater, Replays) else None
        #: What a reply holds of keys would be kept with the next request that quotes it.
        self.hide = None if self.follow_up is None else Hider(environment_keys().values())

    # Made on first use: its timer belongs to the loop of the run, which there is none of before.
    @cached_property
    def _deadlines(self) -> Deadlines:
        return Deadlines(self.spec.timeout)

    @property
    def suspended(self) -> str:
        """Why the rater was given up; empty while it was not."""
        for endpoint in self.endpoints.values():  # a loop: this is asked three times a call
            if endpoint.breaker.reason:
                return endpoint.breaker.reason
        return ""

    @property
    def room(self) -> int:
        """Calls at once that its most patient model bears."""
        return max(int(endpoint.limiter.limit) for endpoint in self.endpoints.values())

    @property
    def calls_open(self) -> tuple[OpenCalls, ...]:
        """How many calls to each of its models are open, whoever made them, and why not more."""
        models = {role: asked.model for role, asked in self.participant.spec.asks.items()}
        calls = (
            replace(
                endpoint.limiter.calls(
                    models[role], self.spec.limits(models[role]).concurrency or 1
                ),
                doing=endpoint.progress(),
            )
            for role, endpoint in self.endpoints.items()
        )
        last = self.tally.tasks - self.tally.done - self.tally.failed
        return tuple(
            replace(one, held="cost" if self.budget.waiting else "last")
            if not one.held and one.open < one.limit and (self.budget.waiting or last < one.limit)
            else one
            for one in calls
        )

    def prices(self, role: str) -> Prices | None:
        """What the model of a role costs."""
        endpoint = self._endpoint(role)
        return None if endpoint is None else endpoint.prices

    def _endpoint(self, role: str) -> Road | None:
        return self.endpoints.get(role) or self.endpoints.get("")

    def endpoint(self, role: str) -> Road:
        """The way to the model of a role.

        Raises
        ------
        PluginError
            The rater asks in a role that it did not name.
        """
        endpoint = self._endpoint(role)
        if endpoint is None:
            roles = ", ".join(self.endpoints)
            raise PluginError(f"a request has the role {role!r}, which has no model (has: {roles})")
        return endpoint

    async def ask(self, call: Call, request: Request) -> Reply | ModelError:
        """One call, tried again as the study says: a reply, or the fault that it was given up for.

        Raises
        ------
        StoppedError
            The run is to end, the budget is used up, or the rater is suspended.
        """
        # Throttling and faults are counted apart: a provider that is busy for an hour must not use
        # up the retries that are meant for faults.
        throttled_since = None
        tries = {True: 0, False: 0}
        endpoint = self.endpoint(request.role)
        while True:
            outcome, started = await self._try(call, request, endpoint)
            if isinstance(outcome, Reply):
                endpoint.limiter.succeeded()
                endpoint.breaker.succeeded()
                return outcome
            throttled = outcome.kind in THROTTLED
            tries[throttled] += 1
            if throttled and throttled_since is None:
                throttled_since = time.monotonic()
            wait = wait_before(outcome, tries[throttled], self.spec, self.chance)
            # A throttled call says that fewer may run at once, and pauses all calls to the model,
            # since the next would be refused as well. A server that fails one call in a hundred
            # would fail one in a hundred of fewer calls too.
            if throttled:
                endpoint.limiter.setback(started, wait)
            # The wait to come counts: one that would end beyond the patience is not begun.
            waited = time.monotonic() - (throttled_since or time.monotonic()) + wait
            if not may_retry(outcome, tries[throttled], waited, self.spec):
                endpoint.breaker.failed(outcome)
                if endpoint.breaker.reason:
                    self.dismiss()
                return outcome
            await self._pause(wait)

    def suspend(self, reason: str) -> None:
        """Give the rater up for this run: it is broken itself."""
        # Any of its breakers will do: a rater is suspended as soon as one of them is open.
        next(iter(self.endpoints.values())).breaker.suspend(reason)
        self.dismiss()

    def parsed(self, broken: str) -> None:
        """Replies were parsed; `broken` says how the rater's own parser broke, if it did.

        Asking again would give another reply to the same parser, so that a rater whose parser
        breaks on several in a row is suspended.
        """
        self.unread = self.unread + 1 if broken else 0
        if self.unread >= self.spec.breaker:
            self.suspend(f"its parser broke on {self.unread} replies in a row ({broken})")

    def finished(self, status: Status) -> None:
        """A task is through; `status` says what was read.

        A rater of whose first texts none can be read is suspended: more calls would only cost.
        """
        if status in _UNREAD:
            self.unreadable += 1
        elif status != "failed":
            self.readable = True
        earlier = sum(n for read, n in self.tally.statuses.items() if read not in _UNREAD)
        if not self.readable and not earlier and self.unreadable >= FIRST_TEXTS:
            self.suspend(f"none of its first {self.unreadable} texts could be read")

    def heard(self, requests: Sequence[Request]) -> None:
        """The rater asks further; `requests` quote what its tools said since.

        A rater whose tools have all failed, as often as the study's `breaker` says, judges without
        them and is suspended.
        """
        for request in requests:
            for message in reversed(request.messages):
                if message.role != "tool":
                    break
                failure = failure_in(message)
                self.tools_called += 1
                self.tools_failed += bool(failure)
                if self.tools_failed == self.tools_called >= self.spec.breaker:
                    self.suspend(
                        f"all of its first {self.tools_called} calls of tools failed "
                        f"({message.name}: {failure})"
                    )
                    return

    def dismiss(self) -> None:
        """Let go of calls that wait to be made: their turn may be minutes away."""
        for task in self.queued:
            task.cancel()

    async def _try(
        self, call: Call, request: Request, endpoint: Road
    ) -> tuple[Reply | ModelError, float]:
        expected, tokens = await self._admit(request, endpoint)
        started = time.monotonic()
        try:
            fault = await self._unready(endpoint)
            # Loading weights takes minutes, which are none of this call's.
            started = time.monotonic()
            outcome = fault or await self._outcome(request, endpoint)
        except asyncio.CancelledError:
            # A call that was cut off costs nothing that is known, but what it
            # reserved must be free again.
            self.budget.book(expected, 0.0)
            raise
        finally:
            # The place is free as soon as the call is over, whatever came of it.
            endpoint.limiter.leave()
        taken = time.monotonic() - started
        self._book(outcome, request.role, expected, tokens)
        if isinstance(outcome, Reply):
            # A model that measures by itself knows better: our time holds
            # its wait for a connection.
            if not outcome.latency:
                outcome = replace(outcome, latency=taken)
            self.session.put(Attempt(call, time.time(), outcome))
        else:
            kind, text = outcome.kind, str(outcome)
            billed = usage_billed(outcome)
            self.session.put(Attempt(call, time.time(), None, kind, text, taken, billed))
        return outcome, started

    async def _unready(self, endpoint: Road) -> ModelError | None:
        """Make the model ready; why it cannot be."""
        if endpoint.prepare is None:
            return None
        try:
            await endpoint.prepare()
        except ModelError as error:
            return error
        except BROKEN_PLUGIN as error:
            return ModelError(f"{type(error).__name__}: {error}", "model")
        return None

    async def _outcome(self, request: Request, endpoint: Road) -> Reply | ModelError:
        try:
            # `sound` is inside: what a plugin returns may run code of its
            # own when it is looked at.
            with self._deadlines.limit():
                return sound(await endpoint.complete(request))
        except asyncio.CancelledError:
            # The run cancels a task by `cancel`, which `cancelling` counts; a cancellation that
            # it does not count came from within the model, such as from its own time limit, and
            # is a fault of this call.
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            return ModelError("the model cancelled the call from within", "connection")
        except TimeoutError:
            return ModelError(f"no answer within {self.spec.timeout:g} s", "timeout")
        except ConnectionError as error:
            return ModelError(f"{type(error).__name__}: {error}", "connection")
        except ModelError as error:
            return error
        # Last, since it holds all the others: what is left is neither time nor network.
        except BROKEN_PLUGIN as error:
            return ModelError(f"{type(error).__name__}: {error}", "model")

    async def _admit(self, request: Request, endpoint: Road) -> tuple[float, float]:
        """Wait until the call may be made; the cost and tokens that it is expected to take."""
        self._check()
        # Only where a limit counts them: adding up the characters of all messages is slow.
        tokens = float(sum(estimate_tokens(request))) if endpoint.limiter.counts_tokens else 0.0
        if not endpoint.limiter.enter_now():
            await self._queue(tokens, endpoint)
        try:
            self._check()
            expected = self._expected(request)
            # A refused call is the end of the run only where no call under way can
            # give back what it holds.
            while not self.budget.admit(expected):
                if self.budget.is_used_up:
                    self.stop.set("budget")
                else:  # calls under way hold what they may cost, and most cost less
                    self.budget.waiting += 1
                    try:
                        await asyncio.sleep(LOOK)
                    finally:
                        self.budget.waiting -= 1
                self._check()
        except BaseException:
            endpoint.limiter.leave()
            raise
        return expected, tokens

    def committed(self) -> None:
        """What came of one more task is on the disk, and its place is free."""
        self.committing -= 1
        self.freed.set()

    async def _queue(self, tokens: float, endpoint: Road) -> None:
        # Kept apart from calls under way, which `dismiss` must not cut off: they are paid for.
        waiting = {task} if (task := asyncio.current_task()) else set()
        self.queued |= waiting
        try:
            await endpoint.limiter.enter(tokens)
        finally:
            self.queued -= waiting

    def _expected(self, request: Request) -> float:
        """What a call may cost: as estimated, and no less than calls have cost so far."""
        prices = self.prices(request.role)
        if self.budget.max_cost is None or prices is None:
            return 0.0
        spent = self.tally.spent.get(request.role, Spent())
        # Four characters a token and the cap say nothing of reasoning or of long scripts; what
        # calls have cost so far does.
        so_far = (spent_cost(spent, prices) or 0.0) / max(1, spent.calls)
        return max(so_far, estimate_cost(request, prices))

    def affords(self, request: Request) -> bool:
        """Whether the budget bears a request in a batch, which is reserved if it does."""
        prices = self.prices(request.role)
        share = 1.0 if prices is None else prices.batch
        return self.budget.admit(share * self._expected(request))

    def _check(self) -> None:
        self.stop.check()
        if suspended := self.suspended:
            raise StoppedError(suspended)

    def _book(self, outcome: Reply | ModelError, role: str, expected: float, tokens: float) -> None:
        usage = outcome.usage if isinstance(outcome, Reply) else usage_billed(outcome)
        self.tally.book(role, usage)
        if usage is None:
            self.budget.book(expected, 0.0)
            return
        self.budget.book(expected, cost_of(usage, self.prices(role)))
        # The allowance was taken by an estimate: take the rest, or give back what was too much.
        if tokens and usage.input is not None and usage.output is not None:
            self.endpoint(role).limiter.used(usage.input + usage.output - tokens)

    async def _pause(self, seconds: float) -> None:
        """Wait before the next try, but not past the end of the run or of the rater."""
        # In short sleeps: a Retry-After may be minutes, and Ctrl-C is to be heard at once.
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            self._check()
            await asyncio.sleep(min(left, LOOK))
