"""Pure reliability statistics: arrays in, frozen results out.

Names are resolved on first use, so that importing this package loads neither numba nor scipy.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {
    "BradleyTerry": "pairwise",
    "Classification": "classification",
    "Decision": "decisions",
    "Equivalence": "tost",
    "Estimate": "_results",
    "Interval": "_results",
    "LabelAgreement": "fleiss_labels",
    "LimitsOfAgreement": "agreement_limits",
    "MissingBounds": "missing",
    "PairedTest": "paired_tests",
    "SelfExclusion": "exclusion",
    "SubjectsNeeded": "subjects",
    "VarianceComponents": "generalizability",
    "WinTieLoss": "preference",
    "adjust_p": "multiplicity",
    "alt_test": "alttest",
    "best_constant_f1": "chance",
    "bias": "differences",
    "bias_bounds": "missing",
    "bland_altman": "agreement_limits",
    "bradley_terry": "pairwise",
    "brennan_prediger": "gwet",
    "ccc": "concordance",
    "classification_scores": "classification",
    "cohen_kappa": "cohen",
    "compare_systems": "paired_tests",
    "equivalence": "tost",
    "fleiss_kappa": "fleiss",
    "fleiss_per_label": "fleiss_labels",
    "gwet_ac": "gwet",
    "icc": "intraclass",
    "icc_batch": "intraclass",
    "icc_clustered": "clustered",
    "icc_reml": "reml",
    "icc_systems": "systems",
    "icc_systems_batch": "systems",
    "joint_agreement": "agreement",
    "kappa_f1": "chance",
    "kendall": "correlation",
    "krippendorff_alpha": "krippendorff",
    "mae": "differences",
    "mcnemar": "paired_tests",
    "mean_preference": "preference",
    "mse": "differences",
    "normalised_bias": "differences",
    "paired_t": "paired_tests",
    "pearson": "correlation",
    "position_effect": "position",
    "random_f1": "chance",
    "raters_needed": "decisions",
    "rmse": "differences",
    "roc_auc": "ranking",
    "runs_needed": "decisions",
    "scott_pi": "fleiss",
    "self_exclusion": "exclusion",
    "self_preference": "favour",
    "simulate_random_f1": "chance_simulation",
    "simulate_random_f1_sets": "chance_simulation",
    "spearman": "correlation",
    "subjects_needed": "subjects",
    "tail_misses": "tails",
    "variance_components": "generalizability",
    "wilcoxon": "paired_tests",
    "win_tie_loss": "preference",
}

__all__ = sorted(_HOME)  # noqa: PLE0605 - one table says it all


def __getattr__(name: str) -> Any:
    """Import a public name from its home on first use (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module 'voirdire.stats' has no attribute {name!r}")
    module = importlib.import_module(f"voirdire.stats.{_HOME[name]}")
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return __all__
