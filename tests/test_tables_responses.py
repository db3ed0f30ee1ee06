"""The texts that were judged: found by name and content, declared, asked about, and shown."""

from __future__ import annotations

import json
import random
from html import unescape
from pathlib import Path

import polars as pl
import pytest
from command_line import invoke
from looking_work import Site, material

from voirdire import examine
from voirdire.errors import QuestionError, TableError
from voirdire.looking import View, write_static
from voirdire.report import write_outputs
from voirdire.schema import Scale
from voirdire.study import ReadOptions, build_study
from voirdire.tables import (
    audit,
    draft_study,
    from_frame,
    read_file,
    read_foreign,
    read_tables,
    write_xlsx,
)

SAID = ("Choose reset in the settings.", "At nine, every day.", "Because the sky scatters blue.")


def engineer(answer=lambda row: f"{SAID[row['id'] % 3]} ({row['system']}, {row['id']})"):
    """A file as an engineer has it: a row a response, two releases, a judge and a human."""
    draw = random.Random(3)
    rows = []
    for at in range(30):
        for system in ("v1", "v2"):
            human = draw.randint(1, 5)
            judge = min(5, max(1, human + draw.choice((-1, 0, 0, 1))))
            row = {"id": at, "system": system, "question": f"What about {at}, please?"}
            row["answer"] = answer(row)
            rows.append(row | {"judge": judge, "human": human})
    return pl.DataFrame(rows)


def long(frame, **more):
    """The same with a row a rating."""
    keys = [name for name in frame.columns if name not in ("judge", "human")]
    found = frame.unpivot(["judge", "human"], index=keys, variable_name="rater", value_name="score")
    return found.with_columns(**more)


def texts(tables):
    return {(i, s): t for i, s, t in tables.responses.select("item", "system", "text").rows()}


EXPECTED = {
    (str(row["id"]), row["system"]): row["answer"] for row in engineer().iter_rows(named=True)
}


@pytest.mark.parametrize("shape", [engineer, lambda: long(engineer())], ids=["wide", "long"])
@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet", "jsonl"])
def test_every_layout_and_kind_of_file_gives_the_texts(tmp_path, shape, kind):
    frame, path = shape(), tmp_path / f"answers.{kind}"
    if kind == "xlsx":
        write_xlsx(path, {"answers": frame})
    else:
        getattr(
            frame, {"csv": "write_csv", "parquet": "write_parquet", "jsonl": "write_ndjson"}[kind]
        )(path)
    study, tables = read_file(path)
    assert texts(tables) == EXPECTED
    assert tables.items.filter(item="7")["text"].to_list() == ["What about 7, please?"]
    (source,) = study.data.sources
    assert (source.context, source.response) == ("question", "answer")
    assert tables.ratings.height == 120


@pytest.mark.parametrize("word", ["response", "Output", "completion", "model_output", "Answer"])
def test_usual_names_are_known(word):
    _, tables = from_frame(engineer().rename({"answer": word}))
    assert texts(tables) == EXPECTED
    assert not [one for one in tables.findings if "not read" in one.message]


def test_another_name_is_declared(tmp_path):
    frame = engineer().rename({"answer": "what it wrote", "question": "posted"})
    frame.write_csv(tmp_path / "a.csv")
    assert texts(read_file(tmp_path / "a.csv")[1]) == {}
    keys = {"response": "what it wrote", "context": "posted"}
    study, tables = read_file(tmp_path / "a.csv", read=ReadOptions(**keys))
    assert texts(tables) == EXPECTED
    assert texts(read_tables(study)) == EXPECTED
    source = {"path": "a.csv", "layout": "scores", **keys}
    data = {"sources": [source], "reference": ["human"]}
    panel = [{"name": "judge"}, {"name": "human", "kind": "human"}]
    parts = {"name": "a", "data": data, "rubric": {"attributes": ["score"]}, "panel": panel}
    assert texts(read_tables(build_study(parts, folder=str(tmp_path)))) == EXPECTED
    with pytest.raises(TableError, match=r"there is no column 'reply' \(columns: .*'posted'"):
        read_file(tmp_path / "a.csv", read=ReadOptions(response="reply"))


