"""The verdict's table of rows: the first that matches wins."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.examining.examination import Component, VerdictName

_NEXT: Mapping[str, str] = {
    "no verdict": "Mend the data that the audit names, then examine again.",
    "not trusted": "Do not use it for this attribute: keep human raters, or try another judge or "
    "prompt and examine that one.",
    "undecided": "Rate more {units} with humans and judge, then examine again; until then keep "
    "human raters.",
    "only as a mean of k runs": "Run it several times and use the mean: {runs}.",
    "ranks, does not score": "Use it to order systems only. Calibrate its scores on a part of the "
    "human ratings, then examine the calibrated scores on another part.",
    "ranks; scoring undecided": "Use it to order systems; do not quote its scores before more "
    "{units} settle them.",
    "may replace one rater": "It may stand in for one human of a panel on data like these; audit "
    "a sample and examine again when prompt, model or population changes.",
    "assists": "Use its scores with a human audit of a random sample, and report the audit.",
}


def decide(parts: Mapping[str, Component]) -> tuple[VerdictName, str]:
    """The verdict and the sentence that says which component decided it."""
    state = {letter: part.state for letter, part in parts.items()}
    if state["Data"] == "fail":
        return "no verdict", f"The data do not permit one: {parts['Data'].note}."
    if state["C"] == "fail":
        return "not trusted", _because("C", parts, "lies below")
    if state["C"] != "pass":
        return "undecided", _because("C", parts, "reaches across")
    if state["P"] != "pass":
        return "undecided", _because("P", parts, "is too wide for")
    if state["S"] in ("fail", "undecided"):
        said = "is too low" if state["S"] == "fail" else "is not shown to be high enough"
        return "only as a mean of k runs", f"The reliability of a single run {said}."
    return _scoring(state, parts)


def _scoring(state: Mapping[str, str], parts: Mapping[str, Component]) -> tuple[VerdictName, str]:
    """Rows for a judge that ranks reliably: do its numbers hold as well?"""
    failed = [letter for letter in ("A", "B") if state[letter] == "fail"]
    if failed:
        said = f"{_names(failed, parts)} {'fail' if len(failed) > 1 else 'fails'}"
        return "ranks, does not score", f"Consistency passes, but {said}."
    open_ = [letter for letter in ("A", "B") if state[letter] != "pass"]
    if open_:
        said = f"{_names(open_, parts)} {'are' if len(open_) > 1 else 'is'} open"
        return "ranks; scoring undecided", f"Consistency passes, but {said}."
    if state["R"] == "pass" and state["S"] == "pass":
        return "may replace one rater", "Every component passes."
    rest = [f"{parts[letter].name} {_said(state[letter])}" for letter in ("R", "S")
            if state[letter] != "pass"]  # fmt: skip
    return "assists", f"Consistency, agreement and bias pass, but {' and '.join(rest)}."


def what_is_needed(name: VerdictName, parts: Mapping[str, Component]) -> str:
    """What would settle the components that keep the verdict from being better."""
    asked: tuple[str, ...] = {
        "undecided": ("C",) if parts["P"].state == "pass" else ("P",),
        "only as a mean of k runs": ("S",),
        "ranks; scoring undecided": ("A", "B"),
        "assists": ("R", "S"),
    }.get(name, ())
    open_ = [parts[letter] for letter in asked if parts[letter].state != "pass"]
    if name == "undecided":
        # What narrows the interval of C to two bands above the threshold settles C as well.
        return "".join(part.note.rpartition("; ")[2] for part in open_)
    return "; ".join(f"{part.name}: {part.note}" for part in open_ if part.note)


def next_step(name: VerdictName, parts: Mapping[str, Component], unit: str) -> str:
    """What to do now."""
    runs = parts["S"].note or "the report says how many"
    return _NEXT[name].format(units=unit, runs=runs)


def _because(letter: str, parts: Mapping[str, Component], otherwise: str) -> str:
    part = parts[letter]
    subject = part.name[0].upper() + part.name[1:]
    if part.interval is None or math.isnan(part.interval.width):
        return f"{subject} is {part.note or 'not known: there is no interval'}."
    interval = f"[{part.interval.low:.2f}, {part.interval.high:.2f}]".replace("-", "−")
    return f"{subject}: the interval {interval} {otherwise} what is asked ({part.threshold})."


def _names(letters: list[str], parts: Mapping[str, Component]) -> str:
    return " and ".join(parts[letter].name for letter in letters)


def _said(state: str) -> str:
    return {"fail": "fails", "undecided": "is undecided", "not tested": "is not tested"}[state]
