"""The account of a file: its rows, those that are in no number and why, and what is left.

What the findings say of rows that were left out is held against the rows that are there, so that a
row which goes missing without a word is noticed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.tables._rated import all_different
from voirdire.tables._records import null_ids, repeated
from voirdire.tables._tables import Account, finding, plural

if TYPE_CHECKING:
    from collections.abc import Iterable

    from voirdire.schema import Finding
    from voirdire.tables._files import RawTable

#: Findings on rows that are in no number, and how the account calls these rows.
_GONE = {
    "bad_lines": "cannot be read",
    "hidden_rows": "hidden",
    "rows_withdrawn": "withdrawn",
    "null_ids": "without an id",
    "null_raters": "without a rater",
    "summary_rows": "sums of others",
    "notes_below": "notes below the table",
    "duplicate_rows": "repeated",
}


def whole_rows(raw: RawTable, item: str | None, rater: str | None, *, once: bool) -> RawTable:
    """A table without the rows that repeat others (`once`), and those without an id or a rater.

    For labels and comparisons; of ratings `records` does the same, where conflicts are seen too.
    """
    frame = raw.frame.with_columns(raw.numbers().alias("#row"))
    notes = []
    for column, told in ((item, null_ids), (rater, _null_raters)):
        if column is None or column not in raw.frame.columns:
            continue
        bare = frame[column].is_null()
        if bare.any() and not bare.all():
            notes.append(told(raw, column, frame["#row"].filter(bare)))
            frame = frame.filter(~bare)
    # Without ids two equal rows may be two units that look alike.
    if once and item is not None and item in raw.frame.columns:
        again = _repeating(frame.drop("#row"))
        if again.any():
            notes.append(repeated(raw, frame["#row"].filter(again)))
            frame = frame.filter(~again)
    if not notes:
        return raw
    return replace(raw, frame=frame.drop("#row"), lines=frame["#row"].alias("row")).noted(*notes)


def _repeating(frame: pl.DataFrame) -> pl.Series:
    """Which rows repeat one before them."""
    if all_different(frame):
        return pl.repeat(value=False, n=frame.height, eager=True)
    return frame.select(~pl.struct(pl.all()).is_first_distinct()).to_series()


def _null_raters(raw: RawTable, column: str, rows: pl.Series) -> Finding:
    return finding(
        "null_raters",
        "serious",
        raw.name,
        [f"{raw.unit} {row}" for row in rows],
        f"{plural(len(rows), 'row')} without a rater in column {column!r}.",
        "Who judged is not known, and they are in no number.",
        count=len(rows),
    )


def account_findings(account: Account | None) -> tuple[Finding, ...]:
    """What is said of an account: nothing where every row was read."""
    if account is None:
        return ()
    if any(account.open):
        return (_does_not_add_up(account),)
    unread = {part: size for part, size in account.unread.items() if size}
    if not account.gone and not unread:
        return ()
    parts = ", ".join(f"{size:,} of {part}" for part, size in unread.items())
    lost = sum(unread.values())
    of = f" Of its {account.size:,} bytes {lost:,}" if account.size >= lost else f" {lost:,} bytes"
    bytes_ = f"{of} were not read: {parts}."
    gone = ", ".join(f"{count:,} {why}" for why, count in account.gone.items())
    note = finding(
        "account",
        "note",
        account.table,
        [],
        f"Of {plural(account.rows, 'row')} in the file {account.kept:,} were read"
        f"{f'; {gone}' if gone else ''}.{bytes_ if unread else ''}",
        "The others are in no number.",
        count=account.rows - account.kept,
    )
    return (note,)


def account_of(
    raw: RawTable,
    later: Iterable[Finding],
    *,
    each: int,
    kept: int,
    columns: int,
    judgements: int,
) -> Account:
    """The account of a table, by what the findings say of its rows.

    Parameters
    ----------
    raw : RawTable
        As it was decoded, with the findings on its rows.
    later : iterable of Finding
        On those rows that `each` of them was made into.
    each : int
        So many rows were made of each row of the file: of a respondent's row one for each answer.
    """
    before, after = _gone(raw.findings), _gone(later)
    gone = {why: before.get(why, 0) * each + after.get(why, 0) for why in {**before, **after}}
    whole = raw.rows + before.get(_GONE["bad_lines"], 0)
    return Account(
        raw.name, whole * each, gone, kept, columns, judgements, raw.size, dict(raw.unread)
    )


def _gone(notes: Iterable[Finding]) -> dict[str, int]:
    gone: dict[str, int] = {}
    for note in notes:
        if note.kind in _GONE and note.count:
            why = _GONE[note.kind]
            gone[why] = gone.get(why, 0) + note.count
    return gone


def _does_not_add_up(account: Account) -> Finding:
    rows, judgements = account.open
    gone = ", ".join(f"{count:,} {why}" for why, count in account.gone.items()) or "none gone"
    parts = [f"{plural(abs(rows), 'row')} too {'few' if rows > 0 else 'many'}"] if rows else []
    if judgements:
        amount = plural(abs(judgements), "judgement")
        parts.append(f"{amount} too {'few' if judgements > 0 else 'many'}")
    return finding(
        "account_open",
        "serious",
        account.table,
        [],
        f"The account of the file does not add up: {plural(account.rows, 'row')}, "
        f"{account.kept:,} read, {gone}; {' and '.join(parts)}.",
        "What became of them is not known; this is a fault of voirdire: please report it.",
        count=abs(rows) + abs(judgements),
    )
