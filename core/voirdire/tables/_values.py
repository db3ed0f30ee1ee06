"""Which columns of a file hold ratings, as scores or in replies, and what each stands for."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Literal

import polars as pl

from voirdire.errors import TableError, check_columns, listed, no_column
from voirdire.late import dataclass, pattern
from voirdire.tables._keys import is_counter
from voirdire.tables._names import bare_head, find, measures, sums_up
from voirdire.tables._numbers import are_texts, is_numeric, to_scores
from voirdire.tables._tables import shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.study import Source, Study
    from voirdire.tables._files import RawTable

#: A reply to a rubric: it begins with a fence or a brace, or holds `"key": 4` or `"key": "yes"`.
_REPLY = r"^\s*(?:```|\{)|\"\s*:\s*[\"\d]"
#: Cells that are looked at: a column of replies may hold gigabytes.
_SAMPLE = 200
#: More levels than this are no few that two columns share by more than chance.
_FEW_LEVELS = 12
#: Undeclared numbers beyond are lengths, times or years, and no scores.
LARGEST = 1000

Kind = Literal["replies", "scores", "raters", "grid", "long"]
#: Between rater and attribute in a header such as ``human_Empathy``.
SEPARATORS = ("__", "_", ":", ".", " ", "-", "/", "|")
#: The same around a name, with the blanks beside them: ``human - Empathy``, ``Empathy (human)``.
_MARK = r"\s*[_:./|–—-]+\s*|\s+"
_BEHIND = pattern(rf"\s*[(\[]\s*(?P<inside>[^()\[\]]+?)\s*[)\]]|(?:{_MARK})(?P<name>\S.*)")
_BEFORE = pattern(rf"(?P<name>.*?\S)(?:{_MARK}|\s*(?P<open>[(\[])\s*)")
#: A word for a score at the end of a header.
_SCORED = pattern(r"(?<=\w)[_ .-](?i:score|rating|grade|mark|note|punkte|bewertung)s?$")
#: What the answer may be where a table has no column of items or of scores.
FORM = (
    "where each row is a rater and each column an item, say --layout raters-by-items, or layout = "
    '"raters-by-items" under [[data.sources]]'
)


@dataclass(frozen=True, slots=True)
class Known:
    """Names that a study declares, by which columns are recognised."""

    raters: tuple[str, ...]
    attributes: tuple[str, ...]
    systems: tuple[str, ...]


def known(study: Study) -> Known:
    """The names declared in a study."""
    raters = (*(rater.name for rater in study.panel), *study.data.reference)
    return Known(
        raters=tuple(dict.fromkeys(raters)),
        attributes=tuple(attribute.name for attribute in study.rubric.attributes),
        systems=tuple(system.name for system in study.systems),
    )


def value_columns(
    raw: RawTable,
    source: Source,
    names: Known,
    roles: Mapping[str, str | None],
    free: Sequence[str],
) -> tuple[Kind, dict[str, str]]:
    """The layout and what each value column stands for."""
    score = _score_column(raw, source, free)
    plain = source.prefix is None and not source.columns
    # Numbers under `score` are surer than the look of replies: a long file may show these besides.
    if source.layout == "auto" and plain and score and has_score(raw, source, free):
        return "long", {score: ""}
    if source.layout in ("auto", "replies"):
        replies = _reply_columns(raw, source, names, free)
        # A judge's reasons in JSON beside its scores, and the humans', are no ratings to be parsed.
        if replies and not (plain and _beside_raters(raw, names, free, replies)):
            return "replies", replies
        if source.layout == "replies":
            raise TableError(_no_values(raw, source, "replies"))
    if source.layout in ("long", "raters-by-items") or (
        source.layout == "auto" and score and plain
    ):
        if score is None:
            raise no_column(raw.name, "score", free)
        return "long", {score: ""}
    return _score_columns(raw, source, names, roles, free)


def _beside_raters(
    raw: RawTable, names: Known, free: Sequence[str], replies: Mapping[str, str]
) -> bool:
    """Whether columns that look like replies only come with the scores of raters."""
    scored = [column for column in free if column in names.raters and is_score(raw, column)]
    return len(scored) > 1 and not set(replies) & set(names.raters)


def _score_column(raw: RawTable, source: Source, free: Sequence[str]) -> str | None:
    """The score column of a long file; a usual word counts only where numbers stand under it."""
    score = find("score", free, source.score, raw.name)
    # `score` itself is believed, and what stands there is asked about; `value` or `answer` may be
    # anything.
    if (
        source.score is not None
        or score is None
        or score.casefold() == "score"
        or source.layout != "auto"
    ):
        return score
    return score if is_score(raw, score) else None


def has_score(raw: RawTable, source: Source, free: Sequence[str]) -> bool:
    """Whether a column of numbers is called ``score`` or by a usual word for it."""
    score = _score_column(raw, source, free)
    return score is not None and is_score(raw, score)


def is_score(raw: RawTable, column: str) -> bool:
    """Whether a column holds numbers, as this file writes them."""
    return is_numeric(raw.frame[column], decimal_comma=raw.decimal_comma)


def is_small(raw: RawTable, column: str) -> bool:
    """Whether an undeclared column may be scores: no scale reaches beyond a thousand."""
    scores, _, _ = to_scores(raw.frame[column], decimal_comma=raw.decimal_comma)
    # Most, for a code such as 9999 may stand where a score is missing.
    small = (scores.abs() <= LARGEST).sum()
    return 2 * int(small) > len(scores) - scores.null_count()


def _reply_columns(
    raw: RawTable, source: Source, names: Known, free: Sequence[str]
) -> dict[str, str]:
    """Columns of raw replies -> system ("" where a column or nothing names the system)."""
    if source.columns:
        mapped = _mapped(raw, source)
        looks = source.layout == "replies" or all(holds_replies(raw.frame[c]) for c in mapped)
        return mapped if looks else {}
    if source.prefix is not None:
        start = source.prefix.strip()
        return {c: c[len(start) :] for c in free if c.startswith(start) and len(c) > len(start)}
    replies = [column for column in free if replies_in(raw, column)]
    if len(replies) == 1 and replies[0] not in names.systems:
        return {replies[0]: ""}
    # Of judge_response_a and judge_response_b the systems are a and b, unless whole headers are.
    cut = 0 if set(replies) & set(names.systems) else len(common_prefix(replies))
    return {column: column[cut:] for column in replies}


def replies_of_raters(
    source: Source, names: Known, roles: Mapping[str, str | None], values: Mapping[str, str]
) -> bool:
    """Whether reply columns are one a rater: a column names the system, and none the rater."""
    if source.columns or source.prefix or roles["system"] is None or roles["rater"] is not None:
        return False
    # Columns named after declared systems hold what one judge said of each.
    if source.system is None and names.systems and set(values.values()) <= set(names.systems):
        return False
    return len(values) > 1 or set(values) <= set(names.raters)


def common_prefix(columns: Sequence[str]) -> str:
    """What all names begin with, up to the last separator: ``judge_response_``."""
    first, last = (min(columns), max(columns)) if columns else ("", "")
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    # The least and the greatest name differ where any two do.
    shared = "".join(letter for letter, _ in same)
    prefix = shared[: max(shared.rfind(mark) for mark in "_-.: ") + 1]
    return prefix if all(len(column) > len(prefix) for column in columns) else ""


def holds_replies(column: pl.Series) -> bool:
    """Whether most of a column's texts look like rubric replies."""
    if column.dtype != pl.String:
        return False
    sample = column.drop_nulls().head(_SAMPLE)
    # Judges that failed leave cells blank: these speak neither for replies nor against.
    sample = sample.filter(sample.str.strip_chars() != "")
    return len(sample) > 0 and int(sample.str.contains(_REPLY).sum()) * 2 > len(sample)


