"""Any BaseChatModel of LangChain, given as an object or an import path."""

from __future__ import annotations

import asyncio
import json

import pytest
from wire_server import WireServer

from voirdire import InputError, ModelError
from voirdire.schema import Message, Note, Request

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
        ("json:__name__", "expected a Runnable of LangChain .*, got str"),
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
    assert reply.notes == (Note("retries", "", "the model retries by itself, max_retries=2"),)


def test_an_answer_beyond_all_bounds_is_not_kept_and_not_asked_for_again(monkeypatch):
    monkeypatch.setattr("voirdire_judges.models._langchain_chat.LARGEST", 1_000)
    used = {"input_tokens": 3, "output_tokens": 900, "total_tokens": 903}
    said = [messages.AIMessage("x" * size, usage_metadata=used) for size in (1_000, 1_001)]
    model = make(chat(*said))
    assert len(ask(model).text) == 1_000
    with pytest.raises(ModelError, match="larger than 64 MB and was not read") as caught:
        ask(model)
    assert (caught.value.kind, caught.value.retryable) == ("malformed", False)
    assert caught.value.billed.output == 900


@pytest.mark.parametrize("chained", [False, True])
def test_a_model_that_streams_is_stopped_when_it_says_too_much(monkeypatch, chained):
    """What an integration reads through a client of its own is counted there (test_models_money)."""
    outputs = pytest.importorskip("langchain_core.outputs")
    monkeypatch.setattr("voirdire_judges.models._langchain_chat.LARGEST", 1_000)
    said = []

    class Endless(fakes.GenericFakeChatModel):
        streaming: bool = True

        def _stream(self, *_, **__):
            for at in range(10_000):
                said.append(at)
                chunk = messages.AIMessageChunk("x" * 100)
                yield outputs.ChatGenerationChunk(message=chunk)

    endless = Endless(messages=iter([]), streaming=True)
    model = make(endless | parsers.StrOutputParser() if chained else endless)
    with pytest.raises(ModelError, match="larger than 64 MB and was not read") as caught:
        ask(model, QUIET)
    assert (caught.value.kind, caught.value.retryable) == ("malformed", False)
    assert 10 < len(said) < 20


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


# Chains, bound models and graphs: real runnables of langchain-core. A graph of LangGraph takes and
# returns a state with `messages`, as `graph` below does.
runnables = pytest.importorskip("langchain_core.runnables")
prompts = pytest.importorskip("langchain_core.prompts")
parsers = pytest.importorskip("langchain_core.output_parsers")
QUIET = Request((Message("system", "You judge."), Message("user", "Rate.")))


def said(text, **metadata):
    usage = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
    return messages.AIMessage(text, usage_metadata=usage, response_metadata=metadata)


class Hearing(fakes.GenericFakeChatModel):
    """A model that remembers what it was sent, and with which parameters."""

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self.metadata["heard"].append(([(m.type, m.content) for m in messages], kwargs))
        return super()._generate(messages, stop=stop, run_manager=run_manager, **kwargs)


def hearing(*replies):
    model = Hearing(messages=iter(replies), metadata={"heard": []})
    return model, model.metadata["heard"]


BOTH = [("system", "You judge."), ("human", "Rate.")]


def test_a_bound_model_is_sent_the_studys_parameters_beside_its_own():
    model, heard = hearing(said("4"))
    reply = ask(make(model.bind(stop_at="x")))
    assert (reply.text, reply.usage.output) == ("4", 2)
    assert heard == [(BOTH, {"stop_at": "x", "temperature": 0.3})]
    assert reply.params == {"temperature": 0.3}
    broken = fakes.FakeListChatModel(responses=["0"], error_on_chunk_number=0)
    assert ask(make(broken.with_fallbacks([model]))).text == "0"


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (runnables.RunnablePassthrough(), BOTH),
        (prompts.ChatPromptTemplate.from_messages([("placeholder", "{messages}")]), BOTH),
        (
            prompts.ChatPromptTemplate.from_messages([("system", "Be brief."), "{question}"]),
            [("system", "Be brief."), ("human", "System: You judge.\nHuman: Rate.")],
        ),
    ],
)
def test_a_chain_takes_messages_or_the_one_text_that_its_prompt_asks_for(before, expected):
    model, heard = hearing(said("4"))
    reply = ask(make(before | model), QUIET)
    assert (reply.text, heard[0][0], reply.inner) == ("4", expected, ())


