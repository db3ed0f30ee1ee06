"""Ids as canonical text, and how two tables' ids meet."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import listed
from voirdire.late import dataclass
from voirdire.tables._tables import EXACT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: What a spreadsheet or a data frame makes of whole numbers in a column with a blank.
_WHOLE_TEXT = r"^-?\d+(?:\.0+)?$"
#: Zeros before a number: a spreadsheet drops them from one of two files.
_PADDED = r"^0+(\d)"
#: What a spreadsheet writes for a long number.
_ROUNDED = r"^\d(?:\.\d+)?[Ee]\+\d+$"
#: What programs write where they have no id.
_NO_ID = (
    "#N/A",
    "#REF!",
    "#VALUE!",
    "#NAME?",
    "#NULL!",
    "#NUM!",
    "#DIV/0!",
    "nan",
    "NaN",
    "<NA>",
    "NaT",
)
#: Blanks that look like the usual one, and letters that show nothing.
_BLANKS = "[\u00a0\u2007\u202f\u3000]"
_UNSEEN = "\u200b\u200c\u200d\u2060\ufeff"


@dataclass(frozen=True, slots=True)
class IdMatch:
    """How the ids of two tables meet.

    Attributes
    ----------
    matched : int
        Distinct ids on both sides.
    left_only, right_only : tuple of str
        Ids on one side only, in their order.
    bad_ids : int
        Null or blank ids on either side.
    warnings : tuple of str
        What may explain ids that do not meet.
    """

    matched: int
    left_only: tuple[str, ...]
    right_only: tuple[str, ...]
    bad_ids: int
    warnings: tuple[str, ...]


def canonical_ids(ids: pl.Series) -> pl.Series:
    """Ids as text: 1, 1.0 and "1" are one id, "007" is not 7, no digit is lost.

    Blank is null, and so is what programs write there, such as "#N/A" and "nan".

    A text such as "1.0" is read as 1 only where all ids of the column are whole numbers, written
    with or without ".0"; "1.0" beside "1.1" stays as it is.

    Examples
    --------
    >>> canonical_ids(pl.Series([1.0, 2.0, None])).to_list()
    ['1', '2', None]
    >>> canonical_ids(pl.Series([" 007", "8 ", ""])).to_list()
    ['007', '8', None]
    """
    if ids.dtype.is_float():
        return _from_floats(ids)
    if ids.dtype.is_integer():
        return ids.cast(pl.String)
    # Excel and pandas hold a date as a time at midnight; as text it is the date alone.
    if ids.dtype == pl.Datetime and bool((ids.dt.date().cast(ids.dtype) == ids).all()):
        ids = ids.dt.date()
    text = ids.cast(pl.String)
    if not _has_odd_text(text):
        return text
    # Twice: blanks may stand outside and inside of unseen letters, as a pasted cell has them.
    text = text.str.replace_all(_BLANKS, " ").str.strip_chars().str.strip_chars(_UNSEEN)
    # Names of files on a Mac hold é as e and an accent, other texts mostly as one letter.
    text = text.str.strip_chars().str.normalize("NFC")
    text = text.set(text.is_in(["", *_NO_ID]), None)
    # Versions such as 1.0 and 1.1 are different ids: all must be whole before one is cut.
    if bool(text.drop_nulls().str.contains(_WHOLE_TEXT).all()):
        return text.str.replace(r"\.0+$", "")
    return text


def plain_name(name: str) -> str:
    r"""A name without blanks and unseen letters around it, each blank in it the usual one.

    Examples
    --------
    >>> plain_name("\ufeff human\u00a0a ")
    'human a'
    """
    on_one_line = re.sub(r"\s*[\r\n]+\s*", " ", re.sub(_BLANKS, " ", name))
    return on_one_line.strip().strip(_UNSEEN).strip()


def match_ids(left: Sequence[object] | pl.Series, right: Sequence[object] | pl.Series) -> IdMatch:
    """Which ids stand on both sides, whatever their type.

    Examples
    --------
    >>> match = match_ids([1, 2, 3], ["1", "2", "4"])
    >>> match.matched, match.left_only, match.right_only
    (2, ('3',), ('4',))
    """
    a, b = _canonical(left), _canonical(right)
    bad = a.null_count() + b.null_count()
    a, b = a.drop_nulls().unique(maintain_order=True), b.drop_nulls().unique(maintain_order=True)
    left_only, right_only = a.filter(~a.is_in(b.implode())), b.filter(~b.is_in(a.implode()))
    return IdMatch(
        matched=len(a) - len(left_only),
        left_only=tuple(left_only.to_list()),
        right_only=tuple(right_only.to_list()),
        bad_ids=bad,
        warnings=_warnings(left_only, right_only),
    )


def rounded_ids(ids: pl.Series) -> int:
    """How many ids have lost digits: floats beyond 2**53, or texts such as 1.23457E+11."""
    if ids.dtype.is_float():
        return int((ids.abs() >= EXACT).sum())
    if ids.dtype != pl.String:
        return 0
    return int(ids.str.contains(_ROUNDED).sum())


def _canonical(ids: Sequence[object] | pl.Series) -> pl.Series:
    if isinstance(ids, pl.Series):
        return canonical_ids(ids)
    kinds = {type(value) for value in ids if value is not None}
    # Of one type they are converted at once; mixed ones are texts, one by one.
    if kinds <= {int} or kinds <= {float}:
        return canonical_ids(
            pl.Series(ids, strict=True) if kinds else pl.Series([], dtype=pl.String)
        )
    return canonical_ids(pl.Series([_plain(value) for value in ids], dtype=pl.String))


def _plain(value: object) -> str | None:
    """One id of a mixed column as text."""
    if value is None or (isinstance(value, float) and value != value):  # noqa: PLR0124
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _from_floats(ids: pl.Series) -> pl.Series:
    ids = ids.fill_nan(None)
    # Beyond, a whole number is written with an exponent and stays so: `rounded_ids` counts it.
    whole = (ids == ids.floor()) & (ids.abs() < 2.0**63)
    as_int = ids.set(~whole.fill_null(value=False), None).cast(pl.Int64).cast(pl.String)
    return as_int.zip_with(as_int.is_not_null(), ids.cast(pl.String))


def _has_odd_text(text: pl.Series) -> bool:
    """Whether any id may have to be changed; looked at on distinct values only."""
    distinct = text.unique().drop_nulls()
    # What may need a change: blanks at an end, none at all, letters beyond ASCII, `.0`, and how the
    # words of `_NO_ID` begin.
    odd = r"^\s|\s$|^$|[^\x00-\x7f]|\.0+$|^[#<Nn]"
    return bool(distinct.str.contains(odd).any())


def _warnings(left: pl.Series, right: pl.Series) -> tuple[str, ...]:
    """Reasons why ids of one side may be those of the other."""
    reasons = []
    padded = _meet(left, right, lambda ids: ids.str.replace(_PADDED, "$1"))
    if padded:
        reasons.append(f"zero-padded ids differ only by padding: {listed(padded, 3)}")
    pointed = _meet(left, right, lambda ids: ids.str.replace(r"\.0+$", ""))
    if pointed:
        reasons.append(f"ids differ only by a trailing '.0': {listed(pointed, 3)}")
    cased = _meet(left, right, lambda ids: ids.str.to_lowercase())
    if cased:
        reasons.append(f"ids differ only by upper and lower case: {listed(cased, 3)}")
    return tuple(reasons)


def _meet(left: pl.Series, right: pl.Series, rule: Callable[[pl.Series], pl.Series]) -> list[str]:
    """Ids of the left side that equal one of the right after a rule."""
    return left.filter(rule(left).is_in(rule(right).implode())).to_list()
