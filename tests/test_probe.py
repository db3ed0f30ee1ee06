"""Probes: their changes, planted biases found, clean suites clean, the command, one of one's own."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import polars as pl
import pytest
from probe_simulation import false_positives, plugins, power, suite
from simulated_sessions import session_of, study_of

from voirdire.errors import InputError, PluginError
from voirdire.examining.probing import (
    chosen_probes,
    make_suite,
    measure_probes,
    probe_sections,
    probing_values,
)
from voirdire.probes import RequestProbe, ResponseProbe
from voirdire.running import dry_run, run
from voirdire.schema import Item, Message, Request, Response
from voirdire.study import study_to_toml
from voirdire_judges import probes as built_in

ROOT = Path(__file__).resolve().parent.parent
TEXT = "Keep a fixed bedtime for a week. Rest when you can, and walk a little. Sleep well."
PLUGINS = plugins()


def voirdire(*arguments, cwd):
    """The command, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "voirdire", *map(str, arguments)], cwd=cwd, capture_output=True,
        text=True, timeout=180, env={**os.environ, "COLUMNS": "140", "NO_COLOR": "1"}, check=False,
    )  # fmt: skip


def changed(name, text=TEXT):
    return built_in.probes()[name].change(Item("1"), Response("1", "a", text))


# --- the changes


def test_every_template_is_registered_and_documented():
    templates = tomllib.loads(built_in.TEMPLATES.read_text())
    assert set(templates) == set(PLUGINS.names("probe"))
    assert len(templates) >= 15
    page = (ROOT / "docs" / "probe.md").read_text()
    for name, template in templates.items():
        falls = "falls" if template.get("expects") == "lower" else "stays"
        assert re.search(rf"^\| `{name}` \| .+ \| {falls} \|$", page, re.MULTILINE), name


@pytest.mark.parametrize("name", [n for n in built_in.probes() if n != "paraphrase"])
def test_a_change_is_pure_and_keeps_what_was_said(name):
    found = changed(name)
    assert found == changed(name)
    if name == "identity":
        assert found == TEXT
        return
    assert found != TEXT
    words = re.findall(r"\w+", TEXT)
    if name not in ("truncation", "typos"):
        assert set(words) <= set(re.findall(r"\w+", found))


def test_changes_do_not_apply_where_there_is_nothing_to_change():
    assert changed("truncation", "Rest now.") is None
    assert changed("order", "One sentence.") is None
    assert changed("typos", "I am on it.") is None
    assert changed("typos", "see example2024site") is None  # no word of letters alone


def test_the_request_probe_changes_the_first_message_alone():
    request = Request((Message("system", "Rate:"), Message("user", TEXT)), temperature=0.0)
    found = built_in.probes()["paraphrase"].change(request)
    assert found.messages[0].content.endswith("\n\nRate:")
    assert found.messages[1:] == request.messages[1:]
    assert found.temperature == 0.0


# --- what must hold, in short runs; benchmarks/probe.py makes the longer ones


def test_a_planted_bias_of_two_tenths_is_found_on_200_items():
    assert power(effect=0.2, runs=30) >= 0.8


def test_a_clean_suite_shows_nothing_in_nineteen_of_twenty():
    assert false_positives(runs=60) <= 0.05 + 2 * (0.05 * 0.95 / 60) ** 0.5


def test_an_effect_is_freed_of_the_noise_of_asking_again():
    found = suite(1)
    assert all(one.again > 0.2 for one in found)  # one in six, in either of two askings
    assert all(abs(one.flips_net) < 0.12 for one in found)
    moved = suite(1, effect=1.0)[0]
    assert moved.flips_net > 0.4
    assert moved.change.difference == pytest.approx(0.9, abs=0.15)  # the top of the scale caps it
    assert moved.reading == "biased"


# --- a whole suite, asked by the runner


