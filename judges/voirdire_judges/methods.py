"""A session in which several methods label the same items: its sections, findings and notes.

Methods are models asked without or with examples, questionnaires with a threshold, and classifiers
that were trained; `voirdire.examining.labels.methods` scores them, and here they are told apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.examining.differing import differing_sections
from voirdire.examining.labels import (
    TRAINED,
    agreement_of_methods,
    method_sections,
    methods_of,
    pairs_to_compare,
)
from voirdire.store.findings import kept_findings
from voirdire.store.frames import session_items
from voirdire_judges.few_shot import leaks_of
from voirdire_judges.questionnaires import scale_sections, sweep_sections

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from voirdire.examining import Examination
    from voirdire.study import Rater

_SINGLE = (
    "Some raters have a single run: a deviation over runs is not defined for them, and says "
    "nothing about other posts in any case."
)


def kind_of(rater: Rater) -> str:
    """How a rater was asked: zero-shot, few-shot, a questionnaire, or fine-tuned."""
    if rater.kind == "classifier":
        return TRAINED
    if rater.use == "questionnaire":
        return f"questionnaire, {rater.options.get('variant', 'standard')}"
    if rater.kind == "annotator":
        return "few-shot" if rater.options.get("examples") else "zero-shot"
    return rater.use or rater.kind


def with_methods(
    examination: Examination,
    labels: Sequence[str],
    absent: str,
    titles: Mapping[str, Sequence[str]],
    notes: Sequence[str] = (),
) -> Examination:
    """The examination with what its methods label against the reference, by task.

    Parameters
    ----------
    examination : Examination
        Of a session or of files; its first reference holds the gold labels.
    labels : sequence of str
        Attributes scored 0 or 1.
    absent : str
        What an item without a label is called.
    titles : mapping of str to sequence of str
        Task -> what stands behind the titles of its sections; see `method_sections`.
    notes : sequence of str
        Notes that come before those found here.
    """
    study, ratings, session = examination.study, examination.ratings, examination.session
    gold = study.data.reference[0]
    kinds = {rater.name: kind_of(rater) for rater in study.panel}
    place = {rater.name: number for number, rater in enumerate(study.panel)}
    methods = [one for one in methods_of(ratings, gold, labels, absent) if one.rater in place]
    methods.sort(key=lambda one: place[one.rater])
    pairs = pairs_to_compare(study.panel, methods, kinds)
    findings, unknown = leaks_of(study) if _has_none(session) else ((), ())
    excerpt, evidence = study.data.excerpt, _evidence(session)
    sections = [
        *method_sections(methods, kinds, titles),
        *differing_sections(ratings, gold, pairs, _texts(examination), excerpt, evidence),
        *(scale_sections(study, session) if session else ()),
        *(sweep_sections(study, session, _truth(ratings, gold)) if session else ()),
        agreement_of_methods(ratings, gold, labels, kinds),
    ]
    single = (_SINGLE,) if any(one.scores.runs == 1 for one in methods) else ()
    return examination.replace(
        findings=(*examination.findings, *findings),
        notes=(*examination.notes, *notes, *single, *unknown),
        sections=(*examination.sections, *(part for part in sections if part.has_rows)),
    )


def _has_none(session: Path | None) -> bool:
    """Whether a session holds no findings of leaks: its examples are then chosen anew."""
    return session is not None and kept_findings(session) is None


def _truth(ratings: pl.DataFrame, gold: str) -> pl.DataFrame:
    own = ratings.filter(pl.col("rater") == gold).with_columns(pl.col("attribute").cast(pl.String))
    return own.pivot(on="attribute", index="item", values="score", aggregate_function="first")


def _evidence(session: Path | None) -> dict[str, str]:
    """Spans that annotators gave as evidence, by item, where the session's items hold them."""
    if session is None:
        return {}
    return {item.id: str(item.extra.get("evidence") or "") for item in session_items(session)}


def _texts(examination: Examination) -> dict[str, str]:
    if examination.items is None:
        return {}
    return dict(examination.items.select("item", "text").drop_nulls().iter_rows())
