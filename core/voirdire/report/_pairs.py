"""Single responses of judge and reference side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from voirdire.examining._examination import Examination

KEYS = ("item", "system", "attribute")


def response_pairs(examination: Examination) -> dict[tuple[str, str], NDArray[np.float64]]:
    """(judge, attribute) -> (P, 2) reference and judge, excluded systems left out.

    The reference is the mean of the human raters present; a rater's score is the mean of its runs.
    """
    scores = single_scores(examination.ratings)
    joined = scores.filter(pl.col("rater").is_in(examination.judges)).join(
        reference_scores(examination, scores), on=KEYS, how="inner", nulls_equal=True
    )
    left_out = {(r.judge, r.attribute): r.excluded_systems for r in examination.results}
    found = {}
    for key, part in joined.partition_by("rater", "attribute", as_dict=True).items():
        pair = (str(key[0]), str(key[1]))
        out = pl.col("system").is_in(left_out.get(pair, ())).fill_null(value=False)
        found[pair] = part.filter(~out).select("reference", "score").to_numpy()
    return found


def single_scores(ratings: pl.DataFrame) -> pl.DataFrame:
    """One score a rater, item, system and attribute: its mean over runs; missing ones are out."""
    text = [pl.col(name).cast(pl.String) for name in ("item", "system", "rater", "attribute")]
    present = ratings.select(*text, pl.col("score").cast(pl.Float64)).drop_nulls("score")
    return present.group_by("rater", *KEYS).agg(pl.col("score").mean())


def reference_scores(examination: Examination, scores: pl.DataFrame) -> pl.DataFrame:
    """The mean of the reference raters present, as the column `reference`."""
    raters = list(examination.options.get("reference") or ())
    is_reference = (
        pl.col("rater").is_in(raters) if raters else ~pl.col("rater").is_in(examination.judges)
    )
    return scores.filter(is_reference).group_by(KEYS).agg(pl.col("score").mean().alias("reference"))
