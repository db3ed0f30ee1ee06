"""Labels from elsewhere beside the ratings of a tool: joined by a declared key, or by the text."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import QuestionError, TableError, check_columns, listed
from voirdire.late import dataclass
from voirdire.tables._ids import canonical_ids
from voirdire.tables._questions import assumed
from voirdire.tables._tables import CONTEXTS, ITEMS, RESPONSES, finding, plural, shortened
from voirdire.tables.readers import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Finding
    from voirdire.study import Source
    from voirdire.tables._files import RawTable
    from voirdire.tables._tables import SourceTables

#: How many items that were not found a sentence names.
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Rated:
    """What labels are joined to: the items of a tool, their systems and attributes.

    `items` holds ``item``, ``text`` and further columns of text; `system_of` the system of each
    item that only one answered (of a stream, where that is not known, of none).
    """

    items: pl.DataFrame
    systems: tuple[str, ...]
    attributes: tuple[str, ...]
    system_of: Mapping[str, str] = field(default_factory=dict)

    def item_by(self, column: str) -> dict[str, str]:
        """The item of each value of a column; a value of several items is of none."""
        pairs = zip(self.items[column], self.items["item"], strict=True)
        item_of: dict[str, str] = {}
        several = set()
        for value, item in pairs:
            if value is None:
                continue
            # A text of two items joins a label to neither: which of them is meant is not known.
            same = normalised(value)
            if item_of.setdefault(same, item) != item:
                several.add(same)
        return {value: item for value, item in item_of.items() if value not in several}


def normalised(text: str) -> str:
    r"""A text as it is compared: letters composed, without case, runs of blanks as one.

    Examples
    --------
    >>> normalised("  When does\tit OPEN? ")
    'when does it open?'
    """
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text)).strip().casefold()


def rated_of(parts: Sequence[SourceTables]) -> Rated:
    """What the parts rate, all together; empty where there are none."""
    items = [part.items if part.items is not None else _items(part) for part in parts]
    wanted = ("item", "system", pl.col("attribute").cast(pl.String))
    ratings = [part.ratings.select(*wanted) for part in parts]
    if not parts:
        return Rated(ITEMS.to_frame(), (), ())
    pairs = pl.concat(ratings)
    answered = pairs.select("item", "system").drop_nulls().unique()
    # One system's item: a label of it needs no column that says so.
    alone = answered.filter(~pl.col("item").is_duplicated())
    return Rated(
        pl.concat(items, how="diagonal"),
        tuple(pairs["system"].drop_nulls().unique(maintain_order=True)),
        tuple(pairs["attribute"].unique(maintain_order=True)),
        dict(zip(alone["item"], alone["system"], strict=True)),
    )


def _items(part: SourceTables) -> pl.DataFrame:
    item = pl.col("item")
    named = part.ratings.select(item.unique(maintain_order=True))
    texts = part.contexts.filter(pl.col("text").is_not_null()).unique("item", keep="first")
    items = named.join(texts.select("item", "text"), on="item", how="left", maintain_order="left")
    # Under their own name too: labels mostly come with the same column of ids.
    return items if part.id_column == "text" else items.with_columns(item.alias(part.id_column))


def keyed(raw: RawTable | Reading, source: Source, rated: Rated) -> Source:
    """The source with its key written out as ``column=column of the tool's items``.

    Without a key the column is looked for whose texts are those of the items.

    Raises
    ------
    TableError
        A key names a column that is not there.
    QuestionError
        No text meets, and ids of the same name or writing do.
    """
    frame = raw.items if isinstance(raw, Reading) else raw.frame
    name = Path(source.path).name
    if source.key:
        mine, _, theirs = source.key.partition("=")
        check_columns(name, (mine,), frame.columns, "--key names the column of the labels")
        theirs = theirs or (mine if mine in rated.items.columns else _best(frame, mine, rated))
        check_columns(
            "the items that were rated",
            (theirs,),
            rated.items.columns,
            "--key LABELS=ITEMS names a column of each",
        )
    elif source.item in frame.columns and _share(frame[source.item], rated, "item"):
        mine, theirs = source.item, "item"  # named for both files: no guess is needed
    else:
        mine, theirs = _met(frame, rated, name, assume=source.assume)
    update = {"key": f"{mine}={theirs}"}
    if isinstance(raw, Reading):
        return source.model_copy(update=update)
    return source.model_copy(update=update | {"item": mine})


def _best(frame: pl.DataFrame, mine: str, rated: Rated) -> str:
    """The column of the items that most values of a column are found in."""
    return max(rated.items.columns, key=lambda theirs: _share(frame[mine], rated, theirs))


def _share(column: pl.Series, rated: Rated, theirs: str) -> float:
    """How many of a column's values are found among the items'."""
    item_of = rated.item_by(theirs)
    values = canonical_ids(column).drop_nulls().unique()
    met = sum(normalised(value) in item_of for value in values)
    return met / len(values) if len(values) else 0.0


def _met(frame: pl.DataFrame, rated: Rated, name: str, *, assume: bool) -> tuple[str, str]:
    """The two columns whose texts meet most often, or those of one name whose ids meet; if it is
    assumed, any whose ids do.
    """
    theirs = [c for c in rated.items.columns if _are_texts(rated.items[c])]
    mine = [c for c in frame.columns if frame[c].dtype == pl.String and _are_texts(frame[c])]
    # Texts first: whole sentences do not meet by chance, and small numbers always do.
    shares = {(m, t): _share(frame[m], rated, t) for m in mine for t in theirs}
    best = max(shares, key=lambda pair: shares[pair], default=("", ""))
    if shares.get(best):
        return best
    named = [c for c in frame.columns if _same_ids(frame, c, rated)]
    if len(named) == 1:
        return named[0], named[0]
    pairs = {
        f"{mine}={theirs}": share
        for mine in frame.columns
        for theirs in rated.items.columns
        if (share := _share(frame[mine], rated, theirs)) > 0
    }
    choices = tuple(sorted(pairs, key=lambda pair: -pairs[pair]))[:5]
    if choices and assume:
        first = choices[0].partition("=")
        return first[0], first[2]
    if choices:
        raise QuestionError(
            f"{name}: no text is that of an item; which columns hold the same ids?",
            "key",
            choices,
            f'key = "{choices[0]}"',
        )
    raise TableError(
        f"{name}: no column holds the text or an id of an item that was rated (columns: "
        f"{listed(frame.columns)}; items have {listed(rated.items.columns)}, such as "
        f"{_such(rated.items)}): name columns by --key LABELS=ITEMS"
    )


def _same_ids(frame: pl.DataFrame, column: str, rated: Rated) -> bool:
    """Whether a column of the labels is called as one of the items', and most of its ids are there.

    Whole numbers may count the rows of each file, and then say nothing.
    """
    if column not in rated.items.columns or column == "text":
        return False
    ids = canonical_ids(frame[column]).drop_nulls()
    # One number among the ids is enough: `1` and `a-7` may both be rows.
    return not bool(ids.str.contains(r"^\d+$").any()) and _share(frame[column], rated, column) > 0.5


def _are_texts(column: pl.Series) -> bool:
    """Whether most values are of several words: what is shorter may be an id, a label, a number."""
    values = column.drop_nulls().cast(pl.String).str.strip_chars()
    return len(values) > 0 and 2 * int(values.str.contains(r"\S\s+\S").sum()) > len(values)


def _such(items: pl.DataFrame) -> str:
    shown = items["text"].drop_nulls().head(1).to_list() or items["item"].head(1).to_list()
    return repr(shortened(shown[0])) if shown else "none"


def linked_part(part: SourceTables, source: Source, rated: Rated) -> SourceTables:
    """Labels under the items, the system and the attribute that they speak of.

    The labels' items are the values of the key's column, or have it among their own columns.

    Raises
    ------
    TableError
        No label meets an item; several systems were rated, and no label says which.
    QuestionError
        Several attributes were rated, and no label says which.
    """
    mine, _, theirs = (source.key or "").partition("=")
    ratings, name = part.ratings, Path(source.path).name
    check_columns("the items that were rated", (theirs or mine,), rated.items.columns)
    item_of = rated.item_by(theirs or mine)
    # The key's column is the labels' own id, unless a tool's reader keeps it beside the id.
    values = {i: i for i in ratings["item"].unique(maintain_order=True)}
    if part.items is not None:
        values = dict(zip(part.items["item"], part.items[mine], strict=True))
    meets = {i: item_of.get(normalised(v)) if v is not None else None for i, v in values.items()}
    unmet = [v if v is not None else i for i, v in values.items() if meets[i] is None]
    if len(unmet) == len(values):
        raise TableError(
            f"{name}: no value of column {mine!r} is found in {theirs!r} of the items that were "
            f"rated: {listed([shortened(str(v)) for v in unmet], 3)} against {_such(rated.items)}"
        )
    ratings = ratings.with_columns(
        pl.col("item").replace_strict(meets, return_dtype=pl.String).alias("item")
    ).filter(pl.col("item").is_not_null())
    notes = [_matched(name, mine, theirs, len(values), unmet)]
    ratings = _attribute(_system(ratings, rated, name), source, rated, name)
    if source.assume and source.about is None and len(rated.attributes) > 1:
        attributes = ratings["attribute"].unique(maintain_order=True).to_list()
        message = f"The labels are taken to speak of {listed(attributes)}."
        advice = "Say --about ATTRIBUTE where they speak of another."
        notes.append(assumed(name, [], message, advice))
    return replace(
        part,
        ratings=ratings,
        contexts=CONTEXTS.to_frame(),
        responses=RESPONSES.to_frame(),
        reasons=_reasons(part.reasons, meets, rated),
        findings=(*part.findings, *notes),
    )


def _reasons(reasons: pl.DataFrame, meets: dict[str, str | None], rated: Rated) -> pl.DataFrame:
    """What people said beside their labels, under the items that they speak of."""
    item = pl.col("item").replace_strict(meets, default=None, return_dtype=pl.String)
    joined = reasons.with_columns(item.alias("item")).drop_nulls("item")
    if len(rated.systems) != 1:
        return joined
    return joined.with_columns(pl.col("system").fill_null(rated.systems[0]))


def _system(ratings: pl.DataFrame, rated: Rated, name: str) -> pl.DataFrame:
    own = ratings["system"].drop_nulls().unique(maintain_order=True).to_list()
    # `model` in a file of labels may be what a person works for, and no system that was rated.
    if own and not set(own) & set(rated.systems):
        there = f"{listed(rated.systems)} were rated" if rated.systems else "no system was rated"
        raise TableError(
            f"{name}: the labels speak of the systems {listed(own)}, and {there}: write them "
            f"alike, or leave the column out by --ignore where it names something else"
        )
    if ratings["system"].null_count() == 0 or not rated.systems:
        return ratings
    if len(rated.systems) == 1:
        return ratings.with_columns(pl.col("system").fill_null(rated.systems[0]))
    # An item that one system answered alone says it.
    alone = pl.col("item").replace_strict(rated.system_of, default=None, return_dtype=pl.String)
    ratings = ratings.with_columns(pl.col("system").fill_null(alone))
    if ratings["system"].null_count():
        raise TableError(
            f"{name}: {plural(len(rated.systems), 'system')} were rated "
            f"({listed(rated.systems)}), and the labels do not say of which they speak: add a "
            f"column of systems, or name it by --system"
        )
    return ratings


def _attribute(ratings: pl.DataFrame, source: Source, rated: Rated, name: str) -> pl.DataFrame:
    """The attribute that labels speak of, where theirs is no attribute of the tool's."""
    own = ratings["attribute"].unique(maintain_order=True).to_list()
    if source.about is not None:
        if len(own) > 1:
            raise TableError(f"{name}: the labels are of {listed(own)}: --about names only one")
        return ratings.with_columns(attribute=pl.lit(source.about))
    folded = {one.casefold(): one for one in rated.attributes}
    if any(one.casefold() in folded for one in own):
        return ratings.with_columns(
            pl.col("attribute").replace({o: folded.get(o.casefold(), o) for o in own})
        )
    if len(own) > 1:
        raise TableError(
            f"{name}: the labels are of {listed(own)}, and what was rated is "
            f"{listed(rated.attributes)}: give the columns of the labels the names of these"
        )
    if len(rated.attributes) > 1 and not source.assume:
        raise QuestionError(
            f"{name}: of which attribute do the labels speak?",
            "about",
            rated.attributes,
            f'about = "{rated.attributes[0]}"',
        )
    return ratings.with_columns(attribute=pl.lit(rated.attributes[0]))


