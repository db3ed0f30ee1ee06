"""Texts to padded batches of token ids, in an order that follows from seed and epoch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

#: Batches within which texts of like length are put together.
_WINDOW = 32
#: Texts that are tokenised at a time.
_CHUNK = 2_000
#: Texts that are read at a time, however short they are.
_READ_MOST = 256


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token ids a text, cut to the encoder's limit; `cut` counts the texts that lost their end."""

    columns: dict[str, list[list[int]]]
    cut: int

    def __len__(self) -> int:
        return len(self.columns["input_ids"])

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each text."""
        return np.array([len(ids) for ids in self.columns["input_ids"]], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Part:
    """Tokens and labels of one split."""

    tokens: Tokens
    labels: NDArray[np.int8]


def tokenise(tokenizer: Any, texts: Sequence[str], limit: int) -> Tokens:
    """Token ids and segment ids of all texts."""
    columns: dict[str, list[list[int]]] = {}
    cut = 0
    for start in range(0, len(texts), _CHUNK):
        part = list(texts[start : start + _CHUNK])
        encoded = _encoded(tokenizer, part, limit + 1)
        long = [place for place, ids in enumerate(encoded["input_ids"]) if len(ids) > limit]
        if long:
            cut += len(long)
            again = _encoded(tokenizer, [part[place] for place in long], limit)
            for name, rows in again.items():
                for place, row in zip(long, rows, strict=True):
                    encoded[name][place] = row
        for name, rows in encoded.items():
            columns.setdefault(name, []).extend(rows)
    return Tokens(columns or {"input_ids": []}, cut)


def _encoded(tokenizer: Any, texts: list[str], limit: int) -> dict[str, list[list[int]]]:
    encoded = tokenizer(texts, truncation=True, max_length=limit, return_attention_mask=False)
    return {name: [list(row) for row in rows] for name, rows in encoded.items()}


def padded(
    tokens: Tokens, places: NDArray[np.int64], tokenizer: Any, limit: int, multiple: int = 1
) -> dict[str, NDArray[np.int64]]:
    """One batch as arrays, padded on the tokenizer's side, with its attention mask.

    Widths are multiples of `multiple`, but never beyond the `limit` that the encoder has room for.
    """
    sizes = np.array([len(tokens.columns["input_ids"][place]) for place in places])
    width = min(-(-int(sizes.max()) // multiple) * multiple, limit)
    left = tokenizer.padding_side == "left"
    fill = {"input_ids": tokenizer.pad_token_id, "token_type_ids": tokenizer.pad_token_type_id}
    batch = {}
    for name, rows in tokens.columns.items():
        block = np.full((len(places), width), fill.get(name, 0), dtype=np.int64)
        for row, place in enumerate(places):
            begin = width - len(rows[place]) if left else 0
            block[row, begin : begin + len(rows[place])] = rows[place]
        batch[name] = block
    steps = np.arange(width)
    inside = steps >= width - sizes[:, None] if left else steps < sizes[:, None]
    batch["attention_mask"] = inside.astype(np.int64)
    return batch


def training_order(
    lengths: NDArray[np.int64], batch_size: int, seed: int, epoch: int
) -> list[NDArray[np.int64]]:
    """Places of each batch: shuffled, texts of like length together, batches shuffled again.

    >>> [batch.tolist() for batch in training_order(np.array([3, 9, 4, 8]), 2, seed=0, epoch=1)]
    [[3, 1], [0, 2]]
    """
    rng = np.random.default_rng((seed, epoch))
    order = rng.permutation(len(lengths))
    window = batch_size * _WINDOW
    parts = [order[start : start + window] for start in range(0, len(order), window)]
    whole = np.concatenate([part[np.argsort(lengths[part], kind="stable")] for part in parts])
    batches = [whole[start : start + batch_size] for start in range(0, len(whole), batch_size)]
    return [batches[place] for place in rng.permutation(len(batches))]


def reading_order(lengths: NDArray[np.int64], most: int) -> Iterator[NDArray[np.int64]]:
    """Places of each batch for prediction, longest texts first, each of at most so many tokens.

    >>> [batch.tolist() for batch in reading_order(np.array([3, 9, 4, 5]), 10)]
    [[1], [3, 2], [0]]
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        count = max(1, min(most // max(int(lengths[order[start]]), 1), _READ_MOST))
        yield order[start : start + count]
        start += count
