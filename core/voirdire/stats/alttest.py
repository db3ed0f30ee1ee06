"""The alternative annotator test: may a judge stand in for one of the humans?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from voirdire.errors import StatisticsError, not_one_of
from voirdire.stats._arrays import masked
from voirdire.stats._ratings import encode
from voirdire.stats._results import Estimate
from voirdire.stats.multiplicity import adjust_p
from voirdire.stats.special import special

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from voirdire.stats._ratings import Ratings

    #: From a rating and the ratings of the other humans to a score; larger is closer to them.
    Scorer = Callable[[Any, NDArray[Any]], float]
    #: (judge at least as good, human at least as good), one entry an item.
    Indicators = tuple[NDArray[np.bool_], NDArray[np.bool_]]

_NAME = "alt-test winning rate"
_SCORES = ("accuracy", "neg_rmse")


def alt_test(
    humans: ArrayLike,
    judge: ArrayLike,
    *,
    score: Literal["accuracy", "neg_rmse"] | Scorer = "accuracy",
    epsilon: float = 0.1,
    alpha: float = 0.05,
    min_humans: int = 2,
    min_items: int = 30,
) -> Estimate:
    r"""The alternative annotator test (alt-test), leaving one human out.

    For each human j the judge and j are both scored against the other humans on every item that
    j rated. With :math:`\rho_j^f` the share of items on which the judge scores at least as well
    as j, :math:`\rho_j^h` that on which j does, the hypothesis
    :math:`\rho_j^f \le \rho_j^h - \varepsilon` is tested (one-sided t over items), and the p
    values are corrected by Benjamini and Yekutieli. The **winning rate**
    :math:`\omega` is the share of humans for whom it is rejected, the **advantage probability**
    :math:`\rho` the mean of :math:`\rho_j^f`. The judge passes with :math:`\omega \ge 0.5`.

    Parameters
    ----------
    humans : array_like, shape (n items, m humans)
        Numbers or words; NaN, None and masked cells are missing.
    judge : array_like, shape (n items,)
        The judge's ratings of the same items.
    score : {"accuracy", "neg_rmse"} or callable
        Share of other humans with the same rating; minus the root of the mean squared difference
        from them; or a function of a rating and the others' ratings, larger is better.
    epsilon : float
        What a human costs more than the judge, 0 to 1: the paper takes 0.2 where the humans are
        experts, 0.15 skilled, 0.1 crowd workers.
    alpha : float
        Level of the corrected tests.
    min_humans, min_items : int
        An item enters with so many human ratings (2 at least); a human with so many such items.

    Returns
    -------
    Estimate
        The winning rate; ``n`` items and ``k`` humans tested. Details:
        ``advantage_probability``, ``passed``, ``epsilon``, and one entry a tested human in
        ``humans`` (column), ``items``, ``advantages``, ``p_values``, ``adjusted``, ``won``.
        NaN with ``too_few_raters`` (fewer than two humans), ``too_few_shared_items`` or
        ``no_data``. The paper asks for three humans or more.

    Raises
    ------
    StatisticsError
        For other shapes or names, and words under ``"neg_rmse"``.

    References
    ----------
    Calderon, N., Reichart, R. and Dror, R. (2025). The alternative annotator test for
    LLM-as-a-judge. ACL 2025, section 3.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 200)
    >>> slips = rng.random((200, 4)) < [0.2, 0.2, 0.2, 0.1]
    >>> seen = np.where(slips, 1 - truth[:, None], truth[:, None])
    >>> test = alt_test(seen[:, :3], seen[:, 3])
    >>> print(test)
    alt-test winning rate = 1.000, n = 200, k = 3
    >>> round(test.details["advantage_probability"], 3), test.details["passed"]
    (0.975, True)
    """
    _check(score, epsilon, alpha, min_humans, min_items)
    ratings = _joined(humans, judge)
    people, own = ratings.codes[:, :-1], ratings.codes[:, -1]
    usable = ((people >= 0).sum(axis=1) >= min_humans) & (own >= 0)
    shared = ((people >= 0) & usable[:, None]).sum(axis=0)
    tested = np.flatnonzero(shared >= min_items)
    reason = _reason(people, tested)
    if reason:
        return Estimate(_NAME, math.nan, k=0, left_out=len(people), reason=reason)
    columns = [_indicators(ratings, usable & (people[:, j] >= 0), int(j), score) for j in tested]
    p_values = np.array(
        [_p_value(judge_wins, own_wins, epsilon) for judge_wins, own_wins in columns]
    )
    adjusted = adjust_p(p_values, "by")
    won = adjusted <= alpha
    advantages = np.array([ours.mean() for ours, _ in columns])
    rate = float(won.sum() / len(tested))
    used = int((usable & (people[:, tested] >= 0).any(axis=1)).sum())
    details = {
        "advantage_probability": float(advantages.mean()),
        "passed": rate >= 0.5,
        "epsilon": epsilon,
        "humans": tested,
        "items": shared[tested],
        "advantages": advantages,
        "p_values": p_values,
        "adjusted": adjusted,
        "won": won,
    }
    return Estimate(
        _NAME, rate, n=used, k=len(tested), left_out=len(people) - used, details=details
    )


def _check(
    score: str | Scorer, epsilon: float, alpha: float, min_humans: int, min_items: int
) -> None:
    if isinstance(score, str) and score not in _SCORES:
        raise not_one_of("score", score, (*_SCORES, "a function"), error=StatisticsError)
    if not 0 <= epsilon < 1:
        raise StatisticsError(f"epsilon must lie in [0, 1), got {epsilon!r}")
    if not 0 < alpha < 1:
        raise StatisticsError(f"alpha must lie in (0, 1), got {alpha!r}")
    if min_humans < 2 or min_items < 2:
        raise StatisticsError(
            f"min_humans and min_items must be 2 or more, got {min_humans!r} and {min_items!r}"
        )


def _joined(humans: ArrayLike, judge: ArrayLike) -> Ratings:
    """Humans and judge on the levels that either uses; the judge is the last column."""
    people, other = _as_masked(humans, "humans"), _as_masked(judge, "judge")
    if people.ndim == 1 and people.size == 0:
        people = people.reshape(0, 0)
    if people.ndim != 2 or other.shape != people.shape[:1]:
        raise StatisticsError(
            "humans must have shape (items, humans) and judge (items,), "
            f"got {people.shape} and {other.shape}"
        )
    if not {people.dtype.kind, other.dtype.kind} <= set("biuf"):
        people, other = people.astype(object), other.astype(object)
    return encode(np.ma.column_stack([people, other]))


def _as_masked(values: ArrayLike, name: str) -> Any:
    data, mask = masked(values, name)
    return np.ma.MaskedArray(data, np.ma.nomask if mask is None else mask)


def _reason(people: NDArray[np.int32], tested: NDArray[np.int64]) -> str | None:
    if people.size == 0:
        return "no_data"
    if people.shape[1] < 2:
        return "too_few_raters"
    return None if len(tested) else "too_few_shared_items"


def _indicators(
    ratings: Ratings, items: NDArray[np.bool_], j: int, score: str | Scorer
) -> Indicators:
    """Who is at least as close to the other humans, on the items that human j rated."""
    codes = ratings.codes[items]
    others = np.delete(codes[:, :-1], j, axis=1)
    slack = 0.0
    if score == "accuracy":
        judge = (others == codes[:, -1:]).sum(axis=1)
        human = (others == codes[:, j : j + 1]).sum(axis=1)
    elif score == "neg_rmse":
        # Code -1, what is missing, takes the last place: NaN.
        values = np.append(ratings.values("neg_rmse"), np.nan)
        judge = -_squares(values[others], values[codes[:, -1:]])
        human = -_squares(values[others], values[codes[:, j : j + 1]])
        # 0.1 and 0.3 are equally far from 0.2, whatever their last binary digits say.
        slack = others.shape[1] * _squared_round_off(values)
    else:
        judge, human = _scored(ratings.levels, codes, others, j, score)
    return judge >= human - slack, human >= judge - slack


def _squares(others: NDArray[np.float64], one: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of squared differences: they order as the roots of their means do."""
    squares: NDArray[np.float64] = np.nansum((others - one) ** 2, axis=1)
    return squares


