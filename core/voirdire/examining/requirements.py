"""What a gate may ask of an Examination: verdicts, components, rates, coefficients, probes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from voirdire.errors import InputError
from voirdire.examining.gates import (
    GateResult,
    GateValue,
    Requirement,
    gates_section,
    hold_gates,
    must_hold,
    read_gates,
)
from voirdire.examining.parts.probes import ProbeFacts
from voirdire.examining.ratings.facts import RESULT_KINDS
from voirdire.examining.spec import COMPONENTS, TO_COME, USES, State

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voirdire.examining.examination import Examination
    from voirdire.examining.probing import ProbeEffect
    from voirdire.examining.ratings.facts import PairResult
    from voirdire.examining.verdict.facts import Evidence, Verdict

#: Bounds of the leading interval, beside the numbers of a result itself.
_BOUNDS = {
    "icc_c1_low": ("C,1", "low"),
    "icc_c1_high": ("C,1", "high"),
    "icc_a1_low": ("A,1", "low"),
    "icc_a1_high": ("A,1", "high"),
}
_NUMBERS = [name for name, kind in RESULT_KINDS.items() if kind is not str]
#: Agreement on single responses at the gate, by the names that a report prints.
_RATES = (
    "accuracy", "sensitivity", "specificity", "ppv", "npv", "prevalence", "kappa", "alpha", "mcc",
    "roc_auc",
)  # fmt: skip
_ENDS = ("estimate", "low", "high")
#: Effects of probes, where a session has them; a reading is a state.
_PROBED = ("effect", "effect_high", "flips_net", "reading")


def _parts() -> tuple[str, ...]:
    """Components and rates: what has an estimate and bounds."""
    return (*COMPONENTS, *_RATES)


def _verdicts() -> dict[str, tuple[str, str]]:
    """How a gate names a verdict -> its use and target; a plus is for systems to come."""
    return {
        f"verdict.{use.key}{'+' * (target == TO_COME)}": (use.key, target)
        for use in USES.values()
        for target in use.required
    }


def read_requirements(gates: Sequence[str]) -> tuple[Requirement, ...]:
    """Gates in parts, so that a slip in one is said before a long run and not after it.

    Raises
    ------
    InputError
        A gate cannot be read, or names a number that no examination has.

    Examples
    --------
    >>> [gate.limit for gate in read_requirements(["icc_a1_low>=0.75", "verdict.order=yes"])]
    [0.75, 'yes']
    """
    gates_read = read_gates(gates)
    for gate in gates_read:
        _check(gate)
    return gates_read


def check_requirements(examination: Examination, gates: Sequence[str]) -> tuple[str, ...]:
    """Check gates such as ``"verdict.order@Guidance=yes"`` or ``"sensitivity.low>=0.9"``.

    A gate holds when it holds for every judge and attribute, or for all of the attribute, judge
    or probe that is named. An undefined value meets no gate. A gate is about a verdict
    (``verdict.order=yes``; ``order+`` and ``score+`` for systems to come), about estimate or bound
    of a component (``READ.low>=0.2``) or of agreement at the gate (``kappa.low>=0.6``), or about a
    number of a result (``bias_normalised@Safety<=0.05``; ``icc_c1_low`` and its like are bounds of
    the F interval), or about a probe whose effects the session keeps (``reading@length=robust``).

    Returns
    -------
    tuple of str
        A sentence a gate, with the value that came nearest to its limit.

    Raises
    ------
    InputError
        The gate cannot be read, or names a number, attribute or judge that there is not.
    RequirementUnmetError
        A gate does not hold; its `failures` name every place and value.
    """
    return must_hold(with_requirements(examination, gates).requirements)


def with_requirements(examination: Examination, gates: Sequence[str]) -> Examination:
    """The examination held to gates: `requirements`, and a section of its report with all of them.

    Raises
    ------
    InputError
        A gate cannot be read, or names a number that no examination has.
    """
    asked = read_requirements(gates)
    if not asked:
        return examination
    held = tuple(_held(examination, gate) for gate in asked)
    sections = (*examination.sections, gates_section(held))
    return examination.replace(requirements=held, sections=sections)


def _held(examination: Examination, gate: Requirement) -> GateResult:
    try:
        return hold_gates([gate], _values(examination, gate))[0]
    except InputError as error:
        return GateResult(gate, "unanswered", str(error))


def _bound_of(name: str) -> tuple[str, str]:
    """A component or rate and which of its numbers: ``READ.low`` or ``READ_low``; else nothing.

    >>> _bound_of("specificity_low"), _bound_of("icc_c1_low")
    (('specificity', 'low'), ('', ''))
    """
    # Both are written: a dot as reports print it, and as a shell variable would have it.
    for sign in (".", "_"):
        part, _, end = name.rpartition(sign)
        if part in _parts() and end in _ENDS:
            return part, end
    return "", ""


def _check(gate: Requirement) -> None:
    """Refuse a name that no examination has, and what cannot be asked of it."""
    if gate.name.startswith("verdict."):
        if gate.name not in _verdicts():
            plus = [name.removeprefix("verdict.") for name in _verdicts() if name.endswith("+")]
            raise InputError(
                f"requirement {gate.text!r}: there is no use "
                f"{gate.name.removeprefix('verdict.')!r} (uses: {', '.join(USES)}; "
                f"{' and '.join(plus)} are for systems to come)"
            )
        if gate.limit not in get_args(State):
            raise InputError(
                f"requirement {gate.text!r}: a verdict is asked for by = and one of "
                f"{', '.join(get_args(State))}"
            )
        return
    if gate.name in _PROBED:
        # A reading is a word and takes =; that a number equals its limit to the last digit is
        # hardly ever meant.
        if (gate.name == "reading") != (gate.sign == "="):
            raise InputError(
                f"requirement {gate.text!r} cannot be read: the reading of a probe takes = and a "
                "word such as robust, its numbers take >= <= > or <"
            )
        return
    if gate.name not in (*_NUMBERS, *_BOUNDS) and not _bound_of(gate.name)[0]:
        shown = [*_NUMBERS, *_BOUNDS, *(f"{name}.low" for name in _parts()), *_verdicts(), *_PROBED]
        raise InputError(
            f"requirement {gate.text!r}: there is no number {gate.name!r} "
            f"(known: {', '.join(shown)})"
        )
    if gate.sign == "=":
        raise InputError(f"requirement {gate.text!r} cannot be read: a number takes >= <= > or <")


def _values(examination: Examination, gate: Requirement) -> list[GateValue]:
    """What a gate may be about, of every judge and attribute.

    Raises
    ------
    InputError
        There is nothing of that kind, or nothing of that name.
    """
    gate_values = list(_every(examination, gate.name))
    if not gate_values:
        raise InputError(f"requirement {gate.text!r}: {_nothing(examination, gate.name)}")
    if gate.of is not None and not any(gate.of in value.of for value in gate_values):
        about = (verdict.about for verdict in examination.verdicts)
        names = ", ".join(dict.fromkeys((*examination.attributes, *about))) or "none"
        if gate.name in _PROBED:
            names = ", ".join(dict.fromkeys(effect.probe for effect in _effects(examination)))
            raise InputError(
                f"requirement {gate.text!r}: no result for {gate.of!r} (probes: {names})"
            )
        told = [one.judge for one in examination.results]
        told += [one.judge for one in examination.verdicts]
        judges = ", ".join(dict.fromkeys(told)) or "none"
        raise InputError(
            f"requirement {gate.text!r}: no result for {gate.of!r} "
            f"(attributes: {names}; judges: {judges})"
        )
    return gate_values


def _nothing(examination: Examination, name: str) -> str:
    if name in _PROBED:
        return "the source holds no effects of probes; run voirdire probe on the session first"
    if examination.results and name.startswith("verdict."):
        return "the study asks for no such verdict, or declares no gate for it"
    return "no judge was held against a reference"


def _every(examination: Examination, name: str) -> Iterator[GateValue]:
    if name in _verdicts():
        for verdict in examination.verdicts:
            if (verdict.use, verdict.target) == _verdicts()[name]:
                yield _value(examination, name, verdict, verdict.held)
        return
    if name in _PROBED:
        from voirdire.examining.probing import probing_values  # noqa: PLC0415 - few are probed

        yield from (one for one in probing_values(_effects(examination)) if one.name == name)
        return
    part, end = _bound_of(name)
    if part:
        for evidence in examination.evidence:
            yield _value(examination, name, evidence, _end(evidence, part, end))
        return
    for result in examination.results:
        yield _value(examination, name, result, _number(result, name))
    for result in examination.rated.composites:
        # Composites answer only a gate that names them: they repeat what their parts say.
        made = _value(examination, name, result, _number(result, name))
        yield replace(made, of=(result.attribute,), apart=True)


def _effects(examination: Examination) -> tuple[ProbeEffect, ...]:
    found = examination.facts(ProbeFacts)
    return () if found is None else found.effects


def _value(
    examination: Examination, name: str, place: Verdict | Evidence | PairResult, value: float | str
) -> GateValue:
    """With judge and attribute, and the reference where there are several."""
    # With one reference naming it in every line would say nothing.
    several = len({other.reference for other in examination.results}) > 1
    against = f" against {' and '.join(place.reference)}" if several else ""
    # A verdict on one label says which.
    about = getattr(place, "about", place.attribute)
    where = f"{place.judge} on {about}{against}"
    return GateValue(name, (place.judge, about), value, where)


def _end(evidence: Evidence, part: str, end: str) -> float:
    """Estimate or bound of a component, or of agreement at the gate."""
    if part not in _RATES:
        component = evidence.component(part)
        return math.nan if component is None else float(getattr(component, end))
    score = None if evidence.responses is None else evidence.responses.scores.get(part)
    if score is None:
        return math.nan
    if end == "estimate":
        return score.value
    interval = score.interval()
    return math.nan if interval is None else float(getattr(interval, end))


def _number(result: PairResult, name: str) -> float:
    if name not in _BOUNDS:
        return float(getattr(result, name))
    form, side = _BOUNDS[name]
    interval = result.interval(form, "f")
    return math.nan if interval is None else float(getattr(interval, side))
