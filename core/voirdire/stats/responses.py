"""A judge beside humans on single responses: confusion, agreement and rates, by cluster."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.late import dataclass
from voirdire.stats._arrays import Floats, check_level, coded, occurring, row_names
from voirdire.stats._results import Estimate, Interval, Result, plain
from voirdire.stats.intervals import share_interval
from voirdire.stats.passing import areas_without
from voirdire.stats.response_panel import ResponseCounts, passes, score_table
from voirdire.stats.sums import ClusterSums, Jackknifed, Scale, jackknife, summed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

#: More different scores than this are measured, not counted: no confusion matrix, and of the scores
#: those of squares alone.
MOST_LEVELS = 200
_SHARES = ("accuracy", "sensitivity", "specificity", "ppv", "npv", "prevalence")


@dataclass(frozen=True, slots=True, eq=False)
class ResponseAgreement(Result):
    """How predictions agree with truths, response by response.

    Attributes
    ----------
    labels : tuple of float
        The scores that occur, or 0 (fail) and 1 (pass) at a gate.
    confusion : tuple of tuple of float
        Truth (rows) by prediction (columns). Where several humans or runs stand behind a response,
        each pair of them counts its share, so that a judge's response counts once a human.
    scores : mapping of str to Estimate
        At a gate or for 0/1 scores: accuracy, sensitivity, specificity, ppv, npv, prevalence,
        kappa, alpha, mcc and, where the judge's scores are graded, roc_auc. For graded scores:
        accuracy, kappa, quadratic_kappa, alpha, mcc; of more than `MOST_LEVELS` different scores
        quadratic_kappa and alpha. `alpha` is Krippendorff's with the interval metric, which is the
        nominal one for 0/1.
    n, clusters, left_out : int
        Responses with truth and prediction, what was resampled, responses without either.
    gate : float or None
        Scores at or above it pass.
    """

    labels: tuple[float, ...]
    confusion: tuple[tuple[float, ...], ...]
    scores: Mapping[str, Estimate]
    n: int
    clusters: int
    left_out: int
    gate: float | None = None

    def __getitem__(self, name: str) -> Estimate:
        """A score by its name."""
        return self.scores[name]

    def to_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        scores = {name: score.to_dict() for name, score in self.scores.items()}
        return {**Result.to_dict(self), "scores": plain(scores)}

    def __str__(self) -> str:
        """A line a score."""
        return "\n".join(map(str, self.scores.values()))


def response_agreement(
    judge: Any,
    humans: Any,
    *,
    gate: float | None = None,
    clusters: Any = None,
    level: float = 0.95,
    counted: ResponseCounts | None = None,
) -> ResponseAgreement:
    """What a judge says of single responses beside what humans say of them.

    Each pair of a human and a run of the judge is a truth and a prediction. Errors come from
    leaving out one cluster at a time; shares have Wilson's interval at the number of independent
    responses that the error corresponds to.

    Parameters
    ----------
    judge : array-like, shape (n,) or (n, runs)
        Scores; NaN or None is missing.
    humans : array-like, shape (n,) or (n, humans)
        What is taken as true.
    gate : float, optional
        Scores at or above it pass. Without it 0/1 scores are pass and fail, others are graded.
    clusters : array-like, shape (n,), optional
        What each response belongs to: its item or dialogue; by default each is its own.
    level : float
        Nominal coverage.
    counted : ResponseCounts, optional
        Where a row stands for many responses, how many, and their clusters; then without roc_auc,
        whose ranks no sum tells.

    Returns
    -------
    ResponseAgreement
        A score is NaN with ``no_data`` where there is nothing to divide by, and with
        ``zero_expected_disagreement`` where truths or predictions are all one.

    Raises
    ------
    StatisticsError
        Arrays that do not match, are not numbers or are infinite; a row without a cluster.

    Examples
    --------
    >>> agreement = response_agreement([1, 1, 0, 1, 0, 0], [1, 1, 0, 0, 0, 1])
    >>> agreement.confusion, round(agreement["sensitivity"].value, 3)
    (((2.0, 1.0), (1.0, 2.0)), 0.667)

    References
    ----------
    Wilson (1927), JASA 22, 209-212; Dean and Pagano (2015); Cohen (1968); Gorodkin (2004);
    Krippendorff (2019), chapter 12; DeLong, DeLong and Clarke-Pearson (1988) for the area's error.
    """
    given, truth = score_table(judge, "judge"), score_table(humans, "humans")
    if len(given) != len(truth):
        raise StatisticsError(f"judge has {len(given)} responses, humans have {len(truth)}")
    rows = _LevelCounts.of(given, truth, gate, clusters, level, counted)
    return rows.result(_beside(rows))


def human_agreement(
    humans: Any,
    *,
    gate: float | None = None,
    clusters: Any = None,
    level: float = 0.95,
    counted: ResponseCounts | None = None,
) -> ResponseAgreement:
    """The same of a held-out human: every human is a prediction beside every other as the truth.

    Parameters
    ----------
    humans : array-like, shape (n, humans)
        Scores; NaN is missing. Responses with a single human are left out.
    gate, clusters, level, counted
        As in `response_agreement`.

    Returns
    -------
    ResponseAgreement
        Symmetric: sensitivity is also the predictive value. Undefined as in `response_agreement`.

    Raises
    ------
    StatisticsError
        As `response_agreement`.

    Examples
    --------
    >>> agreement = human_agreement([[1, 1], [0, 1], [0, 0], [1, 1]])
    >>> round(agreement["accuracy"].value, 3), agreement.n
    (0.75, 4)

    References
    ----------
    Those of `response_agreement`.
    """
    truth = score_table(humans, "humans")
    # A human beside nobody is no prediction of anything.
    alone = (~np.isnan(truth)).sum(axis=1) < 2
    rows = _LevelCounts.of(
        truth, np.where(alone[:, None], np.nan, truth), gate, clusters, level, counted
    )
    return rows.result(_among(rows))


@dataclass(frozen=True, slots=True)
class _LevelCounts:
    """Scores as counts: how often each response got each level, as truth and as prediction.

    `levelled` says whether each level is counted.
    """

    judge: Floats
    humans: Floats
    levels: Floats
    cluster: NDArray[np.intp]
    names: NDArray[Any]
    n: int
    left_out: int
    gate: float | None
    level: float
    raw: Floats
    counted: ResponseCounts | None
    levelled: bool

    @classmethod
    def of(
        cls,
        judge: Floats,
        humans: Floats,
        gate: float | None,
        clusters: Any,
        level: float,
        counted: ResponseCounts | None,
    ) -> _LevelCounts:
        """Rows where the judge and some human gave a score; clusters are numbered anew."""
        check_level(level)
        names = np.arange(len(judge)) if clusters is None else clusters
        named = row_names(names, len(judge), "clusters")
        kept = np.asarray(~np.isnan(judge).all(axis=1) & ~np.isnan(humans).all(axis=1))
        found, codes = coded(named[kept])
        raw, judge, humans = judge[kept], judge[kept], humans[kept]
        if gate is not None:
            judge, humans = passes(judge, gate), passes(humans, gate)
        both = np.concatenate([judge.ravel(), humans.ravel()])
        levels = occurring(both)
        # Two levels even where one is never used: a judge that passes everything has a specificity
        # of 0.
        if gate is not None or (len(levels) and np.isin(levels, (0, 1)).all()):
            levels = np.array([0.0, 1.0])
        if not len(levels):
            levels = np.zeros(1)
        n, left_out = int(kept.sum()), int((~kept).sum())
        if counted is not None:
            n, left_out, counted = counted.size(kept), counted.size(~kept), counted.only(kept)
        levelled = len(levels) <= MOST_LEVELS
        if counted is not None and levels.tolist() != [0.0, 1.0]:
            # Nodes stand for scores that nobody gave: squares of them are right, counts are not.
            levelled = counted.shows(np.concatenate([judge, humans], axis=1))
        return cls(
            judge,
            humans,
            levels,
            codes,
            found,
            n,
            left_out,
            gate,
            level,
            raw,
            counted,
            levelled,
        )

    def by_cluster(self, columns: Sequence[Floats]) -> ClusterSums:
        """Sums by cluster."""
        if self.counted is not None:
            return self.counted.by_cluster(np.stack(columns, axis=1), None, None)
        return ClusterSums(self.names, summed(columns, self.cluster, len(self.names)))

    @property
    def binary(self) -> bool:
        """Whether there are two levels, 0 and 1."""
        return self.levels.tolist() == [0.0, 1.0]

    def counts(self, scores: Floats) -> Floats:
        """(levels, n) how many of the raters gave each level; no levels where none is counted."""
        raters = np.ascontiguousarray(scores.T)
        values = np.empty((len(self.levels) if self.levelled else 0, len(scores)))
        for place in range(len(values)):
            values[place] = (raters == self.levels[place]).sum(axis=0)
        return values

    def result(self, pairs: _PairSums) -> ResponseAgreement:
        """Every score, from the columns that are summed by cluster."""
        q = len(self.levels)
        columns = [*pairs.fixed, *pairs.true, *pairs.said]
        if self.binary:  # only the rates of two levels need cells of single clusters
            columns += [pairs.cell(i, j) for i in range(q) for j in range(q)]
        table = self.by_cluster(columns)
        names = _BINARY if self.binary else _GRADED if self.levelled else _MEASURED
        scores = {name: self._estimate(name, table) for name in names}
        graded = self.binary and len(occurring(self.raw)) > 2
        if graded and self.counted is None:
            scores["roc_auc"] = self._area()
        return ResponseAgreement(
            tuple(self.levels.tolist()) if self.n and self.levelled else (),
            tuple(tuple(row) for row in pairs.confusion(self.counted).tolist()),
            scores,
            self.n,
            len(table),
            self.left_out,
            self.gate,
        )

    def _estimate(self, name: str, table: ClusterSums) -> Estimate:
        statistic = _STATISTICS[name]
        with np.errstate(invalid="ignore", divide="ignore"):
            value = float(statistic(table.total, len(self.levels)))
            out = statistic(table.without, len(self.levels))
        # Coefficients within [-1, 1] have skewed errors near 1, which Fisher's z takes out.
        scale: Scale = "plain" if name in _SHARES else "fisher"
        # A cluster that holds all passes cannot be left out of a sensitivity.
        there = np.isfinite(out)
        weight = None if table.weight is None else table.weight[there]
        jackknifed = jackknife(value, out[there], scale, weight)
        return self._with_interval(name, value, jackknifed, table)

    def _with_interval(
        self, name: str, value: float, jackknifed: Jackknifed, table: ClusterSums
    ) -> Estimate:
        if math.isnan(value):
            empty = name in _SHARES or not self.n
            reason = "no_data" if empty else "zero_expected_disagreement"
            return Estimate(name, value, n=self.n, k=2, reason=reason)
        if name in _SHARES:
            n, df = self.n, jackknifed.df
            if value in {0.0, 1.0} and name in _OF:  # only what it is a share of says how sure
                n, df = _base(table, _OF[name], len(self.levels))
            interval = share_interval(value, jackknifed.se, df, n, self.level)
        elif jackknifed.se > 0:
            interval = jackknifed.interval(self.level)
        else:  # nothing moves it: a spread that is not seen is unknown
            interval = Interval("cluster_jackknife", self.level, math.nan, math.nan)
        return Estimate(
            name,
            value,
            (interval,),
            self.n,
            2,
            self.left_out,
            details={"se": jackknifed.se, "df": jackknifed.df, "clusters": len(table)},
        )

    def _area(self) -> Estimate:
        """Area under the ROC curve of the graded scores for the humans' passes."""
        value, out = areas_without(self.raw, self.humans, self.cluster, len(self.names))
        if math.isnan(value):
            reason = "zero_expected_disagreement"
            return Estimate("roc_auc", value, n=self.n, k=2, reason=reason)
        # An area from 0 to 1 as a correlation from -1 to 1, which Fisher's z is for.
        jackknifed = jackknife(2 * value - 1, 2 * out - 1, "fisher")
        low, high = ((1 + float(jackknifed.bound(share))) / 2 for share in self._tails)
        interval = Interval("cluster_jackknife", self.level, low, high)
        return Estimate("roc_auc", value, (interval,), self.n, 2, self.left_out)

    @property
    def _tails(self) -> tuple[float, float]:
        return (1 - self.level) / 2, (1 + self.level) / 2


