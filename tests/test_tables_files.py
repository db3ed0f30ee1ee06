"""Files of every format as they stand: headers, newlines, encodings, bad lines, one-sentence errors."""

from __future__ import annotations

import json

import polars as pl
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

from voirdire import TableError
from voirdire.study import ReadOptions
from voirdire.tables import read_file, read_raw

CSV = "item,system,score\n1,a,4\n2,b,5\n"


def workbook(path, rows, sheets=("Sheet1",), top=0):
    book = xlsxwriter.Workbook(str(path))
    for name in sheets:
        sheet = book.add_worksheet(name)
        if name != sheets[0]:
            continue
        for i, row in enumerate(rows, start=top):
            for j, value in enumerate(row):
                if isinstance(value, str):
                    sheet.write_string(i, j, value)
                elif value is not None:
                    sheet.write(i, j, value)
    book.close()
    return path


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_csv_with_any_newline_encoding_and_separator(tmp_path, newline, encoding, separator):
    path = tmp_path / "ratings.csv"
    text = 'item,text,score\n1,"a, b; c",4\n2,né,5\n'.replace('"a, b; c"', '"a b"')
    path.write_bytes(text.replace(",", separator).replace("\n", newline).encode(encoding))
    raw = read_raw(path)
    assert raw.frame.to_dict(as_series=False) == {
        "item": ["1", "2"],
        "text": ["a b", "né"],
        "score": ["4", "5"],
    }
    assert raw.findings == ()


