"""What each judge may be used for, in words: sentences and tables made of the verdict's facts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from voirdire.examining.spec import COMPONENTS, REASONS, THESE, TO_COME, USES, UseSpec
from voirdire.report.sentences import (
    because,
    margin_text,
    next_text,
    reason_text,
)
from voirdire.report.words import brief, name_against, plural
from voirdire.tabular import Section, Table, interval, number, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
_MOST_REASONS = 2
#: Components that a point names; the table of reasons names all.
_MOST_PARTS = 2
#: More attributes than this are counted in a sentence and not named.
_MOST_NAMED = 5


#: What a judge with which nothing may be done gets wrong, by kind; of scores it is scores.
_WHAT = {
    "label": "its labels do not follow the items",
    "label set": "its labels do not follow the items",
    "preference": "its choices do not follow the responses",
    "probability": "its probabilities do not follow the responses",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said of one judge, held against one reference."""

    judge: str
    name: str
    sentence: str
    headline: str
    verdicts: tuple[Verdict, ...]

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


def answers(examination: Examination) -> tuple[Answer, ...]:
    """One answer a judge (and reference, where there are several), in the panel's order."""
    grouped: dict[tuple[str, tuple[str, ...]], list[Verdict]] = {}
    for verdict in examination.verdicts:
        grouped.setdefault((verdict.judge, verdict.reference), []).append(verdict)
    several = len({reference for _, reference in grouped}) > 1
    made = []
    for (judge, reference), verdicts in grouped.items():
        name = name_against(judge, reference) if several else judge
        seen = [one for one in examination.evidence if one.judge == judge]
        # Attributes may have been rated on different systems; the sentence counts the widest.
        systems = max((len(one.systems) for one in seen), default=0)
        # One constant on all attributes is said once; different constants are a reason each.
        constants = {one.constant for one in seen if math.isfinite(one.constant)}
        constant = constants.pop() if len(constants) == 1 and _all_constant(seen) else math.nan
        saying = _Saying(brief(name, 40), verdicts, systems, constant)
        made.append(Answer(judge, name, saying.sentence(), saying.headline(), tuple(verdicts)))
    return tuple(made)


def leads(answers: Sequence[Answer]) -> tuple[str, ...]:
    """What the first screen says: the sentences, or where they are long those without reasons."""
    short = sum(len(answer.sentence) for answer in answers) <= _MOST_LETTERS
    return tuple(answer.sentence if short else answer.headline for answer in answers)