def test_a_chain_keeps_what_its_first_model_said_and_counts_the_tokens_of_both():
    first, _ = hearing(said("A draft."))
    second, heard = hearing(said("Score: 4", finish_reason="length"))
    again = runnables.RunnableLambda(lambda message: [("human", f"Shorten: {message.content}")])
    reply = ask(make(first | again | second | parsers.StrOutputParser()), QUIET)
    assert heard[0][0] == [("human", "Shorten: A draft.")]
    assert (reply.text, reply.finish_reason) == ("Score: 4", "length")
    assert reply.inner == (Message("assistant", "A draft."),)
    assert (reply.usage.input, reply.usage.output) == (20, 4)


def graph(model):
    """A state in, a state out, with a call of a tool on the way."""

    async def run(state):
        call = {"id": "1", "name": "look_up", "args": {"word": "rate"}, "type": "tool_call"}
        asked = messages.AIMessage("", tool_calls=[call])
        found = messages.ToolMessage("A number.", tool_call_id="1", name="look_up")
        answer = await model.ainvoke([*state["messages"], asked, found])
        return {"messages": [*state["messages"], asked, found, answer]}

    return runnables.RunnableLambda(run)


def test_a_graph_keeps_its_calls_of_tools_in_the_session(tmp_path, monkeypatch):
    reply = ask(make(graph(hearing(said("4"))[0])), QUIET)
    assert reply.text == "4"
    assert [(one.role, one.content) for one in reply.inner] == [
        ("assistant", ""),
        ("tool", "A number."),
    ]
    assert reply.inner[0].calls[0].name == reply.inner[1].name == "look_up"


def test_inner_messages_are_kept_in_the_session_and_shown(tmp_path):
    from voirdire import load_study, run
    from voirdire.store import replies_frame
    from voirdire.store.replies import shown_messages

    (tmp_path / "my_chains_beside.py").write_text(
        "from langchain_core.language_models.fake_chat_models import FakeListChatModel as Fake\n"
        "from langchain_core.runnables import RunnableLambda\n"
        "think = Fake(responses=['Let me think.'])\n"
        "def pose(message):\n    return [('human', message.content)]\n"
        "chain = think | RunnableLambda(pose) | Fake(responses=['Anger'])\n"
    )
    (tmp_path / "items.csv").write_text("id,text\ni1,You always shout.\n")
    (tmp_path / "study.toml").write_text(
        'name = "chains"\n[items]\npath = "items.csv"\n[[panel]]\nname = "c"\n'
        'kind = "annotator"\nuse = "labels"\nmodel = "langchain:my_chains_beside:chain"\nruns = 1\n'
        'options = {labels = ["Anger", "Fear"]}\n'
    )
    # The module lies beside the study, wherever the command was given.
    run(load_study(tmp_path / "study.toml"), tmp_path / "a")
    frame = replies_frame(tmp_path / "a")
    assert frame["text"].to_list() == ["Anger"]
    assert frame["inner"].to_list() == ['[["assistant","Let me think.",""]]']
    shown = shown_messages(tmp_path / "a", "c", "i1", "", 1)
    assert (shown[-1].role, shown[-1].text) == ("then assistant", "Let me think.")


def test_a_parameter_that_reaches_no_model_is_refused_or_dropped_with_a_note():
    chain = runnables.RunnablePassthrough() | hearing(said("4"), said("5"))[0]
    with pytest.raises(ModelError, match="hands the parameter 'temperature' to no model"):
        ask(make(chain))
    reply = ask(make(chain, on_refused_parameter="drop"))
    assert (reply.params, reply.notes) == (
        {},
        (Note("dropped", "temperature", "a RunnableSequence sets its own"),),
    )


def test_what_a_runnable_takes_and_gives_can_be_named():
    both = runnables.RunnableParallel(score=parsers.StrOutputParser(), why=lambda _: "so")
    chain = hearing(said("4"), said("5"))[0] | both
    with pytest.raises(ModelError, match=r"with the keys score, why: name .* by output_key"):
        ask(make(chain), QUIET)
    reply = ask(make(chain, output_key="score"), QUIET)
    assert (reply.text, reply.usage.output) == ("5", 2)
    asks = prompts.ChatPromptTemplate.from_template("{rule} {text}").partial(rule="Be fair.")
    model, heard = hearing(said("4"))
    assert ask(make(asks | model), QUIET).text == "4"
    assert heard[0][0][0][1].startswith("Be fair. System: You judge.")
    two = prompts.ChatPromptTemplate.from_template("{rule} {text}")
    with pytest.raises(InputError, match=r"takes rule, text: name the one .* by input_key"):
        make(two | model)
    with pytest.raises(ModelError, match="missing variables"):
        ask(make(two | model, input_key="text"), QUIET)
    with pytest.raises(ModelError, match="answered with a int"):
        ask(make(runnables.RunnableLambda(lambda _: 7)), QUIET)


