"""Results on different data side by side: weighted F1, what chance and a constant score, kappa."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.errors import InputError, StatisticsError
from voirdire.examining.labels.predictions import LabelResult, Predictions, read_results
from voirdire.examining.labels.scores import LabelScores, label_scores
from voirdire.stats import best_constant_f1, kappa_f1, random_f1, simulate_random_f1

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire.examining.labels.printed import Printed
    from voirdire.stats import Estimate

#: Columns of `labels_beside_chance`.
BESIDE_CHANCE = pl.Schema(
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


def labels_beside_chance(
    sources: Sequence[str | Path | LabelResult],
    *,
    draws: int = 1000,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    separator: str | None = None,
) -> pl.DataFrame:
    """Put results side by side, whatever data they were tested on.

    Parameters
    ----------
    sources : sequence of paths
        See `read_results`.
    draws : int
        Simulated random predictors a result (independent draws; whole label sets where items have
        several labels and the predictions are at hand).
    resamples : int
        Of the bootstrap over test items; 0 leaves intervals out.
    level, seed
        Coverage of intervals; seed of simulation and bootstrap.
    separator : str, optional
        See `read_results`.

    Returns
    -------
    polars.DataFrame
        One row a configuration, label set and task, with the columns of `BESIDE_CHANCE`. `n` are
        the test items and `missing` the predictions that are missing, of all seeds; an item that no
        seed has a prediction for is in no number, the baselines included. `f1_random` is the closed
        form of Sharma et al. (``baseline`` = "theory"), or the printed one where a table gives it
        ("printed"); `f1_drawn` is the exact mean of independent draws, which `f1_simulated`
        estimates. `kappa` is against it, `kappa_constant` against the best predictor that says the
        same of every item. What the sources do not tell is null.

    Raises
    ------
    InputError
        As `read_results`.
    """
    if draws < 1 or resamples < 0:
        raise InputError(
            f"draws must be 1 or more and resamples 0 or more, got {draws}, {resamples}"
        )
    options = {"resamples": resamples, "level": level, "seed": seed, "draws": draws}
    rows = [_row(result, options) for result in read_results(sources, separator=separator)]
    return pl.DataFrame(rows, schema=BESIDE_CHANCE).with_columns(pl.col(pl.Float64).fill_nan(None))


def _row(result: LabelResult, options: dict[str, Any]) -> dict[str, Any]:
    where = {
        "source": result.source,
        "configuration": result.configuration,
        "labels": result.labels,
        "task": result.task,
    }
    # Printed scores have no items: what needs them (intervals, several seeds) stays null.
    if not isinstance(result.outcome, Predictions):
        multilabel = result.task == "multi-label"
        return {**where, **_printed(result.outcome, options, multilabel=multilabel)}
    tested = result.outcome
    try:
        scores = label_scores(tested.truth, tested.given, task=result.task, **options)
    except StatisticsError as error:
        name = " ".join(filter(None, (result.configuration, result.labels, result.task)))
        raise InputError(f"{result.source} ({name}): {error}") from error
    return {**where, **scored_row(scores)}


def scored_row(scores: LabelScores) -> dict[str, Any]:
    """The scores of one result as a row of `BESIDE_CHANCE`, without its name."""
    floor = scores.baselines
    simulated = floor.simulated
    return {
        "n": scores.keyed,
        "seeds": scores.runs,
        "missing": scores.missing,
        "f1": scores.f1.value,
        "f1_sd": scores.f1.details["sd"],
        **_bounds("f1", scores.f1),
        "f1_random": floor.chance.value,
        "baseline": "theory",
        "f1_drawn": floor.drawn.value,
        "f1_simulated": None if simulated is None else simulated.value,
        "f1_simulated_sd": None if simulated is None else simulated.details.get("sd"),
        "f1_constant": floor.constant.value,
        "kappa": scores.kappa.value,
        **_bounds("kappa", scores.kappa),
        "kappa_constant": scores.beyond_constant.value,
    }


def _bounds(name: str, estimate: Estimate) -> dict[str, float | None]:
    interval = estimate.interval()
    low, high = (interval.low, interval.high) if interval else (None, None)
    return {f"{name}_low": low, f"{name}_high": high}


def _printed(printed: Printed, options: dict[str, Any], *, multilabel: bool) -> dict[str, Any]:
    values: dict[str, Any] = {"n": printed.n, "f1": printed.f1, "f1_sd": printed.sd}
    if printed.shares:
        values |= _from_shares(printed, options, multilabel=multilabel)
    if printed.f1_random is not None:
        values |= {"f1_random": printed.f1_random, "baseline": "printed"}
    values["kappa"] = kappa_f1(printed.f1, values["f1_random"]).value
    constant = values.get("f1_constant", math.nan)
    values["kappa_constant"] = kappa_f1(printed.f1, constant).value
    return values


def _from_shares(printed: Printed, options: dict[str, Any], *, multilabel: bool) -> dict[str, Any]:
    support = whole_support(printed.shares, printed.n or _MANY, multilabel=multilabel)
    # Shares alone fix chance but for rounding to whole items, which so many make small.
    n = (printed.n or _MANY) if multilabel else None
    values: dict[str, Any] = {
        "f1_random": random_f1(support, n).value,
        "baseline": "theory",
        "f1_constant": best_constant_f1(support, n).value,
    }
    if printed.n is not None:
        drawn = simulate_random_f1(support, n, runs=options["draws"], seed=options["seed"])
        values |= {
            "f1_drawn": random_f1(support, n, draws="independent").value,
            "f1_simulated": drawn.value,
            "f1_simulated_sd": drawn.details.get("sd"),
        }
    return values


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
    # Largest remainder (Hamilton): the items left over go to the classes that lost most by rounding
    # down.
    order = np.argsort(-(exact - whole), kind="stable")
    whole[order[: n - int(whole.sum())]] += 1
    return whole
