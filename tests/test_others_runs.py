"""Judges in others' runs: what pytest, inspect_ai, promptfoo and DeepEval ask is kept in a session.

The tools are run where they are installed; each test skips where its tool is not.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec

import pytest
from command_line import typed

from voirdire.errors import InputError
from voirdire.running.growing import GrowingSession, Handed, score_of
from voirdire.store import ratings_frame, replies_frame

STUDY = """
name = "shop"
rubric = {attributes = ["calm", "clear"]}
[[panel]]
name = "north"
model = "simulated:north"
[[panel]]
name = "south"
model = "simulated:south"
"""


@pytest.fixture
def study(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path / "study.toml"


def asked(folder):
    return len(replies_frame(folder / "session"))


# --- the session that grows ---


def test_answers_that_come_together_are_one_run_and_are_kept(study, tmp_path):
    session = GrowingSession(study, tmp_path / "kept", wait=0.05)
    given = [Handed(f"answer {at}", f"question {at}", f"q{at}", "mine") for at in range(20)]

    async def all_of_them():
        return await asyncio.gather(*(session.judged(one) for one in given))

    found = asyncio.run(all_of_them())
    frame = ratings_frame(tmp_path / "kept" / "session")
    for one, scores in zip(given, found, strict=True):
        assert {name: set(own) for name, own in scores.items()} == {
            "north": {"calm", "clear"},
            "south": {"calm", "clear"},
        }
        own = frame.filter(item=one.item, rater="north", attribute="calm")["score"].to_list()
        assert own == [scores["north"]["calm"]]
    before = asked(tmp_path / "kept")
    again = GrowingSession(study, tmp_path / "kept", wait=0).judged_now(given[3])
    assert again == found[3]
    assert asked(tmp_path / "kept") == before
    assert typed("session", "check", tmp_path / "kept" / "session").returncode == 0
    labels = "".join(f"q{at},mine,{at % 5 + 1},{at * 2 % 5 + 1}\n" for at in range(20))
    (tmp_path / "labels.csv").write_text("item,system,calm,clear\n" + labels)
    ratings = tmp_path / "kept" / "session" / "ratings.parquet"
    done = typed("examine", ratings, "--human", tmp_path / "labels.csv", "--resamples", "0")
    assert done.returncode == 0, done.stderr
    assert "north" in done.stdout


def test_one_item_has_one_text_and_a_system_one_response(study, tmp_path):
    session = GrowingSession(study, tmp_path / "kept", wait=0)
    first = session.judged_now(Handed("a", "q", "1", "mine"))
    assert first
    with pytest.raises(InputError, match="holds another response of 'mine'"):
        session.judged_now(Handed("b", "q", "1", "mine"))
    with pytest.raises(InputError, match="holds another text of the item"):
        session.judged_now(Handed("a", "another", "1", "theirs"))

    async def both():
        given = (Handed("b", "q", "1", "mine"), Handed("c", "r", "2", "mine"))
        return await asyncio.gather(*map(session.judged, given), return_exceptions=True)

    refused, good = asyncio.run(both())
    assert isinstance(refused, InputError)
    assert set(good) == {"north", "south"}  # one that is refused takes none with it
    assert session.judged_now(Handed("b", "q", "", "mine"))  # no id: it follows from the text


def test_processes_that_share_a_session_wait_for_each_other(study, tmp_path):
    code = (
        "import sys\n"
        "from voirdire.running.growing import GrowingSession, Handed\n"
        "session = GrowingSession('study.toml', 'kept', wait=0)\n"
        "for at in range(3):\n"
        "    print(session.judged_now(Handed(f'a{at}', 'q', f'{sys.argv[1]}-{at}', 'mine')))\n"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code, name], cwd=tmp_path, stdout=subprocess.PIPE)
        for name in ("x", "y")
    ]
    printed = [one.communicate(timeout=300)[0].decode().splitlines() for one in started]
    assert [one.returncode for one in started] == [0, 0]
    assert all(len(lines) == 3 for lines in printed)
    assert ratings_frame(tmp_path / "kept" / "session")["item"].n_unique() == 6


def test_what_the_budget_does_not_allow_has_no_score(study, tmp_path):
    priced = study.with_name("priced.toml")
    price = '[run.prices."simulated:{}"]\ninput = 1e6\noutput = 1e6\n'
    priced.write_text(STUDY + price.format("north") + price.format("south"))
    session = GrowingSession(priced, tmp_path / "kept", max_cost=1, wait=0)
    assert session.judged_now(Handed("a", "q", "1", "mine"))  # what a call costs is known after it
    second = session.judged_now(Handed("b", "r", "2", "mine"))
    assert {value for own in second.values() for value in own.values()} == {None}


def test_a_score_is_of_the_judge_and_attribute_that_are_named():
    scores = {"north": {"calm": 2.0, "clear": 4.0}, "south": {"calm": None, "clear": 1.0}}
    assert (score_of(scores, "north"), score_of(scores, "north", "clear")) == (3.0, 4.0)
    assert score_of(scores, "south") is None  # the mean of what is there would be another question
    for given, says in ((("west",), "judge 'west'"), (("north", "warm"), "attribute 'warm'")):
        with pytest.raises(InputError, match=says):
            score_of(scores, *given)


# --- pytest ---

TESTS = """
import pytest

