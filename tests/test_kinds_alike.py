"""Units that everybody judged alike are examined as one row with a count: nothing changes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from voirdire.examining import simulate_kinds
from voirdire.examining.spec.scores.case import Case
from voirdire.examining.verdict.judging import judge_cases
from voirdire.study import Margins

#: Estimates are G values less G - 1 means of them: rounding grows by the number of units.
NEAR = 1e-8


def judged(case, monkeypatch, *, alike):
    with monkeypatch.context() as patch:
        if not alike:
            patch.setattr(Case, "distinct", lambda self: self)
        return judge_cases([case], Margins())


def differ(a, b):
    """Fields of two components that are not the same number, state or name."""
    for name in type(a).__dataclass_fields__:
        ours, other = getattr(a, name), getattr(b, name)
        if isinstance(ours, float):
            same = math.isclose(ours, other, rel_tol=NEAR, abs_tol=NEAR) or (
                math.isnan(ours) and math.isnan(other)
            )
        else:
            same = ours == other
        if not same:
            yield a.name, name, ours, other


def with_gaps(case, seed, share=0.05):
    """A second run of the judge, and judgements missing of everybody."""
    rng = np.random.default_rng(seed)
    again = np.where(rng.random(case.scores.shape) < 0.8, case.scores, case.humans[:1])
    scores = np.concatenate([case.scores, again])
    return replace(
        case,
        scores=np.where(rng.random(scores.shape) < share, np.nan, scores),
        humans=np.where(rng.random(case.humans.shape) < share, np.nan, case.humans),
    )


@pytest.mark.parametrize("people", [1, 2, 3])
@pytest.mark.parametrize("sets", [False, True])
def test_rows_with_counts_say_what_their_units_say(people, sets, monkeypatch):
    panel = simulate_kinds.label_panel(4000, 3, people, 5, sets=sets)
    names = list(panel.cases)[:2] if sets else ["as one human", "a subgroup at random"]
    for name in names:
        case = panel.cases[name]
        gaps = case if sets or people > 2 else with_gaps(case, 7)
        few = gaps.distinct()
        assert few.counted is not None, "nothing is collapsed, and the test would compare a thing"
        assert few.scores.shape[1] * 4 <= gaps.scores.shape[1]
        assert few.size(few.paired) == gaps.size(gaps.paired)
        ours, slow = (judged(gaps, monkeypatch, alike=alike) for alike in (True, False))
        states = [
            [(v.use, v.label, v.state, v.next.action) for v in one.verdicts] for one in (ours, slow)
        ]
        assert states[0] == states[1]
        (a,), (b,) = ours.evidence, slow.evidence
        assert (a.n_responses, a.n_labelled, a.clusters) == (
            b.n_responses,
            b.n_labelled,
            b.clusters,
        )
        assert [part.name for part in a.components] == [part.name for part in b.components]
        found = [
            d
            for x, y in zip(a.components, b.components, strict=True)
            for d in differ(x, y)
            if d[1] != "times"
        ]
        assert found == []


def test_what_is_clustered_has_systems_or_is_scored_keeps_its_units():
    case = simulate_kinds.label_panel(4000, 3, 3, 5).cases["as one human"]
    each = np.arange(4000)
    assert case.distinct() is not case
    for kept in (
        replace(case, clusters=each // 2), replace(case, systems=each % 2),
        replace(case, items=each // 2), case.only(each < 30),
        replace(case, kind="score", table=None, labels=()),
    ):  # fmt: skip
        assert kept.distinct() is kept
