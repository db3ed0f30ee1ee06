"""`voirdire annotators`: how far people's labels agree, and final labels from them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from voirdire.cli.options import JsonOption
from voirdire.cli.showing import show_tables

if TYPE_CHECKING:
    import polars as pl

EPILOG = """
Examples:

  voirdire annotators labels.csv --primary anna --primary ben

  voirdire annotators labels.csv --primary anna --primary ben --secondary cleo --items posts.csv
  --out gold.csv

  voirdire annotators checks.csv --label sound --primary anna --primary ben --rule unanimous
  --keep sound --items questions.jsonl --out kept.csv

A table with the columns item and annotator may also have evidence (quotations, separated by |) and
flag. Any other file of labels is read as by voirdire examine.
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("annotators", epilog=EPILOG)(annotators)


def annotators(
    file: Annotated[
        Path,
        typer.Argument(
            help="A file of labels: item, annotator and a column a label, or as for examine.",
            show_default=False,
        ),
    ],
    primary: Annotated[
        list[str], typer.Option("--primary", help="A primary annotator. May be repeated.")
    ],
    label: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            help="The column of a yes-or-no label. May be repeated.",
            show_default="all others",
        ),
    ] = None,
    secondary: Annotated[
        str,
        typer.Option(
            "--secondary", help="The annotator who adjudicates conflicts.", show_default=False
        ),
    ] = "",
    rule: Annotated[
        Literal["secondary", "majority", "at_least_one", "unanimous"],
        typer.Option(
            "--rule", help="How a conflict is adjudicated; unanimous removes the item instead."
        ),
    ] = "secondary",
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            help="Keep only items whose final label of this name is yes. May be repeated.",
            show_default=False,
        ),
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(
            "--items",
            help="The items. Their columns are written to OUT, and evidence is looked up in them.",
            show_default=False,
        ),
    ] = None,
    ident: Annotated[str, typer.Option("--id", help="The items' column of ids.")] = "id",
    text: Annotated[str, typer.Option("--text", help="The items' column of texts.")] = "text",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The CSV file for the final labels.", show_default=False),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare annotators label by label, adjudicate conflicts, and leave out flagged items."""
    from voirdire.errors import InputError
    from voirdire.examining import annotating
    from voirdire.tables import read_raw

    adjudicates = rule != "secondary" or bool(secondary)
    if (out is not None or keep) and not adjudicates:
        raise InputError("--out and --keep need final labels: name --secondary, or another --rule")
    people = [*primary, *([secondary] if secondary else [])]
    annotations, labels = annotating.read_annotations(file, label or (), people)
    sections = [annotating.agreement_section(annotations, primary, labels)]
    if adjudicates:
        item_frame = None if items is None else read_raw(items).frame
        texts = None
        if item_frame is not None and text in item_frame.columns and ident in item_frame.columns:
            texts = item_frame.rename({ident: "item", text: "text"}).select("item", "text")
        final = annotating.adjudicate(
            annotations,
            primary,
            labels,
            rule=rule,
            secondary=secondary,
            texts=texts,
            keep=keep or (),
        )
        sections.append(annotating.adjudicated_section(final))
        if out is not None:
            _write(annotating.with_items(final, item_frame, ident), out)
    show_tables(sections, as_json=as_json)


def _write(labels: pl.DataFrame, out: Path) -> None:
    """As CSV; lists of the items are in its cells as JSON."""
    import polars as pl

    from voirdire.files import whole

    with whole(out) as draft:
        labels.with_columns(pl.col("evidence").list.join("|")).write_csv(draft)
