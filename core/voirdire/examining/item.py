"""One item: what every rater said of it, all runs and systems side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import InputError
from voirdire.examining.as_ratings import as_ratings
from voirdire.examining.labels import final_labels, item_section
from voirdire.examining.labels.annotators import annotators, label_runs_of
from voirdire.examining.source import open_source
from voirdire.examining.spoken import speaks_python
from voirdire.tabular import Section, frame_matrix, number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from voirdire.examining.sources import AnySource
    from voirdire.study import ReadOptions, Study
    from voirdire.tables import Tables


@speaks_python
def item_sections(
    source: AnySource,
    item: str,
    *,
    data: str | Path | None = None,
    reference: Sequence[str] = (),
    read: ReadOptions | None = None,
) -> tuple[Section, ...]:
    """Matrices of one item: labels by annotator and run, scores by attribute and system.

    Parameters
    ----------
    source, data, reference, read
        As in `voirdire.examine`.
    item : str
        The item's id.

    Returns
    -------
    tuple of Section
        One for the annotators of each label set, and one for each rater (and run, where it has
        several) that gave scores. Scores stand as they were read; one off the scale does too.

    Raises
    ------
    InputError
        Nobody rated or labelled an item of that name, or the source holds no ratings.
    """
    opened = open_source(source, data=data, reference=reference, read=read)
    if opened.judgements is not None:
        opened = as_ratings(opened, reference)
    if opened.tables is None:
        raise InputError("there are no ratings in this source, so no item can be shown")
    sections = (
        *(part for rated in (opened.tables, opened.tables.labels) if rated is not None
          for part in _labels(opened.study, rated, item)),
        *_ratings(opened.study, opened.tables, item),
    )  # fmt: skip
    if not sections:
        raise InputError(f"there is no item {item!r} among those that were rated")
    return sections


def _labels(study: Study, rated: Tables, item: str) -> list[Section]:
    names = annotators(study, rated)
    groups = label_runs_of(study, rated.ratings, names) if names else []
    return [
        item_section(
            runs,
            final_labels(runs, at_least=study.analysis.at_least, unsure=labelling.unsure),
            item,
        )
        for labelling, runs in groups
        if any(item in matrix.items for matrix in runs.matrices)
    ]


def _ratings(study: Study, rated: Tables, item: str) -> list[Section]:
    """A matrix a rater and run: attributes by systems, or one line of attributes."""
    names = annotators(study, rated)
    own = rated.ratings.with_columns(pl.col("rater", "attribute", "system", "item").cast(pl.String))
    own = own.filter(pl.col("item") == item, ~pl.col("rater").is_in(names))
    # A run's number is said only of raters that have several.
    several = set(own.group_by("rater").agg(pl.col("run").n_unique() > 1).filter("run")["rater"])
    declared = [system.name for system in study.systems]
    occurring = own["system"].drop_nulls().unique(maintain_order=True).to_list()
    systems = [name for name in declared if name in occurring]
    systems += [name for name in occurring if name not in declared]
    return [
        _matrix(
            f"Ratings of item {item} by {rater}" + (f", run {run}" if rater in several else ""),
            part,
            systems,
        )
        for (rater, run), part in own.group_by("rater", "run", maintain_order=True)
    ]


def _matrix(title: str, own: pl.DataFrame, systems: Sequence[str]) -> Section:
    heads: Sequence[str | None] = systems or [None]
    digits = 0 if own["score"].drop_nulls().map_elements(float.is_integer, pl.Boolean).all() else 2
    columns = {system: number(system or "Score", digits) for system in heads}
    cell = ("attribute", "system", "score")
    return Section(title, "", (frame_matrix(own, cell, columns, "Attribute"),))
