"""Readers of other tools' files: fixtures in `tests/foreign`, made by the tools where its README
says so.
"""

import json
import shutil
import time
import zipfile
from pathlib import Path

import polars as pl
import pytest
from machine import second

from voirdire import PluginError, Plugins, TableError, examine
from voirdire.errors import MissingExtraError, QuestionError
from voirdire.examining import audit_source
from voirdire.schema import Finding, Scale
from voirdire.study import ReadOptions
from voirdire.tables import RATINGS, ReadingBuilder, read_file, read_foreign, reader_of, readers
from voirdire_plugins.readers import READERS

FOREIGN = Path(__file__).parent / "foreign"


def read(name):
    found = read_foreign(FOREIGN / name)
    assert found is not None
    return found


def rows(found, *columns, **only):
    return found.ratings.filter(**only).select(*columns).rows()


def messages(found):
    return " | ".join(finding.message for finding in found.findings)


# inspect_ai


@pytest.mark.parametrize("version", ["", "_0.3.70"])
@pytest.mark.parametrize("form", ["json", "eval"])
def test_inspect_ai_logs_give_scorers_epochs_and_attributes(form, version):
    found = read(f"inspect_ai/help_desk{version}.{form}")
    assert found.format == "inspect_ai"
    assert rows(found, "item", "run", "score", rater="model_graded_qa", run=1) == [
        ("q1", 1, 1.0), ("q2", 1, 1.0), ("q3", 1, 0.0), ("q4", 1, 0.5),
    ]  # fmt: skip
    assert rows(found, "score", rater="includes", run=2) == [(1.0,), (1.0,), (1.0,), (0.0,)]
    assert set(found.ratings["attribute"]) == {"score", "clear", "polite"}
    assert set(found.ratings["system"]) == {"mockllm/model"}
    assert found.items.row(0, named=True) == {
        "item": "q1",
        "text": "When does the library open?",
        "ticket_id": "t-001",
    }
    assert [finding.kind for finding in found.findings] == ["file_read_as", "account"]
    # What a log holds beside what is rated is counted with its bytes.
    assert found.account is not None
    assert 0 < sum(found.account.unread.values()) < found.account.size
    if form == "eval":
        with zipfile.ZipFile(FOREIGN / f"inspect_ai/help_desk{version}.eval") as archive:
            members = {one.filename: one.file_size for one in archive.infolist()}
        assert found.account.size == sum(members.values())
        read_of = [n for n in members if n.startswith("samples/") or n == "header.json"]
        told = sum(n for part, n in found.account.unread.items() if "field" not in part)
        assert told == sum(members.values()) - sum(members[name] for name in read_of)


def test_both_forms_of_a_log_hold_the_same_ratings():
    left, right = read("inspect_ai/help_desk.json"), read("inspect_ai/help_desk.eval")
    key = ["item", "rater", "run", "attribute"]
    assert left.ratings.sort(key).equals(right.ratings.sort(key))


def test_an_edited_score_is_a_persons_and_the_scorers_stays(tmp_path):
    log = json.loads((FOREIGN / "inspect_ai/help_desk.json").read_text())
    score = log["samples"][0]["scores"]["model_graded_qa"]
    author = {"author": "ada", "timestamp": "2024-05-01T10:00:00Z"}
    score["history"] = [{"value": "C"}, {"value": "I", "provenance": author}]
    score["value"] = "I"
    (tmp_path / "log.json").write_text(json.dumps(log))
    found = read_foreign(tmp_path / "log.json")
    assert rows(found, "score", item="q1", run=1, rater="model_graded_qa") == [(1.0,)]
    assert rows(found, "score", item="q1", run=1, rater="ada") == [(0.0,)]
    assert found.raters.filter(rater="ada")["kind"].to_list() == ["human"]


