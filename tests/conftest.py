"""Fixtures that several test files share."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parent.parent

# Twins of kernels and helpers of tests are packages of this folder: `from reference import ...`.
sys.path.insert(0, str(ROOT / "tests"))

from chromium import browser  # noqa: E402, F401 - a fixture of that folder

# A busy machine generates examples slowly, which says nothing about the code. Forty of each a run,
# drawn anew at every run: where a test needs more it says so.
hypothesis.settings.register_profile(
    "busy",
    deadline=None,
    max_examples=40,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("busy")


def pytest_configure() -> None:
    """Signals as a terminal leaves them.

    What a script starts in the background, or under nohup, ignores Ctrl-C or the end of its
    terminal, and so would the runs that tests start and end by signals.
    """
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_IGN:
                usual = signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL
                signal.signal(number, usual)


#: Rooms whose tests are quick: they compute and read, and start nothing.
QUICK = ("test_stats_", "test_parsing_", "test_tables_", "test_study_", "test_spec_registry",
         "test_requirements", "test_tabular", "test_identity", "test_verdict_arithmetic",
         "test_verdict_properties", "test_report_sections", "test_sentences")  # fmt: skip
NOT_QUICK = ("slow", "shared", "browser")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `pytest -m quick` runs, so that a first change is tried in two minutes."""
    for item in items:
        quick = item.path.name.startswith(QUICK) and "shared" not in getattr(
            item, "fixturenames", ()
        )
        if quick and not any(map(item.get_closest_marker, NOT_QUICK)):
            item.add_marker("quick")


def pytest_collection_finish() -> None:
    """Leave what importing made out of Python's search for garbage.

    Some millions of objects, of all packages and tests, would be looked through again and again.
    """
    gc.collect()
    gc.freeze()


def shared_folder() -> Path | None:
    """The folder of published data and reference values, or None."""
    given = os.environ.get("VOIRDIRE_SHARED")
    folder = Path(given) if given else ROOT.parent / "shared"
    return folder if (folder / "reference").is_dir() else None


@pytest.fixture(scope="session")
def shared() -> Path:
    """The shared folder; the test is skipped, saying so, where it is absent."""
    folder = shared_folder()
    if folder is None:
        pytest.skip("published data not found: set VOIRDIRE_SHARED or lay it at ../shared")
    return folder


@pytest.fixture(scope="session")
def example_study() -> Path:
    """The study of the example that ships with the repository."""
    return ROOT / "examples" / "examine" / "study.toml"


@pytest.fixture(scope="session")
def example(example_study: Path) -> Any:
    """The examination of that example, once for all tests: it is frozen, and `replace` copies it."""
    from voirdire.examining import examine  # tests of other parts do not load it

    return examine(example_study, resamples=100)


@pytest.fixture(scope="session")
def example_report(example: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of its report with all figures, drawn once, which takes seconds; only to be read."""
    from voirdire.report import write_outputs

    folder = tmp_path_factory.mktemp("example")
    written = write_outputs(example, folder, ["html"])
    assert written[0].name == "report.html"
    return folder


@pytest.fixture(autouse=True)
def _no_third_party_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests see built-in plugins only; one that needs others builds its own manager."""
    monkeypatch.setenv("VOIRDIRE_LOAD_PLUGINS", "")


@pytest.fixture
def invented_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key for models at the test server."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-invented")
