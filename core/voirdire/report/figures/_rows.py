"""Rows of a figure with one line a judge and attribute, attributes in groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voirdire.report.figures._style import INK, MUTED, RULE, label_width, shorten

if TYPE_CHECKING:
    from voirdire.examining.examination import Examination, PairResult

ROW_HEIGHT = 0.22
#: More would make a picture of many pages.
_MOST = 240


@dataclass(frozen=True, slots=True)
class Rows:
    """Results in drawing order with their places on the vertical axis (downwards)."""

    results: tuple[PairResult, ...]
    places: tuple[float, ...]
    groups: tuple[tuple[str, float], ...]
    cut: str = ""

    @property
    def height(self) -> float:
        """Inches that the rows take."""
        return ROW_HEIGHT * (len(self.results) + len(self.groups) * 1.15)

    @property
    def left(self) -> float:
        """Inches that the labels take."""
        judges = [shorten(result.judge) for result in self.results]
        heads = [shorten(name, 32) for name, _ in self.groups]
        return max(label_width(judges), label_width(heads) * 0.95)


def rows_of(examination: Examination) -> Rows:
    """Results by attribute and within it by judge; `cut` says it where there are too many."""
    order = examination.attributes.index
    results = sorted(examination.results, key=lambda result: order(result.attribute))[:_MOST]
    places, groups = [], []
    place, attribute = -0.15, None
    for result in results:
        if result.attribute != attribute:
            attribute = result.attribute
            place += 0.15
            groups.append((attribute, place))
            place += 1.0
        places.append(place)
        place += 1.0
    total = len(examination.results)
    cut = f" The first {_MOST} of {total:,} rows are shown." if total > _MOST else ""
    return Rows(tuple(results), tuple(places), tuple(groups), cut)


def label_rows(axes: Any, rows: Rows) -> None:
    """Judges as tick labels, attributes as headings, a hair line under each row."""
    axes.set_yticks(rows.places, [shorten(result.judge) for result in rows.results])
    axes.set_ylim(rows.places[-1] + 0.8, -0.7)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", labelcolor=MUTED, pad=4)
    for name, place in rows.groups:
        axes.annotate(
            shorten(name, 32), (0, place), (-6, 0), xycoords=("axes fraction", "data"),
            textcoords="offset points", ha="right", va="center", weight="bold", color=INK,
        )  # fmt: skip
    axes.hlines(
        rows.places, 0, 1, transform=axes.get_yaxis_transform(), color=RULE, lw=0.4, zorder=0
    )
