"""Two to four systems: pairs with their intervals; no correlation of so few means is shown."""

from __future__ import annotations

import json

import numpy as np
import pytest

import voirdire
from voirdire.examining.simulate import simulate_panel, tidy_ratings
from voirdire.examining.spec import COMPONENTS
from voirdire.examining.spec.scores.case import Case
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.examining.verdict.decide import AskedUse, decide
from voirdire.report import write_outputs
from voirdire.report.records import icc_frame
from voirdire.report.words import for_display
from voirdire.study import Margins

PEOPLE = ["human-1", "human-2", "human-3"]


def two(apart, judged, seed=0, items=150):
    """Systems a and b, b so many points better for people and for the judge."""
    rng = np.random.default_rng([seed, 3])
    quality = 3 + rng.normal(0, 0.6, (2, items))
    quality -= quality.mean(axis=1, keepdims=True) - 3
    humans = quality + np.array([[0], [apart]]) + rng.normal(0, 0.6, (3, 2, items))
    judge = quality + np.array([[0], [judged]]) + rng.normal(0, 0.6, (2, items))
    system = np.repeat(["a", "b"], items)
    case = Case(
        "judge",
        "tone",
        ("x", "y", "z"),
        judge.reshape(1, -1),
        humans.reshape(3, -1),
        np.tile(np.arange(items), 2),
        4.0,
        systems=system,
    )
    return ScoreGround(case, Margins())


@pytest.mark.parametrize(
    ("apart", "judged", "state"),
    [
        (0.6, 0.5, "yes"),
        (-0.6, -0.5, "yes"),
        (0.6, -0.5, "no"),
        (0.6, 0.0, "open"),
        (0.0, 0.6, "open"),
    ],
)
def test_two_systems_are_ordered_by_the_sign_of_their_difference(apart, judged, state):
    for seed in range(4):
        found = two(apart, judged, seed)
        (part,) = found.of("PAIRS")
        assert part.state == state
        assert (part.p <= 0.05) == (state == "yes")
        made = decide(found, AskedUse("order", "these systems"))
        assert made.state == state
        if state != "open":
            assert part.at == (("b", "a") if apart > 0 else ("a", "b"))
            assert part.low <= part.judge <= part.high


def test_the_difference_and_its_interval_are_those_of_a_paired_t_test():
    from scipy import stats as scipy_stats

    found = two(0.6, 0.5)
    judge = found.case.scores[0].reshape(2, -1)
    test = scipy_stats.ttest_rel(judge[1], judge[0]).confidence_interval(0.95)
    (part,) = found.of("PAIRS")
    assert (part.low, part.high) == pytest.approx((test.low, test.high), abs=1e-9)


@pytest.mark.parametrize("systems", [2, 3, 4])
def test_no_figure_table_or_latex_shows_a_correlation_of_so_few_means(tmp_path, systems):
    ratings = tidy_ratings(simulate_panel(systems, 60, 4, kinds=("good", "noisy")), "tone")
    found = voirdire.examine(ratings, reference=PEOPLE, resamples=50)
    seen = for_display(found)
    assert all(np.isnan([one.icc_c1, one.icc_a1, one.pearson_r]).all() for one in seen.results)
    write_outputs(found, tmp_path, ["html", "tex", "md", "csv", "json"], figures=True)
    rows = icc_frame(found).to_dicts()
    kept = json.loads((tmp_path / "results.json").read_text("utf-8"))
    for one in (*rows, *kept["results"], *kept["ceiling"]):
        assert {one[key] for key in ("icc_c1", "icc_a1", "pearson_r", "ccc")} == {None}
        assert not one["band"]
    assert {one.get("icc_c1_f_low") for one in rows} == {None}
    names = {path.stem for path in (tmp_path / "figures").iterdir()}
    assert not names & {"forest", "heatmaps"}
    coefficient = f"{found.results[0].icc_c1:.3f}"
    for name in ("tables.tex", "tables.md"):
        text = (tmp_path / name).read_text("utf-8")
        assert coefficient not in text.split("Consistency and agreement")[1][:600]
    kinds = {part.name for one in found.evidence for part in one.components}
    assert not kinds & {"ORDER", "AGREE"}
    shown = {COMPONENTS[name].unit for name in ("PAIRS", "APART")}
    assert shown == {"points"}


def test_five_systems_are_correlated_as_before():
    ratings = tidy_ratings(simulate_panel(5, 60, 4, kinds=("good",)), "tone")
    found = voirdire.examine(ratings, reference=PEOPLE, resamples=0)
    assert for_display(found) is found
    kinds = {part.name for one in found.evidence for part in one.components}
    assert "ORDER" in kinds
    assert not kinds & {"PAIRS", "APART"}


@pytest.mark.parametrize("systems", [3, 8])
def test_means_of_systems_that_people_do_not_tell_apart_are_not_quoted(systems):
    rng = np.random.default_rng(systems)
    shape = (systems, 200)
    quality = 3 + rng.normal(0, 0.6, shape)
    quality -= quality.mean(axis=1, keepdims=True) - 3
    humans, judge = quality + rng.normal(0, 0.6, (3, *shape)), quality + rng.normal(0, 0.3, shape)
    system, item = (part.ravel() for part in np.indices(shape))
    case = Case(
        "judge",
        "tone",
        ("x", "y", "z"),
        judge.reshape(1, -1),
        humans.reshape(3, -1),
        item,
        4.0,
        systems=system,
    )
    made = decide(ScoreGround(case, Margins()), AskedUse("score", "these systems"))
    assert (made.state, made.reason) == ("not tested", "humans alike")
    assert decide(ScoreGround(case, Margins()), AskedUse("single", "these systems")).state == "yes"