@dataclass(frozen=True, slots=True)
class _Saying:
    """One judge's sentence, put together from clauses."""

    name: str
    verdicts: Sequence[Verdict]
    systems: int
    #: The one score that it gives on every attribute; NaN for a judge whose scores differ.
    constant: float

    @property
    def these(self) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if verdict.target == THESE]

    @property
    def attributes(self) -> list[str]:
        return list(dict.fromkeys(verdict.attribute for verdict in self.these))

    def sentence(self) -> str:
        """What the judge is for, what it is not for and why, what is open, what was not tested."""
        if (flat := self._useless()) is not None:
            return flat
        clauses = [*self._yes(), *self._no(with_reasons=True), *self._unsettled()]
        return self._joined(clauses)

    def headline(self) -> str:
        """The same without reasons: what it is for, or else what it is not for."""
        if (flat := self._useless()) is not None:
            return flat
        states = {verdict.state for verdict in self.these}
        # "Only" forbids the rest, which nothing open may be.
        only = "no" in states and "open" not in states
        return self._joined(
            self._yes(only=only) or self._no(with_reasons=False) or self._unsettled()
        )

    def _joined(self, clauses: Sequence[str]) -> str:
        # A sentence that begins with what is open would read as if the rest were settled.
        if clauses and clauses[0].startswith("whether"):
            clauses = [f"do not rely on {self.name} yet: {clauses[0]}", *clauses[1:]]
        sentence = "; ".join(clauses) or f"nothing was tested of {self.name}"
        return f"{sentence[:1].upper()}{sentence[1:]}."

    def _useless(self) -> str | None:
        """The whole sentence where nothing may be done with a judge on any attribute."""
        these = self.these
        if math.isfinite(self.constant):
            told = f"it gives one score ({self.constant:g}) whatever it is shown"
            return f"Trust {self.name} with nothing: {told}."
        if not these or any(verdict.state == "yes" for verdict in these):
            return None
        reasons = list(dict.fromkeys(verdict.reason for verdict in these))
        if all(verdict.state == "not tested" for verdict in these):
            told = listed([REASONS[one].words for one in reasons if one][:_MOST_REASONS])
            return f"Nothing can be said of {self.name} yet" + (f": {told}." if told else ".")
        refused = [verdict for verdict in these if _asks_to_read(verdict)]
        unread = (
            verdict.state == "no" and any(COMPONENTS[key].unread for key in verdict.deciding)
            for verdict in refused
        )
        if not refused or not all(unread):
            return None
        first = next((REASONS[one] for one in reasons if one and REASONS[one].first), None)
        what = _WHAT.get(these[0].kind, "its scores do not follow the responses")
        told = first.words if first else what
        return f"Trust {self.name} with nothing: {told}."

    def _by_state(self, use: str, state: State) -> list[Verdict]:
        return [one for one in self.these if (one.use, one.state) == (use, state)]

    def _yes(self, *, only: bool = False) -> list[str]:
        """What it is for; uses of the same attributes together."""
        groups: dict[str, list[str]] = {}
        for use in USES.values():
            if verdicts := self._by_state(use.key, "yes"):
                verb = self._verb(use, verdicts)
                where = self._on(verdicts)
                # "order these 5 systems and quote their means": the systems are named once.
                if use.verb_after and groups.get(where) and verdicts[0].kind not in use.verb_of:
                    verb = use.verb_after
                groups.setdefault(where, []).append(verb)
        if not groups:
            return []
        clauses = [f"{listed(verbs)}{where}" for where, verbs in groups.items()]
        return [f"use {self.name} {'only ' if only else ''}to {', and to '.join(clauses)}"]

    def _verb(self, use: UseSpec, verdicts: Sequence[Verdict]) -> str:
        """What a yes says, its systems or labels named, with what is not vouched for."""
        verb = use.verb_of.get(verdicts[0].kind, use.verb)
        verb = verb.format(
            systems=f"these {plural(self.systems, 'system')}", label=_labels_of(use, verdicts)
        )
        out = [text for one in verdicts for part in one.components for text in part.not_shown]
        hard = any(p.reason == "hard items" for one in verdicts for p in one.components)
        spared = [*([f"not vouched for: {listed(out)}"] if out else []),
                  *(["nor what people find hard"] if hard and out else
                    ["what people find hard is not vouched for"] if hard else [])]  # fmt: skip
        return f"{verb} ({', '.join(spared)})" if spared and not use.per_label else verb

    def _no(self, *, with_reasons: bool) -> list[str]:
        """What it is not for; uses with the same reason together."""
        groups: dict[tuple[str, str], list[str]] = {}
        first = not self._yes()
        for use in USES.values():
            verdicts = self._by_state(use.key, "no")
            if verdicts and use.forbids is not None:
                named, short = use.forbids
                label = _labels_of(use, verdicts)
                verb = (named if first else short).format(judge=self.name, label=label)
                first = False
                why = _worst(verdicts) if with_reasons else ""
                groups.setdefault((self._on(verdicts), why), []).append(verb)
        return [
            f"do not {listed(verbs, 'or')}{where}{f': {why}' if why else ''}"
            for (where, why), verbs in groups.items()
        ]

    def _unsettled(self) -> list[str]:
        """What is open, and which uses of single responses could not be tested."""
        open_: dict[str, list[str]] = {}
        untested: dict[str, list[str]] = {}
        for use in USES.values():
            verdicts = self._by_state(use.key, "open")
            if verdicts and use.whether:
                whether = use.whether.format(label=_labels_of(use, verdicts))
                open_.setdefault(self._on(verdicts), []).append(whether)
            verdicts = self._by_state(use.key, "not tested")
            # Said only of the uses that people ask for by themselves, and only where no attribute
            # was tested: the grid says the rest.
            if verdicts and use.untested_said and len(verdicts) == len(self.attributes):
                reason = REASONS.get(verdicts[0].reason)
                why = "these data cannot tell" if reason is None else reason.words
                untested.setdefault(why, []).append(use.whether)
        return [
            *(f"whether {listed(v, 'or')}{where} is open" for where, v in open_.items()),
            *(f"whether {listed(v, 'or')} is not tested: {why}"
              for why, v in untested.items()),
        ]  # fmt: skip

    def _on(self, verdicts: Sequence[Verdict]) -> str:
        """On which attributes; nothing where there is but one, or where it is all of them."""
        if verdicts[0].label and USES[verdicts[0].use].per_label:  # the verb names the labels
            verdicts = list({one.attribute: one for one in verdicts}.values())
        elif verdicts[0].label:
            about = [brief(verdict.about, 40) for verdict in verdicts]
            shown = listed(about) if len(about) <= _MOST_NAMED else f"{len(about)} labels"
            return f" on {shown}"
        names = [brief(verdict.attribute, 40) for verdict in verdicts]
        if len(names) == len(self.attributes):
            return "" if len(names) == 1 else " on every attribute"
        if len(names) > _MOST_NAMED:
            return f" on {len(names)} of {len(self.attributes)} attributes"
        return f" on {listed(names)}"


