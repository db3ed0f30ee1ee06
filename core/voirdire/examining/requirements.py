"""Gates for releases: `verdict.order@Guidance=yes`, `sensitivity.low>=0.9`, `icc_a1>=0.75`."""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from voirdire._errors import InputError, RequirementUnmetError
from voirdire.examining.examination import RESULT_KINDS
from voirdire.examining.verdict.facts import THESE, TO_COME, USES, ComponentName, State

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from voirdire.examining.examination import Examination, PairResult
    from voirdire.examining.verdict.facts import Evidence

_GATE = re.compile(r"^\s*([\w.+]+)\s*(?:@\s*([^<>=]+?)\s*)?(>=|<=|>|<|=)\s*(.+?)\s*$")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
#: Bounds of the leading interval, beside the numbers of a result itself.
_BOUNDS = {
    "icc_c1_low": ("C,1", "low"),
    "icc_c1_high": ("C,1", "high"),
    "icc_a1_low": ("A,1", "low"),
    "icc_a1_high": ("A,1", "high"),
}
_STATES = get_args(State)
_COMPONENTS = get_args(ComponentName)
#: Agreement on single responses at the gate, by the names that a report prints.
_RATES = (
    "accuracy", "sensitivity", "specificity", "ppv", "npv", "kappa", "alpha", "mcc", "roc_auc",
)  # fmt: skip
_ENDS = ("estimate", "low", "high")


@dataclass(frozen=True, slots=True)
class Requirement:
    """A gate, read: ``icc_a1@Safety>=0.75`` in parts; `of` is an attribute or a judge.

    `limit` is a number, or the state that a verdict must have.
    """

    text: str
    name: str
    of: str | None
    sign: str
    limit: float | str


@dataclass(frozen=True, slots=True)
class _Named:
    """One value that a gate is about, and whose it is."""

    judge: str
    attribute: str
    reference: tuple[str, ...]
    value: float | str


def read_requirements(gates: Sequence[str]) -> tuple[Requirement, ...]:
    """Gates in parts, so that a slip in one is said before a long run and not after it.

    Raises
    ------
    InputError
        A gate cannot be read, or names a number that no result has.

    Examples
    --------
    >>> [gate.limit for gate in read_requirements(["icc_a1_low>=0.75", "verdict.order=yes"])]
    [0.75, 'yes']
    """
    return tuple(_read(gate) for gate in gates)


def check_requirements(examination: Examination, gates: Sequence[str]) -> tuple[str, ...]:
    """Check gates such as ``"verdict.order@Guidance=yes"`` or ``"sensitivity.low>=0.9"``.

    A gate holds when it holds for every judge and attribute, or for all of the attribute or judge
    that is named. A value that is undefined does not meet a gate. A gate is about a verdict
    (``verdict.order=yes``; ``order+`` and ``score+`` for systems to come), about estimate or bound
    of a component (``READ.low>=0.2``) or of agreement at the gate (``kappa.low>=0.6``), or about a
    number of a result (``bias_normalised@Safety<=0.05``; ``icc_c1_low`` and its like are bounds of
    the F interval).

    Returns
    -------
    tuple of str
        A sentence a gate, with the value that came nearest to its limit.

    Raises
    ------
    InputError
        The gate cannot be read, or names a number, attribute or judge that there is not.
    RequirementUnmetError
        A gate does not hold; the message names where, with the values.
    """
    found = read_requirements(gates)
    failures = [failure for gate in found for failure in _unmet(examination, gate)]
    if failures:
        shown = "; ".join(failures[:5])
        more = f" (and {len(failures) - 5} more)" if len(failures) > 5 else ""
        raise RequirementUnmetError(shown + more)
    return tuple(_met(examination, gate) for gate in found)


def _read(gate: str) -> Requirement:
    match = _GATE.match(gate)
    if match is None:
        raise InputError(
            f"requirement {gate!r} cannot be read: write NAME>=NUMBER, NAME@ATTRIBUTE>=NUMBER or "
            "NAME@JUDGE>=NUMBER, with one of >= <= > <, or verdict.USE@ATTRIBUTE=yes"
        )
    name, of, sign, limit = match.groups()
    if name.startswith("verdict."):
        return Requirement(gate, name, of, sign, _state(gate, name, sign, limit))
    known = [*_numbers(), *_BOUNDS, *(f"{part}.{end}" for part in _parts() for end in _ENDS)]
    if name not in known:
        shown = [*_numbers(), *_BOUNDS, *(f"{part}.low" for part in _parts()), "verdict.USE"]
        raise InputError(
            f"requirement {gate!r}: there is no number {name!r} (known: {', '.join(shown)})"
        )
    if sign == "=":
        raise InputError(f"requirement {gate!r} cannot be read: a number takes >= <= > or <")
    return Requirement(gate, name, of, sign, _number(limit, gate))


