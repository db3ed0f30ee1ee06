"""ICC when items are the sample: system means, and responses that share an item."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import systems as slow
from reference.intraclass import draws

from voirdire.errors import StatisticsError
from voirdire.stats import icc, icc_clustered, icc_systems, icc_systems_batch

FORMS = ("1", "C,1", "A,1", "A,k")


def made(seed, items=12, systems=4, raters=2, *, gaps=0.1, whole=True):
    rng = np.random.default_rng(seed)
    scores = rng.integers(1, 6, size=(items, systems, raters)) + np.arange(systems)[:, None] / 2
    scores = np.floor(scores) if whole else scores + rng.normal(size=scores.shape)
    return np.where(rng.random(scores.shape) < gaps, np.nan, scores)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_system_means_equal_copies_of_the_items(seed, whole):
    scores = made(seed, whole=whole)
    found = icc_systems(scores, FORMS, n_resamples=30, seed=seed)
    counts = draws(seed, len(scores), 30)
    chosen = [np.repeat(np.arange(len(scores)), column.astype(int)) for column in counts.T]
    for form, estimate in zip(FORMS, found, strict=True):
        assert estimate.value == pytest.approx(
            slow.of_system_means(scores, range(len(scores)), form), abs=1e-10
        )
        values = np.array([slow.of_system_means(scores, items, form) for items in chosen])
        known, interval = values[~np.isnan(values)], estimate.interval("cluster")
        assert interval.n_undefined == 30 - len(known)
        assert [interval.low, interval.high] == pytest.approx(
            list(np.quantile(known, [0.025, 0.975])), abs=1e-9
        )


def test_system_means_of_complete_scores_are_plain_means():
    scores = made(1, items=40, gaps=0)
    for form, found in zip(FORMS, icc_systems(scores, FORMS), strict=True):
        assert found.value == pytest.approx(icc(scores.mean(axis=0), form).value, abs=1e-12)
        assert found.details["responses"] == 160


def test_a_batch_equals_one_at_a_time():
    batch = [made(1), made(2, systems=3), made(3, raters=3)]
    for one, row in zip(batch, icc_systems_batch(batch, FORMS, n_resamples=300), strict=True):
        assert row == icc_systems(one, FORMS, n_resamples=300)


def test_what_system_means_cannot_say():
    assert icc_systems(np.full((5, 3, 2), 0.1))[0].reason == "zero_variance"
    assert icc_systems(np.ones((5, 1, 2)))[0].reason == "too_few_items"
    assert icc_systems(np.ones((5, 3, 1)))[0].reason == "too_few_raters"
    assert icc_systems(np.ones((0, 3, 2)))[0].reason == "too_few_items"
    assert icc_systems_batch([]) == ()
    scores = made(4, gaps=0)
    scores[:, 1, 0] = np.nan
    found = icc_systems(scores)[0]
    assert (found.n, found.left_out) == (3, 1)
    assert json.dumps(found.to_dict())
    with pytest.raises(StatisticsError, match=r"the same number of items, got \[5, 6\]"):
        icc_systems_batch([np.ones((5, 3, 2)), np.ones((6, 3, 2))])
    with pytest.raises(StatisticsError, match="3 dimension"):
        icc_systems(np.ones((5, 3)))


def responses(seed):
    rng = np.random.default_rng(seed)
    clusters = rng.permutation(np.repeat(np.arange(6), [1, 2, 3, 3, 4, 2]))
    return rng.integers(1, 6, size=(len(clusters), 2)).astype(float), clusters


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_clusters_equal_copies_of_the_items(seed):
    Y, clusters = responses(seed)
    counts = draws(seed, 6, 30)
    chosen = [np.repeat(np.arange(6), column.astype(int)) for column in counts.T]
    for form in FORMS:
        found = icc_clustered(Y, clusters, form, ci="cluster", n_resamples=30, seed=seed)
        values = np.array([slow.of_responses(Y, clusters, items, form) for items in chosen])
        known = values[~np.isnan(values)]
        assert found.value == icc(Y, form).value
        assert [found.interval().low, found.interval().high] == pytest.approx(
            list(np.quantile(known, [0.025, 0.975])), abs=1e-9
        )


def test_items_of_one_response_are_drawn_as_responses():
    Y = np.random.default_rng(2).integers(1, 6, size=(30, 2)).astype(float)
    plain = icc(Y, "A,1", ci="percentile", seed=4).interval()
    alone = icc_clustered(Y, np.arange(30), "A,1", ci="cluster", seed=4).interval()
    assert (alone.low, alone.high) == pytest.approx((plain.low, plain.high), abs=1e-12)


def test_nested_adds_the_spread_within_items():
    rng = np.random.default_rng(7)
    clusters = np.repeat(np.arange(40), 4)
    truth = rng.normal(size=160)  # responses of an item have nothing in common
    Y = truth[:, None] + rng.normal(0, 0.7, size=(160, 2))
    found = icc_clustered(Y, clusters, n_resamples=4000)
    assert found.interval("nested").width > 1.2 * found.interval("cluster").width
    assert found.details["n_clusters"] == 40


def test_nested_draws_as_many_responses_as_an_item_has():
    from voirdire.stats.clustered import _nested

    members = np.array([1, 4, 2])
    counts = np.concatenate(list(_nested(0, members, 500)), axis=1)
    per_item = np.add.reduceat(counts, [0, 1, 5], axis=0)
    assert (per_item % members[:, None] == 0).all()
    assert ((per_item / members[:, None]).sum(axis=0) == 3).all()
    assert counts[1:5].mean() == pytest.approx(1, abs=0.1)


def test_clusters_must_match():
    with pytest.raises(StatisticsError, match="one entry a row"):
        icc_clustered([[1, 2], [2, 3]], [1])
    with pytest.raises(StatisticsError, match="scheme 'bca' is unknown"):
        icc_clustered([[1, 2], [2, 3]], [1, 2], ci="bca")
    nothing = icc_clustered([[1, None], [2, None]], [1, 2])
    assert nothing.reason == "too_few_items"
    assert [interval.method for interval in nothing.intervals] == ["cluster", "nested"]
