"""ICC: point values, F intervals, degenerate data, and the bootstrap's kernels."""

from __future__ import annotations

import json
import math
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference import intraclass as slow

from voirdire.errors import StatisticsError
from voirdire.stats import icc, icc_batch

SHROUT_FLEISS = [
    [9, 2, 5, 8],
    [6, 1, 3, 2],
    [8, 4, 6, 8],
    [7, 1, 2, 6],
    [10, 5, 6, 9],
    [6, 2, 4, 7],
]

# Names in the stored reference values (pingouin's and McGraw and Wong's).
PINGOUIN = {
    "1": "ICC(1,1)", "1,k": "ICC(1,k)", "C,1": "ICC(C,1)",
    "C,k": "ICC(C,k)", "A,1": "ICC(A,1)", "A,k": "ICC(A,k)",
}  # fmt: skip
#: Enumerations take minutes where they are not compiled: then two of the 28 pairs.
THINNED = 27 if os.environ.get("NUMBA_DISABLE_JIT") == "1" else 1

ratings = arrays(
    np.int64, st.tuples(st.integers(3, 7), st.integers(2, 4)), elements=st.integers(1, 5)
)


def load(shared, name):
    return json.loads((shared / "reference" / name).read_text())


def as_floats(rows):
    return np.array([[math.nan if y is None else y for y in row] for row in rows], dtype=float)


def test_published_values():
    # Shrout and Fleiss (1979), table 4.
    published = {
        "ICC1": 0.17,
        "ICC2": 0.29,
        "ICC3": 0.71,
        "ICC1k": 0.44,
        "ICC2k": 0.62,
        "ICC3k": 0.91,
    }
    for form, expected in published.items():
        assert round(icc(SHROUT_FLEISS, form).value, 2) == expected


@pytest.mark.parametrize(
    ("spelling", "form"),
    [
        ("ICC(A,1)", "A,1"),
        ("icc_c1", "C,1"),
        ("ICC(2,1)", "A,1"),
        ("ICC3k", "C,k"),
        ("ICC(1)", "1"),
        ("ICC(1,1)", "1"),
        ("ICC(k)", "1,k"),
        ("a,k", "A,k"),
    ],
)
def test_spellings(spelling, form):
    assert icc(SHROUT_FLEISS, spelling) == icc(SHROUT_FLEISS, form)
    assert icc(SHROUT_FLEISS, spelling).statistic == f"ICC({form})"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"form": "B,1"}, "ICC form 'B,1' is unknown"),
        ({"ci": "wald"}, "interval method 'wald' is unknown"),
        ({"missing": "mean"}, "missing must be 'listwise' or 'reml', got 'mean'"),
        ({"level": 95}, "level must lie strictly between 0 and 1, got 95"),
        ({"n_resamples": 0, "ci": "percentile"}, "n_resamples must be at least 1, got 0"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"compat": "x"}, "compat must be None or 'badawi2025'"),
    ],
)
def test_errors_name_what_is_allowed(arguments, message):
    with pytest.raises(StatisticsError, match=message.replace("(", r"\(")):
        icc(SHROUT_FLEISS, **arguments)


def test_arrays_that_cannot_be_taken():
    with pytest.raises(StatisticsError, match="forms must name at least one"):
        icc_batch([SHROUT_FLEISS], ())
    with pytest.raises(StatisticsError, match="numbers or NaN only"):
        icc([["a", "b"], ["c", "d"]])
    with pytest.raises(StatisticsError, match="2 dimension"):
        icc([1, 2, 3])
    with pytest.raises(StatisticsError, match=r"infinite at \(1, 0\)"):
        icc([[1, 2], [math.inf, 2]])
    with pytest.raises(
        StatisticsError, match=r"1e\+200 at \(1, 0\); missing values are NaN, others"
    ):
        icc([[1, 2], [1e200, 2]])
    with pytest.raises(StatisticsError, match="at most 10 subjects, not 11"):
        icc(np.arange(22.0).reshape(11, 2) ** 2 % 7, ci="exact")


@pytest.mark.shared
def test_the_28_pairs_of_the_published_study(shared):
    # R (psych, irr) and pingouin; exact percentiles, leave-one-out and masses by enumeration.
    pairs = load(shared, "stats_reference.json")["real_28_pairs"][::THINNED]
    matrices = [pair["matrix"] for pair in pairs]
    plain = icc_batch(matrices, slow.FORMS, ci=("f", "exact", "exact_bca"))
    dropped = icc_batch(matrices, ("C,1", "A,1"), ci="exact", compat="badawi2025")
    for pair, found, kept in zip(pairs, plain, dropped, strict=True):
        by_form = dict(zip(slow.FORMS, found, strict=True))
        for form, estimate in by_form.items():
            stored = pair["pingouin"][PINGOUIN[form]]
            interval = estimate.interval("f")
            assert estimate.value == pytest.approx(stored["icc"], abs=1e-9)
            assert (interval.low, interval.high) == pytest.approx(tuple(stored["ci"]), abs=1e-9)
        for form, without in zip(("C,1", "A,1"), kept, strict=True):
            stored, estimate = pair[form.replace(",", "")], by_form[form]
            exact = estimate.interval("exact")
            assert [exact.low, exact.high] == pytest.approx(stored["exact_pct"], abs=1e-9)
            assert [without.interval().low, without.interval().high] == pytest.approx(
                stored["exact_pct_dropped"], abs=1e-9
            )
            assert list(estimate.details["leave_one_out"]) == pytest.approx(
                stored["jackknife_range"], abs=1e-9
            )
            # The stored mass counts exact zeros that round-off made negative.
            assert estimate.details["mass_outside"] == pytest.approx(
                stored["exact_mass_outside"], abs=1e-6
            )
            assert_bca_near(stored["exact_bca"], estimate.interval("exact_bca"))


