"""Wholes beside their parts: a run and its steps, a conversation and its turns.

Parts are rated by scores, or by labels of which somebody said what they count as. Where one rater
judged both, it is counted how often all parts were right and the whole was wrong.
Of ratings of parts the first wrong one is derived, and a judge's is set beside each person's.
"""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.examining.conversing import WHOLES
from voirdire.late import dataclass
from voirdire.stats import Interval
from voirdire.stats.intervals import share_interval
from voirdire.tables import fold, plural
from voirdire.tables.turns import FAILED, FINE
from voirdire.tabular import Section, Table, count, interval, share, text
from voirdire.units import ENDS_PLACED, parted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from voirdire.examining.inputs import Inputs

_PLACE = ["conversation", "system"]


@dataclass(frozen=True, slots=True)
class WholeBeside:
    """How often one rater finds the parts and the whole right.

    Attributes
    ----------
    rater, whole, part : str
        Who, and on which attributes of wholes and of parts.
    kind : str
        ``step`` or ``turn``.
    both, parts_alone, whole_alone, neither : int
        Wholes that are right with all their parts; wrong though all parts are right; right though
        some part is wrong; wrong, as some part is.
    """

    rater: str
    whole: str
    part: str
    kind: str
    both: int
    parts_alone: int
    whole_alone: int
    neither: int


@dataclass(frozen=True, slots=True)
class FirstWrong:
    """A judge's first wrong part beside a person's, by whole; derived from ratings of parts.

    Attributes
    ----------
    judge, beside : str
        Whose are set beside each other; both may be people.
    attribute, kind : str
    n : int
        Wholes of which both judged at least one same part.
    exact, near : float
        Share of them with the same first wrong part or none in both; and with one that is the same
        or the next judged part before or after it. NaN without any.
    never : int
        Wholes in which neither finds a wrong part.
    missed, invented : int
        Wholes in which only `beside` finds one, and only `judge`.
    interval : Interval
        Of `exact`, with whole clusters as what is sampled.
    """

    judge: str
    beside: str
    attribute: str
    kind: str
    n: int
    exact: float
    near: float
    never: int
    missed: int
    invented: int
    interval: Interval


@dataclass(frozen=True, slots=True)
class WholeFacts:
    """What wholes and parts say of each other.

    `untold` are attributes without a line of right, `words` the labels of which it is to be said.
    """

    beside: tuple[WholeBeside, ...] = ()
    first: tuple[FirstWrong, ...] = ()
    untold: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


def has_parts(ratings: pl.DataFrame) -> bool:
    """Whether any item is a part of another, by its id."""
    return bool(ratings["item"].cast(pl.String).str.contains(ENDS_PLACED).any())


def judged_parts(inputs: Inputs) -> pl.DataFrame | None:
    """The ratings, or the labels but for those that are first failures; None without any part."""
    read = inputs.judgements
    if read is None:
        rows = None if inputs.tables is None else inputs.ratings
    else:
        asked = [one.attribute for one in read.questions if set(one.labels) != {FINE, FAILED}]
        rows = read.labels.filter(pl.col("attribute").is_in(asked))
    return rows if rows is not None and rows.height and has_parts(rows) else None


def measure_wholes(inputs: Inputs) -> WholeFacts:
    """Wholes beside parts, and first wrong parts, of all raters of the panel.

    A score is right from the study's gate on; without one, where an attribute has two values, the
    higher is. What labels count as is declared by the words of their source, or not known.
    """
    table, lines = _placed(inputs), dict[str, float]()
    for (name,), rows in table.group_by("attribute", maintain_order=True):
        line = _line(rows["score"], inputs)
        if line is not None:
            lines[str(name)] = line
    # Of labels without a number the table above holds no row.
    asked = table if inputs.judgements is None else _scored(inputs)
    names = asked["attribute"].unique(maintain_order=True).to_list()
    untold, words = tuple(map(str, (one for one in names if one not in lines))), _unsaid(inputs)
    if not lines:
        return WholeFacts(untold=untold, words=words)
    right = table.filter(pl.col("attribute").is_in(list(lines))).with_columns(
        right=pl.col("score") >= pl.col("attribute").replace_strict(lines, return_dtype=pl.Float64)
    )
    return WholeFacts(tuple(_beside(right)), tuple(_first(right, inputs)), untold, words)


def _raters(inputs: Inputs) -> tuple[str, ...]:
    return inputs.panel.names if inputs.judgements is None else inputs.judgements.raters


def _said(inputs: Inputs) -> dict[str, float]:
    """What labels count as, by their sources."""
    sources = inputs.study.data.sources
    pairs = (pair for source in sources for pair in source.words.items())
    return {fold(word): value for word, value in pairs if isinstance(value, float)}


