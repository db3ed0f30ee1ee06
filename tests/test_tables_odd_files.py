"""Files as spreadsheets, exports and scripts leave them: headers, sheets, encodings, suffixes."""

from __future__ import annotations

import json

import polars as pl
import pytest
import xlsxwriter

from voirdire import TableError
from voirdire.tables import read_file, read_raw

ROWS = [("i1", 1, 2), ("i2", 4, 5), ("i3", 3, 3)]
WIDE = "item,human,judge\n" + "".join(f"{i},{a},{b}\n" for i, a, b in ROWS)
GRID = "i1,1,2,3,4\ni2,4,5,1,2\ni3,3,3,2,1\n"


def kinds(raw):
    return [note.kind for note in raw.findings]


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def workbook(path, sheets, hidden=()):
    book = xlsxwriter.Workbook(str(path))
    for name, rows in sheets.items():
        if rows is None:
            book.add_chartsheet(name)
            continue
        sheet = book.add_worksheet(name)
        for at, row in enumerate(rows):
            sheet.write_row(at, 0, row)
        if name in hidden:
            sheet.hide()
    if hidden:
        book.get_worksheet_by_name(next(n for n in sheets if n not in hidden)).activate()
        book.get_worksheet_by_name(next(n for n in sheets if n not in hidden)).set_first_sheet()
    book.close()
    return path


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_its_mark(tmp_path, encoding):
    raw = read_raw(write(tmp_path / "r.csv", WIDE.encode(encoding)))
    assert raw.frame["human"].to_list() == ["1", "4", "3"]


def test_a_nul_character_is_named(tmp_path):
    with pytest.raises(TableError, match=r"r\.csv: line 3 holds a NUL character"):
        read_raw(write(tmp_path / "r.csv", WIDE.replace("i2", "i\x002")))


def test_lines_that_are_not_utf8_are_named(tmp_path):
    content = WIDE.encode() + "Zoë,1,1\n".encode("cp1252") + b"i5,1,1\n"
    [note] = read_raw(write(tmp_path / "r.csv", content)).findings
    assert (note.kind, note.places) == ("encoding", ("line 5",))


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("r.tsv", WIDE, [2, 3, 4]),
        ("r.tsv", WIDE.replace(",", "\t").replace("item", "item, of mine"), [2, 3, 4]),
        ("r.csv", "sep=;\n" + WIDE.replace(",", ";"), [3, 4, 5]),
        ("r.csv", '"sep=;"\r\n' + WIDE.replace(",", ";").replace("\n", "\r\n"), [3, 4, 5]),
    ],
)
def test_the_separator_is_found(tmp_path, name, text, lines):
    raw = read_raw(write(tmp_path / name, text))
    assert raw.frame["judge"].to_list() == ["2", "5", "3"]
    assert raw.numbers().to_list() == lines


@pytest.mark.parametrize("text", ["My study,,\n,,\n" + WIDE, "# exported by a tool\n\n" + WIDE])
def test_titles_above_the_header_of_a_csv_file(tmp_path, text):
    raw = read_raw(write(tmp_path / "r.csv", text))
    assert raw.frame.columns == ["item", "human", "judge"]
    assert raw.numbers().to_list() == [4, 5, 6]
    assert kinds(raw) == ["rows_above_header"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (WIDE.replace("i2,", '"i2,'), 3),
        ('item,text,score\n1,"a\nb",4\n2,"open,5\n3,c,4\n', 4),
    ],
)
def test_a_quote_that_is_never_closed_swallows_no_rows(tmp_path, text, line):
    with pytest.raises(TableError, match=rf"r\.csv: a quote opened in line {line} is never closed"):
        read_raw(write(tmp_path / "r.csv", text))


@pytest.mark.parametrize(
    "header",
    [
        "item,human,,judge,\n,Calm,Warm,Calm,Warm\n",
        "item,human,human,judge,judge\n,Calm,Warm,Calm,Warm\n",
        ",human,human,judge,judge\n,Calm,Warm,Calm,Warm\nitem,,,,\n",
        "My study,,,,\n,human,,judge,\nitem,Calm,Warm,Calm,Warm\n",
    ],
)
def test_two_header_rows_are_joined(tmp_path, header):
    path = write(tmp_path / "r.csv", header + GRID)
    assert read_raw(path).frame.columns == [
        "item",
        "human_Calm",
        "human_Warm",
        "judge_Calm",
        "judge_Warm",
    ]
    study, tables = read_file(path)
    assert [a.name for a in study.rubric.attributes] == ["Calm", "Warm"]
    warm = tables.ratings.filter(pl.col("rater") == "judge", pl.col("attribute") == "Warm")
    assert warm["score"].to_list() == [4.0, 2.0, 1.0]
    assert "header_joined" in [note.kind for note in tables.findings]


