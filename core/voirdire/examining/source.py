"""The one door: any source becomes frozen `Inputs`, and what stands behind it reads no file."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from voirdire import tables
from voirdire._manager import plugins
from voirdire.errors import InputError, PluginError, VoirdireError, not_one_of
from voirdire.examining.preferences.source import preferences_alone, split_preferences
from voirdire.schema import SEVERITIES, Finding, Scale
from voirdire.study import Rater, Study, load_study, successor, without_effect
from voirdire.tables.hand_labels import hand_labels_path, with_hand_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from voirdire.examining.examination import Examination
    from voirdire.examining.preferences.source import Compared
    from voirdire.tables import Tables

    Source = str | Path | Study | pl.DataFrame | Sequence[str | Path]


class Benchmark(Protocol):
    """What a plugin registers as a benchmark."""

    def study(self, data: Path | None) -> Study:
        """The study over the data in that folder."""
        ...

    def review(self, examination: Examination) -> Examination:
        """The examination with the benchmark's own notes and sections added."""
        ...


@dataclass(frozen=True, slots=True)
class NamedBenchmark:
    """A registered benchmark: any error of its own becomes a `PluginError` with both names."""

    name: str
    benchmark: Benchmark

    def study(self, data: Path | None) -> Study:
        """The study over the data in that folder."""
        with _in_the_name_of(self.name):
            return self.benchmark.study(data)

    def review(self, examination: Examination) -> Examination:
        """The examination with the benchmark's own notes and sections added."""
        with _in_the_name_of(self.name):
            return self.benchmark.review(examination)


@dataclass(frozen=True, slots=True)
class Member:
    """A rater of the panel that has ratings.

    Attributes
    ----------
    excluded : tuple of str
        Systems whose ratings by this rater are left out: those that it excludes, else those of its
        own family.
    family_systems : tuple of str or None
        Systems of its own family where it excludes others; None where there is nothing to compare.
    human : bool
        Whether it is declared to be one.
    derived : bool
        Whether it is a jury, whose scores follow from those of others.
    """

    name: str
    excluded: tuple[str, ...] = ()
    family_systems: tuple[str, ...] | None = None
    human: bool = False
    derived: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """Who judges, who is the reference, and what is rated on which scale.

    Attributes
    ----------
    members : tuple of Member
        Raters with ratings, in the order of the study's panel, then of the tables.
    reference : tuple of str
        The raters that the others are held against; empty where there are none.
    each : bool
        Whether judges are held against each reference rater in turn, and not against their mean.
    quorum : int
        The fewest reference raters whose mean counts.
    listwise : bool
        Whether a pair counts only where every member rated.
    attributes, systems : tuple of str
        In their declared order; `systems` are those that are declared.
    composites : mapping
        Name -> the attributes that it is the mean of.
    """

    members: tuple[Member, ...] = ()
    reference: tuple[str, ...] = ()
    each: bool = False
    quorum: int = 1
    listwise: bool = False
    attributes: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    composites: Mapping[str, Sequence[str]] = field(default_factory=dict)
    scale: Scale = Scale(1, 5)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the members."""
        return tuple(member.name for member in self.members)

    @property
    def judges(self) -> tuple[Member, ...]:
        """The members that are no reference."""
        return tuple(member for member in self.members if member.name not in self.reference)

    def chosen(self, asked: Sequence[str]) -> tuple[str, ...]:
        """Names of the members that `asked` means: humans, judges, names; all where it is empty.

        Humans are the members declared so, or the reference where none is; judges are the others. A
        jury repeats what its members said, and is meant only where it is named.

        Raises
        ------
        InputError
            A name that has no ratings.
        """
        own = {member.name for member in self.members if not member.derived}
        humans = {member.name for member in self.members if member.human} & own
        humans = humans or set(self.reference)
        groups = {"humans": humans, "judges": own - humans}
        unknown = [name for name in asked if name not in groups and name not in self.names]
        if unknown:
            raise not_one_of("rater", unknown[0], [*groups, *self.names])
        wanted = {name for word in asked for name in groups.get(word, {word})} if asked else own
        return tuple(name for name in self.names if name in wanted)

    @property
    def references(self) -> tuple[tuple[str, ...], ...]:
        """The groups of raters whose mean the judges are held against, one after another."""
        if self.each:
            return tuple((name,) for name in self.reference)
        return (self.reference,) if self.reference else ()


@dataclass(frozen=True, slots=True)
class Opened:
    """A source as it was read: nothing is checked, paired or computed yet.

    `tables` is None where there are no ratings, `preferences` where there are no comparisons.
    """

    study: Study
    tables: Tables | None = None
    preferences: Compared | None = None
    benchmark: Benchmark | None = None
    session: Path | None = None


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything that an examination rests on.

    Attributes
    ----------
    tables : Tables or None
        What was read, labels beside a rubric included; None where there are no ratings.
    ratings : DataFrame
        The ratings with the study's policy for values off the scale applied.
    preferences : Compared or None
        Comparisons of systems.
    findings : tuple of Finding
        What is odd in all of these, worst first.
    session : Path or None
        The folder of the session that the source is.
    """

    study: Study
    panel: Panel
    tables: Tables | None
    ratings: pl.DataFrame
    preferences: Compared | None
    findings: tuple[Finding, ...]
    benchmark: Benchmark | None
    session: Path | None

    @property
    def labelled(self) -> bool:
        """Whether there may be labels: annotators, repeated ratings, or a scale of 0 and 1."""
        return self.tables is not None and (
            any(rater.kind == "annotator" for rater in self.study.panel)
            or self.tables.labels is not None
            or tuple(self.study.rubric.scale) == (0, 1)
            or self.tables.ratings["run"].n_unique() > 1
        )


