"""Simulated panels and worlds, spread over the cores of a machine: `--jobs 8`."""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache, partial

import numpy as np


def option(options: list[str], name: str, default: int) -> int:
    """The number behind an option such as `--jobs`."""
    return int(options[options.index(name) + 1]) if name in options else default


def jobs_of(options: list[str]) -> int:
    """How many processes; 1 unless `--jobs` says otherwise, and `--jobs 0` is every core."""
    return option(options, "--jobs", 1) or os.cpu_count() or 1


def counted(
    draw, seeds, jobs: int = 1, enough=lambda counts: False, chunk: int = 10
) -> tuple[Counter, int]:
    """The sum of `draw(seed)` over seeds, and how many were drawn; `chunk` of them at a time.

    Ends once `enough(counts)`. With one process after each seed; with several after each round of
    chunks, so that what is counted does not depend on which process was the faster.
    """
    counts: Counter = Counter()
    seeds, done = list(seeds), 0
    if jobs == 1:
        for seed in seeds:
            counts.update(draw(seed))
            done += 1
            if enough(counts):
                break
        return counts, done
    pool = _workers(jobs)
    while done < len(seeds) and not (done and enough(counts)):
        round_ = seeds[done : done + jobs * chunk]
        parts = [round_[at : at + chunk] for at in range(0, len(round_), chunk)]
        for future in as_completed([pool.submit(partial(_sum, draw), part) for part in parts]):
            counts.update(future.result())
        done += len(round_)
    return counts, done


@cache
def _workers(jobs: int) -> ProcessPoolExecutor:
    """The same processes for all that is counted: each imports for a second before it counts."""
    return ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"))


def _sum(draw, seeds) -> Counter:
    counts: Counter = Counter()
    for seed in seeds:
        counts.update(draw(seed))
    return counts


def spread(work, cells, runs, *, seed, jobs=0, pieces=8):
    """What ``work(chance, runs, *cell)`` gives for each cell: a list of its pieces.

    A piece's numbers depend on the seed, the cell and the piece alone, and on no number of jobs.
    """
    parts = np.diff(np.linspace(0, runs, min(pieces, runs) + 1).astype(int)).tolist()
    asked = [
        (work, [seed, at, piece], part, cell)
        for at, cell in enumerate(cells)
        for piece, part in enumerate(parts)
    ]
    # Spawned: a fork of a process with threads, as Polars has, may hang.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs or os.cpu_count(), context, initializer=_alone) as pool:
        found = list(pool.map(_piece, asked))
    return [found[at * len(parts) : (at + 1) * len(parts)] for at in range(len(cells))]


def _alone():
    """One thread a process: as many processes as cores are busy already."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def _piece(asked):
    work, seed, runs, cell = asked
    return work(np.random.default_rng(seed), runs, *cell)