#: Columns before the margins: pairs, hits, x, y, xx, yy, xy.
_FIXED = 7


@dataclass(frozen=True, slots=True)
class _PairSums:
    """Sums over the pairs of a truth and a prediction behind each of n responses.

    Attributes
    ----------
    fixed : `_FIXED` times (n,)
        Sums over pairs.
    true, said : (levels, n)
        Pairs by their truth, and by their prediction.
    humans, others : (levels, n)
        Truths and predictions: a response's cell i, j of the confusion matrix is their product.
    itself : bool
        Whether a truth is among the predictions too, and is no pair with itself.
    """

    fixed: list[Floats]
    true: Floats
    said: Floats
    humans: Floats
    others: Floats
    itself: bool

    def cell(self, i: int, j: int) -> Floats:
        """(n,) pairs with truth i and prediction j."""
        return self.humans[i] * (self.others[j] - (self.itself and i == j))

    def confusion(self, counted: ResponseCounts | None) -> Floats:
        """(levels, levels) pairs by truth and prediction, over all responses."""
        humans = self.humans if counted is None else self.humans * counted.count
        counts: Floats = np.einsum("in,jn->ij", humans, self.others)  # the same on any machine
        if self.itself:
            counts -= np.diag(humans.sum(axis=1))
        # Shares of runs, such as thirds, sum to whole numbers up to rounding.
        return counts.round(9)


