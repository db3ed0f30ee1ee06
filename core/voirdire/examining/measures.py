"""Coefficients over all raters: numbers without a reference, an audit or a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire import stats, tables
from voirdire.errors import InputError, check_allowed
from voirdire.examining.examination import Measure
from voirdire.examining.panel import panel_of
from voirdire.examining.ratings.agreement import levels_of
from voirdire.examining.ratings.cube import build_cube
from voirdire.examining.source import open_source
from voirdire.examining.verdict.gathering import clusters_of
from voirdire.stats.rating_sums import summed_coefficient, summed_estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire.examining.panel import Panel
    from voirdire.examining.ratings.cube import Cube
    from voirdire.schema import Scale
    from voirdire.stats import Estimate
    from voirdire.study import Analysis, ReadOptions, Study

    Levels = list[float] | None
    Clusters = NDArray[np.str_] | None
    Coefficient = Callable[[NDArray[np.float64], Levels, Clusters, Analysis], Estimate]
    Pairwise = Callable[[Any, Any, Levels, Analysis], Estimate]


#: Words for raters that are no names.
GROUPS = {"humans", "judges"}
#: Whose agreement can be measured.
FEWEST_RATERS = 2


def _icc(form: str) -> Coefficient:
    """Declared clusters are resampled; the F interval takes responses for independent."""

    def coefficient(
        R: NDArray[np.float64], _: Levels, clusters: Clusters, analysis: Analysis
    ) -> Estimate:
        if clusters is None or not analysis.resamples:
            return stats.icc(R, form, ci="f" if clusters is None else None, level=analysis.level)
        return stats.icc_clustered(
            R, clusters, form, ci="cluster", level=analysis.level,
            n_resamples=analysis.resamples, seed=analysis.seed,
        )  # fmt: skip

    return coefficient


def _kappa(statistic: Callable[..., Estimate], **fixed: Any) -> Coefficient:
    return lambda R, levels, _, analysis: statistic(
        R, levels=levels, ci="t", level=analysis.level, **fixed
    )


def _alpha(metric: str) -> Coefficient:
    """With a bootstrap where there are levels: real values would be drawn one by one."""

    def coefficient(
        R: NDArray[np.float64], levels: Levels, _: Clusters, analysis: Analysis
    ) -> Estimate:
        return stats.krippendorff_alpha(
            R,
            metric,
            levels=levels if metric in ("nominal", "ordinal") else None,
            ci="percentile" if levels and analysis.resamples else None,
            level=analysis.level,
            n_resamples=max(analysis.resamples, 1),  # unused where none is drawn
            seed=analysis.seed,
        )

    return coefficient


def _cohen(weights: str | None) -> Pairwise:
    return lambda a, b, levels, analysis: stats.cohen_kappa(
        a, b, weights=weights, levels=levels, ci="wald", level=analysis.level
    )


def _score(statistic: Callable[..., Estimate]) -> Pairwise:
    return lambda a, b, _, analysis: statistic(a, b, level=analysis.level)


def _limit(side: str) -> Pairwise:
    def limit(a: Any, b: Any, _: Levels, analysis: Analysis) -> Estimate:
        estimate: Estimate = getattr(stats.bland_altman(b, a, level=analysis.level), side)
        return estimate

    return limit


def _summed(name: str) -> Pairwise:
    """A coefficient of sums, with the jackknife's interval over responses."""

    def coefficient(a: Any, b: Any, levels: Levels, analysis: Analysis) -> Estimate:
        scores = np.stack([a, b], axis=1)
        both = ~np.isnan(scores).any(axis=1)
        # Without levels those that occur: F1 and the like need some.
        one = summed_coefficient(name, 2, levels or np.unique(scores[both]).tolist())
        columns = one.columns(scores[both])
        jackknifed = stats.cluster_jackknife(columns, np.arange(len(columns)), one.statistic)
        return summed_estimate(
            one, one.value(columns.sum(axis=0)), [jackknifed.interval(analysis.level)],
            n=int(both.sum()), k=2, left_out=int((~both).sum()),
        )  # fmt: skip

    return coefficient


