"""Sources of a comparison: tables of predictions, tables of printed results, folders of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from voirdire._errors import InputError, TableError
from voirdire.examining.comparing._predictions import is_predictions, prediction_cells
from voirdire.examining.comparing._printed import is_printed, printed_cells
from voirdire.tables import read_raw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.comparing._cells import Cell

NAME = "predictions"


def read_cells(sources: Sequence[str | Path]) -> list[Cell]:
    """The cells of all sources, in their order.

    Parameters
    ----------
    sources : sequence of paths
        A table of predictions (``item, truth, predicted`` with a name a cell; or ``item, label,
        truth, predicted`` with 0 or 1), a table of printed results (``f1`` with ``f1_random``,
        ``shares`` or ``support``), or a folder in which files called predictions lie, at any depth.
        ``configuration``, ``labels``, ``task`` and ``seed`` are optional columns of all of them.

    Raises
    ------
    InputError
        A source does not exist, holds nothing to compare, or a value of it is wrong.
    """
    cells: list[Cell] = []
    for source in sources:
        path = Path(source)
        for file in _files(path):
            cells += _read(file, file.relative_to(path).parent.as_posix() if path.is_dir() else "")
    if not cells:
        raise InputError("there is nothing to compare: give tables of predictions or results")
    return cells


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.rglob(f"{NAME}.*") if file.suffix in (".parquet", ".csv"))
    if not found:
        raise InputError(
            f"{path} is a folder, and no file {NAME}.parquet or {NAME}.csv lies in it: give a "
            "table of predictions or of printed results"
        )
    return found


def _read(path: Path, within: str) -> list[Cell]:
    raw = read_raw(path)
    own = path.resolve().parent.name if path.stem == NAME else path.stem
    default = within if within not in ("", ".") else own or path.stem
    if is_predictions(raw.frame):
        return prediction_cells(raw, path, default)
    if is_printed(raw.frame):
        return printed_cells(raw, path)
    raise TableError(
        f"{path}: neither predictions (columns item, truth, predicted) nor printed results (column "
        f"f1 beside f1_random, shares or support); its columns are {', '.join(raw.frame.columns)}"
    )
