"""Verdicts: components, the table of rows, the cap, what would settle them, multiplicity."""

from __future__ import annotations

import dataclasses

import numpy as np
import polars as pl
import pytest
from examinations import NAN, matrix, pair_result
from hypothesis import given, settings
from hypothesis import strategies as st

from voirdire.examining.ladder._components import side
from voirdire.examining.ladder._known import Known, winning_range
from voirdire.examining.ladder._settle import (
    items_for_alt_test,
    runs_for_mean,
    smallest,
    units_for_bias,
    units_for_icc,
)
from voirdire.examining.ladder._stability import stability
from voirdire.examining.ladder.multiplicity import consistency_p, state_multiplicity
from voirdire.examining.ladder.verdict import judge_verdicts, scope_sentence
from voirdire.examining.ratings.agreement import levels_of
from voirdire.schema import Finding, Scale
from voirdire.stats import Estimate, Interval, alt_test, icc
from voirdire.study import build_study

STUDY = build_study(
    {
        "name": "t",
        "rubric": {"attributes": ["Tone", {"name": "Safety", "safety_critical": True}]},
        "data": {"sources": [{"path": "data/k.csv", "rater": "K"}]},
    }
)


def verdict_of(result, known=None, findings=(), study=STUDY):
    return judge_verdicts([result], study, findings, known)[0]


def states(verdict):
    return {part.letter: part.state for part in verdict.components}


def known(attribute="Tone", rate=1.0, stable=(0.9, 0.97), runs=3, temperature=0.7):
    pair = ("J", attribute)
    low, high = stable
    steady = Estimate("ICC(A,1)", (low + high) / 2, (Interval("f", 0.95, low, high),), n=100, k=3)
    return Known(
        humans=("a", "b", "c"),
        shared_items={attribute: 100},
        alt_tests={pair: Estimate("winning rate", rate, n=100, k=3)},
        runs={"J": runs},
        temperatures={"J": temperature},
        stability={pair: steady},
    )


def test_a_judge_that_passes_everything_may_replace_a_rater():
    found = verdict_of(pair_result(matrix(40, 0.97)), known())
    assert found.verdict == "may replace one rater"
    assert set(states(found).values()) == {"pass"}
    assert found.needs == ""


def test_a_safety_critical_attribute_caps_at_assists():
    found = verdict_of(pair_result(matrix(40, 0.97), attribute="Safety"), known("Safety"))
    assert (found.verdict, found.capped) == ("assists", True)
    assert "safety-critical" in found.why


def test_a_cap_is_only_said_where_it_changes_something():
    found = verdict_of(pair_result(matrix(9, 0.5), attribute="Safety"), known("Safety"))
    assert (found.verdict, found.capped) == ("undecided", False)


def test_without_humans_or_runs_it_assists_and_says_what_was_not_tested():
    found = verdict_of(pair_result(matrix(40, 0.97)), Known(humans=("human",)))
    assert found.verdict == "assists"
    assert states(found)["R"] == states(found)["S"] == "not tested"
    assert "one column of ratings ('human'), of one rater or merged" in found.component("R").note
    assert "three times or more" in found.component("S").note
    assert "replaceability is not tested and stability is not tested" in found.why


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({"n_pairs": 94}, "no verdict"),
        ({"n_expected": 0}, "no verdict"),
        ({"icc_c1": NAN, "ci": (), "reason": "zero_variance"}, "undecided"),
    ],
)
def test_rows_that_data_decide(change, verdict):
    assert verdict_of(pair_result(matrix(40, 0.97), **change), known()).verdict == verdict


def test_ninety_five_per_cent_of_pairs_are_enough():
    assert verdict_of(pair_result(matrix(40, 0.97), n_pairs=95), known()).verdict != "no verdict"


def test_undefined_says_why():
    flat = np.full((9, 2), 3.0)
    found = verdict_of(pair_result(flat))
    assert found.verdict == "undecided"
    assert "do not vary" in found.component("C").note
    assert "do not vary" in found.why


@pytest.mark.parametrize(
    ("Y", "verdict"),
    [
        (matrix(40, 0.1), "not trusted"),
        (matrix(9, 0.9), "undecided"),
        (matrix(40, 0.97, bias=0.8), "ranks, does not score"),
        (matrix(40, 0.97, bias=0.2), "ranks; scoring undecided"),
    ],
)
def test_rows_of_the_table(Y, verdict):
    assert verdict_of(pair_result(Y), known()).verdict == verdict


def test_why_names_one_component_or_two():
    one, two = (
        verdict_of(pair_result(matrix(40, 0.97, bias=by)), known()).why for by in (0.5, 0.8)
    )
    assert one == "Consistency passes, but bias fails."
    assert two == "Consistency passes, but agreement and bias fail."


