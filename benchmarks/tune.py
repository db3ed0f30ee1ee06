"""Simulated climbs: how often intervals of a tuned judge's gain hold the truth.

    python benchmarks/tune.py [--jobs 16] [--climbs 4000] [--seed 1] [--out FILE] [part ...]

prints the tables; `--out results/tune.md` keeps them. Each climb draws labelled units and judges
of known truth; a judge is right on a unit where a normal score, shared in part by all judges, lies
below the quantile of its accuracy. The rules were chosen by climbs of other seeds than those that
are shown. `tests/test_stats_tuning.py` runs a part of it. The part `replay` takes real judges, and
is left out where their data are not there.
"""

from __future__ import annotations

import argparse
import json
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from _timing import machine, table, versions
from scipy.special import ndtri  # the normal quantile, without the checks of scipy.stats.norm

from voirdire.stats import (
    bias,
    calibrate,
    chosen_gain,
    differing_gain,
    measured_gain,
    pseudo_values,
)
from voirdire.stats.calibration import rising
from voirdire.stats.differing import allotted
from voirdire.stats.racing import heats, in_the_race
from voirdire.stats.refitting import folds_of, raced_gain, refitted_gain
from voirdire.stats.tuning import half_of, outlook

SHARED_DATA = Path(
    os.environ.get("VOIRDIRE_SHARED", Path(__file__).resolve().parents[2] / "shared")
)
SHARED_DATA = SHARED_DATA / "data"
CLIMBS, OLD, SHARED = 1000, 0.75, 0.9
#: Climbs that one process makes at a time, with a seed of its own.
CHUNK = 250

#: What the candidates gain in truth: (candidates,) of one climb.
GAINS = {
    "no effect": lambda chance, number: np.zeros(number),
    "small effects": lambda chance, number: chance.normal(0, 0.02, number),
    "one of 6 points": lambda chance, number: np.where(np.arange(number) == 0, 0.06, 0.0),
    "one of 6 points, most 15 worse": lambda chance, number: np.where(
        np.arange(number) == 0, 0.06, np.where(np.arange(number) % 3 == 0, 0.0, -0.15)
    ),
}


