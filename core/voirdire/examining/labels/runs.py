"""Labels of raters over runs: does an annotator repeat itself?

The order of work: `runs_of_ratings` or `runs_of_replies`, then any of the frames made from it, or
`consistency_sections` for all of them as a report's tables.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from voirdire.errors import InputError, check_columns, duplicate
from voirdire.examining.labels.matrix import matrix_of_ratings, matrix_of_values
from voirdire.parsing import LabelSet, parse_labels_column
from voirdire.schema import STATUSES
from voirdire.store.frames import iterate_parsed
from voirdire.store.parsed import FLAGS, flags_series
from voirdire.tabular import places_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire.examining.labels.matrix import LabelMatrix
    from voirdire.schema import Parsed

Contradiction = Literal["missing", "labels"]
_KEYS = ("rater", "item", "run")


@dataclass(frozen=True, slots=True, eq=False)
class LabelRuns:
    """What raters named, run by run; every rater has all its items in all its runs.

    Attributes
    ----------
    labels : tuple of str
        The declared labels.
    none : str or None
        The label that says that no other applies.
    other : str or None
        The label for what lies outside the set; beside a declared label it is dropped.
    matrices : tuple of LabelMatrix
        One a rater. A run without a row is missing, its status ``failed``.
    entries : polars.DataFrame or None
        What the replies hold besides: ``rater, item, run, unknown`` (entries outside the set) and
        ``flags``; None where replies are not known.
    """

    labels: tuple[str, ...]
    none: str | None
    other: str | None
    matrices: tuple[LabelMatrix, ...]
    entries: pl.DataFrame | None = None

    @property
    def raters(self) -> tuple[str, ...]:
        """The raters, in the order of their matrices."""
        return tuple(matrix.rater for matrix in self.matrices)

    def place(self, label: str | None) -> int | None:
        """The place of a label; None for None."""
        return None if label is None else self.labels.index(label)

    def of(self, rater: str) -> LabelMatrix:
        """The labels of one rater."""
        return next(matrix for matrix in self.matrices if matrix.rater == rater)

    def keep(self, raters: Sequence[str]) -> LabelRuns:
        """The same with some raters only."""
        return replace(self, matrices=tuple(one for one in self.matrices if one.rater in raters))


def runs_of_ratings(
    ratings: pl.DataFrame,
    labels: Sequence[str] = (),
    *,
    none: str | None = None,
    other: str | None = None,
    contradiction: Contradiction = "missing",
    entries: pl.DataFrame | None = None,
) -> LabelRuns:
    """Label runs from tidy ratings.

    Parameters
    ----------
    ratings : polars.DataFrame
        ``item, rater, run, attribute, score`` and, where there are any, ``rank``, ``status``.
    labels : sequence of str
        The declared labels; without them the attributes that occur. Other attributes are left out.
    none, other : str, optional
        See `LabelRuns`; a label spelled *None* is taken for `none`.
    contradiction : {"missing", "labels"}
        What becomes of a run that names `none` beside another label: the whole run is missing, or
        the other labels stand.
    entries : polars.DataFrame, optional
        From `label_replies`.

    Raises
    ------
    InputError
        A score other than 0, 1 or missing; `none` or `other` is no label; a label occurs twice in
        a run of an item.

    Examples
    --------
    >>> frame = pl.DataFrame({
    ...     "item": ["1"] * 4, "rater": ["m"] * 4, "run": [1, 1, 2, 2],
    ...     "attribute": ["Anger", "Fear"] * 2, "score": [1, 0, 1, 1],
    ... })
    >>> runs_of_ratings(frame).of("m").values.tolist()
    [[[1.0, 0.0]], [[1.0, 1.0]]]
    """
    occurring = ratings["attribute"].cast(pl.String).unique(maintain_order=True).to_list()
    names = tuple(labels) or tuple(occurring)
    declared = LabelSet(names, none=none, other=other)
    wanted = ratings.filter(pl.col("attribute").cast(pl.String).is_in(list(names)))
    raters = wanted["rater"].cast(pl.String).unique(maintain_order=True).to_list()
    runs = LabelRuns(
        names,
        declared.none,
        declared.other,
        tuple(matrix_of_ratings(wanted, rater, names) for rater in raters),
        entries,
    )
    return _consistent(runs, contradiction)


def runs_of_replies(
    replies: pl.DataFrame,
    labels: LabelSet,
    *,
    at_most: int | None = None,
    contradiction: Contradiction = "missing",
) -> LabelRuns:
    """Label runs from raw replies; each different reply is parsed once.

    Parameters
    ----------
    replies : polars.DataFrame
        ``rater, item, run, reply`` (null: none came, status ``failed``) and, where it is known,
        ``finish_reason``.
    labels : LabelSet
        The declared labels.
    at_most, contradiction
        As in `parse_labels`.

    Raises
    ------
    InputError
        A column is missing, or a run of an item occurs twice.

    Examples
    --------
    >>> from voirdire.parsing import LabelSet
    >>> frame = pl.DataFrame(
    ...     {"rater": "m", "item": ["1", "1"], "run": [1, 2], "reply": ["Anger", None]},
    ... )
    >>> runs_of_replies(frame, LabelSet(("Anger", "None"))).of("m").values.tolist()
    [[[1.0, 0.0]], [[nan, nan]]]
    """
    check_columns("replies", (*_KEYS, "reply"), replies.columns, error=InputError)
    frame = replies.with_columns(pl.col("rater").cast(pl.String), finish_reason=_finish(replies))
    # Annotators mostly reply with the same few labels: a hundred thousand replies are some hundreds
    # of texts.
    distinct = frame.select("reply", "finish_reason").unique(maintain_order=True)
    read = parse_labels_column(
        distinct["reply"].to_list(),
        labels,
        at_most=at_most,
        contradiction=contradiction,
        finish_reasons=distinct["finish_reason"].to_list(),
    )
    which = pl.Series("which", np.arange(len(read)))
    frame = frame.join(
        distinct.with_columns(which),
        on=["reply", "finish_reason"],
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    parsed = _ParsedReplies.of(read, labels.labels)
    runs = LabelRuns(
        labels.labels,
        labels.none,
        labels.other,
        tuple(
            _replied(part, parsed, labels.labels)
            for part in frame.partition_by("rater", maintain_order=True)
        ),
        _entries(frame, read),
    )
    return _consistent(runs, contradiction)


def label_replies(folder: str | Path) -> pl.DataFrame:
    """What the replies of a session's annotators hold beside labels.

    Returns
    -------
    polars.DataFrame
        ``rater, item, run, unknown`` (entries outside the set), ``flags``.
    """
    rows = [
        (
            reply.rater,
            reply.item,
            reply.run,
            list(reply.parsed.extra.get("unknown", ())),
            [asdict(flag) for flag in reply.parsed.flags],
        )
        for reply in iterate_parsed(folder, "annotate")
    ]
    return pl.DataFrame(rows, schema=_ENTRIES, orient="row")


_ENTRIES: dict[str, Any] = {
    "rater": pl.String, "item": pl.String, "run": pl.Int32,
    "unknown": pl.List(pl.String), "flags": FLAGS,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _ParsedReplies:
    """Different replies, parsed: labels (replies, labels), the first label, and the status."""

    values: NDArray[np.float64]
    first: NDArray[np.int16]
    statuses: NDArray[np.str_]

    @classmethod
    def of(cls, read: Sequence[Parsed], labels: Sequence[str]) -> _ParsedReplies:
        """The replies as arrays."""
        place = {label: number for number, label in enumerate(labels)}
        values = np.array(
            [[parsed.scores.get(label) for label in labels] for parsed in read], np.float64
        )
        first = [next((place[n] for n, at in p.ranks.items() if at == 1), -1) for p in read]
        statuses = np.array([parsed.status for parsed in read], np.str_)
        return cls(values.reshape(-1, len(labels)), np.array(first, np.int16), statuses)


def _replied(part: pl.DataFrame, parsed: _ParsedReplies, labels: Sequence[str]) -> LabelMatrix:
    """The replies of one rater, each in the place of its item and run."""
    rater, which = part["rater"][0], part["which"].to_numpy()
    items = part["item"].cast(pl.String).unique(maintain_order=True).to_list()
    item = places_of(part["item"], items)
    runs = sorted(part["run"].unique().to_list())
    # By order: runs may be numbered with gaps.
    run = np.searchsorted(np.asarray(runs), part["run"].to_numpy())
    shape = (len(runs), len(items))
    twice = np.flatnonzero(np.bincount(run * shape[1] + item, minlength=1) > 1)
    if twice.size:
        at, of = divmod(int(twice[0]), shape[1])
        raise duplicate("run", int(runs[at]), f"rater {rater!r}, item {items[of]!r}")
    values = np.full((*shape, len(labels)), np.nan)
    first = np.full(shape, -1, np.int16)
    statuses = np.full(shape, "failed", dtype=f"<U{max(map(len, STATUSES))}")
    values[run, item] = parsed.values[which]
    first[run, item] = parsed.first[which]
    statuses[run, item] = parsed.statuses[which]
    return matrix_of_values(
        values, labels, items=items, rater=rater, runs=runs, statuses=statuses, first=first
    )


def _finish(replies: pl.DataFrame) -> pl.Expr:
    recorded = "finish_reason" in replies.columns
    given = pl.col("finish_reason").fill_null("stop") if recorded else pl.lit("stop")
    return pl.when(pl.col("reply").is_null()).then(pl.lit("error")).otherwise(given)


def _entries(frame: pl.DataFrame, read: Sequence[Parsed]) -> pl.DataFrame:
    unknown = [list(parsed.extra.get("unknown", ())) for parsed in read]
    table = pl.DataFrame(
        {
            "unknown": pl.Series(unknown, dtype=pl.List(pl.String)),
            "flags": flags_series(parsed.flags for parsed in read),
        }
    )
    return pl.concat([frame.select(*_KEYS), table[frame["which"].to_numpy()]], how="horizontal")


def _consistent(runs: LabelRuns, contradiction: Contradiction) -> LabelRuns:
    """Other beside a label is dropped; none beside a label is missing, or gives way to it."""
    return replace(
        runs, matrices=tuple(_consistent_matrix(one, runs, contradiction) for one in runs.matrices)
    )


def _consistent_matrix(
    matrix: LabelMatrix, runs: LabelRuns, contradiction: Contradiction
) -> LabelMatrix:
    none, other = runs.place(runs.none), runs.place(runs.other)
    values, statuses, first = matrix.values, matrix.statuses, matrix.first
    # Labels proper: *none* beside *other* contradicts itself too, *other* beside a label is
    # dropped.
    real = [at for at in range(len(runs.labels)) if at not in (none, other)]
    beside = (values[:, :, real] == 1).any(axis=2)
    if none is not None:
        company = beside if other is None else beside | (values[:, :, other] == 1)
        both = (values[:, :, none] == 1) & company
        if contradiction == "labels":
            values = values.copy()
            values[both, none] = 0
        elif both.any():  # seldom: whole arrays of text are not written for nothing
            values = np.where(both[:, :, None], np.nan, values)
            statuses = np.where(both, "unparsable", statuses)
            first = np.where(both, -1, first)
            beside = beside & ~both
    if other is not None and beside.any():
        values = values.copy()
        values[beside, other] = 0
    return replace(matrix, values=values, statuses=statuses, first=first.astype(np.int16))


def reply_states(runs: LabelRuns) -> pl.DataFrame:
    """What became of the replies of each rater.

    Returns
    -------
    polars.DataFrame
        ``rater, items, runs, replies, read, missing`` and ``reasons`` (status and count). Where
        replies are known also ``contradictions``, ``too_many`` (more labels than the prompt allows)
        and ``unknown`` (replies with an entry outside the set). `read` and `missing` add up to
        `replies`: none is turned into a label.
    """
    rows = []
    for matrix in runs.matrices:
        read = matrix.known
        # Known is by label: a reply that is ok but leaves a label open is missing too, under its
        # status.
        why, counts = np.unique(matrix.statuses[~read], return_counts=True)
        tally = dict(zip(why.tolist(), counts.tolist(), strict=True))
        rows.append(
            {
                "rater": matrix.rater,
                "items": len(matrix.items),
                "runs": len(matrix.runs),
                "replies": read.size,
                "read": int(read.sum()),
                "missing": int((~read).sum()),
                "reasons": ", ".join(f"{s} {tally[s]}" for s in STATUSES if s in tally),
            }
        )
    frame = pl.DataFrame(rows)
    if runs.entries is None:
        return frame
    flagged = runs.entries.group_by("rater").agg(**_flag_counts())
    return frame.join(flagged, on="rater", how="left", maintain_order="left").with_columns(
        pl.col("contradictions", "too_many", "unknown").fill_null(0)
    )


def _flag_counts() -> dict[str, pl.Expr]:
    kinds = {"contradictions": "contradiction", "too_many": "too_many"}
    flagged = {
        name: pl.col("flags").list.eval(pl.element().struct.field("kind") == kind).list.any().sum()
        for name, kind in kinds.items()
    }
    return {**flagged, "unknown": (pl.col("unknown").list.len() > 0).sum()}


def unknown_labels(runs: LabelRuns) -> pl.DataFrame:
    """Entries outside the declared set by rater, the most frequent first (Sharma et al., Table 6).

    Returns
    -------
    polars.DataFrame
        ``rater, label, count``; spellings that differ in case alone are one. Empty where replies
        are not known.
    """
    if runs.entries is None:
        return pl.DataFrame(schema={"rater": pl.String, "label": pl.String, "count": pl.UInt32})
    own = runs.entries.filter(pl.col("rater").is_in(list(runs.raters)))
    entries = own.select("rater", label=pl.col("unknown")).explode("label").drop_nulls()
    return (
        entries.with_columns(_form=pl.col("label").str.to_lowercase())
        .group_by("rater", "_form", maintain_order=True)
        .agg(pl.col("label").first(), count=pl.len())
        .drop("_form")
        .sort("count", "label", descending=[True, False])
        .sort("rater", maintain_order=True)
    )
