"""A planted key after each kind of fault, whichever SDK was at work: in no file, log or message."""

from __future__ import annotations

import logging

import pytest
from wire_server import FAULTS, SILENT, WireServer

from voirdire import examine
from voirdire.cli.run import print_result
from voirdire.errors import SessionError, StudyError
from voirdire.report import write_outputs
from voirdire.running import run
from voirdire.store import replies_frame
from voirdire.study import build_study, study_to_toml

KEY = "planted-0123456789abcdef"  # of no shape that gives it away
SDKS = {
    "openai": "openai",
    "openai-responses": "openai",
    "compatible": "openai",
    "anthropic": "anthropic",
    "google": "google.genai",
    "langchain": "langchain_openai",
}
#: Faults after which a report is written too: the provider says the key, and a note is kept.
REPORTED = ("auth", "filter_400")
MODULE = """
from langchain_openai import ChatOpenAI

def chat(url):
    return ChatOpenAI(model="m", base_url=url, max_retries=0)
"""


@pytest.fixture(autouse=True)
def _keys(monkeypatch, tmp_path):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OTHER_KEY"):
        monkeypatch.setenv(name, KEY)
    (tmp_path / "planted_chat.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "items.csv").write_text("id,text\ni1,I slept badly.\ni2,I worry.\n")
    (tmp_path / "texts.csv").write_text("item,system,text\ni1,x,Rest.\ni2,x,Walk.\n")
    (tmp_path / "human.csv").write_text(
        "item,system,rater,attribute,score\ni1,x,human,Empathy,4\ni2,x,human,Empathy,2\n"
    )


def study_of(tmp_path, sdk, server, timeout=30, **options):
    url = server.url if sdk in ("anthropic", "google") else server.openai
    given = {"base_url": url}
    model = f"{sdk}:m"
    if sdk == "compatible":
        given["api_key_env"] = "OTHER_KEY"
    if sdk == "langchain":
        model, given = "langchain:planted_chat:chat", {"arguments": {"url": url}}
    panel = [
        {"name": "human", "kind": "human"},
        {"name": "judge", "model": model, "model_options": {**given, **options}, "max_tokens": 99},
    ]
    raw = {
        "name": "calm", "items": {"path": "items.csv"}, "responses": {"path": "texts.csv"},
        "panel": panel, "rubric": {"attributes": ["Empathy"]}, "analysis": {"resamples": 0},
        "data": {"reference": ["human"], "sources": [{"path": "human.csv", "layout": "long"}]},
        "run": {"timeout": timeout, "retries": int(timeout > 2), "backoff": 0.01, "patience": 0.2},
    }  # fmt: skip
    return build_study(raw, folder=str(tmp_path))


@pytest.mark.parametrize("sdk", SDKS)
def test_no_key_is_left_anywhere_after_any_fault(tmp_path, sdk, capfd, caplog):
    pytest.importorskip(SDKS[sdk])
    caplog.set_level(logging.DEBUG)
    shown = []
    for fault in FAULTS:
        out = tmp_path / "sessions" / fault
        with WireServer() as server:
            server.fault(fault, times=None, **({"retry_after": 0.01} if "limit" in fault else {}))
            study = study_of(tmp_path, sdk, server, timeout=1 if fault in SILENT else 30)
            result = run(study, out)
        assert server.count >= 1
        print_result(result)
        if fault in REPORTED:
            write_outputs(examine(out), out / "report", figures=False)
        shown += [repr(result), str(replies_frame(out).rows())]
    files = [path for path in (tmp_path / "sessions").rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"session.sqlite", "study.toml", "report.html"}
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
    own = "".join(r.getMessage() for r in caplog.records if r.name.startswith("voirdire"))
    assert KEY not in "".join((*shown, *capfd.readouterr(), own, caplog.text))


def test_a_key_in_the_study_is_refused_before_anything_is_written(tmp_path):
    with WireServer() as server:
        for deep in ({"params": {"api_key": "x"}}, {"params": {"extra": {"token": "x"}}}):
            with pytest.raises(StudyError, match="may not stand in a study"):
                study_of(tmp_path, "openai", server, **deep)
        study = study_of(tmp_path, "openai", server, params={"user": KEY})
        assert KEY in study_to_toml(study)
        with pytest.raises(SessionError, match="the study holds the value of OPENAI_API_KEY"):
            run(study, tmp_path / "a", quiet=True)
        assert server.count == 0
    assert not (tmp_path / "a").exists()
