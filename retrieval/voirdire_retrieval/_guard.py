"""What may never be an example for an item, what was kept out of prompts, and what leaks."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from voirdire.errors import InputError
from voirdire.parsing import said_yes
from voirdire.schema import Finding
from voirdire_retrieval._texts import id_key, text_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from voirdire.schema import Item, Severity
    from voirdire_retrieval._index import Index

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
            # The plainest reason first: one row may be kept out for several.
            if own and own in ids:
                return "same_id"
            if row["key"] == key:
                return "same_text"
            if row["key"] in self.test_keys or not self.test_ids.isdisjoint(ids):
                return "test_split"
            if self.exclude_same_group and group is not None and str(group) in row["groups"]:
                return "same_group"
            # An unknown similarity (NaN) is above nothing.
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


@dataclass(frozen=True, slots=True)
class Exclusion:
    """An example that would have been shown, and why it was not."""

    id: str
    reason: Reason
    similarity: float


@dataclass(frozen=True, slots=True)
class Selection:
    """Examples for one item.

    Attributes
    ----------
    item : str
    examples : tuple of mapping
        `id`, `text`, the pool's labels and `similarity` (cosine to the item; NaN if unknown), in
        the selector's order: the nearest first.
    excluded : tuple of Exclusion
        What the guard kept out on the way.
    notes : tuple of str
        Why there are fewer than asked, and whether the item's text was cut.
    asked : int
        How many examples were asked for.
    cut : bool
        Whether the item's text is longer than the embedder reads.
    """

    item: str
    examples: tuple[Mapping[str, Any], ...]
    excluded: tuple[Exclusion, ...] = ()
    notes: tuple[str, ...] = ()
    asked: int = 0
    cut: bool = False

    @property
    def short(self) -> bool:
        """Whether there are fewer examples than asked for."""
        return len(self.examples) < self.asked


def shortage(pool: int, examples: int, k: int, *, empty_text: bool) -> tuple[str, ...]:
    """Sentences that say why fewer than k were found, if so.

    >>> shortage(0, 0, 3, empty_text=False)
    ('empty pool',)
    >>> shortage(1, 0, 2, empty_text=False)
    ('no example left',)
    """
    if examples >= k:
        return ()
    if not pool:
        return ("empty pool",)
    if empty_text:
        return ("the item's text is empty, so nothing is near to it",)
    return (
        ("no example left",) if not examples else (f"{examples} of {k} examples: no more are left",)
    )


def with_cut(selection: Selection, *, cut: bool) -> Selection:
    """The selection of an item whose text is longer than the embedder reads, or as it is."""
    if not cut:
        return selection
    note = "the item's text is longer than the embedder reads, so its end was not compared"
    return dataclasses.replace(selection, notes=(*selection.notes, note), cut=True)


#: Places that a finding names; its count says how many there are.
_PLACES = 20


def pool_overlap(index: Index, test: Iterable[Item]) -> list[Finding]:
    """Rows of the pool that are items of the test split, by id or by text.

    Returns
    -------
    list of Finding
        One of kind ``pool_test_overlap``, or none. `guard_against` keeps these rows out.
    """
    items = list(test)
    ids = {id_key(item.id) for item in items} - {""}
    keys = {text_key(item.text) for item in items} - {""}
    shared, by_id = list[str](), 0
    for one, key, also in index.frame.select("id", "key", "also").iter_rows():
        same_text = key in keys
        if same_text or not ids.isdisjoint(map(id_key, (one, *also))):
            shared.append(one)
            # Counted apart: two files that number their rows from 1 share ids by
            # accident.
            by_id += not same_text
    if not shared:
        return []
    apart = (
        f" {by_id} of them share an id alone, with another text: where both files merely number "
        "their rows, these are other texts, kept out for nothing; give the ids of one a prefix."
    )
    return [
        Finding(
            "pool_test_overlap",
            "serious",
            "pool",
            len(shared),
            tuple(shared[:_PLACES]),
            f"{len(shared)} of {index.card.count} examples of the pool are items of the test "
            f"split.{apart if by_id else ''}",
            "They are never shown where the selector's guard knows the test split.",
        )
    ]


def pool_unlabelled(index: Index) -> list[Finding]:
    """Texts of the pool's file that lack a label: one finding of that kind, or none."""
    count = index.card.left_out.get("unlabelled") or 0
    message = f"{count} texts of the pool lack a label."
    consequence = "They are no examples: an answer that is not there cannot be shown."
    one = Finding("pool_unlabelled", "note", "pool", count, (), message, consequence)
    return [one] if count else []


def pool_lacks_class(index: Index) -> list[Finding]:
    """Classes that no example of the pool can show: one finding of that kind, or none.

    Looked for are both values of each yes-or-no label and, where a pool has several such labels,
    a text that carries none of them.

    Returns
    -------
    list of Finding
        Of severity ``serious``; places are the classes.
    """
    frame, labels = index.frame, index.card.labels
    shown = {name: {said_yes(value) for value in frame[name].drop_nulls()} for name in labels}
    binary = [name for name, values in shown.items() if values and None not in values]
    lacking = [
        f"{name} = {'yes' if value else 'no'}"
        for name in binary
        for value in (False, True)
        if value not in shown[name]
    ]
    # Each label may be shown as no, and still no text be without any: then no prompt can show a
    # control.
    if len(binary) > 1 and not lacking:
        calm = [
            all(said_yes(value) is False for value in row)
            for row in frame.select(binary).iter_rows()
        ]
        lacking = [] if any(calm) else [f"none of {', '.join(binary)}"]
    if not lacking:
        return []
    return [
        Finding(
            "pool_lacks_class",
            "serious",
            "pool",
            len(lacking),
            tuple(lacking),
            f"None of the {index.card.count} examples of the pool shows: {'; '.join(lacking)}.",
            "A prompt can show no example of it, and models tend to answer what they are shown: "
            "add such texts to the pool, or compare with zero-shot.",
        )
    ]


def leak_findings(selections: Sequence[Selection]) -> list[Finding]:
    """What the guard kept out, and items with fewer examples than asked or with a cut text.

    Returns
    -------
    list of Finding
        One a reason (``leak_same_text`` and so on; places are ``item<-example``), ``few_examples``
        and ``items_cut``.
    """
    out = [(one.reason, f"{sel.item}<-{one.id}") for sel in selections for one in sel.excluded]
    counts = Counter(reason for reason, _ in out)
    findings = [
        Finding(
            f"leak_{reason}",
            "note",
            "pool",
            counts[reason],
            tuple(place for why, place in out if why == reason)[:_PLACES],
            f"Examples kept out of prompts: {counts[reason]} ({REASONS[reason]}).",
            "The next one was taken instead.",
        )
        for reason in REASONS
        if counts[reason]
    ]
    short = [sel.item for sel in selections if sel.short]
    cut = [sel.item for sel in selections if sel.cut]
    every = len(selections)
    return [
        *findings,
        *_items(
            "few_examples",
            "serious",
            short,
            f"{len(short)} of {every} items have fewer examples than asked for.",
            "Their prompts are shorter; compare them with the others apart.",
        ),
        *_items(
            "items_cut",
            "note",
            cut,
            f"{len(cut)} of {every} items are longer than the embedder reads.",
            "Their examples are near to their beginnings.",
        ),
    ]


def _items(
    kind: str, severity: Severity, items: list[str], message: str, consequence: str
) -> list[Finding]:
    places = tuple(items[:_PLACES])
    one = Finding(kind, severity, "pool", len(items), places, message, consequence)
    return [one] if items else []
