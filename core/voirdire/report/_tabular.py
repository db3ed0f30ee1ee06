"""icc.csv, tests.csv, icc.parquet and ratings.parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.report._records import icc_frame, tests_frame

if TYPE_CHECKING:
    from pathlib import Path

    from voirdire.examining.examination import Examination


def write_csv(examination: Examination, folder: Path) -> list[Path]:
    """One row a judge and attribute, and one a test; an undefined value is an empty cell."""
    path, tests = folder / "icc.csv", folder / "tests.csv"
    icc_frame(examination).write_csv(path)
    tests_frame(examination).write_csv(tests)
    return [path, tests]


def write_parquet(examination: Examination, folder: Path) -> list[Path]:
    """The same rows, and every rating that they rest on."""
    icc, ratings = folder / "icc.parquet", folder / "ratings.parquet"
    icc_frame(examination).write_parquet(icc)
    examination.ratings.write_parquet(ratings)
    return [icc, ratings]
