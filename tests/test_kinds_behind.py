"""What stands behind a verdict of labels, preferences and probabilities: numbers, plans, juries."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from voirdire.errors import InputError, TableError
from voirdire.examining.annotating import annotator_agreement, read_annotations
from voirdire.examining.changing import compare
from voirdire.examining.correcting import correct, escalate, plan_labels
from voirdire.examining.juries import examine_jury
from voirdire.examining.labels import labels_beside_chance, read_results

WORDS = np.array(["calm", "tense", "yes"])
SHARES = (0.55, 0.33, 0.12)


def labels(seed=1, n=900, labelled=150, right=0.85):
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, n, p=SHARES)

    def said(share):
        return WORDS[np.where(rng.random(n) < share, truth, rng.integers(0, 3, n))]

    human = [word if at < labelled else None for at, word in enumerate(WORDS[truth])]
    return pl.DataFrame(
        {"id": range(n), "human": human, **{f"gpt_{k}": said(right) for k in range(3)}}
    ), WORDS[truth]


def test_shares_of_labels_are_corrected():
    table, truth = labels()
    found = correct(table, judges=["gpt_0"]).scores
    # A word that says yes is named with its question, so that it is not read as a number.
    assert [one.attribute for one in found] == ["calm", "tense", "label: yes"]
    for one, word in zip(found, WORDS, strict=True):
        value = one.corrected
        assert (value.n_labelled, value.n_unlabelled) == (150, 750)
        assert value.interval.low <= (truth == word).mean() <= value.interval.high
        # Three wrong of twenty go to each label alike, and are taken out again.
        assert abs(value.value - (truth == word).mean()) < 0.06


def test_shares_of_judges_together_rest_on_all_labels():
    table, _ = labels(labelled=130)
    found = [one for one in correct(table).scores if "together" in one.judge]
    assert len(found) == 3
    for one in found:
        assert one.corrected.interval.high - one.corrected.interval.low < 0.2


def test_labels_are_planned_and_escalated():
    table, _ = labels(labelled=300)
    assert plan_labels(table, [0.05])
    whole = escalate(table, judge="gpt_0", agree=0.75)
    assert (whole.attribute, whole.share.share > 0.5) == ("label", True)
    one = escalate(table, judge="gpt_0", on="calm", agree=0.75)
    assert one.attribute == "calm"


def test_a_jury_votes_on_labels():
    table, _ = labels(labelled=900, right=0.7)
    found = examine_jury(table, ["gpt_0", "gpt_1", "gpt_2"], "vote", reference=["human"])
    assert [one.attribute for one in found.results] == ["calm", "tense", "label: yes"]
    # Three that err apart are better than the best of them.
    assert all(one.worth.over_single.value > 0 for one in found.results[:2])
    means = examine_jury(table, ["gpt_0", "gpt_1", "gpt_2"], "mean", reference=["human"])
    thirds = {round(3 * share) / 3 for share in means.ratings["score"].drop_nulls()}
    assert means.ratings["score"].drop_nulls().to_numpy() == pytest.approx(
        [min(thirds, key=lambda third: abs(third - x)) for x in means.ratings["score"].drop_nulls()]
    )


def test_a_jury_votes_on_comparisons():
    rng = np.random.default_rng(3)
    truth = rng.choice([-1, 1], 200)
    raters = {"human": truth}
    raters |= {f"gpt_{k}": np.where(rng.random(200) < 0.75, truth, -truth) for k in range(3)}
    rows = [
        {
            "question_id": k,
            "model_a": "x",
            "model_b": "y",
            "judge": name,
            "winner": "model_a" if one > 0 else "model_b",
        }
        for name, said in raters.items()
        for k, one in enumerate(said)
    ]
    found = examine_jury(
        pl.DataFrame(rows), ["gpt_0", "gpt_1", "gpt_2"], "vote", reference=["human"]
    )
    assert found.results[0].worth.over_single.value > 0


def test_changed_labels_are_compared_share_by_share():
    table, _ = labels(labelled=900)
    worse = table.with_columns(
        pl.when(pl.col("gpt_0") == "tense").then(pl.lit("calm")).otherwise("gpt_0").alias("gpt_0")
    )
    found = compare(table, worse, reference=["human"])
    moved = {(one.judge, one.attribute): one.difference for one in found.changes}
    assert moved["gpt_0", "calm"] == -moved["gpt_0", "tense"] > 0.2
    assert moved["gpt_1", "calm"] == 0


def test_who_is_human_must_be_known():
    table, _ = labels()
    with pytest.raises(InputError, match="'ann' has no"):
        correct(table, reference=["ann"])


def test_annotators_and_labels_read_what_examine_reads(tmp_path):
    rng = np.random.default_rng(8)
    truth = rng.choice(["Refund", "delivery"], 60)
    other = np.where(rng.random(60) < 0.2, "delivery", truth)
    wide = pl.DataFrame({"id": range(60), "ann_1": truth, "ann_2": other, "gpt": truth})
    path = tmp_path / "wide.csv"
    wide.write_csv(path)
    table, labels = read_annotations(path, annotators=["ann_1", "ann_2"])
    assert labels == ["Refund", "delivery"]
    found = annotator_agreement(table, ["ann_1", "ann_2"], labels)
    assert found["Refund"]["agreement"].value == np.mean(truth == other)
    # With one person as the key each judge is a configuration, spellings folded.
    one = wide.select("id", pl.col("ann_1").alias("human"), pl.col("gpt").str.to_uppercase())
    one.write_csv(path)
    (result,) = read_results([path])
    assert (result.configuration, result.task) == ("gpt", "binary")
    scored = labels_beside_chance([result], draws=5, resamples=0)
    assert scored["f1"].to_list() == [1.0]
    wide.write_csv(path)
    with pytest.raises(TableError, match="one key"):
        read_results([path])
