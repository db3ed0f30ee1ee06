"""The card of a saved index: what it was made with and of, so that a wrong one is refused."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.files import write_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import polars as pl

    from voirdire_retrieval._faiss import Kind

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Card:
    """What an index is.

    Attributes
    ----------
    model, revision : str
        Of the embedder; where both sides have a revision it decides, else the name.
    dimension, count : int
    normalised : bool
        Always true: scores are cosines.
    data : str
        Hash of ids, texts, groups and labels in their order.
    kind : str
        exact, ivf or hnsw, with its `parameters` and its `recall` against exact.
    labels : tuple of str
    left_out : mapping
        What did not get in: rows read, empty, duplicates, conflicts, truncated.
    files : mapping
        File name -> SHA-256; empty until saved.
    """

    model: str
    revision: str
    dimension: int
    count: int
    data: str
    kind: Kind
    parameters: Mapping[str, int] = field(default_factory=dict)
    recall: Mapping[str, float] | None = None
    labels: tuple[str, ...] = ()
    left_out: Mapping[str, int | None] = field(default_factory=dict)
    normalised: bool = True
    files: Mapping[str, str] = field(default_factory=dict)
    format: int = FORMAT

    def differs(self, model: str, revision: str, data: str | None = None) -> str:
        """What does not match, in a sentence; empty where all does."""
        both = bool(self.revision and revision)
        if (self.revision != revision) if both else (self.model != model):
            asked = f"{model} [{revision}]" if revision else model
            mine = f"{self.model} [{self.revision}]" if self.revision else self.model
            return f"it was built with the model {mine}, and {asked} is asked for"
        if data is not None and data != self.data:
            return "ids, texts, labels or their order have changed since it was built"
        return ""


def data_hash(frame: pl.DataFrame) -> str:
    """Hash of a pool's columns in their order, and of its rows in theirs."""
    digest = sha256()
    for name in frame.columns:
        values = json.dumps([name, frame[name].to_list()], default=str)
        digest.update(f"{len(values)}:{values}".encode())
    return digest.hexdigest()


def write_card(card: Card, path: Path) -> None:
    """Write a card as JSON."""
    write_json(path, dataclasses.asdict(card))


def read_card(path: Path) -> Card:
    """Read a card.

    Raises
    ------
    InputError
        There is none, it is no card, or it is of another format.
    """
    try:
        card: Any = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{path.parent} holds no index: there is no {path.name} in it") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path.parent} holds no readable index: {error}") from error
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        stated = card.get("format") if isinstance(card, dict) else None
        raise InputError(f"{path}: format {stated!r} is not {FORMAT}, so build the index again")
    try:
        return Card(**{**card, "labels": tuple(card.get("labels", ()))})
    except TypeError as error:
        raise InputError(f"{path} is no card of an index: {error}") from error
