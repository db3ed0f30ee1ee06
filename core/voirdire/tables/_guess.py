"""Which columns are raters, and which raters are human, where no study says so."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from voirdire.errors import QuestionError, listed
from voirdire.late import pattern
from voirdire.tables._ids import plain_name
from voirdire.tables._keys import is_counter
from voirdire.tables._names import (
    find,
    holds_labels,
    is_id,
    is_person,
    is_usual,
    kind_of,
    may_be_either,
    measures,
    names_rater,
    plain_word,
    sums_up,
)
from voirdire.tables._numbers import is_numeric, says_scores
from voirdire.tables._questions import assumed
from voirdire.tables._rated import tells_apart
from voirdire.tables._values import SEPARATORS, has_score, is_score, is_small, replies_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.study import Source
    from voirdire.tables._files import RawTable
    from voirdire.tables._values import Known


def either_kind(raters: Sequence[str], people: Sequence[str]) -> list[str]:
    """Raters that may be people or judges by all that their names say.

    Beside people the only other rater, and raters with names of their own where no judge is known,
    can only be judges.
    """
    others = [name for name in raters if name not in people]
    unknown = [name for name in others if kind_of(name) is None]
    if not people or len(others) < 2:
        return []
    # Beside a judge that is known, a stranger may as well be a person.
    some_known = len(unknown) < len(others)
    return [name for name in unknown if some_known or may_be_either(name)]


def with_raters(raw: RawTable, source: Source, names: Known) -> Known:
    """The names, the raters found among a file's columns with them.

    None are looked for where the source is declared, the file has a column of scores, or a column
    is an attribute's: those raters are named otherwise.
    """
    raw = without_response(raw, source)
    columns = raw.frame.columns
    declared = source.layout != "auto" or source.rater or source.prefix or source.columns
    attributes = {name.casefold() for name in names.attributes}
    if declared or has_score(raw, source, columns) or attributes & set(map(str.casefold, columns)):
        return names
    return replace(names, raters=rater_columns(raw, names.raters) or names.raters)


def without_response(raw: RawTable, source: Source) -> RawTable:
    """The table without the column that a source names as the texts that were judged."""
    if source.response is None:
        return raw
    return replace(raw, frame=raw.frame.drop(plain_name(source.response), strict=False))


def answers_or_scores(raw: RawTable, source: Source, names: Known) -> tuple[RawTable, Source]:
    """The table and its source, whose `response` is decided where it may be the score as well.

    Numbers, or words such as yes and no, under ``answer`` are scores where nothing else is; beside
    columns of raters they may be what these raters judged.

    Raises
    ------
    QuestionError
        Nobody said which of both they are.
    """
    declared = source.layout != "auto" or source.columns or source.prefix or source.rater
    if declared or source.score is not None or source.response is not None:
        return raw, source
    column = find("score", raw.frame.columns, None, raw.name)
    if column is None or find("response", [column], None, raw.name) is None:
        return raw, source
    # Raters are looked for among the other columns: this one may be what they judged.
    others = replace(raw, frame=raw.frame.drop(column))
    raters = (
        rater_columns(others, names.raters)
        if says_scores(raw.frame[column], comma=raw.decimal_comma)
        else ()
    )
    # Alone it is the score of each row, and so it is beside a column that only numbers raters.
    if not raters or (len(raters) == 1 and _numbers_of_raters(others, raters[0])):
        return raw, source
    if not source.assume:
        raise QuestionError(
            f"{raw.name}: does {column!r} hold the answers that {listed(raters)} judged? Where it "
            f"holds scores, say --score {column!r}.",
            "response",
            (column,),
            f"response = {json.dumps(column)}",
        )
    note = assumed(raw.name, [column], f"{column!r} was read as the answers that were judged.")
    decided = source.model_copy(update={"response": column})
    return raw.noted(note), decided


def _numbers_of_raters(raw: RawTable, column: str) -> bool:
    """Whether whole numbers of a column are raters: each rates an item once, items have several."""
    item = find("item", raw.frame.columns, None, raw.name)
    return item is not None and tells_apart(raw.frame, [item], column)


def rater_columns(raw: RawTable, reference: Sequence[str]) -> tuple[str, ...]:
    """Raters that columns of numbers are named after, the reference's own among them.

    A grid of columns such as ``human_Empathy`` and ``judge_Empathy`` names raters by its prefixes.
    Where the reference (or ``human``, ``expert_2``) is a column, every other column of scores is
    a rater, whatever its name. So is a judge's column that is the only one with scores.
    """
    grid = _grid_raters(raw, reference)
    if grid:
        return grid
    columns = raw.frame.columns
    # `label` is a person's column only beside a judge's: alone it may be anybody's.
    judged = any(kind_of(c) == "judge" and not measures(c) and _is_rated(raw, c) for c in columns)
    certain = [
        name
        for name in columns
        if name in reference
        or _is_person(raw, name)
        or (judged and holds_labels(name) and _is_rated(raw, name))
    ]
    named = [
        column
        for column in columns
        if (names_rater(column) or (certain and _may_rate(raw, column)))
        and not is_id(column)
        and not measures(column)
        and not sums_up(column)
        and _is_rated(raw, column)
    ]
    raters = tuple(dict.fromkeys((*certain, *named)))
    ask_of_whom(raw, [column for column in raters if column not in reference])
    return raters if certain or len(raters) > 1 or _is_alone(raw, named) else ()


#: What may stand behind a person's name for another person: a number, or a letter. A small n is a
#: count.
_SECOND = pattern(r"\d+|[a-mo-z]|(?-i:N)", re.IGNORECASE)


def ask_of_whom(raw: RawTable, columns: Sequence[str]) -> None:
    """Raise where a column is called like a person beside it, and more: ``human_rt_ms``.

    Raises
    ------
    QuestionError
        It may hold what was measured about that person's ratings, or the ratings of another.
    """
    people = [name for name in raw.frame.columns if is_person(name) and _is_rated(raw, name)]
    for column in columns:
        for person in people:
            # `human_2` and `human_b` are other people; of `human_rt_ms` nobody knows but who wrote
            # it.
            behind = column.removeprefix(person).lstrip("_- .")
            before = column.removesuffix(person).rstrip("_- .")
            more = behind if column.startswith(person) else before
            own = column.startswith(person) and _SECOND.fullmatch(more)
            if column in (person, more, *people) or own or names_rater(more):
                continue
            raise QuestionError(
                f"{raw.name}: {column!r} may hold what was measured about {person!r}, or the "
                f"ratings of somebody else; if it is a rater, name all people by --reference.",
                "ignore",
                (column,),
                f"ignore = [{json.dumps(column)}]",
                likely=False,
            )


def _is_alone(raw: RawTable, named: Sequence[str]) -> bool:
    """Whether a judge's column is the only one with scores, as where each rater has a file."""
    rated = [
        column
        for column in raw.frame.columns
        if _is_rated(raw, column)
        and not (is_id(column) or measures(column) or is_counter(raw.frame[column]))
        and (column in named or not is_usual(column))
    ]
    return len(named) == 1 and rated == list(named) and kind_of(named[0]) == "judge"


