"""What may be examined: one class a kind of source, each of which opens itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

import polars as pl

from voirdire import tables
from voirdire._manager import plugins
from voirdire.errors import InputError, QuestionError
from voirdire.examining.preferences.source import (
    ReadPreferences,
    preferences_alone,
    split_preferences,
)
from voirdire.examining.preferences.table import preference_table
from voirdire.late import dataclass
from voirdire.study import ReadOptions, Study, load_study

if TYPE_CHECKING:
    from collections.abc import Iterable

    from voirdire.examining.benchmarks import NamedBenchmark
    from voirdire.schema import Finding
    from voirdire.tables import Tables
    from voirdire.tables.judged import ReadJudgements

#: What a caller may hand over; `source_of` says which of the classes below it is.
AnySource: TypeAlias = str | Path | Study | pl.DataFrame | Sequence[str | Path]


@dataclass(frozen=True, slots=True)
class Opened:
    """A source as it was read: nothing is checked, paired or computed yet.

    `tables` is None where there are no ratings, or where the study says where they lie;
    `preferences` is None where there are no comparisons. `by` is what subgroups are called.
    `firsts` are first failures that some raters named of conversations whose turns others judged.
    `found` is what is odd in the source, where `tables` are numbers that were made of it; None
    where it is looked for in the tables themselves. `votes` says that shares of an annotator's runs
    are probabilities of its labels.
    """

    study: Study
    tables: Tables | None = None
    preferences: ReadPreferences | None = None
    benchmark: NamedBenchmark | None = None
    session: Path | None = None
    judgements: ReadJudgements | None = None
    by: str = "subgroup"
    firsts: ReadJudgements | None = None
    found: tuple[Finding, ...] | None = None
    votes: bool = False


class Opens(Protocol):
    """A source of one kind."""

    def open(self) -> Opened:
        """Read it.

        Raises
        ------
        InputError
            It cannot be read, or not so.
        """
        ...


@dataclass(frozen=True, slots=True)
class FilesSource:
    """Files of ratings without a study; the files of people's labels are among `read`."""

    files: tuple[Path, ...]
    reference: tuple[str, ...]
    read: ReadOptions

    def open(self) -> Opened:
        """Draft a study and read by it."""
        return Opened(*tables.read_file(self.files, reference=self.reference, read=self.read))


@dataclass(frozen=True, slots=True, eq=False)
class FrameSource:
    """A frame of ratings."""

    frame: pl.DataFrame
    reference: tuple[str, ...]
    read: ReadOptions
    name: str = "frame"

    def open(self) -> Opened:
        """Draft a study and read by it."""
        return Opened(
            *tables.from_frame(self.frame, reference=self.reference, read=self.read, name=self.name)
        )


@dataclass(frozen=True, slots=True)
class ComparisonsSource:
    """A file or frame that holds comparisons, with a study of its name."""

    study: Study
    preferences: ReadPreferences | None
    read: ReadOptions

    def open(self) -> Opened:
        """As it was read when it was recognised, with what is said of the order shown."""
        compared = self.preferences
        return Opened(
            self.study, preferences=None if compared is None else compared.shown(self.read)
        )


@dataclass(frozen=True, slots=True)
class JudgementsSource:
    """Files or frames of labels, preferences and probabilities, with a study drafted from them."""

    study: Study
    judgements: ReadJudgements

    def open(self) -> Opened:
        """As they were read when they were recognised; comparisons as their tables want them."""
        said = self.judgements
        if said.preferences is None:
            return Opened(self.study, judgements=said)
        kept = said.preferences.filter(pl.col("score").is_not_null())
        compared = ReadPreferences(preference_table(kept), said.hashes, order=said.order)
        return Opened(self.study, preferences=compared, judgements=said)


@dataclass(frozen=True, slots=True)
class StudySource:
    """A study, which says itself where its data lie."""

    study: Study

    def open(self) -> Opened:
        """Take its comparisons apart from its ratings; or labels and probabilities in their place.

        Raises
        ------
        QuestionError
            A file of labels may be read in two ways, and the study does not say which.
        """
        said = _judgements_of(self.study)
        if said is not None:
            study = self.study
            people = study.data.reference or said.people
            data = study.data.model_copy(update={"reference": people})
            return JudgementsSource(study.model_copy(update={"data": data}), said).open()
        study, preferences = split_preferences(self.study)
        if preferences is not None and self.study.data.sources:
            preferences = preferences.shown(self.study.data.sources[0])
        return Opened(study, preferences=preferences)


