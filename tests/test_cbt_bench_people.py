"""CBT-Bench and people: their ids, their mean, reasons against errors, length, the first screen."""

from __future__ import annotations

import humans_work
import numpy as np
import polars as pl
import pytest
from cbt_bench_work import belief_folder, question_file
from command_line import invoke

from voirdire import InputError
from voirdire.examining import examine
from voirdire.examining.preferences.length import adjusted_means, adjusted_section
from voirdire.study import build_study
from voirdire.tables.hand_labels import HandLabel, hand_labels_path, keep_hand_label
from voirdire_plugins.cbt_bench.prepare import write_label_study, write_question_study


def voirdire(*arguments):
    done = invoke([str(one) for one in arguments])
    assert done.exit_code == 0, done.output + str(done.exception)
    return done.output


def answers(path, items, labels, people=("ann", "ben")):
    rows = [
        {"item": item, "rater": who, "attribute": label, "score": float((n + at + p) % 3 == 0)}
        for n, item in enumerate(items)
        for p, who in enumerate(people)
        for at, label in enumerate(labels)
    ]
    pl.DataFrame(rows).write_csv(path)
    return path


def tables(found):
    return {section.title: section.table for section in found.sections if section.has_rows}


@pytest.mark.parametrize(
    ("items", "labels", "says"),
    [
        (["p0", "P1"], ["helpless"], r"column 'item': 1 of 2 are not asked, such as 'P1'"),
        (["9", "8"], ["helpless"], r"column 'item': 2 of 2 are not asked, .* about 'p0', 'p1'"),
        (["p0"], ["hopeless"], r"column 'attribute': 1 of 1 are not asked, such as 'hopeless'"),
    ],
)
def test_people_who_answered_something_else_are_told_before_a_run(tmp_path, items, labels, says):
    belief_folder(tmp_path, 6)
    people = answers(tmp_path / "people.csv", items, labels)
    with pytest.raises(InputError, match=says):
        write_label_study(tmp_path / "s", "pc", tmp_path, ["simulated:a"], people=people)
    assert not (tmp_path / "s").exists()


@pytest.fixture(scope="module")
def believed(tmp_path_factory):
    """A session of level II with a model and two people."""
    folder = tmp_path_factory.mktemp("believed")
    belief_folder(folder, 30)
    labels = ["helpless", "unlovable", "worthless"]
    people = answers(folder / "people.csv", [f"p{n}" for n in range(30)], labels)
    write_label_study(
        folder / "s",
        "pc",
        folder,
        ["simulated:a"],
        people=people,
        model_options={"answers": ["a", "a, b", "c"]},
    )
    voirdire("run", folder / "s" / "study.toml", "--out", folder / "session", "--quiet")
    return folder


def test_the_mean_of_two_people_stands_beside_the_rows(believed):
    found = examine("cbt_bench", data=believed / "session", resamples=0)
    rows = {row["Rater"]: row for row in found.sections[0].table.records()}
    own = [rows["ann"], rows["ben"]]
    mean = rows["Mean of 2 people"]
    for name in ("Precision", "Recall", "F1", "kappa_F1"):
        assert mean[name] == pytest.approx(np.mean([row[name] for row in own]))
    assert list(rows)[:4] == ["a", "ann", "ben", "Mean of 2 people"]


def test_a_note_of_look_stands_against_the_error(believed):
    errors = tables(examine("cbt_bench", data=believed / "session", resamples=0))[
        "CBT-PC: error cases"
    ]
    first = next(row for row in errors.records() if row["Rater"] == "a" and row["Missed"] != "none")
    label = first["Missed"].split("; ")[0]
    path = hand_labels_path(believed / "session")
    note = HandLabel(first["Item"], None, label, "Experts", 1.0, "cleo", "It reads a joke as fact.")
    keep_hand_label(path, note)
    try:
        found = examine("cbt_bench", data=believed / "session", resamples=0)
        table = tables(found)["Reasons written down against errors"]
        rows = [row for row in table.records() if row["Judge"] == "a"]
        assert [(row["Item"], row["By"]) for row in rows] == [(first["Item"], "Experts")]
        assert "Reason" not in table.names  # texts are shown where the study allows it
        study = (believed / "session" / "study.toml").read_text("utf-8")
        assert "excerpt" not in study
    finally:
        path.unlink()


