"""An LLM as classifier: through the runner and the wire, and from a chat model at hand."""

from __future__ import annotations

import numpy as np
import pytest
from test_classifiers_grid import mild_study
from tiny_encoder import _WORDS, LABELS, multi_hot, one_hot, sentences

from voirdire.errors import InputError, ModelError
from voirdire.examining.labels import decide
from voirdire.schema import Reply
from voirdire_judges.classifiers import cells_of, dry_run, evaluate_grid, fit_grid, llm, read_texts


def labels_in(text: str) -> str:
    """The labels of a sentence, in the order of its words."""
    places = {
        kind: min((text.find(word) for word in words if word in text), default=-1)
        for kind, words in _WORDS.items()
    }
    return ", ".join(sorted((k for k, at in places.items() if at >= 0), key=places.get))


class Reader:
    """A chat model that knows the words, and says what it was told to of some texts."""

    name = "reader"

    def __init__(self, said=None):
        self.said, self.asked = said or {}, []

    async def complete(self, request):
        self.asked.append(request)
        text = request.messages[-1].content
        for part, answer in self.said.items():
            if part in text:
                if isinstance(answer, Exception):
                    raise answer
                return answer
        return Reply(labels_in(text))


@pytest.mark.parametrize(
    ("task", "labels_of"), [("multi-class", one_hot), ("multi-label", multi_hot)]
)
def test_a_model_at_hand_zero_shot(task, labels_of):
    texts, labels = sentences(40)
    made = llm.make(LABELS, task=task, model=Reader())
    known = made.fit(texts[:5], labels_of(labels[:5]))
    scores = known.predict(texts[5:])
    assert np.array_equal(decide(scores, task), labels_of(labels[5:]))
    assert known.notes == ("zero-shot, 1 run, threshold 0.5 (not tuned)",)


def test_what_is_no_answer_is_missing_and_never_a_label():
    texts, labels = sentences(6)
    said = {
        "one": Reply("I would rather not answer.", "refusal"),
        "two": ModelError("no connection", "connection"),
        "three": Reply("gardening tools, perhaps a lamp"),
        "four": Reply(""),
    }
    made = llm.make(LABELS, task="multi-class", model=Reader(said))
    scores = made.fit(texts, one_hot(labels)).predict(
        ["one", "two", "three", "four", " ", texts[0]]
    )
    assert np.isnan(scores[:5]).all()
    assert scores[5].sum() == 1


def test_examples_are_drawn_from_every_class_and_shown():
    texts, labels = sentences(60)
    reader = Reader()
    made = llm.make(LABELS, task="multi-class", model=reader, shots=3, seed=4)
    known = made.fit(texts[:50], one_hot(labels[:50]))
    assert sorted(said for _, said in known.examples) == ["garden", "kitchen", "music"]
    known.predict(texts[50:52])
    prompt = reader.asked[0].messages[0].content
    assert prompt.count("<<<EXAMPLE") == 3
    assert all(text in prompt for text, _ in known.examples)
    again = made.fit(texts[:50], one_hot(labels[:50]))
    assert again.examples == known.examples


def test_shares_of_runs_are_scores():
    class Wavering(Reader):
        async def complete(self, request):
            self.asked.append(request)
            return Reply(("garden", "music, garden", "garden")[len(self.asked) % 3])

    texts, labels = sentences(4)
    one = llm.make(LABELS, task="multi-class", model=Wavering(), runs=3)
    assert one.fit(texts, one_hot(labels)).predict(texts[:1]).round(3).tolist() == [
        [0.667, 0.333, 0, 0]
    ]
    several = llm.make(LABELS, task="multi-label", model=Wavering(), runs=3)
    scores = several.fit(texts, multi_hot(labels)).predict(texts[:1]).round(3)
    assert scores.tolist() == [[1, 0.333, 0, 0]]


def test_binary_with_the_negative_class_as_none():
    made = llm.make(
        ["not music", "music"], task="binary", model=Reader({"rain": Reply("not music")})
    )
    known = made.fit(["a"], np.array([[0, 1]], dtype=np.int8))
    assert known.predict(["a quiet song", "rain all day"]).tolist() == [[0, 1], [1, 0]]


def test_through_the_runner_every_reply_is_kept(tmp_path, monkeypatch):
    pytest.importorskip("openai")
    from wire_server import WireServer

    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789abcdef")
    with WireServer(lambda seen: labels_in(seen.prompt.rpartition("<<<TEXT")[2])) as server:
        options = {
            "model": "openai:reader", "shots": 3, "temperature": 0.0,
            "model_options": {"base_url": server.openai},
        }  # fmt: skip
        models = [{"name": "few-shot", "use": "llm", "options": options}]
        study = mild_study(tmp_path, models=models, seeds=[0])
        out = tmp_path / "out"
        fit_grid(study, out, quiet=True)
        found = evaluate_grid(out).summary
        assert found["f1_weighted"].to_list() == [1.0, 1.0]
        assert found["missing"].to_list() == [1, 1]
        assert found["validation_f1"].to_list() == [None, None]
        assert server.count == 2 * 39  # test items alone, and not the one without a text
        # Should the result be lost, what was answered is not asked again.
        for cell in cells_of(study):
            (cell.folder(out) / "result.json").unlink()
        fit_grid(study, out, quiet=True)
        assert server.count == 2 * 39
        assert evaluate_grid(out).summary.equals(found)


def test_a_key_that_is_refused_or_a_network_that_is_down_leaves_the_cell_open(
    tmp_path, monkeypatch
):
    pytest.importorskip("openai")
    from wire_server import WireServer

    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789abcdef")
    with WireServer(lambda seen: labels_in(seen.prompt.rpartition("<<<TEXT")[2])) as server:
        options = {"model": "openai:reader", "model_options": {"base_url": server.openai}}
        models = [{"name": "zero-shot", "use": "llm", "options": options}]
        sets = [{"name": "gold", "column": "gold", "tasks": ["multi-class"]}]
        study = mild_study(tmp_path, models=models, seeds=[0], label_sets=sets)
        out = tmp_path / "out"
        server.fault("auth", times=None)
        with pytest.raises(InputError, match=r"answered 0 of 39 calls .*key was refused"):
            fit_grid(study, out, quiet=True)
        assert [state for _, state in dry_run(study, out)] == ["begun"]
        server.clear()
        # A text that the provider refuses for good is a missing prediction.
        text = read_texts(tmp_path / "data.csv", "id", "text")[1][210]
        server.fault("bad_request", times=None, when=lambda seen: text in seen.prompt)
        fit_grid(study, out, quiet=True)
        row = evaluate_grid(out).scores.row(0, named=True)
        assert row["f1_weighted"] == 1.0
        assert row["missing"] >= 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "name a model"),
        ({"model": "openai:x", "depth": 2}, "option 'depth' is unknown"),
        ({"model": "openai:x", "runs": 0}, "runs 1 or more"),
        ({"model": "openai:x", "shots": 2, "prompt": "Say."}, "0 with a prompt of your own"),
    ],
)
def test_errors_are_plain(options, message):
    with pytest.raises(InputError, match=message):
        llm.make(LABELS, task="multi-label", **options)
