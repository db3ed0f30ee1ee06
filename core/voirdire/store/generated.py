"""Generated replies become responses that judges can be asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.errors import StudyError
from voirdire.schema import Response
from voirdire.store.raters import read_response
from voirdire.store.replies import answered
from voirdire.store.subjects import take_responses
from voirdire.store.tasks import expect
from voirdire.study import Comparisons

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from voirdire.store.raters import Asker


def keep_generated(connection: sqlite3.Connection, generators: Iterable[Asker]) -> None:
    """Take what generators have said into the session's responses.

    Raises
    ------
    StudyError
        A generator has the name of a system whose responses come from the file.
    """
    made = [asker for asker in generators if asker.id.stage == "generate"]
    if not made:
        return
    sql = "SELECT DISTINCT system FROM responses WHERE present = 1 AND origin = 'file'"
    taken = {row[0] for row in connection.execute(sql)} & {asker.id.name for asker in made}
    if taken:
        raise StudyError(f"generators {sorted(taken)}: [responses] holds systems of these names")
    take_responses(connection, _responses(connection, made), "generated")


def _responses(connection: sqlite3.Connection, made: Iterable[Asker]) -> Iterator[Response]:
    for asker in made:
        expect(connection, "item", Comparisons())
        for item, _, _, _, replies, *_ in answered(connection, asker.id, 1):
            if replies and replies[-1].finish_reason not in ("error", "content_filter"):
                _, text = read_response(asker, replies, item)
                if text.strip():
                    yield Response(item, asker.id.name, text)
