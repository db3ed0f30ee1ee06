"""`voirdire init`: a study drafted from the columns found."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """
Examples:

  voirdire init ratings.xlsx

  voirdire init ratings.csv --out my_study.toml
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("init", epilog=EPILOG)(init)


def init(
    ratings: Annotated[Path, typer.Argument(help="A file of ratings.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="The study to write.")] = Path(
        "study.toml"
    ),
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing study.")] = False,
) -> None:
    """Draft a study.toml from the columns of a file of ratings; read it, then edit it."""
    from voirdire._errors import InputError
    from voirdire.study import study_to_toml
    from voirdire.tables import draft_study

    study = draft_study(ratings, folder=out.parent)
    if out.exists() and not force:
        raise InputError(f"{out} exists already: give --force to overwrite it, or another --out")
    out.write_text(study_to_toml(study), encoding="utf-8")
    typer.echo(f"Wrote {out}. Check the reference, the scale and the systems, then run:")
    typer.echo(f"  voirdire examine {out} --out out")
