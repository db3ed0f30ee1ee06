"""Plans, and what the sheets drawn from them show: blind, even, and guarded."""

from __future__ import annotations

import json
import math
import re
import sys
import time
from dataclasses import asdict

import polars as pl
import pytest
from command_line import invoke
from humans_work import (
    DISTORTIONS,
    FINER,
    ITEMS,
    LEVELS,
    SYSTEMS,
    columns_of,
    exported,
    filled,
    filled_all,
    imported,
    read_book,
    read_csv,
    response,
    sheets,
    write_csv,
    write_study,
)

from voirdire import InputError, MissingExtraError, StudyError, TableError
from voirdire.examining import examine
from voirdire.humans import DATABASE, PageServer, export, import_answers, make_plan
from voirdire.humans.exporting import draw
from voirdire.humans.plan import digest, write_plan
from voirdire.humans.source import read_source
from voirdire.report import write_outputs
from voirdire.study import build_study
from voirdire.tables import read_queue


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return exported(tmp_path_factory)


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_sheets_do_not_hint_at_the_source(work, suffix):
    for task in ("pairwise", "pointwise"):
        for path in sheets(work[task], suffix).values():
            rows = read_csv(path) if suffix == "csv" else read_book(path)
            text = json.dumps(rows)
            assert not [name for name in SYSTEMS if name in text]
            assert not [name for name in ("item", "system", "reference") if name in rows[0]]
            assert all(re.fullmatch("j[a-z2-7]{12}", row[0]) for row in rows[1:])
    ann, ben = (
        {row[0] for row in read_csv(path)[1:]} for path in sheets(work["pairwise"], "csv").values()
    )
    assert not ann & ben
    if suffix == "xlsx":
        import zipfile

        with zipfile.ZipFile(sheets(work["pairwise"], "xlsx")["ann"]) as archive:
            whole = b"".join(archive.read(name) for name in archive.namelist())
        assert not [name for name in SYSTEMS if name.encode() in whole]


def test_no_cell_of_plain_text_is_a_formula(work):
    for row in read_csv(sheets(work["pairwise"], "csv")["ann"]):
        assert not [cell for cell in row if cell[:1] in ("=", "+", "-", "@", "\t", "\r")]


def test_workbooks_offer_the_choices_and_lock_the_rest(work):
    import openpyxl

    book = openpyxl.load_workbook(sheets(work["nested"], "xlsx")["ann"])
    sheet = book["Judgements"]
    header = [cell.value for cell in sheet[1]]
    lists = {}
    for rule in sheet.data_validations.dataValidation:
        assert rule.type == "list"
        first = str(rule.sqref).split(":")[0]
        name, _, place = rule.formula1.partition("!")
        cells = book[name][place.replace("$", "")]
        choices = tuple(
            c.value for line in (cells if isinstance(cells, tuple) else ((cells,),)) for c in line
        )
        lists[header[sheet[first].column - 1]] = choices
    assert lists["Distortions 2"] == (*DISTORTIONS, "No distortion")
    assert lists["Beliefs: Helpless 1"] == FINER["Helpless"]
    assert "Situation" not in lists
    assert book["Choices"].sheet_state == "hidden"
    assert sheet.protection.sheet
    free = [cell.value is None for cell in sheet[2] if not cell.protection.locked]
    assert len(free) == 1 + 3 + 2 + 2 + 1
    assert all(free)


