"""Any BaseChatModel of LangChain, given as an object or an import path."""

from __future__ import annotations

import asyncio

import pytest

from voirdire import InputError, ModelError
from voirdire.schema import Message, Request

messages = pytest.importorskip("langchain_core.messages")
fakes = pytest.importorskip("langchain_core.language_models.fake_chat_models")
ASKED = Request((Message("system", "You judge."), Message("user", "Rate.")), temperature=0.3)


def chat(*replies):
    return fakes.GenericFakeChatModel(messages=iter(replies))


def ask(model, request=ASKED):
    return asyncio.run(model.complete(request))


def make(*given, **options):
    from voirdire_judges.models.langchain import make as make_model

    return make_model(*given, **options)


def test_a_model_given_as_an_object_answers():
    reply = ask(make(chat(messages.AIMessage('{"Empathy": 4}'))))
    assert (reply.text, reply.finish_reason) == ('{"Empathy": 4}', "stop")
    assert reply.params == {"temperature": 0.3}


def test_an_import_path_may_name_a_model_or_what_makes_one(tmp_path, monkeypatch):
    (tmp_path / "my_chat_models.py").write_text(
        "from langchain_core.language_models.fake_chat_models import FakeListChatModel\n"
        "made = FakeListChatModel(responses=['made'])\n"
        "def maker(text='maker'):\n    return FakeListChatModel(responses=[text])\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert ask(make("my_chat_models:made")).text == "made"
    assert ask(make("my_chat_models:maker")).text == "maker"
    assert ask(make("my_chat_models:maker", arguments={"text": "given"})).text == "given"
    assert make("my_chat_models:made").name == "langchain:my_chat_models:made"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nocolon", 'needs a path "module:attribute"'),
        ("no_such_module:x", "No module named 'no_such_module'"),
        ("json:nothing", "has no attribute 'nothing'"),
        ("json:__name__", "expected a BaseChatModel, got str"),
    ],
)
def test_a_wrong_path_is_named(path, message):
    with pytest.raises(InputError, match=message):
        make(path)


# Finish reasons and blocks as OpenAI, Anthropic and Google write them into LangChain's message.
@pytest.mark.parametrize(
    ("content", "metadata", "expected"),
    [
        ("4", {"finish_reason": "stop"}, ("stop", "4")),
        ("4", {"stop_reason": "end_turn"}, ("stop", "4")),
        ("", {"finish_reason": "length"}, ("length", "")),
        ("half", {"stop_reason": "max_tokens"}, ("length", "half")),
        ("half", {"finish_reason": "MAX_TOKENS"}, ("length", "half")),
        ("", {"stop_reason": "refusal"}, ("refusal", "")),
        ("", {"finish_reason": "SAFETY"}, ("refusal", "")),
        ("part", {"finish_reason": "content_filter"}, ("content_filter", "part")),
        ("", {"prompt_feedback": {"block_reason": "SAFETY"}}, ("content_filter", "")),
        ("", {"finish_reason": "stop"}, ("empty", "")),
        (
            [{"type": "thinking", "thinking": "so"}, {"type": "text", "text": "4"}],
            {},
            ("stop", "4"),
        ),
        ([{"type": "refusal", "refusal": "No."}], {}, ("refusal", "No.")),
        (["4", "5"], {}, ("stop", "45")),
    ],
)
def test_every_way_to_end(content, metadata, expected):
    reply = ask(make(chat(messages.AIMessage(content, response_metadata=metadata))))
    assert (reply.finish_reason, reply.text) == expected


def test_tokens_are_taken_as_langchain_counts_them():
    usage = {
        "input_tokens": 1000,
        "output_tokens": 60,
        "total_tokens": 1060,
        "input_token_details": {"cache_read": 800},
        "output_token_details": {"reasoning": 40},
    }
    reply = ask(make(chat(messages.AIMessage("4", usage_metadata=usage))))
    assert (reply.usage.input, reply.usage.output) == (1000, 60)
    assert (reply.usage.cached, reply.usage.reasoning) == (800, 40)


def test_a_model_that_retries_by_itself_says_so_in_every_reply():
    class Retrying(fakes.GenericFakeChatModel):
        max_retries: int = 2

    reply = ask(make(Retrying(messages=iter([messages.AIMessage("4")]))))
    assert reply.notes == ("the model retries by itself: max_retries=2",)


def test_an_exception_of_the_model_is_a_typed_error():
    class Broken(fakes.GenericFakeChatModel):
        def _generate(self, *args, **kwargs):
            raise self.metadata["error"]

    def error(raised):
        with pytest.raises(ModelError) as caught:
            ask(make(Broken(messages=iter([]), metadata={"error": raised})))
        return caught.value.kind, caught.value.retryable

    assert error(ConnectionResetError("gone")) == ("connection", True)
    assert error(TimeoutError()) == ("timeout", True)
    assert error(AttributeError("'str' object has no attribute 'choices'")) == ("malformed", True)
    assert error(RuntimeError("out of memory")) == ("model", False)
