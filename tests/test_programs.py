"""`--json`: one object that begins with a short answer, by a published schema, whatever happens."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from command_line import typed
from json_documents import checked, wrong
from simulated_sessions import session_of

from voirdire.cli.schemas import RECORDS, every_command, schema_of
from voirdire.examining.simulate_kinds import (
    DEMO,
    SimulatedCases,
    label_panel,
    preference_panel,
    probability_panel,
    tidy_judgements,
)

EXAMPLES = Path(__file__).parents[1] / "examples"


def asked(command, *words, cwd=".", code=0):
    """The object that a command prints, checked; on standard error there are events alone."""
    done = typed(*command.split(), *words, "--json", cwd=cwd)
    assert done.returncode == code, done.stdout + done.stderr
    return checked(command, done.stdout, done.stderr)


def test_the_check_finds_what_is_wrong():
    good = {"schema_version": 1, "answer": {
        "sentence": "a", "state": "ok", "sentences": [], "states": {}, "numbers": [], "next": [],
        "ids": [], "more": 0}, "findings": []}  # fmt: skip
    assert wrong(good, schema_of("audit")) == []
    for bad in (
        {**good, "schema_version": 2}, {**good, "findings": {}}, {**good, "findings": [{}]},
        {**good, "answer": {**good["answer"], "state": "fine"}},
        {**good, "answer": {**good["answer"], "ids": ["a"] * 7}},
        {key: value for key, value in good.items() if key != "findings"},
    ):  # fmt: skip
        assert wrong(bad, schema_of("audit"))


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judged")
    rows = [
        (f"q{k}", f"v{k % 2}", 1 + k * 7 % 5, min(5, 1 + k * 7 % 5 + k % 3 // 2))
        for k in range(160)
    ]
    pl.DataFrame(rows, schema=["item", "system", "judge", "human"], orient="row").write_csv(
        folder / "judged.csv"
    )
    part = [(*row[:3], row[3] if at % 4 == 0 else None) for at, row in enumerate(rows)]
    pl.DataFrame(part, schema=["item", "system", "judge", "human"], orient="row").write_csv(
        folder / "part.csv"
    )
    return folder


WHOLE = ("judged.csv", "--reference", "human")
SOME = ("part.csv", "--reference", "human")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("examine", (*WHOLE, "--resamples", "0", "--gate", "4")),
        ("decide", (*SOME, "--gate", "4")),
        ("audit", WHOLE),
        ("correct", SOME),
        ("plan", (*SOME, "--half-width", "0.2")),
        ("escalate", (*WHOLE, "--agree", "0.9")),
        ("compare", ("judged.csv", "judged.csv", "--reference", "human")),
        ("item", ("judged.csv", "q3", "--reference", "human")),
        ("gate freeze", (*WHOLE, "--as", "judge.lock")),
        ("gate check", (*WHOLE, "--lock", "judge.lock", "--look", "1")),
        ("import", ("--list",)),
        ("init", ("judged.csv", "--reference", "human", "--out", "drafted.toml", "--force")),
        ("schema", ("examine",)),
        ("plugins", ()),
    ],
)
def test_a_command_that_ends_well_prints_its_schema(judged, command, words):
    if command == "gate check" and not (judged / "judge.lock").exists():
        assert typed("gate", "freeze", *WHOLE, "--as", "judge.lock", cwd=judged).returncode == 0
    record = asked(command, *words, cwd=judged)
    assert record["answer"]["sentence"]
    assert record["answer"]["state"] == "ok"
    assert set(RECORDS.get(command, {})) <= set(record)


def test_commands_that_write_say_what_they_wrote(judged, tmp_path):
    """Each has an answer and a record of its own, and none prints lines alone."""
    session = session_of(tmp_path, "s", items=6)
    study = tmp_path / "s-study"
    (study / "people.toml").write_text(
        'name = "calm"\n[items]\npath = "items.csv"\n[responses]\npath = "responses.csv"\n'
        '[rubric]\nattributes = ["Empathy"]\n[humans]\nraters = ["ann"]\ntask = "pointwise"\n'
    )
    for command, words in (
        ("init", ("judged.csv", "--reference", "human", "--out", tmp_path / "d.toml")),
        ("import", ("judged.csv", "--reference", "human", "--out", tmp_path / "r.parquet")),
        ("new", ("judge", "tone", "--out", tmp_path / "plug")),
        ("humans export", (study / "people.toml", "--out", tmp_path / "work", "--format", "csv")),
        ("humans import", (tmp_path / "work", tmp_path / "work/sheets/ann.csv",
                           "--out", tmp_path / "answers")),
        ("session show", (session, "--most", "3")),
        ("session reparse", (session,)),
        ("session where", (session,)),
        ("session batches", (session,)),
        ("session forget", ("texts", session)),
        ("session merge", (session, "--out", tmp_path / "merged")),
    ):  # fmt: skip
        record = asked(command, *words, cwd=judged)
        assert "lines" not in record, command
        assert set(record) > {"answer", "schema_version"}, command
        if command == "session show":
            assert len(record["calls"]) == 3
            assert {"rater", "item", "status", "text"} <= set(record["calls"][0])
        if command == "session forget":
            assert record["done"] is False
        if command == "init":
            assert record["reference"] == ["human"]
            assert (tmp_path / "d.toml").read_text().endswith(record["study"])


def test_a_next_step_is_a_command_that_runs(judged):
    steps = asked("examine", *WHOLE, "--resamples", "0", cwd=judged)["answer"]["next"]
    assert steps
    for step in steps:
        program, name, *words = shlex.split(step["command"])
        assert program == "voirdire"
        assert words[:3] == ["judged.csv", "--reference", "human"]
        if name != "look":  # which would serve a page
            assert typed(name, *words, cwd=judged).returncode == 0, step


def test_numbers_stand_beside_their_limits(judged):
    record = asked("examine", *WHOLE, "--resamples", "0", cwd=judged)
    numbers = {(one["use"], one["component"]): one for one in record["answer"]["numbers"]}
    for verdict in record["verdicts"]:
        for part in verdict["components"]:
            found = numbers.get((verdict["use"], part["name"]))
            if found is not None and verdict["target"] == "these systems":
                assert found["estimate"] == part["estimate"]
                assert found["limit"] == part["margin"]


@pytest.fixture
def open_file(tmp_path):
    """A file in which three columns may be the judge's."""
    rows = [(f"q{k}", 1 + k % 5, 1 + k * 3 % 5, 1 + k * 2 % 5, 1 + k % 4) for k in range(40)]
    pl.DataFrame(rows, schema=["item", "human", "north", "south", "east"], orient="row").write_csv(
        tmp_path / "open.csv"
    )
    return tmp_path


