"""`voirdire humans export`: a plan, its key, and a blinded sheet for each rater."""

from __future__ import annotations

import os
import secrets
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from voirdire.errors import InputError, MissingExtraError, StudyError, TableError, check_allowed
from voirdire.files import PRIVATE, file_stems, own_folder, write_text
from voirdire.humans.plan import (
    KEY,
    PLAN,
    Judgement,
    Origin,
    Plan,
    PlanKey,
    digest,
    read_key,
    read_plan,
    write_key,
    write_plan,
)
from voirdire.humans.questions import OPTIONS, form_of, options_of
from voirdire.humans.sheets import columns, read_sheet, write_csv
from voirdire.humans.source import left_to_people, read_source
from voirdire.humans.workbook import can_write_workbooks, write_workbook
from voirdire.schema import Comparison, Rating
from voirdire.store import is_session
from voirdire.study import study_to_toml
from voirdire.tables import read_queue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voirdire.humans.source import Names
    from voirdire.schema import Item
    from voirdire.store.tasks import Task
    from voirdire.study import Humans, Study
    from voirdire.tables import Queue

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
    skipped : tuple of str
        Formats that could not be written because a package is not installed.
    """

    folder: Path
    plan: Plan
    sheets: tuple[Path, ...]
    cut: int
    named: tuple[str, ...]
    skipped: tuple[str, ...] = ()


def make_plan(
    source: str | Path | Study,
    out: str | Path,
    *,
    key: str | Path | None = None,
    queue: str | Path | None = None,
    shared: bool = False,
) -> tuple[Plan, PlanKey]:
    """The plan in the folder `out`, drawn from a study or session where there is none yet.

    Parameters
    ----------
    source, out, key, queue, shared
        As in `export`.

    Raises
    ------
    InputError
        The folder holds a plan that the source would no longer give, or another study; a key
        stands in the key's place already.
    """
    study, tasks = read_source(source)
    listed = None if queue is None else read_queue(queue)
    if listed is not None:
        tasks = left_to_people(listed, study, tasks)
    humans = study.humans
    if humans is None:
        raise InputError(f"study {study.name!r}: key 'humans' is required")
    folder = Path(out)
    key_path = Path(key) if key else folder / KEY
    if (folder / PLAN).is_file():
        held = read_plan(folder / PLAN)
        held_key = read_key(key_path, held)
        # Drawn again from the same secret: only equal texts and raters give the plan that was sent
        # out.
        plan, again = draw(study, humans, tasks, held_key.secret, listed)
        if plan.hash != held.hash or again.origins != held_key.origins:
            raise InputError(
                f"{folder / PLAN}: texts, questions, raters or the queue have changed since this "
                "plan was drawn; give another folder, or take the study back to what it was"
            )
        return held, held_key
    plan, origins = draw(study, humans, tasks, queue=listed)
    columns(plan)
    toml = study_to_toml(study)
    _check_free(folder, key_path, toml)
    own_folder(folder, shared=shared)
    key_path.parent.mkdir(parents=True, exist_ok=True)
    # The key before the plan: a plan without one can never be read.
    write_key(origins, key_path)
    mode = None if shared else PRIVATE
    write_text(folder / STUDY, toml, mode=mode)
    write_plan(plan, folder / PLAN, mode)
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
    source: str | Path | Study,
    out: str | Path,
    *,
    formats: Sequence[str] = FORMATS,
    key: str | Path | None = None,
    queue: str | Path | None = None,
    shared: bool = False,
) -> Exported:
    """Write the plan, the key and the sheets.

    Parameters
    ----------
    source : path
        A study.toml with `[humans]`, or the folder of a session of such a study.
    out : path
        The folder; ``sheets/`` in it is what raters get. The key stays with you.
    formats : sequence of str
        ``"xlsx"`` and ``"csv"``. Where workbooks cannot be written for want of a package, the CSV
        sheets are written and `Exported.skipped` says so.
    key : path, optional
        Where the key is kept; by default ``key.json`` in the folder.
    queue : path, optional
        A table with the columns item, system and decision: people get the rows with the decision
        ``human``. Their labels are imported with the origin ``chosen``, since what a judge is not
        sure of is no random sample; with ``random``, and the probability of each, where the columns
        origin and label_probability say so (`voirdire plan --draw`, `voirdire escalate --audit`).
    shared : bool
        Whether others may read plan and sheets, as the umask says; the key never is. By default
        their owner alone may.

    Raises
    ------
    MissingExtraError
        Workbooks alone are wanted and the package for them is not installed.
    InputError, StudyError, TableError
        The study, its files or a format cannot be used, or a sheet that would be written again
        holds answers.
    """
    check_allowed("format of sheets", formats or ["none"], FORMATS)
    skipped = () if can_write_workbooks() else ("xlsx",)
    if skipped and "csv" not in formats:
        raise MissingExtraError("writing workbooks", "excel", "xlsxwriter")
    formats = [name for name in formats if name not in skipped]
    plan, origins = make_plan(source, out, key=key, queue=queue, shared=shared)
    folder = own_folder(Path(out) / SHEETS, shared=shared)
    mode = 0o666 if shared else PRIVATE
    stems = file_stems(list(plan.raters), "rater")
    sheets = {folder / f"{stem}.{suffix}": r for r, stem in stems.items() for suffix in formats}
    for path in sheets:
        _check_empty(plan, path)
    cut = 0
    for path, rater in sheets.items():
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, mode))
        if path.suffix == ".xlsx":
            cut += write_workbook(plan, rater, path)
        else:
            # Half letters that JSON let in cannot be written; what is compared later leaves them
            # out.
            with path.open("w", encoding="utf-8", errors="ignore", newline="") as file:
                write_csv(plan, rater, file)
    return Exported(Path(out), plan, tuple(sheets), cut, tell_tales(plan, origins), skipped)


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


def tell_tales(plan: Plan, key: PlanKey) -> tuple[str, ...]:
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


Tasks = list[tuple["Names", "Task"]]


def draw(
    study: Study,
    humans: Humans,
    tasks: Sequence[tuple[Names, Task]],
    secret: str = "",
    queue: Queue | None = None,
) -> tuple[Plan, PlanKey]:
    """The plan of a study and the key to it; equal for equal texts and secret.

    Everything that is drawn rests on the secret alone: by a seed that a study says, or one small
    enough to be tried, whoever knows the names of the systems could draw the plan again.

    Parameters
    ----------
    secret : str, optional
        That of a plan which is drawn again; a new plan gets a new one, of 128 bits.
    queue : Queue, optional
        By which the tasks were picked: how, and with which probability, is kept in the key.

    Raises
    ------
    StudyError
        No raters, fewer raters than a task needs, or a task that no rater may judge.
    """
    secret = secret or secrets.token_hex(16)
    judgements: dict[str, Judgement] = {}
    origins: dict[str, Origin] = {}
    raters = {}
    for rater, own in _given_out(study, humans, tasks, secret).items():
        ids = []
        for task, named in _ordered(own, rater, secret, humans.order or study.comparisons.order):
            judgement = _judgement(humans, study, task, _ident(secret, rater, named))
            origin = named
            if queue is not None:
                both = (
                    sorted((named.system_a, named.system_b)) if named.system_b else [named.system_a]
                )
                chance = queue.probability.get((named.item, *both))
                origin = replace(named, probability=chance)
            judgements[judgement.id], origins[judgement.id] = judgement, origin
            ids.append(judgement.id)
        raters[rater] = tuple(ids)
    title = study.title or study.name
    plan = Plan(study.name, title, humans.task, humans.instructions, raters, judgements)
    items = {item.id: dict(item.extra) for item in (_item(task) for _, task in tasks)}
    return plan, PlanKey(plan.hash, secret, origins, items, "" if queue is None else queue.origin)


def rater_names(study: Study, humans: Humans) -> tuple[str, ...]:
    """Who judges."""
    names = humans.raters or tuple(r.name for r in study.panel if r.kind == "human")
    if not names:
        raise StudyError("humans.raters: say who judges, or declare humans in the panel")
    return names


def _given_out(
    study: Study, humans: Humans, tasks: Sequence[tuple[Names, Task]], secret: str
) -> dict[str, Tasks]:
    """The tasks of each rater; where not all get each, loads are even."""
    names = rater_names(study, humans)
    most = humans.per_task or len(names)
    if most > len(names):
        raise StudyError(f"humans.per_task is {most}, more than the {len(names)} raters")
    excluded = {name: set(_excludes(study, name)) for name in names}
    given: dict[str, Tasks] = {name: [] for name in names}
    random = Random(f"{secret}:who")  # noqa: S311 - the secret makes the same plan again
    shuffled = list(tasks)
    random.shuffle(shuffled)
    # Tasks that few may judge first: dealt last, they would leave loads uneven.
    shuffled.sort(key=lambda task: sum(not own & set(task[0][1:]) for own in excluded.values()))
    for task in shuffled:
        free = [name for name in names if not excluded[name] & set(task[0][1:])]
        if len(free) < (humans.per_task or 1):
            raise StudyError(
                f"humans: {len(free) or 'no'} rater may judge item {task[0][0]!r} of "
                f"{' and '.join(filter(None, task[0][1:]))}, where {humans.per_task or 'one'} must"
            )
        free.sort(key=lambda name: (len(given[name]), random.random()))
        for name in free[:most]:
            given[name].append(task)
    return {name: own for name, own in given.items() if own}


def _excludes(study: Study, name: str) -> tuple[str, ...]:
    rater = study.rater(name)
    return () if rater is None or rater.excludes is None else rater.excludes


def _ordered(tasks: Tasks, rater: str, secret: str, order: str) -> Iterator[tuple[Task, Origin]]:
    """Tasks in the order of showing; comparisons with the response that comes first."""
    random = Random(f"{secret}:order:{rater}")  # noqa: S311
    pairs: dict[tuple[str, str], list[Comparison]] = defaultdict(list)
    placed: list[tuple[Task, Origin]] = []
    for (item, a, b), task in tasks:
        if isinstance(task, Comparison):
            pairs[a, b].append(task)
        else:
            placed.append((task, Origin(item, a)))
    for (a, b), own in pairs.items():
        for task, turned in zip(own, _turns(len(own), order, random), strict=True):
            swapped = Comparison(task.item, task.second, task.first)
            shown = {"both": (task, swapped), "turned": (swapped,), "": (task,)}[turned]
            placed += [(s, Origin(s.item.id, a, b, s.first.system)) for s in shown]
    random.shuffle(placed)
    yield from placed


def _turns(count: int, order: str, random: Random) -> list[str]:
    """Which comparisons are turned round: as near to half of them as can be."""
    if order == "both":
        return ["both"] * count
    if order == "fixed":
        return [""] * count
    # Exactly half where it can be: a coin for each would leave a rater with 7 of 10 turned.
    half = count // 2 + (count % 2) * random.randrange(2)
    turns = ["turned"] * half + [""] * (count - half)
    random.shuffle(turns)
    return turns


def _ident(secret: str, rater: str, origin: Origin) -> str:
    names = (origin.item, origin.system_a, origin.system_b, origin.first)
    return digest((secret, rater, *names), 13)


def _judgement(humans: Humans, study: Study, task: Task, ident: str) -> Judgement:
    item = _item(task)
    shown = [(name, _shown(item, name)) for name in humans.show]
    shown.append((humans.item_title, item.text))
    if isinstance(task, Rating):
        shown.append((humans.response_title, task.response.text))
    if isinstance(task, Comparison):
        shown.append((f"{humans.response_title} A", task.first.text))
        shown.append((f"{humans.response_title} B", task.second.text))
    letters = options_of(humans, item)
    if letters:
        shown.append((OPTIONS, "\n".join(f"{letter}. {text}" for letter, text in letters.items())))
    turns = task.response.turns if isinstance(task, Rating) else item.turns
    return Judgement(ident, tuple(shown), form_of(study, humans, item, len(turns)))


def _item(task: Task) -> Item:
    return task.item if isinstance(task, Rating | Comparison) else task


def _shown(item: Item, name: str) -> str:
    if name not in item.extra:
        raise StudyError(f"humans.show names {name!r}, which is not among items.extra")
    return "" if item.extra[name] is None else str(item.extra[name])
