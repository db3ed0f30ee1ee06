"""Records that carry judgements of people and models side by side, each with its source."""

from __future__ import annotations

import json
from pathlib import Path

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
        cells = (one["span_id"], one["name"], one["annotator_kind"], result["label"],
                 result["score"], result["explanation"], one.get("user_id"))  # fmt: skip
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
