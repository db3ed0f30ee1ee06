"""Has a judge seen what one human said? The slope on what that human alone says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats.response_panel import mean_present

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.stats._arrays import Floats
    from voirdire.stats.response_panel import ResponsePanel
    from voirdire.stats.sums import Jackknifed


def leak(panel: ResponsePanel, humans: Sequence[int], human: int) -> Jackknifed | None:
    """Slope of the judge on what one human alone says: 0 for a judge that has not seen it.

    With rows centred within systems, m the mean of the others and
    l = cov(h, m) / cov(between the others), cut to [.2, 5]: the slope on h - l m, which is
    (cov(j, h) - l cov(j, m)) / var(h - l m). What all humans share falls out even where they differ
    in reliability and spread (vanishing tetrads). None below three humans, or where nothing is left
    of this human once the others are taken out.

    Source: Spearman (1904), American Journal of Psychology 15, 201-293 (tetrads); the project's own
    (VERDICT_KINDS.md, section 5).
    """
    others = [other for other in humans if other != human]
    if len(others) < 2:
        return None
    own = panel.centred(panel.vectors(panel.humans[human]), least=2)
    rest = np.stack([panel.centred(panel.vectors(panel.humans[k]), least=2) for k in others])
    judge = mean_present(
        np.stack([panel.centred(panel.vectors(run), least=2) for run in panel.judge])
    )
    present = ~np.isnan(rest[..., 0])
    filled = np.where(present[..., None], rest, 0.0)
    n, total = present.sum(axis=0), filled.sum(axis=0)
    mean = total / np.maximum(n, 1)[:, None]
    kept = (n > 1) & ~np.isnan(own[:, 0]) & ~np.isnan(judge[:, 0])
    shared = ((total**2).sum(axis=1) - (filled**2).sum(axis=(0, 2))) / 2
    sides = ((judge, own), (judge, mean), (own, mean), (own, own), (mean, mean))
    products = [(x * y).sum(axis=1) for x, y in sides]
    columns = np.stack([*products, shared, n * (n - 1) / 2, np.ones(len(own))], axis=1)
    table = panel.by_cluster(np.where(kept[:, None], columns, 0.0), kept, where=7)
    if len(table) < 3 or not (_left_of(table.total) > 1e-9 * table.total[3]):
        return None
    return table.jackknife(_leaning)


def _loading(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        between = sums[..., 5] / sums[..., 6]
        loading = sums[..., 2] / sums[..., 7] / between
    # Others who share nothing give no loading: the bounds keep it a number.
    return np.clip(np.nan_to_num(loading, nan=1.0, posinf=5.0, neginf=0.2), 0.2, 5.0)


def _left_of(sums: Floats) -> Floats:
    loading = _loading(sums)
    left: Floats = sums[..., 3] - 2 * loading * sums[..., 2] + loading**2 * sums[..., 4]
    return left


def _leaning(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        slope: Floats = (sums[..., 0] - _loading(sums) * sums[..., 1]) / _left_of(sums)
    return slope
