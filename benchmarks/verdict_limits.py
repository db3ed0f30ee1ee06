"""What no test of the verdict can tell: who answers by the question and is as noisy as a human.

    python benchmarks/verdict_limits.py [--panels 150] [--jobs 2]

It writes results/verdict_limits.md. As `verdict_hidden.py`, of one judge, and beside it what the
best test there is would pass.
"""

from __future__ import annotations

import sys
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
from _spread import jobs_of, option
from verdict_hidden import FIRST, MARGINS, UNSURE, USES, case_of, run, share

from voirdire.examining.simulate import simulate_panel
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.stats.reading_by_system import beside_items

RESULTS = Path(__file__).resolve().parent / "results" / "verdict_limits.md"
SIZES = ((10, 100), (10, 200), (5, 200), (3, 200))


def limits(sizes, panels: int, jobs: int = 1) -> list[str]:
    """Yes of who answers two systems of ten (one of fewer) by the question, as noisy as a human.

    Beside it what the best test would pass that there is: who knows how much a reader's slope in a
    system is in units of its error, and that so many systems are answered by the question, and who
    may hold back 5 in 100 readers, compares likelihoods. Both slopes are normal there.
    """
    lines = [
        "| systems x items | a human's slope, in errors | " + " | ".join(USES)
        + " | the best test there is |",
        "|---|---:|" + "---:|" * (len(USES) + 1),
    ]  # fmt: skip
    for systems, items in sizes:
        counts, _ = run(systems, items, panels, jobs, kinds=(UNSURE,))
        cells = [_cell(counts, use) for use in USES]
        shown = " | ".join(share(cell["yes"] + cell["yes of some"], cell.total()) for cell in cells)
        clear = clarity(systems, items, 20)
        lines.append(
            f"| {systems} x {items} | {clear:.1f} | {shown} "
            f"| {best_test(systems, max(1, systems // 5), clear):.2f} |"
        )
        print(lines[-1], file=sys.stderr, flush=True)
    return lines


def _cell(counts: Counter, use: str) -> Counter:
    return Counter({key[3]: n for key, n in counts.items() if key[:3] == (UNSURE, use, False)})


def clarity(systems: int, items: int, panels: int) -> float:
    """A human's mean slope on single responses in a system, in units of its standard deviation."""
    slopes = []
    for seed in range(FIRST, FIRST + panels):
        panel = simulate_panel(systems, items, seed, kinds=("good",))
        ground = ScoreGround(case_of(panel.humans, panel.judges["good"]), MARGINS)
        each = beside_items(ground.panel, ground.humans).values()
        slopes += [float(one.slope.at) for one in each]
    return float(np.mean(slopes) / np.std(slopes))


def best_test(systems: int, unread: int, clear: float, held: float = 0.05) -> float:
    """The share of judges it passes that read nothing in so many systems."""
    rng = np.random.default_rng(FIRST)
    readers = rng.normal(clear, 1, (40_000, systems))
    judges = readers - clear * (np.arange(systems) < unread)

    def odds(slopes):
        # Which of the systems are unread is not known: the mean over all choices of so many.
        ratio = np.exp(clear**2 / 2 - clear * slopes)
        chosen = combinations(range(systems), unread)
        return np.mean([ratio[:, list(one)].prod(axis=1) for one in chosen], axis=0)

    return float(np.mean(odds(judges) <= np.quantile(odds(readers), 1 - held)))


def main(panels: int, jobs: int = 1) -> str:
    """The report as Markdown."""
    lines = [
        "# Who answers by the question with a human's noise",
        "",
        f"In two systems of ten, one of fewer. Yes of {panels} panels and the upper 95 % bound.",
        "The last column is what the likelihood ratio passes that knows all but which systems they",
        "are and holds back 5 in 100 readers.",
        "",
        *limits(SIZES, panels, jobs),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    text = main(option(sys.argv, "--panels", 150), jobs_of(sys.argv))
    RESULTS.write_text(text, encoding="utf-8")
    print(text)
