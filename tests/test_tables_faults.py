"""Tables that version 0.1 read wrongly: cases N07 to N27 of the public bug reports."""

from __future__ import annotations

import json
import random
import tomllib
import zipfile

import polars as pl
import pytest
import xlsxwriter

from voirdire import StudyError, TableError, examine
from voirdire.errors import QuestionError
from voirdire.study import ReadOptions, Source, build_study, load_study
from voirdire.tables import read_file, read_tables, with_answer
from voirdire.tables.batches import tidy_batches

# Forty invented items, human and judge mostly alike; the ICC below is that of these numbers.
_DRAW = random.Random(7)
HUMAN = [_DRAW.choice((1, 2, 3, 4, 5)) for _ in range(40)]
JUDGE = [min(5, max(1, h + _DRAW.choice((0, 0, 0, 1, -1)))) for h in HUMAN]


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def wide(folder, header, human=HUMAN, judge=JUDGE, between=None):
    """A file of one row an item, a column between the human's and the judge's where one is given."""
    lines = [f"item,human,{header},gpt_judge" if between else "item,human,gpt_judge"]
    for at, (h, j) in enumerate(zip(human, judge, strict=True)):
        cells = [at + 1, h, *([between[at]] if between else []), j]
        lines.append(",".join(map(str, cells)))
    return write(folder / "ratings.csv", "\n".join(lines) + "\n")


def long(folder, rows, header="item,rater,score"):
    return write(folder / "long.csv", "\n".join([header, *(",".join(map(str, r)) for r in rows)]))


def icc(source, **options):
    (result,) = examine(source, resamples=0, **options).results
    return result.icc_c1


def kinds(source, severity=None):
    found = examine(source, resamples=0).findings
    return [f.kind for f in found if severity is None or f.severity == severity]


@pytest.fixture(name="right")
def _right(tmp_path):
    """The ICC of the clean file."""
    (tmp_path / "clean").mkdir()
    return icc(wide(tmp_path / "clean", ""))


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("status", ("completed", "discarded")),
        ("response_status", ("submitted", "draft")),
        ("AssignmentStatus", ("Approved", "Rejected")),
        ("was_cancelled", ("False", "True")),
        ("answer", ("accept", "ignore")),
        ("status", ("ok", "failed")),
        ("status", ("ok", "refused")),
        ("status", ("ok", "out_of_scale")),
        ("status", ("", "spam")),
    ],
)
def test_rows_that_were_taken_back_are_no_ratings(tmp_path, header, words):
    """N18: discarded, draft, rejected and failed rows keep a value that nobody stands for."""
    rows, clean = [], []
    for at, (h, j) in enumerate(zip(HUMAN, JUDGE, strict=True)):
        bad = at % 5 == 0
        rows += [(at, "human", 1 if bad else h, words[bad]), (at, "judge", j, words[0])]
        clean += [] if bad else [(at, "human", h), (at, "judge", j)]
    rated = long(tmp_path, rows, f"item,rater,score,{header}")
    _, tables = read_file(rated)
    scored = tables.ratings.filter(pl.col("rater") == "human")["score"]
    assert scored.drop_nulls().len() == 32
    own = words[1] in ("failed", "refused", "out_of_scale")
    assert ("rows_withdrawn" in [f.kind for f in tables.findings]) is not own
    got = icc(rated)
    (tmp_path / "clean").mkdir()
    assert got == pytest.approx(icc(long(tmp_path / "clean", clean)), abs=1e-12)


def test_an_unknown_status_is_left_out_and_named(tmp_path):
    rows = [
        (1, "human", 4, "ok"),
        (1, "judge", 4, "ok"),
        (2, "human", 3, "zonked"),
        (2, "judge", 3, "ok"),
    ]
    _, tables = read_file(long(tmp_path, rows, "item,rater,score,status"))
    (note,) = [f for f in tables.findings if f.kind == "rows_withdrawn"]
    assert (note.severity, note.count) == ("serious", 1)
    assert "What 'zonked' means is not known" in note.consequence
    assert tables.ratings.height == 3


def test_a_status_of_people_is_no_status_of_ratings(tmp_path):
    rows = [(i, r, 3, w) for i in (1, 2) for r, w in (("human", "student"), ("judge", "model"))]
    _, tables = read_file(long(tmp_path, rows, "item,rater,score,status"))
    assert tables.ratings.height == 4


@pytest.mark.parametrize(
    ("human", "judge"),
    [
        (lambda i: f"{i}", lambda i: f"{i}.0"),
        (lambda i: f"{i}", lambda i: f"{i}.00"),
        (lambda i: f"{i}.0", lambda i: f"{i}"),
        (lambda i: f"{i}", lambda i: f"{i}.0" if i % 2 else f"{i}"),
    ],
)
def test_1_and_1_0_are_one_id_within_a_column(tmp_path, human, judge):
    """N20: whole numbers of one table and floats of another, put below one another."""
    rows = [(human(i + 1), "human", h) for i, h in enumerate(HUMAN)]
    rows += [(judge(i + 1), "judge", j) for i, j in enumerate(JUDGE)]
    (result,) = examine(long(tmp_path, rows), resamples=0).results
    assert result.n_pairs == 40


def test_versions_stay_what_they_are(tmp_path):
    rows = [(i, r, 3) for i in ("1.0", "1.1", "1") for r in ("human", "judge")]
    _, tables = read_file(long(tmp_path, rows))
    assert tables.ratings["item"].unique().sort().to_list() == ["1", "1.0", "1.1"]


