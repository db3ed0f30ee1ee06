"""The interval over items is shown with those over systems, in a column of its own."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from voirdire import stats
from voirdire.examining import examine
from voirdire.report.records import icc_frame

ITEMS, SYSTEMS = 40, 5


def scores():
    rng = np.random.default_rng(0)
    quality = rng.normal(3, 1, (ITEMS, SYSTEMS, 1)) + np.arange(SYSTEMS)[:, None] / 2
    Y = np.clip(np.round(quality + rng.normal(0, 0.5, (ITEMS, SYSTEMS, 2))), 1, 5)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    return Y


def frame(Y):
    item, system, rater = np.indices(Y.shape)
    return pl.DataFrame(
        {
            "item": item.ravel().astype(str),
            "system": np.array(list("abcde"))[system.ravel()],
            "rater": np.array(["human", "judge"])[rater.ravel()],
            "score": Y.ravel(),
        }
    ).with_columns(pl.col("score").fill_nan(None))


def test_the_interval_over_items_is_that_of_the_array():
    Y = scores()
    found = examine(frame(Y), reference=["human"], resamples=200, seed=3).results[0]
    for form, right in zip(
        ("C,1", "A,1"), stats.icc_systems(Y, n_resamples=200, seed=3), strict=True
    ):
        assert found.interval(form, "cluster") == right.interval("cluster")
    assert found.icc_c1 == pytest.approx(stats.icc_systems(Y)[0].value, abs=1e-12)


def test_it_has_its_own_column_and_is_left_out_where_nothing_is_drawn():
    found = examine(frame(scores()), reference=["human"], resamples=50)
    assert {"icc_c1_cluster_low", "icc_a1_cluster_high"} <= set(icc_frame(found).columns)
    none = examine(frame(scores()), reference=["human"], resamples=0).results[0]
    assert none.interval("C,1", "cluster") is None
    alone = examine(frame(scores()[:, :1]), reference=["human"]).results[0]
    assert alone.level == "response"
    assert alone.interval("C,1", "cluster") is None
