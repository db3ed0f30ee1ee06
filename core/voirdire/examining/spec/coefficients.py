"""Coefficients of agreement that may be asked for: among all raters, or of each two of them.

Statistics are loaded when one is computed: help texts list the registry without them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from voirdire.examining.spec.registry import Registry
from voirdire.late import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from voirdire.stats import Estimate
    from voirdire.stats.rating_sums import SummedCoefficient
    from voirdire.study import Analysis

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RaterScores:
    """What a coefficient is computed of.

    Attributes
    ----------
    scores : (n, k) float64
        A row a response, a column a rater; NaN is missing. Of two raters, the first named comes
        last: a difference is that of the first less the second.
    levels : list of float or None
        The declared levels; None where scores lie between them.
    clusters : (n,) array or None
        What is resampled, where it is declared.
    analysis : Analysis
        Confidence level, resamples and seed.
    """

    scores: Floats
    levels: list[float] | None
    clusters: NDArray[Any] | None
    analysis: Analysis


@dataclass(frozen=True, slots=True, kw_only=True)
class CoefficientSpec:
    """One coefficient, all of it.

    Attributes
    ----------
    key, name : str
        As it is asked for and as code has it: ``"icc_a1"``, ``"icc_absolute_single"``.
    of : {"all", "pairs"}
        Whether it is one number for all raters, or one for each two of them.
    title : str
        What it is, in the page of docs.
    compute : callable
        From `RaterScores` to an `Estimate` with its interval.
    of_sizes : bool
        Whether it is a mean size of differences, which is no moment of scores that lie on no grid.
    summed : callable or None
        From the number of raters and the levels to the same as a function of sums, which streams
        need; None where no sum tells it.
    """

    key: str
    name: str
    of: Literal["all", "pairs"]
    title: str
    compute: Callable[[RaterScores], Estimate]
    of_sizes: bool = False
    summed: Callable[[int, Sequence[float] | None], SummedCoefficient] | None = None


COEFFICIENTS: Registry[CoefficientSpec] = Registry("measure")


def _sums(key: str) -> Callable[[int, Sequence[float] | None], SummedCoefficient]:
    """The coefficient of sums of that key in the statistics."""

    def summed(raters: int, levels: Sequence[float] | None) -> SummedCoefficient:
        from voirdire.stats.rating_sums import summed_coefficient  # noqa: PLC0415 - see above

        return summed_coefficient(key, raters, levels)

    return summed


def _icc(form: str) -> Callable[[RaterScores], Estimate]:
    """Declared clusters are resampled; the F interval takes responses for independent."""

    def compute(rated: RaterScores) -> Estimate:
        from voirdire import stats  # noqa: PLC0415 - see above

        R, clusters, analysis = rated.scores, rated.clusters, rated.analysis
        if clusters is None or not analysis.resamples:
            return stats.icc(R, form, ci="f" if clusters is None else None, level=analysis.level)
        return stats.icc_clustered(
            R,
            clusters,
            form,
            ci="cluster",
            level=analysis.level,
            n_resamples=analysis.resamples,
            seed=analysis.seed,
        )

    return compute


def _kappa(statistic: str, **fixed: Any) -> Callable[[RaterScores], Estimate]:
    def compute(rated: RaterScores) -> Estimate:
        from voirdire import stats  # noqa: PLC0415 - see above

        estimate: Estimate = getattr(stats, statistic)(
            rated.scores, levels=rated.levels, ci="t", level=rated.analysis.level, **fixed
        )
        return estimate

    return compute


def _alpha(metric: str) -> Callable[[RaterScores], Estimate]:
    """With a bootstrap where there are levels: real values would be drawn one by one."""

    def compute(rated: RaterScores) -> Estimate:
        from voirdire import stats  # noqa: PLC0415 - see above

        levels, analysis = rated.levels, rated.analysis
        return stats.krippendorff_alpha(
            rated.scores,
            metric,
            levels=levels if metric in ("nominal", "ordinal") else None,
            ci="percentile" if levels and analysis.resamples else None,
            level=analysis.level,
            n_resamples=max(analysis.resamples, 1),  # unused where none is drawn
            seed=analysis.seed,
        )

    return compute


def _cohen(weights: str | None) -> Callable[[RaterScores], Estimate]:
    def compute(rated: RaterScores) -> Estimate:
        from voirdire import stats  # noqa: PLC0415 - see above

        return stats.cohen_kappa(
            *rated.scores.T,
            weights=weights,
            levels=rated.levels,
            ci="wald",
            level=rated.analysis.level,
        )

    return compute


def _score(statistic: str) -> Callable[[RaterScores], Estimate]:
    def compute(rated: RaterScores) -> Estimate:
        from voirdire import stats  # noqa: PLC0415 - see above

        a, b = rated.scores.T
        estimate: Estimate = getattr(stats, statistic)(a, b, level=rated.analysis.level)
        return estimate

    return compute


def _difference(statistic: str) -> Callable[[RaterScores], Estimate]:
    """Of the second less the first."""

    def compute(rated: RaterScores) -> Estimate:
        from voirdire import stats  # noqa: PLC0415 - see above

        a, b = rated.scores.T
        estimate: Estimate = getattr(stats, statistic)(b, a, level=rated.analysis.level)
        return estimate

    return compute


def _limit(side: str) -> Callable[[RaterScores], Estimate]:
    def compute(rated: RaterScores) -> Estimate:
        from voirdire import stats  # noqa: PLC0415 - see above

        a, b = rated.scores.T
        estimate: Estimate = getattr(stats.bland_altman(b, a, level=rated.analysis.level), side)
        return estimate

    return compute


def _of_sums(key: str) -> Callable[[RaterScores], Estimate]:
    """A coefficient of sums, with the jackknife's interval over responses."""

    def compute(rated: RaterScores) -> Estimate:
        import numpy as np  # noqa: PLC0415 - see above

        from voirdire import stats  # noqa: PLC0415
        from voirdire.stats.rating_sums import summed_estimate  # noqa: PLC0415

        both = ~np.isnan(rated.scores).any(axis=1)
        # Without levels those that occur: F1 and the like need some.
        levels = rated.levels or np.unique(rated.scores[both]).tolist()
        one = _sums(key)(2, levels)
        columns = one.columns(rated.scores[both])
        jackknifed = stats.cluster_jackknife(columns, np.arange(len(columns)), one.statistic)
        return summed_estimate(
            one,
            one.value(columns.sum(axis=0)),
            [jackknifed.interval(rated.analysis.level)],
            n=int(both.sum()),
            k=2,
            left_out=int((~both).sum()),
        )

    return compute


