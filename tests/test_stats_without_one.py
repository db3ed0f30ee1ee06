"""Sums without each response, the centres computed anew, against leaving each out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from voirdire.stats.response_panel import ResponsePanel
from voirdire.stats.without_one import (
    item_total,
    item_totals,
    reading_total,
    reading_totals,
    without_response,
)


def panel(seed, systems=3, items=14, humans=3, runs=2, gaps=0.2, *, nominal=False, clusters=None):
    """Scores with gaps; the last system is small, so that cells fall below what a mean needs."""
    rng = np.random.default_rng(seed)
    system, item = (part.ravel() for part in np.meshgrid(range(systems), range(items)))
    there = (system < systems - 1) | (item < 6) if systems > 1 else item >= 0
    system, item = system[there], item[there]
    scores = rng.integers(1, 5, (humans + runs, len(item))).astype(float)
    scores[rng.random(scores.shape) < gaps] = np.nan
    return ResponsePanel.of(
        scores[humans:].T,
        scores[:humans].T,
        systems=system,
        items=item,
        nominal=nominal,
        clusters=None if clusters is None else item // clusters,
    )


CASES = {
    "crossed": {},
    "two systems": {"systems": 2},
    "near the rule of crossing": {"systems": 2, "gaps": 0.45, "humans": 1, "runs": 1},
    "one system": {"systems": 1, "items": 30},
    "gaps": {"gaps": 0.5, "items": 24},
    "labels": {"nominal": True},
    "clusters": {"clusters": 3, "gaps": 0.4},
    "one human": {"humans": 1, "runs": 1},
    "six humans with few scores": {"humans": 6, "gaps": 0.7, "items": 20},
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    ("fast", "slow"), [(item_totals, item_total), (reading_totals, reading_total)]
)
def test_sums_without_each_response_are_those_computed_anew(name, seed, fast, slow):
    made = panel(seed, **CASES[name])
    expected = [slow(without_response(made, at)) for at in range(made.n)]
    np.testing.assert_allclose(fast(made), expected, rtol=0, atol=1e-9)


def test_leaving_one_out_equals_never_having_had_it():
    made = panel(5)
    names = np.arange(made.n)
    kept = np.delete(names, 4)
    again = ResponsePanel.of(
        made.judge[:, kept].T,
        made.humans[:, kept].T,
        systems=made.system[kept],
        items=made.item[kept],
    )
    np.testing.assert_array_equal(item_total(without_response(made, 4)), item_total(again))
    np.testing.assert_array_equal(reading_total(without_response(made, 4)), reading_total(again))


def test_of_common_sizes_none_is_left_out_by_hand(monkeypatch):
    """Else the kernel would be the slow twin under another name."""
    made = panel(1, systems=4, items=60, gaps=0.1)
    big = made.system != 3  # the last system has six responses
    calls = []

    def counted(given, at):
        calls.append(at)
        return without_response(given, at)

    monkeypatch.setattr("voirdire.stats.without_one.without_response", counted)
    item_totals(made)
    reading_totals(made)
    assert not big[calls].any()
