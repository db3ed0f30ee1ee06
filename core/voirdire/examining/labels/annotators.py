"""Annotators in an examination: which label set each declares, and the tables of consistency.

In a study that has judges on a rubric too, labels are no attributes of that rubric and stand
beside it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from voirdire import tables
from voirdire._manager import plugins
from voirdire.errors import PluginError
from voirdire.examining.labels.errors import label_errors, reasons_section, worst_first
from voirdire.examining.labels.final import UNSURE
from voirdire.examining.labels.matrix import matrices_against
from voirdire.examining.labels.run_sections import consistency_sections, temperature_notes
from voirdire.examining.labels.runs import label_replies, runs_of_ratings
from voirdire.examining.labels.scores import label_scores
from voirdire.examining.labels.sections import label_sections
from voirdire.identity import NONE
from voirdire.parsing import LabelSet
from voirdire.protocols import DeclaresLabels, NamesUnsure
from voirdire.schema import Scale
from voirdire.store import is_session
from voirdire.study import family_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voirdire.examining.inputs import Inputs
    from voirdire.examining.labels.runs import LabelRuns
    from voirdire.study import Rater, Study
    from voirdire.tables import Tables
    from voirdire.tabular import Section, SectionFigure

LABEL_SCALE = {"scale": (0.0, 1.0), "step": 1.0}


@dataclass(frozen=True, slots=True)
class Labelling:
    """The label set of some annotators, and what an item without a final label is called."""

    labels: tuple[str, ...]
    none: str | None
    other: str | None
    unsure: tuple[str, str]


@dataclass(frozen=True, slots=True)
class LabelFacts:
    """What labels add to an examination; empty where there are none.

    `errors` are the items on which a judge names other labels than the key, from `label_errors`;
    None without a single key of labels.
    """

    sections: tuple[Section, ...] = ()
    notes: tuple[str, ...] = ()
    errors: pl.DataFrame | None = None


def label_scale(study: Study) -> Study:
    """A study of annotators alone that declares no rubric is on the scale of labels, 0 and 1."""
    kinds = {rater.kind for rater in study.panel}
    # A scale that the study writes down holds, even where all raters are annotators.
    undeclared = not (study.rubric.model_fields_set & {"scale", "attributes", "use"})
    if "annotator" not in kinds or not kinds <= {"annotator", "human"} or not undeclared:
        return study
    return study.model_copy(update={"rubric": study.rubric.model_copy(update=LABEL_SCALE)})


def label_part(study: Study, tables: Tables) -> LabelFacts:
    """Consistency of every annotator with ratings, or of repeated 0/1 ratings without a panel."""
    names = annotators(study, tables)
    if not names:
        return LabelFacts()
    if study.data.reference and tables.ratings["run"].n_unique() == 1:
        # Held against a key, and asked once: there is nothing to be consistent with.
        return LabelFacts((), temperature_notes(tables.raters, tuple(names)))
    made = [
        (", ".join(runs.raters), section)
        for labelling, runs in label_runs_of(study, tables.ratings, names)
        for section in consistency_sections(
            runs,
            at_least=study.analysis.at_least,
            unsure=labelling.unsure,
            level=study.analysis.level,
            families=families_of(study),
        )
    ]
    return LabelFacts(tuple(_once(made)), temperature_notes(tables.raters, tuple(names)))


def _once(made: Sequence[tuple[str, Section]]) -> Iterator[Section]:
    """Sections of groups of annotators, each table once with the rows of all groups.

    What another label set says otherwise stands apart, with its annotators behind the title.
    """
    alike: dict[tuple[Any, ...], list[tuple[str, Section]]] = {}
    for whose, section in made:
        shape = tuple(table.columns for table in section.tables)
        alike.setdefault((section.title, section.text, shape), []).append((whose, section))
    titles = Counter(title for title, *_ in alike)
    for (title, *_), parts in alike.items():
        first = parts[0][1]
        names = ", ".join(whose for whose, _ in parts)
        yield replace(
            first,
            title=f"{title} ({names})" if titles[title] > 1 else title,
            tables=tuple(
                replace(table, rows=tuple(row for _, part in parts for row in part.tables[at].rows))
                for at, table in enumerate(first.tables)
            ),
            figures=_figures([part for _, part in parts]),
        )


def _figures(parts: Sequence[Section]) -> tuple[SectionFigure, ...]:
    """The figures of sections alike: one with the series of all, where axes and labels agree."""
    drawn: dict[tuple[Any, ...], SectionFigure] = {}
    for figure in (one for part in parts for one in part.figures):
        axes = (figure.kind, figure.labels, figure.x, figure.y, figure.caption)
        there = drawn.get(axes)
        drawn[axes] = (
            figure
            if there is None
            else replace(
                there,
                series=(*there.series, *figure.series),
                intervals=(*there.intervals, *figure.intervals),
            )
        )
    return tuple(drawn.values())


def families_of(study: Study) -> dict[str, str]:
    """Member of the panel -> its family, as declared or by its model's maker, where it is known."""
    families = {rater.name: family_of(rater, study) for rater in study.panel}
    return {name: family for name, family in families.items() if family not in {"", NONE}}


