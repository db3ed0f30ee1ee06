"""First failures: agreement by hand and by simulation, censoring, and a file of them to a verdict."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire import examine
from voirdire.errors import StatisticsError, TableError
from voirdire.stats import failed_by, first_failure_agreement
from voirdire.study import ReadOptions


def test_agreement_counted_by_hand():
    # Units: the same turn; one apart; never beside the last turn; never beside an early one.
    found = first_failure_agreement([3, 4, 0, 0], [[3, 5, 6, 2]], [6, 6, 6, 6])
    values = {name: one.value for name, one in found.judge.items()}
    assert values == {"exact": 0.25, "within_one": 0.75, "ever": 0.5}
    assert np.isnan(found.people["exact"].value)
    assert found.people["exact"].reason == "no_data"


def test_people_are_compared_on_the_units_that_the_judge_is():
    judge, people = [1, np.nan, 0], [[1, 2, 0], [2, 2, 0]]
    found = first_failure_agreement(judge, people, [4, 4, 4])
    assert found.n == 2
    assert found.people["exact"].value == pytest.approx(2 / 3)
    # On the first and third unit: the judge .75, people .5.
    assert found.difference["exact"].value == pytest.approx(0.75 - 0.5)


def naive(judge, people, lengths, apart):
    """Every pair, one after the other, a unit counting once."""
    units = []
    for at, own in enumerate(judge):
        pairs = []
        for person in people:
            if np.isnan(own) or np.isnan(person[at]):
                continue
            a, b = (lengths[at] + 1 if x == 0 else x for x in (own, person[at]))
            pairs.append(abs(a - b) <= apart)
        if pairs:
            units.append(np.mean(pairs))
    return np.mean(units) if units else np.nan


UNIT = st.integers(1, 8).flatmap(
    lambda n: st.tuples(
        st.just(n), *[st.one_of(st.integers(0, n), st.just(float("nan"))) for _ in range(3)]
    )
)


@given(st.lists(UNIT, min_size=1, max_size=12))
def test_the_sums_are_those_of_all_pairs(units):
    lengths, *raters = (np.array(column, float) for column in zip(*units, strict=True))
    found = first_failure_agreement(raters[0], raters[1:], lengths)
    for name, apart in (("exact", 0), ("within_one", 1)):
        expected = naive(raters[0], raters[1:], lengths, apart)
        assert found.judge[name].value == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("wrong", [[7], [-1], [1.5]])
def test_a_position_that_cannot_be_is_refused(wrong):
    with pytest.raises(StatisticsError, match="which has 6: positions are whole numbers from 1"):
        first_failure_agreement(wrong, [[1]], [6])


def test_the_product_limit_of_a_published_example():
    # Kaplan and Meier (1958), the example of section 1: deaths at 0.8, 3.1, 5.4, 9.2, losses at
    # 1.0, 2.7, 7.0, 12.1, so that survival is 7/8, 7/10, 21/40 and 21/80; in turns 1, 4, 5, 7.
    positions, lengths = [1, 0, 0, 4, 5, 0, 7, 0], [9, 2, 3, 9, 9, 6, 9, 9]
    failed = failed_by(positions, lengths)
    expected = {1: 7 / 8, 4: 7 / 10, 5: 21 / 40, 7: 21 / 80}
    for at, survival in expected.items():
        assert failed[at - 1] == pytest.approx(1 - survival)


def drawn(rng, n, raters):
    """Positions of raters around a truth: `raters` are how often each knows it."""
    rows = []
    for at in range(n):
        length = int(rng.integers(6, 14))
        truth = int(rng.integers(1, length + 1)) if rng.random() < 0.6 else 0
        row = [f"c{at}", length]
        for knows in raters:
            if rng.random() < knows:
                near = int(np.clip(truth + rng.choice([-1, 0, 0, 0, 1]), 1, length))
                row.append(near if truth else 0)
            else:
                row.append(int(rng.integers(1, length + 1)) if rng.random() < 0.6 else 0)
        rows.append(row)
    return rows


def test_intervals_of_the_difference_cover_its_true_value():
    rng = np.random.default_rng(5)
    covered = trials = 0
    for _ in range(300):
        rows = np.array([row[1:] for row in drawn(rng, 60, (0.8, 0.8, 0.8, 0.8))], float).T
        found = first_failure_agreement(rows[1], rows[2:], rows[0]).difference["exact"]
        low, high = found.bounds
        trials += 1
        covered += low <= 0 <= high  # exchangeable: no difference
    assert 0.92 <= covered / trials <= 0.98


def test_a_file_of_first_failures_to_a_verdict(tmp_path):
    rng = np.random.default_rng(3)
    names = ["conversation", "length", "human_1", "human_2", "human_3", "good_judge", "bad_judge"]
    rows = drawn(rng, 200, (0.8, 0.8, 0.8, 0.8, 0.0))
    frame = pl.DataFrame(rows, schema=names, orient="row")
    shown = frame.with_columns(
        pl.when(pl.col(c) == 0).then(pl.lit("never")).otherwise(pl.col(c).cast(pl.String)).alias(c)
        for c in names[2:]
    )
    shown.write_csv(tmp_path / "first.csv")
    read = ReadOptions(unit="first", turns="length")
    found = examine(tmp_path / "first.csv", read=read)
    answers = {(v.judge, v.attribute, v.use): v.state for v in found.verdicts}
    assert answers["good_judge", "label", "single"] == "yes"
    assert answers["bad_judge", "label", "single"] == "no"
    (section,) = [one for one in found.sections if one.title == "Where conversations first fail"]
    by_judge = {(row[0], row[1]): row for row in section.table.rows}
    people = first_failure_agreement(
        frame["good_judge"], [frame[c] for c in names[2:5]], frame["length"]
    )
    row = by_judge["good_judge", "the same turn"]
    assert row[3:5] == pytest.approx((people.judge["exact"].value, people.people["exact"].value))
    assert by_judge["bad_judge", "the same turn"][3] < 0.4


def test_what_is_missing_for_first_failures_is_asked_for(tmp_path):
    path = tmp_path / "first.csv"
    pl.DataFrame(
        {"id": ["a", "b"], "n": [4, 4], "human": ["2", "never"], "judge": ["6", "never"]}
    ).write_csv(path)
    with pytest.raises(TableError, match="how many turns each conversation has"):
        examine(path, read=ReadOptions(unit="first"))
    with pytest.raises(TableError, match=r"line 2, column 'judge': turn 6 of a conversation that"):
        examine(path, read=ReadOptions(unit="first", turns="n"))
