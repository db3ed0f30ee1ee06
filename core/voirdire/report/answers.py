"""What each judge may be used for, in words: sentences and tables made of the verdict's facts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from voirdire.examining.spec import COMPONENTS, THESE, TO_COME, USES
from voirdire.late import dataclass
from voirdire.report.saying import Saying, listed
from voirdire.report.sentences import margin_text, next_text, reason_text
from voirdire.report.words import brief, name_against
from voirdire.tabular import (
    Section,
    Table,
    interval,
    interval_text,
    number,
    number_text,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from voirdire.examining.examination import Examination
    from voirdire.examining.verdict.facts import (
        Component,
        Evidence,
        State,
        Target,
        Verdict,
    )

#: So many letters leave room for the grid on a phone's first screen.
_MOST_LETTERS = 450
#: Components that a point names; the table of reasons names all.
_MOST_PARTS = 2
#: Up to so many verdicts nobody asks how many of their yes chance alone would give.
_FEW = 10
#: What is said where nobody is held against anybody.
NO_VERDICT = "No verdict: there is no judge to compare with a reference."
#: The level of a yes: every component of it is a one-sided test.
_LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    """What is said of one judge, held against one reference."""

    judge: str
    name: str
    lead: tuple[str, ...]
    rest: tuple[str, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """All that is said of it."""
        return (*self.lead, *self.rest)

    @property
    def headline(self) -> str:
        """What to do."""
        return " ".join(self.lead)

    @property
    def sentence(self) -> str:
        """All that is said of it, as one text."""
        return " ".join(self.sentences)

    @property
    def attributes(self) -> tuple[str, ...]:
        """In the order of the verdicts."""
        return tuple(dict.fromkeys(verdict.about for verdict in self.verdicts))

    def verdict(self, attribute: str, use: str, target: Target = THESE) -> Verdict | None:
        """The verdict on one use, if there is one."""
        for verdict in self.verdicts:
            if (verdict.about, verdict.use, verdict.target) == (attribute, use, target):
                return verdict
        return None


def answers(examination: Examination) -> tuple[JudgeAnswer, ...]:
    """One answer a judge (and reference, where there are several), in the panel's order."""
    grouped: dict[tuple[str, tuple[str, ...]], list[Verdict]] = {}
    for verdict in examination.verdicts:
        grouped.setdefault((verdict.judge, verdict.reference), []).append(verdict)
    several = len({reference for _, reference in grouped}) > 1
    made = []
    for (judge, reference), verdicts in grouped.items():
        name = name_against(judge, reference) if several else judge
        seen = [one for one in examination.evidence if one.judge == judge]
        # Attributes may have been rated on different systems; the sentence counts the widest of
        # those that rank any. A probability beside comparisons has pairs in the place of systems.
        ranked = {verdict.attribute for verdict in verdicts if verdict.use == "order"}
        systems = max(
            (len(o.systems) for o in seen if o.attribute in ranked or not ranked), default=0
        )
        # One constant on all attributes is said once; different constants are a reason each.
        constants = {one.constant for one in seen if math.isfinite(one.constant)}
        constant = constants.pop() if len(constants) == 1 and _all_constant(seen) else math.nan
        saying = Saying(
            brief(name, 40),
            verdicts,
            systems,
            constant,
            [one for one in examination.simpler if one.rater == judge],
            clears(examination),
        )
        made.append(JudgeAnswer(judge, name, *saying.said(), tuple(verdicts)))
    return tuple(made)


def without_verdict(examination: Examination) -> str:
    """What is said first where no judge is held against anybody: how people agree, if they do."""
    for one in examination.rated.measures:
        if math.isfinite(one.estimate.value) and not examination.inputs.panel.judges:
            ends = one.estimate.intervals[0] if one.estimate.intervals else None
            span = "" if ends is None else f" {interval_text(ends.low, ends.high, 2)}"
            who = listed([brief(name, 40) for name in one.raters])
            value = number_text(one.estimate.value, 2)
            return f"{who} agree at {value}{span} on {brief(one.attribute, 40)} ({one.name})."
    return NO_VERDICT


