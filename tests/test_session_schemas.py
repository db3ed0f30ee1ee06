"""Whether a server enforces a JSON schema: asked once a session, kept there, told, and locked."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

pytest.importorskip("orjson")

from test_session_examined import answers, by_kind, judge, study_of
from wire_server import WireServer

from voirdire.examining import audit_source
from voirdire.examining.changing import check_lock, freeze
from voirdire.running import run
from voirdire.store import schema_answers

ABOUT = "Write the word"


class _Server(WireServer):
    """A server that enforces schemas, or not; its calls about that are counted like any."""

    def __init__(self) -> None:
        super().__init__(self._said)
        self.handler.enforces = None
        self.binds = False

    def _said(self, seen):
        if ABOUT in seen.prompt:
            return '{"number": 7}' if self.binds else "calm"
        return answers(seen)

    def run(self, folder, name, *, binds, items=2, **more):
        """(calls about schemas, calls of the study that sent one, calls that sent none)."""
        self.binds, before = binds, len(self.requests)
        study = study_of(folder, judge("local", self.openai, **more), items=items)
        out = folder / name
        assert run(study, out, quiet=True, resume=out.exists()).complete
        bodies = [json.loads(seen.raw) for seen in self.requests[before:]]
        own = [body for body in bodies if ABOUT not in str(body["messages"])]
        sent = sum("response_format" in body for body in own)
        return len(bodies) - len(own), sent, len(own) - sent


@pytest.fixture
def server():
    with _Server() as one:
        yield one


@pytest.mark.parametrize(("binds", "said"), [(True, "yes"), (False, "no")])
def test_a_server_is_asked_once_and_the_report_tells(tmp_path, server, binds, said):
    assert server.run(tmp_path, "a", binds=binds) == (1, 4 * binds, 4 * (not binds))
    # More items in the same session, whatever the server does today.
    assert server.run(tmp_path, "a", binds=not binds, items=3) == (0, 2 * binds, 2 * (not binds))
    assert schema_answers(tmp_path / "a") == {"compatible:local": said}
    found = by_kind(audit_source(tmp_path / "a"))["json_schema", "compatible:local"]
    assert found.severity == "note"
    assert ("enforces no" in found.message) is not binds


def test_a_session_that_began_without_goes_on_without(tmp_path, server):
    server.run(tmp_path, "a", binds=False)
    with closing(sqlite3.connect(tmp_path / "a" / "session.sqlite")) as connection, connection:
        connection.execute("DELETE FROM abilities")  # as an older version left it
    assert server.run(tmp_path, "a", binds=True, items=3) == (0, 0, 2)


def test_nobody_is_asked_where_the_study_says_it(tmp_path, server):
    options = {"model_options": {"structured": False}}
    assert server.run(tmp_path, "a", binds=True, **options) == (0, 0, 4)
    assert schema_answers(tmp_path / "a") == {}


def test_the_lock_keeps_the_answer_and_a_gate_says_where_it_changed(tmp_path, server):
    for name, binds in (("a", False), ("b", True)):
        server.run(tmp_path, name, binds=binds, items=30)
    lock = freeze(tmp_path / "a")
    assert [one.schema_enforced for one in lock.judges] == ["no"]
    same, _ = check_lock(tmp_path / "a", lock)
    other, _ = check_lock(tmp_path / "b", lock)
    assert "lock_schema" not in {one.kind for one in same.findings}
    (found,) = [one for one in other.findings if one.kind == "lock_schema"]
    assert "is yes, and no in the lock" in found.message
