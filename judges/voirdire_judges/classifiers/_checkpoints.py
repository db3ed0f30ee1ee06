"""What a training keeps so that it can go on: the state after each epoch, and the best weights."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from itertools import chain
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError
from voirdire.files import whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from voirdire_judges.classifiers._batches import Part

_STATE = "checkpoint.pt"


@dataclass(frozen=True, slots=True)
class History:
    """How a training went.

    Attributes
    ----------
    f1, loss : tuple of float
        Validation F1 and mean training loss of each epoch.
    best : int
        The epoch whose weights are kept, counted from 1; 0 before the first.
    stopped : str
        ``"early"`` (no better F1 for `patience` epochs), ``"epochs"`` (all done), or empty.
    """

    f1: tuple[float, ...] = ()
    loss: tuple[float, ...] = ()
    best: int = 0
    stopped: str = ""

    @property
    def epochs(self) -> int:
        """Epochs trained."""
        return len(self.f1)

    @property
    def best_f1(self) -> float:
        """Validation F1 of the weights kept."""
        return self.f1[self.best - 1] if self.best else float("-inf")


@dataclass(slots=True)
class Checkpoints:
    """Keeps states in a folder, or in memory where there is none.

    Files are written beside and moved into place, so that a kill leaves the last whole one.
    Only tensors and plain values are read back (``weights_only``): no pickled code is ever run.
    """

    folder: Path | None
    identity: str
    held: dict[str, Any] = field(default_factory=dict)

    def keep_best(self, model: Any, epoch: int) -> None:
        """Keep the weights as they are now, beside the best so far: the state tells which hold."""
        weights = model.state_dict().items()
        self._write(_best(epoch), {name: part.detach().cpu().clone() for name, part in weights})

    def keep_state(self, parts: Mapping[str, Any], history: History) -> None:
        """Keep everything that the next epoch begins from, and of weights the best alone."""
        if self.folder is None:
            self.held = {_best(history.best): self.held[_best(history.best)]}
            return
        states = {name: part.state_dict() for name, part in parts.items()}
        self._write(_STATE, {**states, "history": asdict(history), "identity": self.identity})
        for path in self.folder.glob(_best("*")):
            if path.name != _best(history.best):
                path.unlink()

    def restore_best(self, model: Any, epoch: int) -> None:
        """Put the weights of the best epoch back."""
        model.load_state_dict(self._read(_best(epoch)))

    def resume(self, parts: Mapping[str, Any]) -> History:
        """Load the last state into model and optimizer; an empty history where there is none.

        Raises
        ------
        InputError
            The folder holds a training with other settings, encoder or data, one as another
            version of voirdire keeps it, or a broken file.
        """
        if self.folder is None or not (self.folder / _STATE).is_file():
            return History()
        state = self._read(_STATE)
        if not _is_state(state, parts):
            raise InputError(
                f"{self.folder / _STATE}: holds no training that this version can go on with; "
                f"delete {self.folder} to train anew"
            )
        if state["identity"] != self.identity:
            raise InputError(
                f"{self.folder}: holds a training with other settings, texts or labels, or of "
                "another version of the encoder; give another folder or delete it"
            )
        for group, own in zip(
            state["optimizer"]["param_groups"], parts["optimizer"].param_groups, strict=True
        ):
            group["fused"] = own["fused"]  # as this device steps, not the one it began on
        for name, part in parts.items():
            if state[name]:  # a loss scaler that was off has no state
                part.load_state_dict(state[name])
        kept = state["history"]
        return History(tuple(kept["f1"]), tuple(kept["loss"]), kept["best"], kept["stopped"])

    def _write(self, name: str, value: Any) -> None:
        import torch  # noqa: PLC0415

        if self.folder is None:
            self.held[name] = value
            return
        with whole(self.folder / name) as draft:
            torch.save(value, draft)

    def _read(self, name: str) -> Any:
        import torch  # noqa: PLC0415

        if self.folder is None:
            return self.held[name]
        path = self.folder / name
        try:
            return torch.load(path, map_location="cpu", weights_only=True)
        except (OSError, EOFError, RuntimeError, ValueError, UnpicklingError) as error:
            why = str(error).strip().partition("\n")[0] or type(error).__name__
            raise InputError(
                f"{path}: cannot be read ({why}); delete {self.folder} to train anew"
            ) from error


def fingerprint(settings: Mapping[str, Any], weights: str, *parts: Part | None) -> str:
    """SHA-256 over settings, the encoder's weights, token ids and labels."""
    whole = hashlib.sha256(json.dumps([dict(settings), weights], sort_keys=True).encode())
    for part in parts:
        if part is not None:
            ids = chain.from_iterable(part.tokens.columns["input_ids"])
            for block in (part.tokens.lengths, np.fromiter(ids, np.int64), part.labels):
                whole.update(np.ascontiguousarray(block).tobytes())
        whole.update(b"|")
    return whole.hexdigest()


def _is_state(state: Any, parts: Mapping[str, Any]) -> bool:
    """Whether a file holds what `keep_state` writes."""
    history = set(asdict(History()))
    whole = isinstance(state, dict) and set(state) == {*parts, "history", "identity"}
    return whole and isinstance(state["history"], dict) and set(state["history"]) == history


def _best(epoch: int | str) -> str:
    return f"best-{epoch}.pt"
