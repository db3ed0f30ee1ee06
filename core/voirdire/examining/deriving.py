"""The ratings of a jury, derived from those of its members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.errors import InputError, StatisticsError, check_allowed
from voirdire.examining.ratings.cube import build_cube
from voirdire.examining.ratings.pairing import kept_responses, not_by_all
from voirdire.examining.verdict.gathering import clusters_of
from voirdire.stats import combine, panel_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.examining.panel import Panel
    from voirdire.examining.ratings.cube import Cube
    from voirdire.study import Rater, Study

    Floats = NDArray[np.float64]


def derive_ratings(study: Study, panel: Panel, ratings: pl.DataFrame) -> pl.DataFrame:
    """The ratings with those of the study's juries behind them, one run of each.

    A member of several runs counts with their mean, and its scores of systems that it excludes are
    left out. Where no score comes of the members' the jury's is missing, with status blank.

    Raises
    ------
    InputError
        A member that is no rater, a jury whose name ratings have already, fine scores that are to
        be voted on, weights that are to be fitted without human ratings.
    """
    own, juries = panel.names, study.juries
    declared = (rater.name for rater in study.panel if not rater.is_jury)
    _check_members(juries, {*own, *declared})
    # Its ratings would be mixed with the derived ones, run by run.
    if taken := [jury.name for jury in juries if jury.name in own]:
        raise InputError(f"jury {taken[0]!r} has ratings of its own: give it another name")
    cube = build_cube(ratings, own, panel.attributes, panel.systems)
    rows = [_rows(jury, _scores(jury, panel, cube, ratings), cube) for jury in juries]
    schema = {name: kind for name, kind in ratings.schema.items() if name in rows[0].columns}
    return pl.concat([ratings, *(block.cast(schema) for block in rows)], how="diagonal")  # type: ignore[arg-type]


def _scores(jury: Rater, panel: Panel, cube: Cube, ratings: pl.DataFrame) -> Floats:
    """(A, N) of a jury."""
    members = member_scores(jury, panel, cube)
    clusters = clusters_or_items(ratings, cube)
    values = np.full(cube.scores.shape[1:], np.nan)
    for at in range(len(cube.attributes)):
        reference = human_scores(panel, cube, at) if panel.reference else None
        try:
            values[at] = combine(
                members[:, at], jury.combine, reference=reference, clusters=clusters
            )
        except StatisticsError as error:
            where = f"jury {jury.name!r} on {cube.attributes[at]}"
            raise InputError(f"{where}, combine = {jury.combine!r}: {error}") from error
    return values


def member_scores(jury: Rater, panel: Panel, cube: Cube) -> Floats:
    """(k, A, N) scores of a jury's members, NaN where one abstained or excludes the system.

    A declared member without a rating is a row of NaN.
    """
    values = np.full((len(jury.members), *cube.scores.shape[1:]), np.nan)
    members = {member.name: member for member in panel.members}
    for row, name in enumerate(jury.members):
        if name in members:
            kept = kept_responses(cube, members[name].excluded)
            values[row][:, kept] = cube.scores[cube.raters.index(name)][:, kept]
    return values


def human_scores(panel: Panel, cube: Cube, at: int) -> Floats:
    """(N,) mean of the reference on one attribute.

    NaN where fewer rated than the quorum and, in a listwise panel, where not all raters did.
    """
    humans = cube.scores[[cube.raters.index(name) for name in panel.reference], at]
    quorum = min(panel.quorum, len(panel.reference))
    scores: Floats = panel_mean(humans.T, quorum=quorum).values
    return np.where(not_by_all(cube, panel)[at], np.nan, scores) if panel.listwise else scores


def clusters_or_items(ratings: pl.DataFrame, cube: Cube) -> NDArray[Any]:
    """What stays in one fold: declared clusters, else items."""
    declared = clusters_of(ratings, cube)
    return cube.item if declared is None else declared


def _rows(jury: Rater, scores: Floats, cube: Cube) -> pl.DataFrame:
    """One row for each response that a member was asked about, and each attribute."""
    # A response that no member was asked about is no missing verdict of the jury's.
    of_members = [at for at, name in enumerate(cube.raters) if name in jury.members]
    asked = np.flatnonzero(cube.asked[of_members].any(0))
    # No system is an empty name in a cube, and null in a table.
    systems = np.array([name or None for name in cube.systems], dtype=object)[cube.system[asked]]
    blocks = [
        pl.DataFrame(
            {
                "item": np.array(cube.items, dtype=object)[cube.item[asked]].tolist(),
                "system": systems.tolist(),
                "rater": jury.name,
                "run": 1,
                "attribute": attribute,
                "score": pl.Series(scores[at, asked]).fill_nan(None),
            },
            schema_overrides={"item": pl.String, "system": pl.String},
        )
        for at, attribute in enumerate(cube.attributes)
    ]
    # All members abstained or a vote was tied: a missing score, which the audit counts.
    status = pl.when(pl.col("score").is_null()).then(pl.lit("blank")).otherwise(pl.lit("ok"))
    return pl.concat(blocks).with_columns(status=status)


def _check_members(juries: Sequence[Rater], raters: set[str]) -> None:
    for jury in juries:
        check_allowed("member", jury.members, sorted(raters), f"jury {jury.name!r}")
