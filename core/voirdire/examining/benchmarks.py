"""Benchmarks of plugins: a study over published data, and what they add to its examination."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from voirdire._manager import plugins
from voirdire.errors import PluginError, VoirdireError
from voirdire.late import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from voirdire.examining.examination import Examination
    from voirdire.study import Study


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


def registered_benchmark(name: str) -> NamedBenchmark:
    """The benchmark of that name.

    Raises
    ------
    PluginError
        There is none, or it cannot be imported.
    """
    with in_the_name_of(name):
        benchmark: Any = plugins().resolve("benchmark", name)
    return NamedBenchmark(name, benchmark)


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
