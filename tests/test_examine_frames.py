"""Small frames examined beside slow, plain twins; and the corners: one system, constants, runs."""

from __future__ import annotations

import dataclasses
import itertools
import math
import statistics

import numpy as np
import polars as pl
import pytest
from examinations import with_changes

import voirdire
from voirdire.examining import check_requirements, examine_inputs
from voirdire.examining import examine as run_examination
from voirdire.examining.ratings.facts import RESULT_KINDS
from voirdire.examining.ratings.pairing import PAIRS
from voirdire.examining.source import inputs_of
from voirdire.examining.sources import Opened
from voirdire.report.choices import choices_of
from voirdire.study import build_study
from voirdire.tables import from_frame

ITEMS, SYSTEMS = [f"i{i}" for i in range(12)], ["a", "b", "c", "d"]


def frame(
    seed: int = 0,
    raters: tuple[str, ...] = ("human", "judge"),
    missing: float = 0.1,
    runs: int = 1,
    attributes: tuple[str, ...] = ("Empathy", "Safety"),
) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = {s: i for i, s in enumerate(SYSTEMS)}
    rows = []
    for rater, item, system, attribute, run in itertools.product(
        raters, ITEMS, SYSTEMS, attributes, range(1, runs + 1)
    ):
        score = float(np.clip(np.round(1.5 + 0.8 * truth[system] + rng.normal(0, 0.8)), 1, 5))
        rows.append(
            (item, system, rater, run, attribute, None if rng.random() < missing else score)
        )
    return pl.DataFrame(
        rows, schema=["item", "system", "rater", "run", "attribute", "score"], orient="row"
    )


def study(**parts):
    return build_study(
        {
            "name": "t",
            "rubric": {"attributes": ["Empathy", "Safety"], **parts.pop("rubric", {})},
            "data": {"reference": ["human"], **parts.pop("data", {})},
            **parts,
        }
    )


def examine(ratings: pl.DataFrame, **parts):
    made = study(**parts)
    _, tables = from_frame(ratings, reference=made.data.reference)
    inputs = inputs_of(Opened(made, tables))
    return examine_inputs(dataclasses.replace(inputs, findings=()))


def plain_icc(matrix: list[tuple[float, float]]) -> tuple[float, float]:
    """ICC(C,1) and ICC(A,1) by the textbook sums (McGraw and Wong 1996, table 4)."""
    n, k = len(matrix), 2
    grand = sum(map(sum, matrix)) / (n * k)
    rows = [sum(row) / k for row in matrix]
    columns = [sum(row[j] for row in matrix) / n for j in range(k)]
    msr = k * sum((r - grand) ** 2 for r in rows) / (n - 1)
    msc = n * sum((c - grand) ** 2 for c in columns) / (k - 1)
    mse = sum(
        (matrix[i][j] - rows[i] - columns[j] + grand) ** 2 for i in range(n) for j in range(k)
    ) / ((n - 1) * (k - 1))
    return (msr - mse) / (msr + (k - 1) * mse), (msr - mse) / (
        msr + (k - 1) * mse + k / n * (msc - mse)
    )


def plain_pairs(
    ratings: pl.DataFrame, attribute: str, left_out: tuple[str, ...] = ()
) -> list[tuple[str, float, float]]:
    scores = {
        (r["rater"], r["item"], r["system"]): r["score"]
        for r in ratings.iter_rows(named=True)
        if r["attribute"] == attribute
    }
    return [
        (system, scores["human", item, system], scores["judge", item, system])
        for item, system in itertools.product(ITEMS, SYSTEMS)
        if system not in left_out
        and None not in (scores["human", item, system], scores["judge", item, system])
    ]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("left_out", [(), ("b",)])
def test_result_equals_a_plain_computation(seed, left_out):
    ratings = frame(seed)
    found = examine(ratings, panel=[{"name": "judge", "excludes": list(left_out)}])
    for attribute in ("Empathy", "Safety"):
        pairs = plain_pairs(ratings, attribute, left_out)
        matrix = [
            (
                statistics.fmean(h for s, h, _ in pairs if s == system),
                statistics.fmean(j for s, _, j in pairs if s == system),
            )
            for system in SYSTEMS
            if system not in left_out
        ]
        result = found.result("judge", attribute)
        consistency, agreement = plain_icc(matrix)
        assert result.icc_c1 == pytest.approx(consistency, abs=1e-12)
        assert result.icc_a1 == pytest.approx(agreement, abs=1e-12)
        assert result.n_pairs == len(pairs)
        assert result.n_expected == len(ITEMS) * len(matrix)
        assert result.mse == pytest.approx(statistics.fmean((j - h) ** 2 for _, h, j in pairs))
        assert result.bias == pytest.approx(statistics.fmean(j - h for h, j in matrix))
        assert result.excluded_systems == left_out
        assert [pair.system for pair in result.left_out] == list(left_out)


