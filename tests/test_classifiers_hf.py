"""Fine-tuning for real: a tiny BERT with random weights, built on the spot, on one thread."""

from __future__ import annotations

import importlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from test_classifiers_grid import mild_study
from tiny_encoder import LABELS, build_encoder, multi_hot, one_hot, sentences

from voirdire.errors import InputError, MissingExtraError
from voirdire.examining.labels import choose_thresholds, decide, weighted_f1
from voirdire.stats import random_f1
from voirdire_judges.classifiers import cells_of, dry_run, evaluate_grid, fit_grid, hf
from voirdire_judges.classifiers._encoder import padded, tokenise
from voirdire_judges.classifiers._fine_tuning import Checkpoints, History

torch = pytest.importorskip("torch", reason="pip install 'voirdire[hf]'")
transformers = pytest.importorskip("transformers", reason="pip install 'voirdire[hf]'")

QUICK = {"learning_rate": 4e-3, "batch_size": 16, "warmup": 0.05, "threads": 1, "device": "cpu"}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """The folder of a tiny encoder that knows the words of the sentences."""
    before = torch.get_num_threads()
    yield build_encoder(tmp_path_factory.mktemp("encoder"), sentences(400)[0])
    torch.set_num_threads(before)


def split_of(labels_of, n=260):
    texts, labels = sentences(n)
    truth = labels_of(labels)
    return (texts[:160], truth[:160]), (texts[160:200], truth[160:200]), (texts[200:], truth[200:])


def weights(classifier):
    return {name: part.clone() for name, part in classifier.encoder.model.state_dict().items()}


def same(left, right):
    return all(torch.equal(left[name], right[name]) for name in left)


def test_five_seeds_in_a_grid_beat_chance(tmp_path, encoder):
    options = {"model": encoder, "max_epochs": 18, "patience": 18, **QUICK}
    del options["threads"], options["device"]
    sets = [{"name": "gold", "column": "gold", "tasks": ["multi-class"]}]
    models = [{"name": "tiny", "use": "hf", "options": options}]
    study = mild_study(
        tmp_path, label_sets=sets, models=models, seeds=[0, 1, 2, 3, 4], keep_models=False
    )
    fit_grid(study, tmp_path / "out", quiet=True, machine={"device": "cpu", "threads": 1})
    found = evaluate_grid(tmp_path / "out")
    row = found.summary.row(0, named=True)
    assert row["seeds"] == 5
    assert row["f1_weighted"] - 2 * row["f1_weighted_sd"] > row["f1_random"]
    assert (found.scores["f1_weighted"] > found.scores["f1_constant"]).all()
    folder = cells_of(study)[0].folder(tmp_path / "out")
    kept = {path.name for path in folder.iterdir()}
    whole = {"cell.json", "result.json", "tested.parquet", "session.lock"}
    assert kept == whole  # no checkpoint, no model


def test_several_labels_with_one_that_is_never_used(tmp_path, encoder):
    learnt, dev, test = split_of(multi_hot)
    made = hf.make(LABELS, task="multi-label", model=encoder, max_epochs=20, patience=20, **QUICK)
    known = made.fit(*learnt, validation=dev)
    scores = known.predict([*test[0], " "])
    assert np.isnan(scores[-1]).all()
    assert ((scores[:-1] > 0) & (scores[:-1] < 1)).all()
    assert scores[:-1, 3].max() < 0.5  # nothing is about the weather
    thresholds = choose_thresholds(known.predict(dev[0]), dev[1], "shared")
    reached = weighted_f1(test[1], decide(scores[:-1], "multi-label", thresholds))
    assert reached > random_f1(test[1].sum(axis=0), len(test[1])).value + 0.1
    known.save(tmp_path / "kept")
    again = made.load(tmp_path / "kept")
    assert np.array_equal(again.predict(test[0]), scores[:-1])
    assert again.history == known.history
    other = hf.make(["a", "b"], task="binary", model=encoder)
    with pytest.raises(InputError, match="holds a multi-label classifier for"):
        other.load(tmp_path / "kept")


def test_the_same_seed_gives_the_same_weights_and_another_does_not(encoder):
    learnt, dev, _ = split_of(one_hot, 210)
    made = [
        hf.make(LABELS, task="multi-class", seed=seed, model=encoder, max_epochs=2, **QUICK)
        for seed in (3, 3, 4)
    ]
    state = torch.random.get_rng_state()
    first, second, third = (weights(one.fit(*learnt, validation=dev)) for one in made)
    assert torch.equal(torch.random.get_rng_state(), state)  # the caller's generator is untouched
    assert same(first, second)
    assert not same(first, third)


