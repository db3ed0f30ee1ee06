"""The components of the verdict on preferences alone; READ, ITEM and more are of scores, too."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from voirdire.examining.spec import in_brackets, kinds_change
from voirdire.examining.spec.component import (
    COMPONENTS,
    ChangeRule,
    Component,
    ComponentSpec,
    Estimated,
)
from voirdire.examining.spec.kind import KINDS, KindSpec
from voirdire.examining.spec.scores import needs
from voirdire.examining.spec.words import percent
from voirdire.tabular import number_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from voirdire.examining.spec.preferences.ground import ComparedGround

KINDS.register(
    KindSpec(
        key="preference",
        name="preference",
        ground="voirdire.examining.spec.preferences.ground:ComparedGround",
        cases="voirdire.examining.judgements:cases_of_preferences",
        holds=lambda inputs: inputs.compared,
        shown="voirdire.examining.verdict.shown:rankings",
        unread="its choices do not follow the responses",
        averages="win rates",
        corrected="Who wins, and how often?",
    )
)
PREFERENCES = frozenset({"preference"})
_CLUSTERS = (needs.clusters,)


def _has(key: str) -> Callable[[ComparedGround], bool]:
    return lambda ground: not ground.few and key in ground.parts


def _leans(what: str, other: str) -> Callable[[Component], str]:
    def say(part: Component) -> str:
        way = what if part.estimate > 0 else other
        allowed = (
            ""
            if not isinstance(part.margin, float)
            else (f" (allowed: {number_text(part.margin, 2)})")
        )
        return f"it leans to {way} by {number_text(abs(part.estimate), 2)} points{allowed}"

    return say


def _favours(part: Component) -> str:
    way = "favours the first" if part.estimate > 0 else "marks the first down"
    points = number_text(abs(part.estimate), 2)
    pair = part.at[0].replace(" / ", " and ") if part.at else "two systems"
    return f"between {pair} it {way}, by {points} points more than people do"


def _picks(part: Component) -> str:
    if math.isnan(part.human):
        return f"it picks what people pick in {percent(part.judge)} of pairs"
    return (
        f"it picks what a human picks in {percent(part.judge)} of pairs, another human in "
        f"{percent(part.human)}"
    )


def _flips(part: Component) -> str:
    beside = "" if math.isnan(part.human) else f"; two humans differ in {percent(part.human)}"
    told = f"with the order turned it names another winner in {percent(part.judge)} of pairs"
    return f"{told}{beside}"


def _ties(part: Component) -> str:
    way = "more" if part.estimate > 0 else "less"
    return (
        f"it calls a tie {number_text(100 * abs(part.estimate), 0)} points {way} often than people"
    )


def _points(estimates: Callable[[ComparedGround], Iterable[Estimated]]) -> ChangeRule:
    """A lean may move by a twentieth of the scale, either way."""
    return ChangeRule(estimates, lambda _m, width, _points: width / 20, both_ways=True)


for _spec in (
    ComponentSpec(
        key="POSITION",
        name="leans_to_a_place",
        title="leans to a place",
        plain="It does not lean to the response shown first, or second.",
        asked="10 % of the scale",
        kinds=PREFERENCES,
        needs=_CLUSTERS,
        says=_leans("the response shown first", "the response shown second"),
        unit="points",
        side="within",
        change=_points(kinds_change.position),
        skipped_untested=True,
    ),
    ComponentSpec(
        key="LENGTH",
        name="leans_to_length",
        title="leans to length",
        plain="It does not lean to longer, or shorter, responses more than people.",
        asked="10 % of the scale for one standard deviation of length",
        kinds=PREFERENCES,
        needs=_CLUSTERS,
        says=_leans("longer responses", "shorter responses"),
        unit="points",
        side="within",
        change=_points(kinds_change.length),
    ),
    ComponentSpec(
        key="PICK",
        name="picks_what_humans_pick",
        title="picks what humans pick",
        plain="Of two it picks what people pick.",
        asked="10 points below a human",
        kinds=PREFERENCES,
        needs=_CLUSTERS,
        says=_picks,
        in_brackets=in_brackets.share("sides with people in {share} of pairs"),
        unit="share",
        side="least",
        change=ChangeRule(kinds_change.picks, lambda m, *_: m.gate),
    ),
    ComponentSpec(
        key="PICK1",
        name="picks_beside_a_human",
        title="picks beside a human",
        plain="PICK, for one that takes a human's place: it may only refuse.",
        asked="5 points below a human",
        kinds=PREFERENCES,
        declared=_has("PICK1"),
        needs=_CLUSTERS,
        says=_picks,
        unit="share",
        side="least",
        influence=kinds_change.moved_by_each(kinds_change.picks),
    ),
    ComponentSpec(
        key="FLIP",
        name="opposite_in_the_other_order",
        title="opposite in the other order",
        plain="It names the same winner when the order is swapped.",
        asked="5 points more often than two humans; it may look bad",
        kinds=PREFERENCES,
        declared=_has("FLIP"),
        needs=_CLUSTERS,
        says=_flips,
        unit="share",
        side="within",
    ),
    ComponentSpec(
        key="TIE",
        name="ties_as_often",
        title="ties",
        plain="It ties as often as people.",
        asked="15 points",
        kinds=PREFERENCES,
        needs=_CLUSTERS,
        says=_ties,
        unit="share",
        side="within",
    ),
    ComponentSpec(
        key="PAIR",
        name="bias_by_pair",
        title="bias by pair",
        plain="It is right on every single pair of systems.",
        asked="15 % of the scale; it may only refuse",
        kinds=PREFERENCES,
        declared=_has("PAIR"),
        needs=_CLUSTERS,
        says=_favours,
        unit="points",
        side="within",
    ),
):
    COMPONENTS.register(_spec)
