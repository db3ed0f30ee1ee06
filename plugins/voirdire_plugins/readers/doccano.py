"""doccano: JSONL of a text classification, one file an annotator, or the archive of them all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile, is_zipfile

import voirdire
from voirdire.tables import Reading, ReadingBuilder
from voirdire_plugins.readers.files import check_archive, records_in, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "doccano"
#: More than this in one file of an archive is no list of labels.
_MOST = 2**30


def read(path: Path) -> Reading:
    """Labels of texts (items) by people who are called as their files."""
    rows = ReadingBuilder(NAME, path.name)
    if path.suffix == ".zip" and is_zipfile(path):
        with ZipFile(path) as archive:
            sizes = {info.filename: info.file_size for info in archive.infolist()}
        rows.archive(sizes, sizes)
    for person, text in _files(path):
        rows.rater(person, "human")
        name = f"{path.name}, {person}.jsonl" if path.suffix == ".zip" else path.name
        for place, line in rows.each(records_in(text, name)):
            _line(rows, person, place, line)
    return rows.reading()


def _files(path: Path) -> Iterator[tuple[str, str]]:
    """Annotator -> text of the file."""
    if path.suffix != ".zip":
        yield path.stem, text_of(path)
        return
    try:
        with ZipFile(path) as archive:
            check_archive(path, archive.infolist())
            for member in archive.infolist():
                if member.file_size > _MOST:
                    raise voirdire.TableError(f"{path.name}: {member.filename} is too large")
                text = archive.read(member).decode("utf-8-sig")
                yield member.filename.rpartition("/")[2].removesuffix(".jsonl"), text
    except (BadZipFile, OSError, UnicodeDecodeError, NotImplementedError, RuntimeError) as error:
        raise voirdire.TableError(f"{path.name}: is no whole archive ({error})") from None


def _line(rows: ReadingBuilder, person: str, place: str, line: dict[str, Any]) -> None:
    labels = line.get("label", line.get("labels", line.get("cats")))
    if _spans(labels) or ("entities" in line and "cats" not in line):
        raise voirdire.TableError(
            f"{rows.file}: a doccano export of a sequence labelling project: its labels "
            f"mark parts of a text ({place}), and none is a rating of a whole one"
        )
    item = rows.item(line.get("id", place), str(line.get("text")))
    if not isinstance(labels, list) or not labels:
        rows.leave_out("the text has no label", f"{person}, {place}")
        return
    rows.label(item, person, "label", labels)


def _spans(labels: Any) -> bool:
    return isinstance(labels, list) and any(isinstance(one, list | dict) for one in labels)
