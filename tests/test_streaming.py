"""Ratings as a stream: the same numbers as in memory, however the data are cut."""

import dataclasses
import json
import math
import re
from itertools import pairwise
from operator import attrgetter

import numpy as np
import polars as pl
import pytest
from command_line import invoke
from scipy.stats import t as student

import voirdire
from voirdire.errors import InputError, TableError
from voirdire.examining.spec import COEFFICIENTS, RaterScores
from voirdire.examining.streaming.first_pass import first_sums
from voirdire.examining.streaming.parts import read_part
from voirdire.examining.streaming.source import parts_of, stream_of
from voirdire.stats import _pattern_kernels as kernels
from voirdire.stats.rating_patterns import count_patterns
from voirdire.stats.rating_sums import (
    delta_interval,
    summed_coefficient,
)
from voirdire.stats.sums import Linear, cluster_jackknife
from voirdire.study import Analysis, ReadOptions
from voirdire.tables.partitioned import write_layout

RATERS = ("human1", "human2", "human3", "judge_a")


def ratings(items=300, systems=3, per_cluster=4, seed=0, missing=0.05):
    """Invented ratings on 1 to 5, clustered, with gaps and rows that are not there."""
    rng = np.random.default_rng(seed)
    n = items * systems
    item, system = np.arange(n) // systems, np.arange(n) % systems
    true = rng.normal(size=items)[item] + 0.4 * system + rng.normal(size=n) * 0.6
    scores = np.clip(np.rint(3 + true[:, None] + rng.normal(0, 0.8, (n, len(RATERS)))), 1, 5)
    scores[rng.random(scores.shape) < missing] = np.nan
    k = len(RATERS)
    frame = pl.DataFrame(
        {
            "item": np.repeat([f"i{at:05d}" for at in item], k),
            "rater": np.tile(RATERS, n),
            "attribute": "quality",
            "score": scores.ravel(),
        }
    ).with_columns(pl.col("score").fill_nan(None))
    if systems > 1:
        frame = frame.with_columns(system=pl.Series(np.repeat([f"s{at}" for at in system], k)))
    if per_cluster:
        names = [f"d{at // per_cluster:04d}" for at in item]
        frame = frame.with_columns(cluster=pl.Series(np.repeat(names, k)))
    gone = rng.random(frame.height) < 0.03
    gone[:k] = False  # raters stand in this order wherever they are looked up
    return frame.filter(~pl.Series(gone))


def matrix(frame):
    """(N, R) as `read_part` gives it, and the cluster of each row."""
    wide = frame.pivot("rater", index=["item", "system", "cluster"], values="score")
    return wide.select(RATERS).to_numpy(), wide["cluster"].to_numpy()


def examined(source, **options):
    return voirdire.examine(source, reference=RATERS[:3], **options)


@pytest.mark.parametrize("levels", [[1.0, 2, 3, 4, 5], [0.0, 1]])
def test_coefficients_of_sums_are_those_in_memory(levels):
    scores, _ = matrix(ratings())
    if len(levels) == 2:
        scores = np.where(np.isnan(scores), np.nan, scores > 3)
    patterns, code = count_patterns(scores, [(rater, 1) for rater in RATERS])
    assert np.array_equal(patterns.rows().scores[code], scores, equal_nan=True)
    assert patterns.n == len(scores)
    rows, analysis = patterns.rows().by_rater(RATERS), Analysis(resamples=0)
    summed = [spec for spec in COEFFICIENTS.values() if spec.summed is not None]
    assert {spec.key for spec in COEFFICIENTS.values()} - {spec.key for spec in summed} == {
        "spearman",
        "kendall",
    }
    for spec in summed:
        chosen = slice(None) if spec.of == "all" else [0, 3]
        one = spec.summed(4 if spec.of == "all" else 2, levels)
        expected = spec.compute(RaterScores(scores[:, chosen], levels, None, analysis))
        value = one.value(patterns.counts @ one.columns(rows[:, chosen]))
        assert value == pytest.approx(expected.value, rel=1e-12, abs=1e-15), spec.key
        assert one.name == expected.statistic
    from sklearn.metrics import f1_score

    both = ~np.isnan(scores[:, [0, 3]]).any(axis=1)
    average = "binary" if len(levels) == 2 else "macro"
    expected = f1_score(scores[both, 0], scores[both, 3], average=average)
    one = summed_coefficient("f1", 2, levels)
    assert one.value(patterns.counts @ one.columns(rows[:, [0, 3]])) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["icc_a1", "alpha_ordinal", "ac2", "fleiss"])
def test_the_delta_error_stands_for_the_jackknife(name):
    """At 1,500 clusters they differ by less than half a per cent; docs/scale.md has 100,000."""
    scores, clusters = matrix(
        ratings(items=6000, systems=1, per_cluster=4).with_columns(system=None)
    )
    one = summed_coefficient(name, 4, [1.0, 2, 3, 4, 5])
    columns = one.columns(scores)
    expected = cluster_jackknife(columns, clusters, one.statistic)
    sums = columns.sum(axis=0)
    moves = columns @ one.slopes(sums)
    places = np.unique(clusters, return_inverse=True)[1]
    square = float((np.bincount(places, weights=moves) ** 2).sum())
    interval = delta_interval(one.value(sums), square, 1500, 0.95)
    jackknife = expected.interval()
    assert interval.width == pytest.approx(jackknife.high - jackknife.low, rel=5e-3)


def test_squares_of_cluster_sums_are_exact_in_any_order():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(50, 3))
    code = rng.integers(0, 50, 4000)
    cluster = np.sort(rng.integers(0, 700, 4000))
    linear = Linear.of(values, int(np.bincount(cluster).max()))
    high, low = np.zeros((2, 3), np.int64)
    kernels.squares(code, cluster, linear.whole, high, low)
    slow = np.zeros((700, 3))
    np.add.at(slow, cluster, values[code])
    assert linear.squares(high, low) == pytest.approx((slow**2).sum(axis=0), rel=1e-6)
    exact = [0, 0, 0]
    for at in range(700):
        total = linear.whole[code[cluster == at]].sum(axis=0)
        exact = [a + int(t) ** 2 for a, t in zip(exact, total, strict=True)]
    assert [(int(a) << 32) + int(b) for a, b in zip(high, low, strict=True)] == exact