def test_unfinished_logs_unscored_samples_and_other_versions_are_said(tmp_path):
    log = json.loads((FOREIGN / "inspect_ai/help_desk.json").read_text())
    log["version"], log["status"] = 9, "cancelled"
    log["samples"][0] |= {"scores": {}, "error": {"message": "invented"}}
    log["samples"][1]["scores"]["includes"]["value"] = "N"
    (tmp_path / "log.json").write_text(json.dumps(log))
    found = read_foreign(tmp_path / "log.json")
    said = messages(found)
    assert "is of version 9 of the format inspect_ai; read are 2" in said
    assert "status is 'cancelled'" in said
    assert "1 row not used: the sample has no score: it ended in an error" in said
    assert "1 row not used" in found.findings[0].message
    name = log["samples"][1]["id"]
    assert rows(found, "score", "status", item=name, run=1, rater="includes") == [(None, "refused")]


def test_damaged_and_foreign_archives_are_named(tmp_path):
    whole = (FOREIGN / "inspect_ai/help_desk.eval").read_bytes()
    (tmp_path / "cut.eval").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(TableError, match=r"cut\.eval: is no whole archive"):
        read_foreign(tmp_path / "cut.eval")
    with zipfile.ZipFile(tmp_path / "other.eval", "w") as archive:
        archive.writestr("notes.txt", "hello")
    with pytest.raises(TableError, match=r"without header\.json: no log of inspect_ai"):
        read_foreign(tmp_path / "other.eval")


def test_an_archive_without_zstandard_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match=r"voirdire\[eval\]"):
        read("inspect_ai/help_desk.eval")


# promptfoo


@pytest.mark.parametrize("version", ["", "_0.91.3"])
def test_promptfoo_results_give_assertions_by_metric_and_the_whole(version):
    """0.91.3 wrote version 2, whose list of results names no test."""
    found = read(f"promptfoo/results{version}.json")
    assert sorted(rows(found, "attribute", "rater", "score", item="0", system="desk-a")) == [
        ("Brief", "promptfoo", 1.0), ("Helpful", "file://grader.js", 0.9),
        ("Polite", "promptfoo", 0.0), ("pass", "promptfoo", 0.0),
        ("score", "promptfoo", pytest.approx(1.9 / 3)),
    ]  # fmt: skip
    assert "1 row not used: the output has no grades (the model did not answer)" in messages(found)
    assert found.items.row(1, named=True)["ticket_id"] == "t-002"
    assert found.scale == Scale(0, 1, 0)


@pytest.mark.parametrize("version", ["", "_0.91.3"])
def test_ratings_by_hand_are_a_persons_and_promptfoos_own_are_worked_out_again(version):
    """In version 2 they are in the table alone, and not in the list of results."""
    found = read(f"promptfoo/results_rated{version}.json")
    before = read(f"promptfoo/results{version}.json")
    by_hand = rows(found, "attribute", "score", rater="by hand")
    assert sorted(by_hand) == [("pass", 0.0), ("pass", 1.0), ("score", 0.0), ("score", 1.0)]
    assert found.raters.filter(rater="by hand")["kind"].to_list() == ["human"]
    own = found.ratings.filter(pl.col("rater") != "by hand")
    key = ["item", "system", "rater", "attribute"]
    left, right = own.sort(key), before.ratings.sort(key)
    assert left.drop("score").equals(right.drop("score"))
    assert (left["score"] - right["score"]).abs().max() < 1e-12


@pytest.mark.parametrize("version", ["", "_0.91.3"])
def test_promptfoos_csv_says_the_same_to_two_places(version):
    """0.91.3 wrote all grades of an output into its cell."""
    left, right = (read(f"promptfoo/results{version}.{form}") for form in ("json", "csv"))
    assert "1 row not used" in right.findings[0].message
    assert right.responses.sort("item", "system").equals(left.responses.sort("item", "system"))
    key = ["item", "system", "attribute"]
    both = left.ratings.join(right.ratings, on=key)
    assert both.height == left.ratings.height == right.ratings.height
    assert (both["score"] - both["score_right"]).abs().max() <= 0.005 + 1e-9


