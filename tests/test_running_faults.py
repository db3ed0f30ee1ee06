"""Runs that meet broken plugins, edited studies, signals, and answers that are paid for in vain."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from base64 import b64encode
from pathlib import Path

import pytest
from command_line import typed
from scripted import (
    PLUGINS,
    RECEIVED,
    Digit,
    TwoSteps,
    go,
    judge,
    rated,
    scripted_plugins,
    study_of,
)
from test_running_wire import CLI, KEY, after, started
from test_running_wire import judge as wire_judge
from test_running_wire import study_of as wire_study
from wire_server import WireServer, rubric_text

from voirdire.errors import SessionError, StudyError
from voirdire.examining.session import session_findings
from voirdire.running import dry_run, run, session_status
from voirdire.schema import Message, Request
from voirdire.store import replies_frame
from voirdire.store.findings import reply_findings_frame
from voirdire.study import build_study


class Breaks(Digit):
    """Its parser breaks on replies that hold a word, as its option says."""

    def __init__(self, rubric, *, how="key", on="", sampling=None):
        super().__init__(rubric)
        self.how, self.on = how, on

    def parse(self, replies):
        if replies[0].finish_reason != "error" and self.on in replies[0].text:
            raise {"key": KeyError("score"), "exit": SystemExit(3)}[self.how]
        return super().parse(replies)


class Exits(Digit):
    """A plugin that exits where its option says."""

    def __init__(self, rubric, *, where="requests", sampling=None):
        super().__init__(rubric)
        self.where = where
        if where == "making":
            raise SystemExit(3)

    def requests(self, task):
        if self.where == "requests" and task.item.id != "item":
            raise SystemExit(3)
        return super().requests(task)

    def follow_up(self, replies):
        if self.where == "follow_up":
            raise SystemExit(3)
        return []

    def findings(self):
        if self.where == "findings":
            raise SystemExit(3)


class WriterBreaks:
    """A generator whose parser breaks."""

    def __init__(self, *, sampling=None):
        self.sampling = sampling

    def requests(self, task):
        return [Request((Message("user", task.text),))]

    def parse(self, replies, item=""):
        raise KeyError("text")


class Chatty(TwoSteps):
    """A judge that always has one more question."""

    def follow_up(self, replies):
        asked = replies[-1].request.messages
        return [Request((*asked, Message("user", f"And {len(replies)}?")))]


def plugins():
    found = scripted_plugins()
    for kind, name, target in (
        ("judge", "breaks", "Breaks"), ("judge", "exits", "Exits"), ("judge", "chatty", "Chatty"),
        ("generator", "breaks", "WriterBreaks"),
    ):  # fmt: skip
        found.add(kind, "tests", name, f"{__name__}:{target}")
    found.add("model", "voirdire", "simulated", "voirdire_judges.models.simulated:make")
    return found


def ran(tmp_path, study, **more):
    RECEIVED.clear()
    return run(study, tmp_path / "a", plugins=plugins(), quiet=True, **more)


# ---- parsers that raise, plugins that exit


@pytest.mark.parametrize("how", ["key", "exit"])
def test_a_parser_that_raises_is_not_asked_again_and_its_rater_stops(tmp_path, how):
    limits = {"concurrency": 2, "start_concurrency": 2}
    broken = judge("ann", use="breaks", options={"how": how})
    study = study_of(tmp_path, broken, judge("bob"), items=60, systems=("x",), run=limits)
    result = ran(tmp_path, study)
    ann, bob = result.raters
    assert RECEIVED["ann"] == ann.calls < 20  # 120 before
    assert "its parser broke on 5 replies in a row" in ann.suspended
    assert (bob.done, bob.suspended) == (60, "")
    assert result.exit_code == 3
    assert not result.complete
    before = ann.calls
    again = ran(tmp_path, study, resume=True)
    assert again.raters[0].calls - before < 20
    assert replies_frame(tmp_path / "a").group_by("item", "rater").len()["len"].max() == 1


def test_a_parser_that_breaks_now_and_then_costs_those_replies_alone(tmp_path):
    broken = judge(
        "ann",
        use="breaks",
        options={"on": "odd"},
        model_options={"fails": {"0": "says:odd 4"}, "only": "i1."},
    )
    result = ran(tmp_path, study_of(tmp_path, broken, items=12))
    assert result.raters[0].statuses == {"ok": 22, "unparsable": 2}
    assert (RECEIVED["ann"], result.exit_code) == (24, 0)
    (row,) = reply_findings_frame(tmp_path / "a").iter_rows(named=True)
    assert (row["kind"], row["count"], row["detail"]) == ("parser_raised", 2, "KeyError: 'score'")


def test_one_exception_of_sixty_calls_is_printed_once_with_its_count(tmp_path):
    """In the run's own lines, and wherever failed calls are shown."""
    fails = {"fails": {"0": "server"}, "message": "no room at step 3"}
    limits = {"concurrency": 2, "start_concurrency": 2, "retries": 0, "breaker": 100}
    study = study_of(
        tmp_path, judge("ann", model_options=fails), items=60, systems=("x",), run=limits
    )
    ann = ran(tmp_path, study).raters[0]
    assert (ann.calls, ann.done) == (60, 0)
    shown = typed("session", "show", tmp_path / "a", "--failed", "--most", "60").stdout
    assert shown.count("no room at step 3") == 1
    assert "60 calls failed so" in shown
    told = typed("session", "status", tmp_path / "a").stdout
    assert told.count("no room at step 3") <= 1
    assert "server 60" in " ".join(told.split())


