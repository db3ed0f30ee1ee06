"""Fine-tuning a base-size encoder (random weights): our loop beside the Trainer of transformers.

    python benchmarks/finetune.py            # BERT-base, data of the size of paper 000
    python benchmarks/finetune.py --quick    # two layers and few texts: does it run here?

Needs torch, transformers and accelerate, and of voirdire neither polars nor pydantic:
PYTHONPATH=core:judges is enough.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from _timing import machine, seconds, table, versions

from voirdire_judges.classifiers import hf

LABELS = tuple(f"label {i}" for i in range(11))
EPOCHS = 3


@dataclass(frozen=True)
class Size:
    """Of data and encoder; the default is that of Sharma et al., Table 3, and BERT-base."""

    train: int = 1771
    dev: int = 379
    layers: int = 12
    width: int = 768
    words: int = 8_000


def texts_of(n: int, size: Size, seed: int) -> tuple[list[str], np.ndarray]:
    """Random words, about 130 a text and at most 400; a label's own word stands in its texts."""
    rng = np.random.default_rng(seed)
    lengths = np.clip(rng.lognormal(np.log(130), 0.6, n), 10, 400).astype(int)
    labels = (rng.random((n, len(LABELS))) < 0.15).astype(np.int8)
    texts = []
    for length, row in zip(lengths, labels, strict=True):
        words = [f"w{number}" for number in rng.integers(100, size.words, length)]
        for label in np.flatnonzero(row):
            words[rng.integers(length)] = f"w{label}"
        texts.append(" ".join(words))
    return texts, labels


def build(folder: Path, size: Size) -> str:
    """A BERT with random weights and one token a word."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocab = folder / "vocab.txt"
    vocab.write_text("\n".join([*marks, *(f"w{i}" for i in range(size.words))]), encoding="utf-8")
    tokenizer = BertTokenizerFast(vocab=str(vocab), model_max_length=512)
    config = BertConfig(
        vocab_size=tokenizer.vocab_size,
        hidden_size=size.width,
        num_hidden_layers=size.layers,
        num_attention_heads=size.width // 64,
        intermediate_size=4 * size.width,
    )
    torch.manual_seed(0)
    BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def ours(
    path: str, learnt: Any, dev: Any, batch_size: int, precision: str, kept: Path | None
) -> dict[str, float]:
    """Seconds an epoch (validation and checkpoint included), the whole fit, and peak memory."""
    import torch

    ends = [time.perf_counter()]
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    made = hf.make(
        LABELS,
        task="multi-label",
        model=path,
        batch_size=batch_size,
        max_epochs=EPOCHS,
        patience=EPOCHS,
        precision=precision,
    )
    known = made.fit(
        *learnt, validation=dev, folder=kept, progress=lambda *_: ends.append(time.perf_counter())
    )
    peak = torch.cuda.max_memory_allocated() / 2**30 if torch.cuda.is_available() else 0.0
    return {
        "epoch": float(np.median(np.diff(ends)[1:])),
        "whole": time.perf_counter() - ends[0],
        "peak": peak,
        "f1": known.history.best_f1,
    }


class Rows:
    """What the Trainer reads: ids, mask and labels of each text."""

    def __init__(self, tokenizer: Any, texts: list[str], labels: np.ndarray) -> None:
        self.encoded = tokenizer(texts, truncation=True, max_length=512)
        self.labels = labels.astype(np.float32)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, place: int) -> dict[str, Any]:
        return {name: part[place] for name, part in self.encoded.items()} | {
            "labels": self.labels[place]
        }


def trainers(
    path: str, learnt: Any, dev: Any, batch_size: int, folder: Path, *, half: bool
) -> dict[str, float]:
    """The same with the Trainer: AdamW, linear schedule, evaluation and checkpoint each epoch."""
    import torch
    from transformers import (
        AutoModelForSequenceClassification,
        AutoTokenizer,
        DataCollatorWithPadding,
        Trainer,
        TrainerCallback,
        TrainingArguments,
    )

    ends = [time.perf_counter()]

    class Clock(TrainerCallback):
        def on_save(self, *_: Any, **__: Any) -> None:
            ends.append(time.perf_counter())

    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    tokenizer = AutoTokenizer.from_pretrained(path)
    model = AutoModelForSequenceClassification.from_pretrained(
        path, num_labels=len(LABELS), problem_type="multi_label_classification"
    )
    arguments = TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=EPOCHS,
        per_device_train_batch_size=batch_size,
        per_device_eval_batch_size=256,
        learning_rate=2e-5,
        weight_decay=0.01,
        bf16=half,
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=1,
        report_to=[],
        disable_tqdm=True,
        logging_strategy="no",
        use_cpu=not torch.cuda.is_available(),
    )
    trainer = Trainer(
        model,
        arguments,
        DataCollatorWithPadding(tokenizer),
        Rows(tokenizer, *learnt),
        Rows(tokenizer, *dev),
        callbacks=[Clock()],
    )
    trainer.train()
    peak = torch.cuda.max_memory_allocated() / 2**30 if torch.cuda.is_available() else 0.0
    epochs = float(np.median(np.diff(ends)[1:]))
    return {"epoch": epochs, "whole": time.perf_counter() - ends[0], "peak": peak, "f1": np.nan}


def report(size: Size) -> str:
    """The measured table as Markdown."""
    import torch

    learnt, dev = texts_of(size.train, size, 0), texts_of(size.dev, size, 1)
    gpu = torch.cuda.is_available()
    where = f"one {torch.cuda.get_device_name()}, " if gpu else ""
    rows = []
    with tempfile.TemporaryDirectory() as passing:
        folder = Path(passing)
        path = build(folder, size)
        parameters = sum(p.numel() for p in _model(path).parameters()) / 1e6
        cases = [("bf16", 16), ("bf16", 32), ("fp32", 16), ("fp32", 32)] if gpu else [("fp32", 16)]
        for precision, batch in cases:
            kept = folder / f"ours-{precision}-{batch}"
            ran = {
                "voirdire": ours(path, learnt, dev, batch, precision, kept),
                "voirdire, nothing kept": ours(path, learnt, dev, batch, precision, None),
                "Trainer": trainers(
                    path, learnt, dev, batch, folder / f"t-{precision}-{batch}",
                    half=precision == "bf16",
                ),
            }  # fmt: skip
            rows += [
                [
                    f"{name}, {precision}, batch {batch}",
                    seconds(r["epoch"]),
                    f"{size.train / r['epoch']:,.0f}",
                    seconds(r["whole"]),
                    f"{r['peak']:.1f} GiB",
                ]
                for name, r in ran.items()
            ]
    head = ["training", "an epoch", "texts a second", f"{EPOCHS} epochs and loading", "GPU memory"]
    return f"""# Fine-tuning

`python benchmarks/finetune.py`, {where}{machine()}, {versions("torch", "transformers", "numpy")}.
BERT with {size.layers} layers x {size.width} ({parameters:.0f} million parameters, random weights),
{size.train:,} texts of about 130 words to train and {size.dev} to validate (the sizes of Sharma et
al., Table 3), 11 labels. An epoch is the median after the first, with validation and, but for
"nothing kept", the checkpoint from which a killed training goes on (weights and optimizer state).

{table(head, rows)}
"""


def _model(path: str) -> Any:
    from transformers import AutoModel

    return AutoModel.from_pretrained(path)


def main() -> None:
    """Measure, print, and write to the file named by ``--out``."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    size = Size(200, 50, 2, 128, 500) if asked.quick else Size()
    text = report(size)
    sys.stdout.write(text)
    if asked.out:
        asked.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
