"""Gates for releases: `icc_a1_low>=0.75` over every result, or those of one attribute or judge."""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from voirdire._errors import InputError, RequirementUnmetError
from voirdire.examining.examination import RESULT_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from voirdire.examining.examination import Examination, PairResult

_GATE = re.compile(r"^\s*(\w+)\s*(?:@\s*([^<>=]+?)\s*)?(>=|<=|>|<)\s*([-+\d.eE]+)\s*$")
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


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate, read: ``icc_a1@Safety>=0.75`` in parts; `of` is an attribute or a judge."""

    text: str
    name: str
    of: str | None
    sign: str
    limit: float


def read_requirements(gates: Sequence[str]) -> tuple[Gate, ...]:
    """Gates in parts, so that a slip in one is said before a long run and not after it.

    Raises
    ------
    InputError
        A gate cannot be read, or names a number that no result has.

    Examples
    --------
    >>> [gate.limit for gate in read_requirements(["icc_a1_low>=0.75"])]
    [0.75]
    """
    return tuple(_read(gate) for gate in gates)


def check_requirements(examination: Examination, gates: Sequence[str]) -> tuple[str, ...]:
    """Check gates such as ``"icc_a1_low>=0.75"`` or ``"bias_normalised@Safety<=0.05"``.

    A gate holds when it holds for every judge and attribute, or for all of the attribute or judge
    that is named. A value that is undefined does not meet a gate. ``icc_c1_low`` and its like are
    bounds of the F interval.

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


def _read(gate: str) -> Gate:
    match = _GATE.match(gate)
    if match is None:
        raise InputError(
            f"requirement {gate!r} cannot be read: write NAME>=NUMBER, NAME@ATTRIBUTE>=NUMBER or "
            "NAME@JUDGE>=NUMBER, with one of >= <= > <"
        )
    known = [*_numbers(), *_BOUNDS]
    if match[1] not in known:
        raise InputError(
            f"requirement {gate!r}: there is no number {match[1]!r} (known: {', '.join(known)})"
        )
    return Gate(gate, match[1], match[2], match[3], _number(match[4], gate))


def _numbers() -> list[str]:
    """The fields of a result that hold one number."""
    return [name for name, kind in RESULT_KINDS.items() if kind is not str]


def _met(examination: Examination, gate: Gate) -> str:
    word, nearest = ("lowest", min) if gate.sign in (">=", ">") else ("highest", max)
    value, result = nearest(
        ((_value(one, gate.name), one) for one in _chosen(examination, gate)),
        key=operator.itemgetter(0),
    )
    where = _where(examination, result)
    return f"requirement met: {gate.text} ({word} {value:.3f}, {where})"


def _where(examination: Examination, result: PairResult) -> str:
    """Judge and attribute, and the reference where there are several."""
    several = len({other.reference for other in examination.results}) > 1
    against = f" against {' and '.join(result.reference)}" if several else ""
    return f"{result.judge} on {result.attribute}{against}"


def _chosen(examination: Examination, gate: Gate) -> list[PairResult]:
    """The results that a gate is about; there must be one."""
    chosen = [r for r in examination.results if gate.of in (None, r.attribute, r.judge)]
    chosen += [r for r in examination.composites if gate.of == r.attribute]
    if not chosen and gate.of is None:
        raise InputError(f"requirement {gate.text!r}: no judge was held against a reference")
    if not chosen:
        known = ", ".join(examination.attributes) or "none"
        judges = ", ".join(dict.fromkeys(result.judge for result in examination.results)) or "none"
        raise InputError(
            f"requirement {gate.text!r}: no result for {gate.of!r} "
            f"(attributes: {known}; judges: {judges})"
        )
    return chosen


def _unmet(examination: Examination, gate: Gate) -> list[str]:
    return [
        f"{gate.name} of {_where(examination, result)} is "
        f"{'undefined' if math.isnan(value) else f'{value:.3f}'}, "
        f"required {gate.sign} {gate.limit:g}"
        for result in _chosen(examination, gate)
        if not _COMPARE[gate.sign](value := _value(result, gate.name), gate.limit)
    ]


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
