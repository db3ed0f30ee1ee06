"""Long tables, one row a rating, read a batch at a time: what is too large to be held at once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import NotSummableError, TableError, listed
from voirdire.study import Source
from voirdire.tables._ids import canonical_ids
from voirdire.tables._names import find, head_of
from voirdire.tables._numbers import to_scores
from voirdire.tables._status import speaks_of_status
from voirdire.tables._tables import FACTS, RATINGS, STATUS
from voirdire.tables._words import (
    Unread,
    finding_of_unread,
    grouped,
    known_words,
    told,
    with_declared,
)
from voirdire.tables.partitioned import parquet_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from voirdire.schema import Finding
    from voirdire.study import TableKeys

#: Cells that show what a column holds.
_FIRST = 1_000
#: Columns of a long table, and what stands where a file has none.
_LONG = ("item", "system", "rater", "run", "attribute", "score", "status", "cluster", "subgroup")
_NEEDED = ("item", "rater", "score")
BATCH_ROWS = 500_000


def tidy_batches(
    files: Sequence[Path], read: TableKeys, notes: list[Finding]
) -> Iterator[pl.DataFrame]:
    """Long tables, one row a rating, read a batch at a time as tidy ratings.

    Parameters
    ----------
    files : sequence of Path
        Parquet or CSV.
    read : TableKeys
        The column of each part of a rating; others are found by their usual names. `rater` may be
        the name of the one rater of a file instead. Of the other keys `words` and `assume` say what
        texts among the scores stand for.
    notes : list of Finding
        Texts that count as missing are added to it.

    Raises
    ------
    QuestionError
        A score is a text, and nobody said what it stands for.
    TableError
        A file has no column of items, raters or scores (a row holds several ratings, or one rater
        is meant), or an id is missing; the message names the place.
    """
    for file in files:
        lazy = _scan(file)
        have = lazy.collect_schema().names()
        rater = read.rater
        alone = rater if rater is not None and rater not in have else None
        columns = {
            part: None
            if alone and part == "rater"
            else find(part, have, getattr(read, part), str(file))
            for part in _LONG
        }
        for part in _NEEDED:
            if columns[part] is None and not (alone and part == "rater"):
                raise NotSummableError(
                    f"{file}: there is no column of the {part}s of a row (columns: "
                    f"{listed(have)}): name it by --{part}; where a row holds several ratings, "
                    "voirdire import --out long.parquet makes a table of one a row, which can be "
                    "streamed"
                )
        if read.status is None and not _says_status(lazy, columns["status"]):
            columns["status"] = None  # answers that were judged, or anything else
        used = [(part, column) for part, column in columns.items() if column is not None]
        if len({column for _, column in used}) < len(used):  # `answer` may be score and status
            used = [(p, c) for p, c in used if p != "status" or c != columns["score"]]
        start = 0
        whose = [] if alone is None else [pl.lit(alone).alias("rater")]
        chosen = lazy.select(*(pl.col(column).alias(part) for part, column in used), *whose)
        texts = _ScoreTexts(chosen, file, str(columns["score"]), read, notes)
        for batch in chosen.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True):
            yield _tidy(batch, file, start, texts)
            start += batch.height


def _says_status(lazy: pl.LazyFrame, column: str | None) -> bool:
    """Whether the first cells of a column, blanks aside, say what became of a row."""
    if column is None:
        return False
    first = lazy.select(column).drop_nulls().head(_FIRST).collect()
    return speaks_of_status(first[column])


def is_long(file: Path, read: TableKeys) -> bool:
    """Whether a file is Parquet or CSV with a row a rating, so that it is read in batches."""
    if file.suffix.lower() not in (".parquet", ".pq", ".csv", ".tsv") or not file.is_file():
        return False
    have = _scan(file).collect_schema().names()
    if not all(getattr(read, part) or find(part, have, None, str(file)) for part in _NEEDED):
        return False
    score = read.score or find("score", have, None, str(file)) or ""
    if read.score is None and find("response", [score], None, str(file)):
        return False  # `answer` may be what was judged, which shows once a file is read whole
    # Scores that count down are a question, which is asked of a file that is read whole.
    return head_of(score).best != "low"


def rows_about(file: Path) -> int:
    """Rows of a Parquet file, or about those of a text, by its size and its first lines."""
    if file.suffix.lower() in (".parquet", ".pq"):
        return parquet_rows(file)
    with file.open("rb") as lines:
        # The first lines tell how long the others are: to count them all would read the file twice.
        head = [len(line) for _, line in zip(range(1000), lines, strict=False)]
    return round(file.stat().st_size / max(sum(head) / max(len(head), 1), 1))


def _scan(file: Path) -> pl.LazyFrame:
    try:
        if file.suffix.lower() in (".csv", ".tsv"):
            # As text: a column of ids is not guessed to be numbers from its first rows.
            separator = "\t" if file.suffix.lower() == ".tsv" else ","
            lazy = pl.scan_csv(file, infer_schema=False, separator=separator)
        else:
            # A folder called `attribute=A` would become a column of its own, beside the file's.
            lazy = pl.scan_parquet(file, hive_partitioning=False)
        lazy.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise TableError(f"{file}: cannot be read ({str(error).splitlines()[0]})") from None
    return lazy


class _ScoreTexts:
    """The scores of a file, whose texts are read once all of them are known.

    Whether *yes* is 1 or a word that nobody knows depends on what else the column says.
    """

    def __init__(
        self,
        lazy: pl.LazyFrame,
        file: Path,
        column: str,
        read: TableKeys,
        notes: list[Finding],
    ) -> None:
        self._source = Source(path=str(file), words=read.words, assume=read.assume)
        self._lazy, self._column, self._notes = lazy, column, notes

    def scores(self, cells: pl.Series) -> tuple[pl.Series, pl.Series]:
        """Scores of a batch, and what became of those that a word speaks of."""
        if cells.dtype == pl.String:
            # Most files hold plain numbers: the texts of all of a file are looked up only where one
            # does not.
            clean = cells.str.strip_chars()
            values = clean.cast(pl.Float64, strict=False)
            plain = (values.is_finite() | clean.is_null() | (clean == "")).fill_null(value=False)
            if not plain.all() or self._source.words:
                return tuple(clean.replace_strict(*pair) for pair in self._read)  # type: ignore[return-value]
        elif self._source.words and (declared := with_declared(cells, self._source)) is not None:
            values, _, fates = to_scores(declared)
            return values, fates
        else:
            values = cells.cast(pl.Float64).fill_nan(None)
        return values, pl.Series([None], dtype=STATUS).new_from_index(0, len(values))

    @cached_property
    def _read(self) -> tuple[tuple[pl.Series, pl.Series], tuple[pl.Series, pl.Series]]:
        """Every text of the file with its number, and with what became of it."""
        cell = pl.col("score").str.strip_chars().alias("cell")
        # Each text once, in an order that does not rest on threads: the question must be the same.
        cells = self._lazy.select(cell).unique().sort("cell").collect(engine="streaming")["cell"]
        declared = with_declared(cells, self._source) if self._source.words else None
        values, bad, fates = to_scores(cells if declared is None else declared)
        if bad.any():
            strange = self._lazy.with_row_index("row", offset=1).select(
                pl.lit(self._column).alias("column"), "row", pl.col("item").cast(pl.String), cell
            )
            strange = strange.filter(pl.col("cell").is_in(cells.filter(bad).to_list()))
            counts = self._lazy.select(cell.is_in(cells.filter(values.is_not_null()).to_list()))
            numbers = int(counts.sum().collect(engine="streaming").item())
            unread = Unread(grouped(strange), known_words(cells, values), numbers)
            self._notes.append(finding_of_unread(self._source.path, "row", self._source, unread))
        return (cells, values), (cells, told(bad, fates))


def _tidy(batch: pl.DataFrame, file: Path, start: int, texts: _ScoreTexts) -> pl.DataFrame:
    frame = batch.with_columns(canonical_ids(batch["item"]))
    for part in ("item", "rater"):
        if frame[part].null_count():
            row = start + int(frame[part].is_null().arg_true()[0]) + 1
            raise TableError(f"{file}, row {row:,}: the {part} is missing")
    numbers, fates = texts.scores(frame["score"])
    kinds = {**RATINGS, **FACTS, "attribute": pl.String(), "status": pl.String()}
    blank = pl.when(pl.col("score").is_null()).then(pl.lit("blank")).otherwise(pl.lit("ok"))
    # A long table may have no such columns: one run, one attribute, and a status by the score.
    defaults = {
        "run": pl.lit(1),
        "attribute": pl.lit("score"),
        "status": pl.coalesce(fates.cast(pl.String), blank),
    }
    made = frame.with_columns(numbers.alias("score"))
    made = made.with_columns(
        value.alias(name) for name, value in defaults.items() if name not in made.columns
    )
    return made.select(pl.col(name).cast(kinds[name]) for name in _LONG if name in made.columns)
