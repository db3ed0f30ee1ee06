"""Bland and Altman's plots: systems as points, the responses behind them as shading."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.report.figures._style import (
    COLOURS,
    INK,
    MUTED,
    RULE,
    WIDTH,
    Drawing,
    finish,
    margins,
    new_figure,
    shorten,
    styled,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.examining.examination import Examination, PairResult

_MOST_PANELS = 60
_ACROSS = 7
_GREYS = ("#ffffff00", "#0072b299")
_CAPTIONS = {
    "systems": "Points are systems (mean of judge and reference across, judge minus reference "
    "upwards); the full line is the bias, the dashed lines are the limits of agreement at system "
    "level. Shading shows single responses, which scatter far more.",
    "responses": "Shading shows single responses (mean of judge and reference across, judge minus "
    "reference upwards); the full line is the bias, the dashed lines are the limits of agreement.",
}


def draw(examination: Examination) -> Drawing:
    """A panel a judge and attribute: difference against mean."""
    judges, attributes = examination.judges, examination.attributes
    across = min(len(attributes), _ACROSS)
    order = sorted(
        examination.results,
        key=lambda r: (judges.index(r.judge), attributes.index(r.attribute)),
    )
    shown = tuple(order[:_MOST_PANELS])
    by_grid = len(attributes) <= _ACROSS and len(shown) == len(judges) * len(attributes)
    down = len(judges) if by_grid else math.ceil(len(shown) / across)
    pairs = _pairs_of(examination)
    low, high = examination.study.rubric.scale
    limit = _limit(shown, high - low)
    with styled():
        size = min((WIDTH - 0.85) / across, 1.9)
        tall = max(min(size, 1.6), 1.0)
        figure = new_figure(down * (tall if by_grid else tall + 0.28) + 0.85)
        panels = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
        margins(figure, left=0.5, top=0.3 if by_grid else 0.4, bottom=0.45, wspace=0.08,
                hspace=0.1 if by_grid else 0.4, right=WIDTH - 0.5 - size * across)  # fmt: skip
        for axes, result in zip(panels.flat, shown, strict=False):
            points = pairs.get(examination.results.index(result))
            _draw_panel(axes, result, points, (low, high), limit)
        for axes in panels.flat[len(shown) :]:
            axes.set_visible(False)
        _label(panels, shown, by_grid=by_grid)
        figure.text(0.5 / WIDTH, 0.05 / figure.get_size_inches()[1], "mean of judge and reference",
                    va="bottom", color=MUTED)  # fmt: skip
        figure.text(0.008, 0.5, "judge − reference", rotation=90, va="center", color=MUTED)
    more = len(examination.results) - len(shown)
    return finish(
        figure,
        "bland_altman",
        "Bland-Altman plots",
        _CAPTIONS[examination.units]
        + (f" The first {len(shown)} of {len(examination.results)} are shown." if more else ""),
    )


def _pairs_of(examination: Examination) -> dict[int, NDArray[np.float64]]:
    """Position of a result -> (P, 2) reference and judge."""
    if examination.pairs is None:
        return {}
    parts = examination.pairs.partition_by("result", as_dict=True)
    return {int(at): part.select("reference", "score").to_numpy() for (at,), part in parts.items()}


def _draw_panel(
    axes: Any,
    result: PairResult,
    pairs: NDArray[np.float64] | None,
    scale: tuple[float, float],
    limit: float,
) -> None:
    axes.axhline(0, color=RULE, lw=0.7)
    if pairs is not None and len(pairs):
        _shade(axes, pairs, scale, limit)
    if math.isfinite(result.bias):
        axes.axhline(result.bias, color=COLOURS[1], lw=0.9)
        for bound in (result.loa_low, result.loa_high):
            axes.axhline(bound, color=COLOURS[1], lw=0.7, ls=(0, (3, 2)))
    means = [(pair.reference + pair.judge) / 2 for pair in result.systems]
    gaps = [pair.judge - pair.reference for pair in result.systems]
    axes.plot(means, gaps, "o", color=INK, ms=2.4, mew=0)
    axes.set_xlim(*scale)
    axes.set_ylim(-limit, limit)
    axes.tick_params(labelsize=6.5)


def _shade(axes: Any, pairs: NDArray[np.float64], scale: tuple[float, float], limit: float) -> None:
    """Counts of responses as one small image: vectors would weigh megabytes."""
    from matplotlib.colors import LinearSegmentedColormap  # noqa: PLC0415 - slow to import

    low, high = scale
    mean, gap = pairs.mean(axis=1), pairs[:, 1] - pairs[:, 0]
    counts, _, _ = np.histogram2d(gap, mean, bins=(21, 17), range=((-limit, limit), (low, high)))
    axes.imshow(
        np.sqrt(counts), cmap=LinearSegmentedColormap.from_list("", _GREYS), origin="lower",
        extent=(low, high, -limit, limit), aspect="auto", interpolation="nearest", zorder=0,
    )  # fmt: skip


def _label(panels: Any, shown: tuple[PairResult, ...], *, by_grid: bool) -> None:
    if not by_grid:
        for axes, result in zip(panels.flat, shown, strict=False):
            title = f"{shorten(result.judge, 17)}\n{shorten(result.attribute, 17)}"
            axes.set_title(title, size=5.8, linespacing=1.25)
        return
    across = panels.shape[1]
    for axes, result in zip(panels[0], shown, strict=False):
        axes.set_title(shorten(result.attribute, 16), size=7.5)
    for axes, result in zip(panels[:, -1], shown[::across], strict=False):
        axes.annotate(shorten(result.judge, 18), (1, 0.5), (6, 0), xycoords="axes fraction",
                      textcoords="offset points", rotation=-90, va="center", size=7,
                      color=INK)  # fmt: skip


def _limit(shown: tuple[PairResult, ...], width: float) -> float:
    """Half the height of all panels: wide enough for systems and limits, at most the scale."""
    bounds = [abs(b) for r in shown for b in (r.loa_low, r.loa_high, r.bias) if math.isfinite(b)]
    gaps = [abs(pair.judge - pair.reference) for r in shown for pair in r.systems]
    return min(max(1.15 * max([*bounds, *gaps], default=0.0), 0.4 * width), width)
