"""What the first call of each public statistic costs where nothing is compiled, and the next time.

    python benchmarks/first_calls.py      # prints the table and writes results/first_calls.md

Each function runs the example of its own page in a process of its own, first with an empty cache
of compiled code and then with the one that this left. Imports (numba, scipy) count.
"""

from __future__ import annotations

import doctest
import inspect
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _help import help_asked
from _timing import machine, table, versions

RESULTS = Path(__file__).resolve().parent / "results" / "first_calls.md"


def functions() -> list[str]:
    """Public functions, by name."""
    from voirdire import stats

    return [name for name in stats.__all__ if inspect.isfunction(getattr(stats, name))]


def job(name: str) -> None:
    """Run the example; prints its processor time, that of its imports included."""
    from voirdire import stats

    function = getattr(stats, name)
    (example, *_) = doctest.DocTestFinder(recurse=False).find(function, name)
    example.globs = dict(vars(sys.modules[function.__module__]))
    start = time.process_time()
    failed = doctest.DocTestRunner().run(example).failed
    print(json.dumps({"seconds": time.process_time() - start, "failed": failed}))


def measured(name: str, cache: str) -> float:
    """Processor time of the example in a new process with that cache."""
    done = subprocess.run(
        [sys.executable, __file__, name],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
    )
    answer = json.loads(done.stdout.splitlines()[-1])
    if answer["failed"]:
        raise SystemExit(f"the example of {name} fails:\n{done.stdout}")
    return answer["seconds"]


def main() -> None:
    """Measure every function, print and write the table."""
    rows = []
    for name in functions():
        with tempfile.TemporaryDirectory() as cache:
            rows.append((name, measured(name, cache), measured(name, cache)))
    rows.sort(key=lambda row: row[1], reverse=True)
    body = [[f"`{name}`", f"{first:.2f}", f"{later:.2f}"] for name, first, later in rows]
    head = (
        f"`python benchmarks/first_calls.py`, {machine()}, {versions('numpy', 'numba', 'scipy')}. "
        "Processor seconds of each function's own example in a new process, imports included; "
        "asked: below 3 s of compiling."
    )
    columns = ["first call", "nothing compiled, s", "next process, s"]
    text = f"# First calls\n\n{head}\n\n{table(columns, body)}\n"
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    help_asked(__doc__)
    job(sys.argv[1]) if len(sys.argv) > 1 else main()
