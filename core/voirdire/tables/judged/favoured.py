"""Probabilities that one of two systems is preferred, beside who people prefer."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, TableError, listed
from voirdire.tables._names import kind_of
from voirdire.tables._preferences import place_of
from voirdire.tables._tables import STATUS, finding
from voirdire.tables.judged.chances import (
    claims,
    is_hard,
    is_share,
    sure_or_probable,
    sureness,
)
from voirdire.tables.judged.claims import CLAIM, NO, YES, shares_of
from voirdire.tables.judged.comparisons import rater_column
from voirdire.tables.judged.frames import LABELS, NO_COLUMN, LabelQuestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Finding
    from voirdire.study import TableKeys
    from voirdire.tables._files import RawTable
    from voirdire.tables.judged.frames import ReadJudgements

#: Of which side a probability is one, where the header does not say it.
_SIDES = ("a", "b")
#: What stands before the share that people say of a side, to see which way a probability runs.
_SURE = 3.0
_PAIR = ["item", "system_a", "system_b"]


def side_claims(
    raw: RawTable,
    frame: pl.DataFrame,
    read: TableKeys,
    base: pl.DataFrame,
    sides: tuple[str, str],
    says: Sequence[str],
) -> pl.DataFrame | None:
    """Who claims how probable it is that the first system is preferred; None where nobody does.

    Parameters
    ----------
    frame, base : DataFrame
        The rows that compare two systems, as they stand and as `item`, systems and rater.
    says : sequence of str
        The columns that say who is better.

    Returns
    -------
    DataFrame
        ``item, system_a, system_b, rater, run, probability``, and ``said`` where it is that of
        the winner which the row names.

    Raises
    ------
    QuestionError
        It may be a probability of either.
    """
    if read.probability == NO_COLUMN:
        return None
    free = [c for c in frame.columns if c not in (*sides, *says, *read.ignore)]
    named = (
        [read.probability]
        if read.probability
        else [c for c in free if claims(c) or CLAIM.search(c)]
    )
    sure = [] if named or read.kind is not None else sureness(frame.select(free))
    if len(sure) == 1:
        raise sure_or_probable(raw, sure[0])
    absent = [c for c in named if c not in frame.columns]
    if absent:
        raise TableError(
            f"{raw.name}: there is no column {absent[0]!r} (columns: {listed(frame.columns)})"
        )
    own = [c for c in named if is_share(frame[c]) or is_hard(frame[c])]
    if not own or read.kind == "label":
        return None
    rater = rater_column(raw, read, says)
    if rater is not None and len(own) > 1:
        return None  # a row is one rater's, and its probabilities are of something else
    blocks = []
    for column in own:
        share = shares_of(replace(raw, frame=frame), column)
        side = _side(raw, frame, read, column, sides, says, share, of_row=rater is not None)
        known = base.with_columns(
            (1 - share if side == "b" else share).alias("probability"),
            pl.lit(side == "said").alias("said"),
        )
        if rater is None:
            known = known.with_columns(pl.lit(_judge(column)).alias("rater"))
        blocks.append(known.filter(pl.col("probability").is_not_null()))
    return pl.concat(blocks)


def _side(
    raw: RawTable,
    frame: pl.DataFrame,
    read: TableKeys,
    column: str,
    sides: tuple[str, str],
    says: Sequence[str],
    share: pl.Series,
    *,
    of_row: bool,
) -> str:
    """``a``, ``b`` or ``said``: declared, by the header, or by how it goes with what people say."""
    choices = ("said", *_SIDES) if of_row else _SIDES
    if read.claims is not None:
        told = {fold_side: key for key, fold_side in zip(_SIDES, sides, strict=True)}
        claimed = told.get(read.claims, read.claims)
        if claimed not in choices:
            raise TableError(
                f"{raw.name}: {column!r} is a probability that {sides[0]!r} or {sides[1]!r} is "
                f"preferred: --claims is {listed(choices)}, and not {read.claims!r}"
            )
        return claimed
    parts = [part for part in re.split(r"[_\s.()-]+", CLAIM.sub(" ", column)) if part]
    # Behind the judge's name: `a` may also be a word before it.
    for part in reversed(parts):
        place = place_of(part)
        if place:
            return "a" if place > 0 else "b"
    if of_row and float(share.min() or 0) >= 0.5:  # type: ignore[arg-type]
        return "said"
    people = [c for c in says if kind_of(c) == "human"]
    if not of_row and people:
        way = _way(frame, people, share)
        if way:
            return way
    raise QuestionError(
        f"{raw.name}: {column!r} holds probabilities; of what: that {sides[0]!r} (a) is preferred, "
        f"or {sides[1]!r} (b)?" + (" (said is the winner that the row names)" if of_row else ""),
        "claims",
        choices,
        f'claims = "{choices[0]}"',
        likely=False,
    )


def _way(frame: pl.DataFrame, people: Sequence[str], share: pl.Series) -> str:
    """The side with which it rises, and surely so; empty where that is not known."""
    found = []
    for name in people:
        places = {text: place_of(str(text)) for text in frame[name].drop_nulls().unique()}
        said = frame[name].replace_strict(
            list(places), list(places.values()), default=None, return_dtype=pl.Float64
        )
        found.append(pl.DataFrame({"p": share, "y": said}))
    rows = pl.concat(found).drop_nulls()
    if rows.height < 10 or rows["y"].n_unique() < 2 or rows["p"].n_unique() < 2:
        return ""
    z = float(rows.select(pl.corr("p", "y")).item()) * math.sqrt(rows.height)
    return "a" if z > _SURE else "b" if z < -_SURE else ""


def _judge(column: str) -> str:
    """The judge behind a header: ``gpt_p_a`` is gpt's; ``p_a`` is *the judge*'s."""
    parts = [part for part in re.split(r"[_\s.()]+", CLAIM.sub(" ", column)) if part]
    own = [part for part in parts if not place_of(part) and part not in ("better", "wins", "win")]
    return "_".join(own) or "the judge"


def with_side_claims(
    found: ReadJudgements, claimed: pl.DataFrame | None, where: str
) -> ReadJudgements:
    """Comparisons with a question of probability: is the system preferred that is first by name?

    A judge that gives nothing else prefers what it finds the more probable. Ties of people say
    neither, and how sure a judge is of a tie says of neither side how probable it is.
    """
    if claimed is None or claimed.is_empty() or found.preferences is None:
        return found
    table = found.preferences
    key = [*_PAIR, "rater", "run", "attribute"]
    claimed = claimed.filter(~pl.col("rater").is_in(list(found.people)))
    own = table.select(*key, "score").unique(key, keep="first", maintain_order=True)
    claimed = claimed.join(own, on=key, how="left", nulls_equal=True, suffix="_said")
    said = pl.col("said") & (pl.col("score") < 0)
    claimed = claimed.with_columns(
        pl.when(said).then(1 - pl.col("probability")).otherwise("probability").alias("probability")
    ).filter(~pl.col("said") | (pl.col("score") != 0))
    tied = own.filter(pl.col("rater").is_in(claimed.filter("said")["rater"].unique().to_list()))
    found = replace(found, findings=(*found.findings, *_ties_note(tied, where)))
    silent = claimed.filter(~pl.col("rater").is_in(table["rater"].unique().to_list()))
    shown = table.select(*_PAIR, "shown_first").unique(_PAIR, keep="first", maintain_order=True)
    silent = silent.drop("shown_first").join(shown, on=_PAIR, how="left", nulls_equal=True)
    preferred = silent.with_columns((pl.col("probability") - 0.5).sign().alias("score")).select(
        pl.lit(None, kind).alias(name) if name not in silent.columns else pl.col(name).cast(kind)
        for name, kind in table.schema.items()
    )
    people = table.filter(pl.col("rater").is_in(list(found.people)), pl.col("score") != 0)
    about = pl.col("attribute") + " (probability)"
    rows = [
        _oriented(people).with_columns(
            pl.concat_list(
                pl.when(pl.col("score") > 0).then(pl.lit(YES)).otherwise(pl.lit(NO))
            ).alias("labels"),
            pl.lit(None, pl.Float64).alias("probability"),
        ),
        _oriented(claimed).with_columns(pl.lit(None, pl.List(pl.String)).alias("labels")),
    ]
    blank = {name: pl.lit(None, kind).alias(name) for name, kind in LABELS.items()}
    labels = pl.concat(
        [
            block.with_columns(
                about.alias("attribute"),
                pl.lit("ok").cast(STATUS).alias("status"),
                *(e for n, e in blank.items() if n not in (*block.columns, "status")),
            ).select(pl.col(name).cast(kind) for name, kind in LABELS.items())
            for block in rows
        ]
    ).unique(["item", "system", "rater", "run", "attribute"], keep="first", maintain_order=True)
    questions = tuple(
        LabelQuestion(name, (YES, NO), probability=True)
        for name in labels["attribute"].unique(maintain_order=True)
    )
    return replace(
        found, preferences=pl.concat([table, preferred]), labels=labels, questions=questions
    )


def _ties_note(said: pl.DataFrame, where: str) -> tuple[Finding, ...]:
    """A note on ties of judges that say how sure they are of what they said."""
    ties = said.filter(pl.col("score") == 0).group_by("rater", maintain_order=True).len()
    if ties.is_empty():
        return ()
    shown = [f"{rater} ({count:,})" for rater, count in ties.iter_rows()]
    note = finding(
        "ties_claim_nothing",
        "note",
        where,
        shown,
        f"{listed(shown)} says ties: how sure it is of one says of neither side how probable it "
        "is to be preferred.",
        "They count as unanswered for its probability (COVER). A column of the probability that a "
        "is preferred says it of ties as well.",
    )
    return (note,)


def _oriented(rows: pl.DataFrame) -> pl.DataFrame:
    """Each comparison in favour of the system that is first by name; a pair is a system."""
    turn = pl.col("system_a") > pl.col("system_b")
    first, second = (pl.min_horizontal, pl.max_horizontal)
    turned = [
        pl.when(turn).then(-pl.col("score")).otherwise("score").alias("score"),
        pl.concat_str(
            first("system_a", "system_b"), second("system_a", "system_b"), separator=" over "
        ).alias("system"),
    ]
    if "probability" in rows.columns:
        p = pl.col("probability")
        turned.append(pl.when(turn).then(1 - p).otherwise(p).alias("probability"))
    return rows.with_columns(turned)
