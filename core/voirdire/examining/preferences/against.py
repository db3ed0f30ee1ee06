"""Comparisons with one reference: by parts of the items, and how long the responses are."""

from __future__ import annotations

import math
from statistics import fmean, median
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import TableError
from voirdire.examining.preferences.results import OVERALL, Preferences
from voirdire.tabular import Section, Table, count, number, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from voirdire.schema import Item


def against_reference(preferences: pl.DataFrame, reference: str) -> pl.DataFrame:
    """Pairs that name the reference first, turned: above 0 the other system is preferred to it."""
    # The other system first, so that above 0 means preferred to the reference in every row.
    turned = pl.col("system_a") == reference
    return preferences.with_columns(
        pl.when(turned).then("system_b").otherwise("system_a").alias("system_a"),
        pl.when(turned).then("system_a").otherwise("system_b").alias("system_b"),
        pl.when(turned).then(0.0 - pl.col("score")).otherwise("score").alias("score"),
    )


def parts_of(items: Sequence[Item], parts: Mapping[str, tuple[str, Iterable[str]]]) -> pl.DataFrame:
    """The parts that each item belongs to, their values in the declared order, others after.

    Raises
    ------
    TableError
        An item without one of them.
    """
    rows = []
    for item in items:
        values = {name: str(item.extra.get(column) or "") for name, (column, _) in parts.items()}
        lacking = next((parts[name][0] for name, value in values.items() if not value), None)
        if lacking is not None:
            raise TableError(f"item {item.id!r} has no {lacking}")
        rows.append((item.id, *values.values()))
    frame = pl.DataFrame(rows, schema=["item", *parts], orient="row")
    return frame.with_columns(
        pl.col(name).cast(pl.Enum(list(dict.fromkeys([*declared, *frame[name]]))))
        for name, (_, declared) in parts.items()
    )


def part_section(preferences: Preferences, part: str, reference: str) -> Section:
    """The overall preference for each system, a part of the items a column, and their mean.

    The last column is the mean of the parts' means: parts of other sizes weigh the same.
    """
    cells = [
        cell
        for cell in preferences.parts.get(part, ())
        if cell.attribute == OVERALL and cell.system_b == reference
    ]
    values = list(dict.fromkeys(cell.part for cell in cells))
    means: dict[tuple[str, str], dict[str, float]] = {}
    for cell in cells:
        means.setdefault((cell.rater, cell.system_a), {})[cell.part] = cell.mean.value
    rows = []
    for (rater, system), by in means.items():
        # The mean of the parts that there are: an empty part must not count as 0.
        row = [by.get(value, math.nan) for value in values]
        present = [mean for mean in row if not math.isnan(mean)]
        rows.append((rater, system, *row, fmean(present) if present else math.nan))
    heads = (*(str(place) for place in range(1, len(values) + 1)), "Mean")
    names = "; ".join(f"{place}: {value}" for place, value in enumerate(values, start=1))
    return Section(
        f"Overall preference by {part}",
        f"Above 0 the system is preferred to the {reference}. {names}. The last column is the mean "
        f"over the others. Intervals stand in the table of means by {part}.",
        (Table((text("Rater"), text("System"), *map(number, heads)), tuple(rows)),),
    )


def length_section(responses: pl.DataFrame, reference: str) -> Section:
    """Words of each system's responses for each word of the reference's to the same item."""
    texts = responses.filter(pl.col("text").is_not_null())
    words = {(r["item"], r["system"]): len(r["text"].split()) for r in texts.to_dicts()}
    rows = []
    for system in texts["system"].unique(maintain_order=True):
        ratios = [
            own / words[item, reference]
            for (item, name), own in words.items()
            if name == system != reference and words.get((item, reference))
        ]
        if ratios:
            within = sum(0.5 <= ratio <= 2 for ratio in ratios) / len(ratios)
            rows.append((system, len(ratios), median(ratios), min(ratios), max(ratios), within))
    heads = ("Median ratio", "Least", "Most", "Share within half and double")
    return Section(
        f"Length of responses against the {reference}",
        f"Words of a response for each word of the {reference}'s. Longer answers are often "
        "preferred for their length, so that a ratio far from 1 makes the comparison unfair.",
        (Table((text("System"), count("n"), *map(number, heads)), tuple(rows)),),
    )
