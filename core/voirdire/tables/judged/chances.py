"""Probabilities in files: beside labels of people, of the label that a judge gave, or of each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, TableError, listed
from voirdire.kinds import Cells
from voirdire.tables._names import find, plain_word
from voirdire.tables._numbers import is_numeric, to_scores
from voirdire.tables._tables import STATUS
from voirdire.tables.judged.frames import LABELS, LabelQuestion, ReadJudgements
from voirdire.tables.judged.labels import PARTS, _facts
from voirdire.tables.judged.people import people_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.study import TableKeys
    from voirdire.tables._files import RawTable

#: Words that claim that a number is a probability. *Confidence* and *certainty* do not.
_CLAIMS = re.compile(
    r"(?:^|[_\s.-])(?:prob|probs|probability|probabilities|proba|p_yes|pyes|p_true|p_pass|chance)"
    r"(?:$|[_\s.-])|^p[_(.]",
    re.IGNORECASE,
)
#: Distinct values from which a number between 0 and 1 is no grade.
_MANY = 10
YES, NO = "yes", "no"


def read_probabilities(
    raw: RawTable, read: TableKeys, reference: Sequence[str]
) -> ReadJudgements | None:
    """The table as probabilities of *yes* beside people who say yes or no; None for any other."""
    if read.kind not in (None, "probability"):
        return None
    columns = [c for c in raw.frame.columns if c not in read.ignore]
    roles = {part: find(part, columns, getattr(read, part), raw.name) for part in PARTS}
    free = [c for c in columns if c not in roles.values()]
    declared = [read.probability] if read.probability else []
    for name in declared:
        if name not in raw.frame.columns:
            raise TableError(
                f"{raw.name}: there is no column {name!r} (columns: {listed(columns)})"
            )
    claimed = declared or [c for c in free if _CLAIMS.search(c) and _is_share(raw.frame[c])]
    if read.kind == "probability" and not claimed:
        claimed = [c for c in free if _is_share(raw.frame[c])]
    if not claimed:
        return None
    said = {c: bits for c in free if c not in claimed and (bits := _bits(raw.frame[c])) is not None}
    if not said:
        return None
    for name in claimed:
        _check_range(raw, name)
    about = read.about or "yes"
    base = _facts(raw, roles)
    blocks = []
    for name, bits in said.items():
        words = pl.when(bits == 1).then(pl.lit(YES)).when(bits == 0).then(pl.lit(NO))
        blocks.append(
            base.with_columns(
                pl.lit(name).alias("rater"), pl.lit(None, pl.Float64).alias("probability"),
                words.alias("word"),
            )
        )  # fmt: skip
    for name in claimed:
        numbers = raw.frame[name].cast(pl.Float64)
        top = numbers.max()
        share = numbers / 100 if isinstance(top, float) and top > 1 else numbers
        blocks.append(
            base.with_columns(
                pl.lit(_judge(name)).alias("rater"), share.alias("probability"),
                pl.lit(None, pl.String).alias("word"),
            )
        )  # fmt: skip
    table = pl.concat(blocks).with_columns(
        pl.lit(about).alias("attribute"),
        pl.when(pl.col("word").is_not_null()).then(pl.concat_list("word")).alias("labels"),
        pl.when(pl.col("word").is_not_null() | pl.col("probability").is_not_null())
        .then(pl.lit("ok")).otherwise(pl.lit("blank")).cast(STATUS).alias("status"),
    )  # fmt: skip
    table = table.filter(pl.col("status") == "ok")
    judges = {_judge(name) for name in claimed}
    people = _people([*said], judges, reference, raw.name)
    rows = table.filter(pl.col("rater").is_in([*people, *judges]))
    question = LabelQuestion(about, (YES, NO), probability=True)
    return ReadJudgements(
        people,
        rows.select(pl.col(name).cast(kind) for name, kind in LABELS.items()),
        (question,),
        reason=f"{listed(claimed)} hold probabilities, and {listed(list(people))} say yes or no",
    )


def _people(
    said: Sequence[str], judges: set[str], reference: Sequence[str], where: str
) -> tuple[str, ...]:
    if reference:
        return people_of([*said, *sorted(judges)], reference, where)
    named = people_of_or_none(said)
    return named or tuple(said)


def people_of_or_none(said: Sequence[str]) -> tuple[str, ...]:
    """Those of several columns whose names speak of people; none where no name does."""
    try:
        return people_of([*said, "gpt"], (), "")
    except QuestionError:
        return ()


def _judge(column: str) -> str:
    """The judge behind a column of probabilities: ``gpt_probability`` is gpt's."""
    rest = _CLAIMS.sub(" ", column).strip(" _.-")
    return rest or column


def _is_share(column: pl.Series) -> bool:
    """Many values between 0 and 1, or 0 and 100."""
    if not is_numeric(column):
        return False
    values = column.drop_nulls().cast(pl.Float64)
    if not len(values) or values.n_unique() < min(_MANY, max(len(values) // 2, 2)):
        return False
    low, high = float(values.min()), float(values.max())  # type: ignore[arg-type]
    return low >= 0 and high <= 100 and (high <= 1 or values.n_unique() >= _MANY)


def _check_range(raw: RawTable, name: str) -> None:
    values = raw.frame[name].cast(pl.Float64, strict=False)
    off = values.filter((values < 0) | (values > 100))
    if len(off):
        raise TableError(
            f"{raw.name}: {name!r} is to hold probabilities (0 to 1, or 0 to 100), and holds "
            f"{off[0]:g}"
        )


def _bits(column: pl.Series) -> pl.Series | None:
    """A column of yes and no as 1 and 0; None where it is not."""
    cells = Cells.of(column.name, [column])
    if not 1 < len(cells.texts) <= 4:
        return None
    read = to_scores(column.cast(pl.String))
    values = set(read.values.drop_nulls().unique())
    if read.bad.any() or not values <= {0.0, 1.0} or len(values) < 2:
        return None
    return read.values


def claims(column: str) -> bool:
    """Whether a header says that its numbers are probabilities.

    >>> claims("gpt_probability"), claims("p_yes"), claims("confidence"), claims("problem")
    (True, True, False, False)
    """
    return bool(_CLAIMS.search(column)) and plain_word(column) != "labelprobability"
