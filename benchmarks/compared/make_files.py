"""The files that every tool is given, simulated so that the truth is known.

    python make_files.py FOLDER [SEED]


labels.csv   2,000 answers of two systems, a judge's pass or fail, a person's on a random 300
scores.csv   6 systems, 150 items, three people and three judges from 1 to 5: one careful, one
             lenient by 1.2 points, one that draws at random
pairs.csv    3,000 votes of 200 voters on six models of known strength, the first shown at +0.15,
             and beside each the vote of a judge, which favours what is shown first by +0.6
sure.csv     3,000 decisions of three, with the confidence that a judge claims: too high by a half
             in its log-odds
truth.json   what is true of each
"""

import csv
import json
import sys
from pathlib import Path

import numpy as np

FOLDER = Path(sys.argv[1])
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 20261130
FOLDER.mkdir(parents=True, exist_ok=True)


def table(name, head, rows):
    with (FOLDER / name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *rows])


def labels(rng):
    system = np.arange(2000) % 2
    human = (rng.random(2000) < np.where(system, 0.68, 0.60)).astype(int)
    wrong = rng.random(2000) < np.where(human, 0.06, 0.30)  # it passes 30 % of what people stop
    judge = np.where(wrong, 1 - human, human)
    labelled = np.zeros(2000, bool)
    labelled[rng.choice(2000, 300, replace=False)] = True
    rows = [
        (f"q{at // 2}", "ab"[system[at]], judge[at], human[at] if labelled[at] else "")
        for at in range(2000)
    ]
    table("labels.csv", ["item", "system", "judge", "human"], rows)
    by = [float(human[system == one].mean()) for one in (0, 1)]
    return {
        "pass_rate": float(human.mean()),
        "judge": float(judge.mean()),
        "b_minus_a": by[1] - by[0],
    }


def scores(rng):
    true = rng.normal(3, 0.9, (150, 1)) + np.linspace(-0.6, 0.6, 6) + rng.normal(0, 0.5, (150, 6))

    def seen(noise, bias=0.0):
        return np.clip(np.rint(true + bias + rng.normal(0, noise, true.shape)), 1, 5).astype(int)

    raters = {
        "ann": seen(0.5), "ben": seen(0.5), "cat": seen(0.5), "careful": seen(0.4),
        "lenient": seen(0.5, 1.2), "blind": rng.integers(1, 6, true.shape),
    }  # fmt: skip
    item, system = (one.ravel() for one in np.indices(true.shape))
    columns = [one.ravel() for one in raters.values()]
    rows = [
        (f"q{i}", f"m{s}", *values) for i, s, *values in zip(item, system, *columns, strict=True)
    ]
    table("scores.csv", ["item", "system", *raters], rows)
    return {"careful": "as good as a person", "lenient": "+1.2 points", "blind": "reads nothing"}


def pairs(rng):
    strength = np.linspace(0, 1.0, 6)
    rows = []
    for at in range(3000):
        a, b = rng.choice(6, 2, replace=False)
        quality = strength[a] - strength[b] + rng.normal(0, 1)
        votes = [
            "tie"
            if rng.random() < 0.1
            else "model_a"
            if rng.random() < 1 / (1 + np.exp(-2 * quality - first))
            else "model_b"
            for first in (0.15, 0.6)
        ]
        rows.append((f"q{at}", f"v{at % 200}", f"m{a}", f"m{b}", *votes))
    head = ["item", "voter_id", "model_a", "model_b", "people", "gpt"]
    table("pairs.csv", head, rows)
    return {f"m{at}": float(one) for at, one in enumerate(strength)}


def sure(rng):
    names = ("refund", "delivery", "other")
    odds = rng.normal(1.2, 1.2, 3000)
    right = rng.random(3000) < 1 / (1 + np.exp(-odds))
    claimed = 1 / (1 + np.exp(-1.5 * np.maximum(odds, 0)))
    human = rng.integers(0, 3, 3000)
    judge = np.where(right, human, (human + rng.integers(1, 3, 3000)) % 3)
    rows = [
        (f"q{at}", names[human[at]], names[judge[at]], round(float(claimed[at]), 4))
        for at in range(3000)
    ]
    table("sure.csv", ["item", "human", "judge", "confidence"], rows)
    return {"accuracy": float(right.mean()), "claimed": float(claimed.mean())}


truth = {
    name: make(np.random.default_rng(SEED + at))
    for at, (name, make) in enumerate(
        {"labels": labels, "scores": scores, "pairs": pairs, "sure": sure}.items()
    )
}
(FOLDER / "truth.json").write_text(json.dumps(truth, indent=1) + "\n", "utf-8")