def test_an_older_promptfoo_says_the_same():
    """The script in tests/foreign ran both on the same answers."""
    key = ["item", "system", "attribute"]
    old, new = read("promptfoo/results_0.91.3.json"), read("promptfoo/results.json")
    assert old.ratings.sort(key).equals(new.ratings.sort(key))
    assert old.items.equals(new.items)
    assert old.responses.sort("item", "system").equals(new.responses.sort("item", "system"))


def test_an_old_cell_that_only_begins_like_grades_takes_no_time(tmp_path):
    text = '"[FAIL] (0.50' + ", a: 1.00" * 3_000 + '"'
    (tmp_path / "r.csv").write_text(f'q,[desk] p\n1,{text}\n2,"[PASS] (1.00)\n\nYes."\n')
    with pytest.raises(TableError, match="without any rating"):
        read_foreign(tmp_path / "r.csv")


def test_repetitions_of_a_test_are_runs_and_no_further_items(tmp_path):
    """``promptfoo eval --repeat 2`` gives each repetition a number of its own."""
    results = json.loads((FOREIGN / "promptfoo/results.json").read_text())
    outputs = results["results"]["results"]
    again = [one | {"testIdx": one["testIdx"] + 4} for one in outputs]
    results["results"]["results"] = outputs + again
    other = json.loads(json.dumps(outputs[0]))
    other["testIdx"], other["testCase"]["assert"] = 8, other["testCase"]["assert"][:1]
    results["results"]["results"].append(other)
    (tmp_path / "r.json").write_text(json.dumps(results))
    found = read_foreign(tmp_path / "r.json")
    assert found.ratings["item"].unique().sort().to_list() == ["0", "1", "2", "3", "8"]
    assert rows(found, "run", item="0", system="desk-a", attribute="pass") == [(1,), (2,)]
    whole = (FOREIGN / "promptfoo/results.csv").read_text()
    (tmp_path / "r.csv").write_text(whole + whole.split("\n", 1)[1])
    found = read_foreign(tmp_path / "r.csv")
    assert found.ratings["item"].n_unique() == 4
    assert found.ratings["run"].unique().sort().to_list() == [1, 2]


def test_another_version_of_promptfoo_is_a_finding_and_no_results_an_error(tmp_path):
    results = json.loads((FOREIGN / "promptfoo/results.json").read_text())
    results["results"]["version"] = 4
    (tmp_path / "r.json").write_text(json.dumps(results))
    said = messages(read_foreign(tmp_path / "r.json"))
    assert "is of version 4 of the format promptfoo; read are 2, 3" in said
    results["results"]["results"] = []
    (tmp_path / "r.json").write_text(json.dumps(results))
    with pytest.raises(TableError, match="hold no outputs"):
        read_foreign(tmp_path / "r.json")


# DeepEval


def test_a_test_run_of_deepeval_gives_metrics_and_what_failed():
    found = read("deepeval/test_run.json")
    assert rows(found, "item", "score", "status", attribute="Helpful") == [
        ("t-001", 0.9, "ok"), ("t-002", 0.9, "ok"), ("t-003", 0.2, "ok"), ("t-004", None, "failed"),
    ]  # fmt: skip
    assert found.raters["rater"].to_list() == ["mock-grader"]
    assert set(found.ratings["system"]) == {"desk-a"}


def test_a_run_of_an_older_deepeval_says_the_same():
    """3.0.0 wrote fewer fields; the script in tests/foreign made both of the same cases."""
    old, new = read("deepeval/test_run_3.0.0.json"), read("deepeval/test_run.json")
    assert old.ratings.equals(new.ratings)
    assert old.items.equals(new.items)


def test_the_cache_of_deepeval_is_named(tmp_path):
    (tmp_path / ".deepeval-cache.json").write_text('{"test_cases_lookup_map": {}}')
    with pytest.raises(TableError, match="no test run of DeepEval"):
        read_foreign(tmp_path / ".deepeval-cache.json")


# Label Studio


STUDIOS = pytest.mark.parametrize("version", ["", "_1.4.1"])


