"""Comparisons and checks against a lock as a report's sections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.tabular import Section, Table, count, interval, number, share, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voirdire.examining.changing.comparing import Change, ChangedItem, SourceComparison
    from voirdire.tabular import Column

#: Characters of a reply that a table shows.
EXCERPT = 400


def comparison_sections(found: SourceComparison) -> tuple[Section, ...]:
    """Differences, changed verdicts, and the items that changed most."""
    together = [change for change in found.changes if not change.system]
    by_system = [change for change in found.changes if change.system]
    parts = [Section(f"{found.b} less {found.a}", _said(found), (_differences(together, found),))]
    if by_system:
        parts.append(
            Section("By system", "", (_differences(by_system, found, text("System")),))
        )  # fmt: skip
    if found.verdicts_held:
        parts.append(_verdicts(found))
    parts.append(_items(found))
    return tuple(parts)


def _said(found: SourceComparison) -> str:
    return (
        f"Scores are paired by item and system. A difference counts as none within "
        f"{found.margin:g} points where its whole 90 % interval lies inside. p is of no difference "
        f"at all, by Holm's method over the rows."
    )


def reading(change: Change, alpha: float = 0.05) -> str:
    """What a row comes to, in a word or two."""
    if change.found.conclusion == "undefined":
        return "too few pairs"
    if change.found.conclusion == "equivalent":
        return "small change" if change.p_holm <= alpha else "same"
    return "changed" if change.p_holm <= alpha else "open"


def _differences(changes: Sequence[Change], found: SourceComparison, *more: Column) -> Table:
    columns = (
        text("Attribute"), text("Judge"), *more, count("n"), number("A"), number("B"),
        number("Difference", signed=True), interval(f"{100 * found.level:g} % interval"),
        number("p"), share("Moved"), text("Reading"),
    )  # fmt: skip
    rows = tuple(
        (
            change.attribute, judge_name(change), *((change.system,) if more else ()), change.n,
            change.mean_a, change.mean_b, change.difference, (change.low, change.high),
            change.p_holm, change.moved, reading(change),
        )
        for change in changes
    )  # fmt: skip
    return Table(columns, rows)


def judge_name(change: Change) -> str:
    """The judge, with both names where they differ."""
    if change.judge == change.judge_b:
        return change.judge
    return f"{change.judge} → {change.judge_b}"


def _verdicts(found: SourceComparison) -> Section:
    columns = ("Attribute", "Judge", "Use", "Target", "A", "B", "Decided by")
    rows = tuple(
        (
            one.attribute, one.judge, one.use, one.target, one.before, one.after,
            ", ".join(one.deciding_after or one.deciding_before),
        )
        for one in found.verdicts
    )  # fmt: skip
    said = f"{len(found.verdicts)} of {found.verdicts_held} verdicts are others."
    return Section("Changed verdicts", said, (Table(tuple(map(text, columns)), rows),))


def _items(found: SourceComparison) -> Section:
    with_text = any(one.reply_before or one.reply_after for one in found.items)
    columns = [text("Item"), text("System"), text("Attribute"), text("Judge"), number("A"),
               number("B")]  # fmt: skip
    if with_text:
        columns += [text("Reply in A"), text("Reply in B")]
    rows = tuple(tuple(_item_row(one, with_text=with_text)) for one in found.items)
    said = "" if rows else "No score is another."
    return Section("Items that changed most", said, (Table(tuple(columns), rows),))


def _item_row(one: ChangedItem, *, with_text: bool) -> Iterator[str | float]:
    yield from (one.item, one.system, one.attribute, one.judge, one.before, one.after)
    if with_text:
        yield from (one.reply_before[:EXCERPT], one.reply_after[:EXCERPT])
