"""`voirdire tune` on judges of known quality, behind a real SDK and the wire server."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from html import unescape

import numpy as np
import polars as pl
import pytest
from scipy.stats import t as student

pytest.importorskip("openai")

from looking_work import Site
from looking_work import material as looked_at
from wire_server import WireServer

from voirdire import plugins
from voirdire._registry import Registered
from voirdire.errors import InputError, UnfinishedError
from voirdire.examining.changing import read_lock
from voirdire.humans import export, import_answers
from voirdire.running.tasks import COMMITTING, WAITING
from voirdire.store import read_session
from voirdire.study import build_study, load_study, study_to_toml
from voirdire.testing import check_optimizer
from voirdire_plugins.tune.candidates import read_candidates
from voirdire_plugins.tune.goals import Marks, check_gate, goal_of
from voirdire_plugins.tune.sections import sentences
from voirdire_plugins.tune.tuning import tune

PRICES = {"openai:gpt": {"input": 1.0, "output": 2.0}}
EACH = (100 * 1.0 + 20 * 2.0) / 1e6


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789abcdef")


def answer(seen):
    """The quality that a response states, as exactly as the instructions ask for."""
    if not seen.system:  # GEPA's model that reflects
        return "```\nBe exact.\n```"
    if "Be silent" in seen.system:
        return "I would rather not say."
    # The marks around a text are drawn by its content: what is asked about is the last one.
    quality, number = map(int, re.findall(r"quality (\d) of number (\d+)", seen.prompt)[-1])
    off = 0 if "Be exact" in seen.system else (number * 7) % 3 - 1
    return json.dumps({"Empathy": min(max(quality + off, 1), 5)})


def world(folder, url, items=40, labelled=None, **more):
    """A study whose responses state their quality, and two people who see it."""
    names = [f"i{number:03}" for number in range(items)]
    quality = [1 + (number * 3) % 5 for number in range(items)]
    pl.DataFrame({"id": names, "text": [f"I slept badly, {n}." for n in names]}).write_csv(
        folder / "items.csv"
    )
    pl.DataFrame(
        [
            (n, "x", f"An answer of quality {q} of number {at}.")
            for at, (n, q) in enumerate(zip(names, quality, strict=True))
        ],
        schema=["item", "system", "text"],
        orient="row",
    ).write_csv(folder / "responses.csv")
    label(folder / "labels.csv", range(items if labelled is None else labelled), quality)
    raw = {
        "name": "calm", "items": {"path": "items.csv"}, "responses": {"path": "responses.csv"},
        "rubric": {"attributes": ["Empathy"], "instructions": "Rate the answer."},
        "panel": [{"name": "gpt", "model": "openai:gpt", "model_options": {"base_url": url}}],
        "run": {"backoff": 0.02, "retries": 1, "timeout": 20, "prices": PRICES, "concurrency": 8},
        **more,
    }  # fmt: skip
    path = folder / "study.toml"
    path.write_text(study_to_toml(build_study(raw, folder=str(folder))), encoding="utf-8")
    (folder / "exact.txt").write_text("Be exact.", encoding="utf-8")
    return path


def label(path, numbers, quality, people=("ann", "ben")):
    rows = [
        (
            f"i{at:03}",
            "x",
            who,
            "Empathy",
            min(max(quality[at] + (1 if (at + 3 * side) % 9 == 0 else 0), 1), 5),
        )
        for at in numbers
        for side, who in enumerate(people)
    ]
    pl.DataFrame(
        rows, schema=["item", "system", "rater", "attribute", "score"], orient="row"
    ).write_csv(path)


def tuned_in(folder, study, **more):
    given = {
        "use": "single",
        "out": folder / "out",
        "labels": [folder / "labels.csv"],
        "reference": ("ann", "ben"),
        **more,
    }
    return tune(study, "gpt", **given)


def test_a_better_wording_is_adopted_and_paid_once(tmp_path):
    with WireServer(answer) as server:
        study = world(tmp_path, server.openai)
        said = []
        found = tuned_in(
            tmp_path, study, candidates=[tmp_path / "exact.txt"], say=said.append, max_cost=1
        )
        assert server.count == 80
        assert "2 judges on 40 responses: 80 calls, 0 on file" in said[0]
        assert found.chosen == "gpt exact"
        assert found.decision == "adopt"
        # Two in three scores were off by one of four points: one sixth of the scale is gained.
        assert 0.05 < found.gain.bounds[0] < found.gain.value < found.gain.bounds[1] < 0.25
        assert found.p_better > 0.999
        assert found.after.price == pytest.approx(1000 * EACH, rel=1e-6)
        assert "+  Be exact." in found.text_diff
        made = load_study(found.files["study"])
        assert made.rater("gpt exact").options["instructions"] == "Be exact."
        assert made.rater("gpt") is None
        assert (tmp_path / "out" / "judge.lock").is_file()
        # Each candidate is a lock.
        locks = sorted((tmp_path / "out" / "locks").glob("*.lock"))
        assert {one.stem for one in locks} == {"gpt", "gpt-exact"}
        assert {one.name for path in locks for one in read_lock(path).judges} == {
            "gpt",
            "gpt exact",
        }
        # Again: everything is on file.
        again = tuned_in(tmp_path, study, candidates=[tmp_path / "exact.txt"])
        assert server.count == 80
        assert again.gain == found.gain
        # The labels chose once: the same choice again is one look, and is said.
        (look,) = (tmp_path / "labels.csv.looks.jsonl").read_text().splitlines()
        assert json.loads(look)["chosen"] == "gpt exact"
        assert not any(one.kind == "labels_chose" for one in found.findings)
        assert any("by tune to choose gpt exact" in one.message for one in again.findings)
        # The tuned study is one: it is tuned further, from where its files lie.
        more = tune(
            found.files["study"],
            "gpt exact",
            use="single",
            out=tmp_path / "more",
            reference=("ann", "ben"),
        )
        assert more.before.goodness == pytest.approx(found.after.goodness)


def test_a_race_asks_bad_candidates_no_further_and_folds_race_anew(tmp_path):
    for name in ("kind", "silent", "silent2"):
        (tmp_path / f"{name}.txt").write_text(f"Be {name}.", encoding="utf-8")
    names = ("exact", "kind", "silent", "silent2")
    with WireServer(answer) as server:
        study = world(tmp_path, server.openai, items=60)
        with pytest.raises(InputError, match="--race is for --candidates"):
            tuned_in(tmp_path, study, race=True)
        found = tuned_in(
            tmp_path, study, candidates=[tmp_path / f"{name}.txt" for name in names], race=True
        )
        # The silent ones after the first heat of the race; each fold's has units of its own.
        assert server.count < 60 + 5 * 60 - 2 * 20
    assert (found.chosen, found.decision) == ("gpt exact", "adopt")
    assert found.gain.intervals[0].method == "raced_t"
    (said,) = (one for one in found.findings if one.kind == "raced")
    assert "of 5 judges were shown to be worse" in said.message
    assert found.after.goodness > 0.95


def test_what_a_judge_may_not_judge_measures_nothing(tmp_path):
    with WireServer(answer) as server:
        study = world(tmp_path, server.openai, items=60)
        text = (tmp_path / "responses.csv").read_text().replace("i000,x", "i000,y")
        (tmp_path / "responses.csv").write_text(text)
        marked = (tmp_path / "labels.csv").read_text().replace("i000,x", "i000,y")
        (tmp_path / "labels.csv").write_text(marked)
        raw = study.read_text().replace('name = "gpt"', 'name = "gpt"\nexcludes = ["y"]')
        study.write_text(raw)
        found = tuned_in(tmp_path, study, candidates=[tmp_path / "exact.txt"])
        assert server.count == 2 * 59
    assert found.labels == 59
    (said,) = (one for one in found.findings if one.kind == "own_systems_left_out")
    assert "1 labels are of 'y'" in said.message


def high(seen):
    """A point too high, but where it is told to be exact."""
    quality = int(re.findall(r"quality (\d)", seen.prompt)[-1])
    return json.dumps({"Empathy": min(quality + ("Be exact" not in seen.system), 5)})


def test_candidates_are_not_asked_where_a_shift_suffices(tmp_path):
    with WireServer(high) as server:
        study = world(tmp_path, server.openai)
        given = {"candidates": [tmp_path / "exact.txt"]}
        found = tuned_in(tmp_path, study, **given)
        assert server.count == 40
        assert (found.decision, found.chosen) == ("adopt", "gpt, scores -1")
        (made,) = (one for one in found.findings if one.kind == "made_of_scores")
        assert "hold gpt as it is asked" in made.consequence
        (said,) = (one for one in found.findings if one.kind == "candidates_not_asked")
        assert said.places == ("gpt exact",)
        assert tuned_in(tmp_path, study, ask_all=True, **given).chosen == "gpt exact"
        assert server.count == 80


def test_a_jury_is_weighed_without_a_call(tmp_path):
    """Two members that err at random and one that is always high: the jury is better without."""
    own = {"north": 3, "south": 5, "high": 0}

    def members(seen):
        quality, number = map(int, re.findall(r"quality (\d) of number (\d+)", seen.prompt)[-1])
        step = own[seen.model]
        off = (number * step) % 7 % 3 - 1 if step else 2
        return json.dumps({"Empathy": min(max(quality + off, 1), 5)})

    with WireServer(members) as server:
        panel = [
            {"name": name, "model": f"openai:{name}", "model_options": {"base_url": server.openai}}
            for name in own
        ]
        panel.append({"name": "all", "use": "jury", "members": list(own)})
        study = world(tmp_path, server.openai, panel=panel)
        given = {
            "use": "single",
            "out": tmp_path / "out",
            "labels": [tmp_path / "labels.csv"],
            "reference": ("ann", "ben"),
        }
        with pytest.raises(InputError, match="all is a jury, which asks nobody"):
            tune(study, "all", candidates=[tmp_path / "exact.txt"], **given)
        found = tune(study, "all", **given)
        assert server.count == 3 * 40
    good = {one.name: one.goodness for one in found.ways}
    assert set(good) == {
        "all",
        "all median",
        "all vote",
        "all fitted",
        *own,
        *(f"all without {name}" for name in own),
    }
    assert good["all without high"] > good["all"] > good["all without north"]
    assert found.after.goodness == max(good.values())
    made = load_study(found.files["study"])
    assert [one.name for one in made.panel] == [*own, found.chosen]
    assert made.rater(found.chosen).is_jury
    assert "lock" in found.files


def test_no_gain_is_said_to_be_none(tmp_path):
    (tmp_path / "kind.md").write_text("Be kind.", encoding="utf-8")
    with WireServer(answer) as server:
        study = world(tmp_path, server.openai)
        found = tuned_in(tmp_path, study, candidates=[tmp_path / "kind.md"])
    assert found.decision != "adopt"
    assert found.gain.bounds[0] <= 0
    # People labelled all 40, and there is nothing left to label.
    assert (found.unlabelled, found.to_label, found.what) == (0, 0, "responses")
    (said, *_) = sentences(replace(found, chosen="gpt kind", decision="label"))
    assert "all responses are labelled" in said
    (said, *_) = sentences(replace(found, chosen="gpt kind", decision="label", unlabelled=9))
    assert "no labels of the 9 responses that are left" in said


@pytest.mark.parametrize("problem", ["few", "disagree", "no file", "no person"])
def test_what_cannot_be_tuned_asks_nobody(tmp_path, problem):
    with WireServer(answer) as server:
        study = world(tmp_path, server.openai, labelled=15 if problem == "few" else None)
        more = {}
        if problem == "disagree":
            frame = pl.read_csv(tmp_path / "labels.csv")
            chance = np.random.default_rng(0)
            frame.with_columns(score=pl.Series(chance.integers(1, 6, frame.height))).write_csv(
                tmp_path / "labels.csv"
            )
        if problem == "no file":
            more = {"labels": [tmp_path / "none.csv"]}
        if problem == "no person":
            more = {"reference": ()}
        says = {
            "few": "15 labels of 15 items",
            "disagree": "not shown to agree",
            "no file": "there is no such file",
            "no person": "--reference",
        }[problem]
        with pytest.raises(InputError, match=says):
            tuned_in(tmp_path, study, **more)
        assert server.count == 0
        assert not (tmp_path / "out").exists()


def test_a_candidate_that_never_parses_is_wrong_everywhere(tmp_path):
    (tmp_path / "silent.txt").write_text("Be silent", encoding="utf-8")
    with WireServer(answer) as server:
        study = world(tmp_path, server.openai)
        found = tuned_in(
            tmp_path, study, candidates=[tmp_path / "silent.txt", tmp_path / "exact.txt"]
        )
    silent = next(one for one in found.ways if one.name == "gpt silent")
    assert silent.goodness == 0
    assert silent.unread == 40
    (said,) = (one.message for one in found.findings if one.kind == "candidate_unread")
    # It was given up, and the rest not asked.
    came = int(re.search(r"None of (\d+) replies of gpt silent could be read", said)[1])
    assert 0 < came < 40
    assert "40 judgements are not there" in said
    assert found.chosen == "gpt exact"


def test_a_limit_keeps_what_came_and_the_same_call_goes_on(tmp_path):
    with WireServer(answer) as server:
        study = world(tmp_path, server.openai)
        given = {"candidates": [tmp_path / "exact.txt"]}
        with pytest.raises(UnfinishedError, match="the same command goes on with a higher limit"):
            tuned_in(tmp_path, study, max_calls=30, **given)
        assert server.count == 30
        assert tuned_in(tmp_path, study, **given).chosen == "gpt exact"
        assert server.count == 80


CLI = "from voirdire.cli import main; main()"


def test_three_kills_cost_nothing_twice(tmp_path):
    with WireServer(answer, latency=0.03) as server:
        world(tmp_path, server.openai)
        command = [
            sys.executable, "-m", "voirdire", "tune", "study.toml", "--judge", "gpt", "--for",
            "single", "--labels", "labels.csv", "--reference", "ann,ben", "--candidates",
            "exact.txt", "--out", "out", "--max-cost", "1", "--json",
        ]  # fmt: skip
        for point in (10, 30, 60):
            process = subprocess.Popen(
                command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            ends = time.monotonic() + 90
            while server.count < point and time.monotonic() < ends and process.poll() is None:
                time.sleep(0.002)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        made = json.loads(done.stdout)
        # What was in flight at a kill is asked again, and nothing else.
        assert 80 <= server.count <= 80 + 3 * (8 + WAITING + COMMITTING)
    with closing(read_session(tmp_path / "out" / "session")) as connection:
        (kept,) = connection.execute("SELECT count(*) FROM calls WHERE current = 1").fetchone()
    assert kept == 80
    asked = [one["price"] for one in made["ways"] if not one["change"]]
    assert asked == pytest.approx([1000 * EACH] * 2, rel=1e-12)
    text = json.dumps(made)
    assert "gpt exact" in text
    assert "Adopt gpt exact" in text
    assert (tmp_path / "out" / "report" / "tuned.html").is_file()


class Words:
    """A third party's optimizer, whole."""

    def optimize(self, start, units, evaluate):
        best, score = start, self.mean(evaluate(start, units))
        for words in ("Be kind.", "Be exact.", "Be brief."):
            if evaluate.left < len(units):
                break
            found = self.mean(evaluate(words, units))
            if found > score:
                best, score = words, found
        return best

    def mean(self, evaluated):
        return sum(one.score for one in evaluated) / len(evaluated)


