"""The audit finds what is odd, counts it, places it and says what follows."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.shift import shifted_rows

from voirdire import tables
from voirdire.schema import SEVERITIES
from voirdire.study import build_study
from voirdire.tables import audit, read_tables
from voirdire.tables.auditing._contexts import Block, shifted_blocks


def audited(folder, files, *, rubric=None, reference=("human",), **rest):
    """Findings by kind for files given as name -> rows."""
    for name, rows in files.items():
        pl.DataFrame(rows, infer_schema_length=None).write_parquet(folder / f"{name}.parquet")
    study = build_study(
        {
            "name": "calm",
            "data": {
                "sources": [{"path": f"{name}.parquet", "rater": name} for name in files],
                "reference": list(reference),
                **rest.pop("data", {}),
            },
            "rubric": rubric or {"scale": [1, 5], "attributes": ["Calm"]},
            **rest,
        },
        folder=str(folder),
    )
    findings = audit(read_tables(study), study)
    assert list(findings) == sorted(findings, key=lambda f: SEVERITIES.index(f.severity))
    by_kind = {}
    for each in findings:
        assert len(each.places) <= 20
        assert each.consequence.endswith(".")
        by_kind.setdefault(each.kind, []).append(each)
    return by_kind


def rows_of(n=40, seed=0, **more):
    rng = random.Random(seed)
    return [{"item": i, "Calm": rng.randint(1, 5), **more} for i in range(n)]


def test_clean_tables_have_nothing_odd(tmp_path):
    assert audited(tmp_path, {"human": rows_of(), "judge": rows_of(seed=1)}) == {}


def test_off_scale_values_one_finding_each_with_cells(tmp_path):
    rubric = {"scale": [1, 5], "attributes": ["Calm", "Clear"]}
    human = [{"item": i, "Calm": 3, "Clear": 1 + i % 5} for i in range(400)]
    human[1] |= {"Calm": 0, "Clear": 0}
    human[2] |= {"Calm": 0}
    human[3] |= {"Calm": 6.5}
    judge = [{"item": i, "Calm": 1 + i % 5, "Clear": 1 + i % 4} for i in range(400)]
    found = audited(tmp_path, {"human": human, "judge": judge}, rubric=rubric)
    zero, six = found["out_of_scale"]
    assert (zero.count, zero.places, zero.severity) == (3, ("item 1", "item 2"), "serious")
    assert zero.message == "3 scores of 0 in 2 cells; the declared scale is 1 to 5."
    assert six.message == "1 score of 6.5 in 1 cell; the declared scale is 1 to 5."
    assert "count as missing" in zero.consequence
    assert "constant_rater" not in found


def test_many_off_scale_values_doubt_the_scale_and_block(tmp_path):
    human = [{"item": i, "Calm": i % 101} for i in range(101)]
    found = audited(tmp_path, {"human": human, "judge": rows_of(101)})
    blocks = found["out_of_scale"]
    assert len(blocks) == 5
    assert sum(each.count for each in blocks) == 96
    assert {each.severity for each in blocks} == {"blocking"}
    assert "other values from" in blocks[-1].message


def test_off_scale_consequences_follow_the_policy(tmp_path):
    files = {"human": [*rows_of(), {"item": 99, "Calm": 9}], "judge": rows_of(seed=1)}
    kept = audited(tmp_path, files, data={"off_scale": "keep"})["out_of_scale"][0]
    assert "kept as scores" in kept.consequence


def test_blanks_between_levels_and_constants(tmp_path):
    judge = [{"item": i, "Calm": None if i == 7 else 4.5} for i in range(40)]
    found = audited(tmp_path, {"human": rows_of(), "judge": judge})
    assert found["missing_scores"][0].places == ("item 7",)
    assert found["between_levels"][0].count == 39
    (constant,) = found["constant_rater"]
    assert (constant.table, constant.places) == ("judge", ("Calm: always 4.5",))


def test_one_rater_blocks_and_few_ratings_are_serious(tmp_path):
    found = audited(tmp_path, {"human": rows_of(10)})
    assert found["one_rater"][0].severity == "blocking"
    assert found["few_ratings"][0].places == ("Calm: 10",)


def test_what_tables_lack(tmp_path):
    human = [{"item": i, "system": s, "Calm": 1 + i % 5} for i in range(40) for s in "abc"]
    judge = [
        row for row in human if row["system"] != "c" and (row["item"], row["system"]) != (3, "a")
    ]
    found = audited(
        tmp_path,
        {"human": human, "judge": judge},
        rubric={"scale": [1, 5], "attributes": ["Calm", "Clear"]},
        systems=[{"name": "a"}, {"name": "b"}, {"name": "d"}],
        panel=[{"name": "human", "kind": "human"}, {"name": "judge"}, {"name": "absent"}],
    )
    assert [(f.table, f.places) for f in found["system_missing"]] == [
        ("", ("d",)),
        ("judge", ("c",)),
    ]
    assert found["system_undeclared"][0].places == ("c",)
    assert found["attribute_missing"][0].places == ("Clear",)
    assert found["rater_missing"][0].places == ("absent",)
    (unrated,) = found["responses_unrated"]
    assert (unrated.table, unrated.count, unrated.places) == ("judge", 1, ("item 3, a",))


def test_an_annotator_lacks_no_label_that_it_was_not_asked_for(tmp_path):
    human = [{"item": i, "Low": i % 2, "Tense": i % 3 == 0} for i in range(40)]
    one = [{"item": i, "Low": i % 2} for i in range(40)]
    panel = [{"name": "human"}, {"name": "low", "kind": "annotator", "use": "yes-no"}]
    rubric = {"scale": [0, 1], "attributes": ["Low", "Tense"]}
    found = audited(tmp_path, {"human": human, "low": one}, rubric=rubric, panel=panel)
    assert "attribute_missing" not in found
    panel[1] = {"name": "low"}
    (lacking,) = audited(tmp_path, {"human": human, "low": one}, rubric=rubric, panel=panel)[
        "attribute_missing"
    ]
    assert (lacking.table, lacking.places) == ("low", ("Tense",))


def test_excluded_systems_that_no_file_holds_are_told(tmp_path):
    rows = [{"item": i, "system": s, "Calm": 1 + i % 5} for i in range(40) for s in "abc"]
    panel = [{"name": "judge", "excludes": ["a", "aa"]}]
    found = audited(tmp_path, {"human": rows, "judge": rows}, panel=panel)
    (told,) = found["excludes_unknown"]
    assert (told.table, told.severity, told.places) == ("judge", "serious", ("aa",))


def test_ratings_without_a_system_beside_others(tmp_path):
    human = [{"item": i, "system": "a" if i else None, "Calm": 1 + i % 5} for i in range(40)]
    (found,) = audited(tmp_path, {"human": human, "judge": human})["system_blank"]
    assert (found.count, found.places) == (2, ("item 0",))


@pytest.mark.parametrize(
    ("shared_ids", "severity"), [(39, "note"), (30, "serious"), (9, "blocking")]
)
def test_unmatched_ids_on_both_sides(tmp_path, shared_ids, severity):
    judge = [{"item": i + 40 - shared_ids, "Calm": 1 + i % 5} for i in range(40)]
    (found,) = audited(tmp_path, {"human": rows_of(), "judge": judge})["ids_unmatched"]
    assert (found.severity, found.count) == (severity, 2 * (40 - shared_ids))
    assert f"{shared_ids} items rated by both" in found.message
    assert "only human: 0" in found.places
    assert any(place.startswith("only judge: ") for place in found.places)


def test_padding_is_suggested_where_some_ids_do_not_meet(tmp_path):
    human = [{"item": f"{i:03d}", "Calm": 1 + i % 5} for i in range(120)]
    judge = [{"item": i, "Calm": 1 + i % 4} for i in range(120)]
    (found,) = audited(tmp_path, {"human": human, "judge": judge})["ids_unmatched"]
    assert "differ only by padding" in found.message


def contexts(texts, seed=0):
    return [
        {**row, "context": text} for row, text in zip(rows_of(len(texts), seed), texts, strict=True)
    ]


def test_contexts_that_differ_only_in_blanks_agree(tmp_path):
    texts = [f"text {i}" for i in range(40)]
    spaced = [f" text\u00a0 {i}\n" for i in range(40)]
    assert audited(tmp_path, {"human": contexts(texts), "judge": contexts(spaced, 1)}) == {}


def test_a_copied_row_shifts_what_follows(tmp_path):
    texts = [f"text {i}" for i in range(60)]
    # Row 20 was copied down: rows 21..29 show the text of the row before, row 30 is right again.
    human = [*texts[:21], texts[20], *texts[21:29], *texts[30:]]
    files = {"human": contexts(human), "j1": contexts(texts, 1), "j2": contexts(texts, 2)}
    found = audited(tmp_path, files)
    (shift,) = found["context_shift"]
    assert (shift.places, shift.count, shift.severity) == (("21-29",), 9, "serious")
    assert "j1.parquet, j2.parquet stands in row i+1 of human.parquet" in shift.message
    (mismatch,) = found["context_mismatch"]
    assert (mismatch.count, mismatch.places[0]) == (9, "21")
    assert "21 at 22" in mismatch.message
    (repeated,) = found["duplicate_contexts"]
    assert repeated.places == ("20 and 21",)


def test_shuffled_rows_are_joined_by_id_and_show_nothing(tmp_path):
    human = contexts([f"text {i}" for i in range(40)])
    judge = human[::-1]
    assert audited(tmp_path, {"human": human, "judge": judge}) == {}


def test_tables_about_other_texts_block(tmp_path):
    files = {
        "human": contexts([f"text {i}" for i in range(40)]),
        "judge": contexts([f"other {i}" for i in range(40)], 1),
    }
    assert audited(tmp_path, files)["context_mismatch"][0].severity == "blocking"


def test_one_id_with_two_texts(tmp_path):
    human = [
        {**row, "system": s, "context": f"text {row['item']}"} for row in rows_of() for s in "ab"
    ]
    human[1]["context"] = "another"
    (found,) = audited(tmp_path, {"human": human, "judge": human[:1]})["context_varies"]
    assert (found.table, found.places) == ("human.parquet", ("0",))


def test_reply_fates(tmp_path):
    cells = [
        '{"Calm": 4}',
        None,
        " ",
        '{"Calm": null}',
        "I'm sorry, but I can't rate this.",
        "hm",
        '{"Calm": 4, "why": "the user said nan"}',
        '{"Calm": 4, "why": "a "b" c"}',
    ]
    rows = [
        {"item": i, "judge_response_a": c, "judge_response_b": '{"Calm": 3}'}
        for i, c in enumerate(cells)
    ]
    found = audited(tmp_path, {"judge": rows}, reference=())
    assert found["blank_cells"][0].places == ("item 1, a", "item 2, a")
    assert found["null_scores"][0].places == ("item 3, a",)
    assert found["refused"][0].places == ("item 4, a",)
    assert found["unparsable"][0].places == ("item 5, a",)
    assert found["rated_the_word_nan"][0].places == ("item 6, a",)
    assert found["repaired"][0].places == ("item 7, a",)


def test_shift_of_more_rows_either_way_and_apart():
    base = np.arange(1, 101, dtype=np.uint64)
    other = base.copy()
    other[10:20] = base[13:23]
    other[50:60] = base[48:58]
    assert shifted_blocks(base, other) == (Block(10, 19, 3), Block(50, 59, -2))


def test_too_short_or_absent_texts_are_no_shift():
    base = np.arange(1, 11, dtype=np.uint64)
    other = base.copy()
    other[3:5] = base[4:6]
    assert shifted_blocks(base, other) == ()
    other[2:6] = 0
    assert shifted_blocks(base, other) == ()
    assert shifted_blocks(base[:2], base[:2] + np.uint64(1), shortest=3) == ()


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=14),
    st.lists(st.integers(0, 4), min_size=14, max_size=14),
)
def test_every_row_of_a_block_follows_and_every_following_run_is_in_one(here, other):
    other = other[: len(here)]
    blocks = shifted_blocks(np.array(here, np.uint64), np.array(other, np.uint64), farthest=3)
    rows = {row for b in blocks for row in range(b.first, b.last + 1)}
    differ = {i for i, (a, b) in enumerate(zip(here, other, strict=True)) if a and b and a != b}
    assert rows <= differ
    assert len(rows) == sum(b.last - b.first + 1 for b in blocks)
    expected = shifted_rows(here, other, farthest=3, shortest=3)
    # A run that another block cut into may be left shorter than three rows.
    assert rows or not expected
    for block in blocks:
        inside = range(block.first, block.last + 1)
        follows = [
            0 <= i + block.offset < len(here) and other[i] == here[i + block.offset] for i in inside
        ]
        assert sum(follows) >= 3
        assert len(follows) - sum(follows) <= 2 * abs(block.offset)


def test_shifts_are_found_in_linear_time():
    base = np.arange(1, 1_000_001, dtype=np.uint64)
    other = base.copy()
    other[1000:900_000] = base[1001:900_001]
    assert shifted_blocks(base, other) == (Block(1000, 899_999, 1),)


def test_every_kind_of_finding_stands_in_the_docs():
    made = [
        kind
        for file in Path(tables.__file__).parent.rglob("*.py")
        for kind in re.findall(r'finding\(\s*"(\w+)"', file.read_text(encoding="utf-8"))
    ]
    assert len(made) > 30
    assert [kind for kind in made if f"``{kind}``" not in audit.__doc__] == []
