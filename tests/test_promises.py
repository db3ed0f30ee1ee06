"""A part of benchmarks/promises.py on fixed seeds: what is promised holds in simulated worlds.

Bounds leave room for the chance of so many samples: three of its standard errors.
"""

import sys
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))
import promises

RUNS = 90


def room(share, runs=RUNS):
    return 3 * sqrt(share * (1 - share) / runs)


@pytest.fixture(autouse=True)
def _without_peers(monkeypatch):
    monkeypatch.setattr(promises, "peer", lambda *_: (np.nan, np.nan))


@pytest.mark.parametrize(
    ("world", "cell"),
    [
        (promises.rates, (0.9, 0.8, 20)),
        (promises.rates, (0.97, 0.8, 50)),
        (promises.rate_clusters, (5, 0.9, 20)),
        (promises.grades, ("mostly 5", "close", 50, 1)),
        (promises.grades, ("about 4", "close", 20, 10)),
        (promises.differences, ("pass", "same items, same labels", 50)),
    ],
)
def test_intervals_of_corrected_numbers_cover(world, cell):
    found = world(np.random.default_rng(11), RUNS, *cell)
    assert 0.93 - room(0.93) <= found.hits[0] / RUNS <= 0.98 + room(0.98)


@pytest.mark.parametrize("errors", promises.ERRING)
def test_release_is_missed_no_oftener_than_promised(errors):
    missed, _, _ = promises.releases(np.random.default_rng(2), RUNS, errors, 20, 20)
    assert missed / RUNS <= 0.05 + room(0.05)
    missed, seen, _ = promises.releases(np.random.default_rng(3), 100, errors, 10, 80)
    assert missed / 100 <= 0.05 + room(0.05, 100)
    assert seen / 100 >= 0.4


def test_a_plan_suffices_and_foretells_its_width():
    chance = np.random.default_rng(4)
    for kind, close, refused in (("about 4", 0.9, 0), ("nearly all 5", 0.65, 8)):
        within, suffices, holds, small, runs = promises.plans(chance, RUNS, kind, 1, 50)
        assert within / runs >= close - room(close)
        assert suffices / runs >= 0.8 - room(0.8)
        assert holds / runs >= 0.9 - room(0.9)
        # Of 50 labels, six in seven a 5, hardly ever fewer than three are another grade.
        assert small <= refused
