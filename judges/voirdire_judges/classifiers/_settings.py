"""How an encoder is fine-tuned."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, Literal

from voirdire.errors import InputError, not_one_of

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
        """Refuse values that cannot be meant."""
        if not self.model or not isinstance(self.model, str):
            raise InputError("hf classifier: give the encoder's hub name or folder as model")
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise not_one_of(name, getattr(self, name), allowed, "hf classifier")
        for name in (*_WHOLE, *_REAL):
            self._check_number(name, getattr(self, name))
        if self.warmup >= 1:
            raise InputError(f"hf classifier: warmup must be below 1, got {self.warmup!r}")

    def _check_number(self, name: str, value: Any) -> None:
        kind = "a whole number" if name in _WHOLE else "a number"
        allowed = int if name in _WHOLE else int | float
        least = "above 0" if name in _ABOVE_ZERO else "0 or more"
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
        apart = ("device", "precision", "threads", "folder")
        return {name: getattr(self, name) for name in self.__slots__ if name not in apart}


def learning_rate(settings: Settings, step: int, steps: int) -> float:
    """The learning rate of a step: a rise over `warmup` of all steps, then constant or falling.

    >>> known = Settings("bert", learning_rate=1.0, warmup=0.1)
    >>> [round(learning_rate(known, step, 100), 2) for step in (0, 9, 10, 55, 99)]
    [0.1, 1.0, 1.0, 0.5, 0.01]
    """
    rise = int(settings.warmup * steps)
    if step < rise:
        return settings.learning_rate * (step + 1) / rise
    if settings.schedule == "constant":
        return settings.learning_rate
    return settings.learning_rate * (steps - step) / (steps - rise)
