"""What a verdict needs beside a pair's own result: humans, alt-tests, runs, temperatures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.examine._known import Known
from voirdire.examine._stability import stability
from voirdire import stats

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from voirdire.examine._cube import Cube
    from voirdire.examine._results import Context
    from voirdire.stats import Estimate
    from voirdire.study import Rater


def known_facts(
    context: Context, raters: Sequence[Rater], reference: Sequence[str], ratings: pl.DataFrame
) -> Known:
    """Facts about the panel; what the data cannot tell is left empty and so "not tested"."""
    cube, thresholds = context.cube, context.study.thresholds
    judges = [rater.name for rater in raters if rater.name not in reference]
    shared = {attribute: _shared_items(cube, reference, attribute) for attribute in cube.attributes}
    enough = len(reference) >= thresholds.min_humans
    return Known(
        humans=tuple(reference),
        shared_items=shared,
        alt_tests=_alt_tests(context, judges, reference) if enough else {},
        runs={judge: cube.runs[judge] for judge in judges},
        temperatures={rater.name: rater.temperature for rater in raters},
        stability=stability(ratings, judges, cube.attributes),
    )


def _shared_items(cube: Cube, reference: Sequence[str], attribute: str) -> int:
    """The fewest responses that any human shares with another one."""
    rated = np.array([~np.isnan(cube.of(name, attribute)) for name in reference])
    if len(reference) < 2:
        return 0
    shared = rated & (rated.sum(axis=0) > 1)
    return int(shared.sum(axis=1).min())


def _alt_tests(
    context: Context, judges: Sequence[str], reference: Sequence[str]
) -> dict[tuple[str, str], Estimate]:
    cube, thresholds = context.cube, context.study.thresholds
    return {
        (judge, attribute): stats.alt_test(
            cube.of(judge, attribute),
            np.stack([cube.of(name, attribute) for name in reference], axis=1),
            epsilon=thresholds.epsilon,
            scorer="neg_rmse",
        ).winning_rate
        for judge in judges
        for attribute in cube.attributes
    }
