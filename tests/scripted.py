"""Judges and models of the runner's tests: real objects that behave as their options say."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from dataclasses import replace

import polars as pl

from voirdire import Plugins
from voirdire.errors import ModelError
from voirdire.protocols import costs_nothing
from voirdire.running import run
from voirdire.schema import Message, Parsed, Reply, Request, Response, Sampling, Usage
from voirdire.store import ratings_frame
from voirdire.study import build_study

#: Calls that each model has received, by model name.
RECEIVED: Counter[str] = Counter()


class Digit:
    """Scores one attribute by the first digit of the reply."""

    task = "rating"

    def __init__(self, rubric, *, prompt="Rate:", sampling=Sampling()):
        self.prompt, self.sampling = prompt, sampling

    def requests(self, task):
        messages = (Message("system", self.prompt), Message("user", task.response.text))
        return [self.sampling.request(messages)]

    def parse(self, replies):
        reply = replies[0]
        if reply.finish_reason == "error":
            return Parsed({"Calm": None}, "failed")
        if reply.finish_reason == "refusal":
            return Parsed({"Calm": None}, "refused")
        if reply.finish_reason == "content_filter":
            return Parsed({"Calm": None}, "filtered")
        if reply.finish_reason == "length":
            return Parsed({"Calm": None}, "truncated")
        found = re.search(r"\d", reply.text)
        if found is None:
            return Parsed({"Calm": None}, "unparsable" if reply.text else "blank")
        return Parsed({"Calm": float(found[0])}, "ok")


class Pair(Digit):
    """Prefers what is shown first by the digit of the reply."""

    task = "comparison"

    def requests(self, task):
        text = f"{task.first.text} | {task.second.text}"
        return [Request((Message("system", self.prompt), Message("user", text)))]


class TwoSteps(Digit):
    """Asks for thoughts first, then for a number."""

    def follow_up(self, replies):
        if len(replies) > 1:
            return []
        asked = replies[0].request.messages
        said = Message("assistant", replies[0].text)
        return [Request((*asked, said, Message("user", "Now the number.")))]

    def parse(self, replies):
        return super().parse([replies[-1]])


class PerAttribute(Digit):
    """One call an attribute."""

    def requests(self, task):
        one = super().requests(task)[0]
        return [
            replace(one, messages=(*one.messages, Message("user", name)))
            for name in ("A", "B", "C")
        ]

    def parse(self, replies):
        if replies[0].finish_reason == "error" and len(replies) == 1:
            replies = [replies[0]] * 3
        parts = [super(PerAttribute, self).parse([reply]) for reply in replies]
        scores = {n: p.scores["Calm"] for n, p in zip("ABC", parts, strict=True)}
        statuses = {n: p.status for n, p in zip("ABC", parts, strict=True)}
        return Parsed(scores, max(statuses.values(), key=lambda s: s != "ok"), statuses)


class Labels:
    """Labels an item: every known word in the reply is a label."""

    def __init__(self, *, labels=("calm", "tense"), sampling=Sampling()):
        self.labels, self.sampling = labels, sampling

    def requests(self, task):
        return [self.sampling.request((Message("user", task.text),))]

    def parse(self, replies):
        if replies[0].finish_reason == "error":
            return Parsed(dict.fromkeys(self.labels), "failed")
        words = replies[0].text.split()
        ranks = {label: words.index(label) + 1 for label in self.labels if label in words}
        return Parsed({label: float(label in words) for label in self.labels}, "ok", ranks=ranks)


class Writer:
    """Generates a response: the reply's text."""

    def __init__(self, *, sampling=Sampling()):
        self.sampling = sampling

    def requests(self, task):
        return [self.sampling.request((Message("user", f"Answer: {task.text}"),))]

    def parse(self, replies, item=""):
        return Response(item, "", replies[-1].text)