@STUDIOS
def test_label_studio_gives_annotators_choices_and_predictions_without_their_confidence(version):
    found = read(f"label_studio/project{version}.json")
    assert rows(found, "rater", "score", item="1", attribute="help") == [
        ("annotator 1", 4.0), ("annotator 2", 5.0), ("tagger-1", 4.0),
    ]  # fmt: skip
    assert sorted(rows(found, "attribute", "score", item="3", rater="annotator 2")) == [
        ("help", 4.0), ("tone: curt", 0.0), ("tone: neutral", 1.0), ("tone: polite", 0.0),
    ]  # fmt: skip
    assert 0.93 not in found.ratings["score"].to_list()
    kinds = dict(found.raters.select("rater", "kind").rows())
    assert kinds == {"annotator 1": "human", "annotator 2": "human", "tagger-1": "judge"}
    assert "1 row not used: the annotator skipped the task" in messages(found)


@STUDIOS
@pytest.mark.parametrize("name", ["project_min{}.json", "project{}.csv"])
def test_label_studios_small_exports_say_what_its_json_says(name, version):
    found = read(f"label_studio/{name.format(version)}")
    whole = read(f"label_studio/project{version}.json")
    people = whole.ratings.filter(pl.col("rater") != "tagger-1")
    key = ["item", "rater", "attribute"]
    assert found.ratings.sort(key).equals(people.sort(key))
    assert "Taken for results: help, tone" in messages(found)


def test_an_older_label_studio_says_the_same():
    """The script in tests/foreign asked both servers for the same; 1.4 puts the last task first."""
    key = ["item", "rater", "attribute"]
    old, new = read("label_studio/project_1.4.1.json"), read("label_studio/project.json")
    assert old.ratings.sort(key).equals(new.ratings.sort(key))
    assert old.items.sort("item").equals(new.items.sort("item"))


@STUDIOS
def test_predictions_of_which_the_export_holds_the_number_alone_are_counted(version):
    """As the server's Export button writes them; a snapshot may hold them whole."""
    found = read(f"label_studio/plain{version}.json")
    whole = read(f"label_studio/project{version}.json")
    assert "tagger-1" not in found.raters["rater"].to_list()
    assert "4 rows not used: the export holds the number of a prediction alone" in messages(found)
    key = ["item", "rater", "attribute"]
    people = whole.ratings.filter(pl.col("rater") != "tagger-1")
    assert found.ratings.sort(key).equals(people.sort(key))


@STUDIOS
def test_a_pairwise_project_is_refused_in_words(version):
    with pytest.raises(TableError, match="a Label Studio export of a pairwise project: its 4 res"):
        read(f"label_studio/pairwise{version}.json")


@STUDIOS
@pytest.mark.parametrize("name", ["pairwise_min{}.json", "pairwise{}.csv"])
def test_a_pairwise_project_is_refused_in_its_small_exports_too(name, version):
    with pytest.raises(TableError, match="a Label Studio export of a pairwise project: its 4 res"):
        read(f"label_studio/{name.format(version)}")


def test_data_that_repeat_as_several_people_annotate_are_no_results(tmp_path):
    rows = json.loads((FOREIGN / "label_studio/project_min.json").read_text())
    tone = {1: "curt", 2: "polite"}
    many = [
        rows[0] | {"id": task, "annotator": who, "annotation_id": 2 * task + who,
                   "question": f"Question {task}?", "answer": f"Answer {task}.",
                   "ticket_id": f"t-{task}", "tone": tone[1 + (task * who) % 2]}
        for task in range(9) for who in (1, 2)
    ]  # fmt: skip
    (tmp_path / "min.json").write_text(json.dumps(many))
    found = read_foreign(tmp_path / "min.json")
    assert "Taken for results: help, tone; for data of the tasks: ticket_id" in messages(found)
    assert found.items.filter(item="3")["text"].to_list() == ["Question 3?"]


