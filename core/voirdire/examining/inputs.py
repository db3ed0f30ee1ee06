"""What a source gives: files opened, then everything that an examination rests on."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from voirdire._manager import plugins
from voirdire.errors import PluginError, VoirdireError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl

    from voirdire.examining.examination import Examination
    from voirdire.examining.panel import Panel
    from voirdire.examining.preferences.source import ReadPreferences
    from voirdire.schema import Finding
    from voirdire.study import Study
    from voirdire.tables import Tables
    from voirdire.tables.judged import ReadJudgements


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
        with in_the_name_of(self.name):
            return self.benchmark.study(data)

    def review(self, examination: Examination) -> Examination:
        """The examination with the benchmark's own notes and sections added, its sections first."""
        with in_the_name_of(self.name):
            reviewed = self.benchmark.review(examination)
        general = {id(section) for section in examination.sections}
        own = tuple(replace(one, own=True) for one in reviewed.sections if id(one) not in general)
        rest = tuple(one for one in reviewed.sections if id(one) in general)
        return reviewed.replace(sections=(*own, *rest))


@dataclass(frozen=True, slots=True)
class Opened:
    """A source as it was read: nothing is checked, paired or computed yet.

    `tables` is None where there are no ratings, `preferences` where there are no comparisons.
    """

    study: Study
    tables: Tables | None = None
    preferences: ReadPreferences | None = None
    benchmark: Benchmark | None = None
    session: Path | None = None
    judgements: ReadJudgements | None = None


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything that an examination rests on.

    Attributes
    ----------
    tables : Tables or None
        What was read, labels beside a rubric included; None where there are no ratings.
    ratings : DataFrame
        The ratings with the study's policy for values off the scale applied.
    preferences : ReadPreferences or None
        Comparisons of systems.
    findings : tuple of Finding
        What is odd in all of these, worst first.
    session : Path or None
        The folder of the session that the source is.
    judgements : ReadJudgements or None
        Labels, preferences and probabilities of files without a study.
    """

    study: Study
    panel: Panel
    tables: Tables | None
    ratings: pl.DataFrame
    preferences: ReadPreferences | None
    findings: tuple[Finding, ...]
    benchmark: Benchmark | None
    session: Path | None
    judgements: ReadJudgements | None = None

    @property
    def labelled(self) -> bool:
        """Whether there may be labels: annotators, repeated ratings, or a scale of 0 and 1."""
        return self.tables is not None and (
            any(rater.kind == "annotator" for rater in self.study.panel)
            or self.tables.labels is not None
            or tuple(self.study.rubric.scale) == (0, 1)
            or self.tables.ratings["run"].n_unique() > 1
        )


@contextmanager
def in_the_name_of(name: str) -> Iterator[None]:
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
