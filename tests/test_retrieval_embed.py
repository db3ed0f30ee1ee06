"""Texts to vectors: each once, in order, kept; odd answers are errors, odd texts are counted."""

from __future__ import annotations

import numpy as np
import pytest
from word_embedder import WordEmbedder

from voirdire import InputError, ModelError
from voirdire_retrieval import VectorCache, embed_texts, open_embedder
from voirdire_retrieval._sentence_transformers import SentenceTransformerEmbedder


def test_rows_stand_in_the_order_of_the_texts_and_have_unit_length():
    texts = ["a much longer text than the others", "b", "a b c", "b"]
    embedder = WordEmbedder()
    found = embed_texts(embedder, texts)
    np.testing.assert_allclose(found.vectors, WordEmbedder().embed(texts), rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, rtol=1e-6)
    assert embedder.asked == [texts[0], "a b c", "b"]  # each once, the longest first


def test_empty_texts_have_no_vector_are_never_sent_and_are_counted():
    embedder = WordEmbedder()
    found = embed_texts(embedder, ["", "word", None, " \t"])
    assert embedder.asked == ["word"]
    assert np.isnan(found.vectors[[0, 2, 3]]).all()
    assert found.empty == 3
    assert found.notes() == ["3 of 4 texts are empty and have no vector"]


def test_nothing_at_all_still_has_a_dimension():
    assert embed_texts(WordEmbedder(), []).vectors.shape == (0, 64)


def test_progress_counts_distinct_texts():
    seen = []
    texts = [f"text {number}" for number in range(40)] * 2
    embed_texts(WordEmbedder(batch_size=2), texts, progress=lambda *step: seen.append(step))
    assert seen == [(16, 40), (32, 40), (40, 40)]


def test_the_cache_serves_the_same_model_and_text_only(tmp_path):
    cache = VectorCache(tmp_path)
    first = embed_texts(WordEmbedder(), ["one", "two"], cache)
    again = WordEmbedder()
    found = embed_texts(again, ["two", "one", "three"], VectorCache(tmp_path))
    assert again.asked == ["three"]
    assert found.cached == 2
    np.testing.assert_array_equal(found.vectors[:2], first.vectors[::-1])
    for other in (WordEmbedder("other"), WordEmbedder(revision="2")):
        embed_texts(other, ["one"], cache)
        assert other.asked == ["one"]


def test_a_revision_decides_before_a_name(tmp_path):
    embed_texts(WordEmbedder("a", revision="r"), ["one"], VectorCache(tmp_path))
    renamed = WordEmbedder("b", revision="r")
    embed_texts(renamed, ["one"], VectorCache(tmp_path))
    assert renamed.asked == []


def test_an_interrupted_run_keeps_what_it_has(tmp_path):
    class Stops(WordEmbedder):
        def embed(self, texts):
            if len(self.asked) > 40:
                raise KeyboardInterrupt
            return super().embed(texts)

    texts = [f"text {number}" for number in range(100)]
    with pytest.raises(KeyboardInterrupt):
        embed_texts(Stops(), texts, VectorCache(tmp_path))
    rest = WordEmbedder()
    embed_texts(rest, texts, VectorCache(tmp_path))
    assert len(rest.asked) == 100 - 64


def test_more_texts_than_one_statement_takes(tmp_path):
    texts = [f"text {number}" for number in range(1203)]
    embed_texts(WordEmbedder(batch_size=200), texts, VectorCache(tmp_path))
    again = WordEmbedder()
    assert embed_texts(again, texts, VectorCache(tmp_path)).cached == 1203
    assert again.asked == []


def test_a_cache_under_a_changed_model_is_refused(tmp_path):
    embed_texts(WordEmbedder(dimension=64), ["one"], VectorCache(tmp_path))
    with pytest.raises(ModelError, match="vectors of 32 and 64 dimensions under one name"):
        embed_texts(WordEmbedder(dimension=32), ["one", "two"], VectorCache(tmp_path))


def test_a_file_that_is_no_cache_is_named(tmp_path):
    (tmp_path / "vectors.sqlite").write_text("no database at all, and long enough to be read")
    with pytest.raises(InputError, match=r"vectors\.sqlite is not a usable cache"):
        VectorCache(tmp_path)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([[1.0, 2.0]], r"2 texts went in, an array of shape \(1, 2\) came back"),
        ([[1.0], [1.0, 2.0]], "ragged or not numbers"),
        ([["x"], ["y"]], "ragged or not numbers"),
        ([[1.0], [float("nan")]], "text 1 of its batch has length nan"),
        ([[0.0], [1.0]], r"text 0 of its batch has length 0\.0"),
        ([[], []], "shape"),
    ],
)
def test_what_is_not_one_vector_a_text_is_an_error(vectors, message):
    embedder = WordEmbedder()
    embedder.embed = lambda _: vectors
    with pytest.raises(ModelError, match=message):
        embed_texts(embedder, ["one", "two"])


class Encoder:
    """Stands for a model on a small device: more than `room` texts do not fit."""

    max_seq_length = 256

    def __init__(self, room, device="cuda"):
        import types

        self.room, self.device, self.batches = room, types.SimpleNamespace(type=device), []

    def get_embedding_dimension(self):
        return 2

    def to(self, device):
        self.room, self.device.type = 10**6, device

    def encode(self, batch, **options):
        if len(batch) > self.room:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
        self.batches.append(len(batch))
        return np.array([[1.0, float(text)] for text in batch], np.float32)


def test_out_of_memory_halves_the_batch_for_good_and_keeps_the_order():
    pytest.importorskip("torch", reason="torch is not installed")
    encoder = Encoder(room=20)
    embedder = SentenceTransformerEmbedder(encoder, "m", "", batch_size=64)
    rows = embedder.embed([str(number) for number in range(100)])
    assert rows[:, 1].tolist() == list(range(100))
    assert (embedder.batch_size, max(encoder.batches)) == (16, 16)
    assert embedder.notes == [
        "cuda ran out of memory: batches of 32 now",
        "cuda ran out of memory: batches of 16 now",
    ]


def test_out_of_memory_at_one_text_leaves_the_gpu():
    pytest.importorskip("torch", reason="torch is not installed")
    embedder = SentenceTransformerEmbedder(Encoder(room=0), "m", "", batch_size=2)
    rows = embedder.embed(["1", "2", "3"])
    assert rows[:, 1].tolist() == [1, 2, 3]
    assert embedder.device == "cpu"
    assert embedder.notes[-1] == "one text alone does not fit on the GPU: embedding on the CPU"


def test_out_of_memory_on_the_cpu_and_other_failures_are_model_errors():
    pytest.importorskip("torch", reason="torch is not installed")
    stuck = SentenceTransformerEmbedder(Encoder(room=0, device="cpu"), "m", "", batch_size=2)
    with pytest.raises(ModelError, match="one text alone does not fit into memory"):
        stuck.embed(["1"])
    with pytest.raises(ValueError, match="could not convert"):
        SentenceTransformerEmbedder(Encoder(room=9), "m", "").embed(["no number"])


@pytest.mark.parametrize("spec", ["", "compatible:", "sentence-transformers: "])
def test_a_nameless_embedder_is_refused(spec):
    with pytest.raises(InputError, match="an embedder is named by"):
        open_embedder(spec, base_url="http://localhost/v1")


def test_a_batch_of_none_is_refused():
    with pytest.raises(InputError, match="batch_size must be 1 or more, got 0"):
        open_embedder("compatible:m", base_url="http://localhost/v1", batch_size=0)
