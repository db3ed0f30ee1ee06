"""Agreement coefficients beside their peers, in one process and one run.

    python benchmarks/agreement.py          # prints the tables and writes results/agreement.md

Peers: statsmodels (aggregate_raters and fleiss_kappa, once a label) and krippendorff. Both are
slower predecessors of what is measured here, and both must be installed.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from _help import help_asked
from _timing import machine, median_seconds, peak_of, seconds, table, versions

from voirdire import stats

RESULTS = Path(__file__).resolve().parent / "results" / "agreement.md"
LEVELS = [1, 2, 3, 4, 5]
ABOUT = """Medians, warm, one thread unless said otherwise; peers in the same process and run, \
values checked against them."""
ABOUT_MEMORY = """Memory is the peak resident set of a process of its own at 10^7 ratings, above \
what it holds when the data are there."""
ABOUT_FLOOR = """The floor is one reading of the input (NumPy's sum over 64-bit words). The last \
column is the gain of two threads over halves of the input; the public functions take one thread."""


def ordinal(items, raters=5, missing=0.1, seed=0):
    """Ratings 1..5 of which six in ten follow a common truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, items)
    other = rng.integers(1, 6, (items, raters))
    R = np.where(rng.random((items, raters)) < 0.6, truth[:, None], other).astype(float)
    R[rng.random(R.shape) < missing] = np.nan
    return R


def labelled(items, runs=5, labels=11, seed=0):
    """Labels over runs, each item with its own chance of each label."""
    rng = np.random.default_rng(seed)
    chance = rng.random((items, 1, labels)) ** 3
    return (rng.random((items, runs, labels)) < chance).astype(np.int8)


def continuous(items, seed=0):
    """Two raters' real values."""
    rng = np.random.default_rng(seed)
    x = rng.random(items)
    return np.stack([x, x + rng.normal(0, 0.1, items)], axis=1)


def peer_fleiss(X):
    """statsmodels, a label at a time."""
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    return [fleiss_kappa(aggregate_raters(X[:, :, c], n_cat=2)[0]) for c in range(X.shape[2])]


def peer_alpha(R, metric="ordinal", levels=None):
    """Krippendorff 0.9; it takes raters as rows."""
    import krippendorff

    return krippendorff.alpha(R.T, value_domain=levels, level_of_measurement=metric)


def fleiss_row():
    X = labelled(100_000)
    ours = median_seconds(lambda: stats.fleiss_per_label(X), 15)
    peer = median_seconds(lambda: peer_fleiss(X), 5)
    values = [part.value for part in stats.fleiss_per_label(X).estimates]
    np.testing.assert_allclose(values, peer_fleiss(X), rtol=1e-9)
    return ["Fleiss per label, 11 labels x 100,000 items x 5 runs", "statsmodels", ours, peer, 50]


def alpha_row():
    R = ordinal(100_000)
    ours = median_seconds(lambda: stats.krippendorff_alpha(R, "ordinal", levels=LEVELS), 15)
    peer = median_seconds(lambda: peer_alpha(R, levels=LEVELS), 7)
    value = stats.krippendorff_alpha(R, "ordinal", levels=LEVELS).value
    np.testing.assert_allclose(value, peer_alpha(R, levels=LEVELS), rtol=1e-9)
    return ["alpha ordinal, 100,000 x 5, 10 % missing", "krippendorff", ours, peer, 5]


def bootstrap_row():
    R = ordinal(100_000)
    ours = median_seconds(
        lambda: stats.krippendorff_alpha(R, "ordinal", levels=LEVELS, ci="percentile"), 9
    )
    rng = np.random.default_rng(1)

    def one():
        return peer_alpha(R[rng.integers(0, len(R), len(R))], levels=LEVELS)

    peer = median_seconds(one, 9) * 1000
    name = "the same with 1,000 bootstrap resamples"
    return [name, "krippendorff in a loop (9 resamples, times 1,000)", ours, peer, 500]


def interval_row():
    """The peer's arrays hold units x values x values cells: it is timed on few units."""
    R = continuous(10_000)
    ours = median_seconds(lambda: stats.krippendorff_alpha(R, "interval"), 15)
    few = continuous(300)
    once = median_seconds(lambda: peer_alpha(few, "interval"), 3)
    peer = once * (10_000 / 300) ** 3
    value = stats.krippendorff_alpha(few, "interval").value
    np.testing.assert_allclose(value, peer_alpha(few, "interval"), rtol=1e-9)
    name = "alpha interval, 10,000 x 2 real values"
    note = f"krippendorff on 300 units ({seconds(once)}), extrapolated by the cube"
    return [name, note, ours, peer, None]


def against_peers():
    rows = []
    for make in (fleiss_row, alpha_row, bootstrap_row, interval_row):
        name, peer_name, ours, peer, least = make()
        wanted = "linear" if least is None else f"{least:,}x"
        rows.append([name, peer_name, seconds(ours), seconds(peer), f"{peer / ours:,.0f}x", wanted])
    return table(["work", "peer", "voirdire", "peer's time", "ratio", "asked"], rows)


WORK = {
    "alpha ordinal, 5 raters": (
        lambda n: ordinal(n // 5),
        lambda R: stats.krippendorff_alpha(R, "ordinal", levels=LEVELS),
    ),
    "alpha interval, 2 raters, real values": (
        lambda n: continuous(n // 2),
        lambda R: stats.krippendorff_alpha(R, "interval"),
    ),
    "Fleiss' kappa, 5 raters": (
        lambda n: ordinal(n // 5),
        lambda R: stats.fleiss_kappa(R, levels=LEVELS),
    ),
    "Fleiss per label, 5 runs x 10 labels": (
        lambda n: labelled(n // 50, labels=10),
        stats.fleiss_per_label,
    ),
    "Cohen's kappa, quadratic": (
        lambda n: ordinal(n // 2, 2),
        lambda R: stats.cohen_kappa(R[:, 0], R[:, 1], weights="quadratic", levels=LEVELS),
    ),
}
SIZES = (10**3, 10**4, 10**5, 10**6, 10**7)


def against_size():
    rows = []
    for name, (make, work) in WORK.items():
        times = []
        for n in SIZES:
            data = make(n)
            times.append(median_seconds(lambda d=data, w=work: w(d), 3 if n > 10**6 else 9))
        memory = peak_of(__file__, "--peak", name)
        extra = f"{memory['peak'] - memory['before']:.0f} / {memory['data']:.0f}"
        rows.append([name, *map(seconds, times), extra])
    head = ["work", *(f"10^{int(np.log10(n))}" for n in SIZES), "memory above data / data, MiB"]
    return table(head, rows)


def peak(name):
    """In a process of its own: resident set before the work on 10^7 ratings, and its peak."""
    make, work = WORK[name]
    work(make(10**4))
    data = make(10**7)
    before = resident()
    work(data)
    memory = {"before": before, "peak": status("VmHWM"), "data": data.nbytes / 2**20}
    print(json.dumps(memory))


def resident():
    """Resident set now; the peak so far is forgotten (Linux)."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return status("VmRSS")


def status(key):
    """A memory entry of this process, in MiB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(key))


def floor_and_threads():
    """Streaming kernels beside one reading of their input, on one thread and on two."""
    from voirdire.stats._label_cells import tally
    from voirdire.stats._patterns import collapse_keys
    from voirdire.stats._ratings import code_integers

    X = np.tile(labelled(200_000), (10, 1, 1)).reshape(-1)
    R = ordinal(2_000_000).reshape(-1)
    codes = np.empty(R.size, np.int32)
    place = np.arange(5, dtype=np.int32)
    power = np.append(0, 1 << (3 * np.arange(5)))

    def count(part):
        return tally(part, 5, 11, np.zeros(11 * 36, np.int64))

    def code(part):
        return code_integers(part, 1.0, place, np.empty(part.size, np.int32))

    def collapse(part):
        sizes = (np.zeros(252, np.int64) for _ in range(3))
        return collapse_keys(part.reshape(-1, 5), power, np.full(1024, -1), *sizes)

    code_integers(R, 1.0, place, codes)
    rows = []
    for name, data, work, step in (
        ("tally of labels (int8)", X, count, 55),
        ("coding of ratings (float64)", R, code, 5),
        ("collapsing of items (int32)", codes, collapse, 5),
    ):
        middle = data.size // 2 // step * step
        parts = (data[:middle], data[middle:])
        whole = data.view(np.uint8)[: data.nbytes // 8 * 8].view(np.int64)
        read = median_seconds(lambda d=whole: d.sum(), 9)
        one = median_seconds(lambda d=data, w=work: w(d), 7)
        with ThreadPoolExecutor(2) as pool:
            two = median_seconds(lambda p=parts, w=work, t=pool: list(t.map(w, p)), 7)
        size, rate = f"{data.nbytes / 2**20:,.0f} MiB", f"{data.nbytes / one / 1e9:.1f} GB/s"
        times = [seconds(read), seconds(one), f"{one / read:.1f}x", rate, f"{one / two:.2f}x"]
        rows.append([name, size, *times])
    head = ["kernel", "input", "reading it", "kernel's time", "of the floor", "rate", "2 threads"]
    return table(head, rows)


FIRST = {
    "alpha": "stats.krippendorff_alpha(np.array([[1, 2.], [2, 2]]))",
    "fleiss_per_label": "stats.fleiss_per_label(np.zeros((3, 2, 2)))",
    "cohen_kappa": "stats.cohen_kappa([1, 2], [1, 2])",
}


def first_calls():
    """First calls in new processes: with an empty cache, then with the one it left."""
    import os
    import subprocess
    import tempfile

    rows = []
    for name, call in FIRST.items():
        program = (
            "import time, numpy as np\nfrom voirdire import stats\nimport numba\n"
            f"t = time.process_time()\n{call}\nprint(time.process_time() - t)"
        )
        with tempfile.TemporaryDirectory() as folder:
            environment = os.environ | {"NUMBA_CACHE_DIR": folder}
            times = [
                float(
                    subprocess.run(
                        [sys.executable, "-c", program],
                        check=True,
                        capture_output=True,
                        text=True,
                        env=environment,
                    ).stdout
                )
                for _ in range(2)
            ]
        rows.append([name, *map(seconds, times)])
    return table(["first call", "nothing compiled", "next process"], rows)


def main():
    if sys.argv[1:2] == ["--peak"]:
        peak(sys.argv[2])
        return
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    setting = f"{machine()}, {versions('numpy', 'numba', 'statsmodels', 'krippendorff')}"
    parts = [
        "# Agreement",
        f"`python benchmarks/agreement.py`, {setting}. {ABOUT}",
        against_peers(),
        "## Time against the number of ratings",
        against_size(),
        ABOUT_MEMORY,
        "## Distance to the memory's bandwidth, and threads",
        floor_and_threads(),
        ABOUT_FLOOR,
        "## First calls",
        "Processor time of the first call in a new process, numba imported before.",
        first_calls(),
    ]
    text = "\n\n".join(parts) + "\n"
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(text, encoding="utf-8")
    print(text, f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    help_asked(__doc__)
    main()
