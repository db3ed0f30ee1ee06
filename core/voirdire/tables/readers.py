"""Files of other tools as tidy ratings: what a reader is, and how one is chosen for a file."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import polars as pl

from voirdire._manager import plugins
from voirdire.errors import (
    BROKEN_PLUGIN,
    PluginError,
    TableError,
    VoirdireError,
    listed,
    not_one_of,
)
from voirdire.late import dataclass
from voirdire.tables._numbers import fold
from voirdire.tables._tables import (
    CONTEXTS,
    RATERS,
    RATINGS,
    REASONS,
    REPLIES,
    RESPONSES,
    STATUS,
    Account,
    SourceTables,
    finding,
)
from voirdire.tables.packed import packing, plain_path, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from voirdire.schema import Finding, Rating, Scale

#: How much of a file a reader is shown to recognise it by.
HEAD = 65_536
#: A reader that is less sure than this leaves a file to the general reader of tables.
SURE = 0.5
#: The columns of comparisons; a score from -2 to 2, above 0 where `system_a` is preferred.
PREFERENCES = pl.Schema(
    {
        "item": pl.String(),
        "system_a": pl.String(),
        "system_b": pl.String(),
        "shown_first": pl.String(),
        "rater": pl.String(),
        "run": pl.Int32(),
        "attribute": pl.String(),
        "score": pl.Float64(),
    }
)


#: The columns of labels: those that a rater chose of the set `attribute`, none or several.
CHOSEN = pl.Schema(
    {
        "item": pl.String(),
        "system": pl.String(),
        "rater": pl.String(),
        "run": pl.Int32(),
        "attribute": pl.String(),
        "labels": pl.List(pl.String()),
    }
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader found in a file.

    Attributes
    ----------
    format : str
        The reader's name.
    ratings : DataFrame
        One row a rating, with the columns of `voirdire.tables.RATINGS`.
    items : DataFrame
        ``item``, ``text`` (what was put to the systems; null where the file does not show it), and
        any further columns of text by which labels from elsewhere may be joined.
    raters : DataFrame
        ``rater``, ``kind`` (judge, annotator, classifier or human) and what else is known of them,
        with the columns of `voirdire.tables.RATERS`.
    findings : tuple of Finding
        What is odd, and every row that was not used, with the reason.
    scale : Scale or None
        The scale of all its attributes, where the format says so.
    responses : DataFrame
        What the systems answered, where the file shows it: ``item, system, run, text``.
    reasons : DataFrame
        What raters said beside their scores: ``item, system, rater, run, attribute, text``.
    preferences : DataFrame or None
        Comparisons of two responses with the columns of `PREFERENCES`, for a file that holds these
        and no ratings.
    account : Account or None
        What became of its records; None where the reader does not count them.
    labels : DataFrame or None
        What was chosen from sets of labels, with the columns of `CHOSEN`; `ratings` has them too, 1
        or 0 for each label, whose attribute is the label or `SET: label`.
    some : bool
        Whether only some of the file's attributes were asked for, and the others left out.
    """

    format: str
    ratings: pl.DataFrame
    items: pl.DataFrame
    raters: pl.DataFrame
    findings: tuple[Finding, ...] = ()
    scale: Scale | None = None
    preferences: pl.DataFrame | None = None
    labels: pl.DataFrame | None = None
    some: bool = False
    responses: pl.DataFrame = field(default_factory=RESPONSES.to_frame)
    reasons: pl.DataFrame = field(default_factory=REASONS.to_frame)
    account: Account | None = None

    @property
    def only_labels(self) -> pl.DataFrame | None:
        """The labels of a file that holds these and no other ratings."""
        if self.labels is None:
            return None
        derived = {
            name
            for of, labels in self.labels.select("attribute", "labels").iter_rows()
            for label in labels
            for name in (label, f"{of}: {label}")
        }
        others = set(self.ratings["attribute"].cast(pl.String).unique()) - derived
        return None if others else self.labels

    def part(self, name: str, scale: Scale) -> SourceTables:
        """The reading as a part of a study's tables; scores off the scale get that status."""
        # A reader does not know the study's scale: what is off it is found here.
        score = pl.col("score")
        inside = score.is_between(scale.low, scale.high)
        status = pl.when(score.is_null()).then("status").when(inside).then(pl.lit("ok", STATUS))
        ratings = self.ratings.with_columns(
            status.otherwise(pl.lit("out_of_scale", STATUS)).alias("status")
        )
        shown = self.items.filter(pl.col("text").is_not_null())
        contexts = shown.select(
            pl.lit(name).alias("table"),
            pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("row"),
            "item",
            "text",
        ).cast(CONTEXTS)
        return SourceTables(
            ratings,
            REPLIES.to_frame(),
            contexts,
            self.findings,
            items=self.items,
            raters=self.raters,
            responses=self.responses,
            reasons=self.reasons,
            account=self.account,
        )