def _judgements_of(study: Study) -> ReadJudgements | None:
    """Labels, preferences or probabilities of a study's only file; None of any other study.

    A study that writes down a rubric is of scores, unless its source says another kind or its
    columns name two systems.
    """
    from voirdire.tables.judged import (  # noqa: PLC0415 - after what is cheaper to tell
        names_two_systems,
        read_judged,
    )

    if len(study.data.sources) != 1:
        return None
    (source,) = study.data.sources
    path = Path(study.folder) / source.path
    if not path.is_file() or path.name == "ratings.parquet":
        return None
    keys = source.keys_set()
    if source.kind in (None, "score") and study.rubric.model_fields_set:
        # Its columns say that it compares two systems: that is no score, whatever the rubric is of.
        if source.kind == "score" or not names_two_systems(path):
            return None
        keys["kind"] = "preference"
    people = tuple(rater.name for rater in study.panel if rater.kind == "human")
    try:
        found = read_judged(
            path,
            reference=study.data.reference or people,
            read=ReadOptions(**keys),
        )
    except QuestionError as question:
        raise (question if question.key == "reference" else question.in_study()) from None
    return None if found is None else found[1]


@dataclass(frozen=True, slots=True)
class SessionSource:
    """The folder of a session."""

    folder: Path
    votes: bool = False

    def open(self) -> Opened:
        """The study of its tables."""
        from voirdire.examining.session import study_of_session  # noqa: PLC0415 - loads the store

        study = study_of_session(self.folder)
        if study.conversations.unit == "first":
            from voirdire.examining.session_firsts import (  # noqa: PLC0415 - of conversations alone
                firsts_of_session,
            )

            opened = JudgementsSource(*firsts_of_session(self.folder, study)).open()
            return replace(opened, session=self.folder)
        study, firsts = self._apart(study)
        study, preferences = split_preferences(study)
        return Opened(
            study, preferences=preferences, session=self.folder, firsts=firsts, votes=self.votes
        )

    def _apart(self, study: Study) -> tuple[Study, ReadJudgements | None]:
        """The study without raters who name first failures, and what these say.

        Numbers of turns are no scores: read as such, a 3 would be a middling conversation.
        """
        named = [one.name for one in study.panel if one.unit == "first"]
        if not named:
            return study, None
        from voirdire.examining.session_firsts import (  # noqa: PLC0415 - of conversations alone
            firsts_beside,
        )

        said = firsts_beside(self.folder, study, named)
        panel = tuple(one for one in study.panel if one.name not in named)
        sources = tuple(
            one.model_copy(update={"leave_out": (*one.leave_out, *named)})
            for one in study.data.sources
        )
        reference = tuple(name for name in study.data.reference if name not in named)
        data = study.data.model_copy(update={"sources": sources, "reference": reference})
        return study.model_copy(update={"panel": panel, "data": data}), said


@dataclass(frozen=True, slots=True)
class BenchmarkSource:
    """A benchmark by its name, over a folder of data or a session of its study."""

    name: str
    folder: Path | None

    def open(self) -> Opened:
        """The study that the benchmark makes of the data."""
        names = plugins().names("benchmark")
        if self.name not in names and Path(self.name).suffix:
            raise InputError(f"{self.name}: there is no such file")
        if self.name not in names:
            raise InputError(
                f"{self.name!r} is neither a file, a session folder nor a benchmark "
                f"(benchmarks: {', '.join(names) or 'none'})"
            )
        from voirdire.examining.benchmarks import (  # noqa: PLC0415 - few sources are one
            registered_benchmark,
        )

        benchmark, folder = registered_benchmark(self.name), self.folder
        if folder is None:
            study, preferences = split_preferences(benchmark.study(None))
            return Opened(study, preferences=preferences, benchmark=benchmark)
        if not folder.is_dir():
            raise InputError(f"--data {folder}: there is no such folder")
        study, preferences = split_preferences(benchmark.study(folder))
        from voirdire.store import is_session  # noqa: PLC0415 - loads the store

        session = folder if is_session(folder) else None
        return Opened(study, None, preferences, benchmark, session)


