"""What a run has read of replies, so that its tables read none of them a second time."""

from __future__ import annotations

import hashlib
import pickle
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from voirdire.schema import Parsed, Reply, Status

#: Readings of one rater that are kept, some 400 bytes each; what comes later is read twice.
MOST = 50_000
#: A reply that begins so is an object, which is read faster than its reading is looked up.
_OBJECTS = ("{", "```")

#: Attribute, score, rank, status and flags: what the tables say of a reply.
Row = tuple[str, Any, Any, str, Any]


def seen_by_parsers(replies: Iterable[Reply]) -> Hashable:
    """All that a parser may look at: replies that differ in one of these are parsed apart."""
    return tuple(
        (r.text, r.finish_reason, tuple(r.option_logprobs.items()), r.tool_calls) for r in replies
    )


def rows_of(parsed: Parsed) -> list[Row]:
    """One row an attribute, the flags on the first alone: else they would be counted again."""
    statuses, ranks, status = parsed.statuses, parsed.ranks, parsed.status
    flags: list[dict[str, Any]] | None = [
        {"kind": each.kind, "about": each.about, "count": each.count} for each in parsed.flags
    ]
    rows = list[Row]()
    for attribute, score in parsed.scores.items():
        rows.append(
            (attribute, score, ranks.get(attribute), statuses.get(attribute, status), flags)
        )
        flags = None
    return rows


class ReadOnce:
    """Readings of one rater by what a parser sees of the replies.

    >>> from voirdire.schema import Parsed, Reply
    >>> once = ReadOnce()
    >>> once.keep([Reply("Calm: 4")], Parsed({"calm": 4.0}, "ok"))
    >>> once.recall([Reply("Calm: 4")])
    ('ok', [('calm', 4.0, None, 'ok', [])])
    >>> once.recall([Reply("Calm: 5")]) is None
    True
    """

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: dict[bytes, bytes] = {}

    def keep(self, replies: Sequence[Reply], parsed: Parsed) -> None:
        """Keep what replies in words say, as long as there is room."""
        if len(self._kept) < MOST and _is_worth_it(replies):
            self._kept[_key(replies)] = pickle.dumps((parsed.status, rows_of(parsed)))

    def recall(self, replies: Sequence[Reply]) -> tuple[Status, list[Row]] | None:
        """Status and rows of replies that have been read, or None."""
        if not self._kept or not _is_worth_it(replies):
            return None
        kept = self._kept.get(_key(replies))
        # Written above, in this very process.
        return None if kept is None else pickle.loads(kept)  # noqa: S301


def _is_worth_it(replies: Sequence[Reply]) -> bool:
    return any(not reply.text.startswith(_OBJECTS) for reply in replies)


def _key(replies: Sequence[Reply]) -> bytes:
    seen = repr(seen_by_parsers(replies)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(seen, digest_size=16).digest()
