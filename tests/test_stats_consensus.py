"""The reference values on which two or more programs agree: all of them, and none left out."""

from __future__ import annotations

import json
import math
import os
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from voirdire import stats

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.shared

WEIGHTS = {"unweighted": None, "linear": "linear", "quadratic": "quadratic"}
CLASSIFIED = {
    "clf_acc": "accuracy",
    "clf_wP": "precision_weighted",
    "clf_wR": "recall_weighted",
    "clf_wF1": "f1_weighted",
    "clf_macroF1": "f1_macro",
    "clf_hamming": "hamming_loss",
    "clf_mcc": "mcc",
}
FORMS = {"1": "(1)", "1,k": "(k)", "C,1": "(C,1)", "C,k": "(C,k)", "A,1": "(A,1)", "A,k": "(A,k)"}
DATASETS = (
    "shrout_fleiss_1979", "fleiss_1971", "krippendorff_2011", "gwet_4raters", "gwet_5observers",
    "gwet_diagnosis_4x4", "gwet_abstractors_3x3", "cohen_1960", "bland_altman_1986_pefr",
    "rand1", "rand2", "rand3", "rand4", "rand5",
)  # fmt: skip
#: Loops over 100,000 items take minutes where they are not compiled.
COMPILED_ONLY = ("rand5",) if os.environ.get("NUMBA_DISABLE_JIT") == "1" else ()


@cache
def reference(shared: Path):
    return json.loads((shared / "reference" / "stats_reference.json").read_text())


def agreed(shared: Path, dataset: str):
    """Name -> value, where two or more programs agree.

    Programs that differ are known to be wrong: R's irr takes another correction for alpha on
    complete data, another interval for ICC(A,k), and the order of levels as text in weighted
    kappa; R's psych has another interval of weighted kappa.
    """
    stored = reference(shared)["consensus"][dataset]
    return {name: one["value"] for name, one in stored.items() if len(one["agree"]) >= 2}


def ratings(shared: Path, name: str):
    found = reference(shared)["datasets"][name]
    if "ratings" in found:
        return np.array(found["ratings"], dtype=float)
    with np.load(shared / "reference" / "stats_data.npz") as data:  # 0 is missing
        return np.where(data[name] == 0, np.nan, data[name].astype(float))


def chance_corrected(R):
    families = {"fleiss": stats.fleiss_kappa, "ac": stats.gwet_ac, "bp": stats.brennan_prediger}
    for kind, weights in WEIGHTS.items():
        for name, statistic in families.items():
            found = statistic(R, weights=weights)
            yield f"{name}_{kind}", found.value
            yield f"{name}_{kind}.se", found.details["se"]
        cohen = stats.cohen_kappa(R[:, 0], R[:, 1], weights=weights, ci="wald")
        yield f"cohen_{kind}", cohen.value
        yield f"cohen_{kind}.ci_lo", cohen.intervals[0].low
    complete = R[~np.isnan(R).any(axis=1)]
    yield "fleiss_kappa_complete_rows", stats.fleiss_kappa(complete).value


def krippendorff(R):
    for metric in ("nominal", "ordinal", "interval", "ratio"):
        yield f"kripp_alpha_{metric}", stats.krippendorff_alpha(R, metric).value
    # Gwet's weights: linear is |c - k|, which Krippendorff's metrics do not have.
    levels = np.unique(R[~np.isnan(R)])
    linear = np.abs(levels[:, None] - levels)
    yield "kripp_unweighted", stats.krippendorff_alpha(R, "nominal").value
    yield "kripp_linear", stats.krippendorff_alpha(R, linear, levels=levels).value
    yield "kripp_quadratic", stats.krippendorff_alpha(R, "interval").value


def intraclass(R):
    for form, name in FORMS.items():
        found = stats.icc(R, form, ci="f")
        yield f"ICC{name}", found.value
        yield f"ICC{name}.ci_lo", found.intervals[0].low
        yield f"ICC{name}.ci_hi", found.intervals[0].high


def pairwise(R):
    a, b = R[:, 0], R[:, 1]
    concordance, limits, tested = stats.ccc(a, b), stats.bland_altman(a, b), stats.paired_t(a, b)
    yield "lin_ccc", concordance.value
    yield "lin_ccc.ci_lo", concordance.intervals[0].low
    yield "lin_ccc.ci_hi", concordance.intervals[0].high
    yield "ba_bias", limits.bias.value
    yield "ba_sd", limits.sd
    yield "paired_t", tested.statistic
    yield "paired_t.p", tested.p


def classified(R):
    """First rater as truth, second as prediction; AUC of truths above their median."""
    a, b = R[:, 0], R[:, 1]
    found = stats.classification_scores(a, b)
    for key, name in CLASSIFIED.items():
        yield key, found[name].value
    both = ~np.isnan(a) & ~np.isnan(b)
    above = np.where(both, a > np.median(a[both]), np.nan)
    yield "roc_auc", stats.roc_auc(above, b).value


FAMILIES = (chance_corrected, krippendorff, intraclass, pairwise, classified)


@pytest.mark.parametrize("dataset", DATASETS)
def test_values_on_which_programs_agree(shared, dataset):
    if dataset in COMPILED_ONLY:
        pytest.skip("takes minutes with the JIT off")
    R = ratings(shared, dataset)
    found = {name: value for family in FAMILIES for name, value in family(R)}
    expected = agreed(shared, dataset)
    assert [name for name in expected if name not in found] == []
    wrong = {
        name: (found[name], value)
        for name, value in expected.items()
        if not math.isclose(found[name], value, rel_tol=1e-6, abs_tol=1e-12)
    }
    assert wrong == {}


def test_no_value_is_left_out(shared):
    stored = reference(shared)["consensus"]
    assert tuple(stored) == DATASETS
    assert sum(len(values) for values in stored.values()) == 891
    assert sum(len(agreed(shared, dataset)) for dataset in stored) == 888
    alone = [
        (dataset, name)
        for dataset, values in stored.items()
        for name in values
        if name not in agreed(shared, dataset)
    ]
    assert alone == [
        ("shrout_fleiss_1979", "cohen_linear.ci_lo"),
        ("rand5", "ICC(A,k).ci_lo"),
        ("rand5", "ICC(A,k).ci_hi"),
    ]
