"""Sheets of human work: there and back, whatever is filled in; and what is refused."""

from __future__ import annotations

import json
import re
import tempfile
import time
from pathlib import Path

import polars as pl
import pytest
from humans_work import (
    DISTORTIONS,
    FINER,
    ITEMS,
    LEVELS,
    PARTS,
    SYSTEMS,
    author,
    fill_book,
    read_book,
    read_csv,
    write_csv,
    write_study,
)
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from voirdire import InputError, StudyError, TableError
from voirdire.examine import examine
from voirdire.humans import export, import_answers

#: Every example writes and reads whole sheets, so shrinking one would take minutes.
FEW = settings(
    max_examples=12,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """Task -> the folder that was exported."""
    made = {}
    for task in PARTS:
        folder = tmp_path_factory.mktemp(task)
        export(write_study(folder, task), folder / "work")
        made[task] = folder / "work"
    return made


def sheets(folder: Path, suffix: str) -> dict[str, Path]:
    return {rater: folder / "sheets" / f"{rater}.{suffix}" for rater in ("ann", "ben")}


def columns_of(header: list[str], name: str) -> list[int]:
    return [at for at, column in enumerate(header) if re.fullmatch(rf"{name}( \d)?(: .*)?", column)]


def filled(folder, suffix, fill) -> list[Path]:
    """Every sheet with `fill(rater, header, row)` done to each row, as files beside the plan."""
    target, done = Path(tempfile.mkdtemp()), []
    for rater, path in sheets(folder, suffix).items():
        header, *rows = read_csv(path) if suffix == "csv" else read_book(path)
        rows = [list(row) for row in rows]
        for row in rows:
            fill(rater, header, row)
        name = target / f"{rater}.{suffix}"
        write = write_csv if suffix == "csv" else lambda to, r, of=path: fill_book(of, to, r)
        done.append(write(name, [header, *rows]))
    return done


def imported(folder, files) -> dict[str, pl.DataFrame]:
    return import_answers(folder, files, Path(tempfile.mkdtemp()) / "answers").tables


@FEW
@given(data=st.data(), suffix=st.sampled_from(["csv", "xlsx"]))
def test_comparisons_come_back_unblinded_with_the_order_undone(work, data, suffix):
    """The rater knows texts alone; what comes back is what was thought of each system."""
    score = st.one_of(st.none(), st.integers(-2, 2))
    names = ("Criteria 1", "Criteria 2", "Overall")
    thought = {
        (r, i, s, n): data.draw(score)
        for r in ("ann", "ben") for i in ITEMS for s in SYSTEMS[:2] for n in names
    }  # fmt: skip

    def fill(rater, header, row):
        a, b = (author(row[header.index(f"Response {letter}")]) for letter in "AB")
        sign, system = (1, a[1]) if b[1] == "reference" else (-1, b[1])
        for name in names:
            said = thought[rater, a[0], system, name]
            if said is not None:
                row[columns_of(header, name)[-1]] = LEVELS[sign * said]

    found = imported(work["pairwise"], filled(work["pairwise"], suffix, fill))["preferences"]
    assert found["system_b"].unique().to_list() == ["reference"]
    back = {
        (r["rater"], r["item"], r["system_a"], r["attribute"]): r["score"]
        for r in found.iter_rows(named=True)
    }
    assert back == thought
    assert found.filter(pl.col("score").is_null() != (pl.col("status") == "blank")).is_empty()


@FEW
@given(data=st.data(), suffix=st.sampled_from(["csv", "xlsx"]))
def test_ratings_come_back(work, data, suffix):
    score = st.one_of(st.none(), st.integers(1, 5))
    names = ("Empathy", "Relevance")
    thought = {
        (r, i, s, n): data.draw(score)
        for r in ("ann", "ben") for i in ITEMS for s in SYSTEMS for n in names
    }  # fmt: skip

    def fill(rater, header, row):
        item, system = author(row[header.index("Response")])
        for name in names:
            said = thought[rater, item, system, name]
            row[columns_of(header, name)[0]] = "" if said is None else str(said)

    found = imported(work["pointwise"], filled(work["pointwise"], suffix, fill))["ratings"]
    back = {
        (r["rater"], r["item"], r["system"], r["attribute"]): r["score"]
        for r in found.iter_rows(named=True)
    }
    assert back == thought


def subsets(names, most):
    return st.lists(st.sampled_from(names), max_size=most, unique=True)


@FEW
@given(data=st.data(), suffix=st.sampled_from(["csv", "xlsx"]))
def test_nested_forms_come_back(work, data, suffix):
    """Finer beliefs are asked under the beliefs chosen, and are 0 under the others."""
    words = st.text(st.characters(codec="utf-8", categories=("L", "P", "Sm", "Zs")), max_size=20)
    thought = {}
    for rater in ("ann", "ben"):
        for item in ITEMS:
            beliefs = data.draw(subsets(tuple(FINER), 2))
            thought[rater, item] = {
                "Situation": [data.draw(words).strip().lstrip("'=+-@")],
                "Distortions": data.draw(
                    st.one_of(subsets(DISTORTIONS, 3), st.just(["No distortion"]))
                ),
                "Beliefs": beliefs,
                **{f"Beliefs: {b}": data.draw(subsets(FINER[b], 3)) for b in beliefs},
            }
    plain = {text: item for item, text in ITEMS.items()}

    def fill(rater, header, row):
        shown = row[header.index("Text")]
        item = plain.get(shown) or plain[shown.removeprefix("'")]
        for name, said in thought[rater, item].items():
            for at, one in zip(columns_of(header, re.escape(name)), said, strict=False):
                row[at] = one

    found = imported(work["nested"], filled(work["nested"], suffix, fill))
    scores = {
        (r["rater"], r["item"], r["attribute"]): r["score"]
        for r in found["ratings"].iter_rows(named=True)
    }
    for (rater, item), said in thought.items():
        expected = expected_labels(said)
        assert {a: scores[rater, item, a] for a in expected} == expected
        text = found["texts"].filter(rater=rater, item=item)["text"].item()
        assert text == (said["Situation"][0].strip() or None)


def expected_labels(said):
    def scored(named, labels):
        return {label: float(label in named) if named else None for label in labels}

    expected = scored(said["Distortions"], DISTORTIONS) | scored(said["Beliefs"], FINER)
    for belief, labels in FINER.items():
        if said["Beliefs"] and belief not in said["Beliefs"]:
            expected |= dict.fromkeys(labels, 0.0)
        else:
            expected |= scored(said.get(f"Beliefs: {belief}", []), labels)
    return expected


@FEW
@given(data=st.data())
def test_labels_and_choices_come_back(work, data):
    labels = {i: data.draw(subsets(DISTORTIONS, 3)) for i in ITEMS}
    plain = {text: item for item, text in ITEMS.items()}

    def item_of(header, row):
        shown = row[header.index("Text")]
        return plain.get(shown) or plain[shown.removeprefix("'")]

    def fill_labels(rater, header, row):
        for at, one in zip(
            columns_of(header, "Labels"), labels[item_of(header, row)], strict=False
        ):
            row[at] = one

    found = imported(work["labels"], filled(work["labels"], "csv", fill_labels))["ratings"]
    for row in found.iter_rows(named=True):
        named = labels[row["item"]]
        assert row["score"] == (float(row["attribute"] in named) if named else None)
    letters = {i: data.draw(st.sampled_from(["A", "B", ""])) for i in ITEMS}

    def fill_choice(rater, header, row):
        row[header.index("Choice")] = letters[item_of(header, row)]

    tables = imported(work["choice"], filled(work["choice"], "csv", fill_choice))
    back = {r["item"]: r["choice"] or "" for r in tables["choices"].iter_rows(named=True)}
    assert back == letters
    scored = tables["ratings"].filter(pl.col("score") == 1)
    assert dict(scored.select("item", "attribute").rows()) == {
        i: v for i, v in letters.items() if v
    }


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


def one_sheet(work, tmp_path, change, task="pointwise", suffix="csv"):
    """A sheet with its rows changed by `change(header, rows)`; the import of it."""
    source = sheets(work[task], suffix)["ann"]
    header, *rows = read_csv(source) if suffix == "csv" else read_book(source)
    rows = [list(row) for row in rows]
    changed = change(header, rows) or rows
    path = tmp_path / f"back.{suffix}"
    if suffix == "csv":
        write_csv(path, [header, *changed])
    else:
        fill_book(source, path, [header, *changed])
    return import_answers(work[task], [path], tmp_path / "answers")


def off_scale(header, rows):
    rows[3][columns_of(header, "Empathy")[0]] = "7"


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_a_value_off_the_scale_is_refused(work, tmp_path, suffix):
    # Texts of the third item hold a line break, so lines of plain text count on.
    where = "row 5" if suffix == "xlsx" else r"line \d+"
    with pytest.raises(
        TableError,
        match=rf"back.{suffix}, {where}, column 'Empathy.*'7' is off the scale \(allowed: 1, 2, 3, 4, 5\)",
    ):
        one_sheet(work, tmp_path, off_scale, suffix=suffix)


def foreign(header, rows):
    rows[2][0] = "jaaaaaaaaaaaa"


def twice(header, rows):
    return [*rows, list(rows[0])]


def edited(header, rows):
    rows[1][header.index("Response")] = "Another response altogether."


def shifted_ids(header, rows):
    ids = [row[0] for row in rows]
    for row, ident in zip(rows, ids[1:] + ids[:1], strict=True):
        row[0] = ident


def shifted_texts(header, rows):
    at = header.index("Response")
    texts = [row[at] for row in rows]
    for row, text in zip(rows, texts[1:] + texts[:1], strict=True):
        row[at] = text


def shifted_all_but_the_check(header, rows):
    checks = [row[-1] for row in rows]
    for row, check in zip(rows, checks[1:] + checks[:1], strict=True):
        row[-1] = check


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (foreign, r"back.csv, line \d+: id 'jaaaaaaaaaaaa' was not sent out with this plan"),
        (twice, r"back.csv, line \d+: id 'j\w+' stands in line 2 already"),
        (
            edited,
            r"line \d+, column 'Response': 'Another response altogether.' is not what was sent",
        ),
        (shifted_ids, r"line 2: check 'j\w+' does not belong to id"),
        (shifted_texts, r"line 2, column 'Response': '.*' is not what was sent with id"),
        (shifted_all_but_the_check, r"line 2: check 'j\w+' does not belong to id"),
    ],
)
def test_rows_that_were_changed_are_refused(work, tmp_path, change, message):
    with pytest.raises(TableError, match=message):
        one_sheet(work, tmp_path, change)


