"""Preferences in an examination: orders combined, intervals, agreement, position, ranking."""

from __future__ import annotations

import itertools
import json
import math
import time

import numpy as np
import polars as pl
import pytest
from machine import second

from voirdire import TableError
from voirdire.examining import audit_source, examine
from voirdire.examining.preferences import (
    Preferences,
    combine_comparisons,
    examine_preferences,
    preference_findings,
    preference_sections,
    preference_table,
)
from voirdire.parsing import combine_orders
from voirdire.report import write_outputs
from voirdire.tabular import Marked

NAMES = ["item", "system_a", "system_b", "shown_first", "rater", "attribute", "score"]


def frame(rows):
    return pl.DataFrame(rows, schema=NAMES, orient="row", strict=False)


def both_orders(item, ab, ba, rater="ann", attribute="Overall", system="m"):
    return [
        (item, system, "ref", system, rater, attribute, ab),
        (item, system, "ref", "ref", rater, attribute, ba),
    ]


def test_orders_are_settled_as_the_parser_settles_them():
    levels = (None, -2.0, -1.0, 0.0, 1.0, 2.0)
    pairs = list(itertools.product(levels, levels))
    rows = [row for n, (ab, ba) in enumerate(pairs) for row in both_orders(f"i{n}", ab, ba)]
    combined = combine_comparisons(preference_table(frame(rows)))
    for (ab, ba), row in zip(pairs, combined.iter_rows(named=True), strict=True):
        expected = combine_orders(ab, ba)
        assert (row["outcome"], row["score"]) == (expected.status, expected.score), (ab, ba)
        assert row["opposite"] == (ab is not None and ba is not None and ab * ba < 0)


def test_an_inconsistent_pair_is_counted_and_not_averaged_away():
    rows = [*both_orders("1", 2, -2), *both_orders("2", 1, 0), *both_orders("3", 1, 1)]
    cell = examine_preferences(frame(rows)).cell("ann", "m", "Overall")
    assert (cell.mean.value, cell.mean.n) == (1.0, 1)  # with 1 and 2 averaged it would be 0.5
    assert (cell.inconsistent, cell.opposite, cell.missing) == (2, 1, 0)
    assert (cell.outcome.wins, cell.outcome.ties, cell.outcome.losses) == (1, 0, 0)


def test_missing_stays_missing():
    rows = [*both_orders("1", None, 1), *both_orders("2", None, None), *both_orders("3", -1, -2)]
    found = examine_preferences(frame(rows))
    cell = found.cell("ann", "m", "Overall")
    assert (cell.missing, cell.mean.n, cell.mean.value) == (2, 1, -1.5)
    kinds = {finding.kind: finding.count for finding in preference_findings(found.table)}
    assert kinds["preferences_missing"] == 2


def test_what_is_missing_is_said_of_each_rater():
    rows = [row for n in range(30) for row in both_orders(f"{n}", None if n == 4 else 1, 1)]
    rows += [row for n in range(4) for row in both_orders(f"{n}", None, None if n else 1, "ben")]
    rows += both_orders("1", 0, 0, "cleo")
    ann, ben = (
        found
        for found in preference_findings(preference_table(frame(rows)))
        if found.kind == "preferences_missing"
    )
    assert (ann.table, ann.severity, ann.count) == ("ann", "note", 1)
    assert ann.message == "1 of 30 comparisons have no score (judgements: 1 blank)."
    assert (ben.table, ben.severity, ben.count) == ("ben", "serious", 4)
    assert ben.message == "4 of 4 comparisons have no score (judgements: 7 blank)."


def test_columns_beside_a_table_break_preferences_down(tmp_path):
    """Columns with few values, each repeated; an item that they do not say is in no silence."""
    rows = [row for n in range(6) for row in both_orders(f"{n}", 1, 1)]
    frame(rows).write_parquet(tmp_path / "preferences.parquet")
    items = {
        "item": [str(n) for n in (7, 0, 1, 2, 3, 4)],
        "level": list("zabbaa"),
        "text": [f"Tea {n}." for n in range(6)],
        "one": ["same"] * 6,
    }
    pl.DataFrame(items).write_parquet(tmp_path / "items.parquet")
    titled = {s.title: s for s in examine(tmp_path / "preferences.parquet").sections}
    assert [row[0] for row in titled["Mean preference by level"].table.rows] == [
        "a",
        "b",
        "(not said)",
    ]
    assert [row[4] for row in titled["Mean preference by level"].table.rows] == [3, 2, 1]
    assert "Win, tie, loss by level" in titled
    assert not any("text" in title for title in titled)
    (tmp_path / "items.parquet").unlink()
    assert not any(" by " in s.title for s in examine(tmp_path / "preferences.parquet").sections)


