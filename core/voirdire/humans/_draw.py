"""Drawing a plan: who gets which task, in which order, and which response is shown first."""

from __future__ import annotations

import secrets
from collections import defaultdict
from random import Random
from typing import TYPE_CHECKING

from voirdire._errors import StudyError
from voirdire.humans._form import OPTIONS, form_of, options_of
from voirdire.humans._guard import digest
from voirdire.humans._plan import Judgement, Key, Origin, Plan
from voirdire.schema import Comparison, Rating

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voirdire.humans._source import Names
    from voirdire.schema import Item
    from voirdire.store import Task
    from voirdire.study import Humans, Study

Tasks = list[tuple["Names", "Task"]]


def draw(
    study: Study, humans: Humans, tasks: Sequence[tuple[Names, Task]], seed: int | None = None
) -> tuple[Plan, Key]:
    """The plan of a study and the key to it; equal for equal texts and seed.

    Parameters
    ----------
    seed : int, optional
        In place of that of the study; where neither says one, it is drawn.

    Raises
    ------
    StudyError
        No raters, fewer raters than a task needs, or a task that no rater may judge.
    """
    chosen = next((s for s in (seed, humans.seed) if s is not None), secrets.randbits(53))
    judgements: dict[str, Judgement] = {}
    origins: dict[str, Origin] = {}
    raters = {}
    for rater, own in _given_out(study, humans, tasks, chosen).items():
        ids = []
        for task, origin in _ordered(own, rater, chosen, humans.order or study.comparisons.order):
            judgement = _judgement(humans, study, task, _ident(chosen, rater, origin))
            judgements[judgement.id], origins[judgement.id] = judgement, origin
            ids.append(judgement.id)
        raters[rater] = tuple(ids)
    title = study.title or study.name
    plan = Plan(study.name, title, humans.task, humans.instructions, raters, judgements)
    items = {item.id: dict(item.extra) for item in (_item(task) for _, task in tasks)}
    return plan, Key(plan.hash, chosen, origins, items)


def rater_names(study: Study, humans: Humans) -> tuple[str, ...]:
    """Who judges."""
    names = humans.raters or tuple(r.name for r in study.panel if r.kind == "human")
    if not names:
        raise StudyError("humans.raters: say who judges, or declare humans in the panel")
    return names


def _given_out(
    study: Study, humans: Humans, tasks: Sequence[tuple[Names, Task]], seed: int
) -> dict[str, Tasks]:
    """The tasks of each rater; where not all get each, loads are even."""
    names = rater_names(study, humans)
    most = humans.per_task or len(names)
    if most > len(names):
        raise StudyError(f"humans.per_task is {most}, more than the {len(names)} raters")
    excluded = {name: set(_excludes(study, name)) for name in names}
    given: dict[str, Tasks] = {name: [] for name in names}
    random = Random(f"{seed}:who")  # noqa: S311 - a seed makes the same plan again
    shuffled = list(tasks)
    random.shuffle(shuffled)
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


def _ordered(tasks: Tasks, rater: str, seed: int, order: str) -> Iterator[tuple[Task, Origin]]:
    """Tasks in the order of showing; comparisons with the response that comes first."""
    random = Random(f"{seed}:order:{rater}")  # noqa: S311
    pairs: dict[tuple[str, str], list[Comparison]] = defaultdict(list)
    found: list[tuple[Task, Origin]] = []
    for (item, a, b), task in tasks:
        if isinstance(task, Comparison):
            pairs[a, b].append(task)
        else:
            found.append((task, Origin(item, a)))
    for (a, b), own in pairs.items():
        for task, turned in zip(own, _turns(len(own), order, random), strict=True):
            swapped = Comparison(task.item, task.second, task.first)
            shown = {"both": (task, swapped), "turned": (swapped,), "": (task,)}[turned]
            found += [(s, Origin(s.item.id, a, b, s.first.system)) for s in shown]
    random.shuffle(found)
    yield from found


def _turns(count: int, order: str, random: Random) -> list[str]:
    """Which comparisons are turned round: as near to half of them as can be."""
    if order == "both":
        return ["both"] * count
    if order == "fixed":
        return [""] * count
    half = count // 2 + (count % 2) * random.randrange(2)
    turns = ["turned"] * half + [""] * (count - half)
    random.shuffle(turns)
    return turns


def _ident(seed: int, rater: str, origin: Origin) -> str:
    names = (origin.item, origin.system_a, origin.system_b, origin.first)
    return digest((str(seed), rater, *names), 13)


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
    return Judgement(ident, tuple(shown), form_of(study, humans, item))


def _item(task: Task) -> Item:
    return task.item if isinstance(task, Rating | Comparison) else task


def _shown(item: Item, name: str) -> str:
    if name not in item.extra:
        raise StudyError(f"humans.show names {name!r}, which is not among items.extra")
    return "" if item.extra[name] is None else str(item.extra[name])
