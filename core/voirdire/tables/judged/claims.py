"""Probabilities beside labels: of each label, or of the one that a judge gives."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.errors import TableError, listed
from voirdire.tables._names import find, plain_word
from voirdire.tables._numbers import fold
from voirdire.tables._tables import STATUS
from voirdire.tables.judged.comparisons import all_numbers
from voirdire.tables.judged.frames import LABELS, LabelQuestion
from voirdire.tables.judged.label_columns import label_columns
from voirdire.tables.judged.labels import facts_of, judges_there, parts_found, read_labels
from voirdire.tables.judged.people import people_of_or_none
from voirdire.tables.judged.words import form_of, judgements_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.study import TableKeys
    from voirdire.tables._files import RawTable
    from voirdire.tables.judged.frames import ReadJudgements

#: Answers of people to "is it this label?".
YES, NO = "yes", "no"
#: Columns of a distribution over labels, without case and signs.
DISTRIBUTIONS = frozenset(("probabilities", "probs", "labelprobabilities", "distribution"))
#: Columns of the probability of the label that a row gives.
SINGLE = frozenset(("probability", "prob", "labelprob", "choiceprobability", "pchoice"))
#: Words that claim a probability, or the logarithm of one.
CLAIM = re.compile(
    r"(?:^|(?<=[_\s.-]))(?:prob|probs|probability|probabilities|proba|p|logprob|logprobs|logp)"
    r"(?=$|[_\s.(-])",
    re.IGNORECASE,
)
_LOG = re.compile(r"log[_ -]?p", re.IGNORECASE)
#: How far probabilities of all labels may be from 1 together.
_ROUNDED = 0.03
#: The label of two whose probability a number is that stands alone.
_SAYS_YES = ("yes", "true", "pass", "positive", "1", "correct", "toxic", "harmful", "unsafe")
_KEY = ["item", "system", "rater", "run"]


def read_claims(raw: RawTable, read: TableKeys, reference: Sequence[str]) -> ReadJudgements | None:
    """Labels of people beside probabilities of labels; None for any other table."""
    if read.kind not in (None, "probability", "label"):
        return None
    columns = [c for c in raw.frame.columns if c not in read.ignore]
    roles = parts_found(columns, read, raw.name)
    rater = read.rater if read.rater in columns else None
    rater = find("rater", columns, rater, raw.name)
    # `judge` over a judge's own labels is a rater's column, and no column of raters.
    rater = None if rater in reference or judges_there(raw, rater, columns) else rater
    free = [c for c in columns if c not in {*roles.values(), rater}]
    if rater is None:
        _check_whose(raw, free)
        return _wide(raw, read, free, roles, reference)
    spread = next((c for c in free if plain_word(c) in DISTRIBUTIONS), None)
    single = read.probability or next((c for c in free if plain_word(c) in SINGLE), None)
    column = spread or single
    if column is None:
        return None
    # Words of yes and no are labels where a probability of them stands next to.
    as_labels = without_columns(read, column).model_copy(update={"kind": "label"})
    labels = read_labels(raw, as_labels, reference)
    if labels is None:
        return None
    claimed = _distributions(raw, column) if spread else _of_said(raw, column)
    facts = facts_of(raw, roles).select("item", "system", "run")
    raters = raw.frame[rater].cast(pl.String).to_list()
    claims = [
        (item, system, who, run, label, value)
        for (item, system, run), who, claim in zip(facts.iter_rows(), raters, claimed, strict=True)
        if claim is not None
        for label, value in claim.items()
    ]
    if not spread:
        labels, claims = _of_yes_alone(raw, labels, column, claims)
    return with_claims(labels, claims)


def _of_yes_alone(
    raw: RawTable,
    labels: ReadJudgements,
    column: str,
    claims: list[tuple[Any, Any, str, int, str, float]],
) -> tuple[ReadJudgements, list[tuple[Any, Any, str, int, str, float]]]:
    """Claims of who gives a probability and no label are of the label that says yes; nothing else
    was asked of them.

    Raises
    ------
    TableError
        There is none among the labels.
    """
    answered = labels.labels.filter(pl.col("labels").list.len() > 0)["rater"]
    silent = {claim[2] for claim in claims} - set(answered)
    if not silent:
        return labels, claims
    given = [label for one in labels.questions for label in one.labels]
    yes = [label for label in given if fold(label) in _SAYS_YES]
    if len(given) != 2 or len(yes) != 1:
        raise TableError(
            f"{raw.name}: {listed(sorted(silent))} gives numbers in {column!r} and no label; of "
            f"which label ({listed(given)}) are they the probability? Write the label beside, or "
            "a column of probabilities for each label"
        )
    kept = labels.labels.filter(~pl.col("rater").is_in(sorted(silent)))
    return replace(labels, labels=kept), [
        (item, system, who, run, yes[0] if who in silent else label, value)
        for item, system, who, run, label, value in claims
    ]


def _check_whose(raw: RawTable, free: Sequence[str]) -> None:
    """Raise where a column holds distributions over labels, and nothing says who gave them."""
    for column in free:
        cells = raw.frame[column].drop_nulls()
        first = cells[0] if len(cells) else None
        if plain_word(column) in DISTRIBUTIONS and isinstance(first, str | dict):
            _distributions(raw, column)
            raise TableError(
                f"{raw.name}: {column!r} holds probabilities of labels, and no column says whose; "
                "write a row a judgement, people's too, with a column rater, or name it by --rater"
            )


def without_columns(read: TableKeys, *columns: str) -> TableKeys:
    """What is known of a table, these columns left out, its kind still to be seen."""
    kind = None if read.kind == "probability" else read.kind
    return read.model_copy(update={"ignore": (*read.ignore, *columns), "kind": kind})


def _distributions(raw: RawTable, column: str) -> list[dict[str, float] | None]:
    """Label -> probability of each row; None where the cell is empty."""
    made: list[dict[str, float] | None] = []
    for row, cell in enumerate(raw.frame[column].to_list()):
        given: Any = cell
        if isinstance(cell, str):
            try:
                given = json.loads(cell) if cell.strip() else None
            except ValueError:
                given = cell
        if given is None:
            made.append(None)
            continue
        fits = isinstance(given, dict) and all(isinstance(v, int | float) for v in given.values())
        if not fits or not all(0 <= v <= 1 for v in given.values()):
            raise TableError(
                f"{raw.name}, {raw.unit} {raw.numbers()[row]}: {column!r} is to hold a probability "
                f"(0 to 1) for each label, and holds {str(cell)[:80]!r}"
            )
        made.append({str(label): float(value) for label, value in given.items()})
    return made


def _of_said(raw: RawTable, column: str) -> list[dict[str, float] | None]:
    """The probability of the label that a row gives, under the key ""."""
    if not all_numbers(raw.frame[column]):
        return [None] * raw.frame.height
    values = shares_of(raw, column)
    return [None if value is None else {"": value} for value in values.to_list()]


def shares_of(raw: RawTable, column: str) -> pl.Series:
    """A column of probabilities from 0 to 1: also per cent, or logarithms.

    Raises
    ------
    TableError
        A value is none.
    """
    values = raw.frame[column].cast(pl.Float64, strict=False)
    low, high = values.min(), values.max()
    if _LOG.search(column) and isinstance(high, float) and high <= 0:
        return values.exp()
    off = values.filter((values < 0) | (values > 100))
    if len(off):
        raise TableError(
            f"{raw.name}: {column!r} is to hold probabilities (0 to 1, or 0 to 100), and holds "
            f"{off[0]:g}"
        )
    del low
    return values / 100 if isinstance(high, float) and high > 1 else values


# --- a column a label


def _wide(
    raw: RawTable,
    read: TableKeys,
    free: Sequence[str],
    roles: Mapping[str, str | None],
    reference: Sequence[str],
) -> ReadJudgements | None:
    """Columns of words by people, and columns of numbers that are probabilities of those words."""
    numbers = [c for c in free if all_numbers(raw.frame[c])]
    if len(numbers) < 2:
        return None
    # Words of yes and no are labels where a probability of each stands next to.
    words = without_columns(read, *numbers).model_copy(update={"kind": "label"})
    worded = label_columns(raw, words, [c for c in free if c not in numbers])
    forms = {form_of(word): word for column in worded for word in column.words}
    by_judge: dict[str, dict[str, str]] = {}
    for column in numbers:
        found = _header(column, forms)
        if found is not None:
            by_judge.setdefault(found[0], {})[found[1]] = column
    by_judge = {
        judge: each for judge, each in by_judge.items() if len(each) > 1 and _sum_to_one(raw, each)
    }
    if not by_judge:
        return None
    reason = (
        f"{listed([c for each in by_judge.values() for c in each.values()])} hold probabilities "
        f"of labels, and sum to 1"
    )
    labels = labels_beside(raw, words, [c.name for c in worded], roles, reference, reason)
    if labels is None:
        return None
    facts = facts_of(raw, roles)
    claims = [
        (item, system, judge, run, label, value)
        for judge, each in by_judge.items()
        for label, column in each.items()
        for (item, system, run), value in zip(
            facts.select("item", "system", "run").iter_rows(),
            shares_of(raw, column).to_list(),
            strict=True,
        )
        if value is not None
    ]
    return with_claims(labels, claims)


def labels_beside(
    raw: RawTable,
    read: TableKeys,
    names: Sequence[str],
    roles: Mapping[str, str | None],
    reference: Sequence[str],
    reason: str,
) -> ReadJudgements | None:
    """Columns of words, one at least, as labels of their raters; None where none holds any.

    By default they are people's: what is held against them stands in other columns.
    """
    worded = label_columns(raw, read, names)
    if not worded:
        return None
    facts, about = facts_of(raw, roles), read.about or "label"
    said = [column.name for column in worded]
    cells = pl.concat(
        facts.with_columns(
            pl.lit(name).alias("rater"),
            pl.lit(about).alias("attribute"),
            raw.frame[name].cast(pl.String).alias("cell"),
        )
        for name in said
    )
    people = reference or people_of_or_none(said) or said
    sets = {about: any(column.sets for column in worded)}
    return judgements_of(cells, sets, raw.name, read, people, None, reason)


def _header(column: str, forms: Mapping[str, str]) -> tuple[str, str] | None:
    """The judge and the label of a header such as `gpt_p_negative`; None where none is named."""
    parts = [part for part in re.split(r"[_\s.()-]+", CLAIM.sub(" ", column)) if part]
    for size in range(len(parts), 0, -1):
        for rest, end in ((parts[:-size], parts[-size:]), (parts[size:], parts[:size])):
            label = forms.get(form_of(" ".join(end)))
            if label is not None:
                return "_".join(rest) or "judge", label
    return None


def _sum_to_one(raw: RawTable, columns: Mapping[str, str]) -> bool:
    values = np.stack([shares_of(raw, c).to_numpy() for c in columns.values()])
    total = values.sum(axis=0)
    total = total[~np.isnan(total)]
    return len(total) > 0 and float((np.abs(total - 1) <= _ROUNDED).mean()) >= 0.95


# --- questions


def with_claims(
    labels: ReadJudgements,
    claims: Sequence[tuple[Any, Any, str, int, str, float]],
) -> ReadJudgements:
    """Labels with a question of probability for each label that judges give one of.

    Parameters
    ----------
    claims : sequence
        ``item, system, rater, run, label, probability``; an empty label is the one that was given.
    """
    if not claims or len(labels.questions) != 1:
        return labels
    (question,) = labels.questions
    forms = {form_of(label): label for label in question.labels}
    frame = pl.DataFrame(
        claims,
        orient="row",
        schema={
            **{name: LABELS[name] for name in _KEY},
            "label": pl.String,
            "probability": pl.Float64,
        },
    )
    given = labels.labels.filter(pl.col("labels").list.len() == 1).with_columns(
        pl.col("labels").list.first().alias("given")
    )
    of_said = bool((frame["label"] == "").all())
    said = (
        frame.filter(pl.col("label") == "")
        .drop("label")
        .join(given.select(*_KEY, "given").rename({"given": "label"}), on=_KEY, nulls_equal=True)
    )
    known = pl.col("label").map_elements(lambda t: forms.get(form_of(t)), pl.String)
    named = frame.filter(pl.col("label") != "").with_columns(known)
    frame = pl.concat([said.select(frame.columns), named.filter(pl.col("label").is_not_null())])
    judges = [
        name for name in frame["rater"].unique(maintain_order=True) if name not in labels.people
    ]
    frame = frame.filter(pl.col("rater").is_in(judges))
    people = given.filter(pl.col("rater").is_in(list(labels.people)))
    # Of sets a person's may hold several labels, or none of them.
    whole = labels.labels.filter(
        pl.col("rater").is_in(list(labels.people)), pl.col("labels").is_not_null()
    )
    blocks, questions = [], []
    if len(question.labels) == 2 and not question.sets:
        yes = _yes_of(question.labels)
        sure = (
            pl.when(pl.col("label") == yes).then("probability").otherwise(1 - pl.col("probability"))
        )
        one = frame.with_columns(sure.alias("probability")).unique(_KEY, maintain_order=True)
        blocks.append(_block(people, pl.col("given") == yes, one, yes))
        questions.append(LabelQuestion(yes, (YES, NO), probability=True))
    elif of_said:
        for judge in judges:
            # Whether people say what it says: an answer that is another one for each judge.
            about = f"{question.attribute}: what {judge} says"
            own = frame.filter(pl.col("rater") == judge)
            beside = people.join(
                own.select("item", "system", "label").unique(["item", "system"]),
                on=["item", "system"],
                nulls_equal=True,
            )
            blocks.append(_block(beside, pl.col("given") == pl.col("label"), own, about))
            questions.append(LabelQuestion(about, (YES, NO), probability=True))
    else:
        for label in question.labels:
            own = frame.filter(pl.col("label") == label)
            if own.height:
                about = f"{question.attribute}: {label}"
                says = pl.col("labels").list.contains(label)
                blocks.append(_block(whole, says, own, about))
                questions.append(LabelQuestion(about, (YES, NO), probability=True))
    judged = set(labels.labels.filter(pl.col("labels").is_not_null())["rater"])
    judged -= set(labels.people)
    kept = labels if judged else replace(labels, labels=LABELS.to_frame(), questions=())
    return replace(
        kept,
        labels=pl.concat([kept.labels, *blocks]),
        questions=(*kept.questions, *questions),
    )


def _yes_of(labels: Sequence[str]) -> str:
    """The label of two whose probability is held: what says yes, else the first."""
    return next((label for label in labels if fold(label) in _SAYS_YES), labels[0])


def _block(people: pl.DataFrame, says: pl.Expr, claimed: pl.DataFrame, about: str) -> pl.DataFrame:
    word = pl.when(says).then(pl.lit(YES)).otherwise(pl.lit(NO))
    answers = people.with_columns(pl.concat_list(word).alias("labels"))
    blank = {name: pl.lit(None, kind).alias(name) for name, kind in LABELS.items()}
    both = pl.concat(
        [
            answers.select(LABELS.names()),
            claimed.with_columns(e for n, e in blank.items() if n not in claimed.columns).select(
                LABELS.names()
            ),
        ],
        how="vertical_relaxed",
    )
    return both.with_columns(
        pl.lit(about).alias("attribute"), pl.lit("ok").cast(STATUS).alias("status")
    ).select(pl.col(name).cast(kind) for name, kind in LABELS.items())
