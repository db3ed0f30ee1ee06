"""Sessions of level III: preferences by exercise and difficulty, and how long responses are."""

from __future__ import annotations

import math
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import TableError
from voirdire.examining.preferences import OVERALL, examine_preferences, preference_sections
from voirdire.store import responses_frame
from voirdire.tabular import Section, Table, count, number, text
from voirdire_plugins.cbt_bench.criteria import CRITERIA, DIFFICULTIES
from voirdire_plugins.cbt_bench.responses import word_count

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from voirdire.examining import Examination
    from voirdire.examining.preferences import Preferences
    from voirdire.schema import Item

#: The system whose responses the others are compared with.
REFERENCE = "reference"
_EXERCISE, _DIFFICULTY = "exercise", "difficulty"
_TEXTS: dict[str, Any] = {"item": pl.String, "text": pl.String}


def review_comparisons(
    examination: Examination, session: Path, items: Sequence[Item]
) -> Examination:
    """Tables 6 and 23, wins by difficulty (figures 2 and 5), and lengths against the reference."""
    if examination.preferences is None:
        return examination
    analysis = examination.study.analysis
    found = examine_preferences(
        against_reference(examination.preferences.table),
        groups_of(items),
        level=analysis.level,
        resamples=analysis.resamples,
        seed=analysis.seed,
    )
    general = {section.title for section in examination.sections}
    parts = [s for s in preference_sections(found) if s.title not in general]
    sections = (overall_table(found), *examination.sections, *parts, _lengths(session))
    return examination.replace(
        sections=tuple(section for section in sections if section.has_rows),
        items=pl.DataFrame([(item.id, item.text) for item in items], schema=_TEXTS, orient="row"),
        replies=_responses(session),
    )


def against_reference(preferences: pl.DataFrame) -> pl.DataFrame:
    """Pairs that name the reference first, turned: above 0 the model is preferred to it."""
    turned = pl.col("system_a") == REFERENCE
    return preferences.with_columns(
        pl.when(turned).then("system_b").otherwise("system_a").alias("system_a"),
        pl.when(turned).then("system_a").otherwise("system_b").alias("system_b"),
        pl.when(turned).then(0.0 - pl.col("score")).otherwise("score").alias("score"),
    )


def _responses(session: Path) -> pl.DataFrame:
    """Responses as what their systems said of the items; shown only where texts are asked."""
    blank = pl.lit(None, pl.String)
    return responses_frame(session).select(
        "item",
        "system",
        pl.col("system").alias("rater"),
        pl.lit(1, pl.Int32).alias("run"),
        pl.col("text").alias("reply"),
        blank.alias("status"),
    )


def groups_of(items: Sequence[Item]) -> pl.DataFrame:
    """Exercise and difficulty of each item, their values in the paper's order.

    Raises
    ------
    TableError
        An item without a category or difficulty.
    """
    rows = []
    for item in items:
        category, level = (str(item.extra.get(name) or "") for name in ("category", "difficulty"))
        if not category or not level:
            raise TableError(f"exercise {item.id!r} has no category or no difficulty")
        rows.append((item.id, category, level))
    frame = pl.DataFrame(rows, schema=["item", _EXERCISE, _DIFFICULTY], orient="row")
    return frame.with_columns(
        pl.col(name).cast(pl.Enum(list(dict.fromkeys([*known, *frame[name]]))))
        for name, known in ((_EXERCISE, CRITERIA), (_DIFFICULTY, DIFFICULTIES))
    )


def overall_table(found: Preferences) -> Section:
    """Table 6: the overall preference for each system, an exercise a column, and their mean.

    The last column is the mean of the exercises' means, as in the paper; exercises of other sizes
    weigh the same.
    """
    cells = [
        cell
        for cell in found.parts.get(_EXERCISE, ())
        if cell.attribute == OVERALL and cell.system_b == REFERENCE
    ]
    exercises = list(dict.fromkeys(cell.part for cell in cells))
    means: dict[tuple[str, str], dict[str, float]] = {}
    for cell in cells:
        means.setdefault((cell.rater, cell.system_a), {})[cell.part] = cell.mean.value
    rows = []
    for (rater, system), by in means.items():
        values = [by.get(exercise, math.nan) for exercise in exercises]
        known = [value for value in values if not math.isnan(value)]
        rows.append((rater, system, *values, fmean(known) if known else math.nan))
    heads = (*(str(n) for n in range(1, len(exercises) + 1)), "Mean")
    names = "; ".join(f"{n}: {exercise}" for n, exercise in enumerate(exercises, start=1))
    return Section(
        "Overall preference by exercise (Table 6)",
        f"Above 0 the system is preferred to the reference. {names}. The last column is the mean "
        "over exercises. Intervals stand in the table by exercise.",
        (Table((text("Rater"), text("System"), *map(number, heads)), tuple(rows)),),
    )


def _lengths(session: Path) -> Section:
    """Words of each system's responses against those of the reference."""
    texts = responses_frame(session).filter(pl.col("text").is_not_null())
    words = {(r["item"], r["system"]): word_count(r["text"]) for r in texts.to_dicts()}
    systems = [s for s in texts["system"].unique(maintain_order=True) if s != REFERENCE]
    rows = []
    for system in systems:
        ratios = [
            own / words[item, REFERENCE]
            for (item, name), own in words.items()
            if name == system and words.get((item, REFERENCE))
        ]
        if ratios:
            within = sum(0.5 <= ratio <= 2 for ratio in ratios) / len(ratios)
            rows.append((system, len(ratios), median(ratios), min(ratios), max(ratios), within))
    heads = ("Median ratio", "Least", "Most", "Share within half and double")
    return Section(
        "Length of responses against the reference",
        "Words of a response for each word of the reference. Longer answers are often preferred "
        "for their length, so that a ratio far from 1 makes the comparison unfair.",
        (Table((text("System"), count("n"), *map(number, heads)), tuple(rows)),),
    )
