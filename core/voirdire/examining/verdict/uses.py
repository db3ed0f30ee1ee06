"""From components to verdicts: which use needs what, what decided it, and what to do next.

Of a next step only the numbers are found here; `report` makes the sentence.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from voirdire.examining.verdict.components import find_calibrated_components
from voirdire.examining.verdict.facts import (
    THESE,
    TO_COME,
    USES,
    Component,
    ComponentName,
    Next,
    Reason,
    State,
    Target,
    Use,
    Verdict,
)
from voirdire.examining.verdict.margins import FEWEST_IN_SYSTEM, FEWEST_SUCH
from voirdire.examining.verdict.responses import MOST_TIMES
from voirdire.stats import runs_needed
from voirdire.stats.multiplicity import adjust_p

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from voirdire.examining.verdict.case import Case
    from voirdire.examining.verdict.components import Computed
    from voirdire.study import Margins

    Components = Mapping[ComponentName, Component]

#: What each use needs, in the order in which what is lacking is named.
REQUIRED: Mapping[tuple[Use, Target], tuple[ComponentName, ...]] = {
    ("order", THESE): ("COVER", "READ", "ORDER", "REVERSE", "FAM"),
    ("order", TO_COME): ("COVER", "READ", "ORDER+", "REVERSE", "FAM"),
    ("score", THESE): ("COVER", "READ", "BIAS", "LEVEL", "AGREE", "FAM"),
    ("score", TO_COME): ("COVER", "READ", "BIAS", "LEVEL", "LEVEL+", "FAM"),
    ("single", THESE): (
        "COVER", "READ", "ITEM", "SLOPE", "BIAS1", "SYS", "FAM", "SUB", "SUBITEM",
    ),
    ("gate", THESE): (
        "COVER", "GREAD", "GITEM", "SENS", "SPEC", "SYS", "FAM", "SUB", "SUBITEM",
    ),
    ("estimate", THESE): ("GAIN",),
    ("repeat", THESE): ("RUN",),
}  # fmt: skip

#: Skipped where not declared, or where there is no such thing.
OPTIONAL = {"FAM", "SUB", "SUBITEM", "SLOPE"}
#: Skipped where not tested: one system, or systems that the humans do not tell apart.
SYSTEMS_ONLY = {"SYS", "REVERSE", "LEVEL", "AGREE", "SUBITEM"}
#: Uses of means, which one system has only one of.
OF_MEANS = {"order", "score"}
#: Uses that a safety-critical attribute forbids.
FORBIDDEN = {"single", "gate"}


@dataclass(frozen=True, slots=True)
class Decision:
    """A state, the components that decided it, the reason, and the largest p-value."""

    state: State
    deciding: tuple[ComponentName, ...]
    reason: Reason
    p: float
    parts: tuple[Component, ...]


def decide(case: Case, computed: Computed, use: Use, target: Target) -> Decision:
    """No if any component is no; else not tested if any is; else open; else yes."""
    components: Components = computed.components
    # Nothing can be held against humans who do not agree with one another; that a judge repeats
    # itself can be said all the same.
    if computed.components.get("HUMANS", _NEVER).state == "no" and use != "repeat":
        return Decision("not tested", ("HUMANS",), "humans disagree", 1.0, (components["HUMANS"],))
    # A judge that answered nothing has no system either, and COVER says so.
    if use in OF_MEANS and len(computed.panel.systems) == 1:
        return Decision("not tested", (), "one system", 1.0, ())
    parts = tuple(_required(case, computed, use, target))
    # In this order: one thing that is shown to be wrong settles it, whatever else could not be
    # tested.
    for state in ("no", "not tested", "open"):
        hit = [part for part in parts if part.state == state]
        if hit:
            deciding = tuple(part.name for part in hit)
            return Decision(state, deciding, _reason(hit), _largest(parts), parts)
    return Decision("yes", (), "", _largest(parts), parts)


_NEVER = Component("HUMANS", "not tested")


def _required(case: Case, computed: Computed, use: Use, target: Target) -> Iterable[Component]:
    components: Components = computed.components
    for name in REQUIRED[use, target]:
        part = components.get(name)
        if part is None:
            # A component that should be there and is not must not pass in silence.
            if not (name in OPTIONAL or (name == "SYS" and case.nominal)):
                yield Component(name, "not tested", reason="not computed")
        elif not (_skipped(part) or (use == "gate" and _not_of_labels(case, computed, part))):
            yield part


def _skipped(part: Component) -> bool:
    """Where there is no such thing; a system of too few items holds its uses back."""
    untested = part.state == "not tested" and part.reason != "few in system"
    return part.name in SYSTEMS_ONLY and untested


def _not_of_labels(case: Case, computed: Computed, part: Component) -> bool:
    """Held against one column of labels: no second human is asked for, and the labels decide.

    SYS can refuse such a gate, not hold it back: two releases in the file must not turn an answer
    into an open question.
    """
    if not (computed.labels_alone and case.gate is not None and case.gate.has_minima):
        return False
    return part.name == "GITEM" or (part.name == "SYS" and part.state != "no")


def _reason(hit: Sequence[Component]) -> Reason:
    """That of the first component which has one; a constant judge is named as that first."""
    # That nobody declared the minima is said beside them, and is no reason for a state.
    reasons = [part.reason for part in hit if part.reason not in ("", "default minima")]
    # A constant judge fails in many ways at once, and this is the one that explains them.
    return "constant" if "constant" in reasons else next(iter(reasons), "")


def _largest(parts: Sequence[Component]) -> float:
    return max((part.p for part in parts), default=1.0)


def asked_uses(uses: Sequence[Use], case: Case) -> list[tuple[Use, Target]]:
    """The uses that a study names, else all; a gate where there is one."""
    wanted = set(uses or USES)
    return [
        (use, target)
        for use, target in REQUIRED
        if use in wanted and not (use == "gate" and (case.gate is None or case.nominal))
    ]


def with_holm(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """The verdicts with `p_holm`: Holm's method over those of one use and target that were tested.

    Uses are separate questions and are not pooled.

    Source: Holm (1979), Scand. J. Statist. 6, 65-70.
    """
    # What was not tested is no test, and would only make the others' correction stricter.
    grids: dict[tuple[Use, Target], list[int]] = defaultdict(list)
    for place, verdict in enumerate(verdicts):
        if verdict.state != "not tested":
            grids[verdict.use, verdict.target].append(place)
    made = list(verdicts)
    for places in grids.values():
        adjusted = adjust_p([verdicts[place].p for place in places], "holm")
        for place, p in zip(places, adjusted, strict=True):
            made[place] = replace(verdicts[place], p_holm=float(p))
    return tuple(made)


def verdict_of(
    case: Case, computed: Computed, use: Use, target: Target, *, critical: bool, blocked: bool
) -> Verdict:
    """One verdict, its next step still to be found."""
    made = decide(case, computed, use, target)
    if blocked:
        # The p-value goes too: what rests on blocked data takes no part in Holm's correction.
        made = replace(made, state="not tested", deciding=(), reason="blocked", p=1.0)
    elif critical and made.state == "yes" and use in FORBIDDEN:
        made = replace(made, state="no", reason="safety-critical")
    return Verdict(
        case.judge,
        case.attribute,
        use,
        target,
        made.state,
        made.deciding,
        made.reason,
        Next("use it"),
        made.p,
        made.parts,
        case.reference,
    )


#: No advice on sample size below this many units.
FEWEST_UNITS = 5
#: Responses that two humans should share before a judge is held against one of them.
SHARED = 100
#: Labels that a second human should give where one column was taken as right.
TWICE = 50

#: Components that calibration moves.
_LEVELS = {"BIAS", "LEVEL", "AGREE"}


def next_step(case: Case, computed: Computed, verdict: Verdict, margins: Margins) -> Next:
    """What to do now."""
    if verdict.reason == "blocked":
        return Next("correct the data")
    if verdict.reason == "humans disagree":
        return Next("settle the rubric")
    # An action for each state; what is special to a reason was dealt with above.
    step = {"yes": _after_yes, "no": _after_no, "not tested": _untested, "open": _open}
    return step[verdict.state](case, computed, verdict, margins)


def _after_yes(_case: Case, computed: Computed, verdict: Verdict, _margins: Margins) -> Next:
    if verdict.use == "gate" and computed.labels_alone:
        return Next("label twice", needed=TWICE, unit="responses")
    return Next("use it")


def _after_no(case: Case, computed: Computed, verdict: Verdict, margins: Margins) -> Next:
    deciding = set(verdict.deciding)
    if deciding & {"READ", "GREAD"}:
        return Next("trust it with nothing")
    if verdict.use == "estimate":
        # A gain of g is as many labels as g times those at hand: 1 - 1/g of them come from the
        # judge.
        return Next("label instead", share=1 - 1 / computed.components["GAIN"].estimate)
    if verdict.use == "repeat":
        runs = runs_needed(computed.components["RUN"].estimate, margins.run).runs or 0
        return Next("average runs", needed=runs or None, now=len(case.scores), unit="runs")
    if deciding == {"COVER"}:
        part = computed.components["COVER"]
        return Next("rate the rest", needed=part.count, now=round(part.count * part.estimate))
    these = verdict.target == "these systems"
    # Calibration moves level and spread alone: where anything else failed it would be advice in
    # vain.
    if verdict.use == "score" and these and deciding <= _LEVELS:
        return Next("calibrate", after=_score_after(case, computed, margins))
    return Next("keep humans")


def _score_after(case: Case, computed: Computed, margins: Margins) -> State | None:
    """SCORE after cross-fitted calibration on these ratings."""
    after = find_calibrated_components(case, computed, margins)
    return None if after is None else decide(case, after, "score", "these systems").state


def _untested(case: Case, computed: Computed, verdict: Verdict, margins: Margins) -> Next:
    now, unit = computed.panel.n_clusters, _unit(case)
    systems = len(computed.panel.systems)
    pair = Next("two humans", needed=SHARED, unit="responses", below=computed.humans_below)
    steps: Mapping[Reason, Next] = {
        "not asked": Next("rate the rest", needed=case.size(case.labelled), now=0),
        "one human": pair,
        "few shared": pair,
        "one system": Next("estimate instead"),
        "two systems": Next("estimate instead"),
        "few systems": Next("more systems", needed=margins.systems, now=systems, unit="systems"),
        "no minima": Next("declare minima"),
        "one run": Next("run twice"),
        "temperature 0": Next("run twice"),
        "not random": Next("draw at random"),
        "few clusters": Next(
            "rate more",
            needed=margins.clusters,
            now=min(now, *_counts(verdict, "few clusters")),
            unit=unit,
        ),
        "few in system": _more_of_a_system(verdict, unit),
        "few such": _more_such(case, computed, verdict),
    }
    return steps.get(verdict.reason, Next("rate more", now=now, unit=unit))


def _counts(verdict: Verdict, reason: Reason) -> list[int]:
    """What there is, of each component that is not tested for this reason; 0 where none is."""
    return [part.count for part in verdict.components if part.reason == reason] or [0]


def _more_of_a_system(verdict: Verdict, unit: str) -> Next:
    count = max(_counts(verdict, "few in system"))
    return Next("rate more", needed=FEWEST_IN_SYSTEM, now=count, unit=f"{unit} of each system")


def _more_such(case: Case, computed: Computed, verdict: Verdict) -> Next:
    """Labels until each side of the gate has enough, the shares staying as they are."""
    few = _counts(verdict, "few such")
    wanted = FEWEST_SUCH * (1 if computed.labels_alone else 2)
    now = case.size(case.paired)
    # Beyond ten times what is there a number would be a guess, and is not given.
    if min(few) * MOST_TIMES < wanted:
        return Next("rate more", now=now, unit="labels")
    return Next("rate more", needed=math.ceil(now * wanted / min(few)), now=now, unit="labels")


def _unit(case: Case) -> str:
    return "items" if case.clusters is None else "clusters"


def _open(case: Case, computed: Computed, verdict: Verdict, _margins: Margins) -> Next:
    """So many that each open component would be settled, were its estimate to stay as it is."""
    parts = [part for part in verdict.components if part.state == "open"]
    plus = any(part.name.endswith("+") for part in parts)
    now = len(computed.panel.systems) if plus else computed.panel.n_clusters
    # All have to be settled. One that no number of units settles makes all of the advice worthless.
    times = max((part.times for part in parts), default=math.inf)
    unit = "systems" if plus else _unit(case)
    if verdict.use == "gate" and computed.labels_alone and case.clusters is None:
        now, unit = computed.panel.n, "labels"
    if now < FEWEST_UNITS or times > MOST_TIMES:
        return Next("rate more", now=now, unit=unit)
    return Next("rate more", needed=max(math.ceil(now * times), now + 1), now=now, unit=unit)
