"""Has a judge seen what one human said, or what all of them did?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats.response_panel import mean_present
from voirdire.stats.sums import ClusterSums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats
    from voirdire.stats.response_panel import ResponsePanel
    from voirdire.stats.sums import Jackknifed


def leak(panel: ResponsePanel, humans: Sequence[int], human: int) -> Jackknifed | None:
    """How far a judge follows what one human alone says, and by how much more than the others.

    With rows centred within systems, m the mean of the others and
    l = cov(h, m) / cov(between the others), cut to [.2, 5]: first the slope on h - l m, which is
    (cov(j, h) - l cov(j, m)) / var(h - l m). What all humans share falls out even where they differ
    in reliability and spread (vanishing tetrads). Two of the others who share errors of their own
    break the tetrads just as well, and only then the judge follows this human no more than them:
    hence second cov(j, h) / sd(h) less its mean over the others, over the judge's own deviation.

    Returns
    -------
    Jackknifed or None
        (2,) slope and difference of correlations: both lie above 0 for a judge that has seen what
        this human says. None below three humans, or where nothing is left of this human once the
        others are taken out.

    Source: Spearman (1904), American Journal of Psychology 15, 201-293 (tetrads); the project's own
    (VERDICT_KINDS.md, section 5).
    """
    return leaks(panel, humans, [human])[0]


def leaks(
    panel: ResponsePanel, humans: Sequence[int], each: Sequence[int]
) -> list[Jackknifed | None]:
    """`leak` of each of these humans; what all of them need is computed once."""
    if len(humans) < 3 and set(each) <= set(humans):
        return [None] * len(each)
    everyone = sorted({*humans, *each})
    cells = np.stack([panel.centred(panel.vectors(panel.humans[k]), least=2) for k in everyone])
    judge = mean_present(
        np.stack([panel.centred(panel.vectors(run), least=2) for run in panel.judge])
    )
    beside = _JudgeBeside(panel, judge, cells)
    return [
        _leak(beside, everyone.index(k), [everyone.index(h) for h in humans if h != k])
        for k in each
    ]


class _JudgeBeside:
    """The judge beside each human: products, squares and presence, and their sums by cluster."""

    def __init__(self, panel: ResponsePanel, judge: Floats, cells: Floats) -> None:
        self.panel, self.judge, self.cells = panel, judge, cells
        self.present = ~np.isnan(cells[..., 0])
        self.filled = np.where(self.present[..., None], cells, 0.0)
        self.columns = np.concatenate(
            [(judge * self.filled).sum(axis=2), (self.filled**2).sum(axis=2), self.present * 1.0]
        )
        self._sums: dict[bytes, Floats] = {}

    def sums(self, columns: Floats, kept: NDArray[np.bool_], others: list[int]) -> ClusterSums:
        """Columns, the ninth of which counts, and behind them those of these humans."""
        many = len(self.cells)
        of = [part * many + other for part in range(3) for other in others]
        if self.panel.counted is not None:
            every = np.concatenate([columns, self.columns[of]]).T
            return self.panel.by_cluster(np.where(kept[:, None], every, 0.0), kept, where=8)
        # Where everybody rated everything the rows are the same for all humans, and summed once.
        key = kept.tobytes()
        if key not in self._sums:
            rows = np.where(kept, self.columns, 0.0).T
            self._sums = {key: self.panel.by_cluster(rows, kept).table}
        own = self.panel.by_cluster(np.where(kept, columns, 0.0).T, kept)
        table = np.concatenate([own.table, self._sums[key][:, of]], axis=1)
        return ClusterSums(own.clusters, table).where(8)


def _leak(beside: _JudgeBeside, human: int, others: list[int]) -> Jackknifed | None:
    if len(others) < 2:
        return None
    judge, own = beside.judge, beside.cells[human]
    present, filled = beside.present[others], beside.filled[others]
    n, total = present.sum(axis=0), filled.sum(axis=0)
    mean = total / np.maximum(n, 1)[:, None]
    kept = (n > 1) & ~np.isnan(own[:, 0]) & ~np.isnan(judge[:, 0])
    shared = ((total**2).sum(axis=1) - (filled**2).sum(axis=(0, 2))) / 2
    sides = ((judge, own), (judge, mean), (own, mean), (own, own), (mean, mean), (judge, judge))
    products = [(x * y).sum(axis=1) for x, y in sides]
    columns = np.stack([*products, shared, n * (n - 1) / 2, np.ones(len(own))])
    table = beside.sums(columns, kept, others)
    if len(table) < 3 or not (_left_of(table.total) > 1e-9 * table.total[3]):
        return None
    return table.jackknife(lambda sums: np.stack([_leaning(sums), _beyond(sums)], axis=-1))


def lead(panel: ResponsePanel, human: int, others: Sequence[int]) -> Jackknifed | None:
    """Slope of the judge on what one human says less what the others on the response do.

    cov(j, h - g) / var(h - g), all within systems: 0 for a judge that follows both alike, and half
    the share of one's judgements that are copies. One human may also be better than the others,
    which lifts the slope of a judge that has seen nothing: it can warn, and not accuse. None where
    they never differ.
    """
    own, *theirs = (
        panel.centred(panel.vectors(panel.humans[k]), least=2) for k in (human, *others)
    )
    beside = mean_present(np.stack(theirs))
    judge = mean_present(
        np.stack([panel.centred(panel.vectors(run), least=2) for run in panel.judge])
    )
    apart = own - beside
    kept = ~np.isnan(apart[:, 0]) & ~np.isnan(judge[:, 0])
    columns = np.stack(
        [(judge * apart).sum(axis=1), (apart**2).sum(axis=1), np.ones(len(own))], axis=1
    )
    table = panel.by_cluster(np.where(kept[:, None], columns, 0.0), kept, where=2)
    if len(table) < 3 or not table.total[1] > 0:
        return None
    return table.jackknife(lambda sums: np.asarray(sums[..., 0] / sums[..., 1]))


def _loading(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        between = sums[..., 6] / sums[..., 7]
        loading = sums[..., 2] / sums[..., 8] / between
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


def _beyond(sums: Floats) -> Floats:
    """Correlation with this human less the mean of those with the others."""
    beside, squares, n = np.split(sums[..., 9:], 3, axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        others = np.nan_to_num(beside / np.sqrt(squares * n)).mean(axis=-1)
        own = sums[..., 0] / np.sqrt(sums[..., 3] * sums[..., 8])
        beyond: Floats = (own - others) / np.sqrt(sums[..., 5] / sums[..., 8])
    return np.nan_to_num(beyond)


def _summed(
    panel: ResponsePanel,
    products: Floats,
    kept: NDArray[np.bool_],
    there: NDArray[np.bool_],
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]],
) -> ClusterSums:
    """Sums by cluster of the products, and then how many responses are in each."""
    many = len(products)
    if panel.counted is None and kept.all() and there.all():
        whole = np.concatenate([products, np.ones((1, len(kept)))])
        sums = panel.by_cluster(whole.T)
        table = sums.table[:, [*range(many), *[many] * many]]
        return ClusterSums(sums.clusters, table).where(many)
    first, second = pairs
    sizes = np.stack([kept, *(kept & there), *(there[first] & there[second])]) * 1.0
    return panel.by_cluster(np.concatenate([products, sizes]).T, kept, where=many)


def too_close(panel: ResponsePanel, humans: Sequence[int]) -> Jackknifed | None:
    """The squared correlation of the judge with what these humans share: of all, and without each.

    With j_r the covariance of the judge with a human and c_rs that of two humans, all within
    systems: sum(j_r j_s) / sum(c_rs) / var(judge) over pairs of humans. That is at most 1 for
    whoever sees the response alone, whatever the humans' reliabilities and spreads: j_r j_s and
    c_rs hold the same two loadings. Who has seen the answers follows the humans' own errors as
    well. (R + 1,) values: of all, then without each, since one whose lasting view the judge shares
    adds to the products as well. Of two humans there is one value; None below two.

    Source: Spearman (1904), American Journal of Psychology 15, 72-101 (attenuation).
    """
    if len(humans) < 2:
        return None
    run = panel.centred(panel.mean_run[:, None], least=2)[:, 0]
    own = np.stack([panel.centred(panel.humans[k][:, None], least=2)[:, 0] for k in humans])
    there = ~np.isnan(own)
    kept = ~np.isnan(run) & there.any(axis=0)
    judge, scores = np.where(kept, run, 0.0), np.where(there, own, 0.0)
    first, second = np.triu_indices(len(humans), 1)
    products = np.stack([judge**2, *(judge * scores), *(scores[first] * scores[second])])
    table = _summed(panel, products, kept, there, (first, second))
    if len(table) < 3 or not table.total[0] > 1e-9 * len(run):
        return None
    left_out = range(-1, len(humans) if len(humans) > 2 else 0)
    # (pairs, R + 1) of 0 and 1: one product sums the pairs of all, and those without each.
    pairs = np.stack([(first != human) & (second != human) for human in left_out], axis=1) * 1.0

    def closeness(sums: Floats) -> Floats:
        """How near the judge is to two humans, over how near they are to one another."""
        half = sums.shape[-1] // 2
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.nan_to_num(sums[..., :half] / sums[..., half:], posinf=0.0, neginf=0.0)
            beside, shared = means[..., 1 : 1 + len(humans)], means[..., 1 + len(humans) :]
            both = beside[..., first] * beside[..., second]
            # Two humans who share no response tell nothing of one another.
            both = np.where(sums[..., half + 1 + len(humans) :] > 0, both, 0.0)
            return np.asarray(both @ pairs / (shared @ pairs) / means[..., :1])

    return table.jackknife(closeness)
