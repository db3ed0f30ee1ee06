"""Conversations: error rates of verdicts and intervals by simulation, and many of them in memory.

    python benchmarks/conversations.py [SETS]                       # the grid
    python benchmarks/conversations.py --coverage [SETS]            # intervals alone, many sets
    python benchmarks/conversations.py --memory [TALKS TURNS]       # 10,000 of 40 turns

Both print tables; results/conversations.md keeps them. The simulation is tests/turn_simulation.py:
what a turn is worth rests on a truth of an early turn, four systems, clients as clusters.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from _help import help_asked
from _timing import machine, table

from voirdire.study import build_study, study_to_toml

GRID = [
    (clients, turns, people) for turns in (4, 10) for clients in (20, 60) for people in (2, 3, 5)
]
STEP = """
import resource, sys, time
from voirdire import examine
from voirdire.running import dry_run, run
resident = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
what, study, out = sys.argv[1:]
before, start = resident(), time.process_time()
if what == "dry run":
    found = dry_run(study)[0].tasks
elif what == "run":
    found = run(study, out, quiet=True).raters[0].done
else:
    found = examine(out, resamples=0).inputs.ratings.height
print(found, before, resident(), time.process_time() - start)
"""


def errors(sets: int) -> str:
    """Coverage and answers by conversations, turns and people."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from turn_simulation import USES, counted, true_mean

    mean, rows, pooled = true_mean(), [], [0, 0]
    for at, (clients, turns, people) in enumerate(GRID):
        found = counted(clients, turns, people, sets, 1_000_000 * (at + 1), mean)
        pooled[0], pooled[1] = pooled[0] + found.yes("last"), pooled[1] + sets
        shares = [
            f"{found.share((of, how)):.3f}"
            for of in ("bias", "apart", "corrected")
            for how in ("clustered", "flat")
        ]
        yes = [f"{found.states['exchangeable', use, 'yes'] / sets:.2f}" for use in USES]
        rows.append((clients * 4, turns, people, *shares, f"{found.yes('last')} of {sets}", *yes))
        print(rows[-1], flush=True)
    heads = (
        "conversations",
        "turns",
        "people",
        "bias",
        "flat",
        "difference",
        "flat",
        "corrected",
        "flat",
        "last turn alone: any yes",
        *USES,
    )
    return f"{table(heads, rows)}\n\nLast turn alone, any yes: {pooled[0]} of {pooled[1]}."


def coverage(sets: int) -> str:
    """How often the intervals by clusters hold the truth."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from turn_simulation import counted, true_mean

    mean, rows, names = true_mean(), [], ("bias", "apart", "corrected")
    for clients, turns, people in GRID:
        found = counted(clients, turns, people, sets, 50_000_000, mean, judged=False)
        shares = [f"{found.share((of, 'clustered')):.4f}" for of in names]
        rows.append((clients * 4, turns, people, *shares))
    return table(("conversations", "turns", "people", "bias", "difference", "corrected"), rows)


def memory(talks: int, turns: int) -> str:
    """Take in, judge by turn, and examine; each in a process of its own."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = written(folder, talks, turns)
        for what in ("dry run", "run", "examine"):
            if what == "examine":
                people_say(folder)
            done = subprocess.run(
                [sys.executable, "-c", STEP, what, str(folder / "study.toml"), str(folder / "s")],
                capture_output=True,
                text=True,
                check=True,
            )
            found, before, peak, took = map(float, done.stdout.split())
            rows.append(
                (what, f"{found:,.0f}", f"{before:,.0f} MB", f"{peak:,.0f} MB", f"{took:,.0f} s")
            )
            print(rows[-1], flush=True)
    heads = ("step", "judgements", "memory before", "at most", "processor time")
    return f"{talks:,} conversations of {turns} turns, {size / 1e6:,.0f} MB\n\n{table(heads, rows)}"


def written(folder: Path, talks: int, turns: int) -> int:
    """A study of so many conversations in a file, whose size in bytes it returns."""
    with (folder / "items.jsonl").open("w", encoding="utf-8") as items:
        for at in range(talks):
            items.write(json.dumps({"id": f"c{at}", "text": f"Scene {at}."}) + "\n")
    with (folder / "talks.jsonl").open("w", encoding="utf-8") as file:
        for at in range(talks):
            said = [
                {
                    "role": ("user", "assistant")[turn % 2],
                    "content": f"Turn {turn} of conversation {at}, about as long as people write "
                    "in a chat, with a second half that makes it a little longer still.",
                }
                for turn in range(turns)
            ]
            line = {"item": f"c{at}", "system": "bot", "messages": said}
            file.write(json.dumps(line) + "\n")
    raw = {
        "name": "talks", "items": {"path": "items.jsonl"},
        "responses": {"path": "talks.jsonl", "messages": "messages"},
        "rubric": {"attributes": [{"name": "Warm"}]},
        "conversations": {"unit": "turn", "role": "assistant", "past": 6},
        "panel": [{"name": "judge", "use": "rubric", "model": "simulated:x"},
                  {"name": "ann", "kind": "human"}, {"name": "ben", "kind": "human"}],
        "data": {"reference": ["ann", "ben"], "sources": [{"path": "people.csv"}]},
    }  # fmt: skip
    study = build_study(raw, folder=str(folder))
    (folder / "study.toml").write_text(study_to_toml(study), encoding="utf-8")
    (folder / "people.csv").write_text("item,system,rater,attribute,score\n", encoding="utf-8")
    return (folder / "talks.jsonl").stat().st_size


def people_say(folder: Path) -> None:
    """Two people on every tenth conversation, each about a level off the judge."""
    import polars as pl

    own = pl.read_parquet(folder / "s" / "ratings.parquet").filter(
        pl.col("item").cast(pl.String).str.contains("^c[0-9]*0 ")
    )
    both = [
        own.select(
            "item",
            "system",
            pl.lit(who).alias("rater"),
            "attribute",
            (pl.col("score") + (pl.int_range(pl.len()) + at) % 3 - 1).clip(1, 5),
        )
        for at, who in enumerate(("ann", "ben"))
    ]
    pl.concat(both).write_csv(folder / "people.csv")


def main() -> None:
    """Print one of them."""
    asked = sys.argv[1:]
    print(f"{machine()}\n")
    if "--memory" in asked:
        numbers = [int(one) for one in asked if one != "--memory"] or [10_000, 40]
        print(memory(*numbers))
    elif "--coverage" in asked:
        numbers = [int(one) for one in asked if one != "--coverage"]
        print(coverage(*numbers or [8000]))
    else:
        print(errors(int(asked[0]) if asked else 300))


if __name__ == "__main__":
    help_asked(__doc__)
    main()
