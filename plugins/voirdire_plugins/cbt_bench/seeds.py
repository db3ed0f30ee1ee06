"""Seed examples as few-shot examples: they serve only their own task, and never a test item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire import InputError
from voirdire.schema import Item
from voirdire_plugins.cbt_bench.data import Example, read_examples

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from voirdire.protocols import Embedder
    from voirdire_plugins.cbt_bench.labels import LabelTask
    from voirdire_retrieval import Selector

_SHOWN = 5


def read_seeds(folder: Path, task: LabelTask) -> tuple[Example, ...]:
    """The seed examples of a task, refused where one stands in its test set.

    Raises
    ------
    InputError
        As `check_pool`.
    TableError
        As `read_examples`.
    """
    seeds = read_examples(folder, task, "seed")
    check_pool(seeds, read_examples(folder, task), task)
    return seeds


def overlap(pool: Sequence[Example], test: Sequence[Example]) -> tuple[str, ...]:
    """Ids of the pool's examples that stand in the test set, by id or by text."""
    ids, texts = {example.id for example in test}, {example.text_key for example in test}
    return tuple(e.id for e in pool if e.id in ids or e.text_key in texts)


def check_pool(pool: Sequence[Example], test: Sequence[Example], task: LabelTask) -> None:
    """Refuse a pool that holds an item of the test set.

    Raises
    ------
    InputError
        An example has the id or the text of a test item: its answer would be shown in a prompt.
        So it is with the seeds of other tasks, 7 to 19 of whose 20 are items of this one's test
        set.
    """
    found = overlap(pool, test)
    if found:
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise InputError(
            f"{task.name}: {len(found)} of {len(pool)} examples stand in its test set by id or "
            f"text (ids {', '.join(found[:_SHOWN])}{more}); seeds serve only their own task"
        )


def as_shot(example: Example) -> dict[str, Any]:
    """An example in the fields of a prompt, with its answer."""
    return {
        "id": example.id,
        "situation": example.situation,
        "text": example.thoughts,
        "answer": example.labels,
    }


@dataclass(frozen=True, slots=True)
class NearestExamples:
    """The k nearest by situation and thoughts; the guard keeps out the item and its likes."""

    pool: Mapping[str, Example]
    selector: Selector

    def select(self, item: Item, k: int) -> list[Mapping[str, Any]]:
        """At most k examples, as shots, the nearest first."""
        whole = f"{item.extra.get('situation', '')}\n{item.text}"
        found = self.selector.select(Item(item.id, whole, item.extra), k)
        return [as_shot(self.pool[str(row["id"])]) for row in found]


def nearest_examples(
    pool: Sequence[Example], embedder: Embedder | str, test: Sequence[Example] = ()
) -> NearestExamples:
    """A selector of the nearest examples of a pool, guarded against a test set.

    `embedder` is an embedder or the name of one (see `voirdire_retrieval.open_embedder`).
    """
    from voirdire_retrieval import (  # noqa: PLC0415 - an extra
        build_index,
        guard_against,
        make_pool,
        nearest,
        open_embedder,
    )

    model = open_embedder(embedder) if isinstance(embedder, str) else embedder
    rows = [(example.id, f"{example.situation}\n{example.thoughts}") for example in pool]
    table = pl.DataFrame(rows, schema={"id": pl.String, "text": pl.String}, orient="row")
    index = build_index(make_pool(table), model)
    guard = guard_against(_whole(example) for example in test)
    return NearestExamples({example.id: example for example in pool}, nearest(index, model, guard))


def _whole(example: Example) -> Item:
    return Item(example.id, f"{example.situation}\n{example.thoughts}")
