"""The verdict's facts in English: what each component shows, beside its limit, and what to do."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from voirdire.tabular import interval_text, number_text, share_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from voirdire.examining.verdict.facts import (
        Action,
        Component,
        Next,
        Reason,
        State,
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
#: Components in points of the scale.
POINTS = ("BIAS", "BIAS1", "LEVEL", "SYS", "FAM", "SUB", "LEVEL+")
#: Components that ask for at most so many times a human's error variance; what is tested is
#: whether their statistic lies above 0, and `Component.margin` holds how many times.
ITEMS = ("ITEM", "GITEM", "SUBITEM")

REASONS: Mapping[Reason, str] = {
    "not asked": "it was not asked about every attribute",
    "one human": "there is one column of human scores",
    "few shared": "two humans share too few responses",
    "few clusters": "there are too few items",
    "one system": "with one system a right mean cannot be told from a lucky constant",
    "two systems": "two systems are too few for a correlation",
    "few systems": "there are too few systems",
    "few in system": "a system has too few items",
    "humans alike": "the humans do not tell these systems apart",
    "humans unclear": "the humans are not shown to agree on single responses",
    "humans disagree": "the humans do not agree on single responses",
    "constant": "it gives one score whatever it is shown",
    "no variance": "its scores do not vary within a system",
    "few such": "there are too few responses on one side of the gate",
    "no minima": "no sensitivity and specificity are declared for the gate",
    "default minima": "no sensitivity and specificity are declared, and 80 % of each is needed",
    "no gate": "no gate is declared",
    "one run": "there is one run",
    "temperature 0": "runs at temperature 0 agree because of decoding",
    "not random": "the labelled responses were not drawn at random",
    "no interval": "no interval can be given",
    "few in subgroup": "a subgroup is too small",
    "safety-critical": "the study declares this attribute safety-critical",
    "blocked": "a finding of the audit forbids a verdict",
    "nominal": "labels without an order have no such statistic",
    "not computed": "it was not computed",
}


def because(part: Component) -> str:
    """One component as a clause: what was found, its interval, and what is needed or allowed."""
    if not math.isfinite(part.estimate) or part.reason in ("constant", "no variance"):
        return REASONS[part.reason or "no interval"]
    return _SAYS[part.name](part)


def span_text(part: Component) -> str:
    """The interval, with a third decimal where two would hide on which side of a limit it ends."""
    if not (math.isfinite(part.low) and math.isfinite(part.high)):
        return ""
    return f" {interval_text(part.low, part.high, _digits(part))}"


def _digits(part: Component) -> int:
    ends = part.margin if isinstance(part.margin, tuple) else (part.margin,)
    limits = [abs(end) for end in ends if end is not None]
    # At two decimals a bound of 0.496 would read "0.50" beside a limit of 0.50, and the verdict
    # would look wrong.
    close = any(
        round(abs(bound), 2) == round(limit, 2)
        for bound in (part.low, part.high)
        for limit in limits
    )
    return 3 if close else 2


def margin_text(part: Component) -> str:
    """What the estimate is held against, on its own scale."""
    if part.margin is None:
        return ""
    if isinstance(part.margin, tuple):
        return " to ".join(number_text(float(end), 2) for end in part.margin)
    margin = float(part.margin)
    if part.name in POINTS:
        return f"within ±{number_text(margin, 2)}"
    if part.name == "REVERSE":
        # Two systems off by the margin in opposite directions are twice the margin apart.
        return f"none over {number_text(2 * margin, 2)} apart"
    if part.name in ITEMS or (part.name in ("READ", "GREAD") and not margin):
        return "above 0"
    return f"at least {share_text(margin) if part.name == 'COVER' else number_text(margin, 2)}"


def _needed(part: Component) -> str:
    if part.margin is None:
        return ""
    if part.name in POINTS and not isinstance(part.margin, tuple):
        return f" (allowed: ±{number_text(float(part.margin), 2)})"
    return f" (needed: {margin_text(part)})"


def _correlates(template: str) -> Callable[[Component], str]:
    """A correlation or reliability inside a sentence."""

    def say(part: Component) -> str:
        value = number_text(part.estimate, _digits(part))
        return template.format(value=f"{value}{span_text(part)}") + _needed(part)

    return say


def _off(high: str, low: str, who: str) -> Callable[[Component], str]:
    """Points too many or too few; `{at}` is the system, subgroup or label."""

    def say(part: Component) -> str:
        at = f"the share of {part.at[0]}" if who == "mean" and part.at else "".join(part.at[:1])
        subject = at or "its mean score"
        form = high if part.estimate > 0 else low
        points = number_text(abs(part.estimate), _digits(part))
        return f"{form.format(at=subject, points=points)}{_unsigned(part)}{_needed(part)}"

    return say


def _unsigned(part: Component) -> str:
    """The interval in the direction of the estimate: points too low are counted up as well."""
    if not (math.isfinite(part.low) and math.isfinite(part.high)):
        return ""
    ends = sorted(math.copysign(1, part.estimate) * bound for bound in (part.low, part.high))
    return f" {interval_text(ends[0], ends[1], _digits(part))}"


def _worth(part: Component) -> str:
    """ITEM and its kin: error variance at most `margin` times a human's is a worth of 1/margin."""
    where = f"in subgroup {part.at[0]} " if part.at else ""
    what = "at the gate " if part.name == "GITEM" else ""
    # Errors too large to be those of any number of humans have no worth in humans.
    if not math.isfinite(part.judge):
        return f"{where}{what}it errs more than a human may"
    clause = (
        f"{where}{what}one run is worth {number_text(part.judge, 2)} humans on single responses"
    )
    if not (times := _limit(part)) > 0:
        return clause
    # The point estimate is good enough and the interval is not: without this the clause would
    # contradict its own "needed".
    sure = ", but not surely" if part.state == "open" and part.judge >= 1 / times else ""
    return f"{clause}{sure} (needed: at least {number_text(1 / times, 2)})"


