"""Verdicts with the evidence that they rest on, as one frozen noun."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from voirdire.examining.verdict.facts import Evidence, HumanPair, Verdict
    from voirdire.stats.probability import CalibrationError
    from voirdire.stats.ranking import Ranking


@dataclass(frozen=True, slots=True)
class Judged:
    """Verdicts on judges and attributes, and what they rest on, in the order of the cases.

    `rankings` are people's, by attribute; `calibrations` by judge and attribute.
    """

    verdicts: tuple[Verdict, ...]
    evidence: tuple[Evidence, ...]
    human_pairs: tuple[HumanPair, ...] = ()
    rankings: tuple[tuple[str, Ranking], ...] = ()
    calibrations: tuple[tuple[str, str, CalibrationError], ...] = ()
