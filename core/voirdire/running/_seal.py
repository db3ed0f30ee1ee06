"""A run that is through leaves a seal: what it rests on, and what came of it.

Going on with it compares the seal in place of taking every text in and asking for every prompt
again. The seal is of the study, of every file that it names, of the raters' own words and
parameters, and of all code that could put them differently; any change of these, or of what is on
file, and the run is looked through task by task.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.files import file_hash
from voirdire.running._result import ModelResult, RaterResult
from voirdire.store.checksums import DATABASE, TABLES, read_checksums, state_of
from voirdire.store.session import transaction

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from voirdire.running._prepare import Declared, RunOptions
    from voirdire.store.raters import Participant
    from voirdire.store.session import Session

#: What stands in `meta`.
_SEAL = "seal"


def seal_of(declared: Declared, asking: Sequence[Participant], options: RunOptions) -> str | None:
    """A hash of all that a run rests on; None where it rests on what cannot be hashed."""
    study = declared.study
    named = dict(_named_files(study.model_dump(mode="json"), Path(study.folder)))
    texts = [spec.path for spec in (study.items, study.responses) if spec is not None]
    # A table by another name than that of a file, such as of a data set, may change unseen.
    if any(str(text) not in named for text in texts):
        return None
    parts = [
        declared.text,
        study.model_dump_json(),
        options.only or "",
        [
            [asdict(participant.id), participant.runs, participant.max_steps]
            for participant in asking
        ],
        sorted(named.items()),
        sorted(_code(participant.rater for participant in asking).items()),
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def sealed(
    connection: sqlite3.Connection, folder: Path, seal: str | None
) -> tuple[RaterResult, ...] | None:
    """What came of the run that left this seal; None where it is another, or not as it was."""
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (_SEAL,)).fetchone()
    if row is None or seal is None:
        return None
    found = json.loads(row[0])
    hashes = read_checksums(folder)
    derived = [name for name in TABLES if name in hashes]
    there = all((folder / name).is_file() for name in derived)
    # What this run has written so far lies in the log: the file is as it was closed, or damaged.
    there = there and hashes.get(DATABASE) == file_hash(folder / DATABASE)
    if not (derived and there and (found["seal"], found["state"]) == (seal, state_of(connection))):
        return None
    return tuple(
        RaterResult(**{**rater, "models": tuple(ModelResult(**one) for one in rater["models"])})
        for rater in found["raters"]
    )


def keep_seal(session: Session, seal: str | None, raters: Iterable[RaterResult]) -> None:
    """Leave the seal of a run that is through."""
    if seal is None:
        return
    kept = {
        "seal": seal,
        "state": state_of(session.connection),
        "raters": [asdict(rater) for rater in raters],
    }
    with transaction(session.connection):
        session.connection.execute(
            "INSERT OR REPLACE INTO meta VALUES (?, ?)", (_SEAL, json.dumps(kept))
        )


def _named_files(value: Any, folder: Path) -> Iterator[tuple[str, str]]:
    """Texts of a study that name a file, or a folder of files, with a hash of what is there."""
    if isinstance(value, dict):
        for part in value.values():
            yield from _named_files(part, folder)
    elif isinstance(value, list):
        for part in value:
            yield from _named_files(part, folder)
    elif isinstance(value, str) and value.strip():
        path = folder / value
        # Most texts name no file, and some are longer than a name may be.
        with suppress(OSError, ValueError):
            if path.is_file():
                yield value, file_hash(path)
            elif path.is_dir() and not folder.resolve().is_relative_to(path.resolve()):
                yield value, _listed(_files(str(path)))


def _code(raters: Iterable[Any]) -> Mapping[str, str]:
    """Top package -> a hash of its files, of ours and of those that the raters come from."""
    tops = {"voirdire", *(type(rater).__module__.partition(".")[0] for rater in raters)}
    found = {}
    for top in sorted(tops):
        file = getattr(sys.modules.get(top), "__file__", None)
        if file is not None:
            path = Path(file)
            whole = path.name == "__init__.py"
            found[top] = _listed(_files(str(path.parent)) if whole else [(path.name, path.stat())])
    return found


def _listed(files: Iterable[tuple[str, os.stat_result]]) -> str:
    """A hash of names, sizes and times of files."""
    rows = [(name, stat.st_size, stat.st_mtime_ns) for name, stat in files]
    return hashlib.sha256(json.dumps(sorted(rows)).encode()).hexdigest()


def _files(folder: str, below: str = "") -> Iterator[tuple[str, os.stat_result]]:
    """Files below a folder, by their way from it; hundreds, so that `Path` would cost too much."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False) and entry.name != "__pycache__":
                yield from _files(entry.path, f"{below}{entry.name}/")
            elif entry.is_file() and not entry.name.endswith(".pyc"):
                yield below + entry.name, entry.stat()
