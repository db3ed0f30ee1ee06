"""The planted truth through the whole examination, and what the report costs.

    python benchmarks/demo.py [SEEDS]      # prints the tables and writes results/demo.md

For each seed the demo's panel is drawn (single scores, three runs a judge), read as a frame,
audited, examined and judged, alt-test and stability included: nothing is told to the examination.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from voirdire.examining import examine
from voirdire.examining._demo_panel import BUILT_FOR, DEMO
from voirdire.examining.simulate import simulate_ratings, truths
from voirdire.report import write_outputs

RESULTS = Path(__file__).resolve().parent / "results" / "demo.md"


def main(seeds: int) -> str:
    """The report as Markdown."""
    true = {(t.judge, t.attribute): t for t in truths(DEMO)}
    covered, verdicts = Counter(), {pair: Counter() for pair in true}
    for seed in range(seeds):
        found = examine(simulate_ratings(DEMO, seed), reference=DEMO.humans, resamples=0)
        for result in found.results:
            pair = (result.judge, result.attribute)
            interval = result.interval("C,1", "f")
            covered[pair] += interval.low <= true[pair].icc_c1 <= interval.high
        for verdict in found.verdicts:
            verdicts[verdict.judge, verdict.attribute][verdict.verdict] += 1
    lines = [
        f"# The demo's panel over {seeds} seeds",
        "",
        "A frame declares nothing safety-critical, so Steady's Safety is not capped here.",
        "",
        "| judge | attribute | true ICC(C,1) | covered | built for | verdicts |",
        "|---|---|---:|---:|---|---|",
    ]
    for pair, truth in true.items():
        counts = ", ".join(f"{name} {n / seeds:.1%}" for name, n in verdicts[pair].most_common())
        lines.append(
            f"| {pair[0]} | {pair[1]} | {truth.icc_c1:.2f} | {covered[pair] / seeds:.3f} "
            f"| {BUILT_FOR[pair]} | {counts} |"
        )
    total = sum(covered.values()) / (seeds * len(true))
    return "\n".join([*lines, "", f"Coverage over all: {total:.3f}.", "", *cost(found)]) + "\n"


def cost(found) -> list[str]:
    """Processor and wall seconds of writing the report, with and without figures."""
    lines = ["| output | processor s | wall s |", "|---|---:|---:|"]
    for name, figures in (("all formats, figures", True), ("all formats, no figures", False)):
        for _ in range(2):  # the first one imports
            with tempfile.TemporaryDirectory() as folder:
                began, clock = time.process_time(), time.perf_counter()
                write_outputs(found, folder, figures=figures)
                spent = (time.process_time() - began, time.perf_counter() - clock)
        lines.append(f"| {name} | {spent[0]:.2f} | {spent[1]:.2f} |")
    return lines


if __name__ == "__main__":
    text = main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
    print(text)
    if len(sys.argv) < 2:
        RESULTS.write_text(text, encoding="utf-8")
