"""One item: what every rater said of it, all runs and systems side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import InputError
from voirdire.examining.labels import final_labels, item_section
from voirdire.examining.labels.annotators import annotators, label_runs_of
from voirdire.examining.source import open_source
from voirdire.examining.spoken import speaks_python
from voirdire.tabular import Section, Table, count, frame_matrix, number, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from voirdire.examining.sources import AnySource
    from voirdire.study import ReadOptions, Study
    from voirdire.tables import Tables
    from voirdire.tables.judged import ReadJudgements
    from voirdire.tabular import Column


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
        several) that gave scores. Scores stand as they were read; one off the scale does too. Of
        files of labels, probabilities or comparisons one for each question.

    Raises
    ------
    InputError
        Nobody rated, labelled or compared an item of that name.
    """
    opened = open_source(source, data=data, reference=reference, read=read)
    said = opened.judgements
    rated = [] if opened.tables is None else [opened.tables, opened.tables.labels]
    sections = (
        *(part for one in rated if one is not None for part in _labels(opened.study, one, item)),
        *(() if opened.tables is None else _ratings(opened.study, opened.tables, item)),
        *(() if said is None else _judged(said, item)),
        *(() if opened.preferences is None else _compared(opened.preferences.table, item)),
    )
    if not sections:
        raise InputError(f"there is no item {item!r} among those that were rated")
    return sections


def _judged(said: ReadJudgements, item: str) -> list[Section]:
    """A table a question: what each rater says in its own words, or how probable it is."""
    own = said.labels.filter(pl.col("item") == item)
    sections = []
    for question in said.questions:
        rows = own.filter(pl.col("attribute") == question.attribute)
        if rows.is_empty():
            continue
        shown = rows.with_columns(
            pl.when(pl.col("labels").list.len() == 0)
            .then(pl.lit("none" if question.sets else "another word"))
            .otherwise(pl.col("labels").list.join(", "))
            .alias("words")
        )
        columns = {"rater": text("Rater"), **_places(shown), "words": text("Label")}
        if question.probability:
            columns["words"] = text(f"Says (asked: {question.labels[0]})")
        if shown["probability"].null_count() < shown.height:
            columns["probability"] = number("Probability", 2)
        sections.append(_told(f"Item {item}: {question.attribute}", shown, columns))
    return sections


def _compared(table: pl.DataFrame, item: str) -> list[Section]:
    """A table of the comparisons of an item: of which two, and who is preferred."""
    own = table.filter(pl.col("item") == item)
    return [
        _told(
            f"Item {item}: {attribute}",
            rows.with_columns(
                pl.when(pl.col("score") > 0).then("system_a")
                .when(pl.col("score") < 0).then("system_b")
                .when(pl.col("score") == 0).then(pl.lit("tie")).alias("preferred")
            ),
            {
                "rater": text("Rater"), "system_a": text("A"), "system_b": text("B"),
                **_places(rows), "preferred": text("Prefers"), "score": number("Score", 1),
            },
        )
        for (attribute,), rows in own.group_by("attribute", maintain_order=True)
    ]  # fmt: skip


def _places(rows: pl.DataFrame) -> dict[str, Column]:
    """The columns that tell rows of one rater apart, where several are there."""
    heads = {"system": text("System"), "run": count("Run"), "shown_first": text("Shown first")}
    return {
        name: head
        for name, head in heads.items()
        if name in rows.columns and rows[name].drop_nulls().n_unique() > 1
    }


def _told(title: str, rows: pl.DataFrame, columns: Mapping[str, Column]) -> Section:
    shown = rows.select(*columns)
    return Section(title, "", (Table(tuple(columns.values()), tuple(shown.iter_rows())),))


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