@pytest.mark.parametrize(
    ("stable", "state"), [((0.3, 0.6), "fail"), ((0.6, 0.9), "undecided"), ((0.8, 0.9), "pass")]
)
def test_an_unsteady_judge_serves_as_a_mean_of_runs(stable, state):
    found = verdict_of(pair_result(matrix(40, 0.97)), known(stable=stable))
    assert states(found)["S"] == state
    assert (found.verdict == "only as a mean of k runs") == (state != "pass")
    if state == "fail":
        # Spearman-Brown: 3 * (1 - 0.45) / 0.45 = 3.67.
        assert "use the mean of 4 runs" in found.next_step


def test_at_temperature_zero_or_with_two_runs_stability_is_not_tested():
    for facts in (known(temperature=0.0), known(runs=2)):
        assert states(verdict_of(pair_result(matrix(40, 0.97)), facts))["S"] == "not tested"


def test_an_alt_test_that_fails_leaves_an_assistant():
    found = verdict_of(pair_result(matrix(40, 0.97)), known(rate=0.33))
    assert found.verdict == "assists"
    assert states(found)["R"] == "fail"


def test_too_few_humans_or_shared_items_are_said():
    facts = dataclasses.replace(known(), humans=("a", "b"))
    assert "2 humans rated" in verdict_of(pair_result(matrix(40, 0.97)), facts).component("R").note
    facts = dataclasses.replace(known(), shared_items={"Tone": 12})
    assert "only 12" in verdict_of(pair_result(matrix(40, 0.97)), facts).component("R").note


def blocking(table):
    return Finding("k", "blocking", table, 1, (), "Ids do not match.", "Nothing can be said.")


@pytest.mark.parametrize(
    ("table", "blocked"),
    [
        ("", {"J", "K"}),
        ("J", {"J"}),
        ("k.csv", {"K"}),
        ("data/k.csv", {"K"}),
        ("human", {"J", "K"}),
    ],
)
def test_a_blocking_finding_forbids_a_verdict_on_whom_it_concerns(table, blocked):
    results = [pair_result(matrix(40, 0.97), judge) for judge in ("J", "K")]
    found = judge_verdicts(results, STUDY, [blocking(table)])
    assert {v.judge for v in found if v.verdict == "no verdict"} == blocked
    assert all("Ids do not match" in v.why for v in found if v.verdict == "no verdict")


def test_other_findings_forbid_nothing():
    note = dataclasses.replace(blocking(""), severity="serious")
    assert verdict_of(pair_result(matrix(40, 0.97)), known(), [note]).verdict != "no verdict"


def test_labels_are_judged_on_alpha():
    alpha = Estimate("alpha", 0.9, (Interval("bootstrap", 0.95, 0.85, 0.94),))
    result = pair_result(matrix(9, 0.5), label_alpha=alpha)
    found = verdict_of(result)
    assert states(found)["C"] == states(found)["A"] == "pass"
    assert "0.80" in found.component("C").threshold


def test_thresholds_come_from_the_study():
    strict = build_study({"name": "t", "thresholds": {"icc_c": 0.96, "bands_spanned": 1}})
    assert states(verdict_of(pair_result(matrix(40, 0.97))))["C"] == "pass"
    assert states(verdict_of(pair_result(matrix(40, 0.97)), study=strict))["C"] == "undecided"


@given(low=st.floats(-1, 1), width=st.floats(0, 1), threshold=st.floats(0, 1))
def test_a_component_passes_or_fails_only_with_its_whole_interval(low, width, threshold):
    found = side(Interval("f", 0.95, low, low + width), threshold)
    assert (found == "pass") == (low >= threshold)
    assert (found == "fail") == (low + width < threshold)


def test_no_interval_is_undecided():
    assert side(None, 0.75) == side(Interval("f", 0.95, NAN, NAN), 0.75) == "undecided"


# What would settle it


def test_an_icc_of_090_at_two_raters_needs_eighteen_systems():
    # DESIGN, "The verdict": by McGraw and Wong (1996), table 7, F(0.975; 17, 17) = 2.673.
    assert units_for_icc(pair_result(matrix(9, 0.90)), "C,1", 0.75, 0.95, 2) == 18
    assert icc(matrix(18, 0.90), "C,1").interval("f").low >= 0.75
    assert icc(matrix(17, 0.90), "C,1").interval("f").low < 0.75


@settings(max_examples=40, deadline=None)
@given(n=st.integers(5, 30), value=st.floats(-0.5, 0.98))
def test_the_number_of_systems_is_the_smallest(n, value):
    units = units_for_icc(pair_result(matrix(n, value)), "C,1", 0.75, 0.95)
    if units is None:
        assert abs(value - 0.75) < 0.02
        return
    if units > 3:
        before, then = (icc(matrix(m, value), "C,1").interval("f") for m in (units - 1, units))
        assert side(then, 0.75) != "undecided"
        assert side(before, 0.75) == "undecided"


