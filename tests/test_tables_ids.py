"""Ids are text, whatever type a file gave them, and what does not meet is said on both sides."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.tables import canonical_ids, match_ids


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (pl.Series([1, 2]), ["1", "2"]),
        (pl.Series([1.0, 2.0, None]), ["1", "2", None]),
        (pl.Series([1.5, float("nan")]), ["1.5", None]),
        (pl.Series(["1.0", "2.0", None]), ["1", "2", None]),
        (pl.Series(["1.0", "1.1"]), ["1.0", "1.1"]),
        (pl.Series([" a ", "", "\t", "b"]), ["a", None, None, "b"]),
        (pl.Series(["007", "7"]), ["007", "7"]),
        (pl.Series([9007199254740993]), ["9007199254740993"]),
        (pl.Series([2**64 - 1], dtype=pl.UInt64), ["18446744073709551615"]),
        (pl.Series([1e15, -3.0]), ["1000000000000000", "-3"]),
        (pl.Series(["e\u0301"]), ["\u00e9"]),
        (pl.Series(["a", "b"], dtype=pl.Categorical), ["a", "b"]),
        (pl.Series([None, None], dtype=pl.Null), [None, None]),
    ],
)
def test_canonical_ids(ids, expected):
    assert canonical_ids(ids).to_list() == expected


@given(st.lists(st.integers(min_value=-(2**63), max_value=2**63 - 1), unique=True, max_size=20))
def test_whole_numbers_and_their_text_are_the_same_ids(numbers):
    found = match_ids(numbers, [str(number) for number in numbers])
    assert (found.matched, found.left_only, found.right_only) == (len(numbers), (), ())


@given(st.lists(st.integers(min_value=-(2**53), max_value=2**53), unique=True, max_size=20))
def test_floats_of_whole_numbers_are_the_same_ids(numbers):
    floats = pl.Series([float(number) for number in numbers], dtype=pl.Float64)
    assert match_ids(floats, numbers).matched == len(numbers)


def test_what_may_explain_ids_that_do_not_meet():
    assert match_ids(["007"], [7]).warnings == ("zero-padded ids differ only by padding: '007'",)
    assert match_ids(["000"], [0]).warnings == ("zero-padded ids differ only by padding: '000'",)
    assert "upper and lower case" in match_ids(["ConvA"], ["conva"]).warnings[0]
    assert "trailing '.0'" in match_ids(["1.0", "x"], [1]).warnings[0]
    assert match_ids(["a"], ["b"]).warnings == ()


def test_null_ids_are_counted_and_mixed_types_meet():
    found = match_ids([1, 2.0, "3", None, float("nan"), " "], ["1", "2", "3", None])
    assert (found.matched, found.bad_ids) == (3, 4)
