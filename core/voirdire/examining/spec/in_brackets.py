"""The number that stands in brackets behind a use that is cleared, and its interval.

Each function makes the words from a component of every verdict that the sentence is about: an
attribute or a label each. Of several the weakest is named, and said to be it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from voirdire.examining.spec.words import humans_text, percent, span_text
from voirdire.tabular import number_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from voirdire.examining.spec.component import Component

    Says = Callable[[Sequence[Component]], str]


def _least(parts: Sequence[Component]) -> Component:
    return min(parts, key=lambda part: part.estimate)


def _widest(parts: Sequence[Component]) -> Component:
    return max(parts, key=lambda part: abs(part.estimate))


def named(what: str) -> Says:
    """A value that is to be high, behind what it is called.

    >>> from voirdire.examining.spec import Component
    >>> made = [Component("ORDER", "yes", value, 0.81, 0.97, 0.8) for value in (0.9, 0.93)]
    >>> named("correlation")(made[:1]), named("correlation")(made)
    ('correlation 0.90 [0.81, 0.97]', 'lowest correlation 0.90 [0.81, 0.97]')
    """

    def say(parts: Sequence[Component]) -> str:
        part = _least(parts)
        lowest = "lowest " if len(parts) > 1 else ""
        return f"{lowest}{what} {number_text(part.estimate, 2)}{span_text(part)}"

    return say


def slope(parts: Sequence[Component]) -> str:
    """A ratio that is to be 1: of several the one that is farthest from it."""
    part = max(parts, key=lambda one: abs(math.log(max(one.estimate, 1e-9))))
    called = "slope farthest from 1:" if len(parts) > 1 else "calibration slope"
    return f"{called} {number_text(part.estimate, 2)}{span_text(part)}"


def off(parts: Sequence[Component]) -> str:
    """Points too high or too low, of the system that is most off."""
    return f"at most {number_text(abs(_widest(parts).estimate), 2)} points off"


def apart(parts: Sequence[Component]) -> str:
    """Of two to four systems the two that the judge holds least apart."""
    part = min(parts, key=lambda one: one.judge)
    return (
        f"nearest two {number_text(part.judge, 2)} points apart, "
        f"by people {number_text(part.human, 2)}"
    )


def unreversed(parts: Sequence[Component]) -> str:
    """No pair of systems is the wrong way round."""
    margins = [part.margin for part in parts if isinstance(part.margin, float)]
    beyond = f" over {number_text(2 * max(margins), 2)} points apart" if margins else ""
    return f"no pair{beyond} reversed"


def worth(parts: Sequence[Component]) -> str:
    """In humans, what one run tells of one response."""
    least = min((part.judge for part in parts if math.isfinite(part.judge)), default=math.nan)
    if math.isnan(least):
        return ""
    return f"worth {'at least ' if len(parts) > 1 else ''}{humans_text(least)}"


def share(template: str) -> Says:
    """The judge's share, of several the lowest: "finds 62 %", "finds at least 62 %"."""

    def say(parts: Sequence[Component]) -> str:
        shares = [part.estimate if math.isnan(part.judge) else part.judge for part in parts]
        least = "at least " if len(set(shares)) > 1 else ""
        return template.format(share=f"{least}{percent(min(shares))}")

    return say


def right(parts: Sequence[Component]) -> str:
    """Where it is sure, how often people agree: not the share that it claims."""
    shares = [part.estimate for part in parts]
    return f"right in {'at least ' if len(set(shares)) > 1 else ''}{percent(min(shares))}"


def labels(parts: Sequence[Component]) -> str:
    """What a hundred labels count as with its judgements beside them."""
    part = _least(parts)
    ends = f" [{100 * part.low:,.0f}, {100 * part.high:,.0f}]" if math.isfinite(part.low) else ""
    least = "at least " if len(parts) > 1 else ""
    return f"100 count as {least}{100 * part.estimate:,.0f}{ends}"
