"""Studies of human work, and raters who fill in sheets by what they read, not by who wrote it."""

from __future__ import annotations

import csv
import json
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire.humans import export, import_answers

if TYPE_CHECKING:
    import polars as pl

LEVELS = {
    2: "A is much better than B",
    1: "A is slightly better than B",
    0: "A and B are about the same",
    -1: "B is slightly better than A",
    -2: "B is much better than A",
}
HOSTILE = "=HYPERLINK(\"http://x\") <script>document.title='owned'</script><img src=x onerror=alert(1)> _x0041_"
SYSTEMS = ("north-star", "south-wind", "reference")
ITEMS = {
    "walk": "It rained on my walk, and I turned back.",
    "cake": "-the cake sank; I laughed,\nthen I cried a little.",
    "choir": '+1 for choir: "we sang"\tand then, tea.',
    "late": "'Late again', said the note on the door.",
}
FINER = {"Helpless": ("I am stuck", "I am needy"), "Unlovable": ("I am alone",)}
DISTORTIONS = ("Mind reading", "Labeling", "Mental filter", "Fortune-telling")
PARTS = {
    "pointwise": '[humans]\ntask = "pointwise"\nraters = ["ann", "ben"]\nseed = 3\n',
    "labels": (
        '[humans]\ntask = "labels"\nraters = ["ann", "ben"]\nseed = 3\nat_most = 3\n'
        f'none = "No distortion"\nlabels = {json.dumps(DISTORTIONS)}\n'
    ),
    "pairwise": (
        '[humans]\ntask = "pairwise"\nraters = ["ann", "ben"]\nseed = 3\n'
        'criteria_by = "category"\n[humans.criteria_of]\n'
        'Goals = ["Names a goal", "Is warm"]\nAgenda = ["Keeps a frame", "Is warm"]\n'
    ),
    "nested": (
        '[humans]\ntask = "nested"\nraters = ["ann", "ben"]\nseed = 3\n'
        '[[humans.steps]]\nname = "Situation"\n'
        f'[[humans.steps]]\nname = "Distortions"\nlabels = {json.dumps(DISTORTIONS)}\nat_most = 3\n'
        'none = "No distortion"\n'
        '[[humans.steps]]\nname = "Beliefs"\nlabels = ["Helpless", "Unlovable"]\nat_most = 3\n'
        'under_at_most = 3\n[humans.steps.under]\nHelpless = ["I am stuck", "I am needy"]\n'
        'Unlovable = ["I am alone"]\n'
    ),
    "choice": (
        '[humans]\ntask = "choice"\nraters = ["ann", "ben"]\nseed = 3\noptions_from = "options"\n'
    ),
}


def response(item: str, system: str) -> str:
    """A text that only the rater's own memory ties to a system."""
    if (item, system) == ("walk", "north-star"):
        return HOSTILE
    number = 10 * list(ITEMS).index(item) + SYSTEMS.index(system)
    return f"Response number {number}, about as long as the others."


def write_study(folder: Path, task: str, extra: str = "") -> Path:
    """A study with its files; `extra` stands at the end of `[humans]`' parent tables."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "id": name,
            "text": text,
            "category": ("Goals", "Agenda")[at % 2],
            "options": ["tea", "rain", "song"][: 2 + at % 2],
        }
        for at, (name, text) in enumerate(ITEMS.items())
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "items.jsonl").write_text(lines, encoding="utf-8")
    with (folder / "responses.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "system", "text"])
        writer.writerows((i, s, response(i, s)) for i in ITEMS for s in SYSTEMS)
    head = (
        'name = "mild"\ntitle = "Mild responses"\n'
        '[items]\npath = "items.jsonl"\nextra = ["category", "options"]\n'
        "[rubric]\nscale = [1, 5]\n"
        '[[rubric.attributes]]\nname = "Empathy"\ndescription = "Does it understand?"\n'
        '[[rubric.attributes]]\nname = "Relevance"\n'
        '[comparisons]\nagainst = "reference"\n'
    )
    if task in ("pointwise", "pairwise"):
        head += '[responses]\npath = "responses.csv"\n'
    path = folder / "study.toml"
    path.write_text(head + PARTS[task] + extra, encoding="utf-8")
    return path


def author(text: str) -> tuple[str, str]:
    """Item and system of a response as a sheet shows it."""
    plain = text.lstrip("'")
    return next((i, s) for i in ITEMS for s in SYSTEMS if response(i, s) == plain)


def read_csv(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def write_csv(path: Path, rows: list[list[str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def read_book(path: Path) -> list[list[str]]:
    import openpyxl

    book = openpyxl.load_workbook(path, read_only=True)
    rows = [[c or "" for c in row] for row in book["Judgements"].iter_rows(values_only=True)]
    book.close()
    return rows


def fill_book(source: Path, target: Path, rows: list[list[str]]) -> Path:
    """Write the rows into the cells of a workbook, as a spreadsheet program would."""
    import openpyxl

    book = openpyxl.load_workbook(source)
    for number, row in enumerate(rows, start=1):
        for at, value in enumerate(row, start=1):
            cell = book["Judgements"].cell(number, at)
            if cell.value != value:
                cell.value = int(value) if value.isdecimal() else value or None
    book.save(target)
    book.close()
    return target


def sheets(folder: Path, suffix: str) -> dict[str, Path]:
    return {rater: folder / "sheets" / f"{rater}.{suffix}" for rater in ("ann", "ben")}


def columns_of(header: list[str], name: str) -> list[int]:
    return [at for at, column in enumerate(header) if re.fullmatch(rf"{name}( \d)?(: .*)?", column)]


def filled(folder, suffix, fill) -> list[Path]:
    """Every sheet with `fill(rater, header, row)` done to each row, as files beside the plan."""
    target, done = Path(tempfile.mkdtemp()), []
    for rater, path in sheets(folder, suffix).items():
        header, *rows = read_csv(path) if suffix == "csv" else read_book(path)
        rows = [list(row) for row in rows]
        for row in rows:
            fill(rater, header, row)
        name = target / f"{rater}.{suffix}"
        write = write_csv if suffix == "csv" else lambda to, r, of=path: fill_book(of, to, r)
        done.append(write(name, [header, *rows]))
    return done


def imported(folder, files) -> dict[str, pl.DataFrame]:
    return import_answers(folder, files, Path(tempfile.mkdtemp()) / "answers").tables


def filled_all(folder, fill):
    """Workbooks as they are read back by openpyxl, each row filled."""
    target, done = Path(tempfile.mkdtemp()), []
    for rater, path in sheets(folder, "xlsx").items():
        header, *rows = [list(row) for row in read_book(path)]
        for row in rows:
            fill(rater, header, row)
        done.append(fill_book(path, target / f"{rater}.xlsx", [header, *rows]))
    return done


def exported(tmp_path_factory) -> dict[str, Path]:
    """Task -> the folder of its plan and sheets."""
    made = {}
    for task in PARTS:
        folder = tmp_path_factory.mktemp(task)
        export(write_study(folder, task), folder / "work")
        made[task] = folder / "work"
    return made
