"""Every pair of systems, each error by leaving out each cluster: what `stats.turned_pairs` finds."""

from __future__ import annotations

import numpy as np

from voirdire.stats.sums import above_t, quantile


def every_pair(observed, margin):
    """(reversed, unclear, p, ahead, behind, human, judge, df) as in `TurnedPairs`."""
    a, b = np.triu_indices(len(observed.human), 1)
    human = observed.jackknife(lambda human, _: human[..., a] - human[..., b])
    judge = observed.jackknife(lambda _, judge: judge[..., a] - judge[..., b])
    flip = np.where(human.at < 0, -1, 1)
    dh, dj, sh, sj, df = human.at * flip, judge.at * flip, human.se, judge.se, human.df
    near, far = quantile(0.975, df), quantile(1 - 0.025 / len(a), df)
    turned = (dh - far * sh > margin) & (dj + far * sj < 0)
    wide = 2 * margin
    clear = ((dh + near * sh <= wide) | (dj - near * sj >= 0)) & (
        (dh - near * sh >= -wide) | (dj + near * sj <= 0)
    )
    apart = above_t((wide - dh) / np.maximum(sh, 1e-12), df)
    p = np.minimum(apart, above_t(dj / np.maximum(sj, 1e-12), df)) * 2
    k = int(np.argmin(np.where(turned, -1e9, np.where(clear, 1e9, 0.0)) + dj))
    pair = (a[k], b[k]) if flip[k] > 0 else (b[k], a[k])
    return turned.sum(), (~clear).sum(), p.max(), *pair, dh[k], dj[k], df
