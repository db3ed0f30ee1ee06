"""The contract of chat models: a reply or a `ModelError`, with fields that can be billed."""

from __future__ import annotations

import asyncio
import inspect
import time
from typing import TYPE_CHECKING, Any, get_args

from voirdire.errors import BROKEN_PLUGIN, ModelError
from voirdire.protocols import BearsConcurrency, ClosesConnections
from voirdire.schema import FinishReason, Message, Reply, Request
from voirdire.testing.checks import Checks, name_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping, Sequence

#: Seconds for which a call may hold the loop of all others, and in which a cancelled one ends.
_HELD, _ENDED = 1.0, 5.0
_REASONS = get_args(FinishReason)
_ERRORS = (
    "Raise voirdire.ModelError(kind=...) where no reply comes, so that the run knows whether to "
    "ask again; a refusal or a cut answer is a Reply with its finish_reason."
)
# A plain question; one with a system message, other scripts and every parameter; a conversation.
_ASKED = (
    Request((Message("user", "Say yes or no."),)),
    Request(
        (Message("system", "Be brief."), Message("user", "Grüße, 你好, \u202eolleh")),
        temperature=0.0,
        max_tokens=16,
        seed=7,
    ),
    Request(
        (
            Message("user", "One?"),
            Message("assistant", "One."),
            Message("user", "Two? " + "word " * 200),
        ),
        run=2,
    ),
)


def check_model(
    make: Any,
    name: str = "test",
    *,
    requests: Sequence[Request] = (),
    size: int = 20_000,
    failing: Mapping[str, Any] | None = None,
    **options: Any,
) -> None:
    """Check a model's factory, as `voirdire_register_models` names it. It **asks the model**.

    Parameters
    ----------
    make : callable
        ``make(model_name, **options) -> ChatModel``.
    name : str
        What stands after the colon in a study.
    requests : sequence of Request, optional
        What it is asked; by default three short requests, one of them with a system message.
    size : int
        Characters of one long request that is asked too; 0 leaves it out.
    failing : mapping, optional
        Options under which nothing can be answered, such as an address where no server listens.
        Each request must then end in a `ModelError`: what else it raises would stop the rater, and
        a reply would be read.
    options
        As a study's ``model_options`` would be.

    Notes
    -----
    All requests are asked one by one, then at once, and one call is cancelled under way. A
    coroutine that holds the event loop for a second is named: with it every other call waits.

    Raises
    ------
    ContractError
        All that does not hold, with a hint each.

    Examples
    --------
    >>> from voirdire_judges.models.simulated import make
    >>> check_model(make, "b", answers=["yes"])
    """
    checks = Checks(f"the model {name_of(make)}")
    model = checks.made(make, name, **options)
    checks.hold(
        isinstance(getattr(model, "name", None), str) and model.name,
        "it has no `name`",
        "A model says what it is called: a text such as the model's name.",
    )
    if checks.hold(
        callable(getattr(model, "complete", None)),
        f"a {type(model).__name__} has no `complete`",
        "`async def complete(self, request) -> Reply`, or a plain function if it blocks.",
    ):
        # One loop for all: connections must outlive a single question.
        asyncio.run(_ask(checks, model, _with_long(requests or _ASKED, size)))
    if failing is not None:
        broken = checks.made(make, name, **(options | dict(failing)))
        asyncio.run(_fail(checks, broken, requests or _ASKED))
    if isinstance(model, BearsConcurrency):
        most: Any = model.concurrency
        checks.hold(
            isinstance(most, int) and most >= 1,
            f"its concurrency is {most!r}",
            "Calls at once are a whole number from 1.",
        )
    checks.done()


