"""The tidy frames that every room after this one works on."""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import TableError, not_one_of
from voirdire.late import dataclass, pattern
from voirdire.schema import STATUSES, Finding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Scale, Severity
    from voirdire.study import OffScale

#: Nearer than this to an end, in widths of the scale, a number is the end but for round-off.
NEAR = 1e-6
#: Why a score is there or is missing; the order is that of `voirdire.schema.STATUSES`.
STATUS = pl.Enum(STATUSES)

#: `attribute` is an Enum of the attributes in the rubric's order once tables are joined.
RATINGS = pl.Schema(
    {
        "item": pl.String(),
        "system": pl.String(),
        "rater": pl.String(),
        "run": pl.Int32(),
        "attribute": pl.String(),
        "score": pl.Float64(),
        "rank": pl.Int32(),
        "status": STATUS,
    }
)
ORIGIN = pl.Enum(("random", "chosen", "unknown"))
#: Facts about a rating that `ratings` holds where a file has them; absent or null is unknown.
FACTS = pl.Schema(
    {
        "origin": ORIGIN,
        "label_probability": pl.Float64(),
        "labelled_by": pl.String(),
        "labelled_at": pl.String(),
        "cluster": pl.String(),
        "subgroup": pl.String(),
    }
)
RATERS = pl.Schema(
    {
        "rater": pl.String(),
        "kind": pl.String(),
        "family": pl.String(),
        "excludes": pl.List(pl.String()),
        "model": pl.String(),
        "temperature": pl.Float64(),
        "prompt_hash": pl.String(),
    }
)
ITEMS = pl.Schema({"item": pl.String(), "text": pl.String()})
REPLIES = pl.Schema(
    {
        "item": pl.String(),
        "system": pl.String(),
        "rater": pl.String(),
        "run": pl.Int32(),
        "reply": pl.String(),
        "status": STATUS,
    }
)
#: What systems answered; one text in all runs is kept with the first of them.
RESPONSES = pl.Schema(
    {"item": pl.String(), "system": pl.String(), "run": pl.Int32(), "text": pl.String()}
)
#: What a rater said beside its scores; `attribute` is null where it speaks of all of them.
REASONS = pl.Schema(
    {
        "item": pl.String(),
        "system": pl.String(),
        "rater": pl.String(),
        "run": pl.Int32(),
        "attribute": pl.String(),
        "text": pl.String(),
    }
)
CONTEXTS = pl.Schema(
    {"table": pl.String(), "row": pl.Int64(), "item": pl.String(), "text": pl.String()}
)
#: How many places an error names before it counts the rest.
PLACES = 5
#: Beyond it a 64-bit floating-point number does not hold every whole number: ids lose digits.
EXACT = 2**53


@dataclass(frozen=True, slots=True)
class Account:
    """What became of the rows of a file.

    Attributes
    ----------
    table : str
        The file.
    rows : int
        Rows in it, or records; of a form the cells that respondents filled in.
    gone : mapping of str to int
        Why rows are in no number, and how many.
    kept : int
        Rows that were read.
    columns : int
        Columns of judgements in each of them; 0 where a record may hold any number of these.
    judgements : int
        Judgements that were made of them, missing ones too.
    size : int
        Bytes of the file; of a workbook those of its unpacked parts.
    unread : mapping of str to int
        Parts of the file that hold no row that was read, and their bytes.

    Examples
    --------
    >>> Account("a.csv", 12, {"hidden": 2}, 10, 3, 30).open
    (0, 0)
    >>> Account("a.csv", 12, {"hidden": 2}, 9, 3, 30).open
    (1, -3)
    """

    table: str
    rows: int
    gone: Mapping[str, int] = field(default_factory=dict)
    kept: int = 0
    columns: int = 1
    judgements: int = 0
    size: int = 0
    unread: Mapping[str, int] = field(default_factory=dict)

    @property
    def open(self) -> tuple[int, int]:
        """Rows, and judgements, that are neither among what was read nor said to be gone."""
        rows = self.rows - sum(self.gone.values()) - self.kept
        return rows, self.kept * self.columns - self.judgements if self.columns else 0


