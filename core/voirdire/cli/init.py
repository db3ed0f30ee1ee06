"""`voirdire init`: a study drafted from the columns found."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli.columns import OF_ONE_TABLE, answered, takes_read_options
from voirdire.cli.machine import answer_of, collect
from voirdire.cli.options import (
    ReferenceOption,
)
from voirdire.errors import InputError, QuestionError, TableError, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.study import ReadOptions, Study

EPILOG = """
Examples:

  voirdire init ratings.xlsx

  voirdire init ratings.csv --reference human --out my_study.toml
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("init", epilog=EPILOG)(init)


@takes_read_options(OF_ONE_TABLE)
def init(
    ratings: Annotated[
        list[Path], typer.Argument(help="One or more files of ratings.", show_default=False)
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The study file to write.")] = Path(
        "study.toml"
    ),
    reference: ReferenceOption = None,
    read: Any = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite an existing study file.")
    ] = False,
) -> None:
    """Draft a study.toml from files of ratings. Read it and edit it before use.

    Where the files leave a choice open, a comment in the draft lists the options.
    """
    from voirdire.study import study_to_toml

    if out.exists() and not force:
        raise InputError(f"{out} exists already: give --force to overwrite it, or another --out")
    try:
        study, questions = _drafted(ratings, out.parent, read, reference or ())
    except TableError as error:
        _skeleton(ratings, read.sheet, out, str(error))
        return
    taken = questions + ([] if reference else taken_for_granted(study))
    remarks = "".join(f"# {line}\n" for line in taken)
    text = study_to_toml(study)
    out.write_text(remarks + text, encoding="utf-8")
    who = ", ".join(study.data.reference)
    reference_text = f"reference: {who}" if who else "no reference was found: name one under [data]"
    typer.echo(f"Wrote {out} ({reference_text}). Check it, the scale and the systems, then run:")
    typer.echo(f"  voirdire examine {out} --out out")
    for line in taken:
        typer.echo(line)
    if not who:
        typer.echo("voirdire examine refuses a study without a reference.")
    _given(f"Wrote {out} ({reference_text}).", out, text, [*study.data.reference], taken)


def _given(said: str, out: Path, text: str, reference: list[str], taken: list[str]) -> None:
    """Give a program the study that was written; without taken lines it is complete."""
    step = {"say": "Examine by the study.", "command": f"voirdire examine {out} --out out"}
    record = {"written": str(out), "study": text, "reference": reference, "taken": taken}
    collect(answer_of(said, next=[step] if reference else []), record)


def _drafted(
    ratings: Sequence[Path],
    folder: Path,
    read: ReadOptions,
    reference: Sequence[str],
) -> tuple[Study, list[str]]:
    """The study, and a line for each question that nobody answered: its first choice stands."""
    from voirdire.tables import with_answer

    lines: list[str] = []
    # Each answer may raise the next question, until the study can be drafted.
    while True:
        try:
            return answered(
                lambda asked, named: _study_of(ratings, folder, asked, named),
                read,
                reference,
            ), lines
        except QuestionError as question:
            if not question.likely:
                raise
            choices = " or ".join(question.choices)
            lines += [f"Not decided: {question.question}", f"  {question.line} (or: {choices})"]
            reference, read = with_answer(reference, read, question.key, question.choices[0])


def _study_of(
    ratings: Sequence[Path], folder: Path, read: ReadOptions, reference: Sequence[str]
) -> Study:
    from voirdire.tables import draft_study
    from voirdire.tables.judged import draft_judged

    judged = None
    if len(ratings) == 1 and not read.human:
        judged = draft_judged(ratings[0], reference=reference, folder=folder, read=read)
    return judged or draft_study(ratings, read=read, reference=reference, folder=folder)


def _skeleton(ratings: Sequence[Path], sheet: str | None, out: Path, why: str) -> None:
    """A study that names the files and lists their columns, where nothing more is known."""
    from voirdire.tables import read_raw

    said = f"voirdire examine refuses this study until the lines below are filled in: {why}"
    lines = [f"# {line}" for line in said.splitlines()]
    lines += [f"name = {json.dumps(out.stem)}", "", "[data]", '# reference = ["a human rater"]']
    for path in ratings:
        columns = read_raw(path, sheet=sheet).frame.columns
        at = Path(os.path.relpath(path, out.parent)).as_posix()
        lines += ["", "[[data.sources]]", f"path = {json.dumps(at)}"]
        lines += [f"sheet = {json.dumps(sheet)}"] if sheet else []
        lines += [f"# {key} = one of {listed(columns, 40)}" for key in ("item", "score", "rater")]
    text = "\n".join(lines) + "\n"
    out.write_text(text, encoding="utf-8")
    typer.echo(f"Wrote {out}, which is not complete: {why}")
    typer.echo("Fill in the lines that begin with #, or name columns: --item, --score, --rater.")
    _given(f"Wrote {out}, which is not complete.", out, text, [], [why])


def taken_for_granted(study: Study) -> list[str]:
    """Who was taken for a person and who for a judge by name alone, and what decides it."""
    people = [rater.name for rater in study.panel if rater.kind == "human"]
    judges = [rater.name for rater in study.panel if rater.kind != "human"]
    return [
        f"Taken as people, by their names: {listed(people) if people else 'nobody'}.",
        f"Taken as judges: {listed(judges) if judges else 'nobody'}.",
        "Names are no proof. If this is wrong, change `kind` and `reference` in the study, or",
        "draft it again with --reference NAME, once for each person.",
    ]