def test_reasons_that_people_give_on_sheets_stand_against_errors(tmp_path):
    folder = tmp_path / "work"
    items = pl.DataFrame(
        {"id": [f"i{n}" for n in range(6)], "text": [f"Day {n}." for n in range(6)]}
    )
    items.write_csv(tmp_path / "items.csv")
    (tmp_path / "people.toml").write_text(
        'name = "people"\n[items]\npath = "items.csv"\n[humans]\ntask = "labels"\n'
        'raters = ["ann"]\nlabels = ["calm", "warm"]\nreason = "Why?"\n'
    )
    voirdire("humans", "export", tmp_path / "people.toml", "--out", folder)
    path = folder / "sheets" / "ann.csv"
    header, *rows = humans_work.read_csv(path)
    for row in rows:
        row[humans_work.columns_of(header, "Labels")[0]] = "calm"
        row[humans_work.columns_of(header, "Reason")[0]] = "The rain is said to be kind."
    humans_work.write_csv(path, [header, *rows])
    voirdire("humans", "import", folder, path, "--out", tmp_path / "answers")
    said = pl.read_parquet(tmp_path / "answers" / "ratings.parquet")
    assert set(said["reason"]) == {"The rain is said to be kind."}
    judged = [
        {"item": f"i{n}", "rater": who, "attribute": label, "score": float(value)}
        for n in range(6)
        for who, calm in (("key", 1), ("m", n % 2))
        for label, value in (("calm", calm), ("warm", 0))
    ]
    pl.DataFrame(judged).write_csv(tmp_path / "judged.csv")
    study = build_study(
        {"name": "x",
         "data": {"sources": [{"path": "judged.csv", "layout": "long"},
                              {"path": "answers/ratings.parquet", "layout": "long"}],
                  "reference": ["key"], "excerpt": 12},
         "rubric": {"scale": [0, 1], "attributes": ["calm", "warm"]},
         "panel": [{"name": "key", "kind": "human"}, {"name": "m", "kind": "judge"},
                   {"name": "ann", "kind": "human"}]},
        folder=str(tmp_path),
    )  # fmt: skip
    table = tables(examine(study, resamples=0))["Reasons written down against errors"]
    assert [row[:3] for row in table.rows] == [("m", f"i{n}", "calm") for n in (0, 2, 4)]
    assert {row[3:] for row in table.rows} == {("none", "ann", "The rain is…")}


def test_the_first_screen_of_level_1_is_its_accuracy(tmp_path):
    exam = question_file(tmp_path, 24)
    people = answers(tmp_path / "people.csv", [str(n + 1) for n in range(25)], "ABCD")
    write_question_study(
        tmp_path / "s",
        exam,
        ["simulated:a"],
        people=people,
        columns={"type": "kind"},
        model_options={"answers": ["A", "B"]},
    )
    voirdire("run", tmp_path / "s" / "study.toml", "--out", tmp_path / "session", "--quiet")
    said = voirdire("examine", "cbt_bench", "--data", tmp_path / "session", "--out", tmp_path / "r")
    lines = [line for line in said.splitlines() if line.strip()]
    assert lines[1] == "Questions: accuracy"
    assert not any(line.startswith(("Do not", "Trust", "Use ")) for line in lines)
    report = (tmp_path / "r" / "tables.md").read_text("utf-8")
    assert report.splitlines()[2] == "## Questions: accuracy"
    found = examine("cbt_bench", data=tmp_path / "session", resamples=0)
    assert found.verdicts == found.results == ()
    rows = found.sections[0].table.records()
    both = [row for row in rows if row["Rater"] in ("ann", "ben") and row["Type"] == "all"]
    mean = next(r for r in rows if r["Rater"] == "Mean of 2 people" and r["Type"] == "all")
    assert mean["Accuracy"] == pytest.approx(np.mean([row["Accuracy"] for row in both]))


