"""Retrieval: search on CPU and GPU, recall of the approximate kinds, selection, embedding.

    python benchmarks/retrieval.py                    small sizes, for two cores
    python benchmarks/retrieval.py --large            100,000 and 1,000,000 vectors
    python benchmarks/retrieval.py --model FOLDER     embedding throughput with a real model
    python benchmarks/retrieval.py --mpnet TOKENIZER  and with all-mpnet-base-v2's architecture

Vectors are random points in clouds, of unit length; the tables are Markdown.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from voirdire.schema import Item
from voirdire_retrieval import build_index, guard_against, make_pool, nearest
from voirdire_retrieval._faiss import load_faiss, make, place, search
from voirdire_retrieval._index import recall_against_exact

SMALL = [(7_667, 768, 2_876, 2), (7_667, 384, 2_876, 2)]
LARGE = [(100_000, 768, 10_000, 3), (1_000_000, 384, 10_000, 10)]
WORDS = ["the", "a", "and", "to", "evening", "garden", "river", "train", "letter", "friend", "work"]
WORDS += [
    "study",
    "sleep",
    "quiet",
    "tired",
    "glad",
    "walk",
    "music",
    "bread",
    "window",
    "question",
]


def machine():
    """Processor, cores, GPU and versions, in one line."""
    faiss = load_faiss()
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    parts = [f"{model}, {os.cpu_count()} cores", f"faiss {faiss.__version__}"]
    gpus = getattr(faiss, "get_num_gpus", int)()
    try:
        import torch

        parts.append(f"torch {torch.__version__}")
        if gpus:
            parts.append(f"{gpus} GPU: {torch.cuda.get_device_name(0)}")
    except ModuleNotFoundError:
        parts.append("no torch")
    return "; ".join([*parts, f"Python {platform.python_version()}"]), gpus


def clouds(count, size, seed):
    """Unit rows around 1,000 centres, as texts on few subjects lie."""
    draw = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((1000, size), dtype=np.float32)
    rows = centres[draw.integers(0, 1000, count)]
    rows += draw.standard_normal((count, size), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def timed(call, repeats):
    """The median of some repeats in seconds, after one to warm up, and the last result."""
    result, times = call(), []
    for _ in range(repeats):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    return statistics.median(times), result


def search_row(count, size, queries, k, gpus):
    """One row of the table of searches."""
    pool, asked = clouds(count, size, 1), clouds(queries, size, 2)
    index, _ = make(pool, "exact", {})
    cpu, (rows, scores) = timed(lambda: search(index, asked, k), 5 if count < 50_000 else 2)
    cells = [f"{count:,} x {size}, {queries:,}, k={k}", f"{cpu:.3f}"]
    if gpus:
        start = time.perf_counter()
        placed = place(index, "cuda")
        moved = time.perf_counter() - start
        gpu, (there, near) = timed(lambda: search(placed.index, asked, k), 5)
        equal = float((there == rows).mean())
        apart = float(np.abs(near - scores).max())
        cells += [f"{gpu:.4f}", f"{cpu / gpu:.0f}", f"{equal:.5f}", f"{apart:.1e}", f"{moved:.2f}"]
    print(f"| {' | '.join(cells)} |", flush=True)


def searches(sizes, gpus):
    """Exact search."""
    head = ["vectors x dim, queries, k", "CPU s"]
    if gpus:
        head += ["GPU s", "ratio", "ids equal", "largest difference", "to the GPU s"]
    print(f"\n| {' | '.join(head)} |\n|{'---|' * len(head)}", flush=True)
    for size in sizes:
        search_row(*size, gpus)


def approximate(count, size, gpus):
    """Build time, search time and recall of the three kinds."""
    pool, asked = clouds(count, size, 1), clouds(2_000, size, 2)
    print(f"\n{count:,} x {size}, 2,000 queries, k=10\n")
    print("| kind | parameters | build s | search s (CPU) | search s (GPU) | recall at 10 |")
    print("|---|---|---|---|---|---|", flush=True)
    for kind in ("exact", "ivf", "hnsw"):
        start = time.perf_counter()
        index, used = make(pool, kind, {})
        built = time.perf_counter() - start
        cpu, _ = timed(partial(search, index, asked, 10), 2)
        placed = place(index, "cuda") if gpus else None
        there = placed is not None and placed.device == "cuda"
        gpu = f"{timed(partial(search, placed.index, asked, 10), 5)[0]:.4f}" if there else "-"
        recall = 1.0 if kind == "exact" else recall_against_exact(index, pool).value
        named = ", ".join(f"{name} {value}" for name, value in used.items()) or "-"
        cells = [kind, named, f"{built:.1f}", f"{cpu:.3f}", gpu, f"{recall:.3f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


class Looked:
    """An embedder that looks vectors up, so that selection is timed alone."""

    name = "looked up"
    batch_size = 100_000

    def __init__(self, texts, vectors):
        self.rows, self.dimension = dict(zip(texts, vectors, strict=True)), vectors.shape[1]

    def embed(self, texts):
        return np.stack([self.rows[text] for text in texts])


def selection():
    """The paper's sizes through the selector, guard included."""
    pool = [f"pool {number}" for number in range(7_667)]
    items = [Item(f"t{number}", f"item {number}") for number in range(2_876)]
    texts = [*pool, *(item.text for item in items)]
    embedder = Looked(texts, np.concatenate([clouds(7_667, 768, 1), clouds(2_876, 768, 2)]))
    start = time.perf_counter()
    index = build_index(make_pool(pl.DataFrame({"id": pool, "text": pool})), embedder)
    built = time.perf_counter() - start
    selector = nearest(index, embedder, guard_against(items))
    took, _ = timed(lambda: selector.select_many(items, 2), 3)
    print(
        f"\n2 examples for each of 2,876 items out of 7,667, embeddings at hand, guard and "
        f"excerpts included, on {index.device}: {took:.2f} s (index made in {built:.2f} s)"
    )


