"""Tables as typed columns over values: a column says what its cells are, so no renderer guesses."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeGuard, get_args, runtime_checkable

from voirdire.errors import PluginError
from voirdire.late import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

Kind = Literal["text", "number", "share", "interval", "count"]
KINDS: tuple[Kind, ...] = get_args(Kind)
FigureKind = Literal["bars", "grouped_bars", "lines", "intervals", "heat"]

#: What a cell without a value says.
MISSING = "–"


@runtime_checkable
class Bounds(Protocol):
    """What an interval must have to stand in a cell; a `stats.Interval` has it."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Spread:
    """A number with its standard deviation, None where there is none: 0.750 ± 0.030."""

    value: float | None
    sd: float | None = None


@dataclass(frozen=True, slots=True)
class Marked:
    """A value with a mark behind it that the section's text explains; the mark alone for None."""

    value: str | float | Spread | tuple[float, float] | Bounds | None
    mark: str = ""


Cell = str | float | Spread | tuple[float, float] | Bounds | Marked | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, what its cells hold, and for numbers how they are printed.

    Attributes
    ----------
    name : str
        Stands above the column, and is the key of its values in `Table.records`.
    kind : {"text", "number", "share", "interval", "count"}
        A share lies in [0, 1] and is printed in per cent; an interval is a pair (low, high), or
        whatever has `low` and `high`; a count is whole. None and NaN are missing, in every kind.
    digits : int
        Decimals of numbers and of an interval's bounds; a number given as an int is printed whole.
    signed : bool
        Numbers are differences, and a plus is printed too.
    """

    name: str
    kind: Kind
    digits: int = 3
    signed: bool = False

    @property
    def numeric(self) -> bool:
        """Whether cells stand at the right."""
        return self.kind != "text"

    def written(self, cell: Cell) -> str:
        """The cell as people read it.

        >>> number("Bias", signed=True).written(-0.1), interval("F").written((0.5, 0.75))
        ('−0.100', '[0.500, 0.750]')
        """
        if isinstance(cell, Marked):
            # A mark without a value says why there is none; a dash before it would say it twice.
            bare = cell.value is None and cell.mark
            return cell.mark.strip() if bare else f"{self.written(cell.value)}{cell.mark}"
        if is_missing(cell):
            return MISSING
        match self.kind:
            case "text" | "count":
                return str(cell)
            case "share":
                return share_text(cell)  # type: ignore[arg-type]
            case "interval":
                low, high = bounds(cell)
                return interval_text(low, high, self.digits)
            case _:
                return self._number(cell)

    def _number(self, cell: Any) -> str:
        value, sd = (cell.value, cell.sd) if isinstance(cell, Spread) else (cell, None)
        value_text = number_text(value, self.digits, signed=self.signed)
        return value_text if is_missing(sd) else f"{value_text} ± {number_text(sd, self.digits)}"

    def holds(self, cell: Cell) -> bool:
        """Whether a cell of this column may have that value."""
        value: object = cell.value if isinstance(cell, Marked) else cell
        if value is None:
            return True
        match self.kind:
            case "text":
                return isinstance(value, str)
            case "count":
                return isinstance(value, Integral) or _is_nan(value)
            case "interval":
                return has_bounds(value) or _is_nan(value)
            case "number":
                return isinstance(value, Real | Spread)
            case _:
                return isinstance(value, Real)


def text(name: str) -> Column:
    """A column of names or sentences."""
    return Column(name, "text")


def number(name: str, digits: int = 3, *, signed: bool = False) -> Column:
    """A column of numbers; with `signed`, of differences."""
    return Column(name, "number", digits, signed)


def share(name: str) -> Column:
    """A column of shares in [0, 1], printed in per cent."""
    return Column(name, "share")


def interval(name: str, digits: int = 3) -> Column:
    """A column of intervals: pairs (low, high), or results with `low` and `high`."""
    return Column(name, "interval", digits)


def count(name: str) -> Column:
    """A column of whole numbers."""
    return Column(name, "count")


@dataclass(frozen=True, slots=True)
class Table:
    """Columns with different names over rows of values; each is a `Cell` of its column's kind.

    Raises
    ------
    PluginError
        A name that two columns have, a row with another number of cells than there are columns, or
        a cell that its column cannot hold.
    """

    columns: tuple[Column, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()

    def __post_init__(self) -> None:
        names = self.names
        twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
        if twice is not None:
            raise PluginError(f"table: two columns are named {twice!r}; give each its own name")
        for at, row in enumerate(self.rows, start=1):
            if len(row) != len(names):
                raise PluginError(f"table: row {at} has {len(row)} cells for {len(names)} columns")
            for column, cell in zip(self.columns, row, strict=True):
                if not column.holds(cell):
                    raise PluginError(
                        f"table: row {at}, column {column.name!r}: {cell!r} is no {column.kind}"
                    )

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(column.name for column in self.columns)

    def records(self) -> tuple[dict[str, Any], ...]:
        """Each row as a mapping from column names to values."""
        return tuple(dict(zip(self.names, row, strict=True)) for row in self.rows)

    def written(self) -> Iterator[tuple[str, ...]]:
        """Each row as people read it."""
        for row in self.rows:
            yield tuple(col.written(cell) for col, cell in zip(self.columns, row, strict=True))


def frame_table(frame: pl.DataFrame, columns: Mapping[str, Column]) -> Table:
    """A table of some columns of a frame, in the order given.

    Parameters
    ----------
    frame : DataFrame
    columns : mapping of str to Column
        A column of the frame -> how it is shown.
    """
    return Table(tuple(columns.values()), tuple(frame.select(*columns).iter_rows()))


def matrix(
    cells: Mapping[tuple[Any, Any], Cell],
    rows: Mapping[Any, str],
    columns: Mapping[Any, Column],
    corner: str,
) -> Table:
    """A table with a cell for each row and column; a pair without one is missing.

    Parameters
    ----------
    cells : mapping of (row, column) to a cell
    rows : mapping
        What stands for a row in `cells` -> how it is called.
    columns : mapping
        What stands for a column -> how it is shown.
    corner : str
        What the rows are.

    Examples
    --------
    >>> matrix({("a", 1): 3}, {"a": "A"}, {1: count("one"), 2: count("two")}, "Letter").rows
    (('A', 3, None),)
    """
    body = tuple(
        (name, *(cells.get((row, column)) for column in columns)) for row, name in rows.items()
    )
    return Table((text(corner), *columns.values()), body)


def frame_matrix(
    frame: pl.DataFrame,
    cell: tuple[str, str, str],
    columns: Mapping[Any, Column],
    corner: str,
    rows: Mapping[Any, str] | None = None,
) -> Table:
    """A long frame as a `matrix`.

    Parameters
    ----------
    frame : polars.DataFrame
        A row a cell; of two rows for one cell the last counts.
    cell : tuple of str
        The names of its columns: what a row of the table is, what a column is, and the value.
    columns, corner
        See `matrix`.
    rows : mapping, optional
        See `matrix`; by default each value by its own name, in the order of the frame.

    Examples
    --------
    >>> import polars as pl
    >>> long = pl.DataFrame({"label": ["calm", "calm"], "rater": ["a", "b"], "kappa": [0.5, 0.7]})
    >>> heads = {"a": number("A"), "b": number("B")}
    >>> frame_matrix(long, ("label", "rater", "kappa"), heads, "Label").rows
    (('calm', 0.5, 0.7),)
    """
    cells = {(row, column): value for row, column, value in frame.select(cell).iter_rows()}
    if rows is None:
        rows = {value: str(value) for value in frame[cell[0]].unique(maintain_order=True)}
    return matrix(cells, rows, columns, corner)


@dataclass(frozen=True, slots=True)
class SectionFigure:
    """What a section's figure shows; `report` draws it.

    Attributes
    ----------
    kind : {"bars", "grouped_bars", "lines", "intervals", "heat"}
        `bars` stacks the series on each label, `grouped_bars` sets them side by side, `lines` joins
        each series from label to label, and `intervals` draws a point with its interval for each
        series of a label. Those of a leading section are drawn on a terminal too. `heat` shades a
        cell for each label and series and writes its value in it.
    labels : tuple of str
        Along the horizontal axis.
    series : tuple of (str, tuple of float)
        A name and a value for each label; NaN is left blank.
    x, y : str
        What the axes are.
    caption : str
        How to read it; the section's text where it is empty.
    intervals : tuple of tuple
        Of kind `intervals` alone: for each series an interval for each label, a pair (low, high) or
        a result with `low` and `high`; None where there is none.

    Raises
    ------
    PluginError
        A series without exactly one value, or interval, for each label; intervals of another kind.
    """

    kind: FigureKind
    labels: tuple[str, ...]
    series: tuple[tuple[str, tuple[float, ...]], ...]
    x: str = ""
    y: str = ""
    caption: str = ""
    intervals: tuple[tuple[Bounds | tuple[float, float] | None, ...], ...] = ()

    def __post_init__(self) -> None:
        for name, values in self.series:
            if len(values) != len(self.labels):
                raise PluginError(
                    f"figure: series {name!r} has {len(values)} values for "
                    f"{len(self.labels)} labels"
                )
        wanted = len(self.series) if self.kind == "intervals" else 0
        sizes = [len(own) for own in self.intervals]
        if sizes != [len(self.labels)] * wanted:
            raise PluginError(
                f"figure: kind {self.kind!r} needs intervals of {wanted} series and "
                f"{len(self.labels)} labels, got series of {sizes}"
            )

    def ends(self, series: int) -> tuple[tuple[float, float], ...]:
        """The interval of each label; a value without one is its own interval."""
        values = self.series[series][1]
        return tuple(
            (value, value) if is_missing(one) else bounds(one)
            for one, value in zip(self.intervals[series], values, strict=True)
        )


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report: a heading, what is said of it, its tables and its figures.

    One that is `leading` holds the main numbers: the terminal prints it before the coefficients.
    One that is a benchmark's `own` stands in files and pages before the tables of any examination.
    """

    title: str
    text: str = ""
    tables: tuple[Table, ...] = ()
    figures: tuple[SectionFigure, ...] = ()
    leading: bool = False
    own: bool = False

    @property
    def table(self) -> Table:
        """The first table; one without columns where the section has none."""
        return self.tables[0] if self.tables else Table()

    @property
    def has_rows(self) -> bool:
        """Whether any of its tables has a row."""
        return any(table.rows for table in self.tables)


