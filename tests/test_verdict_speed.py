"""The verdict's own time, held against that of a plain loop on the same machine."""

from __future__ import annotations

import time

import numpy as np
from machine import second

from voirdire.examining.spec import COMPONENTS
from voirdire.examining.spec.scores.case import Case, GateRule
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.study import Margins

PAIRS, SYSTEMS, ITEMS = 28, 10, 1000


def cases():
    """28 judges and attributes on 10,000 responses, one column of humans."""
    rng = np.random.default_rng(0)
    system, item = (part.ravel() for part in np.indices((SYSTEMS, ITEMS)))
    for pair in range(PAIRS):
        quality = 3 + 0.1 * system + rng.normal(0, 0.8, system.size)
        human, judge = (
            np.clip(np.rint(quality + rng.normal(0, 0.7, system.size)), 1, 5) for _ in range(2)
        )
        yield Case(
            "judge", str(pair), ("human",), judge[None], human[None], item, 4.0,
            systems=system, gate=GateRule(4.0),
        )  # fmt: skip


def test_28_pairs_of_10_000_responses_take_less_than_a_second():
    given = list(cases())
    found = ScoreGround(given[0], Margins()).all()  # what is imported or compiled once
    assert (
        len(found) > 10 < len(COMPONENTS)
    )  # the registry is filled, so there is something to time
    spent = []
    for _ in range(3):
        began = time.process_time()
        for case in given:
            ScoreGround(case, Margins()).all()
        spent.append(time.process_time() - began)
    assert min(spent) < second(), spent
