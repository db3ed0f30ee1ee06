"""Numbers that Zhang et al. (2025) print, for comparison and for checks."""

from __future__ import annotations

#: Rows of Table 5: model -> accuracy on CBT-QA, weighted F1 on CBT-CD, CBT-PC, CBT-FC, in per cent.
TABLE_5 = {
    "Mistral-v0.3-7B": (75.9, 45.3, 72.5, 47.9),
    "Gemma-2-9B": (90.0, 40.1, 80.4, 51.5),
    "Llama-3.1-8B": (78.2, 44.1, 82.5, 44.8),
    "Llama-3.1-70B": (92.7, 43.9, 75.8, 55.4),
    "Llama-3.1-405B": (95.0, 43.3, 75.3, 58.2),
    "GPT-4o": (94.1, 43.9, 78.4, 56.7),
    "Human": (90.7, 49.1, 77.6, 54.6),
}
HUMAN = "Human"
_PLACE = {"qa": 0, "cd": 1, "pc": 2, "fc": 3}

#: Table 3: examples, labels, mean situation and thought length, mean labels.
TABLE_3 = {
    "cd": (146, 10, 232.9, 258.8, 2.5),
    "pc": (184, 3, 240.7, 256.9, 1.9),
    "fc": (112, 19, 233.4, 248.4, 3.8),
}

#: Table 12: exercises, beginner, intermediate, advanced; in the order of the ten categories.
TABLE_12 = (
    (14, 4, 6, 4),
    (16, 5, 6, 5),
    (15, 5, 5, 5),
    (15, 5, 7, 5),
    (16, 5, 5, 6),
    (15, 5, 5, 5),
    (17, 5, 5, 7),
    (16, 5, 6, 5),
    (15, 5, 5, 5),
    (15, 5, 5, 5),
)
TABLE_12_ALL = (156, 49, 55, 52)

#: Table 6: overall preference for the model on each of the ten exercises, and the average.
TABLE_6 = {
    "Llama-3.1-405B": (
        (0.07, 0.06, 0.21, -0.24, -0.19, 0.00, 0.18, -0.31, 0.07, 0.00),
        -0.01,
    ),
    "Llama-3.1-8B": (
        (-0.21, -0.31, -0.47, -0.29, -0.13, 0.00, -0.35, 0.00, -0.13, -0.33),
        -0.22,
    ),
    "GPT-4o": (
        (-0.50, -0.50, -0.13, -0.24, -0.31, -0.53, -0.06, -0.44, -0.13, -0.40),
        -0.32,
    ),
}

#: Table 23: four criteria on each of the ten exercises.
TABLE_23 = {
    "Llama-3.1-405B": (
        (0.00, 0.64, 0.36, 0.50),
        (0.34, 0.06, -0.38, 0.56),
        (0.00, 0.07, 0.07, -0.33),
        (-0.06, -0.29, -0.18, -0.12),
        (-0.06, -0.31, 0.25, 0.06),
        (0.13, 0.20, -0.07, -0.13),
        (0.41, -0.12, 0.00, -0.06),
        (-0.06, -0.56, 0.06, 0.25),
        (0.07, 0.07, -0.27, -0.60),
        (-0.27, -0.20, -0.07, -0.07),
    ),
    "Llama-3.1-8B": (
        (-0.36, 0.79, 0.36, 0.43),
        (-0.25, 0.13, -0.13, 0.13),
        (-0.40, -0.27, -0.07, -0.33),
        (-0.53, -0.47, -0.18, -0.47),
        (0.00, -0.44, 0.63, -0.19),
        (0.33, -0.20, 0.00, -0.33),
        (0.18, 0.00, -0.35, 0.12),
        (0.06, 0.38, 0.38, 0.13),
        (-0.53, 0.13, -0.13, -0.73),
        (-0.53, -0.33, -0.47, -0.47),
    ),
    "GPT-4o": (
        (-0.64, 0.93, 0.43, 0.29),
        (0.25, -0.25, -0.63, 0.81),
        (-0.53, -0.27, 0.13, -0.20),
        (0.24, 0.12, -0.41, 0.00),
        (-0.44, -0.50, 0.00, 0.06),
        (-0.40, 0.13, 0.13, -0.07),
        (0.06, -0.18, -0.29, 0.24),
        (-0.25, -0.06, -0.25, 0.00),
        (-0.40, -0.13, -0.53, -0.33),
        (-0.60, -0.60, -0.47, -0.33),
    ),
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