def test_a_generator_whose_parser_raises_is_not_asked_again(tmp_path):
    writer = {"name": "new", "use": "breaks", "model": "script:new"}
    result = ran(tmp_path, study_of(tmp_path, judge("ann"), items=3, generators=[writer]))
    assert (RECEIVED["new"], result.raters[0].statuses) == (3, {"unparsable": 3})
    assert result.exit_code == 3


@pytest.mark.parametrize("where", ["requests", "follow_up", "findings"])
def test_system_exit_in_a_plugin_costs_that_plugin_alone(tmp_path, where):
    exits = judge("ann", use="exits", options={"where": where})
    result = ran(tmp_path, study_of(tmp_path, exits, judge("bob")))
    assert result.raters[1].statuses == {"ok": 8}
    if where == "findings":
        kept = json.loads((tmp_path / "a" / "findings.json").read_text())
        assert kept["ann"][0]["kind"] == "findings_broke"
    else:
        assert "SystemExit" in result.raters[0].suspended
        assert result.exit_code == 3


def test_system_exit_while_a_judge_is_made_is_an_error_that_names_it(tmp_path):
    exits = judge("ann", use="exits", options={"where": "making"})
    with pytest.raises(Exception, match=r"'exits' of 'ann' cannot be made: SystemExit"):
        ran(tmp_path, study_of(tmp_path, exits))


# ---- what counts as complete


@pytest.mark.parametrize("kind", ["refusal", "content_filter", "empty", "length", "says:prose"])
def test_a_run_in_which_nothing_could_be_read_is_not_complete(tmp_path, kind):
    study = study_of(tmp_path, judge(model_options={"fails": {"0": kind}}), judge("bob"), items=2)
    result = go(tmp_path, study)
    assert result.raters[0].done == 4
    assert result.raters[0].nothing_read
    assert not result.raters[1].nothing_read
    assert (result.complete, result.exit_code) == (False, 3)


def test_one_reply_that_could_be_read_makes_it_complete(tmp_path):
    options = {"fails": {"0": "refusal"}, "only": "x to i0"}
    result = go(tmp_path, study_of(tmp_path, judge(model_options=options), items=1))
    assert result.raters[0].statuses == {"refused": 1, "ok": 1}
    assert result.exit_code == 0


# ---- edited studies, dry runs


