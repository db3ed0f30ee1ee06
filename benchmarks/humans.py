"""Level III of CBT-Bench done by people: sheets exported, filled, read back, and the report.

    python benchmarks/humans.py          # prints the tables and writes results/humans.md

3 models x 156 exercises against a reference, on four criteria and overall, as `voirdire paper
cbt_bench exercises --expert` declares them. Each command is a process of its own, imports and all;
then the three run in one process, by Python. Figures are drawn by a second process, so that CPU is
more than wall time. Sheets are filled between export and import, which is in no figure.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from operator import itemgetter
from pathlib import Path

import openpyxl
import polars as pl
from _help import help_asked
from _timing import machine, table, versions

from voirdire.examining import examine
from voirdire.humans import export, import_answers
from voirdire.report import write_outputs
from voirdire_plugins.cbt_bench.comparison import ATTRIBUTES, CRITERIA, DIFFICULTIES
from voirdire_plugins.cbt_bench.prepare import write_exercise_study

RESULTS = Path(__file__).resolve().parent / "results" / "humans.md"
EXERCISES, MODELS, REPEATS = 156, ("one", "two", "three"), 5
LEVELS = (
    "A is much better than B",
    "A is slightly better than B",
    "A and B are about the same",
    "B is slightly better than A",
    "B is much better than A",
)


def write_study(folder: Path, experts: tuple[str, ...]) -> Path:
    """Invented exercises, and responses that are there already."""
    names = list(CRITERIA)
    rows = [
        (f"e{n}", names[n % 10], DIFFICULTIES[n % 3], f"Statement {n}. " * 20, f"Calm {n}. " * 30)
        for n in range(EXERCISES)
    ]
    head = ["id", "category", "difficulty", "statement", "reference"]
    pl.DataFrame(rows, schema=head, orient="row").write_csv(folder / "practice.csv")
    study = write_exercise_study(
        folder / "study",
        folder / "practice.csv",
        [f"compatible:{name}" for name in MODELS],
        ["compatible:judge"],
        experts=experts,
    )
    answers = [
        (f"e{n}", name, f"{n} {name[0]} tea. " * 30) for n in range(EXERCISES) for name in MODELS
    ]
    path = study.parent / "responses.csv"
    sheet = pl.read_csv(path)
    pl.concat([sheet, pl.DataFrame(answers, schema=sheet.columns, orient="row")]).write_csv(path)
    return study


def fill(path: Path, rater: str) -> Path:
    """The workbook with an answer drawn for every question."""
    drawn, book = random.Random(rater), openpyxl.load_workbook(path)
    sheet = book["Judgements"]
    asked = [at for at, cell in enumerate(sheet[1]) if str(cell.value).split(":")[0] in ATTRIBUTES]
    for row in sheet.iter_rows(min_row=2):
        for at in asked:
            row[at].value = drawn.choice(LEVELS)
    target = path.with_name(f"{rater}-filled.xlsx")
    book.save(target)
    return target


def compiled() -> dict[str, str]:
    """The environment with bytecode kept, as an installed package has it."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir()) / "voirdire-bytecode")}


def cost(*arguments: str) -> tuple[float, float]:
    """CPU and wall seconds of one command of voirdire."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "voirdire", *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        env=compiled(),
    )
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall


def measure(experts: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """CPU and wall seconds of each command where it took least time over the repeats."""
    times: dict[str, list[tuple[float, float]]] = {}
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            study, work, answers = write_study(folder, experts), folder / "work", folder / "answers"
            costs = {"export": cost("humans", "export", str(study), "--out", str(work))}
            sheets = [str(fill(work / "sheets" / f"{one}.xlsx", one)) for one in experts]
            costs["import"] = cost("humans", "import", str(work), *sheets, "--out", str(answers))
            costs["report"] = cost("examine", str(answers), "--out", str(folder / "report"))
            costs["report --no-figures"] = cost(
                "examine", str(answers), "--out", str(folder / "plain"), "--no-figures"
            )
            for step, value in costs.items():
                times.setdefault(step, []).append(value)
    return {step: min(values, key=itemgetter(1)) for step, values in times.items()}


def measure_inside(experts: tuple[str, ...], *, figures: bool) -> float:
    """Least CPU seconds of all three in this process, imports done."""
    times = []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            study = write_study(folder, experts)
            start = time.process_time()
            done = export(study, folder / "work")
            took = time.process_time() - start
            sheets = [fill(path, path.stem) for path in done.sheets if path.suffix == ".xlsx"]
            start = time.process_time()
            import_answers(folder / "work", sheets, folder / "answers")
            write_outputs(examine(folder / "answers"), folder / "report", figures=figures)
            times.append(took + time.process_time() - start)
    return min(times)


def main() -> None:
    """Print the tables and keep them."""
    parts = []
    for experts in (("ann",), ("ann", "ben")):
        times = measure(experts)
        rows = [(step, f"{cpu:.2f} s", f"{wall:.2f} s") for step, (cpu, wall) in times.items()]
        for last, words in (("report", ""), ("report --no-figures", ", without figures")):
            steps = [times[step] for step in ("export", "import", last)]
            cpu, wall = (sum(value[at] for value in steps) for at in (0, 1))
            rows.append((f"all three commands{words}", f"{cpu:.2f} s", f"{wall:.2f} s"))
        for figures, words in ((True, ""), (False, ", without figures")):
            inside = measure_inside(experts, figures=figures)
            rows.append((f"all three in one process{words}", f"{inside:.2f} s", ""))
        count = len(experts) * EXERCISES * len(MODELS)
        head = f"{len(experts)} expert{'s' * (len(experts) > 1)}: {count} comparisons, "
        parts.append(
            f"## {head}{count * len(ATTRIBUTES):,} answers\n\n"
            + table(("command", "CPU", "wall"), rows)
        )
    text = (
        "# Work for people\n\n"
        f"`python benchmarks/humans.py`, {machine()}, {versions('polars', 'numpy', 'openpyxl')}. "
        "3 models x 156 exercises x 5 comparisons (four criteria and overall); each command is a "
        "process of its own, its imports included; the least of "
        f"{REPEATS} repeats. The report has intervals by 1,000 resamples, agreement, position "
        "bias, rankings, tables by category and difficulty, and five figures, each as PNG and "
        "SVG.\n\n" + "\n\n".join(parts)
    )
    RESULTS.write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    help_asked(__doc__)
    main()
