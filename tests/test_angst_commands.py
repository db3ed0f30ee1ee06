"""`voirdire paper angst` as a user calls it: corpus, annotators, analyse, study, and its errors."""

from __future__ import annotations

import json

import polars as pl
import pytest
from angst_posts import posts
from command_line import invoke

from voirdire import InputError
from voirdire.cli.options import model_options
from voirdire.cli.showing import show_tables
from voirdire.study import load_study
from voirdire.tabular import Section, Table, text
from voirdire_judges.questionnaire import scales_of
from voirdire_plugins.angst.benchmark import BENCHMARK


def call(*arguments):
    return invoke(["paper", "angst", *map(str, arguments)])


def voirdire(*arguments):
    found = call(*arguments)
    assert found.exit_code == 0, found.output + str(found.exception)
    return found.output


@pytest.mark.parametrize("name", ["study", "silver", "corpus"])
def test_every_command_has_help_with_examples(name):
    said = voirdire(name, "--help")
    assert "Examples" in said
    assert f"voirdire paper angst {name}" in said


def last_step(said):
    return next(line.split() for line in said.splitlines() if "random sample" in line)


def test_a_corpus_is_written_with_its_counts(tmp_path):
    rows = [
        (f"{who}{n}", who, f"{'I have anxiety. ' if n == 0 else ''}{who} {n} " + "word " * 80, n)
        for who in ("ann", "ben")
        for n in range(12)
    ]
    names = ["nr", "who", "body", "fear"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv(tmp_path / "posts.csv")
    said = voirdire(
        "corpus",
        tmp_path / "posts.csv",
        "--id",
        "nr",
        "--author",
        "who",
        "--text",
        "body",
        "--lexicon",
        "fear",
        "--top",
        10,
        "--sample",
        4,
        "--out",
        tmp_path / "corpus",
    )
    assert last_step(said) == ["random", "sample", "of", "4", "4", "2"]
    written = [pl.read_csv(tmp_path / "corpus" / f"{name}.csv") for name in ("sample", "rest")]
    assert [frame.height for frame in written] == [4, 6]
    (tmp_path / "mine.txt").write_text("nobody says this\n", encoding="utf-8")
    none = json.loads(
        voirdire(
            "corpus",
            tmp_path / "posts.csv",
            "--id",
            "nr",
            "--author",
            "who",
            "--text",
            "body",
            "--patterns",
            tmp_path / "mine.txt",
            "--out",
            tmp_path / "none",
            "--json",
        )
    )
    assert "random sample" in str(none["tables"])


def test_authors_reach_the_study_and_keep_their_posts_apart(tmp_path):
    for name, seed in (("gold", 1), ("silver", 2)):
        one = posts(8, seed, name[0]).with_columns(
            who=pl.Series([f"w{n % 3}" for n in range(8)]),
            depression=pl.Series([None, 1, 0, 1, 0, 1, 0, 1]),
        )
        one.write_csv(tmp_path / f"{name}.csv")
    said = voirdire(
        "study",
        tmp_path / "gold.csv",
        "--silver",
        tmp_path / "silver.csv",
        "--author",
        "who",
        "--model",
        "simulated:a",
        "--model",
        "openai:a",
        "--out",
        tmp_path / "angst",
    )
    assert "left out 1 silver posts without both labels" in said
    study = load_study(tmp_path / "angst" / "study.toml")
    assert study.items is not None
    assert study.items.extra == ("author",)
    shots = [r.options["examples"]["group"] for r in study.panel if "examples" in r.options]
    assert shots == ["author"] * 6
    assert study.panel[1].name == "simulated:a zero-shot depression"
    for name, height in (("gold", 8), ("silver", 7)):
        found = pl.read_csv(tmp_path / "angst" / f"{name}.csv")
        assert (found.height, found["author"].null_count()) == (height, 0)


def test_a_study_is_written_beside_tidy_posts_and_the_grid_of_a3(tmp_path):
    gold = posts(6, 3, "g").rename({"id": "nr", "depression": "low"})
    gold.with_columns(pl.col("low").replace_strict({0: "no", 1: "yes"})).write_csv(
        tmp_path / "given.csv"
    )
    posts(9, 4, "s").write_ndjson(tmp_path / "silver.jsonl")
    said = voirdire(
        "study",
        tmp_path / "given.csv",
        "--id",
        "nr",
        "--depression",
        "low",
        "--model",
        "simulated:a",
        "--silver",
        tmp_path / "silver.jsonl",
        "--scale",
        "phq9=5",
        "--runs",
        2,
        "--out",
        tmp_path / "angst",
    )
    assert "7 raters, 6 posts" in said
    assert "No result licenses clinical use" in said
    study = load_study(tmp_path / "angst" / "study.toml")
    assert {rater.runs for rater in study.panel if rater.kind != "human"} == {2}
    assert pl.read_csv(tmp_path / "angst" / "gold.csv")["depression"].dtype == pl.Int64
    grid = load_study(tmp_path / "angst" / "finetune.toml").classify
    assert grid is not None
    cells = [variant for model in grid.models for variant in model.variants()]
    assert len(cells) == 5 * 2 * 4  # five encoders, two rates, four batch sizes
    assert len(grid.seeds) == 3
    assert {cell[1]["max_epochs"] for cell in cells} == {30}
    assert {cell[1]["patience"] for cell in cells} == {10}


def test_a_study_that_fails_leaves_no_folder(tmp_path):
    out = tmp_path / "angst"
    posts(6, 3, "g").write_csv(tmp_path / "gold.csv")
    asked = ["study", tmp_path / "gold.csv", "--model", "simulated:a", "--out", out]
    for scale, message in (("phq10", "neither a TOML file nor"), ("phq9=10", "decides nothing")):
        found = call(*asked, "--scale", scale)
        assert message in str(found.exception)
        assert not out.exists()
    found = call("study", tmp_path / "none.csv", "--model", "simulated:a", "--out", out)
    assert found.exit_code == 1
    assert not out.exists()


def test_nothing_found_is_a_sentence(capsys):
    empty = Section(
        "Few-shot examples", "Nothing odd was found in them.", (Table((text("Finding"),)),)
    )
    show_tables([empty])
    assert capsys.readouterr().out == "Few-shot examples\nNothing odd was found in them.\n"


def test_wrong_options_are_sentences(tmp_path):
    assert scales_of(["phq9", "bai=16"]) == {"phq9": None, "bai": 16.0}
    with pytest.raises(InputError, match="write NAME=VALUE"):
        model_options(["timeout"])
    with pytest.raises(InputError, match="must be a number"):
        scales_of(["phq9=high"])
    with pytest.raises(InputError, match="angst needs --data SESSION"):
        BENCHMARK.study(tmp_path)
