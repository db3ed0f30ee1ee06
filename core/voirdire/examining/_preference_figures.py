"""Figures of preferences: means by part, and shares of comparisons won, tied and lost."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from voirdire.examining._examination import SectionFigure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.preferences import PreferenceCell

#: Beyond this many bars a page shows none legibly; the table stands alone then.
_MOST_BARS = 40
_OUTCOMES = ("win", "tie", "loss")


def overall_cells(cells: Sequence[PreferenceCell]) -> list[PreferenceCell]:
    """The cells of the overall attribute where there is one, else all."""
    return [cell for cell in cells if cell.attribute.casefold() == "overall"] or list(cells)


def means_figure(cells: Sequence[PreferenceCell]) -> SectionFigure:
    """Mean preference of each pair of systems by part, as figure 2 of Zhang et al."""
    names = _series_names(cells)
    parts = list(dict.fromkeys(cell.part for cell in cells))
    means = {(name, cell.part): cell.mean.value for name, cell in zip(names, cells, strict=True)}
    series = dict.fromkeys(names)
    return SectionFigure(
        kind="grouped_bars",
        labels=tuple(parts),
        series=tuple((n, tuple(means.get((n, p), math.nan) for p in parts)) for n in series),
        y="Mean preference",
        caption=f"Above 0 {_sides(cells)} is preferred, below 0 the other.",
    )


def shares_figure(cells: Sequence[PreferenceCell]) -> SectionFigure | None:
    """Shares won, tied and lost, one stacked bar a pair and part, as figure 5 of Zhang et al."""
    if len(cells) > _MOST_BARS:
        return None
    named = zip(_series_names(cells), cells, strict=True)
    return SectionFigure(
        kind="bars",
        labels=tuple(": ".join(filter(None, (cell.part, name))) for name, cell in named),
        series=tuple(
            (outcome, tuple(getattr(cell.outcome, outcome).value for cell in cells))
            for outcome in _OUTCOMES
        ),
        y="Share of comparisons",
        caption=f"Won, tied and lost by {_sides(cells)}.",
    )


def _sides(cells: Sequence[PreferenceCell]) -> str:
    against = {cell.system_b for cell in cells}
    return f"the system named, against {against.pop()}," if len(against) == 1 else "the first named"


def _series_names(cells: Sequence[PreferenceCell]) -> list[str]:
    """What tells the cells apart: systems, and raters and attributes where there are several."""
    against, raters, attributes = (
        len({getattr(cell, name) for cell in cells}) > 1
        for name in ("system_b", "rater", "attribute")
    )
    return [
        ", ".join(
            (
                f"{cell.system_a} vs {cell.system_b}" if against else cell.system_a,
                *((cell.rater,) if raters else ()),
                *((cell.attribute,) if attributes else ()),
            )
        )
        for cell in cells
    ]