class Raises(Words):
    def optimize(self, start, units, evaluate):
        evaluate("Be exact.", units)
        raise RuntimeError("out of ideas")


class Greedy(Words):
    def optimize(self, start, units, evaluate):
        for number in range(1000):
            evaluate(f"Be exact. {number}", units)


@pytest.fixture
def mine(monkeypatch):
    known = plugins().of_kind("optimizer").registered
    for made in (Words, Raises, Greedy):
        name = made.__name__.lower()
        monkeypatch.setitem(
            known,
            ("optimizer", name),
            Registered("optimizer", name, f"test_tune:{made.__name__}", "mine"),
        )
    monkeypatch.setitem(sys.modules, "test_tune", sys.modules[__name__])


def test_an_optimizer_sees_one_half_and_the_other_measures(tmp_path, mine):
    with WireServer(answer) as server:
        study = world(tmp_path, server.openai)
        found = tuned_in(tmp_path, study, optimizer="words", folds=0)
        # Four candidates on 20 labels; then old and new on those that are left.
        assert server.count <= 4 * 20 + 2 * 40
        assert found.measured_on == 20
        assert "Be exact." in found.text_diff
        assert found.decision == "adopt"
        asked = server.count
        assert tuned_in(tmp_path, study, optimizer="words", folds=0).gain == found.gain
        assert server.count == asked


