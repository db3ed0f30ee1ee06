"""Public bug reports about statistics (kind c): each case, each variant, each a test."""

from __future__ import annotations

import json
import math
import time
import tracemalloc

import numpy as np
import pytest

from voirdire import stats

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def cases(shared):
    lines = (shared / "cases" / "bug_cases.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return {case["id"]: case for case in found if case["kind"] == "c_statistics"}


def variants(cases, case):
    return [(one["input"], one["expected"]) for one in cases[case]["variants"]]


def test_every_case_has_a_test(cases):
    tests = {name[5:8].upper() for name in globals() if name.startswith("test_c")}
    assert tests >= set(cases)


def test_c01_constant_ratings(cases):
    """The case's "no variation" is `zero_expected_disagreement`, for ICC `zero_variance`."""
    (same, agreed), (apart, defined), (alpha, _), (icc, _) = variants(cases, "C01")
    kappa = stats.cohen_kappa(*same["kappa"])
    assert kappa.reason == "zero_expected_disagreement"
    assert kappa.details["agreement"] == agreed["percent_agreement"]
    weighted = stats.cohen_kappa(*apart["qwk"], weights="quadratic")
    assert weighted.value == defined["value"]
    assert weighted.details["agreement"] == defined["percent_agreement"]
    found = stats.krippendorff_alpha(np.array(alpha["alpha_ordinal"]).T, "ordinal")
    assert found.reason == "zero_expected_disagreement"
    for form in ("1", "C,1", "A,1", "1,k", "C,k", "A,k"):
        assert stats.icc(icc["icc"], form).reason == "zero_variance"


def test_c02_raw_ratings_and_unequal_counts(cases):
    (raw, right), (counts, _) = variants(cases, "C02")
    found = stats.fleiss_kappa(raw["items_by_raters"]).value
    assert found == pytest.approx(right["value"], abs=1e-6)
    assert found != pytest.approx(right["not"], abs=1e-6)
    rows = [np.repeat([0, 1], row).tolist() for row in counts["counts"]]
    unequal = [row + [None] * (3 - len(row)) for row in rows]
    for generalisation in ("gwet", "pooled"):
        assert stats.fleiss_kappa(unequal, unequal=generalisation).value == 1.0


def test_c04_missing_ratings(cases):
    (gap, right), (alpha, nominal), (nothing, _) = variants(cases, "C04")
    for form, key in (("A,1", "icc_a1"), ("C,1", "icc_c1")):
        found = stats.icc(np.array([gap["r1"], gap["r2"]], float).T, form)
        assert found.value == pytest.approx(right[key], abs=1e-6)
        assert (found.n, found.left_out) == (right["n_used"], right["n_dropped"])
    ratings = np.array(alpha["nominal_alpha"], float).T
    found = stats.krippendorff_alpha(ratings, "nominal")
    assert found.value == pytest.approx(nominal["value"], abs=1e-6)
    assert stats.cohen_kappa(nothing["r1"], nothing["r2"]).reason == "no_pairable_item"
    assert stats.icc(np.array([nothing["r1"], nothing["r2"]], float).T).reason == "too_few_items"


def test_c05_negative_and_impossible_icc(cases):
    """ICC(A,k) of the first is defined, 10/2 = 5, by degenerate_expected.json; it is flagged."""
    for given, right in variants(cases, "C05"):
        for name, value in right.items():
            found = stats.icc(given["items_by_raters"], name)
            assert found.statistic == name
            if name == "ICC(A,k)":
                assert (found.value, found.flags) == (5.0, ("outside_range",))
            elif value is None:
                assert (math.isnan(found.value), found.reason) == (True, "zero_variance")
            else:
                assert found.value == pytest.approx(value, abs=1e-6)
                assert found.flags == (("outside_range",) if abs(value) > 1 else ())


def test_c07_real_valued_ratings_take_little_memory(cases):
    ((given, right),) = variants(cases, "C07")
    rng = np.random.default_rng(0)
    x = rng.random(given["items"])
    R = np.stack([x, x + rng.normal(0, 0.1, given["items"])], axis=1)
    stats.krippendorff_alpha(R, "interval")  # compiled
    tracemalloc.start()
    start = time.process_time()
    found = stats.krippendorff_alpha(R, "interval")
    seconds, peak = time.process_time() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.value == pytest.approx(right["value"], abs=1e-6)
    assert seconds < 3
    assert peak < 200e6


def test_c08_counts_do_not_overflow(cases):
    (counts, right), _ = variants(cases, "C08")
    truth = np.repeat([1, 0, 0, 1], [counts[key] for key in ("tp", "tn", "fp", "fn")])
    predicted = np.repeat([1, 0, 1, 0], [counts[key] for key in ("tp", "tn", "fp", "fn")])
    found = stats.classification_scores(truth.astype(np.int32), predicted.astype(np.int32))
    assert found["mcc"].value == pytest.approx(right["mcc"])
    a, b = np.random.default_rng(8).integers(0, 5, (2, 250_000)).astype(np.int8)
    assert abs(stats.cohen_kappa(a, b).value) < 0.01


def test_c10_phantom_classes(cases):
    (misspelt, right), (absent, kept) = variants(cases, "C10")
    gold, predicted = misspelt["gold"], misspelt["pred"]
    raw = stats.classification_scores(gold, predicted)["f1_macro"].value
    assert raw == pytest.approx(right["raw"], abs=1e-6)
    lower = [label.lower() for label in predicted]
    assert stats.classification_scores(gold, lower)["f1_macro"].value == 1.0
    declared = stats.classification_scores(gold, predicted, labels=["a", "b"])
    assert declared.undeclared == {"B": 1}
    found = stats.classification_scores(absent["gold"], absent["pred"], labels=absent["labels"])
    assert found["f1_macro"].value == kept["macro_f1"]
    assert found["f1_macro"].details["zero_filled"] == pytest.approx(kept["zero_filled"], abs=1e-6)


def test_c11_one_failed_judge(cases):
    for given, right in variants(cases, "C11"):
        found = stats.panel_mean([given["panel"]], quorum=given.get("min_judges", 1))
        expected = math.nan if right["mean"] is None else right["mean"]
        assert found.values[0] == pytest.approx(expected, nan_ok=True)
        assert found.below_quorum == ((0,) if right["mean"] is None else ())
        assert found.counts[0] == right.get("n", 2)
        assert ("below the quorum" in str(found)) == (right["mean"] is None)
