"""Keys of earlier studies that have another name now, or none: what is said of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.study._model import Study

#: Key -> the key that took its place; empty where nothing did. A study may still hold those that
#: `_model` declares, and its hash counts them; the others are met where the study is read.
RENAMED: Mapping[str, str] = {
    "thresholds.valid_pairs": "margins.cover",
    "thresholds.icc_c": "margins.order",
    "thresholds.icc_a": "margins.agree",
    "thresholds.bias": "margins.bias",
    "thresholds.stability": "margins.run",
    "thresholds.alpha": "",
    "thresholds.bands_spanned": "",
    "thresholds.winning_rate": "",
    "thresholds.min_humans": "",
    "humans.seed": "",
}


def successor(key: str) -> str:
    """What to write for a key, as half a sentence; empty for one that never was.

    >>> successor("thresholds.icc_c")
    'thresholds.icc_c is now margins.order'
    >>> successor("thresholds.alpha")
    'thresholds.alpha has no effect any longer'
    """
    if key not in RENAMED:
        return ""
    new = RENAMED[key]
    return f"{key} is now {new}" if new else f"{key} has no effect any longer"


def without_effect(study: Study) -> tuple[str, ...]:
    """Keys that a study gives, not as they were by default, and that change nothing."""
    return tuple(key for key in RENAMED if _given(study, key.split(".")))


def _given(part: Any, path: list[str]) -> bool:
    *outer, last = path
    for name in outer:
        part = getattr(part, name, None)
    if not isinstance(part, BaseModel) or last not in part.model_fields_set:
        return False
    return bool(getattr(part, last) != type(part).model_fields[last].get_default())
