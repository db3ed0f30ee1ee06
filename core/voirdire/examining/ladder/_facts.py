"""What a verdict needs beside a pair's own result: humans, alt-tests, runs, temperatures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.examining.ladder._known import Known
from voirdire.examining.ladder._stability import stability
from voirdire.examining.ratings.pairing import excluded_systems, kept_responses
from voirdire.stats import alt_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from voirdire.examining._context import Context
    from voirdire.examining.ratings.cube import Cube
    from voirdire.stats import Estimate
    from voirdire.study import Rater


def known_facts(
    context: Context, raters: Sequence[Rater], reference: Sequence[str], ratings: pl.DataFrame
) -> Known:
    """Facts about the panel; what the data cannot tell is left empty and so "not tested"."""
    cube, thresholds = context.cube, context.study.thresholds
    judges = [rater for rater in raters if rater.name not in reference]
    names = [judge.name for judge in judges]
    shared = {attribute: _shared_items(cube, reference, attribute) for attribute in cube.attributes}
    enough = len(reference) >= thresholds.min_humans
    return Known(
        humans=tuple(reference),
        shared_items=shared,
        alt_tests=_alt_tests(context, judges, reference) if enough else {},
        runs={name: cube.runs[name] for name in names},
        temperatures={rater.name: rater.temperature for rater in raters},
        stability=stability(ratings, names, cube.attributes, context.study.analysis.level),
    )


def _shared_items(cube: Cube, reference: Sequence[str], attribute: str) -> int:
    """The fewest responses that any human shares with another one."""
    rated = np.array([~np.isnan(cube.of(name, attribute)) for name in reference])
    if len(reference) < 2:
        return 0
    shared = rated & (rated.sum(axis=0) > 1)
    return int(shared.sum(axis=1).min())


def _alt_tests(
    context: Context, judges: Sequence[Rater], reference: Sequence[str]
) -> dict[tuple[str, str], Estimate]:
    """Each judge and attribute, on the responses that its exclusions leave."""
    cube, thresholds = context.cube, context.study.thresholds
    return {
        (judge.name, attribute): alt_test(
            np.stack([cube.of(name, attribute) for name in reference], axis=1)[kept],
            cube.of(judge.name, attribute)[kept],
            score="neg_rmse",
            epsilon=thresholds.epsilon,
            min_items=thresholds.min_shared_items,
        )
        for judge in judges
        for kept in [kept_responses(cube, excluded_systems(judge, context.study))]
        for attribute in cube.attributes
    }
