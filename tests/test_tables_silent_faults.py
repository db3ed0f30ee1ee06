"""What was read wrongly without a word: row numbers as items, swallowed rows, hidden cells, means
as people.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import openpyxl
import polars as pl
import pytest

import voirdire
from voirdire import tables
from voirdire.errors import QuestionError, TableError
from voirdire.study import ReadOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _level(value: float) -> int:
    return min(5, max(1, round(value)))


def _sheets(
    folder: Path, header: list[str], row: Callable[[int, str], list[Any]], *, shuffle: bool = True
) -> list[Path]:
    """Two people's workbooks of the same forty cases, in orders of their own."""
    truth = {f"F-{at:02}": random.Random(at).uniform(1, 5) for at in range(40)}
    paths = []
    for who in ("anna", "bodo"):
        own = random.Random(who)
        cases = list(truth)
        if shuffle:
            own.shuffle(cases)
        book = openpyxl.Workbook()
        sheet = book.active
        sheet.append(header)
        for at, case in enumerate(cases, 1):
            sheet.append([*row(at, case), _level(truth[case] + own.gauss(0, 0.4))])
        paths.append(folder / f"{who}.xlsx")
        book.save(paths[-1])
    return paths


@pytest.mark.parametrize("counter", ["Nr.", "id", "index", "lfd. Nr.", "#"])
@pytest.mark.parametrize("case", ["Fall", "Cas", "ticket"])
def test_numbers_of_rows_are_no_items_where_another_column_names_them(tmp_path, counter, case):
    paths = _sheets(tmp_path, [counter, case, "score"], lambda at, name: [at, name])
    _, rated = tables.read_file(paths, reference=["anna"])
    assert set(rated.ratings["item"]) == {f"F-{at:02}" for at in range(40)}
    wide = rated.ratings.pivot("rater", index="item", values="score")
    assert wide.select(pl.corr("anna", "bodo")).item() > 0.8


def test_numbers_that_say_the_same_in_all_files_are_ids(tmp_path):
    cases = {f"F-{at:02}": at + 1 for at in range(40)}
    paths = _sheets(
        tmp_path, ["id", "Fall", "score"], lambda _, name: [cases[name], name], shuffle=False
    )
    _, rated = tables.read_file(paths, reference=["anna"])
    assert set(rated.ratings["item"]) == {str(at) for at in range(1, 41)}


def test_where_only_numbers_of_rows_are_there_it_is_asked(tmp_path):
    paths = _sheets(tmp_path, ["Nr.", "score"], lambda at, _: [at])
    with pytest.raises(QuestionError, match="only count the rows of each file") as caught:
        tables.read_file(paths, reference=["anna"])
    assert (caught.value.key, caught.value.choices) == ("item", ("Nr.",))
    _, rated = tables.read_file(paths, reference=["anna"], read=ReadOptions(item="Nr."))
    assert rated.ratings.height == 80


def test_a_number_of_rows_gives_way_in_one_file_too(tmp_path):
    path = tmp_path / "r.csv"
    rows = [f"{at},T-{at % 7}{at},{at % 5 + 1},{at % 4 + 1}" for at in range(1, 31)]
    path.write_text("Nr.,ticket,human,judge\n" + "\n".join(rows) + "\n")
    _, rated = tables.read_file(path, reference=["human"])
    assert rated.ratings["item"][0] == "T-11"


def _quoted(rows: dict[int, str], *, separator: str = ",") -> str:
    lines = [separator.join(("item", "text", "human", "judge"))]
    lines += [
        separator.join((str(at), rows.get(at, f"The bus {at} is late"), "3", "4"))
        for at in range(1, 31)
    ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        _quoted({5: '"The bus is late', 24: '"The tram is late'}),
        _quoted({5: '"The bus is late', 24: '"The tram is late'}, separator=";"),
        _quoted({5: '"The bus is late', 24: 'The tram is late"'}),
        _quoted({5: '"The bus, is late', 24: '"The tram, is late, too'}),
        _quoted({5: '"The bus is late', 6: 'The tram is late"'}),
    ],
)
def test_two_stray_quotes_swallow_no_rows(tmp_path, text):
    path = tmp_path / "r.csv"
    path.write_text(text)
    with pytest.raises(TableError, match=r"line(?:s)? 6 .*(?:25|7)"):
        tables.read_file(path)


@pytest.mark.parametrize(
    "cell",
    [
        '"two\nlines"',
        '"a, b\nand c"',
        '"said ""no""\nand left"',
        'the 5" pipe',
        '"{\n""a"": 4,\n}"',
    ],
)
def test_quotes_that_are_right_are_read(tmp_path, cell):
    path = tmp_path / "r.csv"
    path.write_text(_quoted({5: cell}))
    _, rated = tables.read_file(path, reference=["human"])
    assert rated.ratings.height == 60


