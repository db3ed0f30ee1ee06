"""Stages, steps, kinds of raters and of inputs, dry runs, and running inside other loops."""

from __future__ import annotations

import asyncio

import polars as pl
import pytest
from derived_tables import session_tables
from scripted import PLUGINS, RECEIVED, go, judge, rated, scripted_plugins, study_of

from voirdire.errors import SessionError, StudyError, TableError
from voirdire.running import arun, dry_run, run, session_status
from voirdire.store import ratings_frame, replies_frame, responses_frame
from voirdire.study import build_study


def test_steps_and_calls_an_attribute(tmp_path):
    steps = judge("steps", use="steps", model_options={"says": "{tries}"})
    each = judge("each", use="each", model_options={"fails": {"0": "bad_request"}, "only": "B"})
    result = go(tmp_path, study_of(tmp_path, steps, each, items=2, run={"breaker": 99}))
    assert RECEIVED["steps"] == 8
    assert result.raters[1].faults == {"bad_request": 4}
    frame = rated(tmp_path).filter(rater="each", item="i0", system="x")
    assert dict(frame.select("attribute", "score").rows()) == {"A": 4, "B": None, "C": 4}
    go(tmp_path, study_of(tmp_path, steps, each, items=2, run={"breaker": 99}), resume=True)
    assert RECEIVED["steps"] == 0
    assert RECEIVED["each"] == 4


def test_annotators_label_items_in_k_runs(tmp_path):
    labels = {
        "name": "lab",
        "kind": "annotator",
        "use": "labels",
        "model": "script:lab",
        "runs": 5,
        "model_options": {"says": "tense"},
    }
    study = study_of(tmp_path, labels, systems=())
    assert go(tmp_path, study).raters[0].done == 20
    frame = rated(tmp_path)
    assert frame.height == 40
    assert frame["system"].null_count() == 40
    assert frame.filter(attribute="tense").select("score", "rank").unique().rows() == [(1.0, 1)]
    assert RECEIVED["lab"] == 20


def test_pairs_are_compared_in_both_orders(tmp_path):
    study = study_of(
        tmp_path,
        judge(use="pair", model_options={"says": "2"}),
        comparisons={"order": "both"},
        systems=("x", "y", "z"),
    )
    go(tmp_path, study)
    frame = session_tables(tmp_path / "a")["preferences"]
    assert frame.height == 4 * 3 * 2
    assert set(frame.filter(pl.col("shown_first") == pl.col("system_a"))["score"]) == {2.0}
    assert set(frame.filter(pl.col("shown_first") == pl.col("system_b"))["score"]) == {-2.0}


def test_random_orders_are_drawn_once_and_stay(tmp_path):
    study = study_of(tmp_path, judge(use="pair"), items=40)
    go(tmp_path, study)
    first = session_tables(tmp_path / "a")["preferences"]["shown_first"]
    assert 8 < (first == "x").sum() < 32
    go(tmp_path, study, resume=True)
    assert RECEIVED["ann"] == 0


def test_generated_responses_are_judged(tmp_path):
    generators = [
        {
            "name": "gen",
            "use": "writer",
            "model": "script:gen",
            "model_options": {"says": "A calm answer."},
        },
        {
            "name": "mute",
            "use": "writer",
            "model": "script:mute",
            "model_options": {"fails": {"0": "empty"}},
        },
    ]
    study = study_of(tmp_path, judge(), generators=generators, systems=("x",))
    result = go(tmp_path, study)
    assert {r.name: r.statuses for r in result.raters} == {
        "gen": {"ok": 4},
        "mute": {"blank": 4},
        "ann": {"ok": 8},
    }
    responses = responses_frame(tmp_path / "a", PLUGINS)
    assert responses.group_by("system", "status").len().sort("system").rows() == [
        ("gen", "ok", 4),
        ("mute", "blank", 4),
        ("x", "ok", 4),
    ]
    assert rated(tmp_path)["system"].to_list() == ["x"] * 4 + ["gen"] * 4


