"""The contract of benchmarks: a study over a folder of data, and a review of its examination."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from voirdire.errors import InputError
from voirdire.study import Study
from voirdire.testing.checks import Checks, name_of

_NEEDS = "Raise voirdire.InputError that says which files the folder must hold."


def check_benchmark(benchmark: Any, data: Path | str | None = None) -> None:
    """Check a benchmark, as `voirdire_register_benchmarks` names it.

    Parameters
    ----------
    benchmark : object
        With ``study(data)`` and ``review(examination)``.
    data : path, optional
        A folder with its data, from which a study must come.

    Raises
    ------
    ContractError
        All that does not hold, with a hint each.

    Examples
    --------
    >>> from voirdire_plugins.mentalalign.benchmark import BENCHMARK
    >>> check_benchmark(BENCHMARK)
    """
    checks = Checks(f"the benchmark {name_of(benchmark)}")
    if not checks.has_methods(benchmark, ("study", "review"), "A benchmark has both."):
        checks.done()
    for folder in (None, Path("no such folder")):
        with checks.safely(f"study({folder!r}) raises", _NEEDS, lawful=(InputError,)):
            _check_study(checks, benchmark.study(folder))
    if data is not None:
        with checks.safely(f"study raises on {data}", _NEEDS):
            _check_study(checks, benchmark.study(Path(data)))
    checks.done()


def _check_study(checks: Checks, study: Any) -> None:
    checks.hold(
        isinstance(study, Study),
        f"study gives a {type(study).__name__}",
        "Build it by voirdire.study.build_study.",
    )
