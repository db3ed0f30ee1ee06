"""What a lock keeps as cases, and the verdicts on them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.examining.judgements import MOST_PEOPLE
from voirdire.examining.spec.rated_question import ShownPairs
from voirdire.examining.spec.scores.case import Case, GateRule
from voirdire.examining.verdict.judging import judge_cases

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.changing.chosen import Choices
    from voirdire.examining.changing.lock import Lock
    from voirdire.examining.spec.kind import JudgedCase
    from voirdire.examining.spec.rated_question import RatedQuestion

    Floats = NDArray[np.float64]


def cases_of(
    lock: Lock,
    judge: str,
    scores: Mapping[str, Floats],
    rows: NDArray[np.bool_],
    choices: Mapping[str, Choices] | None = None,
) -> list[JudgedCase]:
    """A judge's scores, attribute -> (N,), on some of the canary, beside the lock's labels.

    One case a question of labels, probabilities or comparisons whose attributes are all there; of
    scores one an attribute. `choices` are those of comparisons, by default those at the freeze.
    """
    systems = np.array([one.system for one in lock.canary], dtype=np.str_)[rows]
    clustered = any(one.cluster for one in lock.canary)
    items = np.array([one.item for one in lock.canary], dtype=np.str_)[rows]
    facts: dict[str, Any] = {
        "systems": systems if systems.astype(bool).any() else None,
        "clusters": lock.groups[rows] if clustered else None,
    }
    if lock.questions:
        return [
            one.case(
                judge,
                lock.reference,
                [scores[name][rows] for name in one.attributes],
                [lock.humans(name)[:, rows] for name in one.attributes],
                items,
                **facts,
                shown=_shown(lock, judge, one, rows, choices or {}),
            )
            for one in lock.questions
            if set(one.attributes) <= set(scores)
        ]
    gate = lock.gate
    rule = None if gate is None else GateRule(gate.at, gate.sensitivity, gate.specificity)
    return [
        Case(
            judge,
            name,
            lock.reference,
            own[rows][None],
            lock.humans(name)[:, rows],
            items,
            lock.scale_of.width,
            **facts,
            gate=rule,
        )
        for name, own in scores.items()
    ]


def _shown(
    lock: Lock,
    judge: str,
    question: RatedQuestion,
    rows: NDArray[np.bool_],
    choices: Mapping[str, Choices],
) -> ShownPairs | None:
    """Comparisons as they were shown; None where the lock keeps winners alone."""
    if question.kind != "preference" or not lock.width:
        return None
    (name,) = question.attributes
    own = (choices.get(name) or lock.choices(judge, name)).only(rows)
    length = lock.lengths[rows]
    known = ~np.isnan(own.scores)
    return ShownPairs(
        own.scores,
        _pooled(lock.chosen(name)[:, rows]),
        lock.width,
        None if np.isnan(own.swapped).all() else own.swapped,
        None if np.isnan(own.first[known]).any() or not known.any() else own.first,
        None if np.isnan(length).all() else length,
        next((one.own for one in lock.judges if one.name == judge), ()),
        lock.drawn,
    )


def _pooled(chosen: Floats) -> Floats:
    """(R, N) choices; of many people the k-th of each comparison, whoever made it."""
    if len(chosen) <= MOST_PEOPLE:
        return chosen
    # NaN last: what was chosen moves to the front of each comparison, in the order of people.
    order = np.argsort(np.isnan(chosen), axis=0, kind="stable")
    front = np.take_along_axis(chosen, order, axis=0)
    return np.asarray(front[: max(int((~np.isnan(front)).any(axis=1).sum()), 1)][:MOST_PEOPLE])


def attribute_of(lock: Lock, about: str, at: Sequence[str]) -> str:
    """The attribute whose row of a check shows what is said of a question, and of a label of it."""
    asked = next((one for one in lock.questions if one.name == about), None)
    return about if asked is None else asked.attribute_of(at)


def labelled(lock: Lock) -> NDArray[np.bool_]:
    """(N,) the responses with a human's label on some attribute."""
    return np.array(
        [
            any(not math.isnan(v) for values in one.humans.values() for v in values)
            for one in lock.canary
        ]
    )


def with_verdicts(lock: Lock) -> Lock:
    """The lock with each judge's verdicts on the anchors, by the rule of today."""
    rows = labelled(lock)
    if not rows.any():
        return lock
    cases = [
        case
        for judge in lock.judges
        for case in cases_of(
            lock,
            judge.name,
            {name: lock.scores(judge.name, name) for name in lock.attributes},
            rows,
        )
    ]
    states: dict[str, dict[str, dict[str, str]]] = {}
    for verdict in judge_cases(cases, lock.margins).verdicts:
        if verdict.target == "these systems":
            of_judge = states.setdefault(verdict.judge, {})
            of_judge.setdefault(verdict.about, {})[verdict.use] = verdict.state
    judges = tuple(
        judge.model_copy(update={"verdicts": states.get(judge.name, {})}) for judge in lock.judges
    )
    return lock.model_copy(update={"judges": judges})


def by_judge(today: Mapping[tuple[str, str], Floats]) -> dict[str, dict[str, Floats]]:
    """Judge -> attribute -> (N,) scores."""
    found: dict[str, dict[str, Floats]] = {}
    for (judge, name), scores in today.items():
        found.setdefault(judge, {})[name] = scores
    return found


def has_yes(lock: Lock, frozen: Mapping[str, Mapping[str, str]], attribute: str) -> bool:
    """Whether a use of an attribute, or of the question that it answers, was a yes."""
    asked = [one.name for one in lock.questions if attribute in one.attributes]
    return any(
        "yes" in states.values()
        for about, states in frozen.items()
        if about == attribute or (asked and about.partition(":")[0] == asked[0].partition(":")[0])
    )
