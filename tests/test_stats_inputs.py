"""What arrays may hold: words with gaps, pandas' NA, masks, wide integers, tiny and huge numbers."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats as scipy_stats

from voirdire import stats
from voirdire.errors import StatisticsError
from voirdire.stats._arrays import coded, median, occurring

NAN = math.nan
R = np.array([[1.0, 2, 2], [2, 3, 3], [4, 4, 2], [5, 3, 4], [3, 1, 2]])


@pytest.mark.parametrize("gap", [NAN, None, np.float32("nan")])
def test_words_with_gaps_in_a_list_have_no_level_called_nan(gap):
    rows = [["a", gap], ["b", "b"], ["a", "a"], ["a", "b"]]
    for found in (
        stats.fleiss_kappa(rows),
        stats.gwet_ac(rows),
        stats.krippendorff_alpha(rows, "nominal"),
        stats.cohen_kappa([a for a, _ in rows], [b for _, b in rows]),
    ):
        assert list(found.details["levels"]) == ["a", "b"]
    scores = stats.classification_scores(["a", "b", "a"], ["a", gap, "b"])
    assert (scores["accuracy"].value, scores["accuracy"].left_out) == (0.5, 1)
    assert stats.alt_test([["a", gap, "b"]] * 40, ["a"] * 40).k == 2


class NAType:
    """As pandas' NA: no number, and equal to nothing."""


def test_what_pandas_puts_for_missing_is_missing():
    na = NAType()
    rows = np.array([[1, 2], [na, 2], [4, 5], [2, 2]], dtype=object)
    plain = [[1, 2], [NAN, 2], [4, 5], [2, 2]]
    assert stats.icc(rows) == stats.icc(plain)
    assert stats.krippendorff_alpha(rows) == stats.krippendorff_alpha(plain)
    assert stats.bias(rows[:, 0], rows[:, 1]).n == 3
    words = np.array([["x", "y"], [na, "y"], ["x", "x"]], dtype=object)
    assert list(stats.fleiss_kappa(words).details["levels"]) == ["x", "y"]


@pytest.mark.parametrize(
    "rows",
    [
        [["1", "2"], ["3", "4"]],
        np.array([["1", "2"], ["3", "4"]], dtype=object),
        np.array([[1 + 2j, 2], [3, 4]]),
        np.array([["2020-01-01", "2020-01-02"]] * 2, dtype="M8[D]"),
    ],
)
def test_text_dates_and_complex_numbers_are_no_measurements(rows):
    with pytest.raises(StatisticsError, match="must hold numbers or NaN only"):
        stats.icc(rows)


def test_frames_and_masks_read_as_arrays_do():
    frame = pl.DataFrame({"a": [1, 2, None, 4], "b": [1, 3, 2, 5]})
    plain = [[1, 1], [2, 3], [NAN, 2], [4, 5]]
    masked = np.ma.MaskedArray([[1, 1], [2, 3], [99, 2], [4, 5]], [[0, 0], [0, 0], [1, 0], [0, 0]])
    for statistic in (stats.icc, stats.fleiss_kappa, stats.krippendorff_alpha):
        assert statistic(frame) == statistic(plain) == statistic(masked)


def test_self_exclusion_keeps_masks_and_takes_one_name():
    judge = np.ma.MaskedArray([5.0, 3, 999], [False, False, True])
    options = {"systems": ["own", "a", "b"], "excludes": "own"}
    found = stats.self_exclusion(stats.bias, judge, [3, 3, 4], **options)
    assert (found.before.value, found.before.left_out) == (1.0, 1)
    assert (found.after.value, found.excluded) == (0.0, ("own",))


def test_self_exclusion_takes_the_same_rows_from_clusters():
    judge, reference, clusters = [5, 3, 4, 3], [3, 3, 4, 2], ["i", "i", "j", "j"]
    found = stats.self_exclusion(
        stats.bias, judge, reference, systems=list("oaba"), excludes="o", clusters=clusters
    )
    assert found.before == stats.bias(judge, reference, clusters=clusters)
    assert found.after == stats.bias(judge[1:], reference[1:], clusters=clusters[1:])


