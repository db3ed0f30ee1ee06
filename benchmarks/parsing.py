"""What a text reply costs each parser, in processor time, and how many expressions they hold.

The replies are those of the sweeps in `tests/data/replies`. Each is read eight times, in turn with
all others, and its least time counts; what a text may leave in a cache is thrown away by the
replies between.
"""

from __future__ import annotations

import ast
import json
import statistics
import time
from collections import defaultdict
from pathlib import Path

from _help import help_asked
from _timing import machine, table

import voirdire.parsing
from voirdire.parsing import LabelSet, parse_labels
from voirdire.parsing.choices import parse_choice
from voirdire.parsing.preferences import parse_preferences
from voirdire.parsing.scores import parse_scores
from voirdire.parsing.yesno import parse_yes_no
from voirdire.schema import Scale

ROOT = Path(__file__).resolve().parents[1]
PASSES = 8
#: Sentences about labels, as a model writes them that was asked for its reasons.
PROSE = """\
The user describes feeling overwhelmed at work and snapping at a colleague, which points to \
Anger. There is also some worry about losing the job, so Fear is present as well.
After reading the post, I would say the dominant emotion is Sadness. The writer misses the \
mother and cannot sleep; nothing in it is joyful.
The text shows Anger and Fear. Although the author mentions being relieved at the end, that \
is not enough for Joy.
I see no sign of Anger here. The author is afraid of the exam, which is Fear, and hopeful at \
the end, but that is not Joy.
""".splitlines()
FEELINGS = LabelSet(("Anger", "Fear", "Joy", "Sadness", "None"))


def readers():
    """Parser -> calls, one a reply."""
    calls = defaultdict(list)
    for path in sorted((ROOT / "tests/data/replies").glob("sweep*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            text, kind = row["text"], row["kind"]
            if kind in "SJ":
                keys = row.get("attributes") or [row["key"]]
                name = "scores in JSON" if kind == "J" else "scores"
                calls[name].append(lambda t=text, k=keys: parse_scores(t, k, Scale()))
            elif kind in "LM":
                labels = LabelSet(tuple(row["labels"]))
                calls["labels"].append(lambda t=text, x=labels: parse_labels(t, x))
            elif kind == "P":
                calls["preferences"].append(lambda t=text: parse_preferences(t, ["overall"]))
            elif kind == "Y":
                calls["yes or no"].append(lambda t=text: parse_yes_no(t, ["present"]))
            else:
                calls["options"].append(lambda t=text: parse_choice(t, "ABCD"))
    for number in range(20):
        for text in PROSE:
            calls["labels in prose"].append(
                lambda t=f"{text} Text {number}.": parse_labels(t, FEELINGS)
            )
    return calls


def least(calls):
    """The least time of each call, in milliseconds, sorted."""
    times = [float("inf")] * len(calls)
    for _ in range(PASSES):
        for at, call in enumerate(calls):
            start = time.process_time_ns()
            call()
            times[at] = min(times[at], time.process_time_ns() - start)
    return sorted(each / 1e6 for each in times)


def expressions():
    """How many regular expressions the parsers compile, and how many modules they are."""
    files = sorted(Path(voirdire.parsing.__file__).parent.glob("*.py"))
    calls = [
        node
        for path in files
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("re.compile", "pattern")
    ]
    return len(calls), len(files)


def main():
    rows = []
    for name, calls in readers().items():
        times = least(calls)
        told = statistics.mean(times), statistics.median(times), times[int(0.95 * len(times))]
        rows.append((name, f"{len(calls):,}", *(f"{each:.3f}" for each in told)))
    compiled, modules = expressions()
    text = f"""# Parsers

`python benchmarks/parsing.py`, {machine()}. Milliseconds of processor time a reply, the least of
{PASSES} passes over all replies.

{table(("parser", "replies", "mean", "median", "95 % below"), rows)}

The parsers compile {compiled} regular expressions in {modules} modules.
"""
    (Path(__file__).parent / "results" / "parsing.md").write_text(text, "utf-8")
    print(text)


if __name__ == "__main__":
    help_asked(__doc__)
    main()