def test_csv_quoted_newlines_blank_lines_and_physical_lines(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text('item,text,score\n\n1,"two\nlines, and ""quotes""",4\n\n2,,5\n')
    raw = read_raw(path)
    assert raw.frame["text"].to_list() == ['two\nlines, and "quotes"', None]
    # The first record stands on physical lines 3 and 4, the second on line 6.
    assert raw.numbers().to_list() == [3, 6]
    assert raw.place(1) == "line 6"


def test_csv_that_is_not_utf8_is_read_and_said(tmp_path):
    path = tmp_path / "r.csv"
    path.write_bytes("item,score\nné,4\n".encode("cp1252"))
    raw = read_raw(path)
    assert raw.frame["item"].to_list() == ["né"]
    assert [note.kind for note in raw.findings] == ["encoding"]


def test_csv_short_lines_are_said_and_long_ones_refused(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("item,system,score\n1,a\n2,b,5\n")
    raw = read_raw(path)
    assert raw.frame["score"].to_list() == [None, "5"]
    assert [(n.kind, n.places) for n in raw.findings] == [("short_rows", ("line 2",))]
    path.write_text("item,system,score\n1,a,4\n2,b,5,good, really\n")
    with pytest.raises(
        TableError, match=r"r\.csv: line 3, which begins '2', has 5 fields where the"
    ):
        read_raw(path)


def test_large_csv_through_polars_equals_the_exact_reader(tmp_path, monkeypatch):
    path = tmp_path / "r.csv"
    path.write_text('item,text,score\n1,"a\nb",4\n2,"",5\n')
    exact = read_raw(path)
    monkeypatch.setattr("voirdire.tables._files._csv._LARGE", 0)
    assert read_raw(path).frame.equals(exact.frame)
    path.write_text("item,text,score\n1,a\n")
    with_short = read_raw(path)
    assert [note.kind for note in with_short.findings] == ["short_rows"]


def test_excel_keeps_types_and_finds_the_header_below_blank_rows(tmp_path):
    rows = [["id", " score", "text"], [1, 1 / 3, "a"], ["007", 3, None], [None] * 3, [2.0, 4, ""]]
    raw = read_raw(workbook(tmp_path / "w.xlsx", rows, top=2))
    assert raw.frame["id"].to_list() == ["1", "007", "2"]
    assert raw.frame["score"].to_list() == [1 / 3, 3.0, 4.0]
    assert raw.headers["score"] == " score"
    assert raw.numbers().to_list() == [4, 5, 7]  # as the sheet numbers its rows


def test_excel_takes_the_first_sheet_aloud_and_a_named_one(tmp_path):
    path = workbook(tmp_path / "w.xlsx", [["id", "score"], [1, 2]], sheets=("A", "B"))
    assert [note.kind for note in read_raw(path).findings] == ["sheet_chosen"]
    with pytest.raises(TableError, match=r"w\.xlsx: sheet 'B' is empty"):
        read_raw(path, sheet="B")
    with pytest.raises(TableError, match=r"sheet 'C' is unknown \(allowed: A, B\)"):
        read_raw(path, sheet="C")


def test_jsonl_names_the_physical_line(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text('{"id": 1}\n\n{"id": 2,\n[]\n{"id": 3}\n')
    with pytest.raises(TableError, match=r"r\.jsonl: line 3 is not valid JSON .*1 more bad line"):
        read_raw(path)
    raw = read_raw(path, skip_bad_lines=True)
    assert raw.frame["id"].to_list() == [1, 3]
    (note,) = raw.findings
    assert (note.kind, note.count) == ("bad_lines", 2)
    assert [place.split()[1] for place in note.places] == ["3", "4"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("7", "holds a number, not an object"),
        ('"text"', "holds a text, not an object"),
        ("null", "holds null, not an object"),
        ('{"id": 1, "score": 2, "score": 3}', "gives the key 'score' two different values"),
        ("[" * 100_000, "is nested too deeply"),
    ],
)
def test_jsonl_lines_that_are_no_record(tmp_path, line, problem):
    path = tmp_path / "r.jsonl"
    path.write_text('{"id": 1}\r\n' + line + "\r\n")
    with pytest.raises(TableError, match=f"line 2 {problem}"):
        read_raw(path)


def test_jsonl_line_separators_inside_text_do_not_end_a_line(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text('{"id": 1, "text": "a\u2028b\u0085c"}\n{"id": 2}\n', encoding="utf-8")
    assert read_raw(path).frame["text"].to_list() == ["a\u2028b\u0085c", None]


def test_json_columns_of_mixed_types_lose_nothing(tmp_path):
    path = tmp_path / "r.json"
    rows = [
        {"id": 9007199254740993, "x": 1, "reply": {"Calm": 4}, "ok": True},
        {"id": "a", "x": 2.5, "reply": None},
        {"id": 2**70, "x": None, "reply": "text"},
    ]
    path.write_text(json.dumps(rows))
    frame = read_raw(path).frame
    assert frame["id"].to_list() == ["9007199254740993", "a", str(2**70)]
    assert frame["x"].to_list() == [1.0, 2.5, None]
    assert frame["reply"].to_list() == ['{"Calm": 4}', None, "text"]
    assert frame["ok"].to_list() == [True, None, None]


def test_json_object_around_one_list(tmp_path):
    path = tmp_path / "r.json"
    path.write_text(json.dumps({"version": 1, "ratings": [{"id": 1}]}))
    assert read_raw(path).frame["id"].to_list() == [1]
    path.write_text("[1, 2]")
    with pytest.raises(TableError, match=r"r\.json: record 1 is a number, not an object"):
        read_raw(path)


def test_parquet_nested_values_become_json_text(tmp_path):
    path = tmp_path / "r.parquet"
    pl.DataFrame({"id": [1], "a": [{"x": 1}], "b": [[1, 2]]}).write_parquet(path)
    frame = read_raw(path).frame
    assert frame.row(0) == (1, '{"x":1}', "[1,2]")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("r.csv", "", r"r\.csv: the file is empty"),
        ("r.csv", "item,score\n", r"r\.csv: there is a header but no rows"),
        ("r.csv", "item,score\n\n,\n", r"r\.csv: there is a header but no rows"),
        ("r.csv", "item, score,score \n1,2,3\n", r"two columns are equal after trimming: ' score'"),
        ("r.csv", "Unnamed: 0,Unnamed: 1\n1,2\n", r"r\.csv: no column has a header"),
        ("r.jsonl", "", r"r\.jsonl: there are no rows"),
        ("r.json", "{", r"r\.json: is not valid JSON"),
        ("r.json", "3", r"r\.json: holds a number where a list of objects is needed"),
        ("r.json", "[]", r"r\.json: there are no rows"),
        ("r.parquet", "no", r"r\.parquet: by its content it is text, which '\.parquet'"),
        ("r.xlsx", "no", r"r\.xlsx: by its content it is text, which '\.xlsx'"),
        ("r.docx", "no", r"suffix '\.docx' is unknown \(allowed: \.xlsx"),
        ("r", "no", r"suffix '' is unknown"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(TableError, match=message) as caught:
        read_raw(path)
    assert "\n" not in str(caught.value)
    assert "Traceback" not in str(caught.value)


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(TableError, match=r"nowhere\.csv: there is no such file"):
        read_raw(tmp_path / "nowhere.csv")
    with pytest.raises(TableError, match="is a folder where a file of ratings is needed"):
        read_raw(tmp_path)


def test_a_title_above_the_header_is_left_out_aloud(tmp_path):
    rows = [["Ratings of March", None], [None, None], ["item", "score"], [1, 4], [2, 5]]
    raw = read_raw(workbook(tmp_path / "a.xlsx", rows))
    assert raw.frame.columns == ["item", "score"]
    assert raw.place(0) == "row 4"
    (note,) = raw.findings
    assert (note.kind, note.places) == ("rows_above_header", ("Ratings of March",))


@pytest.mark.parametrize(
    ("above", "line"),
    [("# ratings of May, second wave\n", 5), ('# "a\n\n#b;c\n', 7), ("\ufeff# x\r\n", 5)],
)
def test_remarks_above_the_header_are_left_out_aloud(tmp_path, above, line):
    path = tmp_path / "a.csv"
    path.write_text(
        above + "item,human,judge\n1,3,4\n2,4,4\n3,5,x9\n", encoding="utf-8", newline=""
    )
    with pytest.raises(TableError, match=f"column 'judge', line {line} "):
        read_file(path)
    path.write_text(above + "item,human,judge\n1,3,4\n2,4,4\n3,5,1\n", encoding="utf-8", newline="")
    _, found = read_file(path)
    (note,) = [one for one in found.findings if one.kind == "rows_above_header"]
    assert note.places[0].startswith("#")
    assert found.ratings.height == 6


def test_a_header_may_begin_with_the_sign_of_remarks(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("# of May\n#item,human,judge\n1,3,4\n2,4,4\n3,5,1\n")
    _, found = read_file(path, read=ReadOptions(item="#item"))
    assert found.ratings.height == 6


def test_sheets_without_a_table_are_all_named(tmp_path):
    path = workbook(tmp_path / "a.xlsx", [["Read me"]], sheets=("About", "Data"))
    message = r"a\.xlsx: sheet 'About' has a header but no rows, sheet 'Data' is empty"
    with pytest.raises(TableError, match=message):
        read_raw(path)


def test_empty_workbooks(tmp_path):
    with pytest.raises(TableError, match="sheet 'Sheet1' is empty"):
        read_raw(workbook(tmp_path / "a.xlsx", []))
    with pytest.raises(TableError, match="sheet 'Sheet1' has a header but no rows"):
        read_raw(workbook(tmp_path / "b.xlsx", [["id", "score"]]))


def test_headers_are_trimmed_and_the_originals_kept(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("id, human_a,human_b \n1,2,3\n")
    raw = read_raw(path)
    assert raw.frame.columns == ["id", "human_a", "human_b"]
    assert raw.headers == {"id": "id", "human_a": " human_a", "human_b": "human_b "}
    (note,) = raw.findings
    assert (note.kind, note.count) == ("headers_trimmed", 2)


@pytest.mark.parametrize("header", ["", "  ", "Unnamed: 0"])
def test_row_numbers_without_a_header_are_left_out_aloud(tmp_path, header):
    path = tmp_path / "r.csv"
    path.write_text(f"{header},item,score,\n0,1,2,\n1,2,3,\n")
    raw = read_raw(path)
    assert raw.frame.columns == ["item", "score"]
    (note,) = raw.findings
    assert (note.kind, note.places) == ("unnamed_columns", ("column 1",))


@given(st.binary(max_size=80), st.sampled_from([".csv", ".jsonl", ".json", ".xlsx", ".parquet"]))
def test_any_bytes_are_a_table_or_one_sentence(tmp_path_factory, data, suffix):
    path = tmp_path_factory.mktemp("bytes") / f"r{suffix}"
    path.write_bytes(b"item,score\n" + data if suffix == ".csv" else data)
    message = _outcome(path)
    assert message is None or str(path.name) in message
    assert "\n" not in (message or "")


def _outcome(path):
    """The error's sentence, or None where the bytes make a table."""
    try:
        assert read_raw(path).frame.height > 0
    except TableError as error:
        return str(error)
    return None


def test_errors_name_the_first_line_of_a_record_and_its_item(tmp_path):
    path = tmp_path / "r.csv"
    rows = 'item,text,human,judge\na,"one\ntwo\nthree",1,2\n\nb,"four\nfive",4,oops\n'
    path.write_text(rows)
    with pytest.raises(
        TableError, match=r"^r\.csv: column 'judge', line 6 \(item 'b'\) holds 'oops'"
    ):
        read_file(path)
    path.write_text(rows.replace("oops", "3,9"))
    with pytest.raises(TableError, match=r"^r\.csv: line 6, which begins 'b', has 5 fields where"):
        read_file(path)
