"""Workbooks that are written read back as they were, and what a cell cannot hold is said and kept."""

from __future__ import annotations

import json
import sys

import openpyxl
import polars as pl
import pytest

from voirdire import MissingExtraError, TableError
from voirdire.tables import read_raw, write_jsonl, write_xlsx

HOSTILE = [
    "=== strong reply ===", "=1+1", "+1", "-1", "@SUM(A1)", "http://example.org/", "007", "1e5",
    " blank ", "two\nlines", "{=1}", "\u00e9\U0001f600", "mailto:a@example.org", "_x0041_", "1,5",
]  # fmt: skip


def test_text_is_written_as_text(tmp_path):
    path = tmp_path / "out.xlsx"
    frame = pl.DataFrame({"=header": HOSTILE, "n": list(range(len(HOSTILE)))})
    assert write_xlsx(path, {"ratings": frame}) == ()
    sheet = openpyxl.load_workbook(path)["ratings"]
    cells = [row[0] for row in sheet.iter_rows(min_row=2)]
    assert {cell.data_type for cell in cells} == {"s"}
    assert not any(cell.hyperlink for cell in cells)
    raw = read_raw(path)
    assert raw.frame["=header"].to_list() == HOSTILE
    assert raw.frame["n"].to_list() == list(range(len(HOSTILE)))
    assert not list(tmp_path.glob("*.jsonl"))


def test_cuts_and_control_characters_are_said_and_the_full_text_kept(tmp_path):
    path = tmp_path / "out.xlsx"
    smiles = "\U0001f600" * 20_000  # two UTF-16 units each: over the limit, and not to be halved
    texts = ["x" * 40_000, "page\x0bbreak", smiles, "x" * 32_767]
    cut, cleaned = write_xlsx(path, {"replies": pl.DataFrame({"reply": texts})})
    assert (cut.kind, cut.count) == ("cells_cut", 2)
    assert cut.places == ("row 2, reply", "row 4, reply")
    assert cut.message == "2 texts over the cell limit of 32,767 cut."
    assert (cleaned.kind, cleaned.count) == ("control_characters", 1)
    assert cleaned.message == "1 control character removed."
    back = read_raw(path).frame["reply"].to_list()
    assert back == ["x" * 32_767, "pagebreak", "\U0001f600" * 16_383, "x" * 32_767]
    lines = (tmp_path / "out.replies.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["reply"] for line in lines] == texts
    assert "out.replies.jsonl" in cut.consequence


def test_numbers_truth_and_nothing(tmp_path):
    path = tmp_path / "out.xlsx"
    frame = pl.DataFrame(
        {
            "a": [1.5, None, float("nan"), float("inf")],
            "b": [2**53 + 1, 1, 2, 3],
            "c": [True, False, None, True],
            "d": [["x"], [], None, ["y", "z"]],
        }
    )
    assert write_xlsx(path, {"s": frame}) == ()
    sheet = openpyxl.load_workbook(path)["s"]
    assert [cell.value for cell in sheet["A"][1:]] == [1.5, None, None, "inf"]
    assert sheet["B2"].value == str(2**53 + 1)
    assert [cell.value for cell in sheet["C"][1:]] == [True, False, None, True]
    assert [cell.value for cell in sheet["D"][1:]] == ['["x"]', "[]", None, '["y", "z"]']


@pytest.mark.parametrize("name", ["", "a" * 32, "a/b", "[x]", "'a"])
def test_sheet_names_that_excel_does_not_take(tmp_path, name):
    with pytest.raises(TableError, match="is no sheet name"):
        write_xlsx(tmp_path / "out.xlsx", {name: pl.DataFrame({"a": [1]})})


def test_workbooks_that_cannot_be_written(tmp_path):
    frame = pl.DataFrame({"a": [1]})
    with pytest.raises(TableError, match="there is no sheet to write"):
        write_xlsx(tmp_path / "out.xlsx", {})
    with pytest.raises(TableError, match="sheet names differ only by case: 'a', 'A'"):
        write_xlsx(tmp_path / "out.xlsx", {"a": frame, "A": frame})
    with pytest.raises(TableError, match="has 1,048,576 rows"):
        write_xlsx(
            tmp_path / "out.xlsx", {"a": pl.DataFrame({"x": pl.int_range(2**20, eager=True)})}
        )
    with pytest.raises(TableError, match=r"out\.xlsx: cannot be written"):
        write_xlsx(tmp_path / "nowhere" / "out.xlsx", {"a": frame})


def test_a_missing_writer_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'voirdire\[excel\]'"):
        write_xlsx(tmp_path / "out.xlsx", {"a": pl.DataFrame({"a": [1]})})


def test_jsonl_reads_back(tmp_path):
    frame = pl.DataFrame(
        {"item": ["1", "2"], "score": [1.5, float("nan")], "text": ["a\u2028b", None]}
    )
    write_jsonl(tmp_path / "out.jsonl", frame)
    back = read_raw(tmp_path / "out.jsonl").frame
    assert back.rows() == [("1", 1.5, "a\u2028b"), ("2", None, None)]