def test_a_line_for_bad_responses_is_a_score():
    with pytest.raises(StatisticsError, match="at_or_below must be a score"):
        stats.tail_misses([1, 2], [1, 2], at_or_below=NAN)


def test_wide_integers_are_told_apart():
    """float64 holds 2^53 and 2^53 + 1 as one number; two categories are not one."""
    wide = np.array([2**53, 2**53 + 1, 2**53, 2**53 + 1])
    other = np.array([2**53, 2**53 + 1, 2**53 + 1, 2**53 + 1])
    assert stats.cohen_kappa(wide, other) == stats.cohen_kappa(wide, other)
    assert (
        stats.cohen_kappa(wide, other).value == stats.cohen_kappa([0, 1, 0, 1], [0, 1, 1, 1]).value
    )
    rows = np.stack([wide, other], axis=1)
    coded = (rows - 2**53).astype(float)
    for metric in ("nominal", "ordinal"):
        assert stats.krippendorff_alpha(rows, metric).value == pytest.approx(
            stats.krippendorff_alpha(coded, metric).value, abs=1e-15
        )


@pytest.mark.parametrize("scale", [2.0**-700, 2.0**-1060])
def test_tiny_numbers_vary_as_large_ones_do(scale):
    """A power of two changes no digit, so scale-free values are the same to the last bit."""
    tiny = R * scale
    for form in ("1", "C,1", "A,1", "C,k", "A,k"):
        assert stats.icc(tiny, form).value == stats.icc(R, form).value
        assert stats.icc(tiny, form).intervals == stats.icc(R, form).intervals
    assert stats.krippendorff_alpha(tiny, "interval").value == pytest.approx(
        stats.krippendorff_alpha(R, "interval").value, abs=1e-14
    )
    for statistic in (stats.pearson, stats.spearman, stats.kendall, stats.ccc):
        assert statistic(tiny[:, 0], tiny[:, 1]).value == statistic(R[:, 0], R[:, 1]).value


def test_the_spread_of_tiny_differences_is_seen():
    tiny = R * 2.0**-700
    assert stats.paired_t(tiny[:, 0], tiny[:, 1]).p == stats.paired_t(R[:, 0], R[:, 1]).p


def test_reml_of_tiny_numbers():
    """Its components are those of the numbers as handed in, where they can be held."""
    gaps = R.copy()
    gaps[2, 1] = NAN
    found, right = stats.icc_reml(gaps * 2.0**-250), stats.icc_reml(gaps)
    assert found.value == pytest.approx(right.value, rel=1e-9)
    shrunk = right.details["var_error"] * 2.0**-500
    assert found.details["var_error"] == pytest.approx(shrunk, rel=1e-9)


def test_huge_levels_do_not_overflow():
    huge = np.array([[-1, 1], [1, 1], [-1, -1]])
    for weights in ("linear", "quadratic"):
        assert (
            stats.fleiss_kappa(huge * 1.7e308, weights=weights).value
            == stats.fleiss_kappa(huge, weights=weights).value
        )


def test_measurements_are_no_categories():
    x = np.arange(10_000.0)
    for statistic in (
        lambda: stats.cohen_kappa(x, x),
        lambda: stats.fleiss_kappa(np.stack([x, x], axis=1)),
    ):
        with pytest.raises(StatisticsError, match="10,000 different levels are no categories"):
            statistic()


@pytest.mark.parametrize("seed", [-1, None, 0.5])
def test_seeds_and_resamples_are_whole_numbers(seed):
    for statistic in (stats.fleiss_kappa, stats.krippendorff_alpha, stats.icc):
        with pytest.raises(StatisticsError, match="seed"):
            statistic(R, ci="percentile", seed=seed)
        with pytest.raises(StatisticsError, match="n_resamples"):
            statistic(R, ci="percentile", n_resamples=100.0)


@pytest.mark.parametrize("own", [[1, 0, NAN, 0], [1, 0, 2, 0]])
def test_own_family_is_yes_or_no(own):
    with pytest.raises(StatisticsError, match="own must be True or False"):
        stats.self_preference([5, 3, 5, 2], [4, 3, 4, 2], own, [1, 1, 2, 2])