def annotators(study: Study, tables: Tables) -> list[str]:
    """Annotators of the panel; where none is declared, all raters of labels repeated over runs."""
    present = tables.raters["rater"].to_list()
    declared = [rater.name for rater in study.panel if rater.kind == "annotator"]
    if declared or study.data.reference or "human" in tables.raters["kind"]:
        return [name for name in declared if name in present]
    scores, runs = tables.ratings["score"].drop_nulls(), tables.ratings["run"]
    # Nobody is declared: zeros and ones over several runs, of no system, can only be labels.
    labels = len(scores) > 0 and bool(((scores == 0) | (scores == 1)).all())
    repeated = (
        runs.n_unique() > 1 and tables.ratings["system"].null_count() == tables.ratings.height
    )
    return present if labels and repeated else []


def label_runs_of(
    study: Study, ratings: pl.DataFrame, names: Sequence[str]
) -> list[tuple[Labelling, LabelRuns]]:
    """Annotators grouped by what they declare, each group with its runs."""
    groups = labelling_groups(study, ratings, names)
    folder = session_behind(study)
    replies = None if folder is None else label_replies(folder)
    return [(each, _runs(each, members, ratings, replies)) for each, members in groups.items()]


def labelling_groups(
    study: Study, ratings: pl.DataFrame, names: Sequence[str]
) -> dict[Labelling, list[str]]:
    """Annotators by what they declare."""
    groups: dict[Labelling, list[str]] = {}
    for name in names:
        groups.setdefault(_labelling(study, name, ratings), []).append(name)
    return groups


def _runs(
    labelling: Labelling, members: list[str], ratings: pl.DataFrame, replies: pl.DataFrame | None
) -> LabelRuns:
    own = ratings.filter(pl.col("rater").cast(pl.String).is_in(members))
    entries = None if replies is None else replies.filter(pl.col("rater").is_in(members))
    return runs_of_ratings(
        own, labelling.labels, none=labelling.none, other=labelling.other, entries=entries
    )


def session_behind(study: Study) -> Path | None:
    """The session whose ratings a study reads, if it reads one's."""
    folders = ((Path(study.folder) / source.path).parent for source in study.data.sources)
    return next((folder for folder in folders if is_session(folder)), None)


def _labelling(study: Study, name: str, ratings: pl.DataFrame) -> Labelling:
    spec = study.rater(name)
    declared = declared_by(spec) if spec is not None and spec.use else None
    if declared is not None:
        return declared
    own = (
        ratings.filter(pl.col("rater") == name)["attribute"]
        .cast(pl.String)
        .unique(maintain_order=True)
    )
    named = [attribute.name for attribute in study.rubric.attributes]
    # Of several labels an annotator may have been asked for some: the others are not missing.
    labels = [label for label in named if label in own] or named or own.to_list()
    options = spec.options if spec is not None else {}
    return Labelling(tuple(labels), options.get("none"), options.get("other"), UNSURE)


def declared_by(spec: Rater) -> Labelling | None:
    """What an annotator itself says; one that declares no `labels` says nothing."""
    try:
        annotator = plugins().resolve("annotator", spec.use)(**spec.options)
    except TypeError as error:
        raise PluginError(
            f"annotator {spec.use!r} of {spec.name!r} does not take this: {error}"
        ) from error
    if not isinstance(annotator, DeclaresLabels) or not isinstance(annotator.labels, LabelSet):
        return None
    label_set = annotator.labels
    unsure = annotator.unsure if isinstance(annotator, NamesUnsure) else UNSURE
    return Labelling(label_set.labels, label_set.none, label_set.other, unsure)


def labels_beside(study: Study) -> tuple[str, ...]:
    """Labels that annotators name in a study that has judges too: no attributes of its rubric.

    None of an annotator that names a declared attribute: it is held to the rubric.
    """
    if all(rater.kind != "judge" for rater in study.panel):
        return ()
    declared = {attribute.name for attribute in study.rubric.attributes}
    own = [_named_by(spec) for spec in study.panel if spec.kind == "annotator" and spec.use]
    return tuple(dict.fromkeys(n for names in own if declared.isdisjoint(names) for n in names))


