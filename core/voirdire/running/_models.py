"""Models made from their names, one a distinct name and options, and called in one way."""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import re
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast, get_args

from voirdire.errors import BROKEN_PLUGIN, ModelError, PluginError, StudyError, VoirdireError
from voirdire.protocols import ClosesConnections, EnforcesSchema, SaysProgress
from voirdire.running._stop import GRACE
from voirdire.schema import (
    ENDED,
    FinishReason,
    Message,
    Note,
    Part,
    PartKind,
    Reply,
    ToolCall,
    Usage,
)
from voirdire.secrets import scrub
from voirdire.shown import visible
from voirdire.store.session import transaction

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Awaitable, Callable

    from voirdire._registry import Plugins
    from voirdire.schema import Request


Complete = "Callable[[Request], Awaitable[Reply]]"


def make_model(name: str, options: Mapping[str, Any], plugins: Plugins, timeout: float) -> Any:
    """The model behind `prefix:name`; one that takes a `timeout` gets the run's, if given none.

    Raises
    ------
    StudyError
        The name has no prefix.
    PluginError
        Nobody registered the prefix, or the model does not take an option, cannot be made or is
        none.
    """
    factory, rest = model_factory(name, plugins), name.partition(":")[2]
    # An option of the study's own wins: it is spread last.
    defaults = {"timeout": timeout} if "timeout" in inspect.signature(factory).parameters else {}
    try:
        model = factory(rest, **{**defaults, **options})
    except VoirdireError:
        raise
    # Mostly an option that it does not know; a fault inside reads the same and is named too.
    except TypeError as error:
        raise PluginError(f"model {name!r} does not take these options: {error}") from error
    except (Exception, SystemExit) as error:
        what = f"{type(error).__name__}: {error}"
        raise PluginError(f"model {name!r} cannot be made: {what}") from error
    if not callable(getattr(model, "complete", None)):
        raise PluginError(f"model {name!r} is a {type(model).__name__}, which has no `complete`")
    return model


def model_factory(name: str, plugins: Plugins) -> Callable[..., Any]:
    """What makes the models of a prefix; errors as `make_model`."""
    prefix, colon, _ = name.partition(":")
    if not colon:
        raise StudyError(
            f"model {name!r}: a model is named prefix:name (prefixes: "
            f"{', '.join(plugins.names('model')) or 'none'})"
        )
    factory: Callable[..., Any] = plugins.resolve("model", prefix)
    return factory


def completer(model: Any) -> Callable[[Request], Awaitable[Reply]]:
    """The model's `complete`; one that blocks is called in a thread of its own.

    The thread is a daemon, so that a call that never returns cannot keep the process alive.
    """
    if inspect.iscoroutinefunction(model.complete):
        complete: Callable[[Request], Awaitable[Reply]] = model.complete
        return complete

    async def in_thread(request: Request) -> Reply:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Reply] = loop.create_future()

        def deliver(reply: Reply | None, error: BaseException | None) -> None:
            if answer.done():
                return  # given up in the meantime
            if error is None and reply is not None:
                answer.set_result(reply)
            else:
                answer.set_exception(error or TypeError("the model returned None"))

        def work() -> None:
            try:
                outcome: tuple[Reply | None, BaseException | None] = (model.complete(request), None)
            except BaseException as error:  # noqa: BLE001 - handed over to the awaiting task
                outcome = (None, error)
            # The run may have ended while the call was blocked: there is nobody left to tell.
            if not loop.is_closed():
                loop.call_soon_threadsafe(deliver, *outcome)

        threading.Thread(target=work, name="voirdire-model", daemon=True).start()
        reply = await answer
        if inspect.isawaitable(reply):  # a coroutine function behind a wrapper
            return cast("Reply", await reply)
        return reply

    return in_thread


def progress_of(model: Any) -> Callable[[], str]:
    """How far a model is with its calls, for the display; empty where it does not say."""

    def said() -> str:
        try:
            return visible(str(model.progress))[:80] if isinstance(model, SaysProgress) else ""
        except BROKEN_PLUGIN:
            return ""  # a display that cannot be made costs no call

    return said


async def close_model(model: Any) -> None:
    """Close what the model holds open, if it says how; failing at that undoes no run."""
    if not isinstance(model, ClosesConnections):
        return
    try:
        # A connection pool that does not close must not keep a finished run from ending.
        async with asyncio.timeout(GRACE):
            closing: Any = model.aclose()  # a plugin's may be a plain function
            if inspect.isawaitable(closing):
                await closing
    except Exception as error:  # noqa: BLE001 - a plugin's model may raise anything at all
        message = scrub(f"{type(error).__name__}: {error}")
        sys.stderr.write(f"voirdire: {model!r:.80} could not be closed: {message}\n")


