"""Numbers without a reference, an audit or a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire import tables
from voirdire.examining._labels import label_scale
from voirdire.examining._panel import context_of, raters_of, scale_of
from voirdire.examining.measures import frame_of, measures_of
from voirdire.examining.source import adjust, resolve

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from voirdire.study import Study


def measure(
    source: str | Path | Study | pl.DataFrame,
    measures: Sequence[str],
    *,
    data: str | Path | None = None,
    raters: Sequence[str] = (),
    off_scale: str | None = None,
) -> pl.DataFrame:
    """Coefficients over all raters of a table, without a reference, an audit or a verdict.

    Parameters
    ----------
    source, data, off_scale
        As in `examine`.
    measures : sequence of str
        Over all raters: icc (A,1), icc_1, icc_c1, icc_a1, icc_1k, icc_ck, icc_ak, alpha (ordinal),
        alpha_nominal, alpha_interval, alpha_ratio, fleiss, ac1, ac2, bp, agreement. For each pair
        of raters: cohen, qwk, ccc, pearson, spearman, kendall.
    raters : sequence of str, optional
        Only these; in a wide file without a study, the columns that are raters.

    Returns
    -------
    polars.DataFrame
        ``measure, attribute, raters, value, low, high, interval, n, k, reason``: one row a
        coefficient and attribute, at response level. Undefined is null with a reason.

    Raises
    ------
    InputError
        As `examine`; an unknown measure.

    Examples
    --------
    >>> import polars as pl, voirdire
    >>> frame = pl.DataFrame({"item": [1, 2, 3, 4], "anna": [1, 2, 3, 3], "ben": [1, 2, 3, 2]})
    >>> voirdire.measure(frame, ["alpha"], raters=["anna", "ben"])["value"].round(3).to_list()
    [0.79]
    """
    study, found, _ = resolve(source, data, raters)
    study = label_scale(study)
    study = adjust(study, {"data": {"off_scale": off_scale}, "analysis": {"measures": measures}})
    found = found or tables.read_tables(study)
    ratings = tables.apply_off_scale(found.ratings, study.data.off_scale, scale_of(study))
    panel = [r for r in raters_of(study, found.raters) if not raters or r.name in raters]
    context = context_of(study, ratings, panel)
    return frame_of(measures_of(context.cube, study, context.scale))