def test_an_optimizer_is_run_again_without_each_fold(tmp_path, mine):
    with WireServer(answer) as server:
        study = world(tmp_path, server.openai)
        said = []
        with pytest.raises(InputError, match="0 or 5 to 40"):
            tuned_in(tmp_path, study, optimizer="words", folds=3)
        found = tuned_in(tmp_path, study, optimizer="words", say=said.append)
        # Four candidates on all 40; in each fold they are on file.
        assert server.count == 4 * 40
    assert "may ask for 2,400 judgements of gpt, once by all labels, and once without" in said[0]
    # A dry run takes replies to be as long as they may be.
    assert float(re.search(r"cost ([\d.]+) at most", said[0])[1]) > 2400 * EACH
    assert found.measured_on == found.labels == 40
    (interval,) = found.gain.intervals
    assert interval.method == "refitted_t"
    assert found.decision == "adopt"
    assert [one.share for one in found.ways] == [0, 1]
    # All folds found the same, so that the gain is that of choosing by all; its interval is wider,
    # by as much at least as five folds have fewer degrees of freedom.
    assert found.gain.value == pytest.approx(found.claimed.value)
    width, plain = np.diff(found.gain.bounds)[0], np.diff(found.claimed.bounds)[0]
    assert width >= plain * 0.999 * student.ppf(0.975, 8) / student.ppf(0.975, 39)


