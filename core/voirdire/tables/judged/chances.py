"""Probabilities in files: beside labels of people, of the label that a judge gave, or of each."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, TableError, listed
from voirdire.kinds import Cells
from voirdire.late import pattern
from voirdire.tables._names import find, kind_of, measures, plain_word
from voirdire.tables._numbers import to_scores
from voirdire.tables._tables import STATUS
from voirdire.tables.judged.claims import (
    NO,
    YES,
    labels_beside,
    read_claims,
    shares_of,
    with_claims,
    without_columns,
)
from voirdire.tables.judged.comparisons import all_numbers
from voirdire.tables.judged.frames import LABELS, NO_COLUMN, LabelQuestion, ReadJudgements
from voirdire.tables.judged.label_columns import HEADS, label_columns
from voirdire.tables.judged.labels import facts_of, judges_there, parts_found, read_labels
from voirdire.tables.judged.people import people_of, people_of_or_none

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from voirdire.study import TableKeys
    from voirdire.tables._files import RawTable

#: Words that claim that a number is a probability. *Confidence* and *certainty* do not.
_CLAIMS = pattern(
    r"(?:^|[_\s.-])"
    r"(?:prob|probs|probability|probabilities|proba|p_yes|pyes|p_true|p_pass|chance|logprobs?|logp)"
    r"(?:$|[_\s.-])|^p[_(.]",
    re.IGNORECASE,
)
#: Distinct values from which a number between 0 and 1 is no grade.
_MANY = 10
#: Standard errors from which a correlation says which way a probability runs.
_SURE = 3.0
#: Headers that name the label.
_OF_YES = pattern(r"p_?yes|p_true|p_pass|prob(?:ability)?_(?:yes|true|pass|1)", re.IGNORECASE)
#: Read as a probability only where somebody says so.
_SURENESS = pattern(r"(?:^|[_\s.-])(?:confidence|certainty|conf)(?:$|[_\s.-])", re.IGNORECASE)


def read_probabilities(
    raw: RawTable, read: TableKeys, reference: Sequence[str]
) -> ReadJudgements | None:
    """The table as probabilities of *yes* beside people who say yes or no; None for any other."""
    if read.kind not in (None, "probability"):
        return None
    columns = [c for c in raw.frame.columns if c not in read.ignore]
    roles = parts_found(columns, read, raw.name)
    free = [c for c in columns if c not in roles.values()]
    rater = find("rater", columns, read.rater if read.rater in columns else None, raw.name)
    # `reviewer` over scores is a rater's column, and no column of raters.
    rater = None if rater in reference or judges_there(raw, rater, columns) else rater
    texts = {roles["response"], roles["context"]} - {None}
    if (
        rater is not None
        and (mixed := _words_beside_shares(raw, read, [*free, *map(str, texts)], rater)) is not None
    ):
        return _of_mixed(raw, read, mixed, rater, reference)
    declared = [read.probability] if read.probability else []
    for name in declared:
        if name not in raw.frame.columns:
            raise TableError(
                f"{raw.name}: there is no column {name!r} (columns: {listed(columns)})"
            )
    claimed = declared or [
        c for c in free if claims(c) and (is_share(raw.frame[c]) or is_hard(raw.frame[c]))
    ]
    if read.kind == "probability" and not claimed:
        claimed = [c for c in free if is_share(raw.frame[c])]
    if not claimed:
        _ask_about_sureness(raw, read, free, rater)
        _ask_about_scores(raw, read, free)
        return None
    said = {c: bits for c in free if c not in claimed and (bits := _bits(raw.frame[c])) is not None}
    if not said:
        # A row a judgement has its probabilities in one column: `read_claims`.
        return None if rater else _of_labels(raw, read, claimed, roles, reference)
    judges = {_judge(name, said) for name in claimed}
    people = _people([c for c in said if c not in judges], judges, reference, raw.name)
    about = read.about or "yes"
    base = facts_of(raw, roles)
    blocks = []
    for name, bits in said.items():
        words = pl.when(bits == 1).then(pl.lit(YES)).when(bits == 0).then(pl.lit(NO))
        blocks.append(
            base.with_columns(
                pl.lit(name).alias("rater"),
                pl.lit(None, pl.Float64).alias("probability"),
                words.alias("word"),
            )
        )
    truth = [bits for c, bits in said.items() if c in people]
    for name in claimed:
        share = _of_yes(raw, read, name, said, truth)
        blocks.append(
            base.with_columns(
                pl.lit(_judge(name, said)).alias("rater"),
                share.alias("probability"),
                pl.lit(None, pl.String).alias("word"),
            )
        )
    table = pl.concat(blocks).with_columns(
        pl.lit(about).alias("attribute"),
        pl.when(pl.col("word").is_not_null()).then(pl.concat_list("word")).alias("labels"),
        pl.when(pl.col("word").is_not_null() | pl.col("probability").is_not_null())
        .then(pl.lit("ok"))
        .otherwise(pl.lit("blank"))
        .cast(STATUS)
        .alias("status"),
    )
    table = table.filter(pl.col("status") == "ok")
    rows = table.filter(pl.col("rater").is_in([*people, *judges]))
    question = LabelQuestion(about, (YES, NO), probability=True)
    return ReadJudgements(
        people,
        rows.select(pl.col(name).cast(kind) for name, kind in LABELS.items()),
        (question,),
        reason=f"{listed(claimed)} hold probabilities, and {listed(list(people))} say yes or no",
    )


def _words_beside_shares(
    raw: RawTable, read: TableKeys, free: Sequence[str], rater: str
) -> str | None:
    """The column in which some raters say yes or no and others numbers from 0 to 1; else None.

    A frame's numbers are scores, unless they are said to be probabilities.
    """
    for column in free:
        dtype = raw.frame[column].dtype
        said = read.kind == "probability" and dtype.is_numeric()
        if column == rater or not (dtype == pl.String or said):
            continue
        if set(_kinds_of_raters(raw, column, rater).values()) - {None} == {"words", "shares"}:
            return column
    return None


def _kinds_of_raters(raw: RawTable, column: str, rater: str) -> dict[str, str | None]:
    """Rater -> what its cells are."""
    cells = raw.frame.select(pl.col(rater).cast(pl.String), pl.col(column).alias("cell"))
    return {str(name): _kind_of_cells(part["cell"]) for (name,), part in cells.group_by(rater)}


def _kind_of_cells(cells: pl.Series) -> str | None:
    """What one rater's cells are: words, shares, or None where they are neither."""
    if is_hard(cells) or is_share(cells):
        return "shares" if float(cells.cast(pl.Float64, strict=False).max() or 0) <= 1 else None  # type: ignore[arg-type]
    return "words" if _bits(cells) is not None else None