def open_source(
    source: Source,
    *,
    data: str | Path | None = None,
    reference: Sequence[str] = (),
    columns: Mapping[str, Any] | None = None,
    changes: Mapping[str, Mapping[str, Any]] | None = None,
    human: Sequence[str | Path] = (),
) -> Opened:
    """Read a source whole.

    Parameters
    ----------
    source, data, reference, columns, human
        As in `voirdire.examine`.
    changes : mapping, optional
        Keys of the study's parts to exchange, as `adjust` takes them.

    Raises
    ------
    InputError
        No such file, benchmark or session; the message lists the benchmarks there are. What is
        wrong with a file is said by its reader.
    """
    found = _resolved(source, data, reference, columns or {}, human)
    study = found.study
    beside: tuple[str, ...] = ()
    if any(rater.kind == "annotator" for rater in study.panel):
        from voirdire.examining.labels.annotators import (  # noqa: PLC0415 - for annotators alone
            label_scale,
            labels_beside,
        )

        study = label_scale(study)
        beside = labels_beside(study)
    study = adjust(study, changes or {})
    rated = found.tables
    if rated is None and not _is_unrated(found):
        rated = tables.read_tables(study, labels=beside)
    path = labelled_at(source, found.session)
    if rated is not None and path is not None and path.is_file():
        study, rated = with_hand_labels(study, rated, path)
    return Opened(study, rated, found.preferences, found.benchmark, found.session)


def labelled_at(source: Source, session: Path | None) -> Path | None:
    """Where labels set by hand lie; None for what is no single file or folder."""
    if session is not None:
        return hand_labels_path(session)
    if isinstance(source, list | tuple) and len(source) == 1:
        source = source[0]
    if isinstance(source, str | Path) and Path(source).exists():
        return hand_labels_path(source)
    return None


def inputs_of(opened: Opened) -> Inputs:
    """What was read, audited, its off-scale values treated and its panel named.

    Raises
    ------
    InputError
        A reference that has no ratings.
    TableError
        A value off the scale where the study says that it is an error.
    """
    study, rated = opened.study, opened.tables
    panel, ratings = Panel(), tables.RATINGS.to_frame()
    if rated is not None:
        panel = panel_of(study, rated)
        ratings = tables.apply_off_scale(rated.ratings, study.data.off_scale, panel.scale)
        panel, ratings = _with_juries(study, panel, ratings)
    return Inputs(
        study,
        panel,
        rated,
        ratings,
        opened.preferences,
        audit_of(opened),
        opened.benchmark,
        opened.session,
    )


def _with_juries(study: Study, panel: Panel, ratings: pl.DataFrame) -> tuple[Panel, pl.DataFrame]:
    """The panel and its ratings with those of the study's juries behind them."""
    if not study.juries:
        return panel, ratings
    from voirdire.examining.juries import derive_ratings  # noqa: PLC0415 - few studies have one

    derived = tuple(replace(_member(jury, study), derived=True) for jury in study.juries)
    ratings = derive_ratings(study, panel, ratings)
    return replace(panel, members=(*panel.members, *derived)), ratings