@pytest.mark.parametrize(("name", "says"), [("raises", "out of ideas"), ("greedy", "its budget")])
def test_an_optimizer_that_ends_badly_loses_nothing(tmp_path, mine, name, says):
    with WireServer(answer) as server:
        study = world(tmp_path, server.openai)
        found = tuned_in(tmp_path, study, optimizer=name, steps=100)
    assert any(says in one.message for one in found.findings)
    assert found.decision == "adopt"
    assert "Be exact." in found.text_diff


def test_gepa_rewrites_by_what_a_judge_got_wrong(tmp_path):
    pytest.importorskip("gepa")
    with WireServer(answer) as server:
        study = world(tmp_path, server.openai)
        found = tuned_in(
            tmp_path,
            study,
            optimizer="gepa",
            steps=200,
            folds=0,
            optimizer_options={"model": "openai:gpt", "model_options": {"base_url": server.openai}},
        )
    assert "Be exact." in found.text_diff
    assert found.decision == "adopt"


def test_gepa_keeps_the_contract_of_optimizers():
    """The real package, whose reflecting model answers by the wire."""
    pytest.importorskip("gepa")
    from voirdire_plugins.tune.gepa import make

    with WireServer(answer) as server:
        check_optimizer(make, model="openai:gpt", model_options={"base_url": server.openai})
        assert server.count > 1


