"""Tables that version 0.1 read wrongly: cases N07 to N27 of the public bug reports."""

from __future__ import annotations

import random

import polars as pl
import pytest

from voirdire import TableError, examine
from voirdire.study import Source, build_study
from voirdire.tables import read_file, read_tables

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
    rows = [(1, "human", 4, "ok"), (1, "judge", 4, "ok"), (2, "human", 3, "zonked"),
            (2, "judge", 3, "ok")]  # fmt: skip
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
