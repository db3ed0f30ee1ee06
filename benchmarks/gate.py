"""How the gate was tested: false alarms, power, judge or system, and the time of a check.

    python benchmarks/gate.py [RUNS]     # writes results/gate.md

The simulated judges are those of tests/gate_simulation.py.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from gate_simulation import attributed, false_alarms, naive_alarm, power  # noqa: E402

from voirdire.examining.changing.checking import alpha_of_look, hold  # noqa: E402
from voirdire.examining.changing.lock import (  # noqa: E402
    FORMAT,
    LOOKS,
    CanaryResponse,
    Lock,
    LockedJudge,
)

RESULTS = Path(__file__).resolve().parent / "results" / "gate.md"


def share(rate: float, n: int) -> str:
    """A share with its 95 % margin."""
    return f"{rate:.3f} ± {1.96 * math.sqrt(rate * (1 - rate) / n):.3f}"


def seconds_of_28_pairs() -> float:
    """One check of 4 judges on 7 attributes, 200 responses, with labels and verdicts."""
    rng = np.random.default_rng(0)
    judges, attributes = [f"j{k}" for k in range(4)], tuple(f"a{k}" for k in range(7))
    truth = rng.integers(1, 6, (200, 7)).astype(float)

    def near() -> tuple[tuple[float, ...], ...]:
        scores = np.clip(truth + rng.integers(-1, 2, truth.shape), 1, 5)
        return tuple(map(tuple, scores.tolist()))

    said, human = {name: near() for name in judges}, near()
    canary = tuple(
        CanaryResponse(
            item=str(k), scores={name: said[name][k] for name in judges}, humans={"h": human[k]}
        )
        for k in range(200)
    )
    yes = {name: {"score": "yes"} for name in attributes}
    lock = Lock(
        format=FORMAT, planned=LOOKS, frozen="2026-01-01", margin=0.2, scale=(1, 5),
        attributes=attributes, reference=("h",),
        judges=tuple(LockedJudge(name=name, verdicts=yes) for name in judges), canary=canary,
    )  # fmt: skip
    now = {name: np.array(near()) for name in judges}
    today = {(j, a): now[j][:, k] for j in judges for k, a in enumerate(attributes)}
    anchors = np.ones(200, dtype=bool)
    hold(lock, today, anchors, alpha_of_look(lock, 1), look=1)
    began = time.process_time()
    hold(lock, today, anchors, alpha_of_look(lock, 1), look=1)
    return time.process_time() - began


def main(runs: int) -> None:
    series = 100 * runs
    alarms = false_alarms(series)
    naive = sum(naive_alarm(seed) for seed in range(runs)) / runs
    lines = [
        "# The gate, simulated", "",
        f"`python benchmarks/gate.py {runs}`, 200 canaries, half of them with labels.", "",
        "| | |", "|---|---|",
        f"| any false alarm in 26 looks, of {series:,} series | {share(alarms, series)} |",
        f"| the same at 0.05 a look | {share(naive, runs)} |",
    ]  # fmt: skip
    for rescored in (0.04, 0.08, 0.16):
        for k in (1, 13, 26):
            detected = power(shift=0.10, items=200, runs=runs, k=k, rescored=rescored)
            lines.append(
                f"| power for 0.10 points, {100 * rescored:g} % re-scored, look {k} "
                f"| {share(detected, runs)} |"
            )
    for askings in (2, 4):
        detected = power(shift=0.10, items=200, runs=runs, rescored=0.16, askings=askings)
        lines.append(
            f"| the same, 16 % re-scored, look 1, mean of {askings} runs "
            f"| {share(detected, runs)} |"
        )
    many = false_alarms(series // 10, looks=100)
    lines.append(
        f"| any false alarm in 100 planned looks, of {series // 10:,} series "
        f"| {share(many, series // 10)} |"
    )
    for k in (1, 26, 100):
        detected = power(shift=0.10, items=200, runs=runs, k=k, looks=100)
        lines.append(
            f"| power for 0.10 points, 8 % re-scored, look {k} of 100 | {share(detected, runs)} |"
        )
    right = attributed(runs=500)
    lines += [
        f"| seen and named rightly, of 500 changes of 0.3 points | {share(right, 500)} |",
        f"| seconds of processor time for a check of 28 pairs | {seconds_of_28_pairs():.2f} |",
    ]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
