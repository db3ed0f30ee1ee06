"""The pictures of the docs, from simulated ratings: `python docs/pictures/draw.py`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

if TYPE_CHECKING:
    from collections.abc import Callable

mpl.use("svg")
mpl.rcParams.update({"svg.hashsalt": "voirdire", "svg.fonttype": "none", "font.size": 9})
HERE = Path(__file__).parent
INK, JUDGE, MARGIN = "#30343a", "#2f6f9f", "#d9e4ec"
rng = np.random.default_rng(5)


def drawn(name: str, title: str, x: str, y: str) -> tuple[Any, Callable[[], None]]:
    """An empty picture, and the function that writes it."""
    figure, axes = plt.subplots(figsize=(3.4, 2.6), layout="constrained")
    axes.set(title=title, xlabel=x, ylabel=y)
    axes.spines[["top", "right"]].set_visible(False)

    def write() -> None:
        figure.savefig(HERE / f"{name}.svg", metadata={"Date": None})
        plt.close(figure)

    return axes, write


def order() -> None:
    """Means of ten systems: the judge puts them where people do."""
    axes, write = drawn("order", "Order: which system is better?", "people's mean", "judge's mean")
    human = np.linspace(2, 4.4, 10)
    axes.plot(human, human + 0.4 + rng.normal(0, 0.08, 10), "o", color=JUDGE)
    write()


def score() -> None:
    """Bias by system beside the margin: lenient with all, most with one."""
    axes, write = drawn("score", "Score: may its means be quoted?", "judge minus people", "")
    bias = np.array([0.02, -0.05, 0.04, 0.03, 0.42])
    axes.axvspan(-0.1, 0.1, color=MARGIN)
    axes.errorbar(bias, range(5), xerr=0.07, fmt="o", color=JUDGE, capsize=2)
    axes.set_yticks(range(5), [f"system {letter}" for letter in "ABCDE"])
    write()


def single() -> None:
    """Single responses of one system: the judge follows them, or it only knows the system."""
    axes, write = drawn("single", "Single: does it read the response?", "person's score", "score")
    human = rng.normal(3, 0.8, 60)
    axes.plot(
        human, 0.8 * human + 0.6 + rng.normal(0, 0.35, 60), "o", ms=3, color=JUDGE, label="reads it"
    )
    axes.plot(human, 3 + rng.normal(0, 0.25, 60), "x", ms=4, color="#b0563a", label="does not")
    axes.legend(frameon=False, fontsize=8)
    write()


def gate() -> None:
    """What passes and what is stopped, beside what should be."""
    axes, write = drawn("gate", "Gate: does it stop what is bad?", "judge", "people")
    table = np.array([[84, 9], [16, 91]])
    axes.imshow(table, cmap="Blues", vmax=150)
    for (row, column), count in np.ndenumerate(table):
        axes.text(column, row, f"{count} %", ha="center", va="center", color=INK)
    axes.set_xticks([0, 1], ["stops", "passes"])
    axes.set_yticks([0, 1], ["bad", "good"])
    write()


def estimate() -> None:
    """Labels alone, the judge alone, and both together."""
    axes, write = drawn("estimate", "Estimate: do labels count for more?", "mean of people", "")
    for place, (name, at, half) in enumerate(
        (("both", 3.42, 0.09), ("judge alone", 3.71, 0.04), ("50 labels", 3.45, 0.17))
    ):
        axes.errorbar([at], [place], xerr=half, fmt="o", color=JUDGE, capsize=3, label=name)
    axes.axvline(3.4, color=INK, lw=0.8, ls=":")
    axes.set_yticks(range(3), ["both", "judge alone", "50 labels"])
    axes.set_ylim(-0.6, 2.6)
    write()


def repeat() -> None:
    """Two runs of one judge on the same responses."""
    axes, write = drawn("repeat", "Repeat: is one run enough?", "first run", "second run")
    first = rng.integers(1, 6, 80)
    second = np.clip(first + rng.choice([-1, 0, 0, 0, 1], 80), 1, 5)
    jitter = rng.normal(0, 0.08, (2, 80))
    axes.plot(first + jitter[0], second + jitter[1], "o", ms=3, color=JUDGE)
    write()


if __name__ == "__main__":
    for picture in (order, score, single, gate, estimate, repeat):
        picture()
