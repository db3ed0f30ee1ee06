"""A card a judge: what it may do, what not, what is open, each an interval against its margin."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from voirdire.examining.spec import COMPONENTS, REASONS, THESE, USES
from voirdire.examining.spec.words import decided_together
from voirdire.report.sentences import because, sentence
from voirdire.report.summary import deciding_part
from voirdire.report.words import STATES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.verdict.facts import Component, State, Verdict
    from voirdire.report.answers import JudgeAnswer

#: The drawing's own units: it is as wide as its place on the page.
_WIDE, _HIGH, _PAD = 160.0, 16.0, 6.0
#: Which states a card shows, in this order.
_ORDER: tuple[State, ...] = ("yes", "no", "open", "not tested")


@dataclass(frozen=True, slots=True)
class CardRow:
    """One use of a judge: how its attributes come out, and the one farthest from a yes.

    Attributes
    ----------
    marks : tuple of (sign, tone, state, count)
        Each state that occurs, and on how many attributes.
    glyph : Markup
        The interval against its margin; empty where there is none.
    said : str
        The sentence behind it.
    """

    title: str
    marks: tuple[tuple[str, str, str, int], ...]
    several: bool
    glyph: Markup
    said: str


def card_of(answer: JudgeAnswer) -> tuple[CardRow, ...]:
    """The rows of a judge's card, in the order of the uses; what nobody could test comes last."""
    rows = []
    for use in USES.values():
        own = [one for one in answer.verdicts if (one.use, one.target) == (use.key, THESE)]
        if own:
            rows.append((min(_ORDER.index(one.state) for one in own), _row(use.title, own)))
    # Sorting is stable: within a state the uses stay in their order.
    return tuple(row for _, row in sorted(rows, key=lambda one: one[0] == len(_ORDER) - 1))


def _row(title: str, verdicts: Sequence[Verdict]) -> CardRow:
    counts = {state: sum(one.state == state for one in verdicts) for state in _ORDER}
    marks = tuple(
        (STATES[state].sign, STATES[state].tone, state, count)
        for state, count in counts.items()
        if count
    )
    tested = [one for one in verdicts if one.state != "not tested"] or list(verdicts)
    worst = max(tested, key=lambda one: one.p)
    part = deciding_part(worst)
    several = len(verdicts) > 1
    where = f"{worst.about}: " if several else ""
    if part is None or (part.reason and REASONS[part.reason].instead):
        reason = REASONS[worst.reason].words if worst.reason else ""
        told = next(
            (because(one, worst.kind) for one in worst.components if one.name in worst.deciding),
            reason,
        )
        return CardRow(title, marks, several, Markup(), where + sentence(reason or told))
    # Of an open one the interval says why: the estimate alone may lie where a yes would.
    bare = part if worst.state == "open" else replace(part, low=math.nan, high=math.nan)
    said = where + sentence(because(bare, worst.kind))
    # Where all systems together decided, the interval of one is not what was held to the limit.
    return CardRow(
        title, marks, several, glyph(bare if decided_together(part) else part, said), said
    )


def glyph(part: Component, label: str) -> Markup:
    """An estimate and its interval as an image, over the zone in which a yes has to lie.

    It is told apart without colour: the zone is framed, the estimate is a dot, its interval a line
    with ends.
    """
    zone = _zone(part)
    if zone is None:
        return Markup()
    points = [part.estimate, part.low, part.high, *(end for end in zone if math.isfinite(end))]
    finite = [point for point in points if math.isfinite(point)]
    low, high = min(finite), max(finite)
    spread = (high - low) or abs(high) or 1.0
    low, high = low - 0.15 * spread, high + 0.15 * spread

    def at(value: float) -> float:
        share = (min(max(value, low), high) - low) / (high - low)
        return _PAD + share * (_WIDE - 2 * _PAD)

    middle = _HIGH / 2
    left, right = (
        (0.0 if zone[0] == -math.inf else at(zone[0])),
        (_WIDE if zone[1] == math.inf else at(zone[1])),
    )
    drawn = [
        (
            f'<rect class="zone" x="{left:.1f}" y="1.5" width="{right - left:.1f}" '
            f'height="{_HIGH - 3:.1f}"/>'
        )
    ]
    drawn += [
        f'<path class="limit" d="M{at(end):.1f} 0V{_HIGH:.0f}"/>'
        for end in zone
        if math.isfinite(end)
    ]
    if math.isfinite(part.low) and math.isfinite(part.high):
        ends = "".join(f"M{at(end):.1f} {middle - 3:.1f}v6" for end in (part.low, part.high))
        line = f"M{at(part.low):.1f} {middle:.1f}H{at(part.high):.1f}"
        drawn.append(f'<path class="span" d="{line}{ends}"/>')
    drawn.append(f'<circle class="dot" cx="{at(part.estimate):.1f}" cy="{middle:.1f}" r="3"/>')
    inner = "".join(drawn)
    head = f'<svg class="interval" viewBox="0 0 {_WIDE:.0f} {_HIGH:.0f}" role="img"'
    return Markup(f'{head} aria-label="{escape(label)}">{inner}</svg>')  # noqa: S704 - escaped


def _zone(part: Component) -> tuple[float, float] | None:
    """Where the whole interval has to lie for a yes; None where that is no zone."""
    side = COMPONENTS[part.name].side
    if part.margin is None or side == "none" or not math.isfinite(part.estimate):
        return None
    if isinstance(part.margin, tuple):
        return part.margin
    if side == "above 0":
        return 0.0, math.inf
    if side == "within":
        return -abs(part.margin), abs(part.margin)
    return part.margin, math.inf
