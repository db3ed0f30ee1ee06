"""What the review of a benchmark adds to an examination of comparisons."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.examining.preferences import (
    Preferences,
    against_reference,
    examine_preferences,
    length_section,
    part_section,
    parts_of,
    preference_sections,
)
from voirdire.examining.preferences.length import adjusted_section

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from voirdire.examining.examination import Examination
    from voirdire.schema import Item


def with_comparisons(
    examination: Examination,
    items: Sequence[Item],
    responses: pl.DataFrame,
    parts: Mapping[str, tuple[str, Iterable[str]]],
    reference: str,
) -> Examination:
    """The examination with preferences by parts of the items, and the lengths of responses.

    Parameters
    ----------
    items : sequence of Item
    responses : pl.DataFrame
        ``item, system, text``; shown beside the items only where texts are asked for.
    parts : mapping
        Name of a part -> the items' column that holds it, and its values in their order. By the
        first there is a table of the overall preference.
    reference : str
        The system that the others are compared with.
    """
    found = examination.facts(Preferences)
    if found is None:
        return examination
    analysis = examination.study.analysis
    preferences = examine_preferences(
        against_reference(found.table, reference),
        parts_of(items, parts),
        level=analysis.level,
        resamples=analysis.resamples,
        seed=analysis.seed,
    )
    general = {section.title for section in examination.sections}
    more = [s for s in preference_sections(preferences) if s.title not in general]
    first = part_section(preferences, next(iter(parts)), reference)
    lengths = (
        length_section(responses, reference),
        adjusted_section(preferences.combined, responses, reference, analysis.level),
    )
    sections = (first, *examination.sections, *more, *lengths)
    texts = [(item.id, item.text) for item in items]
    schema = {"item": pl.String, "text": pl.String}
    return examination.replace(
        sections=tuple(section for section in sections if section.has_rows),
        texts=replace(
            examination.texts,
            items=pl.DataFrame(texts, schema=schema, orient="row"),
            responses=responses.select("item", "system", pl.lit(1, pl.Int32).alias("run"), "text"),
        ),
    )