def test_a_question_is_data_and_its_answer_an_option(open_file):
    words = ("open.csv", "--reference", "human", "--resamples", "0")
    record = asked("examine", *words, cwd=open_file, code=1)
    assert record["answer"]["state"] == "question"
    (question,) = record["questions"]
    assert (question["key"], question["choices"]) == ("judge", ["north, south, east"])
    answer = shlex.split(question["answers"][0])
    found = asked("examine", *words, *answer, cwd=open_file)
    assert {one["judge"] for one in found["verdicts"]} == {"north", "south", "east"}
    one = asked("examine", *words, "--answer", "judge=south", cwd=open_file)
    assert {verdict["judge"] for verdict in one["verdicts"]} == {"south"}


def test_an_answer_to_what_nobody_asks_is_refused(open_file):
    for given, said in (("bogus=1", "'bogus' is unknown"), ("judge", "write KEY=VALUE")):
        done = typed("examine", "open.csv", "--answer", given, cwd=open_file)
        assert done.returncode == 1
        assert said in done.stderr


@pytest.mark.parametrize(
    ("command", "words", "code", "said"),
    [
        ("examine", ("nope.csv",), 1, "no such file"),
        ("examine", ("judged.csv", "--bogus"), 2, "No such option"),
        ("session show", ("nowhere",), 1, "session"),
        ("gate check", ("judged.csv", "--lock", "none.lock"), 1, "none.lock"),
    ],
)
def test_an_error_is_one_object_too(judged, command, words, code, said):
    record = asked(command, *words, cwd=judged, code=code)
    assert record["answer"]["state"] == "error"
    assert said in record["error"]["message"]


