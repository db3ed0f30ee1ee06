"""Streams of labels: counts of parts, equal to the table read whole."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from voirdire import examine
from voirdire.errors import TableError

WORDS = np.array(["calm", "tense", "flat"])


def judged(n=900, seed=1):
    """(4, n) labels by three people and a judge, a few of which are missing."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    said = [np.where(rng.random(n) < 0.8, truth, rng.integers(0, 3, n)) for _ in range(4)]
    cells = WORDS[np.stack(said)].astype(object)
    cells[0, : n // 20] = None
    return dict(zip(("human_1", "human_2", "human_3", "gpt"), cells, strict=True))


def long_table(cells, **more):
    return pl.concat(
        pl.DataFrame(
            {
                "item": [f"i{k}" for k in range(len(own))],
                "rater": rater,
                "label": own.tolist(),
                **{name: list(values) for name, values in more.items()},
            },
            schema_overrides={"label": pl.String},
        )
        for rater, own in cells.items()
    ).drop_nulls("label")


def in_parts(folder, table, parts=3):
    folder.mkdir()
    mixed = table.sample(fraction=1, shuffle=True, seed=2)
    for k in range(parts):
        mixed.gather_every(parts, k).write_parquet(folder / f"{k}.parquet")
    return folder


def told(examination):
    return [
        (
            one.use,
            one.label,
            one.state,
            [(p.name, p.estimate, p.low, p.high) for p in one.components],
        )
        for one in examination.verdicts
    ]


def same(streamed, whole):
    assert len(streamed) == len(whole) > 4
    for one, other in zip(streamed, whole, strict=True):
        assert one[:3] == other[:3]
        for part, beside in zip(one[3], other[3], strict=True):
            assert part[0] == beside[0]
            assert part[1:] == pytest.approx(beside[1:], abs=1e-8, nan_ok=True), part[0]


@pytest.mark.parametrize("shape", ["long", "wide", "sets", "subgroups"])
def test_a_folder_of_parts_has_the_numbers_of_the_table(tmp_path, shape):
    cells = judged()
    if shape == "sets":
        other = judged(seed=5)
        cells = {
            r: np.array(
                ["; ".join({a or "flat", b or "flat"}) for a, b in zip(own, other[r], strict=True)],
                object,
            )
            for r, own in cells.items()
        }
    table = long_table(cells)
    if shape == "subgroups":
        group = np.where(np.arange(900) % 4 == 0, "new", "old")
        table = long_table(cells).join(
            pl.DataFrame({"item": [f"i{k}" for k in range(900)], "subgroup": group}), on="item"
        )
    if shape == "wide":
        table = pl.DataFrame({"item": range(900), **{r: own.tolist() for r, own in cells.items()}})
    path = tmp_path / "whole.parquet"
    table.write_parquet(path)
    whole = examine(path, resamples=0)
    streamed = examine(in_parts(tmp_path / "parts", table), resamples=0)
    same(told(streamed), told(whole))
    assert sorted(streamed.inputs.hashes) == ["0.parquet", "1.parquet", "2.parquet"]
    (card,) = [one for one in streamed.findings if one.kind == "reading"]
    assert "= 900 items; judges: 'gpt'" in card.message


def test_what_counts_of_alike_units_do_not_tell_is_read_whole_or_an_error(tmp_path):
    cells = judged(200)
    several = long_table(cells, cluster=[f"c{k // 2}" for k in range(200)])
    found = examine(in_parts(tmp_path / "clusters", several), resamples=0)
    (note,) = (one for one in found.findings if one.kind == "read_whole")
    assert "labels by 'cluster'" in note.message
    twice = pl.concat([long_table(cells), long_table({"gpt": judged(200, 9)["gpt"]})])
    with pytest.raises(TableError, match=r"labels item .* more than once"):
        examine(in_parts(tmp_path / "twice", twice), resamples=0)
