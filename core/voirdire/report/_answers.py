"""What each judge may be used for, in words: sentences and tables made of the verdict's facts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from voirdire.examining.verdict.facts import THESE, TO_COME, USES
from voirdire.report._words import STATES, brief, plural
from voirdire.tabular import (
    Section,
    Table,
    interval,
    interval_text,
    number,
    number_text,
    share_text,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from voirdire.examining.examination import Examination
    from voirdire.examining.verdict.facts import (
        Action,
        Component,
        Next,
        Reason,
        State,
        Target,
        Use,
        Verdict,
    )

#: What a component is called in tables and figures.
COMPONENTS: Mapping[str, str] = {
    "COVER": "share answered",
    "HUMANS": "humans agree",
    "READ": "follows responses",
    "ITEM": "beside one human",
    "SLOPE": "points per point",
    "BIAS": "bias",
    "BIAS1": "bias beside a human",
    "ORDER": "order of systems",
    "REVERSE": "reversed pairs",
    "AGREE": "agreement of means",
    "LEVEL": "bias by system",
    "SYS": "favoured system",
    "FAM": "own family",
    "SUB": "bias by subgroup",
    "SUBITEM": "subgroup beside a human",
    "GREAD": "gate follows responses",
    "GITEM": "gate beside one human",
    "SENS": "passes what passes",
    "SPEC": "stops what fails",
    "ORDER+": "order, systems to come",
    "LEVEL+": "bias of a new system",
    "GAIN": "labels it is worth",
    "RUN": "runs repeat",
}

#: More attributes than this are counted in a sentence and not named.
_MOST_NAMED = 5

_REASONS: Mapping[Reason, str] = {
    "one human": "one column of humans cannot tell",
    "few shared": "two humans share too few responses",
    "few clusters": "there are too few items",
    "one system": "with one system a right mean cannot be told from a lucky constant",
    "two systems": "two systems cannot be ordered by a correlation",
    "few systems": "there are too few systems",
    "few in system": "a system has too few items",
    "humans alike": "the humans do not separate these systems",
    "humans unclear": "the humans are not shown to agree on single responses",
    "humans disagree": "the humans do not agree on single responses",
    "constant": "it gives one score whatever it is shown",
    "no variance": "its scores do not vary within a system",
    "few such": "there are too few responses on one side of the gate",
    "no minima": "no minima are declared for the gate",
    "no gate": "no gate is declared",
    "one run": "there is one run",
    "temperature 0": "runs at temperature 0 agree by decoding",
    "not random": "the labelled responses were not drawn at random",
    "no interval": "no interval can be given",
    "few in subgroup": "a subgroup is too small",
    "safety-critical": "the study declares this attribute safety-critical",
    "blocked": "a finding of the audit forbids a verdict",
    "nominal": "labels without an order have no such statistic",
    "not computed": "it was not computed",
}

_DO: Mapping[Use, str] = {
    "order": "order these {systems}",
    "score": "quote the means of these {systems}",
    "single": "stand in for one human on single responses",
    "gate": "pass and stop single responses",
    "estimate": "stretch your labels to an estimate",
    "repeat": "rely on a single run",
}
_DONT: Mapping[Use, str] = {
    "order": "do not order systems by it",
    "score": "do not quote its scores",
    "single": "it does not stand in for a human",
    "gate": "do not gate with it",
    "estimate": "it saves too few labels",
    "repeat": "do not rely on one run",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said of one judge, held against one reference."""

    judge: str
    name: str
    sentence: str
    verdicts: tuple[Verdict, ...]

    @property
    def attributes(self) -> tuple[str, ...]:
        """In the order of the verdicts."""
        return tuple(dict.fromkeys(verdict.attribute for verdict in self.verdicts))

    def verdict(self, attribute: str, use: Use, target: Target = THESE) -> Verdict | None:
        """The verdict on one use, if there is one."""
        for found in self.verdicts:
            if (found.attribute, found.use, found.target) == (attribute, use, target):
                return found
        return None


def answers(examination: Examination) -> tuple[Answer, ...]:
    """One answer a judge (and reference, where there are several), in the panel's order."""
    found: dict[tuple[str, tuple[str, ...]], list[Verdict]] = {}
    for verdict in examination.verdicts:
        found.setdefault((verdict.judge, verdict.reference), []).append(verdict)
    several = len({reference for _, reference in found}) > 1
    made = []
    for (judge, reference), verdicts in found.items():
        name = f"{judge} vs {' and '.join(reference)}" if several else judge
        systems = _systems(examination, verdicts)
        made.append(
            Answer(judge, name, _sentence(brief(name, 40), verdicts, systems), tuple(verdicts))
        )
    return tuple(made)