def replies_in(raw: RawTable, column: str) -> bool:
    """Whether a column holds rubric replies: objects of a JSON file are none, and look so."""
    return column not in raw.nested and holds_replies(raw.frame[column])


def _mapped(raw: RawTable, source: Source) -> dict[str, str]:
    """The study's own map, each column of it checked."""
    mapped = {column.strip(): meaning for column, meaning in source.columns.items()}
    check_columns(raw.name, mapped, raw.frame.columns)
    return mapped


def _score_columns(
    raw: RawTable,
    source: Source,
    names: Known,
    roles: Mapping[str, str | None],
    free: Sequence[str],
) -> tuple[Kind, dict[str, str]]:
    if source.columns:
        return "scores", _mapped(raw, source)
    grid = grid_of(raw, free, names) if roles["rater"] is None else {}
    if grid:
        return "grid", {column: attribute for column, (_, attribute) in grid.items()}
    # Before attributes: a study may call an attribute like a rater's column, and the panel is
    # surer.
    raters = [column for column in free if column in names.raters]
    if raters and roles["rater"] is None:
        return "raters", {column: column for column in raters}
    by_name = {name.casefold(): name for name in names.attributes}
    declared = {c: by_name[c.casefold()] for c in free if c.casefold() in by_name}
    if declared:
        return "scores", declared
    if names.attributes and roles["attribute"] is None and len(names.attributes) > 1:
        raise TableError(
            f"{raw.name}: no column is named after an attribute of the rubric "
            f"({listed(names.attributes)}); columns: {listed(list(free))}"
        )
    numeric = [
        column
        for column in free
        if is_score(raw, column) and is_small(raw, column) and not is_counter(raw.frame[column])
    ]
    # A sum beside its parts would stretch their scale.
    numeric = [c for c in numeric if not sums_up(c)] or numeric
    if not numeric:
        raise TableError(_no_values(raw, source, "scores"))
    answers = [column for column in numeric if column.startswith("Answer.")]
    if answers:  # MTurk: its other numbers are rewards and times
        return "scores", {column: column.removeprefix("Answer.") for column in answers}
    # With one attribute, or a column that says it, several columns of numbers are raters.
    one = roles["attribute"] is not None or len(names.attributes) == 1
    kind: Kind = "raters" if one and roles["rater"] is None else "scores"
    return kind, {column: column for column in numeric}


