"""Single steps of the verdict's arithmetic beside the textbook's, on cases small enough to follow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom
from scipy.stats import t as student

from voirdire.examining.spec.scores.case import Case
from voirdire.examining.spec.scores.copies import copied_humans
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.study import Margins


def two_systems(items, seed=1):
    """Two humans and a judge on all items of two systems that lie close together."""
    rng = np.random.default_rng(seed)
    quality = np.concatenate([rng.normal(3.0, 1, items), rng.normal(3.15, 1, items)])
    scores = quality + rng.normal(0, 0.4, (3, 2 * items))
    return Case(
        "judge",
        "warmth",
        ("ann", "bea"),
        scores[:1],
        scores[1:],
        np.tile(np.arange(items), 2),
        4.0,
        systems=np.repeat(["a", "b"], items),
    )


def test_p_of_a_reversed_pair_is_that_of_paired_t_tests():
    """The jackknife of a difference of means over the same items is the paired t test's error."""
    case = two_systems(80)
    part = ScoreGround(case, Margins()).components["REVERSE"]
    human, judge = (
        scores.reshape(2, 80)[0] - scores.reshape(2, 80)[1]
        for scores in (case.humans.mean(axis=0), case.scores[0])
    )
    flip = -1 if human.mean() < 0 else 1
    (dh, sh), (dj, sj) = (
        (flip * off.mean(), off.std(ddof=1) / np.sqrt(80)) for off in (human, judge)
    )
    # Refuted: that they lie twice the margin apart, or that the judge has them the other way.
    apart, other = student.sf((2 * part.margin - dh) / sh, 79), student.sf(dj / sj, 79)
    assert part.df == 79
    assert 1e-6 < part.p < 0.9  # so that a slip would show
    assert part.p == pytest.approx(2 * min(apart, other))


def test_as_many_items_as_are_asked_for_are_enough():
    enough = Margins().clusters
    for items, tested in ((enough, True), (enough - 1, False)):
        part = ScoreGround(two_systems(items), Margins()).components["READ"]
        assert (part.state != "not tested") is tested
        assert (part.reason == "few clusters") is not tested


def test_a_share_of_responses_without_a_score_may_reach_its_limit_exactly():
    case = two_systems(50)
    for missing, state in ((5, "yes"), (6, "no")):
        scores = case.scores.copy()
        scores[0, :missing] = np.nan
        part = ScoreGround(replace(case, scores=scores), Margins(cover=0.95)).components
        assert (part["COVER"].state, part["COVER"].estimate) == (state, (100 - missing) / 100)


@pytest.mark.parametrize("shared", [20, 40])
def test_equal_scores_are_a_copy_from_where_the_binomial_law_makes_them_rare(shared):
    """Two humans agree on a quarter, so half may be equal where a judge copies nobody."""
    ann = np.arange(shared, dtype=float) % 4
    bea = np.where(np.arange(shared) % 4 == 0, ann, ann + 1)
    fewest = next(k for k in range(shared + 1) if binom.sf(k - 1, shared, 0.5) < 0.001)
    for equal, copied in ((fewest, True), (fewest - 1, False)):
        judge = np.where(np.arange(shared) < equal, ann, ann + 2)
        case = Case(
            "judge",
            "warmth",
            ("ann", "bea"),
            judge[None],
            np.stack([ann, bea]),
            np.arange(shared),
            5.0,
        )
        found = [(one.human, one.equal, one.shared) for one in copied_humans(case)]
        assert found == ([("ann", equal, shared)] if copied else [])


def test_of_fewer_shared_responses_nothing_is_said():
    scores = np.arange(19, dtype=float) % 4
    case = Case("judge", "w", ("ann",), scores[None], scores[None], np.arange(19), 5.0)
    assert copied_humans(case) == ()
