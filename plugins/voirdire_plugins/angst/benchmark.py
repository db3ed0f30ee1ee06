"""The benchmark `angst`: a session of its study, examined, with the paper's tables added."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from voirdire import InputError
from voirdire.examining import session_as_study
from voirdire.examining.differing import differing_sections
from voirdire.examining.labels import (
    SEVERAL,
    TRAINED,
    agreement_of_methods,
    method_sections,
    methods_of,
    pairs_to_compare,
)
from voirdire.store import read_session
from voirdire.store.findings import kept_findings
from voirdire.store.subjects import iterate_items
from voirdire_judges.few_shot import leaks_of
from voirdire_judges.questionnaires import scale_sections, sweep_sections
from voirdire_plugins.angst.labels import LABELS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from voirdire.examining import Examination
    from voirdire.schema import Finding
    from voirdire.study import Rater, Study

NEEDS = (
    "angst needs --data SESSION: write a study by `voirdire paper angst study`, run it by "
    "`voirdire run STUDY --out SESSION`"
)
CONTROL = "control"
#: Which tables of the paper the sections of each task are like.
_TABLES = {
    "depression": ("as Table 3", "as Table 4"),
    "anxiety": ("as Table 3", "as Table 5"),
    SEVERAL: ("as Table 6",),
}
_CLINICAL = (
    "Labels say what readers saw in posts. They are no diagnoses of authors, and no result here "
    "licenses clinical use."
)
_CRITERIA = (
    "Prompts ask for DSM-5 criteria that a single post can hardly show (duration, impairment, "
    "exclusion of other causes): agreement with gold labels is agreement with readers."
)
_SINGLE = (
    "Some raters have a single run: a deviation over runs is not defined for them, and says "
    "nothing about other posts in any case."
)


def review(examination: Examination) -> Examination:
    """The examination with the benchmark's sections, findings and notes."""
    study, ratings, session = examination.study, examination.ratings, examination.session
    gold = study.data.reference[0]
    kinds = {rater.name: kind_of(rater) for rater in study.panel}
    place = {rater.name: number for number, rater in enumerate(study.panel)}
    found = [one for one in methods_of(ratings, gold, LABELS, CONTROL) if one.rater in place]
    found.sort(key=lambda one: place[one.rater])
    pairs = pairs_to_compare(study.panel, found, kinds)
    texts, evidence = _texts(examination), _evidence(examination)
    findings, notes = _leaks(examination)
    sections = [
        *method_sections(found, kinds, _TABLES),
        *differing_sections(ratings, gold, pairs, texts, study.data.excerpt, evidence),
        *(scale_sections(study, session) if session else ()),
        *(sweep_sections(study, session, _truth(ratings, gold)) if session else ()),
        agreement_of_methods(ratings, gold, LABELS, kinds),
    ]
    single = (_SINGLE,) if any(one.scores.runs == 1 for one in found) else ()
    return examination.replace(
        findings=(*examination.findings, *findings),
        notes=(*examination.notes, _CLINICAL, _CRITERIA, *single, *notes),
        sections=(*examination.sections, *(part for part in sections if part.has_rows)),
    )


def _truth(ratings: pl.DataFrame, gold: str) -> pl.DataFrame:
    own = ratings.filter(pl.col("rater") == gold).with_columns(pl.col("attribute").cast(pl.String))
    return own.pivot(on="attribute", index="item", values="score", aggregate_function="first")


def _leaks(examination: Examination) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """Leaks of a session that holds none: its examples are chosen anew. Else they are there."""
    session = examination.session
    if session is None or kept_findings(session) is not None:
        return (), ()
    return leaks_of(examination.study)


def _evidence(examination: Examination) -> dict[str, str]:
    """Spans that annotators gave as evidence, by post, where the session's items hold them."""
    if examination.session is None:
        return {}
    with closing(read_session(examination.session)) as connection:
        return {
            item.id: str(item.extra.get("evidence") or "") for item in iterate_items(connection)
        }


def kind_of(rater: Rater) -> str:
    """How a rater was asked: zero-shot, few-shot, a questionnaire, or fine-tuned."""
    if rater.kind == "classifier":
        return TRAINED
    if rater.use == "questionnaire":
        return f"questionnaire, {rater.options.get('variant', 'standard')}"
    if rater.use in ("angst", "yes-no"):
        return "few-shot" if rater.options.get("examples") else "zero-shot"
    return rater.use or rater.kind


def _texts(examination: Examination) -> Mapping[str, str]:
    if examination.items is None:
        return {}
    return dict(examination.items.select("item", "text").drop_nulls().iter_rows())


@dataclass(frozen=True, slots=True)
class Angst:
    """The benchmark `angst`."""

    def study(self, data: Path | None) -> Study:
        """The study of the session in that folder, its ratings beside the gold labels.

        Raises
        ------
        InputError
            The folder is no session, or the study has no reference.
        """
        study = session_as_study(data, NEEDS)
        if not study.data.reference:
            raise InputError(f"{data}: its study names no reference (data.reference)")
        return study

    def review(self, examination: Examination) -> Examination:
        """The paper's tables, errors, questionnaires and leaks."""
        return review(examination)


BENCHMARK = Angst()
