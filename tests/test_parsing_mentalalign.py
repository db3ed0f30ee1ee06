"""The 50,000 cells of the published workbooks, against the truth table made by eye."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from voirdire.parsing import parse_scores, parse_scores_column
from voirdire.schema import Scale

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.shared
JUDGES = ("claude_llm_judge", "gemini_llm_judge", "gpt-4o_llm_judge", "o4-mini_llm_judge")


@pytest.fixture(scope="module")
def truth(shared: Path) -> dict[str, Any]:
    path = shared / "reference" / "mentalalign_oddities.json"
    return json.loads(path.read_text("utf-8"))  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def books(shared: Path) -> dict[str, pl.DataFrame]:
    folder = shared / "data" / "mentalalign70k"
    return {path.name: pl.read_excel(path) for path in sorted(folder.glob("*.xlsx"))}


def _cells(book: pl.DataFrame) -> list[str | None]:
    return [cell for name in book.columns if "_response_" in name for cell in book[name]]


def test_judge_cells(truth: dict[str, Any], books: dict[str, pl.DataFrame]) -> None:
    keys, expected = truth["score_keys"], truth["expected_after_a_perfect_parser"]
    cells = [cell for judge in JUDGES for cell in _cells(books[f"{judge}.xlsx"])]
    columns = parse_scores_column(cells, keys, Scale())
    complete = sum(None not in row for row in zip(*columns.scores.values(), strict=True))
    assert len(cells) == truth["totals"]["judge_cells"]
    assert complete == expected["judge_cells_with_seven_scores"] == 39_991
    assert Counter(columns.status) == {"ok": 39_985, "repaired": 6, "blank": 8, "refused": 1}
    assert not any(columns.off_scale.values())


def test_hard_cells(truth: dict[str, Any], books: dict[str, pl.DataFrame]) -> None:
    for hard in truth["judge_parse_failures"]:
        book = books[hard["file"]]
        cell = book.row(by_predicate=pl.col("ConvID") == hard["ConvID"], named=True)[hard["column"]]
        parsed = parse_scores(cell, [*truth["score_keys"], "Overall"], Scale())
        assert parsed.scores == {**hard["scores"], "Overall": hard["Overall"]}
        assert (parsed.status == "refused") == (hard["status"] == "refused")


def test_overall_is_read_by_itself(truth: dict[str, Any], books: dict[str, pl.DataFrame]) -> None:
    counts = truth["judge_overall_field"]["counts"]
    cells = [cell for judge in JUDGES for cell in _cells(books[f"{judge}.xlsx"])]
    overall = parse_scores_column(cells, ["Overall", *truth["score_keys"]], Scale())
    reasons = Counter(overall.reasons["Overall"].values())
    assert reasons == {
        "null": counts["null"],
        "absent": counts["key_absent"],
        "not_numeric": counts["text"],
        "blank": 8,
        "refused": 1,
    }
    assert overall.scores["Guidance"].count(None) == 9


def test_human_cells(truth: dict[str, Any], books: dict[str, pl.DataFrame]) -> None:
    expected = truth["totals"]["human"]
    cells = _cells(books["Human_judge.xlsx"])
    columns = parse_scores_column(cells, truth["score_keys"], Scale())
    off = [
        dict(zip(columns.off_scale, row, strict=True)) for row in _rows(columns.off_scale, cells)
    ]
    assert sum(set(row.values()) == {0.0} for row in off) == expected["all_seven_zero"] == 33
    assert sum(6.0 in row.values() for row in off) == expected["above_range"] == 3
    assert Counter(v for row in off for v in row.values() if v is not None) == {0.0: 231, 6.0: 8}
    nulls = [row for row in _rows(columns.reasons, cells) if "null" in row]
    assert len(nulls) == expected["null_scores"] == 7
    assert cells.count(None) == expected["blank_cells"] == 57
    assert sum(status == "blank" for status in columns.status) == 57 + 7


def _rows(columns: dict[str, dict[int, Any]], cells: list[str | None]) -> list[list[Any]]:
    return [[column.get(row) for column in columns.values()] for row in range(len(cells))]


def test_human_cells_as_recorded(truth: dict[str, Any], books: dict[str, pl.DataFrame]) -> None:
    book = books["Human_judge.xlsx"]
    for kind in ("null_scores", "above_range"):
        for recorded in truth["human_cells"][kind]:
            named = {name.strip(): name for name in book.columns}
            column = named[recorded["column"].strip()]
            cell = book.row(by_predicate=pl.col("ConvID") == recorded["ConvID"], named=True)[column]
            parsed = parse_scores(cell, truth["score_keys"], Scale())
            restored = {**parsed.scores, **parsed.extra.get("off_scale", {})}
            assert restored == recorded["scores"]


def test_one_by_one_equals_by_column(truth: dict[str, Any], books: dict[str, pl.DataFrame]) -> None:
    cells = (
        _cells(books["claude_llm_judge.xlsx"])[:2_000] + _cells(books["Human_judge.xlsx"])[:2_000]
    )
    columns = parse_scores_column(cells, truth["score_keys"], Scale())
    for row, cell in enumerate(cells):
        parsed = parse_scores(cell, truth["score_keys"], Scale())
        assert parsed.scores == {name: column[row] for name, column in columns.scores.items()}
        assert (parsed.status, parsed.flags) == (columns.status[row], columns.flags[row])
        assert parsed.statuses == {name: column[row] for name, column in columns.statuses.items()}
