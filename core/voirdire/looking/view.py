"""What a page shows, as its address says it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, get_args
from urllib.parse import urlencode

from voirdire.errors import InputError, not_one_of
from voirdire.schema import STATUSES

if TYPE_CHECKING:
    from collections.abc import Iterable

Sort = Literal[
    "difference", "influence", "change", "human", "score", "item", "system", "subgroup", "status"
]
SORTS: tuple[Sort, ...] = get_args(Sort)
#: Before the name of a human whose own scores are sorted by.
OF = "of:"
_NUMBERS = {"turn": 0, "human": 0, "score": 0, "page": 1, "row": 0}
_SWITCHES = ("by_hand", "changed", "up")


@dataclass(frozen=True, slots=True)
class View:
    """A judge and attribute, which of its responses, and in which order.

    Attributes
    ----------
    judge, attribute : str
        Whose scores, on what.
    turn : int
        Which reference, where judges are held against several in turn.
    use : str
        The use whose deciding component gives the influence: ``"single"``, ``"order+"`` ...
    against : str
        The human that the judge is held against; empty is the mean of the reference.
    human, score : int or None
        The cell of the matrix: numbers of its row and column, from 0.
    system, subgroup, status : str
        Only these; empty is all.
    by_hand : bool
        Only responses with a label that was set by hand.
    changed : bool
        Only responses that the judge scores otherwise than in the source beside.
    q : str
        Only responses with these words in an id, a name or a text.
    sort : str
        Differences and influences by their size, the largest first; ``of:ann`` is what one of
        several humans said. `up` turns the order round.
    page, row : int
        From 1; a response by its number in the examination.
    """

    judge: str = ""
    attribute: str = ""
    turn: int = 0
    use: str = ""
    against: str = ""
    human: int | None = None
    score: int | None = None
    system: str = ""
    subgroup: str = ""
    status: str = ""
    by_hand: bool = False
    changed: bool = False
    q: str = ""
    sort: str = "difference"
    up: bool = False
    page: int = 1
    row: int | None = None

    @classmethod
    def of(cls, query: Iterable[tuple[str, str]]) -> View:
        """The view of an address.

        Raises
        ------
        InputError
            A key that there is none of, or a value that it does not take; both are named.
        """
        keys = tuple(field.name for field in fields(cls))
        values: dict[str, Any] = {}
        for key, text in query:
            if key not in keys:
                raise not_one_of("key", key, keys, "address", InputError)
            if text:
                values[key] = _value(key, text)
        return cls(**values)

    def address(self, path: str, **changes: Any) -> str:
        """The address of this view, or of it with changes."""
        changed = replace(self, **changes)
        plain = View()
        query = [
            (field.name, _text(getattr(changed, field.name)))
            for field in fields(changed)
            if getattr(changed, field.name) != getattr(plain, field.name)
        ]
        return f"{path}?{urlencode(query, errors='replace')}" if query else path

    @property
    def chosen(self) -> View:
        """What decides which responses are listed and in which order."""
        return replace(self, page=1, row=None)


def _value(key: str, text: str) -> Any:
    if key in _NUMBERS:
        if not (text.isascii() and text.isdecimal() and len(text) < 10):
            raise InputError(f"address: {key} must be a whole number, got {text!r}")
        return max(int(text), _NUMBERS[key])
    if key in _SWITCHES:
        return text not in {"0", "false"}
    if key == "sort" and text not in SORTS and not text.startswith(OF):
        raise not_one_of("sort", text, SORTS, "address", InputError)
    if key == "status" and text not in STATUSES:
        raise not_one_of("status", text, STATUSES, "address", InputError)
    return text


def _text(value: Any) -> str:
    return "1" if value is True else str(value)
