"""What a judge is wanted for: what each use requires, how it is said, and what comes next."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

from voirdire.examining.spec.component import Next
from voirdire.examining.spec.kind import is_for
from voirdire.examining.spec.registry import Registry
from voirdire.late import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from voirdire.examining.spec.component import Ground

Target = Literal["these systems", "systems to come"]
THESE: Target = "these systems"
TO_COME: Target = "systems to come"

#: How a component counts in a use: *required* must be yes; one that *may refuse* counts where it is
#: no; one that is *looked at* where it is no or open; one that is *left out* never.
Role = Literal["required", "may refuse", "look", "left out"]

#: Labels that a second human should give where one column was taken as right.
TWICE = 50


@dataclass(frozen=True, slots=True)
class Wanted:
    """A component that a use asks for, and how it counts; `role` may depend on the ground.

    `kinds` are the kinds of judgements of which it is asked, where it is for others as well.
    """

    key: str
    role: Role | Callable[[Any], Role] = "required"
    kinds: frozenset[str] | None = None

    def role_in(self, ground: Ground) -> Role:
        """How it counts in a ground."""
        if self.kinds is not None and not is_for(self.kinds, ground.kind):
            return "left out"
        return self.role(ground) if callable(self.role) else self.role


@dataclass(frozen=True, slots=True, kw_only=True)
class UseSpec:
    """One use, all of it.

    Attributes
    ----------
    key, name : str
        ``"order"`` in output and studies, ``"order_systems"`` in code and docs.
    kinds : frozenset of str
        Kinds of judgements that it is for.
    required : mapping
        By target, what it asks for, in the order in which what is lacking is named.
    question, permits : str
        In the page of docs: what is asked, and what a yes allows.
    title : str
        What heads it wherever people look; `key` stands in files and options.
    verb : str
        What a yes says: "use J to ..."; `{systems}` is "these 5 systems", `{label}` a label,
        `{averages}` what its kind calls means of systems. Empty where only `alone` says it.
    doing : str
        The same as a noun, of what is open or not tested: "not enough data for ...".
    refused : str
        What a no says: "do not ..."; `{it}` and `{its}` are the judge.
    alone : str
        What a yes says in a sentence of its own beside other uses, where they make no list with it.
    acts : str
        What `decide` asks, where single judgements are acted on; else empty.
    minor : bool
        Whether a no or an open one is left to the table.
    untested_said : bool
        Whether a sentence says that it was not tested: people ask for it by itself.
    shown : tuple of str
        Components that a yes is explained by.
    numbers : int
        Of how many of them the number stands in brackets behind a yes.
    declared : callable
        Whether it is asked for in a ground at all.
    per_label : bool
        Whether each label is a use of its own.
    all_labels : str
        What two labels are called together, where there are never more.
    these_only : frozenset of str
        Kinds of judgements for which systems to come are no target.
    of_means : bool
        Whether it is about means of systems, of which one system has but one.
    forbidden_where_critical : bool
        Whether an attribute that is declared safety-critical forbids it.
    without_humans : bool
        Whether it can be told although humans do not agree.
    calibrates : bool
        Whether calibrated scores may be put to it.
    counts : callable
        From a ground to how many units there are, and their name, in advice.
    after_yes : callable or None
        From a ground to what is to be done although it is a yes, or None.
    """

    key: str
    name: str
    kinds: frozenset[str]
    required: Mapping[Target, tuple[Wanted, ...]]
    question: str
    permits: str
    title: str
    verb: str
    doing: str
    refused: str
    alone: str = ""
    acts: str = ""
    minor: bool = False
    untested_said: bool = False
    shown: tuple[str, ...] = ()
    numbers: int = 1
    declared: Callable[[Any], bool] = field(default=lambda _: True)
    per_label: bool = False
    all_labels: str = ""
    these_only: frozenset[str] = frozenset()
    of_means: bool = False
    forbidden_where_critical: bool = False
    without_humans: bool = False
    calibrates: bool = False
    counts: Callable[[Any], tuple[int, str]] = field(default=lambda ground: ground.units)
    after_yes: Callable[[Any], Next | None] | None = None


#: Every use, in the order in which a reader sees them.
USES: Registry[UseSpec] = Registry("use")


def wanted(*keys: str | Wanted) -> tuple[Wanted, ...]:
    """Components that are required; a `Wanted` says otherwise itself."""
    return tuple(key if isinstance(key, Wanted) else Wanted(key) for key in keys)


def _unless_labels_decide(role: Role) -> Callable[[Any], Role]:
    """Beside one column of labels and minima, which decide, a component has that role instead."""
    return lambda ground: role if ground.labels_decide else "required"


def _of_labels(ground: Any) -> tuple[int, str]:
    # Labels of one column: each response has one, unless clusters are resampled.
    if ground.labels_alone and not ground.clustered:
        return ground.panel.n, "labels"
    units: tuple[int, str] = ground.units
    return units


def _label_twice(ground: Any) -> Next | None:
    return Next("label twice", needed=TWICE, unit="responses") if ground.labels_alone else None


_OF_MEANS, _OF_SINGLE = frozenset({"score"}), frozenset({"score", "nominal"})
#: Uses that labels, sets of labels and preferences have, too.
_LABELS = frozenset({"label", "label set"})
#: Of scores reading is shown in each system, or the system is named and no yes is about it.
_EACH_SYSTEM = Wanted("READ_s", kinds=_OF_MEANS)

ORDER_SYSTEMS = USES.register(
    UseSpec(
        key="order",
        name="order_systems",
        kinds=_OF_MEANS | {"preference"},
        these_only=frozenset({"preference"}),
        required={
            THESE: wanted("COVER", "READ", _EACH_SYSTEM, "ORDER", "PAIRS", "REVERSE", "FAM"),
            TO_COME: wanted("COVER", "READ", _EACH_SYSTEM, "ORDER+", "REVERSE", "FAM"),
        },
        question="Does it put these systems in the order that humans put them?",
        permits="rank systems by its averages",
        title="Rank systems",
        verb="rank {systems}",
        doing="ranking systems",
        refused="rank systems by {it}",
        shown=("ORDER", "PAIRS", "ORDER+", "REVERSE"),
        of_means=True,
    )
)
QUOTE_MEANS = USES.register(
    UseSpec(
        key="score",
        name="quote_means",
        kinds=_OF_MEANS | {"preference"},
        these_only=frozenset({"preference"}),
        required={
            THESE: wanted(
                "COVER",
                "READ",
                _EACH_SYSTEM,
                "BIAS",
                "LEVEL",
                "AGREE",
                "APART",
                "FAM",
                Wanted("PAIR", "may refuse"),
                Wanted("LENGTH", "may refuse"),
            ),
            TO_COME: wanted("COVER", "READ", _EACH_SYSTEM, "BIAS", "LEVEL", "LEVEL+", "FAM"),
        },
        question="Do its averages say what people's say?",
        permits="quote its averages as numbers",
        title="Quote averages",
        verb="quote {averages}",
        doing="quoting {averages}",
        refused="quote {its} {averages}",
        shown=("LEVEL", "LEVEL+"),
        of_means=True,
        calibrates=True,
    )
)
STAND_IN = USES.register(
    UseSpec(
        key="single",
        name="stand_in_for_one_human",
        kinds=_OF_SINGLE | _LABELS | {"preference"},
        required={
            THESE: wanted(
                "COVER",
                "READ",
                _EACH_SYSTEM,
                "ITEM",
                "SLOPE",
                "BIAS1",
                "SYS",
                "FAM",
                "SUB",
                "SUBITEM",
                # Labels: each may refuse; VOUCHED asks for most of what people say.
                Wanted("LABEL", "may refuse"),
                Wanted("SHARE", "may refuse"),
                Wanted("RECALL1", "may refuse"),
                Wanted("PRECISION1", "may refuse"),
                "VOUCHED",
                "DIV",
                "LEAK",
                Wanted("SUBSHARE", "may refuse"),
                Wanted("SYSSHARE", "look"),
                Wanted("EMPTY", "may refuse"),
                # Preferences.
                "POSITION",
                "LENGTH",
                "TIE",
                Wanted("READ_s", "look", _LABELS | {"preference"}),
                Wanted("FLIP", "look"),
                Wanted("PAIR", "may refuse"),
                Wanted("PICK1", "may refuse"),
                Wanted("LEVEL", "may refuse", frozenset({"preference"})),
            )
        },
        question="Can one run replace a human on a single response?",
        permits="replace one rater of a panel, never all",
        title="Replace a human",
        verb="replace a human",
        doing="replacing a human",
        refused="let {it} replace a human",
        untested_said=True,
        shown=("ITEM",),
        forbidden_where_critical=True,
    )
)
PASS_AND_STOP = USES.register(
    UseSpec(
        key="gate",
        name="pass_and_stop_responses",
        kinds=_OF_MEANS,
        required={
            # Against one column of labels no second human is asked for, and SYS can refuse but not
            # hold back: two releases in the file must not turn an answer into an open question.
            THESE: wanted(
                "COVER",
                # Pass and fail of a question and a system go together where their scores do not: a
                # judge that reads neither response would seem to read both sides of the gate.
                Wanted("READ", "look"),
                "GREAD",
                _EACH_SYSTEM,
                Wanted("GITEM", _unless_labels_decide("left out")),
                "SENS",
                "SPEC",
                Wanted("TAIL", _unless_labels_decide("left out")),
                Wanted("SYS", _unless_labels_decide("may refuse")),
                "FAM",
                "SUB",
                "SUBITEM",
            )
        },
        question="Does it pass and fail single responses as a human does?",
        permits="let it stop a response or a release",
        title="Pass/fail gate",
        acts="May it gate?",
        verb="gate responses",
        doing="gating responses",
        refused="let {it} gate responses",
        untested_said=True,
        shown=("SENS", "SPEC"),
        numbers=2,
        declared=lambda ground: ground.gate is not None,
        forbidden_where_critical=True,
        counts=_of_labels,
        after_yes=_label_twice,
    )
)
EXTEND_LABELS = USES.register(
    UseSpec(
        key="estimate",
        name="extend_labels",
        kinds=_OF_SINGLE | {"preference"},
        required={THESE: wanted("GAIN")},
        question="Do its scores and some labels together tell more than the labels alone?",
        permits="correct its scores with labels",
        title="Extend labels",
        verb="extend your labels",
        doing="extending labels",
        refused="count on {it} to extend your labels",
        alone="extend your labels with {it}",
        minor=True,
        shown=("GAIN",),
    )
)
RELY_ON_ONE_RUN = USES.register(
    UseSpec(
        key="repeat",
        name="rely_on_one_run",
        kinds=_OF_SINGLE,
        required={THESE: wanted("RUN")},
        question="Does one run say what the next one says?",
        permits="run it once",
        title="One run is enough",
        verb="",
        doing="relying on one run",
        refused="rely on one run of {it}",
        alone="one run of {it} is enough",
        minor=True,
        shown=("RUN",),
        without_humans=True,
    )
)
PULL_OUT = USES.register(
    UseSpec(
        key="filter",
        name="pull_out_a_label",
        kinds=_LABELS,
        required={THESE: wanted("COVER", "READ_k", "ITEM_k", "RECALL", "PRECISION", "HUMANS_k")},
        question="Does it pull out what people call so?",
        permits="pull out what it calls so",
        title="Filter",
        acts="May it filter?",
        verb="filter for {label}",
        doing="filtering for {label}",
        refused="let {it} filter for {label}",
        shown=("RECALL", "PRECISION"),
        numbers=2,
        per_label=True,
        forbidden_where_critical=True,
    )
)
PICK_THE_BETTER = USES.register(
    UseSpec(
        key="pick",
        name="pick_the_better",
        kinds=frozenset({"preference"}),
        required={
            THESE: wanted(
                "COVER",
                "READ",
                "PICK",
                "POSITION",
                "LENGTH",
                "FAM",
                "SUB",
                Wanted("READ_s", "look"),
                Wanted("FLIP", "look"),
                Wanted("PAIR", "may refuse"),
                Wanted("LEVEL", "may refuse"),
            )
        },
        question="Of two responses, does it pick the one that people pick?",
        permits="take the better of two by it",
        title="Pick the better",
        acts="May it pick the better?",
        verb="pick the better response",
        doing="picking the better response",
        refused="let {it} pick the better response",
        untested_said=True,
        shown=("PICK",),
        forbidden_where_critical=True,
    )
)
TRUST_PROBABILITIES = USES.register(
    UseSpec(
        key="confidence",
        name="take_at_its_word",
        kinds=frozenset({"probability"}),
        required={
            THESE: wanted(
                "COVER",
                "READ",
                "CSLOPE",
                "CLARGE",
                "SKILL",
                Wanted("HOM", "look"),
                Wanted("CTAIL", "look"),
                Wanted("CSUB", "may refuse"),
            )
        },
        question="Does 0.8 mean that people agree in 8 of 10?",
        permits="read its probabilities as probabilities",
        title="Trust its probability",
        verb="",
        doing="trusting its probability",
        refused="trust {its} probability",
        alone="trust {its} probability",
        shown=("CSLOPE", "CLARGE"),
    )
)
RELEASE_WHERE_SURE = USES.register(
    UseSpec(
        key="release",
        name="release_where_sure",
        kinds=frozenset({"probability"}),
        required={
            THESE: wanted(
                "COVER", "READ", "TOP", Wanted("CTAIL", "look"), Wanted("CSUB", "may refuse")
            )
        },
        question="May what it is sure of go out unseen?",
        permits="release what it is sure of, on that side",
        title="Act without review",
        acts="May it act without review?",
        verb="act without review {label} the threshold",
        doing="acting without review {label} the threshold",
        refused="skip review of {its} answers {label} the threshold",
        shown=("TOP",),
        per_label=True,
        all_labels="on either side of",
        forbidden_where_critical=True,
    )
)
