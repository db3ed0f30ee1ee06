"""Readers of the second tier: records by the tools' own libraries (`tests/foreign`), or after the
code that writes them, which each test names; the texts are invented.
"""

import json
import re
import sys
import time
import types
import zipfile
from pathlib import Path

import polars as pl
import pytest
from command_line import invoke
from machine import second

from voirdire import Plugins, QuestionError, TableError
from voirdire.study import ReadOptions
from voirdire.tables import read_file, read_foreign, readers, write_xlsx

ROOT = Path(__file__).parent.parent
FOREIGN = ROOT / "tests/foreign"


def given(folder, name, rows, *, lines=False):
    path = folder / name
    path.write_text("\n".join(map(json.dumps, rows)) if lines else json.dumps(rows))
    return path


def scores(found):
    return found.ratings.select("item", "system", "rater", "attribute", "score", "status").rows()


def test_single_judgments_of_mt_bench(tmp_path):
    """FastChat (lm-sys/FastChat), fastchat/llm_judge/common.py, play_a_match_single."""
    base = {
        "question_id": 81,
        "model": "m-a",
        "judge": ["gpt-4", "single-v1"],
        "user_prompt": "p",
        "judgment": "Rating: [[9]]",
        "turn": 1,
        "tstamp": 1.5,
    }
    rows = [base | {"score": 9}, base | {"score": -1, "turn": 2}]
    found = read_foreign(given(tmp_path, "gpt-4_single.jsonl", rows, lines=True))
    assert scores(found) == [
        ("81 turn 1", "m-a", "gpt-4", "score", 9.0, "ok"),
        ("81 turn 2", "m-a", "gpt-4", "score", None, "unparsable"),
    ]


def test_pairs_of_mt_bench_are_comparisons_in_both_orders(tmp_path):
    """play_a_match_pair of the same file: in two orders, or by two single scores, without a turn."""
    row = {
        "question_id": 81,
        "model_1": "a",
        "model_2": "b",
        "g1_winner": "model_1",
        "g2_winner": "tie",
        "judge": ["gpt-4", "pair-v2"],
        "turn": 1,
    }
    found = read_foreign(given(tmp_path, "gpt-4_pair.jsonl", [row], lines=True))
    assert found.preferences.select("system_a", "system_b", "score").rows() == [
        ("a", "b", 1.0),
        ("b", "a", 0.0),
    ]
    del row["turn"]
    row |= {"g2_winner": "error", "m1_score": 8, "m2_score": 6}
    found = read_foreign(given(tmp_path, "gpt-4_pair.jsonl", [row], lines=True))
    assert found.preferences["score"].to_list() == [1.0, None]


def test_annotations_of_alpaca_eval_are_comparisons(tmp_path):
    """AlpacaEval (tatsu-lab/alpaca_eval), results/*/weighted_alpaca_eval_gpt4_turbo/annotations.json."""
    base = {
        "instruction": "Name a tree.",
        "output_1": "Oak",
        "generator_1": "base",
        "output_2": "Elm",
        "generator_2": "mine",
        "annotator": "grader",
    }
    rows = [base | {"preference": 1.75}, base | {"instruction": "Name a bird.", "preference": 7}]
    found = read_foreign(given(tmp_path, "annotations.json", rows))
    assert found.preferences["score"].to_list() == [-0.5]
    assert found.preferences["shown_first"].to_list() == [None]  # drawn, and in no file
    assert "the preference is 7, and not from 1 to 2" in found.findings[0].message


def test_records_of_argilla(tmp_path):
    """Argilla 2, rg.Record as JSON."""
    row = {"id": "r1", "fields": {"text": "Hello there."}, "metadata": {"ticket": "t-1"},
           "suggestions": {"stars": {"value": 3, "score": 0.9, "agent": "m"}}, "vectors": {},
           "responses": {"stars": [{"value": 4, "user_id": "u1"}],
                         "why": [{"value": "x" * 99, "user_id": "u1"}]}}  # fmt: skip
    found = read_foreign(given(tmp_path, "records.json", [row]))
    assert scores(found) == [
        ("r1", None, "u1", "stars", 4.0, "ok"),
        ("r1", None, "m", "stars", 3.0, "ok"),
    ]
    assert "the answer to why is a text" in found.findings[1].message


