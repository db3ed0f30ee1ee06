"""Typed tables: what each kind holds and prints, and the errors of what does not fit."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from voirdire import PluginError
from voirdire.cli.showing import show_tables
from voirdire.stats import Interval
from voirdire.tabular import (
    KINDS,
    Column,
    Marked,
    Section,
    Spread,
    Table,
    count,
    frame_matrix,
    frame_table,
    interval,
    number,
    share,
    text,
)

NAN = float("nan")


@pytest.mark.parametrize(
    ("column", "cell", "said"),
    [
        (text("a"), "o4-mini", "o4-mini"),
        (count("a"), 1200, "1200"),
        (count("a"), np.int64(3), "3"),
        (number("a"), 0.8809, "0.881"),
        (number("a"), np.float64(-0.0002), "0.000"),
        (number("a", 2), 3, "3"),
        (number("a", signed=True), 0.25, "+0.250"),
        (number("a", signed=True), -0.25, "−0.250"),
        (number("a"), Spread(0.75, 0.03), "0.750 ± 0.030"),
        (number("a"), Spread(0.75), "0.750"),
        (number("a"), Spread(None, 0.03), "–"),
        (number("a", 1), Marked(2.25, " (2.3)"), "2.2 (2.3)"),
        (share("a"), 0.0417, "4.2 %"),
        (share("a"), 0.9999, "99.9 %"),
        (interval("a"), (-0.02, 0.98), "[−0.020, 0.980]"),
        (interval("a", 1), Interval("t", 0.95, 0.0, 1.0), "[0.0, 1.0]"),
        (interval("a"), Marked((0.0, 1.0), "*"), "[0.000, 1.000]*"),
        (interval("a"), Marked(None, "published"), "published"),
        (interval("a"), Interval("t", 0.95, NAN, NAN), "–"),
    ],
)
def test_a_cell_is_printed_as_its_column_says(column, cell, said):
    assert column.holds(cell)
    assert column.written(cell) == said


@pytest.mark.parametrize("kind", KINDS)
def test_missing_is_one_sign_in_every_kind(kind):
    column = Column("a", kind)
    assert column.written(None) == "–"
    assert column.numeric is (kind != "text")
    if kind != "text":
        assert column.holds(NAN)
        assert column.written(NAN) == "–"


@pytest.mark.parametrize(
    ("columns", "rows", "message"),
    [
        ((text("a"), count("a")), (), "two columns are named 'a'"),
        ((text("a"), count("b")), (("x",),), "row 1 has 1 cells for 2 columns"),
        ((text("a"),), (("x",), (0.5,)), "row 2, column 'a': 0.5 is no text"),
        ((number("a"),), (("0.5",),), "row 1, column 'a': '0.5' is no number"),
        ((count("a"),), ((0.5,),), "row 1, column 'a': 0.5 is no count"),
        ((interval("a"),), ((0.5,),), "row 1, column 'a': 0.5 is no interval"),
        ((share("a"),), ((Spread(0.5),),), "is no share"),
        ((number("a"),), ((Marked("x", "*"),),), "is no number"),
    ],
)
def test_what_does_not_fit_is_an_error_that_names_the_place(columns, rows, message):
    with pytest.raises(PluginError, match=message):
        Table(columns, rows)


def test_a_table_of_a_frame_keeps_values_and_their_order():
    frame = pl.DataFrame({"n": [1, None], "rater": ["a", "b"], "f1": [0.5, None], "more": [1, 2]})
    table = frame_table(frame, {"rater": text("Rater"), "f1": number("F1"), "n": count("n")})
    assert table.records() == (
        {"Rater": "a", "F1": 0.5, "n": 1},
        {"Rater": "b", "F1": None, "n": None},
    )
    assert list(table.written()) == [("a", "0.500", "1"), ("b", "–", "–")]


def test_a_section_says_whether_it_has_rows():
    filled = Table((count("n"),), ((1,),))
    assert not Section("Words", "Only words.").has_rows
    assert not Section("None", tables=(Table((count("n"),)),)).has_rows
    two = Section("Two", tables=(Table((count("n"),)), filled))
    assert two.has_rows
    assert two.table.rows == ()
    assert Section("Words").table == Table()


def test_a_long_frame_is_a_matrix_with_gaps():
    long = pl.DataFrame({"row": ["b", "a", "b"], "by": [1, 1, 2], "value": [0.5, None, 2.0]})
    heads = {2: number("two"), 1: number("one")}
    table = frame_matrix(long, ("row", "by", "value"), heads, "Row")
    assert table.rows == (("b", 2.0, 0.5), ("a", None, None))
    named = frame_matrix(long, ("row", "by", "value"), heads, "Row", {"a": "A", "c": "C"})
    assert named.rows == (("A", None, None), ("C", None, None))
    assert [column.name for column in named.columns] == ["Row", "two", "one"]


def test_as_json_every_table_of_a_section_is_there(capsys):
    words, numbers = Table((text("a"),), (("1",),)), Table((count("n"),), ((3,), (4,)))
    show_tables([Section("Two", "Both.", (words, numbers)), Section("None")], as_json=True)
    said = json.loads(capsys.readouterr().out)
    assert list(said) == ["answer", "schema_version", "tables"]
    assert said["tables"] == [
        {"title": "Two", "text": "Both.", "rows": [{"a": "1"}]},
        {"title": "Two", "text": "Both.", "rows": [{"n": 3}, {"n": 4}]},
        {"title": "None", "text": "", "rows": []},
    ]
