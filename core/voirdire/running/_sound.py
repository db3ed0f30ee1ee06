"""A reply of any plugin's model, such that it can be kept."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

from voirdire._errors import ModelError
from voirdire.schema import FinishReason, Reply, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable

_REASONS: frozenset[str] = frozenset(get_args(FinishReason))
#: SQLite's largest integer.
_MOST = 2**63 - 1
_PLAIN = frozenset({str, int, float, bool, type(None)})


def sound(found: object) -> Reply | ModelError:
    """The reply as the store can keep it, or why there is none.

    The text is what was paid for: where it is there, what is wrong beside it is mended or left
    out, and costs neither the reply nor the work of the other raters.

    Examples
    --------
    >>> sound(Reply("4", "done", Usage(10, -1), provider_id=17))  # doctest: +ELLIPSIS
    Reply(text='4', finish_reason='stop', usage=Usage(input=10, output=None, ...), model='', ...
    >>> str(sound(Reply(None)))
    'the model returned a reply whose text is a NoneType'
    """
    if not isinstance(found, Reply):
        return ModelError(f"the model returned {type(found).__name__}, no Reply", "malformed")
    if not isinstance(found.text, str):
        kind = type(found.text).__name__
        what = f"the model returned a reply whose text is a {kind}"
        return ModelError(what, "malformed", retryable=False)
    if _is_plain(found):
        return found
    reason, notes = found.finish_reason, _notes(found.notes)
    if reason not in _REASONS:
        notes = (*notes, f"finish_reason: {reason}")
        reason = "stop" if found.text.strip() else "empty"
    return replace(
        found,
        finish_reason=reason,
        usage=_usage(found.usage),
        model=_text(found.model),
        params=_params(found.params),
        provider_id=_text(found.provider_id),
        latency=_number(found.latency) or 0.0,
        notes=notes,
        option_logprobs=_logprobs(found.option_logprobs),
        error=_text(found.error),
    )


def _is_plain(reply: Reply) -> bool:
    """Whether nothing need be looked at any closer, as with all models of our own."""
    usage, params = reply.usage, reply.params
    return (
        reply.finish_reason in _REASONS
        and type(usage) is Usage
        and all(
            count is None or (type(count) is int and 0 <= count <= _MOST)
            for count in (usage.input, usage.output, usage.cached, usage.reasoning)
        )
        and type(reply.model) is type(reply.provider_id) is type(reply.error) is str
        and type(reply.latency) is float
        and type(params) is dict
        and all(type(name) is str and type(value) in _PLAIN for name, value in params.items())
        and not reply.notes
        and not reply.option_logprobs
    )


def _usage(usage: Any) -> Usage:
    names = ("input", "output", "cached", "reasoning")
    return Usage(*(_count(getattr(usage, name, None)) for name in names))


def _count(value: Any) -> int | None:
    number = _number(value)
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


def _notes(notes: str | Iterable[Any] | None) -> tuple[str, ...]:
    return (notes,) if isinstance(notes, str) else tuple(map(_text, notes or ()))


def _params(params: Any) -> dict[str, Any]:
    if not isinstance(params, Mapping):
        return {}
    try:
        json.dumps(dict(params), sort_keys=True, default=str)
    except (TypeError, ValueError, RecursionError):
        return {str(name): str(value) for name, value in params.items()}
    return dict(params)


def _logprobs(found: Any) -> dict[str, float]:
    pairs = found.items() if isinstance(found, Mapping) else ()
    return {_text(name): number for name, value in pairs if (number := _number(value)) is not None}
