"""`voirdire humans export`: a plan, its key, and a blinded sheet for each rater."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire._errors import InputError, TableError
from voirdire.humans._draw import draw
from voirdire.humans._layout import columns
from voirdire.humans._plan import KEY, PLAN, read_key, read_plan, write_key, write_plan
from voirdire.humans._sheets import read_sheet, write_csv
from voirdire.humans._source import read_source
from voirdire.humans._workbook import write_workbook
from voirdire.store import is_session
from voirdire.study import study_to_toml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.humans._plan import Key, Plan

STUDY, SHEETS = "study.toml", "sheets"
FORMATS = ("xlsx", "csv")
#: Shorter names of systems occur in ordinary words.
_NAME = 4


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written.

    Attributes
    ----------
    sheets : tuple of Path
    cut : int
        Texts longer than a workbook's cell holds; the CSV sheets have them in full.
    named : tuple of str
        Judgements whose texts name the system behind them: these are not blind.
    """

    folder: Path
    plan: Plan
    sheets: tuple[Path, ...]
    cut: int
    named: tuple[str, ...]


def make_plan(
    source: str | Path, out: str | Path, *, key: str | Path | None = None
) -> tuple[Plan, Key]:
    """The plan in the folder `out`, drawn from a study or session where there is none yet.

    Raises
    ------
    InputError
        The folder holds a plan that the source would no longer give, or another study; a key
        stands in the key's place already.
    """
    study, tasks = read_source(source)
    humans = study.humans
    if humans is None:
        raise InputError(f"{source}: key 'humans' is required")
    folder = Path(out)
    key_path = Path(key) if key else folder / KEY
    if (folder / PLAN).is_file():
        held = read_plan(folder / PLAN)
        held_key = read_key(key_path, held)
        plan, _ = draw(study, humans, tasks, held_key.seed)
        if plan.hash != held.hash:
            raise InputError(
                f"{folder / PLAN}: texts, questions or raters have changed since this plan was "
                "drawn; give another folder, or take the study back to what it was"
            )
        return held, held_key
    plan, origins = draw(study, humans, tasks)
    columns(plan)
    said = study_to_toml(study)
    _check_free(folder, key_path, said)
    folder.mkdir(parents=True, exist_ok=True)
    key_path.parent.mkdir(parents=True, exist_ok=True)
    write_key(origins, key_path)
    (folder / STUDY).write_text(said, encoding="utf-8", newline="\n")
    write_plan(plan, folder / PLAN)
    return plan, origins


def _check_free(folder: Path, key: Path, study: str) -> None:
    """Nothing that a first export writes stands there already."""
    held = folder / STUDY
    if is_session(folder) or (held.is_file() and held.read_bytes() != study.encode()):
        raise InputError(f"{held}: another study lies there; give another folder for the plan")
    if key.exists():
        raise InputError(
            f"{key}: a key lies there already, and without it no answer to its plan can be read; "
            "give another place, or remove it if that plan is gone"
        )


def export(
    source: str | Path,
    out: str | Path,
    *,
    formats: Sequence[str] = FORMATS,
    key: str | Path | None = None,
) -> Exported:
    """Write the plan, the key and the sheets.

    Parameters
    ----------
    source : path
        A study.toml with `[humans]`, or the folder of a session of such a study.
    out : path
        The folder; ``sheets/`` in it is what raters get. The key stays with you.
    formats : sequence of str
        ``"xlsx"`` and ``"csv"``.
    key : path, optional
        Where the key is kept; by default ``key.json`` in the folder.

    Raises
    ------
    InputError, StudyError, TableError
        The study, its files or a format cannot be used, or a sheet that would be written again
        holds answers.
    """
    unknown = [name for name in formats if name not in FORMATS]
    if unknown or not formats:
        raise InputError(f"formats are {', '.join(FORMATS)}, got {list(formats)}")
    plan, origins = make_plan(source, out, key=key)
    folder = Path(out) / SHEETS
    folder.mkdir(exist_ok=True)
    stems = file_names(plan)
    sheets = {folder / f"{stems[r]}.{suffix}": r for r in stems for suffix in formats}
    for path in sheets:
        _check_empty(plan, path)
    cut = 0
    for path, rater in sheets.items():
        if path.suffix == ".xlsx":
            cut += write_workbook(plan, rater, path)
        else:
            with path.open("w", encoding="utf-8", errors="ignore", newline="") as file:
                write_csv(plan, rater, file)
    return Exported(Path(out), plan, tuple(sheets), cut, tell_tales(plan, origins))


def _check_empty(plan: Plan, path: Path) -> None:
    """A sheet that somebody has filled in, or changed in any way, is not written over."""
    try:
        filled = path.is_file() and read_sheet(plan, path)
    except TableError as error:
        raise InputError(
            f"{path}: not the sheet as it was sent out; move it away ({error})"
        ) from None
    if filled:
        raise InputError(
            f"{path}: {len(filled)} judgements are answered in it; move it away, or read it by "
            "voirdire humans import"
        )


def file_names(plan: Plan) -> dict[str, str]:
    """Rater -> the stem of its sheets."""
    found: dict[str, str] = {}
    for rater in plan.raters:
        stem = re.sub(r"[^\w.-]+", "-", rater).strip(".-") or "rater"
        taken = {name.casefold() for name in found.values()}
        found[rater] = stem if stem.casefold() not in taken else f"{stem}-{len(found) + 1}"
    return found


def tell_tales(plan: Plan, key: Key) -> tuple[str, ...]:
    """Judgements in whose texts the name of a system behind them stands."""
    return tuple(
        ident
        for ident, origin in key.origins.items()
        if any(
            len(name) >= _NAME and name.casefold() in text.casefold()
            for name in (origin.system_a, origin.system_b)
            for _, text in plan.judgements[ident].shown
        )
    )
