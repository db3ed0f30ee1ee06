"""Collects the ratings of another tool's file row by row, and says what was left out and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import polars as pl

from voirdire.errors import TableError, listed
from voirdire.tables._collected import (
    left_out,
    read_as,
    table_of_items,
    table_of_raters,
    table_of_reasons,
    table_of_responses,
)
from voirdire.tables._names import find
from voirdire.tables._numbers import to_scores
from voirdire.tables._seen import Seen, most_of
from voirdire.tables._tables import (
    RATINGS,
    Account,
    finding,
    plural,
    shortened,
)
from voirdire.tables.readers import CHOSEN, PREFERENCES, Reading

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from voirdire.schema import Finding, Scale, Severity, Status


class GivenRating(NamedTuple):
    """One rating as a file gives it."""

    item: str
    system: str | None
    rater: str
    run: int
    attribute: str
    score: object
    status: Status


class GivenLabels(NamedTuple):
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
    >>> reading = rows.reading()
    >>> reading.ratings.select("item", "rater", "score").rows(), len(reading.findings)
    ([('1', 'ann', 4.0)], 2)
    """

    format: str
    file: str
    given: list[GivenRating] = field(default_factory=list)
    labelled: list[GivenLabels] = field(default_factory=list)
    compared: list[tuple[object, ...]] = field(default_factory=list)
    answers: dict[tuple[str, str | None, str], int] = field(default_factory=dict)
    said: list[tuple[object, ...]] = field(default_factory=list)
    items: dict[str, dict[str, str | None]] = field(default_factory=dict)
    raters: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    unused: dict[str, list[str]] = field(default_factory=dict)
    notes: list[Finding] = field(default_factory=list)
    records: int = 0
    silent: int = 0
    clusters: dict[str, str] = field(default_factory=dict)
    unread: Counter[str] = field(default_factory=Counter)
    beside: dict[str, int] = field(default_factory=dict)
    size: int = 0

    def each(self, records: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The records of a file, each with its place, counted for the account of the file.

        One of which nothing is added and nothing left out is left out, so that none is lost
        without a word; so is one that is no object. Fields that the reader does not look at are
        counted with their bytes.

        >>> rows = ReadingBuilder("notes", "notes.json")
        >>> for place, record in rows.each([("line 1", {"stars": 4}), ("line 2", {})]):
        ...     if "stars" in record:
        ...         rows.rate(place, "ann", "stars", record["stars"])
        >>> rows.unused
        {'nothing in it is a judgement': ['line 2']}
        """
        for place, record in records:
            self.records += 1
            made, left = self.made, sum(map(len, self.unused.values()))
            if isinstance(record, dict):
                seen = Seen(record)
                yield place, seen
                self.unread.update(seen.unread())
            if self.made > made:
                continue
            self.silent += 1
            if sum(map(len, self.unused.values())) == left:
                why = "nothing in it is a judgement" if isinstance(record, dict) else "is no object"
                self.leave_out(why, place)

    def archive(self, sizes: Mapping[str, int], read: Collection[str]) -> None:
        """Say which members an archive has, with their bytes, and which of them are read."""
        self.size = sum(sizes.values())
        left = {name: size for name, size in sizes.items() if name not in read and size}
        if left:
            first = max(left, key=lambda name: left[name])
            what = repr(first) if len(left) == 1 else f"{len(left)} members, such as {first!r}"
            self.beside[what] = sum(left.values())

    @property
    def made(self) -> int:
        """How many judgements there are so far."""
        return len(self.given) + len(self.labelled) + len(self.compared)

    def item(
        self,
        item: object,
        text: str | None = None,
        facts: Mapping[str, object] | None = None,
        *,
        cluster: str = "",
    ) -> str:
        """Make an item known, with its text and what labels may be joined by; gives its id.

        Items of one `cluster` belong together, as the steps of a run or the runs of a conversation.
        """
        name = str(item).strip()
        if cluster:
            self.clusters[name] = cluster
        entry = self.items.setdefault(name, {"text": None})
        if entry["text"] is None:
            entry["text"] = text
        for key, value in (facts or {}).items():
            if key not in ("item", "text") and isinstance(value, str | int | float):
                entry.setdefault(key, str(value))
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
        self.given.append(GivenRating(name, system, rater, run, attribute, score, status))

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
        ident = self.item(item, text)
        self.raters.setdefault(rater, ("judge", None))
        self.labelled.append(GivenLabels(ident, system, rater, run, name, tuple(map(str, labels))))

    def prefer(  # noqa: PLR0913 - one a column
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
        shown: Literal["first"] | None = "first",
    ) -> None:
        """Add a comparison of two responses; above 0 prefers the first.

        The scores are -2, -1, 0 (a tie), 1 and 2; None is missing. `shown` is None where the file
        does not say which of both the rater saw first; else it is the first of them.
        """
        ident = self.item(item, text)
        self.raters.setdefault(rater, ("judge", None))
        order = first if shown else None
        self.compared.append((ident, first, second, order, rater, run, attribute, score))

    def leave_out(self, reason: str, place: str) -> None:
        """Count a row that is no rating."""
        self.unused.setdefault(reason, []).append(place)

    def skip(self, reason: str, place: str) -> None:
        """Count a whole record of which nothing is made, where `each` does not go through them."""
        self.records += 1
        self.silent += 1
        self.leave_out(reason, place)

    def note(self, kind: str, message: str, consequence: str, *, serious: bool = True) -> None:
        """Add a finding about the file."""
        severity: Severity = "serious" if serious else "note"
        self.notes.append(finding(kind, severity, self.file, [], message, consequence, count=1))

    def version(self, stated: object, known: Iterable[object]) -> None:
        """Add a finding where the file is of a version that the reader was not written for."""
        versions = [str(one) for one in known]
        if str(stated) not in versions:
            which = "names no version" if stated is None else f"is of version {stated}"
            self.note(
                "format_version",
                f"The file {which} of the format {self.format}; read are {', '.join(versions)}.",
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
        # Now that all labels are known: one `3` is a rating, `3` beside `spam` are labels.
        labels = self._rate_labels()
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
        ratings = self._clustered(self._once(ratings))
        findings = (
            read_as(self.format, self.file, ratings, self.raters, self.unused),
            *left_out(self.file, self.unused), *self.notes,
        )  # fmt: skip
        account = self._account(ratings.height)
        raters = table_of_raters(self.raters, set(ratings["rater"].unique()))
        return Reading(
            self.format, ratings, table_of_items(self.items), raters, findings, scale,
            labels=labels, responses=table_of_responses(self.answers),
            reasons=table_of_reasons(self.said), account=account,
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
        raters = table_of_raters(self.raters, set(table["rater"].unique()))
        findings = (*left_out(self.file, self.unused), *self.notes)
        none = RATINGS.to_frame()
        return Reading(
            self.format, none, table_of_items(self.items), raters, findings, preferences=table,
            responses=table_of_responses(self.answers), account=self._account(table.height),
        )  # fmt: skip

    def _account(self, judgements: int) -> Account | None:
        """What became of the records, where the reader lets them be counted."""
        if not self.records:
            return None
        gone = {"without a judgement": self.silent} if self.silent else {}
        kept = self.records - self.silent
        unread = {**self.beside, **most_of(self.unread)}
        return Account(self.file, self.records, gone, kept, 0, judgements, self.size, unread)

    def _rate_labels(self) -> pl.DataFrame | None:
        """Labels as ratings, now that all that was ever chosen is known; and the labels themselves,
        but for those that are numbers.
        """
        sets: dict[str, list[GivenLabels]] = {}
        for one in self.labelled:
            sets.setdefault(one.name, []).append(one)
        # Of one set alone its labels need no name before them.
        alone = len(sets) == 1 and not self.given
        rows: list[GivenLabels] = []
        self.labelled = []
        for name, chosen in sets.items():
            labels = list(dict.fromkeys(label for one in chosen for label in one.labels))
            single = all(len(one.labels) == 1 for one in chosen)
            if single and not to_scores(pl.Series(labels)).bad.any():
                for one in chosen:
                    key = (one.item, one.system, one.rater, one.run)
                    self.given.append(GivenRating(*key, name, one.labels[0], "blank"))
                continue
            rows += chosen
            self._inferred(name, labels)
            for one in chosen:
                key = (one.item, one.system, one.rater, one.run)
                self.given += [
                    GivenRating(*key, label if alone else f"{name}: {label}",
                          float(label in one.labels), "ok")
                    for label in labels
                ]  # fmt: skip
        if not rows:
            return None
        last = {one[:5]: one for one in rows}
        table = [(*key, list(one.labels)) for key, one in last.items()]
        return self._clustered(pl.DataFrame(table, schema=dict(CHOSEN), orient="row"))

    def _inferred(self, name: str, labels: Sequence[str]) -> None:
        said = finding(
            "labels_inferred", "note", self.file, [name],
            f"{name} is chosen from {plural(len(labels), 'label')}: {listed(labels)}.",
            "Each is an attribute, 1 where it was chosen and 0 where it was not; a label that "
            "nobody chose is not known.",
            count=1,
        )  # fmt: skip
        self.notes.append(said)

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
        # A column at a time, as a table is read: whether `yes` is 1 depends on what else is said.
        for attribute, places in texts.items():
            cells = pl.Series(attribute, [str(self.given[at].score) for at in places])
            values, bad, fates = to_scores(cells)
            for at, value, wrong, fate in zip(places, values, bad, fates, strict=True):
                scores[at] = value
                statuses[at] = "ok" if value is not None else fate or "blank"
                if wrong:
                    statuses[at] = "unread"
                    text = shortened(str(self.given[at].score))
                    self.leave_out(
                        f"{attribute} is {text!r}, which is no number",
                        f"item {self.given[at].item}",
                    )
        return scores, statuses

    def _once(self, ratings: pl.DataFrame) -> pl.DataFrame:
        """Each rating once: of those with the same key the last one counts."""
        keys = ["item", "system", "rater", "run", "attribute"]
        once = ratings.unique(keys, keep="last", maintain_order=True)
        if once.height < ratings.height:
            twice = ratings.filter(pl.struct(keys).is_duplicated())
            # Equal down to the score they are one rating, exported twice; else somebody rated
            # again.
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

    def _clustered(self, table: pl.DataFrame) -> pl.DataFrame:
        """The rows with their clusters, where any are known."""
        if not self.clusters:
            return table
        of = pl.DataFrame(
            {"item": list(self.clusters), "cluster": list(self.clusters.values())},
            schema={"item": pl.String, "cluster": pl.String},
        )
        return table.join(of, on="item", how="left", maintain_order="left")


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
