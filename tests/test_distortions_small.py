"""distortions, small: steps before a prompt, figure 1, a pilot, Tables 4, 5, 9 and RLP against Golden."""

from __future__ import annotations

import re
import tomllib

import numpy as np
import polars as pl
import pytest
from command_line import invoke

pytest.importorskip("openai")

from wire_server import Answer, WireServer

from voirdire import InputError
from voirdire.examining import examine
from voirdire.running import run
from voirdire.running.pilot import pilot_study
from voirdire.schema import Item, Reply
from voirdire.store import replies_frame
from voirdire.study import build_study, load_study, study_to_toml
from voirdire_judges.labels import make as make_labels
from voirdire_plugins.distortions.annotator import make
from voirdire_plugins.distortions.labels import STEPS
from voirdire_plugins.distortions.tables import figure_1

WORDS = {
    "Labeling": "I am useless", "Mind Reading": "she thinks I am odd",
    "Fortune Telling": "it will surely fail", "No Distortion": "the day was calm",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")


def voirdire(*arguments, code=0):
    done = invoke([str(one) for one in arguments])
    assert done.exit_code == code, done.output + str(done.exception)
    return done.output


def letters(path, n, golden=0.6):
    """Letters whose words say the label; the golden label is right for a share of them."""
    rng = np.random.default_rng(2)
    names = list(WORDS)
    rows = []
    for at in range(n):
        true = names[at % 4]
        said = true if rng.random() < golden else names[rng.integers(4)]
        extra = " ".join(rng.choice(["rain", "bus", "tea", "choir", "garden", "train"], 4))
        rows.append((str(at), f"Letter: {WORDS[true]} and {extra}.", said, ""))
    frame = pl.DataFrame(rows, schema=["id", "text", "label1", "label2"], orient="row")
    frame.write_csv(path)
    return path


def label_of(text):
    return next(label for label, words in WORDS.items() if words in text)


def test_steps_are_asked_one_after_another_and_the_last_reply_alone_is_read():
    annotator = make(prompt="multi", steps="dot")
    (first,) = annotator.requests(Item("1", "She thinks I am odd."))
    assert "She thinks I am odd." in first.messages[0].content
    replies, request = [], first
    for number in range(3):
        # A step that names a label is no answer.
        replies.append(Reply(f"Thoughts {number}: Mind Reading.", request=request))
        assert annotator.parse(replies).scores["Mind Reading"] is None
        (request,) = annotator.follow_up(replies)
        assert [one.role for one in request.messages] == ["user", "assistant"] * (number + 1) + [
            "user"
        ]
    assert "COGNITIVE DISTORTIONS LIST" in request.messages[-1].content
    replies.append(Reply("Labeling", request=request))
    assert annotator.follow_up(replies) == []
    read = annotator.parse(replies)
    assert (read.scores["Labeling"], read.scores["Mind Reading"]) == (1.0, 0.0)
    assert annotator.runs == 5
    assert "Labeling" in annotator.labels.labels


def test_a_step_that_is_refused_ends_in_a_missing_answer_and_not_in_a_label():
    annotator = make(prompt="ranked", steps="erd")
    (first,) = annotator.requests(Item("1", "She thinks I am odd."))
    refused = [Reply("", "refusal", request=first)]
    assert annotator.follow_up(refused) == []
    read = annotator.parse(refused)
    assert set(read.scores.values()) == {None}
    assert read.status == "refused"
    assert annotator.requests(Item("2", " ")) == []


@pytest.mark.parametrize(
    ("steps", "says"), [(["Think."], "first step must hold {text}"), ((), None)]
)
def test_any_label_set_may_be_asked_in_steps(steps, says):
    if says:
        with pytest.raises(InputError, match=re.escape(says)):
            make_labels(["calm", "warm"], steps=steps)
    else:
        assert not hasattr(make_labels(["calm", "warm"]), "follow_up")
        asked = make_labels(["calm", "warm"], steps=["Read: {text}"])
        assert asked.requests(Item("1", "Tea."))[0].messages[0].content == "Read: Tea."


def test_frameworks_run_over_the_wire_beside_the_plain_prompts(tmp_path):
    def answer(seen):
        asked = seen.texts[-1][1]
        if "COGNITIVE DISTORTIONS LIST" not in "".join(text for _, text in seen.texts):
            return f"Step on: {label_of(seen.prompt)}?"
        return label_of("".join(text for _, text in seen.texts)) if asked else ""

    letters(tmp_path / "letters.csv", 6)
    with WireServer(answer) as server:
        voirdire(
            "paper",
            "distortions",
            "study",
            tmp_path / "letters.csv",
            "--model",
            "compatible:m",
            "--model-option",
            f"base_url={server.openai}",
            "--temperature",
            0.5,
            "--runs",
            2,
            "--steps",
            "dot",
            "--steps",
            "erd",
            "--out",
            tmp_path / "s",
        )
        study = load_study(tmp_path / "s" / "study.toml")
        assert [rater.name for rater in study.panel] == [
            f"m 0.5 {prompt}{first}"
            for first in ("", " dot", " erd")
            for prompt in ("ranked", "multi")
        ]
        assert run(study, tmp_path / "session", quiet=True).complete
    steps = replies_frame(tmp_path / "session").group_by("rater").agg(pl.col("step").max())
    last = dict(steps.iter_rows())
    assert last == {
        rater.name: len(STEPS[first]) if (first := rater.options.get("steps")) else 0
        for rater in study.panel
    }
    found = examine("distortions", data=tmp_path / "session", resamples=0)
    table = next(s.table for s in found.sections if "Table 2" in s.title)
    assert [row[0] for row in table.rows] == ["m-0.5", "m-0.5 dot", "m-0.5 erd"]


def test_figure_1_is_a_grid_of_runs_by_configurations(tmp_path):
    said = {
        0.5: ["Personalization", "Personalization, Fortune Telling", ""],
        0.7: ["No Distortion"],
    }

    def answer(seen):
        here = said[seen.body["temperature"]]
        return here[seen.number % len(here)]

    letters(tmp_path / "letters.csv", 2)
    with WireServer(answer) as server:
        voirdire(
            "paper",
            "distortions",
            "study",
            tmp_path / "letters.csv",
            "--model",
            "compatible:m",
            "--model-option",
            f"base_url={server.openai}",
            "--runs",
            3,
            "--out",
            tmp_path / "s",
        )
        voirdire("run", tmp_path / "s" / "study.toml", "--out", tmp_path / "session", "--quiet")
    ranked, multi = figure_1(tmp_path / "session", "1")
    assert (ranked.title, multi.title) == ("RLP prompt", "MLP prompt")
    assert ranked.table.names == ("Run", "m-0.5", "m-0.7")
    assert [row[0] for row in ranked.table.rows] == ["1", "2", "3"]
    assert {row[2] for row in ranked.table.rows} == {"ND"}
    assert {row[1] for part in (ranked, multi) for row in part.table.rows} <= {
        "Pers.",
        "Pers., FT",
        "(blank)",
    }
    printed = voirdire("paper", "distortions", "figure1", tmp_path / "session", "1", "--json")
    assert "m-0.7" in printed
    with pytest.raises(InputError, match="there is no item '9'"):
        figure_1(tmp_path / "session", "9")


def test_a_pilot_tells_what_each_configuration_refuses_and_the_whole_goes_on_from_it(tmp_path):
    def answer(seen):
        if seen.body["temperature"] == 0.7 and "useless" in seen.prompt:
            return Answer("", finish="refusal")
        return label_of(seen.prompt)

    letters(tmp_path / "letters.csv", 40)
    with WireServer(answer) as server:
        voirdire(
            "paper",
            "distortions",
            "study",
            tmp_path / "letters.csv",
            "--model",
            "compatible:m",
            "--model-option",
            f"base_url={server.openai}",
            "--runs",
            2,
            "--out",
            tmp_path / "s",
        )
        study = tmp_path / "s" / "study.toml"
        planned = voirdire("run", study, "--dry-run", "--pilot", 16)
        assert len(re.findall(r"\b16\b", planned)) >= 4
        assert server.requests == []
        said = voirdire("run", study, "--out", tmp_path / "p", "--pilot", 16, "--quiet")
        assert "Pilot: 16 of 40 items, each asked once" in said
        assert len(server.requests) == 4 * 16
        done = voirdire("run", study, "--out", tmp_path / "p", "--resume", "--quiet")
        assert "not complete" not in done
        # What the pilot paid for is not asked again.
        assert len(server.requests) == 4 * 40 * 2
    chosen, whole = pilot_study(study, 16)
    assert whole == 40
    useless = sum(int(item) % 4 == 0 for item in chosen.items.only)
    assert 0 < useless < 16
    rows = [line.split() for line in said.partition("Pilot:")[2].splitlines()]
    refused = {tuple(row[:3]): row[3:5] for row in rows if row[:1] == ["m"]}
    assert refused == {
        ("m", heat, prompt): ["16", str(useless if heat == "0.7" else 0)]
        for heat in ("0.5", "0.7")
        for prompt in ("ranked", "multi")
    }
    with pytest.raises(InputError, match="--pilot: from 1 to 40 items, got 41"):
        pilot_study(study, 41)
    both = ["run", str(study), "--out", str(tmp_path / "p"), "--pilot", "2", "--resume"]
    assert "give --pilot or --resume" in str(invoke(both).exception)


def test_tables_4_5_9_and_rlp_against_golden_small(tmp_path):
    """Labels of a steady model are learnt better than golden ones of which two fifths are drawn."""
    letters(tmp_path / "letters.csv", 240)

    def answer(seen):
        return label_of(seen.prompt)

    with WireServer(answer) as server:
        voirdire(
            "paper",
            "distortions",
            "study",
            tmp_path / "letters.csv",
            "--model",
            "compatible:m",
            "--model-option",
            f"base_url={server.openai}",
            "--temperature",
            0.5,
            "--runs",
            3,
            "--dominant",
            "label1",
            "--out",
            tmp_path / "s",
        )
        voirdire("run", tmp_path / "s" / "study.toml", "--out", tmp_path / "session", "--quiet")
    # With --json each document is held to the schema of its command.
    voirdire(
        "paper", "distortions", "datasets", tmp_path / "session", "--out", tmp_path / "d", "--json"
    )
    grid = tmp_path / "d" / "grid.toml"
    text = grid.read_text("utf-8")
    assert 'untrained = "note"' in text
    raw = tomllib.loads(text)
    # The two encoders of the paper must be fetched: a second baseline stands for the second model.
    models = [
        {"name": "words", "use": "tfidf"},
        {"name": "plain", "use": "tfidf", "options": {"c": 0.01}},
    ]
    raw["classify"] |= {"models": models, "seeds": [0]}
    grid.write_text(study_to_toml(build_study(raw, raw["name"], str(grid.parent))), "utf-8")
    voirdire("classify", "fit", grid, "--out", tmp_path / "models", "--only", "words", "--quiet")
    # Some cells are not trained yet: what is finished is scored.
    early = voirdire("classify", "evaluate", tmp_path / "models")
    assert "RLP" in early
    voirdire("classify", "fit", grid, "--out", tmp_path / "models", "--quiet", "--json")
    voirdire("classify", "evaluate", tmp_path / "models", "--json")
    said = voirdire(
        "labels", tmp_path / "models", "--draws", 20, "--resamples", 200, "--out", tmp_path / "l"
    )
    assert "Label sets against one another" in said
    summary = pl.read_csv(tmp_path / "models" / "summary.csv")
    # Table 9: both models; Table 4: RLP and Golden have three tasks, MLP has no multi-class one.
    cells = summary.select("model", "labels", "task").rows()
    assert len(set(cells)) == len(cells) == 2 * (3 + 2 + 3)
    assert not any(one[1:] == ("MLP", "multi-class") for one in cells)
    f1 = {
        one[:3]: one[3] for one in summary.select("model", "labels", "task", "f1_weighted").rows()
    }
    kappa = {one[:3]: one[3] for one in summary.select("model", "labels", "task", "kappa").rows()}
    for task in ("multi-class", "multi-label"):
        assert f1["words", "RLP", task] > f1["words", "Golden", task] + 0.1
        assert kappa["words", "RLP", task] > kappa["words", "Golden", task]
    # Table 5 follows from Tables 4 and 10 by its formula.
    for row in summary.iter_rows(named=True):
        expected = (row["f1_weighted"] - row["f1_random"]) / (1 - row["f1_random"])
        assert row["kappa"] == pytest.approx(expected)
    written = "".join(path.read_text("utf-8") for path in (tmp_path / "l").glob("*.md"))
    compared = [line for line in written.splitlines() if "RLP" in line and "Golden" in line]
    assert any("words" in line and "multi-class" in line for line in compared)