def _may_rate(raw: RawTable, column: str) -> bool:
    """Whether a column beside a person's may be another rater's, whatever its name."""
    if is_usual(column) and not _is_judge_called_model(raw, column):
        return False
    return not is_counter(raw.frame[column]) and is_small(raw, column)


def _is_judge_called_model(raw: RawTable, column: str) -> bool:
    """Whether numbers under ``model`` are its scores: ids of models would come with items twice."""
    item = find("item", raw.frame.columns, None, raw.name)
    once = item is not None and raw.frame[item].n_unique() == raw.frame.height
    return once and plain_word(column) in ("model", "bot", "chatbot")


def _is_person(raw: RawTable, column: str) -> bool:
    """Whether a column holds the scores of the person, or the people, it is named after."""
    return is_person(column) and not is_usual(column) and _is_rated(raw, column)


def _is_rated(raw: RawTable, column: str) -> bool:
    """Whether a column holds scores, or replies with scores in them."""
    return is_score(raw, column) or replies_in(raw, column)


def _grid_raters(raw: RawTable, reference: Sequence[str]) -> tuple[str, ...]:
    """Raters of a complete grid of at least two raters by two attributes, whichever comes first.

    A name that holds the mark itself (``Rater 1 Empathy``) is split at the last one.
    """
    # Rater first or last, by each separator, cut at the first or the last of them.
    for way, mark, split in product((1, -1), SEPARATORS, (str.split, str.rsplit)):
        named = [c for c in raw.frame.columns if mark in c and not measures(c)]
        halves = {c: split(c, mark, 1)[::way] for c in named}
        pairs = {c: p for c, p in halves.items() if p[0] in reference or names_rater(p[0])}
        raters, rest = dict.fromkeys(p[0] for p in pairs.values()), {p[1] for p in pairs.values()}
        # A whole grid only: two names that happen to share an end are no raters of attributes.
        full = len(pairs) == len(raters) * len(rest)
        columns = [raw.frame[column] for column in pairs]
        if full and len(raters) > 1 and len(rest) > 1 and all(map(is_numeric, columns)):
            return tuple(raters)
    return ()
