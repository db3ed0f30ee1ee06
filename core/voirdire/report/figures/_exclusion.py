"""Before and after: what leaving a judge's own systems out does to its ICCs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from voirdire.report.figures._rows import Rows, label_rows, rows_of
from voirdire.report.figures._style import (
    COLOURS,
    HOLLOW,
    INK,
    MUTED,
    Drawing,
    finish,
    margins,
    new_figure,
    styled,
)

if TYPE_CHECKING:
    from voirdire.examining.examination import Examination, PairResult

_FORMS = (("icc_c1", "ICC(C,1)"), ("icc_a1", "ICC(A,1)"))


def draw(examination: Examination) -> Drawing | None:
    """Two panels of dumbbells; None where no judge leaves anything out."""
    rows = rows_of(examination)
    if not any(_before(result, "icc_c1") is not None for result in rows.results):
        return None
    with styled():
        figure = new_figure(rows.height + 0.95)
        panels = figure.subplots(ncols=2)
        margins(figure, left=rows.left, top=0.45, bottom=0.45, wspace=0.08)
        for axes, (key, title) in zip(panels, _FORMS, strict=True):
            _draw_panel(axes, rows, key)
            axes.set_xlabel(title)
        panels[1].set_yticks([])
        for text in panels[1].texts:
            text.set_visible(False)
        panels[0].legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, borderaxespad=0.3)
    return finish(
        figure,
        "exclusion",
        "Before and after exclusion",
        "Hollow: with every system. Filled: without the systems that the judge is told to leave "
        "out because it made them. The gap shows self-preference, or merely what one system fewer "
        f"does.{rows.cut}",
    )


def _draw_panel(axes: Any, rows: Rows, key: str) -> None:
    after = [getattr(result, key) for result in rows.results]
    before = [_before(result, key) for result in rows.results]
    start = [math.nan if value is None else value for value in before]
    axes.hlines(rows.places, start, after, color=MUTED, lw=1.1)
    axes.plot(start, rows.places, "o", mfc=HOLLOW, mec=INK, mew=1.0, ms=4.6, label="all systems")
    axes.plot(after, rows.places, "o", color=COLOURS[0], ms=4.2, label="own systems left out")
    label_rows(axes, rows)
    axes.grid(axis="x")


def _before(result: PairResult, key: str) -> float | None:
    """The value without exclusion, as the examination kept it."""
    kept = result.without_exclusion
    return None if kept is None else float(getattr(kept, key))
