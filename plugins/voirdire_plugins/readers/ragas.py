"""Ragas: the table of `evaluate(...).to_pandas()` as CSV, JSON lines or Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.tables import Reading, ReadingBuilder
from voirdire_plugins.readers import OF_SAMPLES
from voirdire_plugins.readers.files import rows_of
from voirdire_plugins.readers.sourced import judge

if TYPE_CHECKING:
    from pathlib import Path

NAME = "ragas"


def read(path: Path) -> Reading:
    """Metrics (attributes) of samples; what was asked is the item."""
    rows = ReadingBuilder(NAME, path.name)
    for place, one in rows.each(rows_of(path)):
        asked = one.get("user_input")
        text = asked if isinstance(asked, str) else None
        item = rows.item(text or place, text, {k: v for k, v in one.items() if k in OF_SAMPLES})
        rows.respond(item, one.get("response"))
        scores = {k: v for k, v in one.items() if k not in OF_SAMPLES and _is_there(v)}
        for name, score in scores.items():
            judge(rows, place, item, rater=NAME, person=False, attribute=name, label=score)
        if not scores:
            rows.leave_out("the sample has no scores", place)
    return rows.reading()


def _is_there(value: Any) -> bool:
    """Whether a metric could be computed: else Ragas writes NaN."""
    return value is not None and value == value  # noqa: PLR0124 - only NaN differs