def places_of(column: pl.Series, names: Sequence[str]) -> NDArray[np.int64]:
    """(n,) the place of each value of a column among names, all different; -1 for none of them.

    >>> import polars as pl
    >>> places_of(pl.Series(["b", None, "z"]), ["a", "b"]).tolist()
    [1, -1, -1]
    """
    import polars as pl  # noqa: PLC0415 - tables of plain values need no frames

    coded = column.cast(pl.String).cast(pl.Enum(list(names)), strict=False)
    return coded.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()


def is_missing(value: object) -> bool:
    """Whether a cell has no value: None, NaN, an infinity, or an interval of such bounds.

    >>> is_missing(None), is_missing(float("nan")), is_missing((0.1, 0.2)), is_missing("")
    (True, True, False, False)
    """
    if value is None:
        return True
    if isinstance(value, Spread):
        return is_missing(value.value)
    if isinstance(value, Real):
        return not math.isfinite(value)
    return has_bounds(value) and all(not math.isfinite(bound) for bound in bounds(value))


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def bounds(cell: Any) -> tuple[float, float]:
    """The two ends of an interval, marked or not."""
    cell = cell.value if isinstance(cell, Marked) else cell
    low, high = cell if isinstance(cell, tuple) else (cell.low, cell.high)
    return float(low), float(high)


