"""What was once read wrongly without a word, each with four neighbours of its kind: other names,
other numbers, the same fault.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import openpyxl
import polars as pl
import pytest

from voirdire import QuestionError
from voirdire.errors import TableError
from voirdire.examining.changing.checking import check_lock
from voirdire.examining.changing.freezing import freeze
from voirdire.study import ReadOptions
from voirdire.tables import read_file, read_judged

if TYPE_CHECKING:
    from pathlib import Path

DRAW = random.Random(36)
TRUE = [DRAW.uniform(1, 5) for _ in range(30)]
HUMAN, LLM = ([min(5, max(1, round(t + DRAW.gauss(0, 0.6)))) for t in TRUE] for _ in range(2))
MEAN = sum(LLM) / 30


def _read(path: Path, *reference: str, **keys: object) -> pl.DataFrame:
    return read_file(path, reference=reference, read=ReadOptions(**keys))[1].ratings


def _csv(path: Path, head: str, *columns: list[object]) -> Path:
    rows = "\n".join(",".join(map(str, row)) for row in zip(*columns, strict=True))
    path.write_text(f"{head}\n{rows}\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("llm_z", lambda v: round((v - MEAN) / 1.1, 4)), ("llm_pct", lambda v: 25 * (v - 1)),
        ("llm_share", lambda v: (v - 1) / 4), ("llm_centred", lambda v: round(v - MEAN, 3)),
        ("gpt_x10", lambda v: 10 * v),
    ],
)  # fmt: skip
def test_a_linear_function_of_a_judge_is_no_further_judge(tmp_path, name, made):
    ids = [f"t{k}" for k in range(30)]
    path = _csv(tmp_path / "r.csv", f"ticket,human,llm,{name}", ids, HUMAN, LLM, [*map(made, LLM)])
    assert set(_read(path, "human")["rater"]) == {"human", "llm"}
    # On the reference's scale it may be a judge of its own, the other way round.
    turned = _csv(tmp_path / "t.csv", "ticket,human,llm,gpt", ids, HUMAN, LLM, [6 - v for v in LLM])
    with pytest.raises(QuestionError, match="fall where"):
        _read(turned, "human")


@pytest.mark.parametrize(
    "name", ["Input.gpt_score", "model_rating", "llm", "judge_score", "claude-sonnet"]
)
def test_a_judges_column_beside_that_of_raters_is_read(tmp_path, name):
    rows = [(f"hit{k}", f"A{w}", HUMAN[(k + w) % 30], LLM[k]) for k in range(30) for w in (1, 2)]
    path = _csv(tmp_path / "r.csv", f"HIT,WorkerId,rating,{name}", *map(list, zip(*rows)))  # noqa: B905
    ratings = _read(path, "A1", "A2")
    own = ratings.filter(pl.col("rater") == name).sort(pl.col("item").str.slice(3).cast(pl.Int64))
    assert own["score"].to_list() == LLM
    assert ratings.height == 90


@pytest.mark.parametrize(
    "codes",
    [
        ("1.1", "1.2", "2.1", "2.2", "3.1"),
        ("11", "12", "21", "22", "31"),
        ("2.01", "2.02", "4.01", "4.02"),
        ("10.1", "10.2", "20.1", "30.4"),
        ("101", "102", "201", "202", "301"),
    ],
)
def test_codes_of_two_parts_are_no_scores_without_a_word(tmp_path, codes):
    said = [[codes[(k * step) % len(codes)] for k in range(30)] for step in (1, 3)]
    path = _csv(tmp_path / "r.csv", "text,code_human,code_gpt", [f"e{k}" for k in range(30)], *said)
    with pytest.raises(QuestionError, match="uneven") as asked:
        read_judged(path, reference=("code_human",), read=ReadOptions())
    assert asked.value.choices == ("label", "score")
    found = read_judged(path, reference=("code_human",), read=ReadOptions(kind="label"))
    assert found is not None
    assert set(found[1].labels["labels"].list.first()) == set(codes)


@pytest.mark.parametrize(
    "levels",
    [(0, 0.33, 0.67, 1), (1, 1.5, 2, 4.5, 5), (1, 2, 3, 9), (3, 3.33, 4, 4.67), (0, 20, 25, 90)],
)
def test_numbers_of_a_scale_are_asked_nothing(tmp_path, levels):
    said = [[levels[(k * step) % len(levels)] for k in range(30)] for step in (1, 3)]
    path = _csv(tmp_path / "r.csv", "text,human,gpt", [f"e{k}" for k in range(30)], *said)
    assert read_judged(path, reference=("human",), read=ReadOptions()) is None


@pytest.mark.parametrize(
    "name", ["latency", "total_cost", "total_tokens", "cost_usd", "duration_ms"]
)
def test_what_a_tool_measured_is_no_attribute_and_no_judge(tmp_path, name):
    ids, spent = [f"r{k}" for k in range(30)], [1 + k % 5 for k in range(30)]
    path = _csv(tmp_path / "r.csv", f"record_id,Groundedness,sme,{name}", ids, LLM, HUMAN, spent)
    ratings = _read(path, "sme")
    assert set(ratings["rater"]) == {"sme", "Groundedness"}
    assert ratings["attribute"].n_unique() == 1


@pytest.mark.parametrize(
    "notes",
    [
        ["Legende:", "1 = schlecht", "5 = gut"],
        ["Erstellt von: A. Meier"],
        ["n = 30", "Stand: Mai"],
        ["Source: QA team, May 2026"],
        ["* retest", "** blinded", "*** late"],
    ],
)
def test_notes_below_a_table_are_left_out_and_told(tmp_path, notes):
    book = openpyxl.Workbook()
    page = book.active
    page.append(["Chat", "Modellstand", "QS", "GPT"])
    for k in range(15):
        for s in (0, 1):
            page.append([f"Chat {k}", f"v{s}", HUMAN[k + s], LLM[k + s]])
    page.append([])
    for note in notes:
        page.append([note])
    book.save(tmp_path / "r.xlsx")
    tables = read_file(tmp_path / "r.xlsx", reference=("QS",))[1]
    assert tables.ratings.height == 60
    (told,) = [f for f in tables.findings if f.kind == "notes_below"]
    assert list(told.places) == notes


@pytest.mark.parametrize("last", [False, True])
def test_a_row_without_scores_is_no_note(tmp_path, last):
    ids = [f"c{k}" for k in range(12)]
    human = [*HUMAN[:11], "" if last else 3]
    path = _csv(tmp_path / "r.csv", "case,human,llm", ids, human, human)
    assert not any(
        f.kind == "notes_below" for f in read_file(path, reference=("human",))[1].findings
    )


@pytest.mark.parametrize("column", ["moment", "trial", "screen", "N", "Event"])
def test_a_place_in_each_raters_order_is_no_item(tmp_path, column):
    rows = []
    for who, step in (("p1", 7), ("p2", 11), ("gpt", 13)):
        rows += [(n, who, f"stim {n * step % 29}", HUMAN[n]) for n in range(29)]
    path = _csv(tmp_path / "r.csv", f"{column},who,stim,answer_score", *map(list, zip(*rows)))  # noqa: B905
    assert set(_read(path, "p1", "p2")["item"]) == {f"stim {k}" for k in range(29)}


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["ann", "gpt"]), pl.String])
def test_categories_of_parquet_are_names(tmp_path, kind):
    frame = pl.DataFrame(
        {
            "doc": [f"d{k}" for k in range(30)] * 2,
            "who": ["ann"] * 30 + ["gpt"] * 30,
            "grade": [*HUMAN, *LLM],
        }
    ).cast({"who": kind})
    frame.write_parquet(tmp_path / "r.parquet")
    assert set(_read(tmp_path / "r.parquet", "ann")["rater"]) == {"ann", "gpt"}


@pytest.mark.parametrize(
    ("encoding", "human"),
    [
        ("cp1251", "эксперт"),
        ("cp1253", "ειδικός"),
        ("cp1256", "المراجع"),
        ("cp932", "査読者"),
        ("cp1252", "Prüferin"),
    ],
)
def test_the_reference_tells_the_encoding(tmp_path, encoding, human):
    rows = "\n".join(f"x{k},{HUMAN[k]},{LLM[k]}" for k in range(30))
    (tmp_path / "r.csv").write_bytes(f"ticket,{human},llm\n{rows}\n".encode(encoding))
    assert set(_read(tmp_path / "r.csv", human)["rater"]) == {human, "llm"}


@pytest.mark.parametrize("blank", ["", "x"])
def test_a_long_file_with_empty_last_cells_is_read_at_once(tmp_path, blank, monkeypatch):
    """The exact reader takes thirty times as long: it is for lines that are short, or quoted."""
    from voirdire.tables._files import _csv as reader

    monkeypatch.setattr(reader, "_PLAIN", 100)
    rows = [f"q{k},human,{HUMAN[k]}" for k in range(30)] + [f"q{k},llm,{LLM[k]}" for k in range(29)]
    text = "item,rater,score\n" + "\n".join([*rows, "q29,llm," if not blank else "q29,llm"]) + "\n"
    (tmp_path / "r.csv").write_text(text)
    exact = []
    monkeypatch.setattr(reader, "_exact", lambda *_, own=reader._exact: exact.append(1) or own(*_))
    table = reader.read_csv(tmp_path / "r.csv")
    assert table.frame.height == 60
    assert table.frame["score"].null_count() == 1
    assert bool(exact) == bool(blank)
    assert any(f.kind == "short_rows" for f in table.findings) == bool(blank)


def test_objects_of_three_levels_are_a_row_a_judgement(tmp_path):
    import json

    said = {"human": HUMAN, "gpt": LLM}
    nest = {
        r: {f"q{k}": {s: v[k + at] for at, s in enumerate(("v1.0", "v1.1"))} for k in range(29)}
        for r, v in said.items()
    }
    (tmp_path / "r.json").write_text(json.dumps(nest))
    ratings = _read(tmp_path / "r.json", "human")
    assert ratings.group_by("rater", "system").len()["len"].to_list() == [29] * 4
    uneven = {**nest, "gpt": {"q0": 4}}
    (tmp_path / "u.json").write_text(json.dumps(uneven))
    with pytest.raises(TableError):
        _read(tmp_path / "u.json", "human")


@pytest.mark.parametrize("item", ["tweet", "Fall", "excerpt no"])
def test_a_lock_of_labels_keeps_the_columns_that_were_found(tmp_path, item):
    words = ("support", "deny", "query")
    rows = [
        (f"m{k}", who, words[(k * step) % 3])
        for who, step in (("ann", 1), ("gpt", 2))
        for k in range(30)
    ]
    path = _csv(tmp_path / "r.csv", f"{item},annotator,stance", *map(list, zip(*rows)))  # noqa: B905
    lock = freeze(path, reference=["ann"])
    assert lock.read == {"item": item, "rater": "annotator"}
    # The next file has another column of ids, by which nothing is looked for.
    more = [(*row, f"x{k % 30}") for k, row in enumerate(rows)]
    later = _csv(tmp_path / "s.csv", f"{item},annotator,stance,id", *map(list, zip(*more)))  # noqa: B905
    check, _ = check_lock(later, lock)
    assert not any(row.failed for row in check.rows)