def assert_bca_near(stored, interval):
    """We count ties with the point one half; the stored values by the chance of their round-off."""
    assert [interval.low, interval.high] == pytest.approx(stored, abs=2e-3)


def test_incomplete_rows_are_left_out_and_counted():
    # Case C04 of the public bug reports: pingouin with nan_policy="omit".
    Y = np.array([[1, 3, 4, 5, 2, 1], [2, np.nan, 4, 5, 2, 1]]).T
    for form in ("A,1", "C,1"):
        found = icc(Y, form)
        assert found.value == pytest.approx(0.966667, abs=1e-6)
        assert (found.n, found.left_out) == (5, 1)
    for methods in (None, "f", ("percentile", "bca", "exact", "exact_bca")):
        for Y in ([[1, None], [2, None]], np.empty((0, 2)), [[1, 2]], [[1, 2], [3, None]]):
            assert icc(Y, ci=methods).reason == "too_few_items"
    assert icc(np.empty((0, 2))).reason == "too_few_items"
    assert icc(np.empty((3, 0))).reason == "too_few_raters"


def test_perfect_consistency_has_the_limit_of_the_interval():
    found = icc([[1, 2], [2, 3], [3, 4], [4, 5]], "C,1")
    assert (found.value, found.interval("f").low, found.interval("f").high) == (1.0, 1.0, 1.0)
    assert icc([[1, 1], [2, 2], [5, 5]], "A,1").interval("f").low == 1.0


@settings(max_examples=30, deadline=None)
@given(ratings)
def test_values_equal_exact_rational_arithmetic(Y):
    for form in slow.FORMS:
        assert icc(Y, form, ci=None).value == pytest.approx(
            slow.icc(Y.tolist(), form), abs=1e-12, nan_ok=True
        )


@settings(max_examples=10, deadline=None)
@given(
    arrays(np.int64, st.tuples(st.integers(2, 5), st.integers(2, 3)), elements=st.integers(1, 4))
)
def test_exact_bootstrap_equals_the_enumeration_of_copies(Y):
    for form in slow.FORMS:
        found = icc(Y, form, ci="exact")
        if found.reason:
            continue
        twin = slow.exact_distribution(Y.tolist(), form)
        total = sum(weight for value, weight in twin if not math.isnan(value))
        interval = found.interval("exact")
        assert interval.n_undefined == sum(math.isnan(value) for value, _ in twin)
        assert found.details["mass_below_0"] == pytest.approx(
            sum(weight for value, weight in twin if value < 0) / total
        )
        for bound, level in ((interval.low, 0.025), (interval.high, 0.975)):
            assert bound == pytest.approx(slow.inverse_distribution(twin, level), abs=1e-12)


@settings(max_examples=10, deadline=None)
@given(ratings, st.integers(0, 2**32))
def test_drawn_bootstrap_equals_copies_of_the_rows(Y, seed):
    counts = slow.draws(seed, len(Y), 40)
    for form in slow.FORMS:
        found = icc(Y, form, ci="percentile", n_resamples=40, seed=seed)
        if found.reason:
            continue
        values = np.array([slow.resampled(Y.tolist(), column, form) for column in counts.T])
        known = values[~np.isnan(values)]
        interval = found.interval()
        assert interval.n_undefined == 40 - len(known)
        if len(known):
            assert [interval.low, interval.high] == pytest.approx(
                list(np.quantile(known, [0.025, 0.975])), abs=1e-10
            )


def test_sampled_bootstrap_tends_to_the_exact_one():
    rng = np.random.default_rng(3)
    Y = rng.normal(size=(8, 1)) + rng.normal(0, 0.5, size=(8, 2))
    exact, drawn, exact_bca, bca = icc(
        Y, "C,1", ci=("exact", "percentile", "exact_bca", "bca"), n_resamples=200_000
    ).intervals
    assert [drawn.low, drawn.high] == pytest.approx([exact.low, exact.high], abs=5e-3)
    assert [bca.low, bca.high] == pytest.approx([exact_bca.low, exact_bca.high], abs=1e-2)
    assert exact.flags == ("unreliable_interval",)


