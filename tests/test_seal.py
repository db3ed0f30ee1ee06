"""A lock is sealed: whatever a check reads cannot be changed by hand, line by line."""

from __future__ import annotations

import re
import tomllib

import numpy as np
import polars as pl
import pytest

from voirdire import InputError
from voirdire.examining.changing import freeze, read_lock, write_lock


def rated(chance):
    """Scores of 1 to 5 of 60 responses."""
    truth = chance.integers(1, 6, 60)
    return {k: np.clip(truth + chance.integers(-1, 2, 60), 1, 5) for k in ("judge", "human")}


def labelled(chance):
    """One of three labels."""
    said = chance.integers(0, 3, 60)
    other = np.where(chance.random(60) < 0.8, said, chance.integers(0, 3, 60))
    return {
        "judge": np.array(["low", "mid", "high"])[other],
        "human": np.array(["low", "mid", "high"])[said],
    }


def compared(chance):
    """Which of two systems is better."""
    human = np.where(chance.random(60) < 0.6, "A", "B")
    judge = np.where(chance.random(60) < 0.8, human, np.where(human == "A", "B", "A"))
    names = {"system_a": "A", "system_b": "B", "response_a": "x", "response_b": "y"}
    return {**{key: [value] * 60 for key, value in names.items()}, "judge": judge, "human": human}


def changed(line):
    """The same line with another digit, truth or word; None where it holds none of them."""
    if re.search(r"\d", line):
        return re.sub(r"\d", lambda found: str((int(found[0]) + 1) % 10), line, count=1)
    if "true" in line or "false" in line:
        return line.replace("true", "X").replace("false", "true").replace("X", "false")
    return re.sub(r'"([^"]*)"', r'"\1x"', line, count=1) if '"' in line else None


@pytest.mark.parametrize("of", [rated, labelled, compared])
def test_forty_changes_by_hand_are_each_refused(tmp_path, of):
    source = tmp_path / "judged.csv"
    items = {"item": [f"t{n}" for n in range(60)]}
    pl.DataFrame({**items, **of(np.random.default_rng(0))}).write_csv(source)
    write_lock(tmp_path / "judge.lock", freeze(source, reference=["human"]))
    text = (tmp_path / "judge.lock").read_text("utf-8")
    lines, tried = text.split("\n"), 0
    # One line of each key first, which are few, then lines of the canary.
    keys = {line.partition("=")[0].strip(): at for at, line in reversed(list(enumerate(lines)))}
    for at in dict.fromkeys([*keys.values(), *range(len(lines) - 1, 0, -1)]):
        other = None if lines[at].startswith("#") else changed(lines[at])
        if other is None or other == lines[at]:
            continue
        by_hand = "\n".join([*lines[:at], other, *lines[at + 1 :]])
        (tmp_path / "other.lock").write_text(by_hand, "utf-8")
        with pytest.raises(InputError):
            read_lock(tmp_path / "other.lock")
        tried += 1
        if tried == 40:
            break
    assert tried == 40
    # Nor is a lock of today read as one of the first format, which had no seal.
    older = re.sub(r"(?m)^format = \d+", "format = 1", text)
    for by_hand in (older, re.sub(r"(?m)^seal = .*\n", "", older)):
        assert tomllib.loads(by_hand) != tomllib.loads(text)
        (tmp_path / "other.lock").write_text(by_hand, "utf-8")
        with pytest.raises(InputError):
            read_lock(tmp_path / "other.lock")
