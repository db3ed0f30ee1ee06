"""What a verdict needs beside a pair's own result: humans, alt-tests, runs, temperatures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.examining.ladder._known import Known
from voirdire.examining.ladder._stability import stability
from voirdire.examining.ratings.pairing import kept_responses
from voirdire.stats import alt_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from voirdire.examining.ratings.cube import Cube
    from voirdire.examining.source import Panel
    from voirdire.stats import Estimate
    from voirdire.study import Study


def known_facts(cube: Cube, study: Study, panel: Panel, ratings: pl.DataFrame) -> Known:
    """Facts about the panel; what the data cannot tell is left empty and so "not tested"."""
    names = [judge.name for judge in panel.judges]
    temperatures = {rater.name: rater.temperature for rater in study.panel}
    return Known(
        humans=panel.reference,
        shared_items={name: _shared_items(cube, panel.reference, name) for name in cube.attributes},
        alt_tests=_alt_tests(cube, study, panel)
        if len(panel.reference) >= study.thresholds.min_humans
        else {},
        runs={name: cube.runs[name] for name in names},
        temperatures={name: temperatures.get(name) for name in panel.names},
        stability=stability(ratings, names, cube.attributes, study.analysis.level),
    )


def _shared_items(cube: Cube, reference: Sequence[str], attribute: str) -> int:
    """The fewest responses that any human shares with another one."""
    rated = np.array([~np.isnan(cube.of(name, attribute)) for name in reference])
    if len(reference) < 2:
        return 0
    shared = rated & (rated.sum(axis=0) > 1)
    return int(shared.sum(axis=1).min())


def _alt_tests(cube: Cube, study: Study, panel: Panel) -> dict[tuple[str, str], Estimate]:
    """Each judge and attribute, on the responses that its exclusions leave."""
    return {
        (judge.name, attribute): alt_test(
            np.stack([cube.of(name, attribute) for name in panel.reference], axis=1)[kept],
            cube.of(judge.name, attribute)[kept],
            score="neg_rmse",
            epsilon=study.thresholds.epsilon,
            min_items=study.thresholds.min_shared_items,
        )
        for judge in panel.judges
        for kept in [kept_responses(cube, judge.excluded)]
        for attribute in cube.attributes
    }
