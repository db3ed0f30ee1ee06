"""How each rater sees each system: means, ranks, and paired tests between systems."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from voirdire.examining.ratings.facts import SystemMean, SystemTest
from voirdire.stats import compare_systems

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.ratings.cube import Cube


def system_means(cube: Cube, composites: Mapping[str, Sequence[str]]) -> tuple[SystemMean, ...]:
    """Means and SDs over all ratings present, no system left out; ranks within each rater.

    Overall is the mean of the attributes' means; its SD is that of the mean over attributes of
    each response that has all of them.
    """
    return tuple(
        mean
        for rater in range(len(cube.raters))
        for mean in _of_rater(cube, rater, cube.with_composites(composites))
    )


def _of_rater(cube: Cube, rater: int, composed: Cube) -> list[SystemMean]:
    return ranked(
        [_of_system(cube, composed, rater, system) for system in range(len(cube.systems))]
    )


def ranked(means: Sequence[SystemMean]) -> list[SystemMean]:
    """One rater's means of the systems that it rated, ranked by what they are overall.

    Ties share the mean of their places; what has no overall mean has no rank.
    """
    rated = [mean for mean in means if mean.n]
    overall = np.array([mean.overall for mean in rated])
    ranks = [1 + int((overall > o).sum()) + (int((overall == o).sum()) - 1) / 2 for o in overall]
    return [
        replace(mean, rank=math.nan if math.isnan(mean.overall) else rank)
        for mean, rank in zip(rated, ranks, strict=True)
    ]


def _of_system(cube: Cube, composed: Cube, rater: int, system: int) -> SystemMean:
    scores = cube.scores[rater][:, cube.system == system]
    means = dict(zip(cube.attributes, map(_mean, scores), strict=True))
    parts = composed.scores[rater][:, cube.system == system]
    present = [mean for mean in means.values() if not math.isnan(mean)]
    return SystemMean(
        rater=cube.raters[rater],
        system=cube.systems[system],
        means=means,
        sds=dict(zip(cube.attributes, map(_sd, scores), strict=True)),
        n=int((~np.isnan(scores)).any(axis=0).sum()),
        # Attributes weigh the same, however many responses each was rated on.
        overall=sum(present) / len(present) if present else math.nan,
        overall_sd=_sd(scores.mean(axis=0)),
        rank=math.nan,
        composites=dict(zip(composed.attributes, map(_mean, parts), strict=True)),
    )


def _mean(values: NDArray[np.float64]) -> float:
    present = values[~np.isnan(values)]
    return float(present.mean()) if present.size else math.nan


def _sd(values: NDArray[np.float64]) -> float:
    present = values[~np.isnan(values)]
    return float(present.std(ddof=1)) if present.size > 1 else math.nan


def system_tests(cube: Cube) -> tuple[SystemTest, ...]:
    """Paired t-tests between systems within each rater, Holm over that rater's pairs.

    The unit is the item, the value the mean of all attributes (missing where one is).
    """
    tests: list[SystemTest] = []
    for rater, scores in zip(cube.raters, cube.scores, strict=True):
        table = np.full((len(cube.items), len(cube.systems)), np.nan)
        # A response that lacks an attribute is missing: a mean over others would compare unlike
        # things.
        table[cube.item, cube.system] = scores.mean(axis=0)
        tests += _tests(rater, table, cube.systems)
    return tuple(tests)


def judge_mean_tests(cube: Cube, judges: Sequence[str]) -> tuple[SystemTest, ...]:
    """The published tests (compat badawi2025): the unit is the judge, the value its mean score.

    With four judges there are three degrees of freedom: these tests speak about judges like
    these, and hardly at all about conversations.
    """
    table = [
        [
            _mean(cube.scores[cube.raters.index(judge)][:, cube.system == system].mean(axis=0))
            for system in range(len(cube.systems))
        ]
        for judge in judges
    ]
    return tuple(_tests(f"means of {len(judges)} judges", np.array(table), cube.systems))


def _tests(rater: str, table: NDArray[np.float64], systems: Sequence[str]) -> list[SystemTest]:
    tests = compare_systems(table, systems) if len(systems) > 1 else ()
    return [
        SystemTest(
            rater,
            test.first,
            test.second,
            test.n,
            test.difference,
            test.statistic,
            test.p,
            test.p_adjusted,
            test.family,
        )
        for test in tests
    ]
