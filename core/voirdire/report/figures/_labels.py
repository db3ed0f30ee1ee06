"""kappa_F1 of every configuration, label set and task."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from voirdire.report.figures._style import (
    HOLLOW,
    LEGEND_ROW,
    MUTED,
    RULE,
    Drawing,
    colour_of,
    finish,
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
    import polars as pl

_ROW = 0.19


def draw(frame: pl.DataFrame, level: float) -> Drawing:
    """One row a configuration and task, one marker a label set."""
    rows = list(dict.fromkeys(frame.select("task", "configuration").sort("task").iter_rows()))
    sets = frame["labels"].unique(maintain_order=True).to_list()
    labels = [f"{shorten(name, 30)}, {task}" for task, name in rows]
    with styled():
        columns = legend_columns(list(map(legend_name, sets)))
        top = 0.18 + LEGEND_ROW * math.ceil(len(sets) / columns)
        figure = new_figure(0.5 + top + _ROW * max(len(sets), 1.6) * len(rows))
        axes = figure.subplots()
        margins(figure, left=label_width(labels), top=top, bottom=0.45)
        axes.axvline(0, color=MUTED, lw=0.9, ls=(0, (4, 2)))
        for at, row in enumerate(rows):
            axes.axhline(at, color=RULE, lw=0.5, zorder=0)
            _draw_row(axes, frame, row, at, sets)
        axes.set_yticks(range(len(rows)), labels)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlabel("kappa_F1")
        axes.spines["left"].set_visible(False)
        if any(sets):
            handles = [_handle(axes, at, name) for at, name in enumerate(sets)]
            axes.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1.0),
                        ncols=columns, borderaxespad=0.3)  # fmt: skip
    return finish(
        figure,
        "labels",
        "Results on different data, side by side",
        "0 is what chance scores on the same class shares, 1 is perfect. Lines are "
        f"{100 * level:g}% intervals over test items; a hollow marker is a printed result without "
        "items.",
    )


def _draw_row(
    axes: Any, frame: pl.DataFrame, row: tuple[str, str], at: int, sets: list[str]
) -> None:
    import polars as pl  # noqa: PLC0415 - the frame is there already

    own = frame.filter((pl.col("task") == row[0]) & (pl.col("configuration") == row[1]))
    for cell in own.iter_rows(named=True):
        if cell["kappa"] is None:
            continue
        place = sets.index(cell["labels"])
        y = at + (place - (len(sets) - 1) / 2) * 0.6 / max(len(sets), 1)
        colour, known = colour_of(place), cell["kappa_low"] is not None
        if known:
            axes.hlines(y, cell["kappa_low"], cell["kappa_high"], color=colour, lw=1.3)
        axes.plot(cell["kappa"], y, marker_of(place), color=colour, ms=4.2,
                  mfc=colour if known else HOLLOW)  # fmt: skip


def _handle(axes: Any, at: int, name: str) -> Any:
    return axes.plot(
        [], [], marker_of(at), color=colour_of(at), ms=4.2, label=legend_name(name) or "–"
    )[0]
