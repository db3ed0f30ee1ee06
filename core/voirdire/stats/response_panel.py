"""One judge beside humans, response by response: the arrays that the verdict's statistics take."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.late import dataclass
from voirdire.stats._arrays import Floats, coded, numbers, occurring, row_names
from voirdire.stats.sums import ClusterSums, summed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Codes = NDArray[np.intp]


#: Systems that answer an item, on average, from which on its effect can be told from theirs.
CROSSED = 1.9


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
    table : (P, D) float64 or None
        The vector that each code stands for, where codes are rows of a table (a label: one 1 among
        0s; a set of labels: a 1 for each of its members); None where each category is its own.
    left_out : int
        Responses without a human's or the judge's score.
    counted : ResponseCounts or None
        Where a row stands for many responses that show the same scores, how many, and who knows
        which clusters they lie in.
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
    counted: ResponseCounts | None = None
    table: Floats | None = None

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
        counted: ResponseCounts | None = None,
        table: Floats | None = None,
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
        counted : ResponseCounts, optional
            How many responses each row stands for.
        table : (P, D) array, optional
            The vectors that codes 0 .. P - 1 stand for; then codes are without an order.

        Raises
        ------
        StatisticsError
            Arrays that do not match, are not numbers or infinite; a row without a name.
        """
        given, truth = _by_rater(judge, "judge"), _by_rater(humans, "humans")
        n = given.shape[1]
        if truth.shape[1] != n:
            raise StatisticsError(f"judge has {n} responses, humans have {truth.shape[1]}")
        # One run and one human are enough for a response to count.
        kept = np.asarray(~np.isnan(given).all(axis=0) & ~np.isnan(truth).all(axis=0))
        names, system = _codes(np.zeros(n) if systems is None else systems, n, "systems", kept)
        cluster_names, item = _codes(np.arange(n) if items is None else items, n, "items", kept)
        # Responses to one item share what makes it hard: an item is the least that is resampled.
        cluster = item
        if clusters is not None:
            cluster_names, cluster = _codes(clusters, n, "clusters", kept)
        truth = truth[:, kept]
        categories = _present(truth) if nominal else None
        if table is not None:
            categories = np.arange(len(table), dtype=np.float64)
        left_out = int((~kept).sum()) if counted is None else counted.size(~kept)
        own = None if counted is None else counted.only(kept)
        return cls(
            given[:, kept],
            truth,
            system,
            item,
            cluster,
            names,
            cluster_names,
            categories,
            left_out,
            own,
            table,
        )

    @property
    def n(self) -> int:
        """Responses."""
        return self.judge.shape[1] if self.counted is None else self.size()

    def size(self, kept: NDArray[np.bool_] | None = None) -> int:
        """Responses, or those of the rows kept."""
        if self.counted is None:
            return self.judge.shape[1] if kept is None else int(kept.sum())
        return self.counted.size(kept)

    @property
    def weight(self) -> Floats | None:
        """(N,) responses of each row; None: one each."""
        return None if self.counted is None else self.counted.count

    @property
    def n_clusters(self) -> int:
        """Clusters."""
        return len(self.clusters) if self.counted is None else self.counted.clusters

    @property
    def present_clusters(self) -> int:
        """Clusters with a row."""
        return len(coded(self.cluster)[0]) if self.counted is None else self.counted.clusters

    @property
    def crossed(self) -> bool:
        """Whether an item is answered by about two systems or more, so that its effect shows."""
        if len(self.systems) < 2 or not len(self.item):
            return False
        items = self.item.max() + 1 if self.counted is None else self.counted.items
        return bool(self.n / max(items, 1) >= CROSSED)

    def centred(self, vectors: Floats, *, unbiased: bool = True, least: int = 5) -> Floats:
        """Vectors (N, D) less their mean over the system: see `centred`."""
        return centred(
            vectors,
            self.system,
            len(self.systems),
            unbiased=unbiased,
            least=least,
            weight=self.weight,
        )

    def per_system(self) -> Floats:
        """(S,) responses of each system."""
        n_systems = len(self.systems)
        weights = np.bincount(self.system, weights=self.weight, minlength=n_systems)
        return np.rint(weights.astype(np.float64))

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
        if self.table is not None:
            missing = np.isnan(scores)
            vectors: Floats = self.table[np.where(missing, 0, scores).astype(np.intp)]
            vectors[missing] = np.nan
            return vectors
        # Covariances of one-hot vectors sum to what kappa is made of, whatever the codes.
        indicators = (scores[..., None] == self.categories).astype(np.float64)
        # Missing is no category, and not 0 in all of them.
        indicators[np.isnan(scores)] = np.nan
        return indicators

    def without_humans(self, left_out: Sequence[int]) -> ResponsePanel:
        """The same, these humans' scores being missing."""
        humans = self.humans.copy()
        humans[list(left_out)] = np.nan
        # A label that only these humans gave is no category any more.
        categories = self.categories
        if categories is not None and self.table is None:
            categories = _present(humans)
        return replace(self, humans=humans, categories=categories)

    def only_humans(self, kept: Sequence[int]) -> ResponsePanel:
        """The same with these humans alone."""
        return replace(self, humans=self.humans[list(kept)])

    def passing(self, gate: float) -> ResponsePanel:
        """The same, scores being 1 at or above the gate and 0 below."""
        return replace(self, judge=passes(self.judge, gate), humans=passes(self.humans, gate))

    def label(self, place: int) -> ResponsePanel:
        """The same, scores being 1 where the label of that column is given and 0 elsewhere.

        Raises
        ------
        StatisticsError
            Where codes have no table.
        """
        if self.table is None:
            raise StatisticsError("only codes that are rows of a table have columns of labels")
        column = self.table[:, [place]]
        one = replace(self, table=column)
        judge, humans = (one.vectors(scores)[..., 0] for scores in (self.judge, self.humans))
        return replace(self, judge=judge, humans=humans, categories=None, table=None)

    def only(self, kept: NDArray[np.bool_]) -> ResponsePanel:
        """The rows kept alone, every cluster and system still having its place."""
        return replace(
            self,
            judge=self.judge[:, kept],
            humans=self.humans[:, kept],
            system=self.system[kept],
            item=self.item[kept],
            cluster=self.cluster[kept],
            counted=None if self.counted is None else self.counted.only(kept),
        )

    def by_cluster(
        self,
        columns: Floats,
        kept: NDArray[np.bool_] | None = None,
        *,
        where: int | None = None,
    ) -> ClusterSums:
        """Sums of columns (N, F) by cluster, of the rows kept.

        `where` keeps the clusters alone whose sum in that column is above 0.
        """
        if self.counted is not None:
            return self.counted.by_cluster(columns, kept, where)
        cluster = self.cluster
        if kept is not None and not kept.all():
            rows = np.flatnonzero(kept)
            columns, cluster = columns[rows], cluster[rows]
        cluster_sums = ClusterSums(self.clusters, summed(columns, cluster, len(self.clusters)))
        return cluster_sums if where is None else cluster_sums.where(where)

    def products(self, x: Floats, y: Floats, kept: NDArray[np.bool_]) -> ClusterSums:
        """By cluster: products of the sums of two columns (N, D), and their squares, over D."""
        if self.counted is not None:
            return self.counted.products(x, y, kept)
        a, b = self.by_cluster(x, kept).table, self.by_cluster(y, kept).table
        columns = [(a * b).sum(axis=1), (a**2).sum(axis=1), (b**2).sum(axis=1)]
        return ClusterSums(self.clusters, np.stack(columns, axis=1))

    def by_cluster_and_system(
        self,
        columns: Floats,
        kept: NDArray[np.bool_] | None = None,
        *,
        moved: Floats | None = None,
    ) -> ClusterSums:
        """The same by cluster and system: F columns a system, one system after the other.

        `moved` (N, S) is what each row adds to the first column of every system.
        """
        n_systems, width = len(self.systems), columns.shape[1]
        if self.counted is not None:
            wide = np.zeros((len(columns), n_systems, width))
            wide[np.arange(len(columns)), self.system] = columns
            if moved is not None:
                wide[:, :, 0] += moved
            return self.counted.by_cluster(wide.reshape(len(columns), -1), kept, None)
        more = None if moved is None else self.by_cluster(moved, kept).table
        # Two keys in one: a single bincount sums by both.
        key = self.cluster * n_systems + self.system
        if kept is not None:
            columns, key = columns[kept], key[kept]
        table = summed(columns, key, len(self.clusters) * n_systems)
        table = table.reshape(len(self.clusters), -1)
        if more is not None:
            table[:, ::width] += more
        return ClusterSums(self.clusters, table)


