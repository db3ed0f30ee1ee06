"""Observations added to what was parsed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from voirdire.schema import Flag
from voirdire_judges.prompts._echo import echoes_orders, rows_with_orders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Parsed


def flagged(parsed: Parsed, *flags: Flag) -> Parsed:
    """The same with further flags."""
    return replace(parsed, flags=(*parsed.flags, *flags)) if flags else parsed


def echo_flags(reply: str) -> tuple[Flag, ...]:
    """A flag for each phrase by which a reply heeds orders of the text it judges."""
    return tuple(Flag("echoes_orders", phrase) for phrase in echoes_orders(reply))


def echoing(replies: Sequence[str]) -> dict[int, tuple[Flag, ...]]:
    """`echo_flags` of many replies, by the index of those that have any."""
    found = {row: echo_flags(replies[row]) for row in rows_with_orders(replies)}
    return {row: flags for row, flags in found.items() if flags}