def test_only_one_stage(tmp_path):
    generators = [{"name": "gen", "use": "writer", "model": "script:gen"}]
    study = study_of(tmp_path, judge(), generators=generators, systems=())
    go(tmp_path, study, only="generate")
    assert (RECEIVED["gen"], RECEIVED["ann"]) == (4, 0)
    go(tmp_path, study, only="judge", resume=True)
    assert (RECEIVED["gen"], RECEIVED["ann"]) == (0, 4)
    assert rated(tmp_path)["score"].to_list() == [4.0] * 4


def test_an_empty_response_is_blank_and_costs_nothing(tmp_path):
    """The rubric judge of this distribution asks nothing about an empty text."""
    study = study_of(
        tmp_path,
        {"name": "rub", "use": "rubric", "model": "script:rub"},
        items=2,
        systems=("x",),
        rubric={"use": "mentalalign"},
    )
    (tmp_path / "responses.csv").write_text("item,system,text\ni0,x,\ni1,x,hello\n")
    plugins = scripted_plugins()
    plugins.add("judge", "tests", "rubric", "voirdire_judges.rubric:make")
    result = run(study, tmp_path / "a", plugins=plugins, quiet=True)
    assert result.raters[0].done == 2
    assert result.raters[0].statuses["blank"] == 1
    frame = ratings_frame(tmp_path / "a", plugins)
    assert set(frame.filter(item="i0")["status"]) == {"blank"}
    assert "i0" not in replies_frame(tmp_path / "a")["item"].to_list()
    assert run(study, tmp_path / "a", plugins=plugins, quiet=True, resume=True).raters[0].done == 2


def test_what_an_earlier_study_brought_is_set_aside(tmp_path):
    generators = [{"name": "gen", "use": "writer", "model": "script:gen"}]
    go(tmp_path, study_of(tmp_path, judge(), generators=generators))
    go(tmp_path, study_of(tmp_path, judge()), resume=True)
    assert rated(tmp_path)["system"].unique().sort().to_list() == ["x", "y"]


def test_works_where_a_loop_is_running_already(tmp_path):
    study = study_of(tmp_path, judge())

    async def notebook():
        return run(study, tmp_path / "a", plugins=PLUGINS, quiet=True)

    assert asyncio.run(notebook()).complete


def test_arun_can_be_cancelled_and_resumed(tmp_path):
    study = study_of(
        tmp_path,
        judge(model_options={"latency": 0.2}),
        items=20,
        run={"start_concurrency": 4, "concurrency": 4},
    )

    async def main():
        task = asyncio.create_task(arun(study, tmp_path / "a", plugins=PLUGINS, quiet=True))
        # Of four at once: the first four are answered.
        while RECEIVED["ann"] < 8:  # noqa: ASYNC110 - the model only counts
            await asyncio.sleep(0.02)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()

    RECEIVED.clear()
    asyncio.run(main())
    done = session_status(tmp_path / "a", PLUGINS).raters[0].done
    assert 4 <= done < 40
    RECEIVED.clear()
    assert run(study, tmp_path / "a", plugins=PLUGINS, quiet=True, resume=True).complete
    assert RECEIVED["ann"] == 40 - done


def test_dry_run_asks_nothing(tmp_path):
    prices = {"script:ann": {"input": 1.0, "output": 1.0}}
    study = study_of(tmp_path, judge(runs=2, max_tokens=10), run={"prices": prices})
    RECEIVED.clear()
    (found,) = dry_run(study, plugins=PLUGINS)
    assert (found.tasks, found.calls, found.output) == (16, 16, 160)
    assert found.cost == pytest.approx((found.input + 160) / 1e6)
    assert RECEIVED.total() == 0
    go(tmp_path, study, max_calls=6)
    (left,) = dry_run(study, tmp_path / "a", plugins=PLUGINS)
    assert left.calls == 10


