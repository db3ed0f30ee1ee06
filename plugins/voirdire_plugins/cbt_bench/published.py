"""Numbers that Zhang et al. (2025) print, for comparison and for checks."""

from __future__ import annotations

from typing import Any

from voirdire_plugins.resources import resource

_PRINTED = resource("cbt_bench", "published")
HUMAN = "Human"
_PLACE = {"qa": 0, "cd": 1, "pc": 2, "fc": 3}


def _rows(value: Any) -> Any:
    return tuple(map(_rows, value)) if isinstance(value, list) else value


#: Table 5: model -> accuracy on CBT-QA, weighted F1 on CBT-CD, CBT-PC, CBT-FC, in per cent.
TABLE_5: dict[str, tuple[float, ...]] = {k: _rows(v) for k, v in _PRINTED["table_5"].items()}
#: Table 3: examples, labels, mean situation and thought length, mean labels.
TABLE_3: dict[str, tuple[float, ...]] = {k: _rows(v) for k, v in _PRINTED["table_3"].items()}
#: Table 12: exercises, beginner, intermediate, advanced; in the order of the ten categories.
TABLE_12: tuple[tuple[int, ...], ...] = _rows(_PRINTED["table_12"]["rows"])
TABLE_12_ALL: tuple[int, ...] = _rows(_PRINTED["table_12"]["all"])
#: Table 6: overall preference for the model on each of the ten exercises, and the average.
TABLE_6: dict[str, tuple[tuple[float, ...], float]] = {
    k: (_rows(v["means"]), v["average"]) for k, v in _PRINTED["table_6"].items()
}
#: Table 23: four criteria on each of the ten exercises.
TABLE_23: dict[str, tuple[tuple[float, ...], ...]] = {
    k: _rows(v) for k, v in _PRINTED["table_23"].items()
}


def printed_scores(task: str) -> dict[str, float]:
    """Table 5's column of a task (``qa`` accuracy, else weighted F1), as shares.

    >>> printed_scores("pc")["Human"]
    0.776
    """
    return {model: round(row[_PLACE[task]] / 100, 4) for model, row in TABLE_5.items()}


def sizes() -> tuple[int, ...]:
    """Exercises of each category, as the three difficulties of Table 12 add up."""
    return tuple(sum(parts) for _, *parts in TABLE_12)


def is_possible(mean: float, n: int) -> bool:
    """Whether some whole sum of n whole scores has that mean, printed to two digits.

    >>> is_possible(0.07, 15), is_possible(0.21, 15)
    (True, False)
    """
    return abs(round(mean * n) / n - mean) <= 0.005 + 1e-9


def impossible_means() -> tuple[tuple[str, str, int, int, float, int], ...]:
    """Printed means that no n whole scores have: table, model, exercise, criterion (0: overall),
    mean, n.
    """
    found = []
    for place, n in enumerate(sizes()):
        for model, (overall, _) in TABLE_6.items():
            if not is_possible(overall[place], n):
                found.append(("6", model, place + 1, 0, overall[place], n))
        for model, rows in TABLE_23.items():
            found += [
                ("8 and 23", model, place + 1, criterion, mean, n)
                for criterion, mean in enumerate(rows[place], start=1)
                if not is_possible(mean, n)
            ]
    return tuple(sorted(found, key=lambda row: row[0], reverse=True))