def test_drafts_regions_and_empty_tasks_of_label_studio_are_counted(tmp_path):
    tasks = json.loads((FOREIGN / "label_studio/project.json").read_text())
    tasks[0]["drafts"] = [{"result": []}]
    tasks[1]["annotations"] = []
    tasks[1]["predictions"] = []
    tasks[2]["annotations"][0]["result"] = [
        {"type": "labels", "from_name": "spans", "value": {"start": 0, "labels": ["x"]}},
        {"type": "textarea", "from_name": "why", "value": {"text": ["because"]}},
    ]
    tasks[3]["annotations"][0]["completed_by"] = {"id": 3, "email": "ada@example.org"}
    (tmp_path / "p.json").write_text(json.dumps(tasks))
    found = read_foreign(tmp_path / "p.json")
    said = messages(found)
    for reason in (
        "it is a draft that was not submitted",
        "neither annotations nor predictions",
        "it marks a region (labels)",
        "results of type textarea are no ratings",
    ):
        assert reason in said
    assert "5 rows not used" in found.findings[0].message
    assert "ada@example.org" in found.ratings["rater"].to_list()


# lm-evaluation-harness

LM_EVAL = "lm_eval/samples_{}_2024-05-01T10-00-00.000000.jsonl"


def test_samples_of_the_harness_give_filters_as_raters_and_metrics_as_attributes():
    found = read(LM_EVAL.format("help_desk"))
    assert rows(found, "rater", "score", item="4") == [
        ("lm_eval strict", 1.0),
        ("lm_eval loose", 1.0),
    ]
    assert rows(found, "score", rater="lm_eval strict") == [(0.0,)] * 4 + [(1.0,)]
    assert set(found.ratings["attribute"]) == {"exact_match"}
    assert found.items.row(4) == ("4", "What does a dummy say?")


@pytest.mark.parametrize(
    "name",
    [LM_EVAL.format("help_desk_choice"), "lm_eval/pretrained__desk_help_desk_choice_0.4.2.jsonl"],
)
def test_samples_of_a_task_of_choices_in_two_versions(name):
    """Before 0.4.3 all samples were one list, whose members name neither filter nor metrics."""
    found, raw = read(name), (FOREIGN / name).read_text()
    lines = json.loads(raw) if raw.startswith("[") else list(map(json.loads, raw.splitlines()))
    assert rows(found, "item", "rater", "score", attribute="acc") == [
        (str(line["doc_id"]), "lm_eval", line["acc"]) for line in lines
    ]
    assert set(found.ratings["attribute"]) == {"acc", "acc_norm"}
    assert {0.0, 1.0} == set(found.ratings["score"])
    assert found.items["text"].to_list()[:1] == ["When does the library open?"]
    assert {one.kind for one in found.findings} - {"account"} == {"file_read_as"}


# the frame of it all


def test_no_reader_takes_a_plain_table(tmp_path):
    (tmp_path / "a.csv").write_text("item,rater,score\n1,human,3\n1,judge,4\n")
    (tmp_path / "a.json").write_text('[{"item": 1, "human": 3, "judge": 4}]')
    (tmp_path / "a.jsonl").write_text('{"item": 1, "human": 3, "judge": 4}\n')
    assert all(reader_of(path) is None for path in tmp_path.iterdir())


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "[[1]]", '{"a": 1', "\x00", "x,y\n", "[" * 9999]
)
@pytest.mark.parametrize("name", READERS)
def test_hostile_files_are_errors_of_ours(name, text, tmp_path):
    for suffix in (".json", ".jsonl", ".csv", ".eval"):
        path = tmp_path / f"x{suffix}"
        path.write_text(text)
        said = refusal(path, name)
        assert said is None or path.name in said


def refusal(path, name):
    """What a reader says against a file; None where it reads it."""
    try:
        read_foreign(path, name)
    except TableError as error:
        return str(error)
    return None


MARKS = [
    "promptfoo/results.json",
    "promptfoo/results_rated_0.91.3.json",
    "deepeval/test_run.json",
    "label_studio/project.json",
    "inspect_ai/help_desk.json",
    "label_studio/project_min.json",
]


