"""mentalalign on a user's own judges: the command, a session, and the tables that need no workbook."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from command_line import invoke

from voirdire import TableError
from voirdire.examining import examine
from voirdire.examining.overviews import decisions
from voirdire.stats import variance_components
from voirdire.study import load_study
from voirdire_plugins.mentalalign.benchmark import RUBRIC
from voirdire_plugins.mentalalign.review import scenarios
from voirdire_plugins.mentalalign.studies import write_judge_study

SYSTEMS = {"calm": "closed", "warm": "closed", "plain": "open", "brief": "open"}


def files(folder, items=12):
    rng = np.random.default_rng(3)
    pl.DataFrame(
        {"id": [f"c{i}" for i in range(items)], "text": [f"I had a long day {i}." for i in range(items)]}
    ).write_csv(folder / "conversations.csv")  # fmt: skip
    rows = [
        (f"c{i}", system, f"Answer of {system} to {i}.", group)
        for i in range(items)
        for system, group in SYSTEMS.items()
    ]
    pl.DataFrame(rows, schema=["item", "system", "text", "group"], orient="row").write_csv(
        folder / "responses.csv"
    )
    rated = [
        (item, system, "ann", attribute["name"], int(np.clip(rng.normal(2.5 + place / 2, 0.8), 1, 5)))
        for item, system, _, _ in rows
        for place in [list(SYSTEMS).index(system)]
        for attribute in RUBRIC["attributes"]
    ]  # fmt: skip
    names = ["item", "system", "rater", "attribute", "score"]
    pl.DataFrame(rated, schema=names, orient="row").write_csv(folder / "ratings.csv")


def voirdire(*arguments):
    done = invoke([str(one) for one in arguments])
    assert done.exit_code == 0, done.output + str(done.exception)
    return done.output


def test_own_judges_are_run_and_examined_on_the_papers_rubric(tmp_path):
    files(tmp_path)
    said = voirdire(
        "paper", "mentalalign", tmp_path / "conversations.csv", "--responses",
        tmp_path / "responses.csv", "--humans", tmp_path / "ratings.csv", "--model", "simulated:a",
        "--model", "simulated:b", "--model-option", "bias=0.5", "--out", tmp_path / "study",
    )  # fmt: skip
    assert "voirdire examine mentalalign --data SESSION" in said
    study = load_study(tmp_path / "study" / "study.toml")
    assert [rater.name for rater in study.panel] == ["ann", "a", "b"]
    assert {system.group for system in study.systems} == {"closed", "open"}
    voirdire("run", tmp_path / "study" / "study.toml", "--out", tmp_path / "session", "--quiet")
    found = examine("mentalalign", data=tmp_path / "session", resamples=0)
    sections = {section.title: section for section in found.sections}
    over = sections["Systems over all judges (as Table 9)"].table
    assert [column.name for column in over.columns] == [
        "System",
        "a",
        "b",
        "Mean rank",
        "Mean",
        "Rank",
    ]
    assert sum(row[3] for row in over.rows) == pytest.approx(1 + 2 + 3 + 4)
    groups = sections["Closed and open systems"].table
    for row in groups.rows:
        assert row[3] == pytest.approx(row[1] - row[2])
    spent = {row[0]: row for row in sections["Agreement beside what it takes"].table.rows}
    assert spent["a"][4] == 12 * len(SYSTEMS)  # one call a response
    names = sections["Agreement beside what it takes"].table.names
    assert names[7:9] == ("Seconds a call", "Cost")
    assert "Combinations of conditions (figure 3)" not in sections
    assert "The published guidance matrix" not in sections
    assert {result.reliability_class for result in found.results} == {""}
    assert not any("published classes" in note for note in found.notes)


def test_wordings_prices_and_conditions_of_own_judges(tmp_path):
    files(tmp_path, 8)
    texts = pl.read_csv(tmp_path / "conversations.csv")
    said = ["Anxiety; Grief", "Grief", "", "Grief;Anxiety"] * 2
    texts.with_columns(conditions=pl.Series(said)).write_csv(tmp_path / "conversations.csv")
    voirdire(
        "paper", "mentalalign", tmp_path / "conversations.csv", "--responses",
        tmp_path / "responses.csv", "--humans", tmp_path / "ratings.csv", "--model", "simulated:a",
        "--model", "simulated:b", "--prompts", 2, "--runs", 2, "--temperature", 0.7,
        "--out", tmp_path / "study",
    )  # fmt: skip
    path = tmp_path / "study" / "study.toml"
    path.write_text(
        path.read_text() + '\n[run.prices."simulated:a"]\ninput = 1000000.0\noutput = 0.0\n'
    )
    voirdire("run", path, "--out", tmp_path / "session", "--quiet")
    found = examine("mentalalign", data=tmp_path / "session", resamples=0)
    sections = {section.title: section.table for section in found.sections}
    one = {row[:2]: row for row in sections["Several prompts of one judge"].rows}
    assert set(one) == {(j, a["name"]) for j in "ab" for a in RUBRIC["attributes"]}
    scores = found.ratings.filter(pl.col("attribute").cast(pl.String) == "Safety")
    cube = np.array([
        [[scores.filter(rater=r, run=run).sort("item", "system")["score"].to_list()
          for run in (1, 2)] for r in ("a", "a prompt 2")]
    ])[0].transpose(2, 0, 1)  # fmt: skip
    expected = variance_components(cube)
    assert one["a", "Safety"][2:6] == (2, 2, 32, 0)
    assert one["a", "Safety"][6] == pytest.approx(expected.item)
    assert one["a", "Safety"][7] == pytest.approx(expected.rater)
    both = {row[0]: row for row in sections["Several judges with the same prompts"].rows}
    assert both["Safety"][1:4] == (2, 2, 32)
    spent = {row[0]: row for row in sections["Agreement beside what it takes"].rows}
    assert spent["a"][8] == pytest.approx(spent["a"][5])  # a unit a token of input
    groups = sections["Combinations of conditions (figure 3)"].rows
    assert [row[:3] for row in groups] == [("Anxiety; Grief", 4, 0.5), ("Grief", 2, 0.25)]
    mean = found.ratings.filter(
        pl.col("rater") == "ann", pl.col("item").cast(pl.String).is_in(["c0", "c3", "c4", "c7"])
    )["score"].mean()
    assert groups[0][3] == pytest.approx(mean)


def test_scenario_a_of_figure_5_follows_and_b_does_not():
    a, b = scenarios().table.rows
    assert a[1] == pytest.approx(a[2], abs=0.005)  # MSE 0.64
    assert a[4] == pytest.approx(a[5], abs=0.005)  # ICC(C,1) 1.00
    assert a[3] == pytest.approx(0.8)
    assert abs(b[4]) < 0.01
    assert b[5] == 0.31  # as printed
    assert b[7].high - b[7].low > 0.76  # the exact bootstrap is as wide as the printed one
    assert b[8] == (0.01, 0.77)
    assert "B: Gemini judges relevance" in voirdire("paper", "mentalalign-scenarios")


@pytest.mark.shared
def test_closed_open_and_decisions_of_the_published_ratings(shared):
    found = examine("mentalalign", data=shared / "data" / "mentalalign70k", off_scale="keep",
                    resamples=0)  # fmt: skip
    table = decisions(found).table
    assert len(table.rows) == 7
    for row in table.rows:
        assert row[4] == 6
        assert 0 <= row[5] <= 6
        own = [r for r in found.results if r.attribute == row[0]]
        assert row[1] == min(own, key=lambda r: r.mse).judge
    groups = next(s for s in found.sections if s.title == "Closed and open systems").table
    assert [column.name for column in groups.columns] == [
        "Rater", "human (1 systems)", "closed (4 systems)", "open (5 systems)", "closed - open",
    ]  # fmt: skip


def test_what_a_file_lacks_is_named(tmp_path):
    files(tmp_path)
    pl.read_csv(tmp_path / "responses.csv").drop("text").write_csv(tmp_path / "bad.csv")
    with pytest.raises(TableError, match=r"bad.csv: there is no column 'text'"):
        write_judge_study(tmp_path / "s", tmp_path / "conversations.csv", tmp_path / "bad.csv",
                          ["simulated:a"])  # fmt: skip
    assert not (tmp_path / "s").exists()
