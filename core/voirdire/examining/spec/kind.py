"""A kind of judgements, all of it; and what the cases of all kinds have alike."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from voirdire.examining.spec.registry import Registry
from voirdire.late import dataclass
from voirdire.lazy import attribute_at
from voirdire.stats._arrays import occurring

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from voirdire.stats.response_panel import ResponseCounts
    from voirdire.tabular import Section

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedCase:
    """One judge and question: judgements of N units as numbers, one a rater and unit.

    Attributes
    ----------
    kind : str
        The key of its `KindSpec`.
    scores : (K runs, N) float64
        The judge's; NaN is missing.
    humans : (R, N) float64
        In the order of `reference`; of preferences in that of the table where people are many.
    items : (N,) array
        Names or numbers.
    clusters, subgroups : (N,) array or None
        What is left out at a time, by default each item (each comparison); declared groups, an
        empty one is none. None where not declared.
    asked : bool
        Whether the judge has a row of the question at all, judged or missing.
    counted : ResponseCounts or None
        How many units each of the N stands for; None: itself alone.
    """

    judge: str
    attribute: str
    reference: tuple[str, ...]
    scores: Floats
    humans: Floats
    items: NDArray[Any]
    clusters: NDArray[Any] | None = field(default=None, kw_only=True)
    subgroups: NDArray[Any] | None = field(default=None, kw_only=True)
    asked: bool = field(default=True, kw_only=True)
    counted: ResponseCounts | None = field(default=None, kw_only=True)

    kind: str = field(default="score", kw_only=True)

    #: What has a place for each unit: arrays by their last axis, or objects with an `only`.
    by_unit: ClassVar[tuple[str, ...]] = (
        "scores",
        "humans",
        "items",
        "clusters",
        "subgroups",
        "counted",
    )

    if TYPE_CHECKING:  # a field of one kind and a property of another

        @property
        def width(self) -> float:
            """The width of the scale."""

    def size(self, kept: NDArray[np.bool_]) -> int:
        """Units that are kept."""
        return int(kept.sum()) if self.counted is None else self.counted.size(kept)

    def only(self, kept: NDArray[np.bool_]) -> Self:
        """The case on some of its units."""
        facts = {name: getattr(self, name) for name in self.by_unit}
        return replace(
            self,
            **{
                name: fact.only(kept) if hasattr(fact, "only") else fact[..., kept]
                for name, fact in facts.items()
                if fact is not None
            },
        )

    def distinct(self) -> Self:
        """The case with one row for units that all judged alike, where its kind knows how."""
        return self

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """(N,) whether a human judged it."""
        return np.asarray(~np.isnan(self.humans).all(axis=0))

    @property
    def judged(self) -> NDArray[np.bool_]:
        """(N,) whether the judge did, in some run."""
        return np.asarray(~np.isnan(self.scores).all(axis=0))

    @property
    def paired(self) -> NDArray[np.bool_]:
        """(N,) both."""
        return self.labelled & self.judged

    def groups(self) -> NDArray[Any]:
        """(N,) what is resampled: declared clusters, else items."""
        return self.items if self.clusters is None else self.clusters

    @property
    def constant(self) -> float:
        """The one number that the judge gives; NaN where its numbers differ."""
        # Over all runs: a judge that is constant in each, at different scores, does vary.
        values = occurring(self.scores)
        return float(values[0]) if len(values) == 1 else float("nan")


@dataclass(frozen=True, slots=True, kw_only=True)
class KindSpec:
    """One kind of judgements.

    What is slow to import is named ``"module:attribute"`` and imported when a case is met.

    Attributes
    ----------
    key, name : str
        ``"label set"`` in output and options, ``"label_set"`` in code.
    ground : str
        From a case and margins to the `Ground` that its components rest on.
    cases : str
        From `Inputs` to the cases that they hold, of this kind and of those that are read with it;
        empty: another kind's gives them.
    holds : callable
        Whether inputs may hold any.
    beside : str
        From a ground, a level of intervals and the alt-test's allowance (or None) to what
        `Evidence` shows beside components, by field; empty: nothing.
    pairs : str
        From a case and a level to how each two humans agree; empty: none are shown.
    shown : str
        From the cases to what a report shows of them beside verdicts, as sections; empty: nothing.
    like : str
        The kind whose components and uses are its own as well; empty: none.
    unread : str
        What a judge gets wrong with which nothing may be done.
    averages : str
        What means of systems are called.
    corrected : str
        What `decide` asks of people's mean over all responses.
    """

    key: str
    name: str
    ground: str
    cases: str = ""
    holds: Callable[[Any], bool] = lambda _: True
    beside: str = ""
    pairs: str = ""
    shown: str = ""
    like: str = ""
    unread: str = "its scores do not follow the responses"
    averages: str = "averages"
    corrected: str = "What is the pass rate?"

    def is_of(self, kinds: Iterable[str]) -> bool:
        """Whether what is for these kinds is for this one."""
        return self.key in kinds or bool(self.like and KINDS[self.like].is_of(kinds))

    def cases_of(self, inputs: Any) -> Iterable[JudgedCase]:
        """The cases of its own that inputs hold."""
        held = bool(self.cases) and self.holds(inputs)
        found: Iterable[JudgedCase] = _at(self.cases)(inputs) if held else ()
        return found

    def ground_of(self, case: JudgedCase, margins: Any) -> Any:
        """The `Ground` of a case."""
        return _at(self.ground)(case, margins)

    def evidence(self, ground: Any, level: float, epsilon: float | None) -> dict[str, Any]:
        """What is shown beside the components of a ground."""
        return dict(_at(self.beside)(ground, level, epsilon)) if self.beside else {}

    def human_pairs(self, case: JudgedCase, level: float) -> tuple[Any, ...]:
        """How each two humans of a case agree."""
        return tuple(_at(self.pairs)(case, level)) if self.pairs else ()

    def sections(self, cases: Sequence[JudgedCase]) -> tuple[Section, ...]:
        """What a report shows of its cases."""
        return tuple(_at(self.shown)(cases)) if self.shown else ()


#: Every kind, in the order in which their cases are examined.
KINDS: Registry[KindSpec] = Registry("kind")


def _at(path: str) -> Callable[..., Any]:
    found: Callable[..., Any] = attribute_at(path, "kind: ")
    return found


def is_for(kinds: Iterable[str], kind: str) -> bool:
    """Whether what is for these kinds of judgements is for one of that kind."""
    return KINDS[kind].is_of(kinds)
