"""angst: scores and errors of labels, and who was right."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest
from sklearn import metrics

from voirdire import running
from voirdire.errors import InputError
from voirdire.examining import examine
from voirdire.examining.differing import (
    by_length,
    differences,
    differing_sections,
    majority_answers,
    mcnemar_by_part,
    shortened,
    side_by_side,
)
from voirdire.examining.labels import method_sections, methods_of, pairs_to_compare
from voirdire.study import build_study
from voirdire.tabular import Marked


def rated(rater, label, values, run=1):
    return [
        (f"i{n}", rater, run, label, None if v is None else float(v), "ok")
        for n, v in enumerate(values)
    ]


def frame_of(*parts):
    return pl.DataFrame(
        [row for part in parts for row in part],
        schema={
            "item": pl.String,
            "rater": pl.String,
            "run": pl.Int32,
            "attribute": pl.String,
            "score": pl.Float64,
            "status": pl.String,
        },
        orient="row",
    )


RNG = np.random.default_rng(11)
TRUE = RNG.integers(0, 2, (60, 2))
SAID = [np.where(RNG.random((60, 2)) < 0.75, TRUE, 1 - TRUE) for _ in range(2)]
RATINGS = frame_of(
    *(rated("gold", label, TRUE[:, c]) for c, label in enumerate(("depression", "anxiety"))),
    *(
        rated("both", label, said[:, c], run)
        for run, said in enumerate(SAID, 1)
        for c, label in enumerate(("depression", "anxiety"))
    ),
    rated("one", "depression", SAID[0][:, 0]),
    rated("other", "depression", [None, None, *SAID[1][2:, 0]]),
)


LABELS = ("depression", "anxiety")


def method(rater, ratings=RATINGS):
    found = {one.rater: one for one in methods_of(ratings, "gold", LABELS, "control")}
    return found[rater]


def value(rater, score, label=""):
    return method(rater).mean(score, label)


def spread(rater, score, label=""):
    cell = method(rater).cell(score, label)
    return cell.value if isinstance(cell, Marked) else cell


def test_scores_are_scikit_learns():
    truth, said = TRUE[:, 0], SAID[0][:, 0]
    assert value("one", "accuracy") == pytest.approx(metrics.accuracy_score(truth, said))
    for score, function in (("f1", metrics.f1_score), ("recall", metrics.recall_score)):
        weighted = function(truth, said, average="weighted")
        assert value("one", f"{score}_weighted") == pytest.approx(weighted)
        assert value("one", score, "control") == pytest.approx(function(truth, said, pos_label=0))
        assert value("one", score, "depression") == pytest.approx(function(truth, said))
    losses = [metrics.hamming_loss(TRUE, said) for said in SAID]
    assert value("both", "hamming_loss") == pytest.approx(np.mean(losses))
    assert spread("both", "hamming_loss").sd == pytest.approx(np.std(losses, ddof=1))
    f1 = [metrics.f1_score(TRUE, said, average="weighted") for said in SAID]
    assert value("both", "f1_weighted") == pytest.approx(np.mean(f1))


def test_table_6s_columns_are_parts_that_add_up():
    parts = [value("both", "f1_part", label) for label in ("depression", "anxiety")]
    assert sum(parts) == pytest.approx(value("both", "f1_weighted"))
    assert value("both", "f1", "depression") > parts[0]


@pytest.mark.shared
def test_the_papers_table_6_holds_parts_too(shared):
    path = shared / "reference" / "paper_checks.json"
    found = json.loads(path.read_text(encoding="utf-8"))["paper_004"]
    shares = found["table6_columns_are_weighted_shares"]
    weight = shares["weight_depression"]
    counts = [
        found["class_shares_implied"][label]["implied_count_of_2876"]
        for label in ("depression", "anxiety")
    ]
    assert counts[0] / sum(counts) == pytest.approx(weight, abs=5e-4)
    for row in shares["rows"]:
        f1 = row["depression_col"] / weight, row["anxiety_col"] / (1 - weight)
        assert sum(f1) / 2 == pytest.approx(row["macro_printed"], abs=0.25)


def test_missing_answers_are_counted_and_one_run_has_no_deviation():
    assert (method("other").answers, method("other").missing) == (58, 2)
    assert spread("one", "accuracy").sd is None
    assert method("both").scores.runs == 2


def test_a_task_needs_the_gold_label_of_its_own_alone():
    frame = frame_of(
        rated("gold", "depression", [1, 0, 1, 0]),
        rated("gold", "anxiety", [None, 0, 1, None]),
        rated("one", "depression", [1, 0, 0, 0]),
        rated("two", "anxiety", [1, 0, 1, 1]),
        rated("two", "depression", [1, 0, 1, 1]),
    )
    n = {one.rater: one.answers for one in methods_of(frame, "gold", LABELS)}
    assert n == {"one": 4, "two": 2}


def test_a_mean_of_fewer_runs_says_so():
    frame = frame_of(
        rated("gold", "depression", [1, 0, 1, 0]),
        rated("one", "depression", [1, 0, 1, 0], 1),
        rated("one", "depression", [0, 0, 0, 0], 2),
    )
    frame = pl.concat([frame, frame_of(rated("gold", "anxiety", [0, 0, 0, 0]))])
    per_class = method_sections(methods_of(frame, "gold", LABELS, "control"), {})[1]
    assert per_class.title == "Depression and control, each class"
    row = dict(zip(per_class.table.names, next(per_class.table.written()), strict=True))
    assert row["Precision of depression"] == "1.000 (1)"
    assert row["Recall of depression"] == "0.500 ± 0.707"
    assert (row["Runs"], row["Answers"]) == ("2", "8")


def test_who_was_right_where_two_differ():
    pairs = side_by_side(RATINGS, "gold", "one", "other", "depression")
    assert pairs.height == 58
    a, b, t = SAID[0][2:, 0], SAID[1][2:, 0], TRUE[2:, 0]
    found = differences(pairs)
    assert found["differ"] == (a != b).sum() == found["a_right"] + found["b_right"]
    assert found["a_right"] == ((a != b) & (a == t)).sum()
    assert found["b_right_positive"] == ((a != b) & (b == t) & (t == 1)).sum()
    assert found["both_wrong"] == ((a != t) & (b != t)).sum()


def test_right_and_wrong_by_length_with_counts():
    pairs = pl.DataFrame(
        {"item": list("abcd"), "truth": [1.0, 1, 0, 0], "a": [1.0, 1, 1, 0], "b": [1.0, 0, 1, 0]}
    )
    texts = {"a": "x" * 10, "b": "x" * 30, "c": "x" * 50, "d": "x" * 70}
    found = by_length(pairs, texts)
    assert found.rows() == [
        (True, True, 1, 70.0, 1, 10.0), (True, False, 0, None, 1, 30.0),
        (False, True, 0, None, 0, None), (False, False, 1, 50.0, 0, None),
        (None, None, 2, 60.0, 2, 20.0),
    ]  # fmt: skip


def test_the_majority_of_runs_counts_and_a_tie_is_missing():
    runs = frame_of(*(rated("m", "anxiety", v, r) for r, v in enumerate([[1, 1, None], [1, 0, 1]])))
    assert majority_answers(runs, ["anxiety"])["score"].to_list() == [1.0, None, 1.0]


def test_excerpts_are_never_longer_than_allowed():
    for most in (1, 5, 40):
        assert len(shortened("word " * 30, most)) <= most


def test_mcnemar_by_class_and_length_is_scipys_binomial_test_on_the_same_items():
    texts = {f"i{n}": "x" * (100 + n % 7) for n in range(60)}
    pair = side_by_side(RATINGS, "gold", "one", "other", "depression")
    parts = mcnemar_by_part(pair, texts)
    assert list(parts) == ["all", "with label", "without label", "shorter", "longer"]
    rows = [
        (truth, a == truth, b == truth, len(texts[item])) for item, truth, a, b in pair.iter_rows()
    ]
    middle = np.median([row[3] for row in rows])
    chosen = {
        "all": rows,
        "with label": [row for row in rows if row[0]],
        "without label": [row for row in rows if not row[0]],
        "shorter": [row for row in rows if row[3] < middle],
        "longer": [row for row in rows if row[3] >= middle],
    }
    for name, own in chosen.items():
        alone = [a - b for _, a, b, _ in own if a != b]
        p = binomtest(alone.count(1), len(alone)).pvalue
        assert parts[name].p == pytest.approx(p), name
        assert parts[name].n == len(own)
    assert list(mcnemar_by_part(pair, {})) == ["all", "with label", "without label"]


def panel_of(**models):
    raters = [
        {"name": name, "kind": "annotator", "use": "angst", "model": model}
        for name, model in models.items()
    ]
    return build_study({"name": "x", "panel": raters}).panel


def test_the_best_method_is_set_against_the_next_and_named_pairs_instead():
    methods = methods_of(RATINGS, "gold", LABELS, "control")
    panel = panel_of(both="simulated:a", one="simulated:a", other="simulated:b")
    kinds = dict.fromkeys(("both", "one", "other"), "zero-shot")
    # Two models of one task are compared, and no model with itself.
    (pair,) = pairs_to_compare(panel, methods, kinds)
    best = max(("one", "other"), key=lambda name: value(name, "f1_weighted"))
    assert (pair.label, pair.a) == ("depression", best)
    assert {pair.a, pair.b} == {"one", "other"}
    named = pairs_to_compare(panel, methods, kinds, [("both", "one")])
    assert [(one.label, one.a, one.b) for one in named] == [("depression", "both", "one")]
    with pytest.raises(InputError, match=r"analysis\.compare: method 'nobody' is unknown"):
        pairs_to_compare(panel, methods, kinds, [("one", "nobody")])


def test_evidence_is_marked_in_an_excerpt():
    text = "It was a long week and I felt so low at the piano."
    assert shortened(text, 80, "so low|long week") == (
        "It was a «long week» and I felt «so low» at the piano."
    )
    assert shortened(text, 80, "felt so low|so low").count("«") == 1
    assert shortened(text, 16, "so low").count("«so low»") == 1
    ratings = frame_of(
        *(rated(who, "depression", [said]) for who, said in (("gold", 1), ("a", 1), ("b", 0)))
    )
    pairs = pairs_to_compare(
        panel_of(a="simulated:a", b="simulated:b"),
        methods_of(ratings, "gold", LABELS, "control"),
        {"a": "zero-shot", "b": "zero-shot"},
    )
    shown = differing_sections(ratings, "gold", pairs, {"i0": text}, 80, {"i0": "so low"})
    assert "I felt «so low» at" in shown[-1].table.rows[0][-1]


def test_labels_asked_apart_stand_in_one_table(tmp_path):
    frame = pl.DataFrame({"id": ["1", "2", "3"], "text": ["one", "two", "three"]})
    frame.write_csv(tmp_path / "posts.csv")
    panel = [
        {
            "name": label,
            "kind": "annotator",
            "use": "angst",
            "model": "simulated:a",
            "runs": 2,
            "temperature": 1.0,
            "options": {"task": label},
        }
        for label in LABELS
    ]
    raw = {"name": "apart", "items": {"path": "posts.csv"}, "panel": panel}
    running.run(build_study(raw, folder=str(tmp_path)), tmp_path / "session", quiet=True)
    titles = [section.title for section in examine(tmp_path / "session").sections]
    assert len(titles) == len(set(titles))
    assert not any("(" in title for title in titles)
    replies = next(
        section.table
        for section in examine(tmp_path / "session").sections
        if section.title.startswith("Labels: what became")
    )
    assert [row[0] for row in replies.rows] == list(LABELS)
