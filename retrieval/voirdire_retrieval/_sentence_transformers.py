"""Embedders of the package sentence-transformers, by hub name or local folder."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from voirdire.errors import InputError, MissingExtraError, ModelError
from voirdire.lazy import require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray


Device = Literal["auto", "cpu", "cuda"]
Dtype = Literal["float32", "float16", "bfloat16"]
#: Up to as many cores one thread is faster and steadier (measured: docs/retrieval.md).
SMALL_CPU = 2
_BATCH = {"cpu": 32, "cuda": 256}
#: Other exports of the same weights, which this embedder does not read.
_UNREAD = {"onnx", "openvino", ".git", ".cache"}
#: Seconds for the hub to answer; without a network a name server may never do so.
_PATIENCE = 5.0
# A name on the hub: MODEL or OWNER/MODEL. Anything else can only be a path.
_NAME = re.compile(r"[\w.-]+(?:/[\w.-]+)?")


class SentenceTransformerEmbedder:
    """A sentence-transformers model behind the `Embedder` protocol.

    Attributes
    ----------
    name : str
        As it was asked for.
    revision : str
        Hash of a local folder, or the hub's commit, with the length limit and number format; empty
        where the model does not say.
    dimension : int
    limit : int or None
        Tokens that the model reads of a text.
    batch_size : int
        Texts a batch; halved for good when the device runs out of memory.
    device : str
    notes : list of str
        What was changed on the way: a device that is missing or too small.
    """

    def __init__(self, model: Any, name: str, revision: str, batch_size: int | None = None) -> None:
        self.name, self.revision, self._model = name, revision, model
        older = "get_sentence_embedding_dimension"  # its name before version 5.3
        size = getattr(model, "get_embedding_dimension", None) or getattr(model, older)
        self.dimension = int(size())
        self.limit: int | None = model.max_seq_length
        self.device = str(model.device.type)
        self.batch_size = batch_size or _BATCH.get(self.device, 32)
        self.notes: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One L2-normalised row a text; each batch leaves the device before the next one comes."""
        parts, start = [], 0
        with _threads(self.device):
            while start < len(texts):
                batch = list(texts[start : start + self.batch_size])
                try:
                    parts.append(self._encode(batch))
                except (RuntimeError, MemoryError) as error:
                    self._retreat(error)
                    continue
                start += len(batch)
        return np.concatenate(parts) if parts else np.empty((0, self.dimension), np.float32)

    def tokens(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text has, the model's marks included, before any cut."""
        encoded = self._model.tokenizer(list(texts), truncation=False, padding=False, verbose=False)
        return [len(ids) for ids in encoded["input_ids"]]

    def _encode(self, batch: list[str]) -> NDArray[np.float32]:
        rows = self._model.encode(
            batch,
            batch_size=len(batch),
            convert_to_numpy=True,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return np.asarray(rows, np.float32)

    def _retreat(self, error: Exception) -> None:
        """Halve the batch; at one text, leave the GPU; on the CPU, give up."""
        # torch raises a plain RuntimeError on some devices: only its words tell.
        if not (isinstance(error, MemoryError) or "out of memory" in str(error).lower()):
            raise ModelError(f"embedder {self.name!r} failed: {error}") from error
        if self.batch_size > 1:
            self.batch_size //= 2
            self.notes.append(f"{self.device} ran out of memory: batches of {self.batch_size} now")
        elif self.device != "cpu":
            self._model.to("cpu")
            self.device, self.batch_size = "cpu", _BATCH["cpu"]
            self.notes.append("one text alone does not fit on the GPU: embedding on the CPU")
        else:
            raise ModelError(
                f"embedder {self.name!r}: one text alone does not fit into memory"
            ) from error


def open_sentence_transformers(
    model_name: str,
    *,
    device: Device = "auto",
    batch_size: int | None = None,
    limit: int | None = None,
    dtype: Dtype = "float32",
) -> SentenceTransformerEmbedder:
    """Load a model by hub name (`all-mpnet-base-v2`) or local folder.

    Where the hub cannot be reached, the copy that an earlier call has kept is taken.

    `limit` shortens the texts further than the model does; `dtype` halves the size of weights and
    changes vectors by about 1e-3.

    Raises
    ------
    MissingExtraError
        sentence-transformers is not installed.
    ModelError
        The model cannot be loaded (no such name, no network, a damaged folder).
    """
    chosen, note = _device(device)
    try:
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - 4 s
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"embedder {model_name!r}", "retrieval", error.name or "sentence_transformers"
        ) from error
    # Asked before: offline, the library would try again and again for minutes before it takes
    # what it keeps.
    away = is_out_of_reach(model_name)
    try:
        with _no_bar():
            model = SentenceTransformer(
                model_name,
                device=chosen,
                model_kwargs={"dtype": dtype},
                local_files_only=bool(away),
            )
    except Exception as error:
        why = (str(error).strip() or type(error).__name__).splitlines()[0]
        why = f"{away}; from what this machine keeps: {why}" if away else why
        raise ModelError(f"embedder {model_name!r} cannot be loaded: {why}") from error
    if limit is not None:
        model.max_seq_length = limit
    source = _revision(model, model_name)
    # Another limit or precision gives other vectors, so it is another model to a cache and an
    # index.
    revision = f"{source} limit={model.max_seq_length} {dtype}" if source else ""
    embedder = SentenceTransformerEmbedder(model, model_name, revision, batch_size)
    embedder.notes.extend([note] if note else [])
    return embedder


def _device(wanted: Device) -> tuple[str, str]:
    """The torch device, and a sentence where it is not the one asked for."""
    if wanted not in {"auto", "cpu", "cuda"}:
        raise InputError(f"device must be auto, cpu or cuda, got {wanted!r}")
    torch = require("torch", "a sentence-transformers embedder", "retrieval")
    if wanted != "cpu" and torch.cuda.is_available():
        return "cuda", ""
    return "cpu", "torch sees no GPU: embedding on the CPU" if wanted == "cuda" else ""


@contextmanager
def _threads(device: str) -> Iterator[None]:
    import torch  # noqa: PLC0415 - loaded with the model

    before = torch.get_num_threads()
    if device == "cpu" and (os.cpu_count() or 1) <= SMALL_CPU:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def _no_bar() -> Iterator[None]:
    """Loading weights takes a moment; its bar would stand among the program's output."""
    from transformers.utils import logging  # noqa: PLC0415 - loaded with the model

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _revision(model: Any, model_name: str) -> str:
    folder = Path(model_name)
    if folder.is_dir():
        return f"folder:{_folder_hash(folder)}"
    config = getattr(getattr(model[0], "auto_model", None), "config", None)
    # What transformers notes of the hub's revision; a name alone may come to mean other
    # weights.
    commit = getattr(config, "_commit_hash", None)
    return f"hub:{model_name}@{commit}" if commit else ""


def _folder_hash(folder: Path) -> str:
    digest = blake2b(digest_size=16)
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        inner = file.relative_to(folder)
        if not _UNREAD.intersection(inner.parts) and "__pycache__" not in inner.parts:
            # The name and then the bytes: two files that change places are another
            # model.
            digest.update(inner.as_posix().encode())
            _feed(file, digest.update)
    return digest.hexdigest()


def _feed(file: Path, update: Callable[[bytes], None]) -> None:
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            update(block)


def is_out_of_reach(model_name: str) -> str:
    """Why the hub cannot be asked for a model; empty where it can, or need not be.

    It goes by the hub's own client, so that its endpoint, proxies and certificates count.
    """
    from huggingface_hub import constants, get_session  # noqa: PLC0415 - comes with the extra

    local = Path(model_name).exists() or not _NAME.fullmatch(model_name)
    if local or constants.HF_HUB_OFFLINE:
        return ""
    try:
        get_session().head(constants.ENDPOINT, timeout=_PATIENCE)
    except Exception as error:  # noqa: BLE001 - what the client raises differs between its versions
        why = (str(error).strip() or type(error).__name__).splitlines()[0]
        return f"{constants.ENDPOINT} cannot be reached ({why})"
    return ""
