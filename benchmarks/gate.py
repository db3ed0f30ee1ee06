"""How the gate was tested: false alarms, power, judge or system, and the time of a check.

    python benchmarks/gate.py [RUNS] [JOBS]     # writes results/gate.md; about RUNS / 40 minutes

The simulated judges are those of tests/gate_simulation.py.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

import numpy as np
from _help import help_asked
from _spread import spread
from _timing import machine, table, versions
from scipy.stats import norm

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from gate_simulation import PLANNED, attributed, false_alarms, naive_alarm, power  # noqa: E402

from voirdire.examining.changing.checking import WHOLE, alpha_of_look, hold  # noqa: E402
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
        format=FORMAT,
        planned=LOOKS,
        frozen="2026-01-01",
        margin=0.2,
        scale=(1, 5),
        attributes=attributes,
        reference=("h",),
        judges=tuple(LockedJudge(name=name, verdicts=yes) for name in judges),
        canary=canary,
    )
    now = {name: np.array(near()) for name in judges}
    today = {(j, a): now[j][:, k] for j in judges for k, a in enumerate(attributes)}
    anchors = np.ones(200, dtype=bool)
    hold(lock, today, anchors, alpha_of_look(lock, 1), look=1)
    began = time.process_time()
    hold(lock, today, anchors, alpha_of_look(lock, 1), look=1)
    return time.process_time() - began


#: Looks that a lock plans, and the looks at which it is asked.
LOOKS_PLANNED, AT = (1, 13, 26, 52, 100), (1, 13, 26, 100)


def alarmed(chance, runs, looks):
    """Series of looks in which anything fails, the slow chart included."""
    first = int(chance.integers(1 << 40))
    return runs * false_alarms(runs, looks=looks, first=first, chart=looks > 1)


def naive(chance, runs, looks):
    return sum(naive_alarm(int(chance.integers(1 << 20)), looks=looks) for _ in range(runs))


def seen(chance, runs, shift, rescored, k, looks, askings):
    first = int(chance.integers(1 << 30))
    return runs * power(
        shift=shift,
        items=200,
        runs=runs,
        k=k,
        rescored=rescored,
        askings=askings,
        looks=looks,
        first=first,
    )


def limits_rows():
    """The constant limits of a lock, and what they see of three standard errors."""
    chance, rows = np.random.default_rng(1), []
    for looks in LOOKS_PLANNED:
        level = alpha_of_look(PLANNED.model_copy(update={"planned": looks}), 1)
        limit = norm.isf(WHOLE * level / 2)
        # Looks share the noise of the freeze, which is as large as a look's own.
        noise = chance.normal(size=(400_000, 4))
        z = 3 + (noise[:, 1:] - noise[:, :1]) / np.sqrt(2)
        rows.append(
            (
                looks,
                f"{level:.5f}",
                f"{limit:.2f}",
                *(f"{(np.abs(z[:, :k]) > limit).any(1).mean():.2f}" for k in (1, 2, 3)),
            )
        )
    heads = (
        "looks planned",
        "level of each",
        "limit, standard errors",
        "3 are seen at any look",
        "within two",
        "within three",
    )
    return table(heads, rows)


def main(runs: int, jobs: int) -> None:
    series, how = 50 * runs, {"jobs": jobs, "pieces": 16}
    of_series = [(1,), (13,), (26,), (100,)]
    alarms = spread(alarmed, of_series, series, seed=11, **how)
    plain = spread(naive, [(26,)], runs, seed=12, **how)
    cells = [(0.1, rescored, k, max(k, 26), 1) for rescored in (0.04, 0.08, 0.16) for k in AT]
    cells += [(0.1, 0.16, 1, 26, askings) for askings in (2, 4)]
    powers = spread(seen, cells, 5 * runs, seed=13, **how)
    right = attributed(runs=500)
    parts = [
        "# The gate, simulated",
        machine(),
        versions("numpy", "scipy"),
        "200 canaries, half of them with labels; a lock at .05.",
        "## Constant limits",
        limits_rows(),
        "## Any false alarm, by the looks planned",
        table(
            ("looks", "series", "any false alarm"),
            [
                (looks, f"{series:,}", share(sum(found) / series, series))
                for (looks,), found in zip(of_series, alarms, strict=True)
            ]
            + [("26, with .05 at each", f"{runs:,}", share(sum(plain[0]) / runs, runs))],
        ),
        "## Power for 0.10 points",
        table(
            ("of scores differ when asked again", "look", "of", "askings", "seen"),
            [
                (
                    f"{100 * rescored:g} %",
                    k,
                    looks,
                    askings,
                    share(sum(found) / (5 * runs), 5 * runs),
                )
                for (_, rescored, k, looks, askings), found in zip(cells, powers, strict=True)
            ],
        ),
        "## Besides",
        table(
            ("", ""),
            [
                ("seen and named rightly, of 500 changes of 0.3 points", share(right, 500)),
                (
                    "seconds of processor time for a check of 28 pairs",
                    f"{seconds_of_28_pairs():.2f}",
                ),
            ],
        ),
    ]
    RESULTS.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    print("\n\n".join(parts))


if __name__ == "__main__":
    help_asked(__doc__)
    main(*map(int, (*sys.argv[1:3], *("200", "0")[len(sys.argv) - 1 :])))
