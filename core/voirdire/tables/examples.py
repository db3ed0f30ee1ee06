"""Examples: texts with the labels of experts, from published files, and pools that hold no test."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError, TableError, duplicate, not_one_of
from voirdire.schema import Item

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Example:
    """An item in several texts, and its labels.

    Attributes
    ----------
    texts : mapping of str to str
        Field -> text; the last is what is asked about, the others stand before it.
    """

    id: str
    texts: Mapping[str, str]
    labels: tuple[str, ...]

    @property
    def text(self) -> str:
        """What is asked about."""
        return list(self.texts.values())[-1]

    @property
    def whole(self) -> str:
        """All texts in order, one below the other."""
        return "\n".join(self.texts.values())

    @property
    def text_key(self) -> str:
        """The texts up to case and white space: what tells examples apart."""
        return " ".join(self.whole.casefold().split())

    @property
    def item(self) -> Item:
        """The example as an item that annotators are asked about."""
        return Item(self.id, self.text, dict(list(self.texts.items())[:-1]))

    @property
    def shot(self) -> dict[str, Any]:
        """The example in the fields of a prompt, with its answer."""
        return {"id": self.id, **self.item.extra, "text": self.text, "answer": self.labels}


def read_examples(
    path: Path,
    texts: Sequence[str],
    field: str,
    labels: Sequence[str],
    *,
    name: str = "the label set",
    plain: Callable[[str], str] = str,
) -> tuple[Example, ...]:
    """The examples of a JSON file: a list of objects with an id, texts, and a list of labels.

    Parameters
    ----------
    path : Path
    texts : sequence of str
        The keys of the texts; the last is what is asked about.
    field : str
        The key of the labels.
    labels : sequence of str
        The labels allowed, in the spelling that is kept.
    name : str
        What the label set is called in errors.
    plain : callable
        From a label to the form in which it is compared.

    Raises
    ------
    TableError
        The file is absent or no list of records; a record lacks a field, repeats an id or a label,
        or holds a label outside the set. The message names the record.
    """
    spelling = {plain(label): label for label in labels}
    examples: dict[str, Example] = {}
    for number, record in enumerate(_records(path), start=1):
        where = f"{path.name}, record {number}"
        if not isinstance(record, dict):
            raise TableError(f"{where}: an object is needed, got {record!r:.60}")
        ident, *contents = (_text(record, key, where) for key in ("id", *texts))
        given = [
            _label(one, spelling, plain, name, f"{where} (id {ident!r})")
            for one in _listed(record, field, where)
        ]
        for label in given:
            if given.count(label) > 1:
                raise duplicate("label", label, f"{where} (id {ident!r})", error=TableError)
        if ident in examples:
            raise duplicate("id", ident, where, error=TableError)
        examples[ident] = Example(ident, dict(zip(texts, contents, strict=True)), tuple(given))
    return tuple(examples.values())


def overlap(pool: Sequence[Example], test: Sequence[Example]) -> tuple[str, ...]:
    """Ids of the pool's examples that stand in the test set, by id or by text."""
    ids, texts = {example.id for example in test}, {example.text_key for example in test}
    return tuple(e.id for e in pool if e.id in ids or e.text_key in texts)


def check_pool(
    pool: Sequence[Example], test: Sequence[Example], name: str, k: int | None = None
) -> None:
    """Refuse a pool that holds an item of the test set, or fewer than `k` examples.

    Raises
    ------
    InputError
        An example has the id or the text of a test item: its answer would be shown in a prompt. Or
        `k`, where given, is not from 1 to the size of the pool.
    """
    shared = overlap(pool, test)
    if shared:
        more = f" and {len(shared) - _SHOWN} more" if len(shared) > _SHOWN else ""
        raise InputError(
            f"{name}: {len(shared)} of {len(pool)} examples stand in its test set by id or text "
            f"(ids {', '.join(shared[:_SHOWN])}{more}); seeds serve only their own task"
        )
    if k is not None and not 0 < k <= len(pool):
        raise InputError(f"{name}: option 'k' is {k}, and there are {len(pool)} seed examples")


def _records(path: Path) -> list[Any]:
    try:
        records = json.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        raise TableError(f"{path}: there is no such file") from None
    except (OSError, ValueError, RecursionError) as error:
        raise TableError(f"{path}: cannot be read as JSON ({error})") from None
    if not isinstance(records, list) or not records:
        raise TableError(f"{path}: a list of examples is needed")
    return records


def _text(record: Mapping[str, Any], name: str, where: str) -> str:
    value = record.get(name)
    if not isinstance(value, str) or not value.strip():
        raise TableError(f"{where}: key {name!r} must be a text, got {value!r}")
    return value


def _listed(record: Mapping[str, Any], field: str, where: str) -> list[str]:
    labels = record.get(field)
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise TableError(f"{where}: key {field!r} must be a list of labels, got {labels!r}")
    return labels


def _label(
    given: str, spelling: Mapping[str, str], plain: Callable[[str], str], name: str, where: str
) -> str:
    if plain(given) not in spelling:
        raise not_one_of(f"label of {name}", given, spelling.values(), where, TableError)
    return spelling[plain(given)]