def test_facts_about_a_rating_are_kept(tmp_path):
    text = "post,human,judge,topic,how,p\n1,4,4,a,random,0.5\n2,3,2,b,chosen,1\n3,3,3,,,\n"
    write(tmp_path / "r.csv", text)
    keys = {"cluster": "topic", "origin": "how", "label_probability": "p", "item": "post"}
    source = Source(path="r.csv", **keys)
    study = build_study(
        {"name": "s", "data": {"reference": ["human"]}, "panel": [{"name": "judge"}]},
        folder=str(tmp_path),
    )
    ratings = read_tables(study, sources=[source]).ratings
    rows = ratings.filter(pl.col("rater") == "judge").select(
        "cluster", "origin", "label_probability"
    )
    assert rows.rows() == [("a", "random", 0.5), ("b", "chosen", 1.0), (None, None, None)]
    again = read_tables(study, sources=[], ratings=ratings).ratings
    assert again.select(rows.columns).equals(ratings.select(rows.columns))
    write(tmp_path / "r.csv", text.replace("chosen", "picked"))
    with pytest.raises(TableError, match="line 3, column 'how': origin 'picked' is unknown"):
        read_tables(study, sources=[source])


@pytest.mark.parametrize(
    "header",
    [
        "human_confidence", "human_time", "human_age", "human_id", "human_prev", "human_duration",
        "coder_confidence", "expert_years", "gpt_judge_cost", "human_votes", "judge_tokens",
        "rater_age", "doctor_experience", "gpt_judge_reason_len",
    ],
)  # fmt: skip
def test_what_is_said_about_a_rater_is_no_rater(tmp_path, right, header):
    """N16: a column about a rater is none whose numbers are averaged into the reference."""
    other = [1 + 3 * at % 5 for at in range(40)]
    source = wide(tmp_path, header, between=other)
    study, tables = read_file(source)
    assert [rater.name for rater in study.panel] == ["human", "gpt_judge"]
    assert icc(source) == pytest.approx(right, abs=1e-12)
    assert "columns_of_raters" in [f.kind for f in tables.findings]


def test_a_perfect_judge_stays_perfect_beside_a_column_of_confidence(tmp_path):
    text = "item,human,human_confidence,gpt_judge\n1,4,2,4\n2,3,5,3\n3,5,1,5\n4,2,5,2\n5,1,4,1\n6,4,1,4"
    assert icc(write(tmp_path / "r.csv", text)) == pytest.approx(1)


@pytest.mark.parametrize("code", [0, 6, 7, 8, 9, 10, -1, -9, 77, 99, 8.5, 0.5, -2, 44])
def test_codes_of_one_side_do_not_stretch_the_scale(tmp_path, code):
    """N17: five human cells hold a code; without them the ICC is that of the other 35 items."""
    human = [code if at in (3, 11, 19, 27, 35) else h for at, h in enumerate(HUMAN)]
    source = wide(tmp_path, "", human=human)
    study, _ = read_file(source)
    assert study.rubric.scale == (1, 5)
    kept = [at for at, h in enumerate(human) if h != code]
    (tmp_path / "kept").mkdir()
    clean = wide(tmp_path / "kept", "", [HUMAN[a] for a in kept], [JUDGE[a] for a in kept])
    assert icc(source) == pytest.approx(icc(clean), abs=1e-12)
    assert "out_of_scale" in kinds(source, "serious")


@pytest.mark.parametrize(
    ("human", "judge", "scale"),
    [
        ([1, 2, 3, 4, 5, 6, 7] * 4, [1, 2, 3, 4, 5, 5, 4] * 4, (1, 7)),
        ([1, 2, 3, 4, 5] * 6, [1, 2, 3, 4, 4] * 6, (1, 5)),
        ([1, 2, 3, 9, 5] * 6, [1, 2, 3, 9, 4] * 6, (1, 10)),
        ([1, 2, 3, 4, 5, 6, 8] * 4, [1, 2, 3, 4, 5, 5, 4] * 4, (1, 10)),
        ([0, 0.5, 1, 2, 3, 4, 5] * 4, [1, 2, 3, 4, 5, 5, 4] * 4, (0, 5)),
        ([0, 1, 2, 2] * 6, [0, 1, 1, 0] * 6, (0, 2)),
        ([1, 2, 3, 7], [2, 2, 3, 7], (1, 7)),
    ],
)
def test_levels_of_a_longer_scale_stay(tmp_path, human, judge, scale):
    study, _ = read_file(wide(tmp_path, "", human, judge))
    assert study.rubric.scale == scale


BINARY = [h % 2 for h in HUMAN]
UP_TO_FOUR = [min(h, 4) for h in HUMAN]