NUMBERS = {
    "numbers": lambda row: 17 + row["id"] * 3 % 40,
    "levels": lambda row: row["id"] % 5 + 1,
    "pairs": lambda row: ("yes", "no")[row["id"] % 2],
    "an order": lambda row: ("poor", "fair", "good", "excellent")[row["id"] % 4],
}


@pytest.mark.parametrize("answer", NUMBERS.values(), ids=NUMBERS)
def test_scores_or_answers_is_a_question(answer):
    frame = engineer(answer)
    with pytest.raises(QuestionError, match="does 'answer' hold the answers that") as asked:
        from_frame(frame)
    assert (asked.value.key, asked.value.choices) == ("response", ("answer",))
    assert "--score 'answer'" in str(asked.value)
    study, tables = from_frame(frame, read=ReadOptions(response="answer"))
    expected = {(str(r["id"]), r["system"]): str(r["answer"]) for r in frame.iter_rows(named=True)}
    assert texts(tables) == expected
    without = from_frame(frame.drop("answer"))[1]
    assert tables.ratings.equals(without.ratings)
    assert study.rubric.scale == (1, 5)
    assumed = from_frame(frame, read=ReadOptions(assume=True))[1]
    assert assumed.ratings.equals(without.ratings)
    assert any(one.kind == "reading_assumed" for one in assumed.findings)


def test_scores_under_answer_stay_scores():
    rows = [(f"i{k}", who, k % 5 + 1) for k in range(20) for who in ("human", "gpt")]
    frame = pl.DataFrame(rows, schema=["item", "rater", "answer"], orient="row")
    _, tables = from_frame(frame)
    assert tables.ratings["score"].to_list() == [float(score) for _, _, score in rows]
    assert tables.responses.is_empty()
    # Ids of raters are numbers here, and no scores.
    ids = frame.with_columns(pl.col("rater").replace_strict({"human": 1, "gpt": 2})).rename(
        {"rater": "judge"}
    )
    assert from_frame(ids)[1].ratings.height == 40


def test_words_of_raters_are_asked_about_beside_answers():
    words = ("weak", "solid")
    frame = engineer().with_columns(
        pl.col("judge", "human").map_elements(lambda score: words[score > 3], pl.String)
    )
    with pytest.raises(QuestionError, match="holds words") as asked:
        from_frame(frame)
    assert asked.value.key == "words"
    _, tables = from_frame(frame, read=ReadOptions(words={"weak": 0, "solid": 1}))
    assert texts(tables) == EXPECTED


def test_what_raters_said_is_no_response():
    said = pl.format("{} of {} says {}", "rater", "id", "score")
    _, tables = from_frame(long(engineer(), answer=said))
    assert tables.responses.is_empty()
    replies = (
        long(engineer())
        .with_columns(response=pl.concat_str(pl.lit('{"score": '), "score", pl.lit("}")))
        .drop("score", "answer")
    )
    _, tables = from_frame(replies)
    assert tables.responses.is_empty()
    assert tables.replies.height == 120


def test_a_response_with_two_texts_is_named():
    frame = long(engineer())
    slip = (pl.col("id") == 4) & (pl.col("rater") == "human") & (pl.col("system") == "v2")
    frame = frame.with_columns(answer=pl.when(slip).then(pl.lit("Another.")).otherwise("answer"))
    study, tables = from_frame(frame)
    (found,) = [one for one in audit(tables, study) if one.kind == "response_varies"]
    assert (found.severity, found.places) == ("serious", ("item 4, v2",))
    spaced = frame.with_columns(answer=pl.col("answer").replace("Another.", None))
    study, tables = from_frame(spaced)
    assert not [one for one in audit(tables, study) if one.kind == "response_varies"]


def test_each_run_may_have_its_own_text():
    runs = [
        long(engineer()).with_columns(run=run, answer=pl.format("{} ({})", "answer", run))
        for run in (pl.lit(1), pl.lit(2))
    ]
    study, tables = from_frame(pl.concat(runs))
    assert tables.responses.filter(item="3", system="v1")["run"].to_list() == [1, 2]
    assert not [one for one in audit(tables, study) if one.kind == "response_varies"]