def _of_mixed(
    raw: RawTable, read: TableKeys, column: str, rater: str, reference: Sequence[str]
) -> ReadJudgements | None:
    """A row a judgement, of which a judge's are probabilities of *yes*.

    Raises
    ------
    QuestionError
        They may be scores.
    """
    if read.kind is None:
        raise _scores_or_probabilities(raw, [column])
    # What a person says by 0 and 1 is no probability: all cells of each decide who says which.
    kinds = _kinds_of_raters(raw, column, rater)
    sure = [name for name, kind in kinds.items() if kind == "shares"]
    share = raw.frame.select(
        pl.when(pl.col(rater).cast(pl.String).is_in(sure)).then(
            pl.col(column).cast(pl.Float64, strict=False)
        )
    ).to_series()
    if raw.frame[column].dtype.is_numeric():
        raw = replace(
            raw,
            frame=raw.frame.with_columns(
                pl.col(column).cast(pl.Int64, strict=False).cast(pl.String)
            ),
        )
    said = raw.frame.filter(share.is_null())[column]
    words = said.drop_nulls().unique(maintain_order=True).to_list()
    bits = to_scores(pl.Series(words))
    yes, no = (
        next((w for w, bit in zip(words, bits.values, strict=True) if bit == at), word)
        for at, word in ((1.0, YES), (0.0, NO))
    )
    spread = [None if p is None else json.dumps({yes: p, no: 1 - p}) for p in share.to_list()]
    words_alone = raw.frame.select(pl.when(share.is_null()).then(column).alias("label"))
    frame = raw.frame.drop(column).with_columns(
        words_alone.to_series(), pl.Series("probabilities", spread, pl.String)
    )
    return read_claims(replace(raw, frame=frame), read, reference)


def _of_labels(
    raw: RawTable,
    read: TableKeys,
    claimed: Sequence[str],
    roles: Mapping[str, str | None],
    reference: Sequence[str],
) -> ReadJudgements | None:
    """Labels, a column a rater, and columns of how probable a judge's own label is."""
    as_labels = without_columns(read, *claimed).model_copy(update={"kind": "label"})
    labels = read_labels(raw, as_labels, reference)
    if labels is None:
        return _of_words(raw, read, as_labels, claimed, roles, reference)
    judges = [name for name in labels.raters if name not in labels.people]
    whose = {name: _whose(name, judges) for name in claimed}
    # What somebody declared is never left out in silence.
    if read.probability and (said := whose[read.probability]) not in judges:
        raise TableError(
            f"{raw.name}: {read.probability!r} is declared as a probability, and none of the "
            f"judges ({listed(judges)}) is {said!r}; call it NAME_probability after its judge"
        )
    facts = facts_of(raw, roles).select("item", "system", "run").rows()
    claims_ = [
        (item, system, judge, run, "", value)
        for name in claimed
        if (judge := whose[name]) in judges
        for (item, system, run), value in zip(facts, shares_of(raw, name).to_list(), strict=True)
        if value is not None
    ]
    return with_claims(labels, claims_)