@pytest.mark.parametrize(
    ("levels", "value", "both", "scale"),
    [
        (HUMAN, 8.5, True, (1, 5)),
        (HUMAN, 9, True, (1, 5)),
        (HUMAN, -3, True, (1, 5)),
        (HUMAN, 0, True, (1, 5)),
        (HUMAN, 6, True, (1, 5)),
        (BINARY, 9, False, (0, 1)),
        (BINARY, 2, False, (0, 1)),
        (UP_TO_FOUR, 9, False, (1, 5)),
        (UP_TO_FOUR, 8.5, False, (1, 5)),
    ],
)
def test_a_value_out_of_the_pattern_is_asked_about(tmp_path, levels, value, both, scale):
    """N17: it may be a score or a code; the answer goes back as the question prints it."""
    human = [value if at == 3 else level for at, level in enumerate(levels)]
    judge = [value if both and at == 9 else level for at, level in enumerate(levels[::-1])]
    source = wide(tmp_path, "", human, judge)
    with pytest.raises(QuestionError) as caught:
        read_file(source)
    assert f"{value} stands in {2 if both else 1} score" in str(caught.value)
    missing, score = caught.value.choices
    study, tables = read_file(source, read=with_answer((), ReadOptions(), "words", missing)[1])
    assert study.rubric.scale == scale
    assert tables.ratings["score"].null_count() == 1 + both
    study, tables = read_file(source, read=with_answer((), ReadOptions(), "words", score)[1])
    assert study.rubric.scale[0] <= value <= study.rubric.scale[1]
    assert tables.ratings["score"].null_count() == 0
    study, tables = read_file(source, read=ReadOptions(assume=True))
    assert study.rubric.scale == scale
    assert "out_of_scale" in tables.ratings["status"].cast(pl.String)


@pytest.mark.parametrize("value", [3.5, 3.7])
def test_a_few_scores_between_whole_numbers_are_counted(tmp_path, value):
    """One such score sets the step of the scale: that is said aloud."""
    source = wide(tmp_path, "", [value if at == 3 else h for at, h in enumerate(HUMAN)])
    _, tables = read_file(source)
    (note,) = [f for f in tables.findings if f.kind == "scale_inferred"]
    assert note.severity == "serious"
    assert f"1 score of human of 40 is no whole number ({value})" in note.message
    half = [h + 0.5 if at % 3 else h for at, h in enumerate(BINARY)]
    _, tables = read_file(wide(tmp_path, "", half))
    (note,) = [f for f in tables.findings if f.kind == "scale_inferred"]
    assert note.severity == "note"


@pytest.mark.parametrize("header", ["metric_name", "name", "category", "key", "rubric"])
def test_a_column_that_may_name_the_attribute_is_asked_about(tmp_path, header):
    """N19: human rows say warm, judge rows toxic; that is no pair, and nobody should guess it."""
    rows = [(i, "human", "warm", h) for i, h in enumerate(HUMAN)]
    rows += [(i, "judge", "toxic", j) for i, j in enumerate(JUDGE)]
    source = long(tmp_path, rows, f"item,rater,{header},score")
    if header == "metric_name":
        study, _ = read_file(source)
        assert [a.name for a in study.rubric.attributes] == ["warm", "toxic"]
        return
    with pytest.raises(QuestionError, match="may name what was rated") as caught:
        read_file(source)
    assert (caught.value.key, caught.value.choices) == ("attribute", (header,))
    assert f'attribute = "{header}" under [[data.sources]]' in str(caught.value)
    study, tables = read_file(source, read=ReadOptions(attribute=header))
    assert [a.name for a in study.rubric.attributes] == ["warm", "toxic"]
    assert "reading_assumed" not in [f.kind for f in tables.findings]
    study, tables = read_file(source, read=ReadOptions(assume=True))
    assert [a.name for a in study.rubric.attributes] == ["warm", "toxic"]
    assert [f.severity for f in tables.findings if f.kind == "reading_assumed"] == ["serious"]
    study, _ = read_file(source, read=ReadOptions(ignore=(header,)))
    assert [a.name for a in study.rubric.attributes] == ["score"]


@pytest.mark.parametrize("header", ["what", "name"])
def test_a_text_that_makes_rows_unique_is_the_attribute(tmp_path, header):
    """N19: equal values on two attributes are no repeated rows."""
    rows = [
        (i, rater, what, value)
        for i, pair in enumerate(zip(HUMAN, JUDGE, strict=True))
        for rater, value in zip(("human", "judge"), pair, strict=True)
        for what in ("warm", "clear")
    ]
    study, tables = read_file(long(tmp_path, rows, f"item,rater,{header},score"))
    assert [a.name for a in study.rubric.attributes] == ["warm", "clear"]
    assert tables.ratings.height == 160
    assert "duplicate_rows" not in [f.kind for f in tables.findings]
    assert [f.severity for f in tables.findings if f.kind == "reading_assumed"] == ["serious"]


def test_the_topic_of_an_item_is_no_attribute(tmp_path):
    rows = [
        (i, r, "sleep" if i % 2 else "work", 3 + i % 2)
        for i in range(8)
        for r in ("human", "judge")
    ]
    study, _ = read_file(long(tmp_path, rows, "item,rater,category,score"))
    assert [a.name for a in study.rubric.attributes] == ["score"]


@pytest.mark.parametrize("cell", ["1.0000000000000002", "1.0000001192092896", "-1e-17"])
def test_round_off_at_the_end_of_a_scale_is_the_end(tmp_path, cell):
    """N10: a similarity of 1.0000000000000002 is a 1."""
    judge = [round(0.02 * at + 0.011, 3) for at in range(40)]
    human = [round(0.02 * at + 0.013, 3) for at in range(40)]
    judge[7] = cell
    study, tables = read_file(wide(tmp_path, "", human, judge))
    assert (study.rubric.scale, tables.ratings["status"].unique().to_list()) == ((0, 1), ["ok"])
    assert tables.ratings["score"].is_between(0, 1).all()


