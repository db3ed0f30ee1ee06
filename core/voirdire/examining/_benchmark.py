"""A benchmark of a plugin; what goes wrong inside it is told in the plugin's name."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from voirdire._errors import PluginError, VoirdireError
from voirdire._manager import plugins

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
        with _named(self.name):
            return self.benchmark.study(data)

    def review(self, examination: Examination) -> Examination:
        """The examination with the benchmark's own notes and sections added."""
        with _named(self.name):
            return self.benchmark.review(examination)


def registered_benchmark(name: str) -> Benchmark:
    """The benchmark of that name.

    Raises
    ------
    PluginError
        There is none, or it cannot be imported.
    """
    with _named(name):
        found: Any = plugins().resolve("benchmark", name)
    return NamedBenchmark(name, found)


@contextmanager
def _named(name: str) -> Iterator[None]:
    try:
        yield
    except VoirdireError:
        raise
    except Exception as error:
        plugin = plugins().registered["benchmark", name].plugin
        raise PluginError(
            f"benchmark {name!r} (plugin {plugin}) failed: {type(error).__name__}: {error}"
        ) from error