async def learn_schema(models: Iterable[Any], connection: sqlite3.Connection) -> None:
    """Let models that want to know learn once whether their servers enforce a JSON schema.

    The session keeps each answer. Where none could be had no schema is sent. Nor is it where
    replies of the model are on file that were made without: one judge is asked in one way.
    """
    for model in models:
        if not (isinstance(model, EnforcesSchema) and model.schema_key):
            continue
        row = connection.execute(_ANSWER, (model.schema_key,)).fetchone()
        name = model.schema_key.partition(" ")[0]
        begun = row is None and connection.execute(_BEGUN, (name,)).fetchone() is not None
        enforced = row[0] == "yes" if row else None if begun else await _asked(model)
        if row is None and enforced is not None:
            answer = "yes" if enforced else "no"
            with transaction(connection):
                connection.execute(_KEEP, (model.schema_key, answer, time.time()))
        model.take_schema(bool(enforced))


async def _asked(model: EnforcesSchema) -> bool | None:
    try:
        async with asyncio.timeout(_SOON):
            return await model.enforces_schema()
    except TimeoutError:
        return None


#: Seconds in which a server shows whether it enforces a schema; weights may have to be loaded.
_SOON = 60
_ANSWER = "SELECT answer FROM abilities WHERE model = ? AND ability = 'json_schema'"
_BEGUN = """SELECT 1 FROM raters r JOIN calls c ON c.rater = r.id
WHERE instr(r.model, ?) AND c.final IS NOT NULL LIMIT 1"""
_KEEP = "INSERT OR REPLACE INTO abilities VALUES (?, 'json_schema', ?, ?, NULL)"
_REASONS: frozenset[str] = frozenset(get_args(FinishReason))
#: SQLite's largest integer.
_MOST = 2**63 - 1
_PARTS: frozenset[str] = frozenset(get_args(PartKind))
_ROLES = frozenset({"system", "user", "assistant", "tool"})
_PLAIN = frozenset({str, int, float, bool, type(None)})


def sound(outcome: object) -> Reply | ModelError:
    """The reply as the store can keep it, or why there is none.

    The text is what was paid for: where it is there, what is wrong beside it is put right or left
    out, and costs neither the reply nor the work of the other raters. A text whose end is in doubt,
    by a finish reason that there is not, is read as one that was cut.

    Examples
    --------
    >>> sound(Reply("4", "done", Usage(10, -1), provider_id=17))  # doctest: +ELLIPSIS
    Reply(text='4', finish_reason='stop', usage=Usage(input=10, output=None, ...), model='', ...
    >>> str(sound(Reply(None)))
    'the model returned a reply whose text is a NoneType'
    """
    if not isinstance(outcome, Reply):
        return ModelError(f"the model returned {type(outcome).__name__}, no Reply", "malformed")
    if not isinstance(outcome.text, str):
        kind = type(outcome.text).__name__
        what = f"the model returned a reply whose text is a {kind}"
        return ModelError(what, "malformed", retryable=False)
    # Looked at first, since nearly all are: then no field need be put right.
    if _is_plain(outcome):
        return outcome
    reason, notes = outcome.finish_reason, _notes(outcome.notes)
    if reason not in _REASONS:
        # A provider's own word goes into a note and into the store: short, and without signs.
        word = re.sub(r"[^\w.-]+", "_", str(reason or ""))[:40]
        ended = word.lower() in ENDED
        meaning = "taken as its end" if ended else "the text is read as one that may be cut"
        note = Note("finish_reason", word, meaning)
        odd = Note("unknown_word", f"finish_reason {word}", meaning)
        notes = (*notes, note if ended else odd)
        answers = bool(outcome.text.strip() or outcome.tool_calls)
        # With an unknown end the safe guess is a cut: its last value may be half a number.
        reason = ("stop" if ended else "length") if answers else "empty"
    return replace(
        outcome,
        finish_reason=reason,
        usage=_usage(outcome.usage),
        model=_text(outcome.model),
        params=_params(outcome.params),
        provider_id=_text(outcome.provider_id),
        latency=_number(outcome.latency) or 0.0,
        notes=notes,
        option_logprobs=_logprobs(outcome.option_logprobs),
        tool_calls=_calls(outcome.tool_calls),
        thoughts=_thoughts(outcome.thoughts),
        inner=_inner(outcome.inner),
        parts=_parts(outcome.parts),
        ended_by=_text(outcome.ended_by),
        candidate=_count(outcome.candidate) or 0,
        error=_text(outcome.error),
    )