def test_per_cent_is_read_where_all_cells_say_it(tmp_path):
    """N07: 85% on 0 to 100 is 85, on 0 to 1 0.85, and on another scale it is unreadable."""
    source = write(tmp_path / "r.csv", "item,human,gpt_judge\n1,40%,60%\n2,85 %,90%\n")
    study, tables = read_file(source)
    assert study.rubric.scale == (0, 100)
    assert tables.ratings["score"].to_list() == [40, 85, 60, 90]
    data = {"sources": [{"path": "r.csv"}], "reference": ["human"]}
    for scale, first in (([0, 1], 0.4), ([0, 100], 40)):
        parts = {"name": "s", "data": data, "rubric": {"scale": scale, "step": 0}}
        parts["panel"] = [{"name": "gpt_judge"}]
        assert read_tables(build_study(parts, folder=str(tmp_path))).ratings["score"][0] == first
    parts["rubric"] = {"scale": [1, 5]}
    with pytest.raises(TableError, match="holds '40%' where a number is needed"):
        read_tables(build_study(parts, folder=str(tmp_path)))


def test_words_of_two_levels_and_of_no_score_are_read(tmp_path):
    text = "item,human,judge\n1,pass,pass\n2,fail,refused\n3,pass,n/a\n4,fail,error\n"
    _, tables = read_file(write(tmp_path / "r.csv", text))
    judge = tables.ratings.filter(pl.col("rater") == "judge")
    assert judge["score"].to_list() == [1, None, None, None]
    assert judge["status"].to_list() == ["ok", "refused", "blank", "failed"]
    text = 'item;human;judge\n1;4 stars;"3,5"\n2;Score: 2;4/5\n3;5;1\n'
    _, tables = read_file(write(tmp_path / "s.csv", text))
    assert tables.ratings["score"].to_list() == [4, 2, 5, 3.5, 4, 1]


def test_a_number_of_another_scale_among_numbers_is_missing_and_counted(tmp_path):
    """80 % or 8/10 beside 1 to 5 ends no file: it is missing, as in a reply."""
    cells = ["4", "80 %", "5", "8/10", "1", "4 stars", "Score: 3", "refused", "n/a"]
    rows = "".join(f"{at},{1 + at % 5},{cell}\n" for at, cell in enumerate(cells))
    source = write(tmp_path / "r.csv", "item,human,gpt_judge\n" + rows)
    study, tables = read_file(source)
    assert study.rubric.scale == (1, 5)
    judge = tables.ratings.filter(pl.col("rater") == "gpt_judge")
    assert judge["score"].to_list() == [4, None, 5, None, 1, 4, 3, None, None]
    assert judge["status"].cast(pl.String).to_list() == [
        "ok", "unparsable", "ok", "unparsable", "ok", "ok", "ok", "refused", "blank",
    ]  # fmt: skip
    assert "unparsable" in kinds(source, "serious")


def test_words_of_an_order_are_asked_about(tmp_path):
    words = ("very poor", "poor", "fair", "good", "excellent")
    rows = [
        (i, words[h - 1], words[j - 1]) for i, (h, j) in enumerate(zip(HUMAN, JUDGE, strict=True))
    ]
    source = long(tmp_path, rows, "item,human,judge")
    with pytest.raises(QuestionError, match="--words 'very poor=1,poor=2,fair=3,good=4,"):
        read_file(source)
    given = dict(zip(words, (1.0, 2.0, 3.0, 4.0, 5.0), strict=True))
    _, tables = read_file(source, read=ReadOptions(words=given))
    assert tables.ratings["score"].to_list() == [*HUMAN, *JUDGE]
    _, tables = read_file(source, read=ReadOptions(assume=True))
    (note,) = [f for f in tables.findings if f.kind == "reading_assumed"]
    assert "very poor = 1, poor = 2" in note.message


def test_a_counter_is_no_attribute_and_may_be_the_ids(tmp_path):
    lines = [f"{at},{h},{j}" for at, (h, j) in enumerate(zip(HUMAN, JUDGE, strict=True), 1)]
    source = write(tmp_path / "r.csv", "\n".join(["Nr.,human,judge", *lines]))
    study, tables = read_file(source)
    assert [r.name for r in study.panel] == ["human", "judge"]
    assert tables.items.height == 40
    lines = [f"t{at},{line}" for at, line in enumerate(lines)]
    source = write(tmp_path / "r.csv", "\n".join(["ticket_id,Nr.,human,judge", *lines]))
    study, tables = read_file(source)
    assert [r.name for r in study.panel] == ["human", "judge"]
    assert tables.items["item"][0] == "t0"


@pytest.mark.parametrize("header", ["annotator", "completed_by"])
def test_whole_numbers_name_annotators_where_items_come_again(tmp_path, header):
    """N27: JSON-MIN of Label Studio counts its annotators."""
    rows = [(i, a, h) for i, h in enumerate(HUMAN) for a in (1, 2)]
    _, tables = read_file(long(tmp_path, rows, f"id,{header},rating"))
    assert tables.raters["rater"].to_list() == ["1", "2"]


def sheet(path, cells, merged=()):
    """A workbook of the cells (row, column, value), counted from 0."""
    book = xlsxwriter.Workbook(str(path))
    page = book.add_worksheet("A")
    for row, column, value in cells:
        page.write(row, column, value)
    for top, left, bottom, right, value in merged:
        page.merge_range(top, left, bottom, right, value)
    book.close()
    return path


