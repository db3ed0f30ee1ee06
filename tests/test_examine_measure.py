"""`voirdire.measure`: coefficients of a table, for people who only want numbers."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest
from command_line import typed

import voirdire
from voirdire import stats
from voirdire.examining.spec import COEFFICIENTS

RATERS = ("anna", "ben", "cy")
ANALYTIC = {"cluster_jackknife", "f", "t", "wald", "fisher_z", "percentile"}


def scores():
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 6, 60)
    R = np.clip(truth[:, None] + rng.integers(-1, 2, (60, 3)), 1, 5).astype(float)
    R[:7, 2] = np.nan
    return R


def wide(R):
    columns = dict(zip(RATERS, R.T, strict=True))
    return pl.DataFrame({"item": range(len(R)), **columns}).fill_nan(None)


def row(frame, *raters):
    (found,) = [one for one in frame.to_dicts() if one["raters"] == list(raters or RATERS)]
    return found


@pytest.mark.parametrize(
    ("name", "statistic"),
    [
        ("icc", lambda R: voirdire.icc(R, "A,1")),
        ("icc_c1", lambda R: voirdire.icc(R, "C,1")),
        ("alpha", lambda R: voirdire.krippendorff_alpha(R, "ordinal", ci="percentile")),
        ("alpha_nominal", lambda R: voirdire.krippendorff_alpha(R, "nominal", ci="percentile")),
        ("fleiss", lambda R: voirdire.fleiss_kappa(R, ci="t")),
        ("ac2", lambda R: voirdire.gwet_ac(R, weights="quadratic", ci="t")),
        ("agreement", lambda R: voirdire.joint_agreement(R, ci="t")),
    ],
)
def test_a_table_gives_what_its_array_gives(name, statistic):
    R = scores()
    found, right = row(voirdire.measure(wide(R), [name], raters=RATERS)), statistic(R)
    assert found["measure"] == right.statistic
    assert found["value"] == pytest.approx(right.value, abs=1e-12)
    assert (found["n"], found["k"]) == (right.n, 3)
    assert found["interval"] == right.intervals[0].method
    assert (found["low"], found["high"]) == pytest.approx(
        (right.intervals[0].low, right.intervals[0].high)
    )


def test_every_measure_comes_with_an_interval():
    found = voirdire.measure(wide(scores()), list(COEFFICIENTS), raters=RATERS)
    assert len(found) == sum(1 if one.of == "all" else 3 for one in COEFFICIENTS.values())
    assert set(found["interval"]) == ANALYTIC
    assert found["reason"].null_count() == len(found)
    assert (found["low"] <= found["value"]).all()
    assert (found["value"] <= found["high"]).all()


def test_pairs_of_raters_are_named():
    R = scores()
    found = voirdire.measure(wide(R), ["qwk"], raters=RATERS)
    right = voirdire.cohen_kappa(R[:, 1], R[:, 2], weights="quadratic", levels=range(1, 6))
    assert row(found, "ben", "cy")["value"] == pytest.approx(right.value)
    assert row(found, "ben", "cy")["n"] == 53


def test_attributes_stand_apart_and_undefined_is_null_with_a_reason():
    frame = pl.DataFrame(
        {
            "item": [1, 1, 2, 2, 3, 3] * 2,
            "rater": ["anna", "ben"] * 6,
            "attribute": ["warmth"] * 6 + ["safety"] * 6,
            "score": [1, 1, 2, 2, 5, 4] + [3] * 6,
        }
    )
    found = voirdire.measure(frame, ["icc", "fleiss"])
    warmth, safety = (found.filter(attribute=name) for name in ("warmth", "safety"))
    assert warmth["value"].null_count() == 0
    assert safety["value"].to_list() == safety["low"].to_list() == [None, None]
    assert safety["reason"].to_list() == ["zero_variance", "zero_expected_disagreement"]


def test_files_and_errors(tmp_path):
    path = tmp_path / "ratings.csv"
    wide(scores()).write_csv(path)
    found = voirdire.measure(path, ["alpha"], raters=RATERS)
    assert found.equals(voirdire.measure(wide(scores()), ["alpha"], raters=RATERS))
    assert not math.isnan(found["value"][0])
    with pytest.raises(voirdire.InputError, match=r"measure 'kapa' is unknown \(allowed: icc, "):
        voirdire.measure(path, ["kapa"], raters=RATERS)


def test_the_command_prints_them_without_a_reference(tmp_path):
    long = wide(scores()).unpivot(index="item", variable_name="rater", value_name="score")
    long.write_csv(tmp_path / "ratings.csv")
    done = typed("examine", "ratings.csv", "--measure", "icc,alpha", cwd=tmp_path, COLUMNS="120")
    assert done.returncode == 0
    lines = [line for line in done.stdout.splitlines() if line.startswith(("ICC(A,1)", "alpha"))]
    right = voirdire.icc(scores(), "A,1"), voirdire.krippendorff_alpha(scores(), "ordinal")
    assert len(lines) == 2
    assert all(f"{one.value:.3f}" in line for one, line in zip(right, lines, strict=True))
    assert "No verdict" in done.stdout


def humans_and_judges():
    R = scores()
    frame = wide(R).rename({"cy": "gpt"})
    return frame.with_columns(claude=pl.Series(np.clip(R[:, 0] + 1, 1, 5)))


def test_a_paper_gets_its_humans_alone_beside_the_verdicts():
    frame, R = humans_and_judges(), scores()
    found = voirdire.examine(
        frame, reference=["anna", "ben"], measures=["alpha"], raters=["humans"], resamples=0
    )
    (alpha,) = found.rated.measures
    assert alpha.raters == ("anna", "ben")
    right = voirdire.krippendorff_alpha(R[:, :2], "ordinal", levels=range(1, 6))
    assert alpha.estimate.value == pytest.approx(right.value)
    judges = voirdire.examine(
        frame, reference=["anna", "ben"], measures=["icc"], raters=["judges"], resamples=0
    )
    assert judges.rated.measures[0].raters == ("gpt", "claude")
    named = voirdire.examine(
        frame, reference=["anna", "ben"], measures=["icc"], raters=["anna", "gpt"], resamples=0
    )
    assert named.rated.measures[0].raters == ("anna", "gpt")
    assert {verdict.judge for verdict in named.verdicts} == {"gpt", "claude"}


@pytest.mark.parametrize(
    ("raters", "message"),
    [
        (["people"], "rater 'people' is unknown"),
        (["anna"], "a measure needs two raters, and anna gives anna"),
    ],
)
def test_raters_that_cannot_be_measured(raters, message):
    with pytest.raises(voirdire.InputError, match=message):
        voirdire.examine(
            humans_and_judges(), reference=["anna", "ben"], measures=["icc"], raters=raters
        )


def test_the_command_and_a_study_take_raters(tmp_path):
    humans_and_judges().write_csv(tmp_path / "ratings.csv")
    (tmp_path / "study.toml").write_text(
        '[data]\nreference = ["anna", "ben"]\n[[data.sources]]\npath = "ratings.csv"\n'
        '[[panel]]\nname = "anna"\nkind = "human"\n[[panel]]\nname = "ben"\nkind = "human"\n'
        '[rubric]\nattributes = ["score"]\n[analysis]\nmeasures = ["icc"]\nraters = ["humans"]\n'
    )
    asked = ["ratings.csv", "--reference", "anna,ben", "--measure", "icc", "--raters", "humans"]
    asked[2:3] = ["anna", "--reference", "ben"]
    for args in (["study.toml"], asked):
        done = typed("examine", *args, "--json", "--resamples", "0", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        (icc,) = json.loads(done.stdout)["measures"]
        assert icc["raters"] == ["anna", "ben"]


def test_declared_clusters_are_what_an_icc_resamples():
    rng = np.random.default_rng(0)
    rows = []
    for cluster in range(30):
        level = rng.integers(1, 6)
        for turn in range(4):
            both = np.clip(level + rng.integers(-1, 2, 2), 1, 5).tolist()
            rows += [
                (f"{cluster}-{turn}", r, s, f"c{cluster}") for r, s in zip("ab", both, strict=True)
            ]
    frame = pl.DataFrame(rows, schema=["item", "rater", "score", "cluster"], orient="row")
    (alone,) = voirdire.measure(frame.drop("cluster"), ["icc"], raters=["a", "b"]).to_dicts()
    (found,) = voirdire.measure(frame, ["icc"], raters=["a", "b"]).to_dicts()
    assert (alone["interval"], found["interval"]) == ("f", "cluster")
    assert found["value"] == alone["value"]
    scores = frame.pivot(on="rater", index=["item", "cluster"], values="score")
    again = stats.icc_clustered(
        scores.select("a", "b").to_numpy(), scores["cluster"].to_list(), ci="cluster"
    ).interval()
    assert (found["low"], found["high"]) == (again.low, again.high)
