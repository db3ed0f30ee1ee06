"""Records that carry judgements of people and models side by side, each with its source."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import voirdire
from voirdire import tables
from voirdire.errors import TableError

FOREIGN = Path(__file__).parent / "foreign"


def scores(path: Path, rater: str) -> list[float]:
    _, rated = tables.read_file(path)
    own = rated.ratings.filter(rater=rater)
    shown = rated.items.select("item", "text")
    joined = own.join(shown, on="item", how="left").sort("text")
    return joined["score"].to_list()


@pytest.mark.parametrize("name", ["traces.json", "traces_table.json"])
def test_assessments_of_mlflow_are_of_people_and_judges(name):
    path = FOREIGN / "mlflow" / name
    study, rated = tables.read_file(path)
    assert study.data.reference == ("ann@example.org",)
    assert {r.name: r.kind for r in study.panel}["gpt-4o"] == "judge"
    # By their questions: renew (4, 4), sandwich (4, 5), open (5, 5), atlases (2, 1).
    assert sorted(scores(path, "ann@example.org")) == [2, 4, 4, 5]
    assert sorted(scores(path, "gpt-4o")) == [1, 4, 5, 5]
    assert set(rated.reasons["text"]) == {"as a reader", "It answers."}


def test_what_was_replaced_in_mlflow_and_expectations_are_no_ratings(tmp_path):
    records = json.loads((FOREIGN / "mlflow" / "traces.json").read_text())
    first = records[0]["info"]["assessments"]
    first[0]["valid"] = False
    expected = {**first[0], "valid": True, "expectation": {"value": 5}, "feedback": None}
    first.append(expected)
    path = tmp_path / "t.json"
    path.write_text(json.dumps(records))
    assert len(scores(path, "ann@example.org")) == 3
    notes = voirdire.tables.read_file(path)[1].findings
    said = " ".join(note.message for note in notes)
    assert "was replaced" in said
    assert "is an expectation" in said


@pytest.mark.parametrize("name", ["page.json", "items.jsonl"])
def test_output_items_of_openai_are_their_graders_results(name):
    path = FOREIGN / "openai_evals" / name
    study, rated = tables.read_file(path)
    assert [rater.name for rater in study.panel] == ["helpful"]
    assert rated.ratings.sort("item")["score"].to_list() == [5, 4, 1, 4]
    assert set(rated.ratings["system"]) == {"gpt-4o-mini"}


def test_labels_by_people_join_output_items_by_a_field_of_theirs(tmp_path):
    labels = tmp_path / "labels.csv"
    labels.write_text("ticket,label\nt-001,5\nt-002,4\nt-003,2\nt-004,3\n")
    read = voirdire.ReadOptions(human=[labels], key="ticket")
    _, rated = tables.read_file(FOREIGN / "openai_evals" / "page.json", read=read)
    assert rated.ratings["rater"].n_unique() == 2


#: After the schema of Phoenix' API (span_annotations) and of its client's table; by documentation.
ANNOTATIONS = [
    {"id": "A1", "span_id": "s1", "name": "helpful", "annotator_kind": "HUMAN", "user_id": "ann",
     "result": {"label": "good", "score": 5, "explanation": "clear"}, "metadata": {}},
    {"id": "A2", "span_id": "s1", "name": "helpful", "annotator_kind": "LLM", "identifier": "",
     "result": {"label": "good", "score": 4, "explanation": None}, "metadata": {}},
    {"id": "A3", "span_id": "s2", "name": "helpful", "annotator_kind": "HUMAN", "user_id": "ann",
     "result": {"label": "bad", "score": 1, "explanation": None}, "metadata": {}},
    {"id": "A4", "span_id": "s2", "name": "helpful", "annotator_kind": "LLM", "identifier": "",
     "result": {"label": None, "score": None, "explanation": None}, "metadata": {}},
]  # fmt: skip


def test_annotations_of_phoenix_are_read_from_its_server_and_from_its_table(tmp_path):
    whole = tmp_path / "a.json"
    whole.write_text(json.dumps({"data": ANNOTATIONS, "next_cursor": None}))
    table = tmp_path / "a.csv"
    lines = ["span_id,annotation_name,annotator_kind,label,score,explanation,identifier"]
    for one in ANNOTATIONS:
        result = one["result"]
        cells = (
            one["span_id"],
            one["name"],
            one["annotator_kind"],
            result["label"],
            result["score"],
            result["explanation"],
            one.get("user_id"),
        )
        lines.append(",".join("" if cell is None else str(cell) for cell in cells))
    table.write_text("\n".join(lines) + "\n")
    for path in (whole, table):
        study, rated = tables.read_file(path)
        assert study.data.reference == ("ann",)
        found = {(r, i): s for r, i, s in rated.ratings.select("rater", "item", "score").rows()}
        assert found == {("ann", "s1"): 5, ("ann", "s2"): 1, ("phoenix llm", "s1"): 4}
        assert any("neither a score nor a label" in n.message for n in rated.findings)


def test_unlabelled_traces_are_a_clear_error(tmp_path):
    path = tmp_path / "t.json"
    path.write_text('[{"info": {"trace_id": "t", "trace_metadata": {}, "assessments": []}}]')
    with pytest.raises(TableError, match="file of mlflow without any rating"):
        tables.read_file(path)


# Tables and records of experiments: LangSmith, Braintrust, TruLens and Ragas by the tools themselves


def found(path: Path) -> dict[tuple[str, str | None, str, str], float | None]:
    read = tables.read_foreign(path)
    assert read is not None
    columns = ("item", "system", "rater", "attribute", "score")
    return {(i, s, r, a): score for i, s, r, a, score in read.ratings.select(columns).rows()}


def test_the_table_of_an_experiment_of_langsmith():
    scores = found(FOREIGN / "langsmith" / "experiment.csv")
    helpful = [score for (_, _, _, attribute), score in scores.items() if attribute == "helpful"]
    assert helpful == [4, 2, 3, 5]
    assert {rater for _, _, rater, _ in scores} == {"langsmith"}
    labels = FOREIGN / "langsmith" / "experiment.csv"
    read = tables.read_foreign(labels)
    assert read.items["ticket"].to_list() == ["t-001", "t-002", "t-003", "t-004"]
    assert read.responses["text"].to_list()[0] == "At nine."


@pytest.mark.parametrize("name", ["eval.json", "events.jsonl"])
def test_scores_of_braintrust_are_those_of_its_test_cases(name):
    read = tables.read_foreign(FOREIGN / "braintrust" / name)
    assert read.format == "braintrust"
    assert read.ratings["score"].to_list() == [0.8, 0.4, 0.6, 1.0]
    assert read.items["ticket"].to_list() == ["t-001", "t-002", "t-003", "t-004"]
    # The spans of the task and of the scorer are no test cases.
    assert (read.account.rows, read.account.kept) == ((4, 4) if name == "eval.json" else (12, 4))


def test_two_experiments_of_braintrust_answer_the_same_items(tmp_path):
    lines = (FOREIGN / "braintrust" / "events.jsonl").read_text().splitlines()
    other = [line.replace('"experiment_id": "desk"', '"experiment_id": "new"') for line in lines]
    path = tmp_path / "both.jsonl"
    path.write_text("\n".join([*lines, *other]))
    scores = found(path)
    assert {system for _, system, _, _ in scores} == {"desk", "new"}
    assert len({item for item, *_ in scores}) == 4


@pytest.mark.parametrize("name", ["records.csv", "records.json", "columns.json"])
def test_feedback_of_trulens_and_neither_its_latency_nor_its_cost(name):
    scores = found(FOREIGN / "trulens" / name)
    assert {attribute for *_, attribute in scores} == {"Relevance", "Brevity"}
    assert scores["When does the library open?", "desk a", "trulens", "Relevance"] == 0.8
    assert scores["May I bring a sandwich?", "desk b", "trulens", "Relevance"] == 0.4
    assert scores["May I bring a sandwich?", "desk a", "trulens", "Brevity"] == 0.333


@pytest.mark.parametrize("name", ["scores.csv", "scores.jsonl"])
def test_metrics_of_ragas(name):
    scores = found(FOREIGN / "ragas" / name)
    exact = [score for (*_, attribute), score in scores.items() if attribute == "exact_match"]
    assert exact == [1, 0, 1, 0]
    assert {attribute for *_, attribute in scores} == {"exact_match", "non_llm_string_similarity"}


@pytest.mark.parametrize(
    "name", ["trulens/records.csv", "langsmith/experiment.csv", "ragas/scores.csv"]
)
def test_a_table_with_a_column_more_is_no_tools_own(tmp_path, name):
    """Somebody put labels beside the scores: who these are is found out, or asked."""
    frame = pl.read_csv(FOREIGN / name)
    path = tmp_path / "mine.csv"
    frame.with_columns(pl.Series("human", [4, 2, 3, 5] * (frame.height // 4))).write_csv(path)
    assert tables.read_foreign(path) is None


#: After Weave's calls (docs: traces, feedback): a call of Evaluation.predict_and_score.
CALLS = [
    {"id": f"c{at}", "op_name": "weave:///team/desk/op/Evaluation.predict_and_score:a1",
     "trace_id": "t", "parent_id": "p",
     "inputs": {"model": "weave:///team/desk/object/Answerer:b2",
                "example": {"id": f"q{at}", "question": f"Question {at}?"}},
     "output": {"output": f"Answer {at}.", "model_latency": 0.4,
                "scores": {"helpful": {"score": at / 4, "reason": "It answers."},
                           "is_short": {"passed": at % 2 == 0}}},
     "summary": {"weave": {"feedback": [
         {"feedback_type": "wandb.annotation.stars", "creator": "ann", "payload": {"value": at + 1}},
         {"feedback_type": "wandb.reaction.1", "payload": {"emoji": "+1"}}]}}}
    for at in range(4)
]  # fmt: skip


def test_calls_of_weave_hold_scores_and_feedback_of_people(tmp_path):
    path = tmp_path / "calls.jsonl"
    top = {
        "id": "e",
        "op_name": "weave:///team/desk/op/Evaluation.evaluate:a1",
        "trace_id": "t",
        "inputs": {},
        "output": {"helpful": {"mean": 0.4}, "scores": None},
    }
    path.write_text("\n".join(map(json.dumps, [*CALLS, top])))
    scores = found(path)
    assert scores["q2", "Answerer", "helpful", "score"] == 0.5
    assert scores["q1", "Answerer", "is_short", "passed"] == 0
    assert scores["q3", "Answerer", "ann", "stars"] == 4
    assert len(scores) == 12
    read = tables.read_foreign(path)
    assert dict(read.raters.select("rater", "kind").rows())["ann"] == "human"
    assert read.account.gone == {"without a judgement": 1}
    assert set(read.reasons["text"]) == {"It answers."}


def test_calls_of_weave_as_a_table(tmp_path):
    head = [
        "id",
        "op_name",
        "trace_id",
        "inputs.model",
        "inputs.example.question",
        "output.output",
        "output.scores.helpful.score",
        "output.model_latency",
    ]
    rows = [
        [
            c["id"],
            c["op_name"],
            "t",
            c["inputs"]["model"],
            c["inputs"]["example"]["question"],
            c["output"]["output"],
            c["output"]["scores"]["helpful"]["score"],
            0.4,
        ]
        for c in CALLS
    ]
    pl.DataFrame(rows, schema=head, orient="row").write_csv(tmp_path / "calls.csv")
    scores = found(tmp_path / "calls.csv")
    assert list(scores.values()) == [0, 0.25, 0.5, 0.75]
    assert {attribute for *_, attribute in scores} == {"score"}


#: After Prodigy's documentation of its annotation data: text classification, by choice and binary.
EXAMPLES = [
    {"text": f"Text {at}", "_input_hash": 10 + at, "_task_hash": 50 + at, "answer": answer,
     "options": [{"id": "calm", "text": "Calm"}, {"id": "tense", "text": "Tense"}],
     "accept": accept, "_annotator_id": who, "_session_id": who}
    for who in ("desk-ann", "desk-ben")
    for at, (answer, accept) in enumerate(
        (("accept", ["calm"]), ("accept", ["tense"]), ("ignore", []), ("reject", ["calm"])))
]  # fmt: skip


def test_examples_of_prodigy_are_labels_of_people(tmp_path):
    path = tmp_path / "desk.jsonl"
    path.write_text("\n".join(map(json.dumps, EXAMPLES)))
    scores = found(path)
    assert scores["10", None, "desk-ann", "calm"] == 1
    assert scores["11", None, "desk-ben", "calm"] == 0
    read = tables.read_foreign(path)
    assert set(read.raters["kind"]) == {"human"}
    assert read.account.gone == {"without a judgement": 4}
    said = " ".join(note.message for note in read.findings)
    assert "the answer is 'ignore'" in said
    assert "the options were rejected" in said
    binary = [
        {k: v for k, v in one.items() if k not in ("options", "accept")} | {"label": "SPAM"}
        for one in EXAMPLES
    ]
    path.write_text("\n".join(map(json.dumps, binary)))
    assert found(path)["13", None, "desk-ann", "SPAM"] == 0


def test_spans_of_phoenix_with_evaluations(tmp_path):
    """After the columns of its client's table of spans."""
    frame = pl.DataFrame(
        {"context.span_id": ["s1", "s2", "s3"], "context.trace_id": ["t1", "t2", "t3"],
         "name": ["chat"] * 3, "span_kind": ["LLM"] * 3,
         "attributes.input.value": ["Why?", "When?", "Who?"],
         "attributes.output.value": ["So.", "Then.", "They."],
         "attributes.llm.token_count.total": [10, 20, 30],
         "eval.Helpful.label": ["good", "bad", None], "eval.Helpful.score": [1.0, 0.0, None],
         "eval.Helpful.explanation": ["clear", None, None]}
    )  # fmt: skip
    for name in ("spans.csv", "spans.parquet"):
        path = tmp_path / name
        frame.write_csv(path) if name.endswith("csv") else frame.write_parquet(path)
        assert list(found(path).items()) == [
            (("s1", None, "phoenix evaluation", "Helpful"), 1.0),
            (("s2", None, "phoenix evaluation", "Helpful"), 0.0),
        ]
        assert tables.read_foreign(path).account.gone == {"without a judgement": 1}


