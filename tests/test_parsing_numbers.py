"""The grammar of numbers that replies and cells share."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest
from machine import second

from voirdire.parsing.numbers import MISSING_WORDS, read_number, read_numeral, snapped
from voirdire.schema import Scale

ONE_TO_FIVE, HALVES = Scale(1, 5), Scale(1, 5, 0.5)
HUNDRED, SHARE, THOUSANDS = Scale(0, 100), Scale(0, 1, 0), Scale(0, 10_000)


@pytest.mark.parametrize(
    ("text", "scale", "value"),
    [
        # A decimal comma (N06 of the shared cases).
        ("3,5/5", HALVES, 3.5),
        ("3,5/5,0", HALVES, 3.5),
        ("4,5", HALVES, 4.5),
        ("Score: 3,5", HALVES, 3.5),
        ("3,5 von 5", HALVES, 3.5),
        ("3,5 sur 5", HALVES, 3.5),
        ("0,85", SHARE, 0.85),
        ("4,0", ONE_TO_FIVE, 4.0),
        # Per cent (N07).
        ("85%", HUNDRED, 85.0),
        ("85 %", HUNDRED, 85.0),
        ("85％", HUNDRED, 85.0),
        ("85 percent", HUNDRED, 85.0),
        ("85 per cent", HUNDRED, 85.0),
        ("85% - warm", HUNDRED, 85.0),
        ("85%", SHARE, 0.85),
        ("12,5 %", Scale(0, 100, 0), 12.5),
        ("85/100 (85%)", HUNDRED, 85.0),
        ("85 (85%)", HUNDRED, 85.0),
        ("4/5 (80%)", ONE_TO_FIVE, 4.0),
        # Units, stars, prefixes, remarks.
        ("4 stars", ONE_TO_FIVE, 4.0),
        ("4 out of 5 stars", ONE_TO_FIVE, 4.0),
        ("★★★★☆", ONE_TO_FIVE, 4.0),
        ("⭐️⭐️⭐️", ONE_TO_FIVE, 3.0),
        ("Score: 4", ONE_TO_FIVE, 4.0),
        ("4 (warm)", ONE_TO_FIVE, 4.0),
        ("Good (4)", ONE_TO_FIVE, 4.0),
        ("4️⃣", ONE_TO_FIVE, 4.0),
        ("4．5", HALVES, 4.5),
        # Thousands, where the scale has only one of the readings.
        ("1,234", Scale(1000, 5000), 1234.0),
        ("1,234.5", Scale(0, 10_000, 0), 1234.5),
        ("1.234,5", Scale(0, 10_000, 0), 1234.5),
        ("1e-1", SHARE, 0.1),
    ],
)
def test_a_number_is_read(text: str, scale: Scale, value: float) -> None:
    assert read_number(text, scale).value == value


@pytest.mark.parametrize(
    ("text", "scale", "reason"),
    [
        ("3,5/5", ONE_TO_FIVE, "ambiguous"),
        ("4,5", ONE_TO_FIVE, "ambiguous"),
        ("4, 5", HALVES, "ambiguous"),
        ("3-4", ONE_TO_FIVE, "ambiguous"),
        ("1.2.3", ONE_TO_FIVE, "ambiguous"),
        ("1,2,3", ONE_TO_FIVE, "ambiguous"),
        ("1,234", Scale(0, 10_000, 0), "ambiguous"),
        ("8/10", ONE_TO_FIVE, "scale_mismatch"),
        ("7,5/10", ONE_TO_FIVE, "scale_mismatch"),
        ("80%", ONE_TO_FIVE, "scale_mismatch"),
        ("4/5 (70%)", ONE_TO_FIVE, "scale_mismatch"),
        ("4 of 5 (I am 90% sure)", ONE_TO_FIVE, "scale_mismatch"),
        ("★★★★☆", Scale(1, 10), "scale_mismatch"),
        ("85%", Scale(1, 100), "scale_mismatch"),
        ("4½", ONE_TO_FIVE, "not_numeric"),
        ("good", ONE_TO_FIVE, "not_numeric"),
        ("<1-5>", ONE_TO_FIVE, "not_numeric"),
        ("n/a", ONE_TO_FIVE, "null"),
        ("?", ONE_TO_FIVE, "null"),
        ("", ONE_TO_FIVE, "empty"),
        ("6", ONE_TO_FIVE, "off_scale"),
        ("150%", HUNDRED, "off_scale"),
    ],
)
def test_what_is_no_number_of_the_scale_is_missing(text: str, scale: Scale, reason: str) -> None:
    assert read_number(text, scale) == read_number(f" {text} ", scale)
    number = read_number(text, scale)
    assert (number.value, number.reason) == (None, reason)


# The values of N10 in the shared cases: binary round-off, single precision, a tiny negative.
@pytest.mark.parametrize(
    ("value", "end"),
    [(1.0000000000000002, 1.0), (1.0000001192092896, 1.0), (1.0000001, 1.0), (-1e-17, 0.0)],
)
def test_round_off_beyond_an_end_is_the_end(value: float, end: float) -> None:
    assert snapped(value, 0, 1) == end
    assert read_number(value, Scale(0, 1)).value == end
    assert read_number(str(value), Scale(0, 1)).value == end


@pytest.mark.parametrize("value", [1.00001, 1.00000001, -1e-5, math.inf, 2])
def test_what_is_more_than_round_off_stays_beyond(value: float) -> None:
    assert snapped(value, 0, 1) == value
    assert read_number(value, Scale(0, 1)).reason == "off_scale"


def test_a_level_inside_is_not_touched() -> None:
    assert snapped(0.9999999999, 0, 1) == 0.9999999999


@pytest.mark.parametrize("raw", [True, False, [], {}, object()])
def test_what_is_not_a_number_or_text_is_not_numeric(raw: Any) -> None:
    assert read_number(raw, ONE_TO_FIVE).reason == "not_numeric"


def test_a_numeral_keeps_what_stands_beside_it() -> None:
    read = read_numeral("4 - it is warm")
    assert read is not None
    assert (read.value, read.remark, read.top, read.percent) == (4.0, True, None, False)
    assert read_numeral("1,234") is not None
    assert all(read_numeral(word) is None for word in MISSING_WORDS)


@pytest.mark.parametrize("sign", ["1", "1,", "1.", "1 ", "(1", "1%", "★", "-", "1/", "e1"])
def test_a_long_text_is_refused_at_once(sign: str) -> None:
    started = time.process_time()
    read_number(sign * 900, ONE_TO_FIVE)
    assert time.process_time() - started < 2 * second()
