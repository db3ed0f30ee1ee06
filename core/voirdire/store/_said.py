"""All that was read of each reply, beside the scores that stand in the tables."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from voirdire._manager import plugins as loaded_plugins
from voirdire.schema import Reply
from voirdire.store._expected import expect
from voirdire.store._frames import session_study
from voirdire.store._raters import askers, read_replies
from voirdire.store._replies import answered
from voirdire.store._session import read_session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from voirdire._registry import Plugins
    from voirdire.schema import Parsed
    from voirdire.study import Stage

_NOT_ASKED = [Reply("", "error", error="not asked")]


class Said(NamedTuple):
    """One task of one rater in one run, parsed."""

    rater: str
    item: str
    first: str
    second: str
    run: int
    parsed: Parsed


def iterate_parsed(
    folder: str | Path, stage: Stage, plugins: Plugins | None = None
) -> Iterator[Said]:
    """Everything that the raters of a stage said, with flags, reasons and extras.

    Equal replies of a rater are parsed once; a run without a reply is there with status failed.
    """
    study = session_study(folder)
    panel = askers(study, plugins or loaded_plugins())
    with closing(read_session(folder)) as connection:
        for asker in (each for each in panel if each.seat.stage == stage):
            expect(connection, asker.task, study.comparisons)
            known: dict[Any, Parsed] = {}
            for item, first, second, run, kept in answered(connection, asker.seat, asker.runs):
                replies = _NOT_ASKED if kept is None else kept
                key = tuple((reply.text, reply.finish_reason) for reply in replies)
                if key not in known:
                    known[key] = read_replies(asker, replies)
                yield Said(asker.seat.name, item, first, second, run, known[key])
