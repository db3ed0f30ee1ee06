"""A training that kills its own process, by SIGKILL: after a step, or with half a file written.

python killed_training.py ENCODER FOLDER step 25     # after the 25th step of the optimizer
python killed_training.py ENCODER FOLDER write 6     # in the midst of the sixth file
"""

from __future__ import annotations

import io
import os
import signal
import sys
from itertools import count
from pathlib import Path

from tiny_encoder import LABELS, one_hot, sentences

from voirdire_judges.classifiers import hf

OPTIONS = {
    "learning_rate": 4e-3, "batch_size": 16, "warmup": 0.05, "threads": 1, "device": "cpu",
    "max_epochs": 40, "patience": 5,
}  # fmt: skip
STEPS = 10  # an epoch: 160 texts in batches of 16


def data():
    """Texts and labels to learn from and to validate on."""
    texts, labels = sentences(200)
    truth = one_hot(labels)
    return (texts[:160], truth[:160]), (texts[160:], truth[160:])


def classifier(encoder):
    """The same untrained classifier in every process."""
    return hf.make(LABELS, task="multi-class", model=encoder, **OPTIONS)


def die():
    """End as a power cut does."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_after_step(number):
    """Kill this process when an optimizer has made so many steps."""
    from torch.optim.optimizer import register_optimizer_step_post_hook

    steps = count(1)
    register_optimizer_step_post_hook(lambda *_: die() if next(steps) == number else None)


def die_while_writing(number):
    """Kill this process when half of a file lies on the disk."""
    import torch

    whole, files = torch.save, count(1)

    def half(value, path):
        if next(files) < number:
            whole(value, path)
            return
        held = io.BytesIO()
        whole(value, held)
        Path(path).write_bytes(held.getvalue()[: held.tell() // 2])
        die()

    torch.save = half


def main():
    """Train until killed."""
    encoder, folder, what, at = sys.argv[1:]
    {"step": die_after_step, "write": die_while_writing}[what](int(at))
    learnt, dev = data()
    classifier(encoder).fit(*learnt, validation=dev, folder=Path(folder))


if __name__ == "__main__":
    main()