def test_exclusion_by_family_and_that_excludes_wins():
    systems = [
        {"name": "a", "family": "x"},
        {"name": "b", "family": "x"},
        {"name": "c"},
        {"name": "d"},
    ]
    by_family = examine(frame(), systems=systems, panel=[{"name": "judge", "family": "x"}])
    assert by_family.results[0].excluded_systems == ("a", "b")
    wins = examine(
        frame(), systems=systems, panel=[{"name": "judge", "family": "x", "excludes": ["c"]}]
    )
    assert wins.results[0].excluded_systems == ("c",)
    assert wins.results[0].family_rule.n_systems == 2
    nothing = examine(
        frame(), systems=systems, panel=[{"name": "judge", "family": "x", "excludes": []}]
    )
    assert nothing.results[0].excluded_systems == ()


def test_listwise_uses_no_more_pairs_than_pairwise():
    ratings = frame(missing=0.2, raters=("human", "judge", "other"))
    pairwise = examine(ratings).result("judge", "Empathy")
    listwise = examine(ratings, data={"pairs": "listwise"}).result("judge", "Empathy")
    assert 0 < listwise.n_pairs < pairwise.n_pairs


def test_composite_is_missing_where_a_part_is():
    ratings = frame(missing=0.3)
    found = examine(ratings, rubric={"composites": {"All": ["Empathy", "Safety"]}})
    whole = (
        ratings.group_by("item", "system")
        .agg(pl.col("score").is_not_null().all().alias("whole"))["whole"]
        .sum()
    )
    assert found.result("judge", "All").n_pairs == whole
    assert [r.attribute for r in found.rated.composites] == ["All"]


def test_runs_are_averaged_and_said():
    found = examine(frame(runs=3, missing=0), panel=[{"name": "judge", "temperature": 0.7}])
    assert any("averaged" in note and "judge (3)" in note for note in choices_of(found))
    evidence = found.evidence_of("judge", found.attributes[0])
    assert evidence.runs == 3
    # Eight items are too few to tell whether the runs agree.
    assert found.verdict("judge", found.attributes[0], "repeat").reason == "few clusters"


def test_two_systems_have_no_published_class():
    two = frame(missing=0).filter(pl.col("system").is_in(["a", "d"]))
    for result in examine(two).results:
        assert (result.n_systems, result.reliability_class, result.class_exact) == (2, "", "")
        assert not math.isnan(result.icc_c1)


def test_one_judge_one_system_is_a_result_at_response_level():
    ratings = frame().filter(pl.col("system") == "a")
    found = examine(ratings)
    assert {result.level for result in found.results} == {"response"}
    assert found.results[0].n_pairs > 5
    assert found.rated.tests == ()


def test_all_scores_equal_is_a_result_with_a_reason():
    ratings = frame(missing=0).with_columns(pl.lit(4.0).alias("score"))
    result = examine(ratings).results[0]
    assert math.isnan(result.icc_c1)
    assert result.reason == "zero_variance"
    assert result.bias == 0
    assert result.reliability_class == ""


def test_judge_without_pairs_has_a_reason_and_no_number():
    ratings = frame(missing=0).with_columns(
        pl.when(pl.col("rater") == "judge").then(None).otherwise(pl.col("score")).alias("score")
    )
    result = examine(ratings).results[0]
    assert result.n_pairs == 0
    assert result.reason == "no_pairs"
    assert math.isnan(result.icc_c1)
    assert math.isnan(result.bias)
    verdicts = examine(ratings).verdicts
    assert {verdict.state for verdict in verdicts} <= {"no", "not tested"}
    assert "COVER" in verdicts[0].deciding


def test_several_humans_give_a_ceiling_and_each_in_turn():
    ratings = frame(raters=("h1", "h2", "h3", "judge"), missing=0)
    reference = ["h1", "h2", "h3"]
    found = examine(ratings, data={"reference": reference})
    assert {result.judge for result in found.rated.ceiling} == set(reference)
    assert found.results[0].reference == ("h1", "h2", "h3")
    each = examine(ratings, data={"reference": reference, "reference_use": "each"})
    assert [r.reference for r in each.results if r.attribute == "Empathy"] == [
        (name,) for name in reference
    ]