def grid_of(raw: RawTable, columns: Sequence[str], names: Known) -> dict[str, tuple[str, str]]:
    """Columns of one rater and one attribute -> both."""
    # What raters said beside their scores is no attribute of theirs: `human.why`.
    able = [c for c in columns if not are_texts(raw.frame[c])]
    grid = grid_columns(able, names)
    return grid | _measured_alike(raw, able, names, grid)


def _measured_alike(
    raw: RawTable, columns: Sequence[str], names: Known, grid: Mapping[str, tuple[str, str]]
) -> dict[str, tuple[str, str]]:
    """Columns of a grid that are called as what is measured is, of all its raters and with the
    levels of the others: ``human_length`` from 1 to 5 beside ``human_tone``.
    """
    if not grid or names.attributes:
        return {}
    levels, raters = set(_levels(raw, list(grid))), {rater for rater, _ in grid.values()}
    found: dict[str, tuple[str, str]] = {}
    for column in (c for c in columns if c not in grid and measures(c)):
        for rater in raters:
            if rest := beside(column, rater):
                found[column] = rater, rest
    of_all = {
        rest
        for _, rest in found.values()
        if raters == {rater for rater, other in found.values() if other == rest}
        and set(_levels(raw, [c for c, part in found.items() if part[1] == rest])) == levels
    }
    return {column: part for column, part in found.items() if part[1] in of_all}


def _levels(raw: RawTable, columns: Sequence[str]) -> list[float]:
    """The different numbers of columns; none where they are not few."""
    scores = [to_scores(raw.frame[c], decimal_comma=raw.decimal_comma).values for c in columns]
    values = pl.concat(scores).drop_nulls().unique().to_list() if scores else []
    return values if len(values) <= _FEW_LEVELS else []


def grid_columns(columns: Sequence[str], names: Known) -> dict[str, tuple[str, str]]:
    """Columns named rater and attribute, either first -> both; none unless two agree."""
    by_name = {name.casefold(): name for name in names.attributes}
    parts: dict[str, tuple[str, str]] = {}
    # Of `human` and `human_2` the second is a rater, and no attribute of the first.
    for column in (c for c in columns if c not in names.raters):
        for rater in names.raters:
            rest = beside(column, rater)
            # Without a rubric `human_seconds` would be an attribute called seconds.
            bare = _SCORED.sub("", rest)
            if by_name:
                rest = by_name.get(rest.casefold(), by_name.get(bare.casefold(), ""))
            if rest and (by_name or not measures(column)):
                parts[column] = (rater, rest)
    # Where all end in a word for a score it is no part of a name: `human_tone_score`.
    bare_parts = {c: (rater, _SCORED.sub("", rest)) for c, (rater, rest) in parts.items()}
    changed = all(bare_parts[c] != part for c, part in parts.items())
    if changed and not by_name and len(set(bare_parts.values())) == len(parts):
        parts = bare_parts
    return parts if len(parts) > 1 else {}


def beside(column: str, rater: str) -> str:
    """What a header holds before or after a rater's name and a separator, or around it in brackets.

    >>> [beside(head, "human") for head in ("human_Tone", "Tone (human)", "Tone: human")]
    ['Tone', 'Tone', 'Tone']
    """
    if bare_head(column) == rater != column:  # what stands in brackets is the scale: human (1-5)
        return ""
    if column.startswith(rater) and (behind := _BEHIND.fullmatch(column, len(rater))):
        return behind["name"] or behind["inside"]
    close = column[-1:] if column[-1:] in (")", "]") else ""
    if not column.endswith(rater + close):
        return ""
    before = _BEFORE.fullmatch(column[: len(column) - len(rater) - len(close)])
    return before["name"] if before and bool(before["open"]) == bool(close) else ""


def _no_values(raw: RawTable, source: Source, kind: Kind) -> str:
    by = f" beginning with {source.prefix!r}" if source.prefix else ""
    if raw.nested and kind == "scores":
        return _unknown_objects(raw)
    first = [shortened("" if value is None else str(value)) for value in raw.frame.row(0)]
    return (
        f"{raw.name}: no column of {kind}{by} was found (columns: {listed(raw.frame.columns)}; "
        f"{raw.place(0)} holds {listed(first)})" + (f"; {FORM}" if kind == "scores" else "")
    )


def _unknown_objects(raw: RawTable) -> str:
    """What a JSON file of objects holds that no reader knows, and how it can be read."""
    nested = [column for column in raw.frame.columns if column in raw.nested]
    cells = raw.frame[nested[0]].drop_nulls()
    such = f", such as {shortened(str(cells[0]), 80)}" if len(cells) else ""
    plain = [column for column in raw.frame.columns if column not in raw.nested]
    beside = f"; beside {listed(plain)}" if plain else ""
    return (
        f"{raw.name}: holds objects under {listed(nested)}{such}{beside}. No reader of another "
        f"tool's files knows it (voirdire import --list), and no column of scores was found. Where "
        f"a rater is called as something in them is, name that one by --reference; else write a "
        f"row a rating with the columns item, rater and score. Where the objects are what a judge "
        f"replied, --layout replies reads them so"
    )