def source_of(  # noqa: PLR0911 - a return for each kind
    source: AnySource,
    data: str | Path | None = None,
    reference: Sequence[str] = (),
    read: ReadOptions | None = None,
) -> Opens:
    """Which kind of source something is.

    Raises
    ------
    InputError
        Columns are named of what is no file or frame, or labels are to be joined to one.
    """
    read, named = read or ReadOptions(), tuple(reference)
    several = _paths(source)
    if read.human:
        files = _labelled(several)
        return _judged(files, named, read) or FilesSource(files, named, read)
    joining = [key for key in ("key", "about") if getattr(read, key)]
    if joining:
        raise InputError(
            f"{_options(joining)} joins labels of people: name their file by --human FILE"
        )
    if len(several) > 1:
        return _judged(source, named, read) or FilesSource(several, named, read)
    # Only a benchmark takes `data`, so a name given with it means one, whatever lies at its path.
    if data is not None and str(several[0] if several else "") in plugins().names("benchmark"):
        return _unread(BenchmarkSource(str(several[0]), Path(data)), read)
    alone = _alone(several[0] if several else source, named, read)
    if alone is not None:
        return alone
    if isinstance(source, pl.DataFrame):
        return FrameSource(source, named, read)
    if isinstance(source, Study):
        return _unread(StudySource(source), read)
    from voirdire.tables import is_dataset  # noqa: PLC0415 - after what is cheaper to tell
    from voirdire.tables.judged.frames import VOTES  # noqa: PLC0415 - as above

    (path,) = several
    if (path.is_file() and path.suffix != ".toml") or is_dataset(path):
        return FilesSource(several, named, read)
    named_as = _named(path, None if data is None else Path(data))
    if isinstance(named_as, SessionSource) and read.probability == VOTES:
        return _unread(replace(named_as, votes=True), read.without("probability"))
    return _unread(named_as, read)


def _alone(source: AnySource, reference: tuple[str, ...], read: ReadOptions) -> Opens | None:
    """A file or frame of other judgements than scores; None for any other source."""
    alone = preferences_alone(source)
    if alone:
        return ComparisonsSource(*alone, read)
    return _judged(source, reference, read)


def _judged(source: AnySource, reference: tuple[str, ...], read: ReadOptions) -> Opens | None:
    """Labels, preferences and probabilities; None for any other source."""
    from voirdire.tables.judged import (  # noqa: PLC0415 - after what is cheaper to tell
        nested_table,
        read_judged,
    )

    nested = None if read.human else nested_table(source, read)
    if nested is None:
        found = read_judged(source, reference=reference, read=read)
        if found is not None:
            return JudgementsSource(*found)
        nested = None if read.human else nested_table(source, read, words=True)
    if nested is None:
        return None
    table, people = nested
    stems = [path.stem for path in _paths(source)]
    more = f" and {len(stems) - 2} more" if len(stems) > 2 else ""
    name = f"{' and '.join(stems[:2])}{more}"
    return FrameSource(table, reference or tuple(people), read, name)


def _paths(source: AnySource) -> tuple[Path, ...]:
    """What the source names; nothing for a study or a frame. The command gives a list of one."""
    if isinstance(source, str | Path):
        return (Path(source),)
    return () if isinstance(source, Study | pl.DataFrame) else tuple(map(Path, source))


def _named(path: Path, data: Path | None) -> Opens:
    """A session folder, a study's file, else what is no file must be a benchmark's name."""
    if path.is_dir():
        return SessionSource(path)
    if path.suffix == ".toml":
        return StudySource(load_study(path))
    return BenchmarkSource(str(path), data)


def _labelled(files: tuple[Path, ...]) -> tuple[Path, ...]:
    """The files that labels of people are joined to.

    Raises
    ------
    InputError
        The source is a study, a frame, a session or a benchmark.
    """
    from voirdire.store import is_session  # noqa: PLC0415 - only for labels from elsewhere
    from voirdire.tables import is_dataset  # noqa: PLC0415 - as above

    # Of a session its ratings are what labels are joined to.
    files = tuple(file / "ratings.parquet" if is_session(file) else file for file in files)
    others = [
        file
        for file in files
        if not is_dataset(file) and (file.suffix in ("", ".toml") or file.is_dir())
    ]
    if others and not others[0].exists() and others[0].suffix != ".toml":
        raise InputError(
            f"--human joins labels to files of ratings or a session, and there is no {others[0]}"
        )
    if not files or others:
        raise InputError(
            "--human joins labels to files of ratings; in a study write a [[data.sources]] with "
            "the key `key`"
        )
    return files


def _unread(source: Opens, read: ReadOptions) -> Opens:
    """A source that names its columns itself.

    Raises
    ------
    InputError
        Columns are named of it all the same.
    """
    if read.of_files:
        raise no_columns(read)
    return source


def no_columns(read: ReadOptions) -> InputError:
    """The error for columns that are named of what is no file or frame."""
    names = [name for name in ("human", "judge") if getattr(read, name)]
    return InputError(
        f"{_options([*names, *read.keys_set()])} names columns of a file of ratings; for a study "
        "write it under [[data.sources]]"
    )


def _options(keys: Iterable[str]) -> str:
    return ", ".join(f"--{key}" for key in keys)
