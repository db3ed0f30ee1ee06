"""Divergence and discrepancy between the classes of one corpus (Hengle et al. 2024, Table 2)."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.errors import TableError, check_columns
from voirdire.examining.labels.corpora.discrepancy import median_gamma, mmd, mmd_pairings
from voirdire.examining.labels.corpora.divergence import jensen_shannon

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from voirdire.stats import Estimate

_ROW = {
    "class_a": pl.String, "class_b": pl.String, "n_a": pl.Int64, "n_b": pl.Int64,
    "jsd_unigram": pl.Float64, "jsd_bigram": pl.Float64, "mmd2": pl.Float64, "p": pl.Float64,
    "pairings_mean": pl.Float64, "pairings_median": pl.Float64, "gamma": pl.Float64,
}  # fmt: skip


def class_pairs(frame: pl.DataFrame, label: str) -> Iterator[tuple[str, str]]:
    """All pairs of classes that occur, sorted."""
    classes = frame[label].drop_nulls().cast(pl.String).unique().sort().to_list()
    yield from combinations(classes, 2)


def class_divergences(
    frame: pl.DataFrame,
    *,
    text: str = "text",
    label: str = "label",
    vectors: ArrayLike | None = None,
    smoothing: float = 1.0,
    base: float = 2.0,
    permutations: int = 1000,
    seed: int = 0,
) -> pl.DataFrame:
    """One row for each pair of classes: divergence of words, discrepancy of embeddings.

    Parameters
    ----------
    frame : pl.DataFrame
        One row a text; a null class is left out.
    vectors : array_like, optional
        One embedding a row; without them the columns on MMD are null.
    smoothing, base
        As in `jensen_shannon` (the divergence, not its root).
    permutations, seed
        As in `mmd`; all pairs share one bandwidth, so that they compare.

    Returns
    -------
    pl.DataFrame
        ``class_a, class_b, n_a, n_b, jsd_unigram, jsd_bigram, mmd2, p, pairings_mean,
        pairings_median, gamma``; undefined is null.

    Raises
    ------
    TableError
        A column is absent, or `vectors` has not one row a text.

    Examples
    --------
    >>> rows = pl.DataFrame({"text": ["a b", "a c", "d e"], "label": ["x", "x", "y"]})
    >>> class_divergences(rows).select("class_a", "class_b", "n_a", "n_b").rows()
    [('x', 'y', 2, 1)]
    """
    check_columns("", (text, label), frame.columns)
    rows = None if vectors is None else np.asarray(vectors, np.float64)
    if rows is not None and len(rows) != frame.height:
        raise TableError(f"{frame.height} texts need as many vectors, got {len(rows)}")
    classes = frame[label].cast(pl.String).to_numpy()
    texts = frame[text].cast(pl.String).to_list()
    gamma = (
        None if rows is None else _shared_gamma(rows[frame[label].is_not_null().to_numpy()], seed)
    )
    divergences = []
    for a, b in class_pairs(frame, label):
        at = [np.flatnonzero(classes == one) for one in (a, b)]
        sides = [[texts[i] for i in places] for places in at]
        words = [jensen_shannon(*sides, n=n, smoothing=smoothing, base=base) for n in (1, 2)]
        row = {"class_a": a, "class_b": b, "n_a": len(at[0]), "n_b": len(at[1])}
        row |= {"jsd_unigram": words[0].value, "jsd_bigram": words[1].value}
        if rows is not None:
            row |= _discrepancy(rows[at[0]], rows[at[1]], gamma, permutations, seed)
        divergences.append(row)
    return pl.DataFrame(divergences, schema=_ROW).with_columns(pl.selectors.float().fill_nan(None))


def _shared_gamma(rows: np.ndarray, seed: int) -> float | None:
    """One bandwidth for all pairs, from at most 2,000 rows; None where it is undefined."""
    whole = rows[~np.isnan(rows).any(axis=1)]
    if len(whole) > 2000:
        whole = whole[np.random.default_rng(seed).choice(len(whole), 2000, replace=False)]
    gamma = median_gamma(whole)
    return None if np.isnan(gamma) else gamma


def _discrepancy(
    x: np.ndarray, y: np.ndarray, gamma: float | None, permutations: int, seed: int
) -> dict[str, float]:
    whole: Estimate = mmd(x, y, gamma=gamma, permutations=permutations, seed=seed)
    mean, median = mmd_pairings(x, y, gamma=gamma, seed=seed)
    return {
        "mmd2": whole.value,
        "p": whole.details.get("p", np.nan),
        "gamma": whole.details.get("gamma", np.nan),
        "pairings_mean": mean.value,
        "pairings_median": median.value,
    }
