"""Each kernel beside its slow twin, called as the public functions call it."""

from __future__ import annotations

import ast
import importlib
import inspect
import math
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference import agreement, coding, intraclass

from voirdire import stats
from voirdire.errors import StatisticsError
from voirdire.stats import _jit, _label_cells, _patterns, _ratings, cohen, krippendorff
from voirdire.stats import _kernels_icc as icc_kernels
from voirdire.stats import _kernels_systems as systems_kernels
from voirdire.stats import _pattern_kernels as pattern_kernels

NAN = math.nan
TWINS = {
    "integer_span": coding.span,
    "mark_integers": coding.distinct,
    "code_integers": coding.codes,
    "few_values": coding.distinct,
    "code_values": coding.codes,
    "cross_table": coding.cross_table,
    "collapse_rows": coding.patterns,
    "collapse_keys": coding.patterns,
    "to_cells": coding.codes,
    "tally": coding.tallies,
    "place_items": coding.tallies,
    "alpha_parts": agreement.krippendorff,
    "alpha_pairs": agreement.krippendorff,
    "weighted_sums": intraclass.resampled,
    "icc_from_sums": intraclass.resampled,  # in test_stats_icc, as the bootstrap calls it
    "weighted_quantiles": coding.quantile,
    "mean_squares_of": intraclass.mean_squares,
    "add_pairs": intraclass.pair_sums,
    "squares_under": intraclass.under,
}
#: Their twins are the same numbers made in memory, in test_streaming.
TWINS |= dict.fromkeys(
    (
        "whole_steps", "pattern_keys", "scatter", "hashes", "poisson_weights",
        "resampled_patterns", "squares", "cluster_moments", "add_moments", "add_fine",
        "item_effects", "crossed_moments", "grid_of", "resampled_nodes",
    )
)  # fmt: skip
MARKS = re.compile(r"^(njit|interpreted)\b")
MODULES = (
    _ratings, _patterns, cohen, krippendorff, _label_cells, icc_kernels, systems_kernels,
    pattern_kernels,
)  # fmt: skip


def test_every_kernel_has_a_twin():
    """Kernels are the compiled functions that others call; private ones are parts of them."""
    folder = Path(inspect.getfile(stats)).parent
    compiled = set()
    for path in folder.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = {
            node.name
            for node in tree.body
            if isinstance(node, ast.FunctionDef)
            and any(MARKS.search(ast.unparse(mark)) for mark in node.decorator_list)
        }
        compiled |= found
        if found:
            assert importlib.import_module(f"voirdire.stats.{path.stem}") in MODULES
    assert {name for name in compiled if not name.startswith("_")} == set(TWINS)


def both(name, *arguments):
    """Results, and arrays as they are left, of the stand-in and of the machine code."""
    found, kernel = [], _jit.KERNELS[name]
    for call in (kernel.stand_in, kernel.compiled()):
        given_ = [one.copy() if isinstance(one, np.ndarray) else one for one in arguments]
        result = call(*given_)
        found.append([result, *given_])
    return found


def same(name, *arguments):
    for one, other in zip(*both(name, *arguments), strict=True):
        assert np.array_equal(
            one, other, equal_nan=isinstance(one, np.ndarray) and one.dtype == float
        )


