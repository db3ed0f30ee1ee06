"""Properties of the verdict that hold for any panel, through `voirdire.examine`."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import voirdire
from voirdire.examining.correcting import calibrate_ratings
from voirdire.examining.simulate import simulate_panel, tidy_ratings
from voirdire.stats import ClusterSums
from voirdire.study import AttributeSpec, Data, RubricSpec, Source, Study, System

SYSTEMS = ("a", "b", "c", "d")
SEEDS = st.integers(0, 10_000)
FEW = settings(max_examples=6, deadline=None, derandomize=True)


def panel(seed, items=60, raters=2):
    """Long ratings of humans and of a judge that reads, on 1 to 5; complete."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(3, 0.6, (len(SYSTEMS), 1)) + rng.normal(0, 0.7, (len(SYSTEMS), items))
    rows = []
    for name in (*(f"human {k}" for k in range(raters)), "judge"):
        scores = np.clip(np.rint(quality + rng.normal(0, 0.6, quality.shape)), 1, 5)
        rows += [
            {"item": f"q{i}", "system": system, "rater": name, "score": scores[s, i]}
            for s, system in enumerate(SYSTEMS)
            for i in range(items)
        ]
    return pl.DataFrame(rows)


def study_of(folder, frames, shift=0.0, critical=False, names=SYSTEMS):
    """A study on files, its scale declared: a shift of all scores is then a shift of the scale."""
    sources = []
    for k, frame in enumerate(frames):
        frame.write_csv(folder / f"part {k}.csv")
        sources.append(Source(path=str(folder / f"part {k}.csv"), layout="long"))
    humans = sorted(
        name for name in pl.concat(frames)["rater"].unique() if name.startswith("human")
    )
    return Study(
        name="panel",
        data=Data(sources=tuple(sources), reference=tuple(humans)),
        rubric=RubricSpec(
            scale=(1 + shift, 5 + shift),
            attributes=(AttributeSpec(name="score", safety_critical=critical),),
        ),
        systems=tuple(System(name=name) for name in names),
    )


def states(found):
    return {(v.use, v.target): v.state for v in found.verdicts}


def facts(found):
    """States of uses, and every component, names of systems aside."""
    parts = {
        part.name: (part.state, *(f"{x:.8f}" for x in (part.estimate, part.low, part.high, part.p)))
        for part in found.evidence[0].components
    }
    return states(found), parts


def examined(frame, humans=2):
    return voirdire.examine(
        frame, reference=[f"human {k}" for k in range(humans)], resamples=0, gate=4
    )


@FEW
@given(SEEDS)
def test_order_of_rows_and_names_of_systems_change_nothing(seed):
    frame = panel(seed)
    wanted = facts(examined(frame))
    assert facts(examined(frame.sample(fraction=1, shuffle=True, seed=seed)))[1] == wanted[1]
    names = dict(zip(SYSTEMS, ("zeta", "10", "Ä b", "x"), strict=True))
    named = frame.with_columns(pl.col("system").replace_strict(names))
    assert facts(examined(named)) == wanted


@pytest.mark.parametrize("seed", range(2))
def test_one_number_added_and_split_files_change_nothing(tmp_path, seed):
    frame = panel(seed)
    (tmp_path / "one").mkdir()
    wanted = facts(voirdire.examine(study_of(tmp_path / "one", [frame]), resamples=0))
    for name, frames, shift in (
        ("shifted", [frame.with_columns(pl.col("score") + 20)], 20.0),
        ("below", [frame.with_columns(pl.col("score") - 7)], -7.0),
        ("split", [part for _, part in frame.group_by("rater", maintain_order=True)], 0.0),
        ("halves", [frame.filter(item_is(0)), frame.filter(item_is(1))], 0.0),
    ):
        (tmp_path / name).mkdir()
        study = study_of(tmp_path / name, frames, shift)
        assert facts(voirdire.examine(study, resamples=0)) == wanted, name


def item_is(rest):
    return pl.col("item").str.slice(1).cast(pl.Int64) % 2 == rest


@FEW
@given(SEEDS)
def test_a_judge_permuted_within_systems_never_stands_in_or_gates(seed):
    frame = panel(seed)
    rng = np.random.default_rng(seed)
    judge = frame.filter(pl.col("rater") == "judge")
    mixed = judge.with_columns(
        pl.concat(
            [
                pl.Series("score", rng.permutation(own["score"].to_numpy()))
                for _, own in judge.group_by("system", maintain_order=True)
            ]
        )
    )
    found = states(examined(pl.concat([frame.filter(pl.col("rater") != "judge"), mixed])))
    assert found["single", "these systems"] != "yes"
    assert found["gate", "these systems"] != "yes"


@FEW
@given(SEEDS, st.sampled_from([1, 2, 3, 3.5, 5]))
def test_a_constant_gets_no_yes_and_is_named_as_one(seed, value):
    score = pl.when(pl.col("rater") == "judge").then(float(value)).otherwise("score")
    found = examined(panel(seed).with_columns(score=score))
    assert "yes" not in states(found).values()
    assert found.evidence[0].constant == value
    assert found.verdict("judge", "score", "order").reason == "constant"


