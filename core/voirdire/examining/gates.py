"""Gates of any command: `NAME>=NUMBER`, `NAME@WHOM>=NUMBER`, `NAME@WHOM=STATE`, held to values."""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from voirdire.errors import InputError, RequirementUnmetError, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_GATE = re.compile(r"^\s*([\w.+]+)\s*(?:@\s*([^<>=]+?)\s*)?(>=|<=|>|<|=)\s*(.+?)\s*$")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
#: As many failures are named; the others are counted.
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate in parts: ``icc_a1@Safety>=0.75``, ``verdict.order@Safety=yes``.

    Attributes
    ----------
    of : str or None
        The attribute, judge or the like that it is about; None for all.
    sign : {">=", "<=", ">", "<", "="}
        ``=`` asks for a state.
    limit : float or str
        A number, or the state after ``=``.
    """

    text: str
    name: str
    of: str | None
    sign: str
    limit: float | str


@dataclass(frozen=True, slots=True)
class GateValue:
    """A value that gates may name.

    Attributes
    ----------
    of : tuple of str
        What a gate may write behind @ to mean it: a judge, an attribute.
    value : float or str
        A number (NaN: undefined) or a state.
    where : str
        How a message names it.
    apart : bool
        Whether only a gate that names it is about it.
    """

    name: str
    of: tuple[str, ...]
    value: float | str
    where: str = ""
    apart: bool = False


def read_gates(texts: Sequence[str]) -> tuple[Gate, ...]:
    """Gates in parts.

    Raises
    ------
    InputError
        A gate cannot be read; the message says how one is written.

    Examples
    --------
    >>> [gate.limit for gate in read_gates(["icc_a1_low>=0.75", "verdict.order=yes"])]
    [0.75, 'yes']
    """
    return tuple(_read(text) for text in texts)


def check_gates(gates: Sequence[Gate], values: Sequence[GateValue]) -> tuple[str, ...]:
    """A sentence a gate, with the value that came nearest to its limit.

    A gate holds when it holds for every value of its name, or for all that it names behind @. An
    undefined value meets no gate.

    Raises
    ------
    InputError
        A gate names what there is not.
    RequirementUnmetError
        A gate does not hold; the message names where, with the values.

    Examples
    --------
    >>> values = [GateValue("kappa", ("a",), 0.7, "a"), GateValue("kappa", ("b",), 0.8, "b")]
    >>> check_gates(read_gates(["kappa>=0.6"]), values)
    ('requirement met: kappa>=0.6 (lowest 0.700, a)',)
    """
    failures = [failure for gate in gates for failure in _unmet(gate, values)]
    if failures:
        more = len(failures) - _SHOWN
        raise RequirementUnmetError(
            "; ".join(failures[:_SHOWN]) + (f" (and {more} more)" if more > 0 else "")
        )
    return tuple(_met(gate, _chosen(gate, values)) for gate in gates)


def _read(text: str) -> Gate:
    match = _GATE.match(text)
    if match is None:
        raise InputError(
            f"requirement {text!r} cannot be read: write NAME>=NUMBER, NAME@ATTRIBUTE>=NUMBER or "
            "NAME@JUDGE>=NUMBER, with one of >= <= > <, or NAME@ATTRIBUTE=STATE"
        )
    name, of, sign, limit = match.groups()
    if sign == "=":
        return Gate(text, name, of, sign, limit)
    try:
        return Gate(text, name, of, sign, float(limit))
    except ValueError:
        raise InputError(f"requirement {text!r}: {limit!r} is not a number") from None


def _chosen(gate: Gate, values: Sequence[GateValue]) -> list[GateValue]:
    """The values that a gate is about; there must be one, of the kind that it asks for."""
    named = [found for found in values if found.name == gate.name]
    if not named:
        known = listed(list(dict.fromkeys(found.name for found in values))) or "none"
        raise InputError(
            f"requirement {gate.text!r}: there is no number {gate.name!r} (known: {known})"
        )
    chosen = [
        found for found in named if gate.of in found.of or (gate.of is None and not found.apart)
    ]
    if not chosen:
        known = listed(list(dict.fromkeys(one for found in named for one in found.of)))
        raise InputError(f"requirement {gate.text!r}: no result for {gate.of!r} (known: {known})")
    state = isinstance(chosen[0].value, str)
    if state != isinstance(gate.limit, str):
        asked = "a state takes =" if state else "a number takes >= <= > or <"
        raise InputError(f"requirement {gate.text!r} cannot be read: {asked}")
    return chosen


def _met(gate: Gate, chosen: Sequence[GateValue]) -> str:
    if isinstance(gate.limit, str):
        return f"requirement met: {gate.text} ({len(chosen)} of {len(chosen)})"
    word, nearest = ("lowest", min) if gate.sign in (">=", ">") else ("highest", max)
    found = nearest(chosen, key=lambda value: float(value.value))
    return f"requirement met: {gate.text} ({word} {float(found.value):.3f}, {found.where})"


def _unmet(gate: Gate, values: Sequence[GateValue]) -> list[str]:
    asked = gate.limit if isinstance(gate.limit, str) else f"{gate.sign} {gate.limit:g}"
    return [
        f"{gate.name} of {found.where} is {_shown(found.value)}, required {asked}"
        for found in _chosen(gate, values)
        if not _holds(gate, found.value)
    ]


def _holds(gate: Gate, value: float | str) -> bool:
    if isinstance(gate.limit, str) or isinstance(value, str):
        return value == gate.limit
    return _COMPARE[gate.sign](value, gate.limit)


def _shown(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return "undefined" if math.isnan(value) else f"{value:.3f}"
