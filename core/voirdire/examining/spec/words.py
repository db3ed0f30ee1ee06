"""Clauses for components: what was found, its interval, and what is needed or allowed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from voirdire.examining.spec.component import COMPONENTS
from voirdire.examining.spec.reasons import REASONS
from voirdire.tabular import interval_text, number_text, share_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from voirdire.examining.spec.component import Component


def because(part: Component, kind: str = "score") -> str:
    """One component as a clause: what was found, its interval, and what is needed or allowed."""
    reason = REASONS[part.reason or "no interval"]
    if not math.isfinite(part.estimate) or (part.reason and reason.instead):
        return reason.words
    spec = COMPONENTS[part.name]
    return spec.says_of.get(kind, spec.says)(part)


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
    margin, spec = float(part.margin), COMPONENTS[part.name]
    if spec.side == "within":
        return f"within ±{number_text(margin, 2)}"
    if spec.side == "none":
        # Two systems off by the margin in opposite directions are twice the margin apart.
        return f"none over {number_text(2 * margin, 2)} apart"
    if spec.side == "above 0" or margin == 0:
        return "above 0"
    return f"at least {share_text(margin) if spec.unit == 'share' else number_text(margin, 2)}"


def needed_text(part: Component) -> str:
    if part.margin is None:
        return ""
    if COMPONENTS[part.name].side == "within" and not isinstance(part.margin, tuple):
        return f" (allowed: ±{number_text(float(part.margin), 2)})"
    return f" (needed: {margin_text(part)})"


def correlates(template: str) -> Callable[[Component], str]:
    """A correlation or reliability inside a sentence."""

    def say(part: Component) -> str:
        value = number_text(part.estimate, _digits(part))
        # A name in the template may hold braces of its own, so that nothing else is filled in.
        return template.replace("{value}", f"{value}{span_text(part)}") + needed_text(part)

    return say


def off(high: str, low: str, together: str = "") -> Callable[[Component], str]:
    """Points too many or too few; `{at}` is the system, subgroup or label.

    `together` is said of a yes whose own interval goes beyond the limit.
    """

    def say(part: Component) -> str:
        subject = "".join(part.at[:1]) or "it"
        form = high if part.estimate > 0 else low
        points = number_text(abs(part.estimate), _digits(part))
        more = f"; {together}" if together and decided_together(part) else ""
        told = f"{form.format(at=subject, points=points)}{_unsigned(part)}{needed_text(part)}"
        return f"{told}{more}"

    return say


def decided_together(part: Component) -> bool:
    """Whether it is a yes though its own interval goes beyond the limit: all decided together."""
    limit = _limit(part)
    beyond = part.high > limit or part.low < -limit
    return part.state == "yes" and COMPONENTS[part.name].side == "within" and beyond


def _unsigned(part: Component) -> str:
    """The interval in the direction of the estimate: points too low are counted up as well."""
    if not (math.isfinite(part.low) and math.isfinite(part.high)):
        return ""
    ends = sorted(math.copysign(1, part.estimate) * bound for bound in (part.low, part.high))
    return f" {interval_text(ends[0], ends[1], _digits(part))}"


def humans_text(worth: float) -> str:
    """How many humans one run is worth: nobody needs to know by how far it passes a hundred."""
    return "more than 100 humans" if worth > 100 else f"{number_text(worth, 2)} humans"


def worth(what: str = "") -> Callable[[Component], str]:
    """ITEM and its kin: error variance at most `margin` times a human's is a worth of 1/margin."""

    def say(part: Component) -> str:
        where = f"in subgroup {part.at[0]} " if part.at else ""
        # Errors too large to be those of any number of humans have no worth in humans.
        if not math.isfinite(part.judge):
            return f"{where}{what}it errs more than a human may"
        clause = f"{where}{what}one run is worth {humans_text(part.judge)} on single responses"
        if not (times := _limit(part)) > 0:
            return clause
        # The point estimate is good enough and the interval is not: without this the clause would
        # contradict its own "needed".
        sure = ", but not surely" if part.state == "open" and part.judge >= 1 / times else ""
        return f"{clause}{sure} (needed: at least {number_text(1 / times, 2)})"

    return say