def test_early_stopping_keeps_the_best_epoch(encoder):
    learnt, dev, _ = split_of(one_hot)
    made = hf.make(LABELS, task="multi-class", model=encoder, max_epochs=60, patience=6, **QUICK)
    seen = []
    known = made.fit(*learnt, validation=dev, progress=lambda what, at, of: seen.append((at, of)))
    history = known.history
    assert history.stopped == "early"
    assert history.epochs == history.best + 6 < 60
    assert history.best_f1 == max(history.f1)
    assert seen == [(epoch, 60) for epoch in range(1, history.epochs + 1)]
    on_dev = weighted_f1(dev[1], decide(known.predict(dev[0]), "multi-class"))
    assert on_dev == pytest.approx(history.best_f1)
    assert any(f"weights of epoch {history.best}" in note for note in known.notes)


def test_a_training_that_stopped_goes_on_to_the_same_weights(tmp_path, encoder):
    learnt, dev, _ = split_of(one_hot, 210)
    made = hf.make(LABELS, task="multi-class", model=encoder, max_epochs=4, patience=9, **QUICK)
    whole = weights(made.fit(*learnt, validation=dev))

    class PulledError(Exception):
        pass

    def pull(what, at, of):
        if at == 2:
            raise PulledError

    with pytest.raises(PulledError):
        made.fit(*learnt, validation=dev, folder=tmp_path, progress=pull)
    seen = []
    gone_on = made.fit(
        *learnt, validation=dev, folder=tmp_path, progress=lambda *a: seen.append(a[1])
    )
    assert seen == [3, 4]
    assert same(weights(gone_on), whole)
    with pytest.raises(InputError, match="holds a training with other settings"):
        made.fit(learnt[0][:50], learnt[1][:50], validation=dev, folder=tmp_path)


def test_a_training_goes_on_as_its_new_device_steps(tmp_path):
    def parts(*, fused):  # AdamW is fused on a GPU, where a scaler of half precision asks for it
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.AdamW(model.parameters(), fused=fused)
        scaler = torch.amp.GradScaler("cpu", enabled=fused)
        return {"model": model, "optimizer": optimizer, "scaler": scaler}

    for before in (True, False):
        kept, begun = Checkpoints(tmp_path, "training"), parts(fused=before)
        kept.keep_best(begun["model"], 1)
        kept.keep_state(begun, History((0.5,), (1.0,), 1))
        gone_on = parts(fused=not before)
        assert kept.resume(gone_on).epochs == 1
        assert [group["fused"] for group in gone_on["optimizer"].param_groups] == [not before]
        assert same(gone_on["model"].state_dict(), begun["model"].state_dict())


def test_a_training_goes_on_with_its_own_encoder_and_best_weights_alone(tmp_path, encoder):
    learnt, dev, _ = split_of(one_hot, 210)
    folder, mine = tmp_path / "training", tmp_path / "mine"
    shutil.copytree(encoder, mine)
    made = hf.make(LABELS, task="multi-class", model=str(mine), max_epochs=4, patience=9, **QUICK)
    known = made.fit(*learnt, validation=dev, folder=folder)
    best = f"best-{known.history.best}.pt"
    assert {path.name for path in folder.iterdir()} == {"checkpoint.pt", best}
    # A kill between the weights and the state of an epoch leaves weights that no state names.
    (folder / "best-9.pt").write_bytes(b"cut")
    assert same(weights(made.fit(*learnt, validation=dev, folder=folder)), weights(known))
    for name, what in ((best, "cut"), ("checkpoint.pt", "")):
        (folder / name).write_text(what)
        with pytest.raises(
            InputError, match=rf"{name}: cannot be read .*to start the training again"
        ):
            made.fit(*learnt, validation=dev, folder=folder)
    shutil.rmtree(folder)
    made.fit(*learnt, validation=dev, folder=folder)
    model = transformers.AutoModel.from_pretrained(mine)
    with torch.no_grad():
        model.embeddings.word_embeddings.weight[7] += 0.1
    model.save_pretrained(mine)
    with pytest.raises(InputError, match="another version of the encoder"):
        made.fit(*learnt, validation=dev, folder=folder)


