"""`voirdire humans export`: a plan, its key, and a blinded sheet for each rater."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire._errors import InputError
from voirdire.humans._draw import draw
from voirdire.humans._layout import columns
from voirdire.humans._plan import KEY, PLAN, read_key, read_plan, write_key, write_plan
from voirdire.humans._sheets import write_csv
from voirdire.humans._source import read_source
from voirdire.humans._workbook import write_workbook
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
        The folder holds a plan that the source would no longer give.
    """
    study, tasks = read_source(source)
    humans = study.humans
    if humans is None:
        raise InputError(f"{source}: key 'humans' is required")
    folder = Path(out)
    key_path = Path(key) if key else folder / KEY
    if (folder / PLAN).is_file():
        held = read_plan(folder / PLAN)
        plan, _ = draw(study, humans, tasks, held.seed)
        if plan.hash != held.hash:
            raise InputError(
                f"{folder / PLAN}: texts, questions or raters have changed since this plan was "
                "drawn; give another folder, or take the study back to what it was"
            )
        return held, read_key(key_path, held)
    plan, origins = draw(study, humans, tasks)
    columns(plan)
    folder.mkdir(parents=True, exist_ok=True)
    key_path.parent.mkdir(parents=True, exist_ok=True)
    write_key(origins, key_path)
    (folder / STUDY).write_text(study_to_toml(study), encoding="utf-8")
    write_plan(plan, folder / PLAN)
    return plan, origins


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
        The study, its files or a format cannot be used.
    """
    unknown = [name for name in formats if name not in FORMATS]
    if unknown or not formats:
        raise InputError(f"formats are {', '.join(FORMATS)}, got {list(formats)}")
    plan, origins = make_plan(source, out, key=key)
    folder = Path(out) / SHEETS
    folder.mkdir(exist_ok=True)
    sheets, cut = [], 0
    for rater, stem in file_names(plan).items():
        for suffix in formats:
            path = folder / f"{stem}.{suffix}"
            if suffix == "xlsx":
                cut += write_workbook(plan, rater, path)
            else:
                with path.open("w", encoding="utf-8", errors="ignore", newline="") as file:
                    write_csv(plan, rater, file)
            sheets.append(path)
    return Exported(Path(out), plan, tuple(sheets), cut, tell_tales(plan, origins))


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