def test_keys_and_retries_inside_a_chain_are_found():
    secret = pytest.importorskip("pydantic").SecretStr

    class Keyed(fakes.GenericFakeChatModel):
        max_retries: int = 3
        api_key: secret = secret("sk-inside")

    chain = runnables.RunnablePassthrough() | Keyed(messages=iter([said("4")])).with_retry()
    assert ask(make(chain), QUIET).notes == (
        Note("retries", "", "the model retries by itself, up to 3 attempts"),
        Note("retries", "", "the model retries by itself, max_retries=3"),
    )

    class Telling(Keyed):
        def _generate(self, *args, **kwargs):
            raise RuntimeError(f"bad key {self.api_key.get_secret_value()}")

    with pytest.raises(ModelError, match="bad key") as caught:
        ask(make(runnables.RunnablePassthrough() | Telling(messages=iter([]))), QUIET)
    assert "sk-inside" not in str(caught.value)


def test_a_second_run_in_the_same_process_is_handed_no_connection_of_the_first(monkeypatch):
    """`ChatOpenAI` shares one HTTP client in a process, and each run has an event loop of its own."""
    integration = pytest.importorskip("langchain_openai")
    monkeypatch.setenv("OPENAI_API_KEY", "x")

    async def run(url):
        model = make(integration.ChatOpenAI(model="m", base_url=url, max_retries=0), timeout=30)
        replies = await asyncio.gather(*(model.complete(ASKED) for _ in range(3)))
        await model.aclose()
        return [reply.text for reply in replies]

    with WireServer("4") as server:
        for _ in range(3):
            assert asyncio.run(run(server.openai)) == ["4"] * 3
        assert server.count == 9


def structured(content, calls=(), include_raw=False):
    """What `with_structured_output` builds: a model, then a parser of its call or of its JSON."""
    from langchain_core.output_parsers import JsonOutputParser
    from pydantic import BaseModel

    class Marks(BaseModel):
        Empathy: int
        Reason: str

    model = chat(messages.AIMessage(content, tool_calls=list(calls)))
    if include_raw:
        return model | (lambda raw: {"raw": raw, "parsed": None, "parsing_error": ValueError("no")})
    if calls:
        return model | (lambda message: Marks(**message.tool_calls[0]["args"]))
    return model | JsonOutputParser()


MARKS = {"Empathy": 4, "Reason": "warm"}
MARKED = {"name": "Marks", "args": MARKS, "id": "c1", "type": "tool_call"}


@pytest.mark.parametrize(
    ("chain", "text"),
    [
        (lambda: structured('{"Empathy": 4, "Reason": "warm"}'), MARKS),
        (lambda: structured("", [MARKED]), MARKS),
        (lambda: structured("", [MARKED], include_raw=True), MARKS),
        (lambda: structured("Empathy: four", include_raw=True), "Empathy: four"),
    ],
)
def test_what_structured_output_gives_is_read(chain, text):
    reply = ask(make(chain()), Request(ASKED.messages, temperature=0.0))
    assert (json.loads(reply.text) if isinstance(text, dict) else reply.text) == text
    # Temperature 0 is what judges ask for by themselves: said, and no reason to refuse the chain.
    assert [(note.kind, note.about) for note in reply.notes] == [("dropped", "temperature")]


def test_a_users_own_callbacks_run():
    from langchain_core.callbacks import BaseCallbackHandler

    heard = []

    class Hears(BaseCallbackHandler):
        def on_chat_model_start(self, *args, **more):
            heard.append("start")

    own = chat(messages.AIMessage("4"))
    own.callbacks = [Hears()]
    assert ask(make(own)).text == "4"
    chain = (chat(messages.AIMessage("5")) | (lambda message: message)).with_config(
        callbacks=[Hears()]
    )
    assert ask(make(chain), Request(ASKED.messages)).text == "5"
    assert heard == ["start", "start"]