def test_an_encoder_with_a_head_for_other_classes_is_refused_plainly(tmp_path, encoder):
    learnt, _, _ = split_of(one_hot, 210)
    made = hf.make(LABELS, task="multi-class", model=encoder, max_epochs=1, **QUICK)
    made.fit(*learnt).save(tmp_path)
    other = hf.make(["a", "b"], task="binary", model=str(tmp_path), max_epochs=1, **QUICK)
    with pytest.raises(InputError, match="cannot be loaded"):
        other.fit(learnt[0], learnt[1][:, :1] * [1, 0] + (1 - learnt[1][:, :1]) * [0, 1])


def test_batches_are_never_wider_than_the_encoder_has_room_for(encoder):
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder)
    tokens = tokenise(tokenizer, sentences(12)[0], 13)
    for multiple, width in ((1, 13), (8, 13), (4, 13)):
        batch = padded(tokens, np.arange(12), tokenizer, 13, multiple)
        assert batch["input_ids"].shape == (12, width)
    short = padded(tokens, np.array([int(tokens.lengths.argmin())]), tokenizer, 64, 8)
    assert short["input_ids"].shape == (1, 16)
    assert short["attention_mask"].sum() == tokens.lengths.min()


def test_without_a_label_in_validation_all_epochs_are_done_and_it_is_said(encoder):
    learnt, dev, _ = split_of(multi_hot, 210)
    made = hf.make(LABELS, task="multi-label", model=encoder, max_epochs=2, **QUICK)
    known = made.fit(*learnt, validation=(dev[0], np.zeros_like(dev[1])))
    assert known.notes[0] == (
        "2 epochs (all epochs done; no validation label to choose one by), weights of epoch 2"
    )


