"""Estimates as points and intervals in rows: coefficients and bias, and what each verdict rests on.

All intervals of ICC(C,1); the bias; ICC with each system left out, and before and after exclusion;
the components of the verdicts beside their margins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.examining.spec import COMPONENTS
from voirdire.report.answers import answers, parts_of
from voirdire.report.figures.style import (
    COLOURS,
    HOLLOW,
    INK,
    MUTED,
    RULE,
    SHADE,
    Drawing,
    colour_of,
    finish,
    label_width,
    margins,
    marker_of,
    new_figure,
    shorten,
    styled,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.examining.examination import Examination
    from voirdire.examining.ratings.facts import PairResult
    from voirdire.examining.verdict.facts import Component
    from voirdire.report.answers import JudgeAnswer

ROW_HEIGHT = 0.22
#: More would make a picture of many pages.
_MOST = 240


@dataclass(frozen=True, slots=True)
class DrawnResults:
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


def rows_of(examination: Examination) -> DrawnResults:
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
    return DrawnResults(tuple(results), tuple(places), tuple(groups), cut)


def label_rows(axes: Any, rows: DrawnResults) -> None:
    """Judges as tick labels, attributes as headings, a hair line under each row."""
    axes.set_yticks(rows.places, [shorten(result.judge) for result in rows.results])
    axes.set_ylim(rows.places[-1] + 0.8, -0.7)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", labelcolor=MUTED, pad=4)
    for name, place in rows.groups:
        axes.annotate(
            shorten(name, 32),
            (0, place),
            (-6, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            ha="right",
            va="center",
            weight="bold",
            color=INK,
        )
    axes.hlines(
        rows.places, 0, 1, transform=axes.get_yaxis_transform(), color=RULE, lw=0.4, zorder=0
    )


_SAID = {
    "f": "F",
    "percentile": "percentile",
    "exact": "exact",
    "bca": "BCa",
}
#: An ICC may fall far below 0; intervals are cut here with an arrowhead, or one would squeeze all.
_LEFT_END = -0.5
#: A system is named where leaving it out moves the ICC by this much.
_NAMED = 0.05
_FORMS = (("icc_c1", "ICC(C,1)"), ("icc_a1", "ICC(A,1)"))


def draw_intervals(examination: Examination) -> Drawing | None:
    """One row a judge and attribute; the methods stand above one another in it.

    None where no coefficient is shown.
    """
    rows = rows_of(examination)
    if all(math.isnan(result.icc_c1) for result in rows.results):
        return None
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
        axes.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1.0),
            ncols=len(methods) + 1,
            handletextpad=0.5,
            columnspacing=1.4,
            borderaxespad=0.3,
        )
    return finish(
        figure,
        "forest",
        "All intervals of ICC(C,1)",
        f"Beside the F interval stand bootstrap intervals over {examination.units}, which are "
        "known to be too short where these are few. Shading marks the bands of Koo and Li from "
        f"0.50, 0.75 and 0.90; an arrowhead means that the interval goes on to the left.{rows.cut}",
    )


def _methods(rows: DrawnResults) -> list[str]:
    methods = {i.interval.method for result in rows.results for i in result.ci if i.form == "C,1"}
    return [name for name in _SAID if name in methods]


def _draw_bands(axes: Any) -> None:
    for low, strength in ((0.5, 0.55), (0.75, 1.0), (0.9, 1.6)):
        axes.axvspan(low, 1.0, color=SHADE, alpha=min(strength, 1.0), lw=0, zorder=0)
        axes.axvline(low, color=RULE, lw=0.5, zorder=0)


def _draw_method(axes: Any, rows: DrawnResults, method: str, at: int, count: int) -> None:
    low, high = _bounds(rows, method)
    offset = (at - (count - 1) / 2) * 0.19  # methods side by side within a row's height of 1
    places = np.array(rows.places) + offset
    colour = colour_of(at)
    axes.hlines(places, np.maximum(low, _LEFT_END), high, color=colour, lw=1.3, zorder=3)
    axes.plot(high, places, marker_of(at), color=colour, ms=2.6, label=_SAID[method], zorder=3)
    inside = low >= _LEFT_END
    axes.plot(low[inside], places[inside], marker_of(at), color=colour, ms=2.6, zorder=3)
    cut = low < _LEFT_END
    axes.plot(np.full(cut.sum(), _LEFT_END), places[cut], "<", color=colour, ms=4, clip_on=False)


def _bounds(rows: DrawnResults, method: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    intervals = [result.interval("C,1", method) for result in rows.results]
    pairs = [(np.nan, np.nan) if i is None else (i.low, i.high) for i in intervals]
    low, high = np.array(pairs).T
    return low, high


def draw_bias(examination: Examination) -> Drawing:
    """One row a judge and attribute."""
    rows = rows_of(examination)
    study = examination.study
    low, high = study.rubric.scale
    margin = study.margins.bias * (high - low)
    human = np.array([result.human_mean for result in rows.results])
    judge = np.array([result.judge_mean for result in rows.results])
    places = np.array(rows.places)
    with styled():
        figure = new_figure(rows.height + 0.95)
        axes = figure.subplots()
        margins(figure, left=rows.left, top=0.45, bottom=0.45)
        axes.barh(
            places,
            2 * margin,
            0.62,
            human - margin,
            color=COLOURS[2],
            alpha=0.28,
            lw=0,
            label=f"within ±{margin:.2g} points",
        )
        axes.hlines(places, human, judge, color=MUTED, lw=1.2, zorder=2)
        axes.plot(human, places, "o", mfc=HOLLOW, mec=INK, mew=1.1, ms=5, label="reference")
        axes.plot(judge, places, "D", color=COLOURS[1], ms=4.4, label="judge", zorder=3)
        label_rows(axes, rows)
        spread = np.concatenate([human - margin, human + margin, judge])
        finite = spread[np.isfinite(spread)]
        if finite.size:
            room = 0.03 * (high - low)
            axes.set_xlim(max(finite.min(), low) - room, min(finite.max(), high) + room)
        axes.grid(axis="x")
        axes.set_xlabel(f"mean score on a scale of {low:g} to {high:g}")
        axes.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1.0),
            ncols=3,
            handletextpad=0.5,
            columnspacing=1.4,
            borderaxespad=0.3,
        )
    return finish(
        figure,
        "bias",
        "Bias",
        f"Mean over {examination.units} of the reference (circle) and of the judge (diamond). The "
        "bar marks "
        f"differences of at most {100 * study.margins.bias:g} % of the scale's width; the "
        f"verdict asks that the whole interval of the bias lie in it.{rows.cut}",
    )


def draw_left_out(examination: Examination) -> Drawing | None:
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
            axes.plot(
                *zip(*points, strict=True),
                "o",
                color=COLOURS[0],
                alpha=0.55,
                ms=3.6,
                mew=0,
                label="one system left out",
            )
        axes.plot(
            [r.icc_c1 for r in rows.results],
            rows.places,
            "|",
            color=INK,
            ms=9,
            mew=1.2,
            label="all systems",
        )
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
    finite = [value for value in values if math.isfinite(value)]
    if finite:
        low, high = min(finite), max(*finite, 1.0)
        width = max(high - low, _NAMED)
        axes.set_xlim(low - 0.22 * width, high + 0.18 * width)


def _name_extremes(axes: Any, rows: DrawnResults, examination: Examination) -> None:
    """The system whose absence moves the value most."""
    for result, place in zip(rows.results, rows.places, strict=True):
        coefficients = {name: v for name, v in result.loo_c1.items() if math.isfinite(v)}
        if not coefficients:
            continue
        name = max(coefficients, key=lambda system: abs(coefficients[system] - result.icc_c1))
        shift = coefficients[name] - result.icc_c1
        if abs(shift) >= _NAMED:
            label = shorten(examination.study.system(name).label or name, 18)
            axes.annotate(
                label,
                (coefficients[name], place),
                (-4 if shift < 0 else 4, 0),
                textcoords="offset points",
                ha="right" if shift < 0 else "left",
                va="center",
                size=6.2,
                color=MUTED,
            )


def draw_exclusion(examination: Examination) -> Drawing | None:
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


def _draw_panel(axes: Any, rows: DrawnResults, key: str) -> None:
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


#: Attributes side by side; more would leave no room for an axis each.
_MOST_ATTRIBUTES = 7
#: Ratios and counts have no place on an axis of shares.
_OFF_AXIS = ("ratio", "labels", "pairs")
_STATE_COLOURS = {"yes": COLOURS[2], "no": COLOURS[1], "open": COLOURS[4]}
_COMPONENT_ROW = 0.17
#: So many panels side by side need smaller titles.
_MANY = 6


def draw_components(examination: Examination) -> tuple[Drawing, ...]:
    """A figure a judge: a panel an attribute, a row a component."""
    numbered = enumerate(answers(examination), start=1)
    widths = {(e.judge, e.attribute): e.width for e in examination.evidence}
    drawn = (_draw_judge(answer, at, widths) for at, answer in numbered)
    return tuple(drawing for drawing in drawn if drawing is not None)


def _draw_judge(
    answer: JudgeAnswer, at: int, widths: dict[tuple[str, str], float]
) -> Drawing | None:
    attributes = answer.attributes[:_MOST_ATTRIBUTES]
    shown = {name: _shown(answer, name) for name in attributes}
    names = [name for name in COMPONENTS if any(name in parts for parts in shown.values())]
    if not names:
        return None
    labels = [COMPONENTS[name].title for name in names]
    with styled():
        figure = new_figure(_COMPONENT_ROW * len(names) + 0.85)
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
        + (f" The first {_MOST_ATTRIBUTES} attributes are shown." if more > 0 else ""),
    )


def _shown(answer: JudgeAnswer, attribute: str) -> dict[str, Component]:
    return {
        part.name: part
        for part in parts_of(answer, attribute)
        if COMPONENTS[part.name].unit not in _OFF_AXIS and math.isfinite(part.estimate)
    }


def _draw_part(axes: Any, part: Component, place: int, width: float) -> None:
    scale = width if COMPONENTS[part.name].unit == "points" else 1.0
    colour = _STATE_COLOURS.get(part.state, MUTED)
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
    side = COMPONENTS[part.name].side
    if side == "above 0":
        return (0.0,)
    return (-part.margin, part.margin) if side == "within" else (part.margin,)


def _within(value: float) -> float:
    """On the axis; what lies beyond stays at its end."""
    return min(max(value, -1.0), 1.0)
