"""Files of other tools as tidy ratings: what a reader is, and how one is chosen for a file."""

from __future__ import annotations

import gc
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

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
from voirdire.tables._names import find
from voirdire.tables._numbers import to_scores
from voirdire.tables._tables import (
    CONTEXTS,
    RATERS,
    RATINGS,
    REASONS,
    REPLIES,
    RESPONSES,
    STATUS,
    Part,
    finding,
    plural,
    shortened,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from voirdire.schema import Finding, Scale, Severity, Status

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
    some: bool = False
    responses: pl.DataFrame = field(default_factory=RESPONSES.to_frame)
    reasons: pl.DataFrame = field(default_factory=REASONS.to_frame)

    def part(self, name: str, scale: Scale) -> Part:
        """The reading as a part of a study's tables; scores off the scale get that status."""
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
        return Part(
            ratings,
            REPLIES.to_frame(),
            contexts,
            self.findings,
            items=self.items,
            raters=self.raters,
            responses=self.responses,
            reasons=self.reasons,
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


class Given(NamedTuple):
    """One rating as a file gives it."""

    item: str
    system: str | None
    rater: str
    run: int
    attribute: str
    score: object
    status: Status


class Labelled(NamedTuple):
    """The labels of a set that a rater gave an item, before it is known what the set is."""

    item: str
    system: str | None
    rater: str
    run: int
    name: str
    labels: tuple[str, ...]


@dataclass(slots=True)
class ReadingBuilder:
    """Collects the ratings of a file row by row, and counts what is left out, with the reason.

    Parameters
    ----------
    format : str
        The reader's name.
    file : str
        The file's name, for findings.

    Examples
    --------
    >>> rows = ReadingBuilder("notes", "notes.json")
    >>> rows.rater("ann", "human")
    >>> rows.rate("1", "ann", "tone", "4 stars", text="Hello")
    >>> rows.leave_out("nobody rated it", "record 2")
    >>> found = rows.reading()
    >>> found.ratings.select("item", "rater", "score").rows(), len(found.findings)
    ([('1', 'ann', 4.0)], 2)
    """

    format: str
    file: str
    given: list[Given] = field(default_factory=list)
    labelled: list[Labelled] = field(default_factory=list)
    compared: list[tuple[object, ...]] = field(default_factory=list)
    answers: dict[tuple[str, str | None, str], int] = field(default_factory=dict)
    said: list[tuple[object, ...]] = field(default_factory=list)
    items: dict[str, dict[str, str | None]] = field(default_factory=dict)
    raters: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    unused: dict[str, list[str]] = field(default_factory=dict)
    notes: list[Finding] = field(default_factory=list)

    def item(
        self, item: object, text: str | None = None, facts: Mapping[str, object] | None = None
    ) -> str:
        """Make an item known, with its text and what labels may be joined by; gives its id."""
        name = str(item).strip()
        known = self.items.setdefault(name, {"text": None})
        if known["text"] is None:
            known["text"] = text
        for key, value in (facts or {}).items():
            if key not in ("item", "text") and isinstance(value, str | int | float):
                known.setdefault(key, str(value))
        return name

    def shown(
        self, item: object, fields: Mapping[str, object], facts: Mapping[str, object] | None = None
    ) -> str:
        """Make an item known by the fields that raters were shown; gives its id.

        The field with a usual name for a response is what was judged, and the longest of the
        others is the item's text.

        >>> rows = ReadingBuilder("notes", "notes.json")
        >>> rows.shown(1, {"question": "When?", "answer": "At nine, every day."})
        '1'
        >>> rows.items["1"]["text"], list(rows.answers)
        ('When?', [('1', None, 'At nine, every day.')])
        """
        texts = {key: value for key, value in fields.items() if isinstance(value, str)}
        answer = _called_response(tuple(key for key, value in texts.items() if value.strip()))
        others = [value for key, value in texts.items() if key != answer]
        text = max(others, key=len, default=texts.get(answer or ""))
        name = self.item(item, text, {**(facts or {}), **fields})
        if others and answer is not None:
            self.respond(name, texts[answer])
        return name

    def rater(self, name: str, kind: str = "judge", model: str | None = None) -> None:
        """Say what a rater is; one of which nothing is said is a judge."""
        self.raters[name] = (kind, model)

    def respond(self, item: object, text: object, system: str | None = None, run: int = 1) -> None:
        """Keep what a system answered; what is no text, or a blank one, is nothing."""
        if isinstance(text, str) and text.strip():
            self.answers.setdefault((self.item(item), system, text), run)

    def explain(
        self,
        item: object,
        rater: str,
        attribute: str | None,
        text: object,
        *,
        system: str | None = None,
        run: int = 1,
    ) -> None:
        """Keep what a rater said beside a score; what is no text, or a blank one, is nothing."""
        if isinstance(text, str) and text.strip():
            self.said.append((self.item(item), system, rater, run, attribute, text))

    def rate(
        self,
        item: object,
        rater: str,
        attribute: str,
        score: object,
        *,
        text: str | None = None,
        system: str | None = None,
        run: int = 1,
        status: Status = "blank",
    ) -> None:
        """Add a rating: a number, a truth value, a text that says a number, or None.

        `status` says why there is no score where `score` is None.
        """
        name = self.item(item, text)
        self.raters.setdefault(rater, ("judge", None))
        self.given.append(Given(name, system, rater, run, attribute, score, status))

    def label(
        self,
        item: object,
        rater: str,
        name: str,
        labels: Iterable[str],
        *,
        text: str | None = None,
        system: str | None = None,
        run: int = 1,
    ) -> None:
        """Add what was chosen from a set of labels.

        Where all that is ever chosen is one number, or one of two words such as pass and fail, it
        is a rating of the attribute `name`. Otherwise each label is an attribute, 1 where it was
        chosen and 0 where it was not.
        """
        known = self.item(item, text)
        self.raters.setdefault(rater, ("judge", None))
        self.labelled.append(Labelled(known, system, rater, run, name, tuple(map(str, labels))))

    def prefer(
        self,
        item: object,
        rater: str,
        first: str,
        second: str,
        score: float | None,
        *,
        text: str | None = None,
        attribute: str = "overall",
        run: int = 1,
    ) -> None:
        """Add a comparison of the response shown first with the second; above 0 prefers the first.

        The scores are -2, -1, 0 (a tie), 1 and 2; None is missing.
        """
        known = self.item(item, text)
        self.raters.setdefault(rater, ("judge", None))
        self.compared.append((known, first, second, first, rater, run, attribute, score))

    def leave_out(self, reason: str, place: str) -> None:
        """Count a row that is no rating."""
        self.unused.setdefault(reason, []).append(place)

    def note(self, kind: str, message: str, consequence: str, *, serious: bool = True) -> None:
        """Add a finding about the file."""
        severity: Severity = "serious" if serious else "note"
        self.notes.append(finding(kind, severity, self.file, [], message, consequence, count=1))

    def version(self, found: object, known: Iterable[object]) -> None:
        """Add a finding where the file is of a version that the reader was not written for."""
        versions = [str(one) for one in known]
        if str(found) not in versions:
            said = "names no version" if found is None else f"is of version {found}"
            self.note(
                "format_version",
                f"The file {said} of the format {self.format}; read are {', '.join(versions)}.",
                "It was read as if it were of the last of these: compare some scores with those "
                "that the tool shows.",
            )

    def reading(self, scale: Scale | None = None) -> Reading:
        """All of it as a `Reading`.

        Raises
        ------
        TableError
            There is no rating; the message says what was left out and why.
        """
        self._rate_labels()
        scores, statuses = self._scores()
        kept = [at for at, status in enumerate(statuses) if status != "unread"]
        if not kept:
            why = "; ".join(f"{plural(len(p), 'row')}: {r}" for r, p in self.unused.items())
            raise TableError(
                f"{self.file}: is a file of {self.format} without any rating"
                + (f" ({why})" if why else "")
            )
        rows = [(*self.given[at][:5], scores[at], None, statuses[at]) for at in kept]
        ratings = pl.DataFrame(
            [(i, s, r, n, a, v, k, t) for i, s, r, n, a, v, k, t in rows],
            schema=dict(RATINGS),
            orient="row",
        )
        ratings = self._once(ratings)
        findings = (self._read_as(ratings), *self._left_out(), *self.notes)
        return Reading(
            self.format, ratings, self._items(), self._raters(ratings), findings, scale,
            responses=self._responses(), reasons=self._reasons(),
        )  # fmt: skip

    def preferences(self) -> Reading:
        """The comparisons as a `Reading` without ratings.

        Raises
        ------
        TableError
            There is none.
        """
        if not self.compared:
            raise TableError(f"{self.file}: is a file of {self.format} without any comparison")
        table = pl.DataFrame(self.compared, schema=dict(PREFERENCES), orient="row")
        raters = self._raters(table)
        findings = (*self._left_out(), *self.notes)
        none = RATINGS.to_frame()
        return Reading(
            self.format, none, self._items(), raters, findings, preferences=table,
            responses=self._responses(),
        )  # fmt: skip

    def _rate_labels(self) -> None:
        """Labels as ratings, now that all that was ever chosen is known."""
        sets: dict[str, list[Labelled]] = {}
        for one in self.labelled:
            sets.setdefault(one.name, []).append(one)
        alone = len(sets) == 1 and not self.given
        self.labelled = []
        for name, chosen in sets.items():
            labels = list(dict.fromkeys(label for one in chosen for label in one.labels))
            single = all(len(one.labels) == 1 for one in chosen)
            if single and not to_scores(pl.Series(labels)).bad.any():
                for one in chosen:
                    key = (one.item, one.system, one.rater, one.run)
                    self.given.append(Given(*key, name, one.labels[0], "blank"))
                continue
            self._inferred(name, labels)
            for one in chosen:
                key = (one.item, one.system, one.rater, one.run)
                self.given += [
                    Given(*key, label if alone else f"{name}: {label}",
                          float(label in one.labels), "ok")
                    for label in labels
                ]  # fmt: skip

    def _inferred(self, name: str, labels: Sequence[str]) -> None:
        self.note(
            "labels_inferred",
            f"{name} is chosen from {plural(len(labels), 'label')}: {listed(labels)}.",
            "Each is an attribute, 1 where it was chosen and 0 where it was not; a label that "
            "nobody chose is not known.",
            serious=False,
        )

    def _scores(self) -> tuple[list[float | None], list[str]]:
        """A number and a status for each rating; ``unread`` where a text says no number."""
        scores: list[float | None] = []
        statuses: list[str] = []
        texts: dict[str, list[int]] = {}
        for at, one in enumerate(self.given):
            number = _number(one.score)
            scores.append(number)
            statuses.append(one.status if number is None else "ok")
            if isinstance(one.score, str):
                texts.setdefault(one.attribute, []).append(at)
        for attribute, places in texts.items():
            cells = pl.Series(attribute, [str(self.given[at].score) for at in places])
            values, bad, fates = to_scores(cells)
            for at, value, wrong, fate in zip(places, values, bad, fates, strict=True):
                scores[at] = value
                statuses[at] = "ok" if value is not None else fate or "blank"
                if wrong:
                    statuses[at] = "unread"
                    said = shortened(str(self.given[at].score))
                    self.leave_out(
                        f"{attribute} is {said!r}, which is no number",
                        f"item {self.given[at].item}",
                    )
        return scores, statuses

    def _once(self, ratings: pl.DataFrame) -> pl.DataFrame:
        """Each rating once: of those with the same key the last one counts."""
        keys = ["item", "system", "rater", "run", "attribute"]
        once = ratings.unique(keys, keep="last", maintain_order=True)
        if once.height < ratings.height:
            twice = ratings.filter(pl.struct(keys).is_duplicated())
            same = (
                twice.unique().height
                == once.join(
                    twice.select(keys).unique(), on=keys, how="semi", nulls_equal=True
                ).height
            )
            self.notes.append(
                finding(
                    "duplicate_rows",
                    "note" if same else "serious",
                    self.file,
                    [f"item {name}" for name in twice["item"].unique(maintain_order=True)[:20]],
                    f"{plural(ratings.height - once.height, 'rating')} of the same response by "
                    f"the same rater {'with the same score' if same else 'with another score'}.",
                    "The last one in the file counts.",
                    count=ratings.height - once.height,
                )
            )
        return once

    def _read_as(self, ratings: pl.DataFrame) -> Finding:
        people = [name for name, (kind, _) in self.raters.items() if kind == "human"]
        who = f" ({plural(len(people), 'person', 'people')})" if people else ""
        lost = sum(map(len, self.unused.values()))
        return finding(
            "file_read_as",
            "note",
            self.file,
            [],
            f"Read as {self.format}: {plural(ratings.height, 'rating')} of "
            f"{plural(ratings['item'].n_unique(), 'item')} by "
            f"{plural(ratings['rater'].n_unique(), 'rater')}{who}, "
            f"{plural(ratings['attribute'].n_unique(), 'attribute')}; "
            f"{plural(lost, 'row')} not used.",
            "If that is wrong, write ratings as a table with a row a rating.",
            count=1,
        )

    def _left_out(self) -> list[Finding]:
        return [
            finding(
                "rows_unused",
                "note",
                self.file,
                places,
                f"{plural(len(places), 'row')} not used: {reason}.",
                "They are in no number.",
            )
            for reason, places in self.unused.items()
        ]

    def _items(self) -> pl.DataFrame:
        counts = Counter(key for facts in self.items.values() for key in facts)
        keys = ["text", *(key for key in counts if key != "text")]
        columns = {key: [facts.get(key) for facts in self.items.values()] for key in keys}
        schema = dict.fromkeys(("item", *keys), pl.String())
        return pl.DataFrame({"item": list(self.items), **columns}, schema=schema)

    def _responses(self) -> pl.DataFrame:
        rows = [(item, system, run, text) for (item, system, text), run in self.answers.items()]
        return pl.DataFrame(rows, schema=dict(RESPONSES), orient="row")

    def _reasons(self) -> pl.DataFrame:
        return pl.DataFrame(self.said, schema=dict(REASONS), orient="row").unique(
            maintain_order=True
        )

    def _raters(self, ratings: pl.DataFrame) -> pl.DataFrame:
        present = set(ratings["rater"].unique())
        rows = [
            {"rater": name, "kind": kind, "model": model}
            for name, (kind, model) in self.raters.items()
            if name in present
        ]
        return pl.DataFrame(rows, schema=dict(RATERS))


@lru_cache(64)
def _called_response(fields: tuple[str, ...]) -> str | None:
    """The field with a usual name for a response; records mostly have the same ones."""
    return find("response", fields, None, "")


def _number(value: object) -> float | None:
    """A number or truth value as a number; None for anything else, an infinity among it."""
    if isinstance(value, bool | int | float):
        number = float(value)
        return number if abs(number) < float("inf") else None
    return None


def reader_of(path: Path, name: str | None = None) -> Reader | None:
    """The reader that knows a file, or the one of that name; None for a plain table.

    Raises
    ------
    PluginError
        There is no reader of that name, or it cannot be loaded.
    TableError
        Two readers are equally sure of the file.
    """
    known = plugins().names("reader")
    if name is not None:
        if name not in known:
            raise not_one_of("reader", name, known, path, TableError)
        return reader_named(name)
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError:
        return None  # whoever reads the file says what is wrong with it
    sure = sorted(((_sniffed(one, path, head), one) for one in known), reverse=True)
    sure = [(share, one) for share, one in sure if share >= SURE]
    if len(sure) > 1 and sure[0][0] == sure[1][0]:
        names = " and ".join(one for share, one in sure if share == sure[0][0])
        raise TableError(
            f"{path}: the readers {names} are equally sure of it: say by "
            f'reader = "{sure[0][1]}" under [[data.sources]] which one reads it'
        )
    return reader_named(sure[0][1]) if sure else None


def read_foreign(path: Path, name: str | None = None) -> Reading | None:
    """A file of another tool as a `Reading`; None where it is a plain table.

    Raises
    ------
    TableError
        The format is recognised, and the file cannot be used.
    PluginError
        The reader failed, or gave something else than a `Reading`.
    """
    reader = reader_of(path, name)
    if reader is None:
        return None
    try:
        with _uncollected():
            found: Any = reader.read(path)
    except VoirdireError:
        raise
    except BROKEN_PLUGIN as error:
        raise PluginError(
            f"{path}: reader {reader.name!r} failed: {type(error).__name__}: {error}"
        ) from error
    return checked_reading(found, reader.name)


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


def checked_reading(found: object, name: str) -> Reading:
    """The reading, where its frames have the columns that they must have.

    Raises
    ------
    PluginError
        It is no `Reading`, or a frame lacks a column or has one of another type.
    """
    if not isinstance(found, Reading):
        raise PluginError(f"reader {name!r} gave {type(found).__name__}, not a Reading")
    schema = {column: kind for column, kind in found.ratings.schema.items() if column in RATINGS}
    if schema != dict(RATINGS):
        raise PluginError(
            f"reader {name!r}: ratings must have the columns of voirdire.tables.RATINGS, "
            f"got {dict(found.ratings.schema)}"
        )
    for part, frame, wanted in (
        ("items", found.items, ("item", "text")),
        ("raters", found.raters, tuple(RATERS)),
    ):
        lost = [column for column in wanted if column not in frame.columns]
        if lost:
            raise PluginError(f"reader {name!r}: {part} must have the column {lost[0]!r}")
    return found


def reader_named(name: str) -> Reader:
    """The registered reader of that name.

    Raises
    ------
    PluginError
        It cannot be loaded, or is no reader.
    """
    made = plugins().resolve("reader", name)
    found: Any = made() if isinstance(made, type) else made
    if not isinstance(found, Reader):
        raise PluginError(f"reader {name!r} needs name, about, sniff(path, head) and read(path)")
    return found


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
