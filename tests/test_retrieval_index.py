"""The index: exact by default, recall reported otherwise, refused where its card does not fit."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import polars as pl
import pytest
from word_embedder import WordEmbedder

from voirdire import InputError
from voirdire_retrieval import (
    VectorCache,
    build_index,
    load_index,
    make_pool,
    refresh_index,
    save_index,
)

faiss = pytest.importorskip("faiss", reason="faiss is not installed")

WORDS = [
    "garden",
    "exam",
    "quiet",
    "evening",
    "walk",
    "bread",
    "music",
    "tired",
    "sleep",
    "friend",
    "river",
    "letter",
]


def pool_of(count, seed=0, **columns):
    draw = np.random.default_rng(seed)
    texts = [f"{' '.join(draw.choice(WORDS, 6))} {number}" for number in range(count)]
    table = pl.DataFrame({"id": [f"p{n}" for n in range(count)], "text": texts, **columns})
    return make_pool(table, labels=list(columns))


class Cloud(WordEmbedder):
    """Points in clouds, as embeddings lie: an approximate index has something to gain."""

    def embed(self, texts):
        draw = np.random.default_rng(3)
        centres, noise = draw.standard_normal((20, 16)), draw.standard_normal((len(texts), 16))
        rows = centres[np.arange(len(texts)) % 20] + 0.5 * noise
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_exact_search_equals_the_plain_product():
    pool, embedder = pool_of(50), WordEmbedder()
    index = build_index(pool, embedder)
    queries = embedder.embed(["quiet evening", "exam tired sleep"])
    hits = index.search(queries, 5)
    cosines = queries @ index.vectors(np.arange(50)).T
    np.testing.assert_allclose(hits.scores, -np.sort(-cosines, axis=1)[:, :5], atol=1e-6)
    np.testing.assert_allclose(np.take_along_axis(cosines, hits.rows, 1), hits.scores, atol=1e-6)


def test_places_beyond_the_pool_are_minus_one_and_nan():
    index = build_index(pool_of(2), WordEmbedder())
    hits = index.search(WordEmbedder().embed(["quiet"]), 5)
    assert sorted(hits.rows[0, :2]) == [0, 1]
    assert hits.rows[0, 2:].tolist() == [-1, -1, -1]
    assert np.isnan(hits.scores[0, 2:]).all()


def test_an_empty_query_finds_nothing():
    index = build_index(pool_of(3), WordEmbedder())
    hits = index.search(np.full((1, 64), np.nan, np.float32), 2)
    assert hits.rows.tolist() == [[-1, -1]]


@pytest.mark.parametrize("kind", ["exact", "ivf", "hnsw"])
def test_an_empty_pool_can_be_searched_and_saved(kind, tmp_path):
    empty = make_pool(pl.DataFrame(schema={"id": pl.String, "text": pl.String}))
    index = save_index(build_index(empty, WordEmbedder(), kind=kind), tmp_path)
    hits = load_index(tmp_path).search(WordEmbedder().embed(["quiet"]), 3)
    assert hits.rows.tolist() == [[-1, -1, -1]]
    assert index.notes == ("the pool is empty",)


@pytest.mark.parametrize("kind", ["ivf", "hnsw"])
def test_approximate_kinds_report_their_recall(kind):
    index = build_index(pool_of(2000), Cloud(dimension=16, batch_size=1000), kind=kind)
    recall = index.card.recall
    assert (recall["k"], recall["queries"]) == (10, 1000)
    assert 0.8 <= recall["value"] <= 1
    rows = np.arange(2000)
    hits = index.search(index.vectors(rows), 1)
    assert np.mean(hits.rows[:, 0] == rows) > 0.95


def test_probing_every_list_is_exact_and_probing_one_is_not():
    options = {
        "pool": pool_of(2000),
        "embedder": Cloud(dimension=16, batch_size=1000),
        "kind": "ivf",
    }
    whole = build_index(**options, parameters={"nlist": 32, "nprobe": 32})
    part = build_index(**options, parameters={"nlist": 32, "nprobe": 1})
    assert whole.card.recall["value"] == 1
    assert part.card.recall["value"] < 1
    assert part.card.parameters == {"nlist": 32, "nprobe": 1}


def test_exact_says_nothing_of_recall_and_one_row_has_none():
    assert build_index(pool_of(5), WordEmbedder()).card.recall is None
    assert build_index(pool_of(1), WordEmbedder(), kind="hnsw").card.recall is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "flat"}, "kind of index 'flat' is unknown .allowed: exact, ivf, hnsw"),
        ({"parameters": {"nlist": 3}}, "kind 'exact' takes no parameters of 1 or more, got nlist"),
        ({"kind": "ivf", "parameters": {"nprobe": 0}}, "nlist, nprobe of 1 or more, got nprobe=0"),
        ({"kind": "ivf", "parameters": {"nlist": 2, "nprobe": 3}}, "at most nlist, 2 here, got 3"),
        ({"kind": "ivf", "parameters": {"nlist": 4}}, "at most the number of examples, 3, got 4"),
        ({"device": "tpu"}, "device 'tpu' is unknown .allowed: auto, cpu, cuda"),
    ],
)
def test_what_cannot_be_built_is_said(options, message):
    with pytest.raises(InputError, match=message):
        build_index(pool_of(3), WordEmbedder(), **options)


def test_k_below_one_is_refused():
    with pytest.raises(InputError, match="k must be 1 or more, got 0"):
        build_index(pool_of(3), WordEmbedder()).search(WordEmbedder().embed(["a"]), 0)


@pytest.mark.skipif(getattr(faiss, "get_num_gpus", int)() > 0, reason="faiss sees a GPU here")
def test_a_missing_gpu_is_a_sentence_and_the_cpu_serves():
    index = build_index(pool_of(3), WordEmbedder(), device="cuda")
    assert index.device == "cpu"
    assert "faiss sees no GPU" in index.notes[-1]
    assert build_index(pool_of(3), WordEmbedder(), device="auto").notes == ()


def test_a_gpu_that_fails_while_searching_is_a_warning_and_the_cpu_serves():
    class Fails:
        ntotal = 3

        def search(self, *_, **__):
            raise RuntimeError("cudaMalloc failed: out of memory")

    index = build_index(pool_of(3), WordEmbedder(), device="cpu")
    broken = dataclasses.replace(
        index, placed=dataclasses.replace(index.placed, index=Fails(), device="cuda")
    )
    queries = WordEmbedder().embed(["quiet"])
    with pytest.warns(UserWarning, match=r"the GPU failed \(cudaMalloc failed: out of memory\)"):
        hits = broken.search(queries, 2)
    np.testing.assert_array_equal(hits.rows, index.search(queries, 2).rows)


@pytest.mark.parametrize("kind", ["exact", "ivf", "hnsw"])
def test_saved_and_loaded_it_finds_the_same(kind, tmp_path):
    embedder = WordEmbedder(revision="r1")
    index = save_index(build_index(pool_of(200, mood=[1, 0] * 100), embedder, kind=kind), tmp_path)
    again = load_index(tmp_path, embedder)
    queries = embedder.embed(["quiet evening", "river letter"])
    np.testing.assert_array_equal(again.search(queries, 4).rows, index.search(queries, 4).rows)
    np.testing.assert_array_equal(again.vectors(np.arange(9)), index.vectors(np.arange(9)))
    assert again.frame.equals(index.frame)
    assert dataclasses.asdict(again.card) == dataclasses.asdict(index.card)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "card.json",
        "index.faiss",
        "pool.parquet",
    ]


def test_the_card_says_what_it_is(tmp_path):
    save_index(build_index(pool_of(3, mood=[1, 0, 1]), WordEmbedder()), tmp_path)
    card = json.loads((tmp_path / "card.json").read_text())
    assert (card["model"], card["dimension"], card["count"], card["normalised"]) == (
        "words",
        64,
        3,
        True,
    )
    assert card["labels"] == ["mood"]
    assert set(card["files"]) == {"index.faiss", "pool.parquet"}


def test_another_model_is_refused_by_both_names(tmp_path):
    save_index(build_index(pool_of(3), WordEmbedder("m1")), tmp_path)
    with pytest.raises(InputError, match="built with the model m1, and m2 is asked for"):
        load_index(tmp_path, WordEmbedder("m2"))


def test_other_weights_under_one_name_are_refused(tmp_path):
    save_index(build_index(pool_of(3), WordEmbedder(revision="r1")), tmp_path)
    with pytest.raises(InputError, match=r"words \[r1\], and words \[r2\] is asked for"):
        load_index(tmp_path, WordEmbedder(revision="r2"))


@pytest.mark.parametrize("name", ["index.faiss", "pool.parquet"])
def test_a_changed_cut_or_missing_file_is_refused(name, tmp_path):
    save_index(build_index(pool_of(30), WordEmbedder()), tmp_path)
    file = tmp_path / name
    content = file.read_bytes()
    for damaged in (content[:-9], content[:-1] + bytes([content[-1] ^ 1])):
        file.write_bytes(damaged)
        with pytest.raises(InputError, match=f"{name} is not the file that its card describes"):
            load_index(tmp_path)
    file.unlink()
    with pytest.raises(InputError, match=f"{name} is missing"):
        load_index(tmp_path)


def test_reordered_rows_are_refused_even_if_the_card_was_edited(tmp_path):
    from voirdire.files import file_hash

    save_index(build_index(pool_of(3), WordEmbedder()), tmp_path)
    file, path = tmp_path / "pool.parquet", tmp_path / "card.json"
    pl.read_parquet(file).reverse().write_parquet(file)
    card = json.loads(path.read_text())
    card["files"]["pool.parquet"] = file_hash(file)
    path.write_text(json.dumps(card))
    with pytest.raises(InputError, match="build the index again"):
        load_index(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "holds no index: there is no card.json in it$"),
        ("{", "holds no readable index"),
        ("[]", "format None is not 1"),
        ('{"format": 2}', "format 2 is not 1"),
        ('{"format": 1, "x": 1}', "no card of an index"),
    ],
)
def test_a_card_that_is_none_is_refused(content, message, tmp_path):
    if content is not None:
        (tmp_path / "card.json").write_text(content)
    with pytest.raises(InputError, match=message):
        load_index(tmp_path)


def test_a_half_written_folder_is_no_index(tmp_path, monkeypatch):
    save_index(build_index(pool_of(3), WordEmbedder()), tmp_path)
    monkeypatch.setattr(pl.DataFrame, "write_parquet", lambda *_: (_ for _ in ()).throw(OSError))
    with pytest.raises(OSError):
        save_index(build_index(pool_of(4), WordEmbedder()), tmp_path)
    with pytest.raises(InputError, match="holds no index"):
        load_index(tmp_path)


def test_folders_may_be_named_by_strings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pool, embedder = pool_of(3), WordEmbedder()
    cache = VectorCache("vectors")
    index, why = refresh_index("silver-index", pool, embedder, cache=cache)
    assert why == "there is no index yet"
    assert refresh_index("silver-index", pool, embedder, cache=cache)[1] == ""
    assert load_index("silver-index").card == save_index(index, "copy").card


def test_refresh_builds_once_and_again_only_for_a_reason(tmp_path):
    pool, embedder = pool_of(5, mood=[1, 0, 1, 0, 1]), WordEmbedder()

    def why(pool=pool, embedder=embedder, **options):
        index, reason = refresh_index(tmp_path, pool, embedder, **options)
        assert load_index(tmp_path, embedder).card == index.card
        return reason

    assert why() == "there is no index yet"
    assert why() == ""
    assert len(embedder.asked) == 5
    assert "have changed" in why(pool_of(5, mood=[1, 0, 1, 0, 0]))
    assert "have changed" in why()
    assert "built with the model words, and other is asked for" in why(
        embedder=WordEmbedder("other")
    )
    assert "of kind exact" in why(embedder=WordEmbedder("other"), kind="hnsw")
    (tmp_path / "index.faiss").write_bytes(b"nothing")
    assert "is not the file" in why(embedder=WordEmbedder("other"), kind="hnsw")


@pytest.mark.parametrize("parameters", [{"nlist": 40, "nprobe": 1}, {"nlist": 40, "nprobe": 2}])
def test_an_approximate_index_never_gives_fewer_than_there_are(parameters):
    pool, embedder = pool_of(400), Cloud(dimension=16)
    index = build_index(pool, embedder, kind="ivf", parameters=parameters, device="cpu")
    exact = build_index(pool, embedder, device="cpu")
    queries = embedder.embed(["a", "b", "c"])
    queries[1] = np.nan
    few, many, truth = (
        index.search(queries, 1),
        index.search(queries, 300),
        exact.search(queries, 300),
    )
    assert (many.rows[[0, 2]] >= 0).all()
    np.testing.assert_allclose(many.scores[[0, 2]], truth.scores[[0, 2]], atol=1e-6)
    assert (many.rows[1] == -1).all()
    assert (few.rows[[0, 2]] >= 0).all()


def test_every_vector_of_a_graph_can_be_searched():
    from voirdire_retrieval._faiss import search, search_all

    pool, embedder = pool_of(300), WordEmbedder()
    graph, exact = (
        build_index(pool, embedder, kind=kind, device="cpu") for kind in ("hnsw", "exact")
    )
    queries = embedder.embed(["quiet evening walk"])
    np.testing.assert_allclose(
        search_all(graph.cpu, queries, 300)[1], search(exact.cpu, queries, 300)[1], atol=1e-6
    )


def test_a_cache_that_cannot_be_opened_is_an_error_of_ours(tmp_path):
    (tmp_path / "vectors.sqlite").mkdir()
    with pytest.raises(InputError, match="is not a usable cache of vectors"):
        VectorCache(tmp_path)
