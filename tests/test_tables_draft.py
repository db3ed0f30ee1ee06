"""A file without a study drafts one that reads the same, and what it took for granted is said."""

from __future__ import annotations

import polars as pl
import pytest

from voirdire import TableError
from voirdire.study import build_study, load_study, study_to_toml
from voirdire.tables import audit, draft_study, from_frame, infer_scale, read_file, read_tables

WIDE_RATERS = "item,human,judge1,gpt-4o\n1,4,5,4\n2,3,3,1\n3,5,4,2\n"
WIDE_SCORES = "item,system,Calm,Clear\n1,a,4,5\n1,b,3,2\n2,a,1,5\n2,b,2,2\n"
LONG = "conv_id,annotator,criterion,rating\n1,x,Calm,4\n1,y,Calm,5\n2,x,Calm,1\n2,y,Calm,2\n"
GRID = "item,human_Calm,human_Clear,gpt_Calm,gpt_Clear\n1,4,5,3,2\n2,1,5,2,2\n"
REPLIES = (
    'item,judge_response_a,judge_response_b\n1,"{""Calm"": 4}","{""Calm"": 2}"\n'
    '2,"{""Calm"": 5}","```json\n{""Calm"": 1}```"\n'
)
REPLIES_OF_RATERS = (
    'ConvID,model,human_1,human_2,judge\n1,a,"{""Calm"": 4}","{""Calm"": 5}","{""Calm"": 2}"\n'
    '1,b,"{""Calm"": 1}","{""Calm"": 3}","{""Calm"": 2}"\n'
)


@pytest.mark.parametrize("text", [WIDE_RATERS, WIDE_SCORES, LONG, GRID, REPLIES, REPLIES_OF_RATERS])
def test_the_draft_round_trips_through_toml_and_reads_the_same(tmp_path, text):
    (tmp_path / "ratings.csv").write_text(text)
    study, tables = read_file(tmp_path / "ratings.csv")
    (tmp_path / "study.toml").write_text(study_to_toml(study))
    loaded = load_study(tmp_path / "study.toml")
    assert loaded.model_dump() == study.model_dump()
    assert draft_study(tmp_path / "ratings.csv") == study
    again = read_tables(loaded)
    assert again.ratings.equals(tables.ratings)
    assert again.raters.equals(tables.raters)
    kinds = [finding.kind for finding in tables.findings]
    assert kinds[:3] == ["reading", "study_drafted", "scale_inferred"]


