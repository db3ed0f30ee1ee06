"""From a name to an embedder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError

if TYPE_CHECKING:
    from voirdire.protocols import Embedder
    from voirdire_retrieval._sentence_transformers import Device, Dtype

KINDS = ("sentence-transformers", "langchain", "compatible")


def open_embedder(
    spec: Any,
    *,
    device: Device = "auto",
    batch_size: int | None = None,
    dtype: Dtype = "float32",
    base_url: str = "",
    api_key_env: str = "",
) -> Embedder:
    """The embedder that a name stands for.

    ====================================  ====================================================
    ``all-mpnet-base-v2``, or a folder    sentence-transformers, also with that prefix
    ``langchain:module:attribute``        a LangChain Embeddings object, class or factory
    ``compatible:model``                  an OpenAI-compatible endpoint at `base_url`, or at
                                          the environment's VOIRDIRE_EMBEDDINGS_URL
    a LangChain Embeddings object         itself
    ====================================  ====================================================

    `device` and `dtype` concern sentence-transformers alone: half-precision numbers are faster on a
    GPU and shift vectors by about 1e-3, so they count as another model. A key is read from the
    environment variable that `api_key_env` names, and from nowhere else.

    Raises
    ------
    InputError
        The name cannot be read, or its options do not fit.
    MissingExtraError
        The package behind it is not installed.
    """
    sized: dict[str, Any] = {} if batch_size is None else {"batch_size": _positive(batch_size)}
    if not isinstance(spec, str):
        from voirdire_retrieval._langchain import open_langchain  # noqa: PLC0415 - optional

        return open_langchain(spec, **sized)
    kind, _, rest = spec.partition(":")
    if kind == "langchain":
        from voirdire_retrieval._langchain import open_langchain  # noqa: PLC0415 - optional

        return open_langchain(rest, name=spec, **sized)
    if kind == "compatible":
        from voirdire_retrieval._compatible import CompatibleEmbedder  # noqa: PLC0415 - sockets

        url = base_url or os.environ.get("VOIRDIRE_EMBEDDINGS_URL", "")
        return CompatibleEmbedder(_named(rest, spec), url, api_key_env, **sized)
    return _sentence_transformers(spec, device, dtype, sized)


def _sentence_transformers(
    spec: str, device: Device, dtype: Dtype, sized: dict[str, Any]
) -> Embedder:
    from voirdire_retrieval._sentence_transformers import (  # noqa: PLC0415 - optional
        open_sentence_transformers,
    )

    model = spec.removeprefix("sentence-transformers:")
    return open_sentence_transformers(_named(model, spec), device=device, dtype=dtype, **sized)


def _named(model: str, spec: str) -> str:
    if not model.strip():
        raise InputError(
            f"an embedder is named by a model, or by one of {', '.join(KINDS)} with a colon and a "
            f"name, got {spec!r}"
        )
    return model


def _positive(batch_size: int) -> int:
    if batch_size < 1:
        raise InputError(f"batch_size must be 1 or more, got {batch_size}")
    return batch_size