def test_labels_where_they_differ_measure_the_gain(tmp_path):
    """Two in three of 160 differ by one point, and the new judge is right on all of them."""
    with WireServer(answer) as server:
        study = world(tmp_path, server.openai, items=200, labelled=40)
        given = {"candidates": [tmp_path / "exact.txt"], "attributes": ["Empathy"]}
        found = tuned_in(tmp_path, study, differ=40, **given)
        drawn = pl.read_csv(tmp_path / "out" / "differ.csv")
        assert found.drawn.units == 160
        assert drawn.height == 40
        # Those on which they agree could not be drawn: these labels stand for no mean of all.
        assert drawn["origin"].unique().to_list() == ["chosen"]
        asked = server.count
        assert asked == 400
        quality = [1 + (number * 3) % 5 for number in range(200)]
        answers = _answered(tmp_path, found.drawn, quality)
        again = tuned_in(tmp_path, study, measure=[answers], **given)
        measured = again.drawn
        assert server.count == asked
    # A session that holds more judgements is dearer, and a judgement is not.
    assert again.after.price == pytest.approx(found.after.price) == pytest.approx(1000 * EACH)
    truth = np.mean([_gain(at, quality) for at in range(40, 200)])
    low, high = measured.gain.bounds
    assert 0 < low < truth < high
    assert measured.gain.n == 40
    # What moved is looked at: the same judge, before and after, with texts.
    after, before = again.files["look"].split(" --beside ")
    people = ("ann", "ben")
    site = Site(looked_at(after, people, with_text=True, beside=looked_at(before, people)))
    page = site.ask("/list?changed=1")[2]
    one = site.ask(unescape(re.search(r'href="(/response[^"]+)"', page)[1]))[2]
    site.close()
    assert f"<h1>{len(again.moved)} responses</h1>" in page
    assert "An answer of quality" in one


