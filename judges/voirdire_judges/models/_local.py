"""A transformers model in this process: batches of prompts, forced texts, choices, stopping."""

from __future__ import annotations

import copy
import inspect
import json
import re
import threading
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from voirdire.errors import InputError, ModelError, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from voirdire.schema import Request

#: Tokens of all prompts together that go through the model at once, and of each at least: between
#: two pieces a call can be ended, and on one core 4,000 tokens of a small model take half a minute.
PIECE, EACH = 512, 64
#: Tokens that prompts must share at their beginning for these to be computed once.
SHARED = 32
#: Tokens of a text inside an object of a schema.
TEXT_TOKENS = 120


class CancelledCallError(Exception):
    """Nobody waits for any row of the batch any more."""


@dataclass(slots=True)
class Row:
    """One request of a batch, and what has come of it.

    Attributes
    ----------
    request : Request
    prompt : list of int
        Its token ids.
    limit : int
        Tokens that may be generated.
    wanted : callable
        Whether somebody still waits for it; asked before each token.
    """

    request: Request
    prompt: list[int]
    limit: int
    wanted: Callable[[], bool]
    ids: list[int] = field(default_factory=list)
    ended: bool = False
    text: str = ""
    logprobs: dict[str, float] = field(default_factory=dict)
    #: Draws numbers for this row alone, so that its text does not depend on its neighbours.
    draws: Any = None


@dataclass(slots=True, weakref_slot=True)
class Local:
    """A loaded model and its tokenizer.

    `shared` keeps what the model made of the last beginning that several prompts had in common: a
    rubric's instructions stand before thousands of responses.
    """

    model: Any
    tokenizer: Any
    device: str
    shared: tuple[tuple[int, ...], Any] | None = None
    #: What the model's `forward` takes: asked once, and not with each token.
    named: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.named = frozenset(inspect.signature(self.model.forward).parameters)

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

    def ids(self, text: str) -> list[int]:
        """Token ids of a text that stands behind others."""
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        if not ids:
            raise ModelError(f"the option {text!r} has no tokens", "bad_request")
        return list(ids)

    def text(self, ids: Sequence[int]) -> str:
        """What token ids say."""
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=True))

    def keeping(self, cache: Any) -> dict[str, Any]:
        """What the model is given so that it adds to a cache, and says the last place alone."""
        # `cache` was called `past_key_values` before transformers 5.
        name = "cache" if "cache" in self.named else "past_key_values"
        last = {"logits_to_keep": 1} if "logits_to_keep" in self.named else {}
        return {name: cache, "use_cache": True, **last}

    @property
    def ends(self) -> frozenset[int]:
        """Tokens with which the model ends a text."""
        ends = self.model.generation_config.eos_token_id
        return frozenset(ends if isinstance(ends, list) else [ends])