def _matched(name: str, mine: str, theirs: str, count: int, unmet: Sequence[str]) -> Finding:
    by = "their text" if theirs == "text" else f"their {theirs!r}"
    such = ", ".join(repr(shortened(str(one))) for one in unmet[:_SHOWN])
    lost = f" Not found: {such}{' and others' if len(unmet) > _SHOWN else ''}." if unmet else ""
    return finding(
        "labels_matched",
        "serious" if unmet else "note",
        name,
        [shortened(str(one)) for one in unmet],
        f"{count - len(unmet):,} of {plural(count, 'labelled item')} were found among the items "
        f"that were rated, by {mine!r} as {by}.{lost}",
        "Labels of items that were not found are in no number."
        if unmet
        else "Letter case and blanks do not count.",
        count=len(unmet),
    )


#: Keys of a source that name one of its columns.
_COLUMNS = frozenset(
    ("item", "system", "rater", "score", "attribute", "run", "cluster", "status", "context",
     "response", "reason", "subgroup", "origin", "label_probability", "labelled_by",
     "labelled_at")
)  # fmt: skip


def check_readers(keys: Mapping[str, Any], raws: Sequence[RawTable | Reading], first: str) -> None:
    """Raise where columns are named, and every file is another tool's, whose reader knows them."""
    named = [key for key in keys if key in _COLUMNS]
    formats = [raw.format for raw in raws if isinstance(raw, Reading)]
    if named and len(formats) == len(raws):
        raise TableError(
            f"{first}: read as {formats[0]}, whose columns are known: "
            f"{', '.join(f'--{key}' for key in named)} is for plain tables"
        )


