"""Who of several raters is a person: by their names, or a question."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from voirdire.errors import QuestionError, listed, not_rated
from voirdire.late import pattern
from voirdire.tables._names import kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Abbreviations of *annotator* and *human* with a number, and voters: `A2`, `h3`, `arena_user_7`.
_SHORT = pattern(
    r"(?:ann|annot|hum|h|a)[ _-]?\d+|author[ _-]?\d*|(?:arena[ _-])?(?:user|voter)[ _-]?\w*",
    re.IGNORECASE,
)


def people_of(
    raters: Sequence[str], reference: Sequence[str], where: str, column: str | None = None
) -> tuple[str, ...]:
    """The raters that are people.

    Raises
    ------
    TableError
        A reference that is no rater.
    QuestionError
        Some may be people or judges, and nobody said which.
    """
    absent = [name for name in reference if name not in raters]
    if absent:
        raise not_rated(absent, list(raters), where)
    if reference:
        return tuple(name for name in raters if name in reference)
    kinds = {name: _kind(name, column) for name in raters}
    people = [name for name in raters if kinds[name] == "human"]
    unsure = [name for name in raters if kinds[name] is None]
    if not unsure and people:
        return tuple(people)
    choice = people or unsure
    if len(choice) == len(raters) > 1:
        choice = choice[:-1]
    raise QuestionError(
        f"{where}: {listed(unsure or list(raters))} may be people or judges; whose judgements are "
        f"the reference?",
        "reference",
        (", ".join(choice),),
        f"reference = {json.dumps(list(choice))}",
        likely=False,
    )


def people_of_or_none(said: Sequence[str]) -> tuple[str, ...]:
    """Those of several columns whose names speak of people; none where no name does."""
    try:
        return people_of([*said, "gpt"], (), "")
    except QuestionError:
        return ()


def _kind(name: str, column: str | None) -> str | None:
    if _SHORT.fullmatch(name) or re.fullmatch(r"\d+", name):
        return "human"
    return kind_of(name, column)
