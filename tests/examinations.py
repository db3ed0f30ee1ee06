"""Results built from system-level matrices, for tests that need many or strange ones."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from voirdire.examining import Examination, FormInterval, PairResult, SystemPair
from voirdire.examining.ratings.agreement import band_of, reliability_class
from voirdire.report import write_outputs
from voirdire.stats import Interval, icc

NAN = float("nan")


def pair_result(
    Y: Any,
    judge: str = "J",
    attribute: str = "Tone",
    *,
    n_pairs: int = 100,
    n_expected: int = 100,
    ci: tuple[str, ...] = ("f",),
    **changes: Any,
) -> PairResult:
    """A result on a matrix (systems, [reference, judge]), with the real intervals."""
    Y = np.asarray(Y, float)
    c, a = (icc(Y, form, ci=ci) for form in ("C,1", "A,1"))
    bias = bias_interval(Y)
    percentile = c.interval("percentile")
    values: dict[str, Any] = {
        "judge": judge,
        "attribute": attribute,
        "level": "system",
        "n_systems": len(Y),
        "n_pairs": n_pairs,
        "n_expected": n_expected,
        "icc_c1": c.value,
        "icc_a1": a.value,
        "ci": tuple(
            FormInterval(form, interval)
            for form, found in (("C,1", c), ("A,1", a))
            for interval in found.intervals
        ),
        "reliability_class": reliability_class(percentile.width) if percentile else "",
        "class_exact": "",
        "class_borderline": False,
        "band": band_of(c.interval("f")),
        "mass_below_0": {},
        "bias": float((Y[:, 1] - Y[:, 0]).mean()),
        "bias_interval": bias,
        "bias_normalised": abs(float((Y[:, 1] - Y[:, 0]).mean())) / 4,
        "human_mean": float(Y[:, 0].mean()),
        "judge_mean": float(Y[:, 1].mean()),
        **dict.fromkeys(
            [
                "human_sd",
                "judge_sd",
                "mse",
                "mse_system",
                "mae",
                "rmse",
                "ccc",
                "pearson_r",
                "loa_low",
                "loa_high",
                "qwk",
                "alpha_ordinal",
            ],
            NAN,
        ),
        **{name: c.details.get(name, NAN) for name in ("ms_rows", "ms_raters", "ms_error")},
        "loa_low_ci": None,
        "loa_high_ci": None,
        "excluded_systems": (),
        "reason": c.reason,
        "reference": ("human",),
        "systems": tuple(SystemPair(f"s{i}", *map(float, row), 10) for i, row in enumerate(Y)),
    }
    return PairResult(**{**values, **changes})


def bias_interval(Y: np.ndarray, level: float = 0.90) -> Interval:
    """The t interval of the mean difference."""
    from scipy.stats import t

    gap = Y[:, 1] - Y[:, 0]
    half = t.ppf(0.5 + level / 2, len(gap) - 1) * gap.std(ddof=1) / np.sqrt(len(gap))
    return Interval("t", level, float(gap.mean() - half), float(gap.mean() + half))


def matrix(n: int, icc_c1: float, bias: float = 0.0, spread: float = 0.4) -> np.ndarray:
    """(n, 2) with exactly that ICC(C,1) and bias: two orthogonal patterns, scaled."""
    rng = np.random.default_rng(n)
    patterns = np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=(n, 2))]))[0][:, 1:]
    quality, error = (patterns * np.sqrt(n - 1)).T
    # MSR = 2 q^2 and MSE = 2 e^2, so that ICC = (q^2 - e^2) / (q^2 + e^2).
    q = spread * quality
    e = spread * np.sqrt((1 - icc_c1) / (1 + icc_c1)) * error
    return np.column_stack([3 + q - e, 3 + bias + q + e])


def html_of(examination: Any, *, figures: bool = False, with_text: bool = False) -> str:
    """The page that an examination is written as."""
    with TemporaryDirectory() as folder:
        write_outputs(examination, folder, ["html"], figures=figures, with_text=with_text)
        return Path(folder, "report.html").read_text("utf-8")


def with_changes(examination: Examination, **fields: Any) -> Examination:
    """The examination with these fields exchanged, wherever in it they stand."""
    homes = {
        "inputs": examination.inputs,
        "rated": examination.rated,
        "judged": examination.judged,
        "texts": examination.texts,
    }
    own: dict[str, dict[str, Any]] = {name: {} for name in homes}
    outer = {}
    for name, value in fields.items():
        home = next(
            (place for place, part in homes.items() if name in names_of(part)),
            None,
        )
        # What an examination has itself, such as findings, is its own.
        if name in names_of(examination) or home is None:
            outer[name] = value
        else:
            own[home][name] = value
    made = {name: dataclasses.replace(part, **own[name]) for name, part in homes.items()}
    examination = examination.replace(inputs=made["inputs"], texts=made["texts"], **outer)
    return examination.with_facts(made["rated"]).with_facts(made["judged"])


def names_of(record: Any) -> set[str]:
    """The fields of a dataclass."""
    return {field.name for field in dataclasses.fields(record)}