def _unsaid(inputs: Inputs) -> tuple[str, ...]:
    """Labels of which nothing is said; none of scores."""
    if inputs.judgements is None or (rows := judged_parts(inputs)) is None:
        return ()
    labels = rows["labels"].explode().drop_nulls().unique(maintain_order=True).to_list()
    return tuple(sorted(one for one in labels if fold(one) not in _said(inputs)))


def _scored(inputs: Inputs) -> pl.DataFrame:
    """The ratings; of labels what each counts as, null where that is not said."""
    rows = judged_parts(inputs)
    if rows is None or inputs.judgements is None:
        return inputs.ratings
    said = _said(inputs)
    labels = rows["labels"].explode().drop_nulls().unique().to_list()
    numbers = {one: said[fold(one)] for one in labels if fold(one) in said}
    alone = pl.when(pl.col("labels").list.len() == 1).then(pl.col("labels").list.first())
    return rows.with_columns(
        score=alone.replace_strict(numbers, default=None, return_dtype=pl.Float64)
    )


def _placed(inputs: Inputs) -> pl.DataFrame:
    """Ratings with the whole and the place that each is of, one a rater; means over runs."""
    scored = _scored(inputs)
    given = scored.select(
        pl.col("item", "rater", "attribute").cast(pl.String),
        pl.col("system").cast(pl.String).fill_null(""),
        "score",
        *([pl.col("cluster").cast(pl.String)] if "cluster" in scored.columns else []),
    ).filter(pl.col("rater").is_in(_raters(inputs)), pl.col("score").is_not_null())
    if "cluster" not in given.columns:
        given = given.with_columns(cluster=pl.lit(None, pl.String))
    items = given["item"].unique(maintain_order=True).to_list()
    units = [parted(item) for item in items]
    of = pl.DataFrame(
        {
            "item": items,
            "conversation": [whole for whole, _ in units],
            "kind": [unit.kind for _, unit in units],
            "position": [unit.position for _, unit in units],
        },
        schema={"item": pl.String, "conversation": pl.String, "kind": pl.String,
                "position": pl.Int64},
    )  # fmt: skip
    placed = given.join(of, on="item", maintain_order="left")
    keys = ["conversation", "system", "kind", "position", "rater", "attribute"]
    first = pl.coalesce(pl.col("cluster").first(), pl.col("conversation").first())
    return placed.group_by(keys, maintain_order=True).agg(
        pl.col("score").mean(), first.alias("cluster")
    )


def _line(scores: pl.Series, inputs: Inputs) -> float | None:
    """From which score on an attribute is right; None where that is not known."""
    if inputs.study.gate is not None:
        return float(inputs.study.gate.at)
    scale = inputs.panel.scale
    if inputs.judgements is None and not scale.continuous and scale.count == 2:
        return float(scale.high)
    values = scores.unique().sort()
    return float(values[1]) if len(values) == 2 else None


def _beside(table: pl.DataFrame) -> Iterator[WholeBeside]:
    wholes = table.filter(pl.col("kind") == "whole")
    for (kind, part), rows in _by(table.filter(pl.col("kind") != "whole"), "kind", "attribute"):
        parts = rows.group_by("rater", *_PLACE, maintain_order=True).agg(pl.col("right").all())
        for (whole, rater), own in _by(wholes, "attribute", "rater"):
            both = parts.filter(rater=rater).join(own, on=_PLACE, suffix="_whole")
            if both.is_empty():
                continue
            sure, good = both["right"], both["right_whole"]
            yield WholeBeside(
                rater,
                whole,
                part,
                kind,
                int((sure & good).sum()),
                int((sure & ~good).sum()),
                int((~sure & good).sum()),
                int((~sure & ~good).sum()),
            )


def _by(table: pl.DataFrame, *names: str) -> Iterator[tuple[tuple[str, ...], pl.DataFrame]]:
    for key, rows in table.group_by(*names, maintain_order=True):
        yield tuple(map(str, key)), rows


def _first(table: pl.DataFrame, inputs: Inputs) -> Iterator[FirstWrong]:
    people = [name for name in _raters(inputs) if name in inputs.reference]
    judges = [name for name in _raters(inputs) if name not in people]
    pairs = [*product(judges, people), *combinations(people, 2)]
    for (kind, attribute), rows in _by(
        table.filter(pl.col("kind") != "whole"), "kind", "attribute"
    ):
        own = {rater: part for (rater,), part in _by(rows, "rater")}
        for judge, beside in pairs:
            if judge not in own or beside not in own:
                continue
            both = own[judge].join(own[beside], on=[*_PLACE, "position"], suffix="_beside")
            if both.height:
                level = inputs.study.analysis.level
                yield first_wrong(both, judge, beside, attribute, kind, level)