def _of_words(
    raw: RawTable,
    read: TableKeys,
    words: TableKeys,
    claimed: Sequence[str],
    roles: Mapping[str, str | None],
    reference: Sequence[str],
) -> ReadJudgements | None:
    """People's words for two labels, and columns of how probable judges find one of both.

    Raises
    ------
    QuestionError
        It may be a probability of either.
    """
    free = [c for c in raw.frame.columns if c not in (*roles.values(), *words.ignore)]
    reason = f"{listed(claimed)} hold probabilities of a label"
    labels = labels_beside(raw, words, free, roles, reference, reason)
    if labels is None or len(labels.questions[0].labels) != 2 or labels.questions[0].sets:
        return None
    pair = labels.questions[0].labels
    said = [raw.frame[name].cast(pl.String).str.strip_chars() for name in labels.raters]
    facts = facts_of(raw, roles).select("item", "system", "run").rows()
    claims_ = []
    for name in claimed:
        share = shares_of(raw, name)
        first, second = (
            _rises(one, [(cells == pair[0]).cast(pl.Float64) for cells in said])
            for one in (share, 1 - share)
        )
        of = read.claims or (pair[0] if first else pair[1] if second else None)
        if of not in pair:
            raise QuestionError(
                f"{raw.name}: {name!r} holds probabilities; of which label: {' or '.join(pair)}?",
                "claims",
                pair,
                f'claims = "{pair[0]}"',
                likely=False,
            )
        claims_ += [
            (item, system, _judge(name, ()), run, of, value)
            for (item, system, run), value in zip(facts, share.to_list(), strict=True)
            if value is not None
        ]
    return with_claims(labels, claims_)


def _people(
    said: Sequence[str], judges: set[str], reference: Sequence[str], where: str
) -> tuple[str, ...]:
    if reference:
        return people_of([*said, *sorted(judges)], reference, where)
    named = people_of_or_none(said)
    return named or tuple(said)


def _judge(column: str, said: Iterable[str]) -> str:
    """The judge behind a column of probabilities: ``gpt_probability`` is gpt's, and a bare
    ``confidence`` that of the only judge.
    """
    rest = _CLAIMS.sub(" ", _SURENESS.sub(" ", column)).strip(" _.-")
    judges = [name for name in said if kind_of(name) == "judge"]
    return rest or (judges[0] if len(judges) == 1 else column)


def _whose(column: str, judges: Sequence[str]) -> str:
    """The judge of labels behind a column of probabilities: ``gpt_confidence`` stands next to the
    labels of ``gpt``, or of ``gpt_label``.
    """
    judge = _judge(column, judges)
    own = [name for name in judges if _without_head(name) == _without_head(judge)]
    return own[0] if judge not in judges and len(own) == 1 else judge


def _without_head(name: str) -> str:
    """The words of a header that do not say what stands below it: of *gpt_label* it is gpt's."""
    return " ".join(part for part in re.split(r"[\W_]+", name.casefold()) if part not in HEADS)


def is_hard(column: pl.Series) -> bool:
    """Few values from 0 to 1, one at least between them: of a judge that is always as sure."""
    if not all_numbers(column) or column.null_count() == len(column):
        return False
    values = column.drop_nulls().cast(pl.Float64)
    return bool(values.is_between(0, 1).all() and (values % 1 != 0).any())