def test_an_unmet_requirement_is_said_first_and_printed_once(judged):
    words = (*WHOLE, "--resamples", "0", "--require", "verdict.single=yes")
    record = asked("examine", *words, cwd=judged, code=4)
    assert record["answer"]["state"] == "unmet"
    assert record["answer"]["sentence"] == "A requirement is not met: verdict.single=yes."


def test_an_interruption_is_one_object_too(tmp_path):
    rows = [(f"q{k}", k % 5 + 1, (k * 7) % 5 + 1) for k in range(40_000)]
    pl.DataFrame(rows, schema=["item", "human", "judge"], orient="row").write_csv(
        tmp_path / "large.csv"
    )
    # Interrupted when it says that it has begun: as an event, on standard error.
    code = (
        "import sys, voirdire.examining as e, voirdire.cli as c\n"
        "def wait(*a, **k):\n"
        "    sys.stderr.write('begun\\n'); sys.stderr.flush()\n"
        "    import time; time.sleep(60)\n"
        "e.examine = wait\n"
        "sys.argv = ['voirdire', 'examine', 'large.csv', '--reference', 'human', '--json']\n"
        "c.main()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        line = process.stderr.readline()
        assert json.loads(line)["text"] == "begun"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    record = checked("examine", out, err)
    assert record["answer"]["state"] == "interrupted"


def test_a_page_says_where_it_is_at_once_and_ends_in_its_schema(tmp_path):
    made = asked("humans export", EXAMPLES / "humans" / "study.toml", "--out", tmp_path / "work")
    assert made["answer"]["state"] == "ok"
    line = ["-m", "voirdire", "humans", "serve", tmp_path / "work", "--port", "0", "--json"]
    with subprocess.Popen(
        [sys.executable, *map(str, line)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        while "http://" not in (told := process.stderr.readline()):
            assert told, process.communicate()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    record = checked("humans serve", out, told + err)
    assert record["answer"]["state"] == "ok"


def test_a_server_for_agents_speaks_json_without_the_option(tmp_path):
    record = asked("mcp", "--folder", tmp_path, code=1)
    assert "speaks JSON with its client already" in record["error"]["message"]


#: Ctrl-C while a command, or a group that is called alone, reads its options.
INTERRUPTED = (
    "import typer.core\n"
    "def interrupted(self, ctx, args):\n"
    "    if any(a.startswith('--no') for a in args) and not args[0].isalpha():\n"
    "        raise KeyboardInterrupt\n"
    "    return whole(self, ctx, args)\n"
    "whole = typer.core.TyperGroup.parse_args\n"
    "typer.core.TyperCommand.parse_args = typer.core.TyperGroup.parse_args = interrupted\n"
)


@pytest.mark.parametrize(
    ("before", "state", "ends", "said"),
    [("", "error", 2, "--no-such-option"), (INTERRUPTED, "interrupted", 130, "Interrupted.")],
)
def test_every_command_plugins_included_ends_in_one_object_of_its_schema(before, state, ends, said):
    """Each is called with an option that it has not, or interrupted, within one process."""
    commands = every_command()
    code = before + (
        "import contextlib, io, json, sys\n"
        "from voirdire.cli import _for_program\n"
        "for command in json.load(sys.stdin):\n"
        "    out, words = io.StringIO(), [*command.split(), '--no-such-option', '--json']\n"
        "    sys.argv = ['voirdire', *words]\n"
        "    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):\n"
        "        code = _for_program(words)\n"
        "    print(json.dumps([command, code, out.getvalue()]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(commands),
        text=True,
        capture_output=True,
        check=True,
    )
    ended = [json.loads(line) for line in done.stdout.splitlines()]
    assert [command for command, _, _ in ended] == commands
    assert {"tune", "corpora", "paper distortions study"} <= set(commands)
    for command, code, out in ended:
        record = checked(command, out)
        assert (code, record["answer"]["state"]) == (ends, state), command
        assert said in record["error"]["message"], command


def test_commands_of_plugins_print_the_schema_too(tmp_path):
    record = asked("index info", "nowhere", cwd=tmp_path, code=1)
    assert record["answer"]["state"] == "error"
    record = asked("skill", "--out", "made", cwd=tmp_path)
    assert record["answer"]["state"] == "ok"
    assert (tmp_path / "made" / "SKILL.md").is_file()


def test_every_command_has_a_schema_and_the_option():
    commands = every_command()
    assert set(RECORDS) <= set(commands)
    for command in commands:
        assert schema_of(command)["anyOf"][0]["required"][:2] == ["schema_version", "answer"]


@pytest.mark.parametrize("words", [SOME, ("words.csv", "--reference", "human")])
def test_decide_has_every_number_from_the_single_commands(judged, words):
    """Of graded scores, and of pass and fail in words."""
    gate = "4" if words is SOME else "1"
    part = pl.read_csv(judged / "part.csv")
    kept = [
        pl.when(pl.col(name).is_not_null())
        .then(pl.when(pl.col(name) >= 4).then(pl.lit("pass")).otherwise(pl.lit("fail")))
        .alias(name)
        for name in ("judge", "human")
    ]
    part.with_columns(kept).write_csv(judged / "words.csv")
    whole = asked("decide", *words, "--gate", gate, "--half-width", "0.05", cwd=judged)
    examined = asked("examine", *words, "--gate", gate, "--resamples", "0", cwd=judged)
    assert whole["verdicts"] == [v for v in examined["verdicts"] if v["use"] == "gate"]
    corrected = asked("correct", *words, "--gate", gate, "--compare", "v1,v0", cwd=judged)
    assert whole["corrected"]["scores"] == corrected["scores"]
    assert whole["corrected"]["differences"] == corrected["differences"]
    plan = asked("plan", *words, "--gate", gate, "--half-width", "0.05", cwd=judged)
    assert whole["plan"]["rows"] == plan["rows"]
    (verdict,) = whole["verdicts"]
    assert whole["answer"]["states"] == {"judge": {verdict["attribute"]: verdict["state"]}}


@pytest.mark.parametrize("kind", ["label", "preference", "probability"])
def test_decide_has_every_number_of_other_kinds(tmp_path, kind):
    drawn = {
        "label": lambda: label_panel(60, 3, 2, 1),
        "preference": lambda: preference_panel(3, 60, 2, seed=1),
        "probability": lambda: probability_panel(60, 2, 1),
    }[kind]()
    name = DEMO[kind][0]
    tidy_judgements(SimulatedCases({name: drawn.cases[name]})).write_csv(tmp_path / "k.csv")
    words = ["k.csv", "--reference", "human 1,human 2", "--kind", kind]
    words += ["--claims", "yes"] if kind == "probability" else []
    whole = asked("decide", *words, cwd=tmp_path)
    use = {"label": "filter", "preference": "pick", "probability": "release"}[kind]
    examined = asked("examine", *words, "--resamples", "0", cwd=tmp_path)
    assert whole["verdicts"] == [v for v in examined["verdicts"] if v["use"] == use]
    assert whole["corrected"]["scores"] == asked("correct", *words, cwd=tmp_path)["scores"]
    plan = asked("plan", *words, "--half-width", "0.05", cwd=tmp_path)
    assert whole["plan"]["rows"] == plan["rows"]
    assert next(iter(whole["said"])).startswith("May it ")
    # The commands that it names read the same file in the same way.
    for step in whole["answer"]["next"]:
        done = typed(*shlex.split(step["command"])[1:], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    record = asked("decide", *words, "--gate", "1", cwd=tmp_path, code=1)
    assert record["error"]["message"].endswith("leave it out")


def test_decide_says_where_a_gate_is_lacking(judged):
    record = asked("decide", *SOME, cwd=judged, code=1)
    assert "--gate: write where scores begin to pass" in record["error"]["message"]