def _reversed(part: Component) -> str:
    # `at` names a pair that is reversed; without one, none is.
    if len(part.at) < 2:
        apart = "" if part.margin is None else f" {number_text(2 * _limit(part), 2)} points apart"
        return f"no pair of systems{apart} is reversed"
    more = f", and {part.count - 1} more" if part.count > 1 else ""
    verb = "reverses" if part.state == "no" else "may reverse"
    apart = number_text(part.human, 2)
    return (
        f"it {verb} {part.at[0]} and {part.at[1]}, which your humans hold {apart} points apart"
        f"{more}"
    )


def _rate(does: str, label: str) -> Callable[[Component], str]:
    """SENS and SPEC: beside a held-out human, or against one column of labels."""

    def say(part: Component) -> str:
        limit, has_interval = _limit(part), math.isfinite(part.low)
        # Against one column of labels there is no second human to compare with: the rate itself is
        # held against the declared minimum.
        if math.isnan(part.human):
            ends = f" [{share_text(part.low)}, {share_text(part.high)}]" if has_interval else ""
            default = ", as none is declared" if part.reason == "default minima" else ""
            asked = "" if math.isnan(limit) else f" (needed: {share_text(limit)}{default})"
            return f"it {does} {share_text(part.estimate)}{ends} of what should {label}{asked}"
        told = (
            f"of what one human would {label} it {does} {share_text(part.judge)}, "
            f"another human {share_text(part.human)}"
        )
        if not has_interval or math.isnan(limit):
            return told
        points = f"{number_text(100 * part.estimate, 0, signed=True)} points"
        ends = interval_text(100 * part.low, 100 * part.high, 0)
        return f"{told}: {points} {ends} (allowed: {number_text(100 * limit, 0)})"

    return say


def _gain(part: Component) -> str:
    # The components are factors; people think in labels, so that they are printed as a number of
    # labels: those there are, or 100.
    labels = part.count or 100
    value, low, high, asked = (
        f"{labels * bound:,.0f}" for bound in (part.estimate, part.low, part.high, _limit(part))
    )
    return f"{labels:,} labels with its scores count as {value} [{low}, {high}] (needed: {asked})"


def _limit(part: Component) -> float:
    return part.margin if isinstance(part.margin, float) else math.nan


def _cover(part: Component) -> str:
    return f"it scored {share_text(part.estimate)} of the responses{_needed(part)}"


def _new_system(part: Component) -> str:
    low, high = (number_text(bound, 2, signed=True) for bound in (part.low, part.high))
    return f"a new system would come out between {low} and {high} points off{_needed(part)}"


