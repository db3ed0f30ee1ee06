"""Judge and reference side by side: consistency as heat, differences, and the means of systems."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.report.figures.style import (
    COLOURS,
    INK,
    LEGEND_ROW,
    MUTED,
    RULE,
    SHADE,
    WIDTH,
    Drawing,
    colour_of,
    finish,
    hatch_of,
    label_width,
    legend_columns,
    legend_name,
    margins,
    new_figure,
    shorten,
    styled,
)
from voirdire.tabular import number_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.examining.examination import Examination
    from voirdire.examining.ratings.facts import PairResult
    from voirdire.tabular import Section, SectionFigure

_BLUES = ("#f3f7fb", "#a9cce3", "#2e86c1", "#0b3c66")
_BROWNS = ("#fbf6ee", "#f0cf9b", "#cf7f2a", "#6e3305")
#: Inches that a number takes.
_COLUMN = 0.36


def draw_heatmaps(examination: Examination) -> Drawing | None:
    """Two heatmaps side by side, every cell with its number; None where there is none."""
    consistency = _grid(examination, lambda result: result.icc_c1)
    if not np.isfinite(consistency).any():
        return None
    method = _method(examination)
    width = _grid(examination, lambda result: _width(result, method))
    judges = [shorten(name, 22) for name in examination.judges]
    names = [shorten(name, 18) for name in examination.attributes]
    stacked = len(names) > 9  # two heatmaps of more columns do not fit side by side
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
        margins(
            figure,
            left=label_width(judges),
            bottom=slanted,
            top=0.32,
            right=0.1,
            wspace=0.06,
            hspace=0.75,
        )
    return finish(
        figure,
        "heatmaps",
        "Consistency and its uncertainty",
        "Left: ICC(C,1), darker is more consistent. Right: the width of its "
        f"{_said(method)} interval, darker is less certain. A high value with a wide interval is "
        "not evidence of reliability.",
    )


def draw_heat(spec: SectionFigure, section: Section, name: str) -> Drawing:
    """A section's heatmap: a row a series, a column a label; every cell carries its number."""
    values = np.array([own for _, own in spec.series], dtype=float)
    rows = [shorten(series, 22) for series, _ in spec.series]
    columns = [shorten(label, 18) for label in spec.labels]
    top = float(np.max(values, initial=0.0, where=np.isfinite(values)))
    low = min(0.0, float(np.min(values, initial=0.0, where=np.isfinite(values))))
    with styled():
        slanted = 0.12 + 0.6 * label_width(columns)
        wide = label_width(rows) + 0.3 + 1.4 * _COLUMN * len(columns)
        figure = new_figure(0.32 * len(rows) + slanted + 0.5, max(WIDTH, wide))
        axes = figure.subplots()
        _draw_one(axes, values, rows, columns, _BLUES, (low, max(1.0, top)))
        axes.set_title(spec.y)
        margins(figure, left=label_width(rows), bottom=slanted, top=0.32, right=0.1)
    return finish(figure, name, section.title, spec.caption or section.text)


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
        label = number_text(value, 2)
        axes.text(column + 0.5, row + 0.5, label, ha="center", va="center", color=ink, size=7.5)
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


#: More panels are too small to read and take many seconds to draw.
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


def draw_bland_altman(examination: Examination) -> Drawing:
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
        margins(
            figure,
            left=0.5,
            top=0.3 if by_grid else 0.4,
            bottom=0.45,
            wspace=0.08,
            hspace=0.1 if by_grid else 0.4,
            right=WIDTH - 0.5 - size * across,
        )
        for axes, result in zip(panels.flat, shown, strict=False):
            points = pairs.get(examination.results.index(result))
            _draw_panel(axes, result, points, (low, high), limit)
        for axes in panels.flat[len(shown) :]:
            axes.set_visible(False)
        _label(panels, shown, by_grid=by_grid)
        figure.text(
            0.5 / WIDTH,
            0.05 / figure.get_size_inches()[1],
            "mean of judge and reference",
            va="bottom",
            color=MUTED,
        )
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
    parts = examination.rated.pairs.partition_by("result", as_dict=True)
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
        # The root keeps single responses visible beside a full cell.
        np.sqrt(counts),
        cmap=LinearSegmentedColormap.from_list("", _GREYS),
        origin="lower",
        extent=(low, high, -limit, limit),
        aspect="auto",
        interpolation="nearest",
        zorder=0,
    )


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
        axes.annotate(
            shorten(result.judge, 18),
            (1, 0.5),
            (6, 0),
            xycoords="axes fraction",
            textcoords="offset points",
            rotation=-90,
            va="center",
            size=7,
            color=INK,
        )


def _limit(shown: tuple[PairResult, ...], width: float) -> float:
    """Half the height of all panels: wide enough for systems and limits, at most the scale."""
    bounds = [abs(b) for r in shown for b in (r.loa_low, r.loa_high, r.bias) if math.isfinite(b)]
    gaps = [abs(pair.judge - pair.reference) for r in shown for pair in r.systems]
    return min(max(1.15 * max([*bounds, *gaps], default=0.0), 0.4 * width), width)


#: More judges than this make bars too thin to see.
_MOST = 24


def draw_systems(examination: Examination) -> Drawing | None:
    """Grouped bars, one group a system, sorted by the humans' mean; None without systems."""
    overall = {(seen.rater, seen.system): seen.overall for seen in examination.rated.system_means}
    _, judges = examination.raters_of_systems()
    reference = examination.reference_means()
    systems = list(dict.fromkeys(s.system for s in examination.rated.system_means if s.system))
    if not systems or not judges:
        return None
    systems.sort(key=lambda name: -np.nan_to_num(reference[name], nan=-1))
    series = [("reference", [reference[name] for name in systems], INK)]
    series += [
        (judge, [overall.get((judge, name), math.nan) for name in systems], colour_of(at))
        for at, judge in enumerate(judges[:_MOST])
    ]
    low, high = examination.study.rubric.scale
    labels = [shorten(examination.study.system(name).label or name, 20) for name in systems]
    names = [legend_name(name, 22) for name, _, _ in series]
    columns = legend_columns(names)
    with styled():
        slanted = 0.3 + 0.65 * label_width(labels)
        top = 0.28 + LEGEND_ROW * math.ceil(len(names) / columns)
        figure = new_figure(2.2 + slanted + top)
        axes = figure.subplots()
        margins(figure, left=0.45, top=top, bottom=slanted)
        width = 0.82 / len(series)
        for at, (_, values, colour) in enumerate(series):
            x = np.arange(len(systems)) + (at - (len(series) - 1) / 2) * width
            axes.bar(
                x,
                np.array(values) - low,
                width * 0.92,
                bottom=low,
                color=colour,
                lw=0,
                label=names[at],
                hatch=hatch_of(at - 1) if at else "",
            )
        axes.set_ylim(low, high)
        axes.set_xlim(-0.6, len(systems) - 0.4)
        axes.grid(axis="y")
        axes.spines["left"].set_visible(False)
        axes.set_xticks(
            range(len(systems)), labels, rotation=35, ha="right", rotation_mode="anchor"
        )
        axes.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1.0),
            ncols=columns,
            handlelength=1.0,
            columnspacing=1.2,
            borderaxespad=0.3,
        )
    return finish(
        figure,
        "systems",
        "Humans against judges",
        f"Mean score of each system over items and attributes, on the scale of {low:g} to "
        f"{high:g}; sorted by the humans' mean. No system is left out here."
        + (f" The first {_MOST} of {len(judges)} judges are shown." if judges[_MOST:] else ""),
    )
