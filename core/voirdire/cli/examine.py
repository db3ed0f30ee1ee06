"""`voirdire examine`: from ratings to tables, intervals, verdicts and a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from voirdire.cli.columns import answered, takes_read_options
from voirdire.cli.machine import emit
from voirdire.cli.options import (
    DataOption,
    InsecureOption,
    JsonOption,
    OffScaleOption,
    ReferenceOption,
    SourcesArgument,
    WorkersOption,
    formats_of,
    parts,
    require_option,
)
from voirdire.examining.spec.coefficients import COEFFICIENTS

if TYPE_CHECKING:
    from voirdire.study import Gate

EPILOG = """
Examples:

  voirdire examine ratings.csv --reference human --out out

  voirdire examine labels.csv --reference human --gate 4,0.9,0.8

  voirdire examine ada.xlsx ben.xlsx judge.xlsx --reference ada --reference ben

  voirdire examine results.json --human labels.csv --key ticket_id

  voirdire examine 'ratings/**/*.parquet' --reference human --workers 4 --out out

  voirdire examine study.toml --out out --require "verdict.order@Guidance=yes"

  voirdire examine mentalalign --data DATA/mentalalign70k --out out --off-scale keep
"""


def _coefficients(of: str) -> str:
    """The keys of all coefficients among all raters, or of each two."""
    return ", ".join(one.key for one in COEFFICIENTS.values() if one.of == of)


def gate_asked(text: str | None) -> Gate | None:
    """A gate as the command line writes it: ``4`` or ``4,0.9,0.8``."""
    if text is None:
        return None
    from pydantic import ValidationError

    from voirdire.errors import InputError
    from voirdire.study import Gate

    cells = text.split(",")
    try:
        numbers = [float(cell) for cell in cells]
        keys = ("at", "sensitivity", "specificity")[: len(numbers)]
        return Gate(**dict(zip(keys, numbers, strict=True)))
    except (ValueError, ValidationError):
        raise InputError(
            f"--gate {text!r} cannot be read: write where scores begin to pass, such as 4, or "
            "that with the sensitivity and specificity asked for, from 0 to 1, such as 4,0.9,0.8"
        ) from None


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("examine", epilog=EPILOG)(examine)


@takes_read_options()
def examine(
    source: SourcesArgument,
    data: DataOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="The folder for the report. Without it, nothing is written.",
            show_default=False,
        ),
    ] = None,
    reference: ReferenceOption = None,
    read: Any = None,
    off_scale: OffScaleOption = None,
    pairs: Annotated[
        Literal["pairwise", "listwise"] | None,
        typer.Option(
            "--pairs",
            help="Which responses count: those that judge and reference "
            "rated, or those that all raters rated. "
            "[dim]\\[default: pairwise][/dim]",
            show_default=False,
        ),
    ] = None,
    resamples: Annotated[
        int | None,
        typer.Option(
            "--resamples",
            min=0,
            help="The number of bootstrap resamples; 0 skips the "
            "bootstrap. [dim]\\[default: 1000][/dim]",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            min=0,
            help="The seed of the bootstrap. [dim]\\[default: 0][/dim]",
            show_default=False,
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure",
            help="Coefficients of agreement, separated by commas. Among all raters: "
            f"{_coefficients('all')}. Of each two: {_coefficients('pairs')}.",
            show_default=False,
        ),
    ] = None,
    raters: Annotated[
        str | None,
        typer.Option(
            "--raters",
            help="The raters that --measure compares: humans, judges, or names separated by "
            "commas. [dim]\\[default: all][/dim]",
            show_default=False,
        ),
    ] = None,
    compat: Annotated[
        Literal["badawi2025"] | None,
        typer.Option(
            "--compat",
            help="Follow the rules of a published study exactly: badawi2025.",
            show_default=False,
        ),
    ] = None,
    gate: Annotated[
        str | None,
        typer.Option(
            "--gate",
            help="Scores at or above this one pass: 4, or 4,0.9,0.8 to "
            "ask for a sensitivity of 0.9 "
            "and a specificity of 0.8 as well.",
            show_default=False,
        ),
    ] = None,
    streaming: Annotated[
        bool,
        typer.Option(
            "--streaming",
            help="Examine Parquet files as sums, in constant memory. Folders of parts, patterns "
            "and more than 5 million rows always are.",
        ),
    ] = False,
    workers: WorkersOption = None,
    insecure: InsecureOption = False,
    require: Annotated[
        list[str] | None,
        require_option(
            ', such as "verdict.order@Guidance=yes", "sensitivity.low>=0.9" or '
            '"bias_normalised@Safety<=0.05" (of an attribute or a judge)'
        ),
    ] = None,
    formats: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="The formats to write, separated by commas: html, md, "
            "tex, json, csv, parquet. [dim]\\[default: all][/dim]",
            show_default=False,
        ),
    ] = None,
    no_figures: Annotated[
        bool, typer.Option("--no-figures", help="Leave out the figures, which is much faster.")
    ] = False,
    with_text: Annotated[
        bool, typer.Option("--with-text", help="Show the texts in the report, shortened.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Examine judges against a reference: what each may be used for, and why."""
    from contextlib import nullcontext

    from voirdire.examining import examine as run_examination
    from voirdire.examining import read_requirements, with_requirements
    from voirdire.examining.gates import must_hold
    from voirdire.report import FORMATS, awaiting_folder, print_examination, write_outputs

    read_requirements(require or [])
    asked = formats_of(formats, out, FORMATS, FORMATS)
    with nullcontext() if out is None else awaiting_folder(out, asked):
        examination = answered(
            lambda asked, named: run_examination(
                source,
                data=data,
                reference=named,
                read=asked,
                off_scale=off_scale,
                pairs=pairs,
                resamples=resamples,
                seed=seed,
                measures=parts(measure),
                raters=parts(raters),
                compat=compat,
                gate=gate_asked(gate),
                streaming=streaming,
                workers=workers,
                insecure=insecure,
            ),
            read,
            reference,
        )
    examination = with_requirements(examination, require or [])
    if out is not None:
        write_outputs(
            examination,
            out,
            formats=asked,
            figures=not no_figures,
            with_text=with_text,
        )
    if as_json:
        from voirdire.cli.steps import with_commands
        from voirdire.report.records import examination_record, finding_records
        from voirdire.report.summary import examination_answer

        record = {**examination_record(examination), "findings": finding_records(examination)}
        emit(with_commands(examination_answer(examination)), record)
    else:
        print_examination(examination, out)
    for met in must_hold(examination.requirements):
        typer.echo(met, err=as_json)