def test_a_killed_grid_goes_on_from_its_checkpoint(tmp_path, encoder):
    options = {"model": encoder, "max_epochs": 25, "patience": 25, "learning_rate": 1e-3}
    sets = [{"name": "gold", "column": "gold", "tasks": ["multi-class"]}]
    models = [{"name": "tiny", "use": "hf", "options": options}]
    study = mild_study(tmp_path, n=160, label_sets=sets, models=models, seeds=[0])
    out = tmp_path / "out"
    command = [
        sys.executable,
        "-m",
        "voirdire",
        "classify",
        "fit",
        str(tmp_path / "grid.toml"),
        "--out",
        str(out),
        "--device",
        "cpu",
        "--threads",
        "1",
    ]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (cell,) = cells_of(study)
    state = cell.folder(out) / "training" / "checkpoint.pt"
    until = time.monotonic() + 60
    while not state.exists() and time.monotonic() < until:
        time.sleep(0.02)
    os.kill(running.pid, signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL
    assert [now for _, now in dry_run(study, out)] == ["begun"]
    trained = torch.load(state, weights_only=True)["history"]
    assert 1 <= len(trained["f1"]) < 25
    machine = {"device": "cpu", "threads": 1}
    fit_grid(study, out, machine=machine, quiet=True)
    fit_grid(study, tmp_path / "straight", machine=machine, quiet=True)
    tested, straight = (
        pl.read_parquet(cell.folder(folder) / "tested.parquet")
        for folder in (out, tmp_path / "straight")
    )
    assert tested.equals(straight)  # scores to the last bit


def test_long_texts_are_cut_and_counted(encoder):
    learnt, _, _ = split_of(one_hot, 210)
    long = [*learnt[0][:40], " ".join(learnt[0][:20])]
    made = hf.make(LABELS, task="multi-class", model=encoder, max_epochs=1, max_length=16, **QUICK)
    known = made.fit(long, learnt[1][:41])
    assert known.encoder.limit == 16
    assert known.too_long(long) == 1
    assert known.too_long(learnt[0][:40]) == 0
    assert any("up to 16 tokens" in note for note in known.notes)
    assert known.history.stopped == "epochs"  # without validation data the last weights are kept
    assert known.history.best == 1


def test_padding_changes_no_score(encoder):
    learnt, _, test = split_of(one_hot)
    made = hf.make(LABELS, task="multi-class", model=encoder, max_epochs=1, **QUICK)
    known = made.fit(*learnt)
    alone = np.vstack([known.predict([text]) for text in test[0][:12]])
    assert np.allclose(known.predict(test[0][:12]), alone, atol=1e-6)


SMALL = {
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "hidden_size": 32,
    "intermediate_size": 64,
}


@pytest.mark.parametrize(
    ("family", "options", "side", "limit"),
    [
        ("Roberta", {**SMALL, "max_position_embeddings": 34}, "right", 33),
        ("MPNet", {**SMALL, "max_position_embeddings": 34, "pad_token_id": 0}, "right", 32),
        (
            "Longformer",
            {**SMALL, "max_position_embeddings": 34, "attention_window": 8},
            "right",
            33,
        ),
        ("XLNet", {"d_model": 32, "n_layer": 1, "n_head": 2, "d_inner": 64}, "left", 64),
    ],
)
def test_the_other_encoders_of_the_papers(tmp_path, encoder, family, options, side, limit):
    vocab = str(Path(encoder) / "vocab.txt")
    tokenizer = transformers.BertTokenizerFast(vocab=vocab, model_max_length=64, padding_side=side)
    tokenizer.save_pretrained(tmp_path)
    config = getattr(transformers, f"{family}Config")(
        **{
            "vocab_size": tokenizer.vocab_size,
            "pad_token_id": 0,
            "bos_token_id": 2,
            "eos_token_id": 3,
            **options,
        }
    )
    getattr(transformers, f"{family}Model")(config).save_pretrained(tmp_path)
    learnt, dev, test = split_of(one_hot, 210)
    made = hf.make(LABELS, task="multi-class", model=str(tmp_path), max_epochs=2, **QUICK)
    known = made.fit(*learnt, validation=dev)
    assert known.encoder.limit == limit
    assert known.history.loss[1] < known.history.loss[0]
    alone = np.vstack([known.predict([text]) for text in test[0][:6]])
    assert np.allclose(known.predict(test[0][:6]), alone, atol=1e-5)  # padding changes no score


def test_a_relative_folder_is_looked_for_beside_the_study(tmp_path, encoder):
    whole = Path(encoder)
    made = hf.make(LABELS, task="multi-class", model=whole.name, folder=str(whole.parent))
    assert made.settings.source == encoder
    elsewhere = hf.make(LABELS, task="multi-class", model="owner/name", folder=str(tmp_path))
    assert elsewhere.settings.source == "owner/name"
    assert (
        made.settings.learning
        == hf.make(LABELS, task="multi-class", model=whole.name).settings.learning
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "no/such-encoder"}, "cannot be loaded; HF_HUB_OFFLINE is set"),
        ({"model": ""}, "give the encoder's hub name or folder"),
        ({"device": "cuda"}, "torch sees no GPU here"),
        ({"precision": "fp16", "device": "cpu"}, "'fp16' needs a GPU"),
        ({"learning_rate": 0.0}, r"learning_rate must be a number, above 0, got 0\.0"),
        ({"learning_rate": "2e-5"}, "learning_rate must be a number, above 0, got '2e-5'"),
        ({"batch_size": 2.5}, r"batch_size must be a whole number, above 0, got 2\.5"),
        ({"patience": -1}, "patience must be a whole number, 0 or more, got -1"),
        ({"warmup": 1.0}, "warmup must be below 1"),
        ({"max_length": 2}, "max_length must be above 2, the marks that the tokenizer"),
        ({"schedule": "cosine"}, "hf classifier: schedule 'cosine' is unknown"),
        ({"depth": 3}, "option 'depth' is unknown"),
    ],
)
def test_errors_are_plain(monkeypatch, encoder, options, message):
    if torch.cuda.is_available() and options == {"device": "cuda"}:
        pytest.skip("there is a GPU here")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(
        importlib.import_module("huggingface_hub.constants"), "HF_HUB_OFFLINE", True
    )
    learnt, _, _ = split_of(one_hot, 210)
    with pytest.raises(InputError, match=message):
        hf.make(LABELS, task="multi-class", **{"model": encoder, **options}).fit(*learnt)


def test_a_loss_that_is_not_finite_stops_the_training(encoder):
    learnt, _, _ = split_of(one_hot, 210)
    wild = {**QUICK, "learning_rate": 1e30, "clip": 1e30, "warmup": 0.0}
    made = hf.make(LABELS, task="multi-class", model=encoder, max_epochs=3, **wild)
    with pytest.raises(InputError, match="lower learning_rate"):
        made.fit(*learnt)


def test_without_torch_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    learnt, _, _ = split_of(one_hot, 210)
    with pytest.raises(MissingExtraError, match=r"pip install 'voirdire\[hf\]'"):
        hf.make(LABELS, task="multi-class", model="any").fit(*learnt)
