"""Selectors ready for others: from a study, from a few published examples, as LangChain's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import InputError
from voirdire.lazy import require
from voirdire.protocols import Embedder
from voirdire.schema import Item
from voirdire_retrieval._embed import VectorCache
from voirdire_retrieval._embedders import open_embedder
from voirdire_retrieval._guard import guard_against
from voirdire_retrieval._index import build_index
from voirdire_retrieval._pool import labelled, make_pool, read_pool
from voirdire_retrieval._selectors import SELECTORS
from voirdire_retrieval._storage import refresh_index

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.protocols import ExampleSelector
    from voirdire.tables import Example
    from voirdire_retrieval._index import Index
    from voirdire_retrieval._pool import Pool
    from voirdire_retrieval._selector import Selector


def open_selector(  # noqa: PLR0913 - one a key of the study
    name: str,
    *,
    pool: str,
    embedder: Any = "all-mpnet-base-v2",
    labels: Sequence[str] = (),
    id: str = "id",  # noqa: A002 - the column's name in every table of voirdire
    text: str = "text",
    group: str | None = None,
    index: str = "",
    cache: str = "",
    device: Any = "auto",
    batch_size: int | None = None,
    base_url: str = "",
    api_key_env: str = "",
    max_similarity: float | None = 0.98,
    test: Sequence[Item] = (),
    folder: str | Path = ".",
    **options: Any,
) -> Selector:
    """The selector of that name over a pool in a file.

    Parameters
    ----------
    name : str
        nearest, balanced, diverse, random or fixed.
    pool, labels, id, text, group
        The file of examples and its columns, as in `read_pool`; texts that lack one of the labels
        are left out. Items are of a group by the same
        name in their `extra`.
    embedder, device, batch_size, base_url, api_key_env
        As in `open_embedder`; or an `Embedder` itself.
    index, cache : str
        Folders that keep the index and vectors between runs; empty: kept in memory.
    max_similarity, test
        Of the guard: what may never be shown.
    folder : path
        Paths are relative to it.
    options
        Of the selector itself (``seed``, ``label``, ``weight``, ``ids``).

    Raises
    ------
    InputError
        A file, model or option that cannot be used.
    """
    at = Path(folder)
    endpoint = {"base_url": base_url, "api_key_env": api_key_env}
    model = _embedder(embedder, at, device, batch_size, endpoint)
    kept = VectorCache(at / cache) if cache else None
    examples = labelled(read_pool(at / pool, id=id, text=text, labels=labels, group=group))
    opened = _index(examples, model, at / index if index else None, device, kept)
    guard = guard_against(test, max_similarity=max_similarity, group_key=group or "group")
    try:
        return SELECTORS[name](opened, model, guard, cache=kept, **options)
    except TypeError as error:
        raise InputError(f"selector {name!r} does not take these options: {error}") from error


def _embedder(
    spec: Any, folder: Path, device: Any, batch_size: int | None, endpoint: Mapping[str, str]
) -> Embedder:
    if not isinstance(spec, str):
        return spec if isinstance(spec, Embedder) else open_embedder(spec, batch_size=batch_size)
    beside = folder / spec
    # A folder beside the study goes before a name on the hub.
    name = str(beside) if beside.is_dir() else spec
    return _shared(name, device, batch_size, **endpoint)


@lru_cache(maxsize=1)
def _shared(
    name: str, device: Any, batch_size: int | None, base_url: str, api_key_env: str
) -> Embedder:
    """One model for all raters of a panel: loading takes seconds, and as much memory each time."""
    return open_embedder(
        name,
        device=device,
        batch_size=batch_size,
        base_url=base_url,
        api_key_env=api_key_env,
    )


def _index(
    pool: Pool, embedder: Embedder, folder: Path | None, device: Any, cache: VectorCache | None
) -> Index:
    if folder is None:
        return build_index(pool, embedder, device=device, cache=cache)
    return refresh_index(folder, pool, embedder, device=device, cache=cache)[0]


nearest = partial(open_selector, "nearest")
balanced = partial(open_selector, "balanced")
diverse = partial(open_selector, "diverse")
random_examples = partial(open_selector, "random")
fixed = partial(open_selector, "fixed")


@dataclass(frozen=True, slots=True)
class NearestExamples:
    """The k nearest by all texts together; the guard keeps out the item and its likes."""

    pool: Mapping[str, Example]
    fields: tuple[str, ...]
    selector: Selector

    def select(self, item: Item, k: int) -> list[Mapping[str, Any]]:
        """At most k examples, as shots, the nearest first."""
        # Joined as `Example.whole` joins them: the guard knows the item by the same text.
        before = (str(item.extra.get(field, "")) for field in self.fields[:-1])
        whole = "\n".join((*before, item.text))
        rows = self.selector.select(Item(item.id, whole, item.extra), k)
        return [self.pool[str(row["id"])].shot for row in rows]


def nearest_examples(
    pool: Sequence[Example], embedder: Embedder | str, test: Sequence[Example] = ()
) -> NearestExamples:
    """A selector of the nearest examples of a pool, guarded against a test set.

    Parameters
    ----------
    pool : sequence of Example
        At least one; all have the same fields.
    embedder : Embedder or str
        An embedder or the name of one (see `open_embedder`).
    test : sequence of Example
        No example that has the text of one of these is ever shown.
    """
    model = open_embedder(embedder) if isinstance(embedder, str) else embedder
    rows = [(example.id, example.whole) for example in pool]
    table = pl.DataFrame(rows, schema={"id": pl.String, "text": pl.String}, orient="row")
    index = build_index(make_pool(table), model)
    guard = guard_against(Item(example.id, example.whole) for example in test)
    by_id = {example.id: example for example in pool}
    chosen_by = SELECTORS["nearest"](index, model, guard)
    return NearestExamples(by_id, tuple(pool[0].texts), chosen_by)


def as_langchain(
    selector: ExampleSelector, k: int = 2, *, text_key: str = "text", id_key: str = "id"
) -> Any:
    """A selector as a LangChain `BaseExampleSelector`.

    `select_examples` takes the variables of a prompt, of which `text_key` is the item's text and
    `id_key`, where there is one, its id. `add_example` is refused: the pool is checked and hashed
    when it is built.

    Raises
    ------
    MissingExtraError
        langchain-core is not installed.
    """
    base = require("langchain_core.example_selectors", "as_langchain", "langchain")

    class VoirdireExampleSelector(base.BaseExampleSelector):  # type: ignore[misc,name-defined]
        def add_example(self, example: dict[str, str]) -> Any:
            raise InputError(
                f"the pool is frozen, so {sorted(example)} cannot be added: build the index again"
            )

        def select_examples(self, input_variables: dict[str, str]) -> list[dict[str, Any]]:
            item = _item(input_variables, text_key, id_key)
            return [dict(example) for example in selector.select(item, k)]

    return VoirdireExampleSelector()


def _item(variables: Mapping[str, str], text_key: str, id_key: str) -> Item:
    if text_key not in variables:
        raise InputError(
            f"the variables have no {text_key!r} (they are {sorted(variables)}): name the item's "
            f"text by text_key"
        )
    extra = {key: value for key, value in variables.items() if key not in {text_key, id_key}}
    return Item(str(variables.get(id_key, "")), variables[text_key], extra)