def test_a_column_that_is_gone_is_named(work, tmp_path):
    source = read_csv(sheets(work["pointwise"], "csv")["ann"])
    path = write_csv(tmp_path / "cut.csv", [row[:-1] for row in source])
    with pytest.raises(TableError, match=r"cut\.csv: no column 'check'"):
        import_answers(work["pointwise"], [path], tmp_path / "answers")


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"Distortions 1": "Labeling", "Distortions 2": "labeling"}, "'Labeling' is named twice"),
        ({"Distortions 1": "Labeling", "Distortions 2": "No distortion"}, "stands beside other labels"),
        ({"Distortions 1": "Optimism"}, "column 'Distortions 1': 'Optimism' is off the scale"),
        ({"Beliefs: Helpless 1": "I am stuck"}, "although 'Beliefs' does not hold 'Helpless'"),
    ],
)  # fmt: skip
def test_labels_that_cannot_be_are_refused(work, tmp_path, cells, message):
    def change(header, rows):
        for name, value in cells.items():
            rows[0][header.index(name)] = value

    with pytest.raises(TableError, match=message):
        one_sheet(work, tmp_path, change, task="nested")


def test_an_answer_in_two_files_is_refused(work, tmp_path):
    def fill(rater, header, row):
        row[columns_of(header, "Empathy")[0]] = "3"

    files = filled(work["pointwise"], "csv", fill)
    with pytest.raises(
        TableError, match=r"ann.csv, line 2: id 'j\w+' is answered in .*ann.csv, line 2 already"
    ):
        import_answers(work["pointwise"], [files[0], files[0]], tmp_path / "answers")


