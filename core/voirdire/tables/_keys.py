"""Which columns tell the rows of files apart: by their numbers first, by their names second."""

from __future__ import annotations

import json
import re
import unicodedata
from math import prod
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, listed
from voirdire.late import pattern
from voirdire.tables._names import find, is_model, measures, names_rater, plain_word
from voirdire.tables._rated import all_different

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.study import Source
    from voirdire.tables._files import RawTable

#: Of a long column so many rows are looked at first: they mostly say that it is no counter.
_LOOKED_AT = 1_000
#: How far an approximate count of values may be off.
_ABOUT = 1.2
#: Fewer rows than this may rise by chance.
_COUNTS = 6
#: Longer values, or of more words, are texts; an id is looked up and not read.
_LONGEST_ID, _MOST_WORDS = 60, 4
#: Headers of the column that says who filled in a form.
WHO = (
    "emailaddress",
    "email",
    "responseid",
    "username",
    "participant",
    "participantid",
    "name",
    "respondentid",
    "prolificid",
)
#: What survey tools say of a whole answer, and of no item.
ABOUT_ANSWERS = ("progress", "finished", "durationinseconds", "locationlatitude", "status",
                  "locationlongitude", "ipaddress", "timestamp", "startdate", "enddate",
                  "recordeddate", "userlanguage", "distributionchannel", "qrecaptchascore",
                  "age", "yearofbirth")  # fmt: skip
#: A day with its time: it tells rows apart, and names nothing that was judged.
_MOMENT = r"^\s*\d{1,4}[-./]\d{1,2}[-./]\d{1,4}[T ,]+\d{1,2}:\d{2}"
#: A column that tells the rows of an item apart has at most so many values.
MOST_SYSTEMS = 60
#: So many of the pairs of item and system must be there for one to be crossed with the other.
_CROSSED = 0.75
#: Headers over what answered, and over what of an answer was judged; where neither speaks, it is
#: asked which of both a column is.
SYSTEMS = pattern(
    r"system|model|release|build|version|variant|deploy|engine|(?:^|[_ ])arm(?:$|[_ ])|candidate"
    r"|commit|(?:^|[_ ])bot|provider|checkpoint|experiment|config|agent|branch|treatment|retriever"
    r"|solver|pipeline|workflow|assistant|strategy|approach|method|policy|(?:^|[_ ])app(?:$|[_ ])"
    r"|ranker|embedder|translator|modell|versie|modèle|modelo",
    re.IGNORECASE,
)


#: Names that only versions and families of models have: 1.4, v2, 2026.1, a commit, a model's name.
_VERSION = pattern(r"v?\d+(?:\.\d+)+(?:[-+ ]?\w+)?|v\d+|(?=\w*\d)[0-9a-f]{7,40}", re.IGNORECASE)


def says_system(header: str) -> bool:
    """Whether a header speaks of what answered, accents or not.

    >>> says_system("Versión"), says_system("build"), says_system("Groupe")
    (True, True, False)
    """
    plain = "".join(
        c for c in unicodedata.normalize("NFKD", header) if not unicodedata.combining(c)
    )
    return SYSTEMS.search(plain) is not None


#: A number at the end of a name.
_NUMBERED = re.compile(r"[\s_.-]+\d+$")


def are_versions(cells: pl.Series) -> bool:
    """Whether each value of a column can only be a version or a model: nothing was judged by it.

    >>> are_versions(pl.Series(["1.4", "1.5"])), are_versions(pl.Series(["tone", "clarity"]))
    (True, False)
    """
    values = cells.drop_nulls().unique().cast(pl.String).to_list()
    # `Bot 3` and `Bot 4`: one word for a system, and its numbers.
    bare = {_NUMBERED.sub("", value.strip()) for value in values}
    numbered = len(values) > 1 == len(bare) and says_system(next(iter(bare)))
    return numbered or (
        bool(values) and all(_VERSION.fullmatch(v.strip()) or is_model(v) for v in values)
    )


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
    measured = not numbers.null_count() and bool((numbers != numbers.floor()).any())
    if measured or values.str.contains(_MOMENT).all():
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
    most = prod(_ABOUT * _about(frame, c) for c in (column, *beside))
    if most < frame.height or not may_be_id(frame[column]):
        return False
    keys = frame.select(list(dict.fromkeys((column, *beside))))
    # A few rows say so of most columns that do not.
    return all_different(keys.head(_LOOKED_AT)) and all_different(keys)


