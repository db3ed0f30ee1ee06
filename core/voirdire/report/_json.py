"""results.json and audit.json."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from voirdire.report._records import examination_record, finding_records

if TYPE_CHECKING:
    from pathlib import Path

    from voirdire.examining.examination import Examination


def write_json(examination: Examination, folder: Path) -> list[Path]:
    """Write both files; a bare NaN is an error, so none is ever written."""
    return [
        _dump(folder / "results.json", examination_record(examination)),
        _dump(folder / "audit.json", finding_records(examination)),
    ]


def _dump(path: Path, content: Any) -> Path:
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")
    return path