def test_labels_of_doccano_and_its_spans(tmp_path):
    """doccano, backend/data_export/tests/test_task.py: of a text classification, of a sequence
    labelling project, and of intents; of several annotators an archive with a file each.
    """
    row = {"id": 1, "text": "Thank you.", "label": ["warm"], "Comments": []}
    rows = [row, row | {"id": 2, "label": ["cold"]}, row | {"id": 3, "label": []}]
    found = read_foreign(given(tmp_path, "ada.jsonl", rows, lines=True))
    assert [r[3:5] for r in scores(found)] == [
        ("warm", 1.0), ("cold", 0.0), ("warm", 0.0), ("cold", 1.0),
    ]  # fmt: skip
    assert found.raters.select("rater", "kind").rows() == [("ada", "human")]
    spans = given(tmp_path, "s.jsonl", [row | {"label": [[0, 5, "thanks"]]}], lines=True)
    with pytest.raises(TableError, match="doccano export of a sequence labelling project"):
        read_foreign(spans)
    intents = {"id": 1, "text": "Open at nine?", "entities": [[5, 7, "at"]], "Comments": []}
    both = [intents | {"cats": ["asks"]}, intents | {"id": 2, "cats": ["tells"]}]
    found = read_foreign(given(tmp_path, "i.jsonl", both, lines=True))
    assert set(found.ratings["attribute"]) == {"asks", "tells"}
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for name, labels in (("ada", ("warm", "cold")), ("ben", ("warm", "warm"))):
            lines = [row | {"id": at, "label": [one]} for at, one in enumerate(labels)]
            archive.writestr(f"{name}.jsonl", "\n".join(map(json.dumps, lines)))
    found = read_foreign(tmp_path / "all.zip")
    assert found.raters.select("rater", "kind").rows() == [("ada", "human"), ("ben", "human")]
    assert found.ratings.filter(attribute="warm")["score"].to_list() == [1.0, 0.0, 1.0, 1.0]
    whole = (tmp_path / "all.zip").read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[:-40])
    with pytest.raises(TableError, match=r"cut\.zip"):
        read_file(tmp_path / "cut.zip")


def test_scores_of_langfuse(tmp_path):
    """Langfuse, GET /api/public/v2/scores."""
    base = {"id": "s", "traceId": "t1", "name": "tone", "dataType": "NUMERIC", "comment": None}
    rows = [
        base | {"value": 0.5, "source": "EVAL"},
        base | {"value": 1, "source": "ANNOTATION", "authorUserId": "u7"},
        base | {"value": 1, "source": "API", "traceId": None},
    ]
    found = read_foreign(given(tmp_path, "scores.json", {"data": rows, "meta": {}}))
    assert [(r[2], r[4]) for r in scores(found)] == [("langfuse eval", 0.5), ("annotator u7", 1.0)]
    assert "the score is of a session" in found.findings[1].message


def test_runs_and_feedback_of_langsmith(tmp_path):
    """LangSmith: Run.feedback_stats and Feedback."""
    run = {
        "id": "run1",
        "run_type": "chain",
        "inputs": {"question": "Why is it so?"},
        "feedback_stats": {"good": {"n": 1, "avg": 1.0}, "tone": {"n": 3, "avg": 0.4}},
    }
    found = read_foreign(given(tmp_path, "runs.jsonl", [run], lines=True))
    assert scores(found) == [("run1", None, "langsmith", "good", 1.0, "ok")]
    assert "tone are means of several" in found.findings[1].message
    rows = [
        {
            "run_id": "r",
            "key": "good",
            "score": 1,
            "value": None,
            "feedback_source": {"type": "app", "user_id": "u1"},
        }
    ]
    found = read_foreign(given(tmp_path, "feedback.json", rows))
    assert [(r[2], r[4]) for r in scores(found)] == [("annotator u1", 1.0)]


# Files by the tools' own libraries, tests/foreign/make.py


def test_records_of_argilla_as_it_writes_them():
    found = read_foreign(FOREIGN / "argilla/records.json")
    first = [one for one in scores(found) if one[0] == "t-001" and one[3] == "help"]
    assert [(rater[-8:], score) for _, _, rater, _, score, _ in first] == [
        ("00000001", 4.0), ("00000002", 5.0), ("tagger-1", 4.0),
    ]  # fmt: skip
    assert "4 records with responses are pending" in " ".join(f.message for f in found.findings)


@pytest.mark.parametrize("version", ["v2", "v3"])
def test_both_versions_of_langfuses_scores_say_the_same(version):
    found = read_foreign(FOREIGN / f"langfuse/scores_{version}.json")
    assert scores(found)[:2] == [
        ("t-001", None, "annotator u1", "help", 4.0, "ok"),
        ("t-001", None, "langfuse eval", "help", 4.0, "ok"),
    ]
    tones = found.ratings.filter(pl.col("attribute").str.contains("polite|curt"))
    assert tones["score"].to_list().count(1.0) == 4
    said = " ".join(one.message for one in found.findings)
    assert ("of a session or experiment" in said) == (version == "v3")


