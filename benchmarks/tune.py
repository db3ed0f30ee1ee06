"""Simulated climbs: does the gain of a tuned judge hold what it says, and what would others claim?

    python benchmarks/tune.py            # all, about two minutes of one core; replay needs
                                        # the published data (VOIRDIRE_SHARED or ../shared)
    python benchmarks/tune.py lists      # or gates, optimizers, refitted, differing, replay

Prints the tables and writes results/tune.md. Each climb draws labelled units and judges of known
truth; a judge is right on a unit where a normal score, shared in part by all judges, lies below the
quantile of its accuracy. `tests/test_stats_tuning.py` runs a part of it.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
from _timing import machine, table, versions
from scipy.stats import norm

from voirdire.stats import bias, chosen_gain, differing_gain, measured_gain, pseudo_values
from voirdire.stats.refitting import folds_of, refitted_gain
from voirdire.stats.tuning import allotted, half_of

SHARED_DATA = Path(
    os.environ.get("VOIRDIRE_SHARED", Path(__file__).resolve().parents[2] / "shared")
)
SHARED_DATA = SHARED_DATA / "data"
RESULTS = Path(__file__).resolve().parent / "results" / "tune.md"
CLIMBS, OLD, SHARED = 1000, 0.75, 0.9

#: What the candidates gain in truth: (candidates,) of one climb.
GAINS = {
    "no effect": lambda chance, number: np.zeros(number),
    "small effects": lambda chance, number: chance.normal(0, 0.02, number),
    "one of 6 points": lambda chance, number: np.where(np.arange(number) == 0, 0.06, 0.0),
}


def judged(chance, accuracy, units, shared=SHARED, of=1):
    """(judges, units) whether each judge is right; clusters of `of` units share their luck."""
    common = np.repeat(chance.standard_normal(-(-units // of)), of)[:units]
    own = chance.standard_normal((len(accuracy), units))
    score = np.sqrt(shared) * common + np.sqrt(1 - shared) * own
    return (score < norm.ppf(accuracy)[:, None]).astype(float)


def covers(estimate, truth):
    """Whether the interval holds the truth, up to rounding."""
    low, high = estimate.bounds
    return low - 1e-9 <= truth <= high + 1e-9


def listed(effect, units, number=30, climbs=CLIMBS, seed=0, of=1, shared=SHARED):
    """A row of figures of choosing from a fixed list."""
    chance, rows = np.random.default_rng(seed), []
    for _ in range(climbs):
        truth = np.concatenate([[0.0], GAINS[effect](chance, number)])
        right = judged(chance, OLD + truth, units, shared, of)
        clusters = None if of == 1 else np.arange(units) // of
        found = chosen_gain(right, clusters=clusters)
        real = truth[found.chosen]
        rows.append((
            covers(found.gain, real), found.gain.bounds[0] > 1e-9,
            found.gain.bounds[0] > 1e-9 and real <= 0, found.gain.value, real,
            covers(found.claimed, real), found.claimed.bounds[0] > 1e-9, found.claimed.value,
        ))  # fmt: skip
    return np.mean(rows, axis=0)


def climbed(effect, units, steps=30, climbs=CLIMBS, seed=0):
    """The same of an optimizer that peeks: each step changes the best so far on its own units."""
    chance, rows = np.random.default_rng(seed), []
    for _ in range(climbs):
        tuned = half_of(units, None, seed=int(chance.integers(2**31)))
        drawn = np.concatenate([[0.0], GAINS[effect](chance, steps)])
        best, truth, score = 0, np.zeros(steps + 1), None
        common, old = chance.standard_normal(units), chance.standard_normal(units)
        right = np.empty((steps + 1, units))
        noise = np.empty((steps + 1, units))
        for step in range(steps + 1):
            # A change of the best keeps most of what it does, and a part of its gain.
            truth[step] = 0.0 if step == 0 else 0.5 * truth[best] + drawn[step]
            fresh = chance.standard_normal(units)
            noise[step] = old if step == 0 else 0.7 * noise[best] + np.sqrt(0.51) * fresh
            own = np.sqrt(SHARED) * common + np.sqrt(1 - SHARED) * noise[step]
            right[step] = own < norm.ppf(OLD + truth[step])
            mean = right[step][tuned].mean()
            if score is None or mean > score:
                best, score = step, mean
        apart = measured_gain(right[best][~tuned], right[0][~tuned])
        naive = bias(right[best][tuned], right[0][tuned])
        real = truth[best]
        rows.append((
            covers(apart, real), apart.bounds[0] > 1e-9, apart.bounds[0] > 1e-9 and real <= 0,
            apart.value, real, covers(naive, real), naive.bounds[0] > 1e-9, naive.value,
        ))  # fmt: skip
    return np.mean(rows, axis=0)


def refitted(effect, units, folds=5, steps=30, climbs=CLIMBS, seed=0):
    """Of an optimizer that sees all labels, and is run again without each fold.

    Behind the figures of the others: what choosing by a half reaches of what all labels reach.
    """
    chance, rows, reached = np.random.default_rng(seed), [], []
    for _ in range(climbs):
        drawn = np.concatenate([[0.0], GAINS[effect](chance, steps)])
        luck = chance.standard_normal((2, units))
        own = int(chance.integers(2**31))
        fold = folds_of(units, folds, seed=own)
        half = _walk(half_of(units, None, seed=own), drawn, luck, own)
        right, old, real = _walk(np.ones(units, bool), drawn, luck, own)
        new = np.empty(units)
        for at in range(folds):
            new[fold == at] = _walk(fold != at, drawn, luck, own)[0][fold == at]
        apart, naive = refitted_gain(new, old), bias(right, old)
        reached.append((half[2], real))
        rows.append((
            covers(apart, real), apart.bounds[0] > 1e-9, apart.bounds[0] > 1e-9 and real <= 0,
            apart.value, real, covers(naive, real), naive.bounds[0] > 1e-9, naive.value,
        ))  # fmt: skip
    by_half, by_all = np.mean(reached, axis=0)
    return *np.mean(rows, axis=0), by_half / by_all if by_all > 1e-9 else np.nan


def _walk(seen, drawn, luck, seed):
    """Right on all units, the judge as it was, and the true gain: of the best on those it saw."""
    chance, (common, old) = np.random.default_rng(seed), luck
    truth, noise = np.zeros(len(drawn)), np.empty((len(drawn), len(common)))
    right, best, score = np.empty(noise.shape), 0, -1.0
    for step in range(len(drawn)):
        truth[step] = 0.0 if step == 0 else 0.5 * truth[best] + drawn[step]
        fresh = chance.standard_normal(len(common))
        noise[step] = old if step == 0 else 0.7 * noise[best] + np.sqrt(0.51) * fresh
        own = np.sqrt(SHARED) * common + np.sqrt(1 - SHARED) * noise[step]
        right[step] = own < norm.ppf(OLD + truth[step])
        if right[step][seen].mean() > score:
            best, score = step, right[step][seen].mean()
    return right[best], right[0], truth[best]


HEAD = (
    "candidates gain", "labels", "holds the truth", "better", "better, falsely", "measured", "true",
    "naive: holds", "naive: better", "naive: claimed",
)  # fmt: skip


def shown(rows):
    """A table of rows of (names..., figures)."""
    return table(HEAD, [(*names, *(f"{one:.3f}" for one in figures)) for names, figures in rows])


def list_table(climbs=CLIMBS):
    """Fixed lists of 30, alone and in dialogues."""
    rows = [((effect, n), listed(effect, n, climbs=climbs)) for effect in GAINS
            for n in (50, 100, 200)]  # fmt: skip
    rows += [((f"{effect}, dialogues of 4", 200), listed(effect, 200, climbs=climbs, of=4))
             for effect in GAINS]  # fmt: skip
    rows += [((f"{effect}, 8 candidates", 100), listed(effect, 100, 8, climbs)) for effect in GAINS]
    return shown(rows)


def optimizer_table(climbs=CLIMBS):
    """An optimizer that peeks at the scores of its own half."""
    return shown([((e, n), climbed(e, n, climbs=climbs)) for e in GAINS for n in (50, 100, 200)])


def refitted_table(climbs=CLIMBS):
    """The same optimizer, run again without each of five folds."""
    rows = [((e, n), refitted(e, n, climbs=climbs)) for e in GAINS for n in (100, 200)]
    head = (*HEAD, "a half's choice reaches")
    return table(head, [(*names, *(f"{one:.3f}" for one in figures)) for names, figures in rows])


def balanced(sums):
    """The mean of sensitivity and specificity."""
    return (sums[..., 0] / sums[..., 1] + sums[..., 2] / sums[..., 3]) / 2


def gated(effect, units, climbs=CLIMBS, passing=0.7, number=30, seed=0):
    """As `listed`, of the mean of sensitivity and specificity."""
    chance, rows = np.random.default_rng(seed), []
    for _ in range(climbs):
        truth = np.concatenate([[0.0], GAINS[effect](chance, number)])
        right = judged(chance, OLD + truth, units)
        passes = np.broadcast_to(chance.random(units) < passing, right.shape)
        columns = np.stack([right * passes, passes, right * ~passes, ~passes], axis=-1)
        found = chosen_gain(pseudo_values(columns, balanced))
        real = truth[found.chosen]
        rows.append((
            covers(found.gain, real), found.gain.bounds[0] > 1e-9,
            found.gain.bounds[0] > 1e-9 and real <= 0, found.gain.value, real,
            covers(found.claimed, real), found.claimed.bounds[0] > 1e-9, found.claimed.value,
        ))  # fmt: skip
    return np.mean(rows, axis=0)


def gate_table(climbs=CLIMBS):
    """Lists of 30 at a gate that 70 % and 85 % pass."""
    return shown(
        [((f"{effect}, {share:.0%} pass", n), gated(effect, n, climbs, share))
         for effect in GAINS for n, share in ((60, 0.7), (100, 0.85), (200, 0.85))]
    )  # fmt: skip


def differed(gain, labels, climbs=CLIMBS, units=2000, differ=0.15, graded=False, seed=0):
    """Labels of units that differ: holds, better, and better by as many labels drawn from all."""
    chance, rows = np.random.default_rng(seed), []
    for _ in range(climbs):
        number = round(differ * units)
        if graded:
            # Differences of one to three points of a scale of five: the gain of a unit lies
            # between them, and three in four differ by one.
            size = chance.choice([1, 2, 3], number, p=[0.75, 0.2, 0.05])
            share = chance.binomial(2 * size, 0.5 + gain * units / (2 * size.sum() / 4) / 2)
            all_gains = (share - size) / 4
        else:
            size = np.ones(number, int)
            all_gains = np.where(chance.random(number) < (1 + gain / differ) / 2, 1.0, -1.0)
        truth = float(all_gains.sum()) / units
        sizes = np.bincount(size)[1:]
        wanted = allotted(sizes, np.arange(1, len(sizes) + 1), labels)
        place, own = [], []
        for h, m in enumerate(wanted):
            at = chance.permutation(np.flatnonzero(size == h + 1))[:m]
            place += [h] * len(at)
            own += list(all_gains[at])
        ends = np.arange(1, len(sizes) + 1) / (4 if graded else 1)
        found = differing_gain(own, sizes, units, strata=place, ends=ends)
        whole = np.concatenate([all_gains, np.zeros(units - number)])
        drawn = whole[chance.permutation(units)[:labels]]
        random = bias(drawn, np.zeros(labels))
        rows.append((covers(found, truth), found.bounds[0] > 1e-9, random.bounds[0] > 1e-9))
    return np.mean(rows, axis=0)


def differing_table(climbs=CLIMBS):
    """Coverage and power of labels where two judges differ, beside as many drawn from all."""
    rows = []
    for graded in (False, True):
        for gain in (0.0, 0.03, 0.05):
            for labels in (30, 60, 100):
                figures = differed(gain, labels, climbs, graded=graded)
                rows.append(("graded" if graded else "yes or no", f"{gain:.2f}", labels,
                             *(f"{one:.3f}" for one in figures)))  # fmt: skip
    return table(
        ("judgements", "true gain", "labels", "holds the truth", "better where they differ",
         "better by random labels"), rows,
    )  # fmt: skip


def real(name):
    """(judges, units) closeness of each real judge of a public set to people, 0 to 1."""
    folder = SHARED_DATA / "alttest" / name
    humans = json.loads((folder / "human_annotations.json").read_text())
    judged = json.loads((folder / "llm_annotations.json").read_text())
    units = sorted(set.intersection(*(set(own) for own in judged.values())))
    rows, kept = [], []
    values = [v for own in (*humans.values(), *judged.values()) for v in own.values()]
    graded = all(isinstance(v, int | float) for v in values)
    width = max(values) - min(values) if graded else 1
    for unit in units:
        labels = [own[unit] for own in humans.values() if unit in own]
        if not labels:
            continue
        kept.append(unit)
        rows.append([
            np.mean([1 - abs(own[unit] - label) / width if graded else own[unit] == label
                     for label in labels])
            for own in judged.values()
        ])  # fmt: skip
    return np.array(rows).T


def replayed(good, labels, draws=1000, seed=0):
    """A judge drawn at random is tuned, and all judges are its candidates; units are drawn anew."""
    chance, rows = np.random.default_rng(seed), []
    for _ in range(draws):
        order = chance.permutation(len(good))
        own = good[order][:, chance.integers(0, good.shape[1], labels)]
        truth = good.mean(axis=1)[order] - good[order[0]].mean()
        found = chosen_gain(own)
        actual = truth[found.chosen]
        rows.append((
            covers(found.gain, actual), found.gain.bounds[0] > 1e-9,
            found.gain.bounds[0] > 1e-9 and actual <= 0, found.gain.value, actual,
            covers(found.claimed, actual), found.claimed.bounds[0] > 1e-9, found.claimed.value,
        ))  # fmt: skip
    return np.mean(rows, axis=0)


def replay_table(draws=1000):
    """Public sets whose judges stand as candidates; the truth is that of all units."""
    rows = []
    for name in sorted(one.name for one in (SHARED_DATA / "alttest").iterdir()):
        good = real(name)
        if good.shape[1] >= 100:
            rows += [((f"{name}, {len(good)} judges", n), replayed(good, n, draws))
                     for n in (50, 100)]  # fmt: skip
    return shown(rows)


PARTS = {
    "lists": ("A fixed list of 30 candidates", list_table),
    "gates": ("A list of 30, by the mean of sensitivity and specificity", gate_table),
    "optimizers": ("An optimizer of 30 steps that peeks at one half", optimizer_table),
    "refitted": ("The same by all labels, and again without each of five folds", refitted_table),
    "differing": ("Labels where old and new differ (15 % of 2,000 units)", differing_table),
    "replay": ("Real judges of public sets as candidates", replay_table),
}  # fmt: skip


def main(names):
    """Make the tables; all parts are written where none is named."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        sys.exit(f"there is no part {unknown[0]!r}: {', '.join(PARTS)}")
    parts = []
    for name in names or PARTS:
        title, make = PARTS[name]
        parts.append(f"## {title}\n\n{make()}")
        print(parts[-1] + "\n", flush=True)
    if not names:
        head = ["# Simulated climbs", machine(), versions("numpy", "scipy")]
        RESULTS.write_text("\n\n".join([*head, *parts]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
