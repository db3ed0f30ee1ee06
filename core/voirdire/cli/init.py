"""`voirdire init`: a study drafted from the columns found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from voirdire._errors import InputError, listed
from voirdire.cli._options import ReferenceOption

if TYPE_CHECKING:
    from voirdire.study import Study

EPILOG = """
Examples:

  voirdire init ratings.xlsx

  voirdire init ratings.csv --reference human --out my_study.toml
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("init", epilog=EPILOG)(init)


def init(
    ratings: Annotated[Path, typer.Argument(help="A file of ratings.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="The study to write.")] = Path(
        "study.toml"
    ),
    reference: ReferenceOption = None,
    sheet: Annotated[
        str | None,
        typer.Option(
            "--sheet", help="The sheet of a workbook; by default the first.", show_default=False
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing study.")] = False,
) -> None:
    """Draft a study.toml from the columns of a file of ratings; read it, then edit it."""
    from voirdire.study import study_to_toml
    from voirdire.tables import draft_study

    study = draft_study(ratings, sheet=sheet, reference=tuple(reference or ()), folder=out.parent)
    if out.exists() and not force:
        raise InputError(f"{out} exists already: give --force to overwrite it, or another --out")
    taken = [] if reference else taken_for_granted(study)
    remarks = "".join(f"# {line}\n" for line in taken)
    out.write_text(remarks + study_to_toml(study), encoding="utf-8")
    who = ", ".join(study.data.reference)
    said = f"reference: {who}" if who else "no reference was found: name one under [data]"
    typer.echo(f"Wrote {out} ({said}). Check it, the scale and the systems, then run:")
    typer.echo(f"  voirdire examine {out} --out out")
    for line in taken:
        typer.echo(line)


def taken_for_granted(study: Study) -> list[str]:
    """Who was taken for a person and who for a judge by name alone, and what decides it."""
    people = [rater.name for rater in study.panel if rater.kind == "human"]
    judges = [rater.name for rater in study.panel if rater.kind != "human"]
    return [
        f"Taken as people, by their names: {listed(people) if people else 'nobody'}.",
        f"Taken as judges: {listed(judges) if judges else 'nobody'}.",
        "Names are no proof. If this is wrong, mend `kind` and `reference` in the study, or draft",
        "it again with --reference NAME, once for each person.",
    ]
