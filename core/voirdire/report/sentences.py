"""The verdict's facts in English: why it is what it is, and what to do next."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from voirdire.examining.spec import ACTIONS, COMPONENTS, REASONS, USES
from voirdire.examining.spec.words import because, margin_text
from voirdire.tabular import number_text, share_text

if TYPE_CHECKING:
    from voirdire.examining.verdict.facts import Next, State, Verdict

__all__ = ["because", "margin_text", "next_text", "reason_text", "sentence"]


def sentence(clause: str) -> str:
    """A clause as a sentence of its own: it begins with a capital and ends with a stop.

    >>> sentence("it reads nothing"), sentence("o4-mini: yes.")
    ('It reads nothing.', 'O4-mini: yes.')
    """
    ended = clause if clause.endswith((".", "?", "!")) else f"{clause}."
    return f"{ended[:1].upper()}{ended[1:]}" if clause else ""


def reason_text(verdict: Verdict, most: int | None = None) -> str:
    """Why a verdict is what it is, a sentence each: its reason, and the components that decided.

    Of a judge that does not follow the responses nothing else is said; `most` bounds the number
    of components.
    """
    reason = REASONS[verdict.reason] if verdict.reason else None
    if reason is not None and reason.first:
        return sentence(reason.words)
    reasons = [] if reason is None else [reason.words]
    named = verdict.deciding if verdict.state != "yes" else USES[verdict.use].shown
    # A judge that does not follow the responses fails everything else by chance or by luck.
    if verdict.state == "no" and (unread := [name for name in named if COMPONENTS[name].unread]):
        named = tuple(unread)
    parts = [part for name in named for part in verdict.components if part.name == name]
    reasons += [because(part, verdict.kind) for part in parts]
    reasons = _once(list(dict.fromkeys(reasons)))
    return " ".join(map(sentence, reasons if most is None else reasons[:most]))


def _once(clauses: list[str]) -> list[str]:
    """What two clauses in a row both end with, behind a semicolon, is said by the second."""
    for at, (one, after) in enumerate(itertools.pairwise(clauses)):
        told, stop, end = one.rpartition("; ")
        if stop and after.endswith(f"; {end}"):
            clauses[at] = told
    return clauses


def next_text(step: Next, state: State) -> str:
    """The cheapest next step as a sentence; empty where there is nothing to do."""
    # A yes needs no next step, but for one: humans whose own agreement nobody knows.
    if state == "yes" and not ACTIONS[step.action].after_yes:
        return ""
    if step.action == "rate more" and step.needed is None:
        return (
            ""
            if state == "not tested"
            else "No realistic number of further ratings would settle it."
        )
    after = f" After calibration on these ratings: {step.after}." if step.after else ""
    below = "" if math.isnan(step.below) else f" below {number_text(step.below, 2)}"
    return ACTIONS[step.action].words.format(
        needed=step.needed,
        now=step.now,
        unit=step.unit,
        after=after,
        share="" if math.isnan(step.share) else share_text(max(step.share, 0.0)),
        condition=f" It can pass only if they correlate{below}." if below else "",
        runs=f"{step.needed} runs" if step.needed else "many runs",
    )
