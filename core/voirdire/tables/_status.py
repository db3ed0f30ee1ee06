"""What the words of a status column say: which rows are ratings, and which were taken back."""

from __future__ import annotations

import json
import re
from itertools import combinations
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, listed
from voirdire.late import pattern
from voirdire.schema import STATUSES
from voirdire.tables._numbers import are_texts
from voirdire.tables._tables import finding, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Finding
    from voirdire.tables._files import RawTable

#: Rows that count. Words of Label Studio, Argilla, MTurk, Prolific, Prodigy and of survey tools.
KEPT = frozenset(
    (
        "ok", "repaired", "submitted", "complete", "completed", "approved", "approve", "accepted",
        "accept", "done", "finished", "final", "finalised", "finalized", "valid", "published",
        "success", "succeeded", "reviewed", "active", "answered", "labelled", "labeled",
    )
)  # fmt: skip
#: Rows that somebody gave up, took back or never finished.
LEFT_OUT = frozenset(
    (
        "discarded", "discard", "draft", "drafted", "cancelled", "canceled", "rejected", "reject",
        "withdrawn", "ignore", "ignored", "skipped", "skip", "pending", "in_progress", "started",
        "incomplete", "partial", "invalid", "error", "errored", "expired", "abandoned", "returned",
        "timed_out", "timeout", "deleted", "removed", "excluded", "superseded", "outdated", "spam",
        "flagged", "open", "new", "todo", "assigned", "aborted", "revoked", "unlabelled",
        "unlabeled",
    )
)  # fmt: skip
#: voirdire's own words for a reply without a score; a number beside them is none.
_OWN = frozenset(STATUSES) - KEPT
#: Columns that say by true and false whether a row was taken back.
_TAKEN_BACK = pattern(r"cancell?ed|discarded|withdrawn|deleted|skipped|ignored", re.IGNORECASE)


def speaks_of_status(column: pl.Series) -> bool:
    """Whether a column holds words for what became of a row, at least one that is known."""
    if column.dtype == pl.Boolean:
        return bool(_TAKEN_BACK.search(column.name))
    if are_texts(column):
        return False
    words = set(_folded(column).unique().drop_nulls())
    # Yes or no says what became of a row only below a header such as `discarded`.
    if words <= {"true", "false", "0", "1"}:
        return bool(words) and bool(_TAKEN_BACK.search(column.name))
    return bool(words & (KEPT | LEFT_OUT | _OWN))


#: Headers over a yes or no that may say which rows count.
_MAY_COUNT = pattern(
    r"(?:^|[_ -])(?:is|was)?_?(?:valid|includ\w*|keep|kept|usable|exclud\w*|invalid|drop(?:ped)?"
    r"|remov\w*|rejected|approved|accepted|hidden|bad|delet\w*|discard\w*|cancel\w*|withdrawn"
    r"|skip\w*|ignor\w*|archived|flagged|flag|spam|duplicate|practice|training|test|attention)"
    r"(?:$|[_ -])",
    re.IGNORECASE,
)
#: So many rows with a pair of values that stood above already: one half each, 1 in 30,000.
_NO_CHANCE = 15
YES_NO = frozenset(("true", "false", "yes", "no", "0", "1"))


def ask_about_status(raw: RawTable, columns: Sequence[str], scores: Sequence[str] = ()) -> None:
    """Raise where a column that is not called so may say which rows are no ratings; a yes or no
    that follows from two columns of `scores`, such as that they differ, says nothing of its own.

    Raises
    ------
    QuestionError
        All its words are known for what becomes of a row, and some say that it was taken back; or
        its header speaks of rows that count, over a yes or no.
    """
    for column in columns:
        if are_texts(raw.frame[column]):
            continue
        cells = _folded(raw.frame[column])
        words = set(cells.unique().drop_nulls()) - {""}
        # Some rows must count: where all are drafts, the column says nothing of one beside another.
        others = words & KEPT or cells.null_count() or (cells == "").any()
        taken_back = bool(words <= KEPT | LEFT_OUT and words & LEFT_OUT and others)
        counts = words <= YES_NO and len(words) > 1 and _MAY_COUNT.search(column)
        if not (taken_back or counts) or (counts and _follows_from_two(raw, column, scores)):
            continue
        # Of `valid` it is not known whether yes or no leaves a row out, so that the file must say
        # it.
        taken_back |= _TAKEN_BACK.search(column) is not None
        how = f"--status {column!r}" if taken_back else "leave those rows out of the file"
        raise QuestionError(
            f"{raw.name}: column {column!r} ({listed(sorted(words))}) may say which rows are no "
            f"ratings; if it does, {how}; if it does not, --ignore {column!r}.",
            "status" if taken_back else "ignore",
            (column,),
            f"{'status' if taken_back else 'ignore'} = {json.dumps(column)}",
            likely=False,
        )


def _follows_from_two(raw: RawTable, column: str, scores: Sequence[str]) -> bool:
    """Whether a column says the same wherever two others do, in more rows than chance allows."""
    frame = raw.frame
    for pair in combinations(scores, 2):
        pairs = frame.select(*pair).n_unique()
        if frame.height - pairs >= _NO_CHANCE and frame.select(*pair, column).n_unique() == pairs:
            return True
    return False


def without_withdrawn(
    raw: RawTable, column: str | None, frame: pl.DataFrame
) -> tuple[pl.DataFrame, tuple[Finding, ...]]:
    """The records without those whose status, in that column, says that they are no rating.

    A status of our own (`refused`, `failed`) keeps its row; the row's score is then missing.
    """
    if column is None:
        return frame, ()
    words = _folded(frame["#status"].alias(column))
    if _TAKEN_BACK.search(column) and words.drop_nulls().is_in(["true", "false", "0", "1"]).all():
        words = words.replace({"true": "withdrawn", "1": "withdrawn", "false": "ok", "0": "ok"})
    frame = frame.with_columns(words.alias("#status"))
    # A word that is not known leaves its row out, and a finding says so: if it were kept, a
    # rejected row would be a rating.
    fine = words.is_null() | (words == "") | words.is_in([*KEPT, *_OWN])
    if fine.all():
        return frame, ()
    gone = frame.filter(~fine)
    unknown = [w for w in gone["#status"].unique(maintain_order=True) if w not in LEFT_OUT]
    return frame.filter(fine), (_withdrawn(raw, column, gone, unknown),)


def _folded(column: pl.Series) -> pl.Series:
    words = column.cast(pl.String).str.strip_chars().str.to_lowercase()
    return words.str.replace_all(r"[_\s-]+", "_")


def _withdrawn(raw: RawTable, column: str, gone: pl.DataFrame, unknown: list[str]) -> Finding:
    counts = gone["#status"].value_counts(sort=True).rows()
    fates = ", ".join(f"{count:,} {word!r}" for word, count in counts[:10])
    doubt = (
        f" What {listed(unknown)} means is not known; rows that count say `ok`, `submitted`, "
        f"`completed`, `approved` or `accepted`."
        if unknown
        else ""
    )
    return finding(
        "rows_withdrawn",
        "serious",
        raw.name,
        [f"{raw.unit} {row}" for row in gone["row"]],
        f"{plural(gone.height, 'row')} whose {column!r} says that they are no rating: {fates}.",
        f"They are left out.{doubt}",
        count=gone.height,
    )