def rows_of(*rows):
    return [(y, x, v) for y, row in enumerate(rows) for x, v in enumerate(row) if v is not None]


RATED = [
    row
    for at, (h, j) in enumerate(zip(HUMAN, JUDGE, strict=True))
    for row in ((f"p{at}", "human", h), (None, "judge", j))
]


def test_merged_ids_are_filled_down(tmp_path):
    """N23: one id cell over the rows of all raters of an item."""
    cells = rows_of(("item", "rater", "score"), *((None, *row[1:]) for row in RATED))
    merged = [(1 + 2 * at, 0, 2 + 2 * at, 0, f"p{at}") for at in range(40)]
    source = sheet(tmp_path / "r.xlsx", cells, merged)
    study, tables = read_file(source)
    assert tables.ratings.height == 80
    assert [f.count for f in tables.findings if f.kind == "cells_merged"] == [40]
    assert examine(source, resamples=0).results[0].n_pairs == 40
    assert study.data.reference == ("human",)


def test_a_merged_score_is_that_of_both_items(tmp_path):
    cells = rows_of(("item", "human", "judge"), *((f"p{i}", None, 3) for i in range(4)))
    source = sheet(tmp_path / "r.xlsx", cells, [(1, 1, 2, 1, 4), (3, 1, 4, 1, 2)])
    _, tables = read_file(source)
    human = tables.ratings.filter(pl.col("rater") == "human")
    assert human["score"].to_list() == [4, 4, 2, 2]


def test_ids_written_once_are_an_error_that_names_the_blanks(tmp_path):
    source = sheet(tmp_path / "r.xlsx", rows_of(("item", "rater", "score"), *RATED))
    with pytest.raises(
        TableError, match=r"40 rows of 80 .* without an id in column 'item': row 3,"
    ):
        read_file(source)


@pytest.mark.parametrize("far", [(1_048_574, 16_383), (199_999, 701)])
def test_a_stray_cell_is_named_before_room_is_made_for_it(tmp_path, far):
    cells = [*rows_of(("item", "human", "judge"), ("1", 2, 3), ("2", 3, 3)), (*far, "x")]
    source = sheet(tmp_path / "r.xlsx", cells)
    with pytest.raises(TableError, match="a stray cell lies far from the table"):
        read_file(source)


