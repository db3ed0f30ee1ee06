"""What can be examined: a benchmark, a study, a file of ratings, a session folder, a frame."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from voirdire import tables
from voirdire._errors import InputError
from voirdire._manager import plugins
from voirdire.study import Study, load_study

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.examine._examination import Examination
    from voirdire.tables import Tables


class Benchmark(Protocol):
    """What a plugin registers as a benchmark."""

    def study(self, data: Path | None) -> Study:
        """The study over the data in that folder."""
        ...

    def review(self, examination: Examination) -> Examination:
        """The examination with the benchmark's own notes and sections added."""
        ...


def resolve(
    source: str | Path | Study | pl.DataFrame, data: str | Path | None = None
) -> tuple[Study, Tables | None, Benchmark | None]:
    """The study behind a source; its tables where they are at hand; its benchmark if it is one.

    Raises
    ------
    InputError
        No such file, benchmark or session; the message lists the benchmarks there are.
    """
    if isinstance(source, Study):
        return source, None, None
    if isinstance(source, pl.DataFrame):
        study, found = tables.from_frame(source)
        return study, found, None
    path = Path(source)
    if path.is_dir():
        return *tables.read_session(path), None
    if path.suffix == ".toml":
        return load_study(path), None, None
    if path.is_file():
        return tables.draft_study(path), None, None
    return _benchmark(str(source), data)


def _benchmark(name: str, data: str | Path | None) -> tuple[Study, None, Benchmark]:
    known = plugins().names("benchmark")
    if name not in known:
        raise InputError(
            f"{name!r} is neither a file, a session folder nor a benchmark "
            f"(benchmarks: {', '.join(known) or 'none'})"
        )
    benchmark = plugins().resolve("benchmark", name)
    folder = None if data is None else Path(data)
    if folder is not None and not folder.is_dir():
        raise InputError(f"--data {folder}: there is no such folder")
    return benchmark.study(folder), None, benchmark


def adjust(study: Study, changes: Mapping[str, Mapping[str, Any]]) -> Study:
    """A study with some keys of `data` and `analysis` exchanged; None leaves a key as it is."""
    update = {
        part: getattr(study, part).model_copy(
            update={key: value for key, value in keys.items() if value is not None}
        )
        for part, keys in changes.items()
    }
    return study.model_copy(update=update)
