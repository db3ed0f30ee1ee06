"""Three layouts become the same tidy ratings."""

from __future__ import annotations

import json

import polars as pl
import pytest

from voirdire import TableError
from voirdire.study import build_study
from voirdire.tables import RATINGS, apply_off_scale, audit, read_tables

SCORES = {
    ("1", "a"): {"Calm": 4, "Clear": 5},
    ("1", "b"): {"Calm": 2, "Clear": 3},
    ("2", "a"): {"Calm": 5, "Clear": None},
    ("2", "b"): {"Calm": 0, "Clear": 1},
}


def study_of(folder, sources, **rest):
    parts = {
        "name": "calm",
        "data": {"sources": sources, **rest.pop("data", {})},
        "rubric": {"scale": [1, 5], "attributes": ["Calm", "Clear"]},
        **rest,
    }
    return build_study(parts, folder=str(folder))


def as_set(ratings):
    columns = ["item", "system", "attribute", "score", "status"]
    return set(ratings.select(columns).cast({"attribute": pl.String, "status": pl.String}).rows())


EXPECTED = {
    (item, system, attribute, None if score is None else float(score), status)
    for (item, system), row in SCORES.items()
    for attribute, score in row.items()
    for status in ["blank" if score is None else "ok" if score else "out_of_scale"]
}


def write_replies(path):
    rows = [
        {
            "ConvID": item,
            " judge_response_a": json.dumps(SCORES[item, "a"]),
            "judge_response_b": "```json\n" + json.dumps(SCORES[item, "b"]) + "\n```",
        }
        for item in ("1", "2")
    ]
    pl.DataFrame(rows).write_csv(path)


def write_wide(path):
    rows = [{"item": i, "system": s, **row, "words": 120} for (i, s), row in SCORES.items()]
    pl.DataFrame(rows).write_csv(path)


def write_long(path):
    rows = [
        {"conversation_id": float(i), "model": s, "criterion": a, "rating": score}
        for (i, s), row in SCORES.items()
        for a, score in row.items()
    ]
    pl.DataFrame(rows).write_parquet(path)


@pytest.mark.parametrize(
    ("write", "name", "source"),
    [
        (write_replies, "j.csv", {}),
        (write_replies, "j.csv", {"layout": "replies", "prefix": " judge_response_"}),
        (
            write_replies,
            "j.csv",
            {"columns": {"judge_response_a": "a", "judge_response_b": "b"}},
        ),
        (write_wide, "j.csv", {}),
        (write_wide, "j.csv", {"layout": "scores", "columns": {"Calm": "Calm", "Clear": "Clear"}}),
        (write_long, "j.parquet", {}),
        (write_long, "j.parquet", {"layout": "long", "item": "conversation_id"}),
    ],
)
def test_every_layout_gives_the_same_ratings(tmp_path, write, name, source):
    write(tmp_path / name)
    tables = read_tables(study_of(tmp_path, [{"path": name, **source}]))
    assert as_set(tables.ratings) == EXPECTED
    assert tables.ratings.columns == list(RATINGS)
    assert tables.ratings["rater"].unique().to_list() == ["j"]
    assert tables.ratings["run"].unique().to_list() == [1]
    assert tables.ratings.schema["attribute"] == pl.Enum(["Calm", "Clear"])
    assert len(tables.hashes[name]) == 64


def test_replies_are_kept_with_what_became_of_them(tmp_path):
    rows = ["item,reply,system"]
    cells = ['"{""Calm"": 4, ""Clear"": 9}"', "", '"I cannot rate this conversation."', "hm"]
    rows += [f"{i},{cell},a" for i, cell in enumerate(cells)]
    (tmp_path / "j.csv").write_text("\n".join(rows))
    tables = read_tables(
        study_of(tmp_path, [{"path": "j.csv", "layout": "replies", "columns": {"reply": ""}}])
    )
    assert tables.replies["status"].to_list() == ["out_of_scale", "blank", "refused", "unparsable"]
    assert tables.replies["system"].unique().to_list() == ["a"]
    off = tables.ratings.filter(pl.col("status") == "out_of_scale")
    assert off.select("item", "attribute", "score").rows() == [("0", "Clear", 9.0)]


