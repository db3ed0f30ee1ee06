"""CBT-Bench from its files over simulated models to the report, all three levels."""

from __future__ import annotations

import io
import json
import re
import shutil

import humans_work
import numpy as np
import polars as pl
import pytest
from rich.console import Console
from typer.testing import CliRunner
from wire_server import WireServer

from voirdire import InputError, TableError
from voirdire.examining import examine
from voirdire.examining.preferences import examine_preferences, preference_table
from voirdire.humans import export, import_answers
from voirdire.report import print_examination, write_outputs
from voirdire.running import run
from voirdire.schema import Comparison, Item, Reply, Response
from voirdire_plugins.cbt_bench import comparison, responses
from voirdire_plugins.cbt_bench.annotators import make_cd, make_fc, make_pc, make_qa
from voirdire_plugins.cbt_bench.comparison_review import against_reference, groups_of, overall_table
from voirdire_plugins.cbt_bench.criteria import ATTRIBUTES, CRITERIA, DIFFICULTIES
from voirdire_plugins.cbt_bench.exercises import exercise_counts, read_exercises
from voirdire_plugins.cbt_bench.labels import TASKS
from voirdire_plugins.cbt_bench.prepare import (
    write_exercise_study,
    write_label_study,
    write_question_study,
)
from voirdire_plugins.cbt_bench.questions import QuestionColumns, read_questions

LEVELS = {2: "A>>B", 1: "A>B", 0: "A=B", -1: "B>A", -2: "B>>A"}
QUICK = {"run": {"reask": 0, "retries": 0}}


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-invented")


def run_at(server, study, out):
    """Run a study whose models are at the test server."""
    text = study.read_text("utf-8")
    served = f'\nmodel_options = {{base_url = "{server.openai}"}}'
    study.write_text(re.sub(r'model = "compatible:\w+"', lambda m: m[0] + served, text), "utf-8")
    assert run(study, out, quiet=True).complete
    return out


def terminal(examination, width=80):
    """What is printed of an examination, on one line."""
    stream = io.StringIO()
    print_examination(examination, console=Console(file=stream, width=width, highlight=False))
    return " ".join(stream.getvalue().split())


# Level II


RECALL = {"helpless": 0.9, "unlovable": 0.7, "worthless": 0.5}
ALARM = {"helpless": 0.3, "unlovable": 0.2, "worthless": 0.1}
SHARE = {"helpless": 0.6, "unlovable": 0.5, "worthless": 0.4}


def belief_folder(tmp_path, n=300, seed=11):
    """Invented patients with labels drawn at declared shares."""
    rng = np.random.default_rng(seed)
    records = []
    for i in range(n):
        labels = [label for label, share in SHARE.items() if rng.random() < share]
        texts = {"situation": f"Day {i} at work.", "thoughts": f"Thought number {i:03d} of mine."}
        records.append({"id": f"p{i}", **texts, "core_belief_major": labels or ["helpless"]})
    seeds = [
        {"id": f"s{i}", "situation": f"Evening {i}.", "thoughts": f"Seed thought {i}.",
         "core_belief_major": [label]}
        for i, label in enumerate(SHARE)
    ]  # fmt: skip
    (tmp_path / "core_major_test.json").write_text(json.dumps(records))
    (tmp_path / "core_major_seed.json").write_text(json.dumps(seeds))
    return {record["thoughts"]: record["core_belief_major"] for record in records}


