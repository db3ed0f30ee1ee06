"""`pytest --voirdire judge.lock`: one test for each judge and attribute, held to a lock."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from voirdire.examining.changing import GateCheck, Held


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("voirdire", "LLM judges held to a lock")
    group.addoption("--voirdire", metavar="LOCK", help="the lock file of `voirdire gate freeze`")
    group.addoption(
        "--voirdire-source",
        metavar="SOURCE",
        help="today's session, study or ratings; by default the ini key voirdire_source",
    )
    group.addoption(
        "--voirdire-look",
        type=int,
        metavar="K",
        help="which look it is, where the lock file is not kept between looks",
    )
    parser.addini("voirdire_source", "today's session, study or ratings, for --voirdire")


def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add a test for each judge and attribute of the lock."""
    lock = config.getoption("--voirdire")
    if lock:
        items += _gate_items(session, config, Path(lock))


def _gate_items(session: pytest.Session, config: pytest.Config, path: Path) -> list[pytest.Item]:
    from voirdire.errors import VoirdireError  # noqa: PLC0415 - only where a lock is given
    from voirdire.examining import changing  # noqa: PLC0415

    source = config.getoption("--voirdire-source") or config.getini("voirdire_source")
    if not source:
        raise pytest.UsageError("--voirdire: say by --voirdire-source what is held to the lock")
    look = config.getoption("--voirdire-look")
    try:
        check, remembered = changing.check_lock(source, changing.read_lock(path), look=look)
        if look is None:
            changing.write_lock(path, remembered)
    except VoirdireError as error:
        raise pytest.UsageError(f"--voirdire: {error}") from error
    return [
        GateItem.from_parent(session, name=f"{path.name}::{row.judge}[{row.attribute}]",
                             check=check, row=row)
        for row in check.rows
    ]  # fmt: skip


class UnlikeLockError(Exception):
    """A judge does not pass on an attribute."""


class GateItem(pytest.Item):
    """One judge and attribute."""

    def __init__(self, *, check: GateCheck, row: Held, **more: Any) -> None:
        super().__init__(**more)
        self.check, self.row = check, row

    def runtest(self) -> None:
        """Fail where the judge changed, is no longer good, or answered nothing."""
        from voirdire.examining.changing import gate_sentence  # noqa: PLC0415

        said = [f"{one.severity}: {one.message}" for one in self.check.findings]
        if said:
            self.add_report_section("call", "findings", "\n".join(said))
        if self.row.failed or math.isnan(self.row.p_holm):
            raise UnlikeLockError(gate_sentence(self.row))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: Any) -> str:
        """The sentence alone: a traceback says nothing here."""
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where it stands."""
        return self.path, None, self.name
