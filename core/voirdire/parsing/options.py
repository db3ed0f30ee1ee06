"""The options of a question, in the forms in which files hold them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from string import ascii_uppercase
from typing import Any

_TEXTS, _LABELS = ("text", "texts"), ("label", "labels")


def read_options(given: Any) -> dict[str, str]:
    """Label -> text of the options, in order; empty where it holds none that can be told.

    Parameters
    ----------
    given
        A list of texts (labelled A, B, ...); label -> text; a list of ``{"label", "text"}``, or
        two lists under these names; any of it as JSON; or a text with an option a line. Labels
        that are all letters or all numbers are put in their order. Options that are empty at the
        end are none; one that is empty before it, two labels that are equal, and texts that are
        themselves lists cannot be told.

    Examples
    --------
    >>> read_options(["Oak", "Apple"])
    {'A': 'Oak', 'B': 'Apple'}
    >>> read_options('{"2": "Apple", "10": "Pear", "1": "Oak", "11": null}')
    {'1': 'Oak', '2': 'Apple', '10': 'Pear'}
    >>> read_options({"text": ["Oak", "Apple"], "label": ["1", "2"]})
    {'1': 'Oak', '2': 'Apple'}
    >>> read_options([["Oak"], ["Apple"]])
    {}
    """
    pairs = [(_plain(label), _plain(text)) for label, text in _ordered(_pairs(_decoded(given)))]
    while pairs and pairs[-1][1] == "":
        pairs.pop()
    options = {label: text for label, text in pairs if label and text}
    return options if len(options) == len(pairs) else {}


def _decoded(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return [line for line in given.splitlines() if line.strip()]


def _pairs(given: Any) -> list[tuple[Any, Any]]:
    if isinstance(given, Mapping):
        labels, texts = _under(given, _LABELS), _under(given, _TEXTS)
        if isinstance(labels, list) and isinstance(texts, list):
            return list(zip(labels, texts, strict=True)) if len(labels) == len(texts) else []
        return list(given.items())
    if not isinstance(given, list | tuple):
        return []
    if given and all(isinstance(one, Mapping) for one in given):
        return [(_under(one, _LABELS), _under(one, _TEXTS)) for one in given]
    # As questions are printed; beyond 26 by their numbers.
    labels = [*ascii_uppercase, *map(str, range(27, len(given) + 1))]
    return list(zip(labels, given, strict=False))


def _under(given: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((given[name] for name in names if name in given), None)


def _ordered(pairs: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    names = [str(label).strip() for label, _ in pairs]
    if all(name.isdecimal() for name in names):
        return sorted(pairs, key=lambda pair: int(str(pair[0])))
    if all(len(name) == 1 and name.isalpha() for name in names):
        return sorted(pairs, key=lambda pair: str(pair[0]).strip().casefold())
    return pairs


def _plain(value: Any) -> str | None:
    """A cell as text; None for what is none."""
    if isinstance(value, float):
        return "" if math.isnan(value) else format(value, ".10g")
    if value is None:
        return ""
    return str(value).strip() if isinstance(value, str | int) else None