def test_resume_says_how_many_replies_no_longer_fit_before_asking(tmp_path):
    go(tmp_path, study_of(tmp_path, judge(), judge("bob")))
    tables = rated(tmp_path)
    edited = study_of(tmp_path, judge(options={"prompt": "New"}), judge("bob"))
    text = (tmp_path / "responses.csv").read_text()
    (tmp_path / "responses.csv").write_text(text.replace("y to i2.", "y to i2 edited."))
    before = {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    with pytest.raises(SessionError, match=r"9 stored replies .*\(ann 8, bob 1\).*--ask-again"):
        go(tmp_path, edited, resume=True)
    assert sum(RECEIVED.values()) == 0
    assert rated(tmp_path).equals(tables)
    assert (tmp_path / "a" / "study.toml").read_bytes() == before["study.toml"]
    result = go(tmp_path, edited, resume=True, ask_again=True)
    assert (RECEIVED["ann"], RECEIVED["bob"]) == (8, 1)
    assert result.complete


def test_what_was_agreed_to_is_not_asked_about_twice(tmp_path):
    go(tmp_path, study_of(tmp_path, judge()))
    edited = study_of(tmp_path, judge(options={"prompt": "New"}))
    go(tmp_path, edited, resume=True, ask_again=True, max_calls=11)
    assert go(tmp_path, edited, resume=True).complete


def test_an_unchanged_study_needs_no_word(tmp_path):
    study = study_of(tmp_path, judge(runs=2), judge("pair", use="pair"), judge("two", use="steps"))
    go(tmp_path, study, max_calls=9)
    assert go(tmp_path, study, resume=True).complete


def test_a_broken_table_of_inputs_leaves_the_session_as_it_was(tmp_path):
    study = study_of(tmp_path, judge())
    go(tmp_path, study)
    tables = rated(tmp_path)
    (tmp_path / "responses.csv").write_text("item,system,text\ni9,x,To nobody.\n")
    with pytest.raises(StudyError, match="does not hold"):
        go(tmp_path, study, resume=True)
    assert rated(tmp_path).equals(tables)


def test_a_dry_run_counts_what_is_on_file(tmp_path):
    study = study_of(tmp_path, judge(runs=2))
    go(tmp_path, study, max_calls=6)
    (plan,) = dry_run(study, tmp_path / "a", plugins=PLUGINS)
    assert (plan.tasks, plan.on_file, plan.calls) == (16, 6, 10)
    (fresh,) = dry_run(study, plugins=PLUGINS)
    assert (fresh.on_file, fresh.calls) == (0, 16)


# ---- runs and steps


def test_runs_of_a_simulated_model_differ_and_the_first_is_as_it_was(tmp_path):
    simulated = {"model": "simulated:one", "model_options": {"reliability": 0.0}}
    one = study_of(tmp_path, judge("ann", **simulated), items=20)
    ran(tmp_path, one)
    first = replies_frame(tmp_path / "a")["text"].to_list()
    study = study_of(tmp_path, judge("ann", **simulated, runs=3), items=20)
    run(study, tmp_path / "b", plugins=plugins(), quiet=True)
    frame = replies_frame(tmp_path / "b").sort("run", "item", "first", maintain_order=True)
    texts = frame.group_by("run", maintain_order=True).agg("text")["text"].to_list()
    assert sorted(texts[0]) == sorted(first)
    assert len(set(texts[0]) & set(texts[1])) == len(set(texts[1]) & set(texts[2])) == 0


@pytest.mark.parametrize(
    ("says", "temperature", "found"),
    [("4", 0.7, True), ("4", None, True), ("4", 0.0, False), ("{tries} 4", 0.7, False)],
)
def test_runs_that_are_one_run_copied_are_a_finding(tmp_path, says, temperature, found):
    ann = judge(runs=3, model_options={"says": says}, temperature=temperature)
    result = go(tmp_path, study_of(tmp_path, ann))
    assert result.complete
    kinds = [finding.kind for finding in session_findings(tmp_path / "a")]
    assert ("runs_identical" in kinds) is found


def test_nineteen_of_twenty_alike_are_a_finding_and_eighteen_are_not(tmp_path):
    def told(differing):
        options = {"says": "{tries}", "fails": {"0": "says:4"}, "only": "."}
        ann = judge(runs=2, model_options=options)
        study = study_of(tmp_path, ann, items=20, systems=("x",))
        text = (tmp_path / "responses.csv").read_text()
        for number in range(differing):  # a text without a full stop is answered by its tries
            text = text.replace(f"x to i{number}.", f"x to i{number}")
        (tmp_path / "responses.csv").write_text(text)
        go(tmp_path, study, out=f"s{differing}")
        rows = reply_findings_frame(tmp_path / f"s{differing}").filter(kind="runs_identical")
        return rows.select("count", "of").rows()

    assert told(1) == [(19, 20)]
    assert told(2) == []


@pytest.mark.parametrize(("given", "calls"), [({}, 16), ({"max_steps": 3}, 3)])
def test_a_judge_that_is_cut_at_its_steps_is_a_finding(tmp_path, given, calls):
    study = study_of(tmp_path, judge("ann", use="chatty", **given), items=2, systems=("x",))
    result = ran(tmp_path, study)
    assert result.raters[0].calls == 2 * calls
    (row,) = reply_findings_frame(tmp_path / "a").filter(kind="steps_cut").iter_rows(named=True)
    assert (row["count"], row["detail"], row["places"]) == (
        2, str(calls), ["item i0, x", "item i1, x"]
    )  # fmt: skip
    (finding,) = (f for f in session_findings(tmp_path / "a") if f.kind == "steps_cut")
    assert f"cut at {calls} steps" in finding.message


def test_a_judge_that_ends_within_its_steps_is_no_finding(tmp_path):
    go(tmp_path, study_of(tmp_path, judge("ann", use="steps", max_steps=2), items=2))
    assert reply_findings_frame(tmp_path / "a").filter(kind="steps_cut").is_empty()


def test_the_rubric_file_is_read_once_for_all_judges(tmp_path, monkeypatch):
    path = tmp_path / "rubric.toml"
    text = (Path(__file__).parent.parent / "examples" / "run" / "rubric.toml").read_text()
    path.write_text(text, encoding="utf-8")
    panel = [{"name": name, "model": f"simulated:{name}"} for name in ("north", "south", "west")]
    raw = {"name": "calm", "panel": panel, "rubric": {"use": "rubric.toml"}}
    study_of(tmp_path, judge())  # the items and responses
    study = build_study(
        {**raw, "items": {"path": "items.csv"}, "responses": {"path": "responses.csv"}},
        folder=str(tmp_path),
    )
    reads = []

    def hear(event, arguments):
        if event == "open" and str(arguments[0]) == str(path):
            reads.append(arguments[0])

    sys.addaudithook(hear)
    assert run(study, tmp_path / "a", quiet=True).complete
    # Read for all judges at once, and hashed for the seal of the run.
    assert len(reads) == 2


# ---- money


@pytest.fixture
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


PRICES = {"openai:gpt": {"input": 100.0, "output": 100.0}}
EMPTY = {
    "choices": [],
    "usage": {"prompt_tokens": 60, "completion_tokens": 40, "total_tokens": 100},
}


@pytest.mark.usefixtures("_key")
def test_answers_without_a_choice_are_paid_for_and_end_the_budget(tmp_path):
    with WireServer() as server:
        server.fault("raw", times=None, content=json.dumps(EMPTY))
        limits = {
            "prices": PRICES,
            "max_cost": 0.04,
            "concurrency": 1,
            "start_concurrency": 1,
            "breaker": 99,
            "retries": 3,
        }
        study = wire_study(tmp_path, wire_judge("gpt", server.openai), items=20, run=limits)
        result = run(study, tmp_path / "a", quiet=True)
    each = 100 * 100 / 1e6
    assert result.cost == pytest.approx(server.count * each, rel=1e-12)
    assert result.cost <= 0.04
    assert result.stopped == "budget"
    assert session_status(tmp_path / "a").cost == pytest.approx(result.cost, rel=1e-12)


# ---- keys


@pytest.mark.usefixtures("_key")
def test_a_reply_that_echoes_a_key_is_scrubbed_when_stored_and_shown(tmp_path, monkeypatch, capsys):
    other = "another-planted-secret"
    monkeypatch.setenv("SOME_TOKEN", other)
    coded = b64encode(other.encode()).decode()
    text = rubric_text().replace("A warm", f"You sent {KEY}, {other} and {coded}: a warm")
    with WireServer(text) as server:
        run(
            wire_study(tmp_path, wire_judge("gpt", server.openai), items=2),
            tmp_path / "a",
            quiet=True,
        )
    for path in (tmp_path / "a").iterdir():
        held = path.read_bytes()
        assert not any(secret.encode() in held for secret in (KEY, other, coded)), path
    from voirdire.cli.session import show

    show(tmp_path / "a", None, None, failed=False, most=5)
    shown = capsys.readouterr().out
    assert "You sent [hidden], [hidden] and [hidden]: a warm" in shown


@pytest.mark.parametrize(
    "options",
    [
        {"base_url": "https://me:secret@localhost/v1"}, {"base_url": "https://localhost/v1?a=b"},
        {"arguments": {"url": "https://me:secret@localhost"}}, {"query": {"subscription-key": "x"}},
        {"arguments": {"url": "https://localhost/?access_token=secret"}},
    ],
)  # fmt: skip
def test_a_key_in_an_address_is_refused_before_anything_is_kept(tmp_path, options):
    with pytest.raises(StudyError, match="keys come from the environment only") as caught:
        wire_study(tmp_path, {"name": "gpt", "model": "openai:gpt", "model_options": options})
    assert "secret@" not in str(caught.value)


def test_what_looks_like_a_key_in_a_study_is_warned_of(tmp_path, capsys):
    study = study_of(tmp_path, judge(options={"prompt": "Use sk-proj-0123456789abcdef."}), items=1)
    go(tmp_path, study)
    said = capsys.readouterr().err
    assert "of the study looks as if it held a key" in said
    assert "sk-proj" not in said
    go(tmp_path, study_of(tmp_path, judge(options={"prompt": "Basic understanding."})), out="b")
    assert capsys.readouterr().err == ""


# ---- signals

unix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")


@unix
@pytest.mark.usefixtures("_key")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_run_as_ctrl_c_does(tmp_path, number):
    with WireServer(latency=0.05) as server:
        limits = {"concurrency": 4, "start_concurrency": 4}
        wire_study(tmp_path, wire_judge("gpt", server.openai), items=1500, run=limits)
        process = started(tmp_path)
        after(server, 40, process)
        began = time.monotonic()
        process.send_signal(number)
        out, err = process.communicate(timeout=120)
        assert time.monotonic() - began < 120
        assert process.returncode == 130, err
        assert "Go on with: voirdire run study.toml --out a --resume" in out
        assert (tmp_path / "a" / "ratings.parquet").exists()
        done = session_status(tmp_path / "a").raters[0].done
        assert server.count == done >= 40  # calls under way came back and are kept


@unix
@pytest.mark.usefixtures("_key")
def test_nohup_is_respected(tmp_path):
    with WireServer(latency=0.05) as server:
        wire_study(
            tmp_path,
            wire_judge("gpt", server.openai),
            items=60,
            run={"concurrency": 4, "start_concurrency": 4},
        )
        ignoring = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh"]  # as nohup does
        command = [*ignoring, sys.executable, "-c", CLI, "run", "study.toml", "--out", "a", "-q"]
        process = subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        after(server, 10, process)
        process.send_signal(signal.SIGHUP)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert "Complete." in out
