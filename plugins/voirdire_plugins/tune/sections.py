"""What tuning says: the decision first, then by how much, the candidates, and what moved."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from voirdire.tabular import Section, Table, count, interval, number, number_text, share, text

if TYPE_CHECKING:
    from voirdire.stats import Estimate
    from voirdire_plugins.tune.measuring import Drawn
    from voirdire_plugins.tune.results import Tuned

#: Units that moved which a table shows.
_MOST = 20


def points(value: float) -> str:
    """A gain in points of a hundred, with its sign.

    >>> points(0.0123), points(-0.2), points(-0.00001)
    ('+1.2', '-20.0', '+0.0')
    """
    shown = f"{100 * value:+.1f}"
    return "+0.0" if shown == "-0.0" else shown


def gain_text(gain: Estimate) -> str:
    """A gain with its interval, in points.

    >>> from voirdire.stats import measured_gain
    >>> gain_text(measured_gain([1] * 30, [1] * 25 + [0] * 5))
    '+16.7 points [2.5, 30.8]'
    """
    if math.isnan(gain.value):
        return "not measured"
    low, high = gain.bounds
    return (
        f"{points(gain.value)} points [{number_text(100 * low, 1)}, {number_text(100 * high, 1)}]"
    )


def sentences(tuned: Tuned) -> tuple[str, ...]:
    """The end and the decision."""
    what = tuned.what
    if tuned.to_label:
        label = (
            f"label {tuned.to_label} of the {what} on which they differ, and a gain of 3 points "
            "shows four times in five"
        )
    elif tuned.unlabelled:
        label = (
            f"no labels of the {tuned.unlabelled:,} {what} that are left would show a gain of 3 "
            "points: they differ on too few"
        )
    else:
        label = f"all {what} are labelled: more would have to be added to show a gain of 3 points"
    after = tuned.after.name
    if not tuned.chosen:
        first = f"Keep {tuned.judge}: no candidate is better on these labels."
    elif tuned.decision == "adopt":
        first = f"Adopt {after}: {gain_text(tuned.gain)} over {tuned.judge}, measured apart."
    elif tuned.decision == "keep":
        first = f"Keep {tuned.judge}: no gain of {after} is shown, {gain_text(tuned.gain)}."
    else:
        first = f"No gain of {after} is shown: {gain_text(tuned.gain)}; {label}."
    times = _times(tuned)
    shown = f", price x {times:.2g}" if times is not None else ""
    second = (
        f"P(better) {tuned.p_better:.2f}, expected {points(tuned.gain.value)}, worst tenth "
        f"{points(tuned.worst_tenth)} points{shown}: {_choice(tuned)}."
    )
    return (first, second) if tuned.chosen and not math.isnan(tuned.p_better) else (first,)


def _choice(tuned: Tuned) -> str:
    if tuned.decision == "label":
        return f"keep, adopt or label {tuned.to_label}" if tuned.to_label else "keep or adopt"
    return tuned.decision


def _times(tuned: Tuned) -> float | None:
    before, after = tuned.before.price, tuned.after.price
    return after / before if before and after is not None else None


def tuned_sections(tuned: Tuned) -> tuple[Section, ...]:
    """Decision, gain, candidates, and the responses that moved."""
    made = [_gain(tuned), _ways(tuned)]
    if tuned.moved:
        made.append(_moved(tuned))
    if tuned.text_diff:
        lines = tuned.text_diff.splitlines()
        made.append(
            Section(
                "What it is told otherwise",
                "",
                (Table((text("Line"),), tuple((line,) for line in lines)),),
            )
        )
    return tuple(made)


def _gain(tuned: Tuned) -> Section:
    apart = (
        f"{tuned.measured_on} labels that chose nothing measured it."
        if tuned.measured_on < tuned.labels
        else "Each fold is measured by what was found without it; the error is the larger one of "
        "that of independent labels and of a jackknife over folds."
        if [one.method for one in tuned.gain.intervals] == ["refitted_t"]
        else "Each fold is measured by what won without it; the error is the largest one of that "
        "of independent labels, of a jackknife over folds, and of nested cross-validation among "
        "those that won."
        if [one.method for one in tuned.gain.intervals] == ["raced_t"]
        else "Each tenth of the items is measured by what is best on the others, 20 times over; "
        "the interval is that of nested cross-validation."
    )
    said = (
        f"Measured is {tuned.measure}, on {tuned.labels} labels "
        f"({', '.join(tuned.people)}). {apart} The labels that chose would claim "
        f"{points(tuned.claimed.value)} points."
    )
    rows = [
        (name, way.goodness, way.price)
        for name, way in (("before", tuned.before), ("after", tuned.after))
    ]
    tables = [
        Table(
            (text("Judge"), share("On all labels"), number("Price of 1,000", 2)),
            tuple((f"{way}: {getattr(tuned, way).name}", *rest) for way, *rest in rows),
        ),
        Table(
            (number("Gain, points", 1, signed=True), interval("95 %", 1), share("P(better)"),
             number("Worst tenth", 1, signed=True), share("They differ on"),
             count("Labels to show 3 points")),
            ((100 * tuned.gain.value, tuple(100 * one for one in tuned.gain.bounds),
              tuned.p_better, 100 * tuned.worst_tenth, tuned.differ, tuned.to_label or None),),
        ),
    ]  # fmt: skip
    if tuned.rates:
        tables.append(
            Table(
                (text("At the gate"), share("Sensitivity"), share("Specificity")),
                tuple((name, *pair) for name, pair in tuned.rates.items()),
            )
        )
    return Section("The gain", " ".join((*sentences(tuned), said)), tuple(tables), leading=True)


def _ways(tuned: Tuned) -> Section:
    columns = (
        text("Candidate"), text("Without a call"), number("On all labels", 3), share("Chosen"),
        count("Calls"), number("Price of 1,000", 2), count("Unread"),
    )  # fmt: skip
    rows = tuple(
        (way.name, way.change, way.goodness, way.share, way.calls, way.price, way.unread)
        for way in tuned.ways
    )
    said = (
        "What is best here looks better than it is: it was chosen among "
        f"{len(tuned.ways)}. Chosen says how often it was best without one fold."
    )
    return Section("Candidates", said, (Table(columns, rows),))


def _moved(tuned: Tuned) -> Section:
    worse = sum(one.gain < -1e-9 for one in tuned.moved)
    # An annotator's items have no systems.
    systems = [text("System")] if any(one.system for one in tuned.moved) else []
    columns = (
        text("Item"), *systems, text("Attribute"), number("Before", 2), number("After", 2),
        number("People", 2), number("Gain", 2, signed=True),
    )  # fmt: skip
    rows = tuple(
        (
            one.item,
            *([one.system] if systems else []),
            one.attribute,
            one.before,
            one.after,
            one.people,
            one.gain,
        )
        for one in tuned.moved[:_MOST]
    )
    said = (
        f"{len(tuned.moved)} of {tuned.labels} labelled units are judged otherwise; {worse} got "
        "worse, and stand first."
    )
    return Section("What moved", said, (Table(columns, rows),))


def drawn_section(drawn: Drawn) -> Section:
    """What people are to label, or what these labels say."""
    what = drawn.what
    said = (
        f"On {drawn.differ:,} of {drawn.units:,} {what} the two judges differ. {drawn.number} of "
        "them were drawn at random, large differences more often. They measure the gain, and not "
        f"how good the judge is: for that label {what} that are drawn from all."
    )
    if drawn.gain is None:
        said += (
            f" People get them by: voirdire humans export {drawn.people} --queue {drawn.queue} "
            "--out work; what voirdire humans import makes of their answers is read by --measure."
        )
    else:
        said = (
            f"Gain over all {drawn.units:,} {what} in {drawn.measure}: {gain_text(drawn.gain)}, "
            f"from {drawn.gain.n} labels. {said}"
        )
    columns = (
        text("They differ by"), count(what.capitalize()), count("Drawn"), count("Labelled"),
    )  # fmt: skip
    return Section("Labels where they differ", said, (Table(columns, drawn.rows),), leading=True)