def test_another_plan_and_a_changed_plan_are_refused(work, tmp_path):
    import shutil

    mixed = tmp_path / "mixed"
    shutil.copytree(work["pairwise"], mixed)
    shutil.copy(work["nested"] / "key.json", mixed / "key.json")
    with pytest.raises(InputError, match=r"key\.json: the key to another plan"):
        import_answers(mixed, [], tmp_path / "answers")
    text = (mixed / "plan.json").read_text(encoding="utf-8").replace("Is warm", "Is cold")
    (mixed / "plan.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="plan was changed after it was drawn"):
        import_answers(mixed, [], tmp_path / "answers")


def test_exporting_again_gives_the_same_sheets_and_changed_texts_are_refused(tmp_path):
    study = write_study(tmp_path, "pairwise")
    before = export(study, tmp_path / "work", formats=["csv"])
    first = [path.read_bytes() for path in before.sheets]
    assert [
        path.read_bytes()
        for path in export(study, tmp_path / "work").sheets
        if path.suffix == ".csv"
    ] == first
    responses = (tmp_path / "responses.csv").read_text(encoding="utf-8")
    (tmp_path / "responses.csv").write_text(
        responses.replace("number 20", "number 99"), encoding="utf-8"
    )
    with pytest.raises(InputError, match="have changed since this plan was drawn"):
        export(study, tmp_path / "work")


def test_a_text_that_names_its_system_is_told(tmp_path):
    study = write_study(tmp_path, "pairwise")
    responses = (tmp_path / "responses.csv").read_text(encoding="utf-8")
    told = responses.replace("Response number 11,", "As South-Wind I say,")
    (tmp_path / "responses.csv").write_text(told, encoding="utf-8")
    assert len(export(study, tmp_path / "work", formats=["csv"]).named) == 2  # one a rater


def test_long_texts_are_cut_in_workbooks_alone_and_still_known(tmp_path):
    study = write_study(tmp_path, "pointwise")
    responses = (tmp_path / "responses.csv").read_text(encoding="utf-8")
    (tmp_path / "responses.csv").write_text(
        responses.replace("number 12,", "la " * 20_000), encoding="utf-8"
    )
    done = export(study, tmp_path / "work")
    assert done.cut == 2

    def fill(rater, header, row):
        row[columns_of(header, "Empathy")[0]] = "2"

    files = filled_all(tmp_path / "work", fill)
    scores = imported(tmp_path / "work", files)["ratings"].filter(attribute="Empathy")["score"]
    assert scores.to_list() == [2.0] * 24


@pytest.mark.parametrize(
    ("task", "extra", "error", "message"),
    [
        ("pairwise", "", TableError, "category 'Agenda' has no criteria"),
        ("pointwise", 'attributes = ["Wit"]\n', StudyError, "humans.attributes: attribute 'Wit' is unknown"),
        ("pointwise", "per_task = 3\n", StudyError, "per_task is 3, more than the 2 raters"),
        ("labels", 'show = ["colour"]\n', StudyError, "show names 'colour'"),
        ("labels", 'item_title = "ID"\n', StudyError, "two columns of the sheet would be called 'id'"),
        ("labels", 'criteria = ["Warm"]\n', StudyError, "criteria belongs to task 'pairwise'"),
        ("pointwise", "tempo = 3\n", StudyError, "unknown key 'humans.tempo'"),
    ],
)  # fmt: skip
def test_studies_that_cannot_be_given_out_are_refused(tmp_path, task, extra, error, message):
    study = write_study(tmp_path, task, extra)
    if task == "pairwise":
        text = study.read_text(encoding="utf-8")
        study.write_text(
            text.replace('Agenda = ["Keeps a frame", "Is warm"]\n', ""), encoding="utf-8"
        )
    with pytest.raises(error, match=message):
        export(study, tmp_path / "work")


NAMED = 'name = "calm"\nscale = [1, 7]\n[[attributes]]\nname = "Warmth"\ndescription = "Is it warm?"\n[attributes.levels]\n1 = "Cold"\n9 = "Warm"\n'


@pytest.mark.parametrize("use", ["rubric.toml", "mentalalign"])
def test_people_are_asked_by_the_rubric_that_the_study_names(tmp_path, use):
    path = write_study(tmp_path, "pointwise")
    head, rest = path.read_text("utf-8").split("[rubric]", 1)
    path.write_text(f'{head}[rubric]\nuse = "{use}"\n[comparisons]{rest.split("[comparisons]")[1]}')
    (tmp_path / "rubric.toml").write_text(NAMED.replace("9 =", "7 ="))
    plan = export(path, tmp_path / "work", formats=["csv"]).plan
    form = next(iter(plan.judgements.values())).form
    if use == "mentalalign":
        assert (len(form), form[0].name, form[0].options) == (7, "Guidance", tuple("12345"))
    else:
        (asked,) = form
        assert (asked.name, asked.asked, asked.options) == (
            "Warmth",
            "Is it warm?",
            tuple("1234567"),
        )
        assert asked.hints == ("Cold", *[""] * 5, "Warm")

    def fill(rater, header, row):
        for question in form:
            row[columns_of(header, question.name)[0]] = str(len(row[2]) % 4 + 2)

    import_answers(tmp_path / "work", filled(tmp_path / "work", "csv", fill), tmp_path / "answers")
    read = examine(tmp_path / "answers", resamples=0).study.rubric
    assert (read.scale[1], len(read.attributes)) == (float(form[0].options[-1]), len(form))


@pytest.mark.parametrize(
    ("rubric", "message"),
    [
        (None, r"rubric\.use: there is no rubric .*rubric\.toml"),
        (
            NAMED.replace("9 =", "7 =") + "[[composites]]\na = 1\n",
            r"rubric\.use: rubric .*AttributeError",
        ),
        (NAMED, r"rubric\.use: rubric .* level 9 is not on the scale"),
        (
            NAMED.replace("9 =", "7 =") + "[composites]\nWarmth = ['Warmth']\n",
            "rubric.use .* has the name of an",
        ),
    ],
)
def test_a_rubric_that_cannot_be_read_is_an_error(tmp_path, rubric, message):
    path = write_study(tmp_path, "pointwise")
    head, rest = path.read_text("utf-8").split("[rubric]", 1)
    path.write_text(
        f'{head}[rubric]\nuse = "rubric.toml"\n[comparisons]{rest.split("[comparisons]")[1]}'
    )
    if rubric:
        (tmp_path / "rubric.toml").write_text(rubric)
    with pytest.raises(StudyError, match=message):
        export(path, tmp_path / "work")


EXCLUDED = """
[[panel]]
name = "ann"
kind = "human"
excludes = ["reference"]
[[panel]]
name = "ben"
kind = "human"
"""


def test_excluded_raters_and_even_loads(tmp_path):
    study = write_study(tmp_path, "pointwise", "per_task = 1\n")
    study.write_text(study.read_text(encoding="utf-8") + EXCLUDED, encoding="utf-8")
    plan = export(study, tmp_path / "work", formats=["csv"]).plan
    assert {rater: len(ids) for rater, ids in plan.raters.items()} == {"ann": 6, "ben": 6}
    key = json.loads((tmp_path / "work" / "key.json").read_text(encoding="utf-8"))["origins"]
    assert all(key[ident]["system_a"] != "reference" for ident in plan.raters["ann"])
    assert (tmp_path / "work" / "key.json").stat().st_mode & 0o077 == 0


def test_the_plan_alone_cannot_be_drawn_again(tmp_path):
    study = write_study(tmp_path, "pairwise")
    export(study, tmp_path / "work", key=tmp_path / "kept" / "key.json")
    key = json.loads((tmp_path / "kept" / "key.json").read_text("utf-8"))
    shown = b"".join(
        path.read_bytes()
        for path in (tmp_path / "work").rglob("*")
        if path.suffix in (".json", ".toml", ".csv")
    )
    assert len(key["secret"]) == 32  # 128 bits: not to be tried, unlike the seed of a study
    assert key["secret"].encode() not in shown
    assert "seed" not in (tmp_path / "work" / "study.toml").read_text("utf-8")
    again = export(study, tmp_path / "work", key=tmp_path / "kept" / "key.json")
    assert again.plan.hash == key["plan"]


def test_a_seed_and_the_names_do_not_give_ids_or_orders(tmp_path):
    """Under version 0.1 a hash of the documented ``seed = 5`` and known names was the id."""
    study = write_study(tmp_path, "pairwise")
    study.write_text(study.read_text("utf-8").replace("seed = 3", "seed = 5"), "utf-8")
    made = [export(study, tmp_path / name, formats=["csv"]) for name in ("one", "other")]
    keys = [json.loads((done.folder / "key.json").read_text("utf-8")) for done in made]
    first, second = (list(key["origins"]) for key in keys)
    assert not set(first) & set(second)
    orders = [[tuple(key["origins"][i].values()) for i in key["origins"]] for key in keys]
    assert sorted(o[:3] for o in orders[0]) == sorted(o[:3] for o in orders[1])
    assert orders[0] != orders[1]
    guessed = {
        digest((str(seed), rater, *names), 13)
        for seed in range(10)
        for rater in ("ann", "ben")
        for names in (order[:4] for order in orders[0])
    }
    assert not guessed & set(first)


def test_a_key_of_version_0_1_still_opens_its_plan(tmp_path):
    """Its secret was the number under `seed`; the plan is read, and drawn again, from it."""
    study = write_study(tmp_path, "pointwise")
    done = export(study, tmp_path / "work", formats=["csv"])
    key_path = tmp_path / "work" / "key.json"
    key = json.loads(key_path.read_text("utf-8"))
    study_read, tasks = read_source(study)
    old_plan, _ = draw(study_read, study_read.humans, tasks, "12345")
    write_plan(old_plan, tmp_path / "work" / "plan.json")
    origins = draw(study_read, study_read.humans, tasks, "12345")[1].origins
    key |= {
        "plan": old_plan.hash,
        "seed": 12345,
        "origins": {i: asdict(o) for i, o in origins.items()},
    }
    del key["secret"], key["labels"]
    key_path.write_text(json.dumps(key), "utf-8")
    for sheet in done.sheets:
        sheet.unlink()
    again = export(study, tmp_path / "work", formats=["csv"])
    assert again.plan.hash == old_plan.hash
    assert (
        import_answers(tmp_path / "work", list(again.sheets), tmp_path / "a").counts["ann"][2] == 12
    )


def queue_of(path, *rows):
    lines = ["item,system,score,confidence,decision", *rows]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def test_people_get_what_a_queue_leaves_to_them(tmp_path):
    queue = queue_of(
        tmp_path / "queue.csv",
        "walk,reference,3,0.4,human",
        "cake,north-star,2,0.5,human",
        "late,north-star,2,0.6,labelled",
        "cake,reference,4,0.99,automatic",
    )
    study = write_study(tmp_path, "pointwise")
    export(study, tmp_path / "work", queue=queue)
    key = json.loads((tmp_path / "work" / "key.json").read_text("utf-8"))
    asked = {(o["item"], o["system_a"]) for o in key["origins"].values()}
    assert asked == {("walk", "reference"), ("cake", "north-star")}
    again = export(study, tmp_path / "work", queue=queue)
    assert again.plan.hash == key["plan"]
    with pytest.raises(InputError, match="the queue have changed"):
        export(study, tmp_path / "work")

    def fill(rater, header, row):
        row[columns_of(header, "Empathy")[0]] = "4"

    answers = tmp_path / "answers"
    found = import_answers(tmp_path / "work", filled(tmp_path / "work", "csv", fill), answers)
    assert found.tables["ratings"]["origin"].unique().to_list() == ["chosen"]
    # A corrected mean of the answers refuses them: they are no random sample.
    assert pl.read_parquet(answers / "ratings.parquet")["origin"].null_count() == 0


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("walk,reference,3,0.4,humane", r"queue.csv, line 2: decision 'humane' is unknown \(did you mean 'human'"),
        ("walk,nobody,3,0.4,human", r"line 2: item 'walk' with system 'nobody' is not among"),
        ("walk,reference,3,0.4,automatic", "no row has the decision 'human'"),
    ],
)  # fmt: skip
def test_a_queue_that_does_not_fit_is_refused(tmp_path, row, message):
    study = write_study(tmp_path, "pointwise")
    with pytest.raises((InputError, TableError), match=message):
        export(study, tmp_path / "work", queue=queue_of(tmp_path / "queue.csv", row))
    assert not (tmp_path / "work").exists()


