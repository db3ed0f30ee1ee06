"""The loading cases from public bug reports: each variant of each case, with its right answer."""

from __future__ import annotations

import json

import polars as pl
import pytest

from voirdire import TableError
from voirdire.study import build_study
from voirdire.tables import audit, canonical_ids, match_ids, read_raw, read_tables, write_xlsx

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def cases(shared):
    lines = (shared / "cases" / "bug_cases.jsonl").read_text(encoding="utf-8").splitlines()
    found = {
        case["id"]: case["variants"]
        for case in map(json.loads, lines)
        if case["kind"] == "d_loading"
    }
    assert sorted(found) == ["D02", "D03", "D05", "D06", "D08", "D09"]
    return found


def study_of(folder, sources, **data):
    return build_study(
        {
            "name": "cases",
            "data": {"sources": sources, **data},
            "rubric": {"scale": [1, 5], "attributes": ["score"]},
        },
        folder=str(folder),
    )


def test_d02_spaces_in_column_names(cases, tmp_path):
    found, collision = cases["D02"]
    columns, prefix = found["input"]["columns"], found["input"]["prefix"]
    reply = '"{""score"": 4}"'
    (tmp_path / "r.csv").write_text(",".join(columns) + f"\n1,{reply},{reply}\n")
    source = {"path": "r.csv", "layout": "replies", "prefix": prefix}
    tables = read_tables(study_of(tmp_path, [source]))
    names = [prefix + system for system in tables.ratings["system"]]
    assert names == found["expected"]["found"]
    names = collision["input"]["columns"]
    (tmp_path / "twice.csv").write_text(",".join(names) + "\n" + ",".join(["1"] * len(names)))
    with pytest.raises(TableError, match=r"twice\.csv: two columns are equal after trimming"):
        read_raw(tmp_path / "twice.csv")


def test_d03_ids_of_every_type(cases):
    for variant in cases["D03"]:
        given, right = variant["input"], variant["expected"]
        match = match_ids(given["left"], given["right"])
        assert match.matched == right["matched"]
        for side in ("left_only", "right_only"):
            if side in right:
                assert list(getattr(match, side)) == [str(value) for value in right[side]]
        assert match.bad_ids == right.get("bad_ids", 0)
        assert any("differ only by padding" in w for w in match.warnings) == ("warning" in right)


def test_d05_duplicate_ids(cases, tmp_path):
    conflict, same = cases["D05"]

    def write(sides):
        for side, rows in sides.items():
            frame = pl.DataFrame(rows, schema=["item", "score"], orient="row")
            frame.write_parquet(tmp_path / f"{side}.parquet")
        return study_of(tmp_path, [{"path": f"{s}.parquet"} for s in sides], reference=["human"])

    with pytest.raises(TableError) as caught:
        read_tables(write(conflict["input"]))
    assert str(caught.value).count("item '1'") == 2
    assert "judge.parquet" in str(caught.value)
    assert "human.parquet" in str(caught.value)
    tables = read_tables(write(same["input"]))
    of_judge = tables.ratings.filter(pl.col("rater") == "judge")
    assert of_judge.height == same["expected"]["rows"]
    assert "duplicate_rows" in [finding.kind for finding in tables.findings]


def test_d06_one_bad_line(cases, tmp_path):
    (variant,) = cases["D06"]
    path = tmp_path / "r.jsonl"
    path.write_text(variant["input"])
    with pytest.raises(TableError, match=r"^r\.jsonl: line 3 "):
        read_raw(path)
    raw = read_raw(path, skip_bad_lines=True)
    assert raw.frame.height == variant["expected"]["rows"]
    (note,) = raw.findings
    bad = [{"line": int(place.split()[1])} for place in note.places]
    assert bad == variant["expected"]["bad"]


def test_d08_spreadsheet_export(cases, tmp_path):
    long, formula, control = cases["D08"]
    assert "40000 chars" in long["input"]["cell"]
    (cut,) = write_xlsx(tmp_path / "a.xlsx", {"s": pl.DataFrame({"cell": ["x" * 40_000]})})
    assert "over the cell limit" in cut.message
    kept = json.loads((tmp_path / "a.s.jsonl").read_text())
    assert kept == {"cell": "x" * 40_000}
    cell = formula["input"]["cell"]
    assert write_xlsx(tmp_path / "b.xlsx", {"s": pl.DataFrame({"cell": [cell]})}) == ()
    assert read_raw(tmp_path / "b.xlsx").frame["cell"].to_list() == [
        formula["expected"]["reads_back"]
    ]
    (cleaned,) = write_xlsx(
        tmp_path / "c.xlsx", {"s": pl.DataFrame({"cell": [control["input"]["cell"]]})}
    )
    assert control["expected"]["warning"] in cleaned.message
    assert read_raw(tmp_path / "c.xlsx").frame["cell"].to_list() == ["pagebreak"]


def test_d09_rows_paired_by_position(cases, tmp_path):
    texts, order = cases["D09"]
    for side, rows in texts["input"].items():
        scored = [{**row, "score": 1 + row["id"]} for row in rows]
        (tmp_path / f"{side}.jsonl").write_text("\n".join(map(json.dumps, scored)))
    sources = [{"path": f"{side}.jsonl"} for side in texts["input"]]
    study = study_of(tmp_path, sources, reference=["human"])
    found = {finding.kind: finding for finding in audit(read_tables(study), study)}
    mismatch = found["context_mismatch"]
    assert mismatch.places == ("2", "3")
    assert "2 at 3" in mismatch.message
    assert found["duplicate_contexts"].table == "human.jsonl"
    assert found["duplicate_contexts"].places == ("1 and 2",)

    for side, ids in order["input"].items():
        name = side.removesuffix("_ids")
        pl.DataFrame({"item": ids, "score": ids}).write_parquet(tmp_path / f"{name}.parquet")
    sources = [{"path": "human.parquet"}, {"path": "judge.parquet"}]
    ratings = read_tables(study_of(tmp_path, sources, reference=["human"])).ratings
    pairs = ratings.pivot("rater", index="item", values="score")
    assert pairs["human"].to_list() == pairs["judge"].to_list()
    assert canonical_ids(pairs["item"]).to_list() == ["1", "2", "3"]