def test_runs_and_feedback_as_langsmith_writes_them():
    runs = read_foreign(FOREIGN / "langsmith/runs.jsonl")
    assert runs.ratings["score"].to_list() == [1.0, 1.0, 1.0, 0.0]
    assert "4 rows not used: the statistics of help are means" in runs.findings[1].message
    feedback = read_foreign(FOREIGN / "langsmith/feedback.jsonl")
    kinds = dict(feedback.raters.select("rater", "kind").rows())
    assert sorted(kinds.values()) == ["human", "judge"]
    assert feedback.ratings.height == 8


@pytest.mark.parametrize("objects", ["texts", "structs"])
def test_the_bulk_export_of_langsmith_is_parquet(tmp_path, objects):
    """Its columns are the fields of a run; objects are JSON texts, or structs where pandas wrote."""
    lines = (FOREIGN / "langsmith/runs.jsonl").read_text(encoding="utf-8").splitlines()
    runs = [json.loads(line) for line in lines]
    runs.append(runs[0] | {"id": "child", "reference_example_id": None, "feedback_stats": None})
    kept = (
        "id",
        "run_type",
        "trace_id",
        "session_id",
        "reference_example_id",
        "name",
        "inputs",
        "outputs",
        "feedback_stats",
    )
    rows = [{key: run.get(key) for key in kept} for run in runs]
    if objects == "texts":
        rows = [
            {k: json.dumps(v) if isinstance(v, dict) else v for k, v in row.items()} for row in rows
        ]
    pl.DataFrame(rows).write_parquet(tmp_path / "runs.parquet")
    found = read_foreign(tmp_path / "runs.parquet")
    as_json = read_foreign(FOREIGN / "langsmith/runs.jsonl")
    assert found.format == "langsmith"
    assert found.ratings.equals(as_json.ratings)
    assert found.items.select("item", "text").rows() == as_json.items.select("item", "text").rows()
    assert any("1 row not used: the run has no feedback" in f.message for f in found.findings)
    pl.DataFrame(rows).drop("feedback_stats").write_parquet(tmp_path / "bare.parquet")
    with pytest.raises(TableError, match=r"langsmith without any rating .*the run has no feedback"):
        read_foreign(tmp_path / "bare.parquet")
    own = pl.DataFrame({"item": ["a"], "rater": ["b"], "score": [1]})
    own.write_parquet(tmp_path / "own.parquet")
    assert read_foreign(tmp_path / "own.parquet") is None


# Ten thousand records under two seconds, as for the first tier

MANY = {
    "gpt-4_single.jsonl": {"question_id": 1, "model": "m", "judge": ["gpt-4", "single-v1"],
                           "turn": 1, "score": 7},
    "annotations.json": {"instruction": "Name a tree.", "generator_1": "a", "generator_2": "b",
                         "preference": 1.5, "annotator": "grader", "output_1": "", "output_2": ""},
    "records.json": {"id": "r", "fields": {"text": "Hi."}, "responses": {
        "stars": [{"value": 4, "user_id": "u"}]}, "suggestions": {}, "metadata": {}},
    "ada.jsonl": {"id": 1, "text": "Thank you.", "label": ["warm"], "Comments": []},
    "scores.json": {"id": "s", "traceId": "t", "name": "tone", "dataType": "NUMERIC",
                    "source": "EVAL", "value": 1},
    "feedback.jsonl": {"run_id": "r", "key": "good", "score": 1, "value": None,
                       "feedback_source": {"type": "app"}},
    "samples_desk_1.jsonl": {"doc_id": 1, "doc": {"question": "Why?"}, "target": "x",
                             "arguments": {}, "resps": [["a"]], "filtered_resps": ["a"],
                             "filter": "none", "metrics": ["acc"], "acc": 1.0, "doc_hash": "h",
                             "prompt_hash": "h", "target_hash": "h"},
}  # fmt: skip
OWN = {
    "gpt-4_single.jsonl": "question_id",
    "annotations.json": "instruction",
    "scores.json": "traceId",
    "feedback.jsonl": "run_id",
    "samples_desk_1.jsonl": "doc_id",
}


@pytest.mark.parametrize("name", MANY)
def test_ten_thousand_records_take_under_two_seconds_of_the_processor(name, tmp_path):
    own = OWN.get(name, "id")
    rows = [
        MANY[name] | {own: at if isinstance(MANY[name][own], int) else f"x{at}"}
        for at in range(10_000)
    ]
    if name == "ada.jsonl":
        rows[0] |= {"label": ["cold"]}
    path = given(tmp_path, name, rows, lines=name.endswith("jsonl"))
    start = time.process_time()
    found = read_foreign(path)
    assert time.process_time() - start < 2 * second()
    frame = found.ratings if found.preferences is None else found.preferences
    assert frame["item"].n_unique() == 10_000


