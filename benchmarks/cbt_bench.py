"""Coverage of the intervals on simulated annotators and pairwise judges, and the report's time.

    python benchmarks/cbt_bench.py          # prints the tables and writes results/cbt_bench.md

Each of 300 seeds goes from replies as text through the annotator's or judge's parser to tables and
intervals. Declared are recall and false alarms of each label, and the levels of preference, the
share of pairs in which the judge prefers whatever is shown first.
"""

from __future__ import annotations

import itertools
import json
import time
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
from _help import help_asked
from _timing import machine, table, versions

from voirdire.examining.labels import label_scores, matrix_of_ratings
from voirdire.examining.preferences import examine_preferences, preference_sections
from voirdire.schema import Reply
from voirdire_plugins.cbt_bench.annotators import make_pc
from voirdire_plugins.cbt_bench.comparison import ATTRIBUTES
from voirdire_plugins.cbt_bench.comparison import make as make_judge

RESULTS = Path(__file__).resolve().parent / "results" / "cbt_bench.md"
SEEDS = 300
LABELS = ("helpless", "unlovable", "worthless")
SHARE, RECALL, ALARM = (
    np.array([0.6, 0.5, 0.4]),
    np.array([0.8, 0.7, 0.6]),
    np.array([0.2, 0.2, 0.1]),
)
ITEMS, EXERCISES = 184, 156
CHANCES, FOLLOWS = (0.1, 0.2, 0.25, 0.3, 0.15), 0.25
LEVELS = {2: "A>>B", 1: "A>B", 0: "A=B", -1: "B>A", -2: "B>>A"}


def declared():
    """Recall, precision and F1 of each label, and the weighted F1, among replies that name one."""
    hits = named = true = np.zeros(3)
    for labels in itertools.product((0, 1), repeat=3):
        held = np.array(labels)
        weight = np.prod(np.where(held, SHARE, 1 - SHARE))
        chance = np.where(held, RECALL, ALARM)
        answered = 1 - np.prod(1 - chance)
        hits = hits + weight * held * chance
        named = named + weight * chance
        true = true + weight * held * answered
    f1 = 2 * hits / (named + true)
    return {"recall": hits / true, "precision": hits / named, "f1": f1}, float(
        true @ f1 / true.sum()
    )


@cache
def read_labels(text):
    return tuple(make_pc().parse([Reply(text)]).scores.values())


def label_ratings(seed):
    """What one simulated annotator says of one drawn set of patients."""
    rng = np.random.default_rng(seed)
    truth = rng.random((ITEMS, 3)) < SHARE
    said = rng.random((ITEMS, 3)) < np.where(truth, RECALL, ALARM)
    rows = []
    for item in range(ITEMS):
        text = ", ".join(np.array(list("abc"))[said[item]]) or "None of them, as far as I can see."
        for rater, scores in (("key", truth[item].astype(float)), ("sim", read_labels(text))):
            rows += [
                (f"i{item}", rater, 1, label, None if s is None else float(s), "ok")
                for label, s in zip(LABELS, scores, strict=True)
            ]
    names = ["item", "rater", "run", "attribute", "score", "status"]
    return pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)


def label_coverage():
    parts, weighted = declared()
    covered = {(what, label): 0 for what in parts for label in LABELS} | {("weighted F1", "all"): 0}
    for seed in range(SEEDS):
        ratings = label_ratings(seed)
        truth = matrix_of_ratings(ratings, "key", LABELS)
        given = matrix_of_ratings(ratings, "sim", LABELS, items=truth.items)
        scored = label_scores(truth, given, seed=seed)
        for place, label in enumerate(scored.labels):
            for what, values in parts.items():
                covered[what, label.label] += holds(getattr(label, what), values[place])
        covered["weighted F1", "all"] += holds(scored.f1, weighted)
    values = {(w, x): parts[w][n] for w in parts for n, x in enumerate(LABELS)}
    values["weighted F1", "all"] = weighted
    return [
        [what, label, f"{values[what, label]:.3f}", f"{count / SEEDS:.3f}"]
        for (what, label), count in covered.items()
    ]


def holds(estimate, value):
    interval = estimate.interval()
    return int(interval.low <= value <= interval.high)


@cache
def read_preference(text):
    return make_judge().parse([Reply(text)]).scores["Overall"]