def test_a_model_of_declared_recall_and_precision_through_the_whole_path(tmp_path):
    truth = belief_folder(tmp_path)
    rng = np.random.default_rng(5)
    says = {
        text: [a for a, x in zip("abc", SHARE, strict=True) if rng.random() < chances(labels)[x]]
        for text, labels in truth.items()
    }

    def answer(seen):
        asked = re.findall(r"Thoughts: (Thought number \d+ of mine\.)", seen.prompt)[-1]
        return ", ".join(says[asked]) or "Nothing here points to one of them."

    study = write_label_study(
        tmp_path / "study", "pc", tmp_path, ["compatible:sim"], k=2, more=QUICK
    )
    with WireServer(answer) as server:
        session = run_at(server, study, tmp_path / "session")
        prompts = [seen.prompt for seen in server.requests]
    assert all("Seed thought 0." in p and "Seed thought 1." in p for p in prompts)
    found = examine("cbt_bench", data=session)
    shown = terminal(found)
    assert "kappa_F1" in shown
    assert "Best constant predictor" in shown
    assert "for every item, without reading one, scores" in shown
    weighted, _, full, errors = found.sections[:4]
    row = dict(zip(weighted.columns, weighted.rows[0], strict=True))
    assert row["n"] + row["Missing"] == 300
    assert row["Missing"] > 0  # prose without a letter is no answer
    for cells in full.rows:
        values = dict(
            zip(("rater", "label", "true", "named", "p", "p_ci", "r", "r_ci"), cells, strict=False)
        )
        low, high = map(float, re.findall(r"[\d.]+", values["r_ci"]))
        answered = recall_among_answered(truth.values(), values["label"])
        assert low < answered < high
        low, high = map(float, re.findall(r"[\d.]+", values["p_ci"]))
        assert low < precision_declared(truth.values(), values["label"]) < high
    assert [row[0] for row in weighted.rows] == ["sim", "Best constant predictor", "Chance"]
    assert len(errors.rows) > 50
    assert any(note.startswith("CBT-PC: Naming helpless") for note in found.notes)
    closed = write_outputs(found, tmp_path / "closed", figures=False)
    assert all(
        b"Thought number" not in path.read_bytes() for path in closed if path.suffix != ".parquet"
    )
    write_outputs(found, tmp_path / "open", ["html"], figures=False, with_text=True)
    page = (tmp_path / "open" / "report.html").read_text("utf-8")
    assert "expected: " in page
    assert "Thought number" in page
    assert "Situation: Day" in page


def chances(labels):
    return {x: RECALL[x] if x in labels else ALARM[x] for x in SHARE}


def recall_among_answered(rows, label):
    """Declared recall where something was named: r / P(anything named), over the true items."""
    given = [chances(labels) for labels in rows if label in labels]
    some = sum(1 - np.prod([1 - c for c in chance.values()]) for chance in given)
    return sum(chance[label] for chance in given) / some


def precision_declared(rows, label):
    """Expected hits over expected namings."""
    rows = list(rows)
    hits = sum(chances(labels)[label] for labels in rows if label in labels)
    return hits / sum(chances(labels)[label] for labels in rows)


# Level I


def question_file(tmp_path, n=40):
    rows = [
        {"question": f"Question {i}?", "choices": ["one", "two", "three", "four"][: 3 + i % 2],
         "answer": "ABC"[i % 3], "kind": ("basic", "case")[i % 2]}
        for i in range(n)
    ]  # fmt: skip
    rows.append({"question": "Which hold (select all that apply)?", "choices": ["x", "y", "z"],
                 "answer": ["A", "C"], "kind": "case"})  # fmt: skip
    path = tmp_path / "exam.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_questions_through_the_whole_path(tmp_path):
    path = question_file(tmp_path)

    def answer(seen):
        if "select all" in seen.prompt:
            assert "more than one right choice" in seen.prompt
            return "a, c"
        assert "Each question has only one right choice." in seen.prompt
        number = int(re.search(r"Question (\d+)\?", seen.prompt)[1])
        if number == 3:
            return "I would have to think about that one."
        if number == 4:
            return "a, b"
        return "abc"[number % 3] if number % 5 else "Answer: d"

    columns = QuestionColumns(type="kind")
    study = write_question_study(
        tmp_path / "study", path, ["compatible:sim"], columns=columns, more=QUICK
    )
    with WireServer(answer) as server:
        session = run_at(server, study, tmp_path / "session")
    found = examine("cbt_bench", data=session)
    assert "(Wilson)" in terminal(found)
    assert "Questions: accuracy" in terminal(found).partition("ICC(C,1)")[0]
    accuracy, errors = found.sections[:2]
    whole, basic, case = accuracy.rows
    # 41 questions: 3 gave prose and 4 two letters; of the other 39 every fifth of 40 is wrong.
    assert whole[:4] == ("sim", "all", 39, 2)
    assert whole[4] == pytest.approx(31 / 39)
    assert whole[6] == pytest.approx(31 / 41)
    assert basic[1:4] == ("basic", 19, 1)
    assert case[1:4] == ("case", 20, 1)
    assert len(errors.rows) == 10
    assert accuracy.figure.labels == ("all", "basic", "case")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"question": "Why?", "choices": ["a"], "answer": "A"},
            "line 2: a text and 2 to 26 options",
        ),
        (
            {"question": "Why?", "choices": ["a", "b"], "answer": "C"},
            "line 2: answer 'C' is none of the options",
        ),
        (
            {"question": "Why?", "choices": "a, b", "answer": "A"},
            r"line 2: a text and 2 to 26 options are needed, got 'Why\?', \['a, b'\]",
        ),
        (
            {"question": "Why?", "choices": [["a", "b"], ["c"]], "answer": "A"},
            "line 2: a text and 2 to 26 options",
        ),
        (
            {"question": "Why?", "choices": ["a", "", "c"], "answer": "A"},
            "line 2: a text and 2 to 26 options",
        ),
        (
            {"question": "Why?", "choices": ["a", "b"], "answer": 1},
            "line 2: answer .*1.* is none of the options .* say what number the first one has",
        ),
        (
            {"question": "Which group?", "choices": ["B", "A", "AB"], "answer": "A"},
            "line 2: answer 'A' may be A or B, by the text of one option",
        ),
        (
            {"question": "", "choices": ["a", "b"], "answer": "A"},
            "line 2: a text and 2 to 26 options",
        ),
        (
            {"question": "Why?", "choices": ["a", "b"], "answer": None},
            "line 2: answer None is none",
        ),
    ],
)
def test_a_bad_question_is_named_by_its_row(tmp_path, row, message):
    path = tmp_path / "exam.jsonl"
    good = {"question": "How?", "choices": ["a", "b"], "answer": "B"}
    path.write_text(json.dumps(good) + "\n" + json.dumps(row))
    with pytest.raises(TableError, match=f"exam.jsonl, {message}"):
        read_questions(path)