def _with_long(requests: Sequence[Request], size: int) -> tuple[Request, ...]:
    long = Request((Message("user", "word " * (size // 5)),), max_tokens=8)
    return (*requests, long) if size else tuple(requests)


async def _ask(checks: Checks, model: Any, requests: Sequence[Request]) -> None:
    """One after another, then all at once: a model that mixes up calls under way shows it."""
    for request in requests:
        outcome, held = await _watched(_outcome(model, request))
        _check_reply(checks, outcome)
        checks.hold(
            held < _HELD,
            f"a call holds the event loop for {held:.1f} s",
            "Await what takes time, or make `complete` a plain function: it then has a thread.",
        )
    for outcome in await asyncio.gather(*(_outcome(model, request) for request in requests)):
        _check_reply(checks, outcome)
    await _cancel(checks, model, requests[0])
    await _close(checks, model)


async def _fail(checks: Checks, model: Any, requests: Sequence[Request]) -> None:
    """Asked where nothing can answer: each request ends in a `ModelError`."""
    for outcome in await asyncio.gather(*(_outcome(model, request) for request in requests)):
        checks.hold(
            isinstance(outcome, ModelError),
            f"where nothing can answer, complete gives {type(outcome).__name__}: {outcome!s:.100}",
            _ERRORS,
        )
    await _close(checks, model)


async def _watched(call: Awaitable[Any]) -> tuple[Any, float]:
    """What the call gives, and the longest time in seconds for which nothing else could run."""
    task, held = asyncio.ensure_future(call), 0.0
    while not task.done():
        before = time.monotonic()
        await asyncio.wait((task,), timeout=0.05)
        held = max(held, time.monotonic() - before - 0.05)
    return await task, held


async def _cancel(checks: Checks, model: Any, request: Request) -> None:
    """Ctrl-C and limits cancel calls under way: one that goes on would keep the run from ending."""
    if not inspect.iscoroutinefunction(model.complete):
        return
    task = asyncio.ensure_future(model.complete(request))
    # Once into the call, so that there is something to cancel.
    await asyncio.sleep(0)
    task.cancel()
    done, _ = await asyncio.wait((task,), timeout=_ENDED)
    checks.hold(
        done,
        f"a call that is cancelled goes on for more than {_ENDED:.0f} s",
        "Let asyncio.CancelledError pass: Ctrl-C and limits end calls by it.",
    )
    if done and not task.cancelled():
        # A call that was over at once has nothing to cancel; what it raised is no fault of this.
        task.exception()


async def _close(checks: Checks, model: Any) -> None:
    if isinstance(model, ClosesConnections):
        with checks.safely("aclose raises", "It is called at the end, also of a run that failed."):
            await model.aclose()


async def _outcome(model: Any, request: Request) -> Any:
    try:
        # As the runner calls it: one that blocks in a thread.
        if inspect.iscoroutinefunction(model.complete):
            return await model.complete(request)
        return await asyncio.to_thread(model.complete, request)
    except BROKEN_PLUGIN as error:
        return error


def _check_reply(checks: Checks, outcome: Any) -> None:
    # Saying in its words that no reply came keeps the contract, such as without a network.
    if isinstance(outcome, ModelError):
        return
    if not checks.hold(
        isinstance(outcome, Reply),
        f"complete gives {type(outcome).__name__}: {outcome!s:.100}",
        _ERRORS,
    ):
        return
    reply: Any = outcome
    checks.hold(isinstance(reply.text, str), "a reply's text is no text", "Keep it as it came.")
    checks.hold(
        reply.finish_reason in _REASONS,
        f"its finish_reason is {reply.finish_reason!r}",
        f"It is one of {', '.join(_REASONS)}.",
    )
    usage = reply.usage
    counts = (usage.input, usage.output, usage.cached, usage.reasoning)
    checks.hold(
        all(count is None or (isinstance(count, int) and count >= 0) for count in counts),
        f"its usage is {usage}",
        "Tokens are whole numbers from 0, None where the provider does not say.",
    )
    checks.hold(
        # A part may be known where the whole is not.
        (usage.cached or 0) <= (usage.input or usage.cached or 0)
        and (usage.reasoning or 0) <= (usage.output or usage.reasoning or 0),
        f"its usage is {usage}: a part is larger than the whole",
        "`input` counts cached tokens too, and `output` counts reasoning tokens too.",
    )
