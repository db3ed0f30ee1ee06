"""Objects in cells, a label with its probabilities: ``{"choice": ..., "probabilities": {...}}``."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import TableError
from voirdire.tables._names import find, plain_word
from voirdire.tables.judged.claims import (
    DISTRIBUTIONS,
    SINGLE,
    labels_beside,
    with_claims,
    without_columns,
)
from voirdire.tables.judged.label_columns import HEADS
from voirdire.tables.judged.labels import facts_of, parts_found, read_labels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.study import TableKeys
    from voirdire.tables._files import RawTable
    from voirdire.tables.judged.frames import ReadJudgements

#: Who gives the answers of records that do not say it; *judge* alone would head a column of names.
JUDGE = "the judge"
#: Keys under which an object names the label that was given, without case and signs.
_GIVEN = HEADS | {"answer", "prediction", "predicted", "value"}


@dataclass(frozen=True, slots=True)
class _Answer:
    """The label of a cell, or None, and what its probabilities are; "" is the label given."""

    label: str | None
    claims: Mapping[str, float]


def read_objects(raw: RawTable, read: TableKeys, reference: Sequence[str]) -> ReadJudgements | None:
    """Labels of people beside objects with a label and probabilities; None for any other table.

    A row a judgement (with a column of raters), or a column a rater. Cells of words among the
    objects, as people give them, are labels.

    Raises
    ------
    TableError
        An object among such objects that is none, or a probability that is none.
    """
    if read.kind not in (None, "probability", "label"):
        return None
    columns = [c for c in raw.frame.columns if c not in read.ignore]
    roles = parts_found(columns, read, raw.name)
    rater = read.rater if read.rater in columns else None
    rater = find("rater", columns, rater, raw.name)
    free = [c for c in columns if c not in {*roles.values(), rater}]
    if rater is None and (whole := _whole_record(raw, free)) is not None:
        return read_objects(whole, read, reference)
    # Under a header that speaks of probabilities alone they are somebody else's: `read_claims`.
    own = [c for c in free if plain_word(c) not in DISTRIBUTIONS | SINGLE]
    answers = {c: found for c in own if (found := _answers(raw, c)) is not None}
    if not answers:
        return None
    told = raw.frame.with_columns(
        pl.Series(
            name,
            [_word(cell, answer) for cell, answer in zip(raw.frame[name], each, strict=True)],
            pl.String,
        )
        for name, each in answers.items()
    )
    plain = replace(raw, frame=told)
    # Words of yes and no are labels where a probability of them stands next to.
    as_labels = without_columns(read).model_copy(update={"kind": "label"})
    labels = read_labels(plain, as_labels, reference)
    if labels is None and rater is None:
        unsaid = [c for c in answers if told[c].null_count() == told.height]
        words = [c for c in free if c not in unsaid]
        reason = f"{', '.join(map(repr, answers))} hold probabilities of labels"
        labels = labels_beside(plain, as_labels, words, roles, reference, reason)
    if labels is None:
        return None
    facts = facts_of(raw, roles).select("item", "system", "run").rows()
    raters = raw.frame[rater].cast(pl.String).to_list() if rater else [None] * raw.frame.height
    claims = [
        (item, system, who or name, run, label, value)
        for name, each in answers.items()
        for (item, system, run), who, answer in zip(facts, raters, each, strict=True)
        if answer is not None
        for label, value in answer.claims.items()
    ]
    return with_claims(labels, claims)


def _whole_record(raw: RawTable, free: Sequence[str]) -> RawTable | None:
    """Records that are themselves an answer, as one object of a judge; None where they are none.

    Beside ``choice`` and ``probabilities`` stands what people say.
    """
    spread = [c for c in free if plain_word(c) in DISTRIBUTIONS and _is_spread(raw.frame[c])]
    given = [c for c in free if plain_word(c) in _GIVEN and c not in spread]
    if len(spread) != 1 or len(given) > 1 or JUDGE in raw.frame.columns:
        return None
    cells = [
        None
        if claims is None
        else json.dumps({"choice": label, "probabilities": json.loads(claims)})
        for label, claims in raw.frame.select(
            pl.col(given[0]) if given else pl.lit(None).alias("label"), spread[0]
        ).iter_rows()
    ]
    frame = raw.frame.drop(*given, *spread).with_columns(pl.Series(JUDGE, cells, pl.String))
    return replace(raw, frame=frame)


def _is_spread(cells: pl.Series) -> bool:
    """Whether each cell is an object of probabilities."""
    texts = cells.drop_nulls() if cells.dtype == pl.String else pl.Series([], dtype=pl.String)
    return len(texts) > 0 and all(_answer(text) is not None for text in texts)


def _word(cell: Any, answer: _Answer | None) -> str | None:
    if answer is not None:
        return answer.label
    return None if cell is None else str(cell)


def _answers(raw: RawTable, column: str) -> list[_Answer | None] | None:
    """What each cell says; None for a column without such objects, or that holds other ones."""
    cells = raw.frame[column]
    if cells.dtype != pl.String or not cells.str.starts_with("{").any():
        return None
    made: list[_Answer | None] = []
    known = False
    for row, cell in enumerate(cells.to_list()):
        if cell is None or not cell.startswith("{"):
            made.append(None)
            continue
        answer = _answer(cell)
        if answer is None:
            if not known:
                return None
            raise TableError(
                f"{raw.name}, {raw.unit} {raw.numbers()[row]}: {column!r} is to hold a label and "
                f"its probabilities (0 to 1), as rows before do, and holds {cell[:80]!r}"
            )
        known = True
        made.append(answer)
    return made


def is_answer(given: Any) -> bool:
    """Whether an object holds a label with its probabilities.

    >>> is_answer({"choice": "calm", "probabilities": {"calm": 0.9, "tense": 0.1}})
    True
    """
    return _answer_in(given) is not None


def _answer(text: str) -> _Answer | None:
    try:
        return _answer_in(json.loads(text))
    except ValueError:
        return None


def _answer_in(given: Any) -> _Answer | None:
    if not isinstance(given, dict):
        return None
    plain = {plain_word(str(key)): value for key, value in given.items()}
    label = next(
        (
            str(value)
            for key, value in plain.items()
            if key in _GIVEN and isinstance(value, str | int | bool)
        ),
        None,
    )
    spread = next((value for key, value in plain.items() if key in DISTRIBUTIONS), None)
    single = next((value for key, value in plain.items() if key in SINGLE), None)
    if spread is None and single is None and label is None:
        # The object itself is the distribution: it claims so by summing to 1.
        sums = all(map(_is_share, given.values())) and abs(sum(given.values()) - 1) <= 0.01
        spread = given if len(given) > 1 and sums else None
    if isinstance(spread, dict) and spread and all(map(_is_share, spread.values())):
        return _Answer(label, {str(key): float(value) for key, value in spread.items()})
    if spread is None and label is not None and single is not None and _is_share(single):
        return _Answer(label, {"": float(single)})
    return None


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
