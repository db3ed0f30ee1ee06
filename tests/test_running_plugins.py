"""Plugins that break where they are made, closed or asked for findings: said by name, never fatal."""

from __future__ import annotations

import asyncio
import sys

import pytest
from scripted import Digit, Writer, judge, scripted_plugins, study_of

from voirdire.errors import VoirdireError
from voirdire.running import _models, run
from voirdire.schema import Reply, Response
from voirdire.store import responses_frame
from voirdire.store.findings import kept_findings


class Model:
    """Breaks where its name says."""

    def __init__(self, model_name):
        self.name = model_name
        if model_name == "made":
            raise RuntimeError("no device")
        if model_name == "exit":
            raise SystemExit(1)

    def __repr__(self):
        return f"<model {self.name}>"

    async def complete(self, request):
        return Reply("4")

    async def aclose(self):
        if self.name == "closed":
            raise RuntimeError("cannot close")
        if self.name == "hung":
            await asyncio.sleep(3600)


class Plain(Model):
    """Closes without awaiting."""

    def aclose(self):
        self.name = "gone"


def nothing(model_name):
    """No model."""


class Judge(Digit):
    """Breaks where its option says."""

    def __init__(self, rubric, *, at=""):
        super().__init__(rubric)
        self.at = at
        if at == "made":
            raise KeyError("rubric")

    def findings(self):
        return {"raises": lambda: 1 / 0, "text": lambda: ["x"], "number": lambda: 3}[self.at]()


class Author(Writer):
    """Reads a response as its option says."""

    def __init__(self, *, says=""):
        super().__init__()
        self.says = says

    def parse(self, replies, item=""):
        return {"none": None, "text": "x", "no text": Response(item, "", None)}[self.says]


def plugins():
    found = scripted_plugins()
    sys.modules.setdefault("test_running_plugins", sys.modules[__name__])
    for kind, name, target in (
        ("model", "frail", "Model"),
        ("model", "plain", "Plain"),
        ("model", "nothing", "nothing"),
        ("judge", "frail", "Judge"),
        ("generator", "author", "Author"),
    ):
        found.add(kind, "tests", name, f"test_running_plugins:{target}")
    return found


def ran(tmp_path, *panel, **more):
    study = study_of(tmp_path, *panel, items=2, **more)
    return run(study, tmp_path / "a", plugins=plugins(), quiet=True)


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (
            "frail:made",
            "'ann', key 'model': model 'frail:made' cannot be made: RuntimeError: no dev",
        ),
        ("frail:exit", "model 'frail:exit' cannot be made: SystemExit: 1"),
        ("nothing:x", "model 'nothing:x' is a NoneType, which has no `complete`"),
    ],
)
def test_a_model_that_cannot_be_made_is_named_before_anything_is_asked(tmp_path, model, says):
    with pytest.raises(VoirdireError) as caught:
        ran(tmp_path, judge("ann", model))
    assert says in str(caught.value)


def test_a_judge_that_cannot_be_made_is_named(tmp_path):
    with pytest.raises(VoirdireError, match=r"judge 'frail' of 'ann' cannot be made: KeyError"):
        ran(tmp_path, {**judge("ann"), "use": "frail", "options": {"at": "made"}})


@pytest.mark.parametrize("model", ["frail:closed", "frail:hung", "plain:x"])
def test_a_model_that_does_not_close_undoes_no_run(tmp_path, monkeypatch, capsys, model):
    monkeypatch.setattr(_models, "GRACE", 0.1)
    assert ran(tmp_path, judge("ann", model)).complete
    said = capsys.readouterr().err
    assert said.startswith(f"voirdire: <model {model[6:]}> could not be closed") is (
        "frail" in model
    )


@pytest.mark.parametrize("at", ["raises", "text", "number"])
def test_findings_that_break_are_a_finding(tmp_path, at):
    assert ran(tmp_path, {**judge("ann"), "use": "frail", "options": {"at": at}}).complete
    (found,) = kept_findings(tmp_path / "a")
    assert (found.kind, found.severity, found.table) == ("findings_broke", "note", "ann")


@pytest.mark.parametrize("says", ["none", "text", "no text"])
def test_a_generator_that_reads_no_text_has_no_response(tmp_path, says):
    author = {"name": "w", "use": "author", "model": "script:w", "options": {"says": says}}
    result = ran(tmp_path, judge("ann"), systems=(), generators=[author])
    assert (dict(result.raters[0].statuses), result.raters[1].tasks) == ({"unparsable": 2}, 0)
    assert responses_frame(tmp_path / "a", plugins())["text"].to_list() == [None, None]
