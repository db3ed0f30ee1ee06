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
from voirdire.examining.simulate_kinds import CLOSE  # they count for neither error
from voirdire.examining.spec import THESE, ground_of
from voirdire.examining.spec.probabilities import ABOVE, BELOW
from voirdire.examining.spec.probabilities.found import SURE, TARGET
from voirdire.examining.verdict.decide import asked_uses, decide
from voirdire.study import Study

RESULTS = Path(__file__).resolve().parent / "results" / "verdict_kinds.md"
FIRST = 710_000
STUDY = Study(name="rates")
LABELS, COMPARED, CLAIMED = (
    simulated.LABEL_JUDGES, simulated.PREFERENCE_JUDGES, simulated.PROBABILITY_JUDGES,
)  # fmt: skip
PICKING = ("order", "score", "single", "pick")
#: Name -> how a panel is drawn, its judges, the uses that are counted.
CELLS = {
    "labels K 5, 400 x 3": (
        partial(simulated.label_panel, 400, 5, 3), LABELS, ("single", "filter"),
    ),
    "labels K 5, 1,000 x 3": (
        partial(simulated.label_panel, 1000, 5, 3), LABELS, ("single", "filter"),
    ),
    "labels K 5, 400 x 2": (partial(simulated.label_panel, 400, 5, 2), LABELS, ("single",)),
    "labels K 2, 400 x 3": (partial(simulated.label_panel, 400, 2, 3), LABELS, ("single",)),
    "labels K 3, 400 x 3": (partial(simulated.label_panel, 400, 3, 3), LABELS, ("single",)),
    "sets of 5, 400 x 3": (
        partial(simulated.label_panel, 400, 5, 3, sets=True), LABELS, ("single",),
    ),
    "preferences 4, 300 x 3": (
        partial(simulated.preference_panel, 4, 300, 3), COMPARED, PICKING,
    ),
    "preferences 4, 300 x 3, family": (
        partial(simulated.preference_panel, 4, 300, 3, family=True), COMPARED, PICKING,
    ),
    "preferences 4, 1,000 x 3, family": (
        partial(simulated.preference_panel, 4, 1000, 3, family=True), COMPARED, PICKING,
    ),
    "preferences 4, 300 x 2, both orders": (
        partial(simulated.preference_panel, 4, 300, 2, both=True), COMPARED, PICKING,
    ),
    "preferences 10, 300 x 3": (
        partial(simulated.preference_panel, 10, 300, 3), COMPARED, PICKING,
    ),
    "arena 10, 1,000 x 1": (
        partial(simulated.preference_panel, 10, 1000, 1), COMPARED, ("order", "score"),
    ),
    "probabilities 400 x 1": (
        partial(simulated.probability_panel, 400, 1), CLAIMED, ("confidence", "release"),
    ),
    "probabilities 400 x 3": (
        partial(simulated.probability_panel, 400, 3), CLAIMED, ("confidence", "release"),
    ),
}  # fmt: skip


def run(cell: str, panels: int, seconds: float = math.inf) -> tuple[Counter, int]:
    """Counts by judge, use and state, then whether it is deserved, and panels run.

    Whole panels only, one at least. What is said of a label (or side) counts once for each.
    """
    draw, judges, uses = CELLS[cell]
    states: Counter = Counter()
    done, start = 0, time.perf_counter()
    right = _right_where_sure(draw) if "release" in uses else {}
    while done < panels and (not done or time.perf_counter() - start < seconds):
        for name, case in draw(seed=FIRST + done).cases.items():
            ground = ground_of(case, STUDY.margins)
            for asked in asked_uses(uses, ground):
                if asked.target != THESE:
                    continue
                made = decide(ground, asked)
                worth = deserves(name, asked, judges, ground, right)
                if worth is None:
                    state = "close"
                elif made.state == "yes" and not worth and _named(name, ground):
                    state = "named"
                else:
                    state = made.state
                states[name, asked.use, state, worth] += 1
        done += 1
    return states, done


