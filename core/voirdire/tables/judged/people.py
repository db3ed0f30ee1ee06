"""Who of several raters is a person: by their names, or a question."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, listed, not_rated
from voirdire.late import pattern
from voirdire.tables._names import holds_labels, kind_of
from voirdire.tables._tables import finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Finding

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


#: Units on which the others differ, from which one who always says what most of them do is made of
#: them; fewer where its header speaks of labels and of nobody (*gold*), and from which it is asked.
_MADE_OF, _MADE_OF_GOLD, _ASKED = 20, 5, 10
_SETTLED = pattern(r"gold|truth|consensus|majority|adjudicat|aggregat|final|agreed", re.IGNORECASE)
#: Fewest of the others on a unit, and the share from which a column of labels may be made of them.
_OTHERS, _MAY_BE = 2, 0.9


def made_of_others(
    rows: pl.DataFrame, people: Sequence[str], where: str
) -> tuple[tuple[str, ...], Finding | None]:
    """People without a column that holds what most of the others said, and a finding that names it.

    Parameters
    ----------
    rows : DataFrame
        ``item, system, rater, labels``, one label each.

    Raises
    ------
    QuestionError
        It may have been settled after the others: it says what most of them do on few units, or
        nearly always and is called as labels are (*gold*).
    """
    said = rows.filter(pl.col("rater").is_in(list(people)), pl.col("labels").list.len() == 1)
    said = said.unique(["item", "system", "rater"], keep="first", maintain_order=True).select(
        "item", "system", "rater", pl.col("labels").list.first().alias("label")
    )
    for name in people if len(people) > _OTHERS else ():
        others = said.filter(pl.col("rater") != name)
        votes = others.group_by("item", "system", "label").len()
        most = votes.with_columns(
            top=pl.col("len") == pl.col("len").max().over("item", "system"),
            differ=pl.len().over("item", "system") > 1,
            told=(pl.col("len") == pl.col("len").max()).sum().over("item", "system") == 1,
            many=pl.col("len").sum().over("item", "system") > _OTHERS,
        ).filter("top", "differ", "told", "many")
        own = said.filter(pl.col("rater") == name).join(
            most, on=["item", "system"], nulls_equal=True, suffix="_most"
        )
        same = int((own["label"] == own["label_most"]).sum())
        gold = holds_labels(name) or _SETTLED.search(name) is not None
        if own.height < (_MADE_OF_GOLD if gold else _ASKED) or same < _MAY_BE * own.height:
            continue
        rest = tuple(one for one in people if one != name)
        if same == own.height and (gold or own.height >= _MADE_OF):
            note = finding(
                "raters_derived",
                "serious",
                where,
                [name],
                f"{name!r} says what most of {listed(list(rest))} do, on all of {own.height} units "
                "on which they differ: it is no further person, and was left out.",
                "Name it by --reference where it is one.",
            )
            return rest, note
        if gold or same == own.height:
            raise QuestionError(
                f"{where}: {name!r} may hold what was agreed on after {listed(list(rest))} had "
                "labelled, and is then no further person; who is the reference?",
                "reference",
                (", ".join(rest), name),
                f"reference = {json.dumps(list(rest))}",
                likely=False,
            )
    return tuple(people), None


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
