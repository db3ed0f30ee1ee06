"""A model behind an HTTP endpoint: one call, one deadline, one reply or one typed error."""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from voirdire.deadlines import Deadlines
from voirdire.errors import ModelError
from voirdire.schema import Message, Note, Reply, Request, Usage
from voirdire.secrets import Hider
from voirdire_judges.models._batches import RemoteBatches
from voirdire_judges.models._endpoint import Endpoint, Lease, pool
from voirdire_judges.models._faults import (
    error_of,
    filtered_categories,
    is_too_long,
    message,
    model_error,
    wire_error,
    words,
)
from voirdire_judges.models._requests import asked_in_words, sendable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from voirdire_judges.models._batches import BatchWire
    from voirdire_judges.models._endpoint import Options, SecretKey
    from voirdire_judges.models._faults import WireError


@dataclass(frozen=True, slots=True)
class Dialect:
    """One provider's way of asking and answering, as functions.

    Attributes
    ----------
    open, close
        Make a client for an endpoint, and close it.
    params
        (model, request, options) -> parameters to send, messages included.
    send
        (client, parameters) -> the body of a 200, checked to be JSON of the right shape.
    read
        (body, request) -> Reply.
    billed
        (body) -> the tokens it counts, also of an answer that cannot be read.
    lacking
        Parameters of a request that the provider does not know at all.
    batches
        How it takes calls in one piece; None where it does not.
    """

    name: str
    open: Callable[[Endpoint], Any]
    close: Callable[[Any], Awaitable[None]]
    params: Callable[[str, Request, Options], dict[str, Any]]
    send: Callable[[Any, dict[str, Any]], Awaitable[dict[str, Any]]]
    read: Callable[[dict[str, Any], Request], Reply]
    billed: Callable[[dict[str, Any]], Usage]
    lacking: frozenset[str] = frozenset()
    batches: BatchWire | None = None


#: Asks for a word, and allows a number alone.
_CONTRARY = Request(
    (Message("user", 'Write the word "calm" and nothing else.'),),
    max_tokens=64,
    schema={
        "type": "object",
        "properties": {"number": {"type": "integer", "enum": [7]}},
        "required": ["number"],
        "additionalProperties": False,
    },
)


class _Again(Enum):
    """The call is worth repeating at once, with other parameters."""

    AGAIN = auto()


