"""Many verdicts at once: how many false passes to expect, and which passes survive a correction."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

from voirdire.examining.ladder._components import label_alpha_of
from voirdire.stats.multiplicity import adjust_p

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.examination import PairResult, Verdict
    from voirdire.study import Study, Thresholds


@dataclass(frozen=True, slots=True)
class Multiplicity:
    """How far the number of verdicts matters.

    Attributes
    ----------
    n : int
        Verdicts.
    level : float
        Of each interval, not adjusted for their number.
    expected_false_passes : float
        At most this many, on average, would pass consistency if every judge lay just below the
        threshold.
    passed, survived : tuple of (judge, attribute)
        Pairs whose consistency passes, and those of them that pass with the family-wise error
        over all verdicts held by Holm's method.
    """

    n: int
    level: float
    expected_false_passes: float
    passed: tuple[tuple[str, str], ...]
    survived: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        """The statement that a report prints."""
        verdicts = f"{self.n} {'verdict' if self.n == 1 else 'verdicts'}"
        text = (
            f"{verdicts}, each on {100 * self.level:g} % intervals that are not adjusted for their "
            f"number: if every judge lay just below the threshold, about "
            f"{self.expected_false_passes:.1f} would pass consistency by chance. "
        )
        if not self.passed:
            return text + "None passes consistency, so none can be a false pass."
        lost = [pair for pair in self.passed if pair not in self.survived]
        kept = f"With Holm's correction over all of them {len(self.survived)} of "
        text += (
            f"{kept}{len(self.passed)} {'pass holds' if len(self.passed) == 1 else 'passes hold'}"
        )
        return text + (f"; not {', '.join(f'{j} {a}' for j, a in lost)}." if lost else ".")


def state_multiplicity(
    results: Sequence[PairResult], verdicts: Sequence[Verdict], study: Study
) -> Multiplicity:
    """Count verdicts and passes, and correct the passes of consistency by Holm's method.

    The p-value of a pair is P(F > F0 (1 - t) / (1 + t)) with F0 = MSR / MSE, t the threshold and
    n - 1, n - 1 degrees of freedom: the one-sided test that the F interval inverts. For a label it
    is P(Z > z), z being the distance of alpha from its threshold in standard errors, those that
    its interval has by the normal distribution.

    Source: Holm (1979), Scand. J. Statist. 6, 65-70; McGraw and Wong (1996), table 8.
    """
    level = study.analysis.level
    adjusted = adjust_p([_p_value(result, study.thresholds) for result in results], "holm")
    passed = [
        ((verdict.judge, verdict.attribute), bool(p <= (1 - level) / 2))
        for verdict, p in zip(verdicts, adjusted, strict=True)
        if verdict.component("C").state == "pass"
    ]
    return Multiplicity(
        len(verdicts),
        level,
        len(verdicts) * (1 - level) / 2,
        tuple(pair for pair, _ in passed),
        tuple(pair for pair, held in passed if held),
    )


def _p_value(result: PairResult, thresholds: Thresholds) -> float:
    alpha = label_alpha_of(result)
    if alpha is None:
        return consistency_p(result, thresholds.icc_c)
    interval = alpha.interval()
    if interval is None or not alpha.value > interval.low:
        return math.nan
    normal = NormalDist()
    error = (alpha.value - interval.low) / normal.inv_cdf((1 + interval.level) / 2)
    return normal.cdf((thresholds.alpha - alpha.value) / error)


def consistency_p(result: PairResult, threshold: float) -> float:
    """One-sided p-value of ICC(C,1) <= threshold; NaN where undefined."""
    from scipy.special import fdtrc  # noqa: PLC0415 - slow to import

    if not (math.isfinite(result.ms_rows) and math.isfinite(result.ms_error)):
        return math.nan
    if result.ms_error <= 0:
        return 0.0 if result.ms_rows > 0 else math.nan
    df = result.n_units - 1
    ratio = result.ms_rows / result.ms_error * (1 - threshold) / (1 + threshold)
    return float(fdtrc(df, df, ratio))
