"""Judges of known truth held to a lock, for the tests and for benchmarks/gate.py.

A judge that is asked again gives another score on one item in twelve, by one point; the freeze is
an asking like any other, so that all looks share its noise. A shift of d
points moves a share d of the scores up by a point.
"""

from __future__ import annotations

import numpy as np
from probe_simulation import paired_p
from scipy.special import stdtrit

from voirdire.examining.changing.checking import DRIFT, WHOLE, alpha_of_look, hold
from voirdire.examining.changing.lock import FORMAT, LOOKS, CanaryResponse, Lock, LockedJudge
from voirdire.stats import drift_limit, drift_z

#: Share of items whose score is another when they are asked about again.
RESCORED = 0.08
KEY = ("judge", "Calm")


def locked(seed, *, items=200, anchors=0.5):
    """A lock of one judge; the first part of its responses has the label of one human."""
    rng = np.random.default_rng([seed, 1])
    truth = rng.integers(2, 5, items)
    canary = tuple(
        CanaryResponse(
            item=f"i{k}",
            scores={"judge": (float(truth[k]),)},
            humans={"human": (float(rng.integers(1, 6)),)} if k < anchors * items else {},
        )
        for k in range(items)
    )
    return Lock(
        format=FORMAT,
        planned=LOOKS,
        frozen="2026-01-01",
        margin=0.2,
        scale=(1, 5),
        attributes=("Calm",),
        reference=("human",),
        judges=(LockedJudge(name="judge"),),
        canary=canary,
    )


#: A lock whose looks have constant limits.
PLANNED = locked(0, items=2)


def shifted(lock, seed, *, shift=0.0, rows=None, rescored=RESCORED, runs=1):
    """(N,) today's scores: re-asking noise, and `shift` points on the rows that are meant.

    Of several runs the mean, as of a session; the noise is that of both sides together.
    """
    rng = np.random.default_rng([seed, 2])
    before = lock.scores(*KEY)
    n = len(before)
    noise = ((rng.random((runs, n)) < rescored) * rng.choice([-1, 1], (runs, n))).mean(axis=0)
    up = (rng.random(n) < abs(shift)) * np.sign(shift)
    rows = np.ones(n, dtype=bool) if rows is None else rows
    return np.clip(before + noise + up * rows, 1, 5)


def anchors_of(lock):
    """(N,) which responses have a label."""
    return np.array([bool(one.humans) for one in lock.canary])


def look(lock, scores, k):
    """The one row of look k."""
    return hold(lock, {KEY: scores}, anchors_of(lock), alpha_of_look(lock, k), look=k)[0]


def false_alarms(seeds, *, looks=26, items=200, anchors=0.5, chunk=500, first=0, chart=False):
    """Share of series of looks at an unchanged judge in which any look fails; `look` for many.

    With `chart` the slow chart over all looks so far is asked as well.
    """
    alarms, planned = 0, PLANNED.model_copy(update={"planned": looks})
    for start in range(0, seeds, chunk):
        rng = np.random.default_rng([first + start, 3])
        many = min(chunk, seeds - start)
        truth = rng.integers(2, 5, (many, items)).astype(float)
        before = asked(rng, truth)
        failed, means = np.zeros(many, dtype=bool), np.empty((2, many, looks))
        for k in range(1, looks + 1):
            difference = asked(rng, truth) - before
            failed |= looked(difference, k, anchors, planned)
            means[:, :, k - 1] = difference.mean(1), difference.std(1, ddof=1) / np.sqrt(items)
            if chart and k > 1:
                failed |= drifted(means[:, :, :k], planned)
        alarms += int(failed.sum())
    return alarms / seeds


def drifted(means, planned):
    """(M,) whether the slow chart fails on (2, M, k) shifts and their errors so far."""
    limit = drift_limit(DRIFT * planned.alpha, planned.planned)
    z = [drift_z(shift, error) for shift, error in zip(*means, strict=True)]
    return np.abs(z) > limit


def asked(rng, truth):
    """Scores of one asking: of two askings one item in twelve differs."""
    other = rng.random(truth.shape) < RESCORED / 2
    return np.clip(truth + other * rng.choice([-1, 1], truth.shape), 1, 5)


def looked(difference, k, anchors=0.5, planned=PLANNED):
    """(M,) whether look k fails on (M, N) differences, the first part of them anchors."""
    n = difference.shape[1]
    live = difference[:, int(np.ceil(anchors * n)) :]
    p = np.minimum(paired_p(difference) / WHOLE, paired_p(live) / (1 - WHOLE))
    half = stdtrit(n - 1, 0.95) * difference.std(axis=1, ddof=1) / np.sqrt(n)
    no_longer_good = np.abs(difference.mean(axis=1)) - half > 0.2
    return (p <= alpha_of_look(planned, k)) | no_longer_good


def naive_alarm(seed, *, looks=26, items=200):
    """The same with a level of 0.05 at each look, as the baseline."""
    lock = locked(seed, items=items)
    return any(
        hold(lock, {KEY: shifted(lock, 1000 * seed + k)}, anchors_of(lock), 0.05, look=k)[0].changed
        for k in range(1, looks + 1)
    )


def power(
    *, shift, items, runs, k=1, anchors=0.5, rescored=RESCORED, askings=1, looks=LOOKS, first=0
):
    """Share of runs in which look k sees a shift of the judge, scored by the mean of askings."""
    seen = 0
    for seed in range(first, first + runs):
        lock = locked(seed, items=items, anchors=anchors).model_copy(update={"planned": looks})
        now = shifted(lock, seed, shift=shift, rescored=rescored, runs=askings)
        seen += look(lock, now, k).changed
    return seen / runs


def attributed(*, runs, shift=0.3, items=200):
    """Share of changes, of judge and system in turn, that are seen and named rightly."""
    right = 0
    for seed in range(runs):
        lock = locked(seed, items=items)
        whose = "judge" if seed % 2 else "system"
        rows = None if whose == "judge" else ~anchors_of(lock)
        row = look(lock, shifted(lock, seed, shift=shift, rows=rows), 1)
        right += row.changed and row.who == whose
    return right / runs
