"""`calculate`: arithmetic on floats, read as a tree and never evaluated as code."""

from __future__ import annotations

import ast
import math
import operator
from typing import TYPE_CHECKING, Any

from voirdire.tools import AgentTool

if TYPE_CHECKING:
    from collections.abc import Callable

#: Characters of an expression; a longer one is no sum that a judge needs.
LONGEST = 500
_BINARY: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Pow: math.pow,
}  # fmt: skip
_UNARY: dict[type, Callable[[float], float]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "abs": abs, "min": min, "max": max, "round": round, "sqrt": math.sqrt, "exp": math.exp,
    "log": math.log, "log10": math.log10,
}  # fmt: skip
_NAMES = {"pi": math.pi, "e": math.e}


def calculated(expression: str) -> str:
    """The value of an arithmetic expression.

    All numbers are floats, so that no power of whole numbers grows without end.

    Raises
    ------
    ValueError
        It is no arithmetic, too long, or has no finite value.

    Examples
    --------
    >>> calculated("2 * (3 + 4) ^ 2"), calculated("sqrt(2) / 2")
    ('98', '0.707106781187')
    >>> calculated("__import__('os')")
    Traceback (most recent call last):
    ValueError: only numbers, + - * / // % ^, brackets and abs, ... are understood
    """
    if len(expression) > LONGEST:
        raise ValueError(f"an expression may have {LONGEST} characters, got {len(expression)}")
    try:
        tree = ast.parse(expression.replace("^", "**"), mode="eval").body
        value = _value(tree)
    except (SyntaxError, RecursionError, MemoryError):
        raise ValueError("this is no expression") from None
    except (ZeroDivisionError, OverflowError) as error:
        raise ValueError(str(error)) from None
    if not math.isfinite(value):
        raise ValueError("the value is not finite")
    return f"{value:.12g}"


def _value(node: ast.AST) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Name(id=name) if name in _NAMES:
            return _NAMES[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return float(_BINARY[type(op)](_value(left), _value(right)))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return _UNARY[type(op)](_value(operand))
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as given, keywords=[]):
            if name in _FUNCTIONS:
                return _called(name, [_value(part) for part in given])
    raise ValueError(
        f"only numbers, + - * / // % ^, brackets and {', '.join(_FUNCTIONS)} are understood"
    )


def _called(name: str, given: list[float]) -> float:
    if name == "round" and len(given) == 2:
        return round(given[0], int(given[1]))
    if name in ("min", "max") and len(given) == 1:
        return given[0]
    try:
        return float(_FUNCTIONS[name](*given))
    except TypeError as error:
        raise ValueError(str(error)) from None


def make() -> AgentTool:
    """The tool (`tools = ["calculate"]`)."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"expression": {"type": "string", "description": "such as (3 + 4) * 2"}},
        "required": ["expression"],
    }
    return AgentTool("calculate", "The value of an arithmetic expression.", schema, calculated)
