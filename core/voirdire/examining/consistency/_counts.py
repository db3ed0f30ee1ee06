"""How often each label was named for each item, and the most often named one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.examining.consistency._runs import LabelRuns


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of one rater over its runs, items in their order.

    `named`, `open` and `first` have shape (items, labels): runs that name the label, runs in which
    it is missing, runs that rank it first. `answered` and `silent` have shape (items,): runs with
    every label known, and those of them that name none at all.
    """

    items: pl.Series
    runs: int
    named: NDArray[np.int64]
    open: NDArray[np.int64]
    first: NDArray[np.int64]
    answered: NDArray[np.int64]
    silent: NDArray[np.int64]


def counts_of(runs: LabelRuns, rater: str) -> Counts:
    """Count one rater's labels."""
    cells = runs.cells(rater)
    known = (cells >= 0).all(axis=2)
    shape = cells.shape[:2]
    first = runs.of(rater)["first"].fill_null(-1).to_numpy().reshape(shape)
    firsts = np.stack([(first == at).sum(axis=1) for at in range(len(runs.labels))], axis=1)
    return Counts(
        items=runs.items(rater),
        runs=shape[1],
        named=(cells == 1).sum(axis=1),
        open=(cells < 0).sum(axis=1),
        first=firsts,
        answered=known.sum(axis=1),
        silent=(known & (cells != 1).all(axis=2)).sum(axis=1),
    )


def label_counts(runs: LabelRuns) -> pl.DataFrame:
    """Runs that name each label of each item.

    Returns
    -------
    polars.DataFrame
        ``rater, item, label, count, missing``: `missing` runs say nothing of the label.
    """
    parts = []
    for rater in runs.raters:
        found = counts_of(runs, rater)
        n, q = found.named.shape
        parts.append(
            pl.DataFrame(
                {
                    "item": found.items.gather(np.repeat(np.arange(n), q)),
                    "label": pl.Series(runs.labels).gather(np.tile(np.arange(q), n)),
                    "count": found.named.ravel(),
                    "missing": found.open.ravel(),
                }
            ).select(pl.lit(rater).alias("rater"), pl.all())
        )
    return pl.concat(parts)


def largest_counts(runs: LabelRuns) -> pl.DataFrame:
    """How often the most often named label of an item was named (figure 2 of Sharma et al.).

    Returns
    -------
    polars.DataFrame
        ``rater, largest, items, share, at_least`` (share of items whose largest count is this or
        more), ``incomplete`` (items among them with a run that says nothing, whose count may be too
        low). Shares are of all items of the rater.
    """
    parts = []
    for rater in runs.raters:
        found = counts_of(runs, rater)
        largest = found.named.max(axis=1, initial=0)
        tally = np.bincount(largest, minlength=found.runs + 1)
        gaps = np.bincount(largest[found.answered < found.runs], minlength=found.runs + 1)
        n = max(len(largest), 1)
        parts.append(
            pl.DataFrame(
                {
                    "rater": [rater] * len(tally),
                    "largest": np.arange(len(tally)),
                    "items": tally,
                    "share": tally / n,
                    "at_least": tally[::-1].cumsum()[::-1] / n,
                    "incomplete": gaps,
                }
            )
        )
    return pl.concat(parts)
