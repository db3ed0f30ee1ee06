"""doccano: JSONL of a text classification, one file an annotator (or of all together)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import voirdire
from voirdire.tables import Reading, ReadingBuilder
from voirdire_plugins.readers.files import has, records_of

if TYPE_CHECKING:
    from pathlib import Path

NAME = "doccano"


class Reader:
    """Labels of doccano."""

    name = NAME
    about = "doccano: Export dataset as JSONL; a file an annotator"

    def sniff(self, path: Path, head: bytes) -> float:
        """By the keys of a line."""
        line = head.split(b"\n", 1)[0]
        known = has(line, '"id"', '"text"', '"Comments"') and (
            has(line, '"label"') or has(line, '"entities"') or has(line, '"labels"')
        )
        return 0.9 * (known and path.suffix in (".jsonl", ".json"))

    def read(self, path: Path) -> Reading:
        """Labels of texts (items) by a person who is called as the file."""
        rows = ReadingBuilder(NAME, path.name)
        rows.rater(path.stem, "human")
        for place, line in records_of(path):
            labels = line.get("label", line.get("labels"))
            if "entities" in line or _spans(labels):
                raise voirdire.TableError(
                    f"{path.name}: a doccano export of a sequence labelling project: its labels "
                    f"mark parts of a text ({place}), and none is a rating of a whole one"
                )
            item = rows.item(line.get("id", place), str(line.get("text")))
            if not isinstance(labels, list) or not labels:
                rows.leave_out("the text has no label", place)
                continue
            rows.label(item, path.stem, "label", labels)
        return rows.reading()


def _spans(labels: Any) -> bool:
    return isinstance(labels, list) and any(isinstance(one, list | dict) for one in labels)
