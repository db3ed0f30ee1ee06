"""Pairs of systems settled in blocks, beside each pair by leaving out each cluster."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest
from reference.pairs import every_pair

from voirdire.stats import turned_pairs as rule
from voirdire.stats.response_panel import ResponsePanel
from voirdire.stats.system_means import Means


def means(rng, systems, items, noise, sign):
    """Grades of a human and a judge that follows the quality, or its mirror image."""
    quality = rng.normal(0, 0.6, (systems, 1)) + rng.normal(0, 0.5, (systems, items))
    human, judge = (
        np.clip(np.rint(3 + side * quality + rng.normal(0, noise, quality.shape)), 1, 5).ravel()
        for side in (1, sign)
    )
    system, item = (part.ravel() for part in np.indices((systems, items)))
    return Means.of(ResponsePanel.of(judge, human, systems=system, items=item))


@pytest.mark.parametrize("block", [3, 128])
def test_pairs_settled_by_bounds_are_those_of_every_pair(block, monkeypatch):
    monkeypatch.setattr(rule, "_BLOCK", block)
    rng, reversed_ = np.random.default_rng(1), 0
    for _ in range(60):
        noise, sign = rng.choice([0, 0.3, 1.0]), rng.choice([-1, 1])
        observed = means(rng, rng.integers(2, 40), rng.integers(3, 30), noise, sign)
        for margin in (0.0, 0.2, 0.5):
            found, expected = rule.turned_pairs(observed, margin), every_pair(observed, margin)
            named = (found.reversed, found.unclear, found.ahead, found.behind)
            assert named == (*expected[:2], *expected[3:5])
            assert astuple(found) == pytest.approx(expected, rel=1e-12, abs=1e-14)
            reversed_ += found.reversed
    assert reversed_ > 500


def test_memory_is_that_of_a_block():
    import tracemalloc

    observed = means(np.random.default_rng(0), 1000, 8, 0.7, 1)
    rule.turned_pairs(observed, 0.2)
    tracemalloc.start()
    rule.turned_pairs(observed, 0.2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # One number a pair is 8 MB, and each side of each cluster would be 8 x 8 MB.
    assert peak < 40e6, peak
