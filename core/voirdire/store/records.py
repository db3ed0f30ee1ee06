"""What the runner hands to the store, and what it gets back."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from voirdire.schema import Message, Note, Part, Reply, Request, Tool, ToolCall, Usage
from voirdire.store._schema import unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from voirdire.study import Stage


@dataclass(frozen=True, slots=True)
class RaterId:
    """A rater (or generator) as the store knows it.

    `model` names the model and its options (see `models_identity` where it has several), `prompt`
    is a hash of what it asks and with which parameters: a rater whose prompt is edited starts anew,
    and what it said before stays on file.
    """

    stage: Stage
    name: str
    model: str
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a reply belongs: which rater, about what, in which run, at which step.

    `unit` is the key of the turn that is asked about (see `units.Unit.key`), empty for a whole.
    """

    rater: RaterId
    item: str
    first: str = ""
    second: str = ""
    run: int = 1
    step: int = 0
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """One question to a model, with the key under which its replies are kept."""

    key: bytes
    slot: Slot
    request: Request
    params: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at a call: a reply, or the kind and message of the fault and what it cost."""

    call: Call
    at: float
    reply: Reply | None = None
    error: str = ""
    message: str = ""
    latency: float = 0.0
    billed: Usage | None = None


@dataclass(frozen=True, slots=True)
class Finish:
    """A task is through: its calls keep their last reply as final, but those that `failed`.

    `fault` is the kind of fault that they were given up for. A task about which nothing is to be
    asked has no keys, but its `slot`. `cut` says that its rater had more steps to take.
    """

    keys: tuple[bytes, ...]
    status: str
    failed: tuple[bytes, ...] = ()
    fault: str = ""
    slot: Slot | None = None
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Revival:
    """A finished call is its slot's again: the study went back to an earlier prompt."""

    call: Call


@dataclass(frozen=True, slots=True)
class Stored:
    """What the store holds on a call: whether it is finished, and the replies so far in order.

    A call that is not `current` was made, and another prompt of the same slot after it.
    """

    finished: bool
    current: bool
    status: str | None
    replies: tuple[Reply, ...] = field(default=())


#: Bytes that are hashed at a time: hashlib keeps Python's lock below 2,048.
_PIECE = 2_047


def call_key(rater: bytes, slot: Slot, params: str, messages: Iterable[bytes]) -> bytes:
    """Hash of rater, model, task, run, step, parameters and rendered messages (16 bytes)."""
    # Run and step are part of it: equal questions of two runs are two calls, and each is paid for.
    # The unit only where there is one: keys of sessions without turns stay as they are.
    about = (
        *(slot.item, slot.first, slot.second, str(slot.run), str(slot.step), params),
        *filter(None, [slot.unit]),
    )
    raw = b"".join((rater, _framed(about), *messages))
    digest = hashlib.blake2b(digest_size=16)
    # Longer pieces are hashed without Python's lock, for which the thread would have to wait again.
    for start in range(0, len(raw), _PIECE):
        digest.update(raw[start : start + _PIECE])
    return digest.digest()


def _framed_rater(rater_id: RaterId) -> bytes:
    return _framed((rater_id.stage, rater_id.name, rater_id.model, rater_id.prompt))


def _framed_message(message: Message) -> bytes:
    """What a key is made of; calls and their results add a part, so that older keys stay."""
    more = calls_json(message)
    return _framed((message.role, message.content, *filter(None, [more])))


def calls_json(message: Message) -> str:
    """The calls of a message, or which call it answers, as canonical JSON; empty without any."""
    # Most messages have none, and keys of earlier sessions were made without it.
    if not (message.calls or message.call_id or message.name):
        return ""
    calls = [[call.id, call.name, call.arguments, call.signature] for call in message.calls]
    content: dict[str, Any] = {"calls": calls, "call_id": message.call_id, "name": message.name}
    if message.thoughts:
        content["thoughts"] = message.thoughts
    return dumps(content)