def leads(answers: Sequence[JudgeAnswer]) -> tuple[str, ...]:
    """What the first screen says: the sentences, or where they are long those without reasons."""
    short = sum(len(answer.sentence) for answer in answers) <= _MOST_LETTERS
    return tuple(answer.sentence if short else answer.headline for answer in answers)


def clears(examination: Examination) -> Callable[[str, Verdict], bool | None]:
    """Whether a rater of the panel has a yes where a verdict of another is one."""

    def cleared(other: str, verdict: Verdict) -> bool | None:
        own = [one for one in examination.verdicts if one.judge == other]
        if not own:
            return None
        place = (verdict.about, verdict.use, verdict.target)
        return any((one.about, one.use, one.target) == place and one.state == "yes" for one in own)

    return cleared


def _all_constant(evidence: Iterable[Evidence]) -> bool:
    return all(math.isfinite(one.constant) for one in evidence)


@dataclass(frozen=True, slots=True)
class Point:
    """What uses come to on some attributes, why, and the cheapest next step."""

    uses: tuple[str, ...]
    target: Target
    state: State
    attributes: tuple[str, ...]
    why: str
    next: str

    @property
    def titles(self) -> str:
        """The uses as people call them."""
        return ", ".join(USES[use].title for use in self.uses)

    @property
    def label(self) -> str:
        """The same, with the target where it is systems to come."""
        return self.titles if self.target == THESE else f"{self.titles} for {self.target}"


def points(answer: JudgeAnswer) -> tuple[Point, ...]:
    """What was found of each use, the attributes of one state together; not what was not tested.

    The reason and the next step are those of the attribute that is farthest from its limit. Uses
    with the same reason are one point.
    """
    groups: dict[tuple[str, Target, State], list[Verdict]] = {}
    for verdict in answer.verdicts:
        if verdict.state != "not tested":
            groups.setdefault((verdict.use, verdict.target, verdict.state), []).append(verdict)
    merged: dict[tuple[Target, State, tuple[str, ...], str, str], list[str]] = {}
    for (use, target, state), verdicts in groups.items():
        # The largest p is the attribute that is farthest from a yes.
        worst = max(verdicts, key=_p)
        why = reason_text(worst, _MOST_PARTS)
        why = f"{worst.about}: {why}" if len(verdicts) > 1 and why else why
        attributes = tuple(verdict.about for verdict in verdicts)
        step = next_text(worst.next, state)
        merged.setdefault((target, state, attributes, why, step), []).append(use)
    return tuple(Point(tuple(uses), *key) for key, uses in merged.items())


def _p(verdict: Verdict) -> float:
    return verdict.p


def why_section(answers: Sequence[JudgeAnswer]) -> Section:
    """For each no, open and not tested: what decided, and the cheapest next step."""
    columns = tuple(map(text, ("Judge", "Attribute", "Use", "Target", "Verdict", "Why", "Next")))
    rows = tuple(
        (
            answer.name,
            verdict.about,
            USES[verdict.use].title,
            verdict.target,
            verdict.state,
            reason_text(verdict),
            next_text(verdict.next, verdict.state),
        )
        for answer in answers
        for verdict in answer.verdicts
        if verdict.state != "yes"
    )
    return Section(
        "Why, and what next",
        "Each estimate with its interval, beside what is needed or allowed.",
        (Table(columns, rows),),
    )


def components_section(answers: Sequence[JudgeAnswer]) -> Section:
    """Every component that any use of a judge requires."""
    columns = (
        *map(text, ("Judge", "Attribute", "Component", "State")),
        number("Estimate"),
        interval("Interval"),
        text("Needed"),
        text("Where"),
    )
    rows = tuple(
        (
            answer.name,
            attribute,
            COMPONENTS[part.name].title,
            part.state,
            part.estimate,
            # A count of pairs has no interval.
            None if COMPONENTS[part.name].unit == "pairs" else (part.low, part.high),
            margin_text(part) or None,
            ", ".join(part.at) or None,
        )
        for answer in answers
        for attribute in answer.attributes
        for part in parts_of(answer, attribute)
    )
    return Section(
        "Components of the verdicts",
        "What was needed of each judge, and what was found. Biases are in points of the scale. "
        "Beside one human (or at a gate, or in a subgroup) the estimate says by how much a run "
        "follows the humans better than one that errs as much as is allowed. Reversed pairs are "
        "counted. Intervals are one-sided 95 % bounds on both sides.",
        (Table(columns, rows),),
    )


