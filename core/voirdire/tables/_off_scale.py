"""What becomes of numbers off the declared scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import TableError, not_one_of

if TYPE_CHECKING:
    from voirdire.schema import Scale
    from voirdire.study._model import OffScale


def apply_off_scale(
    ratings: pl.DataFrame, policy: OffScale, scale: Scale | None = None
) -> pl.DataFrame:
    """Ratings after the study's policy for numbers off the scale.

    Parameters
    ----------
    ratings : DataFrame
        As `read_tables` gives them: such a number stands in `score`, status ``out_of_scale``.
    policy : {"missing", "keep", "error"}
        ``missing`` makes the score null (the status stays), ``keep`` leaves it, ``error`` raises.
    scale : Scale, optional
        Named in the error.

    Raises
    ------
    TableError
        `policy` is ``error`` and there is such a number.

    Examples
    --------
    >>> frame = pl.DataFrame({"score": [4.0, 9.0], "status": ["ok", "out_of_scale"]})
    >>> apply_off_scale(frame, "missing")["score"].to_list()
    [4.0, None]
    """
    off = pl.col("status") == "out_of_scale"
    if policy == "keep":
        return ratings
    if policy == "missing":
        return ratings.with_columns(pl.when(~off).then("score").alias("score"))
    if policy != "error":
        raise not_one_of("off_scale", policy, ("missing", "keep", "error"), error=TableError)
    found = ratings.filter(off)
    if found.height:
        raise TableError(_message(found, scale))
    return ratings


def _message(found: pl.DataFrame, scale: Scale | None) -> str:
    row = found.row(0, named=True)
    of = f", system {row['system']!r}" if row["system"] is not None else ""
    allowed = f" (allowed: {scale.low:g} to {scale.high:g})" if scale else ""
    more = f"; {found.height - 1:,} more are off the scale" if found.height > 1 else ""
    return (
        f"rater {row['rater']!r} gave item {row['item']!r}{of} the score {row['score']:g} on "
        f"{row['attribute']!r}, which is off the declared scale{allowed}{more}"
    )