def test_what_is_found_in_each_layout(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text(WIDE_RATERS)
    study = draft_study(path)
    assert study.data.reference == ("human",)
    assert [(r.name, r.kind) for r in study.panel] == [
        ("human", "human"), ("judge1", "judge"), ("gpt-4o", "judge"),
    ]  # fmt: skip
    path.write_text(WIDE_SCORES)
    study = draft_study(path)
    assert [a.name for a in study.rubric.attributes] == ["Calm", "Clear"]
    assert [s.name for s in study.systems] == ["a", "b"]
    assert study.panel[0].name == "ratings"
    path.write_text(LONG)
    study, tables = read_file(path)
    assert {r.kind for r in study.panel} == {"human"}
    assert study.data.reference == ()  # all are human: nothing says who is the reference
    assert "columns_inferred" in [finding.kind for finding in tables.findings]
    path.write_text(REPLIES)
    study = draft_study(path)
    assert study.data.sources[0].prefix == "judge_response_"
    assert [s.name for s in study.systems] == ["a", "b"]


def test_a_given_reference_makes_columns_raters(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("item,ours,theirs\n1,4,5\n2,3,2\n")
    study = draft_study(path, reference=["ours"])
    assert study.data.reference == ("ours",)
    assert study.panel[0].kind == "human"
    with pytest.raises(TableError, match=r"the reference 'nobody' has no ratings"):
        draft_study(path, reference=["nobody"])


def test_the_path_is_relative_to_where_the_study_will_lie(tmp_path):
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "ratings.csv"
    path.write_text(LONG)
    study = draft_study(path, folder=tmp_path)
    assert study.data.sources[0].path.replace("\\", "/") == "data/ratings.csv"
    assert read_tables(study).ratings.height == 4


def test_frames(tmp_path):
    frame = pl.DataFrame({"item": [1, 1], "rater": ["human", "m"], "score": [1, 0]})
    study, tables = from_frame(frame, reference=["human"])
    assert study.rubric.scale == (0.0, 1.0)
    assert tables.ratings["attribute"].to_list() == ["score", "score"]
    with pytest.raises(TableError, match="frame: there are no rows"):
        from_frame(frame.clear())
    with pytest.raises(TableError, match=r"frame: column 'score', row 1 \(item '2'\) holds 'x'"):
        from_frame(pl.DataFrame({"item": [1, 2], "score": ["3", "x"]}))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2, 3, 4, 5], (1, 5, 1)),
        ([1, 2, 3, 4] * 20, (1, 5, 1)),
        ([1, 2, 3] * 20, (1, 3, 1)),
        ([4, 4, 4], (1, 5, 1)),
        ([1, 6, 3], (1, 7, 1)),
        ([2, 9.5, 3], (1, 10, 0.5)),
        ([0, 1, 1], (0, 1, 1)),
        ([0.2, 0.7, 0.5], (0, 1, 0.1)),
        ([0, 3, 2], (0, 3, 1)),
        ([0, 7, 2], (0, 10, 1)),
        ([12, 80, 99], (0, 100, 1)),
        ([-2, 0, 1], (-2, 2, 1)),
        ([1.333, 2.667, 4.123, 5], (1, 5, 0)),  # no step: continuous
        ([1.333, 2.667, 4, 5, 3, 2], (1, 5, 1)),  # raters beside means of raters
        ([0.137, 0.52, 0.981, 0, 1, 1, 1], (0, 1, 0)),
        ([*[1, 2, 3, 4, 5] * 100, 0, 6], (1, 5, 1)),
        ([], (1, 5, 1)),
    ],
)
def test_infer_scale(values, expected):
    scale = infer_scale(pl.Series(values, dtype=pl.Float64))
    assert (scale.low, scale.high, scale.step) == expected


def test_a_continuous_scale_is_said_and_has_no_levels_to_lie_between(tmp_path):
    path = tmp_path / "shares.csv"
    path.write_text("item,human,judge\n1,0.137,0.2\n2,0.52,0.481\n3,0.981,0.9333\n")
    study, tables = read_file(path)
    assert (study.rubric.scale, study.rubric.step) == ((0, 1), 0)
    found = {note.kind: note.message for note in audit(tables, study)}
    assert found["scale_inferred"].startswith("The scale 0 to 1, continuous, was inferred")
    assert "between_levels" not in found


