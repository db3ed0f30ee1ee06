"""Figures drawn by a process beside the one that examines."""

from __future__ import annotations

import multiprocessing
import signal

import pytest

from voirdire.examining import examine
from voirdire.report import write_outputs
from voirdire.report.figures import _painter, begin_figures, draw_figures, painter
from voirdire.tabular import Section, SectionFigure

FIGURE = SectionFigure("bars", ("one", "two"), (("win", (0.25, 0.5)), ("loss", (0.75, 0.5))))


@pytest.fixture(scope="module")
def several(example_study):
    """An examination with figures of results and of a section."""
    return examine(example_study, resamples=100).replace(
        sections=(Section("Wins", figures=(FIGURE,)),)
    )


@pytest.fixture(scope="module")
def alone(several):
    """What one process draws."""
    return draw_figures(several)


@pytest.fixture
def helper():
    with painter() as found:
        if found is None:
            pytest.skip("a painter needs a second core")
        yield found


def test_a_painter_draws_what_its_owner_would(several, alone, helper):
    assert begin_figures(several, helper)() == alone


def test_a_painter_that_is_gone_leaves_all_to_its_owner(several, alone, helper):
    helper._process.terminate()
    helper._process.join()
    assert begin_figures(several, helper)() == alone


def test_a_painter_that_fails_leaves_all_to_its_owner(several, alone, helper, monkeypatch):
    send = helper._connection.send
    monkeypatch.setattr(helper, "_connection", Misheard(helper._connection, send))
    assert begin_figures(several, helper)() == alone


class Misheard:
    """A connection that asks for a figure there is none of."""

    def __init__(self, connection, send):
        self.send_on, self.recv, self.close = send, connection.recv, connection.close

    def send(self, asked):
        self.send_on((asked[0], ("no such figure",)))


def test_what_cannot_be_sent_is_drawn_by_its_owner(several, alone, helper):
    odd = several.replace(options={**several.options, "key": lambda: None})
    assert begin_figures(odd, helper)() == alone


def test_no_process_is_started_unasked_for(monkeypatch):
    monkeypatch.setattr(_painter, "_start", lambda: pytest.fail("started"))
    with painter(wanted=False) as found:
        assert found is None
    monkeypatch.setattr(_painter.os, "cpu_count", lambda: 1)
    with painter() as found:
        assert found is None


def test_outputs_are_the_same_with_a_painter(several, helper, tmp_path):
    write_outputs(several, tmp_path / "one")
    write_outputs(several, tmp_path / "two", helper=helper)
    one, two = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}
        for folder in (tmp_path / "one", tmp_path / "two")
    )
    assert one == two


def test_a_painter_is_given_no_ratings_and_no_texts(several):
    sent = []

    class Listening:
        def begin(self, examination, names):
            sent.append((examination, names))
            return False

    begin_figures(several, Listening())()
    examination, names = sent[0]
    assert examination.ratings.is_empty()
    assert examination.items is None
    assert "bland_altman" not in names


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals of Unix")
def test_a_painter_is_deaf_from_its_first_instant():
    """It inherits what is blocked; a trace from it would stand on the terminal after a Ctrl-C."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with _painter._deaf():
        assert signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


def test_a_process_of_another_starts_none(monkeypatch):
    """One of a pool may not have children."""
    monkeypatch.setattr(multiprocessing, "parent_process", multiprocessing.current_process)
    with painter() as found:
        assert found is None
