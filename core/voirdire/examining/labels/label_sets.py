"""Label sets beside one another: matrices of scores, and paired tests on the same items."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.examining.labels.predictions import Predictions
from voirdire.stats import adjust_p, f1_difference
from voirdire.tabular import Section, Spread, Table, count, interval, matrix, number, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.labels.predictions import LabelResult

#: Columns of `label_set_differences`.
DIFFERENCES = {
    "configuration": pl.String, "task": pl.String, "first": pl.String, "second": pl.String,
    "n": pl.Int64, "left_out": pl.Int64, "f1": pl.Float64, "kappa": pl.Float64,
    "kappa_low": pl.Float64, "kappa_high": pl.Float64, "p": pl.Float64, "p_adjusted": pl.Float64,
}  # fmt: skip


def label_matrices(frame: pl.DataFrame) -> tuple[Section, ...]:
    """F1 and kappa_F1 as matrices: a row a configuration, a column a label set and task.

    Parameters
    ----------
    frame : polars.DataFrame
        From `labels_beside_chance`.

    Returns
    -------
    tuple of Section
        Empty where there is a single label set and task.
    """
    names = frame["labels"].unique(maintain_order=True).to_list()
    columns = frame.select("labels", "task").unique(maintain_order=True).rows()
    # A label set's tasks side by side, in the order in which the sets came; the sort is stable.
    columns.sort(key=lambda column: names.index(column[0]))
    if len(columns) < 2:
        return ()
    rows = {name: name for name in frame["configuration"].unique(maintain_order=True)}
    heads = {column: number(" ".join(filter(None, column))) for column in columns}

    def section(title: str, sentence: str, cell: Any) -> Section:
        cells = {
            (row["configuration"], (row["labels"], row["task"])): cell(row)
            for row in frame.iter_rows(named=True)
        }
        return Section(title, sentence, (matrix(cells, rows, heads, "Configuration"),))

    return (
        section(
            "Weighted F1 by label set and task",
            "Mean over seeds, and its deviation.",
            lambda row: Spread(row["f1"], row["f1_sd"]),
        ),
        section(
            "kappa_F1 by label set and task",
            "(F1 - chance) / (1 - chance): beside one another whatever the shares of the classes. "
            "It does not make the tasks equally hard.",
            lambda row: row["kappa"],
        ),
    )


def label_set_differences(
    results: Sequence[LabelResult], *, level: float = 0.95, resamples: int = 1000, seed: int = 0
) -> pl.DataFrame:
    """Test each label set against each other of its configuration and task, on the same items.

    Each set has models of its own, tested against its own labels; what is compared is how far they
    lie above chance. Both are resampled together over the items that both have.

    Parameters
    ----------
    results : sequence of LabelResult
        From `read_results`; printed scores are passed over, for they have no items.
    level, resamples, seed
        Of the percentile interval.

    Returns
    -------
    polars.DataFrame
        A row a pair of label sets with the columns of `DIFFERENCES`: `f1` and `kappa` are those of
        `first` less those of `second`, `n` the items that both have a key and a prediction for,
        `left_out` the others of either. `p` is two-sided, from the share of resamples beyond 0;
        `p_adjusted` is Holm's over all rows.
    """
    rows = [
        {
            "configuration": a.configuration,
            "task": a.task,
            "first": a.labels,
            "second": b.labels,
            **_compared(a.outcome, b.outcome, a.task, (level, resamples, seed)),
        }
        for a, b in combinations(results, 2)
        if (a.configuration, a.task) == (b.configuration, b.task)
        and a.labels != b.labels
        and isinstance(a.outcome, Predictions)
        and isinstance(b.outcome, Predictions)
    ]
    frame = pl.DataFrame(rows, schema={k: v for k, v in DIFFERENCES.items() if k != "p_adjusted"})
    values = adjust_p(frame["p"].fill_null(np.nan).to_numpy())
    return frame.with_columns(p_adjusted=pl.Series(values, dtype=pl.Float64)).with_columns(
        pl.col(pl.Float64).fill_nan(None)
    )


def _compared(
    a: Predictions, b: Predictions, task: str, options: tuple[float, int, int]
) -> dict[str, Any]:
    level, resamples, seed = options
    # By name: two label sets may hold their items in another order.
    places = [{item: at for at, item in enumerate(one.truth.items)} for one in (a, b)]
    both = [item for item in a.truth.items if item in places[1]]
    at = [np.array([place[item] for item in both], np.intp) for place in places]
    pairs = list(zip((a, b), at, strict=True))
    sides = [(one.truth.values[0][of], one.given.values[:, of]) for one, of in pairs]
    # With a key, and a prediction of some seed.
    scored = np.logical_and.reduce(
        [(one.truth.known[0] & one.given.known.any(axis=0))[of] for one, of in pairs]
    )
    difference = f1_difference(
        *((key[scored], predicted[:, scored]) for key, predicted in sides),
        multilabel=task == "multi-label",
        level=level,
        n_resamples=max(resamples, 1),
        seed=seed,
    )
    bounds = difference.kappa.intervals[0]
    whole = len({*a.truth.items, *b.truth.items})
    return {
        "n": int(scored.sum()),
        "left_out": whole - int(scored.sum()),
        "f1": difference.f1.value,
        "kappa": difference.kappa.value,
        "kappa_low": bounds.low if resamples else None,
        "kappa_high": bounds.high if resamples else None,
        "p": difference.p if resamples else None,
    }


def differences_section(frame: pl.DataFrame, level: float = 0.95) -> Section:
    """The tests as a report's table."""
    columns = (
        *map(text, ("Configuration", "Task", "Label set", "less")), count("Items"),
        count("Left out"), number("F1", signed=True), number("Kappa", signed=True),
        interval("Kappa, interval"), number("p"), number("p, Holm"),
    )  # fmt: skip
    rows = tuple(
        (
            r["configuration"],
            r["task"],
            r["first"],
            r["second"],
            r["n"],
            r["left_out"],
            r["f1"],
            r["kappa"],
            None if r["kappa_low"] is None else (r["kappa_low"], r["kappa_high"]),
            r["p"],
            r["p_adjusted"],
        )
        for r in frame.iter_rows(named=True)
    )
    return Section(
        "Label sets against one another",
        "Models trained and tested on one label set less those trained and tested on another, on "
        f"the items that both have; {100 * level:g}% percentile bootstrap over items, drawn once "
        "for both. That labels are easier to learn does not make them right.",
        (Table(columns, rows),),
    )