def slow_adjusted(y, groups, x, clusters):
    """The same by hand: residuals within groups give the slope, item by item the errors."""
    names = sorted(set(groups))
    centre = {g: (x[groups == g].mean(), y[groups == g].mean()) for g in names}
    dx = np.array([v - centre[g][0] for v, g in zip(x, groups, strict=True)])
    dy = np.array([v - centre[g][1] for v, g in zip(y, groups, strict=True)])
    slope = (dx * dy).sum() / (dx**2).sum()
    left = dy - slope * dx
    items = sorted(set(clusters))
    n, m = len(y), len(items)
    factor = m / (m - 1) * (n - 1) / (n - len(names) - 1)
    error = factor * sum((dx * left)[clusters == c].sum() ** 2 for c in items) / (dx**2).sum() ** 2
    return {g: centre[g][1] - slope * centre[g][0] for g in names}, slope, np.sqrt(error)


def test_length_is_taken_out_of_preferences():
    rng = np.random.default_rng(4)
    n = 60
    groups, clusters = np.repeat([0, 1], n), np.tile(np.arange(n), 2)
    x = rng.normal(0.5, 0.4, 2 * n)
    # Truth: at equal length the first is as good as the reference, the second better by 0.5.
    y = np.where(groups, 0.5, 0.0) + 0.8 * x + rng.normal(0, 0.4, 2 * n)
    found = adjusted_means(y, groups, x, clusters, 0.95)
    means, slope, error = slow_adjusted(y, groups, x, clusters)
    assert found.means == pytest.approx([means[0], means[1]])
    assert found.slope == pytest.approx(slope)
    width = found.slope_interval[1] - found.slope_interval[0]
    assert width / 2 == pytest.approx(2.000995 * error, rel=1e-4)  # t with 59 degrees of freedom
    reach = np.diff(found.means_interval, axis=1)[:, 0]  # twice the half width: a wide margin
    assert np.all(np.abs(found.means - [0.0, 0.5]) < reach)
    assert y[:n].mean() > 0.3  # what length alone brought
    assert adjusted_means(y, groups, np.ones(2 * n), clusters, 0.95) is None


def test_intervals_at_equal_length_hold_their_level():
    rng = np.random.default_rng(9)
    n, inside = 40, 0
    groups, clusters = np.repeat([0, 1, 2], n), np.tile(np.arange(n), 3)
    for _ in range(400):
        x = rng.normal(0.3, 0.5, 3 * n)
        shared = np.tile(rng.normal(0, 0.5, n), 3)  # items differ, for all systems alike
        y = 0.25 + 0.6 * x + shared + rng.normal(0, 0.6, 3 * n)
        low, high = adjusted_means(y, groups, x, clusters, 0.95).means_interval[0]
        inside += low <= 0.25 <= high
    assert 0.92 <= inside / 400 <= 0.98


def test_the_table_of_equal_length_names_what_it_rests_on():
    items = [f"e{n}" for n in range(12)]
    combined = pl.DataFrame(
        {
            "item": items,
            "system_a": "m",
            "system_b": "reference",
            "rater": "ann",
            "attribute": "Overall",
            "score": [1.0, 0.0] * 6,
        }
    )
    texts = [
        (item, system, "word " * (size * (1 + at % 3)))
        for at, item in enumerate(items)
        for system, size in (("m", 8), ("reference", 4))
    ]
    responses = pl.DataFrame(texts, schema=["item", "system", "text"], orient="row")
    (row,) = adjusted_section(combined, responses, "reference", 0.95).table.rows
    assert row[:5] == ("ann", "m", 12, 0.5, 2.0)
    assert row[6] is None  # every response is twice as long: no slope can be told
