"""`voirdire humans import`: sheets and the page's database, back as tidy tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire._errors import InputError, TableError
from voirdire.humans._answers import asked_alone
from voirdire.humans._database import DATABASE, read_answers
from voirdire.humans._export import STUDY
from voirdire.humans._plan import KEY, PLAN, read_key, read_plan
from voirdire.humans._sheets import read_sheet
from voirdire.humans._tables import attributes_of, count_open, items_of, tables_of
from voirdire.store import is_session
from voirdire.study import build_study, load_study, study_to_toml

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from voirdire.humans._answers import Answered
    from voirdire.humans._plan import Plan
    from voirdire.study import Study

_DATABASES = (".sqlite", ".sqlite3", ".db")
_FILES = tuple(
    f"{name}.parquet" for name in ("ratings", "preferences", "choices", "texts", "items")
)
_LABELS = ("alpha_nominal", "ac1")
#: How people alone are examined where the study does not say: by how far they agree.
_MEASURES = {"pointwise": ("icc", "alpha"), "labels": _LABELS, "nested": _LABELS, "choice": _LABELS}


@dataclass(frozen=True, slots=True)
class Imported:
    """What was read.

    Attributes
    ----------
    tables : mapping of str to DataFrame
        ``ratings``, and ``preferences``, ``choices`` or ``texts`` where the task brings them.
    counts : mapping of str to tuple
        Rater -> judgements complete, begun and untouched.
    """

    folder: Path
    tables: dict[str, pl.DataFrame]
    counts: dict[str, tuple[int, int, int]]


def import_answers(
    work: str | Path,
    files: Sequence[str | Path],
    out: str | Path,
    *,
    key: str | Path | None = None,
) -> Imported:
    """Read answers, and write them as a folder that `voirdire examine` takes.

    Parameters
    ----------
    work : path
        The folder of the plan.
    files : sequence of path
        Sheets (workbooks, CSV) and databases of the page; by default the database in `work`.
    out : path
        The folder for ``study.toml`` and the tables as Parquet.
    key : path, optional
        By default ``key.json`` in `work`.

    Raises
    ------
    InputError
        The plan or its key cannot be used, or the folder holds files that are no answers to it.
    TableError
        A sheet cannot be used; the message names the file, the row and the value.
    """
    work, out = Path(work), Path(out)
    plan = read_plan(work / PLAN)
    origins = read_key(Path(key) if key else work / KEY, plan)
    _check_free(out, plan)
    answers = gather(plan, [Path(file) for file in files] or [work / DATABASE])
    found = tables_of(plan, origins, answers)
    study = human_study(load_study(work / STUDY), plan)
    _write(out, _mark(plan) + study_to_toml(study), found, items_of(origins))
    return Imported(out, found, count_open(plan, answers))


def gather(plan: Plan, files: Sequence[Path]) -> dict[str, Answered]:
    """The answers of all files: judgement -> question -> answer.

    Raises
    ------
    TableError
        A judgement is answered in two files.
    """
    found: dict[str, tuple[str, Answered]] = {}
    for path in files:
        for ident, (where, answered) in _read(plan, path).items():
            if ident in found:
                raise TableError(f"{where}: id {ident!r} is answered in {found[ident][0]} already")
            found[ident] = (where, answered)
    return {ident: answered for ident, (_, answered) in found.items()}


def human_study(study: Study, plan: Plan) -> Study:
    """The study of the answers alone: its panel are the people who judged.

    What it says of thresholds and analysis stands; without measures, those of agreement are asked.
    """
    raw = study.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    for key in ("data", "items", "responses", "generators", "run", "classify", "humans"):
        raw.pop(key, None)
    declared = {rater["name"]: rater for rater in raw.get("panel", ())}
    raw["panel"] = [declared.get(name, {"name": name, "kind": "human"}) for name in plan.raters]
    if plan.task in _MEASURES and not study.analysis.measures:
        raw["analysis"] = {**raw.get("analysis", {}), "measures": _MEASURES[plan.task]}
    if plan.task in ("labels", "nested", "choice"):
        raw["rubric"] = {"scale": [0, 1], "attributes": [_named(n) for n in attributes_of(plan)]}
    return build_study(raw)


def _named(name: str) -> dict[str, str]:
    return {"name": name}


def _read(plan: Plan, path: Path) -> dict[str, tuple[str, Answered]]:
    if path.suffix.lower() not in _DATABASES:
        return read_sheet(plan, path)
    found: dict[str, tuple[str, Answered]] = {}
    for ident, answered in read_answers(path, plan).items():
        if ident not in plan.judgements:
            raise TableError(f"{path}: id {ident!r} was not sent out with this plan")
        kept = asked_alone(plan.judgements[ident].form, answered)
        if kept:
            found[ident] = (str(path), kept)
    return found


def _check_free(out: Path, plan: Plan) -> None:
    """Nothing is written over but the answers to this plan."""
    if is_session(out) or (out / PLAN).exists():
        raise InputError(f"{out}: holds a session or a plan; give another folder for the answers")
    held = next((name for name in (STUDY, *_FILES) if (out / name).exists()), None)
    study = out / STUDY
    if held and not (study.is_file() and study.read_bytes().startswith(_mark(plan).encode())):
        raise InputError(
            f"{out}: holds a {held} that is no answer to this plan; give another folder"
        )


def _mark(plan: Plan) -> str:
    """How the study beside the answers to a plan begins."""
    return f"# Answers to the plan {plan.hash[:16]}, read by voirdire humans import.\n"


def _write(
    out: Path, study: str, found: dict[str, pl.DataFrame], items: pl.DataFrame | None
) -> None:
    out.mkdir(parents=True, exist_ok=True)
    (out / STUDY).write_text(study, encoding="utf-8", newline="\n")
    for name in _FILES:
        (out / name).unlink(missing_ok=True)
    tables = found if items is None else {**found, "items": items}
    for name, frame in tables.items():
        frame.write_parquet(out / f"{name}.parquet")
