"""Labels set by hand: kept beside a source, joined by examine, refused by correct."""

from __future__ import annotations

import threading

import polars as pl
import pytest

from voirdire import examine
from voirdire.errors import InputError, TableError
from voirdire.tables.hand_labels import (
    HandLabel,
    hand_labels_path,
    keep_hand_label,
    latest,
    read_hand_labels,
)


@pytest.fixture
def source(tmp_path):
    """A file of one human column and one judge: 30 items of two systems."""
    rows = [
        (f"i{k}", system, rater, (k + shift + (rater == "judge" and k % 3 == 0)) % 5 + 1)
        for k in range(30)
        for shift, system in enumerate(("old", "new"))
        for rater in ("human", "judge")
    ]
    path = tmp_path / "ratings.csv"
    pl.DataFrame(rows, schema=["item", "system", "rater", "score"], orient="row").write_csv(path)
    return path


def label(score, rater="human", item="i0", **changes):
    values = {"system": "old", "attribute": "score", "labelled_by": "ann", **changes}
    return HandLabel(item=item, rater=rater, score=score, **values)


def found_of(source):
    return examine(source, reference=["human"], resamples=0)


def by_hand(examination):
    return [found for found in examination.findings if found.kind == "labels_by_hand"]


def test_a_label_takes_the_place_of_the_rating_that_it_corrects(source):
    before = found_of(source)
    keep_hand_label(hand_labels_path(source), label(5.0))
    after = found_of(source)
    assert not by_hand(before)
    rows = after.ratings.filter(
        pl.col("item") == "i0", pl.col("system") == "old", pl.col("rater") == "human"
    )
    assert rows["score"].to_list() == [5.0]
    assert rows["origin"].cast(pl.String).to_list() == ["chosen"]
    assert rows["labelled_by"].to_list() == ["ann"]
    assert rows["labelled_at"][0].endswith("+00:00")
    assert after.ratings.height == before.ratings.height
    assert after.results[0].human_mean != before.results[0].human_mean
    assert after.judges == before.judges == ("judge",)
    finding = by_hand(after)[0]
    assert (finding.severity, finding.count) == ("serious", 1)
    assert "1 of human by ann" in finding.message
    assert "1 takes the place of an earlier rating" in finding.message
    assert "ratings.csv.voirdire/labels.parquet" in after.inputs.hashes


def test_a_new_rater_is_one_more_human_of_the_reference(source):
    keep_hand_label(hand_labels_path(source), label(4.0, "cleo"))
    found = found_of(source)
    assert found.judges == ("judge",)
    assert found.results[0].reference == ("human", "cleo")
    assert found.inputs.raters.filter(pl.col("rater") == "cleo")["kind"].to_list() == ["human"]


def test_the_latest_label_counts_and_none_is_lost(source):
    path = hand_labels_path(source)
    for score in (2.0, 3.0, None, 1.0):
        keep_hand_label(path, label(score))
    keep_hand_label(path, label(5.0, item="i1"))
    keep_hand_label(path, label(None, item="i1"))
    assert read_hand_labels(path).height == 6
    assert latest(read_hand_labels(path))["score"].to_list() == [1.0]


def test_labels_of_responses_that_are_gone_are_counted_aloud(source):
    keep_hand_label(hand_labels_path(source), label(4.0))
    keep_hand_label(hand_labels_path(source), label(4.0, item="gone"))
    assert "1 more label names no response here" in by_hand(found_of(source))[0].message


def test_correct_refuses_labels_that_somebody_chose(source):
    from voirdire.examining.correcting.labelled import read_labelled

    keep_hand_label(hand_labels_path(source), label(4.0))
    with pytest.raises(InputError, match="1 labels are of origin 'chosen'"):
        read_labelled(str(source), reference=["human"])


def test_people_who_label_at_once_lose_nothing(source):
    path = hand_labels_path(source)
    threads = [
        threading.Thread(
            target=lambda who: [
                keep_hand_label(path, label(3.0, who, f"i{k}", labelled_by=who)) for k in range(10)
            ],
            args=(who,),
        )
        for who in ("ann", "ben", "cleo", "dan")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = read_hand_labels(path)
    assert kept.height == 40
    assert kept.select("item", "rater").n_unique() == 40


def test_a_file_that_is_no_such_table_is_an_error_that_names_it(source):
    path = hand_labels_path(source)
    path.parent.mkdir()
    path.write_text("no table")
    with pytest.raises(TableError, match=r"labels\.parquet: cannot be read as Parquet"):
        found_of(source)
    pl.DataFrame({"item": ["1"]}).write_parquet(path)
    with pytest.raises(TableError, match=r"labels\.parquet"):
        found_of(source)