@pytest.mark.parametrize("name", MARKS)
def test_any_value_may_be_of_another_type(name, tmp_path):
    """Each value of a record in turn becomes null, a number, a text, a list, an object."""
    whole = json.loads((FOREIGN / name).read_text())
    for keep, change in _changed(whole):
        path = tmp_path / Path(name).name
        path.write_text(json.dumps(keep))
        said = refusal(path, name.split("/", maxsplit=1)[0])
        assert said is None or path.name in said, change


def _changed(whole):
    """Copies with one value exchanged, at most two records deep into lists."""

    def places(value, at=()):
        if at:
            yield at
        if isinstance(value, dict):
            for key, one in value.items():
                yield from places(one, (*at, key))
        elif isinstance(value, list) and value:
            yield from places(value[0], (*at, 0))

    for number, place in enumerate(list(places(whole))):
        copy = json.loads(json.dumps(whole))
        inner = copy
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = (None, 7, "x", [], {}, [7], {"x": 7})[number % 7]
        yield copy, place


def test_a_reader_that_breaks_is_named(tmp_path, monkeypatch):
    class Broken:
        name, about = "broken", "for tests"

        def sniff(self, path, head):
            return 0.99 * (path.suffix == ".odd")

        def read(self, path):
            raise KeyError("score")

    found = Plugins()
    monkeypatch.setattr(readers, "plugins", lambda: found)
    monkeypatch.setattr(found, "names", lambda kind: ["broken", "twin"])
    made = {"broken": Broken(), "twin": Broken()}
    monkeypatch.setattr(found, "resolve", lambda kind, name: made[name])
    path = tmp_path / "a.odd"
    path.write_text("x")
    with pytest.raises(TableError, match="the readers twin and broken are equally sure"):
        read_foreign(path)
    made["twin"].sniff = lambda path, head: 0
    with pytest.raises(PluginError, match="reader 'broken' failed: KeyError: 'score'"):
        read_foreign(path)
    made["broken"].read = lambda path: {"ratings": []}
    with pytest.raises(PluginError, match="gave dict, not a Reading"):
        read_foreign(path)
    made["twin"].sniff = lambda path, head: 7
    with pytest.raises(PluginError, match="must be between 0 and 1, got 7"):
        read_foreign(path)
    with pytest.raises(TableError, match="reader 'none' is unknown"):
        reader_of(path, "none")


def test_a_builder_counts_what_is_no_number_and_keeps_the_last_of_two():
    made = ReadingBuilder("notes", "notes.json")
    for score in ("4 stars", "n/a", "superb", 3, float("inf")):
        made.rate("1" if score == 3 else str(score), "ann", "tone", score)
    made.rate("1", "ann", "tone", 5)
    found = made.reading()
    assert found.ratings.schema == RATINGS
    assert rows(found, "item", "score", "status") == [
        ("4 stars", 4.0, "ok"), ("n/a", None, "blank"), ("inf", None, "blank"), ("1", 5.0, "ok"),
    ]  # fmt: skip
    said = messages(found)
    assert "tone is 'superb', which is no number" in said
    assert "1 rating of the same response by the same rater with another score" in said
    assert all(isinstance(one, Finding) for one in found.findings)
    with pytest.raises(TableError, match="is a file of notes without any rating"):
        ReadingBuilder("notes", "notes.json").reading()


# 10,000 rows in two seconds of the processor


def _many(name, tmp_path, times):
    whole = json.loads((FOREIGN / name).read_text())
    lists = {
        "promptfoo/results.json": lambda: whole["results"],
        "deepeval/test_run.json": lambda: whole,
        "inspect_ai/help_desk.json": lambda: whole,
    }
    key = {
        "promptfoo/results.json": "results",
        "deepeval/test_run.json": "testCases",
        "inspect_ai/help_desk.json": "samples",
    }.get(name)
    base = whole if key is None else lists[name]()[key]
    many = []
    for at in range(times):
        one = dict(base[at % len(base)])
        for field in ("id", "testIdx", "name", "order"):
            if field in one:
                one[field] = f"{at}" if field in ("name", "id") else at
        if "vars" in one:  # a test of the same variables is a repetition
            one["vars"] = one["vars"] | {"ticket_id": f"t-{at}"}
        many.append(one)
    if key is None:
        whole = many
    else:
        lists[name]()[key] = many
    path = tmp_path / Path(name).name
    path.write_text(json.dumps(whole))
    return path


