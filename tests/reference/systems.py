"""Slow and obvious twins of the cluster bootstraps: copies of the items that were drawn."""

from __future__ import annotations

import math

import numpy as np

from reference.intraclass import icc


def of_system_means(scores, chosen, form):
    """ICC of the systems' means over the chosen items, responses with a missing score left out."""
    table = []
    for system in range(scores.shape[1]):
        rows = [scores[item, system] for item in chosen]
        known = [row for row in rows if not np.isnan(row).any()]
        if not known:
            return math.nan
        table.append([sum(row[j] for row in known) / len(known) for j in range(scores.shape[2])])
    return icc(table, form)


def of_responses(Y, clusters, chosen, form):
    """ICC of the responses of the chosen items, each item as often as it was drawn."""
    rows = [row for item in chosen for row, of in zip(Y, clusters, strict=True) if of == item]
    return icc(rows, form)
