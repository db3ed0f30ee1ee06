"""Running a grid: data read once, finished cells skipped, a bar for whoever watches."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire._errors import TableError
from voirdire._manager import plugins as loaded_plugins
from voirdire_judges.classifiers._cells import GRID, Cell, card_of, cells_of, classify_part
from voirdire_judges.classifiers._data import read_dataset
from voirdire_judges.classifiers._train import train_cell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from voirdire._registry import Plugins
    from voirdire.study import Study
    from voirdire_judges.classifiers._cells import State
    from voirdire_judges.classifiers._data import Dataset


def dry_run(study: Study, out: str | Path, only: str = "") -> list[tuple[Cell, State]]:
    """The cells of a study and what has become of each; nothing is trained."""
    return [(cell, cell.state(Path(out))) for cell in cells_of(study, only)]


def fit_grid(
    study: Study,
    out: str | Path,
    *,
    only: str = "",
    machine: Mapping[str, Any] | None = None,
    quiet: bool = False,
    plugins: Plugins | None = None,
) -> dict[str, int]:
    """Train and test every cell that is not finished.

    A cell that was killed goes on from its last checkpoint. Each cell has a folder of its own
    under ``out/cells``, named by a hash of its declaration and data: change one and it is a new
    cell.

    Parameters
    ----------
    study : Study
        With a part `classify`.
    out : str or Path
        The folder of the grid.
    only : str
        Words that a cell's name must hold.
    machine : mapping, optional
        ``device``, ``precision`` and ``threads``, for the classifiers that take them.
    quiet : bool
        Show no progress.

    Returns
    -------
    dict
        ``trained`` and ``skipped``: how many cells.

    Raises
    ------
    StudyError, TableError
        The study or its data cannot be used; a file that is missing is named before any training.
    MissingExtraError
        A classifier needs an extra.
    """
    out, known = Path(out), plugins or loaded_plugins()
    cells = cells_of(study, only)
    _check_data(study, cells)
    factories = {cell.use: known.resolve("classifier", cell.use) for cell in cells}
    out.mkdir(parents=True, exist_ok=True)
    plan = [card_of(cell) for cell in cells_of(study)]
    (out / GRID).write_text(json.dumps(plan, indent=1), encoding="utf-8")
    todo = [cell for cell in cells if cell.state(out) != "finished"]
    held: dict[str, Dataset] = {}
    with _bars(len(cells), len(cells) - len(todo), quiet=quiet) as (begin, progress):
        for cell in todo:
            begin(cell)
            if cell.data not in held:
                held = {cell.data: _read(study, cell.data)}
            train_cell(
                cell,
                held[cell.data],
                classify_part(study),
                factories[cell.use],
                out,
                {**(machine or {}), "folder": study.folder},
                progress,
            )
    return {"trained": len(todo), "skipped": len(cells) - len(todo)}


def _read(study: Study, name: str) -> Dataset:
    spec = classify_part(study)
    chosen = next(data for data in spec.data if data.name == name)
    return read_dataset(spec, chosen, study.folder)


def _check_data(study: Study, cells: list[Cell]) -> None:
    """Name the file that is missing, if one is."""
    wanted = {cell.data for cell in cells if not cell.key}
    for data in classify_part(study).data:
        for name in filter(None, (data.path, data.test)):
            path = Path(study.folder) / name
            if data.name in wanted and not path.is_file():
                raise TableError(f"data {data.name!r}: there is no file {path}")


@contextmanager
def _bars(
    total: int, done: int, *, quiet: bool
) -> Iterator[tuple[Callable[[Cell], None], Callable[[str, int, int], None]]]:
    """One bar for cells and one for the steps of the cell at work, on stderr."""
    from rich.console import Console  # noqa: PLC0415 - only here
    from rich.progress import Progress  # noqa: PLC0415 - only here

    console = Console(stderr=True)
    off = quiet or not console.is_terminal
    with Progress(console=console, transient=True, disable=off) as bar:
        whole = bar.add_task("cells", total=total, completed=done)
        inner = bar.add_task("", total=None, visible=False)
        begun, name = 0, ""

        def begin(cell: Cell) -> None:
            nonlocal begun, name
            name = cell.name
            bar.update(whole, completed=done + begun)
            bar.reset(inner, total=None, description=name, visible=True)
            begun += 1

        def progress(what: str, at: int, of: int) -> None:
            bar.update(inner, completed=at, total=of, description=f"{name}, {what}")

        yield begin, progress