def test_compat_drops_what_lies_outside_and_says_so():
    Y = [[3, 4], [4, 3], [5, 5], [1, 2], [2, 1], [4, 5]]
    plain, compat = (
        icc(Y, "C,1", ci=("percentile", "exact"), compat=c) for c in (None, "badawi2025")
    )
    for method in ("percentile", "exact"):
        assert compat.interval(method).n_dropped > 0 == plain.interval(method).n_dropped
        shift = compat.details[f"shift_{method}"]
        assert shift[0] == compat.interval(method).low - plain.interval(method).low > 0
    assert plain.value == compat.value


@settings(max_examples=40, deadline=None)
@given(ratings, st.randoms(use_true_random=False))
def test_order_of_subjects_and_raters_does_not_matter(Y, random):
    rows, columns = list(range(len(Y))), list(range(Y.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    for form in slow.FORMS:
        assert icc(Y[rows][:, columns], form, ci=None).value == pytest.approx(
            icc(Y, form, ci=None).value, abs=1e-12, nan_ok=True
        )


@settings(max_examples=40, deadline=None)
@given(
    ratings,
    arrays(np.float64, 4, elements=st.integers(-3, 3)),
    st.sampled_from([0.125, 0.5, 2.0, 16.0]),
)
def test_consistency_forgives_shifts_and_a_common_scale(Y, shifts, scale):
    moved = (Y + shifts[: Y.shape[1]]) * scale
    assert icc(moved, "C,1", ci=None).value == pytest.approx(
        icc(Y, "C,1", ci=None).value, abs=1e-9, nan_ok=True
    )


def test_consistency_does_not_forgive_a_scale_of_ones_own():
    Y = np.array([[1.0, 1], [2, 2], [3, 3], [5, 5]])
    assert icc(Y, "C,1").value == 1.0
    assert icc(Y * [1, 2], "C,1").value == pytest.approx(0.8)  # 4 Var / (1 + 4) Var


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64, np.float32, bool]
)
def test_any_numeric_dtype(dtype):
    Y = np.array([[100, 120], [3, 90], [127, 127], [40, 60], [0, 1]])
    if dtype is bool:
        Y = Y > 50
    assert icc(Y.astype(dtype), "A,1", ci="percentile") == icc(
        Y.astype(float), "A,1", ci="percentile"
    )


def test_large_offsets_lose_nothing():
    Y = np.array([[1.0, 2], [3, 2], [4, 5], [2, 2]])
    assert icc(Y + 1e8, "A,1").value == pytest.approx(icc(Y, "A,1").value, abs=1e-7)


def test_batch_equals_one_at_a_time():
    rng = np.random.default_rng(5)
    Ys = [rng.integers(1, 6, size=size).astype(float) for size in ((6, 2), (8, 3), (6, 2))]
    Ys[0][2, 1] = np.nan
    methods = ("f", "percentile", "bca", "exact", "exact_bca")
    batch = icc_batch(Ys, ("C,1", "A,k"), ci=methods, n_resamples=200, seed=9)
    for Y, row in zip(Ys, batch, strict=True):
        for form, found in zip(("C,1", "A,k"), row, strict=True):
            assert found == icc(Y, form, ci=methods, n_resamples=200, seed=9)


def test_many_resamples_come_in_chunks_of_one_stream():
    """Of one matrix all 200 resamples are drawn at once, beside 699 others 64 at a time."""
    Ys = np.random.default_rng(5).integers(1, 6, size=(700, 6, 2)).astype(float)
    batch = icc_batch(Ys, ("C,1",), ci="percentile", n_resamples=200, seed=7)
    for at in (0, 350, 699):
        assert batch[at][0] == icc(Ys[at], "C,1", ci="percentile", n_resamples=200, seed=7)


def test_an_interval_that_would_run_through_infinity_is_none():
    """MSC < MSE turns the denominator of ICC(A,k) over; bounds above and below are no interval."""
    rng = np.random.default_rng(1)
    turned = 0
    for _ in range(400):
        Y = rng.normal(size=(rng.integers(3, 7), rng.integers(2, 5)))
        for form in slow.FORMS:
            found = icc(Y, form)
            low, high = found.intervals[0].low, found.intervals[0].high
            turned += math.isnan(low)
            assert math.isnan(low) == math.isnan(high)
            assert math.isnan(low) or low <= high
            assert form == "A,k" or not math.isnan(low)
    assert turned > 5


def test_a_denominator_that_cancels_is_not_estimable():
    """MSR = 1/9 and (MSC - MSE) / n = -1/9: the ratings vary, and ICC(A,k) has no value."""
    found = icc([[2, 2, 2], [2, 2, 2], [1, 1, 3], [2, 2, 1]], "A,k")
    assert (found.reason, found.details["ms_rows"]) == ("not_estimable", pytest.approx(1 / 9))


def test_perfect_agreement_has_its_limit():
    for Y in ([[4, 4], [1, 1], [2, 2]], [[1, 1], [1, 1], [2, 2], [2, 2]]):
        for form in slow.FORMS:
            found = icc(Y, form).intervals[0]
            assert (found.low, found.high) == pytest.approx((1, 1), abs=1e-12)
