"""Judges of known truth on labels, preferences and probabilities: a part of the benchmark's rates.

The whole stands in docs/verdict_kinds.md, by `python benchmarks/verdict_kinds.py`.
"""

from __future__ import annotations

from collections import Counter

import pytest

from voirdire.examining import simulate_kinds as simulated
from voirdire.examining.spec import THESE, ground_of
from voirdire.examining.verdict.decide import AskedUse, decide
from voirdire.study import Study

PANELS = 5
STUDY = Study(name="rates")


def states(draw, use, label=""):
    counts = Counter()
    for seed in range(PANELS):
        for name, case in draw(720_000 + seed).cases.items():
            asked = AskedUse(use, THESE, label)
            counts[name, decide(ground_of(case, STUDY.margins), asked).state] += 1
    return counts


@pytest.mark.parametrize(
    ("draw", "judges", "use", "least"),
    [
        (lambda seed: simulated.label_panel(400, 5, 3, seed), simulated.LABEL_JUDGES, "single", 8),
        (
            lambda seed: simulated.label_panel(400, 5, 3, seed, sets=True),
            simulated.LABEL_JUDGES,
            "single",
            6,
        ),
        (
            lambda seed: simulated.preference_panel(4, 400, 3, seed),
            simulated.PREFERENCE_JUDGES,
            "pick",
            6,
        ),
        (
            lambda seed: simulated.probability_panel(600, 3, seed),
            simulated.PROBABILITY_JUDGES,
            "confidence",
            6,
        ),
    ],
    ids=["labels", "sets", "preferences", "probabilities"],
)
def test_few_undeserving_are_licensed_and_no_deserving_is_refused(draw, judges, use, least):
    counts = states(draw, use)
    good = [name for name, deserved in judges.items() if use in deserved]
    assert sum(counts[name, "yes"] for name in good) >= least
    assert sum(counts[name, "no"] for name in good) == 0
    bad = {name: counts[name, "yes"] for name in judges if name not in good}
    # One in twenty of all undeserving at the most.
    assert sum(bad.values()) <= 0.05 * PANELS * len(bad), bad
    # Who reads nothing at all is never licensed.
    blind = {
        "shuffled",
        "at random",
        "at random by shares",
        "always the commonest",
        "always ties",
        "always takes the first",
        "the base rate",
    }
    assert not any(bad.get(name) for name in blind)


def test_a_rare_label_that_is_never_said_is_always_refused():
    counts = states(lambda seed: simulated.label_panel(400, 5, 3, seed), "single")
    assert counts["blind to a rare label", "no"] == PANELS


def test_a_judge_that_takes_the_first_picks_nothing():
    counts = states(lambda seed: simulated.preference_panel(4, 300, 3, seed), "pick")
    assert counts["always takes the first", "no"] == PANELS


@pytest.mark.parametrize("humans", [2, 3])
def test_a_copy_of_one_human_does_not_stand_in_for_one(humans):
    counts = states(lambda seed: simulated.label_panel(400, 5, humans, seed), "single")
    assert counts["copies one human", "yes"] == 0
    assert counts["as one human", "yes"] >= 2


def test_a_copy_of_one_of_five_who_share_the_work_is_left_open():
    """Where two people answer an item, each is set beside whoever else does."""
    counts = states(lambda seed: simulated.label_panel(400, 5, 5, seed, each=2), "single")
    assert counts["copies one human", "yes"] <= 1
    assert counts["copies one human", "open"] >= 4
    assert counts["as one human", "yes"] >= 3


def test_a_subgroup_at_random_is_released_on_no_side_and_win_rates_by_length_are_not_quoted():
    for side in ("above", "below"):
        draw = lambda seed: simulated.probability_panel(600, 3, seed)  # noqa: E731
        counts = states(draw, "release", side)
        assert counts["a subgroup at random", "no"] == PANELS
        assert counts["calibrated", "no"] == 0
    counts = states(lambda seed: simulated.preference_panel(2, 300, 3, seed), "score")
    assert counts["always takes the longer", "no"] == PANELS
    assert counts["as one human", "yes"] >= 3


def test_who_does_not_look_at_one_system_is_seen_beside_another_human():
    found = {"as one human": [], "blind on one system": []}
    for seed in range(910_000, 910_006):
        cases = simulated.preference_panel(10, 300, 3, seed).cases
        for name, states in found.items():
            part = ground_of(cases[name], STUDY.margins).one("READ_s")
            states.append((part.state, part.reason))
    # Not one of those who are blind on one of ten systems reads in each of them.
    assert not [one for one in found["blind on one system"] if one[0] == "yes"]
    assert ("open", "follows less") in found["blind on one system"]
    assert not [one for one in found["as one human"] if one[1] == "follows less"]
