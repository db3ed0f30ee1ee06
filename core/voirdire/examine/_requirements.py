"""Gates for releases: `icc_a1>=0.75` over every result, or those of one attribute."""

from __future__ import annotations

import math
import operator
import re
from typing import TYPE_CHECKING

from voirdire._errors import InputError, RequirementUnmetError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from voirdire.examine._examination import Examination, PairResult

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


def check_requirements(examination: Examination, gates: Sequence[str]) -> None:
    """Check gates such as ``"icc_a1>=0.75"`` or ``"bias_normalised@Safety<=0.05"``.

    A gate holds when it holds for every judge (and attribute, unless one is named). A value that
    is undefined does not meet a gate. ``icc_c1_low`` and its like are bounds of the F interval.

    Raises
    ------
    InputError
        The gate cannot be read, or names a number or attribute that there is not.
    RequirementUnmetError
        A gate does not hold; the message names where, with the values.
    """
    failures = [failure for gate in gates for failure in _unmet(examination, gate)]
    if failures:
        shown = "; ".join(failures[:5])
        more = f" (and {len(failures) - 5} more)" if len(failures) > 5 else ""
        raise RequirementUnmetError(shown + more)


def _unmet(examination: Examination, gate: str) -> list[str]:
    match = _GATE.match(gate)
    if match is None:
        raise InputError(
            f"requirement {gate!r} cannot be read: write NAME>=NUMBER or NAME@ATTRIBUTE>=NUMBER, "
            "with one of >= <= > <"
        )
    name, attribute, sign, limit = match[1], match[2], match[3], _number(match[4], gate)
    chosen = [
        result
        for result in (*examination.results, *examination.composites)
        if (result.attribute == attribute if attribute else result in examination.results)
    ]
    if not chosen:
        known = ", ".join(examination.attributes) or "none"
        raise InputError(f"requirement {gate!r}: no result for {attribute!r} (attributes: {known})")
    return [
        f"{name} of {result.judge} on {result.attribute} is {value:.3f}, required {sign} {limit:g}"
        for result in chosen
        if not _COMPARE[sign](value := _value(result, name, gate), limit)
    ]


def _number(text: str, gate: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"requirement {gate!r}: {text!r} is not a number") from None


def _value(result: PairResult, name: str, gate: str) -> float:
    if name in _BOUNDS:
        form, side = _BOUNDS[name]
        interval = result.interval(form, "f")
        return math.nan if interval is None else float(getattr(interval, side))
    value = getattr(result, name, None)
    if not isinstance(value, int | float):
        numbers = [key for key in result.__slots__ if isinstance(getattr(result, key), int | float)]
        known = ", ".join([*numbers, *_BOUNDS])
        raise InputError(f"requirement {gate!r}: there is no number {name!r} (known: {known})")
    return float(value)