def _beside(rows: _LevelCounts) -> _PairSums:
    """Sums over pairs of a human (truth) and a run (prediction)."""
    n, x, xx = _squares(rows.humans)
    runs, y, yy = _squares(rows.judge)
    y, yy = y / runs, yy / runs  # runs share one response
    humans, judge = rows.counts(rows.humans), rows.counts(rows.judge) / runs
    fixed = [n, (humans * judge).sum(axis=0), x, y * n, xx, yy * n, x * y]
    return _PairSums(fixed, humans, judge * n, humans, judge, itself=False)


def _among(rows: _LevelCounts) -> _PairSums:
    """The same over ordered pairs of two humans."""
    n, x, xx = _squares(rows.humans)
    # Each human is a truth beside every other: ordered pairs, from counts alone.
    humans, others = rows.counts(rows.humans), n - 1
    fixed = [
        n * others, (humans * (humans - 1)).sum(axis=0), x * others, x * others, xx * others,
        xx * others, x**2 - xx,
    ]  # fmt: skip
    margin = humans * others
    return _PairSums(fixed, margin, margin, humans, humans, itself=True)


def _squares(scores: Floats) -> tuple[Floats, Floats, Floats]:
    """(n,) how many raters scored each response, their sum and that of their squares."""
    there = ~np.isnan(scores)
    values = np.where(there, scores, 0.0)
    return there.sum(axis=1) * 1.0, values.sum(axis=1), (values**2).sum(axis=1)


