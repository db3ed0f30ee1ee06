"""What benchmarks share: medians, peak memory of a process of its own, the machine, tables."""

from __future__ import annotations

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def median_seconds(work: Callable[[], Any], repeats: int = 7, *, warm: bool = True) -> float:
    """Median wall time; once before, unmeasured, where `warm`."""
    if warm:
        work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def peak_of(script: str, *arguments: str) -> dict[str, float]:
    """Run the script with arguments in a process of its own; it prints one line of JSON."""
    done = subprocess.run(
        [sys.executable, script, *arguments], check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def peak_mib() -> float:
    """The largest resident set of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def machine() -> str:
    """The machine in words, without its paths or names."""
    model = "unknown processor"
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
        model = names[0] if names else model
    except OSError:
        model = platform.processor() or model
    return f"{os.cpu_count()} cores ({model}), Python {platform.python_version()}"


def versions(*names: str) -> str:
    """Versions of the packages compared."""
    from importlib.metadata import version

    return ", ".join(f"{name} {version(name)}" for name in names)


def seconds(value: float) -> str:
    """A time as people read it."""
    if value >= 3600:
        return f"{value / 3600:,.1f} h"
    if value >= 1:
        return f"{value:,.2f} s"
    return f"{value * 1e3:.2f} ms"


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table; all columns but the first are aligned to the right."""
    lines = [
        "| " + " | ".join(head) + " |",
        "|" + "|".join(["---", *["---:"] * (len(head) - 1)]) + "|",
        *("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows),
    ]
    return "\n".join(lines)
