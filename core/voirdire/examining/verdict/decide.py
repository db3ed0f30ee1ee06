"""From components to verdicts: loops over what each use asks for; no component has a name here."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from voirdire.errors import check_allowed
from voirdire.examining.spec import COMPONENTS, REASONS, THESE, USES, Component, Next, is_for
from voirdire.examining.spec.component import always
from voirdire.examining.verdict.facts import Verdict
from voirdire.late import dataclass
from voirdire.stats.multiplicity import adjust_p

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voirdire.examining.spec import Ground, Role, State, Target, UseSpec


@dataclass(frozen=True, slots=True)
class AskedUse:
    """A use for a target, and for a label where each label is a use of its own."""

    use: str
    target: Target
    label: str = ""

    @property
    def spec(self) -> UseSpec:
        """All that is known of the use."""
        return USES[self.use]


@dataclass(frozen=True, slots=True)
class Ruling:
    """A state, the components that decided it, the reason, and the largest p-value."""

    state: State
    deciding: tuple[str, ...]
    reason: str
    p: float
    parts: tuple[Component, ...]


def asked_uses(uses: Sequence[str], ground: Ground) -> list[AskedUse]:
    """The uses that a study names, else all, that are declared in a ground and for its kind.

    Raises
    ------
    InputError
        A use that there is not; the message lists those there are.
    """
    check_allowed("use", uses, USES, "study, key 'uses'")
    return [
        AskedUse(use.key, target, label)
        for use in USES.values()
        if (not uses or use.key in uses) and is_for(use.kinds, ground.kind) and use.declared(ground)
        for target in use.required
        if target == THESE or not is_for(use.these_only, ground.kind)
        for label in (ground.labels if use.per_label else ("",))
    ]


def decide(ground: Ground, asked: AskedUse) -> Ruling:
    """No if any component is no; else not tested if any is; else open; else yes."""
    use = asked.spec
    # Nothing can be held against humans who do not agree with one another; that a judge repeats
    # itself can be said all the same.
    for spec in COMPONENTS.values():
        if spec.stops_all and not use.without_humans:
            stopping = [part for part in ground.of(spec.key) if part.state == "no"]
            if stopping:
                reason = stopping[0].reason or spec.stops_all
                return Ruling("not tested", (spec.key,), reason, 1.0, tuple(stopping[:1]))
    # A judge that answered nothing has no system either, and its coverage says so.
    if use.of_means and ground.systems == 1:
        return Ruling("not tested", (), "one system", 1.0, ())
    asked_for = tuple(_required(ground, asked))
    parts = tuple(part for part, counts in asked_for if counts)
    # In this order: one thing that is shown to be wrong settles it, whatever else could not be
    # tested.
    for state in ("no", "not tested", "open"):
        hit = [part for part in parts if part.state == state]
        if hit:
            deciding = tuple(dict.fromkeys(part.name for part in hit))
            return Ruling(state, deciding, _reason(hit), _largest(parts), parts)
    # What the use went without is said beside the yes.
    without = (part for part, counts in asked_for if not counts)
    told = tuple(p for p in without if p.reason and REASONS[p.reason].beside_yes)
    return Ruling("yes", (), "", _largest(parts), (*parts, *told))


def _required(ground: Ground, asked: AskedUse) -> Iterator[tuple[Component, bool]]:
    """The components that a use asks for, and whether each counts."""
    for wanted in asked.spec.required[asked.target]:
        spec, role = COMPONENTS[wanted.key], wanted.role_in(ground)
        if role == "left out":
            continue
        if not is_for(spec.kinds, ground.kind):
            # A use of this kind goes without what is not; no other use is tested, for want of what
            # nobody has to declare.
            missed = role == "required" and spec.declared is always
            if missed and not is_for(asked.spec.kinds, ground.kind):
                yield spec.untested("nominal"), True
            continue
        if not spec.declared(ground):
            continue
        found = ground.of(wanted.key)
        if not found:
            # A component that should be there and is not must not pass in silence.
            found = (spec.untested("not computed"),)
        # What is of a subgroup or a system, and of no label, is about every label.
        labels = {asked.label, *ground.labels} if asked.label else set()
        by_label = any(not labels.isdisjoint(part.at) for part in found)
        for part in found:
            if not by_label or not part.at or asked.label in part.at:
                yield part, _counts(part, role, skipped=spec.skipped_untested)


def _counts(part: Component, role: Role, *, skipped: bool) -> bool:
    if role == "may refuse":
        return part.state == "no"
    if role == "look":
        return part.state in ("no", "open")
    # Where there is no such thing; a system of too few items holds its uses back.
    if part.state == "not tested" and skipped:
        return bool(part.reason) and REASONS[part.reason].holds
    return True


def _reason(hit: Sequence[Component]) -> str:
    """That of the first component which has one; one that explains the others goes first."""
    reasons = [REASONS[part.reason] for part in hit if part.reason]
    explaining = [reason for reason in reasons if reason.explains]
    # A constant judge fails in many ways at once, and this is the one that explains them.
    first = next((reason for reason in explaining if reason.first), None)
    found = first or next(iter(explaining), None)
    return "" if found is None else found.key


def _largest(parts: Sequence[Component]) -> float:
    return max((part.p for part in parts), default=1.0)


def with_holm(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """The verdicts with `p_holm`: Holm's method over those of one use and target that were tested.

    Uses are separate questions and are not pooled.

    Source: Holm (1979), Scand. J. Statist. 6, 65-70.
    """
    # What was not tested is no test, and would only make the others' correction stricter.
    grids: dict[tuple[str, Target], list[int]] = defaultdict(list)
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
    ground: Ground, asked: AskedUse, *, critical: bool, blocked: bool, repeats: bool = False
) -> Verdict:
    """One verdict, its next step still to be found.

    A judge that `repeats` a human of its reference is held against nobody.
    """
    made = decide(ground, asked)
    repeats = repeats and made.state != "not tested" and not asked.spec.without_humans
    if blocked or repeats:
        # The p-value goes too: what rests on blocked data takes no part in Holm's correction.
        made = replace(made, state="not tested", deciding=(), reason="blocked", p=1.0)
    elif critical and made.state == "yes" and asked.spec.forbidden_where_critical:
        made = replace(made, state="no", reason="safety-critical")
    return Verdict(
        ground.case.judge,
        ground.case.attribute,
        asked.use,
        asked.target,
        made.state,
        made.deciding,
        made.reason,
        Next("use it"),
        made.p,
        made.parts,
        ground.case.reference,
        label=asked.label,
        kind=ground.kind,
    )
