"""Which columns tell the rows of files apart: by their numbers first, by their names second."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.tables._ids import canonical_ids
from voirdire.tables._names import find, plain_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.tables._files import RawTable

#: Fewer rows than this may rise by chance.
_COUNTS = 6
#: Longer values, or of more words, are texts; an id is looked up and not read.
_LONGEST_ID, _MOST_WORDS = 60, 4
#: Headers of the column that says who filled in a form.
WHO = ("emailaddress", "email", "responseid", "username", "participant", "participantid", "name",
        "respondentid", "prolificid")  # fmt: skip
#: What survey tools say of a whole answer, and of no item.
ABOUT_ANSWERS = ("progress", "finished", "durationinseconds", "locationlatitude", "status",
                  "locationlongitude", "ipaddress", "timestamp", "startdate", "enddate",
                  "recordeddate", "userlanguage", "distributionchannel", "qrecaptchascore",
                  "age", "yearofbirth")  # fmt: skip
#: So many of a column's values must stand in the other files for it to name the same things there.
_SHARED = 0.5


def is_counter(cells: pl.Series) -> bool:
    """Whether a column numbers its rows: whole numbers, each larger than the one above.

    Examples
    --------
    >>> is_counter(pl.Series([1, 2, 3, 4, 6, 7])), is_counter(pl.Series([1, 2, 2, 3, 4, 5]))
    (True, False)
    """
    # Ids of our own tables are categories, which are no numbers to polars.
    plain = cells if cells.dtype.is_numeric() else cells.cast(pl.String)
    numbers = plain.cast(pl.Float64, strict=False)
    if len(numbers) < _COUNTS or numbers.null_count():
        return False
    return bool((numbers == numbers.floor()).all()) and bool(
        (numbers.diff().drop_nulls() > 0).all()
    )


def may_be_id(cells: pl.Series) -> bool:
    """Whether the values of a column may be ids: short texts or whole numbers, none of them blank.

    Examples
    --------
    >>> may_be_id(pl.Series(["T-1", "T-2"])), may_be_id(pl.Series([1.5, 2.0]))
    (True, False)
    """
    if cells.null_count() or len(cells) < 2:
        return False
    if cells.dtype.is_integer():
        return cells.n_unique() > 1
    if cells.dtype.is_float():
        return bool((cells == cells.floor()).all()) and cells.n_unique() > 1
    if cells.dtype != pl.String:
        return False
    values = cells.unique()
    # A CSV file holds numbers as texts: times and costs tell rows apart, and are no ids.
    numbers = values.cast(pl.Float64, strict=False)
    if not numbers.null_count() and bool((numbers != numbers.floor()).any()):
        return False
    short = values.str.len_chars() <= _LONGEST_ID
    few = values.str.strip_chars().str.count_matches(r"\s+") < _MOST_WORDS
    return len(values) > 1 and bool((short & few).all())


def identifies(frame: pl.DataFrame, column: str, beside: Sequence[str] = ()) -> bool:
    """Whether no two rows share a value of the column, together with those of `beside`.

    Examples
    --------
    >>> frame = pl.DataFrame({"ticket": ["a", "a", "b"], "build": [1, 2, 1]})
    >>> identifies(frame, "ticket"), identifies(frame, "ticket", ["build"])
    (False, True)
    """
    if not may_be_id(frame[column]):
        return False
    keys = frame.select(list(dict.fromkeys((column, *beside))))
    return keys.n_unique() == keys.height


def item_of_all(raws: Sequence[RawTable]) -> str | None:
    """The column that names the same things in several files, where a column of numbers that is
    called an id merely counts the rows of each.

    None where no column does, or no counter contradicts it: then names decide.
    """
    frames = [raw.frame for raw in raws]
    if len(frames) < 2:
        return None
    common = [c for c in frames[0].columns if all(c in frame.columns for frame in frames[1:])]
    counters = [c for c in common if all(is_counter(frame[c]) for frame in frames)]
    if not counters:
        return None
    others = [
        c
        for c in common
        if c not in counters and not is_kept(c, frames[0][c]) and _names_the_same(frames, c)
    ]
    named = find("item", others, None, "")
    for other in others if named is None else [named, *others]:
        if any(_contradict(frames, counter, other) for counter in counters):
            return other
    return None


def is_kept(column: str, cells: pl.Series | None = None) -> bool:
    """Whether a header is a usual word for another part than the item: a text, a time, a rater,
    somebody who filled in a form.

    A word for a text, such as `post` or `question`, says nothing over `cells` of single words.
    """
    if plain_word(column) in (*WHO, *ABOUT_ANSWERS):
        return True
    parts = ["rater", "score", "run", "labelled_at", "status"]
    if cells is None or not _single_words(cells):
        parts += ["context", "response", "reason"]
    return any(find(part, [column], None, "") is not None for part in parts)


def _single_words(cells: pl.Series) -> bool:
    return cells.dtype != pl.String or not cells.unique().str.contains(r"\S\s+\S").any()


def _names_the_same(frames: Sequence[pl.DataFrame], column: str) -> bool:
    """Whether a column tells the rows of each file apart, and its values are those of all files."""
    if not all(identifies(frame, column) for frame in frames):
        return False
    first, *rest = [canonical_ids(frame[column]) for frame in frames]
    return all(
        int(first.is_in(ids.implode()).sum()) >= _SHARED * min(len(first), len(ids)) for ids in rest
    )


def _contradict(frames: Sequence[pl.DataFrame], counter: str, other: str) -> bool:
    """Whether a number of the counter stands beside different values of the other column."""
    pairs = [
        pl.DataFrame({"n": frame[counter].cast(pl.Float64), "id": canonical_ids(frame[other])})
        for frame in frames
    ]
    several = pl.concat(pairs).unique().group_by("n").len()
    return bool((several["len"] > 1).any())
