"""A run with batches that is killed at each of its requests to a provider, before and behind it."""

from __future__ import annotations

import sys

import pytest
from test_running_batches import ITEMS, _keys, once, states, study  # noqa: F401 - a fixture
from test_running_wire import EACH, started
from wire_server import WireServer, rubric_answer

from voirdire.running import batches, run, session_status
from voirdire.store import replies_frame

#: What a run asks of each provider for one batch: upload, create, look, fetch, as far as it has
#: them. Responses are asked for as OpenAI's other batches are.
REQUESTS = {"openai": 4, "anthropic": 3, "google": 2}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("behind", [False, True], ids=["before", "behind"])
@pytest.mark.parametrize(
    ("sdk", "at"), [(sdk, at) for sdk, most in REQUESTS.items() for at in range(1, most + 1)]
)
def test_a_batch_killed_at_any_request_is_paid_once(tmp_path, monkeypatch, sdk, at, behind):
    monkeypatch.setattr(batches, "SETTLE", 0.3)
    with WireServer(rubric_answer) as server:
        made = study(tmp_path, sdk, server)
        process = started(tmp_path, "--batch", "-q")
        server.batches.kill, server.batches.behind = process.kill, behind
        server.batches.strike = at
        process.communicate(timeout=120)
        assert process.returncode == -9
        result = run(made, tmp_path / "a", resume=True, batch=True, quiet=True)
        assert result.complete
        assert once(server)
        assert server.count == 0
        # What was created and never told is found again: nothing is submitted twice.
        assert len(server.batches.jobs) == 1
    assert result.cost == pytest.approx(ITEMS * EACH / 2, rel=1e-12)
    assert session_status(tmp_path / "a").cost == pytest.approx(result.cost, rel=1e-12)
    assert replies_frame(tmp_path / "a").height == ITEMS
    assert states(tmp_path / "a")[-1] == "ended"
