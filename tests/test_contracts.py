"""The contract tests: our own plugins keep them, and what breaks one is named, with a hint."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import operator
import sys
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from word_embedder import WordEmbedder

import voirdire
from voirdire import plugins
from voirdire.errors import ContractError, InputError, ModelError, TableError
from voirdire.parsing import parse_scores
from voirdire.probes import RequestProbe, ResponseProbe
from voirdire.schema import (
    Comparison,
    Item,
    Message,
    Parsed,
    Reply,
    Request,
    Response,
    Sampling,
    Usage,
)
from voirdire.testing import (
    REPLIES,
    TEXTS,
    check_annotator,
    check_benchmark,
    check_classifier,
    check_executor,
    check_generator,
    check_judge,
    check_model,
    check_probe,
    check_reader,
    check_registered,
    check_selector,
    check_tool,
)
from voirdire.tools import AgentTool

KNOWN = plugins()
PAIR = (Response("1", "a", "Pick one small task."), Response("1", "b", "Many know that."))
EXERCISE = Item(
    "1",
    "I failed the test, so I am a failure.",
    {"category": "Working With Emotions", "reference": "That sounds heavy. What else is true?"},
)
STORY = Item("1", "I am a failure.", {"situation": "A test.", "thoughts": "I am a failure."})
QUESTION = Item("1", "Which of these is a colour?", {"choices": ["red", "seven"]})


def made(kind, name):
    return KNOWN.resolve(kind, name)


@pytest.fixture
def pool(tmp_path):
    texts = [*TEXTS[5:11], "I cannot sleep.", "A calm day by the river.", "Work was long."]
    rows = {"id": [f"p{row}" for row in range(len(texts))], "text": texts, "worry": [1, 0, 1] * 3}
    pl.DataFrame(rows).write_ndjson(tmp_path / "pool.jsonl")
    return {"pool": "pool.jsonl", "folder": tmp_path, "labels": ["worry"]}


@pytest.fixture
def table(tmp_path):
    (tmp_path / "drugs.csv").write_text("drug,dose\nalpha,5 mg\n", encoding="utf-8")
    return str(tmp_path / "drugs.csv")


#: Those that cannot be made without options, or need a task of their own.
WITH_OPTIONS = {
    ("annotator", "angst"): {"task": "depression"},
    ("annotator", "cbt-qa"): {"item": QUESTION},
    ("annotator", "cbt-cd"): {"item": STORY},
    ("annotator", "cbt-pc"): {"item": STORY},
    ("annotator", "cbt-fc"): {"item": STORY},
    ("annotator", "choice"): {"item": QUESTION},
    ("annotator", "labels"): {"labels": ["worry", "calm"]},
    ("annotator", "questionnaire"): {"scale": "phq9"},
    ("annotator", "yes-no"): {"labels": ["worry"], "answers": {'{"worry": "yes"}': {"worry": 1}}},
    ("generator", "cbt-dp"): {"item": EXERCISE},
    ("judge", "agent"): {"tools": ["calculate"], "plugins": KNOWN},
    ("judge", "cbt-dp"): {"task": Comparison(EXERCISE, *PAIR)},
    ("judge", "probed"): {"probe": "paraphrase", "plugins": KNOWN},
    ("judge", "questionnaire"): {"scale": "phq9"},
}
CHECKS = {"annotator": check_annotator, "generator": check_generator, "judge": check_judge}
#: Tried elsewhere: providers' models on the wire server, what needs weights with real ones.
ELSEWHERE = {"model", "classifier", "executor"}

#: Tools that need a table, an index, a judge or code; `lookup` below, the others in test_agents.
TOOLS_OF_MORE = {"lookup", "ask", "langchain", "retrieve"}


@pytest.mark.parametrize("key", sorted(KNOWN.registered), ids="-".join)
def test_what_is_built_in_keeps_its_contract_or_says_what_it_needs(key):
    outcome = check_registered(KNOWN.registered[key], KNOWN)
    assert outcome.state != "broken", "\n".join(outcome.problems)
    tried = key in WITH_OPTIONS or key[0] in {*ELSEWHERE, "selector"} or key[1] in TOOLS_OF_MORE
    assert outcome.state == "holds" or tried, outcome.problems


class Unread:
    """A rater or generator that asks as ever and cannot read any reply."""

    def __init__(self, whole):
        self.requests, self.task = whole.requests, getattr(whole, "task", "item")

    def parse(self, replies, *_):
        raise KeyError(len(replies))


@pytest.mark.parametrize("key", sorted(WITH_OPTIONS), ids="-".join)
def test_what_needs_options_keeps_its_contract(key):
    """It holds for each; and the same check, with the same options, names a `parse` that raises."""
    check, make, options = CHECKS[key[0]], made(*key), WITH_OPTIONS[key]

    def broken(*given, **more):
        return Unread(make(*given, **more))

    broken.__signature__ = inspect.signature(make)
    assert check(make, **options) is None
    with pytest.raises(ContractError, match="parse raises"):
        check(broken, **options)


@pytest.mark.parametrize("name", KNOWN.names("selector"))
def test_selectors_keep_their_contract(name, pool):
    more = {"fixed": {"ids": ["p6", "p7"]}, "balanced": {"label": "worry"}}.get(name, {})
    own = Item("p7", "A calm day by the river.")
    check_selector(made("selector", name), [own], embedder=WordEmbedder(), **pool, **more)


def test_a_tool_with_options_and_a_free_model_keep_their_contracts(table):
    check_tool(made("tool", "lookup"), [{"value": "alpha"}], path=table, key="drug")
    check_model(made("model", "simulated"), "b")
    simulated = KNOWN.registered["model", "simulated"]
    assert check_registered(simulated, KNOWN, ask=True).state == "holds"


@dataclass
class Judge:
    """A judge that keeps the contract; each break below changes one thing of it."""

    sampling: Sampling = Sampling()

    def requests(self, task):
        return [self.sampling.request((Message("user", task.response.text),))]

    def parse(self, replies):
        reply = replies[-1] if replies else Reply("")
        scale, reason = voirdire.Scale(), reply.finish_reason
        return parse_scores(reply.text, ["score"], scale, finish_reason=reason)


def make_with(**changes):
    def make(rubric, *, sampling=Sampling()):
        return type("Broken", (Judge,), changes)(sampling)

    return make


def test_the_judge_of_these_tests_keeps_the_contract():
    check_judge(make_with(), answers={'{"score": 4}': {"score": 4}, "no idea": {"score": None}})


def raises(*_):
    raise KeyError("score")


def wild(self, replies):
    if replies and replies[-1].text == "9" * 5_000:
        return Parsed({"score": 999.0}, "ok")
    return Judge.parse(self, replies)


COUNTER = iter(range(10**6))
JUDGES = {
    "takes no `sampling`": lambda rubric: Judge(),
    "lacks the method 'parse'": make_with(parse=None),
    "it cannot be made: KeyError": lambda rubric, *, sampling: raises(),
    "requests asks nothing": make_with(requests=lambda self, task: []),
    "requests raises on a mild task: KeyError": make_with(requests=raises),
    "requests changes\n": make_with(
        requests=lambda self, task: [self.sampling.request((Message("user", f"{next(COUNTER)}"),))]
    ),
    "what a study says of temperature": make_with(
        requests=lambda self, task: [Request((Message("user", task.response.text),))]
    ),
    "requests raises on a hostile": make_with(
        requests=lambda self, task: [
            self.sampling.request((Message("user", task.response.text.format(x=1)),))
        ]
    ),
    "parse raises on the reply": make_with(parse=lambda self, replies: float(replies[-1].text)),
    "a reply that never came is read as": make_with(
        parse=lambda self, replies: Parsed({"score": 3.0}, "ok")
    ),
    "off the scale 1 to 5": make_with(parse=wild),
    "in two ways": make_with(
        parse=lambda self, replies: Parsed({"score": next(COUNTER) % 5 + 1}, "ok")
    ),
    "loses ['score']": make_with(
        parse=lambda self, replies: Parsed(
            {"score": None} if replies and replies[-1].error else {}, "failed"
        )
    ),
    "its status is 'ok'": make_with(
        parse=lambda self, replies: Parsed(
            {"score": None}, "failed" if replies and replies[-1].error else "ok"
        )
    ),
    "follow_up still asks": make_with(follow_up=lambda self, replies: [replies[-1].request]),
    "follow_up raises": make_with(follow_up=raises),
    "parse_column reads": make_with(
        parse_column=lambda self, replies: voirdire.parsing.parse_scores_column(
            ["5"] * len(replies), ["score"], voirdire.Scale()
        )
    ),
}


@pytest.mark.parametrize("problem", JUDGES)
def test_a_judge_that_breaks_its_contract_is_told_how(problem):
    with pytest.raises((ContractError, voirdire.PluginError)) as caught:
        check_judge(JUDGES[problem])
    assert problem in str(caught.value)


def test_an_answer_that_is_read_wrongly_is_named():
    with pytest.raises(AssertionError, match=r"is read as \{'score': 4\.0\}, not \{'score': 5\}"):
        check_judge(make_with(), answers={'{"score": 4}': {"score": 5}})


@dataclass
class Model:
    name: str = "mine"
    answer: object = Reply("yes")

    async def complete(self, request):
        await asyncio.sleep(0)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


MODELS = {
    "it has no `name`": Model(name=""),
    "has no `complete`": WordEmbedder(),
    "complete gives str": Model(answer="yes"),
    "complete gives KeyError": Model(answer=KeyError("choices")),
    "its finish_reason is 'eos'": Model(answer=Reply("yes", "eos")),
    "its usage is": Model(answer=Reply("yes", usage=Usage(input=-1))),
    "a part is larger than the whole": Model(
        answer=Reply("yes", usage=Usage(output=3, reasoning=9))
    ),
}


@pytest.mark.parametrize("problem", MODELS)
def test_a_model_that_breaks_its_contract_is_told_how(problem):
    with pytest.raises(ContractError, match=problem):
        check_model(lambda name: MODELS[problem])


def test_a_model_may_block_and_may_fail_as_models_do():
    check_model(lambda name: Model())
    check_model(lambda name: Model(answer=ModelError("full", "overloaded")))
    blocking = type("Blocking", (), {"name": "b", "complete": lambda self, request: Reply("no")})
    check_model(lambda name: blocking())


class Deaf(Model):
    """A model that goes on when it is cancelled."""

    async def complete(self, request):
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                return await asyncio.sleep(0.3, Reply("yes"))


class Holding(Model):
    async def complete(self, request):
        time.sleep(1.2)  # noqa: ASYNC251 - as an SDK's blocking client inside a coroutine does
        return Reply("yes")


class Small(Model):
    """A model that breaks on what is long, where it should say so by a ModelError."""

    async def complete(self, request):
        if len(request.messages[-1].content) > 5_000:
            raise ValueError("context of 1,024 tokens")
        return Reply("yes")


def test_a_model_that_holds_the_loop_cannot_be_cancelled_or_breaks_on_size_is_told(monkeypatch):
    monkeypatch.setattr("voirdire.testing.models._ENDED", 0.1)
    with pytest.raises(ContractError, match="cancelled goes on"):
        check_model(lambda name: Deaf())
    with pytest.raises(ContractError, match="holds the event loop for 1"):
        check_model(lambda name: Holding(), requests=[Request((Message("user", "?"),))], size=0)
    with pytest.raises(ContractError, match="ValueError: context of 1,024 tokens"):
        check_model(lambda name: Small())
    check_model(lambda name: Small(), size=0)


def test_a_model_that_cannot_be_reached_says_so_as_models_do():
    make, closed = made("model", "compatible"), {"base_url": "http://127.0.0.1:1/v1"}
    check_model(make, "b", failing=closed, **closed)

    def silent(name, base_url=""):
        return Model(answer=Reply("") if base_url else Reply("yes"))

    with pytest.raises(ContractError, match="where nothing can answer, complete gives Reply"):
        check_model(silent, failing=closed)


class Shares:
    """A classifier that keeps the contract."""

    def __init__(self, classes, *, task, seed=0):
        self.classes = classes

    def fit(self, texts, labels):
        self.shares = labels.mean(axis=0)
        return self

    def predict(self, texts):
        return np.tile(self.shares, (len(texts), 1))


CLASSIFIERS = {
    "fit returns NoneType": {"fit": lambda self, texts, labels: None},
    "fit raises on twelve short texts": {"fit": raises},
    "fit changes the labels": {"fit": lambda self, texts, labels: labels.fill(0)},
    r"predict returns shape \(12,\)": {"predict": lambda self, texts: np.zeros(len(texts))},
    r"scores lie outside \[0, 1\]": {"predict": lambda self, texts: np.full((len(texts), 2), 7.0)},
    "two trainings with one seed": {
        "fit": lambda self, texts, labels: (
            setattr(self, "shares", np.random.default_rng().random(2)) or self
        )
    },
    "depend on the texts beside it": {
        "predict": lambda self, texts: np.linspace(0, 1, 2 * len(texts)).reshape(-1, 2)
    },
}


@pytest.mark.parametrize("problem", CLASSIFIERS)
def test_a_classifier_that_breaks_its_contract_is_told_how(problem):
    check_classifier(Shares)
    with pytest.raises(ContractError, match=problem):
        check_classifier(type("Broken", (Shares,), CLASSIFIERS[problem]))


def test_a_classifier_that_serves_no_task_says_so_itself():
    def make(classes, *, task, seed=0):
        raise InputError("only for three classes")

    with pytest.raises(InputError, match="only for three classes"):
        check_classifier(make)


class First:
    def __init__(self, **_):
        pass

    def select(self, item, k):
        return [{"id": "p1", "text": "A calm day."}, {"id": "p2", "text": "A long day."}][:k]


SELECTORS = {
    "examples come where k is 2": lambda self, item, k: [{"id": "p", "text": "a"}] * 3,
    "an item is shown itself": lambda self, item, k: [{"id": item.id, "text": item.text}][:k],
    "no mapping with a `text`": lambda self, item, k: ["a"][:k],
    "choose differently": lambda self, item, k: [{"id": "p", "text": f"{next(COUNTER)}"}][:k],
}


@pytest.mark.parametrize("problem", SELECTORS)
def test_a_selector_that_breaks_its_contract_is_told_how(problem):
    check_selector(First)
    with pytest.raises(ContractError, match=problem):
        check_selector(type("Broken", (First,), {"select": SELECTORS[problem]}))


def tool(**changes):
    schema = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
    return replace(AgentTool("shout", "Capitals.", schema, lambda word: word.upper()), **changes)


TOOLS = {
    "makes a str": lambda: "shout",
    "its name is 'shout now'": partial(tool, name="shout now"),
    "it has no description": partial(tool, description=" "),
    "no schema of an object": partial(tool, parameters={"type": "string"}),
    "requires a parameter that it does not describe": partial(
        tool, parameters={"type": "object", "properties": {}, "required": ["word"]}
    ),
    "it fails on": partial(tool, function=raises),
    "in two ways": partial(tool, function=lambda word: f"{next(COUNTER)}"),
}


@pytest.mark.parametrize("problem", TOOLS)
def test_a_tool_that_breaks_its_contract_is_told_how(problem):
    check_tool(tool, [{"word": "calm"}])
    with pytest.raises(ContractError, match=problem):
        check_tool(TOOLS[problem], [{"word": "calm"}])


async def waits(word):
    await asyncio.sleep(0.01)
    return word.upper()


async def holds(word):
    time.sleep(0.3 if word == "calm" else 0)  # noqa: ASYNC251 - the fault itself
    return word.upper()


def mixes_up(word):
    CALLS.append(word)
    time.sleep(0.02)
    return f"{word} {CALLS.pop() and len(CALLS)}"


CALLS = []


def test_async_tools_failures_and_size_are_part_of_the_contract(monkeypatch):
    calm = [{"word": "calm"}]
    check_tool(partial(tool, function=waits), calm)
    check_tool(partial(tool, function=raises), failing=calm)
    with pytest.raises(ContractError, match="does not fail on"):
        check_tool(partial(tool, function=lambda word: "error: no such word"), failing=calm)
    with pytest.raises(ContractError, match="otherwise when 8 calls are under way"):
        check_tool(partial(tool, function=mixes_up), calm)
    with pytest.raises(ContractError, match="tries to end the process"):
        check_tool(partial(tool, function=lambda word: sys.exit(word[:9])))
    slow = partial(
        tool, timeout=0.2, function=lambda word: time.sleep(0.6 if len(word) > 50_000 else 0)
    )
    with pytest.raises(ContractError, match="does not return on"):
        check_tool(slow)
    monkeypatch.setattr("voirdire.testing.tools._HELD", 0.1)
    with pytest.raises(ContractError, match="holds the loop that all async tools share"):
        check_tool(partial(tool, function=holds), calm)


PROBES = {
    "it is a str": "shout",
    "it has no name": ResponseProbe("", lambda item, response: "x", says="x"),
    "does not say what it changes": ResponseProbe("x", lambda item, response: "x"),
    "it expects 'higher'": ResponseProbe("x", lambda item, response: "x", "higher", says="x"),
    "its change raises": ResponseProbe("x", raises, says="x"),
    "gives a int": ResponseProbe("x", lambda item, response: 3, says="x"),
    "varies": ResponseProbe("x", lambda item, response: f"{next(COUNTER)}", says="x"),
    "loses what else was asked": RequestProbe("x", lambda one: Request(one.messages), says="x"),
}


@pytest.mark.parametrize("problem", PROBES)
def test_a_probe_that_breaks_its_contract_is_told_how(problem):
    with pytest.raises(ContractError, match=problem):
        check_probe(PROBES[problem])


class Lines:
    """A reader that keeps the contract: lines of `item<TAB>score` under a heading of its own."""

    name, about = "lines", "lines of a small tool"

    def sniff(self, path, head):
        return 0.9 * head.startswith(b"# lines 1\n")

    def read(self, path):
        rows = voirdire.tables.ReadingBuilder(self.name, path.name)
        rows.rater("ann", "human")
        for line in path.read_text(encoding="utf-8").splitlines()[1:]:
            item, _, score = line.partition("\t")
            if not score:
                raise TableError(f"{path.name}: a line without a score: {line!r}")
            rows.rate(item, "ann", "score", score)
        return rows.reading()


READERS = {
    "it has no `about`": {"about": ""},
    "it lacks": {"read": None},
    "sniff gives 7": {"sniff": lambda self, path, head: 7},
    "sure of a file that begins with": {"sniff": lambda self, path, head: 1.0},
    "sure of its own sample": {"sniff": lambda self, path, head: 0.1},
    "sniff raises": {"sniff": raises},
    "read raises on export.txt": {"read": raises},
    "read gives a dict": {"read": lambda self, path: {}},
    "read raises on a file cut in half": {
        "read": lambda self, path: Lines.read(self, path) if path.stat().st_size > 40 else raises()
    },
}


@pytest.mark.parametrize("problem", READERS)
def test_a_reader_that_breaks_its_contract_is_told_how(problem, tmp_path):
    sample = tmp_path / "export.txt"
    sample.write_text("# lines 1\n" + "".join(f"i{n}\t{n % 5 + 1}\n" for n in range(9)), "utf-8")
    check_reader(Lines, sample)
    with pytest.raises(ContractError, match=problem):
        check_reader(type("Broken", (Lines,), READERS[problem]), sample)


@pytest.mark.parametrize(
    ("problem", "study"),
    [
        ("study gives a dict", lambda self, data: {}),
        (r"study\(None\) raises", lambda self, data: data.name),
    ],
)
def test_a_benchmark_that_breaks_its_contract_is_told_how(problem, study):
    members = {"study": study, "review": lambda self, examination: examination}
    with pytest.raises(ContractError, match=problem):
        check_benchmark(type("Broken", (), members)())
    with pytest.raises(ContractError, match="it lacks"):
        check_benchmark(Path())


def test_generators_that_break_their_contract_are_told_how():
    class Generator:
        def requests(self, task):
            return [Request((Message("user", task.text),), temperature=0.5, seed=3)]

        def parse(self, replies, item=""):
            return replies[-1].text

    with pytest.raises(ContractError, match="parse returns a str"):
        check_generator(lambda sampling: Generator())


@pytest.mark.parametrize(
    ("name", "address"), [("here", "here"), ("processes", "2"), ("dask", "dask")]
)
def test_executors_keep_their_contract(name, address):
    if name == "dask":
        pytest.importorskip("distributed", reason="dask is not installed")
    check_executor(made("executor", name), address)


class Hasty:
    workers = 1

    def map_reduce(self, partial, parts, add=operator.add):
        return functools.reduce(add, map(partial, reversed(list(parts))))

    def close(self):
        pass


@pytest.mark.parametrize(
    ("problem", "map_reduce"),
    [
        ("parts are added as", Hasty.map_reduce),
        ("the sum of 1 to 20 is", lambda self, partial, parts, add=None: 0),
        ("map_reduce raises", raises),
    ],
)
def test_an_executor_that_breaks_its_contract_is_told_how(problem, map_reduce):
    broken = type("Broken", (Hasty,), {"map_reduce": map_reduce})
    with pytest.raises(ContractError, match=problem):
        check_executor(lambda address, *, insecure: broken())


def test_hostile_replies_are_many_and_distinct():
    assert len(set(REPLIES)) == len(REPLIES) > 50
