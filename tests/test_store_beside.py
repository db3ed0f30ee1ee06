"""A stranger's slow parser goes to a helper process, where its processor time is bounded."""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace

import pytest
from slow_raters import NotHandedOver, Slow

from voirdire.schema import Reply
from voirdire.store import beside
from voirdire.store.raters import broken_parser, read_replies

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs limits of POSIX")


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(beside, "SLOW", 0.05)
    yield
    beside.end_helpers()


def _read(rater, text):
    return read_replies(SimpleNamespace(rater=rater, attributes=("calm",)), [Reply(text)])


def test_after_its_first_slow_reply_a_parser_works_beside():
    rater = Slow()
    assert _read(rater, "0").scores == {"calm": 4.0}
    assert not beside.is_slow(rater)
    assert _read(rater, "0.1").scores == {"calm": 4.0}
    assert beside.is_slow(rater)
    start = time.process_time()
    assert _read(rater, "0.5").scores == {"calm": 4.0}
    assert time.process_time() - start < 0.2  # it was spent elsewhere
    assert _read(rater, "print").scores == {"calm": 4.0}  # what it prints is no answer


def test_what_it_raises_there_costs_the_reply_alone():
    rater = Slow()
    _read(rater, "0.1")
    assert broken_parser(_read(rater, "raise")) == "ValueError: no number"
    assert broken_parser(_read(rater, "exit")).startswith("SystemExit")
    assert _read(rater, "0").scores == {"calm": 4.0}


def test_a_reply_that_takes_too_long_is_given_up_and_the_next_is_read(monkeypatch):
    monkeypatch.setattr(beside, "MOST", 1.0)
    rater = Slow()
    _read(rater, "0.1")
    given_up = _read(rater, "60")
    assert (given_up.status, given_up.scores) == ("unparsable", {"calm": None})
    assert "1 s of processor time" in broken_parser(given_up)
    assert _read(rater, "0").scores == {"calm": 4.0}


def test_one_that_cannot_be_handed_over_is_parsed_here():
    rater = NotHandedOver()
    for _ in range(2):
        assert _read(rater, "0.1").scores == {"calm": 4.0}
    assert not beside.is_slow(rater)


def test_ours_stay_here():
    ours = type("Ours", (Slow,), {"__module__": "voirdire_judges.rubric"})()
    assert _read(ours, "0.1").scores == {"calm": 4.0}
    assert not beside.is_slow(ours)
