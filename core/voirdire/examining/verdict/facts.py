"""What an examination says of a judge's uses, as typed facts; `report` makes the sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from voirdire.stats import Estimate, ResponseAgreement

State = Literal["yes", "no", "open", "not tested"]
Use = Literal["order", "score", "single", "gate", "estimate", "repeat"]
Target = Literal["these systems", "systems to come"]

#: In the order in which a reader sees them.
USES: tuple[Use, ...] = ("order", "score", "single", "gate", "estimate", "repeat")
#: Adjusted p-values up to this remain: a yes is a one-sided test at 5 % before it as well.
HOLM_LEVEL = 0.05
THESE: Target = "these systems"
TO_COME: Target = "systems to come"

#: Keys of components: COVER, READ ... A stranger's component has one of its own.
ComponentName = str

#: Why a component or a verdict is not tested or open, or what is special about it.
Reason = Literal[
    "",
    "not asked",  # the judge has no row of the attribute, not even a missing score
    "one human",  # needs a second human beside the judge
    "few shared",  # two humans share fewer than 50 responses
    "few clusters",  # fewer than 20 items or clusters
    "one system",  # one system or none: a right mean cannot be told from a lucky constant
    "two systems",  # say which is better instead
    "few systems",  # fewer than 8, for systems to come
    "few in system",  # a system with fewer than 5 items or clusters: its mean has no error
    "humans alike",  # the humans do not separate these systems
    "humans unclear",  # the humans are not shown to agree on single responses
    "humans disagree",  # the humans do not agree on single responses
    "constant",  # the judge gives one score whatever it is shown
    "no variance",  # its scores do not vary within a system
    "few such",  # fewer than 20 responses that humans pass (fail)
    "no minima",  # one column of labels, and no minima to hold the judge against
    "default minima",  # one column of labels, and the minima are those of nobody's declaring
    "no gate",  # no threshold is declared for graded scores
    "one run",
    "temperature 0",
    "not random",  # the labelled responses were not drawn at random
    "no interval",
    "few in subgroup",
    "safety-critical",  # the study declares the attribute so, and caps the verdict
    "blocked",  # a finding of the audit forbids a verdict
    "nominal",  # labels without an order have no such statistic
    "not computed",
    "never used",  # a label that the judge never gives
    "looks bad",  # a label that is not vouched for, and whose estimates lie beyond what is allowed
    "order not recorded",  # who was shown first is not known
    "no texts",  # neither responses nor their lengths are there
    "not connected",  # systems that were never compared, even through others
    "judge alike",  # the judge does not separate these systems
    "few released",  # fewer than 20 responses of which the judge is so sure
    "hard items",  # nothing is known of responses on which humans differ
]

#: What to do next; the fields of `Next` that belong to each stand behind it.
Action = Literal[
    "use it",
    "trust it with nothing",
    "rate more",  # needed, now, unit; needed None: no realistic number
    "calibrate",  # after: the state of SCORE after cross-fitted calibration
    "two humans",  # needed: shared responses; below: pass only if they correlate below it
    "label twice",  # needed: labels by a second human
    "label instead",  # share: labels that the judge saves
    "average runs",  # needed: runs whose mean is reliable
    "run twice",
    "more systems",  # needed, now
    "estimate instead",  # use the labels and the judge together
    "declare a gate",
    "declare minima",
    "draw at random",
    "rate the rest",  # the judge left responses unanswered
    "settle the rubric",  # the humans have to agree first
    "keep humans",
    "correct the data",
]


@dataclass(frozen=True, slots=True)
class Component:
    """One thing that a use needs, and whether the data show it.

    Attributes
    ----------
    estimate : float
        On the natural scale: a correlation, points of the scale, a share. NaN where there is none.
        Where several systems, pairs or subgroups are tested, the one farthest beyond its margin.
    low, high : float
        One-sided 95 % bounds, which together are a 90 % interval; READ and GREAD at 99.5 %.
    margin : float or (float, float) or None
        What the estimate is held against: a floor, a symmetric ± margin, or two ends (SLOPE).
    se, df : float
        Standard error and degrees of freedom on the scale of the test: Fisher's z for READ, GREAD,
        HUMANS, ORDER, AGREE, ORDER+, RUN and GAIN; the log for SLOPE; else the natural scale.
    p : float
        One-sided p-value of "inside the margin"; 1 where not tested.
    at : tuple of str
        Where the estimate was found: a system, the two systems of a pair, a subgroup, a label.
    judge, human : float
        SENS and SPEC: the judge's share, and that of a held-out human (NaN with one column of
        labels). ITEM, GITEM and SUBITEM: worth of one run in humans, and reliability of one human.
    count : int
        SENS and SPEC: the responses behind them. REVERSE: pairs reversed. RUN: runs whose mean
        is reliable. GAIN: the labels that there are, or would be.
    times : float
        Of an open one: as many times as many units (items, clusters, systems) would settle it,
        were the estimates to stay as they are; infinite where no number is known to.
    """

    name: ComponentName
    state: State
    estimate: float = math.nan
    low: float = math.nan
    high: float = math.nan
    margin: float | tuple[float, float] | None = None
    se: float = math.nan
    df: float = math.nan
    p: float = 1.0
    reason: Reason = ""
    at: tuple[str, ...] = ()
    judge: float = math.nan
    human: float = math.nan
    count: int = 0
    times: float = math.inf

    def to_dict(self) -> dict[str, object]:
        """What a record holds: all but `times`, which the next step of a verdict says in units."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "times"}


@dataclass(frozen=True, slots=True)
class Next:
    """The cheapest next step: `action`, and the numbers that belong to it (see `Action`)."""

    action: Action
    needed: int | None = None
    now: int | None = None
    unit: str = ""
    below: float = math.nan
    share: float = math.nan
    after: State | None = None


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
        judges and attributes of this use and target. A yes remains where `p_holm` is at most
        `HOLM_LEVEL`.
    components : tuple of Component
        Those that the use requires and that were computed.
    """

    judge: str
    attribute: str
    use: Use
    target: Target
    state: State
    deciding: tuple[ComponentName, ...]
    reason: Reason
    next: Next
    p: float
    components: tuple[Component, ...]
    reference: tuple[str, ...] = ()
    p_holm: float = 1.0

    @property
    def remains(self) -> bool:
        """Whether a yes is still one after Holm's method over its grid."""
        return self.state == "yes" and self.p_holm <= HOLM_LEVEL

    def component(self, name: str) -> Component:
        """The component of that name; KeyError where this use does not have it."""
        for part in self.components:
            if part.name == name:
                return part
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Careless:
    """A human whose single scores do not follow the others', and who was left out."""

    human: str
    attribute: str
    correlation: float
    others: float


@dataclass(frozen=True, slots=True)
class Copied:
    """A human whose scores the judge gives more often than one who did not see them could.

    Attributes
    ----------
    equal, shared : int
        Responses on which the two are the same, of those that both scored.
    most : float
        The share of equal scores that a rater can reach who sees the response alone; NaN where no
        two humans scored enough of the same responses.
    """

    human: str
    attribute: str
    equal: int
    shared: int
    most: float


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


@dataclass(frozen=True, slots=True)
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
    gate: float
    constant: float
    humans_below: float
    careless: tuple[Careless, ...]
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
