"""Mild invented sentences, and a tiny BERT with random weights whose vocabulary is made of them."""

from __future__ import annotations

import numpy as np

LABELS = ("garden", "music", "kitchen", "weather")

_WORDS = {
    "garden": ("roses", "seedlings", "the hedge", "tulip bulbs", "compost", "the lawn"),
    "music": ("the violin", "a quiet song", "the choir", "piano scales", "an old record", "drums"),
    "kitchen": ("bread dough", "lentil soup", "the kettle", "apple cake", "a clean pan", "noodles"),
}
_FRAMES = (
    "this morning we looked after {} together",
    "my neighbour told me about {} again",
    "i spent the evening with {} and felt fine",
    "there was time for {} after work",
    "the children asked about {} on the way home",
)


def sentences(n: int, seed: int = 0) -> tuple[list[str], list[list[str]]]:
    """Texts and their labels, the dominant one first; about a third have two. No weather."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(n):
        kinds = rng.choice(
            LABELS[:3], size=1 + (rng.random() < 0.35), replace=False, p=(0.5, 0.3, 0.2)
        )
        things = [str(rng.choice(_WORDS[kind])) for kind in kinds]
        texts.append(str(rng.choice(_FRAMES)).format(" and ".join(things)))
        labels.append([str(kind) for kind in kinds])
    return texts, labels


def one_hot(labels: list[list[str]], classes=LABELS) -> np.ndarray:
    """The dominant label of each row as a 0/1 matrix."""
    return np.array([[int(name == row[0]) for name in classes] for row in labels], dtype=np.int8)


def multi_hot(labels: list[list[str]], classes=LABELS) -> np.ndarray:
    """All labels of each row as a 0/1 matrix."""
    return np.array([[int(name in row) for name in classes] for row in labels], dtype=np.int8)


def build_encoder(folder, texts: list[str], positions: int = 64) -> str:
    """Train a WordPiece vocabulary on the texts and save a BERT of 2 layers x 32 beside it."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    pieces = BertWordPieceTokenizer(lowercase=True)
    pieces.train_from_iterator(texts, vocab_size=400, min_frequency=1, show_progress=False)
    pieces.save_model(str(folder))
    tokenizer = BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=positions)
    config = BertConfig(
        vocab_size=tokenizer.vocab_size,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=positions,
        initializer_range=0.1,  # wide, so that a few epochs are enough to learn words
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)