@pytest.mark.parametrize("seed", range(3))
def test_stand_ins_give_the_same_bits(seed):
    """Until Numba pays NumPy stands in: no digit may tell which of the two it was."""
    rng = np.random.default_rng(seed)
    for n, k, p, b in ((9, 2, 3, 40), (2, 2, 1, 1), (30, 5, 2, 7), (3, 2, 40, 300)):
        counts = np.ascontiguousarray(rng.multinomial(n, np.ones(n) / n, size=b).T, float)
        features = rng.normal(size=(p, 3 + k, n))
        sums = np.empty((p, 3 + k, b))
        same("weighted_sums", counts, features, sums)
        icc_kernels.weighted_sums(counts, features, sums)
        forms = rng.normal(size=(3, 2, 3, 2))
        forms[0, 1] = 0.0
        tolerances = np.abs(rng.normal(size=(p, 3)))
        same(
            "icc_from_sums",
            sums,
            np.full(b, float(n)),
            rng.normal(size=(p, k)),
            tolerances,
            forms,
            np.empty((p, 3, b)),
        )
        x = rng.normal(size=(p, b)).round(1)
        x[rng.random(x.shape) < 0.2] = NAN
        x[:, 0] = 1.0
        weights = rng.integers(1, 9, b)
        known = np.where(np.isnan(x), 0, weights).sum(axis=1)
        targets = np.stack([np.full(p, 0.5), 0.975 * known], axis=1)
        same("weighted_quantiles", x, weights, targets, np.empty((p, 2)))
        means = rng.normal(size=(n, k, b)).round(1)
        means[:, :, 0] = 0.1
        means[0, 0, -1] = NAN if b > 1 else means[0, 0, -1]
        same("mean_squares_of", means, np.empty((3, b)))
        judges = rng.integers(1, 6, (2, p, b)).astype(float)
        judges[rng.random(judges.shape) < 0.2] = NAN
        place = rng.integers(0, n, b)
        table = np.zeros((2, p, n, 7))
        same("add_pairs", judges, judges[1].copy(), place, table)
        of_system = rng.normal(size=(2, p, n, 2)).round(1)
        of_system[0, 0, 0] = NAN
        kept = rng.random((4, 2, n)) < 0.6
        same("squares_under", of_system, kept, np.empty((4, 2, p, 5)))
        whole = rng.integers(-1, 5, (b, k)).astype(np.int32)
        same("cross_table", whole, np.zeros((5, 5), np.int64))
        power = np.concatenate([[0], 1 << (3 * np.arange(5))])
        room = [np.zeros(b, np.int64) for _ in range(3)]
        ours, theirs = both("collapse_keys", whole, power, np.full(4096, -1), *room)
        assert ours[0] == theirs[0]
        for one, other in zip(ours[4:], theirs[4:], strict=True):
            assert one.tolist() == other.tolist()


values = arrays(np.float64, st.integers(0, 15), elements=st.sampled_from([NAN, 0, 1, 2, 5, 9]))
broken = arrays(np.float64, st.integers(0, 9), elements=st.sampled_from([NAN, -3, 1, 2.5, 70]))
codes = arrays(
    np.int32, st.tuples(st.integers(0, 20), st.integers(1, 4)), elements=st.integers(-1, 3)
)


@settings(max_examples=30, deadline=None)
@given(values, broken)
def test_codes_of_the_stand_in(whole, other):
    place = np.full(10, -1, np.int64)
    place[[0, 1, 2, 5, 9]] = range(5)
    for x in (whole, other):
        (a, *_, ours), (b, *_, theirs) = both(
            "code_integers", x, 0.0, place, np.empty(len(x), np.int32)
        )
        assert a == b
        if a < 0:
            assert ours.tolist() == theirs.tolist()


@settings(max_examples=30, deadline=None)
@given(values, broken)
def test_spans_and_distinct_values(whole, other):
    for x in (whole, other):
        low, high, integers = _ratings.integer_span(x)
        assert integers == coding.span(x)[2]
        if integers:
            assert (low, high) == coding.span(x)[:2]
        found, count = _ratings.few_values(x, 5)
        assert found[:count].tolist() == coding.distinct(x)
    seen = np.zeros(10, bool)
    _ratings.mark_integers(whole, 0.0, seen)
    assert np.flatnonzero(seen).tolist() == sorted(coding.distinct(whole))
    assert _ratings.few_values(np.arange(6.0), 5)[1] == -1


@settings(max_examples=30, deadline=None)
@given(values, broken)
def test_codes(whole, other):
    levels = [0, 1, 2, 5, 9]
    place = np.full(10, -1, np.int64)
    place[levels] = range(5)
    for x in (whole, other):
        expected, undeclared = coding.codes(x, levels)
        by_table = np.empty(len(x), np.int32)
        assert _ratings.code_integers(x, 0.0, place, by_table) == undeclared
        by_search, where = _ratings.code_values(x, np.array(levels, float))
        assert where == undeclared
        n = len(expected)
        assert by_table[:n].tolist() == by_search[:n].tolist() == expected


@settings(max_examples=30, deadline=None)
@given(codes)
def test_collapsing_and_cross_tables(rows):
    expected = coding.patterns(rows.tolist())
    for found, sizes, counts in (
        _patterns._by_rows(rows),
        _patterns._by_keys(rows, 4, rows.shape[1].bit_length()),
    ):
        listed = [tuple(row[:size].tolist()) for row, size in zip(found, sizes, strict=True)]
        assert dict(zip(listed, counts.tolist(), strict=True)) == expected
    if rows.shape[1] > 1:
        table = np.zeros((4, 4), np.int64)
        cohen.cross_table(rows, table)
        pairs = coding.cross_table(rows[:, :2].tolist())
        assert {at: n for at, n in np.ndenumerate(table) if n} == pairs


