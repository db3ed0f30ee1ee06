"""A judge's scores brought to people's by a rising curve, which costs no call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.files import write_csv
from voirdire.stats import calibrate
from voirdire.stats.calibration import rising
from voirdire_plugins.tune.candidates import Scored, mean_run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire_plugins.tune.units import Units

    Floats = NDArray[np.float64]

#: What is done with scores, and the file of a curve that was chosen.
CHANGE, CURVE = "on a rising curve of people's scores", "curve.csv"


def curved(judge: Scored, units: Units) -> Scored | None:
    """The judge's scores by curves of each attribute, no unit's own label shaping its score.

    A score lies on the curve that the labels of four other fifths of the items draw. None where
    some score would be lost, as too few are labelled.
    """
    runs = np.full_like(judge.runs, np.nan)
    for own in _attributes(units):
        said, people = judge.runs[:, own], mean_run(units.humans[own].T)
        found = calibrate(said, people, clusters=units.cluster[own], method="isotonic")
        new = np.isnan(people)  # no label of these drew the curve
        runs[:, own] = np.where(new, _by_all(said, people, said), found.scores)
    if (np.isnan(runs) & ~np.isnan(judge.runs)).any():
        return None
    return Scored(f"{judge.name}, on a curve", runs, judge.rater, CHANGE, judge.calls)


def write_curve(judge: Scored, units: Units, out: Path) -> str:
    """Write the curve by all labels: what each score of each attribute becomes."""
    rows = []
    for own in _attributes(units):
        said = judge.runs[:, own]
        levels = np.unique(said[~np.isnan(said)])
        became = _by_all(said, mean_run(units.humans[own].T), levels)
        attribute = units.keys["attribute"][int(np.flatnonzero(own)[0])]
        rows += [(attribute, *pair) for pair in zip(levels.tolist(), became.tolist(), strict=True)]
    path = out / CURVE
    frame = pl.DataFrame(rows, schema=["attribute", "score", "becomes"], orient="row")
    write_csv(path, frame, again=True)
    return str(path)


def _by_all(said: Floats, people: Floats, scores: Floats) -> Floats:
    mean = mean_run(said)
    both = ~np.isnan(mean) & ~np.isnan(people)
    return rising(mean[both], people[both], scores) if both.any() else scores * np.nan


def _attributes(units: Units) -> Iterator[NDArray[np.bool_]]:
    """(n,) the units of each attribute."""
    attributes = units.keys["attribute"].to_numpy()
    for name in units.keys["attribute"].unique(maintain_order=True):
        yield np.asarray(attributes == name)
