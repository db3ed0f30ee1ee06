"""Gates of any command: `NAME>=NUMBER`, `NAME@WHOM>=NUMBER`, `NAME@WHOM=STATE`, held to values."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Literal

from voirdire.errors import InputError, RequirementUnmetError, listed
from voirdire.late import dataclass, pattern
from voirdire.tabular import Section, Table, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# NAME, then @WHOM up to the sign (names of judges hold blanks, colons and slashes, but none of
# <>=), the sign, and the limit; >= before > since the first that fits is taken.
_GATE = pattern(r"^\s*([\w.+]+)\s*(?:@\s*([^<>=]+?)\s*)?(>=|<=|>|<|=)\s*(.+?)\s*$")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True)
class Requirement:
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


@dataclass(frozen=True, slots=True)
class GateResult:
    """A gate held to values.

    Attributes
    ----------
    state : {"met", "unmet", "unanswered"}
        Unanswered where it asks for what there is not; `said` says what that is.
    said : str
        For a gate that is met, the value that came nearest to its limit.
    failures : tuple of GateValue
        Every value that does not meet it.
    """

    gate: Requirement
    state: Literal["met", "unmet", "unanswered"]
    said: str = ""
    failures: tuple[GateValue, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """``requirement, state, said`` and of each failure ``where, name, value``."""
        return {
            "requirement": self.gate.text,
            "state": self.state,
            "said": self.said,
            "failures": [
                {"where": one.where, "name": one.name, "value": one.value} for one in self.failures
            ],
        }


def read_gates(texts: Sequence[str]) -> tuple[Requirement, ...]:
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


def hold_gates(gates: Sequence[Requirement], values: Sequence[GateValue]) -> tuple[GateResult, ...]:
    """Every gate with every value that does not meet it.

    A gate holds when it holds for every value of its name, or for all that it names behind @. An
    undefined value meets no gate.

    Examples
    --------
    >>> values = [GateValue("kappa", ("a",), 0.7, "a"), GateValue("kappa", ("b",), 0.8, "b")]
    >>> [one.where for one in hold_gates(read_gates(["kappa>=0.9"]), values)[0].failures]
    ['a', 'b']
    """
    return tuple(_held(gate, values) for gate in gates)


def must_hold(held: Sequence[GateResult]) -> tuple[str, ...]:
    """A sentence a gate, where all are met.

    Raises
    ------
    InputError
        A gate names what there is not.
    RequirementUnmetError
        A gate does not hold; `failures` says where, with every value.

    Examples
    --------
    >>> values = [GateValue("kappa", ("a",), 0.7, "a"), GateValue("kappa", ("b",), 0.8, "b")]
    >>> must_hold(hold_gates(read_gates(["kappa>=0.6"]), values))
    ('requirement met: kappa>=0.6 (lowest 0.700, a)',)
    """
    for one in held:
        if one.state == "unanswered":
            raise InputError(one.said)
    failures = [failure for one in held for failure in failure_texts(one)]
    if failures:
        raise RequirementUnmetError(failures)
    return tuple(f"requirement met: {one.gate.text} ({one.said})" for one in held)


def failure_texts(held: GateResult) -> list[str]:
    """A sentence for each value that does not meet a gate."""
    gate = held.gate
    asked = gate.limit if isinstance(gate.limit, str) else f"{gate.sign} {gate.limit:g}"
    return [
        f"{gate.name} of {gate_value.where} is {_shown(gate_value.value)}, required {asked}"
        for gate_value in held.failures
    ]


def gates_section(held: Iterable[GateResult]) -> Section:
    """Every gate, and a row for each value that does not meet it."""
    rows = []
    for one in held:
        if one.state == "unmet":
            rows += [
                (one.gate.text, "no", gate_value.where, _shown(gate_value.value))
                for gate_value in one.failures
            ]
        else:
            met = "yes" if one.state == "met" else "cannot be answered"
            rows.append((one.gate.text, met, one.said, ""))
    columns = ("Requirement", "Met", "Where", "Value")
    return Section("Requirements", "", (Table(tuple(map(text, columns)), tuple(rows)),))


def _read(asked: str) -> Requirement:
    match = _GATE.match(asked)
    if match is None:
        raise InputError(
            f"requirement {asked!r} cannot be read: write NAME>=NUMBER, NAME@ATTRIBUTE>=NUMBER or "
            "NAME@JUDGE>=NUMBER, with one of >= <= > <, or NAME@ATTRIBUTE=STATE"
        )
    name, of, sign, limit = match.groups()
    if sign == "=":
        return Requirement(asked, name, of, sign, limit)
    try:
        return Requirement(asked, name, of, sign, float(limit))
    except ValueError:
        raise InputError(f"requirement {asked!r}: {limit!r} is not a number") from None


def _chosen(gate: Requirement, values: Sequence[GateValue]) -> list[GateValue]:
    """The values that a gate is about; there must be one, of the kind that it asks for."""
    named = [gate_value for gate_value in values if gate_value.name == gate.name]
    if not named:
        names = listed(list(dict.fromkeys(gate_value.name for gate_value in values))) or "none"
        raise InputError(
            f"requirement {gate.text!r}: there is no number {gate.name!r} (known: {names})"
        )
    chosen = [
        gate_value
        for gate_value in named
        if gate.of in gate_value.of or (gate.of is None and not gate_value.apart)
    ]
    if not chosen:
        subjects = listed(list(dict.fromkeys(one for gate_value in named for one in gate_value.of)))
        raise InputError(
            f"requirement {gate.text!r}: no result for {gate.of!r} (known: {subjects})"
        )
    # Values of one name are all numbers or all states.
    state = isinstance(chosen[0].value, str)
    if state != isinstance(gate.limit, str):
        asked = "a state takes =" if state else "a number takes >= <= > or <"
        raise InputError(f"requirement {gate.text!r} cannot be read: {asked}")
    return chosen


def _held(gate: Requirement, values: Sequence[GateValue]) -> GateResult:
    try:
        chosen = _chosen(gate, values)
    except InputError as error:
        return GateResult(gate, "unanswered", str(error))
    failures = tuple(gate_value for gate_value in chosen if not _holds(gate, gate_value.value))
    if failures:
        return GateResult(gate, "unmet", failures=failures)
    return GateResult(gate, "met", _nearest(gate, chosen))


def _nearest(gate: Requirement, chosen: Sequence[GateValue]) -> str:
    """The value of a met gate that came nearest to its limit."""
    if isinstance(gate.limit, str):
        return f"{len(chosen)} of {len(chosen)}"
    word, nearest = ("lowest", min) if gate.sign in (">=", ">") else ("highest", max)
    # Of all that hold the one that would fail first.
    gate_value = nearest(chosen, key=lambda value: float(value.value))
    return f"{word} {float(gate_value.value):.3f}, {gate_value.where}"


def _holds(gate: Requirement, value: float | str) -> bool:
    if isinstance(gate.limit, str) or isinstance(value, str):
        return value == gate.limit
    return _COMPARE[gate.sign](value, gate.limit)


def _shown(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return "undefined" if math.isnan(value) else f"{value:.3f}"
