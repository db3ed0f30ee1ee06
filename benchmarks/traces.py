"""A million spans with the evaluations of them, from OTLP JSON lines to ratings: time and memory.

    python benchmarks/traces.py [RUNS STEPS]

Each run is an agent's span and STEPS spans below it, models and tools by turns. A person and a
model evaluate every run, and each model's span of every second run.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from _help import help_asked
from _timing import machine, table

READ = """
import resource, sys, time
from pathlib import Path
from voirdire.tables import read_foreign
resident = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before, start = resident(), time.process_time()
found = read_foreign(Path(sys.argv[1]))
print(found.ratings.height, found.items.height, before, resident(), time.process_time() - start)
"""


def main() -> None:
    """Print what reading took."""
    runs, steps = map(int, sys.argv[1:] or (50_000, 19))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "traces.jsonl"
        write(path, runs, steps)
        done = subprocess.run(
            [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True
        )
        ratings, items, before, peak, took = map(float, done.stdout.split())
        size = path.stat().st_size / 1e6
    print(f"{machine()}\n")
    rows = [
        (
            f"{runs * (steps + 1):,}",
            f"{size:,.0f} MB",
            f"{ratings:,.0f}",
            f"{items:,.0f}",
            f"{took:,.0f} s",
            f"{before:,.0f} MB",
            f"{peak:,.0f} MB",
        ),
    ]
    heads = ("spans", "file", "ratings", "units", "processor time", "memory before", "at most")
    print(table(heads, rows))


def write(path: Path, runs: int, steps: int) -> None:
    """The file, a line each for the spans and the evaluations of a run."""
    with path.open("w", encoding="utf-8") as file:
        for run in range(runs):
            spans, events = _run(run, steps)
            file.write(json.dumps(_batch("Spans", "spans", spans)) + "\n")
            file.write(json.dumps(_batch("Logs", "logRecords", events)) + "\n")


def _batch(signal: str, records: str, held: list[dict[str, object]]) -> dict[str, object]:
    service = _attributes({"service.name": "desk"})
    scoped = {f"scope{signal}": [{"scope": {"name": "desk"}, records: held}]}
    return {f"resource{signal}": [{"resource": {"attributes": service}, **scoped}]}


def _attributes(values: dict[str, object]) -> list[dict[str, object]]:
    return [
        {"key": key, "value": {"doubleValue" if isinstance(value, float) else "stringValue": value}}
        for key, value in values.items()
    ]


def _run(run: int, steps: int) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    trace, spans, events = f"{run + 1:032x}", [], []
    past = [{"role": "user", "parts": [{"type": "text", "content": f"Question {run}?"}]}]
    for at in range(steps + 1):
        span = f"{run * 100 + at + 1:016x}"
        said: dict[str, object] = {"gen_ai.operation.name": "invoke_agent"}
        if at % 2:
            call = {
                "type": "tool_call",
                "id": f"c{at}",
                "name": "search",
                "arguments": {"q": f"the {at}th word of question {run}"},
            }
            made = {"role": "assistant", "parts": [call]}
            said = {
                "gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(past),
                "gen_ai.output.messages": json.dumps([made]),
            }  # fmt: skip
        elif at:
            gave = f"What the tool found at step {at} of run {run}, in some words more."
            said = {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "search",
                "gen_ai.tool.call.id": f"c{at - 1}",
                "gen_ai.tool.call.result": gave,
            }
        spans.append(
            {"traceId": trace, "spanId": span, "name": "step", "attributes": _attributes(said),
             "parentSpanId": f"{run * 100 + 1:016x}" if at else "",
             "startTimeUnixNano": str(1_700_000_000_000_000_000 + run * 10**10 + at * 10**8)}
        )  # fmt: skip
        if at == 0 or (at % 2 and run % 2):
            for who, kind in (("ann", "human"), ("gpt", "llm")):
                score = float((run * 7 + at * 3 + len(who)) % 5 + 1)
                told = {
                    "gen_ai.evaluation.name": "step" if at else "run",
                    "gen_ai.evaluation.score.value": score,
                    "gen_ai.evaluation.evaluator.name": who,
                    "gen_ai.evaluation.evaluator.type": kind,
                }
                events.append(
                    {
                        "traceId": trace,
                        "spanId": span,
                        "attributes": _attributes(told),
                        "eventName": "gen_ai.evaluation.result",
                    }
                )
    return spans, events


if __name__ == "__main__":
    help_asked(__doc__)
    main()