#: Name -> coefficient of a (responses, raters) matrix on declared levels.
MEASURES: dict[str, Coefficient] = {
    "icc": _icc("A,1"),
    "icc_1": _icc("1"),
    "icc_c1": _icc("C,1"),
    "icc_a1": _icc("A,1"),
    "icc_1k": _icc("1,k"),
    "icc_ck": _icc("C,k"),
    "icc_ak": _icc("A,k"),
    "alpha": _alpha("ordinal"),
    "alpha_nominal": _alpha("nominal"),
    "alpha_ordinal": _alpha("ordinal"),
    "alpha_interval": _alpha("interval"),
    "alpha_ratio": _alpha("ratio"),
    "fleiss": _kappa(stats.fleiss_kappa),
    "ac1": _kappa(stats.gwet_ac),
    "ac2": _kappa(stats.gwet_ac, weights="quadratic"),
    "bp": _kappa(stats.brennan_prediger),
    "agreement": _kappa(stats.joint_agreement),
}

#: Name -> coefficient of two raters' scores; `bias` and limits are of the second less the first.
PAIRWISE: dict[str, Pairwise] = {
    "cohen": _cohen(None),
    "qwk": _cohen("quadratic"),
    "ccc": _score(stats.ccc),
    "pearson": _score(stats.pearson),
    "spearman": _score(stats.spearman),
    "kendall": _score(stats.kendall),
    "bias": lambda a, b, _, analysis: stats.bias(b, a, level=analysis.level),
    "mae": lambda a, b, _, analysis: stats.mae(b, a, level=analysis.level),
    "rmse": _summed("rmse"),
    "loa_low": _limit("low"),
    "loa_high": _limit("high"),
    "f1": _summed("f1"),
}


def measure(
    source: str | Path | Study | pl.DataFrame,
    measures: Sequence[str],
    *,
    data: str | Path | None = None,
    read: ReadOptions | None = None,
    raters: Sequence[str] = (),
    off_scale: str | None = None,
) -> pl.DataFrame:
    """Coefficients over raters of a table, without a reference, an audit or a verdict.

    Parameters
    ----------
    source, data, read, off_scale
        As in `examine`.
    measures : sequence of str
        Over all raters: icc (A,1), icc_1, icc_c1, icc_a1, icc_1k, icc_ck, icc_ak, alpha (ordinal),
        alpha_nominal, alpha_interval, alpha_ratio, fleiss, ac1, ac2, bp, agreement. For each pair
        of raters: cohen, qwk, ccc, pearson, spearman, kendall, bias, mae, rmse, loa_low, loa_high
        (limits of agreement), f1. The bias of a pair is that of the first less the second.
    raters : sequence of str, optional
        Only these: names (in a wide file without a study, the columns that are raters), or
        ``"humans"`` or ``"judges"`` where a study or the file says who is one.

    Returns
    -------
    polars.DataFrame
        ``measure, attribute, raters, value, low, high, interval, n, k, reason``: one row a
        coefficient and attribute, at response level. Undefined is null with a reason.

    Raises
    ------
    InputError
        As `examine`; an unknown measure or rater; fewer than two raters.

    Examples
    --------
    >>> import polars as pl, voirdire
    >>> frame = pl.DataFrame({"item": [1, 2, 3, 4], "anna": [1, 2, 3, 3], "ben": [1, 2, 3, 2]})
    >>> voirdire.measure(frame, ["alpha"], raters=["anna", "ben"])["value"].round(3).to_list()
    [0.79]
    """
    changes: dict[str, dict[str, Any]] = {
        "data": {"off_scale": off_scale},
        "analysis": {"measures": tuple(measures), "raters": tuple(raters) or None},
    }
    # Names also say which columns of a wide file are raters; the words *humans* and *judges* do
    # not.
    names = () if set(raters) & GROUPS else tuple(raters)
    opened = open_source(source, data=data, reference=names, read=read, changes=changes)
    study, rated = opened.study, opened.tables
    if rated is None:
        raise InputError(f"{study.name}: there are no ratings to measure, only preferences")
    panel = panel_of(study, rated, names)
    ratings = tables.apply_off_scale(rated.ratings, study.data.off_scale, panel.scale)
    cube = build_cube(ratings, panel.names, panel.attributes, panel.systems)
    clusters = clusters_of(ratings, cube)
    return frame_of(measures_of(cube, panel, study.analysis, clusters))