def _about(frame: pl.DataFrame, column: str) -> int:
    """About how many values a column has."""
    return int(frame.select(pl.col(column).approx_n_unique()).item())


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
    """Whether cells hold single words, a number behind them or not: `Question 12`."""
    if cells.dtype != pl.String:
        return True
    bare = cells.unique().str.replace(r"\s+#?\d+\s*$", "")
    return not bare.str.contains(r"\S\s+\S").any()


def keys_of(
    raw: RawTable,
    source: Source,
    free: Sequence[str],
    beside: Sequence[str],
    *,
    attributes: bool = False,
) -> tuple[str, str | None] | None:
    """The columns of items and of systems, which tell rows apart with those of `beside`;
    `attributes`: what is judged is said elsewhere, so that none of them says it.

    Single columns first, then pairs: a pair where each item has several systems, and each system
    several items. Two that part the rows alike give the same numbers, and the first is taken.

    Raises
    ------
    QuestionError
        Two columns part the rows differently, and nobody said which is meant.
    """
    frame = raw.frame
    item, system = source.item, source.system
    if item is not None and system is not None:
        return item, system
    able = [c for c in free if not is_kept(c, frame[c]) and may_be_id(frame[c])]
    called = find("item", free, None, raw.name)
    counters = [c for c in able if is_counter(frame[c])]
    able = [c for c in able if c not in counters and not is_measured(frame[c])]
    # Small numbers, and a rater's, tell the rows of a short file apart by chance.
    able = [c for c in able if not may_be_scores(frame[c])] or able
    items = [item] if item is not None else [called] if called is not None else able
    # Where both are called as usual nothing need be counted: equal keys are found later.
    usual = find("system", [c for c in free if c != called], None, raw.name)
    # A file of one system's answers: its name stands in each row.
    one = system if system in frame.columns and frame[system].n_unique() == 1 else None
    alone = [c for c in items if identifies(frame, c, beside)] if system in (None, one) else []
    usual = _names_systems(frame, usual) if called and not (system or alone) else None
    if called is not None and usual is not None:
        return item or called, usual
    pairs = _crossed_whole(raw, able, alone, beside) if item is None else []
    if alone and not pairs:
        alone = list(_without_places(raw, source, alone, beside))
        # Where the item is enough, numbers under `model` are a judge's scores.
        rest = [c for c in free if c not in alone and not may_be_scores(frame[c])]
        return alone[0], one or _names_systems(frame, find("system", rest, None, raw.name))
    pairs = pairs or [
        (one, other)
        for one in items
        for other in ([system] if system is not None else [*able, *_versions(frame, free, able)])
        if one != other and _crossed(frame, one, other, beside)
    ]
    if not pairs and item is not None and system is None and not alone:
        # Of a named item anything that tells its rows apart is asked about.
        rest = [c for c in able if frame[c].n_unique() <= MOST_SYSTEMS and c != item]
        pairs = [(item, c) for c in rest if identifies(frame, item, (c, *beside))]
    if not pairs and system is None:
        pairs = _whole_by_numbers(raw, items, [c for c in free if c not in able], beside)
    if pairs:
        first = _first_pair(raw, source, pairs, named=item is not None)
        if not attributes:
            _ask_what_it_is(raw, source, first)
        return first
    if item is None and called is not None:
        item = called
    if item is not None:
        known = find("system", [c for c in free if c != item], None, raw.name)
        return item, system or _names_systems(frame, known)
    texts = [c for c in free if _tells_by_text(frame, c, beside)]
    # Without an id what was asked is one, where no two rows ask the same; a number of the row is
    # one only for want of any other.
    last = [find("context", texts, None, raw.name) or texts[0]] if texts and not system else []
    last = counters if counters and not any(_repeats(frame, c) for c in able) else last
    return (last[0], None) if last else None


