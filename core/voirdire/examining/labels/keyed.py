"""A session held against a key: scores, error cases, which label replaces which, people beside.

The key is a rater whose labels are right by declaration (`voirdire.study.keyed` writes such a
study); the others are annotators of the panel and people who answered the same items.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.examining.labels.errors import error_section, label_errors, reasons_section
from voirdire.examining.labels.matrix import matrices_against
from voirdire.examining.labels.scores import baselines, choice_accuracy, label_scores
from voirdire.examining.labels.sections import (
    ACCURACY,
    accuracy_section,
    constant_sentence,
    label_sections,
)
from voirdire.schema import Finding
from voirdire.stats import joint_agreement, krippendorff_alpha
from voirdire.store import replies_frame
from voirdire.store.frames import iterate_parsed
from voirdire.tabular import Section, Table, count, interval, number, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from voirdire.examining.examination import Examination
    from voirdire.examining.labels.matrix import LabelMatrix
    from voirdire.schema import Item


@dataclass(frozen=True, slots=True)
class Keyed:
    """The key of a session and those who are held against it.

    Attributes
    ----------
    truth : LabelMatrix
    given : tuple of LabelMatrix
        The annotators of one use, in the panel's order, then the people.
    people : tuple of str
        Raters of kind human that are not the key.
    """

    truth: LabelMatrix
    given: tuple[LabelMatrix, ...]
    people: tuple[str, ...]


def read_keyed(examination: Examination, key: str, labels: Sequence[str], use: str) -> Keyed:
    """The labels of a key, of the annotators of one `use`, and of people who answered too."""
    ratings, panel = examination.ratings, examination.study.panel
    there = set(ratings["rater"].cast(pl.String))
    people = tuple(r.name for r in panel if r.kind == "human" and r.name != key and r.name in there)
    names = (*(rater.name for rater in panel if rater.use == use), *people)
    return Keyed(*matrices_against(ratings, key, names, labels), people)


def keyed_labels(
    examination: Examination,
    keyed: Keyed,
    title: str,
    human: str | None = None,
    printed: Mapping[str, float] | None = None,
) -> Examination:
    """The examination with what its labels are worth against the key, before other sections.

    Parameters
    ----------
    title : str
        What the labels are.
    human, printed
        Published weighted F1 to compare with, and the name of the human in it; as in
        `label_sections`.
    """
    analysis = examination.study.analysis
    how: dict[str, Any] = {"level": analysis.level, "resamples": analysis.resamples}
    scores = [label_scores(keyed.truth, one, seed=analysis.seed, **how) for one in keyed.given]
    errors = [label_errors(keyed.truth, one) for one in keyed.given]
    # On the whole key: who answered some items only is set beside what all of them are worth.
    floor = baselines(keyed.truth)
    f1s = {one.rater: one.f1.value for one in scores}
    sections = (
        *label_sections(scores, title, human, printed or {}, floor, keyed.people),
        error_section(errors, f"{title}: error cases"),
        *_reasons(examination, errors),
        replaced_section(errors, f"{title}: which label replaces which"),
        people_section(keyed, f"{title}: agreement of people"),
    )
    sentence = constant_sentence({**f1s, **(printed or {})}, floor, human)
    return examination.replace(
        sections=(*(part for part in sections if part.has_rows), *examination.sections),
        notes=(*examination.notes, f"{title}: {sentence}"),
    )


def keyed_choices(
    examination: Examination, keyed: Keyed, title: str, types: Mapping[str, str]
) -> Examination:
    """The examination with accuracy overall and by type of question, errors, and people beside.

    Its verdicts and coefficients go: they speak of letters one by one, and an option's letter is
    nothing that anybody can be used for.
    """
    parts = {item: types.get(item, "") for item in keyed.truth.items}
    accuracies = [
        part
        for one in keyed.given
        for part in choice_accuracy(
            keyed.truth,
            one,
            parts if any(parts.values()) else None,
            level=examination.study.analysis.level,
        )
    ]
    errors = [label_errors(keyed.truth, one) for one in keyed.given]
    people = people_section(keyed, f"{title}: agreement of people", by_label=False)
    sections = (
        accuracy_section(accuracies, f"{title}: accuracy", keyed.people),
        *((people,) if people.has_rows else ()),
        error_section(errors, f"{title}: wrong answers"),
        *_reasons(examination, errors),
    )
    # What any exam has of accuracy is here by type of question.
    others = [section for section in examination.sections if section.title != ACCURACY]
    return examination.without_judges().replace(sections=(*sections, *others))


def _reasons(examination: Examination, errors: Sequence[pl.DataFrame]) -> tuple[Section, ...]:
    """Reasons against errors, where they do not stand in the examination already."""
    excerpt, panel = examination.study.data.excerpt, examination.study.panel
    people = [rater.name for rater in panel if rater.kind == "human"]
    found = reasons_section(pl.concat(errors), examination.texts.reasons, people, excerpt)
    there = {section.title for section in examination.sections}
    return (found,) if found.has_rows and found.title not in there else ()


def replaced_section(errors: Sequence[pl.DataFrame], title: str) -> Section:
    """Which label is given in place of which: of the items that miss one, what they name wrongly.

    An item that misses several labels, or names several wrongly, counts for each pair.
    """
    pairs: Counter[tuple[str, str, str]] = Counter()
    for frame in errors:
        for rater, missed, wrong in frame.select("rater", "missed", "wrong").iter_rows():
            for lost in missed or ():
                pairs.update((rater, lost, label) for label in wrong or ("(nothing in its place)",))
    rows = tuple((*pair, number) for pair, number in pairs.most_common())
    columns = (text("Rater"), text("Expected"), text("Given in its place"), count("Items"))
    return Section(
        title,
        "From the items that are not exactly right, over all runs; the commonest first.",
        (Table(columns, rows),),
    )


def people_section(keyed: Keyed, title: str, *, by_label: bool = True) -> Section:
    """How far people agree with one another, by label and on whole answers; of two or more."""
    own = [one.values[0] for one in keyed.given if one.rater in keyed.people]
    if len(own) < 2:
        return Section(title)
    values = np.stack(own, axis=1)  # items, people, labels
    codes = {label: values[:, :, at] for at, label in enumerate(keyed.truth.labels)}
    # A number of its own for each set of labels; NaN stays NaN.
    whole = values @ 2.0 ** np.arange(values.shape[2])  # each answer as a number of its own
    rows = [
        (label, share.value, share.interval(), alpha.value, alpha.interval(), share.n)
        for label, matrix in {**(codes if by_label else {}), "the whole answer": whole}.items()
        for share, alpha in [
            (
                joint_agreement(matrix, ci="percentile"),
                krippendorff_alpha(matrix, "nominal", ci="percentile"),
            )
        ]
    ]
    columns = (
        text("Label"), number("Agreement"), interval("Agreement, interval"),
        number("Krippendorff's alpha"), interval("Alpha, interval"), count("Items"),
    )  # fmt: skip
    sentence = f"{len(own)} people: {', '.join(keyed.people)}. They are the ceiling for any model."
    return Section(title, sentence, (Table(columns, tuple(rows)),))


def excess_findings(
    session: Path, raters: Sequence[str], at_most: int, title: str
) -> tuple[Finding, ...]:
    """Replies that name more labels than the prompt allows, a finding a rater."""
    counts: Counter[str] = Counter()
    for reply in iterate_parsed(session, "annotate"):
        if reply.rater in raters and any(f.kind == "too_many" for f in reply.parsed.flags):
            counts[reply.rater] += 1
    return tuple(
        Finding(
            "too_many_labels",
            "note",
            rater,
            number,
            (),
            f"{number} replies name more than the {at_most} labels that {title} allows.",
            "All of them count: nothing says which would be dropped.",
        )
        for rater, number in counts.items()
    )


def with_session_texts(
    examination: Examination, session: Path, items: Sequence[Item], fields: Mapping[str, str]
) -> Examination:
    """The examination with items' texts and final replies, shown only where texts are asked for.

    `fields` says which of an item's further columns stand before its text, and under which name;
    ``text`` names the text itself.
    """
    rows = [(item.id, _whole(item, fields)) for item in items]
    replies = (
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
    shown = pl.DataFrame(rows, schema=schema, orient="row")
    return examination.replace(texts=replace(examination.texts, items=shown, replies=replies))


def _whole(item: Item, fields: Mapping[str, str]) -> str:
    values = {name: str(item.extra.get(name) or "") for name in fields if name != "text"}
    if not any(values.values()):
        return item.text
    return "\n".join(
        f"{head}: {item.text if name == 'text' else values[name]}" for name, head in fields.items()
    )