def measured(analysis: Analysis, panel: Panel) -> Sequence[str]:
    """The raters whose agreement the study asks for.

    Raises
    ------
    InputError
        An unknown name, of a measure or a rater; the message lists those there are. Fewer than two
        raters to measure.
    """
    names, raters = analysis.measures, panel.chosen(analysis.raters)
    check_allowed("measure", names, [*MEASURES, *PAIRWISE])
    if names and len(raters) < FEWEST_RATERS:
        asked = ", ".join(analysis.raters) or "all raters"
        raise InputError(
            f"a measure needs two raters, and {asked} gives {', '.join(raters) or 'none'} "
            f"(raters: {', '.join(panel.names)})"
        )
    return raters


def measures_of(
    cube: Cube, panel: Panel, analysis: Analysis, clusters: Clusters = None
) -> tuple[Measure, ...]:
    """The coefficients that the study asks for, by attribute, at response level.

    An ICC has its interval from resampled `clusters` where these are declared.

    Raises
    ------
    InputError
        As `measured`.
    """
    raters = measured(analysis, panel)
    rows = [cube.raters.index(name) for name in raters]
    return tuple(
        measure
        for name in analysis.measures
        for at, attribute in enumerate(cube.attributes)
        for measure in _measure(
            name, attribute, cube.scores[rows, at], clusters, raters, panel.scale, analysis
        )
    )


def _measure(
    name: str,
    attribute: str,
    scores: NDArray[np.float64],
    clusters: Clusters,
    raters: Sequence[str],
    scale: Scale,
    analysis: Analysis,
) -> list[Measure]:
    """One coefficient over all raters, or one for each pair of them."""
    present = scores[~np.isnan(scores)]
    levels = levels_of(scale, present)
    if name in MEASURES:
        estimate = MEASURES[name](scores.T, levels, clusters, analysis)
        return [Measure(name, attribute, "response", tuple(raters), estimate)]
    return [
        Measure(
            name,
            attribute,
            "response",
            (raters[a], raters[b]),
            # The later rater comes first: bias is that of the first named less the second.
            PAIRWISE[name](scores[b], scores[a], levels, analysis),
        )
        for a in range(len(raters))
        for b in range(a + 1, len(raters))
    ]


def frame_of(measures: Sequence[Measure]) -> pl.DataFrame:
    """One row a coefficient: value, its leading interval, n, k, and a reason where undefined."""
    rows = [
        {
            "measure": measure.estimate.statistic,
            "attribute": measure.attribute,
            "raters": list(measure.raters),
            "value": measure.estimate.value,
            "low": measure.estimate.bounds[0],
            "high": measure.estimate.bounds[1],
            "interval": interval.method if interval else None,
            "n": measure.estimate.n,
            "k": measure.estimate.k,
            "reason": measure.estimate.reason,
        }
        for measure in measures
        for interval in [measure.estimate.interval()]
    ]
    # Written out: without a row, or with nulls alone, types could not be inferred.
    schema = pl.Schema(
        {
            "measure": pl.String(),
            "attribute": pl.String(),
            "raters": pl.List(pl.String()),
            "value": pl.Float64(),
            "low": pl.Float64(),
            "high": pl.Float64(),
            "interval": pl.String(),
            "n": pl.Int64(),
            "k": pl.Int64(),
            "reason": pl.String(),
        }
    )
    frame = pl.DataFrame(rows, schema=schema)
    return frame.with_columns(pl.col("value", "low", "high").fill_nan(None))