_SAYS: Mapping[str, Callable[[Component], str]] = {
    "COVER": _cover,
    "HUMANS": _correlates("single scores of one human have a reliability of {value}"),
    "READ": _correlates("its single scores correlate {value} with the humans' within systems"),
    "GREAD": _correlates("its passes correlate {value} with the humans' within systems"),
    "ITEM": _worth,
    "GITEM": _worth,
    "SUBITEM": _worth,
    "SLOPE": _correlates("for one point of the humans it moves {value} points"),
    "BIAS": _off("{at} is {points} too high", "{at} is {points} too low", "mean"),
    "BIAS1": _off("{at} is {points} too high", "{at} is {points} too low", "mean"),
    "LEVEL": _off(
        "{at} comes out {points} points too high", "{at} comes out {points} points too low", "at"
    ),
    "SYS": _off(
        "it favours {at} by {points} points", "it marks {at} down by {points} points", "at"
    ),
    "FAM": _off(
        "it favours its own family by {points} points",
        "it marks its own family down by {points} points",
        "at",
    ),
    "SUB": _off(
        "subgroup {at} comes out {points} points higher than the rest",
        "subgroup {at} comes out {points} points lower than the rest",
        "at",
    ),
    "ORDER": _correlates("its system means correlate {value} with the humans'"),
    "AGREE": _correlates("its system means agree {value} with the humans'"),
    "ORDER+": _correlates("over systems to come its means correlate {value} with the humans'"),
    "LEVEL+": _new_system,
    "REVERSE": _reversed,
    "SENS": _rate("passes", "pass"),
    "SPEC": _rate("stops", "fail"),
    "GAIN": _gain,
    "RUN": _correlates("one run has a reliability of {value}"),
}

#: The components that a yes is explained by, for each use.
_SHOWN: Mapping[str, tuple[str, ...]] = {
    "order": ("ORDER", "ORDER+", "REVERSE"),
    "score": ("LEVEL", "LEVEL+"),
    "single": ("ITEM",),
    "gate": ("SENS", "SPEC"),
    "estimate": ("GAIN",),
    "repeat": ("RUN",),
}


def reason_text(verdict: Verdict, most: int | None = None) -> str:
    """Why a verdict is what it is: its reason, and the components that decided.

    Of a judge that does not follow the responses nothing else is said; `most` bounds the number
    of components.
    """
    if verdict.reason == "constant":
        return REASONS["constant"]
    reasons = [REASONS[verdict.reason]] if verdict.reason else []
    named = verdict.deciding if verdict.state != "yes" else _SHOWN[verdict.use]
    # A judge that does not follow the responses fails everything else by chance or by luck.
    if verdict.state == "no" and (unread := [n for n in named if n in ("READ", "GREAD")]):
        named = tuple(unread)
    parts = [part for name in named for part in verdict.components if part.name == name]
    reasons += [because(part) for part in parts]
    reasons = list(dict.fromkeys(reasons))
    return "; ".join(reasons if most is None else reasons[:most])


def next_text(step: Next, state: State) -> str:
    """The cheapest next step as a sentence; empty where there is nothing to do."""
    # A yes needs no next step, but for one: humans whose own agreement nobody knows.
    if step.action == "use it" or (state == "yes" and step.action != "label twice"):
        return ""
    if step.action == "rate more" and step.needed is None:
        return (
            ""
            if state == "not tested"
            else "No realistic number of further ratings would settle it."
        )
    after = f" After calibration on these ratings: {step.after}." if step.after else ""
    below = "" if math.isnan(step.below) else f" below {number_text(step.below, 2)}"
    return _STEPS[step.action].format(
        needed=step.needed,
        now=step.now,
        unit=step.unit,
        after=after,
        share="" if math.isnan(step.share) else share_text(max(step.share, 0.0)),
        condition=f" It can pass only if they correlate{below}." if below else "",
        runs=f"{step.needed} runs" if step.needed else "many runs",
    )


_STEPS: Mapping[Action, str] = {
    "use it": "",
    "rate more": "Rate about {needed:,} {unit} instead of {now:,}.",
    "calibrate": "`voirdire calibrate` may help.{after}",
    "two humans": "Hand in two humans on {needed} shared responses.{condition}",
    "label twice": "How far people agree among themselves is not known: have {needed} {unit} "
    "labelled by a second human.",
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