@pytest.mark.parametrize("name", ["response", "text", "status", "rank", "fate"])
def test_a_column_of_scores_may_have_the_name_of_a_part(name):
    frame = pl.DataFrame(
        {
            "item": range(12),
            "human": [1, 2, 3] * 4,
            name: [1, 2, 3] * 4,
            "system": "a",
            "context": "What?",
            "answer": "So.",
        }
    )
    keys = {"columns": {"human": "human", name: name}, "context": "context", "response": "answer"}
    _, tables = from_frame(frame, read=ReadOptions(**keys))
    assert tables.ratings.height == 24


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("answers") / "answers.csv"
    engineer().write_csv(path)
    return path


def test_the_page_shows_and_searches_them_with_texts_alone(source):
    with_text, without = material(source, with_text=True), material(source)
    view = View(q="(v2, 17)")
    assert with_text.select(view).select("item", "system").rows() == [("17", "v2")]
    assert without.select(view).is_empty()
    row = with_text.select(view)["row"][0]
    for made, shown in ((with_text, True), (without, False)):
        site = Site(made)
        page = unescape(site.ask(View(row=row).address("/response"))[2])
        site.close()
        assert (EXPECTED["17", "v2"] in page, "What about 17, please?" in page) == (shown, shown)


def test_static_pages_and_reports_show_them_with_texts_alone(source, tmp_path):
    said = EXPECTED["17", "v2"]
    for with_text in (True, False):
        write_static(material(source, with_text=with_text), "answers", tmp_path / "out.html")
        page = unescape((tmp_path / "out.html").read_text())
        assert (said in page) == with_text
        write_outputs(examine(source, resamples=0), tmp_path / "out", with_text=with_text)
        report = unescape((tmp_path / "out/report.html").read_text())
        assert any(text in report for text in EXPECTED.values()) == with_text


def test_commands_name_them(source, tmp_path):
    frame = engineer(NUMBERS["numbers"])
    frame.write_csv(tmp_path / "numbers.csv")
    done = invoke(["audit", str(tmp_path / "numbers.csv")])
    assert isinstance(done.exception, QuestionError)
    named = [
        "audit",
        str(tmp_path / "numbers.csv"),
        "--response",
        "answer",
        "--context",
        "question",
    ]
    done = invoke(named)
    assert "texts that were judged: those in column 'answer'" in " ".join(done.output.split())
    assert draft_study(source).data.sources[0].response == "answer"