def message_of(role: Any, text: str, calls: str = "") -> Message:
    """The message that role, text and `calls_json` stand for."""
    if not calls:
        return Message(role, text)
    more = json.loads(calls)
    made = tuple(ToolCall(*call) for call in more["calls"])
    thoughts = tuple(more.get("thoughts", ()))
    return Message(role, text, made, more["call_id"], more["name"], thoughts)


def reply_of(row: Sequence[Any]) -> Reply:
    """A reply from the columns of `REPLY_COLUMNS`."""
    text, finish, given, out, cached, reasoning, written, latency, provider_id, model = row[:10]
    extra, message, parts, ended, candidate = row[10:]
    usage = Usage(given, out, cached, reasoning, written)
    # Most replies have nothing of it, and this is asked for every reply of a session.
    if not (extra or parts):
        return Reply(
            unpack(text),
            finish,
            usage,
            model or "",
            provider_id=provider_id or "",
            latency=latency or 0.0,
            error=message or "",
            ended_by=ended or "",
            candidate=candidate or 0,
        )
    more = json.loads(extra or "{}")
    return Reply(
        text=unpack(text),
        finish_reason=finish,
        usage=usage,
        model=model or "",
        provider_id=provider_id or "",
        latency=latency or 0.0,
        notes=tuple(Note(*note) for note in more.get("notes", ())),
        option_logprobs=more.get("option_logprobs", {}),
        tool_calls=tuple(ToolCall(*call) for call in more.get("tool_calls", ())),
        thoughts=tuple(more.get("thoughts", ())),
        inner=tuple(message_of(*one) for one in more.get("inner", ())),
        parts=parts_of(unpack(parts), unpack(text)) if parts else (),
        ended_by=ended or "",
        candidate=candidate or 0,
        error=message or "",
    )


#: What a reply is made of again, in this order; `a` is its attempt.
REPLY_COLUMNS = (
    "a.text, a.finish, a.input, a.output, a.cached, a.reasoning, a.written, a.latency, "
    "a.provider_id, a.model, a.extra, a.message, a.parts, a.ended, a.candidate"
)


def parts_json(parts: Sequence[Part], text: str) -> str:
    """The parts of a reply as JSON (kind, text, phase, name), empty where its text is all of them.

    A part that is the reply's text holds null in its place, so that long texts are kept once.

    >>> parts_json([Part("reasoning", "Hm."), Part("text", "4")], "4")
    '[["reasoning","Hm.","",""],["text",null,"",""]]'
    >>> parts_json([Part("text", "4")], "4")
    ''
    """
    if not parts or tuple(parts) == (Part("text", text),):
        return ""
    return dumps(
        [[p.kind, None if text and p.text == text else p.text, p.phase, p.name] for p in parts]
    )


def parts_of(stored: str, text: str) -> tuple[Part, ...]:
    """The parts that `parts_json` wrote."""
    rows = json.loads(stored)
    return tuple(Part(kind, text if own is None else own, *rest) for kind, own, *rest in rows)


def make_call(slot: Slot, request: Request) -> Call:
    """The call that a request makes in a slot."""
    params = params_json(request)
    framed = map(_framed_message, request.messages)
    key = call_key(_framed_rater(slot.rater), slot, params, framed)
    return Call(key, slot, request, params)


def for_run(request: Request, run: int) -> Request:
    """The request of the k-th run: a seed moves on by one a run, or all would give one reply.

    `run` is no part of a call's parameters; its slot holds it.
    """
    if run == request.run:
        return request
    seed = None if request.seed is None else request.seed + run - request.run
    return replace(request, seed=seed, run=run)


