"""Hostile names and texts in every form that is written: shown as they stand, and never acting."""

from __future__ import annotations

import csv
import io
import json
import re
from xml.etree import ElementTree as ET

import polars as pl
import pytest
from command_line import invoke

from voirdire import examine
from voirdire.files import guarded
from voirdire.report import write_outputs
from voirdire.report.sections import FORMATS as SECTION_FORMATS
from voirdire.report.sections import write_sections
from voirdire.schema import Finding
from voirdire.shown import foreign, visible
from voirdire.tabular import Section, Table, number, text

NAMES = (
    "red\x1b[31m", "good\u202edab", "<script>alert(1)</script>", "=HYPERLINK(1)", "a|b\\c",
    "50 % $x$ {y}", "[x](javascript:alert(1))", "<img src=x onerror=alert(1)>", "\x07bell\x00", "&amp;",
)  # fmt: skip
ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def rows(names=NAMES):
    for at in range(24):
        for who, shift in (("human", 0), (names[0], 1), (names[1], 2), (names[2], 3)):
            for attribute in (names[3], names[7]):
                yield (
                    f"{names[at % len(names)]}{at}",
                    names[4 + at % 3],
                    who,
                    attribute,
                    1 + (at * 7 + shift * at) % 5,
                )


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "ratings.jsonl"
    keys = ("item", "system", "rater", "attribute", "score")
    path.write_text("\n".join(json.dumps(dict(zip(keys, row, strict=True))) for row in rows()))
    return path


def check(path):
    """What is true of each form, whatever the names in it."""
    if path.suffix in (".parquet", ".png", ".pdf"):
        return
    content = path.read_text("utf-8")
    assert not ACTING.search(content), path.name
    match path.suffix:
        case ".csv":
            for row in csv.reader(io.StringIO(content)):
                for one in row:
                    try:
                        float(one)
                    except ValueError:
                        assert not one.startswith(("=", "+", "-", "@")), (path.name, one)
        case ".md":
            assert "<script" not in content
            assert "<img" not in content
            assert "](javascript" not in content.replace(r"\[x](javascript", "")
            lines = [line for line in content.splitlines() if line.startswith("|")]
            widths = [len(re.findall(r"(?<!\\)\|", line)) for line in lines]
            assert all(width > 1 for width in widths)
        case ".html":
            shown = re.sub(
                r"<script[^>]*>.*?</script>|<style.*?</style>", "", content, flags=re.DOTALL
            )
            assert "<script>alert" not in content
            assert "<img src=x" not in shown
            assert "&lt;script&gt;alert(1)" in shown
        case ".tex":
            assert r"\script" not in content
            assert "$x$" not in content
            assert "\\x1b" not in content.replace(r"\textbackslash{}x1b", "")
        case ".json":
            json.loads(content)
        case ".svg" | ".xml":
            ET.fromstring(content)  # our own file
            assert "<script>alert" not in content


def test_a_report_in_every_form(source, tmp_path):
    found = examine(source, reference=["human"])
    written = write_outputs(found, tmp_path / "out")
    assert {path.suffix for path in written} >= {
        ".json",
        ".csv",
        ".parquet",
        ".md",
        ".tex",
        ".html",
    }
    for path in written:
        check(path)
    tests = (tmp_path / "out" / "tests.csv").read_text("utf-8")
    assert r"red\x1b[31m" in tests


def test_sections_in_every_form(tmp_path):
    table = Table((text(NAMES[3]), number(NAMES[1])), tuple((name, 0.5) for name in NAMES))
    section = Section(NAMES[2], " ".join(NAMES), (table,))
    finding = Finding("odd", "note", NAMES[0], 1, (NAMES[2],), NAMES[2], NAMES[0])
    for path in write_sections(
        NAMES[0], [section], tmp_path, "all", formats=SECTION_FORMATS, findings=[finding]
    ):
        check(path)
    content = (tmp_path / "all.csv").read_text(encoding="utf-8")
    rows = list(csv.reader(io.StringIO(content)))
    assert [row[0] for row in rows[1:]] == [foreign(name, "csv") for name in NAMES]


def test_a_gate_in_every_form(source, tmp_path):
    lock = tmp_path / "judge.lock"
    made = invoke(["gate", "freeze", source, "--reference", "human", "--as", lock])
    assert made.exit_code == 0, made.output
    invoke(
        [
            "gate",
            "check",
            source,
            "--lock",
            lock,
            "--junit",
            tmp_path / "gate.xml",
            "--markdown",
            tmp_path / "gate.md",
        ]
    )
    for name in ("gate.xml", "gate.md"):
        check(tmp_path / name)


@pytest.mark.parametrize("form", ["terminal", "csv", "md", "tex", "html", "xml"])
@pytest.mark.parametrize("name", NAMES)
def test_one_function_for_all_forms(name, form):
    said = foreign(name, form)
    assert not ACTING.search(said)
    if form in ("md", "html"):
        assert "<" not in said
    if form == "csv":
        assert not said.startswith("=")
        assert guarded(pl.DataFrame({"a": [name]}))["a"].to_list() == [said]
    if form == "terminal":
        assert said == visible(name)


def test_a_table_that_is_read_again_keeps_its_ids():
    frame = pl.DataFrame({"item": ["a\x1bb", "=1"]})
    assert guarded(frame, again=True)["item"].to_list() == ["a\x1bb", "'=1"]
