"""Agreement on single responses: values beside other programs, errors beside a slow jackknife."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as st
from sklearn import metrics

from voirdire.errors import StatisticsError
from voirdire.stats import (
    ClusterSums,
    cluster_jackknife,
    human_agreement,
    krippendorff_alpha,
    response_agreement,
)
from voirdire.stats.intervals import share_interval


def drawn(n=200, clusters=25, seed=1, levels=5):
    """Truth and judge on 1..levels, in clusters that share an effect."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, clusters, n)
    shared = rng.normal(0, 1, clusters)[cluster]
    truth = np.clip(np.rint(3 + shared + rng.normal(0, 0.7, n)), 1, levels)
    judge = np.clip(np.rint(3.2 + shared + rng.normal(0, 0.9, n)), 1, levels)
    return truth, judge, cluster


def by_hand(name, truth, judge, graded=None):
    """One score through scikit-learn (alpha: our own, tested elsewhere)."""
    if name == "alpha":
        return krippendorff_alpha(np.stack([truth, judge], 1), metric="interval").value
    return {
        "accuracy": lambda: metrics.accuracy_score(truth, judge),
        "sensitivity": lambda: metrics.recall_score(truth, judge),
        "specificity": lambda: metrics.recall_score(truth, judge, pos_label=0),
        "ppv": lambda: metrics.precision_score(truth, judge),
        "npv": lambda: metrics.precision_score(truth, judge, pos_label=0),
        "prevalence": truth.mean,
        "kappa": lambda: metrics.cohen_kappa_score(truth, judge),
        "quadratic_kappa": lambda: metrics.cohen_kappa_score(truth, judge, weights="quadratic"),
        "mcc": lambda: metrics.matthews_corrcoef(truth, judge),
        "roc_auc": lambda: metrics.roc_auc_score(truth, graded),
    }[name]()


def slow_error(name, truth, judge, cluster, graded):
    """(estimate, se) on the scale of the test, leaving out one cluster at a time."""
    scale = {"roc_auc": lambda a: np.arctanh(2 * a - 1)}
    plain = ("accuracy", "sensitivity", "specificity", "ppv", "npv", "prevalence")
    turn = (lambda a: a) if name in plain else scale.get(name, np.arctanh)
    out = []
    for one in np.unique(cluster):
        kept = cluster != one
        out.append(turn(by_hand(name, truth[kept], judge[kept], graded[kept])))
    out, g = np.array(out), len(out)
    return np.sqrt((g - 1) / g * ((out - out.mean()) ** 2).sum())


@pytest.mark.parametrize("gate", [None, 4])
def test_every_score_is_that_of_another_program_with_a_slow_jackknife(gate):
    truth, judge, cluster = drawn()
    found = response_agreement(judge, truth, gate=gate, clusters=cluster)
    t, j = (truth >= gate, judge >= gate) if gate else (truth, judge)
    t, j = t.astype(float), j.astype(float)
    assert set(found.scores) == (
        {"accuracy", "sensitivity", "specificity", "ppv", "npv", "prevalence", "kappa", "alpha"}
        | {"mcc", "roc_auc"}
        if gate
        else {"accuracy", "kappa", "quadratic_kappa", "alpha", "mcc"}
    )
    for name, score in found.scores.items():
        assert score.value == pytest.approx(by_hand(name, t, j, judge), abs=1e-12), name
        se = slow_error(name, t, j, cluster, judge)
        interval = score.interval()
        if interval.method == "cluster_jackknife":
            turn = (lambda a: np.arctanh(2 * a - 1)) if name == "roc_auc" else np.arctanh
            reach = turn(interval.high) - turn(interval.low)
            df = found.clusters - 1
            assert reach == pytest.approx(2 * st.t.ppf(0.975, df) * se, rel=1e-9), name
        else:
            assert score.details["se"] == pytest.approx(se, rel=1e-9), name
    assert np.array(found.confusion) == pytest.approx(metrics.confusion_matrix(t, j))


def test_several_humans_are_pairs_and_a_held_out_human_is_every_other_one():
    truth, judge, cluster = drawn(seed=3)
    rng = np.random.default_rng(0)
    humans = np.stack([np.clip(truth + rng.integers(-1, 2, len(truth)), 1, 5) for _ in range(3)], 1)
    humans[rng.random(humans.shape) < 0.2] = np.nan
    found = response_agreement(judge, humans, gate=4, clusters=cluster)
    long = [(h, j) for row, j in zip(humans, judge, strict=True) for h in row if not math.isnan(h)]
    t, j = (np.array(part) >= 4 for part in zip(*long, strict=True))
    assert found["kappa"].value == pytest.approx(metrics.cohen_kappa_score(t, j))
    assert np.array(found.confusion) == pytest.approx(metrics.confusion_matrix(t, j))
    own = human_agreement(humans, clusters=cluster)
    pairs = [
        (a, b)
        for row in humans
        for k, a in enumerate(row)
        for m, b in enumerate(row)
        if k != m and not math.isnan(a + b)
    ]
    a, b = (np.array(part) for part in zip(*pairs, strict=True))
    for name in ("accuracy", "kappa", "quadratic_kappa", "mcc"):
        assert own[name].value == pytest.approx(by_hand(name, a, b)), name
    assert np.array(own.confusion) == pytest.approx(metrics.confusion_matrix(a, b))