def test_a_quorum_of_humans_is_needed_for_their_mean():
    ratings = frame(raters=("h1", "h2", "h3", "judge"), missing=0.3)
    reference = ["h1", "h2", "h3"]
    loose = examine(ratings, data={"reference": reference}).results[0]
    strict = examine(ratings, data={"reference": reference, "quorum": 3}).results[0]
    of = {
        (r["rater"], r["item"], r["system"]): r["score"]
        for r in ratings.iter_rows(named=True)
        if r["attribute"] == "Empathy"
    }
    whole = [
        (item, system)
        for item, system in itertools.product(ITEMS, SYSTEMS)
        if all(of[rater, item, system] is not None for rater in (*reference, "judge"))
    ]
    assert strict.n_pairs == len(whole) < loose.n_pairs


def test_same_seed_same_result_and_another_seed_moves_only_the_bootstrap():
    ratings = frame()
    one, two = examine(ratings), examine(ratings)
    assert one.results == two.results
    other = examine(ratings, analysis={"seed": 5}).results[0]
    assert other.icc_c1 == one.results[0].icc_c1
    assert other.interval("C,1", "percentile") != one.results[0].interval("C,1", "percentile")
    assert other.interval("C,1", "exact") == one.results[0].interval("C,1", "exact")


def test_measures_over_all_raters_and_pairs():
    found = examine(frame(missing=0), analysis={"measures": ["alpha", "qwk", "icc"]})
    names = [(m.name, m.attribute, m.raters) for m in found.rated.measures]
    assert ("alpha", "Empathy", ("human", "judge")) in names
    assert len(names) == 6
    assert all(not math.isnan(m.estimate.value) for m in found.rated.measures)


def test_unknown_measure_lists_those_there_are():
    with pytest.raises(voirdire.InputError, match=r"measure 'kapa' is unknown \(allowed: icc, "):
        examine(frame(), analysis={"measures": ["kapa"]})


def test_no_reference_says_how_to_name_one():
    with pytest.raises(
        voirdire.QuestionError,
        match=r"held against: 'one', 'two'\? .* Say reference=\['one'\] or reference=\['two'\]",
    ):
        run_examination(frame(raters=("one", "two")))
    with pytest.raises(
        voirdire.InputError,
        match=r"'humna' has no ratings \(did you mean 'human'\? raters: 'human', 'judge'",
    ):
        run_examination(frame(), reference=["humna"])


def test_only_the_reference_is_no_panel():
    with pytest.raises(
        voirdire.InputError, match=r"no judge to examine: all raters are the reference \(human\)$"
    ):
        run_examination(frame(raters=("human",)), reference=["human"])


def test_a_panel_that_has_not_rated_yet_is_told_to_run(tmp_path):
    frame(raters=("human",)).write_csv(tmp_path / "human.csv")
    study = {
        "name": "later",
        "data": {"reference": ["human"], "sources": [{"path": "human.csv"}]},
        "panel": [{"name": "north", "use": "rubric", "model": "simulated:north"}],
    }
    with pytest.raises(voirdire.InputError, match="; not rated yet, voirdire run asks them: north"):
        run_examination(build_study(study, folder=str(tmp_path)))


@pytest.fixture(scope="module")
def found():
    return examine(frame(missing=0))


def test_an_examination_is_printed_in_one_line_and_hands_out_its_verdicts(found):
    verdict = found.verdict("judge", "Safety", "order")
    assert (verdict.judge, verdict.attribute, verdict.use) == ("judge", "Safety", "order")
    assert found.verdict("judge", "Safety", "order", "systems to come").target != verdict.target
    assert found.evidence_of("judge", "Safety").n_responses > 0
    with pytest.raises(KeyError):
        found.verdict("judge", "Warmth", "order")
    with pytest.raises(KeyError):
        found.evidence_of("judge", "Warmth")
    said = repr(found)
    assert said.startswith("Examination(study='t', judges=('judge',), attributes=('Empathy', ")
    assert f"'{verdict.state}': " in said
    assert len(said) < 250