class PromptBatch:
    """Prompts that go through the model together, and what it would say next to each.

    Rows are padded on their left, by tokens that nothing looks at, so that the last place is every
    row's own. A cache holds what the model made of all tokens so far.
    """

    def __init__(self, local: Local, rows: Sequence[Row], prefix: str = "") -> None:
        import torch  # noqa: PLC0415

        self.local, self.rows, self._torch = local, list(rows), torch
        forced = local.ids(prefix) if prefix else []
        prompts = [row.prompt + forced for row in rows]
        begin = _common(prompts)
        self._cache = self._begun(begin)
        self._mask = torch.ones(len(rows), len(begin), dtype=torch.long, device=local.device)
        self._next: Any = None
        self.feed([prompt[len(begin) :] for prompt in prompts])

    @property
    def logits(self) -> Any:
        """(rows, vocabulary), of the token that comes next in each row."""
        return self._next

    def logprobs(self) -> Any:
        """Their log-probabilities, in 32 bits: sixteen are too few to sum over a vocabulary."""
        return self._torch.log_softmax(self._next, dim=-1)

    def feed(self, tokens: Sequence[Sequence[int]]) -> None:
        """Put tokens behind each row, none behind some; its next token changes where it got any."""
        width = max(map(len, tokens), default=0)
        pad = self.local.tokenizer.pad_token_id or 0
        padded = [[*([None] * (width - len(one))), *one] for one in tokens]
        step = max(EACH, PIECE // max(1, len(padded)))
        for at in range(0, width, step):
            self._check()
            piece = [row[at : at + step] for row in padded]
            self._through(
                [[pad if token is None else token for token in row] for row in piece],
                [[int(token is not None) for token in row] for row in piece],
            )

    def _through(self, tokens: list[list[int]], real: list[list[int]]) -> None:
        torch, device = self._torch, self.local.device
        ids = torch.tensor(tokens, device=device)
        new = torch.tensor(real, dtype=torch.long, device=device)
        self._mask = torch.cat([self._mask, new], dim=1)
        places = (self._mask.cumsum(dim=1) - 1).clamp(min=0)[:, -ids.shape[1] :]
        with torch.inference_mode():
            out = self.local.model(
                ids,
                attention_mask=self._mask,
                position_ids=places,
                **self.local.keeping(self._cache),
            )
        logits = out.logits[:, -1].float()
        got = new[:, -1:].bool()
        self._next = logits if self._next is None else torch.where(got, logits, self._next)

    def option_logprobs(self, options: Sequence[str]) -> list[dict[str, float]]:
        """Of each row the log-probability of every option's tokens, summed over its tokens.

        All options follow one prompt: it is not read again for those of several tokens.
        """
        first = self.logprobs()
        spelt = {option: self.local.ids(option) for option in options}
        found: list[dict[str, float]] = [{} for _ in self.rows]
        for option, ids in spelt.items():
            totals = first[:, ids[0]].clone()
            if len(ids) > 1:
                kept = self._marked()
                for token, following in pairwise(ids):
                    self.feed([[token]] * len(self.rows))
                    totals += self.logprobs()[:, following]
                self._back(kept)
            for row, total in zip(found, totals.tolist(), strict=True):
                row[option] = total
        return found

    def choose(self, options: Sequence[str]) -> None:
        """Each row goes on with one of the options, the likeliest or one that is drawn."""
        torch = self._torch
        for_rows = []
        for row, logprobs in zip(self.rows, self.option_logprobs(options), strict=True):
            scores = torch.tensor([logprobs[option] for option in options])
            for_rows.append(options[int(self._drawn(row, scores))])
        for row, option in zip(self.rows, for_rows, strict=True):
            row.text += option
        self.feed([self.local.ids(option) for option in for_rows])
        for row, option in zip(self.rows, for_rows, strict=True):
            row.ids += self.local.ids(option)

    def force(self, text: str) -> None:
        """Each row goes on with this text."""
        ids = self.local.ids(text)
        for row in self.rows:
            row.text += text
            row.ids += ids
        self.feed([ids] * len(self.rows))

    def generate(self, stop: re.Pattern[str] | None = None, limit: int | None = None) -> None:
        """Each row goes on until the model ends it, its limit, or what `stop` finds in it."""
        begun = [len(row.ids) for row in self.rows]
        mine: list[list[int]] = [[] for _ in self.rows]
        open_rows = [True] * len(self.rows)
        limits = [limit or row.limit for row in self.rows]
        ends = self.local.ends
        while any(open_rows):
            self._check()
            likeliest = self._likeliest()
            tokens: list[list[int]] = []
            for at, row in enumerate(self.rows):
                if not open_rows[at] or not row.wanted():
                    open_rows[at] = False
                    tokens.append([])
                    continue
                if likeliest is not None and not row.request.temperature:
                    token = likeliest[at]
                else:
                    token = int(self._drawn(row, self._penalised(at)))
                mine[at].append(token)
                row.ids.append(token)
                row.ended = token in ends
                full = len(mine[at]) >= limits[at]
                stopped = stop is not None and stop.search(self.local.text(mine[at])) is not None
                open_rows[at] = not (row.ended or full or stopped)
                tokens.append([token] if open_rows[at] or stop is not None else [])
            if any(tokens) and (any(open_rows) or stop is not None):
                self.feed(tokens)
        for at, row in enumerate(self.rows):
            row.text += self.local.text(row.ids[begun[at] :])

    def _likeliest(self) -> list[int] | None:
        """Each row's likeliest token; None where a penalty makes that a matter of the row.

        All rows at once: a GPU is waited for once a token, and not once a row.
        """
        if self._penalty():
            return None
        best: list[int] = self._next.argmax(dim=-1).tolist()
        return best

    def _penalty(self) -> float | None:
        penalty = getattr(self.local.model.generation_config, "repetition_penalty", None)
        return None if not penalty or penalty == 1.0 else float(penalty)

    def _drawn(self, row: Row, scores: Any) -> Any:
        """The place of the highest score, or one drawn by the row's own numbers."""
        torch, request = self._torch, row.request
        if not request.temperature:
            return scores.argmax()
        scores = (scores / request.temperature).cpu()
        if request.top_p is not None and request.top_p < 1:
            order = scores.argsort(descending=True)
            shares = torch.softmax(scores[order], dim=-1)
            # The token that passes the mark is the last one to be kept.
            cut = order[shares.cumsum(dim=-1) - shares >= request.top_p]
            scores = scores.clone()
            scores[cut] = -torch.inf
        return torch.multinomial(torch.softmax(scores, dim=-1), 1, generator=row.draws)

    def _penalised(self, at: int) -> Any:
        """A row's scores, less for tokens that stand in it, where the model's settings say so."""
        scores, row, penalty = self._next[at], self.rows[at], self._penalty()
        if penalty is None:
            return scores
        seen = self._torch.tensor(sorted({*row.prompt, *row.ids}), device=scores.device)
        scores = scores.clone()
        held = scores[seen]
        scores[seen] = self._torch.where(held < 0, held * penalty, held / penalty)
        return scores

    def _begun(self, begin: Sequence[int]) -> Any:
        """A cache that holds what all prompts begin with, one row for each."""
        import transformers  # noqa: PLC0415

        if not begin:
            return transformers.DynamicCache()
        if self.local.shared is None or self.local.shared[0] != tuple(begin):
            torch, device = self._torch, self.local.device
            cache = transformers.DynamicCache()
            for at in range(0, len(begin), PIECE):
                self._check()
                ids = torch.tensor([list(begin[at : at + PIECE])], device=device)
                with torch.inference_mode():
                    self.local.model(ids, **self.local.keeping(cache))
            self.local.shared = (tuple(begin), _states(cache))
        return _cache_of(self.local.shared[1], len(self.rows))

    def _marked(self) -> tuple[Any, Any, Any]:
        # A cache that grows makes new tensors, so that these stay as they are.
        return _states(self._cache), self._mask, self._next

    def _back(self, kept: tuple[Any, Any, Any]) -> None:
        """As it was before what was fed since."""
        states, self._mask, self._next = kept
        self._cache = _cache_of(states, len(self.rows))

    def _check(self) -> None:
        if not any(row.wanted() for row in self.rows):
            raise CancelledCallError


def _states(cache: Any) -> list[tuple[Any, Any]]:
    return [(layer.keys, layer.values) for layer in cache.layers]


def _cache_of(states: Sequence[tuple[Any, Any]], rows: int) -> Any:
    import transformers  # noqa: PLC0415

    cache = transformers.DynamicCache()
    for layer, (keys, values) in enumerate(states):
        cache.update(keys.expand(rows, -1, -1, -1), values.expand(rows, -1, -1, -1), layer)
    return cache


def _common(prompts: Sequence[Sequence[int]]) -> list[int]:
    """What all begin with, and that is the whole of none: each has a token of its own to read."""
    most = min(map(len, prompts)) - 1
    first = prompts[0]
    for at in range(most):
        if any(prompt[at] != first[at] for prompt in prompts):
            most = at
            break
    # A few tokens are not worth a pass of their own.
    return list(first[:most]) if most >= SHARED else []


#: A text inside an object ends with a quotation mark that is not escaped.
_CLOSED = re.compile(r'(?<!\\)(?:\\\\)*"')


def by_schema(batch: PromptBatch, schema: Mapping[str, Any]) -> None:
    """Each row writes an object of the schema: names are forced, values chosen, texts generated."""
    for at, (name, kind) in enumerate(schema["properties"].items()):
        batch.force(f"{'{' if at == 0 else ', '}{json.dumps(name)}: ")
        values = values_of(kind)
        if values:
            batch.choose(values)
            continue
        batch.force('"')
        before = [len(row.text) for row in batch.rows]
        batch.generate(_CLOSED, TEXT_TOKENS)
        for row, begun in zip(batch.rows, before, strict=True):
            said = row.text[begun:]
            closed = _CLOSED.search(said)
            # What the limit cut is closed, and what stood behind the closing mark left out.
            inner = said[: closed.end() - 1] if closed else said.rstrip("\\")
            row.text = row.text[:begun] + json.dumps(_unescaped(inner))
            row.ended = False
    for row in batch.rows:
        row.text += "}"
        row.ended = True


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text


#: Values of a property among which one can be chosen.
MOST_VALUES = 101


def values_of(kind: Mapping[str, Any]) -> list[str]:
    """All values of a property as JSON writes them; none of one that cannot be listed.

    >>> values_of({"type": "integer", "minimum": 1, "maximum": 3})
    ['1', '2', '3']
    >>> values_of({"type": "string", "enum": ["yes", "no"]}), values_of({"type": "string"})
    (['"yes"', '"no"'], [])
    """
    if isinstance(kind.get("enum"), list | tuple):
        return [json.dumps(value) for value in kind["enum"]]
    if kind.get("type") == "boolean":
        return ["true", "false"]
    low, high = kind.get("minimum"), kind.get("maximum")
    if kind.get("type") == "integer" and low is not None and high is not None:
        return [str(level) for level in range(int(low), int(high) + 1)][:MOST_VALUES]
    return []


def can_be_forced(schema: Mapping[str, Any] | None) -> bool:
    """Whether every value of a schema can be chosen or is a text."""
    properties = (schema or {}).get("properties", {})
    kinds = properties.values() if isinstance(properties, dict) else ()
    return bool(properties) and all(
        0 < len(values_of(kind)) < MOST_VALUES or kind == {"type": "string"} for kind in kinds
    )


#: Loading is no work for two threads: the library makes tensors without numbers meanwhile, for all.
_LOADING = threading.Lock()
#: What some member of a panel holds already, by where and how it was loaded.
_LOADED: WeakValueDictionary[tuple[str, ...], Local] = WeakValueDictionary()


def load(
    path: str, *, gguf: str, device: str, dtype: str, threads: int | None, local_files_only: bool
) -> Local:
    """Load tokenizer and weights from a hub name, a folder or a GGUF file.

    Members of a panel that ask the same model share its weights; each has its own tokenizer.
    """
    import torch  # noqa: PLC0415
    import transformers  # noqa: PLC0415

    if threads is not None:
        torch.set_num_threads(threads)
    folder, file = located(path, gguf)
    where: dict[str, Any] = {"local_files_only": local_files_only}
    if file:
        where["gguf_file"] = file
    transformers.utils.logging.disable_progress_bar()
    precision = dtype if dtype == "auto" else getattr(torch, dtype)
    key = (folder, file, device, dtype)
    with _LOADING:
        found = _LOADED.get(key)
        if found is not None:
            return Local(found.model, copy.deepcopy(found.tokenizer), device)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **where)
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=precision, **where)
        local = _LOADED[key] = Local(model.to(device).eval(), tokenizer, device)
    return local


