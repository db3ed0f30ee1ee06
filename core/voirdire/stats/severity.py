"""Raters who divide the work: how severe each is, and scores freed of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.stats._arrays import Floats
    from voirdire.stats.response_panel import ResponsePanel


#: The share of all scores below which humans whom nothing links with the others may be left out.
FEW = 0.1


def severities(panel: ResponsePanel, humans: Sequence[int]) -> Floats | None:
    """(k,) points that each human gives more than the others, on the responses that they share.

    Least squares of score = response + rater, in which the effects sum to 0. None where all rate
    all, so that nothing is to be freed, and where some share no response with the others.

    Source: Scheffé (1959), The Analysis of Variance, section 4.4.
    """
    solved = _solved(panel, humans)
    return None if solved is None else solved[0]


def _solved(panel: ResponsePanel, humans: Sequence[int]) -> tuple[Floats, Floats] | None:
    """Severities (k,), and the inverse (k, k) of the normal equations that they solve."""
    scores = panel.humans[list(humans)]
    there = ~np.isnan(scores)
    beside = there[:, there.any(axis=0)]
    if len(humans) < 2 or beside.all() or apart(panel, humans):
        return None
    weight, n = _weight(panel), np.maximum(there.sum(axis=0), 1)
    mean = np.where(there, scores, 0.0).sum(axis=0) / n
    shared = (there * weight / n) @ there.T
    normal = np.diag((there * weight).sum(axis=1)) - shared
    off = (np.where(there, scores - mean, 0.0) * weight).sum(axis=1)
    # One direction, the same for all, is free: its eigenvalue of round-off must not be inverted.
    inverse: Floats = np.linalg.pinv(normal, rcond=1e-10, hermitian=True)
    found: Floats = inverse @ off
    return found - found.mean(), inverse


def _weight(panel: ResponsePanel) -> Floats:
    return np.ones(panel.humans.shape[1]) if panel.weight is None else panel.weight


def apart(panel: ResponsePanel, humans: Sequence[int]) -> tuple[int, ...]:
    """Places of humans who share no response, even through others, with the largest group."""
    there = (~np.isnan(panel.humans[list(humans)])).astype(np.float64)
    rated = np.flatnonzero(there.any(axis=1))
    if not len(rated):
        return ()
    linked = ((there @ there.T) > 0)[np.ix_(rated, rated)]
    reach = np.linalg.matrix_power(linked.astype(np.float64), len(rated)) > 0
    largest = reach[int(reach.sum(axis=1).argmax())]
    alone = [int(place) for place, inside in zip(rated, largest, strict=True) if not inside]
    return tuple(humans[place] for place in alone)


def few_scores(panel: ResponsePanel, humans: Sequence[int]) -> bool:
    """Whether these humans gave less than a tenth of all scores."""
    each = (~np.isnan(panel.humans) * _weight(panel)).sum(axis=1)
    return bool(each[list(humans)].sum() < FEW * each.sum())


def freed(panel: ResponsePanel, humans: Sequence[int]) -> ResponsePanel:
    """The panel with the humans' scores less their severities; itself where there are none.

    A few scores of humans whom nothing links with the others are left out.
    """
    panel, humans = _linked(panel, humans)
    found = severities(panel, humans)
    if found is None:
        return panel
    scores = panel.humans.copy()
    scores[list(humans)] -= found[:, None]
    return replace(panel, humans=scores)


def _linked(panel: ResponsePanel, humans: Sequence[int]) -> tuple[ResponsePanel, Sequence[int]]:
    alone = apart(panel, humans)
    if alone and few_scores(panel, alone):
        return panel.without_humans(alone), [human for human in humans if human not in alone]
    return panel, humans


def moved(panel: ResponsePanel, humans: Sequence[int]) -> Floats | None:
    """(N, S) points by which each response moves the sums of freed scores, through severities.

    The severities are estimates of the same responses. Without a cluster they differ by what its
    residuals pull at them, to first order (the infinitesimal jackknife), and with them the sum of
    the means of humans in every system, be the cluster in it or not. Over all responses it is 0.
    None where nothing is freed.

    Source: Efron (1982), The Jackknife, the Bootstrap and Other Resampling Plans, chapter 6.
    """
    panel, humans = _linked(panel, humans)
    solved = _solved(panel, humans)
    if solved is None:
        return None
    found, inverse = solved
    scores = panel.humans[list(humans)] - found[:, None]
    there = ~np.isnan(scores)
    n = np.maximum(there.sum(axis=0), 1)
    mean = np.where(there, scores, 0.0).sum(axis=0) / n
    pull = np.where(there, scores - mean, 0.0).T @ inverse
    # Severities sum to 0 however they move.
    pull -= pull.mean(axis=1, keepdims=True)
    share = there * _weight(panel) / n
    count = len(panel.systems)
    taken = np.stack([np.bincount(panel.system, each, count) for each in share])
    return np.asarray(-pull @ taken)