def has_bounds(value: object) -> TypeGuard[Bounds | tuple[float, float]]:
    """Whether a cell is an interval: a pair of numbers, or an object with both ends."""
    if isinstance(value, tuple):
        return len(value) == 2 and all(isinstance(bound, Real) for bound in value)
    return isinstance(value, Bounds)


def number_text(value: Any, digits: int = 3, *, signed: bool = False) -> str:
    """A number as tables and sentences print it: an int whole, and no minus before a zero.

    >>> number_text(0.8809), number_text(None), number_text(1200), number_text(-0.0002)
    ('0.881', '–', '1200', '0.000')
    >>> number_text(0.248, signed=True), number_text(-0.1, 2, signed=True)
    ('+0.248', '−0.10')
    """
    if is_missing(value):
        return MISSING
    plus = "+" if signed else ""
    # A difference of whole numbers stands among other differences, and keeps their decimals.
    digits = 0 if isinstance(value, Integral) and not signed else digits
    return f"{float(value):{plus}z.{digits}f}".replace("-", "−")


def interval_text(low: float, high: float, digits: int = 3) -> str:
    """An interval as tables and sentences print it.

    >>> interval_text(-0.02, 0.98)
    '[−0.020, 0.980]'
    """
    return f"[{number_text(float(low), digits)}, {number_text(float(high), digits)}]"


def share_text(value: float | None) -> str:
    """A share in per cent, rounded, but not up to 100.

    >>> share_text(0.0417), share_text(0.9996), share_text(1.0)
    ('4.2 %', '99.9 %', '100.0 %')
    """
    if value is None or not math.isfinite(value):
        return MISSING
    # 99.96 % must not read as all.
    return f"{min(value, 0.999) if value < 1 else value:.1%}".replace("%", " %")