def test_a_folder_of_hugging_face_is_read_and_its_split_is_asked(tmp_path):
    datasets = pytest.importorskip("datasets")
    words = [("neg", "pos")[at % 2] for at in range(30)]
    label = datasets.ClassLabel(names=["neg", "pos"])
    text = datasets.Value("string")
    features = datasets.Features({"id": text, "human_1": label, "human_2": label, "gpt": label})
    ids = [f"q{at}" for at in range(30)]
    rows = {"id": ids, "human_1": words, "human_2": words, "gpt": words[1:] + words[:1]}
    made = datasets.Dataset.from_dict(rows, features=features)
    made.save_to_disk(tmp_path / "one")
    datasets.DatasetDict({"train": made, "test": made.select(range(20))}).save_to_disk(
        tmp_path / "two"
    )
    voirdire.examine(tmp_path / "one", resamples=0)
    _, one = tables.read_judged(tmp_path / "one", read=voirdire.ReadOptions())
    assert (one.people, one.raters) == (("human_1", "human_2"), ("human_1", "human_2", "gpt"))
    assert one.questions[0].labels == ("neg", "pos")
    with pytest.raises(voirdire.QuestionError, match="'train', 'test' hold the same columns"):
        voirdire.examine(tmp_path / "two", resamples=0)
    test = tables.read_raw(tmp_path / "two", sheet="test")
    assert test.frame["human_1"].to_list() == words[:20]
    (tmp_path / "hub" / "data").mkdir(parents=True)
    frame = pl.DataFrame({"id": ids, "human": [1, 2, 3] * 10, "judge": [2, 2, 3] * 10})
    for part in range(2):
        name = f"train-0000{part}-of-00002.parquet"
        frame[part * 15 : part * 15 + 15].write_parquet(tmp_path / "hub" / "data" / name)
    _, rated = tables.read_file(tmp_path / "hub")
    assert rated.ratings.height == 60
    (account,) = rated.accounts
    assert (account.rows, account.open) == (30, (0, 0))


def test_objects_that_no_reader_knows_are_no_replies_unless_asked(tmp_path):
    path = tmp_path / "runs.json"
    rows = [
        {"id": f"q{at}", "result": {"warmth": at % 5 + 1, "clarity": 3}, "took": {"s": 1.5}}
        for at in range(30)
    ]
    path.write_text(json.dumps(rows))
    with pytest.raises(TableError) as caught:
        tables.read_file(path)
    said = str(caught.value)
    assert "holds objects under 'result', 'took'" in said
    assert '{"warmth": 1' in said
    assert "--layout replies reads them so" in said
    read = voirdire.ReadOptions(layout="replies", ignore=("took",))
    _, rated = tables.read_file(path, read=read)
    assert set(rated.ratings["attribute"]) == {"warmth", "clarity"}
    # What stands there as a text is a reply as before.
    path.write_text(json.dumps([row | {"result": json.dumps(row["result"])} for row in rows]))
    _, rated = tables.read_file(path, read=voirdire.ReadOptions(ignore=("took",)))
    assert set(rated.ratings["attribute"]) == {"warmth", "clarity"}
