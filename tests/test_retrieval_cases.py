"""Cases from public bug reports on retrieval: every variant of kind e_retrieval is a test."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from word_embedder import GivenEmbedder, WordEmbedder, at_cosine

from voirdire import InputError
from voirdire.schema import Item
from voirdire_retrieval import (
    Guard,
    build_index,
    embed_texts,
    leak_findings,
    make_pool,
    nearest,
    refresh_index,
)
from voirdire_retrieval._sentence_transformers import SentenceTransformerEmbedder

pytest.importorskip("faiss", reason="faiss is not installed")

#: Case -> number of variants below.
COVERED = {"E01": 3, "E02": 3, "E04": 3, "E05": 2, "E07": 3}


def pool_of(rows, **options):
    table = pl.DataFrame(rows, schema=["id", "text", *options.pop("columns", [])], orient="row")
    return make_pool(table, **options)


def selector_of(pool, embedder=None, **guard):
    embedder = embedder or WordEmbedder()
    return nearest(build_index(pool, embedder), embedder, Guard(**guard))


def ids(selection):
    return [example["id"] for example in selection.examples]


@pytest.mark.shared
def test_every_variant_has_a_test(shared):
    lines = (shared / "cases" / "bug_cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [one for one in map(json.loads, lines) if one["kind"] == "e_retrieval"]
    assert {one["id"]: len(one["variants"]) for one in cases} == COVERED


def test_e01_the_item_itself_is_no_example_and_k_is_filled():
    pool = pool_of([("p1", "one day"), ("p2", "one day more"), ("p3", "a day")])
    selection = selector_of(pool).select_many([Item("p2", "one day more")], 2)[0]
    assert sorted(ids(selection)) == ["p1", "p3"]
    assert [one.id for one in selection.excluded] == ["p2"]


def test_e01_the_same_text_under_another_id_is_excluded():
    pool = pool_of([("p1", "Same text "), ("p9", "other")])
    selection = selector_of(pool).select_many([Item("q7", "same text")], 2)[0]
    assert [one.id for one in selection.excluded] == ["p1"]
    assert ids(selection) == ["p9"]


def test_e01_nothing_left_is_said():
    selection = selector_of(pool_of([("p2", "one")])).select_many([Item("p2", "one")], 2)[0]
    assert ids(selection) == []
    assert selection.notes == ("no example left",)


def test_e02_a_repeated_text_serves_once():
    pool = pool_of([("1", "a"), ("2", "a"), ("3", "b")])
    selection = selector_of(pool).select_many([Item("q", "a b c")], 2)[0]
    assert sorted(example["text"] for example in selection.examples) == ["a", "b"]
    assert pool.duplicates == 1


def test_e02_an_example_too_near_is_the_item_in_other_words():
    embedder = GivenEmbedder({"q": [1, 0], "one": at_cosine(0.995), "two": at_cosine(0.61)})
    pool = pool_of([("p1", "one"), ("p2", "two")])
    selection = selector_of(pool, embedder, max_similarity=0.98).select_many([Item("q", "q")], 1)[0]
    assert ids(selection) == ["p2"]
    assert [(one.id, one.reason) for one in selection.excluded] == [("p1", "near_duplicate")]


def test_e02_a_neighbouring_turn_of_the_same_conversation_is_no_example():
    rows = [("p1", "chat one", "chat7"), ("p2", "chat two", "chat9")]
    pool = pool_of(rows, columns=["chat"], group="chat")
    item = Item("q", "chat one please", {"group": "chat7"})
    assert ids(selector_of(pool).select_many([item], 1)[0]) == ["p2"]


def test_e04_other_dimensions_are_an_error_that_names_both_sizes_and_models():
    index = build_index(pool_of([("p1", "one")]), WordEmbedder("m384", 384))
    queries = WordEmbedder("m768", 768).embed(["one"])
    with pytest.raises(InputError, match=r"768 dimensions \(m768\), the index 384 \(m384\)"):
        index.search(queries, 1, "m768")


def test_e04_the_same_dimension_from_another_model_rebuilds(tmp_path):
    pool = pool_of([("p1", "one"), ("p2", "two")])
    refresh_index(tmp_path, pool, WordEmbedder("m1", 384))
    second = WordEmbedder("m2", 384)
    index, why = refresh_index(tmp_path, pool, second)
    assert "built with the model m1, and m2 is asked for" in why
    np.testing.assert_allclose(index.vectors([0, 1]), second.embed(["one", "two"]), rtol=1e-6)


@pytest.mark.parametrize(
    "edited", [[("p1", "one"), ("p2", "two!")], [("p2", "two"), ("p1", "one")]]
)
def test_e04_an_edited_or_reordered_pool_rebuilds(edited, tmp_path):
    refresh_index(tmp_path, pool_of([("p1", "one"), ("p2", "two")]), WordEmbedder())
    index, why = refresh_index(tmp_path, pool_of(edited), WordEmbedder())
    assert "have changed" in why
    assert index.frame.select("id", "text").rows() == edited


def test_e05_k_beyond_the_pool_returns_what_there_is_and_says_so():
    pool = pool_of([("p1", "one"), ("p2", "two")])
    selection = selector_of(pool).select_many([Item("q", "one two")], 5)[0]
    assert sorted(ids(selection)) == ["p1", "p2"]
    assert selection.notes == ("2 of 5 examples: no more are left",)
    assert leak_findings([selection])[0].kind == "few_examples"


def test_e05_an_empty_pool_returns_nothing_and_says_so():
    empty = make_pool(pl.DataFrame(schema={"id": pl.String, "text": pl.String}))
    selection = selector_of(empty).select_many([Item("q", "one")], 3)[0]
    assert selection.examples == ()
    assert selection.notes == ("empty pool",)


class OneBatch:
    """A model that keeps count of what is on its device, and has room for `room` texts."""

    def __init__(self, room=10**9):
        import types

        self.device, self.max_seq_length, self.room = types.SimpleNamespace(type="cuda"), 256, room
        self.largest = 0

    def get_embedding_dimension(self):
        return 1

    def to(self, device):
        self.room, self.device.type = 10**9, device

    def encode(self, batch, *, convert_to_numpy, **options):
        assert convert_to_numpy  # an answer as a tensor would stay on the device
        if len(batch) > self.room:
            raise RuntimeError("CUDA out of memory")
        self.largest = max(self.largest, len(batch))
        return np.array([[float(text)] for text in batch], np.float32)

    def tokenizer(self, texts, **options):
        assert options["truncation"] is False
        return {"input_ids": [text.split() for text in texts]}


def test_e07_no_more_than_one_batch_is_on_the_device():
    pytest.importorskip("torch", reason="torch is not installed")
    model = OneBatch()
    embedder = SentenceTransformerEmbedder(model, "m", "", batch_size=256)
    rows = embedder.embed([str(number) for number in range(1, 200_001)])
    assert rows[:, 0].tolist() == list(range(1, 200_001))
    assert model.largest == 256


def test_e07_out_of_memory_halves_the_batch_then_leaves_the_gpu_and_keeps_the_order():
    pytest.importorskip("torch", reason="torch is not installed")
    for room, device in ((63, "cuda"), (0, "cpu")):
        model = OneBatch(room)
        embedder = SentenceTransformerEmbedder(model, "m", "", batch_size=64)
        rows = embedder.embed([str(number) for number in range(1, 131)])
        assert rows[:, 0].tolist() == list(range(1, 131))
        assert embedder.device == device
        assert "batches of 32 now" in embedder.notes[0]


def test_e07_the_share_of_a_long_text_that_is_not_seen_is_reported():
    pytest.importorskip("torch", reason="torch is not installed")
    model = OneBatch()
    model.encode = lambda batch, **options: np.ones((len(batch), 1), np.float32)
    embedder = SentenceTransformerEmbedder(model, "m", "", batch_size=8)
    found = embed_texts(embedder, ["word " * 1800, "short"])
    assert found.truncated == 1
    assert found.notes() == [
        "1 of 2 texts are longer than the model reads: 86% of their text is not seen"
    ]
    index = build_index(pool_of([("p1", "word " * 1800)]), embedder)
    items = [Item("t1", "word " * 300), Item("t2", "short")]
    chosen = nearest(index, embedder, Guard(max_similarity=None)).select_many(items, 1)
    assert [(one.cut, one.short) for one in chosen] == [(True, False), (False, False)]
    assert "longer than the embedder reads" in chosen[0].notes[0]
    assert [(one.kind, one.places) for one in leak_findings(chosen)] == [("items_cut", ("t1",))]
    assert index.card.left_out["truncated"] == 1
    assert "86%" in index.notes[0]