def test_partial_sheets_are_counted(work, tmp_path):
    def change(header, rows):
        empathy, relevance = columns_of(header, "Empathy")[0], columns_of(header, "Relevance")[0]
        rows[0][empathy] = rows[0][relevance] = rows[1][empathy] = "4.0"
        return rows[:5]

    done = one_sheet(work, tmp_path, change)
    assert done.counts == {"ann": (1, 1, 10), "ben": (0, 0, 12)}
    ratings = pl.read_parquet(tmp_path / "answers" / "ratings.parquet")
    assert ratings["score"].drop_nulls().to_list() == [4.0, 4.0, 4.0]
    assert ratings.height == 2 * 12 * 2
    assert set(ratings.filter(pl.col("score").is_null())["status"]) == {"blank"}


def test_answers_are_matched_whatever_their_case_and_stop(work, tmp_path):
    def change(header, rows):
        rows[0][header.index("Overall: Which response is the better one in all?")] = (
            " a is MUCH better  than b. "
        )

    done = one_sheet(work, tmp_path, change, task="pairwise")
    assert done.tables["preferences"]["score"].drop_nulls().abs().to_list() == [2.0]


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


def filled_all(folder, fill):
    """Workbooks as they are read back by openpyxl, each row filled."""
    target, done = Path(tempfile.mkdtemp()), []
    for rater, path in sheets(folder, "xlsx").items():
        header, *rows = [list(row) for row in read_book(path)]
        for row in rows:
            fill(rater, header, row)
        done.append(fill_book(path, target / f"{rater}.xlsx", [header, *rows]))
    return done