def test_lengths_and_times_are_no_scores(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("item,Calm,tokens,time\n1,4,1200,1712345678\n2,5,2400,1712345679\n")
    study = draft_study(path)
    assert [attribute.name for attribute in study.rubric.attributes] == ["Calm"]
    path.write_text("item,rater,score\n1,x,100000\n2,x,2\n")
    with pytest.raises(TableError, match=r"values run from 0 to 100000, which is no rating scale"):
        draft_study(path)


def test_where_the_reference_is_a_column_the_other_columns_of_scores_are_raters():
    frame = pl.DataFrame(
        {
            "item": [1, 2, 3],
            "anna": [1, 2, 3],
            "ben": [3, 2, 1],
            "run": [1, 1, 1],
            "remark": ["a", "b", "c"],
        }
    )
    study, tables = from_frame(frame, reference=["anna"])
    assert [rater.name for rater in study.panel] == ["anna", "ben"]
    assert tables.ratings["rater"].unique(maintain_order=True).to_list() == ["anna", "ben"]


@pytest.mark.parametrize("header", ["human", "Humans", "expert_2", "Annotator A", "gold"])
def test_a_column_named_after_a_person_makes_its_neighbours_raters(header):
    frame = pl.DataFrame({"item": [1, 2, 3], header: [1, 4, 5], "J1": [2, 4, 4]})
    study, tables = from_frame(frame)
    assert study.data.reference == (header,)
    assert tables.raters["rater"].to_list() == [header, "J1"]


@pytest.mark.parametrize("header", ["humanity", "gold_standard_length", "expertise"])
def test_a_column_named_otherwise_is_an_attribute(header):
    frame = pl.DataFrame({"item": [1, 2, 3], header: [1, 4, 5], "tone": [2, 4, 4]})
    assert [a.name for a in from_frame(frame)[0].rubric.attributes] == [header, "tone"]


def test_columns_that_play_no_part_are_named():
    frame = pl.DataFrame({"item": [1, 2], "human": [1, 4], "J1": [2, 4], "remark": ["a", "b"]})
    (said,) = [f for f in from_frame(frame)[1].findings if f.kind == "study_drafted"]
    assert "Columns not read: 'remark'." in said.message


def from_study(folder, text, **data):
    (folder / "tiny.csv").write_text(text)
    data = {"sources": [{"path": "tiny.csv"}], **data}
    return read_tables(build_study({"name": "tiny", "data": data}, folder=str(folder)))


def test_reply_columns_beside_a_system_column_are_raters(tmp_path):
    text = REPLIES_OF_RATERS
    (tmp_path / "tiny.csv").write_text(text)
    study, tables = read_file(tmp_path / "tiny.csv")
    assert study.data.reference == ("human_1", "human_2")
    assert [system.name for system in study.systems] == ["a", "b"]
    for read in (tables, from_study(tmp_path, text, reference=["human_1", "human_2"])):
        assert read.raters["rater"].to_list() == ["human_1", "human_2", "judge"]
        assert read.ratings.filter(rater="human_1").select("system", "score").rows() == [
            ("a", 4.0),
            ("b", 1.0),
        ]


@pytest.mark.parametrize(("person", "judge"), [("human", "judge"), ("ann", "gpt")])
def test_a_study_finds_the_raters_that_its_file_alone_has(tmp_path, person, judge):
    text = f"item,system,{person},{judge}\n1,a,3,5\n1,b,4,3\n2,a,1,2\n"
    named = from_study(tmp_path, text, reference=[person])
    _, alone = read_file(tmp_path / "tiny.csv", reference=[person])
    assert named.ratings.equals(alone.ratings)
    assert named.raters["rater"].to_list() == [person, judge]


def test_numbers_name_raters_only_as_ids_or_beside_a_score(tmp_path):
    for text in ("item,annotator_id,Calm\n1,7,3\n1,8,4\n", "item,judge,score\n1,7,3\n1,8,4\n"):
        assert from_study(tmp_path, text).raters["rater"].to_list() == ["7", "8"]
    assert from_study(tmp_path, "item,judge\n1,3\n").raters["rater"].to_list() == ["judge"]


def test_columns_of_numbers_that_nobody_read_are_said(tmp_path):
    tables = from_study(tmp_path, "item,score,words,remark\n1,3,90,a\n2,4,80,b\n")
    (note,) = [found for found in tables.findings if found.kind == "columns_unread"]
    assert note.message == "1 column of numbers not read: 'words'."


SHEET = pl.DataFrame(
    {
        "Conversation ID": ["c1", "c1", "c2", "c2"],
        "Source": ["A", "B", "A", "B"],
        "Rater 1": [4, 3, 5, 2],
        "GPT-4o": [5, 3, 4, 2],
    }
)


def test_a_column_of_chatbots_holds_the_systems():
    study, tables = from_frame(SHEET.rename({"Source": "Chatbot"}))
    assert [system.name for system in study.systems] == ["A", "B"]
    assert sorted(set(tables.ratings["rater"])) == ["GPT-4o", "Rater 1"]


def test_conflicting_rows_of_rater_columns_name_the_column_that_may_be_the_systems():
    says = r"item 'c1', attribute 'score' stands in .* or declare `system = \"Source\"` if"
    with pytest.raises(TableError, match=says):
        from_frame(SHEET)


@pytest.mark.parametrize("mark", " _-")
def test_raters_whose_names_hold_the_mark_of_a_grid_are_found(mark):
    raters = [f"Rater{mark}1", f"Rater{mark}2", f"Claude{mark}Sonnet", "GPT"]
    grid = {f"{rater}{mark}{name}": [4, 3, 5] for rater in raters for name in ("Empathy", "Safety")}
    study, _ = from_frame(pl.DataFrame({"item": [1, 2, 3], **grid}))
    assert [rater.name for rater in study.panel] == raters
    assert [attribute.name for attribute in study.rubric.attributes] == ["Empathy", "Safety"]
