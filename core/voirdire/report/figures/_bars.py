"""Every system in the eyes of the humans and of each judge (paper 001, figure 4)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from voirdire.report.figures._style import (
    INK,
    LEGEND_ROW,
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

if TYPE_CHECKING:
    from voirdire.examining.examination import Examination

#: More judges than this make bars too thin to see.
_MOST = 24


def draw(examination: Examination) -> Drawing | None:
    """Grouped bars, one group a system, sorted by the humans' mean; None without systems."""
    overall = {(seen.rater, seen.system): seen.overall for seen in examination.system_means}
    humans, judges = _raters(examination)
    systems = list(dict.fromkeys(s.system for s in examination.system_means if s.system))
    if not systems or not judges:
        return None
    reference = {
        system: _mean([overall.get((human, system), math.nan) for human in humans])
        for system in systems
    }
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
            axes.bar(x, np.array(values) - low, width * 0.92, bottom=low, color=colour, lw=0,
                     label=names[at], hatch=hatch_of(at - 1) if at else "")  # fmt: skip
        axes.set_ylim(low, high)
        axes.set_xlim(-0.6, len(systems) - 0.4)
        axes.grid(axis="y")
        axes.spines["left"].set_visible(False)
        axes.set_xticks(
            range(len(systems)), labels, rotation=35, ha="right", rotation_mode="anchor"
        )
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=columns,
                    handlelength=1.0, columnspacing=1.2, borderaxespad=0.3)  # fmt: skip
    return finish(
        figure,
        "systems",
        "Humans against judges",
        f"Mean score of each system over items and attributes, on the scale of {low:g} to "
        f"{high:g}; sorted by the humans' mean. No system is left out here."
        + (f" The first {_MOST} of {len(judges)} judges are shown." if judges[_MOST:] else ""),
    )


def _raters(examination: Examination) -> tuple[list[str], list[str]]:
    """Reference raters and judges, as far as they rated systems."""
    seen = list(dict.fromkeys(mean.rater for mean in examination.system_means))
    declared = examination.options.get("reference")
    humans = [name for name in seen if name in (declared or ())]
    if not declared:
        humans = [name for name in seen if name not in examination.judges]
    return humans, [name for name in seen if name not in humans]


def _mean(values: list[float]) -> float:
    known = [value for value in values if math.isfinite(value)]
    return sum(known) / len(known) if known else math.nan
