"""A Study written as TOML, for people to edit and for sessions to keep."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.study._model import Study


def study_to_toml(study: Study) -> str:
    """The study as TOML, but for what was left to defaults; `load_study` reads the same study.

    Examples
    --------
    >>> from voirdire.study import build_study
    >>> print(study_to_toml(build_study({"name": "calm", "panel": [{"name": "a", "runs": 3}]})))
    name = "calm"
    <BLANKLINE>
    [[panel]]
    name = "a"
    runs = 3
    """
    return to_toml(study.model_dump(mode="json", exclude_unset=True, exclude_none=True))


def to_toml(plain: Mapping[str, Any]) -> str:
    """Plain values as TOML: values, then tables, then those inside them on one line each.

    Examples
    --------
    >>> print(to_toml({"a": float("nan"), "b": [{"c": [1.0, 2]}]}))
    a = nan
    <BLANKLINE>
    [[b]]
    c = [1.0, 2]
    """
    blocks = [_block("", {key: value for key, value in plain.items() if not _is_table(value)})]
    for key, value in plain.items():
        if _is_table(value):
            parts = value if isinstance(value, list | tuple) else [value]
            head = f"[[{_key(key)}]]\n" if isinstance(value, list | tuple) else f"[{_key(key)}]\n"
            blocks += [_block(head, part) for part in parts]
    return "\n".join(blocks)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list | tuple)
        and bool(value)
        and all(isinstance(part, dict) for part in value)
    )


def _block(head: str, values: dict[str, Any]) -> str:
    return head + "".join(f"{_key(key)} = {_value(value)}\n" for key, value in _given(values))


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in _given(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # nan, inf and -inf, as TOML writes them
    # A JSON string is a TOML string, but for one control character that JSON leaves bare.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _given(values: dict[str, Any]) -> list[tuple[str, Any]]:
    """What is not None: TOML has no null, and what is left out is null."""
    return [(key, value) for key, value in values.items() if value is not None]


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else json.dumps(name, ensure_ascii=False)