FOREIGN = {
    "promptfoo/results.json": (("0", "desk-a", 1, "At nine."), "Assertion passed"),
    "promptfoo/results.csv": (("0", "desk-a", 1, "At nine."), 'contain "please"'),
    "inspect_ai/help_desk.json": (("q1", "mockllm/model", 1, "At nine."), "At nine."),
    "inspect_ai/help_desk_0.3.70.eval": (("q1", "mockllm/model", 1, "At nine."), "At nine."),
    "deepeval/test_run.json": (("t-001", "desk-a", 1, "At nine."), "invented"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_readers_of_tools_keep_answers_and_reasons(name):
    answer, reason = FOREIGN[name]
    found = read_foreign(Path(__file__).parent / "foreign" / name)
    assert answer in found.responses.rows()
    item, system, run, _ = answer
    said = found.reasons.filter(item=item, system=system, run=run)["text"]
    assert any(reason in one for one in said)
    part = found.part(name, Scale(0, 1, 0))
    assert part.responses.height == found.responses.height > 3
    assert part.reasons.height == found.reasons.height > 3


def test_fields_of_annotation_tools_are_items_and_answers(tmp_path):
    records = [
        {"id": str(at), "fields": {"question": f"When, {at}?", "answer": f"At nine, {at} times."},
         "responses": {"clear": [{"value": at % 5 + 1, "user_id": "u1"}]},
         "suggestions": {"clear": {"value": at % 4 + 1, "agent": "gpt"}}}
        for at in range(12)
    ]  # fmt: skip
    (tmp_path / "records.json").write_text(json.dumps(records))
    found = read_foreign(tmp_path / "records.json")
    assert found.responses["text"].to_list() == [f"At nine, {at} times." for at in range(12)]
    assert found.items["text"].to_list() == [f"When, {at}?" for at in range(12)]


WHY = {
    "long": lambda: long(engineer(), reason=pl.format("{} says {}", "rater", "id")),
    "long, under response": lambda: long(
        engineer().drop("answer"), response=pl.format("{} says {}", "rater", "id")
    ),
    "wide": lambda: engineer().with_columns(
        judge_reason=pl.format("judge says {}", "id"), human_reason=pl.format("human says {}", "id")
    ),
}


@pytest.mark.parametrize("made", WHY.values(), ids=WHY)
def test_what_raters_said_is_kept_by_rater(made, tmp_path):
    made().write_csv(tmp_path / "why.csv")
    study, tables = read_file(tmp_path / "why.csv")
    for own in (tables.reasons, read_tables(study).reasons):
        said = own.filter(item="7", system="v2").select("rater", "text").sort("rater").rows()
        assert said == [("human", "human says 7"), ("judge", "judge says 7")]


def test_a_plain_reason_is_that_of_the_only_judge(tmp_path):
    frame = engineer().with_columns(reason=pl.format("because {}", "id"))
    _, tables = from_frame(frame)
    assert tables.reasons["rater"].unique().to_list() == ["judge"]
    two = frame.with_columns(gpt=pl.col("judge"))
    assert from_frame(two)[1].reasons.is_empty()
    with pytest.raises(TableError, match=r"whose reasons stand in 'reason'.*'gpt_reason'"):
        from_frame(two, reference=["human"], read=ReadOptions(reason="reason"))
    frame.write_csv(tmp_path / "why.csv")
    made = material(tmp_path / "why.csv", with_text=True)
    found = made.select(View(q="because 17"))
    assert found.select("item", "system").sort("system").rows() == [("17", "v1"), ("17", "v2")]
    for with_text in (True, False):
        made = material(tmp_path / "why.csv", with_text=with_text)
        site = Site(made)
        page = unescape(site.ask(View(row=int(found["row"][0])).address("/response"))[2])
        site.close()
        assert ("What judge said" in page, "because 17" in page) == (with_text, with_text)
        write_static(made, "why", tmp_path / "out.html")
        assert ("because 17" in (tmp_path / "out.html").read_text()) == with_text


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_import_keeps_answers_and_reasons(kind, tmp_path):
    given = Path(__file__).parent / "foreign/promptfoo/results_rated.json"
    for source in (given, _with_reasons(tmp_path / "own.csv")):
        out = tmp_path / f"{source.stem}.out.{kind}"
        done = invoke(["import", str(source), "--out", str(out)])
        assert done.exit_code == 0, done.output
        found = read_foreign(source) or read_file(source)[1]
        back = read_file(out, read=ReadOptions(assume=True))[1]
        keys = ["item", "system", "text"]
        assert set(back.responses.select(keys).rows()) == set(found.responses.select(keys).rows())
        keys = ["item", "system", "rater", "text"]
        assert set(back.reasons.select(keys).rows()) == set(found.reasons.select(keys).rows())


def _with_reasons(path):
    engineer().with_columns(reason=pl.format("because {}", "id")).write_csv(path)
    return path


def test_a_stream_tells_answers_from_scores_and_statuses(tmp_path):
    long(engineer()).write_csv(tmp_path / "long.csv")
    engineer(NUMBERS["levels"]).write_csv(tmp_path / "wide.csv")
    out = ["--partition", "--out", str(tmp_path / "parts")]
    done = invoke(["import", str(tmp_path / "long.csv"), *out])
    assert done.exit_code == 0, done.output
    parts = pl.read_parquet(tmp_path / "parts/*/*.parquet")
    assert (parts.height, parts["status"].unique().to_list()) == (120, ["ok"])
    done = invoke(["import", str(tmp_path / "wide.csv"), *out, "--force"])
    assert isinstance(done.exception, QuestionError)
