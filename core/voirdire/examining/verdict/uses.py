"""From components to verdicts: which use needs what, what decided it, and Holm over each grid."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

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
from voirdire.stats.multiplicity import adjust_p

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from voirdire.examining.verdict.case import Case
    from voirdire.examining.verdict.components import Computed

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
#: Adjusted p-values up to this remain.
LEVEL = 0.05


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
    known: Components = computed.components
    if computed.components.get("HUMANS", _NEVER).state == "no" and use != "repeat":
        return Decision("not tested", ("HUMANS",), "humans disagree", 1.0, (known["HUMANS"],))
    # A judge that answered nothing has no system either, and COVER says so.
    if use in OF_MEANS and len(computed.panel.systems) == 1:
        return Decision("not tested", (), "one system", 1.0, ())
    parts = tuple(_required(case, computed, use, target))
    for state in ("no", "not tested", "open"):
        hit = [part for part in parts if part.state == state]
        if hit:
            deciding = tuple(part.name for part in hit)
            return Decision(state, deciding, _reason(hit), _largest(parts), parts)
    return Decision("yes", (), "", _largest(parts), parts)


_NEVER = Component("HUMANS", "not tested")


def _required(case: Case, computed: Computed, use: Use, target: Target) -> Iterable[Component]:
    known: Components = computed.components
    for name in REQUIRED[use, target]:
        part = known.get(name)
        if part is None:
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
    reasons = [part.reason for part in hit if part.reason]
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
