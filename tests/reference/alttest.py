"""The alt-test as its paper writes it: dictionaries, one item and one human at a time."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import ttest_1samp


def accuracy(one, others):
    return np.mean([one == other for other in others])


def neg_rmse(one, others):
    return -math.sqrt(np.mean([(one - other) ** 2 for other in others]))


def alt_test(humans, judge, score, epsilon, q=0.05, min_items=30):
    """Winning rate and advantage probability of {item: rating} against {human: {item: rating}}."""
    raters = {}
    for human, given in humans.items():
        for item in given:
            raters.setdefault(item, []).append(human)
    kept = {item for item, who in raters.items() if len(who) > 1 and item in judge}
    p_values, advantages = [], []
    for human, given in humans.items():
        items = [item for item in given if item in kept]
        if len(items) < min_items:
            continue
        leads, wins = [], []
        for item in items:
            others = [humans[other][item] for other in raters[item] if other != human]
            ours, theirs = score(judge[item], others), score(given[item], others)
            wins.append(ours >= theirs)
            leads.append(int(theirs >= ours) - int(ours >= theirs))
        p_values.append(ttest_1samp(leads, epsilon, alternative="less").pvalue)
        advantages.append(np.mean(wins))
    m = len(p_values)
    bounds = np.arange(1, m + 1) / m * q / (1 / np.arange(1, m + 1)).sum()
    below = np.flatnonzero(np.sort(p_values) <= bounds)
    return (below[-1] + 1 if below.size else 0) / m, float(np.mean(advantages))
