"""Weighted F1, what chance scores by theory and simulation, the best constant, kappa_F1."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire._errors import InputError, StatisticsError
from voirdire.examining.comparing._cells import Cell, Printed, Tested
from voirdire.examining.comparing._read import read_cells
from voirdire.stats import (
    best_constant_f1,
    f1_above_chance,
    kappa_f1,
    random_f1,
    simulate_random_f1,
    simulate_random_f1_sets,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire.stats import Estimate

#: Columns of a comparison.
COMPARISON = pl.Schema(
    {
        "source": pl.String(),
        "configuration": pl.String(),
        "labels": pl.String(),
        "task": pl.String(),
        "n": pl.Int64(),
        "seeds": pl.Int64(),
        "missing": pl.Int64(),
        "f1": pl.Float64(),
        "f1_sd": pl.Float64(),
        "f1_low": pl.Float64(),
        "f1_high": pl.Float64(),
        "f1_random": pl.Float64(),
        "baseline": pl.String(),
        "f1_drawn": pl.Float64(),
        "f1_simulated": pl.Float64(),
        "f1_simulated_sd": pl.Float64(),
        "f1_constant": pl.Float64(),
        "kappa": pl.Float64(),
        "kappa_low": pl.Float64(),
        "kappa_high": pl.Float64(),
        "kappa_constant": pl.Float64(),
    }
)
#: Shares without a number of items are taken at this many.
_MANY = 1_000_000


def compare(
    sources: Sequence[str | Path],
    *,
    runs: int = 1000,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> pl.DataFrame:
    """Put classifiers side by side, whatever data they were tested on.

    Parameters
    ----------
    sources : sequence of paths
        See `read_cells`.
    runs : int
        Simulated random predictors a cell (independent draws; whole label sets where items have
        several labels and the predictions are at hand).
    resamples : int
        Of the bootstrap over test items; 0 leaves intervals out.
    level, seed
        Coverage of intervals; seed of simulation and bootstrap.

    Returns
    -------
    polars.DataFrame
        One row a configuration, label set and task, with the columns of `COMPARISON`. `f1_random`
        is the closed form of Sharma et al. (``baseline`` = "theory"), or the printed one where a
        table gives it ("printed"); `f1_drawn` is the exact mean of independent draws, which
        `f1_simulated` estimates. `kappa` is against it, `kappa_constant` against the best
        predictor that says the same of every item. What the sources do not tell is null.

    Raises
    ------
    InputError
        As `read_cells`.
    """
    if runs < 1 or resamples < 0:
        raise InputError(f"runs must be 1 or more and resamples 0 or more, got {runs}, {resamples}")
    options = {"resamples": resamples, "level": level, "seed": seed}
    rows = [_row(cell, runs, options) for cell in read_cells(sources)]
    return pl.DataFrame(rows, schema=COMPARISON).with_columns(pl.col(pl.Float64).fill_nan(None))


def _row(cell: Cell, runs: int, options: dict[str, Any]) -> dict[str, Any]:
    where = {
        "source": cell.source,
        "configuration": cell.configuration,
        "labels": cell.labels,
        "task": cell.task,
    }
    multilabel = cell.task == "multi-label"
    if isinstance(cell.found, Printed):
        return {**where, **_printed(cell.found, runs, options["seed"], multilabel=multilabel)}
    try:
        return {**where, **_tested(cell.found, runs, options, multilabel=multilabel)}
    except StatisticsError as error:
        name = " ".join(filter(None, (cell.configuration, cell.labels, cell.task)))
        raise InputError(f"{cell.source} ({name}): {error}") from error


def _tested(
    found: Tested, runs: int, options: dict[str, Any], *, multilabel: bool
) -> dict[str, Any]:
    result = f1_above_chance(
        found.truth,
        found.predicted,
        multilabel=multilabel,
        ci="percentile" if options["resamples"] else None,
        level=options["level"],
        n_resamples=options["resamples"] or 1,
        seed=options["seed"],
    )
    support = found.truth.sum(axis=0).astype(np.int64)
    drawn = (
        simulate_random_f1_sets(found.truth, runs=runs, seed=options["seed"])
        if multilabel
        else simulate_random_f1(support, runs=runs, seed=options["seed"])
    )
    return {
        "n": len(found.truth),
        "seeds": len(found.predicted),
        "missing": result.f1.details["missing"],
        "f1": result.f1.value,
        "f1_sd": result.f1.details["sd"],
        **_bounds("f1", result.f1),
        "f1_random": result.random.value,
        "baseline": "theory",
        "f1_drawn": _independent(support, len(found.truth) if multilabel else None),
        "f1_simulated": drawn.value,
        "f1_simulated_sd": drawn.details.get("sd"),
        "f1_constant": result.constant.value,
        "kappa": result.kappa.value,
        **_bounds("kappa", result.kappa),
        "kappa_constant": result.kappa_constant.value,
    }


def _independent(support: NDArray[np.int64], n: int | None) -> float:
    return random_f1(support, n, draws="independent").value


def _bounds(name: str, found: Estimate) -> dict[str, float | None]:
    interval = found.interval()
    low, high = (interval.low, interval.high) if interval else (None, None)
    return {f"{name}_low": low, f"{name}_high": high}


def _printed(found: Printed, runs: int, seed: int, *, multilabel: bool) -> dict[str, Any]:
    known: dict[str, Any] = {"n": found.n, "f1": found.f1, "f1_sd": found.sd}
    if found.shares:
        known |= _from_shares(found, runs, seed, multilabel=multilabel)
    if found.f1_random is not None:
        known |= {"f1_random": found.f1_random, "baseline": "printed"}
    known["kappa"] = kappa_f1(found.f1, known["f1_random"]).value
    constant = known.get("f1_constant", math.nan)
    known["kappa_constant"] = kappa_f1(found.f1, constant).value
    return known


def _from_shares(found: Printed, runs: int, seed: int, *, multilabel: bool) -> dict[str, Any]:
    support = whole_support(found.shares, found.n or _MANY, multilabel=multilabel)
    n = (found.n or _MANY) if multilabel else None
    known: dict[str, Any] = {
        "f1_random": random_f1(support, n).value,
        "baseline": "theory",
        "f1_constant": best_constant_f1(support, n).value,
    }
    if found.n is not None:
        drawn = simulate_random_f1(support, n, runs=runs, seed=seed)
        known |= {
            "f1_drawn": _independent(support, n),
            "f1_simulated": drawn.value,
            "f1_simulated_sd": drawn.details.get("sd"),
        }
    return known


def whole_support(shares: Sequence[float], n: int, *, multilabel: bool) -> NDArray[np.int64]:
    """Items of each class, from shares; with one label an item they add up to n.

    >>> whole_support([0.5, 0.25, 0.25], 10, multilabel=False).tolist()
    [5, 3, 2]
    """
    exact = np.asarray(shares) * n
    if multilabel:
        rounded: NDArray[np.int64] = np.rint(exact).astype(np.int64)
        return rounded
    whole: NDArray[np.int64] = np.floor(exact).astype(np.int64)
    order = np.argsort(-(exact - whole), kind="stable")
    whole[order[: n - int(whole.sum())]] += 1
    return whole
