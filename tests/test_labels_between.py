"""Annotators beside one another: kappa between them, by family, item by item; paired label sets."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from voirdire import InputError, StatisticsError
from voirdire.examining.item import item_sections
from voirdire.examining.labels import (
    between_annotators,
    between_sections,
    label_agreements,
    label_set_differences,
    labels_beside_chance,
    read_results,
    runs_of_ratings,
    sweep_section,
)
from voirdire.stats import f1_above_chance, f1_difference


def annotators(n=60, runs=3, seed=0, flip=(0.05, 0.05, 0.4)):
    """Three annotators: two read the same truth, the third another one for a part of the items."""
    rng = np.random.default_rng(seed)
    truth = rng.random((n, 2)) < 0.4
    rows = []
    for rater, share in zip("xyz", flip, strict=True):
        own = truth ^ (rng.random(truth.shape) < (0.3 if rater == "z" else 0))
        for run in range(1, runs + 1):
            named = own ^ (rng.random(truth.shape) < share / 4)
            rows += [
                (str(i), rater, run, label, int(named[i, at]))
                for i in range(n)
                for at, label in enumerate("ab")
            ]
    return pl.DataFrame(rows, ["item", "rater", "run", "attribute", "score"], orient="row")


def twin(frame, first, second):
    """Cohen's kappa by hand: every run of one against every run of the other, label by label."""
    kappas = []
    for label in ("a", "b"):
        own = frame.filter(attribute=label)
        a, b = (
            {run[0]: part["score"].to_list() for run, part in own.filter(rater=r).group_by("run")}
            for r in (first, second)
        )
        pairs = [(x, y) for p in a.values() for q in b.values() for x, y in zip(p, q, strict=True)]
        agreed = np.mean([x == y for x, y in pairs])
        p, q = np.mean([x for x, _ in pairs]), np.mean([y for _, y in pairs])
        chance = p * q + (1 - p) * (1 - q)
        kappas.append((agreed - chance) / (1 - chance))
    return np.mean(kappas)


def test_kappa_between_annotators_is_cohens_over_all_pairs_of_runs():
    frame = annotators()
    runs = runs_of_ratings(frame)
    found = {(one.first, one.second): one for one in between_annotators(runs)}
    for pair, one in found.items():
        # The twin has no jackknife: the value freed of bias lies near it, as the bias is O(1 / n).
        assert one.kappa.value == pytest.approx(twin(frame, *pair), abs=0.02)
        assert one.n == 60
    assert found["x", "y"].kappa.value > found["x", "z"].kappa.value + 0.3
    within = label_agreements(runs, ci=None)["x"].mean.value
    assert found["x", "y"].kappa.value == pytest.approx(within, abs=0.1)


def test_the_interval_covers_and_never_lies_above_one():
    covered = 0
    for seed in range(40):
        runs = runs_of_ratings(annotators(seed=seed, n=80).filter(pl.col("rater") != "z"))
        bounds = between_annotators(runs)[0].kappa.interval(0.95)
        covered += bounds.low <= 0.9495 <= bounds.high  # the twin over 12,000 items of this making
    assert covered >= 34
    table = between_sections(runs_of_ratings(annotators(flip=(0, 0, 0))), {})[0].table
    assert table.rows[0][2] == pytest.approx(1, abs=1e-3)
    assert all(row[3].high <= 1 for row in table.rows)


def test_families_gather_what_their_annotators_have_within_and_between():
    runs = runs_of_ratings(annotators())
    sections = between_sections(runs, {"x": "one", "y": "one", "z": "two"})
    rows = {row[0]: row for row in sections[1].table.rows}
    pairs = {row[:2]: row[2] for row in sections[0].table.rows}
    within = {name: found.mean.value for name, found in label_agreements(runs, ci=None).items()}
    assert rows["one"][1:4] == (2, pytest.approx((within["x"] + within["y"]) / 2), pairs["x", "y"])
    assert rows["one"][4] == pytest.approx((pairs["x", "z"] + pairs["y", "z"]) / 2)
    assert rows["two"][4] is None
    assert len(between_sections(runs, {"x": "one", "y": "one"})) == 1
    assert between_sections(runs.keep(["x"]), {}) == ()


def test_what_neither_answered_is_left_out():
    frame = annotators().with_columns(
        score=pl.when((pl.col("rater") == "x") & (pl.col("item") == "3"))
        .then(None)
        .otherwise("score")
    )
    assert [one.n for one in between_annotators(runs_of_ratings(frame))] == [59, 59, 60]


def test_the_sweep_labels_more_items_with_a_lower_bar():
    table = sweep_section(runs_of_ratings(annotators(runs=5)), ("a?", "b?")).table
    z = [row for row in table.rows if row[0] == "z"]
    assert [row[1] for row in z] == [3, 4, 5]
    assert z[0][3] >= z[1][3] >= z[2][3]
    assert all(sum(row[3:7]) == 60 for row in table.rows)