# A third party's reader, as docs/readers.md has it


def test_the_reader_of_the_docs_works_as_written(tmp_path, monkeypatch):
    text = (ROOT / "docs/readers.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (code,) = (block for block in blocks if "class Reader" in block)
    assert len(code.splitlines()) < 55
    module = types.ModuleType("voirdire_gradebook")
    exec(code, module.__dict__)
    monkeypatch.setitem(sys.modules, "voirdire_gradebook", module)
    found = Plugins()
    module.voirdire_register_readers(lambda name, at: found.add("reader", "gradebook", name, at))
    monkeypatch.setattr(readers, "plugins", lambda: found)
    book = {"gradebook": 3, "people": ["ada"], "answers": [
        {"id": "a1", "question": "Name a tree.", "student": "s1",
         "grades": [{"by": "ada", "criterion": "right", "points": "8/10"},
                    {"by": "machine", "criterion": "right", "points": 7}]},
        {"id": "a2", "withdrawn": True, "grades": []},
    ]}  # fmt: skip
    made = read_foreign(given(tmp_path, "grades.gradebook.json", book))
    assert scores(made) == [
        ("a1", "s1", "ada", "right", 8.0, "ok"),
        ("a1", "s1", "machine", "right", 7.0, "ok"),
    ]
    kinds = [finding.kind for finding in made.findings]
    assert kinds == ["file_read_as", "rows_unused", "format_version", "account"]


# Journeys: the command line, no study file


def run(*words):
    done = invoke(list(map(str, words)))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def verdicts(*words):
    done = run("examine", *words, "--resamples", "0", "--json")
    assert done.exit_code == 0
    record = json.loads(done.stdout)
    assert record["verdicts"]
    return record


@pytest.mark.parametrize("form", ["json", "eval"])
def test_a_user_of_inspect_ai(form, tmp_path):
    mine = tmp_path / "labels.csv"
    mine.write_text("ticket,ada\nt-001,1\nt-002,1\nt-003,0\nt-004,1\n")
    path = FOREIGN / f"inspect_ai/help_desk.{form}"
    found = verdicts(path, "--human", mine, "--key", "ticket=ticket_id", "--only", "score")
    assert {one["judge"] for one in found["verdicts"]} == {"includes", "model_graded_qa"}


def test_a_user_of_promptfoo_who_rated_by_hand():
    found = verdicts(FOREIGN / "promptfoo/results_rated.json", "--only", "pass")
    assert {(one["judge"], *one["reference"]) for one in found["verdicts"]} == {
        ("promptfoo", "by hand")
    }


def test_a_user_of_deepeval(tmp_path):
    mine = tmp_path / "labels.csv"
    mine.write_text(
        "question,ada\nWhen does the library open?,yes\nMay I bring a sandwich?,no\n"
        "Where are the atlases?,no\n"
    )
    path = FOREIGN / "deepeval/test_run.json"
    found = verdicts(path, "--human", mine, "--about", "Helpful", "--only", "Helpful")
    assert {one["judge"] for one in found["verdicts"]} == {"mock-grader"}


def test_a_user_of_label_studio():
    found = verdicts(FOREIGN / "label_studio/project.json", "--only", "help")
    assert {one["judge"] for one in found["verdicts"]} == {"tagger-1"}


def test_an_engineer_with_a_judge_and_200_labels(tmp_path):
    rows = [(f"t-{at:03}", f"What about number {at}?", at % 3 > 0) for at in range(600)]
    judge, mine = tmp_path / "judge.csv", tmp_path / "labels.csv"
    judge.write_text("id,prompt,judge\n" + "".join(f"{i},{t},{int(p)}\n" for i, t, p in rows))
    mine.write_text(
        "prompt,label\n"
        + "".join(
            f"{t},{'pass' if p or i.endswith('7') else 'fail'}\n"
            for i, t, p in rows[::3] + rows[1::30]
        )
    )
    found = verdicts(judge, "--human", mine)
    (matched,) = [one for one in found["findings"] if one["kind"] == "labels_matched"]
    assert matched["message"].startswith("220 of 220 labelled items were found")
    assert {one["judge"] for one in found["verdicts"]} == {"judge"}


def test_ids_of_one_name_join_two_files_and_an_item_of_one_release_names_it(tmp_path):
    """Ids under no usual name are found, for they tell the rows apart."""
    judge, mine = tmp_path / "judge.csv", tmp_path / "labels.csv"
    judge.write_text(
        "ticket,release,judge\n"
        + "".join(f"T{at},v{1 + at % 2},{'pass' if at % 3 else 'fail'}\n" for at in range(600))
    )
    mine.write_text(
        "ticket,label\n"
        + "".join(
            f"T{at},{'pass' if at % 3 or at % 7 == 0 else 'fail'}\n" for at in range(0, 600, 3)
        )
        + "T1,pass\n"
    )
    found = verdicts(judge, "--human", mine)
    (matched,) = [one for one in found["findings"] if one["kind"] == "labels_matched"]
    assert matched["message"].startswith("201 of 201 labelled items were found")
    assert {one["judge"] for one in found["verdicts"]} == {"judge"}
    judge.write_text(judge.read_text() + "T1,v1,pass\n")  # another release answered T1 as well
    with pytest.raises(TableError, match=r"2 systems were rated .* do not say of which"):
        run("examine", judge, "--human", mine, "--item", "ticket")


def test_import_writes_what_examine_reads_again(tmp_path):
    out = tmp_path / "ratings.parquet"
    done = run("import", FOREIGN / "label_studio/project.json", "--out", out)
    assert done.exit_code == 0
    assert "the annotator skipped the task" in done.output
    assert out.is_file()
    listed = run("import", "--list")
    assert "promptfoo" in listed.stdout


def test_a_judges_file_and_one_of_labels_whose_columns_have_other_names(tmp_path):
    """Named side by side, the command says how they are compared; that command has the verdict."""
    judge, mine = tmp_path / "judged.csv", tmp_path / "labels.csv"
    judge.write_text(
        "ticket_id,gpt_score\n" + "".join(f"t{at},{1 + at % 5}\n" for at in range(300))
    )
    mine.write_text(
        "ticket_id,label\n"
        + "".join(f"t{at},{max(1, 1 + at % 5 - (at % 7 == 0))}\n" for at in range(0, 300, 2))
    )
    with pytest.raises(
        QuestionError, match="people scored 'label' and the judges 'score'"
    ) as asked:
        run("examine", judge, mine)
    assert asked.value.choices == ("score=label", "none")
    assert "name it by --human" in asked.value.question
    found = verdicts(judge, mine, "--same", "score=label")
    assert {(one["judge"], one["attribute"]) for one in found["verdicts"]} == {
        ("gpt_score", "label")
    }
    found = verdicts(judge, mine, "--same", "none")
    (apart,) = [one for one in found["findings"] if one["kind"] == "attributes_apart"]
    assert apart["message"].startswith("People scored 'label' and the judges 'score'")
    assert "say --human labels.csv" in apart["consequence"]
    found = verdicts(judge, "--human", mine)
    assert not [one for one in found["findings"] if one["kind"] == "attributes_apart"]
    (matched,) = [one for one in found["findings"] if one["kind"] == "labels_matched"]
    assert matched["message"].startswith("150 of 150 labelled items were found")
    assert {(one["judge"], one["attribute"]) for one in found["verdicts"]} == {
        ("gpt_score", "score")
    }


def test_with_labels_beside_it_a_workbook_is_read_by_the_sheet_that_was_named(tmp_path):
    """The sheet is that of every workbook that has it; where none has, those there are are named."""
    frame = pl.DataFrame({"id": [f"x{at}" for at in range(60)], "gpt": [1, 2, 3, 4, 5] * 12})
    other = frame.with_columns(gpt=pl.col("gpt") % 5 + 1)
    write_xlsx(tmp_path / "judged.xlsx", {"First": other, "Second": frame})
    write_xlsx(tmp_path / "mine.xlsx", {"Labels": frame.rename({"gpt": "ann"})})
    judged, mine = tmp_path / "judged.xlsx", tmp_path / "mine.xlsx"
    with pytest.raises(QuestionError, match="sheets 'First', 'Second' hold the same columns"):
        run("examine", judged, "--human", mine)
    ratings = read_file(judged, read=ReadOptions(human=[mine], sheet="Second"))[1].ratings
    by_rater = ratings.pivot("rater", index="item", values="score")
    assert (by_rater["gpt"] == by_rater["mine"]).all()
    ratings = read_file(judged, read=ReadOptions(human=[mine], sheet="First"))[1].ratings
    by_rater = ratings.pivot("rater", index="item", values="score")
    assert (by_rater["gpt"] == by_rater["mine"] % 5 + 1).all()
    with pytest.raises(TableError, match=r"'Third' .*First, Second, Labels"):
        run("examine", judged, "--human", mine, "--sheet", "Third")
