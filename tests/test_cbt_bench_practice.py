"""CBT-Bench, level III: exercises, comparisons and experts through the whole path."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from itertools import product

import humans_work
import numpy as np
import polars as pl
import pytest
from cbt_bench_work import (
    LEVELS,
    QUICK,
    exercise_file,
    run_at,
)
from wire_server import WireServer

from voirdire import InputError, TableError
from voirdire.examining import examine
from voirdire.examining.preferences import (
    examine_preferences,
    part_section,
    parts_of,
    preference_table,
)
from voirdire.examining.preferences.against import against_reference
from voirdire.humans import export, import_answers
from voirdire.report import write_outputs
from voirdire.schema import Comparison, Item, Reply, Response
from voirdire.tables import read_records
from voirdire.tabular import bounds
from voirdire_plugins.cbt_bench import comparison
from voirdire_plugins.cbt_bench.annotators import make_dp
from voirdire_plugins.cbt_bench.comparison import ATTRIBUTES, CRITERIA, DIFFICULTIES
from voirdire_plugins.cbt_bench.prepare import COLUMNS, write_exercise_study

pytestmark = pytest.mark.usefixtures("invented_key")


def read_exercises(path, **names):
    allowed = {"category": list(CRITERIA), "difficulty": DIFFICULTIES}
    return read_records(path, COLUMNS, allowed, what="exercise", names=names)


PARTS = {"exercise": ("category", CRITERIA), "difficulty": ("difficulty", DIFFICULTIES)}
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


def section(examination, title):
    return next(found for found in examination.sections if found.title == title)


def test_the_judge_sees_both_orders_and_no_source(compared):
    _, _, asked = compared
    assert len(asked) == 480  # two systems, both orders
    assert not any("reference" in prompt for prompt in asked)


def test_a_planted_position_effect_through_the_whole_path(compared):
    folder, minds, _ = compared
    found = examine("cbt_bench", data=folder / "session")
    for row in section(found, "Position bias").table.rows:
        low, high = bounds(row[3])
        assert low < FOLLOWS < high
        assert row[4:] == ("both orders", 240, sum(first for first, _ in minds.values()), 0)
    means = section(found, "Mean preference")
    rows = means.table.records()
    for system, chances in MEANS.items():
        row = next(
            r
            for r in rows
            if r["Systems"] == f"{system} vs reference" and r["Criterion"] == "Overall"
        )
        low, high = bounds(row["Interval (t)"])
        assert low < float(np.dot(chances, [-2, -1, 0, 1, 2])) < high
        assert row["n"] + row["Inconsistent"] == 120
    kinds = [f.kind for f in found.findings if f.kind != "json_schema"]
    assert kinds == ["inconsistent_orders"]


def test_tables_of_level_three(compared):
    found = examine("cbt_bench", data=compared[0] / "session")
    table = section(found, "Overall preference by exercise")
    assert [row[1] for row in table.table.rows] == ["weak", "strong"]
    assert len(table.table.columns) == 13
    assert table.table.rows[0][-1] == pytest.approx(np.mean(table.table.rows[0][2:-1]))
    assert len(section(found, "Mean preference by exercise").table.rows) == 2 * 10 * 5
    wins = section(found, "Win, tie, loss by difficulty")
    assert [row[0] for row in wins.table.rows[::2]] == list(DIFFICULTIES)
    assert (
        wins.figures[0].labels[0] == f"{DIFFICULTIES[0]}: {wins.table.rows[0][2].split(' vs ')[0]}"
    )
    figure = section(found, "Mean preference by difficulty").figures[0]
    assert figure.labels == tuple(DIFFICULTIES)
    assert {name for name, _ in figure.series} == {"weak", "strong"}
    ranked = [row[3] for row in section(found, "Ranking of systems (Bradley-Terry)").table.rows]
    assert ranked.index("strong") < ranked.index("weak")
    lengths = section(found, "Length of responses against the reference")
    assert lengths.table.rows[0][:3] == ("weak", 120, pytest.approx(4 / 18))


def test_the_reference_stands_second_whichever_way_pairs_are_named():
    names = ["item", "system_a", "system_b", "shown_first", "rater", "attribute", "score"]
    rows = [("1", "reference", "m", "m", "ann", "Overall", -2.0)]
    found = examine_preferences(
        against_reference(
            preference_table(pl.DataFrame(rows, schema=names, orient="row")), "reference"
        ),
        pl.DataFrame({"item": ["1"], "exercise": ["Establishing Goals"]}),
    )
    assert part_section(found, "exercise", "reference").table.rows == (("ann", "m", 2.0, 2.0),)


def test_difficulties_stand_in_their_order_whatever_comes_first():
    items = [
        Item(str(n), "", {"category": name, "difficulty": level})
        for n, (name, level) in enumerate(
            [
                ("Working With Emotions", "intermediate"),
                ("Establishing Goals", "advanced"),
                ("Establishing Goals", "beginner"),
                ("Of one's own", "beginner"),
            ]
        )
    ]
    names = ["item", "system_a", "system_b", "rater", "attribute", "score"]
    rows = [(str(n), "m", "reference", "ann", "Overall", 1) for n in range(4)]
    found = examine_preferences(
        pl.DataFrame(rows, schema=names, orient="row"), parts_of(items, PARTS)
    )
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
        row = next(row for row in agreement.table.rows if row[1] == "Overall")
        assert {*row[0].split(", ")} == {"expert", "judge"}
        assert row[3] == 1.0  # where the judge is consistent it says what it means
        kinds = {f.kind for f in found.findings}
    assert kinds - {"json_schema"} == {"inconsistent_orders", "one_order"}


def test_experts_on_sheets_are_held_against_the_judges_of_a_session(compared, tmp_path):
    """Their criteria are the category's, under the judges' names; each pair once, blind."""
    folder, minds, _ = compared
    study = write_exercise_study(
        tmp_path / "study",
        folder / "practice.csv",
        ["compatible:weak", "compatible:strong"],
        ["compatible:judge"],
        experts=["ann", "ben"],
    )
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
    agreed = {
        row[0]: row
        for row in section(found, "Agreement of raters on preferences").table.rows
        if row[1] == "Overall"
    }
    assert set(agreed) == {"judge, ann", "judge, ben", "ann, ben"}
    assert [row[3] for row in agreed.values()] == [1.0] * 3
    assert {row[0] for row in section(found, "Position bias").table.rows} == {
        "judge",
        "ann",
        "ben",
    }
    levels = section(found, "Win, tie, loss by difficulty")
    assert {row[0] for row in levels.table.rows} == set(DIFFICULTIES)
    assert {row[1] for row in levels.table.rows} == {"judge", "ann", "ben"}
    assert {row[0] for row in section(found, "Ranking of systems (Bradley-Terry)").table.rows} == {
        "judge",
        "ann",
        "ben",
    }


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
        (
            {"category": "Cooking"},
            "line 3: category 'Cooking' is unknown .*allowed: Explaining the",
        ),
        (
            {"difficulty": "hard"},
            "line 3: difficulty 'hard' is unknown .*allowed: beginner, intermediate, advanced",
        ),
        ({"reference": " "}, "line 3: reference is empty"),
        ({"id": "e0"}, "line 3: exercise 'e0' occurs more than once"),
    ],
)
def test_a_bad_exercise_is_named_by_its_row(tmp_path, changes, message):
    with pytest.raises(TableError, match=f"practice.csv, {message}"):
        read_exercises(exercise_file(tmp_path, **changes))


def test_an_exercise_may_be_number_0(tmp_path):
    row = {
        "id": 0,
        "category": "establishing goals",
        "difficulty": "Beginner",
        "statement": "[Calm] Hello.",
        "reference": "Hello to you.",
    }
    (tmp_path / "practice.json").write_text(json.dumps([row]))
    assert read_exercises(tmp_path / "practice.json")[0]["id"] == "0"


def test_exercises_are_counted_and_columns_may_have_other_names(tmp_path):
    path = exercise_file(tmp_path, n=30)
    counts = Counter((one["category"], one["difficulty"]) for one in read_exercises(path))
    assert counts == dict.fromkeys(product(CRITERIA, DIFFICULTIES), 1)
    frame = pl.read_csv(path).rename({"statement": "client"})
    frame.write_csv(tmp_path / "other.csv")
    assert len(read_exercises(tmp_path / "other.csv", statement="client")) == 30
    with pytest.raises(TableError, match="no column 'statement'"):
        read_exercises(tmp_path / "other.csv")


def test_a_response_is_as_long_as_the_reference():
    item = Item("1", "[Calm] I slept.", {"reference": "That is good to hear."})
    (request,) = make_dp().requests(item)
    assert 'in around "5" words' in request.messages[0].content
    assert request.messages[1].content == "[Calm] I slept."
    assert request.temperature == 0.7
    assert "That is good" not in str(request)
    assert make_dp().parse([Reply(" Tell me more. ")], "1").text == "Tell me more."
    with pytest.raises(InputError, match="item '2' has no 'reference', whose length"):
        make_dp().requests(Item("2", "Hm."))


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
    with pytest.raises(InputError, match="category None of item '9' has no criteria"):
        judge.requests(Comparison(Item("9"), Response("9", "m", "1"), Response("9", "r", "2")))
    with pytest.raises(InputError, match="category 'x' needs four criteria"):
        comparison.make(criteria={"x": ("one",)})