def test_a_queue_of_responses_is_no_queue_of_pairs(tmp_path):
    queue = queue_of(tmp_path / "queue.csv", "walk,reference,3,0.4,human")
    with pytest.raises(InputError, match="a queue names single responses"):
        export(write_study(tmp_path, "pairwise"), tmp_path / "work", queue=queue)
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("item,system_a,system_b,decision\nwalk,reference,nobody,human\n")
    (tmp_path / "one").mkdir()
    with pytest.raises(InputError, match="a queue names pairs, and humans"):
        export(write_study(tmp_path / "one", "pointwise"), tmp_path / "work", queue=pairs)
    with pytest.raises(TableError, match="'walk' with system 'nobody' and 'reference' is not"):
        export(write_study(tmp_path, "pairwise"), tmp_path / "work", queue=pairs)
    pairs.write_text("item,decision\nwalk,human\n")
    with pytest.raises(TableError, match="system"):
        read_queue(pairs)


def test_without_the_package_for_workbooks_csv_is_written_and_said(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    study = write_study(tmp_path, "pointwise")
    with pytest.raises(MissingExtraError, match="xlsxwriter"):
        export(study, tmp_path / "work", formats=["xlsx"])
    assert not (tmp_path / "work").exists()
    said = invoke(["humans", "export", str(study), "--out", str(tmp_path / "work")])
    assert said.exit_code == 0
    assert "Only CSV sheets were written" in said.output
    assert {path.suffix for path in (tmp_path / "work" / "sheets").iterdir()} == {".csv"}


def test_names_that_windows_keeps_for_devices_are_no_file_names(tmp_path):
    names = ["con", "AUX.b", "lpt1", "com¹", "console", "a?", "a!", "a-2", "x" * 300, "..", "CON"]
    extra = f"raters = {json.dumps(names)}\n"
    study = write_study(tmp_path, "pointwise")
    study.write_text(study.read_text("utf-8").replace('raters = ["ann", "ben"]\n', extra), "utf-8")
    done = export(study, tmp_path / "work", formats=["csv"])
    stems = [path.stem for path in done.sheets]
    assert stems == [
        "rater-con", "rater-AUX.b", "rater-lpt1", "rater-com¹", "console", "a", "a-2", "a-2-2",
        "x" * 60, "rater", "rater-CON-2",
    ]  # fmt: skip


def test_a_task_with_fewer_raters_than_it_needs_is_refused(tmp_path):
    path = write_study(tmp_path, "pointwise", "per_task = 2\n" + EXCLUDED)
    with pytest.raises(StudyError, match=r"1 rater may judge item '\w+' of reference, where 2"):
        export(path, tmp_path / "work")


def test_each_system_is_shown_first_as_often_and_both_orders_are_two_tasks(tmp_path):
    study = write_study(tmp_path, "pairwise")
    plan = export(study, tmp_path / "work", formats=["csv"]).plan
    key = json.loads((tmp_path / "work" / "key.json").read_text(encoding="utf-8"))["origins"]
    for ids in plan.raters.values():
        for system in SYSTEMS[:2]:
            own = [key[ident] for ident in ids if key[ident]["system_a"] == system]
            assert sum(origin["first"] == "reference" for origin in own) == 2
    both = study.read_text(encoding="utf-8").replace(
        'against = "reference"', 'against = "reference"\norder = "both"'
    )
    study.write_text(both, encoding="utf-8")
    plan = export(study, tmp_path / "both", formats=["csv"]).plan
    assert len(plan.raters["ann"]) == 16


def test_three_models_over_156_exercises_take_under_three_seconds(tmp_path):
    """468 comparisons for each of two raters: export, import of both kinds of sheets, report.

    In seconds of this process, as other work on the machine is no slowness of ours.
    """
    study = write_study(tmp_path, "pairwise")
    categories = ("Goals", "Agenda")
    items = [
        {
            "id": f"e{at}",
            "text": f"Statement {at}. " * 20,
            "category": categories[at % 2],
            "options": [],
        }
        for at in range(156)
    ]
    (tmp_path / "items.jsonl").write_text(
        "".join(json.dumps(item) + "\n" for item in items), encoding="utf-8"
    )
    systems = ("one", "two", "three", "reference")
    rows = [
        [f"e{at}", system, f"{at} {number} " + "calm words " * 40]
        for at in range(156)
        for number, system in enumerate(systems)
    ]
    write_csv(tmp_path / "responses.csv", [["item", "system", "text"], *rows])
    start = time.process_time()
    export(study, tmp_path / "work")
    took = time.process_time() - start

    def fill(rater, header, row):
        for name in ("Criteria 1", "Criteria 2", "Overall"):
            row[columns_of(header, name)[-1]] = LEVELS[len(row[0] + row[3]) % 5 - 2]

    books, plain = filled_all(tmp_path / "work", fill), filled(tmp_path / "work", "csv", fill)
    start = time.process_time()
    done = import_answers(tmp_path / "work", [books[0], plain[1]], tmp_path / "answers")
    found = examine(tmp_path / "answers")
    write_outputs(found, tmp_path / "report", figures=False)
    took += time.process_time() - start
    assert done.counts == {"ann": (468, 0, 0), "ben": (468, 0, 0)}
    assert took < 6, f"{took:.2f} s"
    titles = {section.title for section in found.sections}
    assert {"Mean preference", "Mean preference by category"} <= titles


def test_the_responses_of_a_session_are_given_out(tmp_path):
    """Generated responses lie in the session alone."""
    from voirdire.schema import Item, Response
    from voirdire.store.session import open_session
    from voirdire.store.tasks import take_items, take_responses
    from voirdire.study import load_study

    path = write_study(tmp_path, "pairwise")
    text = path.read_text(encoding="utf-8").replace('[responses]\npath = "responses.csv"\n', "")
    path.write_text(text, encoding="utf-8")
    with open_session(tmp_path / "session", load_study(path), text) as session:
        extra = {"category": "Goals", "options": None}
        take_items(session.connection, ((Item(i, t, extra), "") for i, t in ITEMS.items()))
        answers = (Response(i, s, response(i, s)) for i in ITEMS for s in SYSTEMS)
        take_responses(session.connection, answers, "generated")
    done = export(tmp_path / "session", tmp_path / "work", formats=["csv"])
    assert {rater: len(ids) for rater, ids in done.plan.raters.items()} == {"ann": 8, "ben": 8}
    with pytest.raises(InputError, match="is no session folder"):
        export(tmp_path / "work", tmp_path / "more")


def test_what_people_answered_can_be_examined(work, tmp_path):
    """Ratings and labels by agreement, comparisons by preference."""
    for task in ("pointwise", "labels"):

        def fill(rater, header, row, task=task):
            if task == "labels":
                row[columns_of(header, "Labels")[0]] = DISTORTIONS[len(row[1]) % 2]
            else:
                for name in ("Empathy", "Relevance"):
                    row[columns_of(header, name)[0]] = str(len(row[2]) % 5 + 1)

        files = filled(work[task], "csv", fill)
        import_answers(work[task], files, tmp_path / task)
        found = examine(tmp_path / task, resamples=100)
        assert found.rated.measures
        agreed = [
            m.estimate.value for m in found.rated.measures if not math.isnan(m.estimate.value)
        ]
        assert agreed == pytest.approx([1.0] * len(agreed))


def test_what_is_answered_is_kept_from_others_on_the_machine(tmp_path):
    plan, _ = make_plan(write_study(tmp_path, "labels"), tmp_path / "work")
    with PageServer(plan, tmp_path / "work" / DATABASE):
        assert (tmp_path / "work" / DATABASE).stat().st_mode & 0o077 == 0


def test_no_file_of_another_origin_is_written_over(tmp_path):
    study = write_study(tmp_path / "own", "pairwise")
    before = study.read_text("utf-8")
    with pytest.raises(InputError, match=r"study.toml: another study lies there"):
        export(study, study.parent)
    export(study, tmp_path / "work", key=tmp_path / "key.json")
    with pytest.raises(InputError, match=r"key.json: a key lies there already"):
        export(study, tmp_path / "second", key=tmp_path / "key.json")
    sheet = tmp_path / "work" / "sheets" / "ann.csv"
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "items.parquet").write_bytes(b"mine")
    for folder, name in ((study.parent, "study.toml"), (tmp_path / "notes", "items.parquet")):
        with pytest.raises(InputError, match=f"holds a {name} that is no answer to this"):
            import_answers(tmp_path / "work", [sheet], folder, key=tmp_path / "key.json")
    assert study.read_text("utf-8") == before
    assert (tmp_path / "notes" / "items.parquet").read_bytes() == b"mine"
    for _ in range(2):  # the answers to this plan may be read again
        import_answers(tmp_path / "work", [sheet], tmp_path / "answers", key=tmp_path / "key.json")
    other = export(write_study(tmp_path / "other", "labels"), tmp_path / "other" / "work")
    with pytest.raises(InputError, match="that is no answer to this plan"):
        import_answers(other.folder, [other.sheets[1]], tmp_path / "answers")


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_a_sheet_that_holds_answers_is_not_written_over(tmp_path, suffix):
    study = write_study(tmp_path, "pointwise")
    export(study, tmp_path / "work")
    path = sheets(tmp_path / "work", suffix)["ben"]

    def fill(_, header, row):
        row[columns_of(header, "Relevance")[0]] = "4"

    full = next(f for f in filled(tmp_path / "work", suffix, fill) if f.stem == "ben").read_bytes()
    path.write_bytes(full)
    with pytest.raises(InputError, match=rf"ben.{suffix}: \d+ judgements are answered in it"):
        export(study, tmp_path / "work")
    assert path.read_bytes() == full
    path.write_text("notes,of,mine\n1,2,3\n")
    with pytest.raises(InputError, match=rf"ben.{suffix}: not the sheet as it was sent out"):
        export(study, tmp_path / "work")