def reversed_pairs(part: Component) -> str:
    # `at` names a pair that is reversed; without one, none is.
    if len(part.at) < 2:
        apart = "" if part.margin is None else f" {number_text(2 * _limit(part), 2)} points apart"
        return f"no pair of systems{apart} is reversed"
    others = part.count - 1
    more = f", and {others} more pair{'s' if others > 1 else ''}" if others > 0 else ""
    verb = "reverses" if part.state == "no" else "may reverse"
    apart = number_text(part.human, 2)
    return f"it {verb} {part.at[0]} and {part.at[1]}, which people hold {apart} points apart{more}"


def percent(value: float) -> str:
    """A share without decimals, but not rounded to nothing or to all.

    >>> percent(0.59), percent(0.9996), percent(0.0004)
    ('59 %', '99.9 %', '0.1 %')
    """
    if math.isnan(value):
        return share_text(value)
    if 0 < value < 1:
        value = min(max(value, 0.001), 0.999)
    short = f"{100 * value:.0f} %"
    return f"{100 * value:.1f} %" if short in ("0 %", "100 %") and 0 < value < 1 else short


def _shares(part: Component) -> Callable[[float], str]:
    """How the shares of a component are written: so that each lies on its side of the limit."""
    limit = _limit(part)
    close = any(
        percent(abs(bound)) == percent(limit)
        for bound in (part.estimate, part.low, part.high)
        if math.isfinite(limit) and math.isfinite(bound)
    )
    return share_text if close else percent


def pair_apart(part: Component) -> str:
    """A pair of systems: how far humans and judge hold them apart."""
    first, second = (
        (*part.at, "one system", "the other")[:2] if len(part.at) > 1 else ("one system", "another")
    )
    return f"it puts {first} {_above(part.judge)} {second}, people {_above(part.human)} it"


def _above(points: float) -> str:
    return f"{number_text(abs(points), 2)} points {'below' if points < 0 else 'above'}"


def rate(does: str, what: str) -> Callable[[Component], str]:
    """SENS and SPEC: beside a held-out human, or against one column of labels."""

    def say(part: Component) -> str:
        limit, has_interval = _limit(part), math.isfinite(part.low)
        # Against one column of labels there is no second human to compare with: the rate itself is
        # held against the declared minimum.
        if math.isnan(part.human):
            written = _shares(part)
            ends = f" [{written(part.low)}, {written(part.high)}]" if has_interval else ""
            asked = f"{written(limit)} is asked for by default"
            if part.reason != "default minima":
                asked = f"you asked for {written(limit)}"
            told = f"it {does} {written(part.estimate)}{ends} of the {what} answers"
            return told if math.isnan(limit) else f"{told}; {asked}"
        told = (
            f"it {does} {percent(part.judge)} of what a human calls {what}, "
            f"another human {percent(part.human)}"
        )
        if not has_interval or math.isnan(limit):
            return told
        points = f"{number_text(100 * part.estimate, 0, signed=True)} points"
        ends = interval_text(100 * part.low, 100 * part.high, 0)
        return f"{told}: {points} {ends} (allowed: {number_text(100 * limit, 0)})"

    return say


def gain(part: Component) -> str:
    # The components are factors; people think in labels, so that they are printed of 100.
    value, low, high, asked = (
        f"{100 * bound:,.0f}" for bound in (part.estimate, part.low, part.high, _limit(part))
    )
    ends = f" [{low}, {high}]" if math.isfinite(part.low) else ""
    return f"100 labels with its scores beside them count as {value}{ends} (needed: {asked})"


def _limit(part: Component) -> float:
    return part.margin if isinstance(part.margin, float) else math.nan


def covered(part: Component) -> str:
    return f"it answered {_shares(part)(part.estimate)} of what it was asked{needed_text(part)}"


def new_system(part: Component) -> str:
    low, high = (number_text(bound, 2, signed=True) for bound in (part.low, part.high))
    return f"a new system would come out between {low} and {high} points off{needed_text(part)}"