@dataclass(frozen=True, slots=True)
class HowRead:
    """How a file was understood, so that it is read the same way again.

    Attributes
    ----------
    source : str
        The file, as the study names it.
    content : str
        Its SHA-256; empty where it is no file.
    keys : mapping
        The keys of ``[[data.sources]]`` that read it so: what was said, asked and found.
    columns : tuple of (column, role, reason)
        The role of each column, where they were looked for.
    """

    source: str
    content: str = ""
    keys: Mapping[str, Any] = field(default_factory=dict)
    columns: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Tables:
    """What was read, tidy.

    Attributes
    ----------
    ratings : DataFrame
        One row a rating: ``item``, ``system`` (null without systems), ``rater``, ``run`` (from 1),
        ``attribute`` (Enum in the rubric's order), ``score`` (null is missing, and ``status`` says
        why; a number off the scale stands here with status ``out_of_scale`` until
        `apply_off_scale`), ``rank`` (of a label, 1 is dominant), ``status``. Where a file has them,
        also ``origin`` (how the item came to be labelled: random, chosen or unknown),
        ``label_probability`` (0 to 1), ``labelled_by``, ``labelled_at``, ``cluster`` (items that
        belong together) and ``subgroup``; a column that is absent, or null, is unknown.
    raters : DataFrame
        ``rater, kind, family, excludes, model, temperature, prompt_hash``.
    items : DataFrame
        One row an item: ``item`` and its ``text`` (null where no table shows it).
    replies : DataFrame
        Raw replies where the files hold them: ``item, system, rater, run, reply, status``.
    contexts : DataFrame
        The text each table shows beside an item: ``table, row, item, text``.
    responses : DataFrame
        The texts that were judged, where the files hold them: ``item, system, run, text``, each
        text of a response once, with the first run in which it stands.
    reasons : DataFrame
        What raters said beside their scores: ``item, system, rater, run, attribute, text``.
    rated : DataFrame
        Who rated what: the distinct ``rater, item, system`` of `ratings`.
    findings : tuple of Finding
        What was changed, assumed or left out while reading.
    hashes : mapping
        Path as the study names it -> SHA-256 of the file.
    accounts : tuple of Account
        What became of the rows of each file.
    readings : tuple of HowRead
        How each file was understood.
    labels : Tables or None
        The same of labels that annotators name beside a rubric: 0 or 1, whatever its scale.
    """

    ratings: pl.DataFrame
    raters: pl.DataFrame
    items: pl.DataFrame
    replies: pl.DataFrame
    contexts: pl.DataFrame
    rated: pl.DataFrame
    responses: pl.DataFrame = field(default_factory=RESPONSES.to_frame)
    reasons: pl.DataFrame = field(default_factory=REASONS.to_frame)
    findings: tuple[Finding, ...] = ()
    hashes: Mapping[str, str] = field(default_factory=dict)
    labels: Tables | None = None
    accounts: tuple[Account, ...] = ()
    readings: tuple[HowRead, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceTables:
    """What one source gave; `problems` are conflicts, raised once all sources are read.

    `wide` says that a row holds the scores of several raters, so that blanks of all people there
    mean that nobody asked them. `id_column` is what the file calls its items' ids.
    A reader of another tool's file also says its `items`, by whose columns labels may be joined,
    and what its `raters` are. `keys` and `columns` are those of `HowRead`.
    """

    ratings: pl.DataFrame
    replies: pl.DataFrame
    contexts: pl.DataFrame
    findings: tuple[Finding, ...] = ()
    problems: tuple[str, ...] = ()
    wide: bool = False
    items: pl.DataFrame | None = None
    raters: pl.DataFrame | None = None
    responses: pl.DataFrame = field(default_factory=RESPONSES.to_frame)
    reasons: pl.DataFrame = field(default_factory=REASONS.to_frame)
    id_column: str = "item"
    account: Account | None = None
    keys: Mapping[str, Any] = field(default_factory=dict)
    columns: tuple[tuple[str, str, str], ...] = ()


def status_of(scale: Scale) -> pl.Expr:
    """``ok``, ``blank`` (no score) or ``out_of_scale``, of the column ``score``."""
    score = pl.col("score")
    off = (score < scale.low) | (score > scale.high)
    return (
        pl.when(score.is_null())
        .then(pl.lit("blank", dtype=STATUS))
        .when(off)
        .then(pl.lit("out_of_scale", dtype=STATUS))
        .otherwise(pl.lit("ok", dtype=STATUS))
    )


def on_scale(ratings: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """Ratings that were read without a scale, on one: within round-off of an end they are it."""
    slack = NEAR * (scale.high - scale.low)
    score = pl.col("score")
    snapped = (
        pl.when(score.is_between(scale.low - slack, scale.low))
        .then(pl.lit(scale.low))
        .when(score.is_between(scale.high, scale.high + slack))
        .then(pl.lit(scale.high))
        .otherwise(score)
    )
    decided = pl.col("status").is_in(pl.Series(["ok", "out_of_scale"], dtype=STATUS).implode())
    status = pl.when(decided & score.is_not_null()).then(status_of(scale)).otherwise("status")
    return ratings.with_columns(snapped.alias("score")).with_columns(status.alias("status"))


def apply_off_scale(
    ratings: pl.DataFrame, policy: OffScale, scale: Scale | None = None
) -> pl.DataFrame:
    """Ratings after the study's policy for numbers off the scale.

    Parameters
    ----------
    ratings : DataFrame
        As `read_tables` gives them: such a number stands in `score`, status ``out_of_scale``.
    policy : {"missing", "keep", "error"}
        ``missing`` makes the score null (the status stays), ``keep`` leaves it, ``error`` raises.
    scale : Scale, optional
        Named in the error.

    Raises
    ------
    TableError
        `policy` is ``error`` and there is such a number.

    Examples
    --------
    >>> frame = pl.DataFrame({"score": [4.0, 9.0], "status": ["ok", "out_of_scale"]})
    >>> apply_off_scale(frame, "missing")["score"].to_list()
    [4.0, None]
    """
    off = pl.col("status") == "out_of_scale"
    if policy == "keep":
        return ratings
    if policy == "missing":
        return ratings.with_columns(pl.when(~off).then("score").alias("score"))
    if policy != "error":
        raise not_one_of("off_scale", policy, ("missing", "keep", "error"), error=TableError)
    outside = ratings.filter(off)
    if outside.height:
        raise TableError(_off_scale(outside, scale))
    return ratings


def _off_scale(outside: pl.DataFrame, scale: Scale | None) -> str:
    row = outside.row(0, named=True)
    of = f", system {row['system']!r}" if row["system"] is not None else ""
    allowed = f" (allowed: {scale.low:g} to {scale.high:g})" if scale else ""
    more = f"; {outside.height - 1:,} more are off the scale" if outside.height > 1 else ""
    return (
        f"rater {row['rater']!r} gave item {row['item']!r}{of} the score {row['score']:g} on "
        f"{row['attribute']!r}, which is off the declared scale{allowed}{more}"
    )


def finding(
    kind: str,
    severity: Severity,
    table: str,
    places: Sequence[str],
    message: str,
    consequence: str,
    *,
    count: int | None = None,
    attributes: Sequence[str] = (),
) -> Finding:
    """A Finding with its places condensed to at most twenty; `count` defaults to all of them."""
    return Finding(
        kind=kind,
        severity=severity,
        table=table,
        count=len(places) if count is None else count,
        places=condensed(places)[:20],
        message=message,
        consequence=consequence,
        attributes=tuple(attributes),
    )


def condensed(places: Sequence[str]) -> tuple[str, ...]:
    """Places, each run of three or more that only count on as one of them.

    Examples
    --------
    >>> condensed(["row 3", "row 4", "row 5", "row 9"])
    ('rows 3-5', 'row 9')
    >>> condensed(["item q8, a", "item q9, a", "item q10, a", "item q10, b"])
    ('items q8-q10, a', 'item q10, b')
    """
    runs: list[list[str]] = []
    last: tuple[str, str, int, str] | None = None
    # Of a million places the first ones are looked at: twenty are shown at the end.
    for place in places[:_MOST_PLACES]:
        match = _COUNTED.fullmatch(place)
        counted = None if match is None else (match[1], match[2], int(match[3]), match[4])
        follows = counted is not None and last is not None and counted == _next(last)
        if follows:
            runs[-1].append(place)
        else:
            runs.append([place])
        last = counted
    return tuple(part for run in runs for part in _as_one(run))


#: What is counted (`row`), the letters before a number without zeros before it, and what follows.
_COUNTED = pattern(r"(row|line|item|reply) ([^\d,]*)(0|[1-9]\d{0,15})((?:, .*)?)", re.DOTALL)
_MOST_PLACES = 20_000


def _next(place: tuple[str, str, int, str]) -> tuple[str, str, int, str]:
    unit, stem, number, rest = place
    return unit, stem, number + 1, rest


def _as_one(run: list[str]) -> list[str]:
    first, last = _COUNTED.fullmatch(run[0]), _COUNTED.fullmatch(run[-1])
    if len(run) < 3 or first is None or last is None:
        return run
    return [f"{first[1]}s {first[2]}{first[3]}-{last[2]}{last[3]}{first[4]}"]


def plural(count: int, one: str, many: str = "") -> str:
    """``1 cell`` or ``33 cells``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def and_more(count: int, one: str) -> str:
    """`` and 3 more such cells`` of `count` places, the first five of which are named."""
    return f" and {plural(count - PLACES, f'more {one}')}" if count > PLACES else ""


def shortened(text: str, most: int = 40) -> str:
    """A text for a sentence, cut with dots where it is longer than `most` letters."""
    return text if len(text) <= most else text[: most - 3] + "..."
