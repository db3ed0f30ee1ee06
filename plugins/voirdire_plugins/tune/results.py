"""What tuning came to, frozen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.schema import Finding
    from voirdire.stats import Estimate
    from voirdire.study import Rater
    from voirdire_plugins.tune.measuring import Drawn


#: What is recommended: of "label" that nobody can say yet, and what labels would show it.
Decision = Literal["adopt", "keep", "label"]


@dataclass(frozen=True, slots=True)
class Way:
    """One way to judge, as the table of candidates shows it.

    Attributes
    ----------
    name, change : str
        The judge or candidate, and what is made of its scores without a call.
    goodness : float
        Of what is measured, on all labels: of those that chose, too good.
    share : float
        How often it was the choice without one fold; NaN where nothing was folded.
    calls : int
        Runs that one score takes.
    price : float or None
        Of a thousand scores; None where it is not known.
    unread : int
        Replies that could not be read.
    """

    name: str
    change: str
    goodness: float
    share: float
    calls: int
    price: float | None
    unread: int


@dataclass(frozen=True, slots=True)
class Moved:
    """A unit that the new judge scores otherwise."""

    item: str
    system: str
    attribute: str
    before: float
    after: float
    people: float
    gain: float


@dataclass(frozen=True, slots=True)
class Tuned:
    """What tuning came to.

    Attributes
    ----------
    judge, use, measure : str
        Who was tuned, for what, and what is measured.
    labels, people : int
        Units and who labelled them; of an optimizer `measured_on` of them chose nothing.
    ways : tuple of Way
        The judge as it was first.
    chosen : str
        Empty where nothing is better on the labels.
    gain, claimed : Estimate
        Measured apart, and what the labels that chose would claim.
    p_better, worst_tenth : float
        By the distribution behind the interval (`voirdire.stats.tuning.outlook`).
    differ : float
        The share of labelled units on which old and new differ.
    to_label : int
        Units that differ, of which labels would show a gain of three points four times in five; 0
        where too few are left.
    unlabelled : int
        What nobody labelled.
    what : {"responses", "items", "pairs"}
        What is labelled.
    decision : {"adopt", "keep", "label"}
    before, after : Way
    rates : mapping
        At the gate: sensitivity and specificity before and after.
    moved : tuple of Moved
        Units that got worse first.
    text_diff : str
        What the chosen judge is told otherwise.
    files : mapping
        What was written -> its path.
    spec : Rater
        The chosen judge's entry of the panel.
    drawn : Drawn or None
        Responses on which old and new differ, drawn or labelled.
    """

    judge: str
    use: str
    measure: str
    labels: int
    people: tuple[str, ...]
    measured_on: int
    ways: tuple[Way, ...]
    chosen: str
    gain: Estimate
    claimed: Estimate
    p_better: float
    worst_tenth: float
    differ: float
    to_label: int
    unlabelled: int
    what: str
    decision: Decision
    before: Way
    after: Way
    rates: Mapping[str, tuple[float, float]]
    moved: tuple[Moved, ...]
    text_diff: str
    spec: Rater
    findings: tuple[Finding, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    drawn: Drawn | None = None
