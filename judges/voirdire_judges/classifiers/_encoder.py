"""Texts to tokens to scores: an encoder with a fresh head, and the batches that it is given."""

from __future__ import annotations

import hashlib
import os
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError
from voirdire.lazy import require

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire_judges.classifiers._fine_tuning import Settings

#: Batches within which texts of like length are put together.
_WINDOW = 32
#: Texts that are tokenised at a time.
_CHUNK = 2_000
#: Texts that are read at a time, however short they are.
_READ_MOST = 256


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token ids a text, cut to the encoder's limit; `cut` counts the texts that lost their end."""

    columns: dict[str, list[list[int]]]
    cut: int

    def __len__(self) -> int:
        return len(self.columns["input_ids"])

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each text."""
        return np.array([len(ids) for ids in self.columns["input_ids"]], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Split:
    """Tokens and labels of one split."""

    tokens: Tokens
    labels: NDArray[np.int8]


def tokenise(tokenizer: Any, texts: Sequence[str], limit: int) -> Tokens:
    """Token ids and segment ids of all texts."""
    columns: dict[str, list[list[int]]] = {}
    cut = 0
    for start in range(0, len(texts), _CHUNK):
        part = list(texts[start : start + _CHUNK])
        # One token beyond the limit tells which texts are cut, without tokenising any of
        # them whole.
        encoded = _encoded(tokenizer, part, limit + 1)
        long = [place for place, ids in enumerate(encoded["input_ids"]) if len(ids) > limit]
        if long:
            cut += len(long)
            # Cut again by the tokenizer, which puts its end mark back: dropping the
            # last token would drop that.
            again = _encoded(tokenizer, [part[place] for place in long], limit)
            for name, rows in again.items():
                for place, row in zip(long, rows, strict=True):
                    encoded[name][place] = row
        for name, rows in encoded.items():
            columns.setdefault(name, []).extend(rows)
    return Tokens(columns or {"input_ids": []}, cut)


def _encoded(tokenizer: Any, texts: list[str], limit: int) -> dict[str, list[list[int]]]:
    encoded = tokenizer(texts, truncation=True, max_length=limit, return_attention_mask=False)
    return {name: [list(row) for row in rows] for name, rows in encoded.items()}


def padded(
    tokens: Tokens, places: NDArray[np.int64], tokenizer: Any, limit: int, multiple: int = 1
) -> dict[str, NDArray[np.int64]]:
    """One batch as arrays, padded on the tokenizer's side, with its attention mask.

    Widths are multiples of `multiple`, but never beyond the `limit` that the encoder has room for.
    """
    sizes = np.array([len(tokens.columns["input_ids"][place]) for place in places])
    width = min(-(-int(sizes.max()) // multiple) * multiple, limit)
    # XLNet and decoders are padded on the left: they read the label off the last token.
    left = tokenizer.padding_side == "left"
    fill = {"input_ids": tokenizer.pad_token_id, "token_type_ids": tokenizer.pad_token_type_id}
    batch = {}
    for name, rows in tokens.columns.items():
        block = np.full((len(places), width), fill.get(name, 0), dtype=np.int64)
        for row, place in enumerate(places):
            begin = width - len(rows[place]) if left else 0
            block[row, begin : begin + len(rows[place])] = rows[place]
        batch[name] = block
    steps = np.arange(width)
    inside = steps >= width - sizes[:, None] if left else steps < sizes[:, None]
    batch["attention_mask"] = inside.astype(np.int64)
    return batch


def training_order(
    lengths: NDArray[np.int64], batch_size: int, seed: int, epoch: int
) -> list[NDArray[np.int64]]:
    """Places of each batch: shuffled, texts of like length together, batches shuffled again.

    >>> [batch.tolist() for batch in training_order(np.array([3, 9, 4, 8]), 2, seed=0, epoch=1)]
    [[3, 1], [0, 2]]
    """
    # From seed and epoch alone: a training that goes on in epoch 7 meets the order that it
    # would have met.
    rng = np.random.default_rng((seed, epoch))
    order = rng.permutation(len(lengths))
    window = batch_size * _WINDOW
    parts = [order[start : start + window] for start in range(0, len(order), window)]
    # Sorted by length within a window only: over all texts the batches would be the same in
    # every epoch, short texts among short ones.
    whole = np.concatenate([part[np.argsort(lengths[part], kind="stable")] for part in parts])
    batches = [whole[start : start + batch_size] for start in range(0, len(whole), batch_size)]
    return [batches[place] for place in rng.permutation(len(batches))]


def reading_order(lengths: NDArray[np.int64], most: int) -> Iterator[NDArray[np.int64]]:
    """Places of each batch for prediction, longest texts first, each of at most so many tokens.

    >>> [batch.tolist() for batch in reading_order(np.array([3, 9, 4, 5]), 10)]
    [[1], [3, 2], [0]]
    """
    # The longest first: a GPU that is too small shows it at once, not after an hour.
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        count = max(1, min(most // max(int(lengths[order[start]]), 1), _READ_MOST))
        yield order[start : start + count]
        start += count


#: Longest input of a tokenizer that declares none is a number far beyond this one.
_UNDECLARED = 1_000_000
#: Tokens that are read at a time.
_READ_TOKENS = {"cpu": 16_384, "cuda": 131_072}


@dataclass(frozen=True, slots=True, eq=False)
class Encoder:
    """A model with its tokenizer, on its device; `weights` is a hash of what was read from disk."""

    model: Any
    tokenizer: Any
    limit: int
    device: str
    precision: str
    weights: str = ""

    @property
    def multiple(self) -> int:
        """Widths of batches are multiples of this: tensor cores like eights."""
        return 8 if self.device == "cuda" else 1

    def batch(self, tokens: Tokens, places: NDArray[np.int64]) -> dict[str, Any]:
        """One batch as tensors on the device."""
        import torch  # noqa: PLC0415

        arrays = padded(tokens, places, self.tokenizer, self.limit, self.multiple)
        return {name: torch.from_numpy(block).to(self.device) for name, block in arrays.items()}

    def autocast(self) -> Any:
        """Mixed precision, where it is used."""
        import torch  # noqa: PLC0415

        if self.precision == "fp32":
            return nullcontext()
        kind = torch.bfloat16 if self.precision == "bf16" else torch.float16
        return torch.autocast(self.device, dtype=kind)

    def tokens(self, texts: Sequence[str]) -> Tokens:
        """Token ids of texts."""
        return tokenise(self.tokenizer, texts, self.limit)

    def scores(self, tokens: Tokens, task: str) -> NDArray[np.float64]:
        """Softmax over classes, or a sigmoid a label: one row a text."""
        import torch  # noqa: PLC0415

        self.model.eval()
        out = np.full((len(tokens), self.model.config.num_labels), np.nan)
        with torch.inference_mode():
            for places in reading_order(tokens.lengths, _READ_TOKENS[self.device]):
                with self.autocast():
                    logits = self.model(**self.batch(tokens, places)).logits
                # In 64 bits, so that probabilities of a row add up to one whatever
                # the device.
                logits = logits.double()
                shares = logits.sigmoid() if task == "multi-label" else logits.softmax(dim=-1)
                out[places] = shares.cpu().numpy()
        return out


def load_encoder(settings: Settings, classes: Sequence[str], task: str, path: str = "") -> Encoder:
    """The encoder named in the settings (or the trained one at `path`).

    The head's first weights are drawn from torch's global generator: seed it before.

    Raises
    ------
    InputError
        There is no such encoder here, or no such device.
    MissingExtraError
        Torch or transformers is not installed.
    """
    torch = require("torch", "the classifier 'hf'", "hf")
    transformers = require("transformers", "the classifier 'hf'", "hf")
    device = _device(settings.device, torch)
    source = path or settings.source
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    names = dict(enumerate(classes))
    kind = "multi_label_classification" if task == "multi-label" else "single_label_classification"
    with _quiet(transformers), _explained(source):
        # No code out of a model's folder is ever run.
        tokenizer = transformers.AutoTokenizer.from_pretrained(source, trust_remote_code=False)
        model, read = transformers.AutoModelForSequenceClassification.from_pretrained(
            source,
            trust_remote_code=False,
            output_loading_info=True,
            num_labels=len(classes),
            id2label=names,
            label2id={name: place for place, name in names.items()},
            problem_type=kind,
            dtype=torch.float32,
        )
    if tokenizer.pad_token_id is None:
        # Decoders such as GPT-2 are trained without padding; what stands there is masked.
        tokenizer.pad_token = tokenizer.eos_token
    if tokenizer.pad_token_id is None:
        raise InputError(f"hf classifier: the tokenizer of {source!r} has no token to pad with")
    model.config.pad_token_id = tokenizer.pad_token_id
    limit = min(settings.max_length, _room(model, tokenizer))
    marks = tokenizer.num_special_tokens_to_add()
    if limit <= marks:
        raise InputError(
            f"hf classifier: max_length must be above {marks}, the marks that the tokenizer of "
            f"{source!r} puts around a text, got {limit}"
        )
    # The head is in missing_keys: it was drawn just now and says nothing of the encoder.
    weights = "" if path else _digest(model, read["missing_keys"])
    precision = _precision(settings.precision, device, torch)
    return Encoder(model.to(device), tokenizer, limit, device, precision, weights)


def save_encoder(encoder: Encoder, folder: Path) -> None:
    """Write weights (safetensors), configuration and tokenizer, as transformers reads them."""
    import transformers  # noqa: PLC0415

    with _quiet(transformers):
        encoder.model.save_pretrained(folder)
        encoder.tokenizer.save_pretrained(folder)


def _device(asked: str, torch: Any) -> str:
    there = torch.cuda.is_available()
    if asked == "cuda" and not there:
        raise InputError("hf classifier: device is 'cuda', and torch sees no GPU here; use 'auto'")
    return "cuda" if there and asked != "cpu" else "cpu"


def _precision(asked: str, device: str, torch: Any) -> str:
    if asked == "fp16" and device == "cpu":
        raise InputError("hf classifier: precision 'fp16' needs a GPU; use 'auto'")
    if asked != "auto":
        return asked
    if device == "cpu":
        return "fp32"
    # bfloat16 keeps the range of 32 bits, so that no loss need be scaled.
    return "bf16" if torch.cuda.is_bf16_supported() else "fp16"


def _room(model: Any, tokenizer: Any) -> int:
    """Tokens that the encoder reads: the smaller of what its tokenizer and its positions allow."""
    positions = getattr(model.config, "max_position_embeddings", None) or 0
    if positions <= 0:  # XLNet says -1: its positions are relative
        positions = _UNDECLARED
    table = getattr(getattr(model.base_model, "embeddings", None), "position_embeddings", None)
    padding = getattr(table, "padding_idx", None)
    if padding is not None:  # RoBERTa and its kin count positions from after the padding's
        positions -= padding + 1
    return int(min(positions, tokenizer.model_max_length, _UNDECLARED))


def _digest(model: Any, drawn: Collection[str]) -> str:
    """SHA-256 of the weights, without those that were drawn at random (the head)."""
    whole = hashlib.sha256()
    for name, part in model.state_dict().items():
        if name not in drawn:
            # By name too: two layers exchanged are another encoder.
            whole.update(name.encode())
            whole.update(part.reshape(-1).numpy())
    return whole.hexdigest()


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """No progress bars, and no warning about the new head, which is meant to be new."""
    logging = transformers.utils.logging
    before, shown = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)
        if shown:
            logging.enable_progress_bar()


@contextmanager
def _explained(source: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")
        why = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        hint = "HF_HUB_OFFLINE is set, so only folders and cached models are found; " * offline
        raise InputError(
            f"hf classifier: the encoder {source!r} cannot be loaded; {hint}give a folder with an "
            f"encoder and its tokenizer, or a hub name where there is a network ({why})"
        ) from error


@contextmanager
def within_memory(torch: Any, settings: Settings) -> Iterator[None]:
    """Say what to lower where a GPU's memory does not suffice."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise InputError(
            f"hf classifier: the GPU's memory does not suffice for batches of "
            f"{settings.batch_size} texts of up to {settings.max_length} tokens; lower batch_size "
            "or max_length"
        ) from error