class Scripted:
    """A model that waits, then answers or fails as its options say.

    `says` is the text of replies; `fails` maps the number of an attempt on one prompt (from 1; 0:
    every attempt) to a fault kind or finish reason; `only` restricts that to prompts holding it.
    """

    def __init__(
        self,
        model_name,
        *,
        says="4",
        fails=None,
        only="",
        latency=0.0,
        retry_after=None,
        message="broken",
        usage=(100, 10),
        sticky=0.0,
    ):
        self.name, self.says, self.latency = model_name, says, latency
        self.fails = {int(number): kind for number, kind in (fails or {}).items()}
        self.only, self.retry_after, self.message, self.usage = only, retry_after, message, usage
        self.tries: Counter[str] = Counter()

    async def complete(self, request):
        prompt = request.messages[-1].content
        self.tries[prompt] += 1
        RECEIVED[self.name] += 1
        if self.latency:
            await asyncio.sleep(self.latency)
        kind = self.fails.get(self.tries[prompt], self.fails.get(0))
        if kind is None or self.only not in prompt:
            return self._reply(self.says.replace("{tries}", str(self.tries[prompt])), "stop")
        if kind == "hang":
            await asyncio.sleep(3600)
        if kind in ("refusal", "content_filter", "length", "empty"):
            return self._reply("" if kind != "refusal" else "I would rather not.", kind)
        if kind.startswith("says:"):
            return self._reply(kind[5:], "stop")
        raise ModelError(self.message, kind, retry_after=self.retry_after)

    def _reply(self, text, finish):
        usage = Usage(*self.usage) if self.usage else Usage()
        return Reply(text, finish, usage, model=self.name, provider_id=f"id-{RECEIVED[self.name]}")


class Blocking:
    """A model that blocks its thread."""

    concurrency = 2

    def __init__(self, model_name, *, seconds=0.05):
        self.name, self.seconds = model_name, seconds

    def complete(self, request):
        time.sleep(self.seconds)
        return Reply("3", usage=Usage(5, 1))


@costs_nothing
class Free(Scripted):
    """A model without a bill."""


def scripted_plugins() -> Plugins:
    """Everything above, registered."""
    found = Plugins()
    for kind, name, target in (
        ("judge", "digit", "Digit"),
        ("judge", "pair", "Pair"),
        ("judge", "steps", "TwoSteps"),
        ("judge", "each", "PerAttribute"),
        ("annotator", "labels", "Labels"),
        ("generator", "writer", "Writer"),
        ("model", "script", "Scripted"),
        ("model", "block", "Blocking"),
        ("model", "free", "Free"),
    ):
        found.add(kind, "tests", name, f"scripted:{target}")
    return found


PLUGINS = scripted_plugins()


def judge(name="ann", model=None, **more):
    """One judge with a model of its own."""
    options = more.pop("model_options", {})
    return {
        "name": name,
        "use": "digit",
        "model": model or f"script:{name}",
        "model_options": options,
        **more,
    }


def study_of(tmp_path, *panel, items=4, systems=("x", "y"), run=None, **more):
    names = [f"i{number}" for number in range(items)]
    pl.DataFrame({"id": names, "text": [f"text {n}" for n in names]}).write_csv(
        tmp_path / "items.csv"
    )
    rows = [(n, s, f"{s} to {n}.") for n in names for s in systems]
    pl.DataFrame(rows, schema=["item", "system", "text"], orient="row").write_csv(
        tmp_path / "responses.csv"
    )
    raw = {
        "name": "calm", "panel": list(panel), "items": {"path": "items.csv"},
        "run": {"backoff": 0.01, "retries": 2, **(run or {})}, **more,
    }  # fmt: skip
    if systems:
        raw["responses"] = {"path": "responses.csv"}
    return build_study(raw, folder=str(tmp_path))


def go(tmp_path, study, out="a", **more):
    RECEIVED.clear()
    return run(study, tmp_path / out, plugins=PLUGINS, quiet=True, **more)


def rated(tmp_path, out="a"):
    return ratings_frame(tmp_path / out, PLUGINS)
