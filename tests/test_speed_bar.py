"""A bar for speed: two works beside what plain NumPy and Polars take on the same machine.

Each side repeats its work until it has taken a second of processor time, in turns, and the best of
five counts. A ratio that is half as much again as it was when it was written down fails, if it is so
twice running. `benchmarks/limits.py` measures all works at their full size.
"""

from __future__ import annotations

import time

import numpy as np
import polars as pl
import pytest

from voirdire.examining.source import inputs_of, open_source
from voirdire.examining.spec import COMPONENTS
from voirdire.examining.spec.scores.case import Case, GateRule
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.study import Margins

SYSTEMS, ITEMS = 10, 1000
ROUNDS, LEAST, MORE = 5, 1.0, 1.5


def ratings():
    """A judge and a human on 10,000 responses."""
    rng = np.random.default_rng(0)
    system, item = (part.ravel() for part in np.indices((SYSTEMS, ITEMS)))
    quality = 3 + 0.1 * system + rng.normal(0, 0.8, system.size)
    scores = [np.clip(np.rint(quality + rng.normal(0, 0.7, quality.size)), 1, 5) for _ in range(2)]
    return system, item, *scores


def verdicts(tmp_path):
    """All components of one pair of judge and attribute."""
    system, item, human, judge = ratings()
    gate = GateRule(4.0)
    case = Case(
        "judge", "a", ("human",), judge[None], human[None], item, 4.0, systems=system, gate=gate
    )

    def work():
        # The registry is filled, so there is something to time.
        assert len(ScoreGround(case, Margins()).all()) > 10 < len(COMPONENTS)

    return work


def sums_and_orders(tmp_path):
    """What the components are made of: sums by item, and responses in order."""
    _, item, human, judge = ratings()

    def work():
        for _ in range(100):
            np.bincount(item, weights=human * judge, minlength=ITEMS)
            np.argsort(human + judge)

    return work


def written(tmp_path):
    """120,000 ratings of four raters in Parquet."""
    path = tmp_path / "ratings.parquet"
    if not path.exists():
        rater, system, item = (part.ravel() for part in np.indices((4, SYSTEMS, 3 * ITEMS)))
        scores = np.random.default_rng(0).integers(1, 6, rater.size)
        names = {"item": item, "system": system, "rater": rater}
        pl.DataFrame(names | {"score": scores}).select(
            *((pl.lit(key[0]) + pl.col(key).cast(pl.String)).alias(key) for key in names), "score"
        ).write_parquet(path)
    return path


def reading(tmp_path):
    """From a file to what is examined, audited."""
    path = written(tmp_path)
    return lambda: inputs_of(open_source(path, reference=["r0"]))


def grouping(tmp_path):
    """Read, and group by response."""
    path = written(tmp_path)

    def work():
        pl.read_parquet(path).group_by("item", "system").agg(pl.col("score").mean())

    return work


def repeated(work):
    """How often a work is done in a second, the first time not counted."""
    work()
    began, times = time.process_time(), 0
    while times < 3:
        work()
        times += 1
    return max(1, round(LEAST * times / (time.process_time() - began)))


def ratio_of(ours, peer):
    """What ours takes, over what the peer does: the best of five of each, in turns."""
    sides = [(work, repeated(work)) for work in (ours, peer)]
    best = [np.inf, np.inf]
    for _ in range(ROUNDS):
        for side, (work, times) in enumerate(sides):
            began = time.process_time()
            for _ in range(times):
                work()
            best[side] = min(best[side], (time.process_time() - began) / times)
    return best[0] / best[1]


@pytest.mark.parametrize(
    ("ours", "peer", "written_down"), [(verdicts, sums_and_orders, 0.6), (reading, grouping, 43)]
)
def test_no_work_takes_half_as_much_again(ours, peer, written_down, tmp_path):
    works = ours(tmp_path), peer(tmp_path)
    ratio = ratio_of(*works)
    if ratio > MORE * written_down:
        ratio = min(ratio, ratio_of(*works))
    assert ratio < MORE * written_down