@runtime_checkable
class Reader(Protocol):
    """Reads the files of one tool. Register its class or an object of it by the hook
    `voirdire_register_readers`.
    """

    name: str
    #: One line for `voirdire import --list`: the tool, the file and how it is exported.
    about: str

    def sniff(self, path: Path, head: bytes) -> float:
        """How sure it is that the file is of its format, from 0 to 1, by its first bytes."""
        ...

    def read(self, path: Path) -> Reading:
        """The file as tidy tables.

        Raises
        ------
        TableError
            The format is recognised, and the file cannot be used: why, in words of its tool.
        """
        ...


@runtime_checkable
class ReadsRuns(Protocol):
    """A reader that also knows the runs in a file, judged or not."""

    def conversations(self, path: Path) -> Iterator[Rating]:
        """Each run with its steps as the turns of a response.

        Raises
        ------
        TableError
            There is none, or the file cannot be used.
        """
        ...


@runtime_checkable
class ReadsTogether(Protocol):
    """A reader of files that may belong together, such as traces and the logs that judge them.

    Each may be packed by gzip or zstd (`voirdire.tables.unpacked`).
    """

    name: str

    def read_together(self, paths: Sequence[Path]) -> Reading:
        """The files as if they were one.

        Raises
        ------
        TableError
            One of them cannot be used.
        """
        ...

    def conversations_together(self, paths: Sequence[Path]) -> Iterator[Rating]:
        """The runs in them, as `ReadsRuns` has those of one file.

        Raises
        ------
        TableError
            There is none, or a file cannot be used.
        """
        ...


def together(paths: Sequence[Path], names: Sequence[str | None]) -> list[tuple[int, ...]]:
    """Which files are read as one, by their places; each of the others stands alone.

    Parameters
    ----------
    paths : sequence of Path
    names : sequence of str or None
        Of each file its reader's name, where somebody says it.
    """
    groups: dict[str, list[int]] = {}
    for at, (path, name) in enumerate(zip(paths, names, strict=True)):
        reader: object = reader_of(path, name) if len(paths) > 1 else None
        key = reader.name if isinstance(reader, ReadsTogether) else f"\0{at}"
        groups.setdefault(key, []).append(at)
    return [tuple(places) for places in groups.values()]


def reader_of(path: Path, name: str | None = None) -> Reader | None:
    """The reader that knows a file, or the one of that name; None for a plain table.

    Raises
    ------
    PluginError
        There is no reader of that name, or it cannot be loaded.
    TableError
        Two readers are equally sure of the file.
    """
    readers = plugins().names("reader")
    if name is not None:
        if name not in readers:
            raise not_one_of("reader", name, readers, path, TableError)
        return reader_named(name)
    try:
        with unpacked(path) as file:
            head = file.read(HEAD)
    except OSError:
        return None  # whoever reads the file says what is wrong with it
    # All are asked: a reader of a third party may know a file better than one of ours.
    inner = plain_path(path) if packing(path) else path
    sure = sorted(((_sniffed(one, inner, head), one) for one in readers), reverse=True)
    sure = [(share, one) for share, one in sure if share >= SURE]
    # Which plugin was installed first must not decide what a file's numbers are.
    if len(sure) > 1 and sure[0][0] == sure[1][0]:
        names = " and ".join(one for share, one in sure if share == sure[0][0])
        raise TableError(
            f"{path}: the readers {names} are equally sure of it: say by "
            f'reader = "{sure[0][1]}" under [[data.sources]] which one reads it'
        )
    return reader_named(sure[0][1]) if sure else None