def first_wrong(
    both: pl.DataFrame, judge: str, beside: str, attribute: str, kind: str, level: float
) -> FirstWrong:
    """First wrong parts of two raters on the parts that both judged.

    Parameters
    ----------
    both : DataFrame
        ``conversation, system, position, cluster`` and whether the part is `right` to the one and
        `right_beside` to the other.
    judge, beside, attribute, kind : str
        As in `FirstWrong`.
    level : float
        Of the interval.

    Examples
    --------
    >>> both = pl.DataFrame({
    ...     "conversation": ["a", "a", "a", "b", "b"], "system": [""] * 5, "cluster": [*"aaabb"],
    ...     "position": [2, 4, 6, 2, 4], "right": [True, False, True, True, True],
    ...     "right_beside": [True, True, False, True, True]})
    >>> found = first_wrong(both, "gpt", "ann", "fine", "step", 0.95)
    >>> found.n, found.exact, found.near, found.never
    (2, 0.5, 1.0, 1)
    """
    # Places are counted among the parts that both judged: between two of them others may lie.
    ordered = both.sort(*_PLACE, "position").with_columns(
        at=pl.int_range(pl.len()).over(_PLACE, order_by="position")
    )
    wrong = ordered.group_by(_PLACE, maintain_order=True).agg(
        pl.col("at").filter(~pl.col("right")).min().alias("one"),
        pl.col("at").filter(~pl.col("right_beside")).min().alias("other"),
        pl.col("cluster").first(),
    )
    one, other = wrong["one"], wrong["other"]
    same = one.eq_missing(other)
    near = same | ((one - other).abs() <= 1).fill_null(value=False)
    return FirstWrong(
        judge,
        beside,
        attribute,
        kind,
        wrong.height,
        _mean(same),
        _mean(near),
        int((one.is_null() & other.is_null()).sum()),
        int((one.is_null() & other.is_not_null()).sum()),
        int((one.is_not_null() & other.is_null()).sum()),
        _clustered(same.to_numpy(), wrong["cluster"].to_list(), level),
    )


def _mean(values: pl.Series) -> float:
    return float(values.mean()) if len(values) else math.nan  # type: ignore[arg-type]


def _clustered(values: ArrayLike, clusters: Sequence[str], level: float) -> Interval:
    """The interval of a share of wholes, with clusters as what is sampled."""
    given = np.asarray(values, dtype=float)
    codes = np.unique(clusters, return_inverse=True)[1]
    groups = int(codes.max()) + 1 if len(codes) else 0
    if groups < 2:
        return Interval("wilson", level, math.nan, math.nan)
    value = float(given.mean())
    sums = np.bincount(codes, weights=given - value)
    error = math.sqrt(groups / (groups - 1) * float(sums @ sums)) / len(given)
    return share_interval(value, error, groups - 1, len(given), level)


def whole_sections(facts: WholeFacts) -> tuple[Section, ...]:
    """Wholes beside their parts, and first wrong parts."""
    found = []
    if facts.beside:
        found.append(Section("The whole beside its parts", _beside_text(facts), (_besides(facts),)))
    if facts.first:
        found.append(Section("The first wrong part", _FIRST, (_firsts(facts),)))
    return tuple(found)


_FIRST = (
    "Derived from ratings of the parts that both judged: the first that is wrong, or none. Near is "
    "the same or the next judged part; the interval is of the exact share, over whole clusters. "
    "Two people beside each other say how well it can be told at all."
)


def _beside_text(facts: WholeFacts) -> str:
    odd = [one for one in facts.beside if one.parts_alone]
    said = " ".join(
        f"Of {plural(one.parts_alone, WHOLES[one.kind])} {one.rater} finds all {one.kind}s right "
        f"({one.part}) and the whole wrong ({one.whole})."
        for one in odd
    )
    return said or "No rater finds a whole wrong whose parts are all right."


def _besides(facts: WholeFacts) -> Table:
    columns = (
        text("Rater"), text("Whole"), text("Parts"), count("All right, whole right"),
        count("All right, whole wrong"), count("Some wrong, whole right"),
        count("Some wrong, whole wrong"),
    )  # fmt: skip
    rows = tuple(
        (
            one.rater,
            one.whole,
            f"{one.part}, each {one.kind}",
            one.both,
            one.parts_alone,
            one.whole_alone,
            one.neither,
        )
        for one in facts.beside
    )
    return Table(columns, rows)


def _firsts(facts: WholeFacts) -> Table:
    columns = (
        text("Rater"), text("Beside"), text("Parts"), count("Wholes"), share("Exact"),
        interval("Interval", 2), share("Near"), count("Neither finds one"), count("Missed"),
        count("Only the rater"),
    )  # fmt: skip
    rows = tuple(
        (
            one.judge,
            one.beside,
            f"{one.attribute}, each {one.kind}",
            one.n,
            one.exact,
            (one.interval.low, one.interval.high),
            one.near,
            one.never,
            one.missed,
            one.invented,
        )
        for one in facts.first
    )
    return Table(columns, rows)