class ResponseCounts(Protocol):
    """Rows that stand for many responses: how many, and their sums by cluster.

    Attributes
    ----------
    count : (N,) float64
        Responses of each row.
    clusters, items : int
        Of all.
    """

    @property
    def count(self) -> Floats:
        """(N,) responses of each row."""

    @property
    def clusters(self) -> int:
        """How many clusters there are in all."""

    @property
    def items(self) -> int:
        """How many items there are in all."""

    def only(self, kept: NDArray[np.bool_]) -> ResponseCounts:
        """Of the rows kept alone."""

    def shows(self, scores: Floats) -> bool:
        """Whether these scores (N, k) of the rows were given.

        Else they are nodes, of which only squares and products are those of the responses
        (`voirdire.stats.loose`).
        """

    def size(self, kept: NDArray[np.bool_] | None = None) -> int:
        """Responses of the rows kept."""

    def by_cluster(
        self, columns: Floats, kept: NDArray[np.bool_] | None, where: int | None
    ) -> ClusterSums:
        """As `ResponsePanel.by_cluster`."""

    def products(self, x: Floats, y: Floats, kept: NDArray[np.bool_]) -> ClusterSums:
        """As `ResponsePanel.products`."""

    def crossed_reading(self, panel: ResponsePanel) -> ClusterSums:
        """The sums of `voirdire.stats.within.reading_sums` where items are crossed with systems."""


