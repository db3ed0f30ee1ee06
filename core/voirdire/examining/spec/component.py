"""One thing that a use requires: how it is found, held, worded, and what follows from it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import field, fields
from typing import TYPE_CHECKING, Any, Literal

from voirdire.examining.spec.kind import KINDS, is_for
from voirdire.examining.spec.registry import Registry
from voirdire.late import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from voirdire.examining.spec.kind import JudgedCase
    from voirdire.study import Margins

State = Literal["yes", "no", "open", "not tested"]
#: In which of these an estimate is; it is printed, drawn and compared accordingly.
Unit = Literal["points", "share", "correlation", "ratio", "excess", "pairs", "labels"]
#: On which side of its margin an estimate has to lie.
Side = Literal["least", "above 0", "within", "range", "none"]
#: What its error falls with.
Resampled = Literal["units", "systems"]


@dataclass(frozen=True, slots=True)
class Component:
    """One thing that a use needs, and whether the data show it.

    Attributes
    ----------
    name : str
        The key of its `ComponentSpec`: ``"READ"``.
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
    reason : str
        The key of a `Reason`: why it is not tested or open, or what is special about it.
    at : tuple of str
        Where the estimate was found: a system, the two systems of a pair, a subgroup, a label.
    judge, human : float
        SENS and SPEC: the judge's share, and that of a held-out human (NaN with one column of
        labels). ITEM, GITEM and SUBITEM: worth of one run in humans, and reliability of one human.
        GAIN: `human` is the share of the responses that people label.
    count : int
        SENS and SPEC: the responses behind them. REVERSE: pairs reversed. RUN: runs whose mean
        is reliable. GAIN: the labels that there are, or would be.
    times : float
        Of an open one: as many times as many units (items, clusters, systems) would settle it,
        were the estimates to stay as they are; infinite where no number is known to.
    not_shown : tuple of str
        Systems (labels, subgroups) of which the claim was not shown, though none refutes it.
    """

    name: str
    state: State
    estimate: float = math.nan
    low: float = math.nan
    high: float = math.nan
    margin: float | tuple[float, float] | None = None
    se: float = math.nan
    df: float = math.nan
    p: float = 1.0
    reason: str = ""
    at: tuple[str, ...] = ()
    judge: float = math.nan
    human: float = math.nan
    count: int = 0
    times: float = math.inf
    not_shown: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """What a record holds: all but `times`, which the next step of a verdict says in units.

        `not_shown` only where it names something.
        """
        left_out = {"times"} if self.not_shown else {"times", "not_shown"}
        return {
            one.name: getattr(self, one.name) for one in fields(self) if one.name not in left_out
        }


@dataclass(frozen=True, slots=True)
class Lack:
    """What a component needs and does not have: the reason, and what there is in its place."""

    reason: str
    at: tuple[str, ...] = ()
    count: int = 0


@dataclass(frozen=True, slots=True)
class Next:
    """The cheapest next step: the key of an `Action`, and the numbers that belong to it."""

    action: str
    needed: int | None = None
    now: int | None = None
    unit: str = ""
    below: float = math.nan
    share: float = math.nan
    after: State | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Estimated:
    """A value of a component, and the values (G,) without each cluster, to be compared with others.

    `at` is the system that it is about; empty for all.
    """

    value: float
    out: NDArray[np.float64]
    at: str = ""


@dataclass(frozen=True, slots=True)
class ChangeRule:
    """How a component is compared before and after a change of the judge.

    Attributes
    ----------
    estimates : callable
        From a ground to the values that can be told, with those without each cluster.
    margin : callable
        From margins, the width of the scale and the points that BIAS may move: within which a
        change counts as none.
    both_ways : bool
        Whether a move either way is one for the worse.
    of_kind : mapping
        Kinds of judgements of which the values are found otherwise.
    """

    estimates: Callable[[Any], Iterable[Estimated]]
    margin: Callable[[Margins, float, float], float]
    both_ways: bool = False
    of_kind: Mapping[str, Callable[[Any], Iterable[Estimated]]] = field(default_factory=dict)

    def values(self, ground: Ground) -> Iterable[Estimated]:
        """Those of a ground, by its kind."""
        return self.of_kind.get(ground.kind, self.estimates)(ground)


def always(_: Any) -> bool:
    """There is such a thing in every ground of its kind."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentSpec:
    """One component of the verdict, all of it.

    Attributes
    ----------
    key, name : str
        ``"READ"`` in output and gates, ``"tracks_responses"`` in code and docs.
    kinds : frozenset of str
        Kinds of judgements that it is for.
    find : callable
        From a ground of such a kind: the component, several (one a label), or None where there is
        no such thing. A ground that finds it itself (`Ground.own`) is not handed to it.
    needs : tuple of callable
        What must be there before `find` is asked; the first that lacks says why it is not tested.
    declared : callable
        Whether there is such a thing at all in a ground: a gate, a family, a subgroup. Where there
        is not, no use asks for it.
    unit, side : str
        What its estimate is, and where it has to lie; printed and drawn by them.
    falls_with : {"units", "systems"}
        What more of would settle it.
    skipped_untested : bool
        A use goes without it where it is not tested, unless the reason holds the use back.
    stops_all : str
        The reason for which every use is *not tested* where this is *no*; empty: it does not.
    unread : bool
        Whether its *no* says that the judge is to be trusted with nothing.
    calibrated : bool
        Whether calibration moves it.
    any_chance : bool
        Whether it holds where responses were given to people with different probabilities.
    after_no : callable or None
        From a ground and the component, the next step where it alone made a *no*.
    title : str
        In tables and figures.
    plain, asked : str
        In the page of docs: what it means, and what is asked of it.
    says : callable
        From a component to a clause: what was found, beside what is needed.
    says_of : mapping
        Kinds of judgements that are said otherwise.
    in_brackets : callable or None
        From a component of each verdict that a sentence clears to the number that stands in
        brackets behind the use; None: its title and the estimate.
    spared : callable or None
        From the components of several verdicts that name what was not shown, to the sentence that
        goes with a yes; None: their names.
    influence : callable or None
        From a ground and the component to what each response does to the estimate.
    change : ChangeRule or None
        How it is compared with an earlier state; None where it is not.
    """

    key: str
    name: str
    title: str
    plain: str
    asked: str
    kinds: frozenset[str]
    says: Callable[[Component], str]
    unit: Unit
    side: Side
    find: Callable[[Any], Component | Sequence[Component] | None] = lambda _: None
    needs: tuple[Callable[[Any], Lack | None], ...] = ()
    declared: Callable[[Any], bool] = always
    falls_with: Resampled = "units"
    skipped_untested: bool = False
    stops_all: str = ""
    unread: bool = False
    calibrated: bool = False
    any_chance: bool = False
    after_no: Callable[[Any, Component], Next] | None = None
    says_of: Mapping[str, Callable[[Component], str]] = field(default_factory=dict)
    in_brackets: Callable[[Sequence[Component]], str] | None = None
    spared: Callable[[Sequence[Component]], str] | None = None
    influence: Callable[[Any, Component], NDArray[np.float64] | None] | None = None
    change: ChangeRule | None = None

    def found(self, ground: Ground) -> tuple[Component, ...]:
        """The components in a ground: not tested where a need is not met."""
        if not is_for(self.kinds, ground.kind) or not self.declared(ground):
            return ()
        if ground.unequal and not self.any_chance:
            return (self.untested("unequal chances"),)
        own = ground.own(self.key)
        if own is not None:
            return own
        for need in self.needs:
            lack = need(ground)
            if lack is not None:
                return (self.untested(lack.reason, at=lack.at, count=lack.count),)
        made = self.find(ground)
        if made is None:
            return ()
        return (made,) if isinstance(made, Component) else tuple(made)

    def untested(self, reason: str, **facts: Any) -> Component:
        """The component where it cannot be told."""
        return Component(self.key, "not tested", reason=reason, **facts)


