"""Optimizers of others: what they are handed, and what becomes of what they find."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire import plugins
from voirdire.errors import BudgetSpentError, InputError, UnfinishedError
from voirdire.optimizers import Evaluated, OptimizerUnit
from voirdire.schema import Finding
from voirdire.store.raters import participants, read_rubric
from voirdire.tables import read_items
from voirdire_plugins.tune.candidates import candidate, wording_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.study import Rater
    from voirdire_plugins.tune.asking import Asking
    from voirdire_plugins.tune.goals import Goal, Marks
    from voirdire_plugins.tune.units import Units


@dataclass(frozen=True, slots=True)
class Climb:
    """What an optimizer chose; no rater where nothing was better than the judge as it was."""

    rater: Rater | None
    findings: tuple[Finding, ...]


class Evaluate:
    """Hands an optimizer scores with texts, and counts what it asks for."""

    def __init__(
        self, judge: Rater, goal: Goal, units: Units, marks: Marks, asking: Asking, steps: int
    ) -> None:
        self._judge, self._goal, self._units, self._marks = judge, goal, units, marks
        self._asking = asking
        self.left = steps
        self._spent: set[tuple[str, int]] = set()
        #: Candidate -> goodness of the units it was evaluated on.
        self.seen: dict[str, dict[int, float]] = {}
        texts = {item.id: item.text for item, _ in read_items(asking.study, asking.study.items)}  # type: ignore[arg-type]
        rows = units.keys.rows(named=True)
        self.units = tuple(
            OptimizerUnit(
                at,
                texts.get(row["item"], ""),
                _shown(asking, row),
                row["attribute"],
                _said(units, at),
            )
            for at, row in enumerate(rows)
        )

    def __call__(self, candidate_text: str, units: Sequence[OptimizerUnit]) -> list[Evaluated]:
        """How good the judge is with these instructions on each unit, and why.

        Raises
        ------
        BudgetSpentError
            More judgements than are left.
        """
        places = [one.number for one in units]
        fresh = {(candidate_text, at) for at in places} - self._spent
        if len(fresh) > self.left:
            raise BudgetSpentError(f"{len(fresh)} judgements, and {self.left} are left")
        self.left -= len(fresh)
        self._spent |= fresh
        if not places:
            return []
        # What it is told already has been asked, or will be: it is the judge as it was.
        own = self._judge if candidate_text == self.start else self.rater(candidate_text)
        kept = np.zeros(len(self._units), bool)
        kept[places] = True
        part = self._units.taken(kept)
        ratings = self._asking.ask([own], part.responses)
        runs = part.scores(ratings, own.name)
        good = self._goal.goodness([runs], part.humans, self._marks)[0]
        found = dict(zip(np.flatnonzero(kept).tolist(), good.tolist(), strict=True))
        said = dict(zip(np.flatnonzero(kept).tolist(), runs[0].tolist(), strict=True))
        self.seen.setdefault(candidate_text, {}).update(found)
        return [Evaluated(self.units[at], found[at], self._feedback(at, said[at])) for at in places]

    @cached_property
    def start(self) -> str:
        """What the judge is told first as it is: its instructions, or the rubric's own words."""
        key = wording_key(self._judge, "optimizer")
        if given := self._judge.options.get(key):
            return str(given)
        if self._asking.subject.name == "items":
            alone = self._asking.study.model_copy(update={"panel": (self._judge,)})
            return str(getattr(participants(alone, plugins())[-1].rater, key, ""))
        rubric = read_rubric(self._asking.study, plugins())
        return rubric.instructions or "Rate the response on each attribute below."

    def rater(self, text: str) -> Rater:
        """The judge with these instructions, by a name of their content."""
        if not isinstance(text, str) or not text.strip():  # type: ignore[redundant-expr] # strangers call it
            raise InputError(f"a candidate is a text of instructions, got {text!r}")
        name = hashlib.sha256(text.encode()).hexdigest()[:8]
        return candidate(self._judge, name, {"instructions": text}, "optimizer")

    def _feedback(self, at: int, score: float) -> str:
        if np.isnan(score):
            return (
                f"The reply could not be read. It counts as {self._goal.unread}. "
                f"People said: {self.units[at].label}."
            )
        return f"The judge said {score:g}; people said {self.units[at].label}."

    def best(self) -> str | None:
        """The best of what was evaluated on every unit; None where it is not better than it was."""
        whole = {
            text: float(np.mean(list(good.values())))
            for text, good in self.seen.items()
            if len(good) == len(self._units)
        }
        return max(whole, key=whole.__getitem__) if whole else None


def _shown(asking: Asking, row: dict[str, Any]) -> str:
    """What is judged: a response, both of a pair, or nothing beside the item."""
    if asking.subject.name == "items":
        return ""
    first = asking.responses[row["item"], row["system"]]
    if "other" not in row:
        return first
    return f"A: {first}\n\nB: {asking.responses[row['item'], row['other']]}"


def _said(units: Units, at: int) -> str:
    own = units.humans[at]
    return ", ".join(f"{value:g}" for value in own[~np.isnan(own)])


def climb(evaluate: Evaluate, name: str, options: Mapping[str, Any]) -> Climb:
    """Have an optimizer look for better instructions.

    Raises
    ------
    PluginError
        There is no optimizer of that name.
    UnfinishedError
        A limit of the session or an interruption.
    """
    optimizer = plugins().resolve("optimizer", name)(**options)
    start = evaluate.start
    findings: list[Finding] = []
    chosen: object = None
    try:
        chosen = optimizer.optimize(start, evaluate.units, evaluate)
        chosen = chosen if isinstance(chosen, str) and chosen.strip() else None
        if chosen is None:
            findings.append(_ended(name, "gave back no text of instructions", evaluate))
    except BudgetSpentError:
        findings.append(_ended(name, "spent its budget", evaluate, "note"))
    except UnfinishedError:
        raise
    except Exception as error:  # noqa: BLE001 - a stranger's optimizer may raise anything
        findings.append(_ended(name, f"ended with {type(error).__name__}: {error}", evaluate))
    text = chosen if isinstance(chosen, str) else evaluate.best()
    if text is None or text == start:
        return Climb(None, tuple(findings))
    return Climb(evaluate.rater(text), tuple(findings))


def _ended(name: str, how: str, evaluate: Evaluate, severity: Any = "serious") -> Finding:
    return Finding(
        "optimizer_ended",
        severity,
        "",
        len(evaluate.seen),
        (name,),
        f"The optimizer {name} {how}, after {len(evaluate.seen)} candidates.",
        "The best candidate that it had evaluated on all of its labels is measured; every reply is "
        "kept.",
    )
