"""The card of a file of labels, preferences or probabilities: its rows, who judged, and what."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import polars as pl

from voirdire.errors import listed
from voirdire.tables._card import said
from voirdire.tables._judging import speaks_of_else
from voirdire.tables._role import ColumnRole
from voirdire.tables._tables import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Finding
    from voirdire.tables._files import RawTable
    from voirdire.tables._role import Role
    from voirdire.tables.judged.frames import ReadJudgements

#: Why a column plays its part.
_WHY = {
    "item": "says what was judged", "system": "names what answered", "rater": "says who judged",
    "run": "numbers the runs", "attribute": "says what is judged", "cluster": "groups the items",
    "subgroup": "groups the items", "text": "holds what was shown", "reason": "what a rater said",
    "about an item": "says how it came to be labelled", "turn": "numbers the turns",
    "order shown": "says who was shown first", "label": "holds judgements",
}  # fmt: skip
#: So many raters, labels or systems are named.
_NAMED = 6


def card_of(raw: RawTable, found: ReadJudgements, roles: Sequence[ColumnRole]) -> Finding:
    """What was read of a table, as `tables._card.card` says it of scores."""
    raters = _raters(found)
    judges = [name for name in raters if name not in found.people]
    people = [name for name in raters if name in found.people]
    table = found.labels if found.preferences is None else found.preferences
    told = [f"{plural(raw.frame.height, 'row')} = {plural(table['item'].n_unique(), 'item')}"]
    for word, names in (("judge", judges), ("human", people)):
        if names:
            told.append(f"{word if len(names) == 1 else f'{word}s'}: {listed(names, _NAMED)}")
    told += _asked(found)
    return said(raw, told, roles, [one.column for one in roles if one.role == "not used"])


def roles_in(raw: RawTable, found: ReadJudgements) -> tuple[ColumnRole, ...]:
    """The role of each column of a table of labels, comparisons or probabilities, by its part, by
    the raters that are columns, and by why the table was read so.
    """
    parts = found.parts
    raters = _raters(found)
    kinds = {one.kind for one in found.questions}
    own: Role = "winner" if found.preferences is not None else "label"
    if len(kinds) == 1:
        own = cast("Role", next(iter(kinds)))
    roles = []
    for column in raw.frame.columns:
        if column in raters:
            who = "a person's" if column in found.people else "a judge's"
            roles.append(ColumnRole(column, own, f"is {who}"))
        elif column in parts:
            roles.append(ColumnRole(column, cast("Role", parts[column]), _WHY[parts[column]]))
        elif repr(column) in found.reason:
            compared = found.preferences is not None
            role: Role = own
            if compared and not found.reason.startswith(repr(column)):
                role = "system"
            roles.append(ColumnRole(column, role, found.reason))
        elif any(name in column for name in raters):
            roles.append(ColumnRole(column, "about a rater", "is called as a rater is"))
        else:
            why = speaks_of_else(column) or "nobody named it, and nothing says what it is"
            roles.append(ColumnRole(column, "not used", why))
    return tuple(roles)


def _raters(found: ReadJudgements) -> tuple[str, ...]:
    if found.questions and found.preferences is not None:  # who claims probabilities of a side too
        claiming = found.labels["rater"].unique(maintain_order=True)
        return tuple(dict.fromkeys((*found.raters, *claiming)))
    return found.raters


def _asked(found: ReadJudgements) -> list[str]:
    told = []
    for one in found.questions:
        if one.probability:
            told.append(f"probabilities of {one.attribute}")
        else:
            word = "sets of labels" if one.sets else "labels"
            told.append(f"{one.attribute}: {word} {listed(list(one.labels), _NAMED)}")
    if found.preferences is not None:
        pair = found.preferences.select(
            a=pl.min_horizontal("system_a", "system_b"), b=pl.max_horizontal("system_a", "system_b")
        ).unique()
        systems = pl.concat([pair["a"], pair["b"]]).n_unique()
        told.append(f"{plural(systems, 'system')} in {plural(pair.height, 'pair')}")
    return told
