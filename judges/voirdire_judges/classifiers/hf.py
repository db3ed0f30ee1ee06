"""`hf`: fine-tunes any encoder that transformers knows, by hub name or folder."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError, check_allowed
from voirdire.examining.labels import choose_thresholds, decide, weighted_f1
from voirdire.lazy import require
from voirdire_judges.classifiers._checks import check_task, check_training, fitted, read_card
from voirdire_judges.classifiers._encoder import (
    Encoder,
    Split,
    load_encoder,
    save_encoder,
    training_order,
    within_memory,
)
from voirdire_judges.classifiers._fine_tuning import (
    Checkpoints,
    Device,
    History,
    Precision,
    Settings,
    learning_rate,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Progress = Callable[[str, int, int], None]


_CARD = "classifier.json"


@dataclass(frozen=True, slots=True, eq=False)
class HfClassifier:
    """An encoder with a classification head.

    Attributes
    ----------
    classes, task
        See `voirdire.protocols.ClassifierFactory`.
    settings : Settings
    encoder : Encoder or None
        The trained encoder.
    history : History
        Validation F1 and loss by epoch.
    """

    classes: tuple[str, ...]
    task: str
    settings: Settings
    encoder: Encoder | None = None
    history: History = field(default_factory=History)

    @property
    def notes(self) -> tuple[str, ...]:
        """How long it trained, and on what."""
        if self.encoder is None:
            return ()
        why = {"early": "stopped early", "epochs": "all epochs done"}.get(self.history.stopped, "")
        if np.isnan(self.history.best_f1):
            why += "; no validation label to choose one by"
        return (
            f"{self.history.epochs} epochs ({why}), weights of epoch {self.history.best}",
            f"{self.encoder.device}, {self.encoder.precision}, up to {self.encoder.limit} tokens",
            f"encoder {self.settings.model} {self.encoder.weights[:12]}".rstrip(),
        )

    def fit(
        self,
        texts: Sequence[str],
        labels: NDArray[np.int8],
        *,
        validation: tuple[Sequence[str], NDArray[np.int8]] | None = None,
        folder: Path | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> HfClassifier:
        """Fine-tune; with a `folder`, go on from what was trained there before.

        Raises
        ------
        InputError
            The encoder cannot be loaded, shapes do not fit, the loss is not finite, or the folder
            holds another training.
        MissingExtraError
            Torch or transformers is not installed.
        """
        for words, truth in ((texts, labels), *((validation,) if validation else ())):
            check_training(words, truth, self.classes, self.task, "hf classifier")
        torch = require("torch", "the classifier 'hf'", "hf")
        # Every generator that the seed below sets is put back: of the CPU, and of each GPU.
        cards = list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []
        with torch.random.fork_rng(devices=cards), within_memory(torch, self.settings):
            torch.manual_seed(self.settings.seed)
            encoder = load_encoder(self.settings, self.classes, self.task)
            learnt = Split(encoder.tokens(texts), np.asarray(labels, dtype=np.int8))
            watched = None
            if validation is not None and np.any(validation[1]):
                words, truth = validation
                watched = Split(encoder.tokens(words), np.asarray(truth, dtype=np.int8))
            settings = {**self.settings.learning, "task": self.task}
            kept = Checkpoints(folder, fingerprint(settings, encoder.weights, learnt, watched))
            history = train(encoder, self.task, learnt, watched, self.settings, kept, progress)
        return replace(self, encoder=encoder, history=history)

    def predict(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Probabilities of the classes; NaN for a blank text."""
        encoder = fitted(self.encoder, "hf classifier")
        out = np.full((len(texts), len(self.classes)), np.nan)
        there = [place for place, text in enumerate(texts) if text.strip()]
        if there:
            tokens = encoder.tokens([texts[place] for place in there])
            out[there] = encoder.scores(tokens, self.task)
        return out

    def too_long(self, texts: Sequence[str]) -> int:
        """How many texts are longer than the encoder reads, so that their ends are left out."""
        return fitted(self.encoder, "hf classifier").tokens(texts).cut

    def save(self, folder: Path) -> None:
        """Write the model as transformers does, and a JSON card beside it."""
        save_encoder(fitted(self.encoder, "hf classifier"), folder)
        card = {
            "classes": self.classes,
            "task": self.task,
            "settings": asdict(self.settings),
            "history": asdict(self.history),
            "weights": fitted(self.encoder, "hf classifier").weights,
        }
        (folder / _CARD).write_text(json.dumps(card, indent=2), encoding="utf-8")

    def load(self, folder: Path) -> HfClassifier:
        """What `save` wrote; it runs on this classifier's device.

        Raises
        ------
        InputError
            The folder holds no classifier, or one for other classes.
        """
        card = read_card(folder / _CARD, self.classes, self.task, "hf")
        kept: dict[str, Any] = card["history"]
        history = History(tuple(kept["f1"]), tuple(kept["loss"]), kept["best"], kept["stopped"])
        encoder = load_encoder(self.settings, self.classes, self.task, str(folder))
        encoder = replace(encoder, weights=card["weights"])
        return replace(self, encoder=encoder, history=history)


