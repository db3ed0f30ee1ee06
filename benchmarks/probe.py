"""How probes were tested: power for planted biases, and false positives of a clean suite.

    python benchmarks/probe.py [RUNS]     # writes results/probe.md

The simulated suites are those of tests/probe_simulation.py: 14 probes, one judge and attribute, two
askings, and one score in six another when it is asked for again.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

from _help import help_asked

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from probe_simulation import PROBES, clean_suites, power  # noqa: E402

RESULTS = Path(__file__).resolve().parent / "results" / "probe.md"


def share(rate: float, n: int) -> str:
    """A share with its 95 % margin."""
    return f"{rate:.3f} ± {1.96 * math.sqrt(rate * (1 - rate) / n):.3f}"


def main(runs: int) -> None:
    lines = [
        "# Probes, simulated",
        "",
        f"`python benchmarks/probe.py {runs}`, suites of {PROBES} probes.",
        "",
        "| | |",
        "|---|---|",
    ]
    for items in (50, 100, 200):
        for effect in (0.1, 0.2, 0.4):
            detected = float(power(effect=effect, runs=runs, items=items))
            lines.append(
                f"| power for {effect:g} points on {items} items | {share(detected, runs)} |"
            )
    suites = 100 * runs
    clean = float(clean_suites(range(suites)).mean())
    lines.append(
        f"| any effect in a clean suite of 200 items, of {suites:,} | {share(clean, suites)} |"
    )
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    help_asked(__doc__)
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
