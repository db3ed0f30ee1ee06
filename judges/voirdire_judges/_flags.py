"""Observations added to what was parsed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from voirdire_judges.prompts._echo import echoes_orders, rows_with_orders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Parsed


def flagged(parsed: Parsed, *flags: str) -> Parsed:
    """The same with further flags."""
    return replace(parsed, flags=(*parsed.flags, *flags)) if flags else parsed


def echo_flags(reply: str) -> tuple[str, ...]:
    """A flag for each phrase by which a reply heeds orders of the text it judges."""
    return tuple(f"echoes_orders:{phrase}" for phrase in echoes_orders(reply))


def echoing(replies: Sequence[str]) -> dict[int, tuple[str, ...]]:
    """`echo_flags` of many replies, by the index of those that have any."""
    found = {row: echo_flags(replies[row]) for row in rows_with_orders(replies)}
    return {row: flags for row, flags in found.items() if flags}
