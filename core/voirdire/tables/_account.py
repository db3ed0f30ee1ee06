"""The account of a file: its rows, those that are in no number and why, and what is left.

What the findings say of rows that were left out is held against the rows that are there, so that a
row which goes missing without a word is noticed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from voirdire.tables._tables import finding, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from voirdire.schema import Finding

#: Findings on rows that are in no number, and how the account calls these rows.
_GONE = {
    "bad_lines": "cannot be read",
    "hidden_rows": "hidden",
    "rows_withdrawn": "withdrawn",
    "null_ids": "without an id",
    "summary_rows": "sums of others",
    "duplicate_rows": "repeated",
}


@dataclass(frozen=True, slots=True)
class Account:
    """What became of the rows of a file.

    Attributes
    ----------
    table : str
        The file.
    rows : int
        Rows in it, or records; of a form the cells that respondents filled in.
    gone : mapping of str to int
        Why rows are in no number, and how many.
    kept : int
        Rows that were read.
    columns : int
        Columns of judgements in each of them; 0 where a record may hold any number of these.
    judgements : int
        Judgements that were made of them, missing ones too.

    Examples
    --------
    >>> Account("a.csv", 12, {"hidden": 2}, 10, 3, 30).open
    (0, 0)
    >>> Account("a.csv", 12, {"hidden": 2}, 9, 3, 30).open
    (1, -3)
    """

    table: str
    rows: int
    gone: Mapping[str, int] = field(default_factory=dict)
    kept: int = 0
    columns: int = 1
    judgements: int = 0

    @property
    def open(self) -> tuple[int, int]:
        """Rows, and judgements, that are neither among what was read nor said to be gone."""
        rows = self.rows - sum(self.gone.values()) - self.kept
        return rows, self.kept * self.columns - self.judgements if self.columns else 0

    def findings(self) -> tuple[Finding, ...]:
        """What is said of it: nothing where every row was read."""
        if any(self.open):
            return (_does_not_add_up(self),)
        if not self.gone:
            return ()
        gone = ", ".join(f"{count:,} {why}" for why, count in self.gone.items())
        note = finding(
            "account", "note", self.table, [],
            f"Of {plural(self.rows, 'row')} in the file {self.kept:,} were read; {gone}.",
            "The others are in no number.", count=self.rows - self.kept,
        )  # fmt: skip
        return (note,)


def account_of(
    table: str,
    rows: int,
    notes: Iterable[Finding],
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
    rows : int
        Rows that were decoded.
    notes, later : iterable of Finding
        On rows of the file, and on those rows that `each` of them was made into.
    each : int
        So many rows were made of each row of the file: of a respondent's row one for each answer.
    """
    before, after = _gone(notes), _gone(later)
    gone = {why: before.get(why, 0) * each + after.get(why, 0) for why in {**before, **after}}
    whole = rows + before.get(_GONE["bad_lines"], 0)
    return Account(table, whole * each, gone, kept, columns, judgements)


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
        "account_open", "serious", account.table, [],
        f"The account of the file does not add up: {plural(account.rows, 'row')}, "
        f"{account.kept:,} read, {gone}; {' and '.join(parts)}.",
        "What became of them is not known; this is a fault of voirdire: please report it.",
        count=abs(rows) + abs(judgements),
    )  # fmt: skip
