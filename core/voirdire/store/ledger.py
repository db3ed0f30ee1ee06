"""The ledger: how often each set of labels was looked at to choose something.

A look is kept twice: beside the file of labels, so that it goes where the labels go, and in the
session. It names units by their content and the question asked of them, so that rows that are added
or sorted anew clear nothing.
"""

from __future__ import annotations

import json
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.files import mode_like, write_text
from voirdire.store._schema import content_hash
from voirdire.store.session import is_session, locked_session, read_session, transaction

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

#: What the ledger of a file is called: its name, and this.
SUFFIX = ".looks.jsonl"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class LabelUse:
    """Labels that were used to choose something.

    Attributes
    ----------
    command : str
        What looked at them: ``escalate``, ``cascade``, ``tune``.
    question : str
        The attribute that was labelled.
    candidates : int
        How many there were to choose from.
    chosen : str
        What was chosen: a judge, a prompt, a threshold.
    units : frozenset of bytes
        Which labelled units, by `unit_hash`.
    at : float
        When, in seconds since 1970.
    """

    command: str
    question: str
    candidates: int
    chosen: str
    units: frozenset[bytes]
    at: float = field(default_factory=time.time)

    @property
    def key(self) -> bytes:
        """The same for the same choice from the same labels, whenever it was made."""
        units = (unit.hex() for unit in sorted(self.units))
        return content_hash(self.command, self.question, self.chosen, str(self.candidates), *units)


@dataclass(frozen=True, slots=True)
class LookedAt:
    """A look, and how many of some units it used."""

    look: LabelUse
    units: int


def unit_hash(question: str, *texts: str) -> bytes:
    """A labelled unit and the question asked of it, by content.

    `texts` are those of the item and the response; where there are none, their names.

    Examples
    --------
    >>> unit_hash("Safety", "How?", "So.") == unit_hash("Safety", "How?", "So.")
    True
    >>> unit_hash("Safety", "How?", "So.") == unit_hash("Empathy", "How?", "So.")
    False
    """
    return content_hash(question, *texts)


def ledger_of(labels: str | Path) -> Path:
    """Where the ledger of a file of labels, or of a folder, lies."""
    path = Path(labels)
    return path / SUFFIX.lstrip(".") if path.is_dir() else path.with_name(path.name + SUFFIX)


def keep_look(
    look: LabelUse, *, labels: Sequence[str | Path] = (), session: str | Path | None = None
) -> None:
    """Write a look beside files of labels, and into a session.

    The same choice from the same labels is one look: it stands there once.

    Raises
    ------
    InputError
        A ledger cannot be read or written.
    SessionError
        Another process works in the session.
    """
    for path in labels:
        held = _read(ledger_of(path))
        if look.key in (one.key for one in held):
            continue
        lines = [json.dumps(_packed(one)) for one in (*held, look)]
        try:
            write_text(ledger_of(path), "\n".join(lines) + "\n", mode=mode_like(Path(path)))
        except OSError as error:
            raise InputError(
                f"{ledger_of(path)}: the ledger of these labels cannot be written "
                f"({error.strerror}), and without it nobody knows that they were used to choose"
            ) from None
    if session is not None and is_session(session):
        row = (look.key, look.at, look.command, look.question, look.candidates, look.chosen, None)
        with locked_session(session) as connection, transaction(connection):
            connection.execute("INSERT OR IGNORE INTO looks VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            connection.executemany(
                "INSERT OR IGNORE INTO looked_at VALUES (?, ?)",
                [(look.key, unit) for unit in sorted(look.units)],
            )


def looks_at(
    units: Collection[bytes],
    *,
    labels: Iterable[str | Path] = (),
    session: str | Path | None = None,
) -> tuple[LookedAt, ...]:
    """The looks that used any of some units, oldest first.

    Raises
    ------
    InputError
        A ledger cannot be read.
    """
    found = {look.key: look for path in labels for look in _read(ledger_of(path))}
    if session is not None and is_session(session):
        found |= {look.key: look for look in _of_session(session)}
    own = frozenset(units)
    used = [LookedAt(look, len(look.units & own)) for look in found.values()]
    return tuple(
        sorted((one for one in used if one.units), key=lambda one: (one.look.at, one.look.key))
    )


def _of_session(folder: str | Path) -> Iterable[LabelUse]:
    with closing(read_session(folder)) as connection:
        units: dict[bytes, set[bytes]] = {}
        for look, unit in connection.execute("SELECT look, unit FROM looked_at"):
            units.setdefault(look, set()).add(unit)
        rows = connection.execute(
            "SELECT key, command, question, candidates, chosen, at FROM looks"
        ).fetchall()
    return [
        LabelUse(command, question, candidates, chosen, frozenset(units.get(key, ())), at)
        for key, command, question, candidates, chosen, at in rows
    ]


def _packed(look: LabelUse) -> dict[str, Any]:
    return {
        "version": _VERSION,
        "at": look.at,
        "command": look.command,
        "question": look.question,
        "candidates": look.candidates,
        "chosen": look.chosen,
        "units": sorted(unit.hex() for unit in look.units),
    }


def _read(path: Path) -> list[LabelUse]:
    if not path.is_file():
        return []
    looks = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            raw = json.loads(line)
            if raw["version"] > _VERSION:
                raise InputError(
                    f"{path}, line {number}: a newer voirdire wrote it: update voirdire"
                )
            units = frozenset(bytes.fromhex(unit) for unit in raw["units"])
            looks.append(
                LabelUse(
                    str(raw["command"]),
                    str(raw["question"]),
                    int(raw["candidates"]),
                    str(raw["chosen"]),
                    units,
                    float(raw["at"]),
                )
            )
        except (ValueError, KeyError, TypeError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"{path}, line {number}: no look of a ledger ({error}); it says how often the "
                "labels beside it were used to choose something"
            ) from None
    return looks