def texts_of(count, words, seed=0):
    """Invented texts of about so many words."""
    draw = np.random.default_rng(seed)
    lengths = draw.integers(words // 2, words * 3 // 2, count)
    return [" ".join(draw.choice(WORDS, length)) for length in lengths]


def mpnet(tokenizer, folder):
    """A model of all-mpnet-base-v2's architecture with random weights, in a folder."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer
    from transformers import AutoTokenizer, MPNetConfig, MPNetModel

    MPNetModel(MPNetConfig()).save_pretrained(folder / "raw")
    AutoTokenizer.from_pretrained(tokenizer).save_pretrained(folder / "raw")
    body = Transformer(str(folder / "raw"), max_seq_length=384)
    SentenceTransformer(modules=[body, Pooling(768)]).save(str(folder / "model"))
    return str(folder / "model")


def embedding(name, model, device, sizes, counts):
    """Texts a second by batch size, number format and length of the texts."""
    from voirdire_retrieval._sentence_transformers import open_sentence_transformers

    for dtype in ("float32", "float16") if device == "cuda" else ("float32",):
        for batch in sizes:
            embedder = open_sentence_transformers(
                model, device=device, batch_size=batch, dtype=dtype
            )
            speeds = []
            for words, count in counts:
                texts = sorted(texts_of(count, words), key=len, reverse=True)
                embedder.embed(texts[: 2 * batch])
                start = time.perf_counter()
                embedder.embed(texts)
                speeds.append(f"{count / (time.perf_counter() - start):,.0f}")
            cells = [name, device, dtype, str(batch), *speeds]
            print(f"| {' | '.join(cells)} |", flush=True)


def peak(model):
    """GPU memory with few and with many texts: one batch, whatever their number."""
    import torch

    from voirdire_retrieval import open_embedder

    embedder = open_embedder(model, device="cuda", batch_size=256)
    texts, peaks = texts_of(200_000, 20), []
    for count in (2_000, 200_000):
        torch.cuda.reset_peak_memory_stats()
        start = time.perf_counter()
        embedder.embed(texts[:count])
        took = time.perf_counter() - start
        peaks.append(
            f"{count:,} texts: {torch.cuda.max_memory_allocated() / 2**20:.0f} MiB, {took:.1f} s"
        )
    print(f"\nGPU peak of the real model by number of texts: {'; '.join(peaks)}", flush=True)


def main():
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--model", help="folder or name of a real model")
    parser.add_argument("--mpnet", help="folder with a tokenizer")
    given = parser.parse_args()
    named, gpus = machine()
    print(f"Machine: {named}")
    selection()
    searches([*SMALL, *(LARGE if given.large else [])], gpus)
    approximate(100_000 if given.large else 20_000, 384, gpus)
    if not (given.model or given.mpnet):
        return
    device = "cuda" if gpus else "cpu"
    counts = [(20, 20_000), (120, 5_000)] if gpus else [(20, 400), (120, 100)]
    sizes = (16, 64, 256, 1024) if gpus else (8, 32)
    heads = [f"texts/s at {words} words" for words, _ in counts]
    print(
        f"\n| model | device | numbers | batch | {' | '.join(heads)} |\n|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as folder:
        if given.model:
            embedding("real model", given.model, device, sizes, counts)
        if given.mpnet:
            model = mpnet(given.mpnet, Path(folder))
            embedding("all-mpnet-base-v2 (random weights)", model, device, sizes, counts)
    if gpus and given.model:
        peak(given.model)


if __name__ == "__main__":
    main()