def test_a_row_without_a_name_belongs_nowhere():
    for call in (
        lambda: stats.bias([1, 2, 3], [1, 1, 1], clusters=["a", None, "b"]),
        lambda: stats.icc_clustered(R, [1, 1, 2, NAN, 2]),
        lambda: stats.mean_preference([1, 1, 0], ["a", "b", None]),
        lambda: stats.bradley_terry(["x", None], ["y", "y"], [1, 1]),
        lambda: stats.self_exclusion(stats.bias, [1], [1], systems=[None], excludes=[]),
    ):
        with pytest.raises(StatisticsError, match=r"of row \d is missing"):
            call()


def test_infinite_preferences_are_refused():
    for call in (
        lambda: stats.position_effect([1, math.inf], [True, False], [1, 1]),
        lambda: stats.bradley_terry(["x"], ["y"], [math.inf]),
    ):
        with pytest.raises(StatisticsError, match="outside the finite numbers"):
            call()


@pytest.mark.parametrize("weights", [[["a"]], [[0, NAN], [NAN, 0]], [[0, math.inf], [1, 0]]])
def test_unfit_matrices_are_named(weights):
    with pytest.raises(StatisticsError, match="matrix"):
        stats.fleiss_kappa([[1, 2], [1, 1]], weights=weights)
    with pytest.raises(StatisticsError, match="matrix"):
        stats.krippendorff_alpha([[1, 2], [1, 1]], weights)


def test_levels_are_there_and_labels_differ():
    with pytest.raises(StatisticsError, match="a level cannot be missing"):
        stats.fleiss_kappa([[1, 2], [1, 1]], levels=[1, 2, NAN])
    for call in (
        lambda: stats.classification_scores(["a"], ["a"], labels=["a", "a"]),
        lambda: stats.classification_scores([[0, 1]], [[0, 1]], labels=["a", "a"]),
        lambda: stats.roc_auc([[0, 1], [1, 0]], [[0, 1], [1, 0]], labels=["a", "a"]),
    ):
        with pytest.raises(StatisticsError, match="different"):
            call()


def test_a_number_and_its_word_are_one_label():
    """A column of replies holds words as soon as one of them is no number."""
    found = stats.classification_scores([1, 2, 1], ["1", "2", "none"], labels=[1, 2])
    assert found["accuracy"].value == pytest.approx(2 / 3)
    assert found.undeclared == {"none": 1}


@pytest.mark.parametrize(("level", "text"), [(0.95, "95%"), (0.999, "99.9%"), (0.975, "97.5%")])
def test_levels_are_printed_as_they_are(level, text):
    assert f", {text} CI" in str(stats.icc(R, level=level))


class TestRoundOff:
    """Tenths are no binary fractions: what they tell apart in their last digit is equal."""

    whole = np.random.default_rng(3).integers(0, 11, (60, 4))

    def test_equally_far_is_a_tie_in_the_alt_test(self):
        right = stats.alt_test(self.whole[:, :3], self.whole[:, 3], score="neg_rmse")
        found = stats.alt_test(self.whole[:, :3] / 10, self.whole[:, 3] / 10, score="neg_rmse")
        for name in ("advantages", "p_values"):
            assert found.details[name].tolist() == right.details[name].tolist()

    def test_equal_differences_tie_in_wilcoxon(self):
        first, second = self.whole[:20, 0], self.whole[:20, 1]
        right = scipy_stats.wilcoxon(first - second)
        found = stats.wilcoxon(first / 10, second / 10)
        assert (found.p, found.statistic) == (right.pvalue, right.statistic)

    def test_a_constant_shift_has_no_spread(self):
        reference = np.array([0.1, 0.2, 0.3, 0.7])
        found = stats.bland_altman(reference + 0.1, reference)
        assert (found.sd, found.low.value) == (0.0, found.bias.value)

    def test_constant_raters_are_constant_down_a_million_rows(self):
        rows = np.tile([0.1, 0.2, 0.7], (1_000_000, 1))
        assert stats.icc(rows, "C,1", ci=None).reason == "zero_variance"
        assert stats.icc(rows, "A,1", ci=None).value == 0.0
        assert stats.icc(rows, "1", ci=None).value == pytest.approx(-0.5, abs=1e-12)


