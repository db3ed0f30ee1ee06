"""lm-evaluation-harness: `samples_*.jsonl`, which `lm_eval --log_samples` writes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from voirdire.tables import Reading, ReadingBuilder
from voirdire_plugins.readers.files import part, records_of

if TYPE_CHECKING:
    from pathlib import Path

NAME = "lm_eval"
#: samples_TASK_2024-05-01T10-00-00.123456.jsonl
_FILE = re.compile(r"samples_(?P<task>.+?)_\d{4}-\d\d-\d\dT[\d.-]+$")
#: What a line holds beside its metrics, for lines that do not list these.
_OTHER = frozenset(
    (
        "doc_id",
        "doc",
        "target",
        "arguments",
        "resps",
        "filtered_resps",
        "filter",
        "metrics",
        "doc_hash",
        "prompt_hash",
        "target_hash",
    )
)


def read(path: Path) -> Reading:
    """Metrics (attributes) of documents (items); a filter is a rater, the folder the model."""
    rows = ReadingBuilder(NAME, path.name)
    named = _FILE.match(path.stem)
    system = path.parent.name if named and path.parent.name else None
    for place, line in rows.each(records_of(path)):
        _line(rows, line, system, place)
    return rows.reading()


def _line(rows: ReadingBuilder, line: dict[str, Any], system: str | None, place: str) -> None:
    if "doc_id" not in line:
        rows.leave_out("the line names no document (doc_id)", place)
        return
    filtered = line.get("filter")
    # Each filter reads the same answer its own way, so that its metrics are those of another rater.
    rater = NAME if filtered in (None, "none") else f"{NAME} {filtered}"
    item = rows.item(line["doc_id"], _text(line))
    # What the model wrote; of a choice among continuations these are likelihoods.
    rows.respond(item, part(line, "resps", 0, 0), system)
    listed = line.get("metrics")
    names = listed if isinstance(listed, list) else [key for key in line if key not in _OTHER]
    used = False
    for name in map(str, names):
        value = line.get(name)
        if value is None or isinstance(value, bool | int | float):
            rows.rate(item, rater, name, value, system=system)
            used = True
        else:
            rows.leave_out(f"{name} is measured over all documents, and no score of one", place)
    if not used and not names:
        rows.leave_out("the line has no metrics", place)


def _text(line: dict[str, Any]) -> str | None:
    """The prompt of the first request."""
    # Objects now; in 0.4.2 they were lists.
    for text in (part(line, "arguments", "gen_args_0", "arg_0"), part(line, "arguments", 0, 0)):
        if isinstance(text, str):
            return text
    doc = line.get("doc")
    texts = [one for one in doc.values() if isinstance(one, str)] if isinstance(doc, dict) else []
    return max(texts, key=len, default=None)
