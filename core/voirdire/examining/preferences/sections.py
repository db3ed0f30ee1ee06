"""What a table of preferences says, as tables of a report, findings and notes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from voirdire.examining.preferences.results import is_overall
from voirdire.examining.preferences.table import combine_comparisons
from voirdire.schema import Finding
from voirdire.tabular import (
    Marked,
    Section,
    SectionFigure,
    Table,
    count,
    interval,
    is_missing,
    number,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voirdire.examining.preferences.results import PreferenceCell, Preferences
    from voirdire.schema import Severity
    from voirdire.stats import Estimate, Interval
    from voirdire.tabular import Cell

_SHOWN = 20
#: The share of a rater's comparisons without a score that is no longer a mere note.
_MOST_MISSING = 0.05
#: Beyond this many bars a page shows none legibly; the table stands alone then.
_MOST_BARS = 40
_OUTCOMES = ("win", "tie", "loss")
_MARK = " An asterisk: under 20 items, or resamples in which nothing could be estimated."
_CELL = (
    text("Rater"),
    text("Systems"),
    text("Criterion"),
    count("n"),
    number("Mean"),
    interval("Interval (t)"),
    *map(count, ("Wins", "Ties", "Losses", "Inconsistent", "Missing")),
)


def preference_sections(preferences: Preferences) -> tuple[Section, ...]:
    """Tables of a report: means and outcomes in all and by group, agreement, position, ranking."""
    sections = (
        _means(preferences),
        *(_by(name, cells) for name, cells in preferences.parts.items()),
        *(
            _shares(name, cells)
            for name, cells in (("", preferences.cells), *preferences.parts.items())
        ),
        _agreement(preferences),
        _position(preferences),
        _ranking(preferences),
    )
    return tuple(section for section in sections if section.has_rows)


#: Kind of finding -> severity, what was found, what follows.
_FINDINGS: dict[str, tuple[Severity, str, str]] = {
    "inconsistent_orders": (
        "serious",
        "{n} of {all} comparisons have another winner when the responses change places.",
        "They are counted as inconsistent, not as ties, and stay out of means and shares.",
    ),
    "one_order": (
        "serious",
        "Pairs of systems of which a rater saw the same one first in every comparison: {n}.",
        "What the first place gains cannot be told from what the system is worth.",
    ),
    "order_unknown": (
        "note",
        "{n} of {rows} judgements do not say which response was shown first.",
        "They count for preferences and cannot tell of a position bias.",
    ),
}


def preference_findings(table: pl.DataFrame, name: str = "preferences") -> tuple[Finding, ...]:
    """What is odd in a table of preferences: missing scores, orders that disagree, one order.

    `table` is one of `preference_table`; `name` is what findings call it. What is missing is said
    of each rater.
    """
    combined, first = combine_comparisons(table), pl.col("shown_first")
    sides = (
        table.filter(first.is_not_null())
        .group_by("rater", "system_a", "system_b", maintain_order=True)
        .agg(first.n_unique().alias("sides"), pl.col("item").n_unique().alias("items"))
    )
    odd = {
        "inconsistent_orders": combined.filter(pl.col("outcome") == "inconsistent"),
        "one_order": sides.filter((pl.col("sides") == 1) & (pl.col("items") > 1)),
        "order_unknown": table.filter(first.is_null()),
    }
    findings = []
    for kind, rows in odd.items():
        severity, message, consequence = _FINDINGS[kind]
        sentence = message.format(n=rows.height, all=combined.height, rows=table.height)
        if rows.height:
            places = _places(rows)
            findings.append(
                Finding(kind, severity, name, rows.height, places, sentence, consequence)
            )
    return (*findings, *_missing(table, combined))


def _missing(table: pl.DataFrame, combined: pl.DataFrame) -> Iterator[Finding]:
    """A finding a rater with comparisons that have no score, and what became of them."""
    blank = table.filter(pl.col("score").is_null())
    for (rater,), own in combined.group_by("rater", maintain_order=True):
        # Half a comparison is none: which order was preferred cannot be told from the other.
        lost = own.filter(pl.col("outcome").is_in(["missing", "half_missing"]))
        if lost.is_empty():
            continue
        fates = blank.filter(pl.col("rater") == rater)["status"].value_counts(sort=True)
        counts = ", ".join(f"{count:,} {status}" for status, count in fates.iter_rows())
        yield Finding(
            "preferences_missing",
            "serious" if lost.height > _MOST_MISSING * own.height else "note",
            str(rater),
            lost.height,
            _places(lost),
            f"{lost.height:,} of {own.height:,} comparisons have no score (judgements: {counts}).",
            "They are in no number; a comparison of which one order is missing counts among them.",
        )


def _places(rows: pl.DataFrame) -> tuple[str, ...]:
    names = [n for n in ("item", "system_a", "system_b", "rater", "attribute") if n in rows.columns]
    return tuple(", ".join(map(str, row)) for row in rows.select(names).head(_SHOWN).iter_rows())


def _means(preferences: Preferences) -> Section:
    return Section(
        "Mean preference",
        "From -2 (the second system much better) to 2 (the first much better); 0 is no "
        "preference. Comparisons whose two orders disagree on the winner are counted under "
        "Inconsistent and are in no other column.",
        (Table(_CELL, tuple(_row(cell) for cell in preferences.cells)),),
    )


def _by(name: str, cells: Sequence[PreferenceCell]) -> Section:
    rows = tuple((cell.part, *_row(cell)) for cell in cells)
    return Section(
        f"Mean preference by {name}",
        "As the table of mean preferences, over the items of each part.",
        (Table((text(name.capitalize()), *_CELL), rows),),
        (means_figure(overall_cells(cells)),),
    )


def _row(cell: PreferenceCell) -> tuple[Cell, ...]:
    outcome = cell.outcome
    return (
        cell.rater,
        _pair(cell),
        cell.attribute,
        cell.mean.n,
        cell.mean.value,
        _span(cell.mean),
        outcome.wins,
        outcome.ties,
        outcome.losses,
        cell.inconsistent,
        cell.missing,
    )


def _shares(name: str, cells: Sequence[PreferenceCell]) -> Section:
    """Shares of comparisons won, tied and lost, on the overall attribute where there is one."""
    overall = overall_cells(cells)
    # Cells differ: items with several comparisons are drawn, others have Wilson's interval.
    method = {i.method for c in overall for i in c.outcome.win.intervals}
    rows = tuple(
        (
            *((cell.part,) if name else ()),
            cell.rater,
            _pair(cell),
            cell.attribute,
            cell.outcome.win.value,
            _span(cell.outcome.win),
            cell.outcome.tie.value,
            _span(cell.outcome.tie),
            cell.outcome.loss.value,
            _span(cell.outcome.loss),
        )
        for cell in overall
    )
    drawn = shares_figure(overall)
    columns = (
        *map(text, (*((name.capitalize(),) if name else ()), "Rater", "Systems", "Criterion")),
        number("Win"),
        interval("Win, interval"),
        number("Tie"),
        interval("Tie, interval"),
        number("Loss"),
        interval("Loss, interval"),
    )
    return Section(
        f"Win, tie, loss by {name}" if name else "Win, tie, loss",
        "Shares of the comparisons that count, for the first system; a score above 0 wins. "
        f"Intervals: {' or '.join(sorted(method)) or 'none'}.",
        (Table(columns, rows),),
        () if drawn is None else (drawn,),
    )


def _agreement(preferences: Preferences) -> Section:
    columns = (
        text("Raters"),
        text("Criterion"),
        count("n"),
        number("Same winner"),
        interval("Same winner, interval"),
        number("Alpha"),
        interval("Alpha, interval"),
    )
    rows = tuple(
        (
            f"{pair.first}, {pair.second}",
            pair.attribute,
            pair.winner.n,
            pair.winner.value,
            _span(pair.winner),
            pair.alpha.value,
            _span(pair.alpha),
        )
        for pair in preferences.agreement
    )
    return Section(
        "Agreement of raters on preferences",
        "Same winner: the share of comparisons on which two raters prefer the same system, or "
        "both say a tie. Alpha: Krippendorff's, of the scores as numbers. Intervals draw whole "
        "items, which several systems share; where none is shared, that of the share is Wilson's."
        + _MARK,
        (Table(columns, rows),),
    )


def _position(preferences: Preferences) -> Section:
    columns = (
        text("Rater"),
        text("Criterion"),
        number("Effect"),
        interval("Interval"),
        text("Design"),
        *map(count, ("Pairs", "Opposite", "Tied once")),
    )
    rows = tuple(
        (
            bias.rater,
            bias.attribute,
            bias.effect.value,
            _span(bias.effect),
            str(bias.effect.details["design"]),
            bias.effect.details["pairs"],
            bias.effect.details["inconsistent"],
            bias.effect.details["tied_once"],
        )
        for bias in preferences.position
    )
    return Section(
        "Position bias",
        "How much a response gains by being shown first, in levels of the scale (0: nothing). "
        "With both orders asked it is exact, and the pairs whose orders disagree are counted; "
        "with one order it leans on the order having been drawn at random." + _MARK,
        (Table(columns, rows),),
    )


def _ranking(preferences: Preferences) -> Section:
    columns = (
        text("Rater"),
        text("Criterion"),
        count("Place"),
        text("System"),
        number("Strength"),
        interval("Interval"),
        count("n"),
    )
    rows: list[tuple[Cell, ...]] = [
        (part.rater, part.attribute, place, system, strength.value, _span(strength), strength.n)
        for part in preferences.strengths
        for place, (system, strength) in enumerate(
            zip(part.ranking.systems, part.ranking.strengths, strict=True), start=1
        )
    ]
    rows += [
        (part.rater, part.attribute, None, system, None, None, 0)
        for part in preferences.strengths
        for system in part.unscored
    ]
    return Section(
        "Ranking of systems (Bradley-Terry)",
        "Log-strengths, which sum to 0: a difference of d means odds of exp(d) to 1 among decided "
        "comparisons. A dash where nothing bounds the strengths: a system that never loses to "
        "another may be better by any amount; a system without a scored comparison has no place."
        + _MARK,
        (Table(columns, tuple(rows)),),
    )


def _pair(cell: PreferenceCell) -> str:
    return f"{cell.system_a} vs {cell.system_b}"


def _span(estimate: Estimate) -> Marked | Interval | None:
    """The interval, marked where it rests on little."""
    interval = estimate.interval()
    if interval is None or is_missing(interval):
        return None
    return Marked(interval, "*") if interval.flags or interval.n_undefined else interval


def overall_cells(cells: Sequence[PreferenceCell]) -> list[PreferenceCell]:
    """The cells of the overall attribute where there is one, else all."""
    return [cell for cell in cells if is_overall(cell.attribute)] or list(cells)


def means_figure(cells: Sequence[PreferenceCell]) -> SectionFigure:
    """Mean preference of each pair of systems by part, as figure 2 of Zhang et al."""
    names = _series_names(cells)
    parts = list(dict.fromkeys(cell.part for cell in cells))
    means = {(name, cell.part): cell.mean.value for name, cell in zip(names, cells, strict=True)}
    series = dict.fromkeys(names)
    return SectionFigure(
        kind="grouped_bars",
        labels=tuple(parts),
        series=tuple((n, tuple(means.get((n, p), math.nan) for p in parts)) for n in series),
        y="Mean preference",
        caption=f"Above 0 {_sides(cells)} is preferred, below 0 the other.",
    )


def shares_figure(cells: Sequence[PreferenceCell]) -> SectionFigure | None:
    """Shares won, tied and lost, one stacked bar a pair and part, as figure 5 of Zhang et al."""
    if len(cells) > _MOST_BARS:
        return None
    named = zip(_series_names(cells), cells, strict=True)
    return SectionFigure(
        kind="bars",
        labels=tuple(": ".join(filter(None, (cell.part, name))) for name, cell in named),
        series=tuple(
            (outcome, tuple(getattr(cell.outcome, outcome).value for cell in cells))
            for outcome in _OUTCOMES
        ),
        y="Share of comparisons",
        caption=f"Won, tied and lost by {_sides(cells)}.",
    )


def _sides(cells: Sequence[PreferenceCell]) -> str:
    against = {cell.system_b for cell in cells}
    return f"the system named, against {against.pop()}," if len(against) == 1 else "the first named"


def _series_names(cells: Sequence[PreferenceCell]) -> list[str]:
    """What tells the cells apart: systems, and raters and attributes where there are several."""
    against, raters, attributes = (
        len({getattr(cell, name) for cell in cells}) > 1
        for name in ("system_b", "rater", "attribute")
    )
    return [
        ", ".join(
            (
                f"{cell.system_a} vs {cell.system_b}" if against else cell.system_a,
                *((cell.rater,) if raters else ()),
                *((cell.attribute,) if attributes else ()),
            )
        )
        for cell in cells
    ]
