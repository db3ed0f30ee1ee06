"""Verdicts with the evidence that they rest on, as one frozen noun."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from voirdire.examining.verdict.facts import Evidence, HumanPair, Verdict


@dataclass(frozen=True, slots=True)
class Judged:
    """Verdicts on judges and attributes, and what they rest on, in the order of the cases."""

    verdicts: tuple[Verdict, ...]
    evidence: tuple[Evidence, ...]
    human_pairs: tuple[HumanPair, ...] = ()