def judged(chance, accuracy, units, shared=SHARED, of=1):
    """(judges, units) whether each judge is right; clusters of `of` units share their luck."""
    common = np.repeat(chance.standard_normal(-(-units // of)), of)[:units]
    own = chance.standard_normal((len(accuracy), units))
    score = np.sqrt(shared) * common + np.sqrt(1 - shared) * own
    return (score < ndtri(accuracy)[:, None]).astype(float)


def covers(estimate, truth):
    """Whether the interval holds the truth, up to rounding."""
    low, high = estimate.bounds
    return low - 1e-9 <= truth <= high + 1e-9


def row_of(apart, naive, real, reached=np.nan):
    """What a climb adds to a row: its interval, what the labels that chose claim, the truth.

    Also whether another than the judge as it was is chosen, and held then; and whether the truth
    lies below the worst tenth. `reached` is the true gain of what choosing by all labels finds; NaN
    where it is the same.
    """
    better, held, other = apart.bounds[0] > 1e-9, covers(apart, real), abs(naive.value) > 1e-9
    return (
        held,
        better,
        better and real <= 0,
        apart.value,
        real,
        covers(naive, real),
        naive.bounds[0] > 1e-9,
        naive.value,
        other,
        held and other,
        real < outlook(apart)[1] - 1e-9,
        reached,
    )


def listed(effect, units, number=30, climbs=CLIMBS, seed=0, of=1, shared=SHARED):
    """A row of figures of choosing from a fixed list."""
    chance, rows = np.random.default_rng(seed), []
    for _ in range(climbs):
        truth = np.concatenate([[0.0], GAINS[effect](chance, number)])
        right = judged(chance, OLD + truth, units, shared, of)
        clusters = None if of == 1 else np.arange(units) // of
        found = chosen_gain(right, clusters=clusters)
        rows.append(row_of(found.gain, found.claimed, truth[found.chosen]))
    return np.mean(rows, axis=0)


def first(effect, units, free=12, number=30, climbs=CLIMBS, seed=0):
    """What costs no call first; candidates where that is not shown to be better by itself."""
    chance, rows = np.random.default_rng(seed), []
    for _ in range(climbs):
        truth = np.concatenate([[0.0], GAINS[effect](chance, free), GAINS[effect](chance, number)])
        right = judged(chance, OLD + truth, units)
        found = chosen_gain(right[: free + 1])
        if not (found.chosen and found.gain.bounds[0] > 0):
            found = chosen_gain(right)
        reached = truth[int(right.sum(axis=1).argmax())]
        rows.append(row_of(found.gain, found.claimed, truth[found.chosen], reached))
    return np.mean(rows, axis=0)


def raced(effect, units, folds=5, number=30, climbs=CLIMBS, seed=0):
    """A race by all labels, and again without each fold; also what share of judgements it takes."""
    chance, rows = np.random.default_rng(seed), []
    for _ in range(climbs):
        truth = np.concatenate([[0.0], GAINS[effect](chance, number)])
        right = judged(chance, OLD + truth, units)
        fold = folds_of(units, folds, seed=int(chance.integers(2**31)))
        asked = np.zeros(right.shape, bool)
        chosen = _race(right, np.arange(units), asked)
        won = [_race(right, np.flatnonzero(fold != at), asked) for at in range(folds)]
        left = np.unique([0, chosen, *won])
        asked[left] = True
        apart = raced_gain(right[left], np.searchsorted(left, won), fold)
        naive = bias(right[chosen], right[0])
        reached = truth[int(right.sum(axis=1).argmax())]
        rows.append((*row_of(apart, naive, truth[chosen], reached), asked.mean()))
    return np.mean(rows, axis=0)


def _race(right, own, asked):
    """The row that wins on some units; notes what was judged on the way."""
    rows = np.arange(len(right))
    for heat in heats(len(own), own):
        asked[np.ix_(rows, own[heat])] = True
        rows = rows[in_the_race(right[np.ix_(rows, own[heat])])]
    return int(rows[right[np.ix_(rows, own)].sum(axis=1).argmax()])


def climbed(effect, units, steps=30, climbs=CLIMBS, seed=0):
    """Of an optimizer that peeks at one half of the labels, measured by the other."""
    chance, rows = np.random.default_rng(seed), []
    for _ in range(climbs):
        drawn = np.concatenate([[0.0], GAINS[effect](chance, steps)])
        luck, own = chance.standard_normal((2, units)), int(chance.integers(2**31))
        seen = half_of(units, None, seed=own)
        right, old, real = _walk(seen, drawn, luck, own)
        reached = _walk(np.ones(units, bool), drawn, luck, own)[2]
        apart, naive = measured_gain(right[~seen], old[~seen]), bias(right[seen], old[seen])
        rows.append(row_of(apart, naive, real, reached))
    return np.mean(rows, axis=0)


def refitted(effect, units, folds=5, steps=30, climbs=CLIMBS, seed=0, own_ways=False):
    """Of an optimizer that sees all labels, and is run again without each fold.

    With `own_ways` it draws other candidates each time.
    """
    chance, rows = np.random.default_rng(seed), []
    for _ in range(climbs):
        drawn = np.concatenate([[0.0], GAINS[effect](chance, steps)])
        luck, own = chance.standard_normal((2, units)), int(chance.integers(2**31))
        fold = folds_of(units, folds, seed=own)
        right, old, real = _walk(np.ones(units, bool), drawn, luck, own)
        new = np.empty(units)
        for at in range(folds):
            found = _walk(fold != at, drawn, luck, own + (at + 1) * own_ways)[0]
            new[fold == at] = found[fold == at]
        rows.append(row_of(refitted_gain(new, old, fold), bias(right, old), real))
    return np.mean(rows, axis=0)


#: What people say (columns) where a judge says 1 to 5 (rows), as numbers in a thousand.
_STEP = np.array(
    [
        [160, 40, 0, 0, 0],
        [40, 120, 40, 0, 0],
        [0, 40, 120, 40, 0],
        [0, 0, 40, 120, 40],
        [0, 0, 0, 40, 160],
    ]
)
JOINT = {
    "right on every level": _STEP,
    "half a level high": np.vstack([_STEP[0] // 2, (_STEP[:-2] + _STEP[1:-1]) // 2,
                                    (_STEP[-2] + _STEP[-1]) // 2 + _STEP[-1] // 2]),
    "squeezed into three levels": np.vstack([0 * _STEP[:2], _STEP[0] + _STEP[1] // 2,
                                             _STEP[1] // 2 + _STEP[2] + _STEP[3] // 2,
                                             _STEP[3] // 2 + _STEP[4]]),
}  # fmt: skip
LEVELS = np.arange(1.0, 6)


def curved(judge, units, climbs=CLIMBS, seed=0):
    """As `listed`: a graded judge's scores, shifted, and on a rising curve of people's scores.

    The truth of the curve is that of the one which all labels draw.
    """
    chance, rows = np.random.default_rng(seed), []
    joint = JOINT[judge] / JOINT[judge].sum()
    shifts = (-2, -1, -0.5, 0.5, 1, 2)
    for _ in range(climbs):
        cell = chance.choice(25, units, p=joint.ravel())
        said, people = LEVELS[cell // 5], LEVELS[cell % 5]
        own = calibrate(said, people, method="isotonic").scores
        ways = [said, *(np.clip(said + one, 1, 5) for one in shifts), own]
        found = chosen_gain(1 - np.abs(np.array(ways) - people) / 4)
        whole = [
            LEVELS,
            *(np.clip(LEVELS + one, 1, 5) for one in shifts),
            rising(said, people, LEVELS),
        ]
        close = 1 - np.abs(np.array(whole)[:, :, None] - LEVELS) / 4
        truth = (joint * close).sum(axis=(1, 2))
        rows.append(row_of(found.gain, found.claimed, truth[found.chosen] - truth[0]))
    return np.mean(rows, axis=0)


def _walk(seen, drawn, luck, seed):
    """Right on all units, the judge as it was, and the true gain: of the best on those it saw.

    It peeks: each step changes the best so far on the units that it sees, and keeps most of what
    that does and a part of its gain.
    """
    chance, (common, old) = np.random.default_rng(seed), luck
    truth, noise = np.zeros(len(drawn)), np.empty((len(drawn), len(common)))
    right, best, score = np.empty(noise.shape), 0, -1.0
    marks = ndtri(OLD + drawn)
    for step in range(len(drawn)):
        truth[step] = 0.0 if step == 0 else 0.5 * truth[best] + drawn[step]
        fresh = chance.standard_normal(len(common))
        noise[step] = old if step == 0 else 0.7 * noise[best] + np.sqrt(0.51) * fresh
        own = np.sqrt(SHARED) * common + np.sqrt(1 - SHARED) * noise[step]
        mark = marks[step] if truth[step] == drawn[step] else ndtri(OLD + truth[step])
        right[step] = own < mark
        if right[step][seen].mean() > score:
            best, score = step, right[step][seen].mean()
    return right[best], right[0], truth[best]


def balanced(sums):
    """The mean of sensitivity and specificity."""
    return (sums[..., 0] / sums[..., 1] + sums[..., 2] / sums[..., 3]) / 2


def gated(effect, units, climbs=CLIMBS, passing=0.7, number=30, seed=0):
    """As `listed`, of the mean of sensitivity and specificity."""
    chance, rows = np.random.default_rng(seed), []
    while len(rows) < climbs:
        truth = np.concatenate([[0.0], GAINS[effect](chance, number)])
        right = judged(chance, OLD + truth, units)
        passes = np.broadcast_to(chance.random(units) < passing, right.shape)
        if min(passes[0].sum(), (~passes[0]).sum()) < 5:  # the command asks for five of a kind
            continue
        columns = np.stack([right * passes, passes, right * ~passes, ~passes], axis=-1)
        found = chosen_gain(pseudo_values(columns, balanced))
        rows.append(row_of(found.gain, found.claimed, truth[found.chosen]))
    return np.mean(rows, axis=0)


def differed(gain, labels, climbs=CLIMBS, units=2000, differ=0.15, graded=False, seed=0):
    """Labels of units that differ: holds, better, falsely so; and better by labels of all units."""
    chance, rows = np.random.default_rng(seed), []
    for _ in range(climbs):
        size, all_gains = _differences(chance, gain, round(differ * units), units, graded)
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
        whole = np.concatenate([all_gains, np.zeros(units - len(size))])
        drawn = whole[chance.permutation(units)[:labels]]
        random, better = bias(drawn, np.zeros(labels)), found.bounds[0] > 1e-9
        rows.append(
            (covers(found, truth), better, better and truth <= 1e-9, random.bounds[0] > 1e-9)
        )
    return np.mean(rows, axis=0)


def _differences(chance, gain, number, units, graded):
    """Sizes of differences and gains of a stock whose gain is exactly `gain`."""
    if not graded:
        won = round((number + gain * units) / 2)
        return np.ones(number, int), chance.permutation(np.where(np.arange(number) < won, 1.0, -1))
    # Differences of one to three points of a scale of five: the gain of a unit lies between them,
    # and three in four differ by one.
    size = chance.choice([1, 2, 3], number, p=[0.75, 0.2, 0.05])
    share = chance.binomial(2 * size, 0.5 + 2 * gain * units / size.sum())
    while lacking := round(4 * gain * units) - int((share - size).sum()):
        at, step = chance.integers(number), int(np.sign(lacking))
        share[at] += step if 0 <= share[at] + step <= 2 * size[at] else 0
    return size, (share - size) / 4


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
        rows.append(
            [
                np.mean(
                    [
                        1 - abs(own[unit] - label) / width if graded else own[unit] == label
                        for label in labels
                    ]
                )
                for own in judged.values()
            ]
        )
    return np.array(rows).T


def replayed(good, labels, climbs=CLIMBS, seed=0):
    """A judge drawn at random is tuned, and all judges are its candidates; units are drawn anew."""
    good, chance, rows = np.asarray(good), np.random.default_rng(seed), []
    for _ in range(climbs):
        order = chance.permutation(len(good))
        own = good[order][:, chance.integers(0, good.shape[1], labels)]
        truth = good.mean(axis=1)[order] - good[order[0]].mean()
        found = chosen_gain(own)
        rows.append(row_of(found.gain, found.claimed, truth[found.chosen]))
    return np.mean(rows, axis=0)


@dataclass(frozen=True)
class Cell:
    """A row of a table: its names, and what is climbed."""

    names: tuple
    climb: object
    given: tuple
    more: dict = field(default_factory=dict)


def _chunk(cell, climbs, seed):
    return cell.climb(*cell.given, climbs=climbs, seed=seed, **cell.more)


def _lists():
    for effect in EFFECTS:
        for n in (50, 100, 200):
            yield Cell((effect, n), listed, (effect, n))
    for effect in EFFECTS:
        yield Cell((f"{effect}, dialogues of 4", 200), listed, (effect, 200), {"of": 4})
        yield Cell((f"{effect}, 8 candidates", 100), listed, (effect, 100), {"number": 8})


def _gates():
    for effect in EFFECTS:
        for n, share in ((60, 0.7), (100, 0.7), (200, 0.7), (200, 0.85)):
            name = f"{effect}, {share:.0%} pass"
            yield Cell((name, n), gated, (effect, n), {"passing": share})


def _climbs(climb, sizes, **more):
    return [Cell((e, n), climb, (e, n), more) for e in EFFECTS for n in sizes]


def _curves():
    for judge in JOINT:
        for n in (100, 200):
            yield Cell((judge, n), curved, (judge, n))


def _races():
    for effect in (*EFFECTS, "one of 6 points, most 15 worse"):
        for n in (100, 200):
            yield Cell((effect, n), raced, (effect, n))


def _differing():
    for graded in (False, True):
        for gain in (0.0, 0.01, 0.02) if graded else (0.0, 0.03, 0.05):
            for labels in (30, 60, 100):
                names = ("graded" if graded else "yes or no", f"{gain:.2f}", labels)
                yield Cell(names, differed, (gain, labels), {"graded": graded})


def _replays():
    folder = SHARED_DATA / "alttest"
    for name in sorted(one.name for one in folder.iterdir()) if folder.is_dir() else ():
        good = real(name)
        if good.shape[1] >= 100:
            for n in (50, 100):
                yield Cell((f"{name}, {len(good)} judges", n), replayed, (good.tolist(), n))


EFFECTS = ("no effect", "small effects", "one of 6 points")
HEAD = (
    "candidates gain", "labels", "holds the truth", "better", "better, falsely", "measured", "true",
    "naive: holds", "naive: better", "naive: claimed", "another is chosen", "holds the truth then",
    "below the worst tenth",
)  # fmt: skip
REACH = "reaches of what all labels choose"
PARTS = {
    "lists": ("A fixed list of 30 candidates", HEAD, _lists),
    "gates": ("A list of 30, by the mean of sensitivity and specificity", HEAD, _gates),
    "first": ("12 ways that cost no call, then 30 candidates where these do not suffice",
              (*HEAD, REACH), lambda: _climbs(first, (100, 200))),
    "curves": ("A graded judge, its scores shifted or on a rising curve of people's",
               ("judge", *HEAD[1:]), _curves),
    "refitted": ("An optimizer of 30 steps by all labels, and again without each of five folds",
                 HEAD, lambda: _climbs(refitted, (50, 100, 200))),
    "own": ("The same where it draws other candidates each time", HEAD,
            lambda: _climbs(refitted, (100, 200), own_ways=True)),
    "optimizers": ("An optimizer that peeks at one half", (*HEAD, REACH),
                   lambda: _climbs(climbed, (50, 100, 200))),
    "races": ("A race of 30 candidates, by all labels and again without each of five folds",
              (*HEAD, REACH, "of all judgements"), _races),
    "differing": ("Labels where old and new differ (15 % of 2,000 units)",
                  ("judgements", "true gain", "labels", "holds the truth",
                   "better where they differ", "better, falsely", "better by random labels"),
                  _differing),
    "replay": ("Real judges of public sets as candidates", HEAD, _replays),
}  # fmt: skip


def _shares(figures):
    """Of the climbs that chose another judge, and of the mean true gain; NaN where none is."""
    true, other, then, reach = (HEAD.index("true") - 2, 8, 9, 11)
    figures[then] = figures[then] / figures[other] if figures[other] > 0.05 else np.nan
    figures[reach] = figures[true] / figures[reach] if figures[reach] > 1e-3 else np.nan
    return figures


def made(part, climbs, seed, pool):
    """The table of a part; each cell is climbed in chunks of its own seeds."""
    title, head, cells = PARTS[part]
    number = max(climbs // CHUNK, 1)
    each = [
        (cell, [pool.submit(_chunk, cell, min(climbs, CHUNK), (seed, at)) for at in range(number)])
        for cell in cells()
    ]
    rows = []
    for cell, chunks in each:
        figures = np.mean([one.result() for one in chunks], axis=0)
        if "true" in head:
            figures = _shares(figures)
        shown = [
            f"{one:.3f}" if np.isfinite(one) else "–"
            for one in figures[: len(head) - len(cell.names)]
        ]
        rows.append((*cell.names, *shown))
    return f"## {title}\n\n{table(head, rows)}" if rows else ""


def main():
    """Make the tables."""
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("parts", nargs="*", help=", ".join(PARTS))
    given.add_argument("--jobs", type=int, default=os.cpu_count())
    given.add_argument("--climbs", type=int, default=CLIMBS)
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("--out", type=Path)
    given = given.parse_args()
    if unknown := [name for name in given.parts if name not in PARTS]:
        raise SystemExit(f"there is no part {unknown[0]!r}: {', '.join(PARTS)}")
    head = f"{given.climbs:,} climbs a row, seed {given.seed}"
    parts = ["# Simulated climbs", head, machine(), versions("numpy", "scipy")]
    with ProcessPoolExecutor(given.jobs) as pool:
        for name in given.parts or PARTS:
            if text := made(name, given.climbs, given.seed, pool):
                parts.append(text)
                print(text + "\n", flush=True)
                if given.out:
                    given.out.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
