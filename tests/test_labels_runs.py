"""Labels over runs: counts, final labels by every branch of the rule, kappas, what is missing."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from voirdire import InputError
from voirdire.examining import examine
from voirdire.examining.labels import (
    LabelRuns,
    agreement_frame,
    consistency_sections,
    final_labels,
    joint_agreement_frame,
    label_agreements,
    label_counts,
    label_distribution,
    largest_counts,
    reply_states,
    runs_of_ratings,
    runs_of_replies,
    threshold_of,
    unknown_labels,
)
from voirdire.parsing import LabelSet
from voirdire.schema import STATUSES
from voirdire.stats import fleiss_per_label, gwet_ac
from voirdire_plugins.distortions.labels import LABELS, UNSURE

NONE, OTHER = "No Distortion", "Others"
SMALL = LabelSet(("A", "B", "C", NONE, OTHER), none=NONE, other=OTHER)


def said(*items, rater="m", labels=SMALL, **options):
    """Label runs from replies, one list of runs an item."""
    rows = [
        (rater, f"i{at}", run, reply)
        for at, replies in enumerate(items)
        for run, reply in enumerate(replies, 1)
    ]
    frame = pl.DataFrame(rows, schema=["rater", "item", "run", "reply"], orient="row")
    return runs_of_replies(frame, labels, **options)


def cells(runs, rater="m"):
    """(items, runs, labels): 1 named, 0 not named, -1 missing."""
    return np.nan_to_num(runs.of(rater).values, nan=-1).transpose(1, 0, 2).astype(int)


def final(*items, **options):
    found = final_labels(said(*items), unsure=UNSURE, **options)
    return [
        labels if category == "labels" else category
        for category, labels in found.select("category", "labels").iter_rows()
    ]


# Figure 1 of Sharma et al.: one text, four configurations, two prompts, five runs.
P, F, E, N = "Personalization", "Fortune Telling", "Emotional Reasoning", "No Distortion"
FIGURE_1 = {
    "RLP GPT4-0.5": [P] * 5,
    "RLP GPT4-0.7": [f"{P}, {F}", f"{P}, {E}", f"{P}, {E}", f"{P}, {E}", f"{P}, {F}"],
    "RLP GPT4o-0.5": [N] * 5,
    "RLP GPT4o-0.7": [N] * 5,
    "MLP GPT4-0.5": [f"{P}, {F}", f"{P}, {F}", f"{P}, {E}", f"{P}, {E}", f"{P}, {F}"],
    "MLP GPT4-0.7": [P, P, P, P, N],
    "MLP GPT4o-0.5": [N, N, N, P, P],
    "MLP GPT4o-0.7": [N] * 5,
}


def figure_1():
    frame = pl.DataFrame(
        [
            (rater, "letter", run, reply)
            for rater, replies in FIGURE_1.items()
            for run, reply in enumerate(replies, 1)
        ],
        schema=["rater", "item", "run", "reply"],
        orient="row",
    )
    return final_labels(runs_of_replies(frame, LABELS), unsure=UNSURE)


def test_figure_1_gives_what_the_rule_gives():
    found = {
        rater: labels if category == "labels" else [category]
        for rater, category, labels in figure_1().select("rater", "category", "labels").iter_rows()
    }
    assert found == {
        "RLP GPT4-0.5": [P],
        "RLP GPT4-0.7": [P],
        "RLP GPT4o-0.5": [N],
        "RLP GPT4o-0.7": [N],
        "MLP GPT4-0.5": [P],
        "MLP GPT4-0.7": [P],
        "MLP GPT4o-0.5": ["not sure if distortion"],
        "MLP GPT4o-0.7": [N],
    }


@pytest.mark.shared
def test_figure_1_is_as_the_reference_has_it(shared):
    import json

    checks = json.loads((shared / "reference" / "paper_checks.json").read_text("utf-8"))
    expected = checks["paper_000"]["figure1_final_labels"]
    for rater, category, labels in figure_1().select("rater", "category", "labels").iter_rows():
        prompt, configuration = rater.split()
        assert expected[prompt][configuration] == (labels if category == "labels" else [category])


@pytest.mark.parametrize(
    ("replies", "expected"),
    [
        (["A"] * 5, ["A"]),
        (["A", "A", "A", "A", "B"], ["A"]),  # exactly four of five
        (["A, B", "A, B", "A, B", "A, B", "C"], ["A", "B"]),  # several labels recur
        (["A", "A", "A", NONE, NONE], "not sure if distortion"),
        (["A", "A", "A", "B", "B"], "not sure which distortion"),
        (["A", "B", "C", "A, B", "C"], "not sure which distortion"),
        ([NONE, "A", "B", "C", "A"], "not sure if distortion"),  # in a single run
        ([NONE] * 4 + ["A"], [NONE]),
        ([NONE] * 3 + ["A"] * 2, "not sure if distortion"),
        (["Envy"] * 5, [OTHER]),  # alone it is kept
        (["Envy, A"] * 4 + ["B"], ["A"]),  # beside a label it is dropped
        (["Envy, A"] * 3 + ["Envy"] * 2, "not sure which distortion"),
        (["Envy"] * 4 + [NONE], [OTHER]),
        (["A", "A", "A", "A", None], ["A"]),  # recurs already
        (["A", "A", "A", "B", None], "incomplete"),  # one more A would make four
        (["A", "A", "B", "B", None], "incomplete"),  # No Distortion could be in the missing run
        (["A", "A", NONE, "B", None], "not sure if distortion"),  # settled whatever is missing
        (["A", "B", "", None, "C"], "incomplete"),
        ([None] * 5, "incomplete"),
        ([""] * 5, "incomplete"),
        ([f"{NONE}, A"] * 5, "incomplete"),  # contradictions say nothing
        (["A"] * 4 + [f"{NONE}, A"], ["A"]),
    ],
)
def test_every_branch_of_the_rule(replies, expected):
    assert final(replies) == [expected]


@pytest.mark.parametrize(
    ("least", "expected"),
    [
        (5, "not sure which distortion"),
        (4, ["A"]),
        (3, ["A", "B"]),
        (1, ["A", "B", "C"]),
    ],
)
def test_any_m_of_k(least, expected):
    assert final(["A, B", "A, B", "A, B", "A", "C"], at_least=least) == [expected]


def test_none_and_a_label_that_both_recur_are_no_label():
    assert final(["A", "A", NONE, NONE, "B"], at_least=2) == ["not sure if distortion"]


def test_m_is_four_fifths_of_k_and_within_it():
    assert [threshold_of(k) for k in (1, 2, 3, 4, 5, 6, 10)] == [1, 2, 3, 4, 4, 5, 8]
    with pytest.raises(InputError, match=r"at_least must lie in 1..5, the number of runs, got 6"):
        final(["A"] * 5, at_least=6)


def test_without_a_none_label_silence_in_some_run_is_doubt():
    frame = pl.DataFrame(
        {
            "rater": "m", "item": np.repeat(["a", "b", "c"], 5), "run": list(range(1, 6)) * 3,
            "attribute": "A", "score": [0] * 5 + [1, 1, 0, 0, 1] + [1, 1, 1, 1, 0],
        }
    )  # fmt: skip
    found = final_labels(runs_of_ratings(frame))
    assert found["category"].to_list() == ["labels", "not sure if any", "labels"]
    assert found["labels"].to_list() == [[], [], ["A"]]


def test_the_dominant_label_is_the_one_ranked_first_most_often():
    found = final_labels(said(["B, A"] * 3 + ["A, B"] * 2, ["A, C", "C, A", "C, A", "A", "C, A"]))
    assert found["dominant"].to_list() == ["B", "C"]
    assert found["labels"].to_list() == [["A", "B"], ["A", "C"]]
    tied = final_labels(said(["B, A", "B, A", "A, B", "A, B", "C"]))
    assert tied["dominant"].to_list() == ["A"]  # ranked and named alike: the one declared first
    assert final_labels(said([NONE, "A", "B", "C", "A"]))["dominant"].to_list() == [None]


def test_a_label_that_missing_runs_could_add_is_said():
    found = final_labels(said(["A, B"] * 3 + ["A", ""], ["A"] * 4 + [""]))
    assert found["labels"].to_list() == [["A"], ["A"]]
    assert found["settled"].to_list() == [False, True]


def test_largest_counts_and_the_distribution_of_labels():
    runs = said(["A"] * 5, ["A", "A", "A", "A, B", "B"], ["A", "B", "C", NONE, ""], [NONE] * 5)
    found = largest_counts(runs)
    assert found["items"].to_list() == [0, 1, 0, 0, 1, 2]
    assert found["at_least"].to_list() == [1.0, 1.0, 0.75, 0.75, 0.75, 0.5]
    assert found["incomplete"].to_list() == [0, 1, 0, 0, 0, 0]
    shares = label_distribution(final_labels(runs, unsure=UNSURE), runs.labels)
    assert {row["label"]: row["items"] for row in shares.iter_rows(named=True)} == {
        "A": 2, "B": 0, "C": 0, NONE: 1, OTHER: 0, UNSURE[0]: 1, UNSURE[1]: 0, "incomplete": 0,
    }  # fmt: skip
    counts = label_counts(runs).filter(pl.col("item") == "i2")
    assert counts.select("label", "count", "missing").rows() == [
        ("A", 1, 1), ("B", 1, 1), ("C", 1, 1), (NONE, 1, 1), (OTHER, 0, 1),
    ]  # fmt: skip


def test_every_reply_is_accounted_for():
    runs = said(["A", "", None, f"{NONE}, A", "Envy, Envious, A"], ["A, B, C"] * 5, at_most=2)
    row = reply_states(runs).row(0, named=True)
    assert (row["replies"], row["read"], row["missing"]) == (10, 7, 3)
    assert row["reasons"] == "blank 1, unparsable 1, failed 1"
    assert (row["contradictions"], row["too_many"], row["unknown"]) == (1, 5, 1)
    assert unknown_labels(runs).rows() == [("m", "Envious", 1), ("m", "Envy", 1)]


def test_ratings_and_replies_lead_to_the_same_runs():
    runs = said(["A, B", NONE, "Envy, A", "", "B"], ["C"] * 5)
    one = runs.of("m")
    rows = [
        ("m", item, run, label, one.values[r, i, c], one.statuses[r, i])
        for r, run in enumerate(one.runs)
        for i, item in enumerate(one.items)
        for c, label in enumerate(one.labels)
    ]
    names = ["rater", "item", "run", "attribute", "score", "status"]
    long = pl.DataFrame(rows, schema=names, orient="row").with_columns(
        pl.col("score").fill_nan(None)
    )
    found = runs_of_ratings(
        long.sample(fraction=1, shuffle=True, seed=3), SMALL.labels, none=NONE, other=OTHER
    )
    two = found.of("m")
    order = [two.items.index(item) for item in one.items]
    assert two.runs == one.runs
    assert np.array_equal(two.values[:, order], one.values, equal_nan=True)
    assert two.statuses[:, order].tolist() == one.statuses.tolist()


def test_ratings_settle_others_and_contradictions_too():
    rows = (
        [("A", 1), (NONE, 0), (OTHER, 1)],
        [("A", 1), (NONE, 1), (OTHER, 0)],
        [("A", 0), (NONE, 1)],
    )
    frame = pl.DataFrame(
        [("m", "i", run, *cell) for run, cells in enumerate(rows, 1) for cell in cells],
        schema=["rater", "item", "run", "attribute", "score"],
        orient="row",
    )
    runs = runs_of_ratings(frame, ["A", NONE, OTHER], none=NONE, other=OTHER)
    assert cells(runs).tolist() == [[[1, 0, 0], [-1, -1, -1], [0, 1, -1]]]
    assert runs.of("m").statuses[:, 0].tolist() == ["ok", "unparsable", "ok"]
    kept = runs_of_ratings(
        frame, ["A", NONE, OTHER], none=NONE, other=OTHER, contradiction="labels"
    )
    assert cells(kept)[0, 1].tolist() == [1, 0, 0]


def test_a_run_without_a_row_is_a_missing_run():
    frame = pl.DataFrame(
        {"rater": "m", "item": ["a", "a", "b"], "run": [1, 2, 1], "attribute": "A", "score": 1}
    )
    runs = runs_of_ratings(frame)
    assert cells(runs).tolist() == [[[1], [1]], [[1], [-1]]]
    assert runs.of("m").statuses[-1, -1] == "failed"
    assert STATUSES.index("failed") == len(STATUSES) - 1  # the worst of a run is the last


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": 0.5}, "rater 'm', item 'a', 'A': a label is 0 or 1, not 0.5"),
        ({"run": 2}, "rater 'm', item 'a', run 2: label 'A' occurs more than once"),
    ],
)
def test_unfit_ratings_are_named(change, message):
    frame = pl.DataFrame({"rater": "m", "item": "a", "run": [1, 2], "attribute": "A", "score": 1.0})
    with pytest.raises(InputError, match=message):
        runs_of_ratings(frame.with_columns(**{key: pl.lit(v) for key, v in change.items()}))


def test_kappas_with_prevalence_and_ac1_also_where_runs_are_missing():
    runs = said(["A"] * 5, ["A", "A", "B", "", None], [NONE] * 5, ["B", "B", "A", "A", "B"])
    frame = agreement_frame(label_agreements(runs))
    # Others gathers what lies outside the set, and is no label of its own.
    assert frame["label"].to_list() == ["A", "B", "C", NONE, "Average"]
    known = runs.of("m").values.transpose(1, 0, 2)
    expected = fleiss_per_label(known[:, :, :4], ci="jackknife")
    for place in range(4):
        row, part = frame.row(place, named=True), expected.estimates[place]
        assert (row["kappa"] is None) == math.isnan(part.value)
        if row["kappa"] is not None:
            assert row["kappa"] == pytest.approx(part.value)
            low = math.nan if row["low"] is None else row["low"]
            assert low == pytest.approx(part.intervals[0].low, nan_ok=True)
            assert row["ac1"] == pytest.approx(gwet_ac(known[:, :, place], levels=[0, 1]).value)
    assert frame["reason"].to_list() == [None, None, "zero_expected_disagreement", None, None]
    assert frame.row(4, named=True)["kappa"] == pytest.approx(expected.mean.value)
    # Gwet (2014): the mean over items of the share of their own runs.
    assert frame["prevalence"][0] == pytest.approx((5 / 5 + 2 / 3 + 0 + 2 / 5) / 4)


def test_joint_agreement_of_two_annotators():
    a = said(["A"], ["A"], ["B"], [NONE], rater="a").matrices
    b = said(["A"], ["A, B"], ["A"], [NONE], rater="b").matrices
    both = final_labels(LabelRuns(SMALL.labels, NONE, OTHER, (*a, *b)))
    rows = joint_agreement_frame(both)
    assert rows.select("on", "agreement", "n").rows() == [
        ("dominant label", 0.75, 4),
        ("all labels", 0.5, 4),
    ]
    # Wilson (1927) for 3 of 4.
    assert rows["low"][0] == pytest.approx(0.3006, abs=1e-4)


def test_items_without_any_label_agree_where_no_label_says_none():
    rows = [
        (i, r, 1, "calm", float(i in named))
        for r, named in (("a", "12"), ("b", "13"))
        for i in "1234"
    ]
    names = ["item", "rater", "run", "attribute", "score"]
    runs = runs_of_ratings(pl.DataFrame(rows, schema=names, orient="row"))
    found = joint_agreement_frame(final_labels(runs))
    assert found.select("agreement", "n", "left_out").rows() == [(0.5, 4, 0)] * 2


def test_a_label_that_an_annotator_was_not_asked_for_is_not_missing(tmp_path):
    rows = [
        (i, who, run, label, 1)
        for who, labels in (("one", ["calm"]), ("both", ["calm", "warm"]))
        for label in labels
        for run in (1, 2)
        for i in "abc"
    ]
    names = ["item", "rater", "run", "attribute", "score"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv(tmp_path / "labels.csv")
    sections = examine(tmp_path / "labels.csv").sections
    replies = [one for one in sections if one.title.startswith("Labels: what became")]
    assert [row[:6] for row in replies[0].table.rows] == [
        ("one", 3, 2, 6, 6, 0),
        ("both", 3, 2, 6, 6, 0),
    ]
    assert {row[5] for one in replies for row in one.table.rows} == {0}


def test_sections_hold_numbers_and_say_what_they_rest_on():
    sections = consistency_sections(said(["A"] * 5, ["Envy", "A", "B", NONE, ""]), unsure=UNSURE)
    titles = [part.title for part in sections]
    assert titles == [
        "Labels: what became of the replies",
        "Largest label count per item",
        "Fleiss' kappa of each label over runs",
        "Final labels",
        "Labels outside the set",
        "Items with a label where 3 to all runs must agree",
    ]
    assert "at least 4 of 5 runs" in sections[3].text
    assert all(part.table.rows for part in sections)
    figure = sections[1].figures[0]
    assert figure.labels == ("0", "1", "2", "3", "4", "5")
    # One item with one label in all five runs; the other names none twice.
    assert figure.series == (("m", (0.0, 0.5, 0.0, 0.0, 0.0, 0.5)),)


def ratings_file(folder, score=lambda label, run: float(label == "A")):
    rows = [
        ("m", f"i{item}", run, label, score(label, run))
        for item in range(6)
        for run in range(1, 4)
        for label in ("A", "B")
    ]
    frame = pl.DataFrame(rows, schema=["rater", "item", "run", "attribute", "score"], orient="row")
    frame.write_csv(folder / "labels.csv")
    return folder / "labels.csv"


def test_examine_of_repeated_labels_needs_no_reference(tmp_path, capsys):
    from voirdire.report import print_examination, write_outputs

    found = examine(ratings_file(tmp_path))
    assert not found.results
    assert not found.verdicts
    assert {part.title for part in found.sections} >= {"Final labels"}
    write_outputs(found, tmp_path / "out")
    assert "Final labels" in (tmp_path / "out" / "tables.md").read_text("utf-8")
    print_examination(found)
    assert "Final labels" in capsys.readouterr().out


def test_temperature_0_is_no_evidence_and_that_is_printed(tmp_path, capsys):
    from voirdire.report import print_examination

    ratings_file(tmp_path)
    (tmp_path / "study.toml").write_text(
        '[data]\nsources = [{path = "labels.csv"}]\n'
        '[[panel]]\nname = "m"\nkind = "annotator"\ntemperature = 0.0\n'
    )
    found = examine(tmp_path / "study.toml")
    print_examination(found)
    printed = " ".join(capsys.readouterr().out.split())
    assert "Sampled at temperature 0: m." in printed
    assert "no evidence of consistency" in printed
    assert not [f for f in found.findings if f.kind == "out_of_scale"]


def test_annotators_with_label_sets_of_their_own_have_tables_of_their_own(tmp_path):
    rows = [
        (rater, f"i{item}", run, label, float(label == labels[item % 2]))
        for rater, labels in (
            ("moods", ("Joy", "None")),
            ("topics", ("Work", "Home")),
            ("old", ("Work", "Home")),
        )
        for item in range(4)
        for run in (1, 2, 3)
        for label in labels
    ]
    frame = pl.DataFrame(rows, schema=["rater", "item", "run", "attribute", "score"], orient="row")
    frame.write_csv(tmp_path / "labels.csv")
    panel = {"moods": ["Joy", "None"], "topics": ["Work", "Home"], "old": ["Work", "Home"]}
    (tmp_path / "study.toml").write_text(
        '[data]\nsources = [{path = "labels.csv"}]\n[analysis]\nat_least = 3\n'
        + "".join(
            f'[[panel]]\nname = "{name}"\nkind = "annotator"\nuse = "labels"\ntemperature = 0.7\n'
            f"options = {{labels = {labels}}}\n"
            for name, labels in panel.items()
        )
    )
    found = examine(tmp_path / "study.toml")
    finals = {part.title: part for part in found.sections if part.title.startswith("Final")}
    assert set(finals) == {"Final labels (moods)", "Final labels (topics, old)"}
    moods = {row[1]: row[2] for row in finals["Final labels (moods)"].table.rows}
    assert (moods["Joy"], moods["None"]) == (2, 2)
    assert "named 'None'" in finals["Final labels (moods)"].text
    assert "at least 3 of 3 runs" in finals["Final labels (moods)"].text
    assert not [note for note in found.notes if "temperature" in note]


def test_annotators_beside_human_labels_have_both_results_and_consistency(tmp_path):
    rows = [
        (rater, f"i{item}", run, float((item + (run == 3 and item == 1)) % 2))
        for rater, runs in (("m", (1, 2, 3)), ("human", (1,)))
        for item in range(12)
        for run in runs
    ]
    frame = pl.DataFrame(rows, schema=["rater", "item", "run", "score"], orient="row")
    frame.with_columns(attribute=pl.lit("Joy")).write_csv(tmp_path / "labels.csv")
    (tmp_path / "study.toml").write_text(
        '[data]\nsources = [{path = "labels.csv"}]\n[[panel]]\nname = "human"\nkind = "human"\n'
        '[[panel]]\nname = "m"\nkind = "annotator"\ntemperature = 0.7\n'
    )
    found = examine(tmp_path / "study.toml")
    assert [(result.judge, result.n_pairs) for result in found.results] == [("m", 12)]
    assert "Final labels" in {part.title for part in found.sections}
    assert found.verdicts


def test_scores_without_a_reference_are_still_asked_for_one(tmp_path):
    path = ratings_file(tmp_path, score=lambda label, run: float(run))
    with pytest.raises(InputError, match="no reference"):
        examine(path)


def simulated(seed, n=200, runs=5, shares=(0.15, 0.5, 0.03), steady=0.8):
    """Runs of an annotator whose probability of naming a label is high or low by item."""
    rng = np.random.default_rng(seed)
    truth = rng.random((n, 1, len(shares))) < np.array(shares)
    p = np.where(truth, steady, (1 - steady) * np.array(shares) / (1 - np.array(shares)))
    return (rng.random((n, runs, len(shares))) < p).astype(np.int8)


def true_kappa(share, steady=0.8):
    """Fleiss' kappa in the population: the variance of p over items, over that of a naming."""
    low = (1 - steady) * share / (1 - share)
    mean = share * steady + (1 - share) * low
    spread = share * steady**2 + (1 - share) * low**2 - mean**2
    return spread / (mean * (1 - mean))


def test_one_seed_of_the_coverage_of_kappas_intervals():
    found = fleiss_per_label(simulated(1), ci="jackknife")
    held = [
        part.intervals[0].low <= true_kappa(share) <= part.intervals[0].high
        for part, share in zip(found.estimates, (0.15, 0.5, 0.03), strict=True)
    ]
    assert held == [True, True, True]
