"""Single responses of judge and reference side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.report._display import rater_of, reference_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from voirdire.examining.examination import Examination

KEYS = ("item", "system", "attribute")


def response_pairs(examination: Examination) -> dict[tuple[str, str], NDArray[np.float64]]:
    """(judge, attribute) -> (P, 2) reference and judge: the pairs that the result rests on."""
    joined = pairs_frame(examination).partition_by("judge", "attribute", as_dict=True)
    return {
        (str(judge), str(attribute)): part.select("reference", "score").to_numpy()
        for (judge, attribute), part in joined.items()
    }


def pairs_frame(examination: Examination) -> pl.DataFrame:
    """``judge, rater, item, system, attribute, score, reference``: every pair that counts.

    As the examination pairs: runs are averaged first, then the reference raters present, at least
    the study's quorum of them; excluded systems are left out, and with `listwise` what any rater
    lacks. A judge that is held against each reference in turn has its pairs with each.
    """
    scores = single_scores(examination)
    found = []
    for rater, judge, names in dict.fromkeys(
        (rater_of(r), r.judge, reference_of(examination, r)) for r in examination.results
    ):
        reference = _mean_of(scores, names, examination.study.data.quorum)
        own = scores.filter(pl.col("rater") == rater).join(
            reference, on=KEYS, how="inner", nulls_equal=True, maintain_order="left"
        )
        out = {r.attribute: r.excluded_systems for r in examination.results if r.judge == judge}
        left = [(name, system) for name, systems in out.items() for system in systems]
        gone = pl.DataFrame(left, schema=["attribute", "system"], orient="row")
        kept = own.join(gone.cast(pl.String), on=["attribute", "system"], how="anti")
        found.append(
            kept.select(pl.lit(judge).alias("judge"), "rater", *KEYS, "score", "reference")
        )
    return pl.concat(found)


def single_scores(examination: Examination) -> pl.DataFrame:
    """One score a rater, item, system and attribute: its mean over runs; missing ones are out."""
    text = [pl.col(name).cast(pl.String) for name in ("item", "system", "rater", "attribute")]
    present = examination.ratings.select(*text, pl.col("score").cast(pl.Float64)).drop_nulls(
        "score"
    )
    scores = present.group_by("rater", *KEYS, maintain_order=True).agg(pl.col("score").mean())
    if examination.study.data.pairs != "listwise":
        return scores
    everyone = pl.col("rater").n_unique().over(KEYS) == examination.raters.height
    return scores.filter(everyone)


def _mean_of(scores: pl.DataFrame, raters: Sequence[str], quorum: int) -> pl.DataFrame:
    enough = pl.len() >= min(quorum, len(raters))
    found = scores.filter(pl.col("rater").is_in(raters)).group_by(KEYS, maintain_order=True)
    means = found.agg(pl.col("score").mean().alias("reference"), enough.alias("enough"))
    return means.filter("enough").drop("enough")
