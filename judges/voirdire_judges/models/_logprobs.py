"""Log-probabilities of a request's options out of a reply's token alternatives."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from voirdire.parsing import parse_scores
from voirdire.schema import Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

#: A token of a reply, and its alternatives with their log-probabilities.
Position = tuple[str, "Sequence[tuple[str, float]]"]
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")


def option_logprobs(
    positions: Sequence[Position], options: Sequence[str], text: str
) -> dict[str, float]:
    """The log-probability of each option at the token of the option that the reply states.

    In *On a scale of 1 to 5: 4* that is the last token; where the text states no option, or no
    token is that option, there are none. Spellings of one option (``"4"``, ``" 4"``) add up; an
    option that is no alternative is left out, for it is below the reported ones and not of
    probability zero.

    Parameters
    ----------
    positions
        Of each token of the reply: the token, and its alternatives with their log-probabilities.
    options
        The answers that were asked for.
    text
        The reply.

    >>> alternatives = [("4", -0.7), (" 4", -3.0), ("5", -1.2), ("The", -2.0)]
    >>> logprobs = option_logprobs([("4", alternatives)], ["4", "5"], "4")
    >>> {option: round(value, 3) for option, value in logprobs.items()}
    {'4': -0.604, '5': -1.2}
    >>> option_logprobs([("5", [("5", 0.0)]), ("/", []), ("4", [("4", 0.0)])], ["4", "5"], "No.")
    {}
    """
    if not options or not positions:
        return {}
    stated = _stated(text, options)
    at = [alternatives for token, alternatives in positions if _plain(token) == stated]
    wanted = {_plain(option): option for option in options}
    sums: dict[str, float] = {}
    for token, logprob in at[-1] if at else ():
        option = wanted.get(_plain(token))
        if option is not None and math.isfinite(logprob):
            # By rounding, a log-probability may come out a little above 0.
            sums[option] = sums.get(option, 0.0) + math.exp(min(logprob, 0.0))
    return {option: math.log(total) for option, total in sums.items() if total > 0}


def _plain(token: str) -> str:
    return token.strip().casefold()


def _stated(text: str, options: Sequence[str]) -> str | None:
    """The option that a reply states, by the parser of scores where all options are numbers."""
    plain = {_plain(option) for option in options}
    if _plain(text) in plain:
        return _plain(text)
    levels = {float(option): option for option in plain if _NUMBER.fullmatch(option)}
    if len(levels) < len(plain) or len(levels) < 2:
        return None
    # Without steps: levels need not be evenly spaced, and what is no level falls out below.
    scale = Scale(min(levels), max(levels), 0)
    score = parse_scores(text, ["score"], scale).scores["score"]
    return None if score is None else levels.get(score)
