"""The demo's panel through the whole examination, alt-test and runs included; 300 seeds: benchmarks/demo.py."""

from __future__ import annotations

import pytest

from voirdire.examine import examine
from voirdire.examine._demo_panel import BUILT_FOR, DEMO
from voirdire.examine.simulate import simulate_ratings


@pytest.mark.parametrize("seed", range(6))
def test_verdicts_are_those_that_the_judges_were_built_for(seed):
    found = examine(simulate_ratings(DEMO, seed), reference=DEMO.humans, resamples=0)
    assert len(found.verdicts) == 9
    for verdict in found.verdicts:
        built = BUILT_FOR[verdict.judge, verdict.attribute]
        if (verdict.judge, verdict.attribute) == ("Steady", "Safety"):
            built = "may replace one rater"  # a frame declares nothing safety-critical
        assert verdict.verdict == built, (verdict.judge, verdict.attribute, verdict.why)
        if verdict.judge == "Steady":
            assert verdict.component("R").state == verdict.component("S").state == "pass"
        else:
            assert verdict.verdict != "may replace one rater"