def test_any_file_of_questions_maps_in(tmp_path):
    pl.DataFrame(
        {"nr": ["q1", "q2"], "stem": ["Why?", "How?"], "A": ["x", "u"], "B": ["y", "v"],
         "C": ["z", None], "key": ["A, c", "v"]}
    ).write_csv(tmp_path / "exam.csv")  # fmt: skip
    columns = QuestionColumns("stem", ["A", "B", "C"], "key", id="nr")
    first, second = read_questions(tmp_path / "exam.csv", columns)
    assert (first.id, first.choices, first.answer, first.several) == (
        "q1", ("x", "y", "z"), ("A", "C"), True
    )  # fmt: skip
    assert (second.choices, second.answer, second.several) == (("u", "v"), ("B",), False)
    rows = [{"question": "Why?", "choices": {"A": "x", "B": "y"}, "answer": ["B"]}]
    (tmp_path / "exam.json").write_text(json.dumps(rows))
    assert read_questions(tmp_path / "exam.json")[0].answer == ("B",)
    rows = [{"question": "Why?", "choices": ["tea, hot", "rain", "song"], "answer": answer}
            for answer in (["rain"], ["song", "tea, hot"], "tea, hot", " rain ", "(b), C")]  # fmt: skip
    (tmp_path / "exam.jsonl").write_text("\n".join(map(json.dumps, rows)))
    answers = [question.answer for question in read_questions(tmp_path / "exam.jsonl")]
    assert answers == [("B",), ("A", "C"), ("A",), ("B",), ("B", "C")]
    with pytest.raises(TableError, match="no column 'question'"):
        read_questions(tmp_path / "exam.csv")


@pytest.mark.parametrize(
    ("choices", "answer", "right"),
    [
        ({"text": ["Oak", "Apple"], "label": ["1", "2"]}, "2", "B"),  # as ARC
        ([{"label": "A", "text": "Oak"}, {"label": "B", "text": "Apple"}], "B", "B"),
        ({"B": "Apple", "A": "Oak", "C": None}, "B", "B"),  # as MedQA, an option less
        ({str(n): f"Tree {n}" for n in range(1, 12)}, 10, "J"),  # not 1, 10, 11, 2
        (["Oak", "Apple", "Pear"], "AC", "AC"),
        (["Oak", "Apple", "Pear"], "oak; PEAR", "AC"),
        (["Oak", "Apple", "Pear"], "b and c", "BC"),
        (["True", "False"], False, "B"),
        ([2.0, 3.0], 3.0, "B"),
    ],
)
def test_options_and_answers_of_other_files(tmp_path, choices, answer, right):
    path = tmp_path / "exam.json"
    path.write_text(json.dumps([{"question": "Which?", "choices": choices, "answer": answer}]))
    assert "".join(read_questions(path)[0].answer) == right


