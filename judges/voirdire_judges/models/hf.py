"""`hf:`: a local transformers model that generates, or scores options by log-probability."""

from __future__ import annotations

import asyncio
import hashlib
import json
import queue
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError, ModelError
from voirdire.lazy import require
from voirdire.protocols import costs_nothing
from voirdire.schema import Reply, Usage
from voirdire_judges.models._local import (
    CancelledCallError,
    Local,
    PromptBatch,
    Row,
    by_schema,
    can_be_forced,
    load,
    located,
)
from voirdire_judges.models._requests import asked_in_words, sendable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from concurrent.futures import Future

    from voirdire.schema import FinishReason, Request

#: Tokens generated where the request sets no limit.
DEFAULT_MAX_TOKENS = 256
#: Seconds for which a batch that is not full waits for the next request.
GATHER = 0.03
#: Seconds in which a batch under way ends when the model is closed.
ENDING = 10.0

Waiting = tuple["Request", "Future[Reply]"]


class HfModel:
    """A model in this process, which answers several requests at once; loaded on the first.

    A request that names options is answered by scoring them: `option_logprobs` holds the
    log-probability of each option as the whole answer's beginning, the text is the likeliest one. A
    request with a schema is answered by an object of it, whose values are chosen among those that
    it allows. Any other request generates; the same request and seed give the same text. Tools are
    described and called in plain text.
    """

    def __init__(
        self,
        name: str,
        path: str,
        loading: Mapping[str, Any],
        *,
        batch: int = 8,
        structured: bool = True,
        prefix: str = "",
    ) -> None:
        self.name, self.path, self.loading = name, path, dict(loading)
        self.batch, self.structured, self.prefix = batch, structured, prefix
        self._local: Local | None = None
        self._waiting: queue.SimpleQueue[Waiting | Future[None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._closing = False
        self._loading = False
        self._now: list[Row] = []

    def __repr__(self) -> str:
        return f"<model {self.name}>"

    @property
    def concurrency(self) -> int:
        """Requests that go through the model together."""
        return self.batch

    @property
    def progress(self) -> str:
        """That it is loaded, or how many tokens of the replies under way are written."""
        if self._loading:
            return "loading"
        rows = self._now
        written = sum(len(row.ids) for row in rows)
        if not rows:
            return ""
        if not written:
            return f"reading {len(rows)} prompts"
        return f"{written:,} tokens in a batch of {len(rows)}"

    async def prepare(self) -> None:
        """Load it: a call's time begins afterwards."""
        if self._local is None:
            from concurrent.futures import Future  # noqa: PLC0415

            loaded: Future[None] = Future()
            self._put(loaded)
            await asyncio.wrap_future(loaded)

    async def complete(self, request: Request) -> Reply:
        """One reply to one request."""
        request = sendable(self.name, request)
        if request.tools:
            return await asked_in_words(request, self._queued)
        return await self._queued(request)

    async def aclose(self) -> None:
        """End what is under way, between two tokens."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._closing = True
            self._waiting.put(None)
            # Loading cannot be ended; its thread keeps nobody alive.
            if not self._loading:
                await asyncio.to_thread(thread.join, ENDING)

    async def _queued(self, request: Request) -> Reply:
        from concurrent.futures import Future  # noqa: PLC0415

        outcome: Future[Reply] = Future()
        self._put((request, outcome))
        # A call that is cancelled cancels the future, which the row looks at before each token.
        return await asyncio.wrap_future(outcome)

    def _put(self, waiting: Any) -> None:
        if self._thread is None:
            self._closing = False
            # A daemon: a model that does not return must not keep the process alive.
            self._thread = threading.Thread(target=self._work, name=f"{self.name}", daemon=True)
            self._thread.start()
        self._waiting.put(waiting)

    def _work(self) -> None:
        """Answer batches of like requests, in the order in which these came."""
        held: list[Waiting] = []
        while not self._closing:
            if not self._gather(held):
                return
            held = [one for one in held if not one[1].cancelled()]
            if not held:
                continue
            key = self._kind(held[0][0])
            now = [one for one in held if self._kind(one[0]) == key][: self.batch]
            held = [one for one in held if not any(one is other for other in now)]
            self._answer(now)

    def _gather(self, held: list[Waiting]) -> bool:
        """Take what waits, for a moment longer where that fills the batch; False: close."""
        try:
            while True:
                full = len(held) >= self.batch
                one = (
                    self._waiting.get_nowait()
                    if full
                    else self._waiting.get(timeout=GATHER if held else None)
                )
                if one is None:
                    return False
                if isinstance(one, tuple):
                    held.append(one)
                else:
                    self._load_for(one)
        except queue.Empty:
            return True

    def _load_for(self, waiting: Future[None]) -> None:
        try:
            self._loaded()
        except BaseException as error:  # noqa: BLE001 - handed over to whoever waits
            _fail(waiting, error)
        else:
            if waiting.set_running_or_notify_cancel():
                waiting.set_result(None)

    def _kind(self, request: Request) -> str:
        """What must be alike in requests of one batch."""
        if request.options:
            return json.dumps(["options", *request.options])
        if self._is_forced(request):
            return json.dumps(["schema", request.schema], default=str)
        return ""

    def _is_forced(self, request: Request) -> bool:
        return self.structured and not request.tools and can_be_forced(request.schema)

    def _answer(self, waiting: Sequence[Waiting]) -> None:
        """Answer requests of one kind; what is wrong with one costs the others nothing."""
        started = time.perf_counter()
        try:
            local = self._loaded()
            rows = self._rows(local, waiting)
            if rows:
                self._now = [row for row, _ in rows]
                self._through(local, self._now)
        except CancelledCallError:
            for _, outcome in waiting:
                outcome.cancel()
            return
        except Exception as error:  # noqa: BLE001 - torch raises what it likes, of memory too
            what = f"{self.name}: {type(error).__name__}: {error}"
            fault = error if isinstance(error, ModelError) else ModelError(what, "model")
            for _, outcome in waiting:
                _fail(outcome, fault)
            return
        finally:
            self._now = []
        taken = (time.perf_counter() - started) / max(1, len(rows))
        for row, outcome in rows:
            _give(outcome, self._reply(row, len(rows), taken))

    def _rows(self, local: Local, waiting: Sequence[Waiting]) -> list[tuple[Row, Future[Reply]]]:
        """A row for each request; one that cannot be sent is told so, and costs the others none."""
        rows = []
        for request, outcome in waiting:
            try:
                rows.append((self._row(local, request, outcome), outcome))
            except ModelError as error:
                _fail(outcome, error)
        return rows

    def _row(self, local: Local, request: Request, outcome: Future[Reply]) -> Row:
        import torch  # noqa: PLC0415

        draws = None
        if request.temperature:
            # A row's own: whoever else draws numbers in this process is left in peace.
            draws = torch.Generator()
            draws.manual_seed(_seed(request))
        return Row(
            request,
            local.prompt(request),
            request.max_tokens or DEFAULT_MAX_TOKENS,
            lambda: not (outcome.cancelled() or self._closing),
            draws=draws,
        )

    def _through(self, local: Local, rows: list[Row]) -> None:
        first = rows[0].request
        # What a model is made to begin its answer with stands before options alone: a schema
        # begins with its own brace.
        batch = PromptBatch(local, rows, self.prefix if first.options else "")
        if first.options:
            for row, logprobs in zip(rows, batch.option_logprobs(first.options), strict=True):
                row.logprobs, row.ended = logprobs, True
                row.text = max(logprobs, key=lambda option: logprobs[option])
        elif first.schema is not None and self._is_forced(first):
            by_schema(batch, first.schema)
        else:
            batch.generate()

    def _reply(self, row: Row, rows: int, taken: float) -> Reply:
        request, text = row.request, row.text
        finish: FinishReason = "length" if not row.ended else "stop" if text.strip() else "empty"
        sent: dict[str, Any] = {
            "temperature": request.temperature or 0.0,
            "top_p": request.top_p,
            "max_tokens": row.limit,
        }
        if request.options:
            sent = {"options": list(request.options), "prefix": self.prefix or None}
        elif self._is_forced(request):
            sent |= {"schema": "forced"}
        sent["batch"] = rows
        reply = Reply(
            text,
            finish,
            usage=Usage(input=len(row.prompt), output=0 if request.options else len(row.ids)),
            params={name: value for name, value in sent.items() if value is not None},
            option_logprobs=row.logprobs,
            ended_by="end_of_text" if row.ended else f"max_tokens {row.limit}",
        )
        # Of a batch each has its share, so that latencies add up to the time that was taken.
        return replace(reply, model=self.name, latency=taken)

    def _loaded(self) -> Local:
        if self._local is None:
            self._loading = True
            try:
                self._local = load(self.path, **self.loading)
            except Exception as error:  # a file that is cut raises what the library makes of it
                here = "" if Path(self.path).exists() else f", which is no folder in {Path.cwd()}"
                what = f"{self.name} cannot be loaded from {self.path!r}{here}: {error}"
                raise ModelError(what, "model") from error
            finally:
                self._loading = False
        return self._local


def _give(outcome: Future[Reply], reply: Reply) -> None:
    if outcome.set_running_or_notify_cancel():
        outcome.set_result(reply)


def _fail(outcome: Future[Any], error: BaseException) -> None:
    if not outcome.done() and outcome.set_running_or_notify_cancel():
        outcome.set_exception(error)


def _seed(request: Request) -> int:
    """A seed that follows from the request's texts, and from its own seed or its run.

    From the texts too: under one seed for all, every item would draw the same numbers.
    """
    text = "\n".join(m.content for m in request.messages).encode("utf-8", "surrogatepass")
    if request.seed is not None:
        text += f"\0seed {request.seed}".encode()
    elif request.run > 1:  # each run draws anew, the first as it did before runs were told apart
        text += f"\0run {request.run}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=7).digest())


@costs_nothing
def make(  # noqa: PLR0913 - each is an option of the study
    model_name: str,
    *,
    path: str = "",
    gguf: str = "",
    device: str = "cpu",
    dtype: str = "auto",
    threads: int | None = None,
    local_files_only: bool = False,
    batch: int = 8,
    structured: bool = True,
    prefix: str = "",
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
    batch : int
        Requests that go through the model together. Greedy replies differ from those of single
        prompts in the last bits of a sum, so that about one in a hundred may read otherwise; each
        reply keeps how many were together.
    structured : bool
        Whether a request with a schema is answered by an object of it: names are forced and values
        chosen. Else the model writes freely, and a small one mostly something else.
    prefix : str
        What the answer begins with where options are scored, such as `"Score: "`: a small model
        would else put most of its probability on a sentence.

    Raises
    ------
    MissingExtraError
        The extra `hf` is not installed.
    InputError
        `batch` is no whole number from 1; what `path` names is not there, holds no weights, or is
        no GGUF file.
    """
    name = f"hf:{model_name}"
    if batch < 1:
        raise InputError(f"{name}: batch must be a whole number from 1, got {batch!r}")
    require("transformers", name, "hf")
    require("torch", name, "hf")
    try:
        located(path or model_name, gguf)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    loading = {
        "gguf": gguf,
        "device": device,
        "dtype": dtype,
        "threads": threads,
        "local_files_only": local_files_only,
    }
    return HfModel(
        name, path or model_name, loading, batch=batch, structured=structured, prefix=prefix
    )