@pytest.fixture(scope="module")
def north(voirdire_judge):
    return voirdire_judge("study.toml", "north")

def test_kept(north):
    scores = north("Breathe slowly.", context="I shout.", item="1", system="mine")
    assert set(scores) == {"calm", "clear"}
    assert scores == north("Breathe slowly.", context="I shout.", item="1", system="mine")

def test_nobody(voirdire_judge):
    voirdire_judge("study.toml", "west")("a", context="q")

def test_holds(voirdire_holds):
    voirdire_holds("ratings.csv", "verdict.single=no", reference=["ann", "ben"])

def test_does_not_hold(voirdire_holds):
    voirdire_holds("ratings.csv", "verdict.single=yes", reference=["ann", "ben"])
"""


def test_fixtures_ask_a_panel_and_hold_a_requirement(study, tmp_path):
    rows = [f"q{at},{at * 7 % 5 + 1},{max(at * 7 % 5, 1)},{at * 3 % 5 + 1}" for at in range(80)]
    (tmp_path / "ratings.csv").write_text("\n".join(["item,ann,ben,judge", *rows]))
    (tmp_path / "test_mine.py").write_text(TESTS)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:langsmith_plugin",
            "--voirdire-keep",
            "kept",
            "--junitxml",
            "out.xml",
            "-rf",
            "test_mine.py",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert "2 failed, 2 passed" in done.stdout, done.stdout[-3000:]
    assert "west gave nothing (the panel: north, south)" in done.stdout
    assert "verdict.single of judge on score is no, required yes" in done.stdout
    assert 'failures="2"' in (tmp_path / "out.xml").read_text()
    assert asked(tmp_path / "kept" / "study") > 0


# --- inspect_ai ---


@pytest.mark.filterwarnings("ignore")  # of the tool's own libraries
def test_a_scorer_of_inspect_ai_stores_into_a_session(study, tmp_path, monkeypatch):
    inspect = pytest.importorskip("inspect_ai", reason="pip install inspect-ai")
    from inspect_ai.dataset import Sample
    from inspect_ai.log import read_eval_log
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import solver

    from voirdire_plugins.others.inspect_ai import judge_scorer

    monkeypatch.chdir(tmp_path)

    @solver  # its own answers: a model that counts tokens fetches a vocabulary
    def answering():
        async def solve(state, _):
            text = f"answer to {state.sample_id}, {state.epoch}"
            state.output = ModelOutput.from_content("mockllm/model", text)
            return state

        return solve

    task = inspect.Task(
        dataset=[Sample(input=f"question {at}", target="", id=f"s{at}") for at in range(6)],
        solver=answering(),
        scorer=judge_scorer("study.toml", "north", folder="judged"),
        epochs=2,
    )
    place = str(tmp_path / "logs")
    (log,) = inspect.eval(task, model="mockllm/model", display="none", log_dir=place)
    assert log.status == "success", log.error
    frame = ratings_frame(tmp_path / "judged" / "session")
    assert (frame["item"].n_unique(), frame["system"].unique().to_list()) == (12, ["mockllm/model"])
    means = {
        item: own["score"].mean() for (item,), own in frame.filter(rater="north").group_by("item")
    }
    samples = read_eval_log(log.location).samples
    for sample in samples:
        item = sample.id if sample.epoch == 1 else f"{sample.id} ({sample.epoch})"
        (score,) = sample.scores.values()
        assert score.value == means[item]
        assert set(score.metadata["voirdire"]) == {"north", "south"}
    metric = log.results.scores[0].metrics["mean"].value
    assert metric == pytest.approx(sum(means.values()) / 12)


# --- promptfoo ---

ASSERTION = """
from voirdire_plugins.others.promptfoo import assertion