def without_keys(reply: Reply, hide: Callable[[str], str]) -> Reply:
    """The reply as the store keeps it, so that whoever goes on from it says the same after a kill.

    >>> without_keys(Reply("You sent sk-1."), lambda text: text.replace("sk-1", "[hidden]")).text
    'You sent [hidden].'
    """
    text = hide(reply.text)
    if text != reply.text:
        reply = replace(reply, text=text)
    if reply.tool_calls:
        calls = (replace(call, arguments=hide(call.arguments)) for call in reply.tool_calls)
        reply = replace(reply, tool_calls=tuple(calls))
    if reply.parts:
        parts = (replace(part, text=hide(part.text)) for part in reply.parts)
        reply = replace(reply, parts=tuple(parts))
    # Thoughts are blocks of any shape: keys are looked for in all of their texts at once.
    if reply.thoughts:
        reply = replace(reply, thoughts=tuple(json.loads(hide(json.dumps(reply.thoughts)))))
    return reply


def _is_plain(reply: Reply) -> bool:
    """Whether nothing need be looked at any closer, as with all models of our own."""
    usage, params = reply.usage, reply.params
    return (
        reply.finish_reason in _REASONS
        # By exact types: a subclass of int or str may print or compare as it likes.
        and type(usage) is Usage
        and _is_count(usage.input)
        and _is_count(usage.output)
        and _is_count(usage.cached)
        and _is_count(usage.reasoning)
        and _is_count(usage.written)
        and type(reply.model) is type(reply.provider_id) is type(reply.error) is str
        and type(reply.latency) is float
        and type(params) is dict
        and all(type(name) is str and type(value) in _PLAIN for name, value in params.items())
        and not reply.notes
        and not reply.option_logprobs
        and not reply.tool_calls
        and not reply.inner
        and type(reply.ended_by) is str
        and _is_count(reply.candidate)
        and all(type(part) is Part and _is_sound(part) for part in reply.parts)
    )


def _is_sound(part: Part) -> bool:
    texts = (part.text, part.phase, part.name)
    return part.kind in _PARTS and all(type(text) is str for text in texts)


def _parts(parts: Any) -> tuple[Part, ...]:
    """The parts that can be kept; one that is none is left out."""
    kept = parts if isinstance(parts, list | tuple) else ()
    return tuple(
        Part(part.kind, _text(part.text), _text(part.phase), _text(part.name))
        for part in kept
        if isinstance(part, Part) and part.kind in _PARTS
    )


def _is_count(count: object) -> bool:
    return count is None or (type(count) is int and 0 <= count <= _MOST)


def _usage(usage: Any) -> Usage:
    names = ("input", "output", "cached", "reasoning", "written")
    return Usage(*(_count(getattr(usage, name, None)) for name in names))


def _count(value: Any) -> int | None:
    number = _number(value)
    # SQLite holds no larger integer, and no provider counts to it.
    whole = number is not None and number.is_integer() and 0 <= number < _MOST
    return int(value) if whole else None


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _notes(notes: Any) -> tuple[Note, ...]:
    """The notes, each with plain texts; what is none of ours is kept in words."""
    # A text alone is one note, not a note for each of its letters.
    given = (notes,) if isinstance(notes, str) else notes or ()
    return tuple(map(_note, given if isinstance(given, Iterable) else (given,)))


def _note(given: Any) -> Note:
    if isinstance(given, Note):
        return Note(*map(_text, (given.kind, given.about, given.detail)))
    return Note("note", "", _text(given))


def _params(params: Any) -> dict[str, Any]:
    if not isinstance(params, Mapping):
        return {}
    try:
        json.dumps(dict(params), sort_keys=True, default=str)
    except (TypeError, ValueError, RecursionError):
        return {str(name): str(value) for name, value in params.items()}
    return dict(params)


def _calls(given: Any) -> tuple[ToolCall, ...]:
    """The calls among what stands where calls should be, each of its fields a text."""
    calls = given if isinstance(given, list | tuple) else ()
    return tuple(
        ToolCall(_text(call.id), _text(call.name), _text(call.arguments), _text(call.signature))
        for call in calls
        if isinstance(call, ToolCall)
    )


def _thoughts(given: Any) -> tuple[dict[str, Any], ...]:
    """The blocks among what stands where thoughts should be that JSON can hold as they are."""
    blocks = [b for b in given if isinstance(b, Mapping)] if isinstance(given, list | tuple) else []
    try:
        json.dumps([dict(block) for block in blocks])
    except (TypeError, ValueError, RecursionError):
        return ()
    return tuple(map(dict, blocks))


def _inner(given: Any) -> tuple[Message, ...]:
    """The messages among what stands where they should be, each of its fields a text."""
    messages = given if isinstance(given, list | tuple) else ()
    return tuple(
        replace(
            one,
            content=_text(one.content),
            calls=_calls(one.calls),
            call_id=_text(one.call_id),
            name=_text(one.name),
        )
        for one in messages
        if isinstance(one, Message) and one.role in _ROLES
    )


def _logprobs(given: Any) -> dict[str, float]:
    pairs = given.items() if isinstance(given, Mapping) else ()
    return {_text(name): number for name, value in pairs if (number := _number(value)) is not None}