def _squared_round_off(values: NDArray[np.float64]) -> float:
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    return 64 * float(np.finfo(np.float64).eps) * largest**2


def _scored(
    levels: NDArray[Any],
    codes: NDArray[np.int32],
    others: NDArray[np.int32],
    j: int,
    score: Any,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rest = [levels[row[row >= 0]] for row in others]
    judge = [score(levels[row[-1]], seen) for row, seen in zip(codes, rest, strict=True)]
    human = [score(levels[row[j]], seen) for row, seen in zip(codes, rest, strict=True)]
    scores = np.array([judge, human], dtype=np.float64)
    if np.isnan(scores).any():
        raise StatisticsError(f"score gave NaN for a rating beside human {j}; it must be a number")
    return scores[0], scores[1]


def _p_value(judge: NDArray[np.bool_], human: NDArray[np.bool_], epsilon: float) -> float:
    """One-sided t test that the human's lead is epsilon or more."""
    # Where both are as good, both win: such items leave no lead.
    lead = human.astype(np.float64) - judge
    # Without spread t is infinite or 0 / 0, and yet the answer is plain.
    if (lead == lead[0]).all():
        return 0.0 if lead[0] < epsilon else 1.0
    n = len(lead)
    t = (lead.mean() - epsilon) / (lead.std(ddof=1) / math.sqrt(n))
    return float(special().stdtr(n - 1, t))
