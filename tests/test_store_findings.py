"""What raters find is kept by rater, and told once by an examination of the session."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

from voirdire import plugins
from voirdire.examining import examine
from voirdire.running import run, sharing
from voirdire.schema import Finding
from voirdire.store.findings import keep_findings, kept_findings, take_findings
from voirdire.store.merging import merge_sessions

LEAK = Finding("leak_same_text", "note", "pool", 1, ("1<-p",), "One kept out.", "Another is shown.")
OTHER = Finding("few_examples", "serious", "pool", 2, (), "Two have fewer.", "Prompts are shorter.")


class Teller:
    def __init__(self, found):
        self.found = found

    def findings(self):
        return self.found


def test_findings_are_kept_by_rater_and_alike_ones_stand_once(tmp_path):
    assert kept_findings(tmp_path) is None
    keep_findings(tmp_path, [("silent", object()), ("unasked", Teller(None))])
    assert kept_findings(tmp_path) is None
    keep_findings(tmp_path, [("a", Teller([LEAK])), ("b", Teller([LEAK, OTHER]))])
    assert kept_findings(tmp_path) == (LEAK, OTHER)
    # A rater that was not asked again keeps what it said; one that was replaces it.
    keep_findings(tmp_path, [("a", Teller(None)), ("b", Teller([]))])
    assert kept_findings(tmp_path) == (LEAK,)


def test_findings_of_pieces_are_added_up(tmp_path):
    more = replace(LEAK, count=3, places=("2<-q",), message="Three kept out.")
    whole, a, b = (tmp_path / name for name in ("whole", "a", "b"))
    for folder in (whole, a, b):
        folder.mkdir()
    keep_findings(a, [("a", Teller([LEAK, OTHER]))])
    keep_findings(b, [("a", Teller([more, OTHER])), ("b", Teller([OTHER]))])
    take_findings(whole, a)
    take_findings(whole, b)
    leak, other = kept_findings(whole)
    assert (leak.kind, leak.count, leak.places) == (LEAK.kind, 4, ("1<-p", "2<-q"))
    assert leak.message == (
        "Three kept out (in one of 2 pieces of the work; of this kind 4 in all)."
    )
    assert other == OTHER  # the same of the same place stands once
    take_findings(whole, b)
    assert kept_findings(whole) == (leak, other)


def test_two_findings_of_one_piece_stay_two(tmp_path):
    again = replace(LEAK, message="Another kept out.", places=("9<-p",))
    whole, a = tmp_path / "whole", tmp_path / "a"
    whole.mkdir()
    a.mkdir()
    keep_findings(a, [("a", Teller([LEAK, again]))])
    take_findings(whole, a)
    assert kept_findings(whole) == (LEAK, again)


STUDY = """
name = "calm"
[items]
path = "letters.csv"
[[panel]]
name = "few-shot"
kind = "annotator"
use = "yes-no"
model = "simulated:a"
[panel.options]
labels = ["calm"]
examples = {selector = "told", pool = "pool.csv"}
"""


class Told:
    """A selector that tells of a leak once it has chosen."""

    def select(self, item, k):
        raise AssertionError("items are asked together")

    def select_many(self, items, k):
        example = {"id": "p1", "text": "A quiet day.", "calm": "yes"}
        return [SimpleNamespace(item=item.id, examples=[example]) for item in items]

    def findings(self, items, selections):
        assert [item.id for item in items] == [one.item for one in selections] == ["1", "2"]
        return [LEAK]


def make_told(**options):
    return Told()


def test_a_session_of_few_shot_annotators_tells_of_leaks(tmp_path, monkeypatch):
    found = plugins().whole()  # what is loaded meanwhile would be forgotten with the copy
    monkeypatch.setattr(found, "registered", dict(found.registered))
    found.add("selector", "test", "told", f"{__name__}:make_told")
    (tmp_path / "letters.csv").write_text("id,text\n1,The first letter.\n2,The second letter.\n")
    (tmp_path / "study.toml").write_text(STUDY)
    run(tmp_path / "study.toml", tmp_path / "session", quiet=True, plugins=found)
    assert kept_findings(tmp_path / "session") == (LEAK,)
    assert LEAK in examine(tmp_path / "session").findings
    merge_sessions([tmp_path / "session"], tmp_path / "merged", plugins=found)
    assert kept_findings(tmp_path / "merged") == (LEAK,)
    monkeypatch.setattr(sharing, "CHUNK", 1)  # a piece an item, each run where the caller is
    run(tmp_path / "study.toml", tmp_path / "pieces", workers="threads://2", quiet=True)
    assert kept_findings(tmp_path / "pieces") == (LEAK,)
