"""Embedders behind an OpenAI-compatible endpoint: POST {base_url}/embeddings."""

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
from voirdire_retrieval._vectors import unit_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

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
                wait = error.retry_after or self.pause * 2 ** (attempt - 1)
                time.sleep(min(wait, _LONGEST_WAIT))
        raise InputError(f"attempts must be 1 or more, got {self.attempts}")

    def _post(self, batch: Sequence[str]) -> bytes:
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
            said = error.read(500).decode("utf-8", "replace")
        kind = _KINDS.get(error.code, "server" if error.code >= 500 else "bad_request")
        return ModelError(
            self._scrub(f"embedder {self.name!r}: the server answered {error.code}: {said}"),
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