def test_text_behind_a_closing_quote_is_named(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text(_quoted({5: '"late" again'}))
    with pytest.raises(TableError, match="in line 6 text goes on behind a closing quote"):
        tables.read_file(path)


def _book(path: Path, hide: Callable[[Any], None]) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["item", "human", "rater_2", "judge"])
    for at in range(40):
        score = at % 5 + 1
        sheet.append([f"i{at}", 6 - score if at % 6 == 0 else score, score, score])
    hide(sheet)
    book.save(path)
    return path


def _hide_rows(sheet: Any) -> None:
    for at in range(40):
        sheet.row_dimensions[at + 2].hidden = at % 6 == 0


def _filter(sheet: Any) -> None:
    sheet.auto_filter.ref = "A1:D41"
    sheet.auto_filter.add_filter_column(1, ["1", "2"])
    _hide_rows(sheet)


def test_hidden_rows_are_asked_about(tmp_path):
    for name, hide, said in (
        ("h", _hide_rows, "are hidden;"),
        ("f", _filter, "hidden by a filter"),
    ):
        path = _book(tmp_path / f"{name}.xlsx", hide)
        with pytest.raises(QuestionError, match=rf"7 rows \('2', '8', .*{said}") as caught:
            voirdire.examine(path)
        assert caught.value.key == "hidden"
    for answer, height in (("leave-out", 33 * 3), ("read", 40 * 3)):
        _, rated = tables.read_file(path, reference=["human"], read=ReadOptions(hidden=answer))
        assert rated.ratings.height == height
        kind = "hidden_rows" if answer == "leave-out" else "hidden_cells"
        (note,) = [note for note in rated.findings if note.kind == kind]
        assert note.count == 7


def test_a_hidden_column_is_no_rater_without_a_word(tmp_path):
    def hide(sheet: Any) -> None:
        sheet.column_dimensions["C"].hidden = True

    path = _book(tmp_path / "c.xlsx", hide)
    with pytest.raises(QuestionError, match=r"1 column \('rater_2'\) is hidden"):
        tables.read_file(path)
    _, rated = tables.read_file(path, read=ReadOptions(hidden="leave-out"))
    assert set(rated.ratings["rater"]) == {"human", "judge"}


def test_what_is_not_hidden_is_not_asked_about(tmp_path):
    def hide(sheet: Any) -> None:
        sheet.row_dimensions[60].hidden = True
        sheet.column_dimensions["H"].hidden = True
        sheet.auto_filter.ref = "A1:D41"

    _, rated = tables.read_file(_book(tmp_path / "n.xlsx", hide), reference=["human"])
    assert rated.ratings.height == 120


def test_hidden_rows_of_opendocument_are_asked_about(tmp_path):
    import zipfile

    cell = '<table:table-cell office:value-type="float" office:value="{0}"><text:p>{0}</text:p></table:table-cell>'
    text = '<table:table-cell office:value-type="string"><text:p>{0}</text:p></table:table-cell>'
    rows = (
        "<table:table-row>"
        + "".join(map(text.format, ("item", "human", "judge")))
        + "</table:table-row>"
    )
    for at in range(20):
        hidden = ' table:visibility="collapse"' if at in (3, 4) else ""
        cells = text.format(f"i{at}") + cell.format(at % 5 + 1) + cell.format(at % 4 + 1)
        rows += f"<table:table-row{hidden}>{cells}</table:table-row>"
    names = " ".join(
        f'xmlns:{p}="urn:oasis:names:tc:opendocument:xmlns:{p}:1.0"'
        for p in ("office", "table", "text")
    )
    content = (
        f'<?xml version="1.0"?><office:document-content {names}><office:body><office:spreadsheet>'
        f'<table:table table:name="R">{rows}</table:table></office:spreadsheet></office:body>'
        f"</office:document-content>"
    )
    path = tmp_path / "r.ods"
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        book.writestr(
            "META-INF/manifest.xml",
            '<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
        )
        book.writestr("content.xml", content)
    with pytest.raises(QuestionError, match=r"2 rows \('5-6'\) are hidden"):
        tables.read_file(path)


def test_formulas_without_values_are_named(tmp_path):
    def some(sheet: Any) -> None:
        for row in range(2, 10):
            sheet.cell(row, 2).value = "=4"

    def all_of_them(sheet: Any) -> None:
        for row in range(2, 42):
            sheet.cell(row, 2).value = f"=D{row}"

    _, rated = tables.read_file(_book(tmp_path / "s.xlsx", some), reference=["human"])
    (note,) = [one for one in rated.findings if one.kind == "formulas_without_values"]
    assert (note.count, note.severity) == (8, "serious")
    assert "column 'human'" in note.message
    with pytest.raises(QuestionError, match="column 'human' holds formulas whose values are not"):
        tables.read_file(_book(tmp_path / "a.xlsx", all_of_them), reference=["human"])