def _without_places(
    raw: RawTable, source: Source, alone: Sequence[str], beside: Sequence[str]
) -> Sequence[str]:
    """Columns that each tell a rater's rows apart, without those that number them as they come: a
    trial is at another place for each rater.

    Raises
    ------
    QuestionError
        Two of the others part the rows differently.
    """
    frame = raw.frame
    if len(alone) < 2 or not beside or all(_parts_alike(frame, alone[0], c) for c in alone):
        return alone
    kept = [c for c in alone if not _counts_within(frame, c, beside)] or list(alone)
    # What several judged has the same name for each of them; a time is nobody else's.
    kept = [c for c in kept if _recurs(frame, c, beside)] or kept
    unlike = [c for c in kept if not _parts_alike(frame, kept[0], c)]
    if unlike and not source.assume:
        choices = (kept[0], *unlike)
        raise QuestionError(
            f"{raw.name}: {listed(choices)} each tell the rows of one {listed(beside)} apart; "
            f"which names what was judged?",
            "item",
            choices,
            f"item = {json.dumps(choices[0])}",
            likely=False,
        )
    return kept


def _recurs(frame: pl.DataFrame, column: str, beside: Sequence[str]) -> bool:
    """Whether most values of a column stand next to several of the others'."""
    held = frame.select(column, *beside).unique().group_by(column).len()
    return 2 * int((held["len"] > 1).sum()) > held.height


def _counts_within(frame: pl.DataFrame, column: str, beside: Sequence[str]) -> bool:
    """Whether the numbers of a column rise from row to row of those of each rater."""
    numbers = pl.col(column).cast(pl.String).cast(pl.Float64, strict=False)
    steps = frame.select(numbers.diff().over(beside)).to_series()
    return steps.null_count() == frame.select(beside).n_unique() and bool(
        (steps.drop_nulls() > 0).all()
    )


def _versions(frame: pl.DataFrame, free: Sequence[str], able: Sequence[str]) -> list[str]:
    """Columns called as systems are over few values that look like measures: 1.4 and 1.5."""
    named = [c for c in free if c not in able and says_system(c)]
    named = [c for c in named if not measures(c.casefold().replace("version", ""))]
    return [c for c in named if not frame[c].null_count() and frame[c].n_unique() <= MOST_SYSTEMS]


def is_measured(cells: pl.Series) -> bool:
    """Whether numbers under a header measure something: so many tokens are no item's id."""
    name = plain_word(cells.name)
    named = measures(cells.name) and not name.endswith(("id", "nr", "number"))
    return named and distinct_numbers(cells) is not None


def may_be_scores(cells: pl.Series) -> bool:
    """Whether numbers may be levels of a usual scale, or stand under the name of a rater."""
    numbers = distinct_numbers(cells)
    return numbers is not None and (
        names_rater(cells.name) or bool(numbers.is_between(-10, 10).all())
    )


def distinct_numbers(cells: pl.Series) -> pl.Series | None:
    """The different numbers of a column, which a CSV file holds as texts; None of any other."""
    values = cells.unique().drop_nulls()
    # Ids of our own tables are categories, which are no numbers to polars.
    plain = values.cast(pl.String) if values.dtype in (pl.Categorical, pl.Enum) else values
    numbers = plain.cast(pl.Float64, strict=False)
    return None if numbers.null_count() or not len(numbers) else numbers


def _tells_by_text(frame: pl.DataFrame, column: str, beside: Sequence[str]) -> bool:
    """Whether a column of texts tells the rows apart."""
    cells = frame[column]
    if cells.dtype != pl.String or cells.null_count() or cells.str.contains(_MOMENT).all():
        return False
    return frame.select(column, *beside).n_unique() == frame.height


def _names_systems(frame: pl.DataFrame, column: str | None) -> str | None:
    """A column called as systems are, where it holds names of several."""
    if column is None or frame[column].n_unique() > MOST_SYSTEMS or frame[column].null_count():
        return None
    return column if frame[column].dtype == pl.String else None


def _repeats(frame: pl.DataFrame, column: str) -> bool:
    count = frame[column].n_unique()
    return MOST_SYSTEMS < count < frame.height


def _crossed(frame: pl.DataFrame, item: str, system: str, beside: Sequence[str]) -> bool:
    """Whether two columns tell rows apart together, and stand for items and what answered them."""
    if not identifies(frame, item, (system, *beside)):
        return False
    items, systems = frame[item].n_unique(), frame[system].n_unique()
    if not (1 < systems <= MOST_SYSTEMS and systems < items + says_system(system)):
        return False
    # Scores differ from row to row as well: an item has most of the systems, and each once.
    pairs = frame.select(item, system).n_unique()
    return pairs >= _CROSSED * items * systems and pairs > items