@pytest.mark.parametrize("statistic", [stats.pearson, stats.ccc, stats.spearman, stats.kendall])
def test_far_from_zero_is_no_nearer_to_agreement(statistic):
    far = R + 1e9
    right = statistic(R[:, 0], R[:, 1]).value
    assert statistic(far[:, 0], far[:, 1]).value == pytest.approx(right, abs=1e-12)


def test_words_are_no_preferences():
    with pytest.raises(StatisticsError, match="scores must hold numbers or NaN only, got 'a'"):
        stats.preference_agreement(["a", "b"], [1, 0])


#: Two raters' ratings of the same items, said in several ways; the first is the plain one.
SAID = {
    "whole numbers": ([1, 2, 10, 2, 10], [1, 2, 10, 10, 2]),
    "floats": ([1.0, 2.0, 10.0, 2.0, 10.0], [1, 2, 10, 10, 2]),
    "text": (["1", "2", "10", "2", "10"], ["1", "2", "10", "10", "2"]),
    "text of floats": (["1.0", "2.0", "10", "2", "10.00"], ["1", "2", "10", "10", "2"]),
    "one as text": ([1.0, 2.0, 10.0, 2.0, 10.0], ["1", "2", "10", "10", "2"]),
    "objects": ([1, "2", 10.0, "2.0", 10], np.array(["1", 2, "10", 10, 2], dtype=object)),
}
ON_LEVELS = {
    "cohen": lambda a, b, R, **o: stats.cohen_kappa(a, b, **o),
    "cohen, linear": lambda a, b, R, **o: stats.cohen_kappa(a, b, weights="linear", **o),
    "scott": lambda a, b, R, **o: stats.scott_pi(a, b, **o),
    "fleiss": lambda a, b, R, **o: stats.fleiss_kappa(R, **o),
    "fleiss, quadratic": lambda a, b, R, **o: stats.fleiss_kappa(R, weights="quadratic", **o),
    "AC1": lambda a, b, R, **o: stats.gwet_ac(R, **o),
    "AC2": lambda a, b, R, **o: stats.gwet_ac(R, weights="linear", **o),
    "BP": lambda a, b, R, **o: stats.brennan_prediger(R, **o),
    "agreement": lambda a, b, R, **o: stats.joint_agreement(R, **o),
    "alpha": lambda a, b, R, **o: stats.krippendorff_alpha(R, "nominal", **o),
    "alpha, ordinal": lambda a, b, R, **o: stats.krippendorff_alpha(R, "ordinal", **o),
    "alpha, interval": lambda a, b, R, **o: stats.krippendorff_alpha(R, "interval", **o),
}


@pytest.mark.parametrize("statistic", ON_LEVELS.values(), ids=ON_LEVELS)
@pytest.mark.parametrize("levels", [None, [1, 2, 10], ["1", "2", "10"], [1.0, "2", 10]])
def test_text_that_spells_a_number_is_that_number_for_every_coefficient(statistic, levels):
    options = {} if levels is None else {"levels": levels}
    values = []
    for a, b in SAID.values():
        R = [list(pair) for pair in zip(a, b, strict=True)]
        values.append(statistic(a, b, R, **options).value)
    assert values == [values[0]] * len(values)


@pytest.mark.parametrize("statistic", ON_LEVELS.values(), ids=ON_LEVELS)
def test_levels_read_from_text_stand_in_the_order_of_numbers(statistic):
    """As text "10" stands before "2", which makes neighbours of what lies far apart."""
    a, b = ["2", "10", "2", "3", "9"], ["10", "10", "2", "9", "9"]
    R = [list(pair) for pair in zip(a, b, strict=True)]
    found = statistic(a, b, R)
    if "levels" in found.details:
        assert found.details["levels"].tolist() == [2, 3, 9, 10]
    as_numbers = [[int(cell) for cell in row] for row in R]
    assert found.value == statistic(*zip(*as_numbers, strict=True), as_numbers).value


@pytest.mark.parametrize("name", ["007", "1e3", "+1", "1.", ".5", " 1", "9007199254740993"])
def test_a_name_made_of_digits_is_a_word(name):
    """Read as a number it would be one with another name."""
    found = stats.cohen_kappa([name, "7", "1"], ["7", "7", "1"])
    assert found.details["levels"].tolist() == sorted({name, "7", "1"})
    assert found.details["agreement"] == pytest.approx(2 / 3)


