"""Judgements of several raters as codes of few values, and as distinct patterns with counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.errors import StatisticsError
from voirdire.kinds._column import Cells, text_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.kinds._kind import Domain, JudgementKind
    from voirdire.schema import Status

    Codes = NDArray[np.int32]
    Floats = NDArray[np.float64]

#: The code of a judgement that is missing.
MISSING = -1


@dataclass(frozen=True, slots=True, eq=False)
class Judgements:
    """What R raters said of N units.

    Attributes
    ----------
    raters : tuple of str
        In the order of the rows of `codes`.
    values : tuple
        The V distinct values that occur.
    vectors : (V, D) float64
        One vector a value.
    codes : (R, N) int32
        Places in `values`; -1 is missing.
    strange : mapping
        A cell that is no value of the domain -> its status and how often it stands there.
    """

    raters: tuple[str, ...]
    values: tuple[Hashable, ...]
    vectors: Floats
    codes: Codes
    strange: Mapping[str, tuple[Status, int]]

    def rows(self, rater: str) -> Floats:
        """(N, D) the vectors of one rater; NaN where it said nothing."""
        missing = np.full((1, self.vectors.shape[1]), np.nan)
        # The code of a missing judgement, -1, is the last row.
        rows: Floats = np.concatenate([self.vectors, missing])[self.codes[self.raters.index(rater)]]
        return rows

    def patterns(self, *groups: NDArray[Any]) -> JudgementPatterns:
        """The distinct columns of `codes`, told apart by groups as well, and how often each occurs.

        Parameters
        ----------
        *groups : (N,) arrays
            What must not be put together, such as the system or the cluster of each unit.
        """
        keys = [np.unique(group, return_inverse=True)[1].reshape(-1) for group in groups]
        rows = np.ascontiguousarray(np.vstack([self.codes, *keys]).T.astype(np.int64))
        # Each row as one value of bytes: np.unique compares these many times faster than rows.
        whole = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
        _, first, place, counts = np.unique(
            whole, return_index=True, return_inverse=True, return_counts=True
        )
        return JudgementPatterns(self, self.codes[:, first], counts, place.reshape(-1), first)


@dataclass(frozen=True, slots=True, eq=False)
class JudgementPatterns:
    """Distinct columns of judgements; a statistic over units is a sum over these, by count.

    Attributes
    ----------
    of : Judgements
        What they are the patterns of.
    codes : (R, P) int32
        One column a pattern.
    counts : (P,) int64
        Units that show it.
    place : (N,) intp
        The pattern of each unit.
    first : (P,) intp
        A unit that shows it.
    """

    of: Judgements
    codes: Codes
    counts: NDArray[np.int64]
    place: NDArray[np.intp]
    first: NDArray[np.intp]

    def mean(self, raters: Sequence[str]) -> Floats:
        """(P, D) the mean vector of raters in each pattern; NaN where none of them said anything.

        Raises
        ------
        StatisticsError
            No rater is named.
        """
        if not raters:
            raise StatisticsError("the mean of judgements needs a rater")
        codes = self.codes[[self.of.raters.index(rater) for rater in raters]]
        present = codes != MISSING
        padded = np.concatenate([self.of.vectors, np.zeros((1, self.of.vectors.shape[1]))])
        with np.errstate(invalid="ignore"):
            mean: Floats = padded[codes].sum(axis=0) / present.sum(axis=0)[:, None]
        return mean

    def products(self, one: Floats, other: Floats) -> Floats:
        """(P,) dot products of two vectors in each pattern."""
        return np.asarray(np.einsum("pd,pd->p", one, other))


def encode(
    kind: JudgementKind[Domain], columns: Mapping[str, pl.Series], domain: Domain, name: str = ""
) -> Judgements:
    """Columns of raters as judgements of one kind.

    Parameters
    ----------
    kind : JudgementKind
        How cells are read.
    columns : mapping
        Rater -> its column; all of one length. What says nothing is missing.
    domain : Scale, LabelSet, ...
        The declared values.
    name : str
        What the columns are about, for errors.

    Raises
    ------
    StatisticsError
        Columns of different lengths.

    Examples
    --------
    >>> import polars as pl
    >>> from voirdire.kinds import LABEL
    >>> from voirdire.parsing import LabelSet
    >>> columns = {"ann": pl.Series(["yes", "no", None]), "gpt": pl.Series(["Yes", "yes", "maybe"])}
    >>> said = encode(LABEL, columns, LabelSet(("no", "yes")))
    >>> said.codes.tolist(), said.values, said.strange
    ([[1, 0, -1], [1, 1, -1]], ('no', 'yes'), {'maybe': ('out_of_scale', 1)})
    """
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise StatisticsError(f"columns of judgements differ in length: {sorted(lengths)}")
    cells = Cells.of(name, columns.values())
    checked = kind.check(cells, domain)
    values = tuple(sorted({v for v in checked.values if v is not None}))  # type: ignore[type-var]
    codes = {value: code for code, value in enumerate(values)}
    by_text = {
        text: codes[value]
        for text, value in zip(cells.texts, checked.values, strict=True)
        if value is not None
    }
    strange = {
        text: (status, count)
        for text, status, count in zip(cells.texts, checked.statuses, cells.counts, strict=True)
        if status != "ok"
    }
    coded = [_codes(column, by_text) for column in columns.values()]
    return Judgements(
        tuple(columns),
        values,
        kind.vectors(values, domain),
        np.array(coded, np.int32).reshape(len(columns), -1),
        strange,
    )


def _codes(column: pl.Series, by_text: Mapping[str, int]) -> Codes:
    """The code of each cell, looked up once for each distinct one."""
    distinct = column.unique()
    code_of = [by_text.get(text_of(cell) or "", MISSING) for cell in distinct.to_list()]
    codes = column.replace_strict(distinct, pl.Series(code_of, dtype=pl.Int32), default=MISSING)
    return codes.fill_null(MISSING).to_numpy()
