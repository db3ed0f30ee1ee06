"""Tests that know their own noise: SYS of systems together, BIAS1 of a spread hardly known."""

from __future__ import annotations

import numpy as np
import pytest

from voirdire.examining.simulate import KINDS, Kind, simulate_panel
from voirdire.examining.spec import COMPONENTS
from voirdire.examining.spec.scores.case import Case
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.study import Margins


def ground(humans, judge):
    raters, systems, items = humans.shape
    system, item = (part.ravel() for part in np.indices((systems, items)))
    return ScoreGround(
        Case(
            "judge",
            "tone",
            tuple(map(str, range(raters))),
            judge.reshape(1, -1),
            humans.reshape(raters, -1),
            item,
            4.0,
            systems=system,
        ),
        Margins(),
    )


def found(key, humans, judge):
    (part,) = COMPONENTS[key].found(ground(humans, judge))
    return part


def favours(points):
    def score(world):
        return world.quality + world.noise + points * (np.arange(len(world.system)) == 0)[:, None]

    return Kind("favours", score, "points for one system")


@pytest.mark.parametrize(("systems", "items"), [(10, 100), (30, 60)])
def test_systems_together_keep_the_good_and_hide_no_favoured_one(monkeypatch, systems, items):
    monkeypatch.setattr("voirdire.examining.simulate.KINDS", {**KINDS, "favours": favours(0.9)})
    states = {"good": [], "favours": []}
    for seed in range(12):
        panel = simulate_panel(systems, items, 860_000 + seed, kinds=tuple(states))
        for name, own in states.items():
            part = found("SYS", panel.humans, panel.judges[name])
            assert (part.p <= 0.05) == (part.state == "yes")
            own.append(part.state)
    # Where its system is good, points beyond the top of the scale are no favour.
    assert states["favours"].count("yes") <= 1
    # By each system alone .68 of them at 10 x 100, and .33 at 30 x 60.
    assert states["good"].count("yes") >= (8 if systems == 10 else 5)


def test_means_that_nearly_agree_are_no_open_question():
    """On Fisher's z their error has no bound: 7 of 12 exchangeable humans got *order*."""
    orders = []
    for seed in range(7_100_000, 7_100_012):
        panel = simulate_panel(10, 100, seed, kinds=("good",), endless=300)
        part = found("ORDER", panel.humans, panel.judges["good"])
        true = np.corrcoef(panel.means["humans"], panel.means["good"])[0, 1]
        orders.append((part.state, true > 0.85))
        assert part.low - 0.03 < true < 1
    assert [state for state, clear in orders if clear].count("yes") >= 10


def test_a_human_is_not_refused_for_a_leniency_as_people_have_it():
    """Three people tell little of how far one more is off: a twentieth is what may be refused."""
    refused = lenient = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, 23])
        quality = 3 + rng.normal(0, 0.6, (4, 60))
        severity = rng.normal(0, 0.35, (4, 1, 1))
        seen = quality + severity + rng.normal(0, 0.6, (4, 4, 60))
        seen = np.clip(np.rint(seen), 1, 5)
        refused += found("BIAS1", seen[:3], seen[3]).state == "no"
        alike = np.clip(np.rint(quality + rng.normal(0, 0.6, (4, 4, 60))), 1, 5)
        high = np.clip(alike[3] + 1, 1, 5)
        lenient += found("BIAS1", alike[:3], high).state == "no"
    assert refused <= 7  # binomial(60, .05): 97 % are at most 7; by one standard deviation 15 to 25
    assert lenient >= 50
