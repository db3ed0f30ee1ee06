"""Categorical statistics against reference values on which two or more programs agree."""

from __future__ import annotations

import json
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np
import pytest

from voirdire import stats

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.shared

WEIGHTS = {"unweighted": None, "linear": "linear", "quadratic": "quadratic"}


@cache
def reference(shared: Path):
    return json.loads((shared / "reference" / "stats_reference.json").read_text())


def ratings(shared: Path, name: str):
    found = reference(shared)["datasets"][name]
    if "ratings" in found:
        return np.array(found["ratings"], dtype=float)
    with np.load(shared / "reference" / "stats_data.npz") as data:  # 0 is missing
        return np.where(data[name] == 0, np.nan, data[name].astype(float))


def two(R):
    return R[:, 0], R[:, 1]


def alpha_linear(R, kind):
    """Krippendorff's alpha with |c - k| (Gwet's linear weights) or the named metric."""
    if kind != "linear":
        return stats.krippendorff_alpha(R, {"unweighted": "nominal"}.get(kind, "interval"))
    levels = np.unique(R[~np.isnan(R)])
    return stats.krippendorff_alpha(R, np.abs(levels[:, None] - levels), levels=levels)


def statistics():
    """Name in the reference file -> value from ratings."""
    found = {"fleiss_kappa_complete_rows": lambda R: stats.fleiss_kappa(complete(R)).value}
    family = {
        "fleiss": stats.fleiss_kappa,
        "ac": stats.gwet_ac,
        "bp": stats.brennan_prediger,
    }
    for kind, weights in WEIGHTS.items():
        for name, statistic in family.items():
            found[f"{name}_{kind}"] = lambda R, s=statistic, w=weights: s(R, weights=w).value
            found[f"{name}_{kind}.se"] = lambda R, s=statistic, w=weights: s(R, weights=w).details[
                "se"
            ]
        found[f"kripp_{kind}"] = lambda R, k=kind: alpha_linear(R, k).value
        cohen = partial(stats.cohen_kappa, weights=weights, ci="wald")
        found[f"cohen_{kind}"] = lambda R, c=cohen: c(*two(R)).value
        found[f"cohen_{kind}.ci_lo"] = lambda R, c=cohen: c(*two(R)).intervals[0].low
    for metric in ["nominal", "ordinal", "interval", "ratio"]:
        found[f"kripp_alpha_{metric}"] = lambda R, m=metric: stats.krippendorff_alpha(R, m).value
    return found


def complete(R):
    return R[~np.isnan(R).any(axis=1)]


@pytest.mark.parametrize("name", statistics())
def test_consensus(shared, name):
    checked = 0
    for dataset, values in reference(shared)["consensus"].items():
        if name not in values or len(values[name]["agree"]) < 2:
            continue
        found = statistics()[name](ratings(shared, dataset))
        assert found == pytest.approx(values[name]["value"], rel=1e-6, abs=1e-12), dataset
        checked += 1
    assert checked >= 13


EXACT = {
    "Fleiss kappa": stats.fleiss_kappa,
    "AC1": stats.gwet_ac,
    "Brennan-Prediger": stats.brennan_prediger,
    "Cohen kappa": lambda R: stats.cohen_kappa(*two(R)),
} | {
    f"alpha {metric}": partial(stats.krippendorff_alpha, metric=metric)
    for metric in ["nominal", "ordinal", "interval", "ratio"]
}


@pytest.mark.parametrize("name", EXACT)
def test_degenerate_data_in_exact_arithmetic(shared, name):
    cases = json.loads((shared / "reference" / "degenerate_expected.json").read_text())
    checked = 0
    for case, content in cases.items():
        if case == "about" or name not in content["expected"]:
            continue
        expected = content["expected"][name]
        found = EXACT[name](np.array(content["ratings"], dtype=float))
        assert found.reason == expected["reason"], case
        value = np.nan if expected["value"] is None else expected["value"]
        assert found.value == pytest.approx(value, abs=1e-12, nan_ok=True), case
        assert ("outside_range" in found.flags) == ("flag" in expected), case
        checked += 1
    assert checked >= 8
