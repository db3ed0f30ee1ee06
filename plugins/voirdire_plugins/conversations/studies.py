"""Studies of the papers over turns: personas, generators of talks, annotators of conversations."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire import InputError
from voirdire.errors import check_allowed, listed
from voirdire.store import is_session, read_session
from voirdire.store.tasks import iterate_items, iterate_ratings
from voirdire.store.turns import units
from voirdire.study import Conversations, build_study, named_models, write_study
from voirdire.tables import read_answers, read_items
from voirdire_plugins.resources import resource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Turn
    from voirdire.units import JudgedUnits

#: What stands for our personas in place of a file of them.
PERSONAS = "personas"
#: What of a conversation may be asked about: labels and scores have no first failure.
UNITS = ("whole", "turn")
_TALKS, _PEOPLE = "conversations.jsonl", "people.csv"


def personas() -> pl.DataFrame:
    """Our personas of simulated clients: ``id, text, language``.

    >>> personas().columns, personas().height
    (['id', 'text', 'language'], 12)
    """
    rows = resource("conversations", "personas")["personas"]
    return pl.DataFrame(
        [(row["id"], row["text"].strip(), row["language"]) for row in rows],
        schema=["id", "text", "language"],
        orient="row",
    )


def dialogues(
    systems: Sequence[str],
    client: str,
    turns: int,
    system_prompt: str,
    model_options: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Entries of generators that let each system talk with one simulated client.

    >>> dialogues(["simulated:a"], "simulated:c", 4, "You listen.")[0]["name"]
    'a'
    """
    given = {"options": dict(model_options)} if model_options else {}
    return [
        {
            "name": name,
            "use": "dialogue",
            "models": {"system": {"model": model, **given}, "client": {"model": client, **given}},
            "options": {"turns": turns, "system_prompt": system_prompt},
        }
        for name, model in named_models(systems)
    ]


def judged_units(unit: str | None, role: str) -> dict[str, str]:
    """The part of a study that says what of its conversations is asked about.

    Raises
    ------
    InputError
        Nobody says it.
    """
    if unit is None:
        raise InputError(
            "what of a conversation is asked about? Give --unit turn (each turn of a role, given "
            "its past) or --unit whole (each conversation)"
        )
    check_allowed("unit", [unit], UNITS, "--unit")
    return {"unit": unit, **({"role": role} if unit == "turn" else {})}


def write_labelled(  # noqa: PLR0913 - each is an option of the command
    out: str | Path,
    talks: str | Path,
    study: Mapping[str, Any],
    labels: Sequence[str],
    *,
    unit: str | None = None,
    role: str = "user",
    columns: Mapping[str, str] | None = None,
    people: str | Path | None = None,
    extra: Mapping[str, str] | None = None,
) -> Path:
    """Write a study whose annotators label conversations, or each turn of a role.

    Parameters
    ----------
    talks : path
        A file of conversations with the columns ``id`` and ``messages`` (or as `columns` names
        them), or a session. Conversations are copied beside the study.
    study : mapping
        Its name, title and panel.
    labels : sequence of str
        What is labelled, each scored 0 or 1.
    unit, role : str
        Whether wholes are labelled or turns, and whose.
    people : path, optional
        What people said of the same units, which the study is held against: ``item, rater,
        attribute, score``, an item being ``c1 turn 3`` where turns are labelled.
    extra : mapping, optional
        Further columns that prompts show, each with its text.

    Raises
    ------
    InputError
        Nobody says the unit, nobody speaks in that role, people labelled something else, or another
        study lies in the folder.
    TableError
        The file holds no conversations; the message says where.
    """
    judged = judged_units(unit, role)
    named = {"id": "id", "messages": "messages", **(columns or {})}
    found = _of_session(Path(talks)) if is_session(talks) else _of_file(Path(talks), named)
    there = _units(found, Conversations.model_validate(judged).judged())
    more = dict(extra or {})
    rows = [
        {"id": name, "messages": json.dumps([*map(_message, turns)], ensure_ascii=False), **more}
        for name, turns in found.items()
    ]
    tables = {_TALKS: pl.DataFrame(rows)}
    raw: dict[str, Any] = {
        **study,
        "items": {"path": _TALKS, "messages": "messages", "extra": list(more)},
        "conversations": judged,
        "rubric": {"scale": [0, 1], "attributes": list(labels)},
    }
    if people is not None:
        answers = read_answers(people)
        _check_units(answers["item"], there, str(people))
        names = answers["rater"].unique(maintain_order=True).to_list()
        tables[_PEOPLE] = answers
        raw["data"] = {"sources": [{"path": _PEOPLE, "layout": "long"}], "reference": names}
        raw["panel"] = [*({"name": name, "kind": "human"} for name in names), *raw["panel"]]
    return write_study(out, raw, tables)


def labelled_said(path: Path, benchmark: str, *, people: str | Path | None = None, **_: Any) -> str:
    """What to do with a study that was written: without people nothing is held against anyone."""
    how = f"examine {benchmark} --data SESSION" if benchmark and people else "examine SESSION"
    return (
        f"Wrote {path}. Run it with: voirdire run {path} --out SESSION\n"
        f"Then: voirdire {how} --out REPORT\n"
        + ("" if people else "People have said nothing of it yet (--people): no verdict follows. ")
        + "No result licenses clinical use."
    )


def _of_session(folder: Path) -> dict[str, tuple[Turn, ...]]:
    """The conversations of a session; where several systems talked about an item, one a system."""
    with closing(read_session(folder)) as connection:
        found = [(one.id, "", one.turns) for one in iterate_items(connection) if one.turns]
        found += [
            (one.item.id, one.response.system, one.response.turns)
            for one in iterate_ratings(connection)
            if one.response.turns
        ]
    if not found:
        raise InputError(f"session {folder} holds no conversations")
    several = len({system for _, system, _ in found}) > 1
    return {f"{item} {system}".strip() if several else item: turns for item, system, turns in found}


def _of_file(path: Path, columns: Mapping[str, str]) -> dict[str, tuple[Turn, ...]]:
    raw = {"name": "conversations", "items": {"path": str(path.resolve()), **columns}}
    study = build_study(raw, str(path))
    items = () if study.items is None else read_items(study, study.items)
    return {item.id: item.turns for item, _ in items}


def _message(turn: Turn) -> dict[str, Any]:
    """A message as its JSON; what is no text stays beside it."""
    text = {"type": "text", "text": turn.content}
    content = [text, *map(dict, turn.parts)] if turn.parts else turn.content
    return {"role": turn.role, "content": content, "name": turn.name, "time": turn.time}


def _units(talks: Mapping[str, Sequence[Turn]], asked: JudgedUnits) -> set[str]:
    """The ids of all units, told before a run is paid for."""
    found = {unit.of(name) for name, turns in talks.items() for unit in units(turns, asked)}
    if not found:
        roles = sorted({turn.role for turns in talks.values() for turn in turns})
        raise InputError(
            f"--role {asked.role!r} is nobody's turn: whose turns are labelled? (roles: "
            f"{listed(roles)})"
        )
    return found


def _check_units(given: pl.Series, there: set[str], where: str) -> None:
    lost = [name for name in given.unique(maintain_order=True).to_list() if name not in there]
    if lost:
        raise InputError(
            f"{where}, column 'item': {len(lost)} of {given.n_unique()} are not asked about, such "
            f"as {lost[0]!r}; the study asks about {', '.join(sorted(there)[:3])} ..."
        )
