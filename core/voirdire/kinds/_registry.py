"""The kinds there are; a further one is a file of its own and one name in this line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.kinds.label import LABEL
from voirdire.kinds.score import SCORE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.kinds._column import Cells
    from voirdire.kinds._kind import JudgementKind, Recognised

#: Word of a kind in columns, commands and JSON -> the kind.
KINDS: Mapping[str, JudgementKind[Any]] = {kind.name: kind for kind in (SCORE, LABEL)}


def recognised(cells: Cells) -> dict[str, Recognised[Any]]:
    """What a column may hold, by kind: none, one, or several, of which somebody has to choose.

    >>> from voirdire.kinds import Cells
    >>> list(recognised(Cells("label", ("positive", "neutral"), (30, 12))))
    ['label']
    >>> list(recognised(Cells("stars", ("1", "2", "4.5"), (30, 12, 9))))
    ['score']
    """
    read = {name: kind.recognise(cells) for name, kind in KINDS.items()}
    return {name: reading for name, reading in read.items() if reading is not None}