def test_merged_header_cells_of_a_workbook(tmp_path):
    rows = [("item", "human", "", "judge", ""), ("", "Calm", "Warm", "Calm", "Warm")]
    body = [(line.split(",")[0], *map(int, line.split(",")[1:])) for line in GRID.split()]
    raw = read_raw(workbook(tmp_path / "r.xlsx", {"a": rows + body}))
    assert raw.frame["human_Warm"].to_list() == [2, 5, 3]
    assert raw.numbers().to_list() == [3, 4, 5]


@pytest.mark.parametrize(
    "text",
    [
        ",item,human,judge\n0,i1,1,2\n1,i2,4,5\n",
        "item,,human,judge\ni1,x,1,2\ni2,y,4,5\n",
        "item,text,,reply\ni1,a,b,c\ni2,d,e,f\n",
    ],
)
def test_a_row_of_data_is_no_second_header(tmp_path, text):
    assert read_raw(write(tmp_path / "r.csv", text)).frame.height == 2


def test_columns_without_a_header_are_a_note_only_where_they_count_rows(tmp_path):
    for values, severity in ((("0", "1"), "note"), (("4", "2"), "serious")):
        text = f",item,human\n{values[0]},i1,1\n{values[1]},i2,2\n"
        [note] = read_raw(write(tmp_path / "r.csv", text)).findings
        assert (note.kind, note.severity) == ("unnamed_columns", severity)


def test_equal_headers(tmp_path):
    with pytest.raises(TableError, match=r"r\.csv: two columns are called 'human'"):
        read_raw(write(tmp_path / "r.csv", "item,human,human\n1,2,3\n"))


def test_the_first_visible_sheet_with_a_table_is_read(tmp_path):
    table = [("item", "human"), ("i1", 1)]
    old = [("item", "human"), ("i1", 5)]
    sheets = {"old": old, "about": [("Read me",)], "chart": None, "data": table, "more": old}
    raw = read_raw(workbook(tmp_path / "r.xlsx", sheets, hidden=("old",)))
    assert raw.frame["human"].to_list() == [1]
    [note] = raw.findings
    assert note.message == "The workbook has 5 sheets; 'data' was read."
    assert note.places == ("old", "about", "chart", "more")


def test_numbers_as_headers_of_a_workbook(tmp_path):
    raw = read_raw(workbook(tmp_path / "r.xlsx", {"a": [("item", 1, 2.5), ("i1", 3, 4)]}))
    assert raw.frame.columns == ["item", "1", "2.5"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("r.csv", b"PK\x03\x04rest", "is a workbook or an archive, which '.csv' does not say;"),
        ("r.xlsx", WIDE.encode(), "is text, which '.xlsx' does not say;"),
        ("r.xlsx", b"\xd0\xcf\x11\xe0rest", r"encrypted workbook.*\(is it protected by a password"),
        ("r.jsonl", b"PAR1rest", "is Parquet, which '.jsonl' does not say;"),
        ("r.parquet", b"\x1f\x8brest", "is compressed by gzip, which '.parquet' does not say;"),
        ("r.xlsx", b"", "the file is empty"),
        ("r.json", b"", "the file is empty"),
    ],
)
def test_content_that_is_not_what_the_suffix_says(tmp_path, name, content, message):
    with pytest.raises(TableError, match=rf"^{name}: .*{message}"):
        read_raw(write(tmp_path / name, content))


def test_a_path_where_nothing_lies_suggests_what_may_be_meant(tmp_path):
    write(tmp_path / "ratings.csv", WIDE)
    for name in ("Ratings.csv", "rating.csv"):
        with pytest.raises(TableError, match=r"no such file \(did you mean 'ratings\.csv'\?\)$"):
            read_raw(tmp_path / name)
    with pytest.raises(TableError, match=r"no such file \(write '/' between folders\)$"):
        read_raw(str(tmp_path / "sub\\ratings.csv"))
    with pytest.raises(TableError, match=r"no such file$"):
        read_raw(tmp_path / "else.csv")


RECORDS = [{"item": i, "human": a, "judge": b} for i, a, b in ROWS]
COLUMNS = {key: [row[key] for row in RECORDS] for key in RECORDS[0]}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.json", json.dumps({"raters": ["a", "b"], "data": RECORDS})),
        ("r.json", json.dumps(COLUMNS)),
        ("r.json", json.dumps({k: {str(n): v for n, v in enumerate(c)} for k, c in COLUMNS.items()})),
        ("r.json", "\n".join(map(json.dumps, RECORDS))),
        ("r.jsonl", json.dumps(RECORDS, indent=1)),
    ],
)  # fmt: skip
def test_json_however_it_is_laid_out(tmp_path, name, text):
    assert read_raw(write(tmp_path / name, text)).frame.to_dicts() == RECORDS


def test_two_answers_under_one_key_of_a_json_list(tmp_path):
    with pytest.raises(TableError, match="gives the key 'human' two different values"):
        read_raw(write(tmp_path / "r.json", '[{"item": 1, "human": 1, "human": 2}]'))
