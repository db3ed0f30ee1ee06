"""Records that hold objects: each part of them a column, each rating of a list of them a row."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import listed
from voirdire.tables._files._raw import build
from voirdire.tables._keys import may_be_id
from voirdire.tables._names import find, is_human, kind_of
from voirdire.tables._tables import finding, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from voirdire.study import TableKeys
    from voirdire.tables._files import RawTable

#: Between the names of an object and of its part, as pandas and exports write it.
_DOT = "."


def opened_up(raw: RawTable, read: TableKeys, named: Sequence[str]) -> RawTable:
    """The table with a column for each part of its objects, where what is needed is within them.

    Objects stay whole where they are named as replies or texts, where nobody named a rater
    (`named`), and where raters and ids stand next to them. A list of objects in which these stand,
    or a usual word for a rater, is a row for each of them, whether or not anybody is named. Parts
    of objects that are called as a rater is are columns of that name.

    Examples
    --------
    >>> from voirdire.study import Source
    >>> from voirdire.tables._files._raw import build
    >>> cells = ['{"human": 4, "llm": 5}', '{"human": 2, "llm": 2}']
    >>> raw = build("r.json", ["id", "scores"], [pl.Series(["a", "b"]), pl.Series(cells)])
    >>> raw = replace(raw, nested=frozenset({"scores"}))
    >>> opened_up(raw, Source(path="r.json"), ["human"]).frame.columns
    ['id', 'human', 'llm']
    """
    texts = {read.context, read.response, read.reason}
    names = [c for c in raw.frame.columns if c in raw.nested and c not in texts]
    if not names or read.layout == "replies" or read.columns or read.prefix:
        return raw
    beside = [c for c in raw.frame.columns if c not in names]
    if _suffices(raw, beside, named):
        return raw
    records = [
        {c: _value(cell) if c in names else cell for c, cell in row.items()}
        for row in raw.frame.iter_rows(named=True)
    ]
    key = _list_of_ratings(records, named)
    if not named and (key is None or find("rater", beside, None, raw.name)):
        return raw
    if key is not None:
        records = _with_raters_beside(records, key, beside)
    rows = [(at, part) for at, record in enumerate(records) for part in _rows(record, key)]
    flat = [dict(_leaves(part)) for _, part in rows]
    paths = list(dict.fromkeys(path for row in flat for path in row))
    words = {word for path in paths for word in (path, *path.split(_DOT))}
    said = words.union(v for row in flat for v in row.values() if isinstance(v, str))
    if named and not set(named) & said:
        return raw
    called = _called(paths, named)
    columns = [_column(row.get(path) for row in flat) for path in paths]
    more = len(rows) > raw.frame.height
    several = f", and {plural(raw.frame.height, 'record')} are {len(rows):,} rows" if more else ""
    note = finding(
        "objects_opened",
        "note",
        raw.name,
        names,
        f"Objects under {listed(names)} were opened: each part of them is a column{several}.",
        "Where an object is what a judge replied, say --layout replies.",
    )
    made = build(
        raw.name,
        [called[path] for path in paths],
        columns,
        lines=raw.numbers().gather([at for at, _ in rows]),
        unit=raw.unit,
        findings=(*raw.findings, note),
    )
    return replace(made, sheets=raw.sheets, size=raw.size, unread=raw.unread)


def shortly_called(raw: RawTable, named: Sequence[str]) -> RawTable:
    """The table whose columns are called as raters are where their headers end so, and with them
    the others that begin alike: ``feedback.human`` and ``feedback.helpfulness``.
    """
    columns = raw.frame.columns
    called = _called(columns, [name for name in named if name not in columns])
    changed = {old: new for old, new in called.items() if old != new}
    if not changed:
        return raw
    heads = {called[c]: raw.headers.get(c, c) for c in columns}
    nested = frozenset(called.get(c, c) for c in raw.nested)
    return replace(raw, frame=raw.frame.rename(changed), headers=heads, nested=nested)


def _suffices(raw: RawTable, beside: Sequence[str], named: Sequence[str]) -> bool:
    """Whether raters that are known stand next to the objects, and ids as well."""
    frame = raw.frame
    known = set(beside).union(
        *(frame[c].unique().to_list() for c in beside if frame[c].dtype == pl.String)
    )
    ids = find("item", beside, None, raw.name) or [c for c in beside if may_be_id(frame[c])]
    return bool(set(named) & known and ids)


def _value(cell: str | None) -> Any:
    """What a cell of JSON holds."""
    if not isinstance(cell, str) or cell[:1] not in ("{", "["):
        return cell
    try:
        return json.loads(cell)
    except ValueError:
        return cell


def _list_of_ratings(records: Sequence[Mapping[str, Any]], named: Sequence[str]) -> str | None:
    """The part of the records that is a list of ratings, if one is."""
    for record in records:
        for key, value in record.items():
            if isinstance(value, list) and any(_is_rating(one, named) for one in value):
                return key
    return None


def _is_rating(value: object, named: Sequence[str]) -> bool:
    """Whether an object says who rated: a name that is known, or a usual word for it."""
    if not isinstance(value, dict):
        return False
    texts = {part for part in value.values() if isinstance(part, str)}
    return bool(texts & set(named)) or find("rater", list(value), None, "") is not None


def _with_raters_beside(
    records: Sequence[Mapping[str, Any]], key: str, beside: Sequence[str]
) -> list[dict[str, Any]]:
    """The records, their lists also holding what stands next to them in the same words.

    So it is where people's labels are a list, and the prediction of a model a part of its own.
    """
    objects = [
        one
        for record in records
        if isinstance(within := record.get(key), list)
        for one in within
        if isinstance(one, dict)
    ]
    rater = find("rater", list({name: None for one in objects for name in one}), None, "")
    said: dict[str, set[str]] = {}
    for one in objects:
        for name, value in one.items():
            if name != rater and isinstance(value, str):
                said.setdefault(name, set()).add(value)
    own = {}
    for column in beside:
        words = [record.get(column) for record in records]
        texts = {word for word in words if isinstance(word, str)}
        alike = [name for name, known in said.items() if 2 * len(texts & known) >= len(texts) > 1]
        if rater is not None and alike:
            own[column] = alike[0]
    if not own:
        return [dict(record) for record in records]
    # Below `worker` everybody would be a person: what is next to the list is none of its raters,
    # and may be a judge under any name.
    unknown = any(kind_of(column) is None for column in own)
    who = "rater" if unknown and rater is not None and is_human(rater) else rater
    made = []
    for record in records:
        within = record.get(key)
        listed_ = [
            {who if name == rater else name: cell for name, cell in one.items()}
            for one in (within if isinstance(within, list) else ())
            if isinstance(one, dict)
        ]
        listed_ += [
            {who: column, name: record[column]}
            for column, name in own.items()
            if record.get(column) is not None
        ]
        rest = {name: cell for name, cell in record.items() if name not in own}
        made.append({**rest, key: listed_})
    return made


def _rows(record: Mapping[str, Any], key: str | None) -> list[dict[str, Any]]:
    """A record, once for each object in its list of ratings."""
    within = record.get(key) if key is not None else None
    if not isinstance(within, list):
        return [dict(record)]
    rest = {name: cell for name, cell in record.items() if name != key}
    return [
        rest | {f"{key}{_DOT}{part}" if part in rest else part: cell for part, cell in one.items()}
        for one in within
        if isinstance(one, dict)
    ]


def _leaves(value: Mapping[str, Any], path: str = "") -> Iterable[tuple[str, Any]]:
    """Every part of an object that is none itself, under the names that lead to it."""
    for name, part in value.items():
        at = f"{path}{_DOT}{name}" if path else name
        if isinstance(part, dict):
            yield from _leaves(part, at)
        else:
            yield at, part


def _called(paths: Sequence[str], named: Sequence[str]) -> dict[str, str]:
    """What each part is called: ``ratings.ada.score`` is ``ada`` where a rater is called so, and
    so are the others of its object; each other part by its whole path.
    """
    called = {path: path for path in paths}
    for name in named:
        within = [p.split(_DOT) for p in paths if name in p.split(_DOT)]
        if name in paths or not within:
            continue
        before = within[0][: within[0].index(name)]
        if len({tuple(p[: p.index(name)]) for p in within}) > 1 and _alike(paths, within, name):
            continue  # the same within each of several objects: these are systems or attributes
        own = [p for p in paths if p.split(_DOT)[: len(before)] == before]
        rest = {p: p.split(_DOT)[len(before) :] for p in own}
        # `score` below each of them says nothing of its own.
        ends = {tuple(parts[1:]) for parts in rest.values()}
        short = {p: parts[0] if len(ends) == 1 else _DOT.join(parts) for p, parts in rest.items()}
        others = {c for p, c in called.items() if p not in short}
        if len(set(short.values())) == len(short) and not others & set(short.values()):
            called |= short
    return called


def _alike(paths: Sequence[str], within: Sequence[list[str]], name: str) -> bool:
    """Whether the objects in which a rater is named hold the same parts."""
    inside = set()
    for parts in within:
        start = _DOT.join(parts[: parts.index(name)]) + _DOT
        inside.add(frozenset(p.removeprefix(start) for p in paths if p.startswith(start)))
    return len(inside) == 1


def _column(values: Iterable[Any]) -> pl.Series:
    """Numbers as numbers where all are, else texts; a list as JSON."""
    cells = list(values)
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {bool} or kinds <= {int} or kinds <= {int, float}:
        return pl.Series(cells, dtype=pl.Float64 if float in kinds else None, strict=False)
    return pl.Series(
        [
            c if c is None or isinstance(c, str) else json.dumps(c, ensure_ascii=False)
            for c in cells
        ],
        dtype=pl.String,
    )
