"""Remarks on a session's replies: who really answered, and nothing of models that are gone."""

from __future__ import annotations

import json

import polars as pl
import pytest

pytest.importorskip("openai")

from test_session_examined import by_kind, judge, study_of
from wire_server import WireServer

from voirdire.examining import audit_source
from voirdire.running import run
from voirdire.store.findings import Flagged, reply_findings_frame
from voirdire.store.parsed import Page

RATED = json.dumps({"Empathy": 4, "Guidance": 3})


def test_a_rater_whose_replies_came_from_several_models_is_said_to_have(tmp_path):
    body = {"choices": [{"message": {"content": RATED}, "finish_reason": "stop"}], "model": "b"}
    with WireServer(RATED) as server:
        server.fault("raw", times=2, content=json.dumps(body))
        study = study_of(tmp_path, judge("gpt", server.openai), items=3)
        assert run(study, tmp_path / "a", quiet=True).complete
    found = by_kind(audit_source(tmp_path / "a"))["several_models", "gpt"]
    assert (found.severity, found.count) == ("serious", 2)
    assert found.message == "Replies of one rater came from several models: gpt 4, b 2."


def test_what_an_earlier_model_said_is_no_remark_on_a_later_one(tmp_path):
    first = study_of(tmp_path, {"name": "gpt", "model": "simulated:gpt"}, items=2)
    assert run(first, tmp_path / "a", quiet=True).complete
    assert "simulated" in reply_findings_frame(tmp_path / "a")["kind"].to_list()
    with WireServer(RATED) as server:
        study = study_of(tmp_path, judge("gpt", server.openai), items=2)
        assert run(study, tmp_path / "a", quiet=True, resume=True, ask_again=True).complete
    assert reply_findings_frame(tmp_path / "a").is_empty()


@pytest.mark.parametrize(("pages", "shown"), [((15, 15, 15), 20), ((20, 1), 20), ((7,), 7)])
def test_the_first_twenty_flagged_replies_are_named_and_all_are_counted(pages, shown):
    """Replies come page by page, and a later page fills up what an earlier one left."""
    heard, start = Flagged(), 0
    for size in pages:
        items = [f"i{n}" for n in range(start, start + size)]
        rows = {
            "rater": ["north"] * size,
            "item": items,
            "first": [""] * size,
            "second": [""] * size,
            "run": [1] * size,
            "flags": [[{"kind": "echoes_orders", "about": f"order {n}"}] for n in items],
        }
        heard.hear(Page(pl.DataFrame(rows), []))
        start += size
    (one,) = heard.findings()
    assert (one.rater, one.kind, one.count) == ("north", "echoes_orders", sum(pages))
    assert one.detail == "order i0"
    assert len(one.places) == shown
    assert ["i0" in one.places[0], f"i{shown - 1}" in one.places[-1]] == [True, True]
