"""Cells that should hold a score, as numbers; a text among them is named, never guessed at."""

from __future__ import annotations

import polars as pl

#: Written by people and programs where there is no score.
MISSING_WORDS = (
    "",
    "na",
    "n/a",
    "#n/a",
    "nan",
    "null",
    "none",
    "nil",
    "n.a.",
    "-",
    "--",
    "\u2013",
    "\u2014",
    ".",
    "?",
    "missing",
    "#div/0!",
    "#value!",
    "#ref!",
    "#name?",
    "#num!",
    "#null!",
)
_DECIMAL_COMMA = r"^([+-]?\d+),(\d+)$"
#: Either 1.234 or 1234, where commas may also stand between thousands.
_THOUSANDS = r"^[+-]?[1-9]\d{0,2},\d{3}$"
_SAMPLE = 10_000
_TRUTH = {"true": "1", "false": "0"}


def to_scores(column: pl.Series, *, decimal_comma: bool = False) -> tuple[pl.Series, pl.Series]:
    """Scores (null is missing) and a mask of the cells that hold neither a number nor nothing.

    "3,5" is 3.5; "1,234" is a number only where a comma stands for nothing else
    (`decimal_comma`). "true" and "false" are 1 and 0 in a column of truth values alone.

    Examples
    --------
    >>> scores, bad = to_scores(pl.Series(["4", " 3.5", "n/a", "good"]))
    >>> scores.to_list(), bad.to_list()
    ([4.0, 3.5, None, None], [False, False, False, True])
    """
    if column.dtype == pl.Float32:
        column = column.cast(pl.String)  # 0.1 and not 0.10000000149
    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
        scores = column.cast(pl.Float64).fill_nan(None)
        return scores, scores.is_infinite().fill_null(value=False)
    if column.dtype.is_temporal():
        return pl.Series(column.name, [None] * len(column), dtype=pl.Float64), column.is_not_null()
    text = column.cast(pl.String).str.strip_chars().str.to_lowercase()
    empty = text.is_null() | text.is_in(list(MISSING_WORDS))
    if not decimal_comma:
        text = text.set(text.str.contains(_THOUSANDS), None)
    numbers = text.str.replace(_DECIMAL_COMMA, "$1.$2")
    if bool(text.filter(~empty).is_in([*_TRUTH, *_TRUTH.values()]).all()):
        numbers = text.replace(_TRUTH)
    scores = numbers.cast(pl.Float64, strict=False)
    scores = scores.set(~scores.is_finite().fill_null(value=False), None)
    return scores, scores.is_null() & ~empty


def is_numeric(column: pl.Series, *, decimal_comma: bool = False) -> bool:
    """Whether a column holds scores: numbers, or texts most of which (of the first) are numbers."""
    if column.dtype == pl.Float32:
        column = column.cast(pl.String)  # 0.1 and not 0.10000000149
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return True
    if column.dtype.is_temporal() or column.dtype == pl.Null:
        return False
    scores, bad = to_scores(column.drop_nulls().head(_SAMPLE), decimal_comma=decimal_comma)
    numbers = len(scores) - scores.null_count()
    return numbers > 0 and numbers >= int(bad.sum())