def _labels_of(use: UseSpec, verdicts: Sequence[Verdict]) -> str:
    """The labels that uses of single labels are about."""
    if not use.per_label:
        return ""
    labels = [brief(one.label, 40) for one in verdicts]
    return listed(labels) if len(labels) <= _MOST_NAMED else f"{len(labels)} labels"


def _asks_to_read(verdict: Verdict) -> bool:
    """Whether its use asks whether scores follow the responses, and it was tested."""
    asked = USES[verdict.use].required[verdict.target]
    return verdict.state != "not tested" and any(COMPONENTS[one.key].unread for one in asked)


def _all_constant(evidence: Iterable[Evidence]) -> bool:
    return all(math.isfinite(one.constant) for one in evidence)


def _worst(verdicts: Sequence[Verdict]) -> str:
    """Why, from what fails most clearly: the widest bias, else the first component that is no."""
    parts = [
        part
        for verdict in verdicts
        for part in verdict.components
        if part.name in verdict.deciding and part.state == "no" and math.isfinite(part.estimate)
    ]
    # Points of the scale compare with one another; correlations and shares do not.
    level = [part for part in parts if COMPONENTS[part.name].unit == "points"]
    if level:
        part = max(level, key=lambda one: abs(one.estimate))
        return _plain(part, verdicts[0].kind)
    if parts:
        return _plain(parts[0], verdicts[0].kind)
    return REASONS[verdicts[0].reason].words if verdicts[0].reason else ""


def _plain(part: Component, kind: str) -> str:
    """A component without its interval and limit, which stand further down."""
    return because(replace(part, low=math.nan, high=math.nan, margin=None), kind)


def listed(parts: Sequence[str], word: str = "and") -> str:
    """Parts as a sentence joins them.

    >>> listed(["a", "b", "c"]), listed(["a", "b"], "or"), listed([])
    ('a, b and c', 'a or b', '')
    """
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {word} {parts[-1]}"


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
    def label(self) -> str:
        """The uses, and the target where it is systems to come."""
        names = ", ".join(self.uses)
        return names if self.target == THESE else f"{names} for {self.target}"


def points(answer: Answer) -> tuple[Point, ...]:
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


def why_section(answers: Sequence[Answer]) -> Section:
    """For each no, open and not tested: what decided, and the cheapest next step."""
    columns = tuple(map(text, ("Judge", "Attribute", "Use", "Target", "Verdict", "Why", "Next")))
    rows = tuple(
        (
            answer.name,
            verdict.about,
            verdict.use,
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


def components_section(answers: Sequence[Answer]) -> Section:
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


def parts_of(answer: Answer, attribute: str) -> tuple[Component, ...]:
    """The components of all uses of a judge on an attribute."""
    own = [verdict for verdict in answer.verdicts if verdict.about == attribute]
    parts = (part for verdict in own for part in verdict.components)
    # One of a name, but for those of single labels.
    return tuple({_place(part): part for part in parts}.values())


def _place(part: Component) -> tuple[str, tuple[str, ...]]:
    by_label = COMPONENTS[part.name].kinds.isdisjoint({"score"})
    return part.name, part.at if by_label else ()


def multiplicity_text(examination: Examination) -> str:
    """How many of the yes of each use remain after Holm's correction over its grid."""
    lost, total = [], 0
    for use in uses_of(examination):
        own = [v for v in examination.verdicts if v.use == use and v.target == THESE]
        yes = [verdict for verdict in own if verdict.state == "yes"]
        total += len(yes)
        kept = sum(verdict.remains for verdict in yes)
        if kept < len(yes):
            lost.append(f"of {len(yes)} yes for {use} {kept} remain")
    if not total:
        return ""
    remaining = listed(lost) if lost else "every yes remains"
    return f"Corrected for looking at many judges and attributes (Holm): {remaining}."


def scope_text(examination: Examination) -> str:
    """What the verdicts hold for."""
    plus = any(verdict.target == TO_COME for verdict in examination.verdicts)
    more = " What holds for systems to come is listed separately." if plus else ""
    return (
        f"This holds for these systems, items and humans, as of {examination.date[:10]}.{more} "
        "No verdict licenses clinical use."
    )


def uses_of(examination: Examination) -> tuple[str, ...]:
    """The uses that any verdict is about."""
    present = {verdict.use for verdict in examination.verdicts}
    return tuple(use for use in USES if use in present)


def attributes_of(examination: Examination) -> tuple[str, ...]:
    """The attributes that any verdict is about."""
    return tuple(dict.fromkeys(verdict.about for verdict in examination.verdicts))
