"""Running a grid: data read once, finished cells skipped, a bar for whoever watches."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from voirdire import plugins as loaded_plugins
from voirdire.errors import (
    InputError,
    MissingExtraError,
    SessionError,
    TableError,
    VoirdireError,
)
from voirdire.files import write_json
from voirdire.shown import terminal, visible
from voirdire.store.lock import acquire, release
from voirdire_judges.classifiers._cells import (
    GRID,
    Cell,
    card_of,
    cells_of,
    classify_part,
)
from voirdire_judges.classifiers._data import read_dataset
from voirdire_judges.classifiers._train import prepared, refusal, train_cell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from voirdire import Plugins
    from voirdire.study import Study
    from voirdire_judges.classifiers._cells import State
    from voirdire_judges.classifiers._data import Dataset

Outcome = Literal["trained", "skipped", "elsewhere"]
#: Failed cells that are named with their reasons.
_NAMED = 5


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
) -> dict[Outcome, int]:
    """Train and test every cell that is not finished.

    A cell that was killed goes on from its last checkpoint. Each cell has a folder of its own
    under ``out/cells``, named by a hash of its declaration and data: change one and it is a new
    cell. Data and options of all cells are checked first. A training that fails then, and a cell
    whose train lacks a class that is tested, is named at the end, when the others are through.
    Several processes may work on one grid.

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
        How many cells were ``trained``, ``skipped`` since they were finished, and left to another
        process that trains them (``elsewhere``).

    Raises
    ------
    StudyError, TableError
        The study or its data cannot be used; what is missing is named before any training.
    InputError
        An option is wrong, or some cells could not be trained.
    MissingExtraError
        A classifier needs an extra.
    """
    out, registry, spec = Path(out), plugins or loaded_plugins(), classify_part(study)
    cells = cells_of(study, only)
    _check_data(study, cells)
    factories = {cell.use: registry.resolve("classifier", cell.use) for cell in cells}
    todo = [cell for cell in cells if cell.state(out) != "finished"]
    data = {name: _read(study, name) for name in dict.fromkeys(cell.data for cell in todo)}
    machine = {**(machine or {}), "folder": study.folder}
    refused = {}
    for cell in todo:
        # All cells once without training: a wrong option of the last one should not show
        # after a night.
        made, parts = prepared(cell, data[cell.data], factories[cell.use], machine)
        refused[cell.name] = refusal(cell, data[cell.data], spec, made, parts)
    write_json(out / GRID, [card_of(cell) for cell in cells_of(study)])
    # A rare class concerns the cells that test it: the others are trained.
    failed = [f"{name}: {why}" for name, why in refused.items() if why]
    counts: dict[Outcome, int] = {
        "trained": 0,
        "skipped": len(cells) - len(todo),
        "elsewhere": 0,
    }
    with _bars(len(cells), len(cells) - len(todo), quiet=quiet) as (begin, progress):
        for cell in todo:
            if refused[cell.name]:
                continue
            begin(cell)
            how = (data[cell.data], spec, factories[cell.use], out, machine, progress)
            try:
                counts[_in_turn(cell, out, partial(train_cell, cell, *how))] += 1
            # Every other cell of that classifier would fail by it as well.
            except MissingExtraError:
                raise
            except VoirdireError as error:
                failed.append(f"{cell.name}: {error}")
    if failed:
        raise InputError(_summary(failed, len(cells)))
    return counts


def _in_turn(cell: Cell, out: Path, train: Callable[[], object]) -> Outcome:
    """Train a cell, unless another process did so or is about it."""
    folder = cell.folder(out)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        lock = acquire(folder)
    except SessionError:
        return "elsewhere"
    try:
        # Asked again under the lock: the process that held it may have finished the cell.
        if cell.state(out) == "finished":
            return "skipped"
        train()
        return "trained"
    finally:
        release(lock)


def _summary(failed: Sequence[str], cells: int) -> str:
    """The cells that failed, the first of them with reasons."""
    more = f"; and {len(failed) - _NAMED} more" if len(failed) > _NAMED else ""
    return (
        f"{len(failed)} of {cells} cells failed (the others are done; run again to try these): "
        f"{'; '.join(failed[:_NAMED])}{more}"
    )


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
    from rich.markup import escape  # noqa: PLC0415 - columns of a bar read markup
    from rich.progress import Progress  # noqa: PLC0415 - only here

    console = terminal(stderr=True)
    off = quiet or not console.is_terminal
    with Progress(console=console, transient=True, disable=off) as bar:
        whole = bar.add_task("cells", total=total, completed=done)
        inner = bar.add_task("", total=None, visible=False)
        begun, name = 0, ""

        def begin(cell: Cell) -> None:
            nonlocal begun, name
            name = escape(visible(cell.name))
            bar.update(whole, completed=done + begun)
            bar.reset(inner, total=None, description=name, visible=True)
            begun += 1

        def progress(what: str, at: int, of: int) -> None:
            bar.update(inner, completed=at, total=of, description=f"{name}, {what}")

        yield begin, progress
