"""The same numbers with the JIT on and off, from the same random stream."""

from __future__ import annotations

import json
import os
import subprocess
import sys

REDUCED = """
import json, numpy as np
from voirdire import stats
rng = np.random.default_rng(0)
truth = rng.integers(1, 6, 30)
R = np.clip(truth[:, None] + rng.integers(-1, 2, (30, 4)), 1, 5).astype(float)
R[rng.random(R.shape) < 0.15] = np.nan
X = (rng.random((25, 4, 3)) < 0.4).astype(float)
X[3, 1] = np.nan
draw = {"n_resamples": 50, "ci": "percentile"}
found = [stats.krippendorff_alpha(R, m, **draw) for m in ("nominal", "ordinal", "interval", "ratio")]
found += [stats.krippendorff_alpha(R + 1e-3 * rng.random(R.shape), "interval", **draw)]
found += [f(R, **draw) for f in (stats.fleiss_kappa, stats.gwet_ac, stats.brennan_prediger)]
found += [stats.cohen_kappa(R[:, 0], R[:, 1], weights="linear", **draw)]
found += [stats.krippendorff_alpha(rng.integers(0, 40, (20, 3)), "ordinal", **draw)]
print(json.dumps([part.to_dict() for part in found] + [stats.fleiss_per_label(X, **draw).to_dict()]))
"""


def numbers(**environment):
    done = subprocess.run(
        [sys.executable, "-c", REDUCED],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | environment,
    )
    return json.loads(done.stdout)


def close(one, other):
    """Equal in all but the last bits of numbers: compiled sums may be fused."""
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= 1e-12 * max(1, abs(one))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(close(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(close, one, other))
    return one == other


def test_the_jit_changes_nothing():
    assert close(numbers(NUMBA_DISABLE_JIT="0"), numbers(NUMBA_DISABLE_JIT="1"))
