"""How an encoder is trained: its settings, and what is kept so that it can go on after a kill."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any, Literal

from voirdire.errors import InputError, check_allowed
from voirdire.files import whole

if TYPE_CHECKING:
    from collections.abc import Mapping


Device = Literal["auto", "cpu", "cuda"]
Precision = Literal["auto", "fp32", "bf16", "fp16"]
_CHOICES = {
    "device": ("auto", "cpu", "cuda"),
    "precision": ("auto", "fp32", "bf16", "fp16"),
    "schedule": ("linear", "constant"),
}
_WHOLE = ("batch_size", "max_epochs", "max_length", "patience", "seed")
_REAL = ("learning_rate", "weight_decay", "warmup", "clip")
_ABOVE_ZERO = ("learning_rate", "batch_size", "max_epochs", "max_length", "clip")


@dataclass(frozen=True, slots=True)
class Settings:
    """Options of `voirdire_judges.classifiers.hf.make`, which says what they mean."""

    model: str
    learning_rate: float = 2e-5
    weight_decay: float = 0.01
    batch_size: int = 16
    max_epochs: int = 100
    patience: int = 10
    max_length: int = 512
    warmup: float = 0.0
    schedule: Literal["linear", "constant"] = "linear"
    clip: float = 1.0
    seed: int = 0
    device: Device = "auto"
    precision: Precision = "auto"
    threads: int | None = None
    folder: str = "."

    def __post_init__(self) -> None:
        """Refuse a value of the wrong type or out of range."""
        if not self.model or not isinstance(self.model, str):
            raise InputError("hf classifier: give the encoder's hub name or folder as model")
        for name, allowed in _CHOICES.items():
            check_allowed(name, [getattr(self, name)], allowed, "hf classifier")
        for name in (*_WHOLE, *_REAL):
            self._check_number(name, getattr(self, name))
        if self.warmup >= 1:
            raise InputError(f"hf classifier: warmup must be below 1, got {self.warmup!r}")

    def _check_number(self, name: str, value: Any) -> None:
        kind = "a whole number" if name in _WHOLE else "a number"
        allowed = int if name in _WHOLE else int | float
        least = "above 0" if name in _ABOVE_ZERO else "0 or more"
        # True is an int in Python, and TOML has inf and nan.
        right = isinstance(value, allowed) and not isinstance(value, bool) and isfinite(value)
        if not right or value < 0 or (value == 0 and name in _ABOVE_ZERO):
            raise InputError(f"hf classifier: {name} must be {kind}, {least}, got {value!r}")

    @property
    def source(self) -> str:
        """Where the encoder comes from: a folder within `folder` if there is one, else the name."""
        local = Path(self.folder) / self.model
        return str(local) if local.is_dir() else self.model

    @property
    def learning(self) -> dict[str, str | int | float]:
        """What decides the result, without where and how fast it is computed."""
        # A training may go on elsewhere, on another device: that is no other training.
        apart = ("device", "precision", "threads", "folder")
        return {name: getattr(self, name) for name in self.__slots__ if name not in apart}


def learning_rate(settings: Settings, step: int, steps: int) -> float:
    """The learning rate of a step: a rise over `warmup` of all steps, then constant or falling.

    >>> settings = Settings("bert", learning_rate=1.0, warmup=0.1)
    >>> [round(learning_rate(settings, step, 100), 2) for step in (0, 9, 10, 55, 99)]
    [0.1, 1.0, 1.0, 0.5, 0.01]
    """
    rise = int(settings.warmup * steps)
    if step < rise:
        # From the first step above 0: a step of rate 0 would be lost.
        return settings.learning_rate * (step + 1) / rise
    if settings.schedule == "constant":
        return settings.learning_rate
    return settings.learning_rate * (steps - step) / (steps - rise)


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
        # Older weights go last: a kill before this line leaves two, a kill after it the
        # ones that the state names.
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
                f"delete {self.folder} to start the training again"
            )
        # Going on with other data under the same name would train on a mixture that nobody
        # declared.
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
                f"{path}: cannot be read ({why}); delete {self.folder} to start the training again"
            ) from error


def _is_state(state: Any, parts: Mapping[str, Any]) -> bool:
    """Whether a file holds what `keep_state` writes."""
    history = set(asdict(History()))
    whole = isinstance(state, dict) and set(state) == {*parts, "history", "identity"}
    return whole and isinstance(state["history"], dict) and set(state["history"]) == history


def _best(epoch: int | str) -> str:
    return f"best-{epoch}.pt"
