"""A declared language: results by it, of files and of sessions, and no words of another one added."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from command_line import invoke

from voirdire import examine
from voirdire.errors import StudyError
from voirdire.examining.by_subgroup import SubgroupFacts
from voirdire.examining.probing import chosen_probes, make_suite
from voirdire.running import run
from voirdire.study import ReadOptions, build_study, study_to_toml

LANGUAGES = ("de", "en")


def rated(path, items=40):
    """Three people and a judge that reads English and draws lots in German."""
    rng = np.random.default_rng(4)
    rows = []
    for at in range(items):
        truth, language = rng.normal(3, 1), LANGUAGES[at % 2]
        people = truth + rng.normal(0, 0.5, 3)
        judge = truth + rng.normal(0, 0.5) if language == "en" else rng.normal(3, 1)
        scores = np.clip(np.rint([*people, judge]), 1, 5)
        rows.append((f"i{at}", "xy"[at // 2 % 2], language, *scores))
    names = ["item", "system", "lang", "human_1", "human_2", "human_3", "judge"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv(path)
    return path


def test_results_are_given_by_a_declared_language(tmp_path):
    path = rated(tmp_path / "ratings.csv")
    found = examine(path, read=ReadOptions(language="lang"), resamples=0)
    (facts,) = [part for part in found.parts if isinstance(part, SubgroupFacts)]
    assert facts.column == "language"
    german, english = facts.rows
    assert (german.subgroup, english.subgroup) == LANGUAGES
    assert (german.n, german.clusters) == (20, 20)
    frame = pl.read_csv(path).filter(pl.col("lang") == "de")
    people = [frame[f"human_{k}"] for k in (1, 2, 3)]
    apart = np.mean([(frame["judge"] - one).abs().mean() for one in people])
    among = np.mean([(people[a] - people[b]).abs().mean() for a, b in ((0, 1), (0, 2), (1, 2))])
    assert german.apart == pytest.approx(apart)
    assert german.people == pytest.approx(among)
    assert german.beyond == pytest.approx(apart - among)
    assert german.beyond_interval.low > 0
    assert english.beyond_interval.low < 0 < english.beyond_interval.high
    # The verdict looks into each language too.
    assert {"SUB", "SUBITEM"} <= {c.name for e in found.evidence for c in e.components}


def test_the_report_and_its_json_hold_it_and_without_one_nothing_changes(tmp_path):
    path = rated(tmp_path / "ratings.csv")
    for out, more in (("with", ["--language", "lang"]), ("without", ["--ignore", "lang"])):
        done = invoke(["examine", str(path), *more, "--no-figures", "--out", str(tmp_path / out)])
        assert done.exit_code == 0, done.output
    titles = {
        out: [
            s["title"]
            for s in json.loads((tmp_path / out / "results.json").read_text())["sections"]
        ]
        for out in ("with", "without")
    }
    assert "Results by language" in titles["with"]
    assert [one for one in titles["with"] if one != "Results by language"] == titles["without"]
    assert "Results by language" in (tmp_path / "with" / "report.html").read_text("utf-8")


def test_labels_have_results_by_language_too(tmp_path):
    rng = np.random.default_rng(1)
    rows = []
    for at in range(40):
        truth = rng.choice(["calm", "tense"])
        said = [truth if rng.random() < 0.9 else "calm" for _ in range(3)]
        rows.append((f"i{at}", LANGUAGES[at % 2], *said))
    names = ["item", "lang", "human_1", "human_2", "judge"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv(tmp_path / "labels.csv")
    read = ReadOptions(language="lang", kind="label")
    found = examine(tmp_path / "labels.csv", read=read, resamples=0)
    (facts,) = [part for part in found.parts if isinstance(part, SubgroupFacts)]
    frame = pl.read_csv(tmp_path / "labels.csv").filter(pl.col("lang") == "en")
    differs = np.mean([(frame["judge"] != frame[f"human_{k}"]).mean() for k in (1, 2)])
    assert facts.rows[1].apart == pytest.approx(differs)
    assert np.isnan(facts.rows[1].bias)


def session_study(folder, **items):
    names = [f"p{at}" for at in range(6)]
    pl.DataFrame(
        {"id": names, "text": ["A scene."] * 6, "lang": ["de", "en", "en-GB"] * 2}
    ).write_csv(folder / "items.csv")
    talk = [{"role": r, "content": "Said."} for r in ("user", "assistant") * 2]
    lines = [{"item": name, "system": "bot", "messages": talk} for name in names]
    (folder / "talks.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    raw = {
        "name": "t", "rubric": {"attributes": [{"name": "Warm"}]},
        "items": {"path": "items.csv", **items},
        "responses": {"path": "talks.jsonl", "messages": "messages"},
        "conversations": {"unit": "turn", "role": "assistant"},
        "panel": [{"name": "ann", "use": "rubric", "model": "simulated:x"}],
    }  # fmt: skip
    study = build_study(raw, folder=str(folder))
    (folder / "study.toml").write_text(study_to_toml(study), "utf-8")
    return study


def test_a_session_gives_each_rating_the_language_of_its_item(tmp_path):
    study = session_study(tmp_path, language="lang")
    run(study, tmp_path / "s", quiet=True)
    ratings = pl.read_parquet(tmp_path / "s" / "ratings.parquet")
    said = set(ratings.select("item", "subgroup").rows())
    assert {("p0 turn 2", "de"), ("p0 turn 4", "de"), ("p2 turn 2", "en-GB")} <= said
    people = ratings.select("item", "system", "attribute", "score").with_columns(
        rater=pl.lit("bea")
    )
    people.write_csv(tmp_path / "people.csv")
    data = {"sources": [{"path": "people.csv"}], "reference": ["bea"]}
    held = build_study(
        {**study.model_dump(mode="json", exclude_unset=True), "data": data}, folder=str(tmp_path)
    )
    run(held, tmp_path / "s", quiet=True, resume=True)
    found = examine(tmp_path / "s", resamples=0)
    (facts,) = [part for part in found.parts if isinstance(part, SubgroupFacts)]
    assert [(row.subgroup, row.n, row.clusters) for row in facts.rows] == [
        ("de", 4, 2), ("en", 4, 2), ("en-GB", 4, 2)
    ]  # fmt: skip
    session_study(tmp_path)
    run(tmp_path / "study.toml", tmp_path / "plain", quiet=True)
    assert "subgroup" not in pl.read_parquet(tmp_path / "plain" / "ratings.parquet").columns


def test_a_probe_adds_its_words_in_their_own_language_alone(tmp_path):
    session_study(tmp_path, language="lang")
    probes = chosen_probes(["early_truth", "no_past"])
    suite = make_suite(tmp_path / "study.toml", probes, tmp_path / "out", runs=1)
    left = {name.split("@")[0]: items for name, items in suite.untouched.items()}
    assert {item for item, _ in left["early_truth"]} == {"p0", "p3"}
    assert "no_past" not in left


def test_one_column_is_the_language_or_another_subgroup():
    with pytest.raises(StudyError, match="language and subgroup: results are given by one column"):
        ReadOptions(language="lang", subgroup="age")
    assert ReadOptions(language="lang").subgroup == "lang"
