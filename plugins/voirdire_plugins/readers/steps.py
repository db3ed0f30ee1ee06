"""What a span or a message of an agent says, as the steps that it adds to a trajectory.

Read are the attributes of OpenTelemetry's semantic conventions for generative AI (1.37 and later)
and those of OpenInference, and messages as OpenAI, LangChain and inspect_ai write them.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from voirdire.schema import Item, Rating, Response, Turn
from voirdire.units import CALL, RESULT, THOUGHT
from voirdire_plugins.readers.files import facts_of, nested_of, objects, part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

#: LangChain's and the API's words for who speaks.
_ROLES = {
    "human": "user",
    "ai": "assistant",
    "tool": RESULT,
    "function": RESULT,
    "model": "assistant",
}
_OI_MESSAGES = ("llm.input_messages.", "llm.output_messages.")
#: What the conventions call spans that ask a model, and those in which a tool answers.
_ASKS = frozenset(("chat", "text_completion", "generate_content"))
#: Where such a span holds what it was given and said.
MESSAGES = ("gen_ai.input.messages", "gen_ai.output.messages")
_TOOLS = frozenset(("execute_tool", "retrieval"))
_OI_TOOLS = frozenset(("TOOL", "RETRIEVER"))


class TracedStep(NamedTuple):
    """One step: who, what, which tool, and the id of the call that it makes or answers."""

    role: str
    content: str
    name: str = ""
    call: str = ""

    @property
    def turn(self) -> Turn:
        """As a turn of a conversation."""
        return Turn(self.role, self.content, self.name)


def text_of(value: Any) -> str:
    """A value as text: a text as it is, nothing for none, all else as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)


def steps_of_span(attributes: Mapping[str, Any]) -> tuple[list[TracedStep], list[TracedStep]]:
    """What a span was given and what it added; both empty for one that only holds others.

    Examples
    --------
    >>> steps_of_span({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "add",
    ...                "gen_ai.tool.call.arguments": '{"a": 1}', "gen_ai.tool.call.result": "2"})[1]
    [TracedStep(role='tool call', content='{"a": 1}', name='add', call=''), \
TracedStep(role='tool result', content='2', name='add', call='')]
    """
    operation = text_of(attributes.get("gen_ai.operation.name"))
    kind = text_of(attributes.get("openinference.span.kind"))
    if operation in _TOOLS or (not operation and kind in _OI_TOOLS):
        return [], _of_tool(attributes)
    if operation in _ASKS or (not operation and kind == "LLM"):
        if any(name.startswith(_OI_MESSAGES) for name in attributes):
            return _of_openinference(attributes)
        told = _messages(attributes.get("gen_ai.system_instructions"), "system")
        asked = _messages(attributes.get("gen_ai.input.messages"), "user")
        said = _messages(attributes.get("gen_ai.output.messages"), "assistant")
        if not (asked or said):  # plain input and output, as OpenInference has them of any span
            asked = _plain("user", attributes.get("input.value"))
            said = _plain("assistant", attributes.get("output.value"))
        return [*told, *asked], said
    return [], []


def _plain(role: str, value: Any) -> list[TracedStep]:
    text = text_of(value)
    return [TracedStep(role, text)] if text.strip() else []


def _of_tool(attributes: Mapping[str, Any]) -> list[TracedStep]:
    name = text_of(attributes.get("gen_ai.tool.name") or attributes.get("tool.name"))
    call = text_of(attributes.get("gen_ai.tool.call.id") or attributes.get("tool.id"))
    asked = attributes.get("gen_ai.tool.call.arguments", attributes.get("input.value"))
    gave = attributes.get("gen_ai.tool.call.result", attributes.get("output.value"))
    if gave is None:
        documents = [
            part(one, "document", "content") for one in numbered(attributes, "retrieval.documents.")
        ]
        failed = attributes.get("error.type")
        gave = documents or (None if failed is None else f"[failed: {text_of(failed)}]")
    inner = _json(gave)
    # LangChain's instrumentation gives the whole message of the tool in place of its content.
    if part(inner, "type") == "tool" and isinstance(part(inner, "data"), dict):
        call = call or text_of(part(inner, "data", "tool_call_id"))
        gave = part(inner, "data", "content")
    steps = [TracedStep(CALL, text_of(asked), name, call)]
    return steps if gave is None else [*steps, TracedStep(RESULT, text_of(gave), name, call)]


