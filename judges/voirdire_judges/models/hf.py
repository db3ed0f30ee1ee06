"""`hf:`: a local transformers model that generates, or scores options by log-probability."""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import ModelError
from voirdire.lazy import require
from voirdire.protocols import costs_nothing
from voirdire.schema import Reply, Usage
from voirdire_judges.models._requests import asked_in_words, sendable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import FinishReason, Request


#: Tokens generated where the request sets no limit.
DEFAULT_MAX_TOKENS = 256


class HfModel:
    """A model in this process. One call at a time, in a worker thread; loaded on the first.

    A request that names options is answered by scoring them: `option_logprobs` holds the
    log-probability of each option as the whole answer's beginning, the text is the likeliest one.
    Any other request generates; the same request and seed give the same text. Tools are described
    and called in plain text.
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
        if request.tools:
            return await asked_in_words(request, self._beside_the_loop)
        return await self._beside_the_loop(request)

    async def _beside_the_loop(self, request: Request) -> Reply:
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


@dataclass(frozen=True, slots=True)
class Local:
    """A loaded model and its tokenizer."""

    model: Any
    tokenizer: Any
    device: str

    def prompt(self, request: Request) -> list[int]:
        """Token ids of the messages in the model's own chat format, up to where it answers."""
        if self.tokenizer.chat_template:
            chat = [{"role": m.role, "content": m.content} for m in request.messages]
            text = self.tokenizer.apply_chat_template(
                chat, tokenize=False, add_generation_prompt=True
            )
            # The template has written the marks already: a second mark of the beginning
            # shifts answers.
            ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        else:
            text = "\n\n".join(f"{m.role.title()}: {m.content}" for m in request.messages)
            ids = self.tokenizer(f"{text}\n\nAssistant:")["input_ids"]
        room = getattr(self.model.config, "max_position_embeddings", None)
        if room is not None and len(ids) >= room:
            raise ModelError(
                f"the request is {len(ids)} tokens long, the model reads {room}",
                "bad_request",
                of_item=True,
            )
        return list(ids)

    def option_logprobs(self, prompt: list[int], options: Sequence[str]) -> dict[str, float]:
        """Log-probability of each option's tokens after the prompt, summed over its tokens."""
        spelt = {option: self._ids(option) for option in options}
        # The first token of every option follows the same prompt: one pass serves all.
        first = self._next(prompt)
        logprobs = {}
        for option, ids in spelt.items():
            total = float(first[ids[0]])
            for place in range(1, len(ids)):
                total += float(self._next(prompt + ids[:place])[ids[place]])
            logprobs[option] = total
        return logprobs

    def generate(self, prompt: list[int], request: Request, limit: int) -> tuple[str, int, bool]:
        """The text, its number of tokens, and whether the model ended it by itself."""
        import torch  # noqa: PLC0415

        given = torch.tensor([prompt], device=self.device)
        # Without sampling the model's own temperature and the like are unset, else
        # transformers warns at every call.
        how: dict[str, Any] = {
            "do_sample": False,
            "temperature": None,
            "top_p": None,
            "top_k": None,
        }
        if request.temperature:
            how = {
                "do_sample": True,
                "temperature": request.temperature,
                "top_p": request.top_p or 1.0,
            }
        # A seed for this call alone: whoever else draws numbers in this process is left in
        # peace.
        with torch.inference_mode(), torch.random.fork_rng():
            torch.manual_seed(_seed(request))
            ids = self.model.generate(
                given,
                attention_mask=torch.ones_like(given),
                max_new_tokens=limit,
                pad_token_id=self.tokenizer.pad_token_id or self.tokenizer.eos_token_id,
                **how,
            )[0, len(prompt) :]
        ends = self.model.generation_config.eos_token_id
        ends = ends if isinstance(ends, list) else [ends]
        # At the limit the last token tells a text that is whole from one that was cut.
        ended = len(ids) < limit or int(ids[-1]) in ends
        return self.tokenizer.decode(ids, skip_special_tokens=True), len(ids), ended

    def _ids(self, option: str) -> list[int]:
        ids = self.tokenizer(option, add_special_tokens=False)["input_ids"]
        if not ids:
            raise ModelError(f"the option {option!r} has no tokens", "bad_request")
        return list(ids)

    def _next(self, ids: list[int]) -> Any:
        import torch  # noqa: PLC0415

        given = torch.tensor([ids], device=self.device)
        with torch.inference_mode():
            logits = self.model(given, attention_mask=torch.ones_like(given)).logits
        # In 32 bits: bfloat16 has three digits, too few to sum over a vocabulary.
        return torch.log_softmax(logits[0, -1].float(), dim=-1)


def _seed(request: Request) -> int:
    """The request's seed, or one that follows from its texts and its run."""
    if request.seed is not None:
        return request.seed
    text = "\n".join(m.content for m in request.messages).encode("utf-8", "surrogatepass")
    if request.run > 1:  # each run draws anew, the first as it did before runs were told apart
        text += f"\0run {request.run}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=7).digest())


def load(
    path: str, *, gguf: str, device: str, dtype: str, threads: int | None, local_files_only: bool
) -> Local:
    """Load tokenizer and weights from a hub name, a folder or a GGUF file."""
    import torch  # noqa: PLC0415
    import transformers  # noqa: PLC0415

    if threads is not None:
        torch.set_num_threads(threads)
    folder, file = _located(path, gguf)
    where: dict[str, Any] = {"local_files_only": local_files_only}
    if file:
        where["gguf_file"] = file
    transformers.utils.logging.disable_progress_bar()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **where)
    precision = dtype if dtype == "auto" else getattr(torch, dtype)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=precision, **where)
    return Local(model.to(device).eval(), tokenizer, device)


def _located(path: str, gguf: str) -> tuple[str, str]:
    place = Path(path)
    if gguf:
        return path, gguf
    if place.is_file():
        return str(place.parent), place.name
    files = sorted(place.glob("*.gguf")) if place.is_dir() else []
    if len(files) == 1 and not (place / "config.json").exists():
        return path, files[0].name
    return path, ""