def fingerprint(settings: Mapping[str, Any], weights: str, *parts: Split | None) -> str:
    """SHA-256 over settings, the encoder's weights, token ids and labels."""
    whole = hashlib.sha256(json.dumps([dict(settings), weights], sort_keys=True).encode())
    for part in parts:
        if part is not None:
            # Lengths, then ids, then labels: without lengths, texts cut at other places
            # would hash alike.
            ids = chain.from_iterable(part.tokens.columns["input_ids"])
            for block in (part.tokens.lengths, np.fromiter(ids, np.int64), part.labels):
                whole.update(np.ascontiguousarray(block).tobytes())
        whole.update(b"|")
    return whole.hexdigest()


def make(
    classes: Sequence[str],
    *,
    task: str,
    seed: int = 0,
    device: Device = "auto",
    precision: Precision = "auto",
    threads: int | None = None,
    folder: str = ".",
    **options: Any,
) -> HfClassifier:
    """A classifier to be fine-tuned (`use = "hf"`).

    Parameters
    ----------
    classes, task, seed
        See `voirdire.protocols.ClassifierFactory`. The seed draws the head's first weights, the
        order of texts and the dropout.
    model : str
        The encoder: a hub name (``mental/mental-roberta-base``) or a folder. ``HF_HUB_OFFLINE`` is
        respected.
    learning_rate, weight_decay, batch_size, clip
        Of AdamW; 2e-5, 0.01, 16, and the largest norm of a gradient, 1.
    max_epochs, patience : int
        At most so many epochs (100); stop after so many without a better validation F1 (10).
    max_length : int
        Longest text in tokens (512), where the encoder can read so many; longer ones are cut and
        counted.
    warmup, schedule
        Share of all steps in which the learning rate rises (0), then ``"linear"`` to 0 over
        `max_epochs`, or ``"constant"``.
    device : {"auto", "cpu", "cuda"}
    precision : {"auto", "fp32", "bf16", "fp16"}
        ``auto`` is 32 bits on a CPU, mixed on a GPU (bf16 where it is supported).
    threads : int, optional
        Threads of torch on a CPU.
    folder : str
        Where a relative folder of an encoder is looked for: that of the study.

    Raises
    ------
    InputError
        An option is unknown or out of range.

    Examples
    --------
    >>> make(["no", "yes"], task="binary", model="bert-base-uncased").settings.max_epochs
    100
    """
    check_task(task, classes, "hf classifier")
    check_allowed("option", options, Settings.__slots__, "hf classifier")
    machine: dict[str, Any] = {
        "device": device,
        "precision": precision,
        "threads": threads,
        "folder": folder,
    }
    settings = Settings(**{"model": "", **options, **machine, "seed": seed})
    return HfClassifier(tuple(classes), task, settings)


def train(
    encoder: Encoder,
    task: str,
    learnt: Split,
    validation: Split | None,
    settings: Settings,
    kept: Checkpoints,
    progress: Progress | None = None,
) -> History:
    """Fine-tune, and leave the encoder with its best weights.

    Every epoch seeds torch anew from the seed and its number, so that a training that was killed
    and goes on ends with the very weights (on CPU) of one that was not. Without validation data
    all epochs are done and the last weights kept.
    """
    optimizer, scaler = _optimizer(encoder, settings), _scaler(encoder)
    parts = {"model": encoder.model, "optimizer": optimizer, "scaler": scaler}
    history = kept.resume(parts)
    while not history.stopped:
        loss = _epoch(encoder, task, learnt, settings, optimizer, scaler, history.epochs)
        f1 = float("nan") if validation is None else reached(encoder, task, validation)
        history = _after(history, f1, loss, settings, watched=validation is not None)
        if history.best == history.epochs:
            kept.keep_best(encoder.model, history.best)
        kept.keep_state(parts, history)
        if progress:
            progress(f"F1 {f1:.3f}", history.epochs, settings.max_epochs)
    kept.restore_best(encoder.model, history.best)
    return history


