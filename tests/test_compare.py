"""Two sources beside each other: differences by judge and system, verdicts, items; the command."""

from __future__ import annotations

import json
import math
from functools import partial
from html import unescape

import numpy as np
import polars as pl
import pytest
from command_line import typed
from scipy import stats as scipy_stats
from simulated_sessions import session_of

import voirdire as package
from voirdire.errors import InputError
from voirdire.examining.changing import compare, comparison_sections

voirdire = partial(typed, COLUMNS="120")


def ratings(seed=1, *, items=60, shift=0.0, systems=("x", "y"), judge="judge", humans=True):
    """Two humans and a judge that reads, with `shift` added to the judge's first system."""
    rng = np.random.default_rng(5)
    truth = rng.normal(3, 1, (items, len(systems)))
    own = np.random.default_rng(seed)
    rows = []
    for k in range(items):
        for s, system in enumerate(systems):
            if humans:
                for name in ("ann", "ben"):
                    score = truth[k, s] + rng.normal(0, 0.5)
                    rows.append((f"i{k}", system, name, float(np.clip(round(score), 1, 5))))
            score = truth[k, s] + own.normal(0, 0.4) + (shift if s == 0 else 0)
            rows.append((f"i{k}", system, judge, float(np.clip(round(score), 1, 5))))
    return pl.DataFrame(rows, schema=["item", "system", "rater", "score"], orient="row")


def test_the_difference_is_the_paired_t_test_on_item_sums():
    a, b = ratings(1), ratings(2, shift=1)
    found = compare(a, b, reference=["ann", "ben"])
    change = found.changes[0]
    judged = [
        frame.filter(pl.col("rater") == "judge").sort("item", "system")["score"].to_numpy()
        for frame in (a, b)
    ]
    both = (judged[1] - judged[0]).reshape(60, 2).mean(axis=1)  # two responses an item
    t, p = scipy_stats.ttest_1samp(both, 0)  # scipy's own paired test, on means by item
    assert change.difference == pytest.approx(both.mean())
    assert change.p == pytest.approx(p)
    low, high = scipy_stats.ttest_1samp(both, 0).confidence_interval(0.95)
    assert (change.low, change.high) == pytest.approx((low, high))
    assert t > 3
    assert (change.n, change.clusters) == (120, 60)
    by_system = {one.system: one for one in found.changes[1:]}
    assert by_system["x"].difference > 0.5
    assert abs(by_system["y"].difference) < 0.2
    assert by_system["x"].p_holm == pytest.approx(min(1, 2 * by_system["x"].p))


def test_the_same_file_twice_has_not_changed():
    a = ratings(1)
    found = compare(a, a, reference=["ann", "ben"])
    assert all(change.difference == 0 and change.p == 1 for change in found.changes)
    assert found.verdicts == ()
    assert found.verdicts_held > 0
    assert found.items == ()
    assert "No score changed" in comparison_sections(found)[-1].text


def test_a_judge_that_stops_reading_loses_its_verdicts():
    a, b = ratings(1, items=200), ratings(1, items=200)
    noise = np.random.default_rng(9).integers(1, 6, b.height).astype(float)
    blind = b.with_columns(
        score=pl.when(pl.col("rater") == "judge").then(pl.Series(noise)).otherwise("score")
    )
    found = compare(a, blind, reference=["ann", "ben"])
    lost = [one for one in found.verdicts if one.before == "yes"]
    assert lost, found.verdicts
    assert all(one.after != "yes" for one in lost)
    assert any(one.deciding_after for one in lost)


