"""Probes of annotators: items changed, requests changed, and which labels are then named."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from command_line import typed
from probe_simulation import plugins

from voirdire.errors import InputError, PluginError
from voirdire.examining.probing import chosen_probes, make_suite, measure_probes, probe_sections
from voirdire.running import run
from voirdire.schema import Item, Sampling
from voirdire.study import build_study, study_to_toml
from voirdire_judges.probes import make, make_annotator

PLUGINS = plugins()
NAMES = ("authority", "emoji", "hedging", "paraphrase")
WHOLE = "the whole answer"


def study_of(folder, *, n=80, model="naming:a", **options):
    """Texts that name one label each, and an annotator of three labels."""
    folder.mkdir(parents=True, exist_ok=True)
    words = np.where(np.arange(n) % 2, "calm", "tense")
    texts = [f"He was {word}. That much was clear to everyone at the table." for word in words]
    pl.DataFrame({"id": range(n), "text": texts, "ward": "a"}).write_csv(folder / "items.csv")
    study = build_study(
        {
            "name": "labels", "items": {"path": "items.csv", "extra": ["ward"]},
            "panel": [
                {"name": "ann", "kind": "annotator", "use": "labels", "model": model,
                 "temperature": 0.5, "model_options": options,
                 "options": {"labels": ["calm", "tense", "grave"]}}
            ],
        },
        folder=str(folder),
    )  # fmt: skip
    (folder / "study.toml").write_text(study_to_toml(study))
    return folder / "study.toml"


def probed(folder, names=NAMES, *, items=None, **options):
    study = study_of(folder, **options)
    suite = make_suite(
        study, chosen_probes(names, PLUGINS), folder / "out", items=items, plugins=PLUGINS
    )
    assert set(suite.studies) == {"labels"}
    result = run(suite.studies["labels"], folder / "out" / "labels", plugins=PLUGINS, quiet=True)
    assert result.complete
    return suite, measure_probes(suite, {"labels": result.folder})


def test_planted_biases_of_an_annotator_are_found_and_noise_is_none(tmp_path):
    suite, found = probed(tmp_path, experts=True, prompt=True)
    assert (suite.labellers, suite.n_items) == (("ann",), 80)
    of = {(one.probe, one.attribute): one for one in found.effects}
    # Every answer has a further label; nine in ten, where noise does not overwrite it.
    authority = of["authority", WHOLE]
    assert (authority.reading, authority.n) == ("biased", 80)
    assert authority.effect == pytest.approx(0.8, abs=0.12)
    assert authority.effect == pytest.approx(authority.flips_net)
    assert of["authority", "grave"].effect == pytest.approx(0.9, abs=0.1)
    assert of["paraphrase", "calm"].reading == "biased"
    for probe in ("emoji", "hedging"):
        assert of[probe, WHOLE].reading in ("robust", "open")
        assert of[probe, WHOLE].flips == pytest.approx(of[probe, WHOLE].again, abs=0.12)
    (noise,) = (one for one in found.noise if one.attribute == WHOLE)
    assert 0.02 < noise.flips < 0.25
    said = str(probe_sections(found)[0])
    assert "the share of runs in which it is another" in said


def test_changed_items_keep_their_columns_and_some_can_be_drawn(tmp_path):
    study = study_of(tmp_path)
    suite = make_suite(study, chosen_probes(["length"], PLUGINS), tmp_path / "out", items=10)
    written = pl.read_ndjson(tmp_path / "out" / "items.jsonl")
    assert written.height == 30
    assert set(written["ward"]) == {"a"}
    arms = written["id"].str.splitn(" ~ ", 2).struct.field("field_1").fill_null("")
    assert sorted(arms) == [""] * 10 + ["identity"] * 10 + ["length"] * 10
    assert suite.n_items == 10
    with pytest.raises(InputError, match="--items 99: there are 80 items"):
        make_suite(study, chosen_probes(["length"], PLUGINS), tmp_path / "out", items=99)


def test_a_probe_that_does_harm_says_nothing_of_labels(tmp_path):
    study = study_of(tmp_path)
    with pytest.raises(InputError, match="'truncation' says nothing of which labels"):
        make_suite(study, chosen_probes(["truncation"], PLUGINS), tmp_path / "out")
    kept = make_suite(study, chosen_probes(["truncation", "emoji"], PLUGINS), tmp_path / "out")
    assert [probe.name for probe in kept.probes] == ["identity", "emoji"]
    assert kept.skipped == {"truncation": 80}
    with pytest.raises(PluginError, match="changes items, and not what an annotator asks"):
        make_annotator(judge="labels", probe="length", options={"labels": ["a", "b"]})


def test_whoever_is_probed_is_asked_as_before_but_for_the_change():
    options = {"labels": ["calm", "tense"]}
    probed_one = make_annotator(
        judge="labels", probe="paraphrase", options=options, sampling=Sampling(seed=3)
    )
    (asked,) = probed_one.requests(Item("1", "He was calm."))
    assert asked.messages[0].content.startswith("Please read")
    assert (asked.seed, set(probed_one.labels.labels)) == (3, {"calm", "tense"})
    # What nobody said of sampling stays as the judge behind it has it.
    (plain,) = PLUGINS.resolve("annotator", "labels")(**options).requests(Item("1", "Calm."))
    assert asked.temperature == plain.temperature
    judge = make("mentalalign", judge="rubric", probe="paraphrase", sampling=Sampling(seed=3))
    assert judge.judge.sampling.seed == 3


def test_the_command_probes_a_study_of_annotators(tmp_path):
    study_of(tmp_path, n=12, model="simulated:a", answers=["calm", "tense"])
    options = ("probe", "study.toml", "--out", "out", "--probes", "emoji")
    dry = typed(*options, "--dry-run", cwd=tmp_path)
    assert "2 probes, 1 annotators, 12 items: 72 calls" in dry.stdout, dry.stderr
    done = typed(*options, "--require", "flips_net@the whole answer<=1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "the whole answer" in done.stdout