def test_one_column_a_rater(tmp_path):
    (tmp_path / "r.csv").write_text("item,attribute,human,judge1\n1,Calm,4,5\n1,Clear,3,\n")
    panel = [{"name": "human", "kind": "human"}, {"name": "judge1", "excludes": ["a"]}]
    tables = read_tables(study_of(tmp_path, [{"path": "r.csv"}], panel=panel))
    rows = tables.ratings.select("rater", "attribute", "score").cast({"attribute": pl.String})
    assert set(rows.rows()) == {
        ("human", "Calm", 4.0), ("human", "Clear", 3.0), ("judge1", "Calm", 5.0),
        ("judge1", "Clear", None),
    }  # fmt: skip
    assert tables.raters.select("rater", "kind", "excludes").rows() == [
        ("human", "human", None),
        ("judge1", "judge", ["a"]),
    ]
    assert tables.ratings["system"].null_count() == 4


def test_a_rater_column_named_by_the_study(tmp_path):
    (tmp_path / "r.csv").write_text("item,who,Calm\n1,x,4\n1,y,5\n")
    tables = read_tables(study_of(tmp_path, [{"path": "r.csv", "rater": "who"}]))
    assert tables.raters["rater"].to_list() == ["x", "y"]


def test_attributes_are_matched_without_case_and_others_left_out_aloud(tmp_path):
    text = "item,rater,attribute,score\n1,x,calm,4\n1,x,CLEAR,5\n1,x,Overall,5\n"
    (tmp_path / "r.csv").write_text(text)
    tables = read_tables(study_of(tmp_path, [{"path": "r.csv"}]))
    assert tables.ratings["attribute"].to_list() == ["Calm", "Clear"]
    (note,) = (note for note in tables.findings if note.kind == "attribute_undeclared")
    assert (note.count, note.places) == (1, ("Overall",))


def test_runs_stay_apart(tmp_path):
    (tmp_path / "r.csv").write_text("item,rater,run,score\n1,x,1,4\n1,x,2,5\n2,x,first,4\n")
    study = study_of(tmp_path, [{"path": "r.csv"}], rubric={"attributes": ["Calm"]})
    tables = read_tables(study)
    assert tables.ratings["run"].to_list() == [1, 2, 3]
    assert tables.ratings["attribute"].unique().to_list() == ["Calm"]


def test_files_are_joined_on_ids_whatever_their_type_and_order(tmp_path):
    pl.DataFrame({"item": [3, 1, 2], "Calm": [5, 1, 3]}).write_parquet(tmp_path / "judge.parquet")
    (tmp_path / "human.csv").write_text("id;Calm\n1.0;1,5\n2.0;3\n3.0;5\n")
    tables = read_tables(
        study_of(
            tmp_path,
            [{"path": "human.csv"}, {"path": "judge.parquet"}],
            data={"reference": ["human"]},
        )
    )
    pairs = tables.ratings.pivot("rater", index="item", values="score").sort("item")
    assert pairs.rows() == [("1", 1.5, 1.0), ("2", 3.0, 3.0), ("3", 5.0, 5.0)]


