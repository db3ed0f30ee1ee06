"""What an MCP client may read: pages of the documentation, schemas, reports, and whole answers."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from voirdire.errors import InputError, check_allowed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from voirdire.cli.folders import Folders

HEAD = "voirdire://"
#: How deep a report may lie in a folder, and how many are listed.
DEEP, MOST = 4, 200
_KINDS = {".md": "text/markdown", ".json": "application/json", ".html": "text/html"}
#: Reports that may hold replies: whoever compares may ask for them.
_MAY_HOLD_TEXTS = frozenset({"compared"})


def answer_uri(number: int) -> str:
    """Where the whole of an answer is read."""
    return f"{HEAD}answers/{number}"


def shipped(name: str) -> Path:
    """Where `docs` or `examples` are: in the package, or in the clone it is used from."""
    package = Path(__file__).parents[1]
    inside = package / name
    return inside if inside.is_dir() else package.parents[1] / name


def _docs() -> dict[str, Path]:
    return {path.stem: path for path in sorted(shipped("docs").glob("*.md"))}


def listed(
    folders: Folders, answers: Mapping[int, str], *, texts: bool
) -> list[tuple[str, str, str]]:
    """Address, name and media type of all that may be read."""
    from voirdire.cli.offered import TOOLS

    found = [(f"{HEAD}skill", "what to ask, and how to report it", "text/markdown")]
    found += [(f"{HEAD}docs/{name}", f"page {name}", "text/markdown") for name in _docs()]
    found += [
        (f"{HEAD}schemas/{quote(one)}", f"what {one} --json prints", "application/json")
        for one in TOOLS.values()
    ]
    found += [(answer_uri(number), f"answer {number}", "application/json") for number in answers]
    return found + [
        (path.as_uri(), f"report {path.name} in {path.parent.name}", _KINDS[path.suffix])
        for path in _reports(folders, texts=texts)
    ]


def read(uri: str, folders: Folders, answers: Mapping[int, str], *, texts: bool) -> tuple[str, str]:
    """Media type and text of what is at an address.

    Raises
    ------
    InputError
        There is nothing, or what is there may not be shown.
    """
    if uri.startswith("file://"):
        path = folders.inside(unquote(uri.removeprefix("file://")))
        if path not in set(_reports(folders, texts=texts)):
            shown = "" if texts else " that is shown without --texts"
            raise InputError(f"{path.name} is no report{shown}")
        return _KINDS[path.suffix], path.read_text("utf-8")
    room, _, name = unquote(uri.removeprefix(HEAD)).partition("/")
    check_allowed("address", [room], ["skill", "docs", "schemas", "answers"], uri)
    if room == "docs":
        check_allowed("page", [name], _docs(), uri)
        return "text/markdown", _docs()[name].read_text("utf-8")
    if room == "schemas":
        from voirdire.cli.offered import TOOLS
        from voirdire.cli.schemas import schema_of

        check_allowed("command", [name], TOOLS.values(), uri)
        return "application/json", json.dumps(schema_of(name), indent=1)
    if room == "answers":
        check_allowed("answer", [name], map(str, answers), uri)
        return "application/json", answers[int(name)]
    from voirdire.cli.skill import skill_text

    return "text/markdown", skill_text()


def _reports(folders: Folders, *, texts: bool) -> Iterator[Path]:
    """Files of reports: records that name their schema, and what was written beside them."""
    count = 0
    for top in folders.paths:
        for place, inner, names in os.walk(top):
            folder = Path(place)
            if len(folder.relative_to(top).parts) >= DEEP:
                inner.clear()
            for name in sorted(one for one in names if one.endswith(".json")):
                for path in _written(folder / name, texts=texts):
                    count += 1
                    if count > MOST:
                        return
                    yield path


def _written(record: Path, *, texts: bool) -> Iterator[Path]:
    if not _is_record(record) or (record.stem in _MAY_HOLD_TEXTS and not texts):
        return
    whole = record.stem == "results"
    page = "report" if whole else record.stem
    beside = [record, record.with_name("tables.md" if whole else f"{record.stem}.md")]
    # Texts stand in pages of HTML, and nowhere else, where a report was asked to show them.
    beside += [record.with_name(f"{page}.html")] if texts else []
    yield from (path for path in beside if path.is_file() and not path.is_symlink())


def _is_record(path: Path) -> bool:
    """Whether a file begins as the records do that this program writes."""
    try:
        with path.open("rb") as file:
            return b'"schema_version"' in file.read(4096)
    except OSError:
        return False