def test_about_half_of_new_samples_of_that_size_settle_it():
    """The number is a median: with the truth at today's estimate, half of samples do better."""
    rng = np.random.default_rng(5)
    truth, n = 0.90, 18
    quality = rng.normal(0, np.sqrt(truth), (2000, n, 1))
    ratings = quality + rng.normal(0, np.sqrt(1 - truth), (2000, n, 2))
    rows = 2 * ratings.mean(axis=2).var(axis=1, ddof=1)
    error = (ratings[:, :, 1] - ratings[:, :, 0]).var(axis=1, ddof=1) / 2
    ratio = rows / error / 2.673
    settled = ((ratio - 1) / (ratio + 1) >= 0.75).mean()
    assert 0.40 < settled < 0.62


def test_bias_is_settled_by_the_smallest_n():
    result = pair_result(matrix(9, 0.8, bias=0.1))
    units = units_for_bias(result, 0.2, 0.90)
    assert units is not None
    assert units > 9
    from scipy.stats import t

    sd = np.diff(matrix(9, 0.8, bias=0.1)).std(ddof=1)
    half = [t.ppf(0.95, m - 1) * sd / np.sqrt(m) for m in (units - 1, units)]
    assert 0.1 + half[1] <= 0.2 < 0.1 + half[0]


def test_a_bias_at_the_margin_is_never_settled():
    assert units_for_bias(pair_result(matrix(9, 0.8, bias=0.2)), 0.2, 0.90) is None


def test_agreement_beside_bias_is_not_settled_by_systems_alone():
    found = verdict_of(pair_result(matrix(40, 0.97, bias=0.2)), known())
    assert "remove the bias by calibration" in found.component("A").note


@pytest.mark.parametrize(
    ("single", "runs"), [(0.75, 1), (0.6, 2), (0.2, 12), (1.0, 1), (-0.1, None)]
)
def test_runs_by_spearman_and_brown(single, runs):
    assert runs_for_mean(single, 0.75) == runs


@given(st.integers(3, 4000))
def test_smallest_finds_the_first(at):
    assert smallest(lambda n: n >= at) == at


def test_every_undecided_verdict_says_what_would_settle_it():
    rng = np.random.default_rng(3)
    for _ in range(30):
        Y = matrix(9, rng.uniform(0, 0.95), rng.uniform(-0.5, 0.8))
        found = verdict_of(pair_result(Y))
        if found.verdict == "undecided":
            assert "settle" in found.needs


# Many verdicts


def test_multiplicity_is_stated():
    results = [pair_result(matrix(40, 0.97), "J", f"a{i}") for i in range(20)]
    results += [pair_result(matrix(40, 0.845), "K", f"a{i}") for i in range(20)]
    verdicts = judge_verdicts(results, STUDY)
    found = state_multiplicity(results, verdicts, STUDY)
    assert (found.n, found.expected_false_passes) == (40, pytest.approx(1.0))
    assert set(found.survived) <= set(found.passed)
    assert {judge for judge, _ in found.survived} == {"J"}
    assert "40 verdicts" in str(found)
    assert "not adjusted" in str(found)


def test_the_p_value_inverts_the_interval():
    for value in (0.5, 0.8, 0.88, 0.95):
        result = pair_result(matrix(20, value))
        low = result.interval("C,1", "f").low
        assert consistency_p(result, low) == pytest.approx(0.025)


def test_the_scope_is_said():
    text = scope_sentence(build_study({"name": "t", "scope": "Short worries."}), "2026-11-27T10:00")
    for said in ("Short worries", "2026-11-27", "prompt and model version", "clinical use"):
        assert said in text


def test_no_results_no_verdicts():
    assert judge_verdicts([], STUDY) == ()
    assert "0 verdicts" in str(state_multiplicity([], (), STUDY))


# Replaceability


