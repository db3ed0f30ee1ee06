"""Raters that always say the same, and raters that say little."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire._errors import listed
from voirdire.tables._tables import finding, plural
from voirdire.tables.audit._cells import divided

if TYPE_CHECKING:
    from voirdire.schema import Finding
    from voirdire.study import Study
    from voirdire.tables._tables import Tables

#: Fewer equal scores than this are no pattern.
_PATTERN = 5


def variation_findings(tables: Tables, study: Study) -> list[Finding]:
    """``constant_rater``, ``few_ratings`` and ``one_rater``."""
    score = pl.col("score")
    summary = (
        tables.ratings.lazy()
        .group_by("rater", "attribute")
        .agg(low=score.min(), high=score.max(), n=score.count())
        .sort("rater", "attribute")
        .collect()
    )
    labelling = {"annotator", "classifier"}
    labellers = set(tables.raters.filter(pl.col("kind").is_in(labelling))["rater"])
    return [
        *_one(tables, labellers),
        *_constant(summary, labellers),
        *_few(summary, study, divided(tables, study)),
    ]


def _one(tables: Tables, labellers: set[str]) -> list[Finding]:
    """An annotator can be held against its own runs; anyone else needs another rater."""
    name = tables.raters["rater"][0]
    if tables.raters.height > 1 or name in labellers:
        return []
    return [
        finding(
            "one_rater",
            "blocking",
            name,
            [],
            f"{name!r} is the only rater.",
            "Nothing can be compared: a judge needs a reference.",
            count=1,
        )
    ]


def _constant(summary: pl.DataFrame, labellers: set[str]) -> list[Finding]:
    """One score throughout; for a label that is rare, not odd."""
    same = summary.filter((pl.col("low") == pl.col("high")) & (pl.col("n") >= _PATTERN))
    found = []
    for (rater,), block in same.group_by("rater", maintain_order=True):
        where = [f"{name}: always {value:g}" for name, value in block["attribute", "low"].rows()]
        found.append(
            finding(
                "constant_rater",
                "note" if rater in labellers else "serious",
                str(rater),
                where,
                f"The same score throughout on {listed(block['attribute'].to_list())}.",
                "Without variation correlation, kappa and ICC are undefined or say nothing there.",
            )
        )
    return found


def _few(summary: pl.DataFrame, study: Study, shared: int) -> list[Finding]:
    """Raters with few scores; of people who divided the work the scores of all of them count."""
    least = study.thresholds.min_shared_items
    few = summary.filter(pl.col("n") < least, pl.col("n").max().over("rater") > 0)
    if shared >= least:
        few = few.filter(~pl.col("rater").is_in(study.data.reference))
    found = []
    for (rater,), block in few.group_by("rater", maintain_order=True):
        where = [f"{name}: {n}" for name, n in block["attribute", "n"].rows()]
        found.append(
            finding(
                "few_ratings",
                "serious",
                str(rater),
                where,
                f"Fewer than {least} scores on {plural(block.height, 'attribute')}.",
                "Intervals will be wide and replaceability is not tested there.",
            )
        )
    return found
