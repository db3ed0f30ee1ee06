"""`pytest --voirdire judge.lock`: one test for each judge and attribute, held to a lock.

Two fixtures besides: `voirdire_judge` asks a panel about an answer and keeps its replies, and
`voirdire_holds` fails where a requirement on judges does not hold.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from voirdire.examining.changing import GateCheck, Lock
    from voirdire.study import Study


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("voirdire", "LLM judges held to a lock")
    group.addoption("--voirdire", metavar="LOCK", help="the lock file of `voirdire gate freeze`")
    group.addoption(
        "--voirdire-source",
        metavar="SOURCE",
        help="today's session, ratings or study; a study whose judges ask a model is asked about "
        "the canary again. By default the ini key voirdire_source",
    )
    group.addoption(
        "--voirdire-look",
        type=int,
        metavar="K",
        help="which look it is, where the lock file is not kept between looks",
    )
    group.addoption(
        "--voirdire-session",
        metavar="FOLDER",
        help="where today's replies are kept, if a model is asked; name it again to go on after "
        "a cut. By default a new folder in LOCK.looks",
    )
    group.addoption(
        "--voirdire-max-cost",
        type=float,
        metavar="COST",
        help="stop before the canary costs more",
    )
    group.addoption(
        "--voirdire-keep",
        metavar="FOLDER",
        help="where the fixture voirdire_judge keeps what it asked, so that nothing is paid twice "
        "and the session can be examined. By default a folder of this test run",
    )
    parser.addini("voirdire_source", "today's session, study or ratings, for --voirdire")


@pytest.fixture(scope="session")
def voirdire_judge(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str | Path, str], Callable[..., dict[str, float | None]]]:
    """``voirdire_judge(study, judge)(output, context=..., item=..., system=...)``: its scores.

    Attribute -> score, None where none could be read. Replies of the whole panel are kept in
    ``FOLDER/STUDY/session`` with ``--voirdire-keep FOLDER``.
    """
    from voirdire.running.growing import GrowingSession, Handed  # noqa: PLC0415 - where it is used

    kept = pytestconfig.getoption("--voirdire-keep")
    place = Path(kept) if kept else tmp_path_factory.mktemp("voirdire")

    def of(study: str | Path, judge: str) -> Callable[..., dict[str, float | None]]:
        cost = pytestconfig.getoption("--voirdire-max-cost")
        session = GrowingSession(study, place / Path(study).stem, cost, wait=0)

        def judged(output: str, **more: str) -> dict[str, float | None]:
            scores = session.judged_now(Handed(output, **more))
            if judge not in scores:
                pytest.fail(f"{judge} gave nothing (the panel: {', '.join(scores) or 'not asked'})")
            return scores[judge]

        return judged

    return of


@pytest.fixture(scope="session")
def voirdire_holds() -> Callable[..., None]:
    """``voirdire_holds(source, "verdict.gate=yes", reference=["ann"])``: fails where it does not.

    Further keywords are those of `voirdire.examine`.
    """
    from voirdire.errors import RequirementUnmetError  # noqa: PLC0415 - where it is used
    from voirdire.examining import examine, with_requirements  # noqa: PLC0415
    from voirdire.examining.gates import must_hold  # noqa: PLC0415

    def held(source: Any, *requirements: str, **more: Any) -> None:
        found = with_requirements(examine(source, **{"resamples": 0, **more}), requirements)
        said = ""
        try:
            must_hold(found.requirements)
        except RequirementUnmetError as error:
            said = str(error)
        if said:
            pytest.fail(said, pytrace=False)

    return held


def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add a test for each judge and attribute of the lock."""
    lock = config.getoption("--voirdire")
    if lock:
        items += _gate_items(session, config, Path(lock))


def _gate_items(session: pytest.Session, config: pytest.Config, path: Path) -> list[pytest.Item]:
    """Of the lock alone: nothing is asked, and no look is spent, before a test runs."""
    from voirdire.errors import VoirdireError  # noqa: PLC0415 - only where a lock is given
    from voirdire.examining import changing  # noqa: PLC0415

    source = config.getoption("--voirdire-source") or config.getini("voirdire_source")
    if not source:
        raise pytest.UsageError("--voirdire: say by --voirdire-source what is held to the lock")
    try:
        lock = changing.read_lock(path)
    except VoirdireError as error:
        raise pytest.UsageError(f"--voirdire: {error}") from error
    today = Today(config, path, str(source), lock)
    return [
        GateItem.from_parent(
            session,
            name=f"{path.name}::{judge.name}[{attribute}]",
            today=today,
            key=(judge.name, attribute),
        )
        for judge in lock.judges
        for attribute in lock.attributes
    ]


