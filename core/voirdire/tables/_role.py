"""What a column of a file is: its role, the reason, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from voirdire.late import dataclass

if TYPE_CHECKING:
    from voirdire.study import Source

Role = Literal[
    "item", "system", "cluster", "turn", "rater", "score", "label", "label set", "winner",
    "order shown", "probability", "status", "run", "attribute", "text", "reason", "about an item",
    "about a rater", "subgroup", "label_probability", "weight", "not used",
]  # fmt: skip
#: How sure a role is: somebody named it, numbers say it, a name says it, or nothing else is left.
Sure = Literal["named", "numbers", "name", "only"]


@dataclass(frozen=True, slots=True)
class ColumnRole:
    """What a column of a file holds.

    Attributes
    ----------
    column : str
    role : str
        See `Role`.
    reason : str
        Ends a sentence that begins with the column's name.
    sure : {"named", "numbers", "name", "only"}
    """

    column: str
    role: Role
    reason: str
    sure: Sure = "numbers"


@dataclass(frozen=True, slots=True)
class Roles:
    """What was found out about a table: its source with it, and the role of each column.

    `raters` are columns of judgements, `judges` those of them that are no people.
    """

    source: Source
    columns: tuple[ColumnRole, ...] = ()
    raters: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NamedRaters:
    """Who is named: the reference, and the judges."""

    reference: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