def _named_by(spec: Rater) -> tuple[str, ...]:
    """The labels of one annotator: those of its options, else those that it says itself."""
    given, other = spec.options.get("labels"), spec.options.get("other")
    if not isinstance(given, list | tuple):
        labelling = declared_by(spec)
        given, other = ((), None) if labelling is None else (labelling.labels, labelling.other)
    return tuple(str(name) for name in (*given, other) if name is not None)


def study_of_labels(study: Study, labels: Tables) -> Study:
    """The study of labels beside a rubric: who names them, on the scale of labels."""
    present = set(labels.raters["rater"])
    unlike = {"attributes": (), "use": "", "composites": {}}
    reference = tuple(name for name in study.data.reference if name in present)
    return study.model_copy(
        update={
            "rubric": study.rubric.model_copy(update={**LABEL_SCALE, **unlike}),
            "panel": tuple(rater for rater in study.panel if rater.name in present),
            "data": study.data.model_copy(update={"reference": reference}),
            "systems": (),
        }
    )


def examine_labels(inputs: Inputs) -> LabelFacts:
    """What is said of annotators, those beside a rubric included, and errors against a key."""
    if inputs.tables is None:
        return LabelFacts()
    part, errors = _of_annotators(inputs.study, inputs.tables), _errors(inputs)
    if errors is None:
        return part
    people = [rater.name for rater in inputs.study.panel if rater.kind == "human"]
    excerpt = inputs.study.data.excerpt
    written = reasons_section(errors, inputs.tables.reasons, people, excerpt)
    sections = (*part.sections, written) if written.has_rows else part.sections
    return replace(part, sections=sections, errors=errors)


def _errors(inputs: Inputs) -> pl.DataFrame | None:
    """Items on which judges and the one reference differ; None where that is no key of labels."""
    rubric, ratings, panel = inputs.study.rubric, inputs.ratings, inputs.panel
    labels = [attribute.name for attribute in rubric.attributes]
    if not labels or rubric.scale != (0, 1) or rubric.step != 1 or len(panel.reference) != 1:
        return None
    # Pass or fail of systems' responses: a gate, and no labels of items.
    of_systems = ratings["system"].null_count() < ratings.height
    if of_systems or not ratings["score"].drop_nulls().is_in([0.0, 1.0]).all():
        return None
    present = set(ratings["rater"].cast(pl.String))
    key = panel.reference[0]
    if key not in present:
        return None
    judges = [judge.name for judge in panel.judges if judge.name in present]
    truth, given = matrices_against(ratings, key, judges, labels)
    # The key has no errors against itself: it stands for a frame of no rows where nobody else is.
    errors = [label_errors(truth, one) for one in (truth, *given)]
    return worst_first(pl.concat(errors))


def _of_annotators(study: Study, tables: Tables) -> LabelFacts:
    part = label_part(study, tables)
    if tables.labels is None:
        return part
    own, labels = study_of_labels(study, tables.labels), _on_scale(study, tables.labels)
    more = label_part(own, labels)
    against = tuple(_against_humans(own, labels))
    return LabelFacts((*part.sections, *against, *more.sections), (*part.notes, *more.notes))


def _on_scale(study: Study, labels: Tables) -> Tables:
    """Labels without numbers that are none; there is nothing that such a number could be kept as.

    Raises
    ------
    TableError
        The study says that a value off the scale is an error.
    """
    policy: Literal["error", "missing"] = "missing"
    if study.data.off_scale == "error":
        policy = "error"
    ratings = tables.apply_off_scale(labels.ratings, policy, Scale(0, 1))
    return replace(labels, ratings=ratings)


def _against_humans(study: Study, tables: Tables) -> Iterator[Section]:
    """Labels of annotators against those of each human that named one of them at least once."""
    analysis = study.analysis
    options: dict[str, Any] = {
        "level": analysis.level,
        "resamples": analysis.resamples,
        "seed": analysis.seed,
    }
    humans = [spec.name for spec in study.panel if spec.kind == "human"]
    names = annotators(study, tables)
    for human in dict.fromkeys((*study.data.reference, *humans)):
        attributes = set(
            tables.ratings.filter(pl.col("rater") == human)["attribute"].cast(pl.String)
        )
        for labelling, members in labelling_groups(study, tables.ratings, names).items():
            labels = [label for label in labelling.labels if label in attributes]
            if labels:
                ratings = tables.ratings.filter(pl.col("attribute").cast(pl.String).is_in(labels))
                truth, given = matrices_against(ratings, human, members, labels)
                scores = [label_scores(truth, one, **options) for one in given]
                # An annotator that shares no item with the human has no scores, and would leave
                # empty rows.
                shared = [one for one in scores if isfinite(one.baselines.constant.value)]
                yield from label_sections(shared, f"Labels against {human}")