@pytest.mark.parametrize(
    "name",
    [
        "promptfoo/results.json",
        "deepeval/test_run.json",
        "inspect_ai/help_desk.json",
        "label_studio/project.json",
        "label_studio/project_min.json",
    ],
)
def test_ten_thousand_records_take_under_two_seconds_of_the_processor(name, tmp_path):
    path = _many(name, tmp_path, 10_000)
    start = time.process_time()
    found = read_foreign(path)
    assert time.process_time() - start < 2 * second()
    assert found.ratings["item"].n_unique() > 7_000


def test_an_archive_of_ten_thousand_samples_too(tmp_path):
    log = json.loads((FOREIGN / "inspect_ai/help_desk.json").read_text())
    sample = log["samples"][0]
    with zipfile.ZipFile(tmp_path / "big.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "header.json", json.dumps({k: v for k, v in log.items() if k != "samples"})
        )
        for at in range(10_000):
            archive.writestr(
                f"samples/{at}_epoch_1.json", json.dumps(sample | {"id": at, "epoch": 1})
            )
    start = time.process_time()
    found = read_foreign(tmp_path / "big.eval")
    assert time.process_time() - start < 2 * second()
    assert found.ratings["item"].n_unique() == 10_000


# labels of people beside a tool's judges


def labels(tmp_path, text, name="labels.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


RUN = FOREIGN / "deepeval/test_run.json"


def test_labels_meet_by_text_whatever_the_case_and_blanks(tmp_path):
    mine = labels(
        tmp_path,
        "question,ada\nWHEN does the  library open?,1\nMay I bring a sandwich?,1\n"
        "Where are the atlases?,0\nIs there a cat?,0\n",
    )
    study, found = read_file(RUN, read=ReadOptions(human=[mine], about="Helpful"))
    assert study.data.reference == ("labels",)
    assert rows(found, "item", "system", "score", rater="labels") == [
        ("t-001", "desk-a", 1.0), ("t-002", "desk-a", 1.0), ("t-003", "desk-a", 0.0),
    ]  # fmt: skip
    said = next(one for one in found.findings if one.kind == "labels_matched")
    assert said.message == (
        "3 of 4 labelled items were found among the items that were rated, by 'question' as their "
        "text. Not found: 'Is there a cat?'."
    )
    assert said.severity == "serious"


def test_labels_meet_by_a_declared_key_and_studies_say_it_too(tmp_path):
    shutil.copy(FOREIGN / "promptfoo/results.json", tmp_path)
    mine = labels(tmp_path, "Ticket,system,score\nt-001,desk-a,1\nt-002,desk-a,0\nt-001,desk-b,1\n")
    study, found = read_file(
        tmp_path / "results.json",
        read=ReadOptions(human=[mine], key="Ticket=ticket_id", about="pass"),
    )
    assert rows(found, "item", "system", "score", rater="labels") == [
        ("0", "desk-a", 1.0), ("1", "desk-a", 0.0), ("0", "desk-b", 1.0),
    ]  # fmt: skip
    again = examine(study, resamples=0)
    assert again.study.data.sources[1].key == "Ticket=ticket_id"
    assert again.ratings.filter(rater="labels").height == 3


def test_ids_in_columns_of_one_name_meet_unless_they_are_mere_numbers(tmp_path):
    path = FOREIGN / "inspect_ai/help_desk.json"
    mine = labels(tmp_path, "ticket_id,ada\nt-001,1\nt-002,0\nt-009,0\n")
    keys = {"about": "score", "only": ("score",)}
    _, found = read_file(path, read=ReadOptions(human=[mine], **keys))
    assert rows(found, "item", "score", rater="labels") == [("q1", 1.0), ("q2", 0.0)]
    assert "2 of 3 labelled items were found" in messages(found)
    judge = labels(tmp_path, "item,judge\n1,0\n2,1\n3,1\n", "judge.csv")
    mine = labels(tmp_path, "item,ada\n1,1\n2,0\n")
    with pytest.raises(QuestionError, match="which columns hold the same ids"):
        read_file(judge, read=ReadOptions(human=[mine]))


def test_what_is_not_said_about_labels_is_a_question(tmp_path):
    ids = labels(tmp_path, "nr,ada\nt-001,1\nt-002,0\n")
    with pytest.raises(QuestionError, match="which columns hold the same ids") as asked:
        read_file(RUN, read=ReadOptions(human=[ids]))
    assert (asked.value.key, asked.value.choices[0]) == ("key", "nr=item")
    with pytest.raises(QuestionError, match="of which attribute do the labels speak") as asked:
        read_file(RUN, read=ReadOptions(human=[ids], key="nr=item"))
    assert asked.value.choices == ("Polite", "Helpful")
    _, found = read_file(RUN, read=ReadOptions(human=[ids], assume=True))
    assert "The labels are taken to speak of 'Polite'." in messages(found)


@pytest.mark.parametrize(
    ("text", "keys", "said"),
    [
        ("nr,ada\nz-1,1\n", {}, "no column holds the text or an id of an item"),
        ("nr,ada\nz-1,1\n", {"key": "nr=item"}, "no value of column 'nr' is found in 'item'"),
        ("nr,ada\nt-001,1\n", {"key": "id"}, "there is no column 'id'"),
        ("nr,ada\nt-001,1\n", {"key": "nr=ticket"}, "there is no column 'ticket'"),
        ("nr,ada\nt-001,1\n", {"key": "nr=item", "score": "stars"}, "no column 'stars'"),
        ("nr,system,ada\nt-001,b,1\n", {"key": "nr=item"}, "labels speak of the systems 'b'"),
    ],
)
def test_labels_that_cannot_be_joined_say_why(text, keys, said, tmp_path):
    mine = labels(tmp_path, text)
    with pytest.raises(TableError, match=said):
        read_file(RUN, read=ReadOptions(human=[mine], **keys))


def test_labels_of_several_systems_must_say_which(tmp_path):
    mine = labels(tmp_path, "ticket_id,ada\nt-001,1\n")
    with pytest.raises(TableError, match=r"2 systems were rated .*do not say of which"):
        read_file(
            FOREIGN / "promptfoo/results.json", read=ReadOptions(human=[mine], key="ticket_id")
        )


def test_labels_from_another_tool_meet_by_text_or_key():
    study, found = read_file(
        FOREIGN / "inspect_ai/help_desk.json",
        read=ReadOptions(
            human=[FOREIGN / "label_studio/project_min.json"],
            key="ticket_id",
            only=("score", "help"),
            about="score",
            assume=True,
        ),
    )
    assert set(study.data.reference) == {"annotator 1", "annotator 2"}
    assert rows(found, "item", rater="annotator 1", attribute="score")[0] == ("q1",)


def test_unlike_scales_are_a_question_that_only_answers():
    path = FOREIGN / "label_studio/project.json"
    with pytest.raises(QuestionError, match="help 1 to 5, tone: polite 0 to 1") as asked:
        read_file(path)
    assert (asked.value.key, asked.value.choices) == ("only", ("help", "tone: polite"))
    study, found = read_file(path, read=ReadOptions(only=("help",)))
    assert study.rubric.scale == (1, 5)
    assert "Only 'help' is read, as was asked for." in messages(found)
    with pytest.raises(TableError, match="attribute 'helpp' is unknown"):
        read_file(path, read=ReadOptions(only=("helpp",)))


def test_key_without_human_is_refused(tmp_path):
    with pytest.raises(
        ValueError, match=r"`key` of ReadOptions joins labels .*read=ReadOptions\(human="
    ):
        audit_source(RUN, read=ReadOptions(key="id"))
    with pytest.raises(ValueError, match="`human` of ReadOptions joins labels to files of ratings"):
        audit_source("mentalalign", read=ReadOptions(human=[RUN]))