get_assert = assertion("study.toml", "north", folder="judged", at_least=1, attribute="calm")
"""
CONFIG = """
prompts: ["Answer: {{question}}"]
providers: [{id: echo, label: mine}]
tests:
  - vars: {question: "I cannot sleep", id: a}
  - vars: {question: "I shout", id: b}
defaultTest:
  assert:
    - type: python
      value: file://judged.py
"""


def test_an_assertion_of_promptfoo_stores_into_a_session(study, tmp_path):
    program = shutil.which("promptfoo")
    if program is None:
        pytest.skip("promptfoo is not on the path: npm install promptfoo")
    (tmp_path / "judged.py").write_text(ASSERTION)
    (tmp_path / "promptfooconfig.yaml").write_text(CONFIG)
    quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1"}
    done = subprocess.run(
        [program, "eval", "--no-cache", "--no-table", "-o", "out.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
        env={
            **os.environ,
            **quiet,
            "PROMPTFOO_PYTHON": sys.executable,
            "PROMPTFOO_CONFIG_DIR": str(tmp_path / "config"),
        },
    )
    assert (tmp_path / "out.json").is_file(), done.stdout[-2000:] + done.stderr[-2000:]
    results = json.loads((tmp_path / "out.json").read_text())["results"]["results"]
    frame = ratings_frame(tmp_path / "judged" / "session").filter(rater="north", attribute="calm")
    scores = dict(zip(frame["item"], frame["score"], strict=True))
    assert set(scores) == {"a", "b"}
    assert frame["system"].unique().to_list() == ["mine"]
    for one in results:
        (graded,) = one["gradingResult"]["componentResults"]
        assert graded["pass"] is True
        assert graded["reason"] == f"north: {scores[one['vars']['id']]:g}, wanted 1"


def test_an_answer_without_a_score_does_not_pass(study, tmp_path):
    from voirdire_plugins.others.promptfoo import assertion

    check = assertion(study, "north", folder=tmp_path / "kept", at_least=6)
    found = check("an answer", {"vars": {"id": "a"}, "prompt": "q", "provider": {"id": "echo"}})
    assert (found["pass"], found["score"]) == (False, 0.0)
    assert "wanted 6" in found["reason"]
    assert set(found["namedScores"]) == {"calm", "clear"}


# --- DeepEval ---

#: In a process of its own, as people run it: DeepEval leaves a loop of asyncio open.
DEEPEVAL = """
import json
from deepeval import assert_test
from deepeval.test_case import LLMTestCase
from voirdire_plugins.others.deepeval import judge_metric

def metric(at_least):
    return judge_metric("study.toml", "north", folder="judged", at_least=at_least, attribute="calm")

case = LLMTestCase(input="I shout", actual_output="Breathe", name="a")
assert_test(case, [metric(1)])
score = metric(1).measure(case)
try:
    assert_test(case, [metric(9)])
except AssertionError as error:
    print(json.dumps([score, str(error)]))
"""


def test_a_metric_of_deepeval_stores_into_a_session(study, tmp_path):
    if find_spec("deepeval") is None:
        pytest.skip("deepeval is not installed: pip install deepeval")
    done = subprocess.run(
        [sys.executable, "-c", DEEPEVAL],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
        env={**os.environ, "DEEPEVAL_TELEMETRY_OPT_OUT": "YES"},
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    score, refused = json.loads(done.stdout.splitlines()[-1])
    frame = ratings_frame(tmp_path / "judged" / "session").filter(rater="north", attribute="calm")
    assert frame["score"].to_list() == [score]
    assert "wanted 9" in refused