def located(path: str, gguf: str) -> tuple[str, str]:
    """Folder (or name on the hub), and the GGUF file in it if it is one.

    Raises
    ------
    InputError
        The path is none of the hub's names and not there, or what is there holds no model.
    """
    place = Path(path).expanduser()
    if place.is_dir():
        return str(place), gguf_in(place, gguf)
    if place.is_file():
        check_gguf(place)
        return str(place.parent), place.name
    if _ON_HUB.fullmatch(path) and place.suffix not in WEIGHTS:
        return path, gguf
    raise InputError(
        f"there is no file or folder {str(place.absolute())!r}: a model is a folder with weights, "
        "a GGUF file, or a name on the hub such as 'Qwen/Qwen2.5-0.5B-Instruct'"
    )


#: What a name on the hub looks like: its owner and its own, without a dot or a dash at the ends.
_ON_HUB = re.compile(r"(?:\w[\w.-]*/)?\w[\w.-]*", re.ASCII)
#: Suffixes of files that hold weights.
WEIGHTS = (".safetensors", ".bin", ".gguf")


def gguf_in(folder: Path, named: str) -> str:
    """The GGUF file of a folder; empty where it holds weights of another form.

    Raises
    ------
    InputError
        It holds no weights, several GGUF files and none is named, or not the named one.
    """
    inside = sorted(one.name for one in folder.iterdir())
    files = [name for name in inside if name.endswith(".gguf")]
    if not named and len(files) == 1 and "config.json" not in inside:
        named = files[0]
    if named and named not in inside:
        raise InputError(f"the folder {str(folder)!r} has no file {named!r} ({listed(files)})")
    if named:
        check_gguf(folder / named)
        return named
    if not any(name.endswith(WEIGHTS) for name in inside):
        raise InputError(
            f"the folder {str(folder)!r} holds no weights ({', '.join(WEIGHTS)}): it holds "
            f"{listed(inside) if inside else 'nothing'}"
        )
    if "config.json" not in inside:
        several = f"say by gguf = which of {listed(files)}" if files else "it has no config.json"
        raise InputError(f"the folder {str(folder)!r} does not say which model it holds: {several}")
    return ""


def check_gguf(file: Path) -> None:
    """Raises `InputError` where a file cannot be read, or is no GGUF file."""
    try:
        with file.open("rb") as opened:
            begins = opened.read(4)
    except OSError as error:
        raise InputError(f"{str(file)!r} cannot be read: {error.strerror}") from error
    if begins != b"GGUF":
        raise InputError(f"{str(file)!r} is no GGUF file: it begins with {begins!r}, not b'GGUF'")
