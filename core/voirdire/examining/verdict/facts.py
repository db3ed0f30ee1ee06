"""What an examination says of a judge's uses, as typed facts; `report` makes the sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from voirdire.examining.spec import THESE, TO_COME, Component, Next, State, Target
from voirdire.examining.spec.scores.careless import Careless
from voirdire.examining.spec.scores.copies import Copied
from voirdire.late import dataclass

if TYPE_CHECKING:
    from voirdire.stats import Estimate, ResponseAgreement
    from voirdire.tabular import Section

__all__ = [
    "THESE",
    "TO_COME",
    "AltTests",
    "Careless",
    "Component",
    "Copied",
    "Evidence",
    "HumanPair",
    "Judged",
    "Next",
    "State",
    "Target",
    "Verdict",
]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a judge may be put to a use on an attribute.

    Attributes
    ----------
    reference : tuple of str
        The humans that the judge was held against.
    deciding : tuple of str
        Names of the components that made it what it is; empty for a plain yes.
    reason : str
        Why, where no component alone says it: "humans disagree", "one system",
        "safety-critical", "constant" ...
    p, p_holm : float
        The largest p-value of the components; the same after Holm's method over the grid of
        judges and attributes of this use and target, which decides nothing.
    components : tuple of Component
        Those that the use requires and that were computed.
    label : str
        The label that it is about, where each label is a use of its own.
    kind : str
        The kind of judgements.
    """

    judge: str
    attribute: str
    use: str
    target: Target
    state: State
    deciding: tuple[str, ...]
    reason: str
    next: Next
    p: float
    components: tuple[Component, ...]
    reference: tuple[str, ...] = ()
    p_holm: float = 1.0
    label: str = ""
    kind: str = "score"

    @property
    def about(self) -> str:
        """The attribute, and the label where it is about one: ``"intent:refund"``."""
        return f"{self.attribute}:{self.label}" if self.label else self.attribute

    @property
    def not_shown(self) -> tuple[str, ...]:
        """Systems (labels) of which a yes is not claimed: it was not shown there."""
        return tuple(dict.fromkeys(name for part in self.components for name in part.not_shown))

    @property
    def held(self) -> State:
        """The state as a gate takes it: a yes that leaves something out is open."""
        return "open" if self.state == "yes" and self.not_shown else self.state

    def component(self, name: str) -> Component:
        """The component of that name; KeyError where this use does not have it."""
        for part in self.components:
            if part.name == name:
                return part
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class AltTests:
    """The published alt-test, and what it says of answers that read nothing; it decides nothing.

    Attributes
    ----------
    mean_of_runs : Estimate
        As published: the winning rate of the judge's mean over runs; the details hold
        ``advantage_probability``, ``epsilon`` and ``passed``.
    single_run : Estimate
        The same of its first run alone.
    best_constant : Estimate
        Of the one score that does best.
    system_mean : Estimate or None
        Of the humans' mean of each system; None without systems.
    """

    mean_of_runs: Estimate
    single_run: Estimate
    best_constant: Estimate
    system_mean: Estimate | None = None


@dataclass(frozen=True, slots=True)
class HumanPair:
    """Two humans on the responses that both scored on an attribute.

    Attributes
    ----------
    agreement : ResponseAgreement
        Every score of either human is a prediction beside the other's, so it is symmetric.
    difference : float
        Mean of `human` less that of `other`, in points of the scale.
    """

    human: str
    other: str
    attribute: str
    agreement: ResponseAgreement
    difference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was seen of one judge on one attribute, for all uses.

    Attributes
    ----------
    systems : tuple of str
        Those with paired responses.
    n_responses, n_labelled, n_judged : int
        Responses with a human and a judge's score; with a human's; with the judge's.
    clusters : int
        What was resampled, and `clustered` whether a cluster was declared (else: items).
    constant : float
        The score that the judge always gives; NaN for a judge whose scores vary.
    humans_below : float
        With one human column: it could stand in for one only if two humans correlate below this
        within systems; else NaN.
    copied : tuple of Copied
        Humans whose scores the judge repeats.
    components : tuple of Component
        All that were computed, those that no use required included.
    responses : ResponseAgreement or None
        Confusion matrix, accuracy, sensitivity and the like at the gate; None without a gate.
    humans_responses : ResponseAgreement or None
        The same of a held-out human, where there are two.
    graded : ResponseAgreement or None
        Of the scores as they are, where they have more than two levels.
    humans_graded : ResponseAgreement or None
        The same of a held-out human, where there are two.
    alt_tests : AltTests or None
        Where there are three humans or more.
    """

    judge: str
    attribute: str
    reference: tuple[str, ...]
    systems: tuple[str, ...]
    n_responses: int
    n_labelled: int
    n_judged: int
    clusters: int
    clustered: bool
    runs: int
    width: float
    gate: float = math.nan
    constant: float = math.nan
    humans_below: float
    careless: tuple[Careless, ...] = ()
    components: tuple[Component, ...]
    responses: ResponseAgreement | None = None
    humans_responses: ResponseAgreement | None = None
    graded: ResponseAgreement | None = None
    humans_graded: ResponseAgreement | None = None
    alt_tests: AltTests | None = None
    copied: tuple[Copied, ...] = ()

    def component(self, name: str) -> Component | None:
        """The component of that name, if it was computed."""
        return next((component for component in self.components if component.name == name), None)


@dataclass(frozen=True, slots=True)
class Judged:
    """Verdicts on judges and attributes, and what they rest on, in the order of the cases.

    `sections` are what kinds show besides: people's rankings, calibration.
    """

    verdicts: tuple[Verdict, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    human_pairs: tuple[HumanPair, ...] = ()
    sections: tuple[Section, ...] = ()

    def and_of(self, other: Judged) -> Judged:
        """Those of both."""
        return Judged(
            (*self.verdicts, *other.verdicts),
            (*self.evidence, *other.evidence),
            (*self.human_pairs, *other.human_pairs),
            (*self.sections, *other.sections),
        )
