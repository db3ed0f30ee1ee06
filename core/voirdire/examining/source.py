"""What can be examined: a benchmark, a study, a file of ratings, a session folder, a frame."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire import tables
from voirdire._errors import InputError
from voirdire._manager import plugins
from voirdire.examining._benchmark import registered_benchmark
from voirdire.store import is_session, session_study
from voirdire.study import Rater, Source, Study, load_study

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.examining._benchmark import Benchmark
    from voirdire.tables import Tables


def resolve(
    source: str | Path | Study | pl.DataFrame,
    data: str | Path | None = None,
    reference: Sequence[str] = (),
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
        return *tables.from_frame(source, reference=reference), None
    named = is_benchmark(source, data)
    path = Path(source)
    if path.is_dir() and not named:
        return _session(path), None, None
    if path.suffix == ".toml" and not named:
        return load_study(path), None, None
    if path.is_file() and not named:
        return *tables.read_file(path, reference=reference), None
    return _benchmark(str(source), data)


def is_benchmark(source: object, data: str | Path | None) -> bool:
    """Whether a benchmark is meant, whatever lies at a path of its name: only it takes `data`."""
    return data is not None and str(source) in plugins().names("benchmark")


def _session(folder: Path) -> Study:
    """The study of a session, its data being the ratings derived there."""
    ratings = folder / "ratings.parquet"
    if is_session(folder) and not ratings.is_file():
        raise InputError(
            f"session {folder} has no tables yet: write them by voirdire session reparse {folder}"
        )
    if not (folder / "study.toml").is_file() or not ratings.is_file():
        raise InputError(
            f"{folder} is no session folder: study.toml and ratings.parquet are not both in it"
        )
    if is_session(folder) and not any(map(_holds_rows, (ratings, folder / "preferences.parquet"))):
        raise InputError(
            f"session {folder} holds no score: the parser of its raters breaks on every reply; "
            f"mend it, then voirdire session reparse {folder}"
        )
    # Human ratings that the study names lie beside the file it was run from, not in the session.
    study = session_study(folder) if is_session(folder) else load_study(folder / "study.toml")
    source = Source(path=_beside(ratings, study.folder), layout="long")
    data = study.data.model_copy(update={"sources": (*study.data.sources, source)})
    return study.model_copy(update={"data": data, "panel": _panel(folder, study)})


def _holds_rows(path: Path) -> bool:
    return path.is_file() and bool(pl.scan_parquet(path).select(pl.len()).collect().item())


def _beside(path: Path, folder: str) -> str:
    """A path as seen from the study's folder, so that reports name no folder of this machine."""
    try:
        return os.path.relpath(path.resolve(), Path(folder).resolve())
    except ValueError:  # another drive
        return str(path.resolve())


def _panel(folder: Path, study: Study) -> tuple[Rater, ...]:
    """The panel with the temperatures that were sent, raters' own defaults included."""
    path = folder / "raters.parquet"
    if not path.is_file():
        return study.panel
    sent = dict(pl.read_parquet(path, columns=["rater", "temperature"]).iter_rows())
    return tuple(
        rater.model_copy(update={"temperature": sent.get(rater.name, rater.temperature)})
        for rater in study.panel
    )


def _benchmark(name: str, data: str | Path | None) -> tuple[Study, None, Benchmark]:
    known = plugins().names("benchmark")
    if name not in known and Path(name).suffix:
        raise InputError(f"{name}: there is no such file")
    if name not in known:
        raise InputError(
            f"{name!r} is neither a file, a session folder nor a benchmark "
            f"(benchmarks: {', '.join(known) or 'none'})"
        )
    benchmark = registered_benchmark(name)
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
