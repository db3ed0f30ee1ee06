"""What `voirdire index` does; `commands.toml` says what each command may be asked."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.schema import Item
from voirdire.shown import terminal
from voirdire_retrieval._embed import VectorCache
from voirdire_retrieval._embedders import open_embedder
from voirdire_retrieval._guard import Guard, guard_against, leak_findings, pool_overlap
from voirdire_retrieval._index import read_card
from voirdire_retrieval._pool import read_items, read_pool
from voirdire_retrieval._selectors import SELECTORS
from voirdire_retrieval._storage import CARD, load_index, refresh_index

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from voirdire.protocols import Embedder
    from voirdire_retrieval._faiss import Device, Kind
    from voirdire_retrieval._guard import Selection
    from voirdire_retrieval._index import Index

_EXCERPT = 80


def build(
    pool: Path,
    out: Path,
    model: str,
    columns: Mapping[str, Any],
    kind: Kind,
    device: Device,
    cache: Path | None = None,
    opening: Mapping[str, Any] | None = None,
) -> str:
    """Build or reuse the index in a folder, and say which and why."""
    embedder = open_embedder(model, device=device, **(opening or {}))
    examples = read_pool(pool, **columns)
    kept = VectorCache(cache) if cache else None
    with _progress("embedding") as progress:
        index, why = refresh_index(
            out, examples, embedder, kind=kind, device=device, cache=kept, progress=progress
        )
    for note in index.notes or examples.notes():
        _say(note)
    done = f"built ({why})" if why else "up to date"
    card = index.card
    summary = f"{out}: {done}; {card.count} examples, {card.dimension} dimensions, {card.kind}"
    if card.recall:
        summary += f"\nrecall at {card.recall['k']} against exact: {card.recall['value']:.3f}"
    return summary


def query(  # noqa: PLR0913 - each is an option of the command
    folder: Path,
    *,
    text: str | None = None,
    items: Path | None = None,
    test: Path | None = None,
    k: int,
    rule: Mapping[str, Any],
    max_similarity: float,
    columns: Mapping[str, Any],
    text_column: str,
    model: str | None = None,
    as_lines: bool,
    no_text: bool,
    device: Device,
    cache: Path | None = None,
    opening: Mapping[str, Any] | None = None,
) -> str | None:
    """Examples for a text or for the items of a file: a line an item, or lines to read."""
    columns = {**columns, "text": text_column}
    asked = items_of(text, items, columns)
    options = selector_options(**rule)
    guard = guard_of(asked if items else [], test, columns, max_similarity)
    embedder = open_embedder(
        model or read_card(folder / CARD).model, device=device, **(opening or {})
    )
    index = load_index(folder, embedder, device)
    for note in index.notes:
        _say(note)
    chosen = answer(index, embedder, guard, asked, k, options, cache)
    lines = (json_lines if as_lines else readable_rows)(chosen, no_text=no_text)
    return "\n".join(lines) or None  # a file without items has nothing to say


def info(folder: Path, *, as_facts: bool) -> str:
    """The facts on an index's card, after checking its files against it."""
    facts = dataclasses.asdict(load_index(folder, device="cpu").card)
    if as_facts:
        return json.dumps(facts, indent=2)
    return "\n".join(f"{name:<12} {as_words(value)}" for name, value in facts.items())


def items_of(text: str | None, file: Path | None, columns: Mapping[str, Any]) -> list[Item]:
    """The items to find examples for: one text, or a file."""
    if (text is None) == (file is None):
        raise InputError("give either --text or --items")
    return [Item("", text or "")] if file is None else read_items(file, **columns)


def guard_of(
    items: Sequence[Item], test: Path | None, columns: Mapping[str, Any], limit: float
) -> Guard:
    """A guard that knows the test split: the file given, else the items themselves."""
    split = [*items, *(read_items(test, **columns) if test else ())]
    return guard_against(split, max_similarity=limit)


def answer(
    index: Index,
    embedder: Embedder,
    guard: Guard,
    items: Sequence[Item],
    k: int,
    options: Mapping[str, Any],
    cache: Path | None,
) -> list[Selection]:
    """Select for every item, and count on stderr what was left out."""
    named = dict(options)
    kept = VectorCache(cache) if cache else None
    with _progress("embedding") as progress:
        selector = SELECTORS[named.pop("select")](
            index, embedder, guard, cache=kept, progress=progress, **named
        )
        selections = selector.select_many(items, k)
    for finding in [*pool_overlap(index, items), *leak_findings(selections)]:
        _say(f"{finding.message} {finding.consequence}")
    return selections


def selector_options(
    select: str, weight: float, seed: int, balance: str | None = None
) -> dict[str, Any]:
    """The options that a selector takes, of those on the command line."""
    # An option that would be without effect is a mistake that nobody would see.
    if (select == "balanced") != (balance is not None):
        raise InputError("--select balanced and --balance LABEL go together")
    own: dict[str, dict[str, Any]] = {
        "nearest": {},
        "balanced": {"label": balance},
        "diverse": {"weight": weight},
        "random": {"seed": seed},
    }
    return {"select": select, **own[select]}


def json_lines(selections: Sequence[Selection], *, no_text: bool) -> Iterator[str]:
    """One JSON object an item; an unknown similarity is null."""
    for selection in selections:
        one = dataclasses.asdict(selection)
        one["examples"] = [_plain(example, no_text=no_text) for example in one["examples"]]
        one["excluded"] = [_plain(kept_out, no_text=no_text) for kept_out in one["excluded"]]
        yield json.dumps(one, ensure_ascii=False, default=str)


def readable_rows(selections: Sequence[Selection], *, no_text: bool) -> Iterator[str]:
    """Lines to read: item, similarity, example, labels, excerpt."""
    for selection in selections:
        yield f"{selection.item or 'text'}{''.join(f'  ({note})' for note in selection.notes)}"
        for example in selection.examples:
            shown = {**example}
            text = " ".join(shown.pop("text").split())
            excerpt = text if len(text) <= _EXCERPT else text[: _EXCERPT - 1] + "…"
            near, name = shown.pop("similarity"), shown.pop("id")
            labels = " ".join(f"{label}={value}" for label, value in shown.items())
            cells = [f"  {near:.3f}", name, labels, "" if no_text else excerpt]
            yield "  ".join(cell for cell in cells if cell)


def as_words(value: Any) -> str:
    """A fact of a card in plain words: ``a 1, b 2`` for a mapping, ``-`` for nothing."""
    if isinstance(value, dict):
        value = [f"{name} {'unknown' if one is None else one}" for name, one in value.items()]
    if isinstance(value, list | tuple):
        value = ", ".join(map(str, value))
    return "-" if value is None or value == "" else str(value)


def _plain(row: Mapping[str, Any], *, no_text: bool) -> dict[str, Any]:
    near = row["similarity"]
    kept = {name: value for name, value in row.items() if not (no_text and name == "text")}
    return {**kept, "similarity": None if math.isnan(near) else round(near, 6)}


def _say(text: str) -> None:
    sys.stderr.write(f"voirdire: {text}\n")


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr, where someone watches."""
    from rich.progress import Progress  # noqa: PLC0415 - only here

    console = terminal(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None, visible=False)
        yield lambda done, total: bar.update(task, completed=done, total=total, visible=True)