def uses_of(examination: Examination) -> tuple[Use, ...]:
    """The uses that any verdict is about."""
    present = {verdict.use for verdict in examination.verdicts}
    return tuple(use for use in USES if use in present)


def attributes_of(examination: Examination) -> tuple[str, ...]:
    """The attributes that any verdict is about."""
    return tuple(dict.fromkeys(verdict.attribute for verdict in examination.verdicts))


def signs(answer: Answer, attribute: str, uses: Iterable[Use]) -> str:
    """One sign a use, for a cell of the grid; a blank where there is no verdict."""
    found = (answer.verdict(attribute, use) for use in uses)
    return " ".join(" " if one is None else STATES[one.state].sign for one in found)


def _systems(examination: Examination, verdicts: Sequence[Verdict]) -> int:
    first = verdicts[0]
    for seen in examination.evidence:
        if (seen.judge, seen.attribute) == (first.judge, first.attribute):
            return len(seen.systems)
    return 0


def _sentence(name: str, verdicts: Sequence[Verdict], systems: int) -> str:
    """One imperative sentence over a judge's attributes: what it is for, and what it is not for."""
    these = [verdict for verdict in verdicts if verdict.target == THESE]
    attributes = list(dict.fromkeys(verdict.attribute for verdict in these))
    if (flat := _useless(name, these)) is not None:
        return flat
    by_use = {use: _by_state(these, use) for use in USES}
    said = [
        f"{_DO[use].format(systems=plural(systems, 'system'))}{_on(found['yes'], attributes)}"
        for use, found in by_use.items()
        if found["yes"]
    ]
    rest = [
        clause
        for use, found in by_use.items()
        for clause in _but(use, found, attributes, these, licensed=bool(found["yes"]))
    ]
    first = f"Use {name} to {_listed(said)}" if said else f"Do not use {name} yet"
    return "; ".join([first, *rest]) + "."


def _useless(name: str, these: Sequence[Verdict]) -> str | None:
    """The whole sentence where nothing may be done with a judge on any attribute."""
    if not these or any(verdict.state == "yes" for verdict in these):
        return None
    reasons = {verdict.reason for verdict in these}
    for reason in ("humans disagree", "humans unclear", "blocked", "constant"):
        if reasons == {reason}:
            verb = "Trust {} with nothing" if reason == "constant" else "Nothing can be said of {}"
            return f"{verb.format(name)}: {_REASONS[reason]}."
    read = [verdict for verdict in these if verdict.use in ("order", "single", "gate")]
    unread = [{"READ", "GREAD"} & set(verdict.deciding) for verdict in read]
    if read and all(unread) and all(verdict.state == "no" for verdict in read):
        return f"Trust {name} with nothing: its scores do not follow the responses."
    return None


def _by_state(these: Sequence[Verdict], use: Use) -> dict[State, list[str]]:
    found: dict[State, list[str]] = {"yes": [], "no": [], "open": [], "not tested": []}
    for verdict in these:
        if verdict.use == use:
            found[verdict.state].append(verdict.attribute)
    return found


def _but(
    use: Use,
    found: Mapping[State, list[str]],
    attributes: Sequence[str],
    these: Sequence[Verdict],
    *,
    licensed: bool,
) -> Iterable[str]:
    """What it is not for, what is open, and what could not be told."""
    if found["no"] and use not in ("estimate", "repeat"):
        own = [v for v in these if v.use == use and v.state == "no"]
        where = "" if len(found["no"]) == len(attributes) else _on(found["no"], attributes)
        yield f"{_DONT[use]}{where}{_worst(own)}"
    if found["open"] and use in ("order", "score", "single", "gate"):
        short = _DO[use].format(systems="systems")
        yield f"whether it may {short}{_on(found['open'], attributes)} is open"
    untested = [v for v in these if v.use == use and v.state == "not tested"]
    if not licensed and len(untested) == len(attributes) and use in ("single", "gate"):
        yield f"{_REASONS.get(untested[0].reason, 'these data cannot tell')} whether it can " + (
            "stand in for one" if use == "single" else "gate"
        )


def _worst(verdicts: Sequence[Verdict]) -> str:
    """Why, from the verdict that fails most clearly."""
    parts = [
        part
        for verdict in verdicts
        for part in verdict.components
        if part.name in verdict.deciding and part.state == "no" and math.isfinite(part.estimate)
    ]
    wide = {"LEVEL", "BIAS", "BIAS1", "SYS"}
    level = [part for part in parts if part.name in wide]
    if level:
        part = max(level, key=lambda one: abs(one.estimate))
        who = part.at[0] if part.at else "on average it"
        return f": {who} comes out {_points(part.estimate)}"
    return f": {because(parts[0])}" if parts else ""


