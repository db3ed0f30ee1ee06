"""Jensen-Shannon divergence of n-grams."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats import Estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    Tokenizer = Callable[[str], Sequence[str]]


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
    parts = [side * np.log(side / middle, out=np.zeros_like(side), where=side > 0)
             for side in (p, q)]  # fmt: skip
    return float((parts[0] + parts[1]).sum() / 2)