class RemoteModel:
    """A chat model behind an endpoint.

    Nothing is retried: a fault is a `ModelError` that says whether asking again may help. The one
    exception is a refused parameter under ``on_refused_parameter = "drop"``: the call is repeated
    without it, and this and every later reply says so in its notes.
    """

    def __init__(
        self, name: str, model: str, dialect: Dialect, endpoint: Endpoint, options: Options
    ) -> None:
        self.name, self.model, self.dialect = name, model, dialect
        self.endpoint, self.options = endpoint, options
        # Learnt from the first refusal and kept: every later call would be refused the same
        # way, after its time on the wire.
        self._dropped: dict[str, str] = {}
        self._renamed: dict[str, str] = {}
        self._held: tuple[Lease, Deadlines] | None = None
        self._hide = Hider([endpoint.key.reveal()] if endpoint.key is not None else [])

    def __repr__(self) -> str:
        return f"<model {self.name}>"

    async def complete(self, request: Request) -> Reply:
        """One reply to one request.

        Raises
        ------
        ModelError
            No reply came; `kind` says why, `retryable` whether asking again may help.
        """
        request = sendable(self.name, request)
        if request.tools and not self.options.native_tools:
            return await asked_in_words(request, self._reply)
        return await self._reply(request)

    async def _reply(self, request: Request) -> Reply:
        outcome = await self._attempt(request)
        while outcome is _Again.AGAIN:
            outcome = await self._attempt(request)
        if isinstance(outcome, ModelError):
            raise outcome
        return outcome

    @property
    def batches(self) -> RemoteBatches | None:
        """Its calls in one piece, where the provider takes them so."""
        wire = self.dialect.batches
        return None if wire is None else RemoteBatches(self, wire)

    @property
    def key(self) -> SecretKey | None:
        """The key of its endpoint, where it has one."""
        return self.endpoint.key

    @property
    def schema_key(self) -> str:
        """By which it is kept whether its server enforces a schema; empty where nobody asks."""
        asks = self.options.structured == "ask"
        return f"{self.name} {self.endpoint.base_url or ''}".strip() if asks else ""

    def take_schema(self, enforced: bool) -> None:
        """Send schemas from now on, or none."""
        self.options = replace(self.options, structured=enforced)

    async def enforces_schema(self) -> bool | None:
        """Whether a schema binds what the server answers, by one short call; None without answer.

        The prompt asks for a word, the schema allows a number alone: only a server that enforces it
        gives the number.
        """
        options, self.options = self.options, replace(self.options, structured=True)
        try:
            reply = await self._reply(_CONTRARY)
        except ModelError as error:
            # The parameter is refused, or the schema: it is not enforced.
            return False if error.kind in ("refused_parameter", "bad_request") else None
        finally:
            self.options = options
        try:
            return bool(json.loads(reply.text) == {"number": 7})
        except ValueError:
            return False

    def fits_batch(self, request: Request) -> bool:
        """Whether a request can be a line of a batch; else it is asked live, or refused there."""
        try:
            sendable(self.name, request)
        except ModelError:
            return False
        if self.options.on_refused_parameter == "drop":
            # A live call may be repeated without it; a line of a batch must be right at
            # once.
            reason = f"{self.dialect.name} has no such parameter"
            self._dropped |= dict.fromkeys(self.dialect.lacking, reason)
        # Tools in words take several turns, and a line of a batch has one.
        told = request.tools and not self.options.native_tools
        return not told and self._lacking(request) is None

    def received(self, outcome: Any, request: Request) -> Reply | ModelError:
        """What a body says that did not come in answer to a call; an exception is a fault."""
        sent = self.parameters(request)
        try:
            if isinstance(outcome, Exception):
                raise outcome
            reply = self.dialect.read(outcome, request)
        except Exception as error:  # noqa: BLE001 - as in a call
            answer = self._fault(error, sent)
            if isinstance(answer, _Again):  # asked live, it will go without what was refused
                what = f"{self.name} refuses a parameter of a line of a batch"
                return ModelError(what, "refused_parameter", retryable=True)
            if not isinstance(answer, Reply):
                return answer
            reply = answer
        return self._finished(reply, request, sent, 0.0)

    async def aclose(self) -> None:
        """Give the client back; the last model of an endpoint closes it."""
        held, self._held = self._held, None
        if held is not None:
            await pool().give_back(held[0])

    async def _attempt(self, request: Request) -> Reply | ModelError | _Again:
        # The exception of the SDK holds headers, and with them the key: it ends here, and the
        # error that goes on is raised outside of this handler, so that none is chained to it.
        sent: dict[str, Any] = {}
        started = time.perf_counter()
        try:
            sent = self.parameters(request)
            if (lacking := self._lacking(request)) is not None:
                return self._refuse(lacking, f"{self.dialect.name} has no such parameter", None)
            lease, deadlines = self._use()
            with deadlines.limit():
                body = await self.dialect.send(lease.client, sent)
            reply = self.dialect.read(body, request)
        except Exception as error:  # noqa: BLE001 - an SDK may raise anything at all
            outcome = self._fault(error, sent)
            if not isinstance(outcome, Reply):
                return outcome
            reply = outcome
        return self._finished(reply, request, sent, time.perf_counter() - started)

    def client(self) -> Any:
        """The endpoint's client on the running loop."""
        return self._use()[0].client

    def _use(self) -> tuple[Lease, Deadlines]:
        """A share in the endpoint's client on the running loop, and the time limit of its calls."""
        held, loop = self._held, asyncio.get_running_loop()
        if held is None or held[0].loop is not loop:
            key = (self.dialect.name, self.endpoint)
            lease = pool().take(key, lambda: self.dialect.open(self.endpoint), self.dialect.close)
            held = self._held = lease, Deadlines(self.options.timeout)
        return held

    def parameters(self, request: Request) -> dict[str, Any]:
        """What is sent for a request."""
        given = self.dialect.params(self.model, request, self.options)
        if not (self._renamed or self._dropped):
            return given
        named = {self._renamed.get(name, name): value for name, value in given.items()}
        return {name: value for name, value in named.items() if name not in self._dropped}

    def _lacking(self, request: Request) -> str | None:
        for name in sorted(self.dialect.lacking):
            if name not in self._dropped and getattr(request, name) is not None:
                return name
        return None

    def _fault(self, error: Exception, sent: Mapping[str, Any]) -> Reply | ModelError | _Again:
        fault = wire_error(error)
        if fault is not None:
            # Before parameters: Azure's filter names `prompt` as one.
            categories = filtered_categories(fault.body, fault.status_code)
            if categories is not None:
                notes = tuple(Note("content_filter", "", category) for category in categories)
                billed = self._billed(fault.body) or Usage()
                return Reply("", "content_filter", usage=billed, notes=notes)
            name = refused_parameter(fault.body, sent) if _may_refuse(fault) else ""
            if name:
                return self._refuse(name, message(fault, self.endpoint.key), fault)
        body = fault.body if fault is not None else getattr(error, "body", None)
        return model_error(
            self.name,
            error,
            self.options.timeout,
            self.endpoint.key,
            billed=self._billed(body),
        )

    def _billed(self, body: Any) -> Usage | None:
        """The tokens that an answer counts which is no reply; None where it counts none."""
        usage = self.dialect.billed(body) if isinstance(body, dict) else Usage()
        return None if usage == Usage() else usage

    def _refuse(self, name: str, reason: str, fault: WireError | None) -> ModelError | _Again:
        # Another name for the same cap loses nothing, so nobody is asked; once only, else
        # two names that refuse each other would go round for ever.
        other = renamed(name, fault.body) if fault is not None else ""
        if other and other not in self._renamed:
            self._renamed[name] = other
            return _Again.AGAIN
        if self.options.on_refused_parameter == "drop":
            self._dropped |= dict.fromkeys(together(name), reason)
            return _Again.AGAIN
        return ModelError(
            f"{self.name} refuses the parameter {name!r} ({reason}): leave it out of the study, or "
            'set on_refused_parameter = "drop"',
            "refused_parameter",
            status_code=None if fault is None else fault.status_code,
            parameter=name,
        )

    def _finished(
        self, reply: Reply, request: Request, sent: Mapping[str, Any], seconds: float
    ) -> Reply:
        notes = reply.notes
        if self._dropped or self._renamed:
            notes += self._changes(request)
        # A proxy may send back headers, the key among them, and a model what a prompt held.
        calls = [replace(one, arguments=self._hide(one.arguments)) for one in reply.tool_calls]
        return replace(
            reply,
            text=self._hide(reply.text),
            tool_calls=tuple(calls),
            parts=tuple(replace(part, text=self._hide(part.text)) for part in reply.parts),
            model=reply.model or self.model,
            params=shown(sent),
            notes=notes,
            latency=seconds,
            request=request,
        )

    def _changes(self, request: Request) -> tuple[Note, ...]:
        given = self.dialect.params(self.model, request, self.options)
        lacking = {name for name in self.dialect.lacking if getattr(request, name) is not None}
        dropped = sorted(set(self._dropped) & (set(given) | lacking | set(self._renamed.values())))
        return (
            *(Note("dropped", name, self._dropped[name]) for name in dropped),
            *(
                Note("renamed", old, f"sent as {new}")
                for old, new in self._renamed.items()
                if old in given
            ),
        )


