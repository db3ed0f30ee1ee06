"""Comparisons and checks against a lock as a report's sections."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from voirdire.examining.gates import failure_texts
from voirdire.examining.spec import USES
from voirdire.shown import foreign
from voirdire.tabular import Section, Table, count, interval, number, number_text, share, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voirdire.examining.changing.checking import GateCheck, Held
    from voirdire.examining.changing.comparing import Change, ChangedItem, SourceComparison
    from voirdire.examining.changing.components import ComponentChange
    from voirdire.examining.changing.lock import Lock
    from voirdire.examining.gates import GateResult
    from voirdire.tabular import Column

#: Characters of a reply that a table shows.
EXCERPT = 400


def comparison_sections(comparison: SourceComparison) -> tuple[Section, ...]:
    """Differences, changed verdicts, and the items that changed most."""
    together = [change for change in comparison.changes if not change.system]
    by_system = [change for change in comparison.changes if change.system]
    parts = [
        Section(
            f"{comparison.b} less {comparison.a}",
            _said(comparison),
            (_differences(together, comparison),),
        )
    ]
    if by_system:
        parts.append(
            Section("By system", "", (_differences(by_system, comparison, text("System")),))
        )
    if comparison.verdicts_held:
        parts.append(_verdicts(comparison))
    if comparison.components:
        parts.append(_components(comparison.components, ("A", "B")))
    parts.append(_items(comparison))
    return tuple(parts)


def _said(comparison: SourceComparison) -> str:
    return (
        f"Scores are paired by item and system. A difference counts as none within "
        f"{comparison.margin:g} points where its whole 90 % interval lies inside. p is of no "
        f"difference at all, by Holm's method over the rows."
    )


def reading(change: Change, alpha: float = 0.05) -> str:
    """What a row comes to, in a word or two."""
    if change.equivalence.conclusion == "undefined":
        return "too few pairs"
    if change.equivalence.conclusion == "equivalent":
        return "small change" if change.p_holm <= alpha else "same"
    return "changed" if change.p_holm <= alpha else "open"


def _differences(changes: Sequence[Change], comparison: SourceComparison, *more: Column) -> Table:
    columns = (
        text("Attribute"), text("Judge"), *more, count("n"), number("A"), number("B"),
        number("Difference", signed=True), interval(f"{100 * comparison.level:g} % interval"),
        number("p"), share("Moved"), text("Reading"),
    )  # fmt: skip
    rows = tuple(
        (
            change.attribute,
            judge_name(change),
            *((change.system,) if more else ()),
            change.n,
            change.mean_a,
            change.mean_b,
            change.difference,
            (change.low, change.high),
            change.p_holm,
            change.moved,
            reading(change),
        )
        for change in changes
    )
    return Table(columns, rows)


def judge_name(change: Change) -> str:
    """The judge, with both names where they differ."""
    if change.judge == change.judge_b:
        return change.judge
    return f"{change.judge} → {change.judge_b}"


def _verdicts(comparison: SourceComparison) -> Section:
    columns = ("Attribute", "Judge", "Use", "Target", "A", "B", "Decided by")
    rows = tuple(
        (
            one.attribute,
            one.judge,
            one.use,
            one.target,
            one.before,
            one.after,
            ", ".join(one.deciding_after or one.deciding_before),
        )
        for one in comparison.verdicts
    )
    sentence = f"{len(comparison.verdicts)} of {comparison.verdicts_held} verdicts changed."
    return Section("Changed verdicts", sentence, (Table(tuple(map(text, columns)), rows),))


def _components(changes: Sequence[ComponentChange], names: tuple[str, str]) -> Section:
    """Every component of a verdict with its change."""
    columns = (
        text("Attribute"), text("Judge"), text("Component"), text("System"), count("Clusters"),
        number(names[0]), number(names[1]), number("Change", signed=True),
        interval("95 % interval"), number("Margin"), text("Reading"),
    )  # fmt: skip
    rows = tuple(
        (
            one.attribute,
            one.judge,
            one.component,
            one.at,
            one.clusters,
            one.before,
            one.after,
            one.change,
            (one.low, one.high),
            one.margin,
            one.state,
        )
        for one in changes
    )
    return Section(
        "What the verdicts rest on",
        "Each component on the same labelled responses, one cluster left out of both sides at a "
        "time. Same: the 90 % interval of the change lies within the margin. Worse: beyond the "
        "margin for the worse, by Holm's method over all rows; for BIAS, LEVEL and SLOPE either "
        "way.",
        (Table(columns, rows),),
    )


def _items(comparison: SourceComparison) -> Section:
    with_text = any(one.reply_before or one.reply_after for one in comparison.items)
    columns = [
        text("Item"),
        text("System"),
        text("Attribute"),
        text("Judge"),
        number("A"),
        number("B"),
    ]
    if with_text:
        columns += [text("Reply in A"), text("Reply in B")]
    rows = tuple(tuple(_item_row(one, with_text=with_text)) for one in comparison.items)
    sentence = "" if rows else "No score changed."
    return Section("Items that changed most", sentence, (Table(tuple(columns), rows),))


def _item_row(one: ChangedItem, *, with_text: bool) -> Iterator[str | float]:
    yield from (one.item, one.system, one.attribute, one.judge, one.before, one.after)
    if with_text:
        yield from (one.reply_before[:EXCERPT], one.reply_after[:EXCERPT])


def gate_sections(check: GateCheck) -> tuple[Section, ...]:
    """The check by judge and attribute, and the uses that are lost."""
    columns = (
        text("Attribute"), text("Judge"), count("n"), number("Shift", signed=True),
        interval("95 % interval"), number("p"), text("Changed"), text("Still good"), text("Who"),
        number("Sees"), share("Sees the margin"), count("Items for 0.85"),
    )  # fmt: skip
    rows = tuple(
        (
            row.attribute,
            row.judge,
            row.change.n,
            row.change.difference,
            (row.change.low, row.change.high),
            row.p_holm,
            _changed(row),
            row.good,
            row.who,
            row.sees,
            row.power,
            row.canaries,
        )
        for row in check.rows
    )
    parts = [Section("Held to the lock", _gate_said(check), (Table(columns, rows),), leading=True)]
    moved = tuple(one for row in check.rows for one in row.components)
    if moved:
        parts.append(_components(moved, ("Lock", "Today")))
    lost = tuple(
        (row.attribute, row.judge, use.use, use.now, ", ".join(use.deciding))
        for row in check.rows
        for use in row.lost
    )
    if lost:
        names = ("Attribute", "Judge", "Use", "Now", "Decided by")
        parts.append(
            Section(
                "Uses that were a yes at the freeze", "", (Table(tuple(map(text, names)), lost),)
            )
        )
    return tuple(parts)


def _gate_said(check: GateCheck) -> str:
    of = f" of {check.planned} planned" if check.planned else ""
    spent = ""
    if 0 < check.planned < check.look:
        spent = (
            " All planned looks are spent: the promise of false alarms no longer holds, so freeze "
            "a new lock."
        )
    return (
        f"Look {check.look}{of} at this lock.{spent} A change counts where p, by Holm's method "
        f"over this look, is at most {check.alpha:.2g}, or where the moving mean of all looks has "
        "drifted out of its limits; over all looks together a false alarm has the probability that "
        "the lock declares. Still good: the whole 90 % interval lies within "
        f"{check.margin:g} points, that of each component within its margin, and no use is lost. "
        "Sees: the shift that this look would see with a probability of 0.85. Sees the margin: the "
        "probability that the next look sees a shift of the margin. Items for 0.85: how many items "
        "it takes to see the margin with that probability."
    )


def freeze_sections(lock: Lock) -> tuple[Section, ...]:
    """The verdicts of what is frozen, on its anchors; nothing without labels."""
    states = [
        (judge.name, attribute, by_use)
        for judge in lock.judges
        for attribute, by_use in judge.verdicts.items()
    ]
    if not states:
        return ()
    uses = dict.fromkeys(use for _, _, by_use in states for use in by_use)
    rows = tuple(
        (judge, attribute, *(by_use.get(use, "") for use in uses))
        for judge, attribute, by_use in states
    )
    columns = (text("Judge"), text("Attribute"), *(text(USES[use].title) for use in uses))
    sentence = "What the judge may be used for, by the labels of humans on the canary."
    return (Section("Verdicts at the freeze", sentence, (Table(columns, rows),), leading=True),)


def freeze_warnings(lock: Lock) -> tuple[str, ...]:
    """A sentence for each judge and attribute whose gate is refused, where a gate is declared."""
    if lock.gate is None:
        return ()
    return tuple(
        f"WARNING: {judge.name} on {attribute} is frozen for a gate at {lock.gate.at:g}, and the "
        "verdict on that use is no: this judge must not pass or stop single responses."
        for judge in lock.judges
        for attribute, states in judge.verdicts.items()
        if states.get("gate") == "no"
    )


def _changed(row: Held) -> str:
    return "not tested" if math.isnan(row.p_holm) else "yes" if row.changed else "no"


def gate_sentences(check: GateCheck) -> list[str]:
    """What each judge and attribute come to."""
    return [gate_sentence(row) for row in check.rows]


def gate_sentence(row: Held) -> str:
    """What one judge and attribute come to."""
    where = f"{row.judge} on {row.attribute}"
    if math.isnan(row.p_holm):
        return f"{where}: not tested, {row.change.n} scores are paired."
    low, high = number_text(row.change.low, signed=True), number_text(row.change.high, signed=True)
    shift = f"{number_text(row.change.difference, signed=True)} points [{low}, {high}]"
    if row.changed:
        whose = "" if row.who == "unknown" else f" ({row.who})"
        how = "drifted" if row.drifted else "changed"
        outcome = f"{how}{whose} by {shift}"
    else:
        outcome = f"no change shown, {shift}"
    good = {"yes": "as good as at the freeze", "no": "no longer good", "open": "still good: open"}
    lost = ", ".join(
        [
            *(f"{use.use} is {use.now}" for use in row.lost),
            *(
                f"{one.component} {number_text(one.change, 2, signed=True)}"
                + (f" of {one.at}" if one.at else "")
                for one in row.components
                if one.state == "worse"
            ),
        ]
    )
    return f"{where}: {outcome}; {good[row.good]}" + (f" ({lost})." if lost else ".")


def junit_text(check: GateCheck, held: Sequence[GateResult] = ()) -> str:
    """A JUnit report: one test a judge and attribute, and one a requirement.

    Findings are the suite's output.
    """
    from xml.etree import ElementTree as ET  # noqa: PLC0415 - only where it is asked for

    cases = [
        (row.judge, row.attribute, "failure" if row.failed else "error", [gate_sentence(row)])
        if row.failed or math.isnan(row.p_holm)
        else (row.judge, row.attribute, "", [])
        for row in check.rows
    ] + [_requirement_case(one) for one in held]
    kinds = [kind for _, _, kind, _ in cases]
    suite = ET.Element(
        "testsuite",
        name="voirdire gate",
        tests=str(len(cases)),
        failures=str(kinds.count("failure")),
        errors=str(kinds.count("error")),
    )
    for whose, name, kind, sentences in cases:
        case = ET.SubElement(suite, "testcase", classname=_xml(whose), name=_xml(name))
        if kind:
            ET.SubElement(case, kind, message=_xml(sentences[0])).text = _xml(
                "\n".join(sentences[1:])
            )
    if check.findings:
        lines = [f"{one.severity}: {one.message} {one.consequence}" for one in check.findings]
        ET.SubElement(suite, "system-out").text = _xml("\n".join(lines))
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suite, encoding="unicode")


def _requirement_case(held: GateResult) -> tuple[str, str, str, list[str]]:
    """Class, name, kind of failure and sentences of a requirement as a test."""
    kind = {"met": "", "unmet": "failure", "unanswered": "error"}[held.state]
    return "requirement", held.gate.text, kind, failure_texts(held) or [held.said]


def _xml(content: str) -> str:
    """With control characters written out, which no XML may hold."""
    return foreign(content, "xml")
