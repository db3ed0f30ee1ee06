"""What each use of a judge rests on: components as estimate, interval and margin on one axis."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from voirdire.report._answers import answers, parts_of
from voirdire.report._sentences import COMPONENTS, ITEMS, POINTS
from voirdire.report.figures._style import (
    COLOURS,
    INK,
    MUTED,
    RULE,
    Drawing,
    finish,
    label_width,
    margins,
    new_figure,
    shorten,
    styled,
)

if TYPE_CHECKING:
    from voirdire.examining.examination import Examination
    from voirdire.examining.verdict.facts import Component
    from voirdire.report._answers import Answer

_ACROSS = 7
#: Ratios and counts, which have no place on an axis of shares.
_RATIOS = ("SLOPE", "GAIN", "REVERSE")
_COLOURS = {"yes": COLOURS[2], "no": COLOURS[1], "open": COLOURS[4]}
_ROW = 0.17
#: So many panels side by side need smaller titles.
_MANY = 6


def draw_all(examination: Examination) -> tuple[Drawing, ...]:
    """A figure a judge: a panel an attribute, a row a component."""
    numbered = enumerate(answers(examination), start=1)
    widths = {(e.judge, e.attribute): e.width for e in examination.evidence}
    drawn = (_draw(answer, at, widths) for at, answer in numbered)
    return tuple(drawing for drawing in drawn if drawing is not None)


def _draw(answer: Answer, at: int, widths: dict[tuple[str, str], float]) -> Drawing | None:
    attributes = answer.attributes[:_ACROSS]
    shown = {name: _shown(answer, name) for name in attributes}
    names = [name for name in COMPONENTS if any(name in parts for parts in shown.values())]
    if not names:
        return None
    labels = [COMPONENTS[name] for name in names]
    with styled():
        figure = new_figure(_ROW * len(names) + 0.85)
        panels = figure.subplots(1, len(attributes), sharey=True, squeeze=False)[0]
        margins(figure, left=label_width(labels, 7.0), top=0.3, bottom=0.4, wspace=0.12)
        for axes, attribute in zip(panels, attributes, strict=True):
            width = widths.get((answer.judge, attribute), 1.0)
            for place, name in enumerate(names):
                if name in shown[attribute]:
                    _draw_part(axes, shown[attribute][name], place, width)
            axes.axvline(0, color=RULE, lw=0.6, zorder=0)
            axes.set_xlim(-1.05, 1.05)
            axes.set_ylim(len(names) - 0.4, -0.6)
            axes.set_yticks(range(len(names)), labels, size=7)
            axes.set_title(shorten(attribute, 16), size=7.5 if len(attributes) < _MANY else 6.0)
    more = len(answer.attributes) - len(attributes)
    return finish(
        figure,
        f"components_{at}",
        f"What the verdicts on {answer.name} rest on",
        "Correlations and shares as they are, points as shares of the scale's width. Dots are "
        "estimates, lines their intervals, ticks the margins: a floor, or both ends."
        + (f" The first {_ACROSS} attributes are shown." if more > 0 else ""),
    )


def _shown(answer: Answer, attribute: str) -> dict[str, Component]:
    return {
        part.name: part
        for part in parts_of(answer, attribute)
        if part.name not in _RATIOS and math.isfinite(part.estimate)
    }


def _draw_part(axes: Any, part: Component, place: int, width: float) -> None:
    scale = width if part.name in POINTS else 1.0
    colour = _COLOURS.get(part.state, MUTED)
    low, high = (_within(bound / scale) for bound in (part.low, part.high))
    if math.isfinite(part.low) and math.isfinite(part.high):
        axes.plot((low, high), (place, place), "-", color=colour, lw=1.6, solid_capstyle="butt")
    axes.plot((_within(part.estimate / scale),), (place,), "o", color=colour, ms=3.2, mew=0)
    for end in _ends(part):
        axes.plot((_within(end / scale),), (place,), "|", color=INK, ms=6, mew=0.9)


def _ends(part: Component) -> tuple[float, ...]:
    if part.margin is None:
        return ()
    if isinstance(part.margin, tuple):
        return part.margin
    if part.name in ITEMS:
        return (0.0,)
    return (-part.margin, part.margin) if part.name in POINTS else (part.margin,)


def _within(value: float) -> float:
    """On the axis; what lies beyond stays at its end."""
    return min(max(value, -1.0), 1.0)