def _messages(value: Any, role: str) -> list[TracedStep]:
    """Messages as the semantic conventions have them: structured, or as one JSON text."""
    steps: list[TracedStep] = []
    inner = _json(value)
    if role == "system":  # parts without a message around them
        inner = [{"role": role, "parts": inner}]
    for message in objects(inner):
        who = text_of(message.get("role")) or role
        for one in objects(message.get("parts")):
            steps += _part(one, _ROLES.get(who, who))
    return steps


def _part(one: Mapping[str, Any], role: str) -> Iterator[TracedStep]:
    kind = one.get("type")
    if kind == "text":
        yield from _plain(role, one.get("content"))
    elif kind in ("reasoning", "thinking"):
        yield from _plain(THOUGHT, one.get("content"))
    elif kind == "tool_call":
        yield TracedStep(
            CALL, text_of(one.get("arguments")), text_of(one.get("name")), text_of(one.get("id"))
        )
    elif kind == "tool_call_response":
        gave = one.get("response", one.get("result"))
        yield TracedStep(RESULT, text_of(gave), text_of(one.get("name")), text_of(one.get("id")))
    else:
        yield TracedStep(role, f"[{kind or 'part'}, not shown]")


def _of_openinference(attributes: Mapping[str, Any]) -> tuple[list[TracedStep], list[TracedStep]]:
    given, said = (
        [step for message in numbered(attributes, prefix) for step in _oi_message(message)]
        for prefix in _OI_MESSAGES
    )
    return given, said