def alt_test_estimate(gaps, n=200, seed=0):
    """Three humans around a truth, and a judge with that much more noise against each."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1, n)
    humans = truth[:, None] + rng.normal(0, 1, (n, 3))
    return alt_test(humans, truth + rng.normal(0, gaps, n), score="neg_rmse", epsilon=0.2)


@pytest.mark.parametrize(("noise", "state"), [(0.5, "pass"), (1.8, "undecided"), (4.0, "fail")])
def test_replaceability_is_open_where_the_tests_show_neither(noise, state):
    facts = dataclasses.replace(known(), alt_tests={("J", "Tone"): alt_test_estimate(noise)})
    part = verdict_of(pair_result(matrix(40, 0.97)), facts).component("R")
    assert part.state == state
    assert part.interval.low == part.value <= part.interval.high
    assert ("would settle it" in part.note) == (state == "undecided")


def test_that_many_responses_do_settle_the_alt_test():
    units = items_for_alt_test(alt_test_estimate(1.8), 0.5)
    assert 200 < units < 100_000
    settled = [
        side(winning_range(alt_test_estimate(1.8, 4 * units, seed)), 0.5) != "undecided"
        for seed in range(10)
    ]
    assert sum(settled) >= 5


def test_at_response_level_responses_are_counted():
    Y = matrix(60, 0.8)
    result = pair_result(Y, level="response", n_systems=1, n_pairs=60, n_expected=60)
    found = verdict_of(result)
    assert result.n_units == 60
    units = units_for_icc(result, "C,1", 0.75, 0.95, 2)
    assert f"about {units:,} responses instead of 60" in found.needs
    assert "Rate more responses" in found.next_step
    assert consistency_p(result, result.interval("C,1", "f").low) == pytest.approx(0.025)


def test_a_test_that_leaves_too_few_humans_is_none():
    """One human shares sixty responses with the others, and twenty of them with the judge."""
    rng = np.random.default_rng(0)
    humans = rng.integers(1, 6, (100, 3)).astype(float)
    humans[60:, 0] = np.nan
    judge = np.r_[np.full(40, np.nan), humans[40:, 1]]
    humans[60:80, 2] = np.nan
    few = alt_test(humans, judge, score="neg_rmse", min_items=30)
    assert few.k == 2
    facts = dataclasses.replace(known(), alt_tests={("J", "Tone"): few})
    part = verdict_of(pair_result(matrix(40, 0.97)), facts).component("R")
    assert part.state == "not tested"
    assert "only 2 of 3 humans" in part.note


def test_a_component_without_an_interval_says_so():
    alpha = Estimate("alpha", 1.0, (Interval("jackknife", 0.95, NAN, NAN),))
    found = verdict_of(pair_result(matrix(9, 0.5), label_alpha=alpha))
    assert (found.verdict, "nan" in found.why) == ("undecided", False)
    assert "there is no interval" in found.why


def test_two_references_of_one_judge_are_two_passes():
    """One pass holds under the correction, the other does not: a name alone cannot tell them."""
    others = [pair_result(matrix(40, 0.5), "K", f"a{i}") for i in range(18)]
    results = [pair_result(matrix(40, 0.97)), pair_result(matrix(40, 0.865)), *others]
    found = state_multiplicity(results, judge_verdicts(results, STUDY), STUDY)
    assert (len(found.passed), len(found.survived)) == (2, 1)


def test_steadiness_is_of_attributes_with_three_scored_runs_and_at_the_level_asked():
    rows = [
        {"item": f"i{i}", "system": "s", "rater": "J", "attribute": name, "run": run,
         "score": None if name == "Tone" and run == 2 else float((i + run * i // 5) % 5 + 1)}
        for i in range(20) for name in ("Tone", "Safety") for run in range(3)
    ]  # fmt: skip
    found = stability(pl.DataFrame(rows), ["J"], ["Tone", "Safety"], 0.8)
    assert set(found) == {("J", "Safety")}
    interval = found["J", "Safety"].interval("f")
    assert (found["J", "Safety"].k, interval.level) == (3, 0.8)


def test_tenths_are_levels_of_a_scale_of_tenths():
    """3 x 0.1 is 0.30000000000000004 in binary, and nobody writes that."""
    scale = Scale(0, 1, 0.1)
    assert scale.levels == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    assert Scale(0, 1, 1 / 3).levels == (0.0, 1 / 3, 2 / 3, 1.0)
    assert levels_of(scale, np.array([0.3, 0.7]), np.array([0.6])) == list(scale.levels)


def test_an_undecided_label_says_how_many_responses_would_settle_it():
    """The ends of the interval come nearer with the root of n: 0.85 - 0.08 / sqrt(n / 100)."""
    alpha = Estimate("alpha", 0.85, (Interval("jackknife", 0.95, 0.77, 0.93),))
    label = {"level": "response", "n_pairs": 100, "label_alpha": alpha}
    found = verdict_of(pair_result(matrix(9, 0.5), **label))
    assert found.component("C").note == "about 256 responses instead of 100 would settle it"
    assert found.component("A").note == found.component("C").note


def test_labels_that_pass_by_alpha_are_corrected_by_alpha():
    def label(low):
        alpha = Estimate("alpha", 0.9, (Interval("jackknife", 0.95, low, 0.9 + (0.9 - low)),))
        return pair_result(matrix(9, 0.2), level="response", label_alpha=alpha)

    results = [label(0.88), label(0.81), *(pair_result(matrix(9, 0.3)) for _ in range(18))]
    found = state_multiplicity(results, judge_verdicts(results, STUDY), STUDY)
    assert (len(found.passed), len(found.survived)) == (2, 1)
