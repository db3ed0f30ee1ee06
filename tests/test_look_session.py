"""`voirdire look` on a session: answers, replies as they came, how they were read, the reason."""

from __future__ import annotations

import json
from html import unescape

import pytest

pytest.importorskip("openai")

from looking_work import Site, material
from test_session_examined import judge, study_of
from wire_server import WireServer

from voirdire import examine
from voirdire.running import run
from voirdire.store import reparse
from voirdire.tables.hand_labels import hand_labels_path, read_hand_labels


def answers(seen):
    number = sum(map(ord, seen.prompt)) % 5 + 1
    if "plain: keep a fixed bedtime, i003." in seen.prompt:
        return "I would rather not say <b>anything</b> of this."
    return json.dumps({"Empathy": number, "Guidance": number, "Explanation": f"It is a {number}."})


@pytest.fixture(scope="module")
def session(tmp_path_factory, request):
    """Sixty responses rated by one model in two runs, beside a human."""
    import os

    folder = tmp_path_factory.mktemp("session")
    before = os.environ.get("OPENAI_API_KEY")
    os.environ["OPENAI_API_KEY"] = "sk-invented"
    try:
        with WireServer(answers) as server:
            study = study_of(folder, judge("north", server.openai, runs=2), items=30)
            run(study, folder / "a")
    finally:
        os.environ.pop("OPENAI_API_KEY")
        if before is not None:
            os.environ["OPENAI_API_KEY"] = before
    return folder / "a"


def response_of(site, words):
    import re

    listed = site.ask(f"/list?attribute=Empathy&q={words}")[2]
    return site.ask(unescape(re.search(r'<a data-row href="([^"]+)"', listed)[1]))[2]


def test_a_response_shows_its_texts_runs_replies_and_the_reason(session):
    site = Site(material(session, (), with_text=True))
    page = unescape(response_of(site, "warm:+keep+a+fixed+bedtime,+i004."))
    site.close()
    assert "I slept badly, i004." in page
    assert "warm: keep a fixed bedtime, i004." in page
    assert page.count("Reply of north") == 2
    assert "Reply of north, run 2" in page
    assert '"Empathy":' in page
    assert "Explanation</strong>: It is a" in page
    assert page.count("What it was shown") == 2
    prompt = page.partition("What it was shown")[2]
    assert "warm: keep a fixed bedtime, i004." in prompt


def test_the_report_shows_texts_and_replies_of_a_session(session, tmp_path):
    from voirdire.report import write_outputs

    found = examine(session, resamples=0)
    write_outputs(found, tmp_path, ["html"], figures=False, with_text=True)
    html = unescape((tmp_path / "report.html").read_text(encoding="utf-8"))
    for part in (html.partition('id="disagreements"')[2], html.partition('id="texts"')[2]):
        assert "I slept badly, i0" in part
        assert ": keep a fixed bedtime, i0" in part
        assert '"Explanation": "It is a' in part


def test_a_reply_that_held_no_score_is_shown_with_its_status(session):
    made = material(session, (), with_text=True)
    site = Site(made)
    page = response_of(site, "rather+not+say")
    site.close()
    assert "&lt;b&gt;anything&lt;/b&gt;" in page
    found = made.texts.said("i003", "plain")
    assert {one["status"] for one in found} <= {"refused", "unparsable", "blank"}
    assert f"Read as: {found[0]['status']}" in page


def test_labels_of_a_session_lie_in_it_and_outlive_a_reparse(session):
    site = Site(material(session, ()))
    row = "/response?attribute=Guidance&row=5"
    assert site.label(row, "1", rater="human")[0] == 303
    site.close()
    assert hand_labels_path(session) == session / "labels.parquet"
    reparse(session)
    assert read_hand_labels(session / "labels.parquet").height == 1
    found = examine(session, resamples=0)
    assert "labels_by_hand" in {finding.kind for finding in found.findings}
