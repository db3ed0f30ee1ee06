"""Log-probabilities of a request's options out of a reply's token alternatives."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def option_logprobs(
    positions: Sequence[Sequence[tuple[str, float]]], options: Sequence[str]
) -> dict[str, float]:
    """The log-probability of each option at the first position where one of them is an alternative.

    Spellings of one option (``"4"``, ``" 4"``) add up; an option that is no alternative is left
    out, for it is below the reported ones and not of probability zero.

    >>> alternatives = [("4", -0.7), (" 4", -3.0), ("5", -1.2), ("The", -2.0)]
    >>> found = option_logprobs([alternatives], ["4", "5"])
    >>> {option: round(value, 3) for option, value in found.items()}
    {'4': -0.604, '5': -1.2}
    >>> option_logprobs([[("{", 0.0)]], ["4", "5"])
    {}
    """
    wanted = {option.strip().casefold(): option for option in options}
    for alternatives in positions:
        sums: dict[str, float] = {}
        for token, logprob in alternatives:
            option = wanted.get(token.strip().casefold())
            if option is not None and math.isfinite(logprob):
                sums[option] = sums.get(option, 0.0) + math.exp(min(logprob, 0.0))
        found = {option: math.log(total) for option, total in sums.items() if total > 0}
        if found:
            return found
    return {}
