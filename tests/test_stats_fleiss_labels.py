"""Fleiss' kappa per label over runs (Sharma et al., appendix F)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reference import agreement as twin

from voirdire.errors import StatisticsError
from voirdire.stats import fleiss_kappa, fleiss_per_label, gwet_ac


def simulated(items=60, runs=5, labels=4, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.random((items, runs, labels)) < rng.random((items, 1, labels)) ** 2).astype(float)
    X[rng.random((items, runs)) < missing] = np.nan
    return X


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("unequal", ["gwet", "pooled"])
def test_each_label_is_fleiss_of_its_own_column(missing, unequal):
    X = simulated(missing=missing)
    found = fleiss_per_label(X, unequal=unequal, ci="t")
    for c, estimate in enumerate(found.estimates):
        alone = fleiss_kappa(X[:, :, c], unequal=unequal, levels=[0, 1], ci="t")
        assert estimate.value == pytest.approx(alone.value, abs=1e-12)
        assert estimate.details["se"] == pytest.approx(alone.details["se"], abs=1e-12)
        assert estimate.details["prevalence"] == pytest.approx(alone.details["prevalence"][1])
        assert (estimate.n, estimate.left_out) == (alone.n, alone.left_out)
        assert estimate.intervals[0].low == pytest.approx(alone.intervals[0].low, abs=1e-12)
    assert found.mean.value == pytest.approx(np.mean([e.value for e in found.estimates]))
    assert found.estimates[0].details["ac1"] == pytest.approx(
        gwet_ac(X[:, :, 0], levels=[0, 1]).value, abs=0.02 if unequal == "pooled" else 1e-12
    )


def test_bytes_booleans_floats_and_masked_cells_say_the_same():
    X = simulated()
    expected = fleiss_per_label(X)
    for kind in [np.int8, np.uint8, bool, np.int64, np.float32]:
        assert fleiss_per_label(X.astype(kind)).to_dict() == expected.to_dict()
    hidden = np.zeros(X.shape, bool)
    hidden[3, 1] = True
    gaps = np.where(hidden, np.nan, X)
    masked = fleiss_per_label(np.ma.MaskedArray(X.astype(np.int8), hidden))
    assert masked.to_dict() == fleiss_per_label(gaps).to_dict()


def test_labels_named_always_or_never_do_not_enter_the_mean():
    X = simulated(labels=3)
    X[:, :, 1] = 0
    found = fleiss_per_label(X, labels=["Labeling", "Mental Filter", "Mind Reading"], ci="t")
    assert found["Mental Filter"].reason == "zero_expected_disagreement"
    assert found["Mental Filter"].details["ac1"] == 1.0
    assert found.mean.details["undefined"] == ["Mental Filter"]
    defined = [found["Labeling"].value, found["Mind Reading"].value]
    assert found.mean.value == pytest.approx(np.mean(defined))
    nothing = fleiss_per_label(np.zeros((4, 3, 2)), ci=["t", "percentile"])
    assert nothing.mean.reason == "zero_expected_disagreement"
    assert math.isnan(nothing.mean.intervals[1].low)


def test_the_interval_of_the_mean_keeps_what_labels_share():
    """A label that occurs twice must not make the mean look surer than the label is."""
    X = simulated(items=200, labels=1)
    twice = np.concatenate([X, X], axis=2)
    found = fleiss_per_label(twice, ci=["t", "percentile"], n_resamples=2000)
    assert found.mean.details["se"] == pytest.approx(found.estimates[0].details["se"])
    assert found.mean.intervals[1].low == found.estimates[0].intervals[1].low


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("unequal", ["gwet", "pooled"])
def test_jackknife_of_each_label_and_of_the_mean_leaves_out_one_item_after_the_other(
    missing, unequal
):
    X = simulated(items=40, missing=missing)
    X = X[(~np.isnan(X[:, :, 0])).sum(axis=1) > 1]
    found = fleiss_per_label(X, unequal=unequal, ci="jackknife")
    for c, estimate in enumerate(found.estimates):
        alone = fleiss_kappa(X[:, :, c], unequal=unequal, levels=[0, 1], ci="jackknife")
        assert estimate.intervals[0].low == pytest.approx(alone.intervals[0].low, rel=1e-9)
    slow = twin.jackknife_interval(
        X, lambda rows: fleiss_per_label(rows, unequal=unequal).mean.value
    )
    mean = found.mean.intervals[0]
    assert (mean.low, mean.high) == pytest.approx(slow, rel=1e-9)


def test_bootstrap_and_t_agree_on_many_items():
    found = fleiss_per_label(simulated(items=400, missing=0.1), ci=["t", "percentile"])
    for estimate in [*found.estimates, found.mean]:
        t, percentile = estimate.intervals
        assert percentile.low == pytest.approx(t.low, abs=0.02)
        assert percentile.high == pytest.approx(t.high, abs=0.02)


def test_empty_input_has_a_reason():
    assert fleiss_per_label(np.zeros((0, 5, 2))).mean.reason == "no_data"
    assert fleiss_per_label(np.zeros((3, 1, 2))).mean.reason == "no_pairable_item"
    assert fleiss_per_label(np.full((3, 5, 2), np.nan), ci="t").mean.reason == "no_pairable_item"


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (np.zeros((3, 2)), {}, r"\(items, runs, labels\)"),
        ([[[1]], [[1], [0]]], {}, "rectangular"),
        (np.full((3, 2, 2), 2), {}, "got 2 for item 0, run 0, label 0"),
        (np.full((3, 2, 2), 0.5), {}, "got 0.5 for item 0"),
        (np.full((3, 2, 2), -1), {}, "got -1"),
        (np.zeros((3, 2, 2)), {"labels": ["a"]}, "2 different names"),
        (np.zeros((3, 2, 2)), {"labels": ["a", "a"]}, "2 different names"),
        (np.zeros((3, 2, 2)), {"unequal": "mean"}, "'mean'"),
    ],
)
def test_unfit_input_is_named(X, options, message):
    with pytest.raises(StatisticsError, match=message):
        fleiss_per_label(X, **options)