def _all(
    key: str, name: str, title: str, compute: Callable[[RaterScores], Estimate], summed: str = ""
) -> None:
    sums = _sums(summed or key)
    COEFFICIENTS.register(
        CoefficientSpec(key=key, name=name, of="all", title=title, compute=compute, summed=sums)
    )


def _pairs(
    key: str,
    name: str,
    title: str,
    compute: Callable[[RaterScores], Estimate],
    *,
    ranked: bool = False,
    of_sizes: bool = False,
) -> None:
    # Ranks of scores are no sums.
    sums = None if ranked else _sums(key)
    COEFFICIENTS.register(
        CoefficientSpec(
            key=key,
            name=name,
            of="pairs",
            title=title,
            compute=compute,
            of_sizes=of_sizes,
            summed=sums,
        )
    )


_all("icc", "icc", "ICC(A,1): agreement of one rater", _icc("A,1"), "icc_a1")
_all("icc_1", "icc_one_way", "ICC(1): one rater, raters not crossed with items", _icc("1"))
_all("icc_c1", "icc_consistency", "ICC(C,1): one rater, but for a constant shift", _icc("C,1"))
_all("icc_a1", "icc_agreement", "ICC(A,1): agreement of one rater", _icc("A,1"))
_all("icc_1k", "icc_one_way_mean", "ICC(1,k): the mean of all, not crossed", _icc("1,k"))
_all("icc_ck", "icc_consistency_mean", "ICC(C,k): the mean of all, but for shifts", _icc("C,k"))
_all("icc_ak", "icc_agreement_mean", "ICC(A,k): agreement of the mean of all", _icc("A,k"))
_all("alpha", "alpha", "Krippendorff's alpha, ordinal", _alpha("ordinal"), "alpha_ordinal")
_all("alpha_nominal", "alpha_nominal", "Krippendorff's alpha of names", _alpha("nominal"))
_all("alpha_ordinal", "alpha_ordinal", "Krippendorff's alpha, ordinal", _alpha("ordinal"))
_all("alpha_interval", "alpha_interval", "Krippendorff's alpha, interval", _alpha("interval"))
_all("alpha_ratio", "alpha_ratio", "Krippendorff's alpha, ratio", _alpha("ratio"))
_all("fleiss", "fleiss", "Fleiss' kappa", _kappa("fleiss_kappa"))
_all("ac1", "ac1", "Gwet's AC1", _kappa("gwet_ac"))
_all("ac2", "ac2", "Gwet's AC2, quadratic weights", _kappa("gwet_ac", weights="quadratic"))
_all("bp", "brennan_prediger", "Brennan and Prediger's kappa", _kappa("brennan_prediger"))
_all("agreement", "joint_agreement", "share of equal scores", _kappa("joint_agreement"))
_pairs("cohen", "cohen", "Cohen's kappa", _cohen(None))
_pairs("qwk", "quadratic_kappa", "Cohen's kappa, quadratic weights", _cohen("quadratic"))
_pairs("ccc", "concordance", "Lin's concordance correlation", _score("ccc"))
_pairs("pearson", "pearson", "Pearson's correlation", _score("pearson"))
_pairs("spearman", "spearman", "Spearman's rank correlation", _score("spearman"), ranked=True)
_pairs("kendall", "kendall", "Kendall's tau-b", _score("kendall"), ranked=True)
_pairs("bias", "bias", "mean of the first less the second", _difference("bias"))
_pairs("mae", "mae", "mean absolute difference", _difference("mae"), of_sizes=True)
_pairs("rmse", "rmse", "root mean squared difference", _of_sums("rmse"))
_pairs("loa_low", "loa_low", "lower limit of agreement", _limit("low"))
_pairs("loa_high", "loa_high", "upper limit of agreement", _limit("high"))
_pairs("f1", "macro_f1", "macro F1, the second rater taken as right", _of_sums("f1"))
