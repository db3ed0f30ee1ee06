"""Cells, names and ids as people write them: what is a number, a code, a rater, a date."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

from voirdire import TableError
from voirdire.study import build_study
from voirdire.tables import (
    audit,
    canonical_ids,
    from_frame,
    infer_scale,
    read_file,
    read_tables,
    to_scores,
)


def wide(human, judge, **more):
    ids = [f"i{n}" for n in range(len(human))]
    return pl.DataFrame({"item": ids, "human": human, "judge": judge, **more})


def found(frame, **options):
    study, tables = from_frame(frame, **options)
    return study, tables, {note.kind: note for note in audit(tables, study)}


@pytest.mark.parametrize(
    ("cell", "decimal_comma", "score"),
    [
        ("3,5", False, 3.5), ("3,5", True, 3.5), ("0,125", False, 0.125),
        ("4,333", True, 4.333), ("4,333", False, "bad"), ("1,234,567", False, 1234567.0),
        ("n.a.", False, None), ("N.A.", False, None), ("\u2013", False, None),
        ("#DIV/0!", False, None), ("20%", False, "bad"), ("3/5", False, 3.0),
    ],
)  # fmt: skip
def test_a_cell_among_numbers(cell, decimal_comma, score):
    scores, bad, _ = to_scores(pl.Series(["2", cell]), decimal_comma=decimal_comma)
    assert bad[1] == (score == "bad")
    assert scores.to_list() == [2.0, None if score == "bad" else score]


def test_whole_points_from_0_to_100_are_a_scale_though_some_lie_next_to_each_other():
    human = [float(k * 37 % 101) for k in range(60)]
    judge = [float((k * 37 + k % 9) % 101) for k in range(60)]
    study, tables, _ = found(wide(human, judge), reference=["human"])
    assert study.rubric.scale == (0, 100)
    assert tables.ratings["score"].null_count() == 0


def test_truth_values_are_numbers_only_among_themselves():
    assert to_scores(pl.Series(["TRUE", "false", "NA", "1"]))[0].to_list() == [1, 0, None, 1]
    scores, bad, _ = to_scores(pl.Series(["TRUE", "4", "2"]))
    assert (scores.to_list(), bad.to_list()) == ([None, 4, 2], [True, False, False])


def test_single_precision_keeps_its_decimals():
    scores, _, _ = to_scores(pl.Series([0.1, 0.7, None], dtype=pl.Float32))
    assert scores.to_list() == [0.1, 0.7, None]


def test_unseen_letters_and_odd_blanks_in_ids():
    ids = pl.Series(["a\u200b", "\ufeffb", "c\u00a0d", " e\u00a0", "\u200b"])
    assert canonical_ids(ids).to_list() == ["a", "b", "c d", "e", None]


def test_midnights_are_dates():
    days = [dt.date(2024, 1, 2), dt.date(2024, 3, 4), None]
    assert canonical_ids(pl.Series(days).cast(pl.Datetime)).to_list() == [
        "2024-01-02",
        "2024-03-04",
        None,
    ]


@pytest.mark.parametrize("last", [["Total"], ["Mean:", "SD", "Min", "Max"], ["std. dev."]])
def test_sums_below_the_items_are_left_out_aloud(last):
    body = wide([1, 2, 5, 4], [2, 2, 4, 5])
    below = pl.DataFrame({"item": last, "human": [37] * len(last), "judge": [39] * len(last)})
    study, tables, notes = found(pl.concat([body, below]))
    assert tables.items["item"].to_list() == ["i0", "i1", "i2", "i3"]
    assert study.rubric.scale == (1, 5)
    assert notes["summary_rows"].severity == "serious"
    assert notes["summary_rows"].count == len(last)


@pytest.mark.parametrize("ids", [["a", "Total", "b"], ["Anna", "Ben", "Max"], ["mean", "mean"]])
def test_items_with_names_of_sums_stay(ids):
    frame = pl.DataFrame({"item": ids, "human": range(1, len(ids) + 1)})
    raters = ["human"] * len(ids) if len(set(ids)) == len(ids) else ["human", "judge"]
    long = frame.rename({"human": "score"}).with_columns(rater=pl.Series(raters))
    _, tables, notes = found(long)
    assert tables.ratings.height == len(ids)
    assert "summary_rows" not in notes


@pytest.mark.parametrize(
    ("ids", "severity", "count"),
    [
        (["1-1", "1-2", "02-Jan"], "serious", 1),
        (["x", "2024-01-02 00:00:00", "2024-01-03 00:00:00"], "serious", 2),
        ([dt.date(2024, 1, 1), dt.date(2024, 1, 2), dt.date(2024, 1, 3)], "note", 3),
    ],
)
def test_ids_that_became_dates(ids, severity, count):
    frame = pl.DataFrame({"item": ids, "human": [1, 2, 3], "judge": [1, 3, 2]})
    note = found(frame)[2]["date_ids"]
    assert (note.severity, note.count) == (severity, count)


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([1, 2, 3, 4, 5, 99, 99], (1, 5)),
        ([1, 2, 3, 4, 5, -1], (1, 5)),
        ([1, 2, 3, 4, 5, -99, 999], (1, 5)),
        ([0, 10, 5, -9], (0, 10)),
        ([20, 60, 99, 100], (0, 100)),
        ([0, 1, 1, -1], (-1, 1)),
        ([-2, -1, 0, 1, 2], (-2, 2)),
        ([99, 99, 98, 1], (0, 100)),
    ],
)
def test_codes_for_missing_scores_do_not_stretch_the_scale(values, scale):
    inferred = infer_scale(pl.Series(values))
    assert (inferred.low, inferred.high) == scale


def test_a_code_is_missing_and_said_to_be_one():
    human = [1, 2, 3, 4, 5, 99] * 2
    study, tables, notes = found(wide(human, [1, 2, 3, 4, 5, 5] * 2))
    assert study.rubric.scale == (1, 5)
    note = notes["out_of_scale"]
    assert (note.severity, note.count) == ("serious", 2)
    assert note.consequence.endswith("99 is a usual code for a missing score.")
    assert tables.ratings["status"].to_list().count("out_of_scale") == 2


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        (lambda v: 2 * v, "The scores run from 2 to 10, those of human from 1 to 5."),
        (lambda v: (v - 1) / 4, "The scores run from 0 to 1, those of human from 1 to 5."),
        (lambda v: v, None),
        (lambda v: min(5, v + 1), None),
    ],
)
def test_raters_on_two_scales(judge, said):
    human = [1, 2, 3, 4, 5] * 3
    notes = found(wide(human, [float(judge(v)) for v in human]))[2]
    assert (notes["scales_differ"].message if "scales_differ" in notes else None) == said


def test_names_that_differ_by_case_or_blanks():
    frame = pl.DataFrame(
        {
            "item": ["1", "2", "1", "2"],
            "rater": ["human", "human", "GPT-4", "gpt 4"],
            "attribute": ["Calm", "calm", "Calm", "Calm"],
            "score": [1, 2, 3, 4],
        }
    )
    study, tables = from_frame(frame)
    places = [note.places for note in audit(tables, study) if note.kind == "names_alike"]
    assert places == [("GPT-4", "gpt 4"), ("Calm", "calm")]


@pytest.mark.parametrize(
    ("column", "holds"),
    [
        (["Warm", "Cool", "Warm", "Warm"], "'expert 1' (Warm)"),
        ([None] * 4, "'expert 1' (blank throughout)"),
    ],
)
def test_a_rater_in_words_or_blank_is_said(column, holds):
    frame = wide([1, 2, 3, 4], [1, 2, 4, 4]).with_columns(pl.Series("expert 1", column))
    note = found(frame)[2]["rater_unread"]
    assert (note.severity, note.places) == ("serious", (holds,))


def test_remarks_of_raters_are_not_ratings_in_words():
    frame = wide([1, 2, 3, 4], [1, 2, 4, 4], judge_remarks=["a", "b", "c", "d"])
    assert "rater_unread" not in found(frame)[2]


@pytest.mark.parametrize("cell", ["", "-", "n/a"])
def test_a_blank_column_called_judge_names_no_raters(tmp_path, cell):
    path = tmp_path / "r.csv"
    path.write_text(f"item,human,judge\ni1,4,{cell}\ni2,5,{cell}\n")
    study, tables = read_file(path)
    assert [rater.name for rater in study.panel] == ["human"]
    assert {"one_rater", "rater_unread"} <= {note.kind for note in audit(tables, study)}


def test_measures_beside_raters_are_not_raters():
    frame = wide([1, 2, 3], [2, 2, 3], age=[31, 40, 29], n_tokens=[300, 310, 320])
    study, _, notes = found(frame)
    assert [rater.name for rater in study.panel] == ["human", "judge"]
    assert study.rubric.scale == (1, 5)
    assert notes["columns_unread"].places == ("age", "n_tokens")


@pytest.mark.parametrize("mark", ["_", ".", " "])
def test_a_grid_whose_attributes_come_first(mark):
    names = [f"{a}{mark}{r}" for r in ("human", "gpt-4o") for a in ("Calm", "Warm")]
    frame = pl.DataFrame({"item": ["1", "2"], **{name: [n, n + 1] for n, name in enumerate(names)}})
    study, tables = from_frame(frame)
    assert [rater.name for rater in study.panel] == ["human", "gpt-4o"]
    assert [each.name for each in study.rubric.attributes] == ["Calm", "Warm"]
    warm = tables.ratings.filter(pl.col("rater") == "gpt-4o", pl.col("attribute") == "Warm")
    assert warm["score"].to_list() == [3, 4]


def test_an_object_beside_raters_is_no_reply():
    frame = wide([1, 2, 3], [2, 2, 3], meta=['{"tokens": 12}', '{"tokens": 9}', '{"tokens": 7}'])
    _, tables, notes = found(frame)
    assert tables.ratings["score"].to_list() == [1, 2, 3, 2, 2, 3]
    assert "one_rater" not in notes


def test_what_columns_hold_where_none_is_of_scores():
    frame = pl.DataFrame({"item": ["1", "2"], "human": ["kind", "curt"], "judge": ["curt", "a"]})
    with pytest.raises(
        TableError, match=r"no column of scores .*; row 0 holds '1', 'kind', 'curt'"
    ):
        from_frame(frame)


@pytest.mark.parametrize("word", ["#N/A", "nan", "NaN", "<NA>"])
def test_what_programs_write_without_an_id_is_blank(word):
    frame = pl.DataFrame({"item": ["a", word, word], "human": [1, 2, 3], "judge": [1, 2, 3]})
    _, tables, notes = found(frame)
    assert tables.items["item"].to_list() == ["a"]
    assert notes["null_ids"].count == 2
    frame = pl.DataFrame({"item": ["a", "a"], "rater": ["x", word], "score": [1, 2]})
    with pytest.raises(TableError, match="row 1 has no rater"):
        from_frame(frame)


def test_ids_with_an_exponent_have_lost_digits():
    frame = pl.DataFrame(
        {"item": ["1.23457E+11", "1e5", "x"], "human": [1, 2, 3], "judge": [1, 2, 3]}
    )
    assert found(frame)[2]["ids_rounded"].count == 1


def test_the_column_of_systems_is_said_where_no_study_is_given():
    frame = pl.DataFrame({"item": ["a", "b"], "model": ["human", "gpt"], "score": [1, 2]})
    assert found(frame)[2]["study_drafted"].message.endswith("; systems: those in column 'model'.")


def test_a_rater_called_like_its_column_of_scores(tmp_path):
    """Scores of people beside replies of a judge: two sources of one file."""
    (tmp_path / "r.csv").write_text(
        'item,human,judge\n1,4,"{""Calm"": 3}"\n2,5,"{""Calm"": 5}"\n3,1,"{""Calm"": 2}"\n'
    )
    sources = [
        {"path": "r.csv", "rater": "human", "layout": "scores", "columns": {"human": "Calm"}},
        {"path": "r.csv", "rater": "judge", "layout": "replies", "columns": {"judge": ""}},
    ]
    data = {"sources": sources, "reference": ["human"]}
    study = build_study(
        {"name": "s", "data": data, "rubric": {"attributes": ["Calm"]}}, folder=str(tmp_path)
    )
    ratings = read_tables(study).ratings
    assert dict(ratings.group_by("rater").agg("score").iter_rows()) == {
        "human": [4, 5, 1],
        "judge": [3, 5, 2],
    }