def test_clusters_are_the_unit_where_they_are_declared():
    a, b = ratings(1), ratings(2)
    cluster = (pl.col("item").str.strip_prefix("i").cast(int) // 6).cast(str)
    found = compare(
        a.with_columns(cluster=cluster), b.with_columns(cluster=cluster), reference=["ann", "ben"]
    )
    assert found.changes[0].clusters == 10
    assert compare(a, b, reference=["ann", "ben"]).changes[0].clusters == 60


def test_the_items_that_changed_most_come_first():
    a = ratings(1)
    moved = a.with_columns(
        score=pl.when((pl.col("item") == "i7") & (pl.col("rater") == "judge"))
        .then(6 - pl.col("score"))
        .otherwise("score")
    )
    found = compare(a, moved, reference=["ann", "ben"])
    sizes = [abs(one.after - one.before) for one in found.items]
    assert sizes == sorted(sizes, reverse=True)
    assert {one.item for one in found.items} <= {"i7"}


def test_examinations_are_taken_as_they_are():
    a, b = ratings(1), ratings(2, shift=1)
    frames = compare(a, b, reference=["ann", "ben"])
    examined = compare(
        package.examine(a, reference=["ann", "ben"]), package.examine(b, reference=["ann", "ben"])
    )
    assert [c.difference for c in examined.changes] == [c.difference for c in frames.changes]
    assert examined.verdicts == frames.verdicts


def test_the_only_judge_of_each_side_belongs_to_the_other():
    a, b = ratings(1), ratings(2, judge="newer")
    change = compare(a, b, reference=["ann", "ben"]).changes[0]
    assert (change.judge, change.judge_b) == ("judge", "newer")
    two = pl.concat([b, ratings(3, judge="third", humans=False)])
    with pytest.raises(InputError, match=r"no judge is in both.*judges=\{'OLD': 'NEW'\}"):
        compare(a, two, reference=["ann", "ben"])
    named = compare(a, two, reference=["ann", "ben"], judges={"judge": "third"})
    assert {one.judge_b for one in named.changes} == {"third"}


def test_missing_scores_stay_missing_and_responses_of_one_side_are_counted():
    a = ratings(1, humans=False)
    b = a.with_columns(score=pl.when(pl.col("item") == "i1").then(None).otherwise("score"))
    found = compare(a, b.filter(pl.col("item") != "i2"))
    assert found.changes[0].n == 116
    assert [f.count for f in found.findings if f.kind == "unpaired"] == [2]
    empty = a.with_columns(score=pl.lit(None, dtype=pl.Float64))
    nothing = compare(a, pl.concat([empty.head(100), a.tail(20)]))
    assert nothing.changes[0].n == 20
    assert not math.isnan(nothing.changes[0].difference)


def test_another_scale_and_nothing_shared_are_errors():
    a = ratings(1, humans=False)
    with pytest.raises(InputError, match="the scale has changed"):
        compare(a, a.with_columns(score=pl.col("score") * 20))
    with pytest.raises(InputError, match="no item of the same system"):
        compare(a, a.with_columns(item=pl.lit("q") + pl.col("item")))


def test_the_command_prints_writes_and_gates(tmp_path):
    ratings(1).write_csv(tmp_path / "a.csv")
    ratings(2, shift=1).write_csv(tmp_path / "b.csv")
    humans = ("--reference", "ann", "--reference", "ben")
    done = voirdire("compare", "a.csv", "b.csv", *humans, "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "b.csv less a.csv" in done.stdout
    found = json.loads((tmp_path / "out" / "compared.json").read_text())
    assert found["schema_version"] == 1
    assert found["changes"][0]["n"] == 120
    assert "Items that changed most" in (tmp_path / "out" / "compared.html").read_text()
    unmet = voirdire(
        "compare", "a.csv", "b.csv", *humans, "--require", "difference@x<=0.1", cwd=tmp_path
    )
    assert unmet.returncode == 4
    assert "difference of score, judge, x is" in unmet.stderr
    bad = voirdire("compare", "a.csv", "b.csv", *humans, "--judge", "=x", cwd=tmp_path)
    assert (bad.returncode, "OLD=NEW" in bad.stderr) == (1, True)


def test_two_sessions_with_both_replies_and_what_else_differs(tmp_path):
    before = session_of(tmp_path, "before")
    after = session_of(tmp_path, "after", bias=1.0, seed=3)
    found = compare(before, after, with_text=True)
    changes = {(c.attribute, c.system): c for c in found.changes}
    assert changes["Empathy", ""].difference > 0.5
    assert changes["Empathy", ""].clusters == 40
    assert found.items
    assert all("Empathy" in one.reply_before and one.reply_after for one in found.items)
    assert any(one.reply_before != one.reply_after for one in found.items)
    assert all(one.reply_before == "" for one in compare(before, after).items)
    again = compare(before, session_of(tmp_path, "again"))
    assert not again.items
    done = voirdire("compare", "before", "after", "--with-text", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    kept = json.loads((tmp_path / "out" / "compared.json").read_text())["items"][0]
    page = unescape((tmp_path / "out" / "compared.html").read_text())
    for reply in (kept["reply_before"], kept["reply_after"]):
        assert reply.startswith('{"Empathy"')
        assert reply in page
    assert "Reply in A" in done.stdout
    assert '{"Empathy"' in done.stdout