def _answered(folder, drawn, quality):
    """Sheets for two people by the study and the list of what was drawn, filled in and read."""
    work = folder / "work"
    export(drawn.people, work, queue=drawn.queue, formats=["csv"])
    for sheet in (work / "sheets").glob("*.csv"):
        rows = pl.read_csv(sheet, infer_schema=False)
        at = rows["Response"].str.extract(r"number (\d+)", 1).cast(pl.Int64).to_list()
        score = pl.Series([str(min(quality[n] + (n % 9 == 0), 5)) for n in at])
        rows.with_columns(Empathy=score).write_csv(sheet)
    import_answers(work, sorted((work / "sheets").glob("*.csv")), folder / "answers")
    return folder / "answers" / "ratings.parquet"


def _gain(at, quality):
    person = min(max(quality[at] + (1 if at % 9 == 0 else 0), 1), 5)
    old = min(max(quality[at] + (at * 7) % 3 - 1, 1), 5)
    return (abs(old - person) - abs(quality[at] - person)) / 4


MARKS = Marks(1, 5, 4)
JUDGE = np.array([[5, 4, 2, np.nan, 3, 4, 1.0, 5]])
HUMANS = np.array([[5, 4], [3, 5], [2, 1], [4, 4], [1, np.nan], [2, 2], [1, 2], [5, 5.0]])


def test_goals_by_loops():
    """Each goal's mean over units against its definition, unread replies counted as wrong."""
    close = [
        0 if np.isnan(said) else np.nanmean(1 - np.abs(said - own) / 4)
        for said, own in zip(JUDGE[0], HUMANS, strict=True)
    ]
    good = goal_of("single").goodness([JUDGE], HUMANS, MARKS)[0]
    np.testing.assert_allclose(good, close)
    people = np.nanmean(np.where(np.isnan(HUMANS), np.nan, HUMANS >= 4), axis=1)
    passes, fails = JUDGE[0] >= 4, JUDGE[0] < 4
    sums = goal_of("gate").columns(JUDGE, HUMANS, MARKS)[0].sum(axis=0)
    assert goal_of("gate").statistic(sums) == pytest.approx(
        ((people * passes).sum() / people.sum() + ((1 - people) * fails).sum() / (1 - people).sum())
        / 2
    )
    sums = goal_of("filter").columns(JUDGE, HUMANS, MARKS)[0].sum(axis=0)
    unread = np.isnan(JUDGE[0])
    hits, missed = (people * passes).sum(), (people * ~passes).sum()
    false = ((1 - people) * (passes | unread)).sum()
    assert goal_of("filter").statistic(sums) == pytest.approx(
        2 * hits / (2 * hits + missed + false)
    )
    sums = goal_of("worth").columns(JUDGE, HUMANS, MARKS)[0].sum(axis=0)
    said = np.where(unread, np.nanmean(JUDGE), JUDGE[0])
    expected = np.corrcoef(said, np.nanmean(HUMANS, axis=1))[0, 1] ** 2
    assert goal_of("worth").statistic(sums) == pytest.approx(expected)


def test_uses_and_gates_that_are_not_there():
    with pytest.raises(InputError, match="single"):
        goal_of("singel")
    with pytest.raises(InputError, match=r"declare gate = \{at = 4\}"):
        check_gate(None, "gate", 1, 5)
    assert check_gate(None, "gate", 0, 1).gate == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[candidate]]\nmodle = 'x:y'\n", "modle"),
        ("[[other]]\n", "the key 'other' is unknown"),
        ("", "tables"),
        ("[[candidate]]\nname = 'a'\n[[candidate]]\nname = 'a'\n", "already"),
    ],
)
def test_files_of_candidates_that_say_nothing(tmp_path, text, says):
    judge = build_study({"name": "s", "panel": [{"name": "a", "model": "simulated:a"}]}).panel[0]
    (tmp_path / "c.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=says):
        read_candidates(judge, [tmp_path / "c.toml"])