def deserves(name, asked, judges, ground, right) -> bool | None:
    """Whether a judge deserves a use of a label or side; None for a close call."""
    if asked.use == "release" and (name, asked.use) not in CLOSE:
        share = right[name, asked.label]
        return None if math.isnan(share) or abs(share - TARGET) < 0.02 else share > TARGET
    if (name, asked.use) in CLOSE or (len(ground.labels) == 2 and name in CLOSE_OF_TWO):
        return None
    if asked.use != "filter":
        return asked.use in judges[name]
    if "single" in judges[name]:
        return True
    if name in BLIND:
        return False
    # Of the others the rare label alone is known to be wrong.
    return False if name in WRONG_ON_RARE and asked.label == ground.labels[-1] else None


def _named(name: str, ground) -> bool:
    """Whether the answer says aloud what is wrong with this judge: hard items are not vouched for.

    With two labels, or two humans, no statistic tells a third human from a guess there.
    """
    part = ground.one("DIV")
    untold = part is None or part.reason == "hard items"
    return name == "guesses on hard items" and untold


def _right_where_sure(draw) -> dict[tuple[str, str], float]:
    """Judge and side -> how often people agree there, on many items."""
    big = partial(draw.func, 40_000, *draw.args[1:], **draw.keywords)
    right = {}
    for name, case in big(seed=FIRST - 1).cases.items():
        p, y = case.scores[0], case.humans.mean(axis=0)
        for side, sure, agree in ((ABOVE, p >= SURE, y), (BELOW, p <= 1 - SURE, 1 - y)):
            right[name, side] = float(agree[sure].mean()) if sure.sum() > 200 else math.nan
    return right


def lines_of(cell: str, states: Counter, panels: int) -> list[str]:
    """A row a use: what deserved it and what did not."""
    _, judges, uses = CELLS[cell]
    rows = []
    for use in uses:
        good, bad = (
            [(name, state, n) for (name, asked, state, worth), n in states.items()
             if asked == use and worth is deserved]
            for deserved in (True, False)
        )  # fmt: skip
        peer = "as one human" if "as one human" in judges else "calibrated"
        of_peer = [(name, state, n) for name, state, n in good if name == peer]
        licensed = Counter()
        for name, state, n in bad:
            licensed[name] += n if state == "yes" else 0
        worst, most = max(licensed.items(), key=lambda one: one[1], default=("", 0))
        share = f"{_told(of_peer, 'yes') / _told(of_peer):.2f}" if of_peer else "-"
        rows.append(
            f"| {cell} | {panels} | {use} | {share} | {_told(good, 'yes')} of {_told(good)} | "
            f"{_told(good, 'no')} | {_told(bad, 'yes')} of {_told(bad)} | "
            f"{_told(bad, 'named') or '-'} | {worst if most else '-'} {most or ''} |"
        )
    return rows


def _told(rows, state: str = "") -> int:
    return sum(n for _, found, n in rows if state in (found, ""))


#: Of two labels a tenth more of one is inside the margin of its share.
CLOSE_OF_TWO = {"says a rare label too often"}
BLIND = {"always the commonest", "at random by shares", "shuffled"}
WRONG_ON_RARE = {"blind to a rare label", "misses most of a rare label"}


def main(panels: int, seconds: float = math.inf) -> str:
    """The report as Markdown."""
    lines = [
        f"# The verdict on labels, preferences and probabilities, seeds from {FIRST}",
        "",
        (
            "*As one human* (calibrated) is an exchangeable judge; a false no refuses a deserving "
            "one; *named* is a yes to a judge that guesses on hard items which says that nothing "
            "is vouched for there. *filter* and *release* count labels and sides."
        ),
        "",
        "| cell | panels | use | as one human | deserving | no | undeserving | named | worst |",
        "|---|---:|---|---:|---:|---:|---:|---:|---|",
    ]
    by_judge = []
    for cell, (_, judges, uses) in CELLS.items():
        states, done = run(cell, panels, seconds / len(CELLS))
        rows = lines_of(cell, states, done)
        print(*rows, sep="\n", flush=True)
        lines += rows
        by_judge += ["", f"{cell} (yes / no / open or not tested, of {done} panels):", ""]
        for name in judges:
            counts: Counter = Counter()
            for (who, use, state, _), n in states.items():
                if who == name:
                    counts[use, {"named": "yes"}.get(state, state)] += n
            cells = [
                f"{use} {counts[use, 'yes']}/{counts[use, 'no']}/"
                f"{counts[use, 'open'] + counts[use, 'not tested']}"
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