def test_answers_may_count_the_options(tmp_path):
    path = tmp_path / "exam.json"
    rows = [{"question": "Which?", "choices": ["x", "y", "1"], "answer": n} for n in range(3)]
    path.write_text(json.dumps(rows))
    found = read_questions(path, QuestionColumns(first=0))
    assert [question.answer for question in found] == [("A",), ("B",), ("C",)]
    with pytest.raises(TableError, match=r"record 1: answer '?0'? is none of the options"):
        read_questions(path, QuestionColumns(first=1))


# Level III


def exercise_file(tmp_path, n=60, **changes):
    rows = [
        {"id": f"e{i}", "category": list(CRITERIA)[i % 10], "difficulty": DIFFICULTIES[i % 3],
         "statement": f"[Calm] Statement {i:03d}.", "reference": f"Reference words {'and more ' * 8}"}
        for i in range(n)
    ]  # fmt: skip
    rows[1].update(changes)
    path = tmp_path / "practice.csv"
    pl.DataFrame(rows).write_csv(path)
    return path


FOLLOWS = 0.3
MEANS = {"weak": (0.3, 0.2, 0.2, 0.2, 0.1), "strong": (0.1, 0.1, 0.2, 0.3, 0.3)}


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """A session with a judge that in some pairs prefers what is shown first, and means the others.

    The folder, what the judge has in mind of each exercise and system, and what it was shown.
    """
    folder = tmp_path_factory.mktemp("compared")
    models = ["compatible:weak", "compatible:strong"]
    study = write_exercise_study(
        folder / "study", exercise_file(folder, n=120), models, ["compatible:judge"], more=QUICK
    )
    rng = np.random.default_rng(8)
    minds = {
        (f"{i:03d}", system): (
            rng.random() < FOLLOWS,
            int(rng.choice([-2, -1, 0, 1, 2], p=chances)),
        )
        for i in range(120)
        for system, chances in MEANS.items()
    }

    def answer(seen):
        if "<<<A " not in seen.prompt:
            return f"An answer of {seen.body['model']}."
        system = re.search(r"An answer of (\w+)\.", seen.prompt)[1]
        first, level = minds[re.search(r"Statement (\d+)", seen.prompt)[1], system]
        shown_first = seen.prompt.index("An answer of") < seen.prompt.index("Reference words")
        score = 1 if first else level if shown_first else -level
        return json.dumps(dict.fromkeys(ATTRIBUTES, LEVELS[score]))

    with pytest.MonkeyPatch.context() as patch, WireServer(answer) as server:
        patch.setenv("OPENAI_API_KEY", "sk-invented")
        run_at(server, study, folder / "session")
        asked = [seen.prompt for seen in server.requests if "<<<A " in seen.prompt]
    return folder, minds, asked


def numbers(text):
    return list(map(float, re.findall(r"-?[\d.]+", text)))


def section(examination, title):
    return next(found for found in examination.sections if found.title == title)


def test_the_judge_sees_both_orders_and_no_source(compared):
    _, _, asked = compared
    assert len(asked) == 480  # two systems, both orders
    assert not any("reference" in prompt for prompt in asked)


def test_a_planted_position_effect_through_the_whole_path(compared):
    folder, minds, _ = compared
    found = examine("cbt_bench", data=folder / "session")
    for row in section(found, "Position bias").rows:
        low, high = numbers(row[3])
        assert low < FOLLOWS < high
        assert row[4:] == ("both orders", 240, sum(first for first, _ in minds.values()), 0)
    means = section(found, "Mean preference")
    rows = [dict(zip(means.columns, row, strict=True)) for row in means.rows]
    for system, chances in MEANS.items():
        row = next(
            r
            for r in rows
            if r["Systems"] == f"{system} vs reference" and r["Criterion"] == "Overall"
        )
        low, high = numbers(row["Interval (t)"])
        assert low < float(np.dot(chances, [-2, -1, 0, 1, 2])) < high
        assert row["n"] + row["Inconsistent"] == 120
    assert [f.kind for f in found.findings] == ["inconsistent_orders"]