def test_a_pair_named_the_other_way_is_turned():
    rows = [
        ("1", "m", "ref", "m", "ann", "Overall", 2),
        ("1", "ref", "m", "ref", "ben", "Overall", -2),
    ]
    found = examine_preferences(frame(rows))
    assert {cell.mean.value for cell in found.cells} == {2.0}
    assert found.agreement[0].winner.value == 1.0


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("9", "m", "ref", "m", "ann", "Overall", 3), r"row 2: a score off -2\.\.2: .*'item': '9'"),
        (("9", "m", "m", "m", "ann", "Overall", 1), "row 2: a system compared with itself"),
        (("9", "m", "ref", "x", "ann", "Overall", 1), "row 2: a shown_first that is neither"),
        (("9", "m", "ref", "m", "", "Overall", 1), "row 2: an empty item, system, rater"),
        (("1", "m", "ref", "m", "ann", "Overall", 1), "row 2: .*stands above already"),
        (("1", "ref", "m", "m", "ann", "Overall", 1), "row 2: .*stands above already"),
    ],
)
def test_a_bad_row_is_named(row, message):
    with pytest.raises(TableError, match=message):
        preference_table(frame([("1", "m", "ref", "m", "ann", "Overall", 1), row]))


def test_a_bad_row_of_a_file_is_named_by_its_line(tmp_path):
    path = tmp_path / "choices.csv"
    path.write_text("item,system_a,system_b,rater,attribute,score\n1,m,r,ann,O,1\n2,m,r,ann,O,7\n")
    with pytest.raises(TableError, match=r"choices\.csv, line 3: a score off -2\.\.2"):
        examine(path)


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(TableError, match="no column 'rater'"):
        preference_table(frame([]).drop("rater"))


def test_groups_must_hold_every_item_once():
    table = frame(both_orders("1", 1, 1))
    with pytest.raises(TableError, match="item '1' was compared and has no group"):
        examine_preferences(table, pl.DataFrame({"item": ["2"], "exercise": ["x"]}))
    with pytest.raises(TableError, match="item '1' occurs more than once"):
        examine_preferences(table, pl.DataFrame({"item": ["1", "1"], "exercise": ["x", "y"]}))


