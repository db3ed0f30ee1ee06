"""A verdict for each use of a judge: components from sums by cluster, uses, next steps."""

from voirdire.examining.verdict.facts import (
    THESE,
    TO_COME,
    USES,
    Action,
    AltTests,
    Careless,
    Component,
    ComponentName,
    Evidence,
    HumanPair,
    Next,
    Reason,
    State,
    Target,
    Use,
    Verdict,
)

__all__ = [
    "THESE",
    "TO_COME",
    "USES",
    "Action",
    "AltTests",
    "Careless",
    "Component",
    "ComponentName",
    "Evidence",
    "HumanPair",
    "Next",
    "Reason",
    "State",
    "Target",
    "Use",
    "Verdict",
]
