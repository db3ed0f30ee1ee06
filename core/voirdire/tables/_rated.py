"""Keys of rows: whether any occurs twice, what tells equal ones apart, and who rated what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What tells one rating from any other.
KEYS = ("item", "system", "rater", "run", "attribute")


def has_duplicates(frame: pl.DataFrame) -> bool:
    """Whether any (item, system, rater, run, attribute) occurs twice; by one integer a key."""
    keys, _ = _keys(frame, KEYS)
    # More different keys than 63 bits hold: slower, and right.
    if keys is None:
        return bool(frame.select(pl.struct(KEYS).is_duplicated().any()).item())
    return keys.n_unique() < len(keys)


def all_different(frame: pl.DataFrame) -> bool:
    """Whether no two rows are the same: by hashes, which rows are compared for where in doubt.

    Examples
    --------
    >>> all_different(pl.DataFrame({"item": ["a", "a"], "rater": ["x", "y"]}))
    True
    >>> all_different(pl.DataFrame({"item": ["a", "a"], "rater": ["x", "x"]}))
    False
    """
    if not any(dtype.is_nested() or dtype == pl.Object for dtype in frame.dtypes) and frame.width:
        different = frame.hash_rows().n_unique()
        # Hashes of 64 bits that are all different are of different rows; and one row in a hundred
        # has the hash of another by being the same.
        if different == frame.height or different < 0.99 * frame.height:
            return different == frame.height
    return not frame.is_duplicated().any()


def who_rated_what(ratings: pl.DataFrame) -> pl.DataFrame:
    """The distinct ``rater, item, system``, each in the order in which it first stands."""
    names = ("rater", "item", "system")
    keys, distinct = _keys(ratings, names)
    if keys is None:
        return ratings.select(names).unique(maintain_order=True)
    # The key holds the places of names in it: sorted, names come in the order in which they stand.
    rest = keys.unique().sort().cast(pl.Int64)
    columns = []
    for name in reversed(names):
        size = len(distinct[name])
        columns.append(distinct[name].gather(rest % size).alias(name))
        rest //= size
    return pl.DataFrame(columns[::-1])


def tells_apart(frame: pl.DataFrame, keys: Sequence[str], column: str) -> bool:
    """Whether rows share their keys, and none of them still does with this column among them.

    So does a column of raters, of attributes or of runs, whatever it is called.
    """
    repeated = frame.select(keys).is_duplicated().any()
    return repeated and not frame.select(*keys, column).is_duplicated().any()


def _keys(
    frame: pl.DataFrame, names: tuple[str, ...]
) -> tuple[pl.Series | None, dict[str, pl.Series]]:
    """One integer a row and the distinct values by name; None where 63 bits do not hold them."""
    distinct = {name: frame[name].unique(maintain_order=True) for name in names}
    size = 1
    for values in distinct.values():
        size *= len(values)
    if size >= 2**63:
        return None, distinct
    parts = [_codes(frame[name], distinct[name]).alias(name) for name in names]
    key = pl.lit(0, dtype=pl.UInt64)
    for name in names:
        key = key * len(distinct[name]) + pl.col(name)
    return pl.DataFrame(parts).select(key.alias("key"))["key"], distinct


def _codes(column: pl.Series, distinct: pl.Series) -> pl.Series:
    """Positions of a column's values in `distinct`."""
    if len(distinct) == 1:
        return pl.zeros(len(column), dtype=pl.UInt64, eager=True)
    if column.dtype.is_integer():
        at = pl.int_range(len(distinct), dtype=pl.UInt64, eager=True)
        return column.replace_strict(distinct, at)
    # An Enum's physical values are the places of its names: the quickest way from text to number.
    names = distinct.cast(pl.String).drop_nulls()
    codes = column.cast(pl.Enum(names)).to_physical().cast(pl.UInt64)
    if len(names) == len(distinct):
        return codes
    # Null stands somewhere among the distinct values: what follows it moves up by one.
    null = int(distinct.is_null().arg_max() or 0)
    return (codes + (codes >= null).cast(pl.UInt64)).fill_null(null)
