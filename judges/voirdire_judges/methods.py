"""A session in which several methods label the same items: its sections, findings and notes.

Methods are models asked without or with examples, questionnaires with a threshold, and classifiers
that were trained; `voirdire.examining.labels.methods` scores them, and here they are told apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from voirdire.tabular import Marked, Section, Table, count, number, text
from voirdire_judges.few_shot import leaks_of
from voirdire_judges.questionnaires import STANDARD, load_questionnaire

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from voirdire.examining import Examination
    from voirdire.schema import Scale
    from voirdire.study import Rater, Study
    from voirdire_judges.questionnaires import Questionnaire

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
    pairs = pairs_to_compare(study.panel, methods, kinds, study.analysis.compare)
    # Findings that the run has kept come with the session; choosing examples anew costs an
    # embedder.
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
    return dict(examination.texts.items.select("item", "text").drop_nulls().iter_rows())


_TEXT = (
    "A total stands only where every item is answered; a partial sum would look like a low score. "
    "Bounds are the means of the least and the most that totals could be, over all posts. {notes}"
)
_COLUMNS = (
    text("Rater"),
    text("Variant"),
    number("Threshold", 1),
    text("Range"),
    count("Posts x runs"),
    count("Complete"),
    count("Items missing"),
    number("Mean total"),
    number("Least mean"),
    number("Most mean"),
)


def scale_sections(study: Study, session: Path) -> list[Section]:
    """One section over all questionnaires of the panel, from the session's ratings."""
    raters = [rater for rater in study.panel if rater.use == "questionnaire"]
    if not raters:
        return []
    ratings = pl.read_parquet(session / "ratings.parquet")
    questionnaires = [_questionnaire(rater, study) for rater in raters]
    rows = tuple(
        row
        for rater, one in zip(raters, questionnaires, strict=True)
        if (row := _row(rater, one, ratings.filter(pl.col("rater") == rater.name)))
    )
    notes = " ".join(
        dict.fromkeys(
            f"{one.name}: {sentence}"
            for one in questionnaires
            for sentence in (one.note, one.descriptions)
            if sentence
        )
    )
    explanation = _TEXT.format(notes=notes).strip()
    return [Section("Questionnaires", explanation, (Table(_COLUMNS, rows),))]


def sweep_sections(study: Study, session: Path, gold: pl.DataFrame) -> list[Section]:
    """What each threshold of a questionnaire would decide, against the gold label of its construct.

    `gold` has ``item`` and a column a label. A post is decided where no missing answer could change
    it (the bounds of its total agree); else it is missing, and in no score.
    """
    ratings = pl.read_parquet(session / "ratings.parquet")
    rows: list[tuple[Any, ...]] = []
    for rater in study.panel:
        questionnaire = _questionnaire(rater, study) if rater.use == "questionnaire" else None
        if questionnaire is not None and questionnaire.construct in gold.columns:
            own = ratings.filter(pl.col("rater") == rater.name)
            bounds = _bounds(questionnaire, own).join(
                gold.select("item", truth=questionnaire.construct).drop_nulls(),
                on="item",
                how="inner",
            )
            rows += [
                (rater.name, one, *_decided(bounds, one), _declared(rater, one))
                for one in _thresholds(questionnaire.total)
                if bounds.height
            ]
    columns = (
        text("Rater"),
        number("Threshold", 0),
        count("Decided"),
        count("Missing"),
        *map(number, ("Accuracy", "Precision", "Recall", "F1")),
        text("Declared"),
    )
    return [
        Section(
            "Thresholds of questionnaires, swept",
            "Posts times runs. A threshold that is chosen where it does best on these posts is "
            "fitted to them: declare it before, or choose it on others.",
            (Table(columns, tuple(rows)),),
        )
    ]


def _bounds(questionnaire: Questionnaire, ratings: pl.DataFrame) -> pl.DataFrame:
    """``item, low, high`` of each post and run that was asked about: what the total can be."""
    serials = [
        f"{questionnaire.name}.{serial}" for serial in range(1, len(questionnaire.questions) + 1)
    ]
    score, scale = pl.col("score"), questionnaire.scale
    return (
        ratings.filter(pl.col("attribute").cast(pl.String).is_in(serials))
        .group_by("item", "run", maintain_order=True)
        .agg(
            (score.sum() + score.null_count() * scale.low).alias("low"),
            (score.sum() + score.null_count() * scale.high).alias("high"),
        )
    )


def _thresholds(total: Scale) -> list[float]:
    """At most twenty whole thresholds, evenly over what a total can be."""
    first, last = int(total.low) + 1, int(total.high)
    # Rounded up: twenty rows tell where a curve turns.
    step = -(-(last - first + 1) // 20)
    return [float(one) for one in range(first, last + 1, step)]


def _decided(bounds: pl.DataFrame, threshold: float) -> tuple[Any, ...]:
    # Decided whatever the missing answers are; what they could turn is in no score.
    yes, no = pl.col("low") >= threshold, pl.col("high") < threshold
    decided = bounds.filter(yes | no).select(yes.alias("said"), (pl.col("truth") == 1).alias("is"))
    hits = decided.filter(pl.col("said") & pl.col("is")).height
    named, true = int(decided["said"].sum()), int(decided["is"].sum())
    right = int((decided["said"] == decided["is"]).sum())
    return (
        decided.height,
        bounds.height - decided.height,
        right / decided.height if decided.height else None,
        hits / named if named else None,
        hits / true if true else None,
        2 * hits / (named + true) if named + true else None,
    )


def _declared(rater: Rater, threshold: float) -> str:
    return "declared" if rater.options.get("threshold") == threshold else ""


def _questionnaire(rater: Rater, study: Study) -> Questionnaire:
    name = str(rater.options.get("scale", study.rubric.use))
    return load_questionnaire(name, str(rater.options.get("variant", STANDARD)), study.folder)


def _row(rater: Rater, questionnaire: Questionnaire, ratings: pl.DataFrame) -> tuple[Any, ...]:
    attribute = pl.col("attribute").cast(pl.String)
    totals = ratings.filter(attribute == f"{questionnaire.name}.total")
    if totals.is_empty():
        return ()
    serials = [
        f"{questionnaire.name}.{serial}" for serial in range(1, len(questionnaire.questions) + 1)
    ]
    items = ratings.filter(attribute.is_in(serials))
    lacking = items["score"].null_count()
    answered, size = float(items["score"].sum() or 0), totals.height
    total = questionnaire.total
    return (
        rater.name,
        questionnaire.variant,
        rater.options.get("threshold", Marked(None, "none declared")),
        f"{total.low:g} to {total.high:g}",
        size,
        size - totals["score"].null_count(),
        lacking,
        totals["score"].mean(),
        (answered + lacking * questionnaire.scale.low) / size,
        (answered + lacking * questionnaire.scale.high) / size,
    )