@pytest.mark.parametrize(
    ("task", "extra", "error", "message"),
    [
        ("pairwise", "", TableError, "category 'Agenda' has no criteria"),
        ("pointwise", 'attributes = ["Wit"]\n', StudyError, "'Wit' is not among rubric.attributes"),
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


def test_excluded_raters_and_even_loads(tmp_path):
    study = write_study(tmp_path, "pointwise", "per_task = 1\n")
    panel = '[[panel]]\nname = "ann"\nkind = "human"\nexcludes = ["reference"]\n[[panel]]\nname = "ben"\nkind = "human"\n'
    study.write_text(study.read_text(encoding="utf-8") + panel, encoding="utf-8")
    plan = export(study, tmp_path / "work", formats=["csv"]).plan
    assert {rater: len(ids) for rater, ids in plan.raters.items()} == {"ann": 6, "ben": 6}
    key = json.loads((tmp_path / "work" / "key.json").read_text(encoding="utf-8"))["origins"]
    assert all(key[ident]["system_a"] != "reference" for ident in plan.raters["ann"])
    assert (tmp_path / "work" / "key.json").stat().st_mode & 0o077 == 0


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
    """468 comparisons on four criteria and overall; export and import, both kinds of sheets."""
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
    start = time.perf_counter()
    export(study, tmp_path / "work")
    took = time.perf_counter() - start

    def fill(rater, header, row):
        for name in ("Criteria 1", "Criteria 2", "Overall"):
            row[columns_of(header, name)[-1]] = LEVELS[len(row[0] + row[3]) % 5 - 2]

    books, plain = filled_all(tmp_path / "work", fill), filled(tmp_path / "work", "csv", fill)
    start = time.perf_counter()
    done = import_answers(tmp_path / "work", [books[0], plain[1]], tmp_path / "answers")
    took += time.perf_counter() - start
    assert done.counts == {"ann": (468, 0, 0), "ben": (468, 0, 0)}
    assert took < 3, f"{took:.2f} s"
    found = examine(tmp_path / "answers", resamples=100)
    assert any("preference" in section.title.lower() for section in found.sections)
