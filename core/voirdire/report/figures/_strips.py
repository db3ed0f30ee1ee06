"""How much one system matters: ICC(C,1) with each system left out in turn."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from voirdire.report.figures._rows import Rows, label_rows, rows_of
from voirdire.report.figures._style import (
    COLOURS,
    INK,
    MUTED,
    Drawing,
    finish,
    margins,
    new_figure,
    shorten,
    styled,
)

if TYPE_CHECKING:
    from voirdire.examining.examination import Examination

#: A system is named where leaving it out moves the ICC by this much.
_NAMED = 0.05


def draw(examination: Examination) -> Drawing | None:
    """One strip a judge and attribute; None where nothing was left out."""
    rows = rows_of(examination)
    if not any(result.loo_c1 for result in rows.results):
        return None
    with styled():
        figure = new_figure(rows.height + 0.95)
        axes = figure.subplots()
        margins(figure, left=rows.left, top=0.45, bottom=0.45, right=0.3)
        points = [
            (value, place)
            for result, place in zip(rows.results, rows.places, strict=True)
            for value in result.loo_c1.values()
            if math.isfinite(value)
        ]
        if points:
            axes.plot(*zip(*points, strict=True), "o", color=COLOURS[0], alpha=0.55, ms=3.6, mew=0,
                      label="one system left out")  # fmt: skip
        axes.plot([r.icc_c1 for r in rows.results], rows.places, "|", color=INK, ms=9, mew=1.2,
                  label="all systems")  # fmt: skip
        _leave_room(axes, [*(value for value, _ in points), *(r.icc_c1 for r in rows.results)])
        label_rows(axes, rows)
        _name_extremes(axes, rows, examination)
        axes.grid(axis="x")
        axes.set_xlabel("ICC(C,1)")
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, borderaxespad=0.3)
    return finish(
        figure,
        "leave_one_out",
        "Leave one system out",
        "Each dot is the ICC(C,1) of the remaining systems. A dot far from the line means that "
        "the value hangs on a single system, which is named where it moves the ICC by 0.05 or "
        f"more.{rows.cut}",
    )


def _leave_room(axes: Any, values: list[float]) -> None:
    """Room for names on both sides."""
    known = [value for value in values if math.isfinite(value)]
    if known:
        low, high = min(known), max(*known, 1.0)
        width = max(high - low, _NAMED)
        axes.set_xlim(low - 0.22 * width, high + 0.18 * width)


def _name_extremes(axes: Any, rows: Rows, examination: Examination) -> None:
    """The system whose absence moves the value most."""
    for result, place in zip(rows.results, rows.places, strict=True):
        known = {name: v for name, v in result.loo_c1.items() if math.isfinite(v)}
        if not known:
            continue
        name = max(known, key=lambda system: abs(known[system] - result.icc_c1))
        shift = known[name] - result.icc_c1
        if abs(shift) >= _NAMED:
            label = shorten(examination.study.system(name).label or name, 18)
            axes.annotate(
                label, (known[name], place), (-4 if shift < 0 else 4, 0),
                textcoords="offset points", ha="right" if shift < 0 else "left", va="center",
                size=6.2, color=MUTED,
            )  # fmt: skip
