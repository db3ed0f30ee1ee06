"""Coefficients over all raters: numbers without a reference, an audit or a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire import tables
from voirdire.errors import InputError, check_allowed
from voirdire.examining.panel import panel_of
from voirdire.examining.ratings.agreement import levels_of
from voirdire.examining.ratings.cube import build_cube
from voirdire.examining.ratings.facts import Measure
from voirdire.examining.source import open_source
from voirdire.examining.spec.coefficients import COEFFICIENTS, RaterScores
from voirdire.examining.spoken import speaks_python
from voirdire.examining.verdict.gathering import clusters_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire.examining.panel import Panel
    from voirdire.examining.ratings.cube import Cube
    from voirdire.schema import Scale
    from voirdire.study import Analysis, ReadOptions, Study

    Clusters = NDArray[np.str_] | None


#: Words for raters that are no names.
GROUPS = {"humans", "judges"}
#: Whose agreement can be measured.
FEWEST_RATERS = 2


@speaks_python
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
        Keys of `voirdire.examining.spec.COEFFICIENTS`, such as icc (A,1), alpha (ordinal), fleiss
        or qwk; docs/statistics.md has all. Some are one number for all raters, some one for each
        pair of them. The bias of a pair is that of the first less the second.
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
    check_allowed("measure", names, COEFFICIENTS)
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
    levels, spec = levels_of(scale, present), COEFFICIENTS[name]
    if spec.of == "all":
        estimate = spec.compute(RaterScores(scores.T, levels, clusters, analysis))
        return [Measure(name, attribute, "response", tuple(raters), estimate)]
    return [
        Measure(
            name,
            attribute,
            "response",
            (raters[a], raters[b]),
            # The later rater comes first: bias is that of the first named less the second.
            spec.compute(RaterScores(scores[[b, a]].T, levels, clusters, analysis)),
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
