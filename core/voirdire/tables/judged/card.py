"""The card of a file of labels, preferences or probabilities: its rows, who judged, and what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import listed
from voirdire.tables._tables import finding, plural

if TYPE_CHECKING:
    from voirdire.schema import Finding
    from voirdire.tables._files import RawTable
    from voirdire.tables.judged.frames import ReadJudgements

#: So many raters, labels or systems are named.
_NAMED = 6


def card_of(raw: RawTable, found: ReadJudgements, parts: tuple[str, ...]) -> Finding:
    """What was read of a table, as `tables._card.card` says it of scores.

    Parameters
    ----------
    parts : tuple of str
        The columns that say which unit and who; what holds judgements is named in `reason`.
    """
    raters = found.raters
    if found.questions and found.preferences is not None:  # who claims probabilities of a side too
        raters = tuple(dict.fromkeys((*raters, *found.labels["rater"].unique(maintain_order=True))))
    judges = [name for name in raters if name not in found.people]
    people = [name for name in raters if name in found.people]
    table = found.labels if found.preferences is None else found.preferences
    told = [f"{plural(raw.frame.height, 'row')} = {plural(table['item'].n_unique(), 'item')}"]
    for word, names in (("judge", judges), ("human", people)):
        if names:
            told.append(f"{word if len(names) == 1 else f'{word}s'}: {listed(names, _NAMED)}")
    told += _asked(found)
    unread = [c for c in raw.frame.columns if not _played(c, parts, raters, found.reason)]
    left = f"Not read: {listed(unread)}." if unread else "Every column plays a part."
    return finding(
        "reading", "note", raw.name, [found.reason], f"{'; '.join(told)}.", left,
        count=raw.frame.height,
    )  # fmt: skip


def _asked(found: ReadJudgements) -> list[str]:
    told = []
    for one in found.questions:
        if one.probability:
            told.append(f"probabilities of {one.attribute}")
        else:
            word = "sets of labels" if one.sets else "labels"
            told.append(f"{one.attribute}: {word} {listed(list(one.labels), _NAMED)}")
    if found.preferences is not None:
        pair = found.preferences.select(
            a=pl.min_horizontal("system_a", "system_b"), b=pl.max_horizontal("system_a", "system_b")
        ).unique()
        systems = pl.concat([pair["a"], pair["b"]]).n_unique()
        told.append(f"{plural(systems, 'system')} in {plural(pair.height, 'pair')}")
    return told


def _played(column: str, parts: tuple[str, ...], raters: tuple[str, ...], reason: str) -> bool:
    """Whether a column plays a part: it is named as one, or in why the file is read so, or it
    belongs to a rater.
    """
    return column in parts or repr(column) in reason or any(name in column for name in raters)