def is_share(column: pl.Series) -> bool:
    """Many values between 0 and 1, or 0 and 100."""
    if not all_numbers(column):
        return False
    values = column.drop_nulls().cast(pl.Float64)
    if not len(values) or values.n_unique() < min(_MANY, max(len(values) // 2, 2)):
        return False
    low, high = float(values.min()), float(values.max())  # type: ignore[arg-type]
    if high <= 0 and "log" in column.name.casefold():
        return True
    return low >= 0 and high <= 100 and (high <= 1 or values.n_unique() >= _MANY)


def _ask_about_sureness(
    raw: RawTable, read: TableKeys, free: Sequence[str], rater: str | None
) -> None:
    """Raise where a column says how sure a judge is of its labels, from 0 to 1: by its name alone
    it is no probability.
    """
    if read.kind is not None:
        return
    sure = sureness(raw.frame.select(free))
    others = [c for c in free if c not in sure and c != rater]
    of_two = [c for c in others if _bits(raw.frame[c]) is not None]
    words = [c.name for c in label_columns(raw, read, others) if not c.sets]
    if not sure or len(of_two or words) < (2 if rater is None else 1):
        return
    if len(sure) == 1:
        raise sure_or_probable(raw, sure[0])
    plain = "score" if of_two else "label"
    raise QuestionError(
        f"{_says_how_sure(raw, sure)} (probability), or not ({plain})?",
        "kind",
        ("probability", plain),
        'kind = "probability"',
        likely=False,
    )


def sureness(frame: pl.DataFrame) -> list[str]:
    """The columns that say by name how sure a judge is, from 0 to 1."""
    named = [column for column in frame if _SURENESS.search(column.name)]
    return [
        column.name
        for column in named
        if (is_share(column) or is_hard(column))
        and column.cast(pl.Float64, strict=False).drop_nulls().is_between(0, 1).all()
    ]


def sure_or_probable(raw: RawTable, column: str) -> QuestionError:
    """Whether what says how sure a judge is claims a probability."""
    return QuestionError(
        f"{_says_how_sure(raw, [column])} ({column}), or not ({NO_COLUMN})?",
        "probability",
        (column, NO_COLUMN),
        f'probability = "{column}"',
        likely=False,
    )


def _says_how_sure(raw: RawTable, columns: Sequence[str]) -> str:
    return (
        f"{raw.name}: {listed(columns)} says how sure a judge is, from 0 to 1; is it the "
        "probability that its answer is right, to be held against what people say"
    )


def _ask_about_scores(raw: RawTable, read: TableKeys, free: Sequence[str]) -> None:
    """Raise where a judge gives many numbers from 0 to 1 and people say yes or no."""
    if read.kind is not None or not any(_bits(raw.frame[c]) is not None for c in free):
        return
    judges = [c for c in free if kind_of(c) == "judge" and not measures(c)]
    shares = [c for c in judges if is_share(raw.frame[c])]
    shares = [c for c in shares if float(_numbers(raw, c).max() or 0) <= 1]  # type: ignore[arg-type]
    if shares:
        raise _scores_or_probabilities(raw, shares)


def _scores_or_probabilities(raw: RawTable, columns: Sequence[str]) -> QuestionError:
    return QuestionError(
        f"{raw.name}: {listed(columns)} holds numbers from 0 to 1 beside yes and no; are they "
        f"probabilities, which say in how many of a hundred people agree, or scores?",
        "kind",
        ("probability", "score"),
        'kind = "probability"',
        likely=False,
    )


def _numbers(raw: RawTable, column: str) -> pl.Series:
    return raw.frame[column].cast(pl.Float64, strict=False).drop_nulls()


def _of_yes(
    raw: RawTable,
    read: TableKeys,
    name: str,
    said: Mapping[str, pl.Series],
    truth: Sequence[pl.Series],
) -> pl.Series:
    """The probability of *yes* in a column: what it is a probability of is seen, or asked.

    Raises
    ------
    QuestionError
        It may be of the label that the judge gives, or of *no*.
    """
    share = shares_of(raw, name)
    own = said.get(_judge(name, said))
    claims = read.claims
    if claims is None and own is not None:
        claims = _said_or_yes(share, own)
    if claims is None and own is None and (_OF_YES.search(name) or _rises(share, truth)):
        claims = YES
    if claims is None:
        choices = ("said", YES) if own is not None else (YES, NO)
        raise QuestionError(
            f"{raw.name}: {name!r} holds probabilities; of which label: {' or '.join(choices)}?"
            + (" (said is the label that the judge gives)" if own is not None else ""),
            "claims",
            choices,
            f'claims = "{choices[0]}"',
            likely=False,
        )
    if claims == "said" and own is not None:
        return pl.select(pl.when(own == 1).then(share).when(own == 0).then(1 - share)).to_series()
    return 1 - share if claims == NO else share


def _said_or_yes(share: pl.Series, own: pl.Series) -> str | None:
    """``said`` where it is never below a half, ``yes`` where it crosses with the label."""
    both = pl.DataFrame({"p": share, "own": own}).drop_nulls()
    if both.is_empty():
        return None
    if bool((both["p"] >= 0.5).all()):
        return "said" if bool((both["own"] == 0).any()) else YES
    agree = ((both["p"] > 0.5) == (both["own"] == 1)) | (both["p"] == 0.5)
    return YES if float(agree.mean() or 0) >= 0.99 else None  # type: ignore[arg-type]


def _rises(share: pl.Series, truth: Sequence[pl.Series]) -> bool:
    """Whether it is larger where people say yes, and surely so."""
    rows = pl.concat([pl.DataFrame({"p": share, "y": bits}) for bits in truth]).drop_nulls()
    if rows.height < _MANY or rows["y"].n_unique() < 2 or rows["p"].n_unique() < 2:
        return False
    found = float(rows.select(pl.corr("p", "y")).item())
    return found * math.sqrt(rows.height) > _SURE


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