@FEW
@given(SEEDS, st.integers(1, 59))
def test_sums_of_a_partition_are_the_sums_of_the_whole(seed, cut):
    """Items in two parts, each summed by itself, give the sums that every statistic is made of."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, 60))
    columns = np.stack([x * y, np.ones(60)], axis=1)
    whole, left, right = (
        ClusterSums.of(columns[part], np.arange(60)[part])
        for part in (slice(None), slice(None, cut), slice(cut, None))
    )
    for both in (left + right, right + left):
        assert both.clusters.tolist() == whole.clusters.tolist()
        assert both.table == pytest.approx(whole.table, abs=1e-12)


def test_a_safety_critical_attribute_never_gets_a_stand_in_or_a_gate(tmp_path):
    frame = panel(3, items=200, raters=3)
    humans = frame.filter(pl.col("rater") == "human 0")["score"].to_numpy()
    judge = frame.filter(pl.col("rater") == "judge").with_columns(score=pl.Series(humans))
    frame = pl.concat([frame.filter(pl.col("rater") != "judge"), judge])
    for critical in (False, True):
        (tmp_path / str(critical)).mkdir()
        study = study_of(tmp_path / str(critical), [frame], critical=critical)
        found = voirdire.examine(study, resamples=0, gate=4)
        for use in ("single", "gate"):
            verdict = found.verdict("judge", "score", use)
            expected = ("no", "safety-critical") if critical else ("yes", "")
            assert (verdict.state, verdict.reason) == expected, use


def test_a_careless_human_of_three_is_found_left_out_and_a_serious_finding():
    frame = panel(5, items=150, raters=3)
    rng = np.random.default_rng(0)
    lots = pl.Series(rng.integers(1, 6, len(frame)).astype(float))
    score = pl.when(pl.col("rater") == "human 1").then(lots).otherwise("score")
    found = examined(frame.with_columns(score=score), humans=3)
    (careless,) = found.evidence[0].careless
    assert careless.human == "human 1"
    assert found.evidence[0].reference == ("human 0", "human 2")
    (said,) = [one for one in found.findings if one.kind == "careless_human"]
    assert said.severity == "serious"
    assert "human 1" in said.message
    assert said.consequence == "Left out of the verdicts there."


def test_the_advice_to_calibrate_is_what_calibration_comes_to_with_a_careless_human():
    """A careless human alone labelled some items: these teach the lines, and test nothing."""
    frame = panel(5, items=150, raters=3)
    rng = np.random.default_rng(0)
    lots = pl.Series(rng.integers(1, 6, len(frame)).astype(float))
    strict = (pl.col("score") - 1).clip(1, 5)
    lone = pl.col("item").str.slice(1).cast(pl.Int64) >= 130
    frame = frame.with_columns(
        score=pl.when(pl.col("rater") == "human 1")
        .then(lots)
        .when(pl.col("rater") == "judge")
        .then(strict)
        .otherwise("score")
    ).filter(~lone | ~pl.col("rater").is_in(["human 0", "human 2"]))
    found = examined(frame, humans=3)
    assert [one.human for one in found.evidence[0].careless] == ["human 1"]
    step = found.verdict("judge", "score", "score").next
    humans = [f"human {k}" for k in range(3)]
    (calibrated,) = calibrate_ratings(frame, reference=humans).calibrations.judges
    assert (step.action, step.after) == ("calibrate", calibrated.after.state)


def test_every_yes_is_shown_at_five_per_cent_and_holm_leaves_the_only_one_as_it_is():
    """A yes is a set of one-sided tests at 5 %, and Holm leaves a test that is alone as it is."""
    found = examined(panel(5, items=150), humans=2)
    yes = [verdict for verdict in found.verdicts if verdict.state == "yes"]
    assert len(yes) > 2
    for verdict in yes:
        assert verdict.p == max(part.p for part in verdict.components) <= 0.05, verdict.use
        assert verdict.p_holm == verdict.p
    cover = found.evidence[0].component("COVER")
    assert (cover.state, cover.p) == ("yes", 0.0)


def test_a_stream_advises_to_calibrate_and_cannot_say_what_comes_of_it(tmp_path):
    """Distinct rows of ratings stand for responses in several folds at once."""
    strict = (pl.col("score") - 1).clip(1, 5)
    judged = pl.when(pl.col("rater") == "judge").then(strict).otherwise("score")
    panel(5, items=150).with_columns(score=judged).write_parquet(tmp_path / "ratings.parquet")
    steps = {
        streaming: voirdire.examine(
            tmp_path / "ratings.parquet",
            reference=["human 0", "human 1"],
            resamples=0,
            streaming=streaming,
        )
        .verdict("judge", "score", "score")
        .next
        for streaming in (False, True)
    }
    assert [step.action for step in steps.values()] == ["calibrate", "calibrate"]
    assert steps[False].after is not None
    assert steps[True].after is None


def test_a_component_is_yes_exactly_where_its_p_says_so():
    """One-sided at 5 %, and for reading at 0.5 %: state and p are two views of one test."""
    kinds = ("good", "lenient", "noisy", "flat", "partisan", "one system", "blind with noise")
    people = simulate_panel(5, 120, 4, kinds=kinds)
    found = voirdire.examine(
        tidy_ratings(people, "tone"),
        reference=["human-1", "human-2", "human-3"],
        resamples=0,
        gate=4,
    )
    states = set()
    for evidence in found.evidence:
        for part in evidence.components:
            # A pair of systems is clear for either of two reasons, so that its p is no single one.
            if part.state == "not tested" or part.reason or part.name == "REVERSE":
                continue
            sure = 0.005 if part.name in {"READ", "GREAD"} else 0.05
            assert (part.p <= sure) == (part.state == "yes"), (evidence.judge, part)
            states.add(part.state)
    assert states == {"yes", "open", "no"}


@pytest.mark.parametrize(("whose", "beyond"), [("human", 2.0), ("judge", 0.5)])
def test_a_judge_that_spreads_too_far_or_too_little_has_no_slope_to_be_trusted(whose, beyond):
    own = pl.col("rater").str.starts_with(whose)
    calm = pl.when(own).then(3 + 0.3 * (pl.col("score") - 3)).otherwise("score")
    slope = examined(panel(5, items=150).with_columns(score=calm)).evidence[0].component("SLOPE")
    assert (slope.estimate > beyond) == (whose == "human")
    assert slope.state == "no"
    assert slope.p > 0.95


def test_a_judge_that_repeats_a_human_is_a_serious_finding():
    """A copy is as good as that human, so the verdict cannot tell; the equal scores do."""
    frame = panel(7, items=60, raters=2)
    rng = np.random.default_rng(1)
    human = frame.filter(pl.col("rater") == "human 0")["score"].to_numpy()
    judge = frame.filter(pl.col("rater") == "judge")
    own = judge["score"].to_numpy()
    near = np.where(rng.random(len(own)) < 0.1, own, human)
    for scores, words in ((human, "on every response"), (near, "too often")):
        copy = judge.with_columns(score=pl.Series(scores))
        found = examined(pl.concat([frame.filter(pl.col("rater") != "judge"), copy]), humans=2)
        (said,) = [one for one in found.findings if one.kind == "judge_equals_human"]
        assert said.severity == "serious"
        assert f"judge gives the scores of human 0 {words} (score)." == said.message
        assert {one.state for one in found.verdicts} == {"not tested"}
        assert next(one.reason for one in found.verdicts if one.use == "order") == "blocked"
    assert not [one for one in examined(frame, humans=2).findings if "equals" in one.kind]


def test_a_family_a_subgroup_and_clusters_of_a_file_reach_the_verdict(tmp_path):
    frame = panel(2, items=120).with_columns(
        dialogue="d" + (pl.col("item").str.slice(1).cast(pl.Int64) // 2).cast(pl.String),
        topic=pl.when(item_is(0)).then(pl.lit("grief")).otherwise(pl.lit("other")),
    )
    frame.write_csv(tmp_path / "ratings.csv")
    (tmp_path / "study.toml").write_text(
        '[data]\nreference = ["human 0", "human 1"]\n'
        '[[data.sources]]\npath = "ratings.csv"\ncluster = "dialogue"\nsubgroup = "topic"\n'
        '[rubric]\nscale = [1, 5]\nattributes = ["score"]\n'
        '[[systems]]\nname = "a"\nfamily = "x"\n[[systems]]\nname = "b"\n[[systems]]\nname = "c"\n'
        '[[systems]]\nname = "d"\n[[panel]]\nname = "judge"\nfamily = "x"\nexcludes = []\n'
    )
    found = voirdire.examine(tmp_path / "study.toml", resamples=0)
    names = {part.name for part in found.evidence[0].components}
    assert {"FAM", "SUB", "SUBITEM"} <= names
    assert (found.evidence[0].clusters, found.evidence[0].clustered) == (60, True)
    assert found.verdict("judge", "score", "order").component("READ").df == 59


def test_labels_on_a_third_of_what_was_judged_count_as_such():
    frame = panel(4, items=150, raters=1)
    human = pl.col("rater") == "human 0"
    third = pl.col("item").str.slice(1).cast(pl.Int64) % 3 == 0
    found = examined(frame.filter(~human | third), humans=1)
    seen = found.evidence[0]
    assert (seen.n_judged, seen.n_labelled, seen.n_responses) == (600, 200, 200)
    gain = found.verdict("judge", "score", "estimate").component("GAIN")
    cover = next(part for part in seen.components if part.name == "COVER")
    assert (cover.state, cover.estimate) == ("yes", 1.0)
    assert 1 < gain.estimate < 3  # at best three labels for one
