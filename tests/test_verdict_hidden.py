"""A part of `benchmarks/verdict_hidden.py`: judges whose fault a mean over all responses hides."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.fixture(scope="module")
def counts():
    sys.path.insert(0, str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("hidden", BENCHMARKS / "verdict_hidden.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path.remove(str(BENCHMARKS))
    return module, module.run(10, 100, 5)[0]


def test_no_hidden_fault_is_licensed(counts):
    module, found = counts
    wrong = {key: n for key, n in found.items() if key[2] is False and key[3].startswith("yes")}
    # At most one panel of five, all uses of one judge: the whole table says how often.
    assert len({key[0] for key in wrong}) <= 1, wrong
    assert sum(wrong.values()) <= len(module.USES), wrong
    for name in (*module.HIDDEN, *module.SEEN):
        assert any(key[0] == name and key[2] is False for key in found), name


def test_the_deserving_are_kept(counts):
    module, found = counts
    for use in module.USES:
        right = {key: n for key, n in found.items() if key[1:3] == (use, True)}
        own = {key: n for key, n in right.items() if key[0] in module.DESERVING}
        assert not any(key[3] == "no" for key in own), use
        yes = sum(n for key, n in own.items() if key[3].startswith("yes"))
        assert yes >= 0.7 * sum(own.values()), use


def test_who_has_seen_the_answers_is_told_nothing(counts):
    module, found = counts
    states = {key[3] for key in found if key[0] in module.SEEN}
    assert states == {"not tested"}