def test_tables_of_level_three(compared):
    found = examine("cbt_bench", data=compared[0] / "session")
    table = section(found, "Overall preference by exercise (Table 6)")
    assert [row[1] for row in table.rows] == ["weak", "strong"]
    assert len(table.columns) == 13
    assert table.rows[0][-1] == pytest.approx(np.mean(table.rows[0][2:-1]))
    assert len(section(found, "Mean preference by exercise").rows) == 2 * 10 * 5
    wins = section(found, "Win, tie, loss by difficulty")
    assert [row[0] for row in wins.rows[::2]] == list(DIFFICULTIES)
    assert wins.figure.labels[0] == f"{DIFFICULTIES[0]}: {wins.rows[0][2].split(' vs ')[0]}"
    figure = section(found, "Mean preference by difficulty").figure
    assert figure.labels == tuple(DIFFICULTIES)
    assert {name for name, _ in figure.series} == {"weak", "strong"}
    ranked = [row[3] for row in section(found, "Ranking of systems (Bradley-Terry)").rows]
    assert ranked.index("strong") < ranked.index("weak")
    lengths = section(found, "Length of responses against the reference")
    assert lengths.rows[0][:3] == ("weak", 120, pytest.approx(4 / 18))


def test_the_reference_stands_second_whichever_way_pairs_are_named():
    names = ["item", "system_a", "system_b", "shown_first", "rater", "attribute", "score"]
    rows = [("1", "reference", "m", "m", "ann", "Overall", -2.0)]
    found = examine_preferences(
        against_reference(preference_table(pl.DataFrame(rows, schema=names, orient="row"))),
        pl.DataFrame({"item": ["1"], "exercise": ["Establishing Goals"]}),
    )
    assert overall_table(found).rows == (("ann", "m", 2.0, 2.0),)


def test_difficulties_stand_in_their_order_whatever_comes_first():
    items = [
        Item(str(n), "", {"category": name, "difficulty": level})
        for n, (name, level) in enumerate(
            [("Working With Emotions", "intermediate"), ("Establishing Goals", "advanced"),
             ("Establishing Goals", "beginner"), ("Of one's own", "beginner")]
        )
    ]  # fmt: skip
    names = ["item", "system_a", "system_b", "rater", "attribute", "score"]
    rows = [(str(n), "m", "reference", "ann", "Overall", 1) for n in range(4)]
    found = examine_preferences(pl.DataFrame(rows, schema=names, orient="row"), groups_of(items))
    parts = {name: [cell.part for cell in cells] for name, cells in found.parts.items()}
    assert parts["difficulty"] == ["beginner", "intermediate", "advanced"]
    assert parts["exercise"] == ["Establishing Goals", "Working With Emotions", "Of one's own"]


def test_texts_of_comparisons_stand_only_where_they_are_asked(compared, tmp_path):
    found = examine("cbt_bench", data=compared[0] / "session")
    closed = write_outputs(found, tmp_path / "closed", figures=False)
    assert not any(b"Reference words" in path.read_bytes() for path in closed)
    write_outputs(found, tmp_path / "open", ["html"], figures=False, with_text=True)
    page = (tmp_path / "open" / "report.html").read_text("utf-8")
    assert "Where a system loses most clearly" in page
    assert "An answer of weak." in page
    assert "Reference words" in page


def test_experts_join_the_judges_of_a_session(compared):
    """Their file is a source of the study; without the benchmark it is examined all the same."""
    folder, minds, _ = compared
    experts = [
        (f"e{i}", system, "reference", system, "expert", "Overall", minds[f"{i:03d}", system][1])
        for i in range(120)
        for system in MEANS
    ]
    names = ["item", "system_a", "system_b", "shown_first", "rater", "attribute", "score"]
    pl.DataFrame(experts, schema=names, orient="row").write_csv(folder / "study" / "experts.csv")
    session = folder / "joined"
    shutil.copytree(folder / "session", session)
    study = session / "study.toml"
    study.write_text(f'{study.read_text("utf-8")}\n[data]\nsources = [{{path = "experts.csv"}}]\n')
    for found in (examine("cbt_bench", data=session), examine(session)):
        agreement = section(found, "Agreement of raters on preferences")
        row = next(row for row in agreement.rows if row[1] == "Overall")
        assert {*row[0].split(", ")} == {"expert", "judge"}
        assert row[3] == 1.0  # where the judge is consistent it says what it means
        assert {f.kind for f in found.findings} == {"inconsistent_orders", "one_order"}