#: Every component of the verdict, in the order in which they are found and recorded.
COMPONENTS: Registry[ComponentSpec] = Registry("component")


def ground_of(case: JudgedCase, margins: Margins) -> Ground:
    """The ground of a case, by its kind."""
    made: Ground = KINDS[case.kind].ground_of(case, margins)
    return made


class Ground(ABC):
    """What the components of one judge and attribute rest on.

    Each kind of judgement has a class of its own, with the sums that its components share, found
    when first asked for. What is named here is all that verdicts and advice know of it.
    """

    case: JudgedCase

    def __init__(self, case: JudgedCase, margins: Margins) -> None:
        self.case, self.margins = case, margins
        self._found: dict[str, tuple[Component, ...]] = {}

    @property
    def kind(self) -> str:
        """The kind of judgements: ``"score"``, ``"label"``."""
        return self.case.kind

    @property
    @abstractmethod
    def units(self) -> tuple[int, str]:
        """How many items (or clusters) there are, and what they are called."""

    @property
    @abstractmethod
    def systems(self) -> int:
        """How many systems there are; 1 for none."""

    @property
    def named_systems(self) -> tuple[str, ...]:
        """The systems that it is about; empty where none is declared."""
        return ()

    @property
    def n_labelled(self) -> int:
        """Units with a human's judgement."""
        return self.case.size(self.case.labelled)

    @property
    def n_paired(self) -> int:
        """Units with a human's and the judge's."""
        return self.case.size(self.case.paired)

    @property
    def answered(self) -> tuple[int, int]:
        """Units that the judge was asked about, and those of them that it judged."""
        return self.n_labelled, self.n_paired

    @property
    def held_against(self) -> tuple[str, ...]:
        """The humans of the reference who were not left out."""
        return self.case.reference

    @property
    def careless(self) -> tuple[Any, ...]:
        """Humans who were left out since they do not follow the others."""
        return ()

    @property
    def repeating(self) -> tuple[Any, ...]:
        """Humans who give another's judgements."""
        return ()

    @property
    def humans_below(self) -> float:
        """With one human: what two may agree by for ITEM to be still possible; else NaN."""
        return math.nan

    @property
    def few(self) -> bool:
        """Whether there are too few units for anything to be tested."""
        return self.units[0] < self.margins.clusters

    @property
    def few_systems(self) -> bool:
        """Whether there are systems, and too few for a correlation of their means."""
        return False

    @property
    def unequal(self) -> bool:
        """Whether responses were given to people with different probabilities."""
        return False

    @property
    def labels(self) -> tuple[str, ...]:
        """Each label that a use is decided for by itself; empty where no use is."""
        return ()

    def as_others(self, uses: Sequence[str]) -> Iterable[tuple[str, Ground, Sequence[str]]]:
        """Grounds of another kind that the same judgements are, such as the share of a label.

        Each with its label and which of `uses` (all, where it is empty) are asked of it.
        """
        del uses
        return ()

    def own(self, key: str) -> tuple[Component, ...] | None:
        """The components of a key that this kind finds otherwise; None: as their spec does."""
        del key
        return None

    def of(self, key: str) -> tuple[Component, ...]:
        """The components of a key: none, one, or one for each label; found once."""
        if key not in self._found:
            self._found[key] = COMPONENTS[key].found(self)
        return self._found[key]

    def hold(self, parts: Iterable[Component]) -> None:
        """Take these components, and no others, as found."""
        self._found = dict.fromkeys(COMPONENTS, ())
        for part in parts:
            self._found[part.name] = (*self._found[part.name], part)

    def calibrated(self) -> Ground | None:
        """What they would rest on had the judge been calibrated; None where that is not known."""
        return None

    def one(self, key: str) -> Component | None:
        """The only component of a key, where it was found."""
        return next(iter(self.of(key)), None)

    @property
    def components(self) -> Mapping[str, Component]:
        """Key -> component of all that there are; of several with one key the first."""
        return {key: made[0] for key in COMPONENTS if (made := self.of(key))}

    def all(self) -> tuple[Component, ...]:
        """All that there are, in the order of the registry."""
        return tuple(part for key in COMPONENTS for part in self.of(key))
