"""Sessions of levels I and II: labels and choices against the key."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.examining.annotating import annotator_agreement
from voirdire.examining.labels import (
    accuracy_section,
    baselines,
    choice_accuracy,
    constant_sentence,
    error_section,
    label_errors,
    label_scores,
    label_sections,
    matrix_of_ratings,
)
from voirdire.schema import Finding
from voirdire.store import replies_frame
from voirdire.store.frames import iterate_parsed
from voirdire.tabular import Section, Table, count, interval, number, text
from voirdire_plugins.cbt_bench import published

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from voirdire.examining import Examination
    from voirdire.examining.labels import LabelMatrix
    from voirdire.schema import Item
    from voirdire_plugins.cbt_bench.labels import LabelTask

#: The rater under whose name the published labels and right answers stand.
KEY = "Experts"


def review_labels(
    examination: Examination, session: Path, task: LabelTask, items: Sequence[Item]
) -> Examination:
    """Scores, F1 by label, baselines and error cases of one task of level II."""
    truth, given = _matrices(examination, f"cbt-{task.key}", task.labels)
    analysis = examination.study.analysis
    scores = [
        label_scores(
            truth,
            one,
            level=analysis.level,
            resamples=analysis.resamples,
            seed=analysis.seed,
        )
        for one in given
    ]
    errors = [label_errors(truth, one) for one in given]
    f1s = {one.rater: one.f1.value for one in scores}
    whole = len(truth.items) == published.TABLE_3[task.key][0]
    human = published.printed_scores(task.key)[published.HUMAN]
    printed = {published.HUMAN: human} if whole else {}
    floor = baselines(truth)
    said = constant_sentence({**f1s, **printed}, floor, published.HUMAN)
    sections = (
        *label_sections(scores, task.name, published.HUMAN, printed, floor),
        error_section(errors, f"{task.name}: error cases"),
        replaced(errors, f"{task.name}: which label replaces which"),
        *_people(examination, task.labels, task.name),
    )
    sections = tuple(section for section in sections if section.has_rows)
    return _with_texts(examination, session, items).replace(
        sections=(*sections, *examination.sections),
        findings=(*_excess(examination, session, task), *examination.findings),
        notes=(*examination.notes, f"{task.name}: {said}"),
    )


def review_questions(examination: Examination, session: Path, items: Sequence[Item]) -> Examination:
    """Accuracy on multiple-choice questions, overall and by knowledge type."""
    letters = tuple(attribute.name for attribute in examination.study.rubric.attributes)
    truth, given = _matrices(examination, "cbt-qa", letters)
    typed = {item.id: str(item.extra.get("type") or "") for item in items}
    kinds = {item: typed.get(item, "") for item in truth.items}
    parts = kinds if any(kinds.values()) else None
    found = [
        part
        for one in given
        for part in choice_accuracy(truth, one, parts, level=examination.study.analysis.level)
    ]
    errors = error_section([label_errors(truth, one) for one in given], "Questions: wrong answers")
    return _with_texts(examination, session, items).replace(
        sections=(accuracy_section(found, "Questions: accuracy"), errors, *examination.sections)
    )


def replaced(errors: Sequence[pl.DataFrame], title: str) -> Section:
    """Which label is given in place of which: of the items that miss one, what they name wrongly.

    An item that misses several labels, or names several wrongly, counts for each pair.
    """
    pairs: Counter[tuple[str, str, str]] = Counter()
    for frame in errors:
        for rater, missed, wrong in frame.select("rater", "missed", "wrong").iter_rows():
            for lost in missed or ():
                pairs.update((rater, lost, said) for said in wrong or ("(nothing in its place)",))
    rows = tuple((*pair, number) for pair, number in pairs.most_common())
    columns = (text("Rater"), text("Expected"), text("Given in its place"), count("Items"))
    return Section(
        title,
        "From the items that are not exactly right, over all runs; the commonest first.",
        (Table(columns, rows),),
    )


def _matrices(
    examination: Examination, use: str, labels: Sequence[str]
) -> tuple[LabelMatrix, list[LabelMatrix]]:
    truth = matrix_of_ratings(examination.ratings, KEY, labels).each_run()[0]
    there = set(examination.ratings["rater"].cast(pl.String))
    panel = examination.study.panel
    raters = [rater.name for rater in panel if rater.use == use]
    raters += [rater.name for rater in panel if _is_person(rater.name, rater.kind, there)]
    return truth, [
        matrix_of_ratings(examination.ratings, rater, labels, items=truth.items) for rater in raters
    ]


def _is_person(name: str, kind: str, there: set[str]) -> bool:
    """Whether a member of the panel is someone whose own answers are compared with the key."""
    return kind == "human" and name != KEY and name in there


def _people(examination: Examination, labels: Sequence[str], title: str) -> list[Section]:
    """How far people agree with one another, where several have answered."""
    there = set(examination.ratings["rater"].cast(pl.String))
    people = [r.name for r in examination.study.panel if _is_person(r.name, r.kind, there)]
    if len(people) < 2:
        return []
    said = examination.ratings.filter(
        pl.col("rater").cast(pl.String).is_in(people), pl.col("run") == 1
    ).with_columns(pl.col("attribute", "rater").cast(pl.String))
    wide = said.pivot(on="attribute", index=["item", "rater"], values="score").rename(
        {"rater": "annotator"}
    )
    found = annotator_agreement(wide, people, labels, ci="percentile")
    rows = tuple(
        (label, one["agreement"].value, one["alpha"].value, one["alpha"].interval(), one["alpha"].n)
        for label, one in found.items()
    )
    columns = (
        text("Label"), number("Agreement"), number("Krippendorff's alpha"), interval("Interval"),
        count("Items"),
    )  # fmt: skip
    said_of = f"{len(people)} people: {', '.join(people)}. They are the ceiling for any model."
    return [Section(f"{title}: agreement of people", said_of, (Table(columns, rows),))]


def _excess(examination: Examination, session: Path, task: LabelTask) -> tuple[Finding, ...]:
    """Replies that name more labels than the prompt allows."""
    names = {rater.name for rater in examination.study.panel if rater.use == f"cbt-{task.key}"}
    counts: Counter[str] = Counter()
    for said in iterate_parsed(session, "annotate"):
        if said.rater in names and any(f.kind == "too_many" for f in said.parsed.flags):
            counts[said.rater] += 1
    return tuple(
        Finding(
            "too_many_labels",
            "note",
            rater,
            count,
            (),
            f"{count} replies name more than the {task.at_most} labels that {task.name} allows.",
            "All of them count, as the paper does not say which would be dropped.",
        )
        for rater, count in counts.items()
    )


def _with_texts(examination: Examination, session: Path, items: Sequence[Item]) -> Examination:
    """The examination with the items' texts and the replies, shown only where texts are asked."""
    rows = [(item.id, _whole(item)) for item in items]
    said = (
        replies_frame(session)
        .filter((pl.col("final") == 1) & (pl.col("current") == 1))
        .select(
            "item",
            pl.lit(None, pl.String).alias("system"),
            "rater",
            pl.col("run").cast(pl.Int32),
            pl.col("text").alias("reply"),
            pl.lit(None, pl.String).alias("status"),
        )
    )
    schema: dict[str, Any] = {"item": pl.String, "text": pl.String}
    return examination.replace(items=pl.DataFrame(rows, schema=schema, orient="row"), replies=said)


def _whole(item: Item) -> str:
    situation = str(item.extra.get("situation") or "")
    return f"Situation: {situation}\nThoughts: {item.text}" if situation else item.text
