"""LangChain in both directions."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from word_embedder import WordEmbedder

from voirdire import InputError, ModelError
from voirdire_retrieval import as_langchain, build_index, make_pool, nearest, open_embedder

selectors = pytest.importorskip(
    "langchain_core.example_selectors", reason="langchain-core is not installed"
)
embeddings = pytest.importorskip("langchain_core.embeddings")


class Words(embeddings.Embeddings):
    """The words of a text, as a LangChain model gives them: lists, not of unit length."""

    model = "tiny"

    def embed_documents(self, texts):
        return (WordEmbedder().embed(texts) * 7).tolist()

    def embed_query(self, text):
        raise AssertionError("a query prompt would make nearness lopsided")


def test_an_object_a_class_and_a_path_serve_alike():
    expected = WordEmbedder().embed(["one two", "three"])
    for target in (Words(), Words, f"langchain:{__name__}:Words"):
        import sys

        sys.modules.setdefault(__name__, sys.modules[Words.__module__])
        embedder = open_embedder(target)
        np.testing.assert_allclose(embedder.embed(["one two", "three"]), expected, atol=1e-6)
        assert embedder.dimension == 64
    assert open_embedder(Words()).name == "langchain:Words(tiny)"


def test_another_model_under_the_same_name_is_another_embedder(monkeypatch):
    import sys

    sys.modules.setdefault(__name__, sys.modules[Words.__module__])
    table = pl.DataFrame({"id": ["a"], "text": ["one"]})
    index = build_index(make_pool(table), open_embedder(f"langchain:{__name__}:Words"))
    monkeypatch.setattr(Words, "model", "small")
    with pytest.raises(InputError, match="the index does not fit: it was built with the model"):
        nearest(index, open_embedder(f"langchain:{__name__}:Words"))


def test_langchains_own_embeddings_serve():
    fake = pytest.importorskip("langchain_core.embeddings.fake")
    embedder = open_embedder(fake.DeterministicFakeEmbedding(size=12))
    rows = embedder.embed(["one", "two"])
    assert rows.shape == (2, 12)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("langchain:nothing", 'needs a path "module:attribute"'),
        ("langchain:no.such.module:x", "cannot be imported"),
        ("langchain:math:pi", "no method embed_documents"),
        (3, "no method embed_documents"),
    ],
)
def test_what_is_no_embeddings_is_refused(target, message):
    with pytest.raises(InputError, match=message):
        open_embedder(target)


def test_a_failing_model_is_a_model_error_without_its_secrets():
    class Fails(Words):
        def embed_documents(self, texts):
            raise RuntimeError("sk-invented-123")

    with pytest.raises(ModelError, match="failed: RuntimeError") as caught:
        open_embedder(Fails()).embed(["one"])
    assert "sk-invented" not in str(caught.value)


def selector():
    pytest.importorskip("faiss", reason="faiss is not installed")
    table = pl.DataFrame(
        {"id": ["a", "b", "c"], "text": ["one two", "two three", "four"], "mood": [1, 0, 1]}
    )
    embedder = WordEmbedder()
    return nearest(build_index(make_pool(table, labels=["mood"]), embedder), embedder)


def test_a_selector_serves_a_few_shot_prompt():
    from langchain_core.prompts import FewShotPromptTemplate, PromptTemplate

    adapted = as_langchain(selector(), k=2, text_key="post")
    assert isinstance(adapted, selectors.BaseExampleSelector)
    prompt = FewShotPromptTemplate(
        example_selector=adapted,
        example_prompt=PromptTemplate.from_template("Post: {text} Assessment: {mood}"),
        suffix="Post: {post} Assessment:",
        input_variables=["post"],
        example_separator="\n",
    )
    assert prompt.format(post="two three four") == (
        "Post: two three Assessment: 0\nPost: four Assessment: 1\nPost: two three four Assessment:"
    )


def test_ids_are_passed_on_and_the_pool_is_frozen():
    adapted = as_langchain(selector(), k=1)
    assert [one["id"] for one in adapted.select_examples({"id": "a", "text": "one two x"})] == ["b"]
    with pytest.raises(InputError, match="have no 'text'"):
        adapted.select_examples({"post": "one"})
    with pytest.raises(InputError, match="the pool is frozen"):
        adapted.add_example({"text": "five"})
