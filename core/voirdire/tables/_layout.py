"""How a file is laid out: which columns are ids, which hold replies or scores, and of what."""

from __future__ import annotations

import re
from dataclasses import field
from pathlib import PurePath
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, TableError, listed
from voirdire.late import dataclass
from voirdire.tables._names import SYNONYMS, find, is_id, kind_of, named_by_guess, plain_word
from voirdire.tables._numbers import is_numeric, to_scores
from voirdire.tables._questions import attribute_column, item_column
from voirdire.tables._rated import tells_apart
from voirdire.tables._status import YES_NO, ask_about_status, speaks_of_status
from voirdire.tables._tables import FACTS
from voirdire.tables._values import (
    FORM,
    beside,
    grid_of,
    has_score,
    is_score,
    replies_in,
    replies_of_raters,
    value_columns,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Finding
    from voirdire.study import Source
    from voirdire.tables._files import RawTable
    from voirdire.tables._values import Kind, Known

#: Parts that one column plays, and those of them that a source may name beside item and rater.
_PARTS = ("item", "system", "rater", "run", "attribute", "context", "rank", "status")
_NAMED = ("context", "response", "reason", "attribute", "status", "run", *FACTS)


@dataclass(frozen=True, slots=True)
class FilePlan:
    """How to read one file.

    Attributes
    ----------
    kind : {"replies", "scores", "raters", "grid", "long"}
        `raters` is the wide layout whose score columns are raters, not attributes; in `grid` each
        is one rater's scores on one attribute (``human_Empathy``).
    values : mapping
        Value column -> what it stands for: a system (`replies`), an attribute (`scores`, `grid`)
        or a rater (`raters`); for `long` the score column -> "".
    reasons : mapping
        Column of what raters said beside their scores -> the rater, or "" for that of the row.
    raters : mapping
        Value column -> rater, for `grid` and where a column names the system of `replies`.
    facts : mapping
        Column of `FACTS` -> the column of the file that holds it.
    rater_name : str
        The rater where no column says it.
    """

    kind: Kind
    item: str
    rater_name: str
    system: str | None = None
    rater: str | None = None
    run: str | None = None
    attribute: str | None = None
    context: str | None = None
    response: str | None = None
    rank: str | None = None
    status: str | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    raters: Mapping[str, str] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def raters_are_columns(self) -> bool:
        """Whether columns, not cells, say who rated."""
        return self.kind == "raters" or bool(self.raters)


#: How a rater's column of scores may end, beside one of its reasons.
_GIVEN = frozenset(
    (
        "score",
        "rating",
        "verdict",
        "label",
        "grade",
        "decision",
        "result",
        "answer",
        "judgment",
        "judgement",
    )
)


def plan(raw: RawTable, source: Source, names: Known, *, alone: bool = True) -> FilePlan:
    """The plan for one source; `alone`: no other file is read with it.

    Raises
    ------
    TableError
        A declared column is missing, or no id or no value column can be found.
    """
    columns = list(raw.frame.columns)
    roles = _roles(raw, source, names)
    free = [column for column in columns if column not in roles.values()]
    # Values before ids: of columns without a usual name, ids are looked for among what is left.
    try:
        kind, values = value_columns(raw, source, names, roles, free)
    except QuestionError:
        raise
    except TableError:
        from voirdire.tables._unnamed import ask_about_a_form  # noqa: PLC0415 - to ask

        ask_about_a_form(raw, names.raters)
        raise
    item = roles["item"] or item_column(
        raw, source, [c for c in free if c not in values], alone=alone
    )
    if item is None:
        rest = [c for c in columns if c not in values and c not in roles.values()]
        from voirdire.tables._unnamed import ask_for_items  # noqa: PLC0415 - to ask

        ask_for_items(raw, rest, names.raters)
        raise TableError(
            f"{raw.name}: no column of item ids was found (columns: {listed(columns)}); "
            f"name it with --item or, in a study, with `item`, or call it by a usual name such as "
            f"{listed(SYNONYMS['item'], 5)}; {FORM}"
        )
    named, notes = _attribute(raw, source, kind, {**roles, "item": item}, free, values)
    roles = {**roles, "item": item, "attribute": named}
    raters = {c: part[0] for c, part in grid_of(raw, free, names).items()} if kind == "grid" else {}
    if kind == "replies" and replies_of_raters(source, names, roles, values):
        values, raters = dict.fromkeys(values, ""), {column: column for column in values}
    _once_each(raw, values, raters)
    # A rank is that of the one label of its row; a row of several scores does not say of which.
    if kind != "long":
        roles = {**roles, "rank": None}
    if kind in ("raters", "grid") or raters:
        # A row is of several raters: whose rating its status speaks of is not said.
        roles = {**roles, "status": source.status}
        if source.status is None:
            parts = {*values, *(column for column in roles.values() if column)}
            rest = [c for c in columns if c not in parts and _says_fate(raw, c)]
            ask_about_status(raw, rest, list(values))
    response, reasons = _texts(raw, source, kind, roles, values, raters)
    roles = {**roles, "response": response, "reason": None}
    rater = source.rater if source.rater and roles["rater"] is None else None
    # Only what was guessed is reported, so that a declared study is met without remarks.
    spoken = {part: column for part, column in roles.items() if not _declared(source, part)}
    if kind == "long" and not _declared(source, "score"):
        spoken["score"] = next(iter(values))
    return FilePlan(
        kind=kind,
        item=item,
        rater_name=rater or PurePath(raw.name).stem,
        system=roles["system"],
        rater=roles["rater"],
        run=roles["run"],
        attribute=roles["attribute"] if kind in ("long", "raters") else None,
        context=roles["context"],
        response=roles["response"],
        rank=roles["rank"],
        status=roles["status"],
        facts={name: column for name in FACTS if (column := roles[name]) is not None},
        values=values,
        raters=raters,
        reasons=reasons,
        findings=(*named_by_guess(raw.name, spoken), *notes),
    )


def _attribute(
    raw: RawTable,
    source: Source,
    kind: Kind,
    roles: Mapping[str, str | None],
    free: Sequence[str],
    values: Mapping[str, str],
) -> tuple[str | None, tuple[Finding, ...]]:
    """The column of attributes; of a long file also one that is not called so."""
    if kind != "long":
        return roles["attribute"], ()
    left = [c for c in free if c not in values and c != roles["item"]]
    # First: words such as `draft` and `final` would else be taken for attributes.
    if roles["status"] is None:
        ask_about_status(raw, [c for c in left if _says_fate(raw, c)])
    if roles["attribute"] is not None:
        return roles["attribute"], ()
    keys = [roles[part] for part in ("item", "rater", "system", "run")]
    return attribute_column(raw, source, keys, left)


def _says_fate(raw: RawTable, column: str) -> bool:
    """Whether a column holds words, or a yes or no."""
    if not is_numeric(raw.frame[column]):
        return True
    words = set(raw.frame[column].drop_nulls().cast(pl.String).str.to_lowercase().unique())
    return words <= YES_NO


def _once_each(raw: RawTable, values: Mapping[str, str], raters: Mapping[str, str]) -> None:
    """No two columns may stand for the same scores."""
    seen: dict[tuple[str, str], str] = {}
    for column, meaning in values.items():
        key = (raters.get(column, ""), meaning)
        if key in seen:
            what = f"{meaning!r}" if meaning else "the replies"
            raise TableError(f"{raw.name}: columns {seen[key]!r} and {column!r} both hold {what}")
        seen[key] = column


def _declared(source: Source, part: str) -> bool:
    return getattr(source, part, None) is not None


def _roles(raw: RawTable, source: Source, names: Known) -> dict[str, str | None]:
    """Part -> column, each column in one part only; declared ones are taken first.

    A column that is named like a rater or an attribute of the study holds that one's scores.
    """
    taken = {column.strip() for column in source.columns}
    named = {*names.raters, *names.attributes}
    # Of `model` beside a declared rater `model` the numbers below are its scores, not a system.
    columns = [
        column
        for column in raw.frame.columns
        if column not in taken and not (column in named and is_score(raw, column))
    ]
    declared = {
        "item": source.item,
        "system": source.system,
        "rater": source.rater if _names_column(raw, source, named) else None,
        **{part: getattr(source, part) for part in _NAMED},
    }
    # All declared parts before the first guess, which may only take a column that is left.
    roles: dict[str, str | None] = {}
    for part, name in declared.items():
        if name is not None:
            roles[part] = find(part, raw.frame.columns, name, raw.name)
    for part in (*_PARTS, *FACTS):
        if part not in roles:
            # A declared rater that is no column is the name of the one who rated the whole file.
            skip = part == "rater" and source.rater is not None
            free = [column for column in columns if column not in roles.values()]
            roles[part] = None if skip else find(part, free, None, raw.name)
    roles = _plausible(raw, source, names, roles)
    for part in ("response", "reason"):
        if part not in roles:
            roles[part] = _text_column(raw, source, part, roles, columns)
    return roles


def _text_column(
    raw: RawTable,
    source: Source,
    part: str,
    roles: Mapping[str, str | None],
    columns: Sequence[str],
) -> str | None:
    """The column of texts that play a part, by its name and by what stands in it.

    Numbers and words that are scores are none, nor are a judge's replies with scores in them, nor
    the words of a column that the source has scores in.
    """
    free = [column for column in columns if column not in roles.values()]
    called = [column for column in free if find(part, [column], None, raw.name)]
    column = find(part, [c for c in called if _holds_texts(raw, c)], None, raw.name)
    # `answer` may be the response or, where a file has one score a row, the score.
    of_scores = source.layout in ("long", "raters-by-items") or source.score is not None
    if column is None or not of_scores:
        return column
    return None if column == find("score", raw.frame.columns, source.score, raw.name) else column


def _holds_texts(raw: RawTable, column: str) -> bool:
    cells = raw.frame[column]
    return (
        cells.dtype == pl.String
        and cells.null_count() < len(cells)
        and not (is_score(raw, column) or replies_in(raw, column))
    )


def _differs_by_rater(raw: RawTable, roles: Mapping[str, str | None]) -> bool:
    """Whether a text beside a rating is the rater's own: raters of one response have another each.

    A few that differ are slips, which the audit names.
    """
    column = roles["response"]
    if column is None or roles["rater"] is None:
        return False
    keys = [name for part in ("item", "system", "run") if (name := roles[part]) is not None]
    # A rater's attributes of one response are one opinion.
    told = raw.frame.select(*keys, rater=roles["rater"], text=column).drop_nulls("text").unique()
    several = told.group_by(keys).agg(pl.col("rater", "text").n_unique())
    several = several.filter(pl.col("rater") > 1)
    return 2 * several.filter(pl.col("text") > 1).height > several.height


def _texts(
    raw: RawTable,
    source: Source,
    kind: Kind,
    roles: Mapping[str, str | None],
    values: Mapping[str, str],
    raters: Mapping[str, str],
) -> tuple[str | None, dict[str, str]]:
    """The column of the texts that were judged, and those of what raters said beside scores."""
    response, reason = roles["response"], roles["reason"]
    if any(values.values()) and kind == "replies":
        # A row holds what was said of several systems: whose response its text is is not said.
        response = source.response
    elif source.response is None and _differs_by_rater(raw, roles):
        response, reason = None, reason or response
    # Such a row has a reason for each of its raters, every other layout one for the row.
    if kind in ("raters", "grid"):
        rating = {raters.get(column, meaning) for column, meaning in values.items()}
        return response, _reasons(raw, source, {**roles, "reason": reason}, rating)
    return response, {} if reason is None or kind == "replies" else {reason: ""}


def _reasons(
    raw: RawTable, source: Source, roles: Mapping[str, str | None], rating: set[str]
) -> dict[str, str]:
    """The columns of what raters of a row said -> the rater.

    They are called ``judge_reason``, or the only judge's reasons stand under a plain word.

    Raises
    ------
    TableError
        A column is declared, and several raters may have said what stands there.
    """
    column = roles["reason"]
    free = [c for c in raw.frame.columns if c not in roles.values()]
    called = {
        c: rater
        for c in free
        for rater in rating
        if plain_word(beside(c, rater) or beside(c, _judge_alone(rater))) in SYNONYMS["reason"]
        if _holds_texts(raw, c)
    }
    # A plain `reason` beside the only judge is the judge's, unless that one has a column of its
    # own.
    judges = [name for name in rating if kind_of(name) != "human"]
    if column is not None and len(judges) == 1 and judges[0] not in called.values():
        return {**called, column: judges[0]}
    if source.reason is not None:
        raise TableError(
            f"{raw.name}: whose reasons stand in {column!r} is not said: a row is of the raters "
            f"{listed(sorted(rating))}; call each column by its rater, such as "
            f"{f'{min(rating)}_reason'!r}"
        )
    return called


def _judge_alone(column: str) -> str:
    """A header without the word for a score at its end: ``judge_verdict`` is ``judge``."""
    name, _, word = re.sub(r"[_\s.-]+", "_", column).rpartition("_")
    return column[: len(name)] if word.casefold() in _GIVEN else column


def _names_column(raw: RawTable, source: Source, named: set[str]) -> bool:
    """Whether a source's `rater` is a column of names, and not a rater whose scores stand there."""
    column = (source.rater or "").strip()
    if column not in raw.frame.columns or column in source.columns:
        return False
    return column not in named or not (is_score(raw, column) or replies_in(raw, column))


def _plausible(
    raw: RawTable, source: Source, names: Known, roles: dict[str, str | None]
) -> dict[str, str | None]:
    """Drop parts whose column cannot play them: numbers for a context, replies for rater names."""
    for part in ("context", "attribute"):
        column = roles[part]
        # `message` or `metric` over numbers counts or measures something.
        if column is not None and is_numeric(raw.frame[column]):
            roles[part] = None
    status = roles["status"]
    if status is not None and source.status is None and not speaks_of_status(raw.frame[status]):
        roles["status"] = None
    rater = roles["rater"]
    if rater is not None and source.rater is None:
        # Beside columns of raters a column such as `annotator` says who filled in the row.
        elsewhere = [c for c in raw.frame.columns if c in names.raters and is_score(raw, c)]
        named = set(raw.frame[rater].cast(pl.String).unique()) & set(names.raters)
        if (elsewhere and not named) or not _names_raters(raw, source, rater, roles):
            roles["rater"] = None
    return roles


def _names_raters(
    raw: RawTable, source: Source, column: str, roles: Mapping[str, str | None]
) -> bool:
    """Whether a column may hold the names of raters.

    Numbers may only where they are ids by their header, or beside a column of scores of its own;
    a blank column only beside such a one.
    """
    cells = raw.frame[column]
    scores, bad, _ = to_scores(cells)
    # A column that is blank throughout holds neither names nor scores: its header alone speaks.
    blank = scores.null_count() == len(scores) and not bad.any()
    # Replies under `judge` are what that judge said, and no name of it.
    if not blank and not is_score(raw, column):
        return not replies_in(raw, column)
    free = [each for each in raw.frame.columns if each not in roles.values()]
    if blank:
        return has_score(raw, source, free)
    return is_id(column) or has_score(raw, source, free) or _numbers_raters(raw, cells, roles)


def _numbers_raters(raw: RawTable, cells: pl.Series, roles: Mapping[str, str | None]) -> bool:
    """Whether whole numbers are raters (1, 2, 3) and no scores: each rates an item once, and items
    have several.
    """
    item, system = roles["item"], roles["system"]
    if item is None or not cells.dtype.is_integer() or cells.null_count():
        return False
    keys = [name for name in (item, system) if name is not None]
    return tells_apart(raw.frame, keys, cells.name)


def unread_columns(raw: RawTable, how: FilePlan) -> list[str]:
    """Columns that play no part."""
    parts = (how.item, how.system, how.rater, how.run, how.attribute, how.context, how.rank)
    played = {*parts, how.response, *how.reasons, how.status, *how.values, *how.facts.values()}
    return [column for column in raw.frame.columns if column not in played]
