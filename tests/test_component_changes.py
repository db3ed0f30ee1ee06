"""The change of each component of a verdict, with its interval, between two readings of a judge."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import t as student
from test_gate import ratings, voirdire

from voirdire.examining.changing import (
    check_lock,
    check_values,
    compare,
    comparison_sections,
    comparison_values,
    component_changes,
    freeze,
    gate_sentence,
)
from voirdire.examining.changing.components import with_states
from voirdire.examining.spec.scores.case import Case, GateRule
from voirdire.study import Margins


def panel(seed, items=200, *, systems=3, humans=2, noise=0.7, after=0.7, shift=0.0):
    """Cases before and after: a judge with error `noise`, then with `after`, `shift` on system 0.

    Both readings share half of the variance of the smaller error, as those of one model do.
    """
    chance = np.random.default_rng(seed)
    n = items * systems
    system, item = np.tile(np.arange(systems), items), np.repeat(np.arange(items), systems)
    truth = chance.normal(0, 1, n) + 0.5 * system
    people = np.stack([truth + chance.normal(0, 0.7, n) for _ in range(humans)])
    common = chance.normal(0, 1, n) * math.sqrt(0.5) * min(noise, after)

    def read(error):
        own = math.sqrt(error**2 - 0.5 * min(noise, after) ** 2)
        return truth + common + chance.normal(0, own, n)

    shared = {
        "judge": "judge", "attribute": "Calm", "reference": ("ann", "ben")[:humans],
        "humans": people, "items": item.astype(str), "width": 4.0,
        "systems": np.array([f"s{k}" for k in system]), "gate": GateRule(0.5),
    }  # fmt: skip
    before, now = read(noise)[None], read(after)[None] + shift * (system == 0)
    return Case(scores=before, **shared), Case(scores=now, **shared)


def changes(*cases):
    found = component_changes(*cases, Margins(), 0.2)
    return {(one.component, one.at): one for one in found}


def test_bias_and_sensitivity_are_paired_differences_by_hand():
    before, after = panel(1, systems=1, humans=1, shift=0.3)
    found = changes(before, after)
    off = (after.scores - before.scores)[0]
    half = student.ppf(0.975, 199) * off.std(ddof=1) / math.sqrt(200)
    bias = found["BIAS", ""]
    assert bias.change == pytest.approx(off.mean())
    assert (bias.low, bias.high) == pytest.approx((off.mean() - half, off.mean() + half))
    # What the human passes is the same both times: a ratio whose denominator stands still.
    such = before.humans[0] >= 0.5
    more = (after.scores[0] >= 0.5)[such] * 1.0 - (before.scores[0] >= 0.5)[such]
    sens = found["SENS", ""]
    assert sens.change == pytest.approx(more.mean())
    width = student.ppf(0.975, such.sum() - 1) * more.std(ddof=1) / math.sqrt(such.sum())
    assert sens.high - sens.low == pytest.approx(2 * width, rel=1e-6)
    assert sens.clusters == such.sum()


def test_every_component_is_there_and_equal_readings_change_nothing():
    before, after = panel(2)
    # Of three systems nothing is correlated.
    names = {"READ", "ITEM", "SLOPE", "BIAS", "GREAD", "GITEM", "SENS", "SPEC", "TAIL"}
    levels = {("LEVEL", f"s{k}") for k in range(3)}
    assert set(changes(before, after)) == {(name, "") for name in names} | levels
    same = with_states(component_changes(before, before, Margins(), 0.2))
    assert {(one.change, one.low, one.high, one.state) for one in same} == {(0.0, 0.0, 0.0, "same")}
    assert not component_changes(*panel(2, items=15), Margins(), 0.2)  # too few clusters


@pytest.mark.parametrize("after", [0.7, 1.2])
def test_intervals_cover_the_true_change(after):
    """Truth: the mean over 150 panels; the interval has to know what both readings share."""
    runs = [changes(*panel(seed, after=after, items=120)) for seed in range(150)]
    for key in (("READ", ""), ("ITEM", ""), ("SLOPE", ""), ("SENS", ""), ("LEVEL", "s1")):
        truth = np.mean([run[key].change for run in runs])
        hit = np.mean([run[key].low <= truth <= run[key].high for run in runs])
        assert 0.90 <= hit <= 0.99, (key, hit)
        if after == 0.7:
            assert abs(truth) < 0.01


def test_a_worse_reader_is_found_and_an_equal_one_is_not_called_worse():
    worse = [
        with_states(component_changes(*panel(seed, after=2), Margins(), 0.2), 0.03)
        for seed in range(10)
    ]
    assert all("READ" in {one.component for one in run if one.state == "worse"} for run in worse)
    equal = [
        with_states(component_changes(*panel(seed), Margins(), 0.2), 0.03) for seed in range(60)
    ]
    assert not [one for run in equal for one in run if one.state == "worse"]
    read = [one.state for run in equal for one in run if one.component == "READ"]
    assert read.count("same") > 50


def test_one_system_that_is_scored_otherwise_is_named():
    found = with_states(component_changes(*panel(3, shift=1.0), Margins(), 0.2))
    moved = {(one.component, one.at) for one in found if one.state == "worse"}
    assert ("LEVEL", "s0") in moved
    assert not {("LEVEL", "s1"), ("LEVEL", "s2")} & moved


def test_a_gate_says_the_change_of_each_component_and_stops_at_one_that_is_worse(tmp_path):
    frame = ratings(items=200)
    lock = freeze(frame, reference=["human"])
    same, _ = check_lock(ratings(1, items=200), lock)
    (row,) = same.rows
    assert {one.component for one in row.components} == {"READ", "BIAS"}
    assert (row.good, {one.state for one in row.components}) == ("yes", {"same"})
    # Half of its scores change places: no shift at all, but it reads less.
    own, others = (frame.filter(pl.col("rater") == name) for name in ("judge", "human"))
    score = own["score"].to_numpy().copy()
    score[::2] = np.random.default_rng(5).permutation(score[::2])
    dull = pl.concat([others, own.with_columns(score=pl.Series(score))])
    found, _ = check_lock(dull, lock)
    (row,) = found.rows
    read = next(one for one in row.components if one.component == "READ")
    assert (row.changed, read.state, row.good, found.exit_code()) == (False, "worse", "no", 4)
    assert f"READ {read.change:.2f}".replace("-", "−") in gate_sentence(row)
    values = {one.name: one.value for one in check_values(found)}
    assert values["READ.change_low"] == read.low
    frame.write_csv(tmp_path / "a.csv")
    dull.write_csv(tmp_path / "b.csv")
    done = voirdire(
        "compare",
        "a.csv",
        "b.csv",
        "--reference",
        "human",
        "--out",
        "out",
        "--format",
        "html,json",
        "--require",
        "READ.change_low>=-0.1",
        cwd=tmp_path,
    )
    assert done.returncode == 4
    assert "READ.change_low of judge on Calm is" in done.stderr
    record = json.loads((tmp_path / "out/compared.json").read_text())
    kept = next(one for one in record["components"] if one["component"] == "READ")
    assert kept["change"] == pytest.approx(read.change)
    assert "What the verdicts rest on" in (tmp_path / "out/compared.html").read_text()


def test_without_labels_there_are_no_components():
    frame = ratings(items=60).filter(pl.col("rater") == "judge")
    lock = freeze(frame)
    assert check_lock(frame, lock)[0].rows[0].components == ()
    found = compare(frame, frame)
    assert found.components == ()
    assert not any("rest on" in section.title for section in comparison_sections(found))
    assert all("READ" not in one.name for one in comparison_values(found))
