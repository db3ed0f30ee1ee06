"""A pass rate corrected by a judge's sensitivity and specificity that were measured elsewhere."""

from __future__ import annotations

import math

from voirdire.errors import StatisticsError
from voirdire.stats._results import Estimate, Interval


def rogan_gladen(
    judged_positive: int,
    judged: int,
    true_positive: int,
    positive: int,
    true_negative: int,
    negative: int,
    *,
    level: float = 0.95,
) -> Estimate:
    r"""A pass rate corrected by sensitivity and specificity that were measured elsewhere.

    :math:`(p + sp - 1) / (se + sp - 1)`. It assumes that the judge errs on these items as it did
    where sensitivity and specificity were measured; where labels of these items are at hand use
    `prediction_powered_mean`, which assumes nothing of the kind.

    Parameters
    ----------
    judged_positive, judged : int
        Items that the judge passes, of how many.
    true_positive, positive : int
        Labels that pass and that the judge passes, of how many that pass.
    true_negative, negative : int
        The same of labels that fail.
    level : float
        Nominal coverage of the delta-method interval, after adding one (or two for the pass rate)
        observation to each share (Lang and Reiczigel 2014).

    Returns
    -------
    Estimate
        In [0, 1] up to sampling error (it is not clipped; flag ``outside_range`` beyond it). Reason
        not_estimable where the judge does no better than chance (se + sp <= 1).

    Raises
    ------
    StatisticsError
        Counts that are negative or larger than their totals, or an empty total.

    Examples
    --------
    >>> from voirdire.stats import rogan_gladen
    >>> round(rogan_gladen(300, 1000, 90, 100, 80, 100).value, 3)
    0.143

    References
    ----------
    Rogan and Gladen (1978), Am. J. Epidemiol. 107, 71-76; Lang and Reiczigel (2014), Prev. Vet.
    Med. 113, 13-22, for the interval.
    """
    for part, whole, what in (
        (judged_positive, judged, "judged"), (true_positive, positive, "positive"),
        (true_negative, negative, "negative"),
    ):  # fmt: skip
        if not 0 <= part <= whole or whole == 0:
            raise StatisticsError(f"{what}: {part} of {whole} is no share")
    p, se, sp = judged_positive / judged, true_positive / positive, true_negative / negative
    details = {"sensitivity": se, "specificity": sp, "judged": p}
    n = positive + negative
    if se + sp <= 1:
        return Estimate("corrected share", math.nan, n=n, reason="not_estimable", details=details)
    value = (p + sp - 1) / (se + sp - 1)
    low, high = _lang_reiczigel(
        (judged_positive, judged), (true_positive, positive), (true_negative, negative), level
    )
    flags = () if 0 <= value <= 1 else ("outside_range",)
    return Estimate(
        "corrected share", value, (Interval("lang_reiczigel", level, low, high),),
        n=n, k=2, flags=flags, details=details,
    )  # fmt: skip


def _lang_reiczigel(
    judged: tuple[int, int], positive: tuple[int, int], negative: tuple[int, int], level: float
) -> tuple[float, float]:
    """Bounds of Lang and Reiczigel's adjusted interval, equations 7 to 10."""
    from scipy.special import ndtri  # noqa: PLC0415 - slow to import

    z = float(ndtri(0.5 + level / 2))
    n, m_se, m_sp = judged[1], positive[1], negative[1]
    p = (judged[0] + z * z / 2) / (n + z * z)
    se, sp = (positive[0] + 1) / (m_se + 2), (negative[0] + 1) / (m_sp + 2)
    youden = se + sp - 1
    if youden <= 0:
        return math.nan, math.nan
    prevalence = (p + sp - 1) / youden
    centre = prevalence + 2 * z * z * (
        prevalence * se * (1 - se) / (m_se + 2) - (1 - prevalence) * sp * (1 - sp) / (m_sp + 2)
    )
    spread = (
        p * (1 - p) / (n + z * z)
        + se * (1 - se) / (m_se + 2) * prevalence**2
        + sp * (1 - sp) / (m_sp + 2) * (1 - prevalence) ** 2
    )
    half = z * math.sqrt(spread) / youden
    return max(centre - half, 0.0), min(centre + half, 1.0)
