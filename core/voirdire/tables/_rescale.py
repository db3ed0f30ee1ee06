"""Raters on scales of their own: put on the study's by a linear map that somebody asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, listed
from voirdire.tables._scale import infer_scale, without_codes
from voirdire.tables._tables import STATUS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from voirdire.schema import Scale
    from voirdire.study import Source
    from voirdire.tables._tables import SourceTables

#: From this share of a rater's scores on beyond the reference's scale, it is on another one.
_BEYOND = 0.2
_MOSTLY = 0.5
#: Fewer shared responses than this say nothing of a direction; a scale turned round correlates
#: below this.
#: So many scores show a scale and a direction.
#: Ratings of people whose items show whether a judge falls as they rise.
_FALLING = 2_000
_SAMPLE = 20_000
_LEAST, _TURNED = 20, -0.5


def rescaled(
    part: SourceTables, ends: Mapping[str, tuple[float, float]], scale: Scale
) -> SourceTables:
    """A part whose scores of some raters are put on the study's scale, by a straight line.

    Parameters
    ----------
    ends : mapping
        Rater -> the ends of its own scale, the worst first: (5, 1) where 1 is best.
    """
    if not ends:
        return part
    score = pl.col("score")
    mapped = score
    for rater, (worst, best) in ends.items():
        line = scale.low + (score - worst) / (best - worst) * (scale.high - scale.low)
        mapped = pl.when(pl.col("rater") == rater).then(line).otherwise(mapped)
    slack = 1e-9 * (scale.high - scale.low)
    inside = score.is_between(scale.low - slack, scale.high + slack)
    decided = pl.col("status").cast(pl.String).is_in(["ok", "out_of_scale"])
    mine = pl.col("rater").is_in(list(ends)) & score.is_not_null() & decided
    status = pl.when(inside).then(pl.lit("ok", STATUS)).otherwise(pl.lit("out_of_scale", STATUS))
    ratings = part.ratings.with_columns(mapped.alias("score")).with_columns(
        pl.when(mine & inside).then(score.clip(scale.low, scale.high)).otherwise(score),
        pl.when(mine).then(status).otherwise(pl.col("status")).alias("status"),
    )
    return replace(part, ratings=ratings)


def ask_about_scales(
    source: Source,
    ratings: pl.DataFrame,
    reference: Sequence[str],
    said: Collection[str],
) -> None:
    """Raise where a judge is on another scale than the reference, or its scale is turned round.

    Parameters
    ----------
    said : collection of str
        The raters whose scale somebody said.

    Raises
    ------
    QuestionError
        Whether the scores are put on the reference's scale, or kept as they are.
    """
    people = pl.col("rater").is_in(list(reference))
    human = ratings.filter(people)
    own = without_codes(human["score"].drop_nulls().head(_SAMPLE).sort())
    if source.assume or len(own) < _LEAST:
        return
    scale = infer_scale(own)
    asked: dict[str, tuple[tuple[float, float], str]] = {}
    # One pass for all raters: of some millions each further one costs as much as reading them.
    rows = ratings
    if human.height > _SAMPLE:
        some = pl.col("item").is_in(human["item"].head(_FALLING).unique().implode())
        human, rows = human.filter(some), ratings.filter(some)
    first = (
        ratings.lazy()
        .filter(~people, pl.col("score").is_not_null())
        .group_by("rater", maintain_order=True)
        .agg(pl.col("score").head(_SAMPLE))
        .collect()
    )
    for rater, held in zip(first["rater"], first["score"], strict=True):
        if rater in said:
            continue
        judged, scores = rows.filter(pl.col("rater") == rater), held.sort()
        ends = _other_scale(without_codes(scores), scale, own)
        if ends is not None:
            asked[rater] = ends, f"{rater!r} runs from {ends[0]:g} to {ends[1]:g}"
        elif _is_turned(human, judged):
            asked[rater] = (
                (scale.high, scale.low),
                f"{rater!r} runs the other way round (its scores fall where the reference's rise)",
            )
    if not asked:
        return
    maps = ", ".join(f"{name}={a:g}..{b:g}" for name, ((a, b), _) in asked.items())
    kept = ", ".join(f"{name}={scale.low:g}..{scale.high:g}" for name in asked)
    lines = {name: [a, b] for name, ((a, b), _) in asked.items()}
    inside = ", ".join(f"{name!r} = {ends}" for name, ends in lines.items()).replace("'", '"')
    raise QuestionError(
        f"{source.path}: {'; '.join(text for _, text in asked.values())}, and {listed(reference)} "
        f"from {scale.low:g} to {scale.high:g}; is it put on that scale (the first choice), or "
        f"kept as it is?",
        "rescale",
        (maps, kept),
        f"rescale = {{{inside}}}",
    )


def _other_scale(
    scores: pl.Series, scale: Scale, reference: pl.Series
) -> tuple[float, float] | None:
    """The ends of a judge's own scale, where it is another one than the reference's."""
    if len(scores) < _LEAST:
        return None
    mine = infer_scale(scores)
    top, levels = max(reference.to_list(), default=0.0), reference.n_unique()
    ends = mine.low, mine.high
    if ends == (scale.low, scale.high):
        return None
    # Shares among whole levels lie within 0 to 5 as well, and all of them at the low end.
    if mine.high <= 1 and mine.continuous and top >= 2:
        return ends
    # Measures without levels have no ends by which one could be mapped on another.
    if scale.continuous and scale.high > 1:
        return None
    above = int((scores > top).sum()) / len(scores)
    if top <= 1 and above >= _MOSTLY:
        return ends
    # A reference that used few levels may not have used the high ones.
    used = scale.width >= 3 and levels >= min(5, scale.width + 1)
    far = bool((scores > top + 1).any())
    return ends if used and above >= _BEYOND and far else None


def _is_turned(people: pl.DataFrame, judged: pl.DataFrame) -> bool:
    """Whether a judge's scores fall as the reference's rise."""
    keys = ["item", "system", "attribute"]
    means = people.drop_nulls("score").group_by(keys).agg(pl.col("score").mean())
    own = judged.drop_nulls("score").group_by(keys).agg(pl.col("score").mean().alias("own"))
    both = means.join(own, on=keys, nulls_equal=True)
    # Of two levels a judge that is mostly wrong and one that is turned round are the same.
    if both.height < _LEAST or both["score"].round(3).n_unique() < 3:
        return False
    value = both.select(pl.corr("score", "own", method="spearman")).item()
    return value is not None and value == value and value <= _TURNED  # noqa: PLR0124 - NaN
