"""Divergence of n-grams, of two corpora and of the classes of one (Hengle et al. 2024, Table 2)."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.errors import StatisticsError, TableError, check_columns
from voirdire.examining.labels.corpora.discrepancy import median_gamma, mmd, mmd_pairings
from voirdire.stats import Estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    Tokenizer = Callable[[str], Sequence[str]]

_ROW = {
    "class_a": pl.String, "class_b": pl.String, "n_a": pl.Int64, "n_b": pl.Int64,
    "jsd_unigram": pl.Float64, "jsd_bigram": pl.Float64, "mmd2": pl.Float64, "p": pl.Float64,
    "pairings_mean": pl.Float64, "pairings_median": pl.Float64, "gamma": pl.Float64,
}  # fmt: skip


def jensen_shannon(
    texts_a: Iterable[str | None],
    texts_b: Iterable[str | None],
    *,
    n: int = 1,
    smoothing: float = 1.0,
    base: float = 2.0,
    root: bool = False,
    tokenize: Tokenizer = str.split,
) -> Estimate:
    r"""Jensen-Shannon divergence of the n-grams of two corpora.

    .. math:: D = \tfrac12 KL(p \Vert m) + \tfrac12 KL(q \Vert m), \quad m = (p + q) / 2

    with :math:`p_w = (c_w + \alpha) / \sum_v (c_v + \alpha)` over the n-grams of either side.
    To base 2 it lies in [0, 1]. Smoothing pulls both sides together, and the more the larger the
    vocabulary is beside the corpus: values compare only between corpora of like size.

    Parameters
    ----------
    texts_a, texts_b : iterable of str
        None and texts without an n-gram are left out and counted.
    n : int
        Length of the n-grams, 1 or more; none reaches over the end of a text.
    smoothing : float
        :math:`\alpha \ge 0` added to each count (1: Laplace).
    base : float
        Of the logarithm, above 1.
    root : bool
        Return the square root, which is a metric, in place of the divergence.
    tokenize : callable
        From a text to its tokens.

    Returns
    -------
    Estimate
        ``n`` texts used; details: ``base``, ``smoothing``, ``form`` (``"divergence"`` or
        ``"root"``), ``vocabulary`` and ``ngrams`` (of either side). NaN with ``no_data`` where a
        side has no n-gram.

    Raises
    ------
    StatisticsError
        n below 1, smoothing below 0, or a base that is not above 1.

    References
    ----------
    Lin, J. (1991). IEEE Transactions on Information Theory 37, 145-151, eq. 3.1.

    Examples
    --------
    >>> print(jensen_shannon(["a quiet day"], ["a long day"], smoothing=0))
    JSD of 1-grams = 0.333, n = 2, k = 2
    """
    if n < 1 or smoothing < 0 or not base > 1:
        raise StatisticsError(
            f"n must be 1 or more, smoothing 0 or more and base above 1, got {n}, {smoothing}, "
            f"{base}"
        )
    sides = [ngram_counts(texts, n, tokenize) for texts in (texts_a, texts_b)]
    (one, used_a, lost_a), (other, used_b, lost_b) = sides
    # Of both sides: smoothing must add the same words to either.
    vocabulary = list({**one, **other})
    value, reason = math.nan, None if one and other else "no_data"
    if reason is None:
        p, q = (_shares(counts, vocabulary, smoothing) for counts in (one, other))
        value = _divergence(p, q) / math.log(base)
        value = math.sqrt(max(value, 0.0)) if root else value
    return Estimate(
        f"JSD of {n}-grams",
        value,
        n=used_a + used_b,
        k=2,
        left_out=lost_a + lost_b,
        reason=reason,
        details={
            "base": base,
            "smoothing": smoothing,
            "form": "root" if root else "divergence",
            "vocabulary": len(vocabulary),
            "ngrams": (one.total(), other.total()),
        },
    )


def ngram_counts(
    texts: Iterable[str | None], n: int = 1, tokenize: Tokenizer = str.split
) -> tuple[Counter[tuple[str, ...]], int, int]:
    """Counts of n-grams within each text; texts that had some, and texts that had none.

    >>> counts, used, without = ngram_counts(["a b a", "c"], 2)
    >>> dict(counts), used, without
    ({('a', 'b'): 1, ('b', 'a'): 1}, 1, 1)
    """
    counts: Counter[tuple[str, ...]] = Counter()
    used = without = 0
    for text in texts:
        tokens = tokenize(text or "")
        ngrams = list(zip(*(tokens[i:] for i in range(n)), strict=False))
        counts.update(ngrams)
        used, without = used + bool(ngrams), without + (not ngrams)
    return counts, used, without


def _shares(
    counts: Counter[tuple[str, ...]], vocabulary: Sequence[tuple[str, ...]], smoothing: float
) -> NDArray[np.float64]:
    values = np.array([counts[one] for one in vocabulary], np.float64) + smoothing
    shares: NDArray[np.float64] = values / values.sum()
    return shares


def _divergence(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    """In nats; an n-gram that one side lacks adds nothing to that side's part."""
    middle = (p + q) / 2
    parts = [
        side * np.log(side / middle, out=np.zeros_like(side), where=side > 0) for side in (p, q)
    ]
    return float((parts[0] + parts[1]).sum() / 2)


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
    # One bandwidth, from all rows with a class: with one a pair, far classes would look as near as
    # close ones.
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
