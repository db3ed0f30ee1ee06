"""Files that were made, or have come, to take memory: a clear error, and under a gigabyte."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import zipfile

import pytest
import xlsxwriter

from voirdire.errors import InputError, TableError
from voirdire.examining import audit_source
from voirdire.study import build_study, load_study
from voirdire.tables import read_file, read_items, read_responses
from voirdire.tables._files import read_raw
from voirdire_plugins.readers.mt_bench import read as read_export

#: Runs the command line in a child of its own and prints the largest memory that it took, in MB.
MEASURED = """
import json, resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "voirdire", *sys.argv[1:]], capture_output=True, text=True)
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
print(json.dumps({"code": done.returncode, "said": done.stderr + done.stdout, "mb": most}))
"""


def measured(*args, cwd):
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *args],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return json.loads(done.stdout)


def workbook(path, *more):
    book = xlsxwriter.Workbook(str(path))
    page = book.add_worksheet()
    page.write_row(0, 0, ["item", "human", "judge"])
    for at in range(1, 7):
        page.write_row(at, 0, [f"q{at}", 1 + at % 5, 1 + at * at % 5])
    for row, column, value in more:
        page.write(row, column, value)
    book.close()
    return path


def opendocument(path, rows):
    """A spreadsheet of OpenDocument with one sheet of these rows."""
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    names = ("office", "table", "text")
    spaces = " ".join(f'xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in names)
    body = "<office:body><office:spreadsheet>"
    body += f'<table:table table:name="Ratings">{rows}</table:table>'
    body += "</office:spreadsheet></office:body>"
    content = f'<office:document-content {spaces} office:version="1.2">{body}'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("mimetype", kind)
        book.writestr("META-INF/manifest.xml", "<manifest/>")
        book.writestr("content.xml", f"{content}</office:document-content>")
    return path


def cell(value, times=1):
    kind = "float" if isinstance(value, int) else "string"
    said = f' office:value="{value}"' if kind == "float" else ""
    again = f' table:number-columns-repeated="{times}"' if times > 1 else ""
    return (
        f'<table:table-cell{again} office:value-type="{kind}"{said}>'
        f"<text:p>{value}</text:p></table:table-cell>"
    )


def row(*cells, times=1):
    again = f' table:number-rows-repeated="{times}"' if times > 1 else ""
    return f"<table:table-row{again}>{''.join(cells)}</table:table-row>"


TABLE = row(cell("item"), cell("human"), cell("judge")) + "".join(
    row(cell(f"q{at}"), cell(1 + at % 5), cell(1 + at * at % 5)) for at in range(1, 7)
)
GAP = '<table:table-cell table:number-columns-repeated="{}"/>'


def test_a_stray_cell_at_zz200000_is_an_error_in_little_memory(tmp_path):
    workbook(tmp_path / "r.xlsx", (199_999, 701, "x"))
    found = measured("examine", "r.xlsx", cwd=tmp_path)
    assert found["code"] == 1
    assert "stray cell" in found["said"]
    assert "ZZ200000" in found["said"]
    assert found["mb"] < 1000


def test_a_small_bomb_is_an_error_in_little_memory(tmp_path):
    """A megabyte or so that unpacks to more than one gigabyte."""
    source = workbook(tmp_path / "r.xlsx")
    with (
        zipfile.ZipFile(source, "a", zipfile.ZIP_DEFLATED, compresslevel=9) as book,
        book.open("xl/padding.xml", "w", force_zip64=True) as part,
    ):
        for _ in range(1_100):
            part.write(bytes(1_000_000))
    assert source.stat().st_size < 3_000_000
    found = measured("examine", "r.xlsx", cwd=tmp_path)
    assert found["code"] == 1
    assert "unpacks from" in found["said"]
    assert found["mb"] < 1000


def test_a_spreadsheet_of_opendocument_is_read(tmp_path):
    more = '<table:table-row table:number-rows-repeated="1048569">' + GAP.format(16_384)
    source = opendocument(tmp_path / "r.ods", TABLE + more + "</table:table-row>")
    _, tables = read_file(source)
    assert tables.ratings["score"].to_list()[:3] == [2, 3, 4]
    assert tables.ratings.height == 12


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (
            TABLE + row(GAP.format(3), times=199_993) + row(GAP.format(701), cell("x")),
            "stray cell",
        ),
        (TABLE + row(cell(3, times=16_384), times=1_000_000), "cells with a value, more than"),
    ],
)
def test_a_stray_cell_and_a_bomb_of_opendocument(tmp_path, rows, says):
    opendocument(tmp_path / "r.ods", rows)
    found = measured("examine", "r.ods", cwd=tmp_path)
    assert found["code"] == 1
    assert says in found["said"]
    assert found["mb"] < 1000


def test_a_binary_workbook_is_refused_in_words(tmp_path):
    (tmp_path / "r.xlsb").write_bytes(b"PK\x03\x04")
    with pytest.raises(TableError, match=r"save it as .xlsx or CSV"):
        audit_source(tmp_path / "r.xlsb")


DEEP = f"a = {'[' * 100_000}{']' * 100_000}"


def test_toml_nested_too_deeply_is_an_error_of_ours_wherever_it_is_read(tmp_path):
    from voirdire_judges.questionnaires import load_questionnaire
    from voirdire_judges.rubrics import load_rubric

    path = tmp_path / "deep.toml"
    path.write_text(DEEP)
    for read in (load_study, load_rubric, load_questionnaire):
        with pytest.raises(InputError, match=r"deep.toml: its tables or lists are nested too"):
            read(str(path))


WORDS = ["nan", "NaN", "n/a", "-", "No response", "[no response]", "", "None"]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "xlsx", "parquet"])
def test_what_says_that_there_is_no_text_is_no_text(tmp_path, suffix):
    import polars as pl

    texts = [*WORDS, "?", "No.", "a nan of calm"]
    path = tmp_path / f"r.{suffix}"
    frame = pl.DataFrame({"item": [f"q{n}" for n in range(len(texts))], "A": texts})
    if suffix == "xlsx":
        book = xlsxwriter.Workbook(str(path))
        page = book.add_worksheet()
        for at, cells in enumerate([frame.columns, *frame.rows()]):
            page.write_row(at, 0, cells)
        book.close()
    else:
        write = {
            "csv": frame.write_csv,
            "jsonl": frame.write_ndjson,
            "parquet": frame.write_parquet,
        }
        write[suffix](path)
    spec = {"name": "s", "items": {"path": path.name, "id": "item", "text": "A"}}
    spec["responses"] = {"path": path.name, "item": "item", "columns": {"A": "a"}}
    study = build_study(spec, folder=str(tmp_path))
    kept = [r.text for r in read_responses(study, study.responses)]
    assert kept == ["?", "No.", "a nan of calm"]
    assert [item.text for item, _ in read_items(study, study.items)] == [""] * len(WORDS) + kept


HALF = r'{"item": "p1\ud800", "system": "a", "rater": "h1", "attribute": "E", "score": 3}'


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.jsonl", HALF + "\n" + HALF.replace(r"\ud800", ""), r"a\.jsonl: line 1 holds half a"),
        ("a.json", f"[{HALF.replace(chr(92) + 'ud800', '')}, {HALF}]", r"a\.json: record 2 holds half"),
        ("b.jsonl", HALF.replace("item", r"\udc00"), r"b\.jsonl: line 1 holds half"),
    ],
)  # fmt: skip
def test_half_a_character_is_named_with_its_line_and_key(tmp_path, name, text, says):
    (tmp_path / name).write_text(text)
    with pytest.raises(TableError, match=says):
        read_file(tmp_path / name)


def test_a_whole_pair_is_one_character_and_a_written_backslash_is_none(tmp_path):
    row = r'{"item": "p\ud83d\ude00", "note": "\\ud800", "score": 3}'
    (tmp_path / "a.jsonl").write_text(row)
    frame = read_raw(tmp_path / "a.jsonl").frame
    assert frame["item"].to_list() == ["p\U0001f600"]
    assert frame["note"].to_list() == [r"\ud800"]


def test_half_a_character_in_another_tools_export_is_named(tmp_path):
    rows = [{"question_id": 1, "model": "m\ud800", "judge": ["j", "single-v1"], "score": 3}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(TableError, match=r"a\.jsonl.*line 1.*holds half a character, in 'model'"):
        read_export(tmp_path / "a.jsonl")


def test_more_columns_than_are_read_are_refused_at_once(tmp_path):
    """50,000 of them: no step before the limit takes the square of their number."""
    names = ",".join(f"c{n}" for n in range(50_000))
    rows = "\n".join(f"i{n}," + ",".join("1" * 50_000) for n in range(3))
    (tmp_path / "wide.csv").write_text(f"item,{names}\n{rows}\n")
    began = time.process_time()
    with pytest.raises(TableError, match="has 50,001 columns, and at most 16,384 are read"):
        read_raw(tmp_path / "wide.csv")
    assert time.process_time() - began < 10
