"""Every interval of ICC(C,1), by method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.report.figures._rows import Rows, label_rows, rows_of
from voirdire.report.figures._style import (
    INK,
    RULE,
    SHADE,
    Drawing,
    colour_of,
    finish,
    margins,
    marker_of,
    new_figure,
    styled,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.examining.examination import Examination

_SAID = {
    "f": "F",
    "percentile": "percentile",
    "exact": "exact",
    "bca": "BCa",
}
_LEFT_END = -0.5


def draw(examination: Examination) -> Drawing:
    """One row a judge and attribute; the methods stand above one another in it."""
    rows = rows_of(examination)
    methods = _methods(rows)
    with styled():
        figure = new_figure(rows.height + 0.95)
        axes = figure.subplots()
        margins(figure, left=rows.left, top=0.45, bottom=0.45)
        _draw_bands(axes)
        for at, method in enumerate(methods):
            _draw_method(axes, rows, method, at, len(methods))
        values = [result.icc_c1 for result in rows.results]
        axes.plot(values, rows.places, "|", color=INK, ms=9, mew=1.1, label="estimate", zorder=4)
        label_rows(axes, rows)
        axes.set_xlim(_LEFT_END, 1.0)
        axes.set_xlabel("ICC(C,1)")
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=len(methods) + 1,
                    handletextpad=0.5, columnspacing=1.4, borderaxespad=0.3)  # fmt: skip
    return finish(
        figure,
        "forest",
        "All intervals of ICC(C,1)",
        f"Beside the F interval stand bootstrap intervals over {examination.units}, which are "
        "known to be too short where these are few. Shading marks the bands of Koo and Li from "
        f"0.50, 0.75 and 0.90; an arrowhead means that the interval goes on to the left.{rows.cut}",
    )


def _methods(rows: Rows) -> list[str]:
    found = {i.interval.method for result in rows.results for i in result.ci if i.form == "C,1"}
    return [name for name in _SAID if name in found]


def _draw_bands(axes: Any) -> None:
    for low, strength in ((0.5, 0.55), (0.75, 1.0), (0.9, 1.6)):
        axes.axvspan(low, 1.0, color=SHADE, alpha=min(strength, 1.0), lw=0, zorder=0)
        axes.axvline(low, color=RULE, lw=0.5, zorder=0)


def _draw_method(axes: Any, rows: Rows, method: str, at: int, count: int) -> None:
    low, high = _bounds(rows, method)
    offset = (at - (count - 1) / 2) * 0.19
    places = np.array(rows.places) + offset
    colour = colour_of(at)
    axes.hlines(places, np.maximum(low, _LEFT_END), high, color=colour, lw=1.3, zorder=3)
    axes.plot(high, places, marker_of(at), color=colour, ms=2.6, label=_SAID[method], zorder=3)
    inside = low >= _LEFT_END
    axes.plot(low[inside], places[inside], marker_of(at), color=colour, ms=2.6, zorder=3)
    cut = low < _LEFT_END
    axes.plot(np.full(cut.sum(), _LEFT_END), places[cut], "<", color=colour, ms=4, clip_on=False)


def _bounds(rows: Rows, method: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    found = [result.interval("C,1", method) for result in rows.results]
    pairs = [(np.nan, np.nan) if i is None else (i.low, i.high) for i in found]
    low, high = np.array(pairs).T
    return low, high
