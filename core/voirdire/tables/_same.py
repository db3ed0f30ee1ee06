"""Attributes that people and judges call differently: one under two names, where it is said."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, listed
from voirdire.tables._words import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.study import Source
    from voirdire.tables._tables import SourceTables

#: Answers that no attribute of the one side is one of the other.
NONE = "none"
#: More attributes than these are paired in a study.
_MOST = 12


def with_one_name(part: SourceTables, same: Mapping[str, str]) -> SourceTables:
    """A part whose attributes are called as the others' are: ``{"Clarté": "Klarheit"}``."""
    if not same:
        return part
    attribute = pl.col("attribute").cast(pl.String).replace(dict(same))
    return replace(part, ratings=part.ratings.with_columns(attribute))


def ask_which_are_the_same(source: Source, ratings: pl.DataFrame, people: Sequence[str]) -> None:
    """Raise where people and judges scored equally many attributes, and none under the same name.

    Raises
    ------
    QuestionError
        Which of them are one, proposed in the order of the files.
    """
    person = pl.col("rater").is_in(list(people))
    theirs, judged = (
        ratings.filter(side)["attribute"].cast(pl.String).unique(maintain_order=True).to_list()
        for side in (person, ~person)
    )
    apart = not set(theirs) & set(judged)
    if not apart or len(theirs) != len(judged) or len(theirs) > _MOST or source.same:
        return
    pairs = dict(zip(judged, theirs, strict=True))
    told = ", ".join(f"{quoted(mine)}={quoted(other)}" for mine, other in pairs.items())
    inside = ", ".join(
        f"{json.dumps(m, ensure_ascii=False)} = {json.dumps(t, ensure_ascii=False)}"
        for m, t in pairs.items()
    )
    raise QuestionError(
        f"{source.path}: people scored {listed(theirs)} and the judges {listed(judged)}; which of "
        f"them are one under two names (the first choice goes by their order)? Where a file holds "
        f"people's labels of what the judges scored, name it by --human.",
        "same",
        (told, NONE),
        f"same = {{ {inside} }}",
        likely=False,
    )