def planted(seed, n=150, systems=("m",), follow=0.3, chances=(0.1, 0.2, 0.2, 0.3, 0.2)):
    """A judge that in a share `follow` of pairs prefers what is shown first, else what it means.

    Returns rows in both orders. The position effect is `follow`, as is the share of inconsistent
    pairs; the mean of the others is that of `chances` over -2..2.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for system in systems:
        true = rng.choice([-2, -1, 0, 1, 2], n, p=chances)
        follows = rng.random(n) < follow
        for item in range(n):
            ab, ba = (1, -1) if follows[item] else (true[item], true[item])
            rows += both_orders(f"i{item}", int(ab), int(ba), "llm", "Overall", system)
    return frame(rows)


def test_a_planted_position_effect_is_found():
    found = examine_preferences(planted(7))
    effect = found.position[0].effect
    interval = effect.interval()
    assert interval.low < 0.3 < interval.high
    assert effect.details["design"] == "both orders"
    cell = found.cells[0]
    assert cell.inconsistent == cell.opposite == effect.details["inconsistent"] > 20
    mean = cell.mean.interval()
    assert mean.low < 0.3 < mean.high  # -0.2 - 0.2 + 0.3 + 0.4
    win = cell.outcome.win.interval()
    assert win.low < 0.5 < win.high
    assert {f.kind for f in preference_findings(found.table)} == {"inconsistent_orders"}


def test_one_fixed_order_is_said():
    rows = [(f"{n}", "m", "ref", "m", "ann", "Overall", 1) for n in range(5)]
    found = examine_preferences(frame(rows))
    assert {f.kind for f in preference_findings(found.table)} == {"one_order"}
    assert found.position[0].effect.reason == "not_estimable"
    unknown = frame(rows).with_columns(shown_first=pl.lit(None, pl.String))
    assert {f.kind for f in preference_findings(preference_table(unknown))} == {"order_unknown"}
    assert examine_preferences(unknown).position == ()


def test_experts_and_judges_agree_by_winner_and_by_level():
    rng = np.random.default_rng(3)
    rows = []
    for item in range(80):
        level = int(rng.integers(-2, 3))
        for rater, score in (("ann", level), ("ben", -level), ("llm", level)):
            rows.append((f"{item}", "m", "ref", "m", rater, "Overall", score))
    pairs = {(p.first, p.second): p for p in examine_preferences(frame(rows)).agreement}
    assert pairs["ann", "llm"].winner.value == 1.0
    assert pairs["ann", "llm"].alpha.value == pytest.approx(1.0)
    assert pairs["ann", "ben"].alpha.value < -0.9
    ties = sum(1 for row in rows if row[4] == "ann" and row[6] == 0) / 80
    assert pairs["ann", "ben"].winner.value == pytest.approx(ties)


def test_systems_are_ranked_and_runaway_ones_are_said():
    table = planted(2, systems=("m", "n"), follow=0.0)
    strong = table.with_columns(
        score=pl.when(pl.col("system_a") == "n").then(2).otherwise("score").cast(pl.Int64)
    )
    ranking = examine_preferences(strong).strengths[0].ranking
    assert ranking.systems[0] == "n"
    assert ranking.strengths[0].flags == ("unbounded",)
    usual = examine_preferences(table).strengths[0].ranking
    assert usual.strengths[0].interval().method == "percentile"  # items repeat
    assert sum(part.value for part in usual.strengths) == pytest.approx(0)


def test_a_system_without_a_score_keeps_no_other_from_a_place():
    table = planted(2, systems=("m", "n", "mute"), follow=0.0)
    mute = table.with_columns(
        score=pl.when(pl.col("system_a") == "mute").then(None).otherwise("score")
    )
    found = examine_preferences(mute, resamples=50)
    assert all(math.isfinite(part.value) for part in found.strengths[0].ranking.strengths)
    assert found.strengths[0].unscored == ("mute",)
    section = next(s for s in preference_sections(found) if s.title.startswith("Ranking"))
    assert [row[2:4] for row in section.table.rows][-1] == (None, "mute")


def test_several_criteria_of_one_comparison_are_no_second_comparison():
    rows = [("1", "m", "ref", "m", "ann", name, 1) for name in ("Warmth", "Overall")]
    assert preference_findings(preference_table(frame(rows))) == ()


def test_files_of_one_name_are_both_named_and_foreign_tables_beside_them_are_none(tmp_path):
    for folder, rater in (("a", "ann"), ("b", "ben")):
        (tmp_path / folder).mkdir()
        rows = [row for n in range(4) for row in both_orders(f"{n}", 1, 1, rater)]
        frame(rows).write_parquet(tmp_path / folder / "preferences.parquet")
    pl.DataFrame({"key": [1]}).write_parquet(tmp_path / "a" / "items.parquet")
    pl.DataFrame({"item": list("0123"), "level": [1, 1, 2, 2]}).write_parquet(
        tmp_path / "b" / "items.parquet"
    )
    (tmp_path / "both.toml").write_text(
        'name = "both"\n[[data.sources]]\npath = "a/preferences.parquet"\n'
        '[[data.sources]]\npath = "b/preferences.parquet"\n'
    )
    found = examine(tmp_path / "both.toml")
    assert set(found.inputs.hashes) == {"a/preferences.parquet", "b/preferences.parquet"}
    titled = {section.title: section for section in found.sections}
    assert {row[0] for row in titled["Mean preference by level"].table.rows} == {"1", "2"}


def test_runs_are_comparisons_of_their_own_but_one_voice_in_agreement():
    rows = [
        ("1", "m", "ref", "m", "ann", "Overall", 1, 1),
        ("1", "m", "ref", "m", "llm", "Overall", 2, 1),
        ("1", "m", "ref", "m", "llm", "Overall", -1, 2),
    ]
    table = pl.DataFrame(rows, schema=[*NAMES, "run"], orient="row")
    found = examine_preferences(table)
    assert found.cell("llm", "m", "Overall").mean.n == 2
    assert found.agreement[0].winner.n == 1
    assert found.agreement[0].winner.value == 1.0  # 0.5 and 1 both prefer m


def test_no_resamples_leave_the_bootstrap_out():
    found = examine_preferences(planted(1, n=10), resamples=0)
    assert found.position[0].effect.intervals == ()
    assert found.cells[0].mean.interval().method == "t"


def test_a_file_is_examined_and_reported(tmp_path):
    groups = [("ann", 1), ("llm", 0)]
    rows = [
        row
        for rater, shift in groups
        for n in range(30)
        for row in both_orders(f"i{n}", shift, (-1) ** n * shift, rater)
    ]
    for suffix in ("csv", "parquet", "jsonl"):
        path = tmp_path / f"preferences.{suffix}"
        table = frame(rows)
        {"csv": table.write_csv, "parquet": table.write_parquet, "jsonl": table.write_ndjson}[
            suffix
        ](path)
        found = examine(path)
        assert found.results == found.verdicts == ()
        assert found.facts(Preferences).table.height == len(rows)
        assert [f.kind for f in found.findings] == ["inconsistent_orders"]
        assert audit_source(path) == found.findings
        assert list(found.inputs.hashes) == [path.name]
    same = examine(frame(rows))
    assert same.sections == found.sections
    files = write_outputs(found, tmp_path / "out", figures=False)
    assert {path.name for path in files} >= {"report.html", "tables.md", "results.json"}
    text = (tmp_path / "out" / "tables.md").read_text("utf-8")
    for title in ("Mean preference", "Win, tie, loss", "Position bias", "Agreement of raters"):
        assert f"## {title}" in text
    titles = [
        s["title"] for s in json.loads((tmp_path / "out/results.json").read_text())["sections"]
    ]
    assert "Ranking of systems (Bradley-Terry)" in titles


def test_a_workbook_of_preferences_is_found(tmp_path):
    table = frame([row for n in range(4) for row in both_orders(f"i{n}", 1, 1)])
    table.write_excel(tmp_path / "sheet.xlsx")
    assert examine(tmp_path / "sheet.xlsx").facts(Preferences).table.height == 8


def test_ratings_are_still_ratings(tmp_path):
    path = tmp_path / "ratings.csv"
    lines = [f"{i},{r},{(i + s) % 5 + 1}" for i in range(6) for r, s in (("human", 0), ("llm", 1))]
    path.write_text("\n".join(["item,rater,score", *lines]))
    found = examine(path, reference=["human"])
    assert found.facts(Preferences) is None
    assert found.results


def test_intervals_of_few_items_bear_an_asterisk():
    for n, mark in ((8, True), (80, False)):
        found = examine_preferences(planted(4, n=n), resamples=50)
        section = next(s for s in preference_sections(found) if s.title == "Position bias")
        assert isinstance(section.table.rows[0][3], Marked) is mark


def test_sections_state_undefined_as_a_dash():
    found = examine_preferences(frame(both_orders("1", 2, -2)))
    means = preference_sections(found)[0]
    row = means.table.records()[0]
    assert (row["n"], row["Interval (t)"], row["Inconsistent"]) == (0, None, 1)
    assert math.isnan(row["Mean"])


def test_a_large_study_is_quick():

    rng = np.random.default_rng(0)
    rows = [
        (f"{i}", s, "ref", s if rng.random() < 0.5 else "ref", "ann", a, int(rng.integers(-2, 3)))
        for i in range(156)
        for s in ("m1", "m2", "m3")
        for a in ("C1", "C2", "C3", "C4", "Overall")
    ]
    groups = pl.DataFrame(
        {"item": [str(i) for i in range(156)], "exercise": [f"e{i % 10}" for i in range(156)]}
    )
    table = frame(rows)
    examine_preferences(table, groups)  # what is imported and compiled once is not counted
    start = time.process_time()
    found = examine_preferences(table, groups)
    assert time.process_time() - start < 6 * second()
    assert len(found.parts["exercise"]) == 150


def test_people_who_rated_points_do_not_keep_comparisons_from_being_examined(tmp_path):
    people = "item,system,rater,attribute,score\n" + "".join(
        f"{item},{system},ann,Empathy,{1 + (item + ord(system)) % 5}\n"
        for item in range(1, 6)
        for system in "ab"
    )
    (tmp_path / "people.csv").write_text(people)
    compared = "item,system_a,system_b,shown_first,rater,run,attribute,score,status\n" + "".join(
        f"{item},a,b,a,judge,1,Overall,{(-1) ** item},ok\n" for item in range(1, 6)
    )
    (tmp_path / "compared.csv").write_text(compared)
    (tmp_path / "study.toml").write_text(
        'name = "t"\n[data]\nreference = ["ann"]\n'
        'sources = [{path = "people.csv"}, {path = "compared.csv"}]\n'
        '[[panel]]\nname = "ann"\nkind = "human"\n[[panel]]\nname = "judge"\n'
    )
    found = examine(tmp_path / "study.toml")
    assert found.results == ()
    assert found.facts(Preferences).table.height == 5