def _mixed(value):
    mask = 2**64 - 1
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & mask
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & mask
    return value ^ (value >> 31)


def test_poisson_weights_follow_from_the_name_of_the_cluster():
    """The slow twin, and the mean and variance of Poisson(1)."""
    name = "cluster d0001"
    text = np.frombuffer(name.encode(), np.uint8)
    out = np.empty(1, np.uint64)
    kernels.hashes(text, np.array([len(text)]), out)
    slow = 14695981039346656037
    for letter in name.encode():
        slow = ((slow ^ letter) * 1099511628211) % 2**64
    slow = _mixed(slow)
    assert int(out[0]) == slow
    weights = np.empty(6, np.int32)
    kernels.poisson_weights(out[0], 5, weights)
    limits = [24109, 48218, 60273, 64291, 65296, 65497, 65530, 65535]
    expected = []
    for replicate in range(6):
        step = (replicate // 4 + 1) * 0x9E3779B97F4A7C15 + 5 * 0xD1342543DE82EF95
        draw = (_mixed((slow + step) % 2**64) >> (16 * (replicate % 4))) & 0xFFFF
        expected.append(sum(draw >= limit for limit in limits))
    assert weights.tolist() == expected
    many = np.empty(40_000, np.int32)
    kernels.poisson_weights(out[0], 0, many)
    assert many.mean() == pytest.approx(1, abs=0.02)
    assert many.var() == pytest.approx(1, abs=0.04)


def test_nodes_are_drawn_by_the_weight_of_their_cluster():
    """The slow twin: each response's shares times its cluster's weight."""
    rng = np.random.default_rng(2)
    code, cluster = rng.integers(0, 4, 60), np.sort(rng.integers(0, 9, 60))
    cluster = np.unique(cluster, return_inverse=True)[1]
    names = rng.integers(0, 2**63, cluster.max() + 1, dtype=np.uint64)
    shares = rng.normal(size=(60, 3)) * (rng.random((60, 3)) < 0.8)
    out = np.zeros((12, 7))
    kernels.resampled_nodes(code, shares, cluster, names, 3, out)
    slow = np.zeros((4, 3, 7))
    for row in range(60):
        weights = np.zeros(7, np.int32)
        kernels.poisson_weights(names[cluster[row]], 3, weights)
        slow[code[row]] += shares[row][:, None] * weights
    assert out == pytest.approx(slow.reshape(12, 7), abs=1e-12)


def test_the_grid_of_steps_is_their_greatest_common_step():
    marks = [-(2**31), -(2**31) + 3]
    assert kernels.grid_of(np.array([*marks, 20, 60, 40], np.int32)) == (20, 20, 60)
    assert kernels.grid_of(np.array([21, 60], np.int32)) == (39, 21, 60)
    assert kernels.grid_of(np.array(marks, np.int32)) == (1, 0, 0)


def plain(result):
    """Every number of a result, exactly."""
    return repr(dataclasses.asdict(result))


def test_numbers_are_bit_identical_however_the_data_are_cut(tmp_path):
    frame = ratings()
    found = []
    for number, rows in enumerate((150, 700, 100_000)):
        folder = tmp_path / str(number)
        shuffled = frame.sample(fraction=1, shuffle=True, seed=number)
        batches = [shuffled[at : at + 500] for at in range(0, shuffled.height, 500)]
        parts = write_layout(batches, folder, rows=frame.height, part_rows=rows)
        assert sum(part.rows for part in parts) == frame.height
        workers = "2" if number == 0 else None
        found.append(examined(folder, measures=["icc", "alpha", "ccc", "f1"], workers=workers))
    assert len(list((tmp_path / "0").rglob("*.parquet"))) > 10
    for one, other in pairwise(found):
        for part in (
            "results",
            "rated.ceiling",
            "rated.measures",
            "rated.system_means",
            "verdicts",
            "evidence",
        ):
            a, b = attrgetter(part)(one), attrgetter(part)(other)
            assert [plain(x) for x in a] == [plain(x) for x in b]
            assert a


@pytest.mark.parametrize("systems", [1, 3])
def test_results_are_those_in_memory(tmp_path, systems):
    path = tmp_path / "ratings.parquet"
    ratings(systems=systems, per_cluster=0).write_parquet(path)
    names = ["icc", "alpha", "fleiss", "ac1", "ccc", "qwk", "spearman"]
    streamed = examined(path, streaming=True, measures=names)
    whole = examined(path, measures=names)
    assert streamed.study.rubric == whole.study.rubric
    for part in ("results", "rated.ceiling"):
        for one, other in zip(attrgetter(part)(streamed), attrgetter(part)(whole), strict=True):
            for field in dataclasses.fields(other):
                a, b = getattr(one, field.name), getattr(other, field.name)
                if isinstance(b, float):
                    assert a == pytest.approx(b, rel=1e-12, abs=1e-14, nan_ok=True), field.name
                elif isinstance(b, int | str):
                    assert a == b, field.name
            f, expected = one.interval("C,1", "f"), other.interval("C,1", "f")
            assert f.low == pytest.approx(expected.low, rel=1e-9)
            if systems > 1:
                near = one.interval("C,1", "poisson"), other.interval("C,1", "cluster")
                assert near[0].width == pytest.approx(near[1].width, rel=0.3)
    for one, other in zip(streamed.rated.measures, whole.rated.measures, strict=True):
        assert (one.raters, one.attribute) == (other.raters, other.attribute)
        if one.name == "spearman":
            assert one.estimate.reason == "not_summable"
        else:
            assert one.estimate.value == pytest.approx(other.estimate.value, rel=1e-12)
            assert one.estimate.n == other.estimate.n
            methods = [interval.method for interval in one.estimate.intervals]
            assert methods == ["cluster_delta", "poisson"]
    for one, other in zip(streamed.rated.system_means, whole.rated.system_means, strict=True):
        assert (one.rater, one.system, one.rank) == (other.rater, other.system, other.rank)
        assert one.means["quality"] == pytest.approx(other.means["quality"], rel=1e-12)


def _reason(part):
    """What a stream says it has not tested of items that several systems answered, left out."""
    return "" if (part.name, part.reason) == ("READ_s", "items apart") else part.reason


@pytest.mark.parametrize(("systems", "per_cluster"), [(1, 0), (1, 4), (4, 0), (3, 4)])
def test_verdicts_are_those_in_memory(tmp_path, systems, per_cluster):
    """Exact where a response is a cluster; else the delta method stands for the jackknife."""
    path = tmp_path / "ratings.parquet"
    frame = ratings(1200 // systems, systems, per_cluster, missing=0.08)
    judge = frame.filter(pl.col("rater") == "judge_a")
    again = judge.with_columns(run=2, score=(6 - pl.col("score").shift(7)).fill_null(3))
    again = again.with_columns(score=(pl.col("score") + 2 * judge["score"].fill_null(3)) // 3)
    frame = pl.concat([frame.with_columns(run=1), again], how="diagonal_relaxed")
    frame.write_parquet(path)
    streamed = examined(path, streaming=True, gate=4, resamples=0)
    whole = examined(path, gate=4, resamples=0)
    exact = systems == 1 and not per_cluster
    for one, other in zip(streamed.verdicts, whole.verdicts, strict=True):
        assert (one.use, one.target, one.state) == (other.use, other.target, other.state)
        # Calibration is fitted over folds of clusters, which no sum tells.
        step = dataclasses.replace(other.next, after=None)
        assert repr(one.next) == repr(step)
    (one,), (other,) = streamed.evidence, whole.evidence
    for name in ("n_responses", "n_labelled", "n_judged", "clusters", "runs", "clustered"):
        assert getattr(one, name) == getattr(other, name), name
    seen = 0
    for a, b in zip(one.components, other.components, strict=True):
        assert (a.name, a.state, _reason(a), a.count) == (b.name, b.state, b.reason, b.count)
        assert (a.at, a.not_shown) == (b.at, b.not_shown)
        near = {"rel": 1e-11} if exact else {"rel": 2e-4, "abs": 1e-5}
        assert a.estimate == pytest.approx(b.estimate, nan_ok=True, **near), a.name
        rel = 1e-9 if exact else 0.02
        assert a.se == pytest.approx(b.se, rel=rel, abs=1e-9, nan_ok=True), a.name
        assert a.df == pytest.approx(b.df, nan_ok=True)
        seen += math.isfinite(a.se)
    assert seen >= 9
    unread = [part.reason for part in one.components if part.name == "READ_s"]
    assert unread == ([] if systems == 1 else ["items apart"])
    for kind in ("responses", "humans_responses", "graded", "humans_graded"):
        a, b = getattr(one, kind), getattr(other, kind)
        assert np.allclose(a.confusion, b.confusion, rtol=1e-12)
        for name, score in a.scores.items():
            assert score.value == pytest.approx(b[name].value, rel=1e-12), name
    for a, b in zip(streamed.judged.human_pairs, whole.judged.human_pairs, strict=True):
        assert a.difference == pytest.approx(b.difference, abs=1e-14)


def test_reading_in_each_system_of_a_stream_is_that_of_a_slow_twin(tmp_path):
    """Blind in one system; another has too few responses for a human to be shown to read there."""
    frame = (
        ratings(items=160, systems=4, per_cluster=0, missing=0.0)
        .with_columns(
            pl.when((pl.col("system") == "s2") & (pl.col("rater") == "judge_a"))
            .then(pl.col("score").shuffle(seed=3).over("system", "rater"))
            .otherwise("score")
            .alias("score")
        )
        .filter((pl.col("system") != "s3") | (pl.col("item") < "i00012"))
    )
    frame.write_parquet(tmp_path / "ratings.parquet")
    streamed = examined(tmp_path / "ratings.parquet", streaming=True, resamples=0)
    (part,) = (one for one in streamed.evidence[0].components if one.name == "READ_s")
    wide = frame.pivot("rater", index=["item", "system"], values="score")
    wide = wide.with_columns(human=pl.mean_horizontal(RATERS[:3])).drop_nulls(["judge_a", "human"])
    low = {}
    for (system,), rows in wide.group_by("system"):
        x, y = rows["human"].to_numpy(), rows["judge_a"].to_numpy()
        whole = np.arctanh(np.corrcoef(x, y)[0, 1])
        # About the means of all: what leaves one out does not move them.
        u, v = x - x.mean(), y - y.mean()
        out = [np.delete(u, k) @ np.delete(v, k) for k in range(len(x))]
        size = [
            np.sqrt((np.delete(u, k) ** 2).sum() * (np.delete(v, k) ** 2).sum())
            for k in range(len(x))
        ]
        each, n = np.arctanh(np.array(out) / size), len(x)
        at, se = n * whole - (n - 1) * each.mean(), np.sqrt((n - 1) * each.var())
        low[system] = (at, se, at - student.ppf(0.975, n - 1) * se)
    assert [name for name, (_, _, bound) in low.items() if bound <= 0] != []
    assert part.at == ("s2",)
    assert part.state == "no"
    assert part.estimate == pytest.approx(np.tanh(low["s2"][0]), abs=2e-4)
    assert part.low == pytest.approx(np.tanh(low["s2"][2]), abs=5e-3)
    assert set(part.not_shown) == {name for name, (*_, bound) in low.items() if bound <= 0}


def test_clusters_cut_by_files_are_brought_together(tmp_path):
    """Every row in another file than its neighbours: the sums are those of one file."""
    frame = ratings(items=40)
    for number in range(3):
        frame.gather_every(3, number).write_parquet(tmp_path / f"{number}.parquet")
    whole = tmp_path / "whole" / "one.parquet"
    whole.parent.mkdir()
    frame.write_parquet(whole)
    cut = examined(str(tmp_path / "*.parquet"), measures=["icc"])
    one = examined(whole, streaming=True, measures=["icc"])
    assert plain(cut.results[0]) == plain(one.results[0])
    assert plain(cut.rated.measures[0]) == plain(one.rated.measures[0])


def test_a_second_import_into_the_folder_is_brought_together(tmp_path):
    frame = ratings(items=40)
    half = frame.height // 2 + 1
    for at, piece in enumerate((frame[:half], frame[half:])):
        write_layout([piece], tmp_path / str(at), rows=frame.height)
    inside = tmp_path / "0" / "attribute=quality"
    for file in (tmp_path / "1" / "attribute=quality").iterdir():
        file.rename(inside / file.name)
    write_layout([frame], tmp_path / "all", rows=frame.height)
    both, one = (examined(tmp_path / name) for name in ("0", "all"))
    assert plain(both.results[0]) == plain(one.results[0])


def test_an_item_without_its_cluster_in_one_file_is_whole(tmp_path):
    """A judge's file names no cluster: the humans' file does."""
    frame = ratings(items=40)
    judge = frame.filter(pl.col("rater") == "judge_a").with_columns(cluster=pl.lit(None, pl.String))
    mixed = [frame.filter(pl.col("rater") != "judge_a"), judge]
    (part,) = write_layout(mixed, tmp_path / "a", rows=frame.height)
    (expected,) = write_layout([frame], tmp_path / "b", rows=frame.height)
    a, b = read_part(part), read_part(expected)
    assert np.array_equal(a.scores, b.scores, equal_nan=True)
    assert a.names.tolist() == b.names.tolist()


def test_runs_missing_rows_and_off_scale_values(tmp_path):
    frame = ratings(items=60, per_cluster=0)
    judge = frame.filter(pl.col("rater") == "judge_a")
    again = judge.with_columns(run=2, score=(pl.col("score") - 1).clip(1, 5))
    frame = pl.concat([frame.with_columns(run=1), again], how="diagonal_relaxed")
    off = (pl.col("item") == "i00003") & (pl.col("rater") == "human1") & (pl.col("system") == "s0")
    frame = frame.with_columns(score=pl.when(off).then(9.0).otherwise("score"))
    path = tmp_path / "ratings.parquet"
    frame.write_parquet(path)
    streamed, whole = examined(path, streaming=True), examined(path)
    a, b = streamed.results[0], whole.results[0]
    assert (a.n_pairs, a.n_expected) == (b.n_pairs, b.n_expected)
    for name in ("icc_c1", "mse", "judge_sd", "human_mean"):
        assert getattr(a, name) == pytest.approx(getattr(b, name), rel=1e-12), name
    (finding,) = [found for found in streamed.findings if found.kind == "out_of_scale"]
    assert (finding.table, finding.count) == ("human1", 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda f: f.with_columns(score=pl.lit("fine")),
            "row 1 .* 'fine' .* where a number is needed",
        ),
        (
            lambda f: f.rename({"rater": "who"}),
            "no column of the raters of a row.*`rater` of ReadOptions",
        ),
        (lambda f: pl.concat([f, f[:1]]), "occurs more than once"),
        (lambda f: f.with_columns(item=pl.lit(None, pl.String)), "row 1: the item is missing"),
    ],
)
def test_what_cannot_be_streamed_is_named(tmp_path, change, message):
    path = tmp_path / "ratings.parquet"
    change(ratings(items=30)).write_parquet(path)
    with pytest.raises(TableError, match=message):
        examined(path, streaming=True)


def test_large_files_are_streamed_unasked(tmp_path, monkeypatch):
    """Those of one rating a row, whatever the scores; wide tables are read whole."""
    from voirdire.examining.streaming import source

    monkeypatch.setattr(source, "MOST_IN_MEMORY", 100)
    path = tmp_path / "ratings.parquet"
    frame = ratings(items=60)
    for change in (0, 0.013):
        frame.with_columns(score=pl.col("score") + change).write_parquet(path)
        found = examined(path, resamples=0)
        assert "streamed" in {one.kind for one in found.findings}
        assert found.results[0].n_pairs > 100
    wide = frame.pivot("rater", index=["item", "system"], values="score")
    wide.write_parquet(path)
    assert "streamed" not in {one.kind for one in examined(path, resamples=0).findings}


def uneven(frame, raters=RATERS, seed=1):
    """The scores of some raters moved off every grid, and kept on the scale."""
    rng = np.random.default_rng(seed)
    off = pl.Series(rng.uniform(-0.4, 0.4, frame.height))
    moved = (pl.col("score") + off).clip(1, 5)
    return frame.with_columns(
        score=pl.when(pl.col("rater").is_in(raters)).then(moved).otherwise("score")
    )


def test_weights_of_nodes_keep_all_squares_and_products():
    """Sums of any quadratic over responses are those over nodes, and so is each response's."""
    rng = np.random.default_rng(0)
    scores = rng.normal(3, 1, (500, 4)) @ rng.normal(size=(4, 4))
    scores[rng.random(scores.shape) < 0.1] = np.nan
    columns = [(name, 1) for name in "abcd"]
    patterns, code = count_patterns(scores, columns, gate=0.5)
    rows = patterns.rows()
    shares = rows.shares(scores, columns)
    assert rows.counts.sum() == pytest.approx(500)
    assert np.array_equal(
        rows.scores >= 0.5, np.repeat(rows.scores[:: rows.each] >= 0.5, rows.each, 0)
    )

    def quadratic(x):
        x = np.nan_to_num(x)
        return np.stack([x[:, 0] * x[:, 3], x[:, 1] ** 2 - x[:, 2], x.sum(axis=1) ** 2], axis=1)

    at = quadratic(rows.scores)
    assert rows.counts @ at == pytest.approx(quadratic(scores).sum(axis=0), rel=1e-12)
    own = np.einsum("nk,nkf->nf", shares, at.reshape(-1, rows.each, 3)[code])
    assert own == pytest.approx(quadratic(scores), rel=1e-9, abs=1e-9)


def test_moments_of_parts_are_those_of_all():
    """Also where one part lies on the grid, and where all is far from 0."""
    rng = np.random.default_rng(3)
    scores = 100 + rng.integers(0, 3, (400, 2)) + np.where(np.arange(400) < 200, 0, 0.123)[:, None]
    columns = [("a", 1), ("b", 1)]
    whole, _ = count_patterns(scores, columns)
    first, second = (count_patterns(part, columns)[0] for part in (scores[:200], scores[200:]))
    assert not first.loose
    both = first + second
    assert both.counts.tolist() == whole.counts.tolist() == [400]
    expected = (scores - scores.mean(axis=0)).T @ (scores - scores.mean(axis=0))
    for moments in (both.moments, whole.moments):
        assert moments.square[0] == pytest.approx(expected, rel=1e-11)
        assert moments.mean[0] == pytest.approx(scores.mean(axis=0), rel=1e-15)


LOOSE = [
    (1, 0, RATERS, None),
    (3, 4, RATERS, 3.3),
    (3, 0, ("judge_a",), None),
    (1, 4, ("judge_a", "human1"), 3.3),
]


@pytest.mark.parametrize(("systems", "per_cluster", "raters", "gate"), LOOSE)
def test_scores_on_no_grid_are_examined_as_in_memory(tmp_path, systems, per_cluster, raters, gate):
    path = tmp_path / "ratings.parquet"
    uneven(ratings(3000 // systems, systems, per_cluster), raters).write_parquet(path)
    names = ["icc", "alpha_interval", "ccc", "pearson", "rmse", "alpha", "mae"]
    streamed = examined(path, streaming=True, measures=names, gate=gate, resamples=50)
    whole = examined(path, measures=names, gate=gate, resamples=0)
    assert streamed.study.rubric == whole.study.rubric
    (one,), (other,) = streamed.results, whole.results
    for field in dataclasses.fields(other):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(b, float):
            assert a == pytest.approx(b, rel=1e-12, abs=1e-13, nan_ok=True), field.name
        elif isinstance(b, int | str):
            assert a == b, field.name
    for one, other in zip(streamed.rated.measures, whole.rated.measures, strict=True):
        if one.name == "alpha":  # counts levels
            assert one.estimate.reason == "not_summable"
        else:
            assert one.estimate.value == pytest.approx(other.estimate.value, rel=1e-12), one.name
    # Which human scores are the lowest is not known of those on no grid.
    unknown = any(verdict.reason == "worst unknown" for verdict in streamed.verdicts)
    states = [
        [
            (v.use, v.target, v.state, v.reason)
            for v in found.verdicts
            if not (unknown and v.use == "gate")
        ]
        for found in (streamed, whole)
    ]
    assert states[0] == states[1]
    (one,), (other,) = streamed.evidence, whole.evidence
    seen = 0
    for a, b in zip(one.components, other.components, strict=True):
        if a.reason == "worst unknown":
            continue
        assert (a.name, a.state, _reason(a), a.count) == (b.name, b.state, b.reason, b.count)
        assert (a.at, a.not_shown) == (b.at, b.not_shown)
        assert a.estimate == pytest.approx(b.estimate, rel=5e-4, abs=1e-4, nan_ok=True), a.name
        assert a.se == pytest.approx(b.se, rel=0.02, abs=1e-9, nan_ok=True), a.name
        seen += math.isfinite(a.se)
    assert seen >= 6
    for kind in ("responses", "humans_responses", "graded", "humans_graded"):
        a, b = getattr(one, kind), getattr(other, kind)
        assert (a is None) == (b is None)
        if b is not None:
            assert np.allclose(a.confusion, b.confusion, rtol=1e-12)
            assert set(b.scores) - set(a.scores) <= {"roc_auc"}
            for name, score in a.scores.items():
                assert score.value == pytest.approx(b[name].value, rel=1e-11), name


def numbers_of(found):
    """Every float of the results, measures and evidence, in one order."""
    texts = [
        plain(one)
        for part in ("results", "rated.ceiling", "rated.measures", "evidence")
        for one in attrgetter(part)(found)
    ]
    return [float(word) for text in texts for word in re.findall(r"-?\d+\.\d+(?:e-?\d+)?", text)]


def test_scores_on_no_grid_are_the_same_however_they_are_cut(tmp_path):
    frame = uneven(ratings(items=200), ("judge_a", "human2"))
    found = []
    for number, rows in enumerate((150, 100_000)):
        folder = tmp_path / str(number)
        shuffled = frame.sample(fraction=1, shuffle=True, seed=number)
        batches = [shuffled[at : at + 500] for at in range(0, shuffled.height, 500)]
        write_layout(batches, folder, rows=frame.height, part_rows=rows)
        found.append(examined(folder, measures=["icc", "ccc"], resamples=40))
    a, b = map(numbers_of, found)
    assert len(a) == len(b) > 300
    assert a == pytest.approx(b, rel=1e-9, abs=1e-11, nan_ok=True)
    values = [[one.estimate.value for one in each.rated.measures] for each in found]
    assert values[0] == pytest.approx(values[1], rel=1e-12)


def test_too_many_different_rows_become_moments(tmp_path, monkeypatch):
    """A scale of 0 to 100 by four raters: levels that cannot be counted are not needed."""
    from voirdire.stats import rating_patterns

    frame = ratings(items=300, systems=1, per_cluster=0)
    rng = np.random.default_rng(0)
    fine = pl.Series(rng.integers(-10, 10, frame.height))
    frame = frame.with_columns(score=(pl.col("score") * 18 + fine).clip(0, 100))
    path = tmp_path / "ratings.parquet"
    frame.write_parquet(path)
    whole = examined(path, resamples=0)
    monkeypatch.setattr(rating_patterns, "MOST_PATTERNS", 50)
    streamed = examined(path, streaming=True, resamples=0)
    a, b = streamed.results[0], whole.results[0]
    for name in ("icc_c1", "icc_a1", "ccc", "bias", "rmse"):
        assert getattr(a, name) == pytest.approx(getattr(b, name), rel=1e-12), name
    states = [[one.state for one in found.verdicts] for found in (streamed, whole)]
    assert states[0] == states[1]


def test_values_off_the_scale_on_no_grid_are_missing(tmp_path):
    frame = uneven(ratings(items=400, per_cluster=0))
    rows = pl.Series(np.arange(frame.height) % 997 == 0)
    frame = frame.with_columns(score=pl.when(rows).then(9.137).otherwise("score"))
    path = tmp_path / "ratings.parquet"
    frame.write_parquet(path)
    streamed, whole = (examined(path, streaming=one, resamples=0) for one in (True, False))
    a, b = streamed.results[0], whole.results[0]
    assert (a.n_pairs, a.n_expected) == (b.n_pairs, b.n_expected)
    assert a.icc_c1 == pytest.approx(b.icc_c1, rel=1e-12)
    off = {one.table: one.count for one in streamed.findings if one.kind == "out_of_scale"}
    assert sum(off.values()) == rows.sum()
    with pytest.raises(TableError, match=r"gave 9.137 on quality, off the scale 1 to 5"):
        examined(path, streaming=True, off_scale="error")


STUDY = """
name = "calls"
[rubric]
scale = [1, 5]
[[rubric.attributes]]
name = "quality"
[[systems]]
name = "s0"
family = "acme"
[[systems]]
name = "s1"
[[systems]]
name = "s2"
[[panel]]
name = "human1"
kind = "human"
[[panel]]
name = "human2"
kind = "human"
[[panel]]
name = "human3"
kind = "human"
[[panel]]
name = "judge_a"
family = "acme"
excludes = []
[data]
reference = ["human1", "human2", "human3"]
[[data.sources]]
path = "people.parquet"
score = "stars"
subgroup = "region"
[[data.sources]]
path = "judge.parquet"
rater = "judge_a"
[margins]
bias = 0.02
[gate]
at = 4
"""


def test_a_study_in_front_of_a_stream(tmp_path):
    """Its columns, scale, panel, family, subgroups, gate and margins hold, as in memory."""
    frame = ratings(items=500, per_cluster=0).with_columns(
        region=pl.when(pl.col("item").hash(0) % 3 == 0).then(pl.lit("north")).otherwise(None)
    )
    judge = pl.col("rater") == "judge_a"
    frame.filter(~judge).rename({"score": "stars"}).write_parquet(tmp_path / "people.parquet")
    frame.filter(judge).drop("rater", "region").write_parquet(tmp_path / "judge.parquet")
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    streamed, whole = (voirdire.examine(path, streaming=one, resamples=0) for one in (True, False))
    assert streamed.study == whole.study
    assert "streamed" in {one.kind for one in streamed.findings}
    states = [[(v.use, v.target, v.state, v.reason) for v in e.verdicts] for e in (streamed, whole)]
    assert states[0] == states[1]
    (one,), (other,) = streamed.evidence, whole.evidence
    names = {part.name for part in other.components}
    assert {"FAM", "SUB", "SUBITEM", "GREAD", "SENS"} <= names
    for a, b in zip(one.components, other.components, strict=True):
        assert (a.name, a.state, _reason(a), a.at) == (b.name, b.state, b.reason, b.at)
        assert a.estimate == pytest.approx(b.estimate, rel=1e-4, abs=1e-5, nan_ok=True), a.name
    assert streamed.results[0].icc_c1 == pytest.approx(whole.results[0].icc_c1, rel=1e-12)
    path.write_text(STUDY.replace('"people.parquet"', '"peo*.parquet"'))
    assert voirdire.examine(path, resamples=0).results[0].n_pairs == whole.results[0].n_pairs
    with pytest.raises(
        InputError, match=r"`score` of ReadOptions names a column.*\[\[data.sources\]\]"
    ):
        voirdire.examine(path, streaming=True, read=ReadOptions(score="stars"))
    second = '[[panel]]\nname = "judge_b"\n[[panel]]\nname = "both"\nuse = "jury"\n'
    path.write_text(f'{STUDY}{second}members = ["judge_a", "judge_b"]\n')
    with pytest.raises(InputError, match=r"what a jury says \(both\).*read whole"):
        voirdire.examine(path, streaming=True)


#: In how many cells scores of several attributes are, or how ids differ, is known in memory alone.
ALONE = re.compile(r" in \d+ (cells?|responses?)(?=[.;])| Ids .*")


def assert_same_audit(streamed, whole, *but):
    """Every finding of one is in the other, in the same words; the first place is that there."""
    left = {"streamed", *but}

    def by_words(found):
        return {
            (
                one.kind,
                one.severity,
                one.table,
                one.count,
                one.attributes,
                " ".join(sorted(ALONE.sub("", one.message).split())),
                one.consequence,
            ): one.places
            for one in found.findings
            if one.kind not in left
        }

    ours, theirs = by_words(streamed), by_words(whole)
    assert ours.keys() == theirs.keys()
    for key, places in ours.items():
        assert bool(places) == bool(theirs[key]), key
        # A run of items is one place in memory.
        if places and places[0].startswith(("item ", "only ")):
            assert places[0] == theirs[key][0], key


@pytest.mark.parametrize("loose", [(), ("human1",)])
def test_the_audit_is_that_in_memory(tmp_path, loose):
    """Finding by finding, places too as far as a stream keeps them."""
    frame = uneven(ratings(items=120, per_cluster=0, missing=0.1), loose)
    judge, item = pl.col("rater") == "judge_a", pl.col("item").str.slice(1).cast(pl.Int64)
    constant = pl.when(pl.col("rater") == "human3").then(2.0).otherwise("score")
    off = pl.when(judge & (item % 9 == 0)).then(8.0).otherwise("score")
    between = pl.when(judge & (item % 7 == 0)).then(2.5).otherwise("score")
    frame = frame.with_columns(score=constant)
    frame = frame.with_columns(score=between).with_columns(score=off)
    renamed = pl.when(judge & (item >= 70)).then("item").otherwise(pl.lit("x") + pl.col("item"))
    frame = frame.with_columns(item=pl.when(judge).then(renamed).otherwise("item"))
    other = pl.when(pl.col("rater") == "human2").then(pl.lit("S1")).otherwise("system")
    frame = frame.with_columns(
        system=pl.when(pl.col("system") == "s1").then(other).otherwise("system")
    )
    frame = frame.filter(~judge | (pl.col("system") != "s2"))
    # A stream's first places are those by name, a table's those of its rows.
    frame.sort("item", maintain_order=True).write_parquet(tmp_path / "people.parquet")
    path = tmp_path / "study.toml"
    panel = "".join(f'[[panel]]\nname = "{name}"\nkind = "human"\n' for name in RATERS[:3])
    path.write_text(
        'name = "odd"\n[rubric]\nscale = [1, 5]\nstep = 1\n[[rubric.attributes]]\n'
        f'name = "quality"\n{panel}[[panel]]\nname = "judge_a"\n[[panel]]\nname = "gone"\n'
        '[[data.sources]]\npath = "people.parquet"\n'
    )
    streamed, whole = (voirdire.examine(path, streaming=one, resamples=0) for one in (True, False))
    # How many scores of a rater on no grid lie between levels is not counted.
    assert_same_audit(streamed, whole, *(["between_levels"] if loose else []))
    assert {one.kind for one in whole.findings} >= {
        "out_of_scale",
        "missing_scores",
        "constant_rater",
        "names_alike",
        "system_missing",
        "rater_missing",
        "responses_unrated",
    }
    (a,), (b,) = (
        [one for one in found.findings if one.kind == "ids_unmatched"]
        for found in (streamed, whole)
    )
    assert (a.severity, a.table, a.count) == ("blocking", "judge_a", b.count)
    assert a.message == b.message.partition(" Ids")[0]
    states = [[(v.use, v.state, v.reason) for v in found.verdicts] for found in (streamed, whole)]
    assert states[0] == states[1]
    assert {reason for *_, reason in states[0]} == {"blocked"}
    path.write_text(path.read_text() + '[data]\noff_scale = "error"\n')
    with pytest.raises(TableError, match="judge_a gave 8 on quality, off the scale 1 to 5"):
        voirdire.examine(path, streaming=True)


def number():
    return pl.col("item").str.slice(1).cast(pl.Int64)


def unlabelled(frame):
    """Of two items in three nobody but the judge has rated anything."""
    return frame.filter((pl.col("rater") == "judge_a") | (number() % 3 == 0))


def divided(frame):
    """Two of three people rate a response; the judge all."""
    third = (number() % 3).cast(pl.Int32).replace_strict({0: "human1", 1: "human2", 2: "human3"})
    return frame.filter(pl.col("rater") != third)


def left_out(frame):
    """The judge and a human lack single responses to items of which they rated another."""
    judge = (pl.col("rater") == "judge_a") & (number() % 40 == 7) & (pl.col("system") == "s1")
    human = (pl.col("rater") == "human2") & (number() % 50 == 11) & (pl.col("system") == "s0")
    return frame.filter(~judge & ~human)


def nameless(frame):
    """Some responses without a system."""
    bare = (number() % 30 == 4) & (pl.col("system") == "s2")
    return frame.with_columns(system=pl.when(bare).then(None).otherwise("system"))


def again(frame):
    """A second run of the judge, with gaps and scores off the scale."""
    own = frame.filter(pl.col("rater") == "judge_a")
    odd = pl.when(number() % 25 == 3).then(None).when(number() % 45 == 8).then(9.0)
    second = own.with_columns(score=odd.otherwise("score"), run=2)
    return pl.concat([frame.with_columns(run=1), second])


def by_attribute(frame):
    """Two attributes of the same responses, each with scores off the scale."""
    odd = pl.when((pl.col("rater") == "human1") & (number() % 45 == 2)).then(7.0)
    odd = odd.when((pl.col("rater") == "judge_a") & (number() % 35 == 6)).then(None)
    return pl.concat(
        [
            frame.with_columns(attribute=pl.lit(name), score=odd.otherwise("score"))
            for name in ("quality", "tone")
        ]
    )


DESIGNS = (unlabelled, divided, left_out, nameless, again, by_attribute)
KINDS = {
    "unlabelled": "unlabelled", "divided": "labour_divided", "left_out": "responses_unrated",
    "nameless": "system_blank", "again": "out_of_scale", "by_attribute": "missing_scores",
}  # fmt: skip


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.__name__)
@pytest.mark.parametrize("layout", [False, True], ids=["file", "parts"])
def test_who_rated_what_is_found_by_sums(tmp_path, design, layout):
    """What needs single responses in memory is counted by who rated each, and its item."""
    whole = ratings(items=150, per_cluster=0, missing=0)
    every = pl.DataFrame({"rater": RATERS}).join(
        whole.select("item", "system", "attribute").unique(maintain_order=True), how="cross"
    )
    frame = every.join(whole, on=["item", "system", "attribute", "rater"], how="left")
    frame = frame.with_columns(score=pl.col("score").fill_null(3.0))
    frame = design(frame.select("item", "system", "rater", "attribute", "score"))
    frame.write_parquet(tmp_path / "all.parquet")
    name = "all.parquet"
    if layout:
        write_layout([frame], tmp_path / "parts", rows=frame.height, part_rows=250)
        name = "parts"
    people = "".join(f'[[panel]]\nname = "{rater}"\nkind = "human"\n' for rater in RATERS[:3])
    names = sorted(frame["attribute"].unique())
    rubric = "".join(f'[[rubric.attributes]]\nname = "{one}"\n' for one in names)
    text = (
        f'name = "who"\n[rubric]\nscale = [1, 5]\n{rubric}{people}[[panel]]\nname = "judge_a"\n'
        '[data]\nreference = ["human1", "human2", "human3"]\n[[data.sources]]\npath = "{}"\n'
    )
    path, found = tmp_path / "study.toml", []
    for source, streaming in ((name, True), ("all.parquet", False)):
        path.write_text(text.replace("{}", source))
        found.append(voirdire.examine(path, streaming=streaming, resamples=0))
    assert KINDS[design.__name__] in {one.kind for one in found[1].findings}
    assert_same_audit(*found)


def test_composites_are_those_in_memory(tmp_path):
    """Of two attributes, one of them with runs and gaps; also where ratings are dealt out first."""
    first = ratings(items=200, per_cluster=0).with_columns(run=1)
    second = ratings(items=200, per_cluster=0, seed=5).with_columns(attribute=pl.lit("tone"), run=1)
    again = second.filter(pl.col("rater") == "judge_a").with_columns(
        run=2, score=6 - pl.col("score")
    )
    frame = pl.concat([first, second, again], how="diagonal_relaxed")
    write_layout([frame], tmp_path / "layout", rows=frame.height, part_rows=300)
    frame.write_parquet(tmp_path / "all.parquet")
    panel = "".join(f'[[panel]]\nname = "{name}"\nkind = "human"\n' for name in RATERS[:3])
    text = (
        'name = "two"\n[rubric]\nscale = [1, 5]\ncomposites = {both = ["quality", "tone"]}\n'
        '[[rubric.attributes]]\nname = "quality"\n[[rubric.attributes]]\nname = "tone"\n'
        f'[[systems]]\nname = "s0"\n[[systems]]\nname = "s1"\n[[systems]]\nname = "s2"\n{panel}'
        '[[panel]]\nname = "judge_a"\n[[data.sources]]\npath = "{}"\n'
    )
    found = []
    for source in ("all.parquet", "layout"):
        path = tmp_path / "study.toml"
        path.write_text(text.replace("{}", source))
        found.append(voirdire.examine(path, streaming=True, resamples=0))
    path.write_text(text.replace("{}", "all.parquet"))
    whole = voirdire.examine(path, resamples=0)
    for streamed in found:
        (one,), (other,) = streamed.rated.composites, whole.rated.composites
        for name in ("attribute", "n_pairs", "n_expected", "n_systems"):
            assert getattr(one, name) == getattr(other, name), name
        for name in ("icc_c1", "icc_a1", "bias", "ccc", "mse", "mae"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-11), name
        for a, b in zip(streamed.rated.system_means, whole.rated.system_means, strict=True):
            assert a.composites["both"] == pytest.approx(b.composites["both"], rel=1e-12)
        assert len(streamed.results) == 2
        assert [one.attribute for one in streamed.verdicts] == [v.attribute for v in whole.verdicts]


JURY = """
name = "trio"
[[data.sources]]
path = "all.parquet"
[[panel]]
name = "human1"
kind = "human"
[[panel]]
name = "human2"
[[panel]]
name = "human3"
[[panel]]
name = "three"
use = "jury"
members = ["human2", "human3"]
"""


def test_what_sums_do_not_tell_is_said_with_what_to_do_instead(tmp_path):
    frame = ratings(items=30)
    path, study = tmp_path / "all.parquet", tmp_path / "study.toml"
    frame.write_parquet(path)
    for wanted, text in (
        ("what a jury says .three.: .*read whole", JURY),
        ("what annotators name .three.", JURY.replace('"jury"', '"labels"\nkind = "annotator"')),
    ):
        study.write_text(text if "jury" in text else text.replace("members", "#"))
        with pytest.raises(InputError, match=wanted):
            voirdire.examine(study, streaming=True)
    alike = ["item", "system", "attribute"]
    wide = frame.pivot("rater", index=alike, values="score", aggregate_function="first")
    wide.write_parquet(tmp_path / "wide.parquet")
    with pytest.raises(InputError, match=r"voirdire import .* can be streamed"):
        voirdire.examine(tmp_path / "wide.parquet", reference=["human1"], streaming=True)
    with pytest.raises(InputError, match="no `human` of ReadOptions or `data` beside it"):
        voirdire.examine(path, read=ReadOptions(human=[path]), streaming=True)
    with pytest.raises(InputError, match="repeats a published study on its whole table"):
        voirdire.examine(path, reference=["human1"], compat="badawi2025", streaming=True)
    two = pl.concat([frame, frame.with_columns(attribute=pl.lit("warmth"))])
    two.rename({"attribute": "label"}).write_parquet(path)
    with pytest.raises(InputError, match=r"more than once: .*`attribute` of ReadOptions"):
        voirdire.examine(path, reference=["human1"], streaming=True)


def test_a_study_is_streamed_by_the_command_too(tmp_path):
    own = ratings(items=30).filter(pl.col("rater") != "judge_a")
    own.write_parquet(tmp_path / "all.parquet")
    study = tmp_path / "study.toml"
    study.write_text(JURY.partition('[[panel]]\nname = "three"')[0])
    source = ["examine", str(study), "--streaming", "--reference", "human1", "--json"]
    answer = invoke([*source, "--resamples", "0"])
    assert answer.exit_code == 0, answer.output
    assert "streamed" in {finding["kind"] for finding in json.loads(answer.stdout)["findings"]}


def test_what_is_no_stream_says_so(tmp_path):
    path = tmp_path / "ratings.csv"
    ratings(items=30).write_csv(path)
    assert stream_of(path, asked=False) is None
    with pytest.raises(InputError, match=r"streaming=True takes Parquet files.*import"):
        examined(path, streaming=True)
    with pytest.raises(InputError, match="no file is named so"):
        stream_of(str(tmp_path / "**" / "*.parquet"), asked=False)


def test_columns_with_other_names_and_a_million_rows_at_a_time(tmp_path):
    frame = ratings(items=30).rename({"rater": "who", "score": "stars"})
    path = tmp_path / "r.parquet"
    frame.write_parquet(path)
    stream = stream_of(path, asked=True)
    with parts_of(stream, ReadOptions(rater="who", score="stars"), []) as parts:
        total = first_sums(parts[0])
    assert total.rows["quality"] == frame.height
    with (
        pytest.raises(InputError, match="--only does nothing"),
        parts_of(stream, ReadOptions(only=("a",)), []),
    ):
        pass


def test_import_writes_parts_that_examine_reads(tmp_path):

    frame = ratings(items=60)
    half = frame.height // 2
    frame[:half].write_csv(tmp_path / "a.csv")
    frame[half:].write_parquet(tmp_path / "b.parquet")
    out = tmp_path / "ratings"
    files = [str(tmp_path / name) for name in ("a.csv", "b.parquet")]
    words = ["import", *files, "--partition", "--out", str(out)]
    done = invoke(words, catch_exceptions=False)
    assert f"{frame.height:,} ratings in 1 parts" in done.output
    (part,) = out.rglob("part-*.parquet")
    assert part.parent.name == "attribute=quality"
    stored = pl.read_parquet(part, hive_partitioning=False)
    assert stored.height == frame.height
    assert stored["item"].is_sorted()
    found = examined(str(out / "**" / "*.parquet"))
    assert math.isfinite(found.results[0].icc_c1)