def numbered(attributes: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """The objects of a list whose attributes are called ``prefix0.name``, in their order."""
    own = {k[len(prefix) :]: v for k, v in attributes.items() if k.startswith(prefix)}
    return _in_order(nested_of(own))


def _in_order(value: Any) -> list[dict[str, Any]]:
    entries = [(int(k), v) for k, v in facts_of(value).items() if k.isdecimal()]
    return [v for _, v in sorted(entries, key=lambda one: one[0]) if isinstance(v, dict)]


def _oi_message(one: Mapping[str, Any]) -> Iterator[TracedStep]:
    message = facts_of(one.get("message"))
    who = text_of(message.get("role")) or "assistant"
    role = _ROLES.get(who, who)
    call = text_of(message.get("tool_call_id"))
    name = text_of(message.get("name")) if role == RESULT else ""
    content = message.get("content")
    yield from (step._replace(name=name, call=call) for step in _plain(role, content))
    for inner in _in_order(message.get("contents")):
        held = facts_of(inner.get("message_content"))
        kind = text_of(held.get("type"))
        text = held.get("text")
        if text is None and kind:
            text = f"[{kind}, not shown]"
        yield from _plain(THOUGHT if kind in ("reasoning", "thinking") else role, text)
    for inner in _in_order(message.get("tool_calls")):
        made = facts_of(inner.get("tool_call"))
        function = facts_of(made.get("function"))
        yield TracedStep(
            CALL,
            text_of(function.get("arguments")),
            text_of(function.get("name")),
            text_of(made.get("id")),
        )


def steps_of_message(message: Mapping[str, Any]) -> Iterator[TracedStep]:
    """The steps of one chat message, as OpenAI, LangChain and inspect_ai write it.

    >>> said = {"role": "assistant", "content": "I look.", "tool_calls": [
    ...     {"id": "c1", "function": "search", "arguments": {"q": "x"}}]}
    >>> [(step.role, step.content) for step in steps_of_message(said)]
    [('assistant', 'I look.'), ('tool call', '{"q": "x"}')]
    """
    if isinstance(message.get("data"), dict):  # as LangChain dumps it
        message = {**message["data"], "role": message.get("type")}
    who = text_of(message.get("role") or message.get("type")) or "message"
    role = _ROLES.get(who, who)
    call = text_of(message.get("tool_call_id"))
    name = text_of(message.get("name") or message.get("function")) if role == RESULT else ""
    content = message.get("content")
    for one in content if isinstance(content, list) else [{"type": "text", "text": content}]:
        kind = part(one, "type")
        if kind in ("reasoning", "thinking"):
            yield from _plain(THOUGHT, part(one, "reasoning") or part(one, "thinking"))
            continue
        text = one if isinstance(one, str) else part(one, "text")
        if text is None and kind not in ("text", "tool_use"):  # a call stands below once more
            text = f"[{kind or 'part'}, not shown]"
        yield from (step._replace(name=name, call=call) for step in _plain(role, text))
    for made in objects(message.get("tool_calls")):
        function = made.get("function")
        inner = function if isinstance(function, dict) else made
        asked = inner.get("arguments", inner.get("args"))
        named = function if isinstance(function, str) else inner.get("name")
        yield TracedStep(CALL, text_of(asked), text_of(named), text_of(made.get("id")))


class Trajectory:
    """The steps of one run in their order, each once, and where those of each span or message end.

    Models are given the whole past again with each question: what is known of it is not a step
    anew, and what a span gave is not one when the next span is given it.

    Examples
    --------
    >>> run = Trajectory()
    >>> asked, told = TracedStep("user", "Hi"), TracedStep("assistant", "Hello")
    >>> run.add("a", [asked], [told])
    >>> run.add("b", [asked, told, TracedStep("user", "Bye")], [])
    >>> [step.content for step in run.steps], run.ends
    (['Hi', 'Hello', 'Bye'], {'a': 2})
    """

    __slots__ = ("_calls", "_known", "_open", "ends", "steps")

    def __init__(self) -> None:
        self.steps: list[TracedStep] = []
        #: Position, from 1, of the last step that a span or message made.
        self.ends: dict[str, int] = {}
        self._known: Counter[tuple[str, str]] = Counter()
        self._calls: set[tuple[str, str]] = set()
        self._open: Counter[str] = Counter()

    def add(self, name: str, given: Iterable[TracedStep], made: Iterable[TracedStep]) -> None:
        """What a span was given and what it made; of the first only what is new."""
        again: Counter[tuple[str, str]] = Counter()
        for step in given:
            key = (step.role, step.content)
            again[key] += 1
            answered = bool(step.call) and (step.role, step.call) in self._calls
            if not answered and again[key] > self._known[key]:
                self._append(step)
        made, before = list(made), len(self.steps)
        for step in made:
            if not self._announced(step):
                self._append(step)
        if len(self.steps) > before:
            self.ends[name] = len(self.steps)
        # A model's call is open until a tool's span answers it.
        if all(step.role != RESULT for step in made):
            self._open.update(step.name for step in made if step.role == CALL)

    def _announced(self, step: TracedStep) -> bool:
        """Whether a tool's span tells of a call that its model's span told of already."""
        if step.role != CALL:
            return False
        if step.call and (CALL, step.call) in self._calls:
            self._open[step.name] -= self._open[step.name] > 0
            return True
        if not step.call and self._open[step.name] > 0:
            self._open[step.name] -= 1
            return True
        return False

    def _append(self, step: TracedStep) -> None:
        self.steps.append(step)
        self._known[step.role, step.content] += 1
        if step.call:
            self._calls.add((step.role, step.call))

    def of(self, name: str, system: str, conversation: str = "") -> Rating:
        """The run as what a judge is asked about: its steps are the turns of the response.

        The `conversation` that it is a part of stands under `Item.extra`.
        """
        turns = tuple(step.turn for step in self.steps)
        extra = {"conversation": conversation} if conversation else {}
        return Rating(Item(name, self.asked or "", extra), Response(name, system, "", turns))

    @property
    def asked(self) -> str | None:
        """What the user said first."""
        return next((step.content for step in self.steps if step.role == "user"), None)

    @property
    def answered(self) -> str | None:
        """What the assistant said last."""
        said = (step.content for step in reversed(self.steps) if step.role == "assistant")
        return next(said, None)


def _json(value: Any) -> Any:
    """What a text holds as JSON; the value itself where it is none."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value
