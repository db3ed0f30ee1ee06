"""Calibrated scores: by hand, cross-fitted, and what they may not do."""

import numpy as np
import pytest

from voirdire import StatisticsError
from voirdire.stats import calibrate
from voirdire.stats.calibration import hashed


def test_level_by_hand():
    # Two folds of two items each: a fold is moved by the other one's mean difference.
    found = calibrate([4, 5, 2, 3], [3, 3, 1, 1], folds=2)
    # Items 0 and 2 are taught by 1 and 3: humans' mean 2, judge's 4; the others by 2 and 3.
    assert found.scores == pytest.approx([2, 4, 0, 2])


def test_spread_is_stretched_from_four_systems_on():
    chance = np.random.default_rng(1)
    system = np.repeat(np.arange(6), 50)
    human = 2 + 0.5 * system + chance.normal(0, 0.1, 300)
    judge = 3 + 0.3 * system + chance.normal(0, 0.1, 300)
    found = calibrate(judge, human, systems=system)
    assert found.stretch == pytest.approx(0.5 / 0.3, rel=0.05)
    means = [found.scores[system == s].mean() for s in range(6)]
    assert means == pytest.approx(2 + 0.5 * np.arange(6), abs=0.1)
    three = system < 3
    assert calibrate(judge[three], human[three], systems=system[three]).stretch == 1


@pytest.mark.parametrize("method", ["level_and_spread", "isotonic"])
def test_no_label_shapes_its_own_score(method):
    chance = np.random.default_rng(2)
    judge, human = chance.integers(1, 6, 40).astype(float), chance.integers(1, 6, 40).astype(float)
    before = calibrate(judge, human, method=method).scores
    human[7] += 3
    after = calibrate(judge, human, method=method).scores
    fold = (hashed(np.arange(40)) if method == "isotonic" else np.arange(40)) % 5
    own = fold == fold[7]
    assert own.sum() == 8
    assert (before[own] == after[own]).all()
    assert (before != after).any()


def test_a_curve_is_taught_every_level_where_items_come_in_turns():
    """Item k is of level 1 + k % 5: folds in the order of names would each hold one level."""
    names = [f"i{k:03}" for k in range(100)]
    level = 1.0 + np.arange(100) % 5
    found = calibrate(level / 2 + 2, level, clusters=names, method="isotonic")
    np.testing.assert_allclose(found.scores, level)


def test_isotonic_never_turns_two_scores_round():
    chance = np.random.default_rng(3)
    judge = chance.integers(1, 6, 500).astype(float)
    human = np.sqrt(judge) + chance.normal(0, 0.3, 500)
    found = calibrate(judge, human, method="isotonic", folds=2)
    for fold in (0, 1):
        own = hashed(np.arange(500)) % 2 == fold
        order = np.argsort(judge[own], kind="stable")
        assert (np.diff(found.scores[own][order]) >= 0).all()
    assert np.abs(found.scores - np.sqrt(judge)).mean() < 0.1


def test_runs_are_calibrated_alike_and_missing_stays_missing():
    runs = np.array([[4, 5, np.nan, 3, 4, 4], [4, np.nan, 5, 3, 5, 4]], float)
    found = calibrate(runs, [3, 4, 4, 2, 3, np.nan], folds=3)
    assert found.scores.shape == runs.shape
    assert (np.isnan(found.scores) == np.isnan(runs)).all()
    assert found.n == 5


def test_names_too_long_for_a_number_are_dealt_to_folds_by_their_letters():
    judge, reference = [4.0, 5, 3, 4, 5, 3], [3.0, 4, 2, 3, 4, 2]
    long = [str(k) * 30 for k in range(1, 7)]
    short = [str(k) for k in range(1, 7)]
    found = [calibrate(judge, reference, clusters=names).scores for names in (long, short)]
    np.testing.assert_array_equal(*found)


def test_the_order_of_rows_changes_nothing():
    chance = np.random.default_rng(4)
    names = np.array([f"c{i // 3}" for i in range(60)])
    judge, human = chance.normal(3, 1, 60), chance.normal(3, 1, 60)
    order = chance.permutation(60)
    straight = calibrate(judge, human, clusters=names).scores
    shuffled = calibrate(judge[order], human[order], clusters=names[order]).scores
    assert shuffled == pytest.approx(straight[order])


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1, 2], [1]), {}, "equally long"),
        (([1, 2], [1, 2]), {"method": "linear"}, "method"),
        (([1, 2], [1, 2]), {"folds": 1}, "two folds"),
    ],
)
def test_what_cannot_be_calibrated_is_said(arguments, options, message):
    with pytest.raises(StatisticsError, match=message):
        calibrate(*arguments, **options)
