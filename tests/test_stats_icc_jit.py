"""The same numbers with the JIT on and off, and nothing slow loaded before it is needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys

REDUCED = """
import json, numpy as np
from voirdire import stats
rng = np.random.default_rng(0)
Y = rng.integers(1, 6, size=(7, 2)).astype(float)
scores = rng.normal(size=(12, 4, 2)) + np.arange(4)[:, None]
methods = ("f", "percentile", "bca", "exact", "exact_bca")
found = [e for row in stats.icc_batch([Y, Y + rng.normal(size=Y.shape)], ci=methods, n_resamples=60)
         for e in row]
found += stats.icc_systems(scores, n_resamples=40)
found += stats.icc_systems(np.round(scores), n_resamples=40)
found.append(stats.icc_clustered(scores.reshape(48, 2), np.repeat(np.arange(12), 4), n_resamples=40))
found.append(stats.self_preference(scores[..., 0].ravel(), scores[..., 1].ravel(),
             np.tile([1, 0, 0, 0], 12), np.repeat(np.arange(12), 4), n_resamples=40))
sums = stats.system_sums(np.round(scores).transpose(1, 2, 0)[:2], np.round(scores[:, 0]).T,
                         np.arange(12) % 5)
found += [sums, sums.under(rng.random((3, 2, 5)) < 0.7)]
print(json.dumps([e.to_dict() for e in found]))
"""


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return done.stdout


def test_jit_on_and_off_give_the_same_digits():
    off = json.loads(run(REDUCED, NUMBA_DISABLE_JIT="1"))
    on = json.loads(run(REDUCED, OMP_NUM_THREADS="1"))
    two = json.loads(run(REDUCED, OMP_NUM_THREADS="2", NUMBA_NUM_THREADS="2"))
    assert on == two
    assert on == off


def test_public_names_load_nothing_slow():
    code = (
        "import sys, voirdire.stats as stats; assert stats.__all__ == sorted(stats.__all__);"
        "[getattr(stats, name) for name in stats.__all__];"
        "print([m for m in ('numba', 'scipy.stats', 'sklearn') if m in sys.modules])"
    )
    assert run(code).strip() == "[]"


def test_without_a_folder_to_cache_in_kernels_compile_all_the_same():
    nowhere = "from numba.core import caching\ncaching.CacheImpl._locator_classes = []\n"
    small = (
        "from voirdire import stats\nprint(stats.icc([[1, 2], [3, 3], [5, 4]], 'C,1').to_dict())"
    )
    assert run(nowhere + small) == run(small)