def test_dry_run_counts_what_is_yet_to_be_generated(tmp_path):
    generators = [{"name": "gen", "use": "writer", "model": "script:gen", "max_tokens": 512}]
    found = dry_run(study_of(tmp_path, judge(), generators=generators, systems=()), plugins=PLUGINS)
    assert [(r.name, r.calls, r.cost) for r in found] == [("gen", 4, None), ("ann", 4, None)]
    assert found[1].input > 4 * 500


def test_dry_run_knows_what_was_generated(tmp_path):
    generators = [{"name": "gen", "use": "writer", "model": "script:gen", "max_tokens": 512}]
    study = study_of(tmp_path, judge(), generators=generators, systems=())
    assert go(tmp_path, study).complete
    left = dry_run(study, tmp_path / "a", plugins=PLUGINS)
    assert [(each.name, each.calls, each.on_file) for each in left] == [
        ("gen", 0, 4),
        ("ann", 0, 4),
    ]
    generators[0]["max_tokens"] = 400  # asked again, so that judges have other texts to rate
    study = study_of(tmp_path, judge(), generators=generators, systems=())
    left = dry_run(study, tmp_path / "a", plugins=PLUGINS)
    assert [(each.name, each.calls) for each in left] == [("gen", 4), ("ann", 4)]


def test_errors_come_before_anything_is_asked(tmp_path):
    with pytest.raises(StudyError, match="nobody to run for annotate"):
        go(tmp_path, study_of(tmp_path, judge()), only="annotate")
    with pytest.raises(StudyError, match=r"judges need \[responses\] or \[\[generators\]\]"):
        go(tmp_path, study_of(tmp_path, judge(), systems=()))
    study = study_of(tmp_path, judge())
    (tmp_path / "responses.csv").write_text("item,system,text\nnone,x,hello\n")
    with pytest.raises(
        StudyError, match=r"'x' responds to item 'none', which items.csv does not hold"
    ):
        go(tmp_path, study, out="b")
    (tmp_path / "items.csv").write_text("id,text\n1,a\n1,b\n")
    with pytest.raises(
        TableError, match=r"items.csv, line 3, column 'id': item '1' occurs more than once"
    ):
        go(tmp_path, study, out="c")
    (tmp_path / "items.csv").write_text("key,text\n1,a\n")
    with pytest.raises(
        TableError, match=r"no column 'id' \(columns: 'key', 'text'\); say by the key 'id'"
    ):
        go(tmp_path, study, out="d")
    with pytest.raises(StudyError, match=r"model 'gpt': a model is named prefix:name"):
        go(tmp_path, study_of(tmp_path, judge(model="gpt")), out="e")
    go(tmp_path, study_of(tmp_path, judge()), out="f")
    with pytest.raises(SessionError, match="go on with it by --resume"):
        go(tmp_path, study_of(tmp_path, judge()), out="f")


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "xlsx"])
def test_inputs_of_every_kind(tmp_path, suffix):
    frame = pl.DataFrame(
        {"post": ["007", "8"], "body": ["a, b", None], "gpt": ["x", ""], "human": ["y", "z"]}
    )
    path = tmp_path / f"data.{suffix}"
    writers = {
        "csv": frame.write_csv,
        "jsonl": frame.write_ndjson,
        "parquet": frame.write_parquet,
        "xlsx": frame.write_excel,
    }
    frame.write_csv(path, separator="\t") if suffix == "tsv" else writers[suffix](path)
    raw = {
        "name": "calm", "panel": [judge()], "items": {"path": path.name, "id": "post", "text": "body"},
        "responses": {"path": path.name, "item": "post", "columns": {"gpt": "GPT-4o", "human": "human"}},
    }  # fmt: skip
    go(tmp_path, build_study(raw, folder=str(tmp_path)))
    assert rated(tmp_path).select("item", "system").rows() == [
        ("007", "GPT-4o"),
        ("007", "human"),
        ("8", "human"),
    ]
