"""Sheets of human work: there and back, whatever is filled in; and what is refused."""

from __future__ import annotations

import csv
import re

import polars as pl
import pytest
from humans_work import (
    DISTORTIONS,
    FINER,
    ITEMS,
    LEVELS,
    SYSTEMS,
    author,
    columns_of,
    exported,
    fill_book,
    filled,
    imported,
    read_book,
    read_csv,
    sheets,
    write_csv,
    write_study,
)
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from voirdire import InputError, TableError
from voirdire.humans import DATABASE, export, import_answers, make_plan
from voirdire.humans.database import AnswerBook
from voirdire.humans.questions import FormQuestion, check_answer, find_option
from voirdire.humans.server import Desk

#: Every example writes and reads whole sheets, so shrinking one would take minutes.
FEW = settings(
    max_examples=12,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return exported(tmp_path_factory)


@FEW
@given(data=st.data(), suffix=st.sampled_from(["csv", "xlsx"]))
def test_comparisons_come_back_unblinded_with_the_order_undone(work, data, suffix):
    """The rater knows texts alone; what comes back is what was thought of each system."""
    score = st.one_of(st.none(), st.integers(-2, 2))
    names = ("Criteria 1", "Criteria 2", "Overall")
    thought = {
        (r, i, s, n): data.draw(score)
        for r in ("ann", "ben")
        for i in ITEMS
        for s in SYSTEMS[:2]
        for n in names
    }

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
        for r in ("ann", "ben")
        for i in ITEMS
        for s in SYSTEMS
        for n in names
    }

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
    assert set(tables) == {"ratings"}
    scored = tables["ratings"].filter(pl.col("score") == 1)
    assert dict(scored.select("item", "attribute").rows()) == {
        i: v for i, v in letters.items() if v
    }


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


def test_a_long_or_hostile_answer_is_refused_in_few_words(work, tmp_path):
    def change(header, rows, said):
        rows[0][columns_of(header, "Empathy")[0]] = said

    for said in ("x" * 10_000, "=cmd|' /C calc'!A0", "<script>alert(1)</script>"):
        with pytest.raises(TableError, match=r"line 2, column 'Empathy.*off the scale") as caught:
            one_sheet(work, tmp_path, lambda h, r, said=said: change(h, r, said))
        assert len(str(caught.value)) < 400


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_sheets_of_other_programs_are_read_and_lost_letters_are_refused(
    work, tmp_path, encoding, mark
):
    """Whose an answer is goes by the ids, not by the name of a file."""
    header, *rows = read_csv(sheets(work["pointwise"], "csv")["ben"])
    for row in rows:
        row[columns_of(header, "Empathy")[0]] = "2"
    path = tmp_path / "ann.csv"
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=mark).writerows([header, *rows])
    done = import_answers(work["pointwise"], [path], tmp_path / "answers")
    assert done.counts == {"ann": (0, 0, 12), "ben": (0, 12, 0)}
    rows[2][header.index("Text")] += " caf\ufffd"
    write_csv(path, [header, *rows])
    with pytest.raises(TableError, match="is not what was sent with id"):
        import_answers(work["pointwise"], [path], tmp_path / "answers")


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
    with pytest.raises(TableError, match=r"cut\.csv: there is no column 'check'"):
        import_answers(work["pointwise"], [path], tmp_path / "answers")


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"Distortions 1": "Labeling", "Distortions 2": "labeling"}, "label 'Labeling' occurs more than once"),
        ({"Distortions 1": "Labeling", "Distortions 2": "No distortion"}, "cannot be combined with other labels"),
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


def test_what_spreadsheets_make_of_an_answer_is_still_that_answer():
    halves = FormQuestion("Calm", "one", ("1", "1.5", "2"))
    assert [find_option(halves, said) for said in ("1,5", "2,0", " 1.50 ")] == ["1.5", "2", "1.5"]
    with pytest.raises(InputError, match="'1,000' is off the scale"):
        find_option(FormQuestion("Calm", "one", ("0", "1")), "1,000")
    beliefs = FormQuestion("Beliefs", "many", ("I don't know", "I’m alone"), at_most=2)
    assert check_answer(beliefs, ["I don’t know", "I'm alone"]) == beliefs.options


def test_half_a_character_in_words_does_not_keep_answers_from_being_read(tmp_path):
    study = write_study(tmp_path, "nested")
    plan, _ = make_plan(study, tmp_path / "work")
    ident = plan.raters["ann"][0]
    with AnswerBook(tmp_path / "work" / DATABASE, plan) as book:
        Desk(plan, book).keep("ann", ident, {"question": "Situation", "answer": "rain \ud83d"})
    texts = import_answers(tmp_path / "work", [], tmp_path / "answers").tables["texts"]
    assert texts["text"].drop_nulls().to_list() == ["rain \ufffd"]


@pytest.mark.parametrize("task", ["pairwise", "pointwise", "labels", "choice"])
def test_a_reason_is_asked_with_every_judgement_and_comes_back_beside_it(tmp_path, task):
    path = write_study(tmp_path / "study", task)
    plain = path.read_text("utf-8")
    path.write_text(plain.replace("seed = 3\n", 'seed = 3\nreason = "Say why."\n'), "utf-8")
    export(path, tmp_path / "work")
    asked = read_csv(tmp_path / "work" / "sheets" / "ann.csv")[0]

    def fill(rater, header, row):
        if rater == "ann":
            row[columns_of(header, "Reason")[0]] = f"It is {row[0]}."

    found = imported(tmp_path / "work", filled(tmp_path / "work", "csv", fill))
    texts = found["texts"]
    assert columns_of(asked, "Reason") == [len(asked) - 2]  # last, before the checksum
    assert set(texts["question"]) == {"Reason"}
    said = texts.filter(rater="ann")["text"]
    assert said.n_unique() == said.len() == texts.filter(rater="ben").height
    assert texts.filter(rater="ben")["text"].null_count() == said.len()
    if task == "pairwise":
        assert texts["system_b"].unique().to_list() == ["reference"]
        assert "Reason" not in set(found["preferences"]["attribute"])
    else:
        assert "Reason" not in set(found["ratings"]["attribute"])