def _points(value: float) -> str:
    return f"{number_text(abs(value), 1)} points too {'high' if value > 0 else 'low'}"


def _on(found: Sequence[str], attributes: Sequence[str]) -> str:
    found = [brief(name, 40) for name in found]
    if len(found) == len(attributes):
        return f" on {found[0]}" if len(found) == 1 else " on every attribute"
    if len(found) > _MOST_NAMED:
        return f" on {len(found)} of {len(attributes)} attributes"
    return f" on {_listed(found)}"


def _listed(parts: Sequence[str]) -> str:
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def because(part: Component) -> str:
    """One component as half a sentence: its estimate beside its margin."""
    if part.reason and not math.isfinite(part.estimate):
        return _REASONS.get(part.reason, part.reason)
    if part.name == "REVERSE" and len(part.at) == 2:
        return f"it reverses {part.at[0]} and {part.at[1]}"
    where = f" ({', '.join(part.at)})" if part.at else ""
    span = "" if math.isnan(part.low) else f" {interval_text(part.low, part.high, 2)}"
    value, asked = value_text(part), margin_text(part)
    return f"{COMPONENTS[part.name]}{where} {value}{span}" + (f", asked {asked}" if asked else "")


def value_text(part: Component) -> str:
    """The estimate on its natural scale."""
    if part.name == "COVER":
        return share_text(part.estimate)
    signed = part.name in ("BIAS", "BIAS1", "LEVEL", "SYS", "FAM", "SUB", "SENS", "SPEC")
    return number_text(float(part.estimate), 2, signed=signed)


def margin_text(part: Component) -> str:
    """What the estimate is held against."""
    if part.margin is None:
        return ""
    if isinstance(part.margin, tuple):
        return " to ".join(number_text(float(end), 2) for end in part.margin)
    margin = float(part.margin)
    if part.name in ("BIAS", "BIAS1", "LEVEL", "SYS", "FAM", "SUB", "LEVEL+", "REVERSE"):
        return f"within ±{number_text(margin, 2)}"
    return share_text(margin) if part.name == "COVER" else f"at least {number_text(margin, 2)}"


def reason_text(verdict: Verdict) -> str:
    """Why a verdict is what it is: its reason, and the components that decided."""
    said = [_REASONS[verdict.reason]] if verdict.reason else []
    for name in verdict.deciding:
        found = next((part for part in verdict.components if part.name == name), None)
        if found is not None:
            said.append(because(found))
    return "; ".join(dict.fromkeys(said))


def next_text(step: Next, state: State) -> str:
    """The cheapest next step as a sentence; empty where there is nothing to do."""
    if step.action == "use it" or (state == "yes" and step.action != "label twice"):
        return ""
    if step.action == "rate more" and step.needed is None:
        return "No realistic number of further ratings would settle it."
    after = f" After calibration on these ratings: {step.after}." if step.after else ""
    below = "" if math.isnan(step.below) else f" below {number_text(step.below, 2)}"
    return _STEPS[step.action].format(
        needed=step.needed,
        now=step.now,
        unit=step.unit,
        after=after,
        share="" if math.isnan(step.share) else share_text(max(step.share, 0.0)),
        condition=f" It would pass only if they correlate{below}." if below else "",
        runs=f"{step.needed} runs" if step.needed else "many runs",
    )


_STEPS: Mapping[Action, str] = {
    "rate more": "Rate about {needed:,} {unit} instead of {now:,}.",
    "calibrate": "`voirdire calibrate` may help.{after}",
    "two humans": "Hand in two humans on {needed} shared responses.{condition}",
    "label twice": "Have {needed} {unit} labelled by a second human.",
    "label instead": "Label instead: the judge saves {share} of the labels.",
    "average runs": "Use the mean of {runs}.",
    "more systems": "It takes {needed} systems; there are {now}.",
    "trust it with nothing": "Trust it with nothing.",
    "run twice": "Run it twice or more, at a temperature above 0.",
    "estimate instead": "Use your labels and its scores together for an estimate.",
    "declare a gate": "Declare the gate in the study, or by --gate.",
    "declare minima": "Declare the sensitivity and the specificity that the gate must reach.",
    "draw at random": "Label responses that were drawn at random.",
    "rate the rest": "Rate the responses that it left out.",
    "settle the rubric": "Settle the rubric first: the humans have to agree.",
    "keep humans": "Keep the humans for this.",
    "correct the data": "Correct what the audit found first.",
}


@dataclass(frozen=True, slots=True)
class Point:
    """What one use comes to on some attributes, why, and the cheapest next step."""

    use: Use
    target: Target
    state: State
    attributes: tuple[str, ...]
    why: str
    next: str

    @property
    def label(self) -> str:
        """The use, and the target where it is systems to come."""
        return self.use if self.target == THESE else f"{self.use}, {self.target}"


