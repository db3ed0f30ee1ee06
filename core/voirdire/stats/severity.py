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
    scores = panel.humans[list(humans)]
    there = ~np.isnan(scores)
    beside = there[:, there.any(axis=0)]
    if len(humans) < 2 or beside.all() or apart(panel, humans):
        return None
    weight = np.ones(scores.shape[1]) if panel.weight is None else panel.weight
    n = np.maximum(there.sum(axis=0), 1)
    mean = np.where(there, scores, 0.0).sum(axis=0) / n
    shared = (there * weight / n) @ there.T
    normal = np.diag((there * weight).sum(axis=1)) - shared
    off = (np.where(there, scores - mean, 0.0) * weight).sum(axis=1)
    # One direction, the same for all, is free: its eigenvalue of round-off must not be inverted.
    found: Floats = np.linalg.pinv(normal, rcond=1e-10, hermitian=True) @ off
    return found - found.mean()


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
    weight = np.ones(panel.humans.shape[1]) if panel.weight is None else panel.weight
    each = (~np.isnan(panel.humans) * weight).sum(axis=1)
    return bool(each[list(humans)].sum() < FEW * each.sum())


def freed(panel: ResponsePanel, humans: Sequence[int]) -> ResponsePanel:
    """The panel with the humans' scores less their severities; itself where there are none.

    A few scores of humans whom nothing links with the others are left out.
    """
    alone = apart(panel, humans)
    if alone and few_scores(panel, alone):
        panel = panel.without_humans(alone)
        humans = [human for human in humans if human not in alone]
    found = severities(panel, humans)
    if found is None:
        return panel
    scores = panel.humans.copy()
    scores[list(humans)] -= found[:, None]
    return replace(panel, humans=scores)
