"""The training loop: epochs, early stopping on validation F1, a checkpoint after each epoch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError
from voirdire.examining.labels import choose_thresholds, decide, weighted_f1
from voirdire_judges.classifiers._batches import training_order
from voirdire_judges.classifiers._settings import learning_rate

if TYPE_CHECKING:
    from collections.abc import Callable

    from voirdire_judges.classifiers._batches import Part
    from voirdire_judges.classifiers._checkpoints import Checkpoints, History
    from voirdire_judges.classifiers._encoder import Encoder
    from voirdire_judges.classifiers._settings import Settings

    Progress = Callable[[str, int, int], None]


def train(
    encoder: Encoder,
    task: str,
    learnt: Part,
    validation: Part | None,
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


def reached(encoder: Encoder, task: str, part: Part) -> float:
    """Weighted F1; multi-label: at the best shared threshold, as there is no better one yet."""
    scores = encoder.scores(part.tokens, task)
    how = choose_thresholds(scores, part.labels, "shared") if task == "multi-label" else 0.5
    return weighted_f1(part.labels, decide(scores, task, how))


def _after(
    history: History, f1: float, loss: float, settings: Settings, *, watched: bool
) -> History:
    """The history with one more epoch, and whether it was the last."""
    done = history.epochs + 1
    better = not watched or done == 1 or f1 > history.best_f1
    best = done if better else history.best
    stopped = "epochs" if done >= settings.max_epochs else ""
    if watched and done - best >= max(settings.patience, 1):
        stopped = "early"
    return replace(
        history, f1=(*history.f1, f1), loss=(*history.loss, loss), best=best, stopped=stopped
    )


def _epoch(
    encoder: Encoder,
    task: str,
    part: Part,
    settings: Settings,
    optimizer: Any,
    scaler: Any,
    epoch: int,
) -> float:
    """One pass over the training data; the mean loss."""
    import torch  # noqa: PLC0415

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
        loss = _loss(logits.float(), truth, task)
        scaler.scale(loss).backward()
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