def _state(gate: str, name: str, sign: str, state: str) -> str:
    """The state that a verdict is asked to have."""
    use = name.removeprefix("verdict.").removesuffix("+")
    if use not in USES:
        raise InputError(
            f"requirement {gate!r}: there is no use {use!r} (uses: {', '.join(USES)}; order+ and "
            "score+ are for systems to come)"
        )
    if sign != "=" or state not in _STATES:
        raise InputError(
            f"requirement {gate!r}: a verdict is asked for by = and one of {', '.join(_STATES)}"
        )
    return state


def _parts() -> tuple[str, ...]:
    return (*_COMPONENTS, *_RATES)


def _numbers() -> list[str]:
    """The fields of a result that hold one number."""
    return [name for name, kind in RESULT_KINDS.items() if kind is not str]


def _met(examination: Examination, gate: Requirement) -> str:
    chosen = _chosen(examination, gate)
    if isinstance(gate.limit, str):
        return f"requirement met: {gate.text} ({len(chosen)} of {len(chosen)})"
    word, nearest = ("lowest", min) if gate.sign in (">=", ">") else ("highest", max)
    found = nearest(chosen, key=lambda named: float(named.value))
    where = _where(examination, found)
    return f"requirement met: {gate.text} ({word} {float(found.value):.3f}, {where})"


def _where(examination: Examination, named: _Named) -> str:
    """Judge and attribute, and the reference where there are several."""
    several = len({other.reference for other in examination.results}) > 1
    against = f" against {' and '.join(named.reference)}" if several else ""
    return f"{named.judge} on {named.attribute}{against}"


def _chosen(examination: Examination, gate: Requirement) -> list[_Named]:
    """The values that a gate is about; there must be one."""
    every = _values(examination, gate.name)
    chosen = [found for found in every if gate.of in (None, found.attribute, found.judge)]
    if gate.name in (*_numbers(), *_BOUNDS):
        chosen += [
            _Named(found.judge, found.attribute, found.reference, _value(found, gate.name))
            for found in examination.composites
            if found.attribute == gate.of
        ]
    if not chosen and gate.of is None:
        raise InputError(f"requirement {gate.text!r}: {_nothing(examination, gate.name)}")
    if not chosen:
        known = ", ".join(examination.attributes) or "none"
        judges = ", ".join(dict.fromkeys(result.judge for result in examination.results)) or "none"
        raise InputError(
            f"requirement {gate.text!r}: no result for {gate.of!r} "
            f"(attributes: {known}; judges: {judges})"
        )
    return chosen


def _nothing(examination: Examination, name: str) -> str:
    if examination.results and name.startswith("verdict."):
        return "the study asks for no such verdict, or declares no gate for it"
    return "no judge was held against a reference"


def _values(examination: Examination, name: str) -> list[_Named]:
    """The value of that name of every judge and attribute."""
    if name.startswith("verdict."):
        use = name.removeprefix("verdict.").removesuffix("+")
        target = TO_COME if name.endswith("+") else THESE
        return [
            _Named(found.judge, found.attribute, found.reference, found.state)
            for found in examination.use_verdicts
            if (found.use, found.target) == (use, target)
        ]
    part, _, end = name.rpartition(".")
    if part:
        return [
            _Named(found.judge, found.attribute, found.reference, _end(found, part, end))
            for found in examination.evidence
        ]
    return [
        _Named(found.judge, found.attribute, found.reference, _value(found, name))
        for found in examination.results
    ]


def _end(found: Evidence, part: str, end: str) -> float:
    """Estimate or bound of a component, or of agreement at the gate."""
    if part in _RATES:
        score = None if found.responses is None else found.responses.scores.get(part)
        if score is None:
            return math.nan
        interval = score.interval()
        if end == "estimate" or interval is None:
            return score.value if end == "estimate" else math.nan
        return interval.low if end == "low" else interval.high
    component = found.component(part)
    return math.nan if component is None else float(getattr(component, end))


def _unmet(examination: Examination, gate: Requirement) -> list[str]:
    return [
        f"{gate.name} of {_where(examination, found)} is {_shown(found.value)}, required "
        + (gate.limit if isinstance(gate.limit, str) else f"{gate.sign} {gate.limit:g}")
        for found in _chosen(examination, gate)
        if not _holds(gate, found.value)
    ]


def _holds(gate: Requirement, value: float | str) -> bool:
    if isinstance(gate.limit, str) or isinstance(value, str):
        return value == gate.limit
    return _COMPARE[gate.sign](value, gate.limit)


def _shown(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return "undefined" if math.isnan(value) else f"{value:.3f}"


def _number(text: str, gate: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"requirement {gate!r}: {text!r} is not a number") from None


def _value(result: PairResult, name: str) -> float:
    if name not in _BOUNDS:
        return float(getattr(result, name))
    form, side = _BOUNDS[name]
    interval = result.interval(form, "f")
    return math.nan if interval is None else float(getattr(interval, side))
