"""What a plugin's rater asks and says, checked to be what the protocols promise."""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from voirdire._errors import PluginError
from voirdire.schema import STATUSES, Message, Parsed, Request

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_STATUSES: frozenset[str] = frozenset(STATUSES)


def checked_mind(made: Any, whose: str) -> Any:
    """A rater or generator that can ask and read.

    Raises
    ------
    PluginError
        It lacks `requests` or `parse`.
    """
    for name in ("requests", "parse"):
        if not callable(getattr(made, name, None)):
            raise PluginError(f"{whose} lacks the method {name!r} ({type(made).__name__})")
    return made


def checked_requests(asked: Iterable[Any]) -> list[Request]:
    """The requests of a rater.

    Raises
    ------
    PluginError
        One is no `Request`, or a message or parameter in it is of another type than promised.
    """
    requests = list(asked)
    for request in requests:
        if not isinstance(request, Request):
            raise PluginError(f"a request must be a Request, got {type(request).__name__}")
        _check_messages(request.messages)
        for name, kind in (
            ("temperature", Real), ("top_p", Real), ("max_tokens", Integral), ("seed", Integral),
        ):  # fmt: skip
            value = getattr(request, name)
            if value is not None and not isinstance(value, kind):
                what = type(value).__name__
                raise PluginError(f"{name} of a request must be a number or None, got a {what}")
    return requests


def _check_messages(messages: Sequence[Any]) -> None:
    for message in messages:
        if not isinstance(message, Message) or not isinstance(message.content, str):
            raise PluginError(f"a request's message must be a Message of text, got {message!r:.80}")


def checked_parsed(parsed: Any) -> Parsed:
    """What a parser says, its scores as floats.

    Raises
    ------
    TypeError, ValueError
        It is no `Parsed`, or holds a score that is no finite number, a status or a rank that there
        is not.
    """
    if not isinstance(parsed, Parsed):
        raise TypeError(f"a parser must return a Parsed, got {type(parsed).__name__}")
    wrong = {parsed.status, *parsed.statuses.values()} - _STATUSES
    if wrong:
        raise ValueError(f"there is no status {wrong.pop()!r}")
    if not all(isinstance(rank, Integral) for rank in parsed.ranks.values()):
        raise TypeError("a rank must be a whole number")
    if all(type(score) is float and math.isfinite(score) for score in parsed.scores.values()):
        return parsed
    return replace(parsed, scores={name: _score(score) for name, score in parsed.scores.items()})


def _score(score: Any) -> float | None:
    if score is None:
        return None
    if not isinstance(score, Real) or not math.isfinite(score):
        raise ValueError(f"a score must be a finite number or None, got {score!r:.40}")
    return float(score)
