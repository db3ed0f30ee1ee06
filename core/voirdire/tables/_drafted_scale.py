"""The scale of files without a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import TableError, listed
from voirdire.schema import Scale
from voirdire.tables._files import RawTable
from voirdire.tables._names import head_of
from voirdire.tables._numbers import in_per_cent
from voirdire.tables._scale import drafted_scale, few_between, stated_scale, unlike_scales
from voirdire.tables._tables import finding
from voirdire.tables._values import LARGEST
from voirdire.tables.readers import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Finding
    from voirdire.tables._looked import Looked


def scale_of_all(
    looked: Sequence[Looked], ratings: pl.DataFrame, people: Sequence[str], raters: Sequence[str]
) -> tuple[Scale, tuple[float, ...]]:
    """The scale of all files, and levels that are codes for a missing score."""
    split = 0 < len(people) < len(raters)
    stated = _stated(looked, ratings["score"])
    if stated is not None:
        return stated, ()
    headed = stated_scale(looked[0].name, score_headers(looked), ratings["score"])
    if headed is not None:
        return headed, ()
    # A code for a missing score is one side's habit; without two sides, one rater's.
    sides = ratings["rater"].is_in(list(people)) if split else ratings["rater"]
    tables = [each.source for each in looked if each.how is not None]
    scale, codes = drafted_scale(ratings, sides.cast(pl.String), tables)
    cells = [
        each.table.frame[c]
        for each, c in scored_columns(looked)
        if isinstance(each.table, RawTable)
    ]
    if any(map(in_per_cent, cells)):
        scale = Scale(0, 100, scale.step)
    if scale.width > 2 * LARGEST:
        columns = [column for each in looked if each.how for column in each.how.values]
        raise TableError(
            f"{looked[0].name}: values run from {scale.low:g} to {scale.high:g}, which is no "
            f"rating scale (columns: {listed(columns)}); declare columns and scale in a study"
        )
    return scale, codes


def scored_columns(looked: Sequence[Looked]) -> list[tuple[Looked, str]]:
    """The columns of all files that hold scores."""
    tables = [each for each in looked if each.how is not None and each.how.kind != "replies"]
    return [(each, column) for each in tables if each.how for column in each.how.values]


def score_headers(looked: Sequence[Looked]) -> list[str]:
    """Their headers."""
    return [column for _, column in scored_columns(looked)]


def _stated(looked: Sequence[Looked], scores: pl.Series) -> Scale | None:
    """The scale that a reader states, where all files keep to it."""
    stated = [each.raw.scale for each in looked if isinstance(each.raw, Reading)]
    scales = {scale for scale in stated if scale is not None}
    if len(scales) != 1:
        return None
    (scale,) = scales
    return scale if scores.drop_nulls().is_between(scale.low, scale.high).all() else None


def scale_note(looked: Sequence[Looked], scale: Scale, codes: Sequence[float] = ()) -> Finding:
    steps = ", continuous," if scale.continuous else f" by {scale.step:g}"
    beside = (
        f" Without {', '.join(f'{c:g}' for c in codes)}, which the others do not use."
        if codes
        else ""
    )
    ratings = pl.concat([each.ratings for each in looked], how="diagonal")
    between = few_between(ratings) if scale.step < 1 else ""
    foreign = [each.name for each in looked if each.how is None]
    assume = any(each.source.assume for each in looked)
    ranges = unlike_scales(foreign[0], ratings, assume=assume) if foreign else ""
    stated = [c for c in score_headers(looked) if head_of(c).high is not None]
    whence = f"is stated by {listed(stated[:1])}" if stated else "was inferred from the values"
    return finding(
        "scale_inferred",
        "serious" if codes or ranges or between else "note",
        looked[0].name,
        [],
        f"The scale {scale.low:g} to {scale.high:g}{steps} {whence}.{beside}{between}{ranges}",
        "Bias is measured against its width, and other values count as off it: declare it.",
        count=1,
    )
