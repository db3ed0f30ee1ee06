"""The figures of a report, as SVG and PNG: those of an Examination, and those of sections."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.report.figures import _estimates, _overviews
from voirdire.report.figures.style import (
    LEGEND_ROW,
    MUTED,
    WIDTH,
    Drawing,
    colour_of,
    finish,
    hatch_of,
    label_width,
    legend_columns,
    legend_name,
    margins,
    marker_of,
    new_figure,
    shorten,
    styled,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire.examining.examination import Examination
    from voirdire.tabular import Section, SectionFigure

__all__ = ["draw_figures", "draw_sections", "save_figures"]

_FIGURES: tuple[Callable[[Examination], Drawing | None], ...] = (
    _overviews.draw_heatmaps,
    _estimates.draw_intervals,
    _estimates.draw_bias,
    _overviews.draw_bland_altman,
    _overviews.draw_systems,
    _estimates.draw_left_out,
    _estimates.draw_exclusion,
)
#: The files that figures may be saved as.
_FILES = re.compile(
    r"(heatmaps|forest|bias|bland_altman|systems|leave_one_out|exclusion|components_\d+|section_\d+(?:_\d+)?)\.(svg|png)"
)


#: Characters up to which labels stand upright.
_PLAIN = 4
_SLANT = math.radians(35)


def draw_figures(examination: Examination) -> tuple[Drawing, ...]:
    """All figures that the examination has data for, those of its sections last."""
    drawn = (draw(examination) for draw in _FIGURES) if examination.results else ()
    own = tuple(drawing for drawing in drawn if drawing is not None)
    parts = _estimates.draw_components(examination) if examination.results else ()
    return (*parts, *own, *draw_sections(examination.sections))


def save_figures(drawings: Sequence[Drawing], folder: Path) -> list[Path]:
    """Write them into a folder of figures, in place of those of an earlier report."""
    if folder.is_dir():
        for path in folder.iterdir():
            # Only what we name so: somebody may keep other pictures there.
            if _FILES.fullmatch(path.name):
                path.unlink()
        if not drawings and not any(folder.iterdir()):
            folder.rmdir()
    if drawings:
        folder.mkdir(exist_ok=True)
    return [path for drawing in drawings for path in drawing.save(folder)]


def draw_sections(sections: Sequence[Section]) -> tuple[Drawing, ...]:
    """The figures that sections specify, each named as the section's table is."""
    drawn = (
        _drawn(figure, section, f"section_{at}" + (f"_{part}" if part > 1 else ""))
        for at, section in enumerate(sections, start=1)
        for part, figure in enumerate(section.figures, start=1)
    )
    return tuple(drawing for drawing in drawn if drawing is not None)


def _drawn(spec: SectionFigure, section: Section, name: str) -> Drawing | None:
    """One figure of a section; None where no value is known."""
    if not spec.labels or not spec.series:
        return None
    values = np.array([own for _, own in spec.series], dtype=float)
    if not np.isfinite(values).any():
        return None
    if spec.kind == "heat":
        return _overviews.draw_heat(spec, section, name)
    labels = [shorten(label, 26) for label in spec.labels]
    slanted = max(map(len, labels)) > _PLAIN
    names = [legend_name(own) for own, _ in spec.series]
    left, columns = _left(labels, slanted=slanted), legend_columns(names)
    rows = math.ceil(len(names) / columns) if any(names) else 0
    top, bottom = 0.15 + LEGEND_ROW * rows, _depth(labels, slanted=slanted) + (0.2 if spec.x else 0)
    with styled():
        figure = new_figure(1.9 + top + bottom)
        axes = figure.subplots()
        margins(figure, left=left, top=top, bottom=bottom)
        if spec.kind == "intervals":
            values = _intervals(axes, spec, names)
        else:
            _PAINT[spec.kind](axes, values, names)
            axes.axhline(0, color=MUTED, lw=0.7)
        _finish_axes(axes, spec, values)
        _set_labels(axes, labels, slanted=slanted)
        if rows:
            axes.legend(
                loc="lower right",
                bbox_to_anchor=(1, 1.0),
                ncols=columns,
                handlelength=1.0,
                columnspacing=1.2,
                borderaxespad=0.3,
            )
    return finish(figure, name, section.title, spec.caption or section.text)


def _stacked(axes: Any, values: NDArray[np.float64], names: list[str]) -> None:
    heights = np.nan_to_num(values)
    bottoms = np.vstack([np.zeros(values.shape[1]), heights.cumsum(axis=0)[:-1]])
    for at, (own, bottom) in enumerate(zip(heights, bottoms, strict=True)):
        _bars(axes, np.arange(len(own)), own, _band(len(own)), at, names[at], bottom=bottom)


def _grouped(axes: Any, values: NDArray[np.float64], names: list[str]) -> None:
    width = _band(values.shape[1]) / len(values)
    for at, own in enumerate(values):
        x = np.arange(len(own)) + (at - (len(values) - 1) / 2) * width
        _bars(axes, x, own, width * 0.92, at, names[at])


def _band(labels: int) -> float:
    """Share of a label's place that its bars take: a single bar does not fill the page."""
    return min(0.82, 0.2 + 0.16 * labels)


def _bars(axes: Any, x: Any, heights: Any, width: float, at: int, name: str, **more: Any) -> None:
    axes.bar(x, heights, width, color=colour_of(at), lw=0, label=name, hatch=hatch_of(at), **more)


def _lines(axes: Any, values: NDArray[np.float64], names: list[str]) -> None:
    for at, own in enumerate(values):
        axes.plot(
            range(len(own)),
            own,
            marker_of(at),
            color=colour_of(at),
            ls="-",
            lw=1.2,
            ms=4.2,
            label=names[at],
        )


def _intervals(axes: Any, spec: SectionFigure, names: list[str]) -> NDArray[np.float64]:
    """Points with their intervals, the series side by side; returns all values and ends."""
    width = _band(len(spec.labels)) / len(spec.series)
    drawn = []
    for at, (_, values) in enumerate(spec.series):
        x = np.arange(len(values)) + (at - (len(spec.series) - 1) / 2) * width
        ends = np.array(spec.ends(at)).T
        axes.vlines(x, *ends, color=colour_of(at), lw=1.4)
        axes.plot(x, values, marker_of(at), color=colour_of(at), ms=4.6, label=names[at])
        drawn += [np.array(values, float)[None], ends]
    return np.concatenate(drawn)


_PAINT = {"bars": _stacked, "grouped_bars": _grouped, "lines": _lines}


def _finish_axes(axes: Any, spec: SectionFigure, values: NDArray[np.float64]) -> None:
    if np.nanmin(values) >= 0 and np.nanmax(values) <= 1:
        axes.set_ylim(0, 1)
    axes.grid(axis="y")
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(spec.x)
    axes.set_ylabel(spec.y)


def _set_labels(axes: Any, labels: list[str], *, slanted: bool) -> None:
    turned = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
    axes.set_xticks(range(len(labels)), labels, **turned)
    axes.set_xlim(-0.6, len(labels) - 0.4)


def _depth(labels: list[str], *, slanted: bool) -> float:
    """Inches under the axis."""
    return 0.2 + math.sin(_SLANT) * label_width(labels) if slanted else 0.3


def _left(labels: list[str], *, slanted: bool) -> float:
    """Inches left of the axis: a slanted label reaches back beyond its own place."""
    step = (WIDTH - 2) / len(labels)
    back = (math.cos(_SLANT) * label_width([s]) - at * step for at, s in enumerate(labels))
    return max(0.6, *back) if slanted else 0.6
