"""`voirdire demo`: judges of known quality, examined as if they were real, beside the truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from voirdire.examining import Examination
    from voirdire.examining.simulate import Truth

EPILOG = """
Examples:

  voirdire demo

  voirdire demo --out demo --seed 7
"""
STUDY = """\
# Simulated by `voirdire demo`: no model and no human rated anything here.
name = "demo"
title = "Three simulated judges against three simulated humans"
scope = "Simulated ratings of no text at all."

[data]
reference = ["human-1", "human-2", "human-3"]
sources = [{ path = "ratings.csv" }]

[rubric]
name = "demo"
scale = [1, 5]
attributes = ["Guidance", "Empathy", { name = "Safety", safety_critical = true }]

[analysis]
resamples = 1000
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo", epilog=EPILOG)(demo)


def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for data, study and report.")
    ] = Path("voirdire-demo"),
    seed: Annotated[int, typer.Option("--seed", help="Seed of the simulation.", min=0)] = 1,
    no_figures: Annotated[bool, typer.Option("--no-figures", help="Leave figures out.")] = False,
) -> None:
    """Simulate judges whose quality is known, examine them, and print the truth beside it."""
    from voirdire.examining import examine
    from voirdire.report import FORMATS, print_examination, ready_folder, write_outputs

    _spare_others(ready_folder(out, FORMATS))
    from voirdire._shown import terminal

    console = terminal()
    console.print(
        "Everything here is simulated: no model and no human rated anything. Three judges are "
        "drawn with a known reliability, bias and drop-out; then voirdire examines their ratings "
        "as it would any others, without being told.\n"
    )
    _write_data(out, seed)
    found = examine(out / "study.toml")
    write_outputs(found, out, figures=not no_figures)
    print_examination(found, out, console, table=False)
    console.print()
    _print_truth(found, console)


def _spare_others(folder: Path) -> None:
    """Refuse a folder whose study or ratings are not those of an earlier demo."""
    from voirdire._errors import InputError

    study = folder / "study.toml"
    ours = study.is_file() and study.read_bytes().startswith(STUDY.splitlines()[0].encode())
    for path in (study, folder / "ratings.csv"):
        if path.exists() and not ours:
            raise InputError(f"--out {folder}: {path.name} there is not the demo's; give another")


def _write_data(folder: Path, seed: int) -> None:
    """Ratings and study as a user would have them on disk."""
    from voirdire.examining._demo_panel import DEMO
    from voirdire.examining.simulate import simulate_ratings

    columns = ("item", "system", "rater", "run", "attribute", "score")
    simulate_ratings(DEMO, seed).select(columns).write_csv(folder / "ratings.csv")
    panel = [f'\n[[panel]]\nname = "{name}"\nkind = "human"\n' for name in DEMO.humans]
    panel += [
        f'\n[[panel]]\nname = "{judge.name}"\ntemperature = 0.7\nruns = {judge.runs}\n'
        for judge in DEMO.judges
    ]
    (folder / "study.toml").write_text(STUDY + "".join(panel), encoding="utf-8")


def _print_truth(found: Examination, console: Console) -> None:
    """True values beside what was recovered, and the verdict each judge was built for."""
    from rich.table import Table
    from rich.text import Text

    from voirdire.examining._demo_panel import DEMO
    from voirdire.examining.simulate import truths

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("Judge", "Attribute"):
        table.add_column(name, no_wrap=True)
    for name in ("true", "C found [F]", "bias/found", "unrated"):
        table.add_column(name, justify="right")
    table.add_column("built for")
    rows = [_truth_row(found, truth) for truth in truths(DEMO)]
    for cells, _ in rows:
        table.add_row(*cells)
    console.print(Text("The truth beside what was found (all simulated)", style="bold"))
    console.print(table)
    inside = sum(held for _, held in rows)
    console.print(
        f"{inside} of {len(rows)} intervals hold the true value (an exclamation mark: it does "
        f"not); in the long run 95 % of them do."
    )


def _truth_row(found: Examination, truth: Truth) -> tuple[list[str], bool]:
    """The cells of a judge and attribute, and whether its interval holds the truth."""
    from voirdire.examining._demo_panel import BUILT_FOR
    from voirdire.report import short_verdict

    result = found.result(truth.judge, truth.attribute)
    interval = result.interval("C,1", "f")
    held = interval is not None and interval.low <= truth.icc_c1 <= interval.high
    shown = f"[{interval.low:.2f},{interval.high:.2f}]" if interval else "none"
    pair = (truth.judge, truth.attribute)
    verdict = next(v.verdict for v in found.verdicts if (v.judge, v.attribute) == pair)
    built = BUILT_FOR[pair]
    got = "found" if verdict == built else f"got {short_verdict(verdict)}"
    unrated = 1 - result.n_pairs / max(result.n_expected, 1)
    cells = [
        truth.judge,
        truth.attribute,
        f"{truth.icc_c1:.2f}",
        f"{result.icc_c1:.2f} {shown}{' ' if held else '!'}",
        f"{truth.bias:+.1f}/{result.bias:+.2f}",
        f"{100 * truth.missing:.0f}/{100 * unrated:.0f} %",
        f"{short_verdict(built)}: {got}",
    ]
    return cells, held
