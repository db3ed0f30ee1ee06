"""mentalalign on a user's own judges: the command, a session, and the tables that need no workbook."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from command_line import invoke
from wire_server import WireServer, rubric_answer

from voirdire import InputError, TableError
from voirdire.examining import examine
from voirdire.stats import variance_components
from voirdire.study import load_study
from voirdire_plugins.mentalalign.benchmark import RUBRIC
from voirdire_plugins.mentalalign.review import scenarios
from voirdire_plugins.mentalalign.studies import write_judge_study
from voirdire_plugins.resources import resource

SYSTEMS = {"calm": "closed", "warm": "closed", "plain": "open", "brief": "open"}


def files(folder, items=12):
    rng = np.random.default_rng(3)
    pl.DataFrame(
        {
            "id": [f"c{i}" for i in range(items)],
            "text": [f"I had a long day {i}." for i in range(items)],
        }
    ).write_csv(folder / "conversations.csv")
    rows = [
        (f"c{i}", system, f"Answer of {system} to {i}.", group)
        for i in range(items)
        for system, group in SYSTEMS.items()
    ]
    pl.DataFrame(rows, schema=["item", "system", "text", "group"], orient="row").write_csv(
        folder / "responses.csv"
    )
    rated = [
        (
            item,
            system,
            "ann",
            attribute["name"],
            int(np.clip(rng.normal(2.5 + place / 2, 0.8), 1, 5)),
        )
        for item, system, _, _ in rows
        for place in [list(SYSTEMS).index(system)]
        for attribute in RUBRIC["attributes"]
    ]
    names = ["item", "system", "rater", "attribute", "score"]
    pl.DataFrame(rated, schema=names, orient="row").write_csv(folder / "ratings.csv")


def voirdire(*arguments):
    done = invoke([str(one) for one in arguments])
    assert done.exit_code == 0, done.output + str(done.exception)
    return done.output


def test_own_judges_are_run_and_examined_on_the_papers_rubric(tmp_path):
    files(tmp_path)
    said = voirdire(
        "paper",
        "mentalalign",
        tmp_path / "conversations.csv",
        "--responses",
        tmp_path / "responses.csv",
        "--humans",
        tmp_path / "ratings.csv",
        "--model",
        "simulated:a",
        "--model",
        "simulated:b",
        "--model-option",
        "bias=0.5",
        "--out",
        tmp_path / "study",
    )
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
        "paper",
        "mentalalign",
        tmp_path / "conversations.csv",
        "--responses",
        tmp_path / "responses.csv",
        "--humans",
        tmp_path / "ratings.csv",
        "--model",
        "simulated:a",
        "--model",
        "simulated:b",
        "--prompts",
        2,
        "--runs",
        2,
        "--temperature",
        0.7,
        "--out",
        tmp_path / "study",
    )
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
    cube = np.array(
        [
            [
                [
                    scores.filter(rater=r, run=run).sort("item", "system")["score"].to_list()
                    for run in (1, 2)
                ]
                for r in ("a", "a prompt 2")
            ]
        ]
    )[0].transpose(2, 0, 1)
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


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """A session in which two judges rate responses of a file and of a generator."""
    folder = tmp_path_factory.mktemp("generated")
    files(folder)
    voirdire(
        "paper",
        "mentalalign",
        folder / "conversations.csv",
        "--responses",
        folder / "responses.csv",
        "--generator",
        "simulated:g",
        "--humans",
        folder / "ratings.csv",
        "--model",
        "simulated:a",
        "--model",
        "simulated:b",
        "--guidance",
        0.3,
        "--guidance",
        0.9,
        "--excerpt",
        40,
        "--out",
        folder / "study",
    )
    path = folder / "study" / "study.toml"
    path.write_text(
        path.read_text() + '\n[run.prices."simulated:g"]\ninput = 0.0\noutput = 1000000.0\n'
    )
    voirdire("run", path, "--out", folder / "session", "--quiet")
    found = examine("mentalalign", data=folder / "session", resamples=0)
    return found, {section.title: section for section in found.sections}


def test_generators_have_quality_beside_tokens_seconds_and_cost(generated):
    found, sections = generated
    (row,) = sections["Quality of responses beside what they take"].table.rows
    name, humans, judges, calls, _, out, seconds, cost, tokens, thousand = row
    assert (name, humans, calls) == ("g", None, 12)  # nobody rated its responses but the judges
    own = found.ratings.filter(pl.col("system").cast(pl.String) == "g")
    by = own.group_by("rater", "attribute").agg(pl.col("score").mean())
    assert judges == pytest.approx(by["score"].mean())
    assert cost == pytest.approx(out)  # a unit a token
    assert (tokens, thousand) == (pytest.approx(out / 12), pytest.approx(1000 * cost / 12))
    assert seconds >= 0


def test_the_guidance_matrix_follows_declared_bounds(generated):
    found, sections = generated
    table = sections["Guidance matrix"].table
    assert table.names[1:] == ("narrow, to 0.3", "moderate, to 0.9", "wide, over 0.9")
    seen = {
        pair: (row, column)
        for row, cells in enumerate(table.rows)
        for column, cell in enumerate(cells[1:])
        for pair in cell.split("; ")
        if cell != "none"
    }
    results = (*found.results, *found.rated.composites)
    assert len(seen) == len(results) == 18  # two judges; seven attributes, two groups of them
    for one in results:
        width = one.interval("C,1", "f").width
        place = (int(one.icc_c1 < 0.75), int(width > 0.3) + int(width > 0.9))
        assert seen[f"{one.judge} {one.attribute}"] == place
    with pytest.raises(InputError, match="--guidance: give NARROW and WIDE"):
        write_judge_study("x", "y", ["simulated:a"], guidance=[1.0])


def test_the_best_of_all_and_of_a_group_are_marked(generated):
    _, sections = generated
    title = "Systems by attribute and group of attributes (as Tables 2 and 10 to 14)"
    table = sections[title].table
    assert table.names[2:11] == (
        *(one["name"] for one in RUBRIC["attributes"]),
        "CSS",
        "ARS",
    )
    for column in range(2, 12):
        rows = {row[1]: row[column] for row in table.rows if row[0] == "a"}
        values = {name: getattr(cell, "value", cell) for name, cell in rows.items()}
        marks = {name: getattr(cell, "mark", "") for name, cell in rows.items()}
        top = max(values.values())
        assert {name for name, mark in marks.items() if mark == " *"} == {
            name for name, value in values.items() if value == top
        }
        for group in ("closed", "open"):
            own = {name: values[name] for name, its in SYSTEMS.items() if its == group}
            best = {name for name, value in own.items() if value == max(own.values())}
            assert {marks[name] for name in best} <= {" *", " †"}
            assert not {marks[name] for name in set(own) - best} & {" *", " †"}
        assert marks["g"] in ("", " *")  # of no group


def test_figure_2_stands_in_the_papers_order(generated):
    _, sections = generated
    section = sections["Consistency and its precision, by attribute (figure 2)"]
    order = [
        "Guidance",
        "Informativeness",
        "Empathy",
        "Helpfulness",
        "Understanding",
        "Safety",
        "Relevance",
    ]
    assert [table.names[1:] for table in section.tables] == [tuple(order)] * 2
    assert [figure.kind for figure in section.figures] == ["heat", "heat"]
    assert section.figures[0].labels == tuple(order)


def test_all_raters_in_one_anova_and_variance_with_shares(generated):
    found, sections = generated
    one = {
        row[0]: row
        for row in sections[
            "All judges and the reference in one ANOVA (equations 2 to 4)"
        ].table.rows
    }
    scores = found.ratings.filter(pl.col("attribute").cast(pl.String) == "Safety")
    cube = np.array(
        [
            [
                [scores.filter(rater=r, system=s).sort("item")["score"].to_list()]
                for r in ("ann", "a", "b")
            ]
            for s in SYSTEMS
        ]
    )[:, :, 0]
    means = cube.mean(axis=2)
    assert one["Safety"][1:4] == (4, 3, 12)
    # The slow way: sums of squares of a two-way table, cell by cell.
    grand = means.mean()
    msr = 3 * sum((row.mean() - grand) ** 2 for row in means) / 3
    msc = 4 * sum((column.mean() - grand) ** 2 for column in means.T) / 2
    mse = (
        sum(
            (means[i, j] - means[i].mean() - means[:, j].mean() + grand) ** 2
            for i in range(4)
            for j in range(3)
        )
        / 6
    )
    assert one["Safety"][4:7] == pytest.approx((msr, msc, mse))
    assert one["Safety"][7] == pytest.approx((msr - mse) / (msr + 2 * mse))
    assert one["Safety"][9] == pytest.approx((msr - mse) / (msr + 2 * mse + 3 * (msc - mse) / 4))
    assert {"CSS", "ARS"} < set(one)
    parts = {row[:2]: row for row in sections["Variance decomposed (as F.2)"].table.rows}
    row = parts["2 judges", "Safety"]
    components = variance_components(cube, "crossed")
    kept = max(0.0, components.item), max(0.0, components.error)
    assert row[6] * row[5] == pytest.approx(kept[0])
    assert row[12] * row[5] == pytest.approx(kept[1])
    assert sum(row[6:]) == pytest.approx(1)
    assert {name for _, name in parts} == {a["name"] for a in RUBRIC["attributes"]} | {"CSS", "ARS"}


def test_overall_stands_beside_the_attributes_with_its_justification(generated):
    _, sections = generated
    rows = {row[0]: row for row in sections["Overall, beside the attributes"].table.rows}
    assert set(rows) == {"a", "b"}  # nobody asked ann for one
    assert rows["a"][1:4] == (12 * 5, 12 * 5, 0)
    assert rows["a"][6] == pytest.approx(rows["a"][4] - rows["a"][5])
    assert rows["a"][9] == 1.0
    shown = sections["Overall farthest from the attributes (the first 5 of each rater)"].table
    assert shown.names[-1] == "Explanation"
    assert {row[-1] for row in shown.rows} == {"[simulated] for Explanation"}
    gaps = [abs(row[3] - row[4]) for row in shown.rows[:5]]
    assert gaps == sorted(gaps, reverse=True)


@pytest.mark.shared
def test_18_of_28_pairs_follow_from_no_rule_that_the_text_names(shared):
    """Appendix G names neither the limits nor which MSE: 13 of 220 pairs of rules give 18."""
    published = json.loads((shared / "reference" / "mentalalign_published.json").read_text())
    checks = json.loads((shared / "reference" / "paper_checks.json").read_text())["paper_001"]
    bias = {(one["judge"], one["attribute"]): one for one in published["bias"]}
    squares = {
        (one["judge"], one["attribute"]): one["anova_residual_ms"]
        for one in checks["status"]["rows"]
    }
    pairs = [
        (one, (bias[at]["mse"], squares[at]))
        for one in published["icc"]
        for at in [(one["judge"], one["attribute"])]
    ]
    reliable = [
        lambda one: one["status"] == "GR",
        lambda one: one["status"] != "PR",
        *(lambda one, low=low: one["icc_c1"] >= low for low in (0.5, 0.75, 0.9)),
        lambda one: one["icc_c1"] >= 0.75 and one["status"] != "PR",
        lambda one: one["icc_c1"] >= 0.75 and one["status"] == "GR",
        *(lambda one, low=low: one["icc_a1"] >= low for low in (0.5, 0.75)),
        *(lambda one, low=low: one["ci_low"] >= low for low in (0.5, 0.75)),
    ]
    limits = ((0.25, 0.5, 0.64, 1, 1.5, 2), (0.01, 0.02, 0.03, 0.04, 0.05, 0.1))
    counts = []
    for which in (0, 1):
        errors = [error[which] for _, error in pairs]
        cuts = (max(errors), *np.quantile(errors, [1 / 3, 0.5, 2 / 3]), *limits[which])
        counts += [
            sum((error[which] <= cut) != rule(one) for one, error in pairs)
            for cut in cuts
            for rule in reliable
        ]
    assert (len(counts), counts.count(18)) == (220, 13)
    assert len(set(counts)) > 10


def test_what_a_file_lacks_is_named(tmp_path):
    files(tmp_path)
    pl.read_csv(tmp_path / "responses.csv").drop("text").write_csv(tmp_path / "bad.csv")
    with pytest.raises(TableError, match=r"bad.csv: there is no column 'text'"):
        write_judge_study(
            tmp_path / "s",
            tmp_path / "conversations.csv",
            ["simulated:a"],
            responses=tmp_path / "bad.csv",
        )
    assert not (tmp_path / "s").exists()


#: A judge by the name under which a compatible server has it, and the published systems of its maker.
JUDGES = {
    "anthropic/claude-3.7-sonnet": ("claude",),
    "openai/gpt-4o": ("gpt4o", "gpt4omini"),
    "google/gemini-2.5-flash": ("gemini",),
    "openai/o4-mini": ("gpt4o", "gpt4omini"),
}


def test_self_exclusion_of_the_published_systems_holds_for_compatible_judges(tmp_path, monkeypatch):
    published = resource("mentalalign", "published")["systems"]
    items = [f"c{i}" for i in range(12)]
    pl.DataFrame({"id": items, "text": [f"I had a long day {i}." for i in items]}).write_csv(
        tmp_path / "conversations.csv"
    )
    rows = [
        (i, name, f"Answer of {name} to {i}.", one["family"], one["group"])
        for i in items
        for name, one in published.items()
    ]
    names = ["item", "system", "text", "family", "group"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv(tmp_path / "responses.csv")
    rng = np.random.default_rng(5)
    rated = [
        (item, system, "ann", attribute["name"], int(rng.integers(1, 6)))
        for item, system, *_ in rows
        for attribute in RUBRIC["attributes"]
    ]
    names = ["item", "system", "rater", "attribute", "score"]
    pl.DataFrame(rated, schema=names, orient="row").write_csv(tmp_path / "ratings.csv")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-invented")
    with WireServer(rubric_answer) as server:
        models = [part for name in JUDGES for part in ("--model", f"compatible:{name}")]
        voirdire(
            "paper",
            "mentalalign",
            tmp_path / "conversations.csv",
            "--responses",
            tmp_path / "responses.csv",
            "--humans",
            tmp_path / "ratings.csv",
            *models,
            "--model-option",
            f"base_url={server.openai}",
            "--out",
            tmp_path / "study",
        )
        voirdire("run", tmp_path / "study" / "study.toml", "--out", tmp_path / "session", "--quiet")
    command = ["examine", "mentalalign", "--data", tmp_path / "session", "--resamples", 0, "--json"]
    record = json.loads(invoke([str(part) for part in command]).stdout)
    pairs = record["results"]
    assert len(pairs) == len(JUDGES) * len(RUBRIC["attributes"])
    for pair in pairs:
        own = JUDGES[next(name for name in JUDGES if pair["judge"] in name)]
        assert sorted(pair["excluded_systems"]) == sorted(own)
        assert pair["n_systems"] == len(published) - len(own)
