"""What raters themselves say of their work: findings kept beside a session's tables, by rater."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.files import write_json
from voirdire.schema import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FILE = "findings.json"


def keep_findings(folder: str | Path, minds: Iterable[tuple[str, Any]]) -> None:
    """Keep what raters find, given as (name, rater); one that says None keeps what it said before.

    A rater says it by a method `findings() -> sequence of Finding or None`, which few have: one
    whose prompts hold examples tells of leaks.
    """
    asked = ((name, getattr(mind, "findings", None)) for name, mind in minds)
    said = {name: _said(name, found) for name, found in asked if found}
    new = {name: found for name, found in said.items() if found is not None}
    if not new:
        return
    write_json(Path(folder) / FILE, {**_kept(folder), **new})


def _said(name: str, findings: Callable[[], Any]) -> list[dict[str, Any]] | None:
    """What a rater finds; one that breaks at it is a finding itself."""
    try:
        found = findings()
        rows = None if found is None else [asdict(one) for one in found]
        json.dumps(rows)
    except Exception as error:  # noqa: BLE001 - a plugin's rater may raise anything at all
        message = f"{name} was asked for its findings and broke: {type(error).__name__}: {error}"
        broken = Finding(
            "findings_broke", "note", name, 1, (), message, "What it knows of is not told here."
        )
        return [asdict(broken)]
    return rows


def kept_findings(folder: str | Path) -> tuple[Finding, ...] | None:
    """What a session's raters found, what several found alike once; None where none was asked."""
    kept = _kept(folder)
    if not kept:
        return None
    rows = [row for found in kept.values() for row in found]
    return tuple(dict.fromkeys(Finding(**{**row, "places": tuple(row["places"])}) for row in rows))


def _kept(folder: str | Path) -> dict[str, list[dict[str, Any]]]:
    path = Path(folder) / FILE
    if not path.is_file():
        return {}
    found: dict[str, list[dict[str, Any]]] = json.loads(path.read_text(encoding="utf-8"))
    return found
