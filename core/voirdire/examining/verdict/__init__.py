"""A verdict for each use of a judge: components from sums by cluster, uses, next steps."""

from voirdire.examining.verdict.facts import (
    THESE,
    TO_COME,
    AltTests,
    Careless,
    Component,
    Evidence,
    HumanPair,
    Next,
    State,
    Target,
    Verdict,
)

__all__ = [
    "THESE",
    "TO_COME",
    "AltTests",
    "Careless",
    "Component",
    "Evidence",
    "HumanPair",
    "Next",
    "State",
    "Target",
    "Verdict",
]
