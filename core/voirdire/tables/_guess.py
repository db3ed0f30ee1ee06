"""Which columns are raters, and which raters are human, where no study says so."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from voirdire.tables._layout import SEPARATORS, has_score, holds_replies, is_small
from voirdire.tables._names import is_id, is_usual, measures
from voirdire.tables._numbers import is_numeric
from voirdire.tables._questions import is_counter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.study import Source
    from voirdire.tables._files import RawTable
    from voirdire.tables._layout import Known

_HUMAN = re.compile(
    r"human|annotator|expert|clinician|therapist|psycholog|crowd|coder|worker|gold|person|student",
    re.IGNORECASE,
)
#: A header that is one human rater, as it stands.
_PERSON = re.compile(
    r"(?:human|expert|clinician|therapist|psychologist|annotator|gold)s?[ _-]?(?:\d+|[a-z])?",
    re.IGNORECASE,
)
_JUDGE = re.compile(
    r"judge|rater|reviewer|llm|gpt|claude|gemini|gemma|llama|mistral|mixtral|qwen|deepseek|grok"
    r"|sonnet|haiku|opus|\bo[134]\b|\bo[134]-",
    re.IGNORECASE,
)


def is_human(name: str, column: str | None = None) -> bool:
    """Whether a rater's name, or the header of the column it stands in, speaks of people."""
    if _HUMAN.search(name):
        return True
    return column is not None and not _JUDGE.search(name) and bool(_HUMAN.search(column))


def with_raters(raw: RawTable, source: Source, names: Known) -> Known:
    """The names, the raters found among a file's columns with them.

    None are looked for where the source is declared, the file has a column of scores, or a column
    is an attribute's: those raters are named otherwise.
    """
    columns = raw.frame.columns
    declared = source.layout != "auto" or source.rater or source.prefix or source.columns
    attributes = {name.casefold() for name in names.attributes}
    if declared or has_score(raw, source, columns) or attributes & set(map(str.casefold, columns)):
        return names
    return replace(names, raters=rater_columns(raw, names.raters) or names.raters)


def rater_columns(raw: RawTable, reference: Sequence[str]) -> tuple[str, ...]:
    """Raters that columns of numbers are named after, the reference's own among them.

    A grid of columns such as ``human_Empathy`` and ``judge_Empathy`` names raters by its prefixes.
    Where the reference (or ``human``, ``expert_2``) is a column, every other column of scores is
    a rater, whatever its name.
    """
    grid = _grid_raters(raw, reference)
    if grid:
        return grid
    columns = raw.frame.columns
    known = [name for name in columns if name in reference or _is_person(raw, name)]
    named = [
        column
        for column in columns
        if (names_rater(column) or (known and _may_rate(raw, column)))
        and not is_id(column)
        and not measures(column)
        and _is_rated(raw, column)
    ]
    found = dict.fromkeys((*known, *named))
    return tuple(found) if known or len(found) > 1 else ()


def _may_rate(raw: RawTable, column: str) -> bool:
    """Whether a column beside a person's may be another rater's, whatever its name."""
    return not is_usual(column) and not is_counter(raw.frame[column]) and is_small(raw, column)


def _is_person(raw: RawTable, column: str) -> bool:
    """Whether a column holds the scores of the person, or the people, it is named after."""
    return bool(_PERSON.fullmatch(column)) and not is_usual(column) and _is_rated(raw, column)


def _is_rated(raw: RawTable, column: str) -> bool:
    """Whether a column holds scores, or replies with scores in them."""
    cells = raw.frame[column]
    return is_numeric(cells, decimal_comma=raw.decimal_comma) or holds_replies(cells)


def names_rater(name: str) -> bool:
    """Whether a header speaks of a person or a judge."""
    return bool(_HUMAN.search(name) or _JUDGE.search(name))


def _grid_raters(raw: RawTable, reference: Sequence[str]) -> tuple[str, ...]:
    """Raters of a complete grid of at least two raters by two attributes, whichever comes first.

    A name that holds the mark itself (``Rater 1 Empathy``) is split at the last one.
    """
    for way, mark, split in product((1, -1), SEPARATORS, (str.split, str.rsplit)):
        named = [c for c in raw.frame.columns if mark in c and not measures(c)]
        halves = {c: split(c, mark, 1)[::way] for c in named}
        pairs = {c: p for c, p in halves.items() if p[0] in reference or names_rater(p[0])}
        raters, rest = dict.fromkeys(p[0] for p in pairs.values()), {p[1] for p in pairs.values()}
        full = len(pairs) == len(raters) * len(rest)
        columns = [raw.frame[column] for column in pairs]
        if full and len(raters) > 1 and len(rest) > 1 and all(map(is_numeric, columns)):
            return tuple(raters)
    return ()