def test_identical_rows_count_once_and_conflicts_are_named_on_both_sides(tmp_path):
    (tmp_path / "human.csv").write_text("item,Calm\n1,3\n1,3\n2,5\n")
    tables = read_tables(study_of(tmp_path, [{"path": "human.csv"}]))
    assert tables.ratings.height == 2
    (note,) = (note for note in tables.findings if note.kind == "duplicate_rows")
    assert (note.count, note.places) == (1, ("line 3",))
    assert note.message == "1 row repeats another one exactly."
    for name in ("human.csv", "judge.csv"):
        (tmp_path / name).write_text("item,Calm\n1,3\n1,4\n2,5\n")
    both = r"human\.csv: item '1'.* in lines 2 and 3 with different values.*; judge\.csv: item '1'"
    with pytest.raises(TableError, match=both):
        read_tables(study_of(tmp_path, [{"path": "human.csv"}, {"path": "judge.csv"}]))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        # Numbers that name raters are read as ratings unless they are declared.
        ("item,annotator,Calm\n1,1,4\n1,2,3\n2,1,5\n2,2,2\n", '`rater = "annotator"` if that'),
        ("item,who,Calm\n1,ann,4\n1,ben,3\n2,ann,5\n2,ben,2\n", '`rater = "who"` if that column'),
        # Neither a remark that never recurs nor a name that tells nothing apart can be the rater.
        ("item,note,Calm\n1,x,4\n1,y,3\n2,z,5\n2,w,2\n", "need a `run` column$"),
        ("item,who,Calm\n1,ann,4\n1,ann,3\n2,ben,5\n2,ben,2\n", "need a `run` column$"),
    ],
)
def test_conflicting_rows_name_the_column_that_may_be_the_rater(tmp_path, text, says):
    (tmp_path / "wide.csv").write_text(text)
    with pytest.raises(TableError, match=says):
        read_tables(study_of(tmp_path, [{"path": "wide.csv"}]))