def read_foreign(
    path: Path,
    name: str | None = None,
    *,
    beside: Sequence[Path] = (),
    words: Mapping[str, float | Literal["missing"]] | None = None,
) -> Reading | None:
    """A file of another tool as a `Reading`; None where it is a plain table.

    Parameters
    ----------
    path : Path
    name : str, optional
        The reader's; by default the file's content says.
    beside : sequence of Path
        Further files that the same reader reads with it as one (`ReadsTogether`).
    words : mapping, optional
        The number that each label stands for, or ``"missing"``; ``"*"`` is every other one. A set
        of which a label is among them is an attribute of numbers.

    Raises
    ------
    TableError
        The format is recognised, and the file cannot be used; or a set has labels with a number
        and others of which nothing is said.
    PluginError
        The reader failed, or gave something else than a `Reading`.
    """
    reader = reader_of(path, name)
    if reader is None:
        return None
    try:
        with _uncollected():
            reading: Any = _read(reader, path, beside)
    except VoirdireError:
        raise
    except BROKEN_PLUGIN as error:
        raise PluginError(
            f"{path}: reader {reader.name!r} failed: {type(error).__name__}: {error}"
        ) from error
    found = with_words(checked_reading(reading, reader.name), words or {}, path.name)
    if found.account is None:
        return found
    from voirdire.tables._account import account_findings  # noqa: PLC0415 - of counted records

    account = replace(found.account, size=found.account.size or path.stat().st_size)
    notes = account_findings(account)
    return replace(found, account=account, findings=(*found.findings, *notes))


def _read(reader: Reader, path: Path, beside: Sequence[Path]) -> Reading:
    if isinstance(reader, ReadsTogether):
        return reader.read_together([path, *beside])
    if how := packing(path):
        raise TableError(
            f"{path.name}: is packed by {how.split()[0]}, and the reader {reader.name} reads such "
            "files as they are: unpack it first"
        )
    return reader.read(path)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Nothing is collected meanwhile: all that a file holds lives until it is read, and looking
    through it again and again took half of the time.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def checked_reading(reading: object, name: str) -> Reading:
    """The reading, where its frames have the columns that they must have.

    Raises
    ------
    PluginError
        It is no `Reading`, or a frame lacks a column or has one of another type.
    """
    if not isinstance(reading, Reading):
        raise PluginError(f"reader {name!r} gave {type(reading).__name__}, not a Reading")
    schema = {column: kind for column, kind in reading.ratings.schema.items() if column in RATINGS}
    if schema != dict(RATINGS):
        raise PluginError(
            f"reader {name!r}: ratings must have the columns of voirdire.tables.RATINGS, "
            f"got {dict(reading.ratings.schema)}"
        )
    for part, frame, wanted in (
        ("items", reading.items, ("item", "text")),
        ("raters", reading.raters, tuple(RATERS)),
    ):
        lost = [column for column in wanted if column not in frame.columns]
        if lost:
            raise PluginError(f"reader {name!r}: {part} must have the column {lost[0]!r}")
    return reading


def reader_named(name: str) -> Reader:
    """The registered reader of that name.

    Raises
    ------
    PluginError
        It cannot be loaded, or is no reader.
    """
    made = plugins().resolve("reader", name)
    reader: Any = made() if isinstance(made, type) else made
    if not isinstance(reader, Reader):
        raise PluginError(f"reader {name!r} needs name, about, sniff(path, head) and read(path)")
    return reader


