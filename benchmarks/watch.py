"""Watching: false alarms in a year of weeks, delays beside a CUSUM, and whether who moved is named.

    python benchmarks/watch.py [YEARS] [JOBS]    # 500 years a row: about 15 minutes of one core

Writes results/watch.md. Weeks of 400 judged responses and 20 labels; a judge that errs by .7
standard deviations of what people say; shifts of .3 standard deviations of the scores themselves
from week 18 on. The CUSUM knows the mean, the spread and the shift, sees the same labels and no
judge, and alarms in 5 % of years in which nothing moves.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path

import numpy as np
from _help import help_asked
from _spread import spread
from _timing import machine, table, versions
from scipy.stats import norm

from voirdire.stats import Period, watch

RESULTS = Path(__file__).resolve().parent / "results" / "watch.md"
WEEKS, JUDGED, LABELS, AT, BASELINE, LOOKS = 56, 400, 20, 18, 4, 52
PASS = norm.ppf(0.2)
#: Name -> what scores are, turns of a dialogue, and whether whole dialogues are labelled.
WORLDS = {
    "scores": ("scores", 1, True),
    "grades of 1 to 5": ("grades", 1, True),
    "pass rates": ("pass", 1, True),
    "scores in dialogues of ten": ("scores", 10, True),
    "pass rates in dialogues of ten": ("pass", 10, True),
    "grades in dialogues of ten, single turns labelled": ("grades", 10, False),
}


def latent(chance, size):
    if size == 1:
        return chance.normal(size=JUDGED)
    group = np.repeat(np.arange(JUDGED // size), size)
    return (chance.normal(size=JUDGED // size)[group] + chance.normal(size=JUDGED)) / np.sqrt(2)


def said(values, kind):
    if kind == "pass":
        return (values > PASS).astype(float)
    return np.clip(np.rint(3.6 + values), 1, 5) if kind == "grades" else values


def shift_of(kind, deviations, spread, middle=0.0):
    """The latent shift that moves the mean of the scores by so many of their own deviations."""
    points = middle + norm.ppf((np.arange(20000) + 0.5) / 20000) * spread
    shifts = np.linspace(-1.5, 1.5, 301)
    means = np.array([said(points + shift, kind).mean() for shift in shifts])
    scores = said(points, kind)
    return float(np.interp(scores.mean() + deviations * scores.std(), means, shifts))


@lru_cache
def moves_of(kind, system, judge):
    of_system = shift_of(kind, system, 1.0)
    # The judge's, from where the system's has brought its scores: near an end of the scale the same
    # latent shift moves them by less.
    return of_system, shift_of(kind, judge, np.sqrt(1.49), of_system)


def series(chance, world, *, weeks=WEEKS, at=10**6, system=0.0, judge=0.0):
    kind, size, whole = WORLDS[world]
    moves = moves_of(kind, system, judge)
    group = np.repeat(np.arange(JUDGED // size), size) if size > 1 else None
    for week in range(weeks):
        of_system, of_judge = moves if week >= at else (0.0, 0.0)
        truth = latent(chance, size) + of_system
        scores = truth + of_judge + 0.7 * latent(chance, size)
        order = np.arange(JUDGED) if whole else chance.permutation(JUDGED)
        known = np.where(order < LABELS, said(truth, kind), np.nan)
        yield Period.of(known, said(scores, kind), clusters=group)


def false_alarms(chance, runs, world):
    return sum(watch(list(series(chance, world)))[-1].alarm for _ in range(runs))


def false_table(runs, jobs):
    found = spread(false_alarms, [(world,) for world in WORLDS], runs, seed=1, jobs=jobs)
    rows = [
        (world, runs, f"{sum(alarms) / runs:.3f}")
        for world, alarms in zip(WORLDS, found, strict=True)
    ]
    return table(("weeks of", "years", "with a false alarm (.05 at most)"), rows)


def cusum(shift, world, after, runs=20000):
    """Weeks to its alarm on average, were it to see the labels' means alone; cut as ours are."""
    _, size, whole = WORLDS[world]
    chance = np.random.default_rng(3)
    # The mean of twenty labels; of two dialogues of ten, half of what varies is a dialogue's.
    spread = np.sqrt(1 / LABELS if size == 1 or not whole else 0.5 / 2 + 0.5 / LABELS)
    z = abs(shift) / spread

    def path(drift, weeks):
        x, level = chance.normal(drift, 1, (runs, weeks)), np.zeros(runs)
        levels = np.empty((runs, weeks))
        for week in range(weeks):
            level = np.maximum(level + z * x[:, week] - z * z / 2, 0)
            levels[:, week] = level
        return levels

    limit = np.quantile(path(0.0, LOOKS).max(1), 0.95)
    over = path(z, after) > limit
    return float(np.where(over.any(1), over.argmax(1) + 1, after + 1).mean())


