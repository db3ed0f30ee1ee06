"""Slow and obvious twin of the restricted likelihood: the whole covariance matrix, inverted."""

from __future__ import annotations

import numpy as np


def deviance(Y, subject, rater):
    """log|V| + log(1' V⁻¹ 1) + (N - 1) log(y' P y) with V = I + subject Zs Zs' + rater Zr Zr'."""
    i, j = np.nonzero(~np.isnan(Y))
    y, one = Y[i, j], np.ones(len(i))
    V = np.eye(len(y)) + subject * (i[:, None] == i) + rater * (j[:, None] == j)
    inverse = np.linalg.inv(V)
    P = inverse - inverse @ np.outer(one, one) @ inverse / (one @ inverse @ one)
    return np.linalg.slogdet(V)[1] + np.log(one @ inverse @ one) + (len(y) - 1) * np.log(y @ P @ y)