def _scores(kind: str) -> Callable[[int, int, random.Random], float]:
    return {
        "mean": lambda a, b, _: (a + b) / 2,
        "max": lambda a, b, _: max(a, b),
        "chosen": lambda a, b, own: own.choice([a, b]),
        "own": lambda a, b, own: _level((a + b) / 2 + own.gauss(0, 0.8)),
    }[kind]


def _with_aggregate(path: Path, name: str, kind: str) -> Path:
    own, made = random.Random(4), _scores(kind)
    lines = [f"item,human_1,human_2,{name},gpt_judge"]
    for at in range(40):
        truth = own.uniform(1, 5)
        first, second = (_level(truth + own.gauss(0, 0.7)) for _ in range(2))
        cells = (first, second, made(first, second, own), _level(truth + own.gauss(0, 0.6)))
        lines.append(f"i{at}," + ",".join(f"{cell:g}" for cell in cells))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("human_mean", "mean"),
        ("human_avg", "mean"),
        ("human_median", "mean"),
        ("human_mode", "chosen"),
        ("human_max", "max"),
        ("Mittelwert_human", "mean"),
        ("human_x", "mean"),
    ],
)
def test_a_column_made_of_people_is_no_further_person(tmp_path, name, kind):
    path = _with_aggregate(tmp_path / "r.csv", name, kind)
    study, rated = tables.read_file(path)
    assert study.data.reference == ("human_1", "human_2")
    assert name not in set(rated.ratings["rater"])
    (note,) = [one for one in rated.findings if one.kind == "raters_derived"]
    assert repr(name) in note.message
    # The drafted study reads the file the same way.
    again = tables.read_tables(tables.draft_study(path))
    assert again.ratings.equals(rated.ratings)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("human_gold", "chosen"),
        ("human_final", "chosen"),
        ("expert_adjudicated", "own"),
        ("human_consensus", "own"),
    ],
)
def test_what_was_agreed_on_is_asked_about(tmp_path, name, kind):
    path = _with_aggregate(tmp_path / "r.csv", name, kind)
    with pytest.raises(QuestionError, match="who is the reference") as caught:
        tables.read_file(path)
    assert caught.value.choices == ("human_1, human_2", name)
    study, rated = tables.read_file(path, reference=["human_1", "human_2"])
    assert name not in set(rated.ratings["rater"])
    study, rated = tables.read_file(path, reference=[name])
    assert study.data.reference == (name,)
    assert {rater.name for rater in study.panel if rater.kind == "judge"} == {"gpt_judge"}


def test_a_further_person_stays_one(tmp_path):
    study, _ = tables.read_file(_with_aggregate(tmp_path / "r.csv", "human_3", "own"))
    assert study.data.reference == ("human_1", "human_2", "human_3")


def test_rows_of_a_mean_in_a_long_file_are_no_person(tmp_path):
    wide = pl.read_csv(_with_aggregate(tmp_path / "w.csv", "human_mean", "mean"))
    floats = wide.with_columns(pl.exclude("item").cast(pl.Float64))
    floats.unpivot(index="item", variable_name="rater", value_name="score").write_csv(
        tmp_path / "long.csv"
    )
    study, rated = tables.read_file(tmp_path / "long.csv")
    assert study.data.reference == ("human_1", "human_2")
    assert rated.ratings.height == 120


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("std_human", lambda a, b: abs(a - b) / 2**0.5),
        ("human_sd", lambda a, b: round(abs(a - b) / 2, 2)),
        ("spread", lambda a, b: abs(a - b)),
        ("Streuung", lambda a, b: (a - b) ** 2 / 2),
        ("noise", lambda a, b: round(abs(a - b) / 2**0.5, 2)),
    ],
)
def test_how_far_people_differ_is_no_judge(tmp_path, name, made):
    chance = random.Random(3)
    rows = [["doc", "gpt", "human_1", "human_2", name]]
    for item in range(60):
        a, b = chance.randint(1, 5), chance.randint(1, 5)
        rows.append([f"d{item}", chance.randint(1, 5), a, b, made(a, b)])
    path = tmp_path / "spread.csv"
    path.write_text("\n".join(",".join(map(str, row)) for row in rows))
    examination = voirdire.examine(path, reference=["human_1", "human_2"], resamples=0)
    judges = {verdict.judge for verdict in examination.verdicts}
    assert judges == {"gpt"}
    assert any(name in finding.message for finding in examination.findings)
