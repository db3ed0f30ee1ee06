"""Parts of Parquet that hold comparisons, probabilities or labels by system: as the whole table."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

from voirdire import examine
from voirdire.errors import InputError
from voirdire.examining.streaming import labelled
from voirdire.study import ReadOptions

RATERS = ("human_1", "human_2", "gpt")


def parts(folder, table):
    folder.mkdir()
    half = table.height // 2
    table[:half].write_parquet(folder / "a.parquet")
    table[half:].write_parquet(folder / "b.parquet")
    return folder


def states(examination):
    return {(v.judge, v.about, v.use): v.state for v in examination.verdicts}


def comparisons(rng, n):
    gap = rng.choice([-1, 1], n) + rng.normal(size=(3, n))
    rows = {r: np.where(one > 0, "model_a", "model_b") for r, one in zip(RATERS, gap, strict=True)}
    wide = pl.DataFrame({"question_id": range(n), "model_a": "x", "model_b": "y", **rows})
    return wide.unpivot(
        RATERS,
        index=["question_id", "model_a", "model_b"],
        variable_name="judge",
        value_name="winner",
    )


def probabilities(rng, n):
    chance = 1 / (1 + np.exp(-2 * rng.normal(size=n)))
    said = {r: np.where(rng.random(n) < chance, "yes", "no") for r in RATERS[:2]}
    return pl.DataFrame({"id": range(n), **said, "gpt_probability": chance.round(4)})


def by_system(rng, n):
    truth = rng.choice(["calm", "tense", "grave"], n)
    said = {
        r: np.where(rng.random(n) < 0.85, truth, rng.choice(["calm", "tense", "grave"], n))
        for r in RATERS
    }
    return pl.DataFrame({"id": range(n), "system": ["a", "b"] * (n // 2), **said})


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (comparisons, "comparisons, of which a pair"),
        (probabilities, "probabilities, of which hardly two rows are alike"),
        (by_system, "labels by 'system'"),
    ],
)
def test_what_counts_do_not_tell_is_read_whole_and_said(tmp_path, make, why):
    table = make(np.random.default_rng(3), 160)
    folder = parts(tmp_path / "parts", table)
    found = examine(folder)
    assert states(found) == states(examine(table))
    (note,) = (one for one in found.findings if one.kind == "read_whole")
    assert note.message.startswith(f"2 files with {table.height:,} rows were read whole")
    assert why in note.message
    assert found.study.name == "parts"
    with patch.object(labelled, "MOST_IN_MEMORY", 100), pytest.raises(InputError, match=why):
        examine(folder)


def test_none_in_a_stream_of_sets_is_asked_about_as_in_a_table(tmp_path):
    rng = np.random.default_rng(4)
    true = rng.random((120, 3)) < 0.4
    words = ("calm", "tense", "grave")

    def cells():
        noisy = true ^ (rng.random(true.shape) < 0.1)
        return [
            ";".join(w for w, one in zip(words, r, strict=True) if one) or "none" for r in noisy
        ]

    table = pl.DataFrame({"id": range(120), **{r: cells() for r in RATERS}})
    folder = parts(tmp_path / "sets", table)
    read = ReadOptions(empty="none")
    assert states(examine(folder, read=read)) == states(examine(table, read=read))
