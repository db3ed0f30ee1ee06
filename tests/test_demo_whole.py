"""The demo's panel through the whole examination, alt-test and runs included."""

from __future__ import annotations

import pytest

from voirdire.examining import examine
from voirdire.examining._demo_panel import BUILT_FOR, DEMO
from voirdire.examining.simulate import simulate_ratings

# Rates over 300 seeds: tests/test_verdict_simulated.py and benchmarks/demo.py.


@pytest.mark.parametrize("seed", range(6))
def test_verdicts_are_those_that_the_judges_were_built_for(seed):
    found = examine(simulate_ratings(DEMO, seed), reference=DEMO.humans, resamples=0)
    assert len(found.verdicts) == 9
    for verdict in found.verdicts:
        pair = (verdict.judge, verdict.attribute)
        # A frame declares nothing safety-critical, so nothing is capped.
        built = "may replace one rater" if verdict.judge == "Steady" else BUILT_FOR[pair]
        if built == "undecided":  # built at the threshold: chance decides one time in fourteen
            assert verdict.verdict != "may replace one rater"
        else:
            assert verdict.verdict == built, (pair, verdict.why)
        if verdict.judge == "Steady":
            assert verdict.component("R").state == verdict.component("S").state == "pass"
