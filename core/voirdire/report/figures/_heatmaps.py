"""ICC(C,1) and the width of its interval, judge by attribute (paper 001, figure 2)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.report.figures._style import (
    MUTED,
    SHADE,
    WIDTH,
    Drawing,
    finish,
    label_width,
    margins,
    new_figure,
    shorten,
    styled,
)
from voirdire.tabular import number_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.examining.examination import Examination, PairResult

_BLUES = ("#f3f7fb", "#a9cce3", "#2e86c1", "#0b3c66")
_BROWNS = ("#fbf6ee", "#f0cf9b", "#cf7f2a", "#6e3305")
#: Inches that a number takes.
_COLUMN = 0.36


def draw(examination: Examination) -> Drawing:
    """Two heatmaps side by side; every cell carries its number."""
    method = _method(examination)
    consistency = _grid(examination, lambda result: result.icc_c1)
    width = _grid(examination, lambda result: _width(result, method))
    judges = [shorten(name, 22) for name in examination.judges]
    names = [shorten(name, 18) for name in examination.attributes]
    stacked = len(names) > 9
    with styled():
        slanted = 0.12 + 0.6 * label_width(names)
        cell = 0.32 * len(judges) + slanted
        wide = label_width(judges) + 0.1 + _COLUMN * len(names)
        figure = new_figure(cell * (2 if stacked else 1) + 0.5, max(WIDTH, wide if stacked else 0))
        grid = {"nrows": 2} if stacked else {"ncols": 2}
        left, right = figure.subplots(**grid)
        _draw_one(left, consistency, judges, names, _BLUES, (0.0, 1.0))
        widest = float(np.max(width, initial=1.0, where=np.isfinite(width)))
        _draw_one(right, width, judges, names, _BROWNS, (0.0, widest))
        left.set_title("ICC(C,1)")
        right.set_title(f"Width of its {_said(method)} interval")
        if not stacked:
            right.set_yticklabels([])
        margins(figure, left=label_width(judges), bottom=slanted, top=0.32, right=0.1,
                wspace=0.06, hspace=0.75)  # fmt: skip
    return finish(
        figure,
        "heatmaps",
        "Consistency and its uncertainty",
        "Left: ICC(C,1), darker is more consistent. Right: the width of its "
        f"{_said(method)} interval, darker is less certain. A high value with a wide interval is "
        "not evidence of reliability.",
    )


def _draw_one(
    axes: Any,
    values: NDArray[np.float64],
    judges: list[str],
    names: list[str],
    colours: tuple[str, ...],
    limits: tuple[float, float],
) -> None:
    from matplotlib.colors import LinearSegmentedColormap  # noqa: PLC0415 - slow to import

    scale = LinearSegmentedColormap.from_list("", colours)
    low, high = limits
    shade = np.clip((values - low) / (high - low), 0, 1)
    axes.set_facecolor(SHADE)
    axes.pcolormesh(
        np.ma.masked_invalid(shade), cmap=scale, vmin=0, vmax=1, edgecolor="white", lw=1
    )
    for (row, column), value in np.ndenumerate(values):
        ink = MUTED if math.isnan(value) else "#ffffff" if shade[row, column] > 0.55 else "#111111"
        said = number_text(value, 2)
        axes.text(column + 0.5, row + 0.5, said, ha="center", va="center", color=ink,
                  size=7.5)  # fmt: skip
    axes.set_xticks(
        np.arange(len(names)) + 0.5, names, rotation=40, ha="right", rotation_mode="anchor"
    )
    axes.set_yticks(np.arange(len(judges)) + 0.5, judges)
    axes.tick_params(length=0)
    axes.invert_yaxis()
    for spine in axes.spines.values():
        spine.set_visible(False)


def _grid(examination: Examination, of: Any) -> NDArray[np.float64]:
    judges, attributes = examination.judges, examination.attributes
    values = np.full((len(judges), len(attributes)), np.nan)
    for result in examination.results:
        values[judges.index(result.judge), attributes.index(result.attribute)] = of(result)
    return values


def _method(examination: Examination) -> str:
    """The published width is that of the percentile interval."""
    drawn = any(result.interval("C,1", "percentile") for result in examination.results)
    return "percentile" if drawn else "f"


def _width(result: PairResult, method: str) -> float:
    interval = result.interval("C,1", method)
    return math.nan if interval is None else interval.width


def _said(method: str) -> str:
    return "bootstrap" if method == "percentile" else "F"
