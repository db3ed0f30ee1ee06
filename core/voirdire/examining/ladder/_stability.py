"""Whether single runs of a rater repeat themselves: ICC(A,1) over its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.stats import icc

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from voirdire.stats import Estimate

FEWEST_RUNS = 3


def stability(
    ratings: pl.DataFrame, raters: Sequence[str], attributes: Sequence[str], level: float
) -> dict[tuple[str, str], Estimate]:
    """(rater, attribute) -> ICC(A,1) of responses by runs, where three or more runs have scores."""
    keys = (pl.col("rater").cast(pl.String), pl.col("attribute").cast(pl.String))
    scored = ratings.filter(pl.col("score").is_not_null())
    runs = scored.group_by(keys).agg(pl.col("run").n_unique())
    repeated = {(rater, name) for rater, name, count in runs.iter_rows() if count >= FEWEST_RUNS}
    return {
        (rater, attribute): icc(_by_run(scored, rater, attribute), "A,1", ci="f", level=level)
        for rater in raters
        for attribute in attributes
        if (rater, attribute) in repeated
    }


def _by_run(ratings: pl.DataFrame, rater: str, attribute: str) -> NDArray[np.float64]:
    """Responses by runs."""
    wide = ratings.filter(
        pl.col("rater").cast(pl.String) == rater, pl.col("attribute").cast(pl.String) == attribute
    ).pivot("run", index=["item", "system"], values="score", aggregate_function="mean")
    return wide.drop("item", "system").cast(pl.Float64).to_numpy()