def _may_refuse(fault: WireError) -> bool:
    """Whether it may be about a parameter; one about too long a request may name its cap too."""
    bad = fault.status_code in {400, 422}
    return bad and not is_too_long(fault.status_code, fault.body)


_TEXTS = frozenset({"messages", "input", "contents", "system", "system_instruction"})


def shown(sent: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters sent, without the texts; a schema is named and not repeated.

    >>> shown({"model": "m", "messages": [], "seed": 1, "response_format": {"type": "json_schema"}})
    {'model': 'm', 'seed': 1, 'response_format': 'json_schema'}
    """
    return {name: _brief(value) for name, value in sent.items() if name not in _TEXTS}


def _brief(value: Any) -> Any:
    if isinstance(value, list):
        return [part.get("name", part) if isinstance(part, dict) else part for part in value]
    if not isinstance(value, dict):
        return value
    inner = value.get("format", value)
    return inner["type"] if isinstance(inner, dict) and "type" in inner else value


# As OpenAI ("Unsupported parameter", "only be set"), Azure ("Unrecognized request argument"),
# Google ("Cannot find field"), Anthropic ("deprecated") and servers that check by pydantic ("Extra
# inputs are not permitted") word it.
_REFUSES = re.compile(
    r"unsupported|not (?:be )?(?:supported|permitted|allowed|enabled|available)"
    r"|does(?: not|n't) support|unrecognized|unknown|unexpected|cannot find field"
    r"|invalid (?:argument|parameter|field)|deprecated|only be set|instead",
    re.IGNORECASE,
)
#: Parameters that make sense together only.
_GROUPS = (
    frozenset({"logprobs", "top_logprobs"}),
    frozenset({"top_logprobs", "include"}),
    frozenset({"logprobs", "response_logprobs"}),
    frozenset({"tools", "tool_choice"}),
    frozenset({"response_json_schema", "response_mime_type"}),
)
#: Without these there is no call.
_NEEDED = frozenset(
    {"model", "messages", "input", "contents", "system", "system_instruction", "store"}
)
#: Names that are ordinary words too, and are meant only where they are quoted.
_ORDINARY = frozenset({"text", "include", "user", "tools", "stop", "options", "n"})
_RENAMES = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


def refused_parameter(body: Any, sent: Iterable[str]) -> str:
    """The sent parameter that an error body refuses; empty where it is about something else.

    >>> body = {"error": {"code": "unsupported_value", "param": "temperature", "message": "no"}}
    >>> refused_parameter(body, {"temperature": 0, "seed": 1})
    'temperature'
    >>> refused_parameter({"error": {"message": "`top_p` is deprecated"}}, ["top_p"])
    'top_p'
    >>> refused_parameter({"error": {"message": "the prompt is too long"}}, ["top_p"])
    ''
    """
    candidates = [name for name in sent if name not in _NEEDED]
    error = error_of(body)
    named = str(error.get("param") or "")
    wording = " ".join(words(error))
    if not _REFUSES.search(wording):
        return ""
    for name in candidates:
        # OpenAI names the place within: text.format.schema.
        if named.partition(".")[0] == name or _mentions(wording, name):
            return name
    return ""


def _mentions(text: str, name: str) -> bool:
    # max_tokens, max tokens and maxTokens are one; top_p is not in top_pages.
    spelt = "[_ ]?".join(re.escape(part) for part in name.split("_"))
    if name in _ORDINARY:
        return re.search(rf"(?i)['\"`]{spelt}['\"`.]", text) is not None
    return re.search(rf"(?i)(?<![a-z_]){spelt}(?![a-z_])", text) is not None


def together(name: str) -> frozenset[str]:
    """The parameter and those that must go with it.

    >>> sorted(together("tools"))
    ['tool_choice', 'tools']
    """
    return frozenset({name}).union(*(group for group in _GROUPS if name in group))


def renamed(name: str, body: Any) -> str:
    """The name that the error asks for in place of the refused one, or empty.

    >>> renamed("max_tokens", {"error": {"message": "Use 'max_completion_tokens' instead."}})
    'max_completion_tokens'
    """
    other = _RENAMES.get(name, "")
    return other if other and _mentions(" ".join(words(body)), other) else ""
