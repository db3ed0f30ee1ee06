"""Rates of the verdict on labels, preferences and probabilities: judges of known truth.

    python benchmarks/verdict_kinds.py [PANELS] [600s] [--jobs 16] [--seeds 710000] [--out FILE]

Writes results/verdict_kinds.md, or FILE. With a limit of time each cell has as many panels as were
reached, of the seeds in their order. A judge deserves the uses that `simulate_kinds` names.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from functools import lru_cache, partial
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
    simulated.LABEL_JUDGES,
    simulated.PREFERENCE_JUDGES,
    simulated.PROBABILITY_JUDGES,
)
PICKING = ("order", "score", "single", "pick")
#: Name -> how a panel is drawn, its judges, the uses that are counted.
CELLS = {
    **{
        f"labels {name}": (
            partial(simulated.label_panel, *size, **more), LABELS, ("single", "filter"),
        )
        for name, size, more in (
            ("K 5, 200 x 3", (200, 5, 3), {}),
            ("K 5, 400 x 3", (400, 5, 3), {}),
            ("K 5, 1,000 x 3", (1000, 5, 3), {}),
            ("K 5, 400 x 2", (400, 5, 2), {}),
            ("K 5, 400, each by 2 of 5", (400, 5, 5), {"each": 2}),
            ("K 5, 400 x 3, clusters of 4", (400, 5, 3), {"together": 4}),
            ("K 5, 600 x 3, 6 systems", (600, 5, 3), {"systems": 6}),
            ("K 5, 400 x 3, people of other skills", (400, 5, 3), {"skills": 0.08}),
            ("K 2, 400 x 3", (400, 2, 3), {}),
            ("K 3, 400 x 3", (400, 3, 3), {}),
            ("K 8, 800 x 3", (800, 8, 3), {}),
        )
    },
    **{
        f"sets of 5, {size:,} x 3": (
            partial(simulated.label_panel, size, 5, 3, sets=True), LABELS, ("single",),
        )
        for size in (400, 1000)
    },
    **{
        f"{'arena' if size[2] == 1 else 'preferences'} {size[0]}, {size[1]:,} x {size[2]}{told}": (
            partial(simulated.preference_panel, *size, **more), COMPARED,
            PICKING if size[2] > 1 else ("order", "score"),
        )
        for size, told, more in (
            ((2, 100, 3), "", {}),
            ((2, 300, 3), "", {}),
            ((4, 100, 3), "", {}),
            ((4, 300, 3), "", {}),
            ((4, 300, 3), ", family", {"family": True}),
            ((4, 1000, 3), ", family", {"family": True}),
            ((4, 300, 2), ", both orders", {"both": True}),
            ((10, 300, 3), "", {}),
            ((10, 300, 3), ", both orders", {"both": True}),
            ((10, 1000, 3), "", {}),
            ((10, 1000, 1), "", {}),
            ((4, 300, 1), "", {}),
        )
    },
    **{
        f"probabilities {items:,} x {humans}": (
            partial(simulated.probability_panel, items, humans), CLAIMED, ("confidence", "release"),
        )
        for items, humans in ((100, 1), (200, 1), (400, 1), (200, 3), (400, 3), (1000, 1))
    },
}  # fmt: skip
#: Panels that one process counts at a time.
CHUNK = 5


def run(cell: str, seeds: range) -> Counter:
    """Counts by judge, use and state, then whether it is deserved, over whole panels.

    What is said of a label (or side) counts once for each.
    """
    draw, judges, uses = CELLS[cell]
    states: Counter = Counter()
    right = _right_where_sure(cell) if "release" in uses else {}
    for seed in seeds:
        for name, case in draw(seed=seed).cases.items():
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
    return states


def run_all(
    panels: int, first: int, jobs: int, seconds: float = math.inf
) -> dict[str, tuple[Counter, int]]:
    """Each cell's counts and panels; all cells go on together until the time is over."""
    found = {cell: (Counter(), 0) for cell in CELLS}
    starts = range(0, panels, CHUNK)
    queue = [
        (cell, range(first + at, first + min(at + CHUNK, panels)))
        for at in starts
        for cell in CELLS
    ]
    begun = time.perf_counter()
    with ProcessPoolExecutor(jobs) as pool:
        waiting, place = {}, 0
        while place < len(queue) or waiting:
            late = time.perf_counter() - begun > seconds
            while place < len(queue) and len(waiting) < 2 * jobs and not late:
                cell, seeds = queue[place]
                waiting[pool.submit(run, cell, seeds)] = (cell, len(seeds))
                place += 1
            if not waiting:
                break
            for done in wait(waiting, return_when=FIRST_COMPLETED).done:
                cell, size = waiting.pop(done)
                found[cell] = found[cell][0] + done.result(), found[cell][1] + size
    return found


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


@lru_cache
def _right_where_sure(cell: str) -> dict[tuple[str, str], float]:
    """Judge and side -> how often people agree there, on many items."""
    draw = CELLS[cell][0]
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
            [
                (name, state, n)
                for (name, asked, state, worth), n in states.items()
                if asked == use and worth is deserved
            ]
            for deserved in (True, False)
        )
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


def main(panels: int, first: int, jobs: int, seconds: float = math.inf) -> str:
    """The report as Markdown."""
    lines = [
        f"# The verdict on labels, preferences and probabilities, seeds from {first}",
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
    for cell, (states, done) in run_all(panels, first, jobs, seconds).items():
        _, judges, uses = CELLS[cell]
        lines += lines_of(cell, states, done)
        by_judge += ["", f"{cell} (yes / no / open or not tested, of {done} panels):", ""]
        for name in judges:
            counts: Counter = Counter()
            for (who, use, state, _), n in states.items():
                if who == name:
                    counts[use, {"named": "yes"}.get(state, state)] += n
            if not counts:
                continue
            cells = [
                f"{use} {counts[use, 'yes']}/{counts[use, 'no']}/"
                f"{counts[use, 'open'] + counts[use, 'not tested']}"
                for use in uses
            ]
            by_judge.append(f"- {name}: {', '.join(cells)}")
    return "\n".join([*lines, *by_judge]) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("panels", nargs="*", help="how many panels a cell, and a limit as 600s")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=FIRST, help="the first seed")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    limit = next((float(one[:-1]) for one in given.panels if one.endswith("s")), math.inf)
    size = next((int(one) for one in given.panels if one.isdigit()), 100)
    text = main(size, given.seeds, given.jobs, limit)
    given.out.write_text(text)
    print(text)