@settings(max_examples=40, deadline=None)
@given(arrays(np.float64, (6, 3, 2), elements=st.sampled_from([NAN, 0, 1])))
def test_labels_over_runs(X):
    cells = np.empty(X.size, np.int8)
    assert _label_cells.to_cells(X.ravel(), cells) == -1
    assert cells.tolist() == coding.codes(X.ravel(), [0, 1])[0]
    assert _label_cells.to_cells(np.array([0.0, 2.0]), np.empty(2, np.int8)) == 1
    counted = _label_cells.tally(cells, 3, 2, np.zeros(2 * 16, np.int64)).reshape(2, 4, 4)
    expected = coding.tallies(cells.reshape(X.shape).tolist())
    assert {at: n for at, n in np.ndenumerate(counted) if n} == expected
    places = _label_cells.place_items(cells, 3, 2, np.zeros(12, np.int64)).reshape(6, 2)
    for label in range(2):
        again = np.bincount(places[:, label], minlength=16).reshape(4, 4)
        assert (again == counted[label]).all()


@settings(max_examples=40, deadline=None)
@given(
    arrays(np.int64, (6, 3), elements=st.integers(0, 3)),
    arrays(np.int64, 6, elements=st.integers(0, 3)),
    st.sampled_from(["nominal", "ordinal", "interval", "ratio"]),
)
def test_alpha_of_a_resample_is_alpha_of_the_copies(rows, drawn, metric):
    metrics = ("nominal", "ordinal", "interval", "ratio")
    out = np.zeros((1, 3))
    weights, levels = drawn[None].astype(float), np.arange(4.0)
    given_ = (np.sort(rows, axis=1).astype(np.int32), np.full(6, 3), weights, levels)
    at = krippendorff._METRICS[metric]
    if metrics.index(metric) < 3:
        krippendorff.alpha_parts(*given_, at, out)
    else:
        krippendorff.alpha_pairs(*given_, np.zeros((1, 1)), at, out)
    total, observed, expected = out[0]
    assert total == 3 * drawn.sum()
    value = 1 - observed / expected if expected else NAN
    twin = agreement.krippendorff(np.repeat(rows, drawn, axis=0), metric)
    assert value == pytest.approx(twin, abs=1e-12, nan_ok=True)


@settings(max_examples=40, deadline=None)
@given(arrays(np.float64, 12, elements=st.sampled_from([NAN, -1.5, 0, 0.25, 0.3, 1])), st.data())
def test_quantiles_of_weighted_values(x, data):
    weights = data.draw(arrays(np.int64, 12, elements=st.integers(0, 9)))
    known = int(weights[~np.isnan(x)].sum())
    targets = np.array([[max(1, 0.025 * known), max(1, 0.5 * known), max(1, known)]], float)
    out = np.empty((1, 3))
    icc_kernels.weighted_quantiles(x[None], weights, targets, out)
    if known:
        expected = [coding.quantile(x, weights, target) for target in targets[0]]
        assert out[0].tolist() == expected
        assert all(low <= high for low, high in pairwise(out[0]))


@settings(max_examples=30, deadline=None)
@given(arrays(np.float64, (4, 3), elements=st.integers(1, 5)), st.integers(0, 999))
def test_sums_and_mean_squares(Y, seed):
    counts = np.random.default_rng(seed).multinomial(4, [0.25] * 4, size=5).T.astype(float)
    out = np.empty((1, 3, 5))
    icc_kernels.weighted_sums(np.ascontiguousarray(counts), Y.T[None].copy(), out)
    for b in range(5):
        copies = np.repeat(Y, counts[:, b].astype(int), axis=0)
        assert out[0, :, b] == pytest.approx(copies.sum(axis=0))
    squares = np.empty((3, 1))
    systems_kernels.mean_squares_of(Y[:, :, None].copy(), squares)
    expected = [float(one) for one in intraclass.mean_squares(Y.tolist())[:3]]
    assert squares[:, 0] == pytest.approx(expected, abs=1e-12)


panels = st.integers(0, 25).flatmap(
    lambda n: st.tuples(
        arrays(np.float64, (2, 2, n), elements=st.sampled_from([NAN, 0, 1, 2, 5, -3])),
        arrays(np.float64, (2, n), elements=st.sampled_from([NAN, 1, 2, 2.5, 4])),
        arrays(np.int64, (n,), elements=st.integers(0, 3)),
        arrays(np.bool_, (3, 2, 5)),
    )
)