def own_keys(keys: Mapping[str, Any], raw: RawTable | Reading) -> dict[str, Any]:
    """The keys that name columns of this file, and those that name none."""
    if isinstance(raw, Reading):
        return {k: v for k, v in keys.items() if k == "assume"}
    columns = raw.frame.columns
    own = {k: v for k, v in keys.items() if k not in _COLUMNS or v in columns}
    if "ignore" in own:
        own["ignore"] = tuple(name for name in own["ignore"] if name in columns)
    return own


def check_named(keys: Mapping[str, Any], raws: Mapping[Path, RawTable | Reading]) -> None:
    """Raise where a key names a column that no file has."""
    columns = [c for raw in raws.values() if not isinstance(raw, Reading) for c in raw.frame]
    names = {column.name for column in columns}
    for key, name in keys.items():
        if key in _COLUMNS and name not in names:
            check_columns(", ".join(path.name for path in raws), (name,), sorted(names))


def attributes_apart(
    files: Sequence[tuple[str, pl.DataFrame]], humans: Sequence[str]
) -> tuple[Finding, ...]:
    """The finding that people's labels and judges' scores are of no attribute in common.

    Which column of labels speaks of which scores is no guess to be made in silence, so it is said.

    Parameters
    ----------
    files : sequence of (name, ratings)
    """
    if len(files) < 2:
        return ()
    # What each file rates, a row for a rater and attribute: files may hold millions of ratings.
    rated = [
        (name, ratings.select(pl.col("rater", "attribute").cast(pl.String)).unique())
        for name, ratings in files
    ]
    person = pl.col("rater").is_in(list(humans))
    labelled = [name for name, pairs in rated if set(pairs["rater"]) <= set(humans)]
    together = pl.concat([pairs for _, pairs in rated])
    judged = set(together.filter(~person)["attribute"])
    theirs = set(together.filter(person)["attribute"])
    if not labelled or not judged or judged & theirs:
        return ()
    attributes = sorted(theirs)
    note = finding(
        "attributes_apart",
        "serious",
        labelled[0],
        attributes,
        f"People scored {listed(attributes)} and the judges {listed(sorted(judged))}: no attribute "
        f"is scored by both, so nothing can be compared.",
        f"If the labels in {labelled[0]} are of what the judges scored, say "
        f"--human {labelled[0]} in place of naming the file beside the others.",
    )
    return (note,)