def test_experts_on_sheets_are_held_against_the_judges_of_a_session(compared, tmp_path):
    """Their criteria are the category's, under the judges' names; each pair once, blind."""
    folder, minds, _ = compared
    study = write_exercise_study(
        tmp_path / "study", folder / "practice.csv", ["compatible:weak", "compatible:strong"],
        ["compatible:judge"], experts=["ann", "ben"],
    )  # fmt: skip
    session = tmp_path / "session"
    shutil.copytree(folder / "session", session)
    shutil.copy(study, session / "study.toml")
    work = tmp_path / "work"
    done = export(session, work, formats=["csv"])
    assert {rater: len(ids) for rater, ids in done.plan.raters.items()} == {"ann": 240, "ben": 240}
    files = [filled_sheet(path, minds) for path in done.sheets]
    answers = import_answers(work, files, tmp_path / "answers")
    assert answers.tables["preferences"]["attribute"].unique().sort().to_list() == list(ATTRIBUTES)
    both = tmp_path / "both.toml"
    paths = (session / "preferences.parquet", tmp_path / "answers" / "preferences.parquet")
    sources = "".join(f'[[data.sources]]\npath = "{path}"\n' for path in paths)
    both.write_text(f'name = "both"\n{sources}[analysis]\nresamples = 50\n')
    found = examine(both)
    agreed = {row[0]: row for row in section(found, "Agreement of raters on preferences").rows
              if row[1] == "Overall"}  # fmt: skip
    assert set(agreed) == {"judge, ann", "judge, ben", "ann, ben"}
    assert [row[3] for row in agreed.values()] == [1.0] * 3
    assert {row[0] for row in section(found, "Position bias").rows} == {"judge", "ann", "ben"}
    levels = section(found, "Win, tie, loss by difficulty")
    assert {row[0] for row in levels.rows} == set(DIFFICULTIES)
    assert {row[1] for row in levels.rows} == {"judge", "ann", "ben"}
    assert {row[0] for row in section(found, "Ranking of systems (Bradley-Terry)").rows} == {
        "judge", "ann", "ben"
    }  # fmt: skip


def filled_sheet(path, minds):
    """A sheet on which an expert prefers what the minds say, by what is read alone."""
    header, *rows = humans_work.read_csv(path)
    for row in rows:
        cells = dict(zip(header, row, strict=True))
        a, b = cells["Response A"], cells["Response B"]
        system = re.search(r"An answer of (\w+)\.", f"{a} {b}")[1]
        level = minds[re.search(r"Statement (\d+)", cells["Client statement"])[1], system][1]
        said = humans_work.LEVELS[level if system in a else -level]
        for name in ("Criteria 1", "Criteria 2", "Criteria 3", "Criteria 4", "Overall"):
            row[humans_work.columns_of(header, name)[-1]] = said
    return humans_work.write_csv(path.with_name(f"filled-{path.name}"), [header, *rows])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"category": "Cooking"}, "line 3: category 'Cooking' has no criteria"),
        (
            {"difficulty": "hard"},
            "line 3: difficulty 'hard' is none of beginner, intermediate, advanced",
        ),
        ({"reference": " "}, "line 3: reference is empty"),
        ({"id": "e0"}, "line 3: exercise 'e0' stands twice"),
    ],
)
def test_a_bad_exercise_is_named_by_its_row(tmp_path, changes, message):
    with pytest.raises(TableError, match=f"practice.csv, {message}"):
        read_exercises(exercise_file(tmp_path, **changes))


def test_an_exercise_may_be_number_0(tmp_path):
    row = {"id": 0, "category": "establishing goals", "difficulty": "Beginner",
           "statement": "[Calm] Hello.", "reference": "Hello to you."}  # fmt: skip
    (tmp_path / "practice.json").write_text(json.dumps([row]))
    assert read_exercises(tmp_path / "practice.json")[0].id == "0"


def test_exercises_are_counted_and_columns_may_have_other_names(tmp_path):
    path = exercise_file(tmp_path, n=30)
    counts = exercise_counts(read_exercises(path))
    assert [row[1:] for row in counts] == [(3, 1, 1, 1)] * 10
    frame = pl.read_csv(path).rename({"statement": "client"})
    frame.write_csv(tmp_path / "other.csv")
    assert len(read_exercises(tmp_path / "other.csv", columns={"statement": "client"})) == 30
    with pytest.raises(TableError, match="no column 'statement'"):
        read_exercises(tmp_path / "other.csv")


