"""The pool: columns and ids checked, empty texts left out, equal texts merged."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from voirdire import TableError
from voirdire_retrieval import VectorCache, make_pool, read_items, read_pool


def table(**columns):
    return pl.DataFrame({"id": ["a", "b", "c"], "text": ["One.", "Two.", "Three."], **columns})


def test_a_pool_keeps_order_and_labels():
    pool = make_pool(table(mood=[1, 0, None]), labels=["mood"])
    assert pool.frame.select("id", "text", "mood").rows() == [
        ("a", "One.", 1),
        ("b", "Two.", 0),
        ("c", "Three.", None),
    ]
    assert (pool.rows, pool.empty, pool.duplicates, pool.notes()) == (3, 0, 0, [])


def test_empty_texts_are_left_out_and_counted():
    pool = make_pool(pl.DataFrame({"id": [1, 2, 3], "text": ["Here.", None, " \n"]}))
    assert pool.frame["id"].to_list() == ["1"]
    assert pool.empty == 2
    assert pool.notes() == ["2 of 3 rows have an empty text and were left out"]


def test_equal_texts_are_merged_and_what_they_said_is_kept():
    pool = make_pool(
        pl.DataFrame(
            {
                "id": ["a", "b", "c", "d"],
                "text": ["Same text ", "same  TEXT", "other", "ＳＡＭＥ text"],
                "who": ["x", "y", "x", None],
                "mood": [1, 0, 0, 1],
            }
        ),
        labels=["mood"],
        group="who",
    )
    assert pool.frame.select("id", "also", "groups").rows() == [
        ("a", ["b", "d"], ["x", "y"]),
        ("c", [], ["x"]),
    ]
    assert (pool.duplicates, pool.conflicts) == (2, 1)
    assert "2 of 4 rows repeat a text" in pool.notes()[0]
    assert "1 of them with other labels" in pool.notes()[0]


def test_a_null_label_against_a_label_is_a_conflict():
    frame = pl.DataFrame({"id": ["a", "b"], "text": ["x", "X"], "mood": [None, 1]})
    assert make_pool(frame, labels=["mood"]).conflicts == 1


def test_an_empty_table_is_an_empty_pool():
    pool = make_pool(pl.DataFrame({"id": [], "text": []}, schema={"id": str, "text": str}))
    assert pool.frame.is_empty()
    assert pool.notes() == ["the pool is empty"]


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (table(), {"text": "body"}, "no column 'body' .*columns: 'id', 'text'"),
        (table(), {"labels": ["mood"]}, "no column 'mood'"),
        (table(), {"labels": ["text"]}, "cannot be called 'text'"),
        (table(mood=[1, 1, 1]), {"labels": ["mood", "mood"]}, "label 'mood' occurs more than once"),
        (table(n=["a", "a", "b"]), {"id": "n"}, "'a' occurs more than once"),
        (table(n=["a", None, "b"]), {"id": "n"}, "row 1 has no id"),
    ],
)
def test_a_bad_table_is_refused_by_name(frame, options, message):
    with pytest.raises(TableError, match=message):
        make_pool(frame, **options)


def test_ids_of_a_csv_stay_text_and_whole_labels_become_numbers(tmp_path):
    file = tmp_path / "pool.csv"
    file.write_text("id,text,mood,note\n007,One.,1,x\n008,Two.,,1\n", encoding="utf-8")
    pool = read_pool(file, labels=["mood", "note"])
    assert pool.frame["id"].to_list() == ["007", "008"]
    assert pool.frame["mood"].to_list() == [1, None]
    assert pool.frame["note"].to_list() == ["x", "1"]


def test_a_pool_is_the_same_from_every_format(tmp_path):
    frame = table(mood=[1, 0, 1])
    frame.write_csv(tmp_path / "p.csv")
    frame.write_parquet(tmp_path / "p.parquet")
    frame.write_ndjson(tmp_path / "p.jsonl")
    pools = [
        read_pool(tmp_path / f"p.{end}", labels=["mood"]) for end in ("csv", "parquet", "jsonl")
    ]
    assert pools[0].frame.equals(pools[1].frame)
    assert pools[0].frame.equals(pools[2].frame)


def test_items_of_a_file(tmp_path):
    file = tmp_path / "items.csv"
    file.write_text("id,text,who\n01,One.,x\n02,,y\n", encoding="utf-8")
    items = read_items(file, group="who")
    assert [(item.id, item.text, item.extra) for item in items] == [
        ("01", "One.", {"group": "x"}),
        ("02", "", {"group": "y"}),
    ]
    with pytest.raises(TableError, match="no column 'body'"):
        read_items(file, text="body")


def test_a_pool_tells_what_counts_as_the_same():
    texts = ["Cafe\u0301  au lait\n", "CAFÉ au LAIT", "a b", "ab"]
    table = pl.DataFrame({"id": list("wxyz"), "text": texts})
    assert make_pool(table).frame["also"].to_list() == [["x"], [], []]


def test_a_cache_takes_texts_as_they_stand(tmp_path):
    texts = ["a", "\ud800", "\ud801"]  # lone surrogates do not raise, and are two texts
    cache = VectorCache(tmp_path)
    cache.put("m", texts, np.eye(3, dtype=np.float32))
    assert cache.get("m", ["A", *texts]).keys() == set(texts)
    assert cache.get("m", ["\ud801"])["\ud801"].tolist() == [0, 0, 1]


def test_labels_written_with_a_point_are_the_same_numbers_from_every_file(tmp_path):
    table = pl.DataFrame({"id": ["a", "b", "c"], "text": ["x", "y", "z"], "mood": [1.0, None, 0.0]})
    table.write_csv(tmp_path / "pool.csv")
    table.write_parquet(tmp_path / "pool.parquet")
    for name in ("pool.csv", "pool.parquet"):
        assert read_pool(tmp_path / name, labels=["mood"]).frame["mood"].to_list() == [1, None, 0]
    share = table.with_columns(mood=pl.Series([0.5, float("nan"), 1.0]))
    share.write_parquet(tmp_path / "share.parquet")
    assert read_pool(tmp_path / "share.parquet", labels=["mood"]).frame["mood"][0] == 0.5
