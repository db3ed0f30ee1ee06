"""The terminal: grid, findings, place; narrow windows, pipes, no colour, no Unicode."""

from __future__ import annotations

import dataclasses
import io
import re

import polars as pl
import pytest
from examinations import with_changes
from rich.console import Console

from voirdire.examining import examine
from voirdire.report import print_examination, print_fitted
from voirdire.report.answers import answers, leads
from voirdire.report.words import STATES
from voirdire.shown import terminal, visible
from voirdire.tabular import Section, Table, number, text


def printed(examination, width=100, folder=None, encoding="utf-8", **options):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    console = Console(file=stream, width=width, highlight=False, **options)
    print_examination(examination, folder, console)
    stream.flush()
    return raw.getvalue().decode(encoding)


def test_grid_findings_and_place(example, tmp_path):
    (tmp_path / "report.html").write_text("")
    text = printed(example, folder=tmp_path)
    assert all(" ".join(lead.split()) in " ".join(text.split()) for lead in leads(answers(example)))
    assert "✓ yes, ✕ no, ? open, · not tested" in " ".join(text.split())
    assert text.count("serious: ") == 3
    assert "in the report and audit.json." in text
    assert text.rstrip().endswith(str(tmp_path / "report.html"))


@pytest.mark.parametrize("width", [20, 30, 40, 60, 80, 120, 200])
def test_every_width_shows_every_verdict_whole(example, width):
    text = printed(example, width)
    signs = {word.sign for word in STATES.values()}
    lines = text[: text.index("✓ yes")].splitlines()
    marks = [sign for line in lines for sign in re.findall(r"(?<=\s)\S(?=\s|$)", line)]
    # Every verdict on these systems, of the uses that were tested for any judge.
    here = [verdict for verdict in example.verdicts if verdict.target == "these systems"]
    tested = {verdict.use for verdict in here if verdict.state != "not tested"}
    assert sum(mark in signs for mark in marks) == sum(v.use in tested for v in here)
    if width >= 40:
        assert max(map(len, text.splitlines())) <= width


def as_published(examination):
    """The examination of a study that asks for the published classes."""
    study = examination.study
    analysis = study.analysis.model_copy(update={"published_class": "badawi2025"})
    return with_changes(examination, study=study.model_copy(update={"analysis": analysis}))


def test_the_class_is_explained_under_its_table(example):
    found = as_published(example)
    assert "precision relative to one published study, not reliability" in printed(found, 200)
    assert "GR, MR, PR" not in printed(found, 30)


def test_other_studies_have_no_column_of_published_classes(example):
    text = printed(example, 200)
    assert "GR, MR, PR" not in text
    assert "Class" not in text


def test_a_pipe_gets_no_escapes(example):
    assert "\x1b" not in printed(example)


