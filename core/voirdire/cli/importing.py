"""`voirdire import`: files of other tools as tidy ratings."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli.columns import OF_ONE_TABLE, answered, takes_read_options
from voirdire.cli.machine import answer_of, collect, emit
from voirdire.cli.options import JsonOption, ReferenceOption

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from voirdire.schema import Finding, Rating
    from voirdire.study import ReadOptions
    from voirdire.tables import Reading, Tables

EPILOG = """
Examples:

  voirdire import --list

  voirdire import results.json --out ratings.parquet

  voirdire import run1.eval run2.eval --out ratings.csv

  voirdire import big.parquet more.csv --partition --out ratings

  voirdire import traces.jsonl --messages --out runs.jsonl
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("import", epilog=EPILOG)(import_files)


@takes_read_options(OF_ONE_TABLE)
def import_files(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Files of ratings, of any tool that has a reader.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="The table to write: .parquet, .csv or .jsonl; with --partition, the folder.",
            show_default=False,
        ),
    ] = None,
    list_readers: Annotated[
        bool, typer.Option("--list", help="List the readers, and the files that they read.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing table.")] = False,
    partition: Annotated[
        bool,
        typer.Option(
            "--partition",
            help="Write a folder of Parquet parts, each of whole items or clusters, which voirdire "
            "examine reads as a stream. Parquet and CSV files of one rating a row may be larger "
            "than memory.",
        ),
    ] = False,
    messages: Annotated[
        bool,
        typer.Option(
            "--messages",
            help="Write the runs that are in traces, logs and sessions, a line each with its steps "
            "as messages, to be judged; judgements are left out.",
        ),
    ] = False,
    read: Any = None,
    reference: ReferenceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Turn files of other tools into one table with one row per rating.

    What was not used is counted on standard error, with the reason.
    """
    from voirdire.errors import InputError

    if list_readers:
        _list(as_json=as_json)
        return
    if not files or out is None:
        raise InputError(
            "name the files to read, and with --out the table to write; or give --list"
        )
    if out.exists() and not force:
        raise InputError(f"{out} exists already: give --force to overwrite it, or another --out")
    if messages:
        _messages(files, out)
        return
    if partition:
        answered(lambda asked, named: _partition(files, out, asked, named), read, reference)
        return
    import polars as pl

    tables = answered(
        lambda asked, named: [_rows(group, asked, named) for group in _groups(files)],
        read,
        reference,
    )
    table = pl.concat([rows for rows, _ in tables], how="diagonal")
    _write(table, out)
    _say([finding for _, findings in tables for finding in findings])
    what = "ratings" if "rank" in table.columns else "comparisons"
    typer.echo(f"Wrote {out}: {table.height:,} {what}.")
    _given(out, table.height, what)


def _given(out: Path, rows: int, what: str) -> None:
    """Give a program what was written."""
    step = {"say": "Examine it.", "command": f"voirdire examine {out} --reference NAME"}
    told = f"Wrote {out}: {rows:,} {what}."
    collect(answer_of(told, next=[step]), {"written": str(out), "rows": rows, "what": what})


def _messages(files: Sequence[Path], out: Path) -> None:
    """Runs with their steps as JSON lines, which a study names as items and as responses."""
    import json

    from voirdire.errors import TableError, not_one_of
    from voirdire.files import whole

    if out.suffix != ".jsonl":
        raise not_one_of("suffix", out.suffix, (".jsonl",), out)
    runs = steps = 0
    seen: set[tuple[str, str]] = set()
    with whole(out) as draft, draft.open("w", encoding="utf-8") as file:
        for rating in (one for sources in _groups(files) for one in _runs(*sources)):
            key = rating.item.id, rating.response.system
            if key in seen:
                raise TableError(f"{out}: the run {key[0]!r} of {key[1]!r} is there twice")
            seen.add(key)
            turns = [
                {"role": turn.role, "content": turn.content}
                | ({"name": turn.name} if turn.name else {})
                for turn in rating.response.turns
            ]
            line = {
                "item": rating.item.id, "system": rating.response.system,
                "text": rating.item.text, "messages": turns, **rating.item.extra,
            }  # fmt: skip
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            runs, steps = runs + 1, steps + len(turns)
        if not runs:
            raise TableError(f"{', '.join(map(str, files))}: there is no run with steps")
    typer.echo(f"Wrote {out}: {runs:,} runs with {steps:,} steps.")
    told = f"Wrote {out}: {runs:,} runs with {steps:,} steps."
    collect(answer_of(told), {"written": str(out), "rows": runs, "what": "runs"})
    typer.echo('Next: a study with messages = "messages" under [responses]')


def _groups(files: Sequence[Path]) -> list[list[Path]]:
    """The files, those that one reader reads as one together."""
    from voirdire.tables.readers import together

    return [[files[at] for at in places] for places in together(files, [None] * len(files))]


def _runs(source: Path, *beside: Path) -> Iterator[Rating]:
    """The runs of files that a reader knows, or of a session's raters of several steps."""
    from voirdire.errors import TableError
    from voirdire.store import is_session
    from voirdire.tables import ReadsTogether, reader_of
    from voirdire.tables.readers import ReadsRuns

    if source.is_dir() and is_session(source):
        from voirdire.store.trajectories import iterate_trajectories

        return iterate_trajectories(source)
    reader = reader_of(source)
    if isinstance(reader, ReadsTogether):
        return reader.conversations_together([source, *beside])
    if not isinstance(reader, ReadsRuns):
        raise TableError(f"{source}: no reader knows runs in it (voirdire import --list)")
    return reader.conversations(source)