def _rated(path):
    rows = [
        (f"q{k}", system, f"Is it {k}?", f"It is {k}, says {system}.", k % 5 + 1, k % 4 + 1)
        for k in range(12)
        for system in ("old", "new")
    ]
    head = ["ticket", "release", "asked", "said", "judge", "human"]
    pl.DataFrame(rows, schema=head, orient="row").write_csv(path)
    return path


COLUMNS = ("--item", "ticket", "--system", "release", "--context", "asked", "--response", "said")


def test_a_file_of_ratings_is_given_to_people_by_its_texts(tmp_path):
    source, queue = _rated(tmp_path / "rated.csv"), tmp_path / "queue.csv"
    queue.write_text("item,system,decision\nq3,new,human\nq5,old,human\nq6,old,automatic\n")
    out = str(tmp_path / "work")
    asked = ["humans", "export", str(source), *COLUMNS, "--queue", str(queue), "--out", out]
    done = invoke(asked)
    assert done.exit_code == 0, done.output
    sheet = pl.read_csv(tmp_path / "work/sheets/human.csv")
    texts = {"Is it 3?": "It is 3, says new.", "Is it 5?": "It is 5, says old."}
    assert dict(sheet.select("Text", "Response").rows()) == texts
    answered = sheet.with_columns(score=pl.Series([2, 4]))
    answered.write_csv(tmp_path / "human.csv")
    done = import_answers(tmp_path / "work", [tmp_path / "human.csv"], tmp_path / "answers")
    ratings = done.tables["ratings"].select("item", "system", "score").rows()
    by_text = dict(zip(answered["Text"], answered["score"], strict=True))
    assert sorted(ratings) == [
        ("q3", "new", by_text["Is it 3?"]),
        ("q5", "old", by_text["Is it 5?"]),
    ]


def test_a_study_without_items_gives_the_texts_of_its_files(tmp_path):
    _rated(tmp_path / "rated.csv")
    source = {"path": "rated.csv", "item": "ticket", "system": "release"}
    parts = {"name": "rated", "data": {"sources": [source], "reference": ["human"]},
             "humans": {"task": "pointwise", "raters": ["ann"]},
             "panel": [{"name": "judge"}, {"name": "human", "kind": "human"}],
             "rubric": {"attributes": ["score"]}}  # fmt: skip
    study = build_study(parts, folder=str(tmp_path))
    with pytest.raises(StudyError, match=r"no texts to judge.*`context` and `response`"):
        make_plan(study, tmp_path / "work")
    parts["data"]["sources"] = [source | {"context": "asked", "response": "said"}]
    plan, _ = make_plan(build_study(parts, folder=str(tmp_path)), tmp_path / "work")
    assert len(plan.raters["ann"]) == 24
    done = invoke(["humans", "export", str(tmp_path), "--item", "ticket"])
    assert isinstance(done.exception, InputError)