def test_one_rating_in_two_files_is_refused(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("item,Calm\n1,3\n2,5\n")
    sources = [{"path": name, "rater": "x"} for name in ("a.csv", "b.csv")]
    with pytest.raises(TableError, match=r"two files rate item '1', attribute 'Calm' by rater 'x'"):
        read_tables(study_of(tmp_path, sources))


def test_rows_without_an_id_are_counted(tmp_path):
    (tmp_path / "a.csv").write_text("item,Calm\n1,3\n,5\n")
    tables = read_tables(study_of(tmp_path, [{"path": "a.csv"}]))
    assert tables.ratings.height == 1
    (note,) = (note for note in tables.findings if note.kind == "null_ids")
    assert (note.severity, note.count, note.places) == ("serious", 1, ("line 3",))


@pytest.mark.parametrize(
    ("text", "source", "message"),
    [
        ("item,Calm\n1,3\n2,good\n", {},
         r"a\.csv: column 'Calm', line 3 \(item '2'\) holds 'good' where a number is needed"),
        ("item, Calm\n1,inf\n2,x\n", {}, r"column ' Calm', line 2 \(item '1'\) holds 'inf' .* \(also column ' Calm', line 3 \(item '2'\) holds 'x'\)\. Which number"),
        ("item,score\n1,four\n", {}, r"a\.csv: column 'score', line 2 \(item '1'\) holds 'four'"),
        ("item,Calm\n1,3\n", {"item": "ConvID"},
         r"a\.csv: there is no column 'ConvID' \(columns: 'item', 'Calm'\)"),
        ("item,Calm\n1,3\n", {"columns": {"Calmness": "Calm"}},
         r"a\.csv: there is no column 'Calmness' \(columns: 'item', 'Calm'\)"),
        ("what,Calm\n1,3\n", {}, r"a\.csv: no column of item ids was found.* a usual name such as 'item', 'itemid', 'id'"),
        ("item,text\n1,hello\n", {}, r"no column is named after an attribute of the rubric"),
        ("item,text\n1,hello\n", {"layout": "replies"}, r"a\.csv: no column of replies was found"),
        ("item,text\n1,hello\n", {"layout": "replies", "prefix": "judge_"},
         r"no column of replies beginning with 'judge_' was found"),
        ("item,text\n1,hello\n", {"layout": "long"}, r"a\.csv: there is no column 'score'"),
        ("item,Calm\n,3\n", {}, r"a\.csv: column 'item' has no ids"),
        ("item,rater,score\n1,,3\n", {},
         r"a\.csv: line 2 has no rater \(column 'rater' is blank there\)"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence_that_names_the_place(tmp_path, text, source, message):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(TableError, match=message) as caught:
        read_tables(study_of(tmp_path, [{"path": "a.csv", **source}]))
    assert "\n" not in str(caught.value)


def test_raters_are_checked_against_panel_and_reference(tmp_path):
    (tmp_path / "a.csv").write_text("item,rater,Calm\n1,x,3\n1,y,4\n")
    source = [{"path": "a.csv"}]
    study = study_of(tmp_path, source, panel=[{"name": "x"}], data={"reference": ["y"]})
    assert read_tables(study).raters.rows_by_key("rater", named=True)["y"][0]["kind"] == "human"
    with pytest.raises(TableError, match=r"the panel does not declare: 'y' \(panel: 'x'\)"):
        read_tables(study_of(tmp_path, source, panel=[{"name": "x"}]))
    message = r"the reference 'human' has no ratings \(raters: 'x', 'y'\)"
    with pytest.raises(TableError, match=message):
        read_tables(study_of(tmp_path, source, data={"reference": ["human"]}))
    with pytest.raises(TableError, match="study 'calm' names no data"):
        read_tables(study_of(tmp_path, []))


def test_no_common_item_is_an_error_that_says_why(tmp_path):
    (tmp_path / "human.csv").write_text("item,Calm\n007,3\n")
    pl.DataFrame({"item": [7], "Calm": [3]}).write_parquet(tmp_path / "judge.parquet")
    sources = [{"path": "human.csv"}, {"path": "judge.parquet"}]
    with pytest.raises(TableError, match=r"'judge' and the reference share no item.*by padding"):
        read_tables(study_of(tmp_path, sources, data={"reference": ["human"]}))


def test_off_scale_policies(tmp_path):
    (tmp_path / "a.csv").write_text("item,system,Calm\n1,a,3\n1,b,6\n2,a,0\n")
    study = study_of(tmp_path, [{"path": "a.csv"}])
    ratings = read_tables(study).ratings
    assert apply_off_scale(ratings, "keep")["score"].to_list() == [3.0, 6.0, 0.0]
    missing = apply_off_scale(ratings, "missing")
    assert missing["score"].to_list() == [3.0, None, None]
    assert missing["status"].to_list() == ["ok", "out_of_scale", "out_of_scale"]
    message = r"rater 'a' gave item '1', system 'b' the score 6 on 'Calm', which is off .*; 1 more"
    with pytest.raises(TableError, match=message):
        apply_off_scale(ratings, "error")
    assert apply_off_scale(ratings[:1], "error").height == 1
    with pytest.raises(
        TableError, match=r"off_scale 'drop' is unknown .allowed: missing, keep, error"
    ):
        apply_off_scale(ratings, "drop")


def test_frames_at_hand_join_what_the_files_hold(tmp_path):
    (tmp_path / "human.csv").write_text("item,Calm\n1,3\n2,4\n")
    ratings = pl.DataFrame(
        {"item": ["1", "2"], "rater": "judge", "attribute": "Calm", "score": [4, 9]}
    )
    raters = pl.DataFrame({"rater": ["judge"], "kind": ["judge"], "family": [None],
                           "excludes": [["a"]], "model": ["m"], "temperature": [0.5],
                           "prompt_hash": ["abc"]})  # fmt: skip
    study = study_of(tmp_path, [{"path": "human.csv"}], data={"reference": ["human"]})
    tables = read_tables(study, ratings=ratings, raters=raters)
    assert tables.ratings["status"].to_list() == ["ok", "ok", "ok", "out_of_scale"]
    assert tables.raters["prompt_hash"].to_list() == [None, "abc"]
    with pytest.raises(TableError, match="there is no column 'attribute'"):
        read_tables(study, ratings=ratings.drop("attribute", "score"))


def test_bad_lines_are_skipped_where_the_study_allows_it(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"item": 1, "Calm": 3}\nno\n')
    study = study_of(tmp_path, [{"path": "a.jsonl"}], data={"skip_bad_lines": True})
    assert read_tables(study).ratings.height == 1
    assert "bad_lines" in [finding.kind for finding in audit(read_tables(study), study)]


def test_missing_words_in_score_columns_are_missing(tmp_path):
    (tmp_path / "a.csv").write_text("item,Calm\n1,NA\n2,n/a\n3, 4 \n4,\n5,None\n")
    ratings = read_tables(study_of(tmp_path, [{"path": "a.csv"}])).ratings
    assert ratings["score"].to_list() == [None, None, 4.0, None, None]
    assert ratings["status"].to_list() == ["blank", "blank", "ok", "blank", "blank"]


def test_one_column_a_rater_and_attribute(tmp_path):
    text = "item,human_calm,human_Clear,j.1_Calm,j.1_Clear,words\n1,4,5,3,2,100\n"
    (tmp_path / "r.csv").write_text(text)
    panel = [{"name": "human", "kind": "human"}, {"name": "j.1"}]
    ratings = read_tables(study_of(tmp_path, [{"path": "r.csv"}], panel=panel)).ratings
    rows = ratings.select("rater", "attribute", "score").cast({"attribute": pl.String})
    assert set(rows.rows()) == {
        ("human", "Calm", 4.0),
        ("human", "Clear", 5.0),
        ("j.1", "Calm", 3.0),
        ("j.1", "Clear", 2.0),
    }


def test_a_score_column_beside_replies_is_the_score(tmp_path):
    text = 'item,rater,attribute,score,reply\n1,x,Calm,4,"{""Calm"": 5}"\n'
    (tmp_path / "r.csv").write_text(text)
    assert read_tables(study_of(tmp_path, [{"path": "r.csv"}])).ratings["score"].to_list() == [4.0]


def test_one_attribute_makes_several_columns_raters(tmp_path):
    (tmp_path / "r.csv").write_text("item,x,y\n1,4,5\n")
    study = study_of(tmp_path, [{"path": "r.csv"}], rubric={"attributes": ["Calm"]})
    assert read_tables(study).raters["rater"].to_list() == ["x", "y"]


def test_what_polars_cannot_cast_is_one_sentence(tmp_path):
    pl.DataFrame({"item": [b"\xff", b"\xfe"], "Calm": [1, 2]}).write_parquet(tmp_path / "r.parquet")
    with pytest.raises(TableError, match=r"r\.parquet: cannot be made tidy \("):
        read_tables(study_of(tmp_path, [{"path": "r.parquet"}]))


def test_two_columns_for_the_same_scores_are_refused(tmp_path):
    (tmp_path / "r.csv").write_text("item,Calm,calm\n1,4,5\n")
    with pytest.raises(TableError, match=r"r\.csv: columns 'Calm' and 'calm' both hold 'Calm'"):
        read_tables(study_of(tmp_path, [{"path": "r.csv"}]))
    source = {"path": "r.csv", "columns": {"Calm": "Clear", "calm": "Clear"}}
    with pytest.raises(TableError, match=r"both hold 'Clear'"):
        read_tables(study_of(tmp_path, [source]))


def test_a_column_of_rater_names_may_be_called_like_a_rater(tmp_path):
    (tmp_path / "r.csv").write_text("item,judge,Calm\n1,judge,4\n1,human,5\n")
    panel = [{"name": "human", "kind": "human"}, {"name": "judge"}]
    tables = read_tables(study_of(tmp_path, [{"path": "r.csv"}], panel=panel))
    assert tables.raters["rater"].to_list() == ["human", "judge"]


def test_errors_name_five_places_and_count_the_rest(tmp_path):
    path = tmp_path / "a.csv"
    study = study_of(tmp_path, [{"path": "a.csv"}])
    path.write_text(
        "item,Calm,Clear\n" + "".join(f"{i},{i % 5},x{i}\n" for i in range(9)) + "9,y,3\n"
    )
    with pytest.raises(TableError) as caught:
        read_tables(study_of(tmp_path, [{"path": "a.csv", "layout": "scores"}]))
    assert str(caught.value).startswith(
        "a.csv: column 'Calm', line 11 (item '9') holds 'y' where a number"
    )
    assert "line 5 (item '3') holds 'x3', and 5 other texts)" in str(caught.value)
    path.write_text("item,Calm\n" + "".join(f"{i},3\n{i},4\n" for i in range(7)))
    with pytest.raises(TableError) as caught:
        read_tables(study)
    assert caught.value.args[0].count(" stands in lines ") == 5
    assert "lines 10 and 11 and 2 more such ratings); repeated" in str(caught.value)