def test_what_no_reference_was_asked_about_is_no_missing_pair():
    """Humans often rate a part of what a judge rates; a score that they owe is still missing."""
    whole = frame(missing=0)
    part = whole.filter((pl.col("rater") != "human") | pl.col("item").is_in(ITEMS[:6]))
    (result, *_) = examine(part).results
    assert result.n_pairs == result.n_expected == 6 * len(SYSTEMS)
    owed = (pl.col("rater") == "human") & (pl.col("item") == ITEMS[0])
    (result, *_) = examine(
        part.with_columns(score=pl.when(owed).then(None).otherwise("score"))
    ).results
    assert (result.n_pairs, result.n_expected) == (5 * len(SYSTEMS), 6 * len(SYSTEMS))
    lacking = part.filter((pl.col("rater") == "human") | (pl.col("item") != ITEMS[0]))
    (result, *_) = examine(lacking).results
    assert (result.n_pairs, result.n_expected) == (5 * len(SYSTEMS), 6 * len(SYSTEMS))


class TestRequirements:
    def test_met(self, found):
        gates = ["icc_c1>=-1", "mse <= 99", "bias_normalised@Safety<=1", "icc_c1@judge<=1"]
        met = check_requirements(found, gates)
        assert met[-1].startswith("requirement met: icc_c1@judge<=1 (highest ")
        assert all(result.icc_c1 >= -1 for result in found.results)

    def test_unmet_names_judge_attribute_and_value(self, found):
        with pytest.raises(
            voirdire.RequirementUnmetError,
            match=r"icc_a1 of judge on Empathy is \d\.\d{3}, required >= 2",
        ):
            check_requirements(found, ["icc_a1>=2"])

    def test_a_gate_on_one_judge_asks_nothing_of_another(self):
        two = examine(frame(missing=0, raters=("human", "north", "south")))
        for name, other in (("north", "south"), ("south", "north")):
            with pytest.raises(voirdire.RequirementUnmetError, match=f"n_pairs of {name}") as unmet:
                check_requirements(two, [f"n_pairs@{name}>=1000000"])
            assert other not in str(unmet.value)

    def test_a_gate_without_any_result_says_what_lacks(self):
        alone = with_changes(examine(frame(missing=0)), results=(), composites=())
        with pytest.raises(voirdire.InputError, match="no judge was held against a reference"):
            check_requirements(alone, ["icc_a1>=0"])

    def test_several_references_are_named(self):
        each = {"reference": ["human", "third"], "reference_use": "each"}
        found = examine(frame(missing=0, raters=("human", "third", "judge")), data=each)
        with pytest.raises(voirdire.RequirementUnmetError, match="Empathy against third is"):
            check_requirements(found, ["icc_a1>=2"])

    def test_undefined_does_not_meet_a_gate(self):
        constant = examine(frame(missing=0).with_columns(pl.lit(4.0).alias("score")))
        with pytest.raises(voirdire.RequirementUnmetError, match="is undefined"):
            check_requirements(constant, ["icc_c1>=0"])

    @pytest.mark.parametrize(
        ("gate", "message"),
        [
            ("icc_a1", "cannot be read"),
            ("icc_a1 => 1", "cannot be read"),
            ("iccc>=1", "there is no number 'iccc'"),
            ("icc_a1@Warmth>=1", r"'Warmth' \(attributes: Empathy, Safety; judges: judge\)"),
            ("icc_a1>=1e", "'1e' is not a number"),
        ],
    )
    def test_bad_gates_are_named(self, found, gate, message):
        with pytest.raises(voirdire.InputError, match=message):
            check_requirements(found, [gate])


def label_pairs(items: int, differ: int, named: int) -> pl.DataFrame:
    """Human and judge on one label: `named` items bear it, the judge differs on the last ones."""
    truth = [float(at < named) for at in range(items)]
    seen = [1 - v if at >= items - differ else v for at, v in enumerate(truth)]
    rows = [
        (f"i{at}", rater, "Empathy", scores[at])
        for rater, scores in (("human", truth), ("judge", seen))
        for at in range(items)
    ]
    return pl.DataFrame(rows, schema=["item", "rater", "attribute", "score"], orient="row")


@pytest.mark.parametrize(
    ("differ", "named", "state"), [(4, 100, "yes"), (80, 100, "no"), (18, 100, "open")]
)
def test_a_label_is_a_gate_of_its_own(differ, named, state):
    """200 items; the judge differs on the last ones, which do not bear the label."""
    rubric = {"scale": [0, 1], "attributes": ["Empathy"]}
    found = examine(label_pairs(200, differ, named), rubric=rubric)
    verdict, (result,) = found.verdict("judge", "Empathy", "gate"), found.results
    assert verdict.state == state
    assert verdict.component("SPEC").estimate == pytest.approx(1 - differ / (200 - named))
    alpha = found.evidence_of("judge", "Empathy").responses["alpha"].value
    assert alpha == pytest.approx(result.alpha_ordinal)  # on two levels they are one