def sureness_section(answers: Sequence[JudgeAnswer]) -> Section:
    """The p of each verdict that was tested, and Holm's."""
    columns = (
        *map(text, ("Judge", "Attribute", "Use", "Target", "Verdict")),
        number("p", 4), number("p (Holm)", 4),
    )  # fmt: skip
    rows = tuple(
        (
            answer.name,
            one.about,
            USES[one.use].title,
            one.target,
            one.state,
            one.p,
            one.p_holm,
        )
        for answer in answers
        for one in answer.verdicts
        if one.state != "not tested"
    )
    return Section(
        "How sure each verdict is",
        "p is the largest of those of a use's components. Holm's corrects it for all judges and "
        "attributes, and decides nothing.",
        (Table(columns, rows),),
    )


def parts_of(answer: JudgeAnswer, attribute: str) -> tuple[Component, ...]:
    """The components of all uses of a judge on an attribute."""
    own = [verdict for verdict in answer.verdicts if verdict.about == attribute]
    parts = (part for verdict in own for part in verdict.components)
    # One of a name, but for those of single labels.
    return tuple({_place(part): part for part in parts}.values())


def _place(part: Component) -> tuple[str, tuple[str, ...]]:
    by_label = COMPONENTS[part.name].kinds.isdisjoint({"score"})
    return part.name, part.at if by_label else ()


def expected_text(examination: Examination) -> str:
    """How many yes of a large grid chance alone would give, at most.

    Of m tests at least as sure as the least sure yes m times its p are expected where nothing
    deserves one; a yes is a yes all the same.
    """
    yes, expected = 0, 0.0
    for use in USES:
        own = [v for v in examination.verdicts if v.use == use and v.target == THESE]
        tested = [verdict for verdict in own if verdict.state != "not tested"]
        sure = [min(verdict.p, _LEVEL) for verdict in tested if verdict.state == "yes"]
        if len(tested) > _FEW and sure:
            yes += len(sure)
            expected += len(tested) * max(sure)
    if not yes:
        return ""
    at_most = math.ceil(expected)
    wrong = "fewer than one is" if expected < 1 else f"at most {min(at_most, yes)} are"
    return f"Of these {yes:,} yes {wrong} expected to be wrong."


def best_text(examination: Examination) -> str:
    """Of a large grid: which pair saves most labels; its interval allows for the picking."""
    if len({(one.judge, one.about) for one in examination.verdicts}) <= _FEW:
        return ""
    from voirdire.examining.verdict.best import best_worth  # noqa: PLC0415 - for large grids alone

    best = best_worth(examination.verdicts)
    if best is None:
        return ""
    where = f" on {brief(best.attribute, 40)}" if len(attributes_of(examination)) > 1 else ""
    low, high = (round(100 * end) for end in (best.low, best.high))
    return (
        f"Of {best.among} pairs of judge and attribute, {brief(best.judge, 40)}{where} saves most: "
        f"100 labels with its scores count as {100 * best.value:.0f}. Picking the best is allowed "
        f"for in the interval [{low}, {high}]."
    )


def scope_text(examination: Examination) -> str:
    """What the verdicts hold for."""
    tested = (one for one in examination.verdicts if one.state != "not tested")
    plus = any(verdict.target == TO_COME for verdict in tested)
    more = " What holds for systems to come is listed separately." if plus else ""
    # Where nothing says which system answered, none is named.
    systems = "systems, " if any(len(one.systems) > 1 for one in examination.evidence) else ""
    return f"This holds for these {systems}items and humans, as of {examination.date[:10]}.{more}"


def uses_of(examination: Examination) -> tuple[str, ...]:
    """The uses that any verdict is about."""
    present = {verdict.use for verdict in examination.verdicts}
    return tuple(use for use in USES if use in present)


def attributes_of(examination: Examination) -> tuple[str, ...]:
    """The attributes that any verdict is about."""
    return tuple(dict.fromkeys(verdict.about for verdict in examination.verdicts))
