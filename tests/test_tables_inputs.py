"""Items and responses of a study: ids are one however a file types them."""

from __future__ import annotations

import polars as pl
import pytest
import xlsxwriter

from voirdire import TableError
from voirdire.study import build_study
from voirdire.tables import read_items, read_responses, read_tables
from voirdire.tables.records import BATCH


def study(folder, items="items.csv", **responses):
    declared = {"name": "s", "items": {"path": items, "id": "id", "text": "text"}}
    if responses:
        declared["responses"] = responses
    return build_study(declared, folder=str(folder))


def ids(folder, name):
    declared = study(folder, name)
    return [item.id for item, _ in read_items(declared, declared.items)]


def test_ids_are_one_in_every_format(tmp_path):
    book = xlsxwriter.Workbook(str(tmp_path / "items.xlsx"))
    sheet = book.add_worksheet()
    for at, row in enumerate([("id", "text"), (1, "a"), (2, "b")]):
        sheet.write_row(at, 0, row)
    book.close()
    pl.DataFrame({"id": [1.0, 2.0], "text": ["a", "b"]}).write_parquet(tmp_path / "items.parquet")
    (tmp_path / "items.csv").write_text("id , text\n 1.0 ,a\n2.0,b\n")
    (tmp_path / "items.jsonl").write_text('{"id": 1, "text": "a"}\n{"id": "2", "text": "b"}\n')
    for suffix in ("xlsx", "parquet", "csv", "jsonl"):
        assert ids(tmp_path, f"items.{suffix}") == ["1", "2"]


def test_ids_of_large_files_are_read_by_the_whole_column(tmp_path):
    names = [f"{n}.0" for n in range(BATCH + 10)]
    frame = pl.DataFrame({"id": [*names, "x"], "text": ["t"] * (len(names) + 1)})
    frame.write_parquet(tmp_path / "items.parquet")
    assert ids(tmp_path, "items.parquet") == [*names, "x"]


def test_an_id_with_a_blank_behind_it_stands_twice(tmp_path):
    (tmp_path / "items.csv").write_text("id,text\n1,a\n1 ,b\n")
    with pytest.raises(TableError, match="line 3, column 'id': item '1' occurs more than once"):
        ids(tmp_path, "items.csv")


def test_responses_meet_the_items(tmp_path):
    (tmp_path / "r.csv").write_text("item,system,text\n1.0,A ,x\n2.0,A,y\n")
    declared = study(tmp_path, path="r.csv", item="item", system="system", text="text")
    found = [(r.item, r.system, r.text) for r in read_responses(declared, declared.responses)]
    assert found == [("1", "A", "x"), ("2", "A", "y")]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("items", "responses", "says"),
    [
        (
            {},
            {},
            r"no column 'id' \(columns: 'post', 'body'\); say by the key 'id' under \[items\]",
        ),
        ({"id": "post"}, {}, r"no column 'text' .* by the key 'text' under \[items\]"),
        ({"id": "post", "text": "body", "extra": ["age"]}, {}, "'age' .* key 'extra' under"),
        ({"id": "post", "text": "body", "reference": "ref"}, {}, "'ref' .* key 'reference' under"),
        (None, {}, r"no column 'item' .* by the key 'item' under \[responses\]"),
        (None, {"item": "post"}, r"no column 'system' .* the key 'system' under \[responses\]"),
        (None, {"item": "post", "columns": {"a": "A"}}, "'a' .* the key 'columns' under"),
    ],
)
def test_a_column_that_is_not_there_is_named_with_its_key(tmp_path, suffix, items, responses, says):
    frame = pl.DataFrame({"post": ["1"], "body": ["calm"]})
    path = tmp_path / f"posts.{suffix}"
    frame.write_csv(path) if suffix == "csv" else frame.write_parquet(path)
    parts = {"items": {"path": path.name, **(items or {})}}
    parts["responses"] = {"path": path.name, **responses}
    declared = build_study({"name": "s", **parts}, folder=str(tmp_path))
    with pytest.raises(TableError, match=says):
        list(
            read_responses(declared, declared.responses)
            if items is None
            else read_items(declared, declared.items)
        )


@pytest.mark.parametrize(
    ("header", "source", "found"),
    [
        ("post,rater,score", {}, "1"),  # `post` would else be taken for a text
        ("nr,post,rater,score", {"item": "nr"}, "7"),
        ("id,post,rater,score", {}, "1"),
        ("item,rater,score", {}, "1"),
    ],
)
def test_ratings_have_their_ids_where_the_items_have_theirs(tmp_path, header, source, found):
    cells = {"post": "1", "item": "1", "nr": "7", "id": "7", "rater": "ada", "score": "4"}
    row = ",".join(cells[name] for name in header.split(","))
    (tmp_path / "human.csv").write_text(f"{header}\n{row}\n")
    raw = {
        "name": "s",
        "items": {"path": "posts.csv", "id": "post"},
        "data": {"sources": [{"path": "human.csv", **source}]},
    }
    assert read_tables(build_study(raw, folder=str(tmp_path))).ratings["item"].to_list() == [found]


def test_a_usual_word_for_ids_of_items_says_nothing_of_other_files(tmp_path):
    (tmp_path / "human.csv").write_text("id,item,rater,score\n7,1,ada,4\n")
    raw = {"name": "s", "items": {"path": "posts.csv", "id": "id"}}
    raw["data"] = {"sources": [{"path": "human.csv"}]}
    assert read_tables(build_study(raw, folder=str(tmp_path))).ratings["item"].to_list() == ["1"]
