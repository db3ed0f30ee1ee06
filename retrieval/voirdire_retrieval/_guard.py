"""What may never be an example for an item, and why."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from voirdire.errors import InputError
from voirdire_retrieval._texts import id_key, text_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from voirdire.schema import Item

Reason = Literal["same_id", "same_text", "same_group", "test_split", "near_duplicate"]
#: What a reason means, for reports.
REASONS: Mapping[Reason, str] = {
    "same_id": "the item itself, by its id",
    "same_text": "the item's text under another id",
    "same_group": "of the item's own group",
    "test_split": "an item of the test split",
    "near_duplicate": "closer to the item than max_similarity",
}


@dataclass(frozen=True, slots=True)
class Guard:
    """Keeps the answer out of the prompt.

    Attributes
    ----------
    max_similarity : float or None
        Cosine above which an example counts as the item in other words; None: no ceiling.
    exclude_same_group : bool
        Leave out examples of the item's group (``item.extra[group_key]``).
    group_key : str
    test_ids, test_keys : frozenset of str
        Keys of the ids and texts of the test split; `guard_against` fills them.
    """

    max_similarity: float | None = 0.98
    exclude_same_group: bool = True
    group_key: str = "group"
    test_ids: frozenset[str] = frozenset()
    test_keys: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        limit = self.max_similarity
        if limit is not None and not -1 <= limit <= 1:
            raise InputError(f"max_similarity must lie in -1..1 or be None, got {limit}")

    def check(self, item: Item) -> Callable[[Mapping[str, Any], float], Reason | None]:
        """A test of rows of the pool for one item: why a row cannot serve, or None if it can.

        A row has `id`, `key`, `also` and `groups`, as a pool does; a similarity of NaN is unknown
        and cannot be held against it.
        """
        own, key, group = id_key(item.id), text_key(item.text), item.extra.get(self.group_key)
        limit = math.inf if self.max_similarity is None else self.max_similarity

        def reason(row: Mapping[str, Any], similarity: float) -> Reason | None:
            ids = {id_key(one) for one in (row["id"], *row["also"])}
            if own and own in ids:
                return "same_id"
            if row["key"] == key:
                return "same_text"
            if row["key"] in self.test_keys or not self.test_ids.isdisjoint(ids):
                return "test_split"
            if self.exclude_same_group and group is not None and str(group) in row["groups"]:
                return "same_group"
            return "near_duplicate" if similarity > limit else None

        return reason


def guard_against(
    test: Iterable[Item],
    *,
    max_similarity: float | None = 0.98,
    exclude_same_group: bool = True,
    group_key: str = "group",
) -> Guard:
    """A guard that knows the test split: none of its ids and none of its texts is an example.

    Examples
    --------
    >>> from voirdire.schema import Item
    >>> guard = guard_against([Item("t1", "A quiet day.")])
    >>> row = {"id": "p9", "key": text_key("a quiet  day."), "also": [], "groups": []}
    >>> guard.check(Item("t2", "Another."))(row, 0.3)
    'test_split'
    """
    items = list(test)
    return Guard(
        max_similarity,
        exclude_same_group,
        group_key,
        frozenset(id_key(item.id) for item in items) - {""},
        frozenset(text_key(item.text) for item in items) - {""},
    )
