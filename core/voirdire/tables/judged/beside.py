"""Labels of people in a file of their own, put beside the judges' labels as further columns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire.errors import check_columns
from voirdire.tables._files import read_raw
from voirdire.tables._ids import canonical_ids
from voirdire.tables._keys import identifies
from voirdire.tables._names import find, holds_labels
from voirdire.tables._tables import FACTS
from voirdire.tables.judged.label_columns import label_columns

if TYPE_CHECKING:
    import polars as pl

    from voirdire.study import ReadOptions
    from voirdire.tables._files import RawTable

#: What the key is called while two files are put together.
_KEY = "#key"


def with_people(
    raw: RawTable, read: ReadOptions
) -> tuple[RawTable, ReadOptions, tuple[str, ...]] | None:
    r"""The table with a column for each person of the files of `read.human`, how it is read, and
    who they are; None where these files hold scores, or no one column names the rows of all.

    Raises
    ------
    TableError
        A key names a column that is not there.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> from voirdire.study import ReadOptions
    >>> from voirdire.tables._files._raw import build
    >>> path = Path(tempfile.mkdtemp()) / "ann.csv"
    >>> rows = [f"{at},{word}" for at, word in enumerate(["mild", "grave", "mild"] * 3)]
    >>> _ = path.write_text("\n".join(["id,label", *rows]))
    >>> judged = pl.Series(["mild", "mild", "grave"] * 3)
    >>> raw = build("judged.csv", ["id", "gpt"], [pl.Series(range(9)), judged])
    >>> table, _, people = with_people(raw, ReadOptions(human=(path,)))
    >>> people, table.frame.columns
    (('ann',), ['id', 'gpt', 'ann'])
    """
    frame = raw.frame
    people: list[str] = []
    item = read.item
    for path in map(Path, read.human):
        theirs = read_raw(path, sheet=read.sheet)
        mine, own = _keys(raw, theirs, read)
        if mine is None or own is None or (item is not None and item != mine):
            return None
        item = mine
        found = _columns(theirs, read, own)
        if found is None:
            return None
        said, names = found
        keyed = said.with_columns(canonical_ids(said[own]).alias(_KEY)).drop(own)
        twice = {c: f"{path.stem} {c}" for c in keyed.columns if c in frame.columns}
        keyed, names = keyed.rename(twice), [twice.get(name, name) for name in names]
        frame = frame.with_columns(canonical_ids(frame[mine]).alias(_KEY))
        frame = frame.join(keyed, on=_KEY, how="left", maintain_order="left").drop(_KEY)
        people += names
    headers = {name: raw.headers.get(name, name) for name in frame.columns}
    table = replace(raw, frame=frame, headers=headers)
    return table, read.with_(item=item, human=(), key=None), tuple(people)


def _keys(raw: RawTable, theirs: RawTable, read: ReadOptions) -> tuple[str | None, str | None]:
    """The columns by which both files name their rows: declared, or the one that they share."""
    if read.key:
        own, _, mine = read.key.partition("=")
        check_columns(theirs.name, (own,), theirs.frame.columns, "--key names the column of labels")
        mine = mine or own
        if mine not in raw.frame.columns:
            return None, None
        return mine, own
    shared = [
        c for c in raw.frame.columns if c in theirs.frame.columns and identifies(raw.frame, c)
    ]
    called = find("item", shared, None, raw.name) or next(iter(shared), None)
    return called, called


def _columns(
    theirs: RawTable, read: ReadOptions, key: str
) -> tuple[pl.DataFrame, list[str]] | None:
    """A row an item and a column a person, and these columns, where the file holds labels."""
    frame = theirs.frame
    found = [c.name for c in label_columns(theirs, read, [c for c in frame.columns if c != key])]
    rater = find("rater", frame.columns, None, theirs.name)
    stem = Path(theirs.name).stem
    if rater is not None and rater != key:
        labels = [c for c in found if c != rater]
        if len(labels) != 1 or not identifies(frame, key, [rater]):
            return None
        wide = frame.pivot(rater, index=key, values=labels[0], maintain_order=True)
        return wide, wide.columns[1:]
    called = [c for c in found if holds_labels(c)] or found
    if not called or not identifies(frame, key):
        return None
    named = {called[0]: stem} if len(called) == 1 else {}
    facts = (find(fact, frame.columns, None, theirs.name) for fact in FACTS)
    about = [c for c in facts if c is not None and c not in (key, *called)]
    return frame.select(key, *called, *about).rename(named), [named.get(c, c) for c in called]