def test_no_color_is_respected(example, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    text = printed(example, force_terminal=True)
    assert "\x1b[3" not in text  # no foreground colour
    assert "\x1b[31m" not in text


def test_colour_where_there_is_a_terminal(example, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b[" in printed(example, force_terminal=True)


def test_ascii_terminals_get_ascii_signs(example):
    text = printed(example, encoding="ascii")
    assert "v yes, x no, ? open, . not tested" in " ".join(text.split())


def test_markup_in_names_is_text(example):
    from dataclasses import replace

    verdict = replace(example.verdicts[0], judge="[red]x[/red]")
    found = with_changes(example, verdicts=(verdict,), results=(), composites=())
    assert "[red]x[/red]" in printed(found)


def test_nothing_found_is_said(example):
    text = printed(with_changes(example, findings=(), verdicts=()))
    assert "nothing odd" in text
    assert "No verdict" in text


@pytest.mark.parametrize("width", [30, 60, 80, 150])
def test_names_of_any_length_are_cut_and_numbers_are_not(width):
    judges = ("J" * 10_000, "K")
    rows = [
        (item, system, rater, "A" * 300, 1 + (item * 7 + ord(system) * 3 + len(rater)) % 5)
        for item in range(6)
        for system in "abcdef"
        for rater in ("human", *judges)
    ]
    columns = ["item", "system", "rater", "attribute", "score"]
    found = examine(pl.DataFrame(rows, schema=columns, orient="row"), reference=["human"])
    lines = printed(found, width).splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) < 80
    assert sum(f"{found.results[0].icc_c1:.3f}" in line for line in lines) >= 1


def test_the_star_of_a_borderline_class_is_explained(example):
    starred = dataclasses.replace(example.results[0], reliability_class="GR", class_borderline=True)
    text = printed(as_published(with_changes(example, results=(starred, *example.results[1:]))))
    assert "GR*" in text
    assert "* the seed of the bootstrap decides this class" in text


COLUMNS = ("Annotator", "Label", "Kappa", "Low", "High", "Items named", "Undefined because")
ROWS = [
    ("north-annotator", "all-or-nothing thinking", "0.912", "0.850", "0.974", "33", ""),
    ("north-annotator", "Average", "0.844", "–", "–", "–", ""),
    ("south-annotator", "all-or-nothing thinking", "0.731", "0.602", "0.860", "31", ""),
]


def fitted(width, columns=COLUMNS, rows=ROWS):
    stream = io.StringIO()
    table = Table(tuple(map(text, columns)), tuple(map(tuple, rows)))
    print_fitted(Console(file=stream, width=width), table)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def test_a_table_that_fits_is_left_alone():
    assert fitted(100)[0] == (
        "Annotator       Label                   Kappa Low   High  Items named Undefined because"
    )


def test_a_narrow_table_drops_blank_columns_and_breaks_headers_and_long_texts():
    assert fitted(58) == [
        "                                                   Items",
        "Annotator       Label            Kappa Low   High  named",
        "north-annotator all-or-nothing   0.912 0.850 0.974 33",
        "                thinking",
        "north-annotator Average          0.844 –     –     –",
        "south-annotator all-or-nothing   0.731 0.602 0.860 31",
        "                thinking",
    ]


def test_a_narrower_one_puts_rows_under_their_first_cell():
    assert fitted(46) == [
        "                                     Items",
        "  Label            Kappa Low   High  named",
        "north-annotator",
        "  all-or-nothing   0.912 0.850 0.974 33",
        "  thinking",
        "  Average          0.844 –     –     –",
        "south-annotator",
        "  all-or-nothing   0.731 0.602 0.860 31",
        "  thinking",
    ]


def test_at_last_each_row_is_a_list_with_the_names_of_its_cells():
    assert fitted(34)[:5] == [
        "north-annotator",
        "  Label: all-or-nothing thinking,",
        "    Kappa: 0.912, Low: 0.850,",
        "    High: 0.974, Items named: 33",
        "  Label: Average, Kappa: 0.844,",
    ]


@pytest.mark.parametrize("width", range(26, 110, 3))
def test_no_width_cuts_a_number_or_a_word(width):
    lines = fitted(width)
    assert max(map(len, lines)) <= width
    said = " ".join(" ".join(lines).replace(",", " ").split())
    for row in ROWS:
        for cell in row:
            assert all(word in said for word in cell.split())
    assert "…" not in said


def test_leading_sections_are_printed_before_the_coefficients(example):
    main = Section(
        "Accuracy",
        "Said of it.",
        (Table((text("Rater"), number("Accuracy")), (("a", 0.5),)),),
        leading=True,
    )
    other = Section("Errors", "", (Table((text("Item"),), (("i1",),)),))
    said = printed(example.replace(sections=(main, other)))
    assert said.index("Accuracy\nRater Accuracy\na        0.500") < said.index("ICC(C,1)")
    assert "Said of it." in said
    assert "Also in the report: Errors." in said
    assert "i1" not in said


def test_a_folder_may_be_a_text(example):
    stream = io.StringIO()
    print_examination(example, "out", Console(file=stream, width=100))
    assert "Report: out" in stream.getvalue()


def test_a_terminal_takes_no_markup_no_emoji_and_no_escapes(capsys):
    console = terminal()
    console.print(visible("[red]openai:m: \x1b[31mred \u202eevil"))
    assert capsys.readouterr().out == "[red]openai:m: \\x1b[31mred \\u202eevil\n"


def test_the_answer_comes_before_findings_and_coefficients(example):
    text = printed(example, 80)
    first = answers(example)[0].sentence[:30]
    assert text.index(first) < text.index("✓ yes") < text.index("serious: ")
    assert text.index("serious: ") < text.index("ICC(C,1)")
    assert max(map(len, text.splitlines())) <= 80
