"""Every system in the eyes of the humans and of each judge (paper 001, figure 4)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from voirdire.report.figures._style import (
    INK,
    Drawing,
    colour_of,
    finish,
    label_width,
    margins,
    new_figure,
    shorten,
    styled,
)

if TYPE_CHECKING:
    from voirdire.examining._examination import Examination

_HATCHES = ("", "", "", "", "////", "....", "xxxx", "----")


def draw(examination: Examination) -> Drawing | None:
    """Grouped bars, one group a system, sorted by the humans' mean; None without systems."""
    overall = {(seen.rater, seen.system): seen.overall for seen in examination.system_means}
    humans, judges = _raters(examination)
    systems = list(dict.fromkeys(seen.system for seen in examination.system_means))
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
        for at, judge in enumerate(judges)
    ]
    low, high = examination.study.rubric.scale
    labels = [shorten(examination.study.system(name).label or name, 20) for name in systems]
    with styled():
        slanted = 0.3 + 0.65 * label_width(labels)
        figure = new_figure(2.2 + slanted + 0.45)
        axes = figure.subplots()
        margins(figure, left=0.45, top=0.45, bottom=slanted)
        width = 0.82 / len(series)
        for at, (name, values, colour) in enumerate(series):
            x = np.arange(len(systems)) + (at - (len(series) - 1) / 2) * width
            axes.bar(x, np.array(values) - low, width * 0.92, bottom=low, color=colour, lw=0,
                     label=shorten(name, 22), hatch=_HATCHES[at % len(_HATCHES)])  # fmt: skip
        axes.set_ylim(low, high)
        axes.set_xlim(-0.6, len(systems) - 0.4)
        axes.grid(axis="y")
        axes.spines["left"].set_visible(False)
        axes.set_xticks(
            range(len(systems)), labels, rotation=35, ha="right", rotation_mode="anchor"
        )
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=min(len(series), 5),
                    handlelength=1.0, columnspacing=1.2, borderaxespad=0.3)  # fmt: skip
    return finish(
        figure,
        "systems",
        "Humans against judges",
        f"Mean score of each system over items and attributes, on the scale of {low:g} to "
        f"{high:g}; sorted by the humans' mean. No system is left out here.",
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
