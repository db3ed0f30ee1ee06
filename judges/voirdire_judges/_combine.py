"""What several replies about one task say together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.parsing import worst_status
from voirdire.schema import Parsed, Reply

if TYPE_CHECKING:
    from collections.abc import Sequence


def combined(parts: Sequence[Parsed]) -> Parsed:
    """One `Parsed` of several with different keys; its status is the worst of theirs."""
    if len(parts) == 1:
        return parts[0]
    return Parsed(
        scores={key: value for part in parts for key, value in part.scores.items()},
        status=worst_status(part.status for part in parts),
        statuses={key: value for part in parts for key, value in part.statuses.items()},
        flags=tuple(dict.fromkeys(flag for part in parts for flag in part.flags)),
        extra={"parts": [dict(part.extra) for part in parts]},
        reasons={key: value for part in parts for key, value in part.reasons.items()},
    )


def missing_reply(replies: Sequence[Reply]) -> Reply:
    """What stands for a reply that did not come: none was asked for, or the call failed."""
    return Reply("", "error" if replies else "empty")
