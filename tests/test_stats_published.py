"""The published study's 28 pairs, response by response: 10,000 ratings each, to 1e-9."""

from __future__ import annotations

import json
import os

import numpy as np
import polars as pl
import pytest

from voirdire import stats, tables

pytestmark = pytest.mark.shared

JUDGES = {
    "Claude": ("Claude-3.7-Sonnet", "claude_llm_judge.xlsx"),
    "GPT4o": ("GPT-4o", "gpt-4o_llm_judge.xlsx"),
    "Gemini": ("Gemini-2.5-Flash", "gemini_llm_judge.xlsx"),
    "o4": ("o4-mini", "o4-mini_llm_judge.xlsx"),
}


#: With the JIT off every ninth pair.
THINNED = 9 if os.environ.get("NUMBA_DISABLE_JIT") == "1" else 1


@pytest.fixture(scope="module")
def pairs(shared):
    text = (shared / "reference" / "stats_reference.json").read_text(encoding="utf-8")
    return json.loads(text)["real_28_pairs"]


@pytest.fixture(scope="module")
def scores(shared):
    """A row an item, system and attribute, a column a rater.

    The reference's parser lost the cells that ours repairs, and kept scores off the scale.
    """
    from voirdire_plugins.mentalalign.benchmark import BENCHMARK

    text = (shared / "reference" / "mentalalign_oddities.json").read_text(encoding="utf-8")
    names = {file: rater for rater, file in JUDGES.values()}
    lost = pl.DataFrame(
        {
            "rater": names[cell["file"]],
            "item": str(cell["ConvID"]),
            "system": cell["column"].removeprefix("judge_response_"),
            "lost": True,
        }
        for cell in json.loads(text)["judge_parse_failures"]
    )
    found = tables.read_tables(BENCHMARK.study(shared / "data" / "mentalalign70k")).ratings
    return (
        found.with_columns(pl.col("rater", "attribute").cast(pl.String))
        .join(lost, on=["rater", "item", "system"], how="left")
        .with_columns(score=pl.when(pl.col("lost").is_null()).then("score"))
        .pivot("rater", index=["item", "system", "attribute"], values="score")
    )


def both(scores, pair):
    of_attribute = scores.filter(pl.col("attribute") == pair["attribute"])
    return (
        of_attribute["Human"].to_numpy(),
        of_attribute[JUDGES[pair["judge"]][0]].to_numpy(),
        of_attribute["system"].to_numpy(),
    )


def at_response_level(human, judge):
    limits, tested = stats.bland_altman(judge, human), stats.paired_t(judge, human)
    concordance = stats.ccc(human, judge)
    R = np.stack([human, judge], axis=1)
    alpha = {m: stats.krippendorff_alpha(R, m).value for m in ("nominal", "ordinal", "interval")}
    levels = range(7)
    return {
        "kripp_nominal": alpha["nominal"],
        "kripp_ordinal": alpha["ordinal"],
        "kripp_interval": alpha["interval"],
        "qwk_sklearn": stats.cohen_kappa(human, judge, weights="quadratic", levels=levels).value,
        "ccc.value": concordance.value,
        "ccc.pearson": stats.pearson(human, judge).value,
        "ccc.ci_z": [concordance.intervals[0].low, concordance.intervals[0].high],
        "ba.bias": limits.bias.value,
        "ba.bias_ci": [limits.bias.intervals[0].low, limits.bias.intervals[0].high],
        "ba.sd": limits.sd,
        "ba.loa": [limits.low.value, limits.high.value],
        "ba.mse": stats.mse(judge, human).value,
        "ba.rmse": stats.rmse(judge, human).value,
        "ba.mae": stats.mae(judge, human).value,
        "paired_t.t": tested.statistic,
        "paired_t.df": tested.df,
        "paired_t.p": tested.p,
        "n": limits.bias.n,
    }


def test_every_pair_at_response_level(scores, pairs):
    assert len(pairs) == 28
    for pair in pairs[::THINNED]:
        human, judge, _ = both(scores, pair)
        for name, value in at_response_level(human, judge).items():
            outer, _, inner = name.partition(".")
            stored = pair["responses_10000"][outer]
            expected = stored[inner] if inner else stored
            assert value == pytest.approx(expected, rel=1e-9), (pair["judge"], name)


def test_the_matrix_of_system_means_follows_from_the_responses(scores, pairs):
    for pair in pairs:
        human, judge, system = both(scores, pair)
        seen = ~np.isnan(human) & ~np.isnan(judge)
        means = np.array(
            [
                [human[at].mean(), judge[at].mean()]
                for name in np.unique(system)
                for at in [seen & (system == name)]
            ]
        )
        for row in pair["matrix"]:
            assert np.abs(means - row).max(axis=1).min() < 1e-9
