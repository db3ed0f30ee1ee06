"""One judge beside humans, response by response: the arrays that the verdict's statistics take."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import Floats, numbers, row_names
from voirdire.stats.sums import summed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Codes = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class ResponsePanel:
    """Responses that at least one human and the judge scored.

    Attributes
    ----------
    judge : (K runs, N) float64
        NaN is missing.
    humans : (R, N) float64
        The same.
    system, item, cluster : (N,) intp
        Positions in `systems`, items and `clusters`; without systems there is one.
    systems, clusters : (S,), (G,) arrays
        Their names.
    categories : (q,) float64 or None
        Codes of labels without an order; None for numbers.
    left_out : int
        Responses without a human's or the judge's score.
    """

    judge: Floats
    humans: Floats
    system: Codes
    item: Codes
    cluster: Codes
    systems: NDArray[Any]
    clusters: NDArray[Any]
    categories: Floats | None = None
    left_out: int = 0

    @classmethod
    def of(
        cls,
        judge: Any,
        humans: Any,
        *,
        systems: Any = None,
        items: Any = None,
        clusters: Any = None,
        nominal: bool = False,
    ) -> ResponsePanel:
        """Check the arrays and keep the responses that both sides scored.

        Parameters
        ----------
        judge : array-like, shape (n,) or (n, runs)
            Scores, or codes of labels; NaN or None is missing.
        humans : array-like, shape (n,) or (n, humans)
            The same.
        systems, items, clusters : array-like, shape (n,), optional
            Names. Without items each response is one of its own; without clusters items are.
        nominal : bool
            Whether scores are codes of labels without an order.

        Raises
        ------
        StatisticsError
            Arrays that do not match, are not numbers or infinite; a row without a name.
        """
        given, truth = _table(judge, "judge"), _table(humans, "humans")
        n = given.shape[1]
        if truth.shape[1] != n:
            raise StatisticsError(f"judge has {n} responses, humans have {truth.shape[1]}")
        kept = np.asarray(~np.isnan(given).all(axis=0) & ~np.isnan(truth).all(axis=0))
        names, system = _codes(np.zeros(n) if systems is None else systems, n, "systems", kept)
        found, item = _codes(np.arange(n) if items is None else items, n, "items", kept)
        cluster = item
        if clusters is not None:
            found, cluster = _codes(clusters, n, "clusters", kept)
        truth = truth[:, kept]
        categories = _present(truth) if nominal else None
        return cls(
            given[:, kept], truth, system, item, cluster, names, found, categories,
            int((~kept).sum()),
        )  # fmt: skip

    @property
    def n(self) -> int:
        """Responses."""
        return self.judge.shape[1]

    @property
    def crossed(self) -> bool:
        """Whether an item is answered by about two systems or more, so that its effect shows."""
        return len(self.systems) > 1 and self.n > 0 and self.n / (self.item.max() + 1) >= 1.9

    @property
    def mean_human(self) -> Floats:
        """(N,) mean over the humans present; NaN where none is left."""
        return mean_present(self.humans)

    @property
    def mean_run(self) -> Floats:
        """(N,) mean over the runs present."""
        return mean_present(self.judge)

    def vectors(self, scores: Floats) -> Floats:
        """Scores (..., N) as vectors (..., N, D): one number, or one-hot over the categories."""
        if self.categories is None:
            return scores[..., None]
        found = (scores[..., None] == self.categories).astype(np.float64)
        found[np.isnan(scores)] = np.nan
        return found

    def without_humans(self, left_out: Sequence[int]) -> ResponsePanel:
        """The same, these humans' scores being missing."""
        humans = self.humans.copy()
        humans[list(left_out)] = np.nan
        categories = None if self.categories is None else _present(humans)
        return replace(self, humans=humans, categories=categories)

    def only_humans(self, kept: Sequence[int]) -> ResponsePanel:
        """The same with these humans alone."""
        return replace(self, humans=self.humans[list(kept)])

    def passing(self, gate: float) -> ResponsePanel:
        """The same, scores being 1 at or above the gate and 0 below."""
        return replace(self, judge=passes(self.judge, gate), humans=passes(self.humans, gate))

    def by_cluster(self, columns: Floats, kept: NDArray[np.bool_] | None = None) -> Floats:
        """(G, F) sums of columns (N, F) by cluster, of the rows kept."""
        if kept is None:
            return summed(columns, self.cluster, len(self.clusters))
        return summed(columns[kept], self.cluster[kept], len(self.clusters))


def passes(scores: Floats, gate: float) -> Floats:
    """1 at or above the gate, 0 below, NaN where missing."""
    return np.where(np.isnan(scores), np.nan, (scores >= gate).astype(np.float64))


def mean_present(scores: Floats) -> Floats:
    """The mean over the first axis of what is present; NaN where nothing is."""
    present = ~np.isnan(scores)
    n = present.sum(axis=0)
    total = np.where(present, scores, 0.0).sum(axis=0)
    return np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0)


def centred(
    vectors: Floats, cell: Codes, n_cells: int, *, unbiased: bool = True, least: int = 5
) -> Floats:
    """Vectors (N, D) less their mean in the cell; NaN in cells with fewer than `least`.

    `unbiased` multiplies by sqrt(n / (n - 1)), so that products have the expectation of a
    covariance.
    """
    present = ~np.isnan(vectors).any(axis=1)
    n = np.bincount(cell[present], minlength=n_cells)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = summed(vectors[present], cell[present], n_cells) / n[:, None]
    factor = np.sqrt(n / np.maximum(n - 1, 1)) if unbiased else np.ones(n_cells)
    found = (vectors - mean[cell]) * factor[cell][:, None]
    found[~present | (n[cell] < least)] = np.nan
    return found


def _present(scores: Floats) -> Floats:
    found: Floats = np.unique(scores[~np.isnan(scores)])
    return found


def _codes(values: Any, n: int, name: str, kept: NDArray[np.bool_]) -> tuple[NDArray[Any], Codes]:
    names, codes = np.unique(row_names(values, n, name)[kept], return_inverse=True)
    return names, codes.astype(np.intp)


def _table(values: Any, name: str) -> Floats:
    """(raters, n) from (n,) or (n, raters)."""
    found = numbers(values, name)
    if found.ndim not in {1, 2}:
        raise StatisticsError(f"{name} must be (n,) or (n, raters), got shape {found.shape}")
    if np.isinf(found).any():
        raise StatisticsError(f"{name} must be finite or missing (NaN)")
    return found[None] if found.ndim == 1 else np.ascontiguousarray(found.T)