def _partition(
    files: Sequence[Path], out: Path, read: ReadOptions, reference: Sequence[str]
) -> None:
    """The files as a folder of parts, moved into place when it is whole."""
    import shutil

    from voirdire.errors import InputError, TableError
    from voirdire.files import DRAFT
    from voirdire.tables.batches import is_long, rows_about, tidy_batches
    from voirdire.tables.partitioned import write_layout

    if out.exists() and not (out.is_dir() and any(out.glob("attribute=*"))):
        raise InputError(f"{out} is no folder of parts, and is not overwritten")
    long = [file for file in files if is_long(file, read)]
    others = [file for file in files if file not in long]
    whole = [_rows(group, read, reference) for group in _groups(others)]
    for table, _ in whole:
        if "score" not in table.columns:
            raise TableError(
                "comparisons of two responses are not dealt out: leave --partition out"
            )
    notes: list[Finding] = []
    batches = itertools.chain(tidy_batches(long, read, notes), (table for table, _ in whole))
    rows = sum(map(rows_about, long)) + sum(table.height for table, _ in whole)
    # Beside the folder, and moved into its place: an interruption leaves what was there.
    draft = out.with_name(out.name + DRAFT)
    shutil.rmtree(draft, ignore_errors=True)
    try:
        parts = write_layout(batches, draft, rows=rows)
        if out.exists():
            shutil.rmtree(out)
        draft.rename(out)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    _say([*notes, *(finding for _, findings in whole for finding in findings)])
    ratings = sum(part.rows for part in parts)
    typer.echo(f"Wrote {out}: {ratings:,} ratings in {len(parts):,} parts.")
    typer.echo(f"Next: voirdire examine {out} --reference NAME")
    _given(out, ratings, "ratings")


def _rows(
    files: Sequence[Path], read: ReadOptions, reference: Sequence[str]
) -> tuple[pl.DataFrame, tuple[Finding, ...]]:
    """The ratings of files that are read as one with the texts that they show, or comparisons."""
    import polars as pl

    from voirdire.tables import read_file, read_foreign

    reading = read_foreign(files[0], beside=files[1:])
    if reading is not None and reading.preferences is not None:
        return reading.preferences, reading.findings
    if reading is None or read:
        rated: Tables | Reading = read_file(files, read=read, reference=reference)[1]
    else:
        rated = reading
    findings = rated.findings
    texts = rated.items.select("item", "text").unique("item", keep="first")
    table = rated.ratings.join(texts, on="item", how="left", maintain_order="left")
    table = table.with_columns(pl.col("attribute").cast(pl.String))
    table = _with_texts(table, rated.responses, "response", ("item", "system"), "run")
    whose = ("item", "system", "rater", "run")
    table = _with_texts(table, rated.reasons, "reason", whose, "attribute")
    return table.with_columns(pl.col("attribute", "status").cast(pl.String)), findings


def _with_texts(
    table: pl.DataFrame, texts: pl.DataFrame, name: str, keys: Sequence[str], finer: str
) -> pl.DataFrame:
    """The table with a column of texts, where there are any: those of a finer key before others."""
    import polars as pl

    if texts.is_empty():
        return table
    # A text of one run (or attribute) belongs to it; one that names none belongs to all of them.
    for at, own in enumerate(([*keys, finer], list(keys))):
        once = texts.unique(own, keep="first", maintain_order=True).select(
            *own, pl.col("text").alias(f"#{at}")
        )
        table = table.join(once, on=own, how="left", nulls_equal=True, maintain_order="left")
    return table.with_columns(pl.coalesce("#0", "#1").alias(name)).drop("#0", "#1")


def _list(*, as_json: bool) -> None:
    from voirdire._manager import plugins
    from voirdire.tables.readers import reader_named

    loaded = plugins()
    rows = [
        {
            "name": name,
            "about": reader_named(name).about,
            "plugin": loaded.registered["reader", name].plugin,
        }
        for name in loaded.names("reader")
    ]
    if as_json:
        emit(answer_of(f"{len(rows)} readers of other tools' files."), {"readers": rows})
        return
    from voirdire.report import print_fitted
    from voirdire.shown import terminal
    from voirdire.tabular import Table, text

    cells = tuple((row["name"], row["about"]) for row in rows)
    print_fitted(terminal(), Table((text("reader"), text("reads")), cells))


def _write(table: pl.DataFrame, out: Path) -> None:
    """The table, moved into place when it is whole."""
    from voirdire.errors import not_one_of
    from voirdire.files import whole, write_csv

    if out.suffix == ".csv":
        write_csv(out, table)
        return
    if out.suffix not in (".parquet", ".jsonl"):
        raise not_one_of("suffix", out.suffix, (".csv", ".jsonl", ".parquet"), out)
    with whole(out) as draft:
        if out.suffix == ".parquet":
            table.write_parquet(draft)
        else:
            table.write_ndjson(draft)


def _say(findings: Sequence[Finding]) -> None:
    from voirdire.shown import visible

    for finding in findings:
        # Drafting a study is our own way of reading the file, and says nothing about the ratings.
        if finding.kind not in ("study_drafted", "scale_inferred"):
            typer.echo(visible(f"{finding.severity}: {finding.message}"), err=True)
