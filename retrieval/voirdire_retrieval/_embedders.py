"""From a name to an embedder: sentence-transformers, LangChain's, or one behind an endpoint."""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from functools import cached_property
from http.client import HTTPException
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import FaultKind, InputError, ModelError
from voirdire.lazy import attribute_at
from voirdire_retrieval._embed import unit_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

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
        return open_langchain(spec, **sized)
    kind, _, rest = spec.partition(":")
    if kind == "langchain":
        return open_langchain(rest, name=spec, **sized)
    if kind == "compatible":
        # An index names its model and no address: the same index is queried on other
        # machines.
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


#: Seconds that a server may make us wait between two tries, whatever it asks for.
_LONGEST_WAIT = 60.0
_KINDS: dict[int, FaultKind] = {401: "auth", 403: "auth", 402: "quota", 429: "rate_limit"}


@dataclass(frozen=True)
class CompatibleEmbedder:
    """A served embedding model (vLLM, Ollama, llama.cpp, a provider) as an `Embedder`.

    Attributes
    ----------
    model : str
        As the server calls it.
    base_url : str
        Up to and without `/embeddings`, for example ``http://localhost:8000/v1``.
    api_key_env : str
        Environment variable that holds the key; without it none is sent.
    batch_size : int
        Texts a request.
    attempts : int
        Tries a request, with a growing pause or the pause that the server asks for.
    """

    model: str
    base_url: str
    api_key_env: str = ""
    batch_size: int = 64
    timeout: float = 120.0
    attempts: int = 5
    pause: float = 1.0
    _key: str = field(init=False, repr=False, compare=False, default="")

    def __post_init__(self) -> None:
        if not self.base_url.startswith(("http://", "https://")):
            raise InputError(f"base_url must begin with http:// or https://, got {self.base_url!r}")
        key = os.environ.get(self.api_key_env, "") if self.api_key_env else ""
        if self.api_key_env and not key:
            raise InputError(f"the environment variable {self.api_key_env} (api_key_env) is empty")
        object.__setattr__(self, "_key", key)

    @property
    def name(self) -> str:
        """What `open_embedder` opens it by."""
        return f"compatible:{self.model}"

    @property
    def revision(self) -> str:
        """The server and the model; a server does not say more."""
        return f"{self.base_url.rstrip('/')}#{self.model}"

    @cached_property
    def dimension(self) -> int:
        """Length of a vector, learnt by embedding one word."""
        return int(self.embed(["word"]).shape[1])

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One L2-normalised row a text."""
        batches = [
            texts[start : start + self.batch_size]
            for start in range(0, len(texts), self.batch_size)
        ]
        parts = [unit_rows(self._ask(batch), len(batch), self.name) for batch in batches]
        return np.concatenate(parts) if parts else np.empty((0, self.dimension), np.float32)

    def _ask(self, batch: Sequence[str]) -> list[Any]:
        for attempt in range(1, self.attempts + 1):
            try:
                return _vectors(self._post(batch), len(batch), self.name)
            except ModelError as error:
                if not error.retryable or attempt == self.attempts:
                    raise
                # Embedding has no runner above it, as judges have: here the pauses
                # are its own.
                wait = error.retry_after or self.pause * 2 ** (attempt - 1)
                time.sleep(min(wait, _LONGEST_WAIT))
        raise InputError(f"attempts must be 1 or more, got {self.attempts}")

    def _post(self, batch: Sequence[str]) -> bytes:
        # Some servers send base64 where nothing is said (OpenAI's API reference, Create
        # embeddings).
        body = {"model": self.model, "input": list(batch), "encoding_format": "float"}
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(  # noqa: S310 - the scheme was checked
            f"{self.base_url.rstrip('/')}/embeddings", json.dumps(body).encode(), headers
        )
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as answer:  # noqa: S310
                return bytes(answer.read())
        except urllib.error.HTTPError as error:
            raise self._refused(error) from None
        except (OSError, HTTPException) as error:
            kind: FaultKind = "timeout" if isinstance(error, TimeoutError) else "connection"
            raise ModelError(self._scrub(f"embedder {self.name!r}: {error}"), kind) from None

    def _refused(self, error: urllib.error.HTTPError) -> ModelError:
        with error:
            body = error.read(500).decode("utf-8", "replace")
        kind = _KINDS.get(error.code, "server" if error.code >= 500 else "bad_request")
        return ModelError(
            self._scrub(f"embedder {self.name!r}: the server answered {error.code}: {body}"),
            kind,
            retry_after=_seconds(error.headers.get("Retry-After")),
            status_code=error.code,
        )

    def _scrub(self, text: str) -> str:
        """Without the key: servers repeat it in their complaints."""
        return text.replace(self._key, "***") if self._key else text


def _vectors(body: bytes, count: int, model: str) -> list[Any]:
    """The vectors in the order of the texts; a server may send them in another."""
    try:
        data = json.loads(body)["data"]
        by_index = {int(one["index"]): one["embedding"] for one in data}
        return [by_index[place] for place in range(count)]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ModelError(
            f"embedder {model!r}: the answer has no {count} embeddings under 'data'", "malformed"
        ) from error


def _seconds(header: str | None) -> float | None:
    try:
        return max(0.0, float(header)) if header else None
    except ValueError:
        return None  # a date instead of seconds: the growing pause serves


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
    model = attribute_at(target, "a LangChain embedder: ") if isinstance(target, str) else target
    # A class or a factory is called once; an object is taken as it is.
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
