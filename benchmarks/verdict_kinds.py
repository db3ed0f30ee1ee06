"""Rates of the verdict on labels, preferences and probabilities: judges of known truth.

    python benchmarks/verdict_kinds.py [PANELS] [600s]      # writes results/verdict_kinds.md

Seeds start at 710000. A judge deserves the uses that `simulate_kinds` names beside it.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

from voirdire.examining import simulate_kinds as simulated
from voirdire.examining.spec import THESE
from voirdire.examining.verdict.decide import AskedUse, decide
from voirdire.examining.verdict.of_kinds import ground_of
from voirdire.study import Study

RESULTS = Path(__file__).resolve().parent / "results" / "verdict_kinds.md"
FIRST = 710_000
STUDY = Study(name="rates")
LABELS, COMPARED, CLAIMED = (
    simulated.LABEL_JUDGES, simulated.PREFERENCE_JUDGES, simulated.PROBABILITY_JUDGES,
)  # fmt: skip
#: Name -> how a panel is drawn, its judges, the uses that are counted.
CELLS = {
    "labels K 5, 400 x 3": (partial(simulated.label_panel, 400, 5, 3), LABELS, ("single",)),
    "labels K 5, 1,000 x 3": (partial(simulated.label_panel, 1000, 5, 3), LABELS, ("single",)),
    "labels K 5, 400 x 2": (partial(simulated.label_panel, 400, 5, 2), LABELS, ("single",)),
    "labels K 2, 400 x 3": (partial(simulated.label_panel, 400, 2, 3), LABELS, ("single",)),
    "labels K 3, 400 x 3": (partial(simulated.label_panel, 400, 3, 3), LABELS, ("single",)),
    "sets of 5, 400 x 3": (
        partial(simulated.label_panel, 400, 5, 3, sets=True), LABELS, ("single",),
    ),
    "preferences 4, 300 x 3": (
        partial(simulated.preference_panel, 4, 300, 3), COMPARED, ("order", "single", "pick"),
    ),
    "preferences 4, 300 x 2, both orders": (
        partial(simulated.preference_panel, 4, 300, 2, both=True), COMPARED,
        ("order", "single", "pick"),
    ),
    "preferences 10, 300 x 3": (
        partial(simulated.preference_panel, 10, 300, 3), COMPARED, ("order", "single", "pick"),
    ),
    "arena 10, 1,000 x 1": (
        partial(simulated.preference_panel, 10, 1000, 1), COMPARED, ("order",),
    ),
    "probabilities 400 x 1": (
        partial(simulated.probability_panel, 400, 1), CLAIMED, ("confidence",),
    ),
    "probabilities 400 x 3": (
        partial(simulated.probability_panel, 400, 3), CLAIMED, ("confidence",),
    ),
}  # fmt: skip


def run(cell: str, panels: int, seconds: float = math.inf) -> tuple[Counter, int]:
    """States by judge and use, and panels run; whole panels only, one at least."""
    draw, _, uses = CELLS[cell]
    states: Counter = Counter()
    done, start = 0, time.perf_counter()
    while done < panels and (not done or time.perf_counter() - start < seconds):
        for name, case in draw(seed=FIRST + done).cases.items():
            ground = ground_of(case, STUDY)
            for use in uses:
                states[name, use, decide(ground, AskedUse(use, THESE)).state] += 1
        done += 1
    return states, done


def lines_of(cell: str, states: Counter, panels: int) -> list[str]:
    """A row a use: what deserved it and what did not."""
    _, judges, uses = CELLS[cell]
    rows = []
    for use in uses:
        good = [name for name, deserved in judges.items() if use in deserved]
        bad = [name for name in judges if name not in good and (name, use) not in CLOSE]
        told = [
            sum(states[name, use, state] for name in names)
            for names, state in ((good, "yes"), (good, "no"), (bad, "yes"))
        ]
        sizes = [
            sum(states[name, use, state] for name in names for state in STATES)
            for names in (good, bad)
        ]
        worst = max(bad, key=lambda name: states[name, use, "yes"])
        peer = states["as one human" if "as one human" in judges else "calibrated", use, "yes"]
        rows.append(
            f"| {cell} | {panels} | {use} | {peer / panels:.2f} | {told[0]} of {sizes[0]} | "
            f"{told[1]} | {told[2]} of {sizes[1]} | "
            f"{worst if states[worst, use, 'yes'] else '-'} {states[worst, use, 'yes'] or ''} |"
        )
    return rows


#: Judges of whom it is a close call whether they deserve a use: they count for neither error.
CLOSE = {("blind on one system", "order")}
STATES = ("yes", "no", "open", "not tested")


def main(panels: int, seconds: float = math.inf) -> str:
    """The report as Markdown."""
    lines = [
        f"# The verdict on labels, preferences and probabilities, seeds from {FIRST}",
        "",
        "*As one human* (calibrated) is an exchangeable judge; a false no refuses a deserving one.",
        "",
        "| cell | panels | use | as one human | deserving: yes | no | undeserving: yes | worst |",
        "|---|---:|---|---:|---:|---:|---:|---|",
    ]
    by_judge = []
    for cell, (_, judges, uses) in CELLS.items():
        states, done = run(cell, panels, seconds / len(CELLS))
        rows = lines_of(cell, states, done)
        print(*rows, sep="\n", flush=True)
        lines += rows
        by_judge += ["", f"{cell} (yes / no / open of {done}):", ""]
        for name in judges:
            cells = [
                f"{use} {states[name, use, 'yes']}/{states[name, use, 'no']}/"
                f"{states[name, use, 'open']}"
                for use in uses
            ]
            by_judge.append(f"- {name}: {', '.join(cells)}")
    return "\n".join([*lines, *by_judge]) + "\n"


if __name__ == "__main__":
    given = sys.argv[1:]
    seconds = next((float(one[:-1]) for one in given if one.endswith("s")), math.inf)
    panels = next((int(one) for one in given if one.isdigit()), 100)
    text = main(panels, seconds)
    RESULTS.write_text(text)
    print(text)