def test_a_workbook_that_unpacks_to_far_more_is_refused(tmp_path):
    source = sheet(tmp_path / "r.xlsx", rows_of(("item", "human", "judge"), ("1", 2, 3)))
    with zipfile.ZipFile(source, "a", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/padding.xml", b"<a>" + bytes(120_000_000))
    with pytest.raises(TableError, match=r"unpacks from [\d,]+ to 120,"):
        read_file(source)


def test_a_study_nested_too_deeply_is_an_error_of_ours(tmp_path):
    source = write(tmp_path / "s.toml", f"a = {'[' * 100_000}{']' * 100_000}")
    with pytest.raises(StudyError, match="nested too deeply"):
        load_study(source)


def test_nested_annotations_of_label_studio_give_people_and_a_model(tmp_path):
    """N27: read as rows, a model's confidence of 0.9 stood among the ratings."""
    result = [{"value": {"rating": 4}, "type": "rating", "from_name": "r", "to_name": "t"}]
    task = {"id": 1, "data": {"text": "A walk in the park."},
            "annotations": [{"completed_by": 1, "result": result}],
            "predictions": [{"score": 0.9, "result": result}]}  # fmt: skip
    source = write(tmp_path / "ls.json", json.dumps([task]))
    _, found = read_file(source)
    assert found.ratings.select("rater", "score").rows() == [("annotator 1", 4), ("prediction", 4)]
    assert found.raters["kind"].to_list() == ["human", "judge"]


def test_items_that_no_person_rated_are_unlabelled_and_not_missing(tmp_path):
    """600 judged and 200 labelled give what the 200 alone give."""
    text = ["item,human,judge"]
    text += [f"x{at},{HUMAN[at] if at < 40 else ''},{JUDGE[at % 40]}" for at in range(120)]
    source = write(tmp_path / "all.csv", "\n".join(text))
    _, tables = read_file(source)
    assert tables.ratings["status"].unique().to_list() == ["ok"]
    assert [f.count for f in tables.findings if f.kind == "unlabelled"] == [80]
    alone = write(tmp_path / "some.csv", "\n".join(text[:41]))
    (whole,) = examine(source, resamples=0).results
    (part,) = examine(alone, resamples=0).results
    assert (whole.n_pairs, whole.icc_c1, whole.bias) == (part.n_pairs, part.icc_c1, part.bias)
    worst = {f.kind for f in examine(source, resamples=0).findings if f.severity != "note"}
    assert not worst & {"ids_unmatched", "responses_unrated", "missing_scores"}


def test_one_blank_of_two_people_is_missing(tmp_path):
    text = "item,human a,human b,judge\n1,4,,4\n2,3,3,3\n3,,,2\n"
    _, tables = read_file(write(tmp_path / "r.csv", text))
    blank = tables.ratings.filter(pl.col("status") == "blank")
    assert blank.select("item", "rater").rows() == [("1", "human b")]


def test_two_more_header_rows_of_qualtrics_are_left_out(tmp_path):
    """N26: row 2 holds the questions, row 3 their import ids."""
    ids = ['"{""ImportId"":""QID1""}"', '"{""ImportId"":""QID2""}"', '"{""ImportId"":""QID3""}"']
    text = ["item,human,judge", "Which post?,How warm?,How warm?", ",".join(ids)]
    text += [f"p{at},{h},{j}" for at, (h, j) in enumerate(zip(HUMAN, JUDGE, strict=True))]
    _, tables = read_file(write(tmp_path / "r.csv", "\n".join(text)))
    assert tables.ratings["score"].to_list() == [*HUMAN, *JUDGE]
    assert [f.count for f in tables.findings if f.kind == "rows_of_questions"] == [2]


def test_columns_of_mturk_are_known(tmp_path):
    """N26: Input.*, Answer.* and WorkerId; a reward and a work time are no ratings."""
    rows = [
        (f"h{i}", w, 60 + i, "Approved" if i else "Rejected", f"p{i}", h)
        for i, h in enumerate(HUMAN)
        for w in ("W1", "W2")
    ]
    header = "HITId,WorkerId,WorkTimeInSeconds,AssignmentStatus,Input.post_id,Answer.empathy"
    study, tables = read_file(long(tmp_path, rows, header))
    assert [a.name for a in study.rubric.attributes] == ["empathy"]
    assert tables.raters["rater"].to_list() == ["W1", "W2"]
    assert tables.ratings.height == 78


def test_a_form_with_a_row_a_rater_is_turned(tmp_path):
    """N26: Google Forms: a row a person, a column an answer to be rated."""
    text = "Timestamp,Email Address,How warm? [Answer 1],How warm? [Answer 2]\n"
    text += "2024-01-01,ada@example.org,4,2\n2024-01-02,ben@example.org,5,1\n"
    source = write(tmp_path / "form.csv", text)
    with pytest.raises(TableError, match='layout = "raters-by-items"'):
        read_file(source)
    study, tables = read_file(source, read=ReadOptions(layout="raters-by-items"))
    assert [a.name for a in study.rubric.attributes] == ["How warm?"]
    rows = tables.ratings.select("item", "rater", "score").rows()
    assert ("Answer 2", "ben@example.org", 1.0) in rows
    assert len(rows) == 4


# More of N16, N18 and N19: what no list of headers knows is asked about, not guessed


@pytest.mark.parametrize(
    "header", ["human_rt_ms", "human_rank", "human_flag", "n_human", "human sd", "human_n"]
)
def test_a_column_called_like_a_person_and_more_is_asked_about(tmp_path, header):
    text = [f"item,human,{header},gpt_judge"]
    text += [f"p{at},{h},{7 - h},{j}" for at, (h, j) in enumerate(zip(HUMAN, JUDGE, strict=True))]
    path = write(tmp_path / "r.csv", "\n".join(text))
    with pytest.raises(QuestionError, match="may hold what was measured about 'human'") as asked:
        read_file(path)
    assert (asked.value.key, asked.value.choices, asked.value.likely) == (
        "ignore",
        (header,),
        False,
    )
    _, tables = read_file(path, read=ReadOptions(ignore=(header,)))
    assert set(tables.ratings["rater"]) == {"human", "gpt_judge"}
    _, tables = read_file(path, reference=("human", header))
    assert set(tables.ratings["rater"]) == {"human", header, "gpt_judge"}


@pytest.mark.parametrize("header", ["human_2", "human_b", "human_expert"])
def test_a_second_person_is_a_rater(tmp_path, header):
    text = [f"item,human,{header},gpt_judge"]
    text += [f"p{at},{h},{h},{j}" for at, (h, j) in enumerate(zip(HUMAN, JUDGE, strict=True))]
    _, tables = read_file(write(tmp_path / "r.csv", "\n".join(text)))
    assert set(tables.ratings["rater"]) == {"human", header, "gpt_judge"}


@pytest.mark.parametrize(
    ("header", "fine", "gone", "key"),
    [
        ("state", "accepted", "rejected", "status"),
        ("quality_flag", "approved", "discarded", "status"),
        ("is_valid", "true", "false", "ignore"),
        ("excluded", "0", "1", "ignore"),
        ("keep", "yes", "no", "ignore"),
    ],
)
def test_a_column_that_may_be_a_status_is_asked_about(tmp_path, header, fine, gone, key):
    rows = [
        (f"p{at}", who, s, gone if at % 5 == 0 else fine)
        for at, pair in enumerate(zip(HUMAN, JUDGE, strict=True))
        for who, s in zip(("human", "gpt"), pair, strict=True)
    ]
    path = long(tmp_path, rows, f"item,rater,score,{header}")
    with pytest.raises(QuestionError, match="may say which rows are no ratings") as asked:
        read_file(path)
    assert asked.value.key == key
    if key == "status":
        _, tables = read_file(path, read=ReadOptions(status=header))
        assert tables.ratings.height < len(rows)
    _, tables = read_file(path, read=ReadOptions(ignore=(header,)))
    assert tables.ratings.height == len(rows)


@pytest.mark.parametrize("header", ["facet", "label_name", "variable", "Skala", "type"])
def test_words_that_people_and_judges_never_share_are_asked_about(tmp_path, header):
    rows = [
        (f"p{at}", who, word, s)
        for at, pair in enumerate(zip(HUMAN, JUDGE, strict=True))
        for who, word, s in zip(("human", "gpt"), ("warm", "toxic"), pair, strict=True)
    ]
    path = long(tmp_path, rows, f"item,rater,{header},score")
    with pytest.raises(QuestionError, match="may name what was rated"):
        read_file(path)
    _, tables = read_file(path, read=ReadOptions(attribute=header))
    assert set(tables.ratings["attribute"]) == {"warm", "toxic"}
    kinds = [(i, w, {"warm": "human", "toxic": "model"}[word], s) for i, w, word, s in rows]
    _, tables = read_file(long(tmp_path, kinds, f"item,rater,{header},score"))
    assert tables.ratings.height == len(rows)


def test_a_word_for_no_score_may_have_a_reason_behind_it(tmp_path):
    """In a public set eight of 22,968 answers yes or no are "n/a: problem is resolved"."""
    path = tmp_path / "answers.csv"
    said = ["yes", "no", "N/A: solved before", "refused (too long)", "skipped - not in English"]
    rows = "".join(f'{item},ann,"{word}"\n' for item, word in enumerate(said))
    path.write_text("item,rater,score\n" + rows, encoding="utf-8")
    ratings = read_file(path)[1].ratings
    assert ratings["score"].to_list() == [1, 0, None, None, None]
    assert ratings["status"].cast(pl.String).to_list()[2:] == ["blank", "refused", "blank"]
    path.write_text(f"item,rater,score\n{rows}9,ann,error-prone\n", encoding="utf-8")
    with pytest.raises(TableError, match="where a number is needed"):
        read_file(path)


@pytest.mark.parametrize(
    ("header", "words", "key"),
    [
        ("is_deleted", ("0", "1"), "status"),
        ("flag", ("", "spam"), "status"),
        ("spam", ("no", "yes"), "ignore"),
        ("state", ("final", "superseded"), "status"),
    ],
)
def test_rows_that_another_column_may_take_back_are_asked_about(tmp_path, header, words, key):
    """N18 under headers that are no usual word for a status, blank where nothing is wrong."""
    rows = []
    for at, (h, j) in enumerate(zip(HUMAN, JUDGE, strict=True)):
        rows += [(at, "human", h, words[at % 5 == 0]), (at, "judge", j, words[0])]
    source = long(tmp_path, rows, f"item,rater,score,{header}")
    with pytest.raises(QuestionError) as caught:
        read_file(source)
    assert (caught.value.key, caught.value.choices) == (key, (header,))
    if key == "status":
        assert read_file(source, read=ReadOptions(status=header))[1].ratings.height == 72
    assert read_file(source, read=ReadOptions(ignore=(header,)))[1].ratings.height == 80


@pytest.mark.parametrize("header", ["human_revision", "gpt_judge_version", "judge_entropy"])
def test_further_words_about_a_rater_are_no_raters(tmp_path, right, header):
    assert icc(wide(tmp_path, header, between=[1 + 3 * at % 4 for at in range(40)])) == right


UNKNOWN = {
    "long": "item,rater,score\n"
    + "".join(f"q{i},{r},{'yes' if i % 3 else 'no'}\n" for i in range(12) for r in ("ann", "gpt"))
    + "q12,ann,Maybe\nq12,gpt,yes\nq13,ann,yes\nq13,gpt,maybe \n",
    "columns": "item,human,gpt_judge\n"
    + "".join(f"q{i},{'pass' if i % 3 else 'fail'},pass\n" for i in range(12))
    + "q12,maybe,fail\nq13,pass,Maybe\n",
    "attributes": "item,rater,Calm,Warm\n"
    + "".join(f"q{i},{r},{i % 2},{i % 3 % 2}\n" for i in range(12) for r in ("ann", "gpt"))
    + "q12,ann,maybe,1\nq12,gpt,1,0\nq13,ann,1,1\nq13,gpt,0,maybe\n",
    "numbers": "item,human,gpt_judge\n"
    + "".join(f"q{i},{1 + i % 5},{1 + i * i % 5}\n" for i in range(12))
    + "q12,maybe,3\nq13,4,maybe\n",
    "order": "item,human,gpt_judge\n"
    + "".join(f"q{i},{('low', 'medium', 'high')[i % 3]},low\n" for i in range(12))
    + "q12,maybe,high\nq13,low,maybe\n",
}


@pytest.mark.parametrize("layout", UNKNOWN)
def test_a_word_that_nobody_knows_is_asked_about(tmp_path, layout):
    """The question names that word alone, how often and where; its answer goes back as it stands."""
    source = write(tmp_path / "r.csv", UNKNOWN[layout])
    with pytest.raises(QuestionError) as caught:
        read_file(source)
    question = caught.value
    assert question.key == "words"
    assert "'maybe'" in str(question).casefold()
    assert "'yes' where" not in str(question)
    rows = [n for n, line in enumerate(UNKNOWN[layout].splitlines(), 1) if "aybe" in line]
    assert f"(2 cells: lines {rows[0]}, {rows[1]})" in str(question)
    line = question.line.removeprefix("words = ")
    words = with_answer((), ReadOptions(), "words", question.choices[0])[1].words
    assert {word.strip().casefold(): value for word, value in words.items()}["maybe"] == "missing"
    assert tomllib.loads(f"words = {line}")["words"] == words
    _, tables = read_file(source, read=ReadOptions(words=words))
    assert tables.ratings["score"].null_count() == 2
    assert set(tables.ratings["status"]) == {"ok", "unparsable"}
    number = {**words, **dict.fromkeys([w for w in words if w.strip().casefold() == "maybe"], 1.0)}
    _, tables = read_file(source, read=ReadOptions(words=number))
    assert tables.ratings["score"].null_count() == 0
    _, tables = read_file(source, read=ReadOptions(assume=True))
    assert tables.ratings["score"].null_count() == 2
    (note,) = [f for f in tables.findings if f.kind == "words_missing"]
    assert (note.severity, note.count) == ("serious", 2)
    assert "aybe' (2)" in note.message
    study = {"name": "s", "data": {"sources": [{"path": "r.csv", "words": words}]}}
    study["rubric"] = {"scale": [0, 5]}
    tables = read_tables(build_study(study, folder=str(tmp_path)))
    assert tables.ratings["score"].null_count() == 2


@pytest.mark.parametrize("cell", ["03-Apr", "3-4", "4 or 5", "4 (0.9)", "$4 - $5"])
def test_what_is_no_one_number_is_asked_about(tmp_path, cell):
    """Excel makes 03-Apr of 3-4: that was read as 3."""
    human = [cell if at in (3, 9) else h for at, h in enumerate(HUMAN)]
    with pytest.raises(QuestionError) as caught:
        read_file(wide(tmp_path, "", human))
    assert (caught.value.key, f"{cell}=missing" in caught.value.choices[0]) == ("words", True)


def test_words_of_a_judge_are_asked_about_as_those_of_people(tmp_path):
    source = wide(tmp_path, "", judge=[f"{j} (0.9)" for j in JUDGE])
    with pytest.raises(QuestionError, match=r"'gpt_judge' holds words .*=NUMBER"):
        read_file(source)


def test_a_level_beyond_the_scale_that_one_side_often_uses_is_asked_about(tmp_path):
    human = [0 if at % 2 else h for at, h in enumerate(HUMAN)]
    source = wide(tmp_path, "", human=human)
    with pytest.raises(QuestionError, match="0 stands in 20 scores"):
        read_file(source)
    study, _ = read_file(source, read=ReadOptions(words={"0": 0.0}))
    assert study.rubric.scale == (0, 5)


def test_many_unknown_words_are_answered_together(tmp_path):
    rows = "".join(f"q{i},{1 + i % 5},{f'remark {i}' if i % 3 == 0 else 4}\n" for i in range(60))
    source = write(tmp_path / "r.csv", "item,human,gpt_judge\n" + rows)
    with pytest.raises(QuestionError, match=r"and 15 other texts.* Say --words '\*=missing'"):
        read_file(source)
    _, tables = read_file(source, read=ReadOptions(words={"*": "missing", "remark 3": 2}))
    assert tables.ratings["score"].null_count() == 19
    (note,) = [f for f in tables.findings if f.kind == "words_missing"]
    assert (note.severity, note.count) == ("note", 19)


def test_an_answer_to_a_question_adds_to_what_was_answered_before(tmp_path):
    """What the question prints as an option holds the words that were declared already."""
    source = write(tmp_path / "r.csv", UNKNOWN["numbers"] + 'q14,"no, never",2\n')
    with pytest.raises(QuestionError) as caught:
        read_file(source, read=ReadOptions(words={"maybe": 3}))
    assert caught.value.choices[0] == 'maybe=3,"no, never"=missing'
    words = with_answer((), ReadOptions(), "words", caught.value.choices[0])[1].words
    assert words == {"maybe": 3, "no, never": "missing"}
    assert read_file(source, read=ReadOptions(words=words))[1].ratings["score"].null_count() == 1


def test_words_of_a_number_are_declared_alike(tmp_path):
    """A code for no score may be declared where all cells are numbers."""
    source = wide(tmp_path, "", human=[9 if at < 3 else h for at, h in enumerate(HUMAN)])
    study, tables = read_file(source, read=ReadOptions(words={"9": "missing"}))
    assert study.rubric.scale == (1, 5)
    assert tables.ratings["score"].null_count() == 3
    assert "out_of_scale" not in tables.ratings["status"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_stream_asks_about_the_same_words(tmp_path, suffix):
    """A word is known by all of its column, in whatever part of the file the others stand."""
    source = write(tmp_path / "r.csv", UNKNOWN["long"])
    if suffix == "parquet":
        pl.read_csv(source).write_parquet(tmp_path / "r.parquet")
    files = [tmp_path / f"r.{suffix}"]
    with pytest.raises(QuestionError, match=r"row 25 .* 'Maybe'.* \(2 cells: rows 25, 28\)"):
        list(tidy_batches(files, ReadOptions(), []))
    notes = []
    (batch,) = tidy_batches(files, ReadOptions(words={"maybe": "missing"}), notes)
    whole = read_file(source, read=ReadOptions(words={"maybe": "missing"}))[1].ratings
    same = ["item", "rater", "score", "status"]
    order = pl.col("status").cast(pl.String)
    assert batch.select(same).with_columns(order).equals(whole.select(same).with_columns(order))
    (batch,) = tidy_batches(files, ReadOptions(assume=True), notes)
    assert [(note.kind, note.severity, note.count) for note in notes] == [
        ("words_missing", "serious", 2)
    ]
