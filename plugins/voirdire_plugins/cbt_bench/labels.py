"""The label sets of level II, in the order of the prompts (Tables 9-11 and 19-21)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from voirdire.errors import check_allowed
from voirdire_plugins.resources import resource

_SETS = resource("cbt_bench", "labels")
DISTORTIONS: tuple[str, ...] = tuple(_SETS["distortions"])
#: What Tables 9 and 10 say of a label; the fine-grained beliefs have no definition.
DEFINITIONS: dict[str, str] = _SETS["definitions"]
#: Fine-grained belief -> its primary one, grouped as in the annotation form (figure 11).
PRIMARY: dict[str, str] = {
    fine: primary for primary, under in _SETS["hierarchy"].items() for fine in under
}


@dataclass(frozen=True, slots=True)
class LabelTask:
    """One task of level II.

    Attributes
    ----------
    key : str
        ``"cd"``, ``"pc"`` or ``"fc"``.
    name : str
        The paper's name.
    file : str
        How the names of its two files begin.
    field : str
        The key of the labels in those files.
    at_most : int
        Labels that the prompt allows.
    """

    key: str
    name: str
    file: str
    field: str
    labels: tuple[str, ...]
    at_most: int


_LABELS = {
    "cd": DISTORTIONS,
    "pc": tuple(_SETS["hierarchy"]),
    "fc": tuple(PRIMARY),
}
TASKS = {
    key: LabelTask(key=key, labels=_LABELS[key], **fields) for key, fields in _SETS["tasks"].items()
}


def task_of(key: str) -> LabelTask:
    """The task of that key.

    Raises
    ------
    InputError
        There is no such task.
    """
    check_allowed("task", [key], TASKS, "cbt_bench")
    return TASKS[key]


def plain(label: str) -> str:
    """A label with the straight apostrophe, as the paper prints it and the prompts show it.

    >>> plain("I don’t deserve to live")
    "I don't deserve to live"
    """
    # The typographic marks, the modifier letter, the accent and the backtick: files of the
    # paper mix them, and a label is one label.
    return re.sub("[\u2018\u2019\u02bc\u00b4`]", "'", label)