def preferences(seed):
    """Both orders of each exercise: in a share of pairs the first place is preferred."""
    rng = np.random.default_rng(seed)
    meant = rng.choice([-2, -1, 0, 1, 2], EXERCISES, p=CHANCES)
    follows = rng.random(EXERCISES) < FOLLOWS
    rows = []
    for item in range(EXERCISES):
        for first, sign in (("m", 1), ("reference", -1)):
            level = 1 if follows[item] else int(sign * meant[item])
            reply = json.dumps(dict.fromkeys(ATTRIBUTES, LEVELS[level]))
            score = sign * read_preference(reply)
            rows.append((f"e{item}", "m", "reference", first, "sim", "Overall", score))
    names = ["item", "system_a", "system_b", "shown_first", "rater", "attribute", "score"]
    return pl.DataFrame(rows, schema=names, orient="row")


def preference_coverage():
    mean = float(np.dot(CHANCES, [-2, -1, 0, 1, 2]))
    values = {
        "mean preference": mean,
        "share of wins": CHANCES[3] + CHANCES[4],
        "share of ties": CHANCES[2],
        "share of losses": CHANCES[0] + CHANCES[1],
        "position effect": FOLLOWS,
        "difference of log-strengths": np.log(
            (CHANCES[3] + CHANCES[4]) / (CHANCES[0] + CHANCES[1])
        ),
    }
    covered = dict.fromkeys(values, 0)
    inconsistent = 0
    for seed in range(SEEDS):
        compared = examine_preferences(preferences(seed), seed=seed)
        cell, ranking = compared.cells[0], compared.strengths[0].ranking
        inconsistent += cell.inconsistent
        covered["mean preference"] += holds(cell.mean, values["mean preference"])
        for name, part in (("wins", "win"), ("ties", "tie"), ("losses", "loss")):
            covered[f"share of {name}"] += holds(
                getattr(cell.outcome, part), values[f"share of {name}"]
            )
        covered["position effect"] += holds(compared.position[0].effect, FOLLOWS)
        half = values["difference of log-strengths"] / 2
        covered["difference of log-strengths"] += holds(ranking["m"], half)
    rows = [[name, f"{values[name]:.3f}", f"{n / SEEDS:.3f}"] for name, n in covered.items()]
    return rows, inconsistent / SEEDS / EXERCISES


def report_seconds():
    """3 models x 156 exercises x 5 comparisons by one expert, from a table to sections."""
    rng = np.random.default_rng(0)
    rows = [
        (
            f"e{i}",
            system,
            "reference",
            str(rng.choice([system, "reference"])),
            "expert",
            name,
            int(rng.integers(-2, 3)),
        )
        for i in range(EXERCISES)
        for system in ("m1", "m2", "m3")
        for name in ATTRIBUTES
    ]
    names = ["item", "system_a", "system_b", "shown_first", "rater", "attribute", "score"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    groups = pl.DataFrame(
        {
            "item": [f"e{i}" for i in range(EXERCISES)],
            "exercise": [f"exercise {i % 10}" for i in range(EXERCISES)],
            "difficulty": [
                ("beginner", "intermediate", "advanced")[i % 3] for i in range(EXERCISES)
            ],
        }
    )
    times = []
    for _ in range(4):
        start = time.perf_counter()
        preference_sections(examine_preferences(frame, groups))
        times.append(time.perf_counter() - start)
    return times[0], sorted(times[1:])[1]


def main():
    first, then = report_seconds()
    labels, (compared, share) = label_coverage(), preference_coverage()
    parts = [
        "# CBT-Bench",
        (
            f"`python benchmarks/cbt_bench.py`, {machine()}, {versions('numpy', 'polars')}. "
            f"{SEEDS} fixed seeds; intervals at 95 %."
        ),
        f"## Labels: {ITEMS} items, one annotator",
        table(["quantity", "label", "declared", "covered"], labels),
        "Among replies that name a label; a reply that names none is missing.",
        f"## Preferences: {EXERCISES} exercises, both orders",
        table(["quantity", "declared", "covered"], compared),
        (
            f"Inconsistent pairs: {share:.3f} of all (declared {FOLLOWS}). They are counted, and "
            "in none of the means and shares."
        ),
        "## Time",
        (
            f"3 systems x {EXERCISES} exercises x 5 attributes, with exercise and difficulty: "
            f"{then:.2f} s warm, {first:.2f} s with imports."
        ),
    ]
    text = "\n\n".join(parts) + "\n"
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    help_asked(__doc__)
    main()
