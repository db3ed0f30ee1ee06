"""Degenerate data against exact rational arithmetic: values, reasons, flags, never an exception."""

from __future__ import annotations

import json
import math
from functools import partial

import numpy as np
import pytest

from voirdire import stats

pytestmark = pytest.mark.shared


def of_two(statistic):
    return lambda R: statistic(R[:, 0], R[:, 1])


COEFFICIENTS = {
    **{
        name: partial(stats.icc, form=form, ci=("f", "percentile"))
        for form, name in {
            "1": "ICC(1)", "1,k": "ICC(1,k)", "C,1": "ICC(C,1)",
            "C,k": "ICC(C,k)", "A,1": "ICC(A,1)", "A,k": "ICC(A,k)",
        }.items()
    },
    **{
        f"alpha {metric}": partial(stats.krippendorff_alpha, metric=metric, ci="percentile")
        for metric in ("nominal", "ordinal", "interval", "ratio")
    },
    "Fleiss kappa": partial(stats.fleiss_kappa, ci=("t", "percentile")),
    "AC1": partial(stats.gwet_ac, ci=("t", "percentile")),
    "Brennan-Prediger": partial(stats.brennan_prediger, ci=("t", "percentile")),
    "Cohen kappa": of_two(partial(stats.cohen_kappa, ci=("wald", "percentile"))),
    "CCC": of_two(stats.ccc),
}  # fmt: skip


@pytest.fixture(scope="module")
def cases(shared):
    text = (shared / "reference" / "degenerate_expected.json").read_text(encoding="utf-8")
    return {name: case for name, case in json.loads(text).items() if name != "about"}


def test_no_coefficient_is_left_out(cases):
    assert len(cases) == 19
    assert {name for case in cases.values() for name in case["expected"]} == set(COEFFICIENTS)


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_exact_arithmetic(cases, name):
    for case, content in cases.items():
        if name not in content["expected"]:
            continue
        right = content["expected"][name]
        found = COEFFICIENTS[name](np.array(content["ratings"], dtype=float))
        assert found.reason == right["reason"], case
        expected = math.nan if right["value"] is None else right["value"]
        assert found.value == pytest.approx(expected, abs=1e-12, nan_ok=True), case
        assert ("outside_range" in found.flags) == ("flag" in right), case
        if found.reason is not None:
            assert all(math.isnan(one.low) and math.isnan(one.high) for one in found.intervals)