def _crossed_whole(
    raw: RawTable, able: Sequence[str], alone: Sequence[str], beside: Sequence[str]
) -> list[tuple[str, str]]:
    """Items and systems each two of which stand together, where a column that tells the rows apart
    too merely numbers them, or does so by chance.
    """
    frame = raw.frame
    by_chance = all(distinct_numbers(frame[c]) is not None for c in alone)
    rest = [c for c in able if c not in alone] if alone else []
    few = [c for c in rest if frame[c].n_unique() <= MOST_SYSTEMS]
    named = [c for c in few if says_system(c) or find("system", [c], None, raw.name)]
    return [
        (one, other)
        for other in (few if by_chance else named)
        for one in rest
        if one != other
        and frame[one].n_unique() * frame[other].n_unique() == frame.select(one, other).n_unique()
        and _crossed(frame, one, other, beside)
    ]


def _whole_by_numbers(
    raw: RawTable, items: Sequence[str], others: Sequence[str], beside: Sequence[str]
) -> list[tuple[str, str]]:
    """Items and a column of numbers, such as 1.4 and 1.5, each two of which stand together once.

    Scores and measures are never spread so evenly, whatever they are called.
    """
    frame = raw.frame
    few = [
        c
        for c in others
        if not (measures(c) or frame[c].null_count()) and 1 < frame[c].n_unique() <= MOST_SYSTEMS
    ]
    return [
        (one, other)
        for one in items
        for other in few
        if one != other
        and may_be_id(frame[one])
        and frame[one].n_unique() > frame[other].n_unique()
        and frame[one].n_unique() * frame[other].n_unique() * _about_beside(frame, beside)
        == frame.height
        == frame.select(one, other, *beside).n_unique()
    ]


def _about_beside(frame: pl.DataFrame, beside: Sequence[str]) -> int:
    return prod(frame[c].n_unique() for c in beside)


def _ask_what_it_is(raw: RawTable, source: Source, pair: tuple[str, str]) -> None:
    """Raise where a column that tells rows of an item apart is not called as systems are.

    Raises
    ------
    QuestionError
        It may hold systems, or what of an answer was judged.
    """
    item, system = pair
    if system == source.system or source.assume or says_system(system):
        return
    if are_versions(raw.frame[system]):
        return
    values = raw.frame[system].drop_nulls().unique(maintain_order=True).to_list()
    raise QuestionError(
        f"{raw.name}: {system!r} ({listed(values)}) tells the rows of one {item} apart; does it "
        f"name the systems that answered, or what was judged?",
        "system",
        (system, f"--attribute {system}"),
        f"system = {json.dumps(system)}",
    )


def _first_pair(
    raw: RawTable, source: Source, pairs: Sequence[tuple[str, str]], *, named: bool
) -> tuple[str, str]:
    """The pair that is meant, where all part the rows alike or one is called as usual.

    Raises
    ------
    QuestionError
        They part them differently.
    """
    frame = raw.frame
    called = [pair for pair in pairs if find("system", [pair[1]], None, raw.name)]
    pairs = called or pairs
    first = pairs[0]
    unlike = [
        pair
        for pair in pairs[1:]
        if not _parts_alike(frame, first[1], pair[1]) or not _parts_alike(frame, first[0], pair[0])
    ]
    if not unlike or source.assume:
        return first
    key, choices = "system", tuple(dict.fromkeys(pair[1] for pair in (first, *unlike)))
    if len(choices) == 1 or not named:
        items = tuple(dict.fromkeys(pair[0] for pair in (first, *unlike)))
        key, choices = ("item", items) if len(items) > 1 else (key, choices)
    raise QuestionError(
        f"{raw.name}: several columns tell rows apart; which holds the {key}s?",
        key,
        choices,
        f"{key} = {json.dumps(choices[0])}",
    )


def _parts_alike(frame: pl.DataFrame, one: str, other: str) -> bool:
    """Whether two columns part the rows in the same way."""
    count = frame[one].n_unique()
    return one == other or count == frame[other].n_unique() == frame.select(one, other).n_unique()
