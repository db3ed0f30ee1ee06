"""Annotators in a study that has judges on a rubric too: their labels are no attributes of it."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from voirdire import tables
from voirdire.examining._labels import (
    LABEL_SCALE,
    LabelPart,
    annotators,
    declared_by,
    label_part,
    labelling_groups,
)
from voirdire.examining.choice_sections import label_sections
from voirdire.examining.choices import label_matrices, label_scores
from voirdire.schema import Scale

if TYPE_CHECKING:
    from collections.abc import Iterator

    from voirdire.examining.examination import Section
    from voirdire.study import Rater, Study
    from voirdire.tables import Tables


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
        found = declared_by(spec)
        given, other = ((), None) if found is None else (found.labels, found.other)
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


def all_labels(study: Study, found: Tables) -> LabelPart:
    """What is said of annotators, those beside a rubric included."""
    part = label_part(study, found)
    if found.labels is None:
        return part
    own, labels = study_of_labels(study, found.labels), _on_scale(study, found.labels)
    more = label_part(own, labels)
    against = tuple(_against_humans(own, labels))
    return LabelPart((*part.sections, *against, *more.sections), (*part.notes, *more.notes))


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


def _against_humans(study: Study, found: Tables) -> Iterator[Section]:
    """Labels of annotators against those of each human that named one of them at least once."""
    analysis = study.analysis
    options: dict[str, Any] = {
        "level": analysis.level,
        "resamples": analysis.resamples,
        "seed": analysis.seed,
    }
    humans = [spec.name for spec in study.panel if spec.kind == "human"]
    names = annotators(study, found)
    for human in dict.fromkeys((*study.data.reference, *humans)):
        known = set(found.ratings.filter(pl.col("rater") == human)["attribute"].cast(pl.String))
        for labelling, members in labelling_groups(study, found.ratings, names).items():
            labels = [label for label in labelling.labels if label in known]
            if labels:
                ratings = found.ratings.filter(pl.col("attribute").cast(pl.String).is_in(labels))
                truth = label_matrices(ratings, human, labels)[0]
                given = [
                    one
                    for name in members
                    for one in label_matrices(ratings, name, labels, truth.items)
                ]
                scores = [label_scores(truth, one, **options) for one in given]
                shared = [one for one in scores if isfinite(one.floor.constant.value)]
                yield from label_sections(shared, f"Labels against {human}")
