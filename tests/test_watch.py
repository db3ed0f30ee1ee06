"""A folder that grows: whether the system moved, or the judge, and how often that is wrong."""

from __future__ import annotations

import datetime as dt
import json
import math
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest
from command_line import typed

from voirdire import InputError
from voirdire.errors import StatisticsError
from voirdire.examining.correcting import watch_folder, watching_sections
from voirdire.stats import Period, watch

voirdire = partial(typed, COLUMNS="100")


def units_of(chance, *, weeks=30, judged=200, labels=20, at=99, system=0.0, judge=0.0, size=1):
    """Weeks of normal scores in which the system, the judge or nothing moves: labels (NaN where
    nobody was asked), the judge's scores, and dialogues of `size`, of which whole ones are labelled.
    """
    for week in range(weeks):
        of_system, of_judge = (system, judge) if week >= at else (0.0, 0.0)
        group = np.repeat(np.arange(judged // size), size)
        truth = chance.normal(size=judged)
        if size > 1:
            truth = (chance.normal(size=judged // size)[group] + truth) / np.sqrt(2)
        truth = truth + of_system
        scores = truth + 0.3 + of_judge + chance.normal(0, 0.7, judged)
        yield np.where(np.arange(judged) < labels, truth, np.nan), scores, group


def series(chance, *, size=1, **how):
    weeks = units_of(chance, size=size, **how)
    return [Period.of(y, f, clusters=group if size > 1 else None) for y, f, group in weeks]


def slow_evidence(units, baseline, looks):
    """The mixture of likelihood ratios by brute force: the joint normal density of all scores and
    labels under every change, levels and slope on wide priors, both spreads on a grid.
    """
    week = np.concatenate([np.full(len(y), k) for k, (y, _, _) in enumerate(units)])
    y, f = (np.concatenate([one[k] for one in units]) for k in (0, 1))
    own = ~np.isnan(y)
    seen = np.concatenate([f, y[own]])
    ones = np.ones(own.sum())
    wide = np.zeros((len(seen), 3))
    wide[: len(f), 0], wide[len(f) :, 1], wide[len(f) :, 2] = 1, 1, f[own]
    of_pair = np.cov(y[own], f[own], bias=True)
    slope = np.sqrt(of_pair[0, 1] / of_pair[0, 0] * np.sqrt(of_pair[1, 1] / of_pair[0, 0]))
    people, judge = 0.4 * y[own].std(), 0.4 * f.std()
    fitted = np.polyval(np.polyfit(f[own], y[own], 1), f[own])
    grid = [
        (first, second)
        for first in f.var(ddof=1) * np.exp(np.linspace(-5, 5, 9) * np.sqrt(2 / (len(f) - 1)))
        for second in (y[own] - fitted).var() * np.exp(np.linspace(-1.5, 1.5, 15))
    ]

    def density(ways):
        """Summed over the grid, beside the largest density where nothing moves."""
        logs = []
        for first, second in grid:
            spread = np.diag(np.r_[np.full(len(f), first), np.full(own.sum(), second)])
            spread = spread + 1e4 * wide @ wide.T + sum(np.outer(way, way) for way in ways)
            logs.append(
                -0.5 * (np.linalg.slogdet(spread)[1] + seen @ np.linalg.solve(spread, seen))
            )
        return np.array(logs)

    plain = density([])
    total = (looks - (len(units) - baseline)) / looks
    for at in range(baseline, len(units)):
        moved = week >= at
        columns = np.stack([ones, moved[own], f[own]], 1)
        line = np.linalg.lstsq(columns, y[own], rcond=None)[0][2]

        def way(of_judge, of_people, moved=moved, line=line):
            """What a shift of the judge's mean and of people's moves."""
            return np.r_[of_judge * moved, (of_people - line * of_judge) * moved[own]]

        by_judge = way(judge, 0.0)
        ways = [(0.09, [people * way(slope * k, 1.0)]) for k in (0.6, 0.8, 1.0, 1.2, 1.4)]
        ways += [(0.45, [by_judge]), (0.05, [people * way(0.0, 1.0)])]
        ways += [(0.05, [people * way(slope, 1.0), by_judge])]
        for before, moves in ways:
            ratio = np.exp(density(moves) - plain.max()).sum() / np.exp(plain - plain.max()).sum()
            total += before / looks * ratio
    return total


def test_the_evidence_is_that_of_all_densities_by_brute_force():
    for system, judge in ((-1.0, 0.0), (0.0, 1.0)):
        how = {"weeks": 5, "judged": 10, "labels": 6, "at": 4, "system": system, "judge": judge}
        units = list(units_of(np.random.default_rng(4), **how))
        found = watch([Period.of(y, f) for y, f, _ in units], baseline=3, looks=20)
        assert found[-1].evidence == pytest.approx(slow_evidence(units, 3, 20), rel=0.05)


def test_false_alarms_are_rare_over_a_year_and_in_dialogues():
    """At most .05 is promised; 30 years of each have room for chance."""
    for size in (1, 5, 10):
        chance = np.random.default_rng(size)
        alarms = sum(watch(series(chance, weeks=56, size=size))[-1].alarm for _ in range(30))
        assert alarms <= 4, size


@pytest.mark.parametrize(
    ("system", "judge", "right"),
    [(-0.3, 0.0, "system"), (0.0, 0.3, "judge"), (0.4, -0.4, "both")],
)
def test_a_shift_of_a_third_of_a_deviation_is_seen_soon_and_named(system, judge, right):
    """What moves the judge's mean is seen by it; what leaves it as it was, by the labels alone."""
    chance, named, delays, shared = np.random.default_rng(7), [], [], 0
    for _ in range(30):
        periods = series(chance, weeks=40, at=12, system=system, judge=judge)
        found = watch(periods)
        first = next((k for k, one in enumerate(found) if one.alarm), 99)
        delays.append(first + 4 - 12 + 1)
        named += [one.moved for one in found if one.alarm and one.moved != "cannot tell"][:1]
        last = found[-1]
        if right == "both":
            shared += last.moved == "both" or last.other >= 0.5
        else:
            shared += last.alarm and last.other >= 0.5
    # Who moved alone is not said to have had company.
    assert shared >= 25 if right == "both" else shared <= 2
    assert np.median(delays) <= (9 if right == "both" else 3)
    good = (right,) if right != "both" else ("both", "system", "judge")
    assert sum(one in good for one in named) >= 0.85 * len(named)
    assert len(named) >= 20


def test_the_interval_holds_at_every_look_at_once():
    """Not at each look by itself: in 95 of 100 series it never misses the mean."""
    chance, whole = np.random.default_rng(3), 0
    for _ in range(40):
        whole += all(one.low <= 0 <= one.high for one in watch(series(chance, weeks=40)))
    assert whole >= 36


def test_weeks_without_labels_and_a_perfect_judge_are_taken():
    periods = series(np.random.default_rng(1), weeks=8)
    bare = series(np.random.default_rng(2), weeks=1, labels=0)
    assert not watch([*periods, *bare])[-1].alarm
    same = [Period.of([1, 2, 3, 4, 5], [1, 2, 3, 4, 5]) for _ in range(6)]
    assert watch(same)[-1].evidence == pytest.approx(1, abs=0.2)
    with pytest.raises(StatisticsError, match="holds 0 labels"):
        watch(bare * 6)
    alike = [Period.of([1, 1, 1], [1, 2, 3])] * 6
    for one in watch(alike):
        assert (one.alarm, one.moved, one.evidence, str(one).split(":")[0]) == (
            False,
            "",
            1,
            "labels do not vary yet",
        )
    # A first failure, and what is known is known.
    assert not math.isnan(watch([*alike, Period.of([1, 0, 1], [1, 2, 3])])[-1].mean)


def write_week(folder, chance, week, level, labels=15):
    """A file of a week's judgements; what people said of its first."""
    truth = np.clip(np.rint(chance.normal(level, 1, 150)), 1, 5)
    first = dt.date(2026, 1, 5) + dt.timedelta(days=7 * week)
    names = [f"w{week}i{i}" for i in range(150)]
    days = [(first + dt.timedelta(days=i % 7)).isoformat() for i in range(150)]
    scores = np.clip(np.rint(truth + chance.normal(0, 0.7, 150)), 1, 5)
    pl.DataFrame({"item": names, "date": days, "judge": scores}).write_csv(
        folder / f"judged{week:02d}.csv"
    )
    rows = pl.DataFrame({"item": names[:labels], "human": truth[:labels]})
    path = folder / "labels.csv"
    (pl.concat([pl.read_csv(path), rows]) if path.exists() else rows).write_csv(path)


def test_a_folder_is_watched_as_it_grows_and_files_may_go(tmp_path):
    folder, chance = tmp_path / "production", np.random.default_rng(0)
    folder.mkdir()
    for week in range(3):
        write_week(folder, chance, week, 3.5)
    asked = ("watch", "production", "--at", "date", "--reference", "human")
    begun = voirdire(*asked, cwd=tmp_path)
    assert begun.returncode == 0, begun.stderr
    assert "2 more weeks after 2026-W04" in " ".join(begun.stdout.split())
    for week in range(3, 14):
        write_week(folder, chance, week, 3.5 if week < 9 else 2.8)
    whole = voirdire(*asked, "--budget", "20", "--json", cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    record = json.loads(whole.stdout)
    assert record["first_alarm"] >= "2026-W11"
    assert record["periods"][-1]["known"]["moved"] == "system"
    listed = pl.read_csv(folder / "next.csv")
    asked_for = listed.filter(pl.col("decision") == "human")
    assert asked_for.height == 5
    assert all(name.startswith("w13i") for name in asked_for["item"])
    # What is over may be taken away: it was kept.
    for week in range(6):
        (folder / f"judged{week:02d}.csv").unlink()
    kept = pl.read_csv(folder / "labels.csv")
    kept.filter(~pl.col("item").str.contains("^w[0-5]i")).write_csv(folder / "labels.csv")
    again = watch_folder(folder, at="date", reference=["human"])
    assert again.first_alarm == record["first_alarm"]
    assert again.now.mean == pytest.approx(record["periods"][-1]["known"]["mean"])
    (section,) = watching_sections(again)
    assert "The system moved" in section.text
    # Where it is as likely as not that the judge moved as well, that is said.
    company = replace(
        again,
        periods=(
            *again.periods[:-1],
            replace(
                again.periods[-1],
                known=replace(again.now, moved="system", other=0.83),
            ),
        ),
    )
    assert "That the judge moved as well is 83.0 % likely." in watching_sections(company)[0].text
    gate = voirdire(*asked, "--require", "alarm<=0", cwd=tmp_path)
    assert gate.returncode == 4


def test_what_cannot_be_watched_is_said(tmp_path):
    folder, chance = tmp_path, np.random.default_rng(0)
    with pytest.raises(InputError, match="there is no such folder"):
        watch_folder(folder / "no", at="date")
    with pytest.raises(InputError, match="no table of judgements"):
        watch_folder(folder, at="date")
    for week in range(5):
        write_week(folder, chance, week, 3.5)
    found = watch_folder(folder, at="date", reference=["human"], every="month", baseline=1)
    assert [one.name for one in found.periods] == ["2026-01", "2026-02"]
    with pytest.raises(InputError, match="every 'month', and now 'week' is asked for"):
        watch_folder(folder, at="date", reference=["human"])
    (folder / "watch.json").write_text("[]", "utf-8")
    with pytest.raises(InputError, match="cannot be read as what was watched"):
        watch_folder(folder, at="date", reference=["human"])
    (folder / "watch.json").unlink()
    odd = pl.read_csv(folder / "judged00.csv").with_columns(date=pl.lit("yesterday"))
    odd.write_csv(folder / "judged00.csv")
    with pytest.raises(InputError, match="'yesterday' is no date"):
        watch_folder(folder, at="date", reference=["human"])
