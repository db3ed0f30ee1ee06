"""`hf:`: a local transformers model that generates, or scores options by log-probability."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from voirdire._errors import ModelError
from voirdire.protocols import costs_nothing
from voirdire.schema import Reply, Usage
from voirdire_judges.models._checks import sendable
from voirdire_judges.models._hf_local import Local, load
from voirdire_judges.models._imports import require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.schema import FinishReason, Request

#: Tokens generated where the request sets no limit.
DEFAULT_MAX_TOKENS = 256


class HfModel:
    """A model in this process. One call at a time, in a worker thread; loaded on the first.

    A request that names options is answered by scoring them: `option_logprobs` holds the
    log-probability of each option as the whole answer's beginning, the text is the likeliest one.
    Any other request generates; the same request and seed give the same text.
    """

    concurrency = 1

    def __init__(self, name: str, path: str, loading: Mapping[str, Any]) -> None:
        self.name, self.path, self.loading = name, path, dict(loading)
        self._lock = threading.Lock()
        self._local: Local | None = None

    def __repr__(self) -> str:
        return f"<model {self.name}>"

    async def complete(self, request: Request) -> Reply:
        """One reply to one request."""
        request = sendable(self.name, request)
        return await asyncio.to_thread(self._answer, request)

    def _answer(self, request: Request) -> Reply:
        with self._lock:
            local = self._loaded()
            started = time.perf_counter()
            try:
                reply = _scored(local, request) if request.options else _generated(local, request)
            except ModelError:
                raise
            except (RuntimeError, ValueError, IndexError) as error:
                raise ModelError(
                    f"{self.name}: {type(error).__name__}: {error}", "model"
                ) from error
        return replace(reply, model=self.name, latency=time.perf_counter() - started)

    def _loaded(self) -> Local:
        if self._local is None:
            try:
                self._local = load(self.path, **self.loading)
            except (OSError, ValueError, KeyError) as error:
                raise ModelError(f"{self.name} cannot be loaded: {error}", "model") from error
        return self._local


def _scored(local: Local, request: Request) -> Reply:
    prompt = local.prompt(request)
    logprobs = local.option_logprobs(prompt, request.options)
    best = max(logprobs, key=lambda option: logprobs[option])
    return Reply(
        best,
        usage=Usage(input=len(prompt), output=0),
        params={"options": list(request.options)},
        option_logprobs=logprobs,
    )


def _generated(local: Local, request: Request) -> Reply:
    prompt = local.prompt(request)
    limit = request.max_tokens or DEFAULT_MAX_TOKENS
    text, count, ended = local.generate(prompt, request, limit)
    finish: FinishReason = "length" if not ended else "stop" if text.strip() else "empty"
    sent = {"temperature": request.temperature or 0.0, "top_p": request.top_p, "max_tokens": limit}
    return Reply(
        text,
        finish,
        usage=Usage(input=len(prompt), output=count),
        params={name: value for name, value in sent.items() if value is not None},
    )


@costs_nothing
def make(
    model_name: str,
    *,
    path: str = "",
    gguf: str = "",
    device: str = "cpu",
    dtype: str = "auto",
    threads: int | None = None,
    local_files_only: bool = False,
) -> HfModel:
    """A local transformers model (`hf:Qwen/Qwen2.5-0.5B-Instruct`).

    Parameters
    ----------
    model_name : str
        A name on the hub that is in the local cache or may be fetched, a folder, or a GGUF file.
    path : str
        Where the model lies, if not under its name; then the name is only a label.
    gguf : str
        A GGUF file inside the folder; found by itself where the folder holds just one model file.
    device, dtype : str
        Where and in which precision it runs (`"cuda"`, `"bfloat16"`).
    threads : int, optional
        Torch's number of CPU threads, for the whole process; left as it is by default. On two
        cores one thread is the fastest.
    local_files_only : bool
        Never ask the hub.

    Raises
    ------
    MissingExtraError
        The extra `hf` is not installed.
    """
    name = f"hf:{model_name}"
    require("transformers", name, "hf")
    require("torch", name, "hf")
    loading = {
        "gguf": gguf,
        "device": device,
        "dtype": dtype,
        "threads": threads,
        "local_files_only": local_files_only,
    }
    return HfModel(name, path or model_name, loading)
