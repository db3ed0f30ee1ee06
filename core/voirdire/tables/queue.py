"""A queue: which responses people are to judge, and how these were picked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from voirdire.errors import InputError, TableError, check_columns, not_one_of
from voirdire.files import unguard
from voirdire.tables.records import cell_text, read_rows

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: A person must judge it, its verdict may go out, or a person has judged it already.
_DECISIONS = ("human", "automatic", "labelled")
_ORIGINS = ("random", "chosen")


@dataclass(frozen=True, slots=True)
class Queue:
    """What a queue leaves to people.

    Attributes
    ----------
    path : str
    wanted : mapping
        (item, system) of what people are to judge, or (item, system, system) of what they are to
        compare, systems in the order of their names -> where its row stands.
    origin : {"random", "chosen"}
        Of the labels that are made by it; ``chosen`` where it does not say.
    probability : mapping
        What is or will be labelled, named as in `wanted` -> with which it was drawn, where the
        queue says so.
    """

    path: str
    wanted: Mapping[tuple[str, ...], str]
    origin: Literal["random", "chosen"]
    probability: Mapping[tuple[str, ...], float]

    @property
    def pairs(self) -> bool:
        """Whether it names comparisons."""
        return any(len(named) > 2 for named in self.wanted)


def read_queue(path: str | Path) -> Queue:
    """The queue of `voirdire escalate`, of `voirdire plan --draw` or of a list of `voirdire look`.

    Raises
    ------
    InputError
        It leaves nothing to people.
    TableError
        It cannot be read, or holds an unknown decision or origin, or what is no probability.
    """
    wanted: dict[tuple[str, ...], str] = {}
    origins: set[str] = set()
    probability: dict[tuple[str, ...], float] = {}
    for place, row in read_rows(path, ("item", "decision")):
        where = f"{path}, {place}"
        decision = cell_text(row["decision"])
        if decision not in _DECISIONS:
            raise not_one_of("decision", decision, _DECISIONS, where, TableError)
        if decision == "automatic":
            continue
        named = _named(row, path)
        if decision == "human":
            wanted[named] = place
        origin = cell_text(row.get("origin")) or "chosen"
        if origin not in _ORIGINS:
            raise not_one_of("origin", origin, _ORIGINS, where, TableError)
        origins.add(origin)
        said = cell_text(row.get("label_probability"))
        if said:
            probability[named] = _probability(said, where)
    if not wanted:
        raise InputError(f"{path}: no row has the decision 'human', so there is nothing to judge")
    # Of a list that is random in part nothing is known as a whole.
    drawn = origins == {"random"}
    return Queue(str(path), wanted, "random" if drawn else "chosen", probability)


def _named(row: Mapping[str, Any], path: str | Path) -> tuple[str, ...]:
    """(item, system), or (item, system, system) of a pair."""
    if "system_a" in row and "system_b" in row:
        systems = sorted(cell_text(row[name]) for name in ("system_a", "system_b"))
    else:
        check_columns(path, ("system",), list(row))
        systems = [cell_text(row["system"])]
    # A queue as CSV guards names that begin as a formula does.
    return tuple(unguard(one) for one in (cell_text(row["item"]), *systems))


def _probability(said: str, where: str) -> float:
    try:
        value = float(said)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise TableError(
            f"{where}: label_probability {said!r} must be a number above 0 and up to 1"
        )
    return value