class CallMaker:
    """Makes the calls of one rater, and writes what comes again once.

    A rater hands over the same schema, tools and instructions with every request, and to write a
    schema takes longer than all else about a call. They are known by being the same objects, which
    are held here so that no other can take their place; a rater that changed one in between would
    not be pure.
    """

    def __init__(self) -> None:
        self._known: dict[Any, tuple[Any, Any, str]] = {}
        self._raters: dict[int, tuple[RaterId, bytes]] = {}
        self._messages: dict[int, tuple[Message, bytes]] = {}

    def make(self, slot: Slot, request: Request) -> Call:
        """The call that a request makes in a slot, as `make_call`."""
        # Free parameters may hold anything that changes: those are written anew each time.
        params = params_json(request) if request.params else self._params(request)
        rater = _once(self._raters, slot.rater, _framed_rater)
        # The last message is what is rated, and new each time.
        framed = [_once(self._messages, m, _framed_message) for m in request.messages[:-1]]
        framed += map(_framed_message, request.messages[-1:])
        return Call(call_key(rater, slot, params, framed), slot, request, params)

    def _params(self, request: Request) -> str:
        # By their repr, since 0 and 0.0 are equal and are written otherwise.
        numbers = repr((request.temperature, request.top_p, request.max_tokens, request.seed))
        ids = (id(request.schema), id(request.tools))
        key = (*ids, numbers, request.options, request.role)
        entry = self._known.get(key)
        if entry is None:
            # Only a rater that makes new schemas at each request comes here: then
            # nothing is worth keeping.
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            # Schema and tools are held: once freed, another object might get their ids.
            entry = (request.schema, request.tools, params_json(request))
            self._known[key] = entry
        return entry[2]


_Part = TypeVar("_Part")
#: Sets of parameters, or messages, that are kept written.
_MOST_KEPT = 256


def _once(
    cache: dict[int, tuple[_Part, bytes]], part: _Part, written: Callable[[_Part], bytes]
) -> bytes:
    """What is written of an object, which is kept with it."""
    kept = cache.get(id(part))
    if kept is None:
        if len(cache) >= _MOST_KEPT:
            cache.clear()
        kept = cache[id(part)] = part, written(part)
    return kept[1]


def params_json(request: Request) -> str:
    """Everything of a request but its messages, as canonical JSON; what is unset is left out."""
    params: dict[str, Any] = {
        name: value
        # What is unset is left out, so that a parameter added later leaves older keys as they are.
        for name in ("temperature", "top_p", "max_tokens", "seed", "schema")
        if (value := getattr(request, name)) is not None
    }
    if request.options:
        params["options"] = request.options
    if request.role:
        params["role"] = request.role
    if request.tools:
        params["tools"] = [[t.name, t.description, dict(t.parameters)] for t in request.tools]
    if request.params:
        params["params"] = dict(request.params)
    return dumps(params) if params else "{}"


def request_of(messages: tuple[Message, ...], params: str, run: int = 1) -> Request:
    """The request that messages and `params_json` stand for."""
    fields = json.loads(params)
    tools = tuple(Tool(*tool) for tool in fields.pop("tools", ()))
    options = tuple(fields.pop("options", ()))
    return Request(messages, **fields, options=options, run=run, tools=tools)


def dumps(value: Any) -> str:
    """Canonical JSON; what JSON cannot hold is written as text, so that nothing is lost."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    return dict(value) if hasattr(value, "keys") else str(value)


def models_identity(models: Mapping[str, str]) -> str:
    """The models of a rater by role as one name; a rater with a single model has that model's.

    >>> models_identity({"": "openai:gpt-4o"}), models_identity({"judge": "a:b"})
    ('openai:gpt-4o', '{"judge":"a:b"}')
    """
    # As before a rater could have several: its replies stay under their name.
    return models[""] if set(models) == {""} else dumps(dict(models))


def model_in_role(identity: str, role: str) -> str:
    """The model that a rater of that identity asks in a role.

    >>> model_in_role('{"":"a:b","judge":"a:c"}', "judge"), model_in_role("a:b", "judge")
    ('a:c', 'a:b')
    """
    if not identity.startswith("{"):
        return identity
    models: dict[str, str] = json.loads(identity)
    return models.get(role, models.get("", ""))


def _framed(parts: Any) -> bytes:
    """Parts joined so that no two different lists give the same bytes."""
    # Lone surrogates come in texts that were cut between two halves of a sign.
    raw = [part.encode("utf-8", "surrogatepass") for part in parts]
    # Each with its length before it: else ("ab", "c") and ("a", "bc") would be one key.
    return b"".join([b"%d:%b" % (len(part), part) for part in raw])
