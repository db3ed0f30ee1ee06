"""Loading and running a causal language model with transformers; torch is imported on use."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire._errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Request


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
        first = self._next(prompt)
        found = {}
        for option, ids in spelt.items():
            total = float(first[ids[0]])
            for place in range(1, len(ids)):
                total += float(self._next(prompt + ids[:place])[ids[place]])
            found[option] = total
        return found

    def generate(self, prompt: list[int], request: Request, limit: int) -> tuple[str, int, bool]:
        """The text, its number of tokens, and whether the model ended it by itself."""
        import torch  # noqa: PLC0415

        given = torch.tensor([prompt], device=self.device)
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
        return torch.log_softmax(logits[0, -1].float(), dim=-1)


def _seed(request: Request) -> int:
    """The request's seed, or one that follows from its texts."""
    if request.seed is not None:
        return request.seed
    text = "\n".join(m.content for m in request.messages).encode("utf-8", "surrogatepass")
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
    found = Path(path)
    if gguf:
        return path, gguf
    if found.is_file():
        return str(found.parent), found.name
    files = sorted(found.glob("*.gguf")) if found.is_dir() else []
    if len(files) == 1 and not (found / "config.json").exists():
        return path, files[0].name
    return path, ""