def probed_study(folder, *, items=120, **bias):
    """One system, texts of three sentences that begin with their quality; one planted judge."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"i{k}" for k in range(items)]
    pl.DataFrame({"id": names, "text": names}).write_csv(folder / "items.csv")
    texts = [f"Level {2 + k % 3} is what this is. {TEXT}" for k in range(items)]
    pl.DataFrame({"item": names, "system": "x", "text": texts}).write_csv(folder / "responses.csv")
    panel = [{"name": "judge", "use": "digit", "model": "planted:a", "model_options": bias}]
    from voirdire.study import build_study

    study = build_study(
        {"name": "calm", "items": {"path": "items.csv"}, "responses": {"path": "responses.csv"},
         "rubric": {"attributes": ["Calm"]}, "panel": panel}, folder=str(folder),
    )  # fmt: skip
    (folder / "study.toml").write_text(study_to_toml(study))
    return folder / "study.toml"


def test_planted_biases_are_found_and_named_by_the_whole_suite(tmp_path):
    study = probed_study(
        tmp_path, per_100_words=0.8, bullets=0.6, prompt=0.6, cut=1.0
    )  # fmt: skip
    names = ("length", "format", "paraphrase", "truncation", "confidence", "typos")
    found = make_suite(study, chosen_probes(names, PLUGINS), tmp_path / "out", plugins=PLUGINS)
    assert set(found.studies) == {"responses", "requests"}
    sessions = {}
    for arm, one in found.studies.items():
        result = run(one, tmp_path / "out" / arm, plugins=PLUGINS, quiet=True)
        assert result.complete
        sessions[arm] = result.folder
    probing = measure_probes(found, sessions)
    reading = {one.probe: one.reading for one in probing.effects}
    assert (reading["format"], reading["paraphrase"]) == ("biased", "biased")
    assert reading["length"] == "biased"
    assert reading["truncation"] == "reacts"
    assert reading["confidence"] in ("robust", "small bias")
    assert reading["typos"] == "robust"
    assert len(probing.noise) == 1
    assert abs(probing.noise[0].change.difference) < 0.15
    assert 0 < probing.noise[0].flips < 0.4
    values = {(v.name, v.of[0]): v.value for v in probing_values(probing)}
    assert values["effect", "format"] == pytest.approx(0.6, abs=0.2)
    assert probe_sections(probing)[0].title == "What the probes do"


def test_generated_responses_of_a_session_are_probed_and_items_are_drawn(tmp_path):
    session = session_of(tmp_path, "done", items=30, human=False)
    found = make_suite(session, chosen_probes(["length"]), tmp_path / "out", items=10)
    assert found.n_responses == 20
    written = pl.read_parquet(tmp_path / "out" / "responses.parquet")
    assert set(written["system"]) == {
        f"{system}{more}"
        for system in ("warm", "plain")
        for more in ("", " ~ identity", " ~ length")
    }
    assert written["item"].n_unique() == 10
    with pytest.raises(InputError, match=r"--items 99: there are 30"):
        make_suite(session, chosen_probes(["length"]), tmp_path / "out", items=99)


def test_the_cost_is_that_of_the_calls(tmp_path):
    session = session_of(tmp_path, "done", items=10, human=False)
    found = make_suite(session, chosen_probes(["length"]), tmp_path / "out", runs=2)
    plan = dry_run(found.studies["responses"])
    assert sum(one.calls for one in plan) == 20 * 3 * 2  # texts as they are, again, and changed


def test_bad_input_says_what_there_is(tmp_path):
    with pytest.raises(InputError, match=r"probe 'lenght' is unknown.*did you mean 'length'"):
        chosen_probes(["lenght"])
    with pytest.raises(InputError, match="no such study file or session"):
        make_suite(tmp_path / "none.toml", chosen_probes(["length"]), tmp_path / "out")
    study = study_of(tmp_path / "s")
    text = study_to_toml(study.model_copy(update={"responses": None}))
    (tmp_path / "s" / "bare.toml").write_text(text)
    with pytest.raises(InputError, match=r"declares no \[responses\]"):
        make_suite(tmp_path / "s" / "bare.toml", chosen_probes(["length"]), tmp_path / "out")
    odd = plugins()
    odd.add("probe", "tests", "odd", "probe_simulation:PROBES")
    with pytest.raises(PluginError, match=r"must be a voirdire\.probes.ResponseProbe"):
        chosen_probes(["odd"], odd)
    never = ResponseProbe("never", lambda item, response: None)
    with pytest.raises(InputError, match="applies to no response"):
        make_suite(session_of(tmp_path, "d", items=5, human=False), [never], tmp_path / "out")


def test_the_command_prints_the_cost_asks_and_writes(tmp_path):
    session_of(tmp_path, "done", items=25, human=False)
    options = ("probe", "done", "--out", "out", "--probes", "length,typos,paraphrase")
    dry = voirdire(*options, "--dry-run", cwd=tmp_path)
    assert dry.returncode == 0, dry.stderr
    assert "50 responses: 500 calls, cost 0.0000" in dry.stdout
    assert not (tmp_path / "out" / "responses").exists()
    done = voirdire(*options, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.index("500 calls") < done.stdout.index("What the probes do")
    found = json.loads((tmp_path / "out" / "report" / "probes.json").read_text())
    assert {one["probe"] for one in found["effects"]} == {"length", "typos", "paraphrase"}
    again = voirdire(*options, "--require", "effect<=0.0001", cwd=tmp_path)
    assert "0 calls" in again.stdout
    assert (again.returncode, "effect of" in again.stderr) == (4, True)


# --- a probe of one's own


def test_the_probe_of_the_docs_works_in_its_25_lines(tmp_path, monkeypatch):
    code = re.search(r"```python\n(.*?)```", (ROOT / "docs" / "probe.md").read_text(), re.DOTALL)[1]
    assert len([line for line in code.splitlines() if line.strip()]) <= 25
    (tmp_path / "voirdire_shout.py").write_text(code)
    spec = importlib.util.spec_from_file_location("voirdire_shout", tmp_path / "voirdire_shout.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "voirdire_shout", module)
    spec.loader.exec_module(module)
    mine = plugins()
    module.voirdire_register_probes(lambda name, target: mine.add("probe", "shout", name, target))
    identity, shout = chosen_probes(["shout"], mine)
    assert (identity.name, shout.name) == ("identity", "shout")
    study = probed_study(tmp_path, items=20)
    found = make_suite(study, (identity, shout), tmp_path / "out", plugins=mine)
    result = run(found.studies["responses"], tmp_path / "out" / "s", plugins=mine, quiet=True)
    effect = measure_probes(found, {"responses": result.folder}).effects[0]
    assert (effect.probe, effect.change.n) == ("shout", 20)


def test_a_probed_judge_asks_what_the_probe_makes_of_it():
    study_judge = PLUGINS.resolve("judge", "probed")
    judge = study_judge("mentalalign", probe="paraphrase", plugins=PLUGINS)
    plain = PLUGINS.resolve("judge", "rubric")("mentalalign")
    from voirdire.schema import Rating

    task = Rating(Item("1", "I slept badly."), Response("1", "a", TEXT))
    asked, before = judge.requests(task)[0], plain.requests(task)[0]
    assert asked.messages[0].content.endswith(before.messages[0].content)
    assert asked != before
    with pytest.raises(PluginError, match="changes responses"):
        study_judge("mentalalign", probe="length", plugins=PLUGINS)
    assert isinstance(PLUGINS.resolve("probe", "paraphrase"), RequestProbe)