def audit_of(opened: Opened) -> tuple[Finding, ...]:
    """What is odd in the session, its preferences, its ratings and its labels; worst first."""
    study, rated, compared = opened.study, opened.tables, opened.preferences
    found = list(_old_keys(study))
    if study.juries:  # derived, so that no file holds a rating of theirs
        asked = tuple(rater for rater in study.panel if not rater.is_jury)
        study = study.model_copy(update={"panel": asked})
    if opened.session is not None:
        from voirdire.examining._session import session_findings  # noqa: PLC0415 - loads the store

        found += session_findings(opened.session)
    if compared is not None:
        from voirdire.examining.preferences import (  # noqa: PLC0415 - most sources compare nothing
            preference_findings,
        )

        found += [*compared.findings, *preference_findings(compared.table)]
    if rated is not None:
        odd = [*tables.audit(rated, study)]
        if rated.labels is not None:
            from voirdire.examining.labels.annotators import (  # noqa: PLC0415 - for annotators
                study_of_labels,
            )

            odd += tables.audit(rated.labels, study_of_labels(study, rated.labels))
        found += odd if compared is None else _without_comparers(odd, compared.table)
    return by_severity(found)


def by_severity(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The worst first."""
    return tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)))


def _old_keys(study: Study) -> Iterator[Finding]:
    """One finding about the keys of an earlier version that change nothing any longer."""
    keys = without_effect(study)
    if keys:
        yield Finding(
            "keys_without_effect",
            "serious",
            "",
            len(keys),
            keys,
            f"The study has keys of an earlier version: {'; '.join(map(successor, keys))}.",
            "They changed nothing here; the margins under [margins] decide.",
        )


def _without_comparers(findings: Iterable[Finding], table: pl.DataFrame) -> list[Finding]:
    """The findings, but for raters said to have no rating that are there to compare."""
    comparers = set(table["rater"].unique())
    return [
        finding
        for finding in findings
        if finding.kind != "rater_missing" or not comparers.issuperset(finding.places)
    ]


def panel_of(study: Study, rated: Tables, only: Sequence[str] = ()) -> Panel:
    """Who takes part: the study's panel as far as it has ratings, then others that have some.

    Parameters
    ----------
    only : sequence of str, optional
        Leave out all raters but these.

    Raises
    ------
    InputError
        A reference that has no ratings.
    """
    present = [name for name in rated.raters["rater"].to_list() if not only or name in only]
    declared = [rater for rater in study.panel if rater.name in present]
    names = {rater.name for rater in declared}
    raters = declared + [Rater(name=name) for name in present if name not in names]
    attributes = [attribute.name for attribute in study.rubric.attributes]
    if not attributes:
        occurring = rated.ratings["attribute"].cast(pl.String)
        attributes = occurring.unique(maintain_order=True).to_list()
    return Panel(
        members=tuple(_member(rater, study) for rater in raters),
        reference=_reference(study, raters),
        each=study.data.reference_use == "each",
        quorum=study.data.quorum,
        listwise=study.data.pairs == "listwise",
        attributes=tuple(attributes),
        systems=tuple(system.name for system in study.systems),
        composites=study.rubric.composites,
        scale=scale_of(study),
    )


def scale_of(study: Study) -> Scale:
    """The declared scale."""
    return Scale(*study.rubric.scale, study.rubric.step)


def check_panel(study: Study, panel: Panel, *, others: bool, compared: bool) -> None:
    """Raise where nobody can be held against anybody, and nothing else is there to examine.

    Parameters
    ----------
    others : bool
        Whether there is anything to say without a reference: labels over runs, or comparisons.
    compared : bool
        Whether systems were compared.

    Raises
    ------
    InputError
        There is no reference, or no judge beside it.
    """
    if study.analysis.measures:
        return
    if not panel.reference and not (others or compared):
        raise InputError(
            "no reference: say by --reference NAME, or [data] reference in the study, which rater "
            f"the others are held against (raters: {', '.join(panel.names)})"
        )
    if not panel.judges and not compared:
        asked = ", ".join(rater.name for rater in study.panel if rater.model)
        raise InputError(
            f"there is no judge to examine: all raters are the reference "
            f"({', '.join(panel.reference)})"
            + (f"; not rated yet, voirdire run asks them: {asked}" if asked else "")
        )


def adjust(study: Study, changes: Mapping[str, Mapping[str, Any]]) -> Study:
    """A study with some keys of `data` and `analysis` exchanged; None leaves a key as it is."""
    update = {
        part: getattr(study, part).model_copy(
            update={key: value for key, value in keys.items() if value is not None}
        )
        for part, keys in changes.items()
    }
    return study.model_copy(update=update)


def registered_benchmark(name: str) -> Benchmark:
    """The benchmark of that name.

    Raises
    ------
    PluginError
        There is none, or it cannot be imported.
    """
    with _in_the_name_of(name):
        found: Any = plugins().resolve("benchmark", name)
    return NamedBenchmark(name, found)


@contextmanager
def _in_the_name_of(name: str) -> Iterator[None]:
    """Any error that is not ours becomes one that names the benchmark and its plugin."""
    try:
        yield
    except VoirdireError:
        raise
    except Exception as error:
        plugin = plugins().registered["benchmark", name].plugin
        raise PluginError(
            f"benchmark {name!r} (plugin {plugin}) failed: {type(error).__name__}: {error}"
        ) from error


def _resolved(
    source: Source,
    data: str | Path | None,
    reference: Sequence[str],
    columns: Mapping[str, Any],
    human: Sequence[str | Path],
) -> Opened:
    """The study behind a source; its tables, preferences and benchmark, where it has any."""
    if human:
        files = _files(source)
        return Opened(*tables.read_file(files, reference=reference, keys=columns, human=human))
    joining = {key: value for key, value in columns.items() if key in ("key", "about")}
    if joining:
        raise InputError(f"{_names(joining)} joins labels of people: name their file by --human")
    if isinstance(source, Sequence) and not isinstance(source, str):
        if len(source) != 1:
            return Opened(*tables.read_file(source, reference=reference, keys=columns))
        source = source[0]
    # Only a benchmark takes `data`, so a name given with it means one, whatever lies at its path.
    named = data is not None and str(source) in plugins().names("benchmark")
    alone = None if named or human else preferences_alone(source)
    if alone is not None:
        study, compared = alone
        return Opened(study, preferences=compared)
    if isinstance(source, pl.DataFrame):
        return Opened(*tables.from_frame(source, reference=reference, keys=columns))
    path = None if named or isinstance(source, Study) else Path(source)
    if path is not None and path.is_file() and path.suffix != ".toml":
        return Opened(*tables.read_file(path, reference=reference, keys=columns))
    if columns:
        raise InputError(
            f"{_names(columns)} names columns of a file of ratings; for a study write it under "
            f"[[data.sources]]"
        )
    study, benchmark = _studied(source, path, data)
    study, compared = split_preferences(study)
    session = path if path is not None and path.is_dir() else None
    if benchmark is not None and data is not None:
        from voirdire.store import is_session  # noqa: PLC0415 - loads the store

        session = Path(data) if is_session(data) else None
    return Opened(study, None, compared, benchmark, session)


def _files(source: Source) -> Sequence[str | Path]:
    """The files that labels of people are joined to.

    Raises
    ------
    InputError
        The source is a study, a frame, a session or a benchmark.
    """
    files = [source] if isinstance(source, str | Path) else source
    if isinstance(files, Study | pl.DataFrame) or any(
        Path(file).suffix in ("", ".toml") or Path(file).is_dir() for file in files
    ):
        raise InputError(
            "--human joins labels to files of ratings; in a study write a [[data.sources]] with "
            "the key `key`"
        )
    return files


def _names(columns: Mapping[str, Any]) -> str:
    return ", ".join(f"--{name}" for name in columns)


def _studied(
    source: str | Path | Study, path: Path | None, data: str | Path | None
) -> tuple[Study, Benchmark | None]:
    """A study, that of a session folder, of a file, or of a benchmark."""
    if isinstance(source, Study):
        return source, None
    if path is not None and path.is_dir():
        from voirdire.examining._session import study_of_session  # noqa: PLC0415 - loads the store

        return study_of_session(path), None
    if path is not None and path.suffix == ".toml":
        return load_study(path), None
    return _benchmark(str(source), data)


def _benchmark(name: str, data: str | Path | None) -> tuple[Study, Benchmark]:
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
    return benchmark.study(folder), benchmark


def _is_unrated(opened: Opened) -> bool:
    """Whether there is something to examine, and no ratings in it."""
    other = opened.preferences is not None or opened.benchmark is not None
    return not opened.study.data.sources and other


def _reference(study: Study, raters: Sequence[Rater]) -> tuple[str, ...]:
    """The declared reference, else every human."""
    names = [rater.name for rater in raters]
    unknown = [name for name in study.data.reference if name not in names]
    if unknown:
        raise InputError(
            f"reference {unknown[0]!r} has no ratings (raters: {', '.join(names)})"
            + _meant(unknown[0], names)
        )
    return study.data.reference or tuple(r.name for r in raters if r.kind == "human")


def _meant(unknown: str, names: Sequence[str]) -> str:
    """The raters whose names begin so, or else are spelled almost so, as a question."""
    begun = [name for name in names if name.casefold().startswith(unknown.casefold())]
    near = begun or get_close_matches(unknown, names)
    return f": did you mean {', '.join(near)}?" if near else ""


def _member(rater: Rater, study: Study) -> Member:
    family = tuple(s.name for s in study.systems if rater.family and s.family == rater.family)
    human = rater.kind == "human"
    if rater.excludes is None:
        return Member(rater.name, family, human=human)
    return Member(rater.name, rater.excludes, family if rater.family else None, human)
