"""Bias: the reference's mean, the judge's mean, and how far apart they may lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.report.figures._rows import label_rows, rows_of
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
    from voirdire.examining.examination import Examination


def draw(examination: Examination) -> Drawing:
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
        axes.barh(places, 2 * margin, 0.62, human - margin, color=COLOURS[2], alpha=0.28, lw=0,
                  label=f"within ±{margin:.2g} points")  # fmt: skip
        axes.hlines(places, human, judge, color=MUTED, lw=1.2, zorder=2)
        axes.plot(human, places, "o", mfc=HOLLOW, mec=INK, mew=1.1, ms=5, label="reference")
        axes.plot(judge, places, "D", color=COLOURS[1], ms=4.4, label="judge", zorder=3)
        label_rows(axes, rows)
        spread = np.concatenate([human - margin, human + margin, judge])
        known = spread[np.isfinite(spread)]
        if known.size:
            room = 0.03 * (high - low)
            axes.set_xlim(max(known.min(), low) - room, min(known.max(), high) + room)
        axes.grid(axis="x")
        axes.set_xlabel(f"mean score on a scale of {low:g} to {high:g}")
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, handletextpad=0.5,
                    columnspacing=1.4, borderaxespad=0.3)  # fmt: skip
    return finish(
        figure,
        "bias",
        "Bias",
        f"Mean over {examination.units} of the reference (circle) and of the judge (diamond). The "
        "bar marks "
        f"differences of at most {100 * study.margins.bias:g} % of the scale's width; the "
        f"verdict asks that the whole interval of the bias lie in it.{rows.cut}",
    )
