"""Sections without an examination: to a terminal and to every file."""

from __future__ import annotations

import csv
import io
import json

import pytest
from rich.console import Console

from voirdire import InputError
from voirdire.report import print_sections, write_sections
from voirdire.schema import Finding
from voirdire.tabular import Section, SectionFigure, Spread, Table, count, interval, number, text

TABLE = Table(
    (text("Judge"), count("n"), number("F1"), interval("Interval")),
    (("=cmd", 12, Spread(0.5, 0.1), (0.25, 0.75)), ("b\u202eb", None, None, None)),
)
FIGURE = SectionFigure("bars", ("a", "b"), (("F1", (0.5, 0.25)),))
SECTIONS = (
    Section("Scores", "Of two judges.", (TABLE, Table((count("n"),), ((1,),))), (FIGURE,)),
    Section("Words", "Nothing to see."),
)
FINDING = Finding("odd", "serious", "a.csv", 1, ("row 2",), "One row is odd.", "It was kept.")


def test_a_terminal_shows_tables_text_and_findings():
    stream = io.StringIO()
    print_sections("Done", SECTIONS, (FINDING,), Console(file=stream, width=80))
    said = stream.getvalue()
    assert said.startswith("Done\n\nScores\nJudge    ")
    assert "=cmd     12 0.500 ± 0.100 [0.250, 0.750]" in said
    assert "b\\u202eb" in said
    assert "▲ serious: One row is odd. It was kept." in said


def test_every_format_is_written_and_figures_beside_them(tmp_path):
    paths = write_sections("Done", SECTIONS, tmp_path / "new", "found", findings=(FINDING,))
    assert sorted(path.name for path in paths) == [
        "found-2.csv", "found.csv", "found.html", "found.json", "found.md", "found.tex",
        "found_section_1.png", "found_section_1.svg",
    ]  # fmt: skip
    with (tmp_path / "new" / "found.csv").open(encoding="utf-8", newline="") as file:
        first, second = csv.DictReader(file)
    assert first == {
        "Judge": "'=cmd", "n": "12", "F1": "0.5", "F1, SD": "0.1",
        "Interval, low": "0.25", "Interval, high": "0.75",
    }  # fmt: skip
    assert second["n"] == second["F1"] == second["Interval, low"] == ""
    html = (tmp_path / "new" / "found.html").read_text("utf-8")
    assert "b\\u202eb" in html
    assert "\u202e" not in html
    assert "<svg" in html
    assert "One row is odd." in html
    said = json.loads((tmp_path / "new" / "found.json").read_text("utf-8"))
    assert said["sections"][0]["tables"][0]["rows"][1][1:] == [None, None, None]
    assert "| =cmd | 12 | 0.500 ± 0.100 |" in (tmp_path / "new" / "found.md").read_text("utf-8")


def test_a_record_stands_in_place_of_the_sections(tmp_path):
    record = {"mean": float("nan"), "n": 3}
    write_sections("Done", SECTIONS, tmp_path, "found", formats=["json"], record=record)
    found = json.loads((tmp_path / "found.json").read_text("utf-8"))
    assert found == {"schema_version": 1, "mean": None, "n": 3}
    with pytest.raises(InputError, match="pdf"):
        write_sections("Done", SECTIONS, tmp_path, "found", formats=["pdf"])
