"""The alt-test: the published results on nine public sets, and what it says of poor data."""

from __future__ import annotations

import json
import math
from functools import cache

import numpy as np
import pytest
from reference import alttest as twin

from voirdire.errors import StatisticsError
from voirdire.stats import alt_test

SETS = {
    "wax", "lgbteen", "mtbench", "framing", "cebab_aspects",
    "summeval", "10k_prompts", "cebab_stars", "lesion",
}  # fmt: skip


@cache
def annotations(folder, kind):
    return json.loads((folder / f"{kind}_annotations.json").read_text())


def arrays(humans, judge):
    """(items, humans) and (items,) of numbers or words, None where missing."""
    items = sorted({item for given in humans.values() for item in given} | set(judge))
    table = [[given.get(item) for given in humans.values()] for item in items]
    return np.array(table, object), np.array([judge.get(item) for item in items], object)


@pytest.mark.shared
@pytest.mark.parametrize("name", sorted(SETS))
def test_published_results(shared, name):
    """53 results of nine sets, recomputed by the authors' program (alttest_expected.json)."""
    expected = json.loads((shared / "reference" / "alttest_expected.json").read_text())[name]
    humans = annotations(shared / "data" / "alttest" / name, "human")
    judges = annotations(shared / "data" / "alttest" / name, "llm")
    assert set(judges) == set(expected["llms"])
    for judge, result in expected["llms"].items():
        found = alt_test(
            *arrays(humans, judges[judge]), score=expected["metric"], epsilon=expected["epsilon"]
        )
        assert found.value == pytest.approx(result["winning_rate"], abs=1e-9)
        assert found.details["advantage_probability"] == pytest.approx(
            result["advantage_probability"], abs=1e-9
        )
        assert found.details["passed"] is result["passed"]
        assert found.k == expected["humans"]


def simulated(seed, items=60, humans=4):
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, items)
    seen = np.clip(truth[:, None] + rng.integers(-1, 2, (items, humans + 1)), 1, 5).astype(float)
    seen[:, :-1][rng.random((items, humans)) < 0.3] = np.nan
    return seen[:, :-1], seen[:, -1]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("score", ["accuracy", "neg_rmse"])
def test_twin(seed, score):
    humans, judge = simulated(seed)
    given = {
        j: {i: humans[i, j] for i in range(60) if not math.isnan(humans[i, j])} for j in range(4)
    }
    function = getattr(twin, score)
    expected = twin.alt_test(given, dict(enumerate(judge)), function, 0.15)
    found = alt_test(humans, judge, score=score, epsilon=0.15)
    assert (found.value, found.details["advantage_probability"]) == pytest.approx(expected)
    own = alt_test(humans, judge, score=function, epsilon=0.15)
    assert own.to_dict() == found.to_dict()


def test_a_human_with_few_items_is_not_tested():
    humans, judge = simulated(1)
    humans[20:, 2] = np.nan
    found = alt_test(humans, judge)
    assert found.details["humans"].tolist() == [0, 1, 3]
    assert found.k == 3


def test_no_spread_is_decided_by_definition():
    same = np.ones((40, 3))
    assert alt_test(same, np.ones(40)).value == 1.0
    assert alt_test(same, np.zeros(40)).value == 0.0


def test_undefined_has_a_reason():
    assert alt_test([], []).reason == "no_data"
    assert alt_test(np.ones((40, 1)), np.ones(40)).reason == "too_few_raters"
    assert alt_test(np.ones((20, 3)), np.ones(20)).reason == "too_few_shared_items"
    silent = alt_test(np.ones((40, 3)), np.full(40, np.nan))
    assert silent.reason == "too_few_shared_items"
    assert math.isnan(silent.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"judge": np.ones(39)}, r"\(40, 3\) and \(39,\)"),
        ({"score": "f1"}, "'f1'"),
        ({"epsilon": 1.5}, "epsilon"),
        ({"min_humans": 1}, "min_humans"),
        (
            {"humans": np.full((40, 3), "yes"), "judge": np.full(40, "no"), "score": "neg_rmse"},
            "numeric",
        ),
    ],
)
def test_unfit_input_is_named(options, message):
    with pytest.raises(StatisticsError, match=message):
        alt_test(**({"humans": np.ones((40, 3)), "judge": np.ones(40)} | options))


def test_a_scorer_that_says_nothing_is_named():
    with pytest.raises(StatisticsError, match="score gave NaN"):
        alt_test([[1, 2, 3]] * 40, [1] * 40, score=lambda one, others: float("nan"))
    with pytest.raises(StatisticsError, match="alpha must lie in"):
        alt_test([[1, 2, 3]] * 40, [1] * 40, alpha=5)
