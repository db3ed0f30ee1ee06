"""LangChain in both directions: its Embeddings serve here, our selectors serve there."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError, MissingExtraError, ModelError
from voirdire.schema import Item
from voirdire_retrieval._vectors import unit_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.protocols import ExampleSelector


@dataclass(frozen=True)
class LangChainEmbedder:
    """Any LangChain `Embeddings` as an `Embedder`.

    Both pool and queries go through `embed_documents`: nearness of two posts is symmetric, and a
    query prompt would break that.
    """

    embeddings: Any
    name: str
    batch_size: int = 64
    revision: str = ""

    @cached_property
    def dimension(self) -> int:
        """Length of a vector, learnt by embedding one word."""
        return int(self.embed(["word"]).shape[1])

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One L2-normalised row a text."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        try:
            vectors = self.embeddings.embed_documents(list(texts))
        except Exception as error:
            raise ModelError(f"embedder {self.name!r} failed: {type(error).__name__}") from error
        return unit_rows(vectors, len(texts), self.name)


def open_langchain(target: Any, *, name: str = "", batch_size: int = 64) -> LangChainEmbedder:
    """Wrap an Embeddings object, or the object or factory at ``"module:attribute"``."""
    model = _imported(target) if isinstance(target, str) else target
    if isinstance(model, type) or not hasattr(model, "embed_documents"):
        model = model() if callable(model) else model
    if not callable(getattr(model, "embed_documents", None)):
        raise InputError(f"{target!r} is no LangChain Embeddings: it has no method embed_documents")
    own = getattr(model, "model", None) or getattr(model, "model_name", None)
    label = f"{type(model).__name__}({own})" if isinstance(own, str) else type(model).__name__
    called = name or f"langchain:{label}"
    # A module may come to hold another model under the same name; then vectors are others too.
    revision = f"{called}#{own}" if isinstance(own, str) else ""
    return LangChainEmbedder(model, called, batch_size, revision)


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
    try:
        from langchain_core.example_selectors import BaseExampleSelector  # noqa: PLC0415 - optional
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "as_langchain", "langchain", error.name or "langchain_core"
        ) from error

    class VoirdireExampleSelector(BaseExampleSelector):  # type: ignore[misc]
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


def _imported(target: str) -> Any:
    module, colon, attribute = target.partition(":")
    if not (module and colon and attribute):
        raise InputError(f'a LangChain embedder is named "module:attribute", got {target!r}')
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(f"{target!r} cannot be imported: {error}") from error