def _base(table: ClusterSums, of: tuple[int, ...], q: int) -> tuple[int, int]:
    """Responses that a share of the 2 x 2 table is of, and clusters that hold one less one."""
    at = [_FIXED + 2 * q + cell for cell in of]
    n, there = round(float(table.total[at].sum())), table.table[:, at].sum(axis=1) > 0
    weight = np.ones(len(table.table)) if table.weight is None else table.weight
    return n, (n if table.seen is not None else round(float(weight[there].sum()))) - 1


def _rate(hit: int, of: tuple[int, ...]) -> Callable[[Floats, int], Floats]:
    """A share of the 2 x 2 table: cells tn, fp, fn, tp."""

    def rate(sums: Floats, q: int) -> Floats:
        """The share of one gate, of sums of shape (..., columns)."""
        cells = sums[..., _FIXED + 2 * q :]
        return cells[..., hit] / sum(cells[..., cell] for cell in of)

    return rate


def _accuracy(sums: Floats, q: int) -> Floats:  # noqa: ARG001 - all statistics are called alike
    return sums[..., 1] / sums[..., 0]


def _prevalence(sums: Floats, q: int) -> Floats:
    return sums[..., _FIXED + q - 1] / sums[..., 0]


def _kappa(sums: Floats, q: int) -> Floats:
    n = sums[..., 0]
    true, predicted = _margins(sums, q)
    expected = (true * predicted).sum(axis=-1) / n**2
    return _defined(sums[..., 1] / n - expected, 1 - expected)


