"""Leaks counted: what of the test split lies in the pool, and what the guard kept out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from voirdire.parsing import said_yes
from voirdire.schema import Finding
from voirdire_retrieval._guard import REASONS
from voirdire_retrieval._texts import id_key, text_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from voirdire.schema import Item, Severity
    from voirdire_retrieval._index import Index
    from voirdire_retrieval._selection import Selection

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
    said = {name: {said_yes(value) for value in frame[name].drop_nulls()} for name in labels}
    binary = [name for name, values in said.items() if values and None not in values]
    lacking = [
        f"{name} = {'yes' if value else 'no'}"
        for name in binary
        for value in (False, True)
        if value not in said[name]
    ]
    if len(binary) > 1 and not lacking:
        calm = [all(said_yes(value) is False for value in row)
                for row in frame.select(binary).iter_rows()]  # fmt: skip
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