def test_a_label_that_three_items_bear_is_not_tested():
    rubric = {"scale": [0, 1], "attributes": ["Empathy"]}
    found = examine(label_pairs(200, 0, 3), rubric=rubric)
    verdict = found.verdict("judge", "Empathy", "gate")
    assert (verdict.state, verdict.reason) == ("not tested", "few failures")


def test_the_kinds_of_a_result_are_those_of_its_fields():
    """A field that holds one value and is left out of the kinds would be lost from icc.csv."""
    found = examine(frame()).results[0]
    one_value = {
        part.name
        for part in dataclasses.fields(found)
        if isinstance(getattr(found, part.name), str | int | float)
    }
    assert one_value | {"reason"} == set(RESULT_KINDS)
    for name, kind in RESULT_KINDS.items():
        assert isinstance(getattr(found, name), (kind, type(None)) if name == "reason" else kind), (
            name
        )


def test_the_pairs_are_those_that_the_results_rest_on():
    ratings = frame(raters=("h1", "h2", "judge"), missing=0.2, runs=2)
    found = examine(
        ratings,
        data={"reference": ["h1", "h2"], "reference_use": "each"},
        panel=[{"name": "judge", "excludes": ["c"]}],
    )
    assert found.rated.pairs.columns == list(PAIRS)
    for position, result in enumerate(found.results):
        own = found.rated.pairs.filter(pl.col("result") == position)
        assert own.height == result.n_pairs > 0
        assert set(own["judge"]) == {result.judge}
        assert set(own["attribute"]) == {result.attribute}
        assert "c" not in own["system"]
        gap = own["score"] - own["reference"]
        assert math.sqrt((gap**2).mean()) == pytest.approx(result.rmse)
    # Runs are averaged over those that have a score: each pair beside the plain means.
    keys = ("item", "system", "attribute", "rater")
    means = ratings.group_by(keys).agg(pl.col("score").mean())
    plain = {row[:4]: row[4] for row in means.iter_rows()}
    for pair in found.rated.pairs.filter(pl.col("result") == 0).iter_rows(named=True):
        at = pair["item"], pair["system"], pair["attribute"]
        assert pair["score"] == plain[*at, "judge"]
        assert pair["reference"] == plain[*at, "h1"]


def test_the_widest_disagreements_come_first_and_are_told_apart_by_reference():
    scores = {"h1": [1, 1, 1, 4], "h2": [5, 5, 5, 5], "judge": [5, 3, 1, 4]}
    rows = [(f"i{i}", r, s) for r, given in scores.items() for i, s in enumerate(given)]
    frame = pl.DataFrame(rows, schema=["item", "rater", "score"], orient="row")
    made = build_study({"name": "t", "data": {"reference": ["h1", "h2"], "reference_use": "each"}})
    found = examine_inputs(inputs_of(Opened(made, from_frame(frame, reference=["h1", "h2"])[1])))
    worst = found.rated.disagreements
    assert worst.columns == [
        "judge", "reference_at", "item", "system", "gap", "attribute", "score", "reference",
    ]  # fmt: skip
    assert worst.select("reference_at", "item", "gap").rows()[:3] == [
        (0, "i0", 4.0), (1, "i2", 4.0), (0, "i1", 2.0),
    ]  # fmt: skip
    assert worst["system"].null_count() == worst.height == 8
    assert worst.row(0, named=True)["score"] == [5.0]


@pytest.mark.parametrize("named", [None, ["human1", "human2"]])
def test_two_people_and_no_judge_give_their_agreement(tmp_path, named):
    rows = [(f"i{k}", k % 5 + 1, (k * 3) % 5 + 1 if k % 4 == 0 else k % 5 + 1) for k in range(60)]
    path = tmp_path / "people.csv"
    pl.DataFrame(rows, schema=["item", "human1", "human2"], orient="row").write_csv(path)
    found = voirdire.examine(path, reference=named, resamples=100)
    assert found.verdicts == ()
    by_name = {one.name: one for one in found.rated.measures}
    table = pl.read_csv(path)
    same = (table["human1"] == table["human2"]).mean()
    assert by_name["agreement"].estimate.value == pytest.approx(same)
    apart = (table["human1"] - table["human2"]).mean()
    assert abs(by_name["bias"].estimate.value) == pytest.approx(abs(apart), abs=1e-12)
    assert found.summary().startswith("human1 and human2 agree at 0.88 [")