class UnlikeLockError(Exception):
    """A judge does not pass on an attribute."""


class Today:
    """The check against the lock, made once, by the first test that runs."""

    def __init__(self, config: pytest.Config, path: Path, source: str, lock: Lock) -> None:
        self.config, self.path, self.source, self.lock = config, path, source, lock
        self._check: GateCheck | None = None
        self._failed: Exception | None = None

    def check(self) -> GateCheck:
        """What it found; an error is raised for every test, and nothing is asked a second time."""
        from voirdire.errors import VoirdireError  # noqa: PLC0415 - only where a lock is given

        if self._failed is not None:
            raise self._failed
        if self._check is None:
            try:
                self._check = self._checked()
            except VoirdireError as error:
                # Kept, so that no other test asks the models again.
                self._failed = UnlikeLockError(str(error))
                raise self._failed from error
            except UnlikeLockError as error:
                self._failed = error
                raise
        return self._check

    def _checked(self) -> GateCheck:
        from voirdire.cli.gate import new_folder  # noqa: PLC0415 - only where a lock is given
        from voirdire.examining import changing  # noqa: PLC0415

        named = self.config.getoption("--voirdire-session")
        folder = Path(named) if named else new_folder(self.path)
        study = changing.canary_study(self.source, self.lock, folder)
        today = self.source if study is None else self._asked(study, folder)
        look = self.config.getoption("--voirdire-look")
        check, remembered = changing.check_lock(today, self.lock, look=look)
        # A look that was named by hand is not counted in the lock file.
        if look is None:
            changing.write_lock(self.path, remembered)
        return check

    def _asked(self, study: Study, folder: Path) -> str:
        """The session of today's replies; calls and cost are printed before."""
        from voirdire.cli.gate import ask_canary, canary_cost  # noqa: PLC0415

        if hasattr(self.config, "workerinput"):  # a process of pytest-xdist
            raise UnlikeLockError(
                "each process of pytest -n would ask about the canary: run these tests without -n"
            )
        self._say(canary_cost(study, folder))
        result = ask_canary(study, folder, self.config.getoption("--voirdire-max-cost"))
        if not result.complete:
            raise UnlikeLockError(
                f"the canary is not complete; continue it with --voirdire-session {folder}"
            )
        return str(result.folder)

    def _say(self, text: str) -> None:
        """A line on the terminal, which pytest holds back while a test runs."""
        from contextlib import nullcontext  # noqa: PLC0415 - only where a model is asked

        manager = self.config.pluginmanager
        terminal, capture = (
            manager.get_plugin("terminalreporter"),
            manager.get_plugin("capturemanager"),
        )
        if terminal is not None:
            with nullcontext() if capture is None else capture.global_and_fixture_disabled():
                terminal.write_line(f"\n{text}")


class GateItem(pytest.Item):
    """One judge and attribute of the lock."""

    def __init__(self, *, today: Today, key: tuple[str, str], **more: Any) -> None:
        super().__init__(**more)
        self.today, self.key = today, key

    def runtest(self) -> None:
        """Fail where the judge changed, is no longer good, answered nothing or is not there."""
        from voirdire.examining.changing import gate_sentence  # noqa: PLC0415

        check = self.today.check()
        lines = [f"{one.severity}: {one.message}" for one in check.findings]
        if lines:
            self.add_report_section("call", "findings", "\n".join(lines))
        row = next((one for one in check.rows if (one.judge, one.attribute) == self.key), None)
        if row is None:
            judge, attribute = self.key
            raise UnlikeLockError(f"{check.source} has no scores of {judge} on {attribute}")
        if row.failed or math.isnan(row.p_holm):
            raise UnlikeLockError(gate_sentence(row))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: Any) -> str:
        """The sentence alone: a traceback says nothing here."""
        if isinstance(excinfo.value, UnlikeLockError):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where it stands."""
        return self.path, None, self.name
