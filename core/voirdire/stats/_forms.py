"""The six ICC forms: their names, their quotients of mean squares, their F-based intervals."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from voirdire.errors import StatisticsError, not_one_of
from voirdire.stats.special import special

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.stats._arrays import Floats

FORMS = ("1", "1,k", "C,1", "C,k", "A,1", "A,k")

# Shrout and Fleiss (1979) number the models; McGraw and Wong (1996) name what is measured.
# ICC(2,.) and ICC(3,.) differ from A and C in the model only: estimates and intervals are equal.
_ALIASES = {
    **dict.fromkeys(("1", "11"), "1"),
    **dict.fromkeys(("K", "1K"), "1,k"),
    **dict.fromkeys(("C1", "3", "31"), "C,1"),
    **dict.fromkeys(("CK", "3K"), "C,k"),
    **dict.fromkeys(("A1", "2", "21"), "A,1"),
    **dict.fromkeys(("AK", "2K"), "A,k"),
}
_SPELLINGS = {f"{prefix}{name}": form for prefix in ("", "ICC") for name, form in _ALIASES.items()}


def canonical(form: str) -> str:
    """One of `FORMS` for any accepted spelling: "ICC(A,1)", "A1", "ICC2", "ICC(2,1)", "icc_a1"."""
    bare = re.sub(r"[^A-Z0-9]", "", str(form).upper())
    if bare not in _SPELLINGS:
        others = ("ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k")  # as Shrout and Fleiss have it
        raise not_one_of("ICC form", form, (*FORMS, *others), error=StatisticsError)
    return _SPELLINGS[bare]


def coefficients(form: str, n: float, k: int) -> Floats:
    """(2, 3): numerator and denominator of a form as combinations of MSR, MSC, MSE.

    McGraw and Wong (1996), table 4; MSW = (MSC + (n - 1) MSE) / n gives the one-way forms.
    """
    consistency = np.array([1.0, 0.0, -1.0])
    within = np.array([0.0, 1 / n, 1 - 1 / n])
    rows = np.array([1.0, 0.0, 0.0])
    below = {
        "1": rows + (k - 1) * within,
        "1,k": rows,
        "C,1": np.array([1.0, 0.0, k - 1]),
        "C,k": rows,
        "A,1": np.array([1.0, k / n, k - 1 - k / n]),
        "A,k": np.array([1.0, 1 / n, -1 / n]),
    }[form]
    return np.stack([rows - within if form.startswith("1") else consistency, below])


def quotients(forms: Sequence[str], k: int) -> Floats:
    """(forms, 2, 3, 2): each coefficient as a + b / n, for resamples of differing size n."""
    constant = np.stack([coefficients(form, np.inf, k) for form in forms])
    return np.stack([constant, np.stack([coefficients(f, 1, k) for f in forms]) - constant], axis=3)


def value(form: str, squares: Floats, n: float, k: int) -> Floats:
    """(P,) the form of mean squares (3, P); NaN where the quotient is 0 / 0 or x / 0."""
    above, below = (_sum(line[:, None] * squares) for line in coefficients(form, n, k))
    return np.where(below == 0, np.nan, above / np.where(below == 0, 1.0, below))


def _sum(terms: Floats) -> Floats:
    """The sum over the first axis; what cancels up to round-off is zero."""
    total = terms.sum(axis=0)
    return np.where(np.abs(total) > 1e-14 * np.abs(terms).sum(axis=0), total, 0.0)


def f_interval(form: str, squares: Floats, n: int, k: int, level: float) -> tuple[Floats, Floats]:
    """(P,), (P,): bounds from the F distribution (McGraw and Wong 1996, table 7).

    Written without dividing by MSE, so that perfect consistency gives its limit.
    irr::icc() in R reports another interval for ICC(A,k), not that of the paper (psych and
    pingouin agree with these).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if form.startswith("A"):
            return _agreement_interval(form, squares, n, k, level)
        return _ratio_interval(form, squares, n, k, level)


def _ratio_interval(
    form: str, squares: Floats, n: int, k: int, level: float
) -> tuple[Floats, Floats]:
    rows, raters, error = squares
    other, df = error, (n - 1) * (k - 1)
    if form.startswith("1"):
        other, df = (raters + (n - 1) * error) / n, n * (k - 1)
    low = _quantile(n - 1, df, 0.5 + level / 2) * other
    high = _quantile(df, n - 1, 0.5 + level / 2) * rows
    if form.endswith("k"):
        return (rows - low) / rows, (high - other) / high
    return (rows - low) / (rows + (k - 1) * low), (high - other) / (high + (k - 1) * other)


def _agreement_interval(
    form: str, squares: Floats, n: int, k: int, level: float
) -> tuple[Floats, Floats]:
    rows, raters, error = squares
    single = value("A,1", squares, n, k)
    # Satterthwaite's degrees of freedom, numerator and denominator multiplied by n (1 - ICC).
    a, b = k * single, n * (1 - single) + k * single * (n - 1)
    spread = (a * raters) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1))
    df = (a * raters + b * error) ** 2 / spread
    # With no rater and no error variance every df gives the same bounds.
    df = np.where((raters == 0) & (error == 0), 1.0, df)
    noise = raters - error if form.endswith("k") else k * raters + (k * n - k - n) * error
    # The paper's 1 / F(n - 1, df) is the lower quantile of F(df, n - 1), which cannot overflow.
    tails = (_quantile(df, n - 1, 0.5 - level / 2), _quantile(df, n - 1, 0.5 + level / 2))
    below = [noise + n * f * rows for f in tails]
    # Noise below zero (MSC < MSE) can turn the denominator of ICC(A,k) over between the two: the
    # values that F does not reject then run through infinity, and are no interval.
    whole = np.sign(below[0]) == np.sign(below[1])
    low, high = (n * (f * rows - error) / part for f, part in zip(tails, below, strict=True))
    return np.where(whole, low, np.nan), np.where(whole, high, np.nan)


def _quantile(df1: float | Floats, df2: float | Floats, probability: float) -> Floats:
    return np.asarray(special().fdtri(df1, df2, probability))