def _sniffed(name: str, path: Path, head: bytes) -> float:
    """How sure a reader is.

    Raises
    ------
    PluginError
        It failed, or is not between 0 and 1 sure: the file is then perhaps its own, and to read it
        otherwise would change numbers.
    """
    try:
        sure = float(reader_named(name).sniff(path, head))
    except VoirdireError:
        raise
    except BROKEN_PLUGIN as error:
        raise PluginError(
            f"{path}: reader {name!r} failed to look at it: {type(error).__name__}: {error}; "
            f"VOIRDIRE_LOAD_PLUGINS names the plugins to load"
        ) from error
    if not 0 <= sure <= 1:
        raise PluginError(f"reader {name!r}: sniff must be between 0 and 1, got {sure:g}")
    return sure


#: What is said of every label of which nothing else is.
_OTHERS = "*"


def with_words(
    reading: Reading, words: Mapping[str, float | Literal["missing"]], file: str
) -> Reading:
    """The reading with the sets as numbers of which a label has a number by `words`.

    Raises
    ------
    TableError
        A set has labels with a number and others of which nothing is said, or answers of several
        labels.
    """
    if reading.labels is None or not words:
        return reading
    said = {fold(word): value for word, value in words.items()}
    for (name,), rows in reading.labels.group_by("attribute", maintain_order=True):
        labels = rows["labels"].explode().drop_nulls().unique(maintain_order=True).to_list()
        if any(isinstance(said.get(fold(label)), float) for label in labels):
            reading = _as_numbers(reading, str(name), rows, labels, said, file)
    return reading


def _as_numbers(
    reading: Reading,
    name: str,
    rows: pl.DataFrame,
    labels: list[str],
    said: Mapping[str, float | Literal["missing"]],
    file: str,
) -> Reading:
    unsaid = [one for one in labels if fold(one) not in said and _OTHERS not in said]
    if unsaid:
        raise TableError(
            f"{file}: {name} is also {listed(unsaid)}, of which words say nothing: give a number, "
            "or missing, for each"
        )
    if (rows["labels"].list.len() != 1).any():
        raise TableError(
            f"{file}: {name} has answers of no label or of several, which no number stands for"
        )
    values = {one: said.get(fold(one), said.get(_OTHERS)) for one in labels}
    numbers = {one: value if isinstance(value, float) else None for one, value in values.items()}
    score = pl.col("labels").list.first().replace_strict(numbers, return_dtype=pl.Float64)
    status = pl.when(score.is_null()).then(pl.lit("unparsable")).otherwise(pl.lit("ok"))
    made = rows.with_columns(
        score=score, rank=pl.lit(None, RATINGS["rank"]), status=status.cast(STATUS)
    )
    derived = [name_of for one in labels for name_of in (one, f"{name}: {one}")]
    others = reading.ratings.filter(~pl.col("attribute").cast(pl.String).is_in(derived))
    wanted = reading.ratings.schema
    ratings = pl.concat([others, made.select(pl.col(c).cast(t) for c, t in wanted.items())])
    left = (
        reading.labels.filter(pl.col("attribute") != name) if reading.labels is not None else None
    )
    meant = ", ".join(f"{one} = {_told(value)}" for one, value in numbers.items())
    note = finding(
        "words_read", "note", file, [name], f"{name}: words were read as numbers: {meant}.",
        "So it was declared.", count=1,
    )  # fmt: skip
    kept = (
        one
        for one in reading.findings
        if one.kind != "labels_inferred" or tuple(one.places) != (name,)
    )
    return replace(
        reading, ratings=ratings, findings=(*kept, note),
        labels=None if left is None or left.is_empty() else left,
    )  # fmt: skip


def _told(value: float | None) -> str:
    return "missing" if value is None else f"{value:g}"