@dataclass(frozen=True, slots=True, eq=False)
class AlikeUnits:
    """`ResponseCounts` of rows each of which stands for units that are clusters of their own.

    Units that everybody judged alike leave the same sums when they are left out, so that one of
    them is enough.
    """

    count: Floats

    @property
    def clusters(self) -> int:
        """As many as units."""
        return self.size()

    @property
    def items(self) -> int:
        """As many as units."""
        return self.size()

    def only(self, kept: NDArray[np.bool_]) -> AlikeUnits:
        """Of the rows kept alone."""
        return AlikeUnits(self.count[kept])

    def shows(self, scores: Floats) -> bool:
        """Each row is what was given."""
        del scores
        return True

    def size(self, kept: NDArray[np.bool_] | None = None) -> int:
        """Units of the rows kept."""
        return round(float(self.count.sum() if kept is None else self.count[kept].sum()))

    def by_cluster(
        self, columns: Floats, kept: NDArray[np.bool_] | None, where: int | None
    ) -> ClusterSums:
        """A row is a cluster, so many times."""
        there = columns if kept is None else np.where(kept[:, None], columns, 0.0)
        made = ClusterSums(np.arange(len(there)), there, self.count)
        return made if where is None else made.where(where)

    def products(self, x: Floats, y: Floats, kept: NDArray[np.bool_]) -> ClusterSums:
        """Products within a unit."""
        a, b = (np.where(kept[:, None], side, 0.0) for side in (x, y))
        sums = [(a * b).sum(axis=1), (a**2).sum(axis=1), (b**2).sum(axis=1)]
        return ClusterSums(np.arange(len(a)), np.stack(sums, axis=1), self.count)

    def crossed_reading(self, panel: ResponsePanel) -> ClusterSums:
        """Units that are clusters of their own are crossed with nothing.

        Raises
        ------
        StatisticsError
            Always.
        """
        raise StatisticsError(f"{panel.n} units alone are not crossed with systems")


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
    vectors: Floats,
    cell: Codes,
    n_cells: int,
    *,
    unbiased: bool = True,
    least: int = 5,
    weight: Floats | None = None,
) -> Floats:
    """Vectors (N, D) less their mean in the cell; NaN in cells with fewer than `least`.

    `unbiased` multiplies by sqrt(n / (n - 1)), so that products have the expectation of a
    covariance. `weight` (N,) says for how many responses each row stands.
    """
    unknown = np.asarray(np.isnan(vectors).any(axis=1))
    whole = not unknown.any()
    there = vectors if whole else np.where(unknown[:, None], 0.0, vectors)
    size = weight
    if not whole:
        size = np.where(unknown, 0.0, 1.0 if weight is None else weight)
    # Weights of nodes are fractions that sum to whole responses, up to rounding.
    n = np.rint(np.bincount(cell, weights=size, minlength=n_cells))
    if weight is not None:
        there = there * weight[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = summed(there, cell, n_cells) / n[:, None]
    # A mean of a few responses is mostly those responses: what is left of them says too little.
    mean[n < least] = np.nan
    centred: Floats = vectors - mean[cell]
    if weight is not None:  # where weights are fractions, a constant is not quite its own mean
        centred[np.abs(centred) <= 1e-13 * np.abs(vectors)] = 0.0
    if unbiased:
        centred *= np.sqrt(n / np.maximum(n - 1, 1))[cell][:, None]
    if not whole:
        centred[unknown] = np.nan
    return centred


def _present(scores: Floats) -> Floats:
    values: Floats = occurring(scores)
    return values


def _codes(values: Any, n: int, name: str, kept: NDArray[np.bool_]) -> tuple[NDArray[Any], Codes]:
    return coded(row_names(values, n, name)[kept])


def score_table(values: Any, name: str) -> Floats:
    """(n, raters) finite scores from (n,) or (n, raters), NaN where missing."""
    given = numbers(values, name)
    if given.ndim not in {1, 2}:
        raise StatisticsError(f"{name} must be (n,) or (n, raters), got shape {given.shape}")
    if np.isinf(given).any():
        raise StatisticsError(f"{name} must be finite or missing (NaN)")
    return given[:, None] if given.ndim == 1 else given


def _by_rater(values: Any, name: str) -> Floats:
    """(raters, n) scores: a rater's own lie side by side, as all sums over responses want them."""
    return np.ascontiguousarray(score_table(values, name).T)
