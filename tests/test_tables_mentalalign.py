"""The five published workbooks: every known oddity is found and counted."""

from __future__ import annotations

import json
import time

import polars as pl
import pytest
from machine import second

from voirdire.tables import apply_off_scale, audit, draft_study, read_file, read_tables
from voirdire_plugins.mentalalign.benchmark import BENCHMARK

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def study(shared):
    return BENCHMARK.study(shared / "data" / "mentalalign70k")


@pytest.fixture(scope="module")
def tables(study):
    return read_tables(study)


@pytest.fixture(scope="module")
def oddities(shared):
    text = (shared / "reference" / "mentalalign_oddities.json").read_text(encoding="utf-8")
    return json.loads(text)


@pytest.fixture(scope="module")
def findings(tables, study):
    return audit(tables, study)


def by_rater(findings, kind):
    return {finding.table: finding.count for finding in findings if finding.kind == kind}


def test_shapes(tables, oddities):
    assert tables.ratings.height == 5 * 1000 * 10 * 7
    assert tables.replies.height == oddities["totals"]["judge_cells"] + 10_000
    assert tables.items.height == 1000
    assert tables.items["text"].null_count() == 0
    assert tables.ratings["system"].n_unique() == 10
    assert len(tables.hashes) == 5


def test_missing_counts_equal_the_reference(tables, oddities, shared):
    # stats_reference.json, real_extra.nan_counts: by a parser that loses every odd cell; of those
    # that it lost, the cells marked recoverable have seven scores each here.
    text = (shared / "reference" / "stats_reference.json").read_text(encoding="utf-8")
    counts = json.loads(text)["real_extra"]["nan_counts"]
    files = {
        "Claude": "claude_llm_judge.xlsx",
        "Gemini": "gemini_llm_judge.xlsx",
        "o4": "o4-mini_llm_judge.xlsx",
    }
    for name, file in files.items():
        counts[name] -= 7 * sum(
            cell["file"] == file and cell["status"] == "recoverable"
            for cell in oddities["judge_parse_failures"]
        )
    names = {
        "Human": "H",
        "Claude-3.7-Sonnet": "Claude",
        "GPT-4o": "GPT4o",
        "Gemini-2.5-Flash": "Gemini",
        "o4-mini": "o4",
    }
    missing = tables.ratings.group_by("rater").agg(pl.col("score").null_count())
    assert {names[rater]: count for rater, count in missing.iter_rows()} == counts
    after = apply_off_scale(tables.ratings, "missing")
    human = after.filter(pl.col("rater") == "Human")["score"]
    assert human.null_count() == counts["H"] + 231 + 8


def test_complete_judge_cells(tables, oddities):
    scored = tables.ratings.filter((pl.col("rater") != "Human") & pl.col("score").is_not_null())
    cells = scored.group_by("item", "system", "rater").len()
    expected = oddities["expected_after_a_perfect_parser"]["judge_cells_with_seven_scores"]
    assert cells.filter(pl.col("len") == 7).height == expected
    assert cells.height == expected


def test_values_off_the_scale(findings):
    zero, six = [finding for finding in findings if finding.kind == "out_of_scale"]
    assert zero.message == "231 scores of 0 in 33 cells; the declared scale is 1 to 5."
    assert six.message == "8 scores of 6 in 3 cells; the declared scale is 1 to 5."
    assert (zero.table, zero.count, six.count) == ("Human", 231, 8)


def test_cells_without_scores(findings, oddities):
    human = oddities["human_cells"]["counts"]
    blank = by_rater(findings, "blank_cells")
    assert blank == {"Human": human["blank_cells"], "Gemini-2.5-Flash": 7, "o4-mini": 1}
    (nulls,) = [finding for finding in findings if finding.kind == "null_scores"]
    assert (nulls.table, nulls.count) == ("Human", human["null_score_values"])
    assert f"in {human['null_scores']} replies" in nulls.message
    (refused,) = [finding for finding in findings if finding.kind == "refused"]
    assert (refused.table, refused.places) == ("Claude-3.7-Sonnet", ("item 928, qwen_3",))


def test_headers_contexts_and_the_shifted_block(findings, oddities):
    kinds = {finding.kind: finding for finding in findings}
    assert kinds["headers_trimmed"].count == 6
    rows = oddities["row_alignment"]
    mismatch = kinds["context_mismatch"]
    assert mismatch.count == len(rows["ConvIDs"]) == 19
    assert mismatch.places == tuple(str(item) for item in rows["ConvIDs"])
    for judge, (human,) in rows["judge_context_found_in_human_at"].items():
        assert f"{judge} at {human}" in mismatch.message
    shift = kinds["context_shift"]
    assert (shift.places, shift.count) == (("501-510",), 10)
    assert "stands in row i+1 of Human_judge.xlsx" in shift.message
    repeated = kinds["duplicate_contexts"]
    pairs = tuple(f"{a} and {b}" for a, b in rows["human_repeated_contexts"])
    assert (repeated.table, repeated.places) == ("Human_judge.xlsx", pairs)


def test_judges_that_rated_the_word_nan(findings, oddities):
    found = by_rater(findings, "rated_the_word_nan")
    # The reference counts cells that plain json.loads reads; a few of the others speak of nan too.
    files = oddities["rated_the_word_nan"]["per_file"]
    expected = {"Claude-3.7-Sonnet": files["claude_llm_judge.xlsx"],
                "GPT-4o": files["gpt-4o_llm_judge.xlsx"],
                "Gemini-2.5-Flash": files["gemini_llm_judge.xlsx"],
                "o4-mini": files["o4-mini_llm_judge.xlsx"]}  # fmt: skip
    assert found.keys() == expected.keys()
    assert all(0 <= found[name] - expected[name] <= 2 for name in found)


def test_nothing_blocks(findings):
    assert not [finding for finding in findings if finding.severity == "blocking"]


def test_a_workbook_drafts_a_study(shared, tmp_path):
    path = shared / "data" / "mentalalign70k" / "Human_judge.xlsx"
    study = draft_study(path)
    assert (study.rubric.scale, study.rubric.step) == ((1.0, 5.0), 1.0)
    assert [attribute.name for attribute in study.rubric.attributes] == [
        "Guidance",
        "Informativeness",
        "Relevance",
        "Safety",
        "Empathy",
        "Helpfulness",
        "Understanding",
    ]
    source = study.data.sources[0]
    assert (source.layout, source.item, source.context) == ("replies", "ConvID", "context")
    assert source.prefix == "human_response_"
    assert len(study.systems) == 10
    _, tables = read_file(path)
    assert tables.ratings.height == 70_000


def test_reading_and_auditing_is_quick(study):
    start = time.process_time()
    audit(read_tables(study), study)
    # 0.6 s alone on two cores, counted over all threads: other work on the machine does not count.
    assert time.process_time() - start < 5 * second()