MOVES = (
    ("the system", {"system": -0.3}, ("system",)),
    ("the judge, up", {"judge": 0.3}, ("judge",)),
    ("the judge, down", {"judge": -0.3}, ("judge",)),
    ("both, against each other", {"system": 0.3, "judge": -0.25}, ("both", "system", "judge")),
)


def moved(chance, runs, world, how, after):
    """Of each series the weeks to its alarm (NaN: one before the shift), who is named first, and
    whether in the end both are said to have moved, or the other as likely as not.
    """
    found = []
    for _ in range(runs):
        told = watch(list(series(chance, world, weeks=AT + after, at=AT, **how)))
        alarms = [one.alarm for one in told]
        at = alarms.index(True) if any(alarms) else None
        if at is not None and at + BASELINE < AT:
            found.append((np.nan, "", False))
            continue
        names = [] if at is None else [one.moved for one in told[at:]]
        named = [name for name in names if name != "cannot tell"]
        delay = after + 1 if at is None else at + BASELINE - AT + 1
        first = "" if at is None else named[0] if named else "untold"
        found.append((delay, first, told[-1].moved == "both" or told[-1].other >= 0.5))
    return found


def moved_table(runs, jobs, after=22):
    """Delays are cut at the end of the series, of ours and of the CUSUM alike."""
    cells = [(world, how, after) for world in WORLDS for _, how, _ in MOVES]
    rows, pieces = [], spread(moved, cells, runs, seed=2, jobs=jobs)
    for place, (world, how, _) in enumerate(cells):
        who, _, right = MOVES[place % len(MOVES)]
        own = [one for piece in pieces[place] for one in piece if not np.isnan(one[0])]
        delays, first = [one[0] for one in own], [one[1] for one in own if one[1]]
        told = [name for name in first if name != "untold"]
        good = np.mean([name in right for name in told]) if told else np.nan
        known = cusum(how.get("system", how.get("judge", 0.0)), world, after)
        rows.append(
            (
                world,
                who,
                runs,
                f"{np.median(delays):.0f}",
                f"{np.mean(delays):.1f}",
                f"{known:.1f}",
                f"{np.mean(delays) / known:.2f}",
                f"{len(first) / max(len(delays), 1):.2f}",
                f"{good:.2f}",
                f"{np.mean([name == 'both' for name in told]) if told else np.nan:.2f}",
                f"{1 - len(told) / max(len(first), 1):.2f}",
                f"{np.mean([one[2] for one in own]) if own else np.nan:.2f}",
            )
        )
    heads = ("weeks of", "moves", "series", "delay, median", "mean", "CUSUM, mean", "ratio",
             "alarm by week 40", "named rightly", "named both", "untold by week 40",
             "both held likely in week 40")  # fmt: skip
    return table(heads, rows)


def main(runs, jobs):
    parts = [
        "# Watching",
        machine(),
        versions("numpy", "scipy"),
        "## False alarms in a year",
        false_table(runs, jobs),
        "## Who moved, and when it is seen",
        moved_table(max(runs // 4, 20), jobs),
    ]
    RESULTS.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    print("\n\n".join(parts))


if __name__ == "__main__":
    help_asked(__doc__)
    main(*map(int, (*sys.argv[1:3], *("500", "0")[len(sys.argv) - 1 :])))