def points(answer: Answer) -> tuple[Point, ...]:
    """Each no and open of a judge, the attributes of one state together.

    The reason and the next step are those of the attribute that is farthest from its margin.
    """
    groups: dict[tuple[Use, Target, State], list[Verdict]] = {}
    for verdict in answer.verdicts:
        if verdict.state in ("no", "open"):
            groups.setdefault((verdict.use, verdict.target, verdict.state), []).append(verdict)
    return tuple(
        Point(
            use,
            target,
            state,
            tuple(verdict.attribute for verdict in found),
            _reason(found),
            next_text(max(found, key=_p).next, state),
        )
        for (use, target, state), found in groups.items()
    )


def _p(verdict: Verdict) -> float:
    return verdict.p


def _reason(found: Sequence[Verdict]) -> str:
    """Why, of the verdict with the largest p; its attribute is named where there are several."""
    worst = max(found, key=_p)
    said = reason_text(worst)
    return f"{worst.attribute}: {said}" if len(found) > 1 else said


def answer_sections(examination: Examination) -> dict[str, Section]:
    """Name -> section: the grid with its sentences, why and what next, every component."""
    found = answers(examination)
    if not found:
        return {}
    return {
        "answers": grid_section(examination, found),
        "why": why_section(found),
        "components": components_section(found),
    }


def grid_section(examination: Examination, found: Sequence[Answer]) -> Section:
    """The sentences, and the grid: judges by attributes, one sign a use."""
    uses, attributes = uses_of(examination), attributes_of(examination)
    columns = (text("Use"), *(text(f"On {name}") for name in attributes))
    rows = []
    for answer in found:
        for use in uses:
            states = [answer.verdict(name, use) for name in attributes]
            cells = [None if one is None else one.state for one in states]
            rows.append((f"{answer.name}: {use}", *cells))
    return Section(
        "What each judge may be used for",
        " ".join((*(answer.sentence for answer in found), scope_text(examination))),
        (Table(columns, tuple(rows)),),
    )


def why_section(found: Sequence[Answer]) -> Section:
    """For each no, open and not tested: what decided, and the cheapest next step."""
    columns = tuple(map(text, ("Judge", "Attribute", "Use", "Target", "Verdict", "Why", "Next")))
    rows = tuple(
        (
            answer.name,
            verdict.attribute,
            verdict.use,
            verdict.target,
            verdict.state,
            reason_text(verdict),
            next_text(verdict.next, verdict.state),
        )
        for answer in found
        for verdict in answer.verdicts
        if verdict.state != "yes"
    )
    return Section(
        "Why, and what next", "Each estimate beside its margin.", (Table(columns, rows),)
    )


def components_section(found: Sequence[Answer]) -> Section:
    """Every component that any use of a judge requires."""
    columns = (
        *map(text, ("Judge", "Attribute", "Component", "State")),
        number("Estimate"),
        interval("Interval"),
        text("Asked"),
        text("Where"),
    )
    rows = tuple(
        (
            answer.name,
            attribute,
            COMPONENTS[part.name],
            part.state,
            part.estimate,
            (part.low, part.high),
            margin_text(part) or None,
            ", ".join(part.at) or None,
        )
        for answer in found
        for attribute in answer.attributes
        for part in parts_of(answer, attribute)
    )
    return Section(
        "Components of the verdicts",
        "What was asked of each judge, and what was found; intervals are one-sided 95 % bounds on "
        "both sides.",
        (Table(columns, rows),),
    )


def parts_of(answer: Answer, attribute: str) -> tuple[Component, ...]:
    """The components of all uses of a judge on an attribute."""
    own = [verdict for verdict in answer.verdicts if verdict.attribute == attribute]
    return tuple({part.name: part for verdict in own for part in verdict.components}.values())


def multiplicity_text(examination: Examination) -> str:
    """How many of the yes of each use remain after Holm's correction over its grid."""
    said = []
    for use in uses_of(examination):
        own = [v for v in examination.verdicts if v.use == use and v.target == THESE]
        yes = [verdict for verdict in own if verdict.state == "yes"]
        if yes:
            kept = sum(verdict.p_holm <= 0.05 for verdict in yes)
            said.append(f"{use}: {kept} of {len(yes)}")
    return (
        f"Yes that remain after Holm's correction over each grid: {'; '.join(said)}."
        if said
        else ""
    )


def scope_text(examination: Examination) -> str:
    """What the verdicts hold for."""
    plus = any(verdict.target == TO_COME for verdict in examination.verdicts)
    more = " Verdicts for systems to come are said apart." if plus else ""
    return (
        f"They hold for these systems, items and humans, as of {examination.date[:10]}.{more} "
        "No verdict licenses clinical use."
    )