@settings(max_examples=30, deadline=None)
@given(panels, st.integers(0, 25))
def test_sums_by_system_and_what_each_rule_makes_of_them(panel, cut):
    judges, reference, system, kept = panel
    names = [*"abcd", "never"]
    sums = stats.system_sums(judges, reference, system, names=names)
    parts = [
        stats.system_sums(judges[..., part], reference[:, part], system[part], names=names)
        for part in (slice(cut), slice(cut, None))
    ]
    assert parts[0] + parts[1] == sums
    features = sums.under(kept)
    for j in range(2):
        for a in range(2):
            expected = [
                intraclass.pair_sums(judges[j, a], reference[a], system, s) for s in range(5)
            ]
            assert sums.table[j, a].tolist() == expected
            means = [(one[1] / one[0], one[2] / one[0]) if one[0] else None for one in expected]
            for q in range(3):
                found = [getattr(features, name)[q, j, a] for name in FEATURES]
                twin = intraclass.under(means, kept[q, j])
                assert found == pytest.approx(twin, abs=1e-9, nan_ok=True)


FEATURES = ("n_systems", "bias", "ms_rows", "ms_raters", "ms_error", "icc_c1", "icc_a1")


def test_sums_by_system_equal_the_statistics_of_the_means_that_are_kept():
    rng = np.random.default_rng(3)
    system = np.repeat(["own", "kin", "a", "b", "c"], 40)
    reference = rng.integers(1, 6, (2, 200)).astype(float)
    judges = np.clip(reference + rng.integers(-1, 2, (3, 2, 200)), 1, 5).astype(float)
    judges[rng.random(judges.shape) < 0.1] = NAN
    sums = stats.system_sums(judges, reference, system)
    out = [["own"], [], ["own", "kin"]]
    features = sums.under([sums.keeping([[]] * 3), sums.keeping(out)])
    for j in range(3):
        for a in range(2):
            options = {"systems": sums.systems, "excludes": out[j]}
            means = sums.means[j, a]
            for form, values in (("C,1", features.icc_c1), ("A,1", features.icc_a1)):
                both = stats.self_exclusion(stats.icc, means, form=form, **options)
                assert values[0, j, a] == pytest.approx(both.before.value, abs=1e-12)
                assert values[1, j, a] == pytest.approx(both.after.value, abs=1e-12)
            lenient = stats.self_exclusion(stats.bias, means[:, 1], means[:, 0], **options)
            assert features.bias[1, j, a] == pytest.approx(lenient.after.value, abs=1e-12)


def test_sums_of_parts_with_other_systems_add_up_and_odd_ones_are_refused():
    one = stats.system_sums([[[1, 2]]], [[2, 2]], ["a", "b"])
    both = (
        one + stats.system_sums([[[4]]], [[NAN]], ["c"]) + stats.system_sums([[[3]]], [[1]], ["b"])
    )
    assert both.systems == ("a", "b", "c")
    assert both.table[0, 0, :, 0].tolist() == [1, 2, 0]
    tiny = stats.system_sums([[[1e-90, 3e-90, 5e-90]]], [[1e-90, 2e-90, 6e-90]], ["a", "b", "c"])
    usual = stats.system_sums([[[1, 3, 5]]], [[1, 2, 6]], ["a", "b", "c"])
    rule = [[[True] * 3]]
    assert tiny.under(rule).icc_a1 == pytest.approx(usual.under(rule).icc_a1, abs=1e-12)
    assert tiny.under(rule).bias == pytest.approx(usual.under(rule).bias * 1e-90, rel=1e-12, abs=0)
    for call, message in (
        (lambda: stats.system_sums([[[1]]], [[1, 2]], ["a", "b"]), "reference must be"),
        (lambda: stats.system_sums([[[1]]], [[1]], ["a"], names=["a"]), "positions among the 1"),
        (lambda: stats.system_sums([[[1]]], [[1]], [1], names=["a"]), "positions among the 1"),
        (lambda: stats.system_sums([[[1]]], [[1]], [None]), "systems of row 0 is missing"),
        (lambda: one.under([[True, True]]), r"kept must be \(rules"),
        (lambda: one.keeping([[], []]), "each of 1 judges, not of 2"),
        (lambda: one + stats.system_sums([[[1]]] * 2, [[1]], ["a"]), "do not add up"),
    ):
        with pytest.raises(StatisticsError, match=message):
            call()