def test_among_words_a_number_is_the_word_that_spells_it():
    pairs = [(1, "1"), (2.0, "2"), ("none", "none"), (2, "none"), (math.nan, "1")]
    found = stats.krippendorff_alpha([list(pair) for pair in pairs], "nominal")
    plain = stats.krippendorff_alpha(
        [["1", "1"], ["2", "2"], ["none", "none"], ["2", "none"], [None, "1"]], "nominal"
    )
    assert found == plain
    assert found.details["levels"].tolist() == ["1", "2", "none"]


def test_ratings_that_are_numbers_on_levels_that_are_words_name_both():
    with pytest.raises(
        StatisticsError, match=r"rater \d+: rating 1.* is unknown .*allowed: low, high"
    ):
        stats.cohen_kappa([1, 2], [1, 2], levels=["low", "high"])


def test_a_matrix_with_more_raters_than_items_may_lie_on_its_side():
    items = [[1, 2, 1], [4, 5, 4], [3, 3, 2], [2, 2, 1], [5, 4, 5]]
    assert "transposed" not in stats.icc(items, "A,1").flags
    turned = stats.icc(np.transpose(items), "A,1")
    assert turned.flags == ("transposed",)
    assert "may lie on its side" in str(turned)
    assert stats.icc([[1, 2, 3]], "C,1").flags == ("transposed",)
    # Rows that lack a rating are items all the same.
    gaps = np.vstack([np.array(items, float)[:2], np.full((3, 3), math.nan)])
    assert stats.icc(gaps, "C,1").flags == ()


def test_the_error_of_a_kappa_that_cannot_vary_is_zero_and_not_round_off():
    """One rater says one level: kappa is 0 in every resample (R gives 2e-8; stats_reference.json).

    The two terms of equation 8 cancel, and what is left of them is round-off.
    """
    a, b = [2] * 12, [1, 2, 3, 4, 2, 1, 3, 3, 4, 2, 1, 1]
    for weights in (None, "linear", "quadratic"):
        found = stats.cohen_kappa(a, b, weights=weights, levels=[1, 2, 3, 4], ci="wald")
        assert found.details["se"] == 0.0, weights
        assert found.intervals[0].low == found.intervals[0].high == found.value
    # A variance that is small and real stays.
    many = stats.cohen_kappa([1, 2] * 5000 + [1], [1, 2] * 5000 + [2], ci="wald")
    share = 1 / 10_001
    plain = math.sqrt(share * (1 - share) / 10_001) / 0.5  # chance agreement is one half
    assert many.details["se"] == pytest.approx(plain, rel=1e-3)


@pytest.mark.parametrize(
    "values",
    [
        [7, 5, 7],
        [-3, 2_000_000_000, -3],
        np.array([250, 3, 250], np.uint8),
        [-(2**63), 2**63 - 1, 0],
        np.array([2**64 - 1, 2**64 - 3], np.uint64),
        [],
        ["b", "a", "b"],
        [True, False, True],
    ],
)
def test_whole_numbers_are_coded_as_numpy_finds_them(values):
    names = np.asarray(values)
    found, codes = np.unique(names, return_inverse=True)
    counted, places = coded(names)
    assert counted.dtype == found.dtype
    assert counted.tolist() == found.tolist()
    assert places.tolist() == codes.tolist()


@pytest.mark.parametrize(
    "values",
    [
        [3.0, np.nan, 1.0, 3.0],
        [0.5, 0.25, 0.5, 0.25, 0.5],
        [-1e70, 1e70],
        [1e15 + 0.5, 1e15 + 0.5, 1e15, 1e15],
        [np.nan],
        [],
        [-0.0, 0.0, 1.0],
    ],
)
def test_points_of_a_scale_are_found_as_numpy_finds_them(values):
    scores = np.array(values)
    assert occurring(scores).tolist() == np.unique(scores[~np.isnan(scores)]).tolist()
    if len(scores) and not np.isnan(scores).any():
        assert median(scores) == np.median(scores)
