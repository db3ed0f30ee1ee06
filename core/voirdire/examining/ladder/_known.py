"""What is known of the humans and of repeated runs, beside the coefficients of each pair."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from voirdire.examining.examination import Component
from voirdire.examining.ladder._components import side
from voirdire.examining.ladder._settle import (
    ALPHA,
    items_for_alt_test,
    runs_for_mean,
    units_for_icc_of,
)
from voirdire.stats._results import REASONS, Interval
from voirdire.stats.multiplicity import adjust_p

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.examining.examination import State
    from voirdire.stats._results import Estimate
    from voirdire.study import Thresholds

    Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Known:
    """Facts that a verdict needs besides the pair's own result.

    Attributes
    ----------
    humans : tuple of str
        Human raters whose own ratings are at hand; a merged column counts as one.
    shared_items : mapping
        Attribute -> the fewest responses that any human shares with the others.
    alt_tests : mapping
        (judge, attribute) -> winning rate of the alt-test.
    runs : mapping
        Judge -> runs present.
    temperatures : mapping
        Judge -> declared temperature, None where not declared.
    stability : mapping
        (judge, attribute) -> reliability of a single run.
    """

    humans: tuple[str, ...] = ()
    shared_items: Mapping[str, int] = field(default_factory=dict)
    alt_tests: Mapping[Pair, Estimate] = field(default_factory=dict)
    runs: Mapping[str, int] = field(default_factory=dict)
    temperatures: Mapping[str, float | None] = field(default_factory=dict)
    stability: Mapping[Pair, Estimate] = field(default_factory=dict)


def replaceability_component(pair: Pair, known: Known, thresholds: Thresholds) -> Component:
    """The alt-test (Calderon, Reichart and Dror 2025) against each human in turn."""
    needs = f"{thresholds.min_humans} or more humans, {thresholds.min_shared_items} or more "
    wanted = (
        f"alt-test winning rate at or above {thresholds.winning_rate:.2f} ({needs}shared items)"
    )
    missing = _why_no_alt_test(pair, known, thresholds)
    if missing:
        return _component("R", "replaceability", "not tested", None, wanted, missing)
    found = known.alt_tests[pair]
    interval = winning_range(found)
    state = side(interval, thresholds.winning_rate)
    note = f"better than or as good as {found.value:.0%} of the humans held out".replace("%", " %")
    if state == "undecided":
        units = items_for_alt_test(found, thresholds.winning_rate)
        more = f"about {units:,} shared responses" if units else "more shared responses"
        note += f"; {more} would settle it"
    part = _component("R", "replaceability", state, found, wanted, note)
    return dataclasses.replace(part, interval=interval, limit=thresholds.winning_rate)


def winning_range(found: Estimate) -> Interval:
    """The winning rates that the tests leave open.

    The lower end counts the humans against whom the judge is shown to win; the upper end all but
    those against whom the same test, turned round, shows that it loses.
    """
    p_values = found.details.get("p_values")
    if p_values is None or len(p_values) == 0:
        return Interval("alt-test", 1 - ALPHA, found.value, found.value)
    lost = adjust_p(1 - np.asarray(p_values, float), "by") <= ALPHA
    return Interval("alt-test", 1 - ALPHA, found.value, 1 - float(np.mean(lost)))


def stability_component(pair: Pair, known: Known, thresholds: Thresholds) -> Component:
    """Reliability of a single run among three or more at a temperature above zero."""
    wanted = f"reliability of a single run at or above {thresholds.stability:.2f} (3 or more runs)"
    missing = _why_no_stability(pair, known)
    if missing:
        return _component("S", "stability", "not tested", None, wanted, missing)
    found = known.stability[pair]
    state = side(found.interval(), thresholds.stability)
    note = ""
    if state == "fail":
        note = _runs_note(found.value, thresholds.stability)
    elif state == "undecided":
        units = units_for_icc_of(found, thresholds.stability)
        note = f"about {units:,} responses would settle it" if units else "it lies at the threshold"
        note += f"; until then, {_runs_note(found.value, thresholds.stability)}"
    part = _component("S", "stability", state, found, wanted, note)
    return dataclasses.replace(part, limit=thresholds.stability)


def _why_no_alt_test(pair: Pair, known: Known, thresholds: Thresholds) -> str:
    humans, shared = len(known.humans), known.shared_items.get(pair[1], 0)
    if humans <= 1:
        whose = f" ({known.humans[0]!r})" if known.humans else ""
        return (
            f"the reference is one column of ratings{whose}, of one rater or merged, so no human "
            f"can be held out: hand in each human's own ratings"
        )
    if humans < thresholds.min_humans:
        return f"{humans} humans rated, and the test asks for {thresholds.min_humans}"
    if shared < thresholds.min_shared_items:
        return (
            f"a human shares only {shared} responses with the others, and the test asks for "
            f"{thresholds.min_shared_items}"
        )
    return _why_no_result(known.alt_tests.get(pair), humans, thresholds)


def _why_no_result(found: Estimate | None, humans: int, thresholds: Thresholds) -> str:
    """What the test itself leaves to be wished: humans share enough responses, the judge fewer."""
    if found is None:
        return "the alt-test was not run"
    if math.isnan(found.value):
        return f"undefined: {REASONS.get(found.reason or '', 'no reason given')}"
    if found.k < thresholds.min_humans:
        return (
            f"only {found.k} of {humans} humans share {thresholds.min_shared_items} responses "
            f"with the others and the judge, and the test asks for {thresholds.min_humans}"
        )
    return ""


def _why_no_stability(pair: Pair, known: Known) -> str:
    runs = known.runs.get(pair[0], 1)
    if known.temperatures.get(pair[0]) == 0:
        return "at temperature 0 repeated runs do not show how steady the judge is"
    if runs < 3:
        said = "one run is" if runs <= 1 else f"{runs} runs are"
        return f"{said} at hand: run the judge three times or more at a temperature above 0"
    found = known.stability.get(pair)
    if found is None:
        return "the reliability of a single run was not computed"
    if math.isnan(found.value):
        return f"undefined: {REASONS.get(found.reason or '', 'no reason given')}"
    return ""


def _runs_note(single: float, threshold: float) -> str:
    runs = runs_for_mean(single, threshold)
    if runs is None:
        return "no number of runs helps: single runs do not agree at all"
    return f"use the mean of {runs} runs"


def _component(
    letter: str, name: str, state: State, found: Estimate | None, wanted: str, note: str
) -> Component:
    value = math.nan if found is None else found.value
    interval = None if found is None else found.interval()
    return Component(letter, name, state, value, interval, wanted, note)
