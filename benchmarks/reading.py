"""How many made files of people's tables are read rightly at once, by a question, or wrongly.

    python benchmarks/reading.py [--shell] [--bare]

The sets 7 to 10 of tests/ (210 files) with their truth beside. `--shell` also types each command
and the one that a question ends in (three minutes); `--bare` gives no `--reference`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import reading_files_7
import reading_files_8
import reading_files_9
import reading_files_10
from reading_check_7 import at_the_shell, outcome

SETS = {
    7: reading_files_7.sixty,
    8: reading_files_8.cases,
    9: reading_files_9.cases,
    10: reading_files_10.cases,
}


def main() -> None:
    """Print what became of each file that was not read rightly at once, and the counts of a set."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--shell", action="store_true")
    options.add_argument("--bare", action="store_true")
    asked = options.parse_args()
    for number, cases in SETS.items():
        counts: Counter[str] = Counter()
        for made in cases():
            made.reference = "" if asked.bare else made.reference
            with tempfile.TemporaryDirectory() as folder:
                found, why = outcome(made, Path(folder))
            if asked.shell:
                with tempfile.TemporaryDirectory() as folder:
                    typed, _ = at_the_shell(made, Path(folder))
                found = found if typed == found else f"{found} (at the shell {typed})"
            counts[found] += 1
            if found != "right":
                print(f"set {number} {made.family} {made.name}: {found} | {why[:200]}")
        print(f"set {number}: {dict(counts)}")


if __name__ == "__main__":
    main()
