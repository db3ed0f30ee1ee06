"""Frozen results as plain types that JSON and tables can hold."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """Dicts, lists, numbers, text and None; what is undefined or infinite becomes None.

    >>> plain({"a": float("nan"), "b": (1, 2.5)})
    {'a': None, 'b': [1, 2.5]}
    """
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {part.name: plain(getattr(value, part.name)) for part in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(part) for part in value]
    return _scalar(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def number(value: Any, digits: int = 3) -> str:
    """A number for a table's cell; a dash where it is undefined, and no minus before a zero.

    >>> number(0.8809), number(float("nan")), number(None), number(1200), number(-0.0002)
    ('0.881', '–', '–', '1200', '0.000')
    """
    if hasattr(value, "item"):  # of NumPy
        value = value.item()
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    return str(value) if isinstance(value, int | str) else _minus(f"{value:z.{digits}f}")


def signed(value: float, digits: int = 3) -> str:
    """A difference with its sign.

    >>> signed(0.248), signed(-0.1), signed(-0.0002), signed(float("nan"))
    ('+0.248', '−0.100', '+0.000', '–')
    """
    return _minus(f"{value:+z.{digits}f}") if math.isfinite(value) else "–"


def span(low: float, high: float, digits: int = 3) -> str:
    """An interval for a table's cell.

    >>> span(-0.02, 0.98)
    '[−0.020, 0.980]'
    """
    return f"[{number(low, digits)}, {number(high, digits)}]"


def _minus(digits: str) -> str:
    return digits.replace("-", "−")


def share(value: float) -> str:
    """A share in per cent, rounded, but not up to 100.

    >>> share(0.0417), share(0.9996), share(1.0)
    ('4.2 %', '99.9 %', '100.0 %')
    """
    if not math.isfinite(value):
        return "–"
    return f"{min(value, 0.999) if value < 1 else value:.1%}".replace("%", " %")


def brief(text: str, most: int = 80) -> str:
    """A name or sentence, cut where no page could hold it; files of numbers hold it whole.

    >>> brief("o4-mini"), brief("a name beyond all measure", 10)
    ('o4-mini', 'a name be…')
    """
    return text if len(text) <= most else text[: most - 1] + "…"