def reached(encoder: Encoder, task: str, part: Split) -> float:
    """Weighted F1; multi-label: at the best shared threshold, as there is no better one yet."""
    scores = encoder.scores(part.tokens, task)
    how = choose_thresholds(scores, part.labels, "shared") if task == "multi-label" else 0.5
    return weighted_f1(part.labels, decide(scores, task, how))


def _after(
    history: History, f1: float, loss: float, settings: Settings, *, watched: bool
) -> History:
    """The history with one more epoch, and whether it was the last."""
    done = history.epochs + 1
    # The first epoch is kept even where its F1 is undefined: some weights must be.
    better = not watched or done == 1 or f1 > history.best_f1
    best = done if better else history.best
    stopped = "epochs" if done >= settings.max_epochs else ""
    # A patience of 0 is one of 1: an epoch cannot be better than itself.
    if watched and done - best >= max(settings.patience, 1):
        stopped = "early"
    return replace(
        history, f1=(*history.f1, f1), loss=(*history.loss, loss), best=best, stopped=stopped
    )


def _epoch(
    encoder: Encoder,
    task: str,
    part: Split,
    settings: Settings,
    optimizer: Any,
    scaler: Any,
    epoch: int,
) -> float:
    """One pass over the training data; the mean loss."""
    import torch  # noqa: PLC0415

    # A SeedSequence and not seed + epoch, by which seed 0 in epoch 1 would be seed 1 in epoch
    # 0.
    torch.manual_seed(int(np.random.SeedSequence((settings.seed, epoch)).generate_state(1)[0]))
    encoder.model.train()
    batches = training_order(part.tokens.lengths, settings.batch_size, settings.seed, epoch)
    steps = len(batches) * settings.max_epochs
    total = torch.zeros((), dtype=torch.float64, device=encoder.device)
    for step, places in enumerate(batches, start=len(batches) * epoch):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(settings, step, steps)
        truth = torch.from_numpy(part.labels[places]).to(encoder.device)
        with encoder.autocast():
            logits = encoder.model(**encoder.batch(part.tokens, places)).logits
        # Out of half precision before the logarithm, in which small probabilities vanish.
        loss = _loss(logits.float(), truth, task)
        scaler.scale(loss).backward()
        # Before clipping: the norm meant is that of the true gradients (PyTorch, Automatic
        # mixed precision).
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(encoder.model.parameters(), settings.clip)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
        total += loss.detach() * len(places)
    mean = float(total) / len(part.labels)
    if not np.isfinite(mean):
        raise InputError(
            f"hf classifier: the loss is {mean} in epoch {epoch + 1}; lower learning_rate "
            f"(it is {settings.learning_rate:g})"
        )
    return mean


def _loss(logits: Any, truth: Any, task: str) -> Any:
    from torch.nn import functional  # noqa: PLC0415

    if task == "multi-label":
        return functional.binary_cross_entropy_with_logits(logits, truth.float())
    return functional.cross_entropy(logits, truth.argmax(dim=1))


def _optimizer(encoder: Encoder, settings: Settings) -> Any:
    """AdamW (Loshchilov and Hutter 2017); biases and normalisations do not decay."""
    import torch  # noqa: PLC0415

    weights = [w for w in encoder.model.parameters() if w.requires_grad]
    groups = [
        {"params": [w for w in weights if w.ndim > 1], "weight_decay": settings.weight_decay},
        {"params": [w for w in weights if w.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=settings.learning_rate, fused=encoder.device == "cuda")


def _scaler(encoder: Encoder) -> Any:
    """Scales the loss where half precision would lose small gradients; else does nothing."""
    import torch  # noqa: PLC0415

    return torch.amp.GradScaler(encoder.device, enabled=encoder.precision == "fp16")