def test_an_item_is_shown_run_by_run_and_rater_by_rater(tmp_path):
    annotators().write_csv(tmp_path / "labels.csv")
    (shown,) = item_sections(tmp_path / "labels.csv", "7")
    assert shown.table.names == ("Annotator", "Run 1", "Run 2", "Run 3", "Final")
    assert [row[0] for row in shown.table.rows] == ["x", "y", "z"]
    rows = [
        ("i1", s, r, a, x)
        for x, (s, r, a) in enumerate(
            (s, r, a) for r in ("human", "judge") for s in ("one", "two") for a in ("Calm", "Clear")
        )
    ]
    frame = pl.DataFrame(rows, ["item", "system", "rater", "attribute", "score"], orient="row")
    frame.write_csv(tmp_path / "ratings.csv")
    human, judge = item_sections(tmp_path / "ratings.csv", "i1")
    assert (human.title, judge.title) == (
        "Ratings of item i1 by human",
        "Ratings of item i1 by judge",
    )
    assert judge.table.names == ("Attribute", "one", "two")
    assert judge.table.rows == (("Calm", 4, 6), ("Clear", 5, 7))
    with pytest.raises(InputError, match="there is no item 'i2' among those that were rated"):
        item_sections(tmp_path / "ratings.csv", "i2")


def sides(n=200, seed=0, right=(0.9, 0.6)):
    rng = np.random.default_rng(seed)
    found = []
    for share in right:
        key = np.eye(3)[rng.integers(0, 3, n)]
        said = np.where(rng.random((2, n, 1)) < share, key, np.eye(3)[rng.integers(0, 3, (2, n))])
        found.append((key, said))
    return found


def test_a_difference_of_kappas_is_that_of_both_with_one_draw_of_items():
    first, second = sides()
    found = f1_difference(first, second, multilabel=False, n_resamples=400, seed=3)
    values = [f1_above_chance(*side, multilabel=False) for side in (first, second)]
    assert found.f1.value == values[0].f1.value - values[1].f1.value
    assert found.kappa.value == values[0].kappa.value - values[1].kappa.value
    rng, drawn = np.random.default_rng(3), []
    for counts in rng.multinomial(200, np.full(200, 1 / 200), size=400):
        at = np.repeat(np.arange(200), counts)
        pair = [
            f1_above_chance(k[at], s[:, at], multilabel=False).kappa.value
            for k, s in (first, second)
        ]
        drawn.append(pair[0] - pair[1])
    bounds = found.kappa.intervals[0]
    assert (bounds.low, bounds.high) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.02)
    assert found.p == pytest.approx(2 / 401)
    same = f1_difference(first, first, multilabel=False, n_resamples=100)
    assert (same.kappa.value, same.p) == (0, 1)


def test_a_paired_test_needs_the_same_items_and_says_what_is_undefined():
    first, second = sides(20)
    with pytest.raises(StatisticsError, match="must hold the same items, got 20 and 19"):
        f1_difference(first, (second[0][1:], second[1][:, 1:]), multilabel=False)
    empty = f1_difference(*[(k[:0], s[:, :0]) for k, s in (first, second)], multilabel=False)
    assert math.isnan(empty.p)
    assert empty.kappa.reason == "no_data"


def test_true_label_sets_of_one_quality_are_seldom_told_apart():
    ps = [
        f1_difference(*sides(80, seed, (0.7, 0.7)), multilabel=False, n_resamples=200).p
        for seed in range(60)
    ]
    assert np.mean(np.array(ps) < 0.05) <= 0.15


def test_label_sets_are_paired_within_configuration_and_task(tmp_path):
    rows = []
    for labels, right in (("rlp", 0.9), ("gold", 0.5)):
        rng = np.random.default_rng(len(labels))
        for item in range(90 if labels == "rlp" else 100):
            truth = str(rng.choice(list("abc")))
            said = truth if rng.random() < right else str(rng.choice(list("abc")))
            rows += [(f"i{item}", truth, said, c, labels) for c in ("m1", "m2")]
    columns = ["item", "truth", "predicted", "configuration", "labels"]
    pl.DataFrame(rows, columns, orient="row").write_csv(tmp_path / "p.csv")
    results = read_results([tmp_path / "p.csv"])
    found = label_set_differences(results, resamples=200)
    assert found.select("configuration", "first", "second", "n", "left_out").rows() == [
        ("m1", "rlp", "gold", 90, 10),
        ("m2", "rlp", "gold", 90, 10),
    ]
    assert (found["kappa_low"] > 0).all()
    assert found["p_adjusted"].to_list() == pytest.approx([2 * p for p in found["p"]])
    whole = labels_beside_chance(results, draws=10, resamples=0)
    assert whole.height == 4
    assert label_set_differences(results[:1]).height == 0
