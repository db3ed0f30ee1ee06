"""How many more are advised: never fewer than there are, and as many as settle what is open."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from voirdire.examining.simulate import simulate_panel
from voirdire.examining.spec.margins import above, inside, inside_range
from voirdire.examining.spec.scores.case import Case, GateRule
from voirdire.examining.verdict.judging import judge_cases
from voirdire.stats.sums import Jackknifed
from voirdire.study import Margins


def simulated(systems, items, seed, humans):
    """Cases of a few judges on small panels, with a gate."""
    panel = simulate_panel(systems, items, seed, humans=humans)
    names = np.indices((systems, items))
    for name, scores in panel.judges.items():
        yield Case(
            name,
            "quality",
            tuple(map(str, range(humans))),
            scores.reshape(1, -1),
            panel.humans.reshape(humans, -1),
            names[1].ravel(),
            4.0,
            systems=names[0].ravel(),
            gate=GateRule(4.0, 0.8, 0.8, by_default=True),
        )


@pytest.mark.parametrize(("systems", "items", "humans"), [(3, 40, 2), (5, 25, 1), (1, 60, 1)])
def test_nobody_is_told_to_rate_as_many_as_there_are_or_fewer(systems, items, humans):
    steps = [
        verdict.next
        for seed in range(2)
        for verdict in judge_cases(simulated(systems, items, seed, humans), Margins()).verdicts
        if verdict.next.action == "rate more" and verdict.next.needed is not None
    ]
    assert len(steps) > 10
    assert [step for step in steps if step.now is None or step.needed <= step.now] == []


def settled(held, at, se, times, scale="plain"):
    """What a rule says once the error has fallen with the root of the number of units."""
    return held(Jackknifed(at, np.asarray(se) / math.sqrt(times), 200.0, scale)).state


@pytest.mark.parametrize(
    ("held", "at", "se", "scale"),
    [
        (lambda j: above("READ", j, 0.0, 0.1, 0.995), 0.15, 0.07, "fisher"),
        (lambda j: above("READ", j, 0.0, 0.1, 0.995), 0.02, 0.05, "fisher"),
        (lambda j: above("ORDER", j, 0.8), 0.9, 0.2, "fisher"),
        (lambda j: inside("BIAS", j, 0.2), 0.15, 0.06, "plain"),
        (lambda j: inside("LEVEL", j, 0.4), np.array([0.1, 0.46, 0.2]), [0.1, 0.04, 0.1], "plain"),
        (lambda j: inside("LEVEL", j, 0.4), np.array([0.3, 0.35, 0.0]), [0.2, 0.04, 0.1], "plain"),
        (lambda j: inside("SYS", j, 0.4, (), 0.3), np.array([0.2, 0.1]), [0.09, 0.09], "plain"),
        (lambda j: inside_range("SLOPE", j, (0.5, 2.0)), 0.5, 0.3, "log"),
        (lambda j: inside_range("SLOPE", j, (0.5, 2.0)), 0.8, 0.3, "log"),
    ],
)
def test_so_many_times_as_many_settle_it_and_one_percent_fewer_do_not(held, at, se, scale):
    part = held(Jackknifed(at, np.asarray(se), 200.0, scale))
    assert part.state == "open"
    assert 1 < part.times < 100
    assert settled(held, at, se, part.times * 1.0001, scale) in ("yes", "no")
    assert settled(held, at, se, part.times * 0.99, scale) == "open"


def test_between_the_margins_of_no_and_of_yes_no_number_settles_it():
    part = inside("SYS", Jackknifed(np.array([0.35]), np.array([0.01]), 50.0), 0.4, (), 0.3)
    assert (part.state, part.times) == ("open", math.inf)


def test_the_record_of_a_component_says_the_number_in_the_next_step_alone():
    part = above("ORDER", Jackknifed(0.9, 0.2, 50.0, "fisher"), 0.8)
    assert "times" not in part.to_dict()
    assert replace(part, **part.to_dict()) == part