def test_a_response_is_as_long_as_the_reference():
    item = Item("1", "[Calm] I slept.", {"reference": "That is good to hear."})
    (request,) = responses.make().requests(item)
    assert 'in around "5" words' in request.messages[0].content
    assert request.messages[1].content == "[Calm] I slept."
    assert request.temperature == 0.7
    assert "That is good" not in str(request)
    assert responses.make().parse([Reply(" Tell me more. ")], "1").text == "Tell me more."
    with pytest.raises(InputError, match="exercise '2' has no 'reference'"):
        responses.make().requests(Item("2", "Hm."))


def test_a_judge_sees_the_criteria_of_the_category():
    judge = comparison.make()
    for category, texts in CRITERIA.items():
        item = Item("1", "[Calm] Hello.", {"category": category})
        task = Comparison(item, Response("1", "m", "One."), Response("1", "reference", "Two."))
        (request,) = judge.requests(task)
        assert all(text in request.messages[0].content for text in texts)
        assert "reference" not in str(request)
    parsed = judge.parse(
        [Reply(json.dumps(dict.fromkeys(ATTRIBUTES, "B is slightly better than A")))]
    )
    assert parsed.scores == dict.fromkeys(ATTRIBUTES, -1.0)
    with pytest.raises(InputError, match="category None of exercise '9' has no criteria"):
        judge.requests(Comparison(Item("9"), Response("9", "m", "1"), Response("9", "r", "2")))
    with pytest.raises(InputError, match="category 'x' needs four criteria"):
        comparison.make(criteria={"x": ("one",)})


# Prompts and commands


@pytest.mark.parametrize(
    ("make", "key", "line"),
    [
        (
            make_cd,
            "cd",
            "Question: what distortions this patient has?\nChoices:\na: all-or-nothing",
        ),
        (make_pc, "pc", "Question: what core beliefs this patient has?\na: helpless\nb: unlovable"),
        (make_fc, "fc", "s: I don't deserve to live\nAnswer:"),
    ],
)
def test_prompts_of_level_two(make, key, line):
    annotator = make()
    (request,) = annotator.requests(Item("1", "I am late.", {"situation": "At home."}))
    text = request.messages[0].content
    assert line in text
    assert "Situation: At home.\nThoughts: I am late.\n" in text
    assert request.temperature == 0.0
    assert tuple(annotator.parse([Reply("a")]).scores) == TASKS[key].labels


def test_the_prompt_of_level_one():
    (request,) = make_qa().requests(Item("1", "Which?", {"choices": ["x", "y"]}))
    assert request.messages[0].content == (
        "You are taking a CBT exam and doing multiple-choice questions. Each question has only one "
        "right choice.\nWhich?\na: x\nb: y\nAnswer:\n"
        "Please only output the letter corresponding to the choice."
    )


def test_a_study_that_was_edited_is_not_written_over(tmp_path):
    belief_folder(tmp_path, 3)
    study = write_label_study(tmp_path / "pc", "pc", tmp_path, ["simulated:a"])
    assert write_label_study(tmp_path / "pc", "pc", tmp_path, ["simulated:a"]) == study
    study.write_text(study.read_text("utf-8") + "# mine\n", "utf-8")
    with pytest.raises(InputError, match=r"study.toml: another study lies there"):
        write_label_study(tmp_path / "pc", "pc", tmp_path, ["simulated:a"])
    assert study.read_text("utf-8").endswith("# mine\n")


def test_commands_write_studies(tmp_path):
    from voirdire.cli._app import build_app

    belief_folder(tmp_path, n=5)
    question_file(tmp_path, n=3)
    exercise_file(tmp_path, n=10)
    app, model = build_app(), ["--model", "simulated:one"]
    for given in (
        ["labels", "pc", "--data", str(tmp_path), *model],
        ["questions", str(tmp_path / "exam.jsonl"), *model],
        ["exercises", str(tmp_path / "practice.csv"), *model, "--judge", "simulated:two"],
    ):
        out = tmp_path / given[0]
        result = CliRunner().invoke(app, ["cbt-bench", *given, "--out", str(out)])
        assert result.exit_code == 0, result.output
        assert "voirdire run" in result.output
        assert (out / "study.toml").is_file()
    with pytest.raises(InputError, match="two are called 'x'"):
        write_label_study(tmp_path / "twice", "pc", tmp_path, ["a:x", "b:x"])
    with pytest.raises(InputError, match="there is no task 'zz'"):
        write_label_study(tmp_path / "zz", "zz", tmp_path, ["a:x"])