def test_clusters_widen_what_they_share():
    truth, judge, _ = drawn(200, 200, seed=5)
    twice = [np.repeat(part, 4) for part in (truth, judge, np.arange(200))]
    alone = response_agreement(twice[1], twice[0], gate=4)["accuracy"].interval()
    grouped = response_agreement(twice[1], twice[0], gate=4, clusters=twice[2])["accuracy"]
    once = response_agreement(judge, truth, gate=4)["accuracy"]
    assert grouped.value == once.value
    assert grouped.interval().width > 1.8 * alone.width
    assert grouped.interval().width == pytest.approx(once.interval().width, rel=0.02)


def test_a_share_is_wilson_s_at_its_effective_size():
    se = math.sqrt(54 / 61 * 7 / 61 / 61)
    found = share_interval(54 / 61, se, 1e9, 61, 0.95)
    wanted = st.binomtest(54, 61).proportion_ci(0.95, method="wilson")
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-6)
    half = share_interval(54 / 61, se * math.sqrt(2), 1e9, 61, 0.95)
    wide = st.binomtest(27, 30).proportion_ci(0.95, method="wilson")
    assert half.high - half.low == pytest.approx(wide.high - wide.low, rel=0.05)


def test_a_share_of_all_or_none_has_an_interval_of_the_clusters_behind_it():
    t = st.t.ppf(0.95, 58)
    found = share_interval(1.0, 0.0, 58, 59, 0.90)
    assert (found.low, found.high) == (pytest.approx(59 / (59 + t * t)), 1)
    none = share_interval(0.0, 0.0, 58, 590, 0.90)
    assert (none.low, none.high) == (0, pytest.approx(t * t / (59 + t * t)))


def test_what_is_undefined_has_a_reason():
    constant = response_agreement([1, 1, 1, 1], [1, 0, 1, 0])
    assert constant["mcc"].reason == "zero_expected_disagreement"
    assert constant["npv"].reason == "no_data"
    assert constant["sensitivity"].value == 1
    nothing = response_agreement([math.nan, 1], [1, math.nan])
    assert nothing["accuracy"].reason == "no_data"
    assert (nothing.n, nothing.left_out) == (0, 2)
    with pytest.raises(StatisticsError, match="judge has 2 responses, humans have 3"):
        response_agreement([1, 0], [1, 0, 1])


def test_sums_of_parts_are_the_sums_of_the_whole():
    rng = np.random.default_rng(2)
    columns, cluster = rng.integers(0, 9, (100, 3)), rng.integers(0, 30, 100).astype(str)
    whole = ClusterSums.of(columns, cluster)
    for cut in (1, 37, 99):
        parts = ClusterSums.of(columns[cut:], cluster[cut:]) + ClusterSums.of(
            columns[:cut], cluster[:cut]
        )
        assert parts.clusters.tolist() == whole.clusters.tolist()
        assert (parts.table == whole.table).all()
    with pytest.raises(StatisticsError, match="sums of 3 and 2 columns"):
        _ = whole + ClusterSums.of(columns[:, :2], cluster)


def test_a_mean_has_the_textbook_error():
    values = np.random.default_rng(4).normal(size=40)
    found = cluster_jackknife(
        np.stack([values, np.ones(40)], 1), np.arange(40), lambda t: t[..., 0] / t[..., 1]
    )
    assert found.value == pytest.approx(values.mean())
    assert found.se == pytest.approx(st.sem(values))
    low, high = st.t.interval(0.95, 39, values.mean(), st.sem(values))
    assert (found.interval().low, found.interval().high) == pytest.approx((low, high))


def test_a_share_of_none_is_as_sure_as_what_it_is_a_share_of():
    """Specificity 0 of 5 among 100: Wilson's bound t² / (5 + t²), not that of 0 of 100."""
    human = np.ones(100)
    human[:5] = 0
    found = response_agreement(np.ones(100), human, gate=1)
    interval, t = found["specificity"].interval(), st.t(4).ppf(0.975)
    assert interval.low == 0
    assert interval.high == pytest.approx(t * t / (5 + t * t), rel=1e-9)