def _mcc(sums: Floats, q: int) -> Floats:
    n = sums[..., 0]
    true, predicted = _margins(sums, q)
    spread = (n**2 - (true**2).sum(axis=-1)) * (n**2 - (predicted**2).sum(axis=-1))
    return _defined(
        (sums[..., 1] * n - (true * predicted).sum(axis=-1)) / n**2,
        np.sqrt(np.maximum(spread, 0)) / n**2,
    )


def _quadratic(sums: Floats, q: int) -> Floats:  # noqa: ARG001 - all statistics are called alike
    n, _, x, y, xx, yy, xy = (sums[..., place] for place in range(_FIXED))
    x, y = x / n, y / n
    return _defined(2 * (xy / n - x * y), xx / n - x**2 + yy / n - y**2 + (x - y) ** 2)


def _alpha(sums: Floats, q: int) -> Floats:  # noqa: ARG001 - all statistics are called alike
    n, _, x, y, xx, yy, xy = (sums[..., place] for place in range(_FIXED))
    pooled = (xx + yy) / (2 * n) - ((x + y) / (2 * n)) ** 2
    # Truths and predictions are 2 n values, drawn without replacement.
    expected = 2 * pooled * 2 * n / (2 * n - 1)
    return 1 - (xx + yy - 2 * xy) / n / np.where(expected > 1e-12, expected, np.nan)


def _margins(sums: Floats, q: int) -> tuple[Floats, Floats]:
    return sums[..., _FIXED : _FIXED + q], sums[..., _FIXED + q : _FIXED + 2 * q]


def _defined(part: Floats, whole: Floats) -> Floats:
    return part / np.where(whole > 1e-12, whole, np.nan)


#: The cells (tn, fp, fn, tp) that a share is of.
_OF = {"sensitivity": (2, 3), "specificity": (0, 1), "ppv": (1, 3), "npv": (0, 2)}
_STATISTICS: Mapping[str, Callable[[Floats, int], Floats]] = {
    "accuracy": _accuracy,
    "sensitivity": _rate(3, _OF["sensitivity"]),
    "specificity": _rate(0, _OF["specificity"]),
    "ppv": _rate(3, _OF["ppv"]),
    "npv": _rate(0, _OF["npv"]),
    "prevalence": _prevalence,
    "kappa": _kappa,
    "quadratic_kappa": _quadratic,
    "alpha": _alpha,
    "mcc": _mcc,
}
_BINARY = (*_SHARES, "kappa", "alpha", "mcc")
_GRADED = ("accuracy", "kappa", "quadratic_kappa", "alpha", "mcc")
_MEASURED = ("quadratic_kappa", "alpha")
