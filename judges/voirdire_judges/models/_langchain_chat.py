"""Chat models of LangChain: one call, one reply or one typed error."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from voirdire.errors import ModelError
from voirdire.schema import Note, Reply, ToolCall
from voirdire.secrets import Hider
from voirdire_judges.models._body import (
    arguments_of,
    asked_calls,
    call_parts,
    finish_of,
    given_to,
    items,
    mapping,
    object_in,
    parts_in,
    stated_error,
    sure_end,
    text,
    texts_in,
    unknown_finish,
    usage_of,
)
from voirdire_judges.models._capped import cap_client
from voirdire_judges.models._endpoint import SecretKey
from voirdire_judges.models._faults import (
    LARGEST,
    TooLargeError,
    filtered_categories,
    model_error,
    wire_error,
)
from voirdire_judges.models._requests import asked_in_words, said_over, sendable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from voirdire.schema import Message, Request


#: What a provider's integration raises when it is handed a page of HTML or half an object.
_CONFUSED = (AttributeError, KeyError, IndexError, TypeError, ValueError)


class LangchainModel:
    """A chat model of LangChain. It must not retry by itself: construct it with `max_retries=0`."""

    def __init__(self, name: str, model: Any, timeout: float, params: Mapping[str, Any]) -> None:
        self.name, self.model, self.timeout, self.params = name, model, timeout, dict(params)
        self._notes = tuple(
            dict.fromkeys(note for part in _parts(model) for note in _retries(part))
        )
        self._hide = Hider(key.reveal() for key in _keys_in(model))
        for client in filter(_is_http, _clients(model)):
            cap_client(client)

    def __repr__(self) -> str:
        return f"<model {self.name}>"

    async def complete(self, request: Request) -> Reply:
        """One reply to one request; a schema is not enforced, since doing so loses the raw text."""
        request = sendable(self.name, request)
        if request.tools and not _binds(self.model):
            return await asked_in_words(request, self._reply)
        return await self._reply(request)

    async def aclose(self) -> None:
        """Close the connections that this run left idle, and no client: it is not ours.

        Integrations share one client of httpx among all models of a process. A connection belongs
        to the event loop that opened it: the next run, in a loop of its own, would be handed one
        that can be neither used nor closed, and would fail or wait for ever.
        """
        for pool in _pools(self.model):
            for connection in list(pool.connections):
                if connection.is_idle():  # others are at work for somebody else
                    await connection.aclose()

    async def _reply(self, request: Request) -> Reply:
        outcome = await self._attempt(request)
        if isinstance(outcome, ModelError):
            raise outcome
        if len(outcome.text) > LARGEST:  # of an integration that reads it whole, in one piece
            error = TooLargeError(f"{len(outcome.text)} characters")
            raise model_error(self.name, error, self.timeout, billed=outcome.usage)
        calls = tuple(replace(c, arguments=self._hide(c.arguments)) for c in outcome.tool_calls)
        return replace(outcome, text=self._hide(outcome.text), tool_calls=calls)

    async def _attempt(self, request: Request) -> Reply | ModelError:
        try:
            async with asyncio.timeout(self.timeout):
                return await self._ask(request)
        except ModelError as error:
            return error
        except Exception as error:  # noqa: BLE001 - an integration may raise anything at all
            return self._fault(error)

    async def _ask(self, request: Request) -> Reply:
        messages, sent = list(map(message_for, request.messages)), self._parameters(request)
        started = time.perf_counter()
        config = {"callbacks": [listener()()]}
        message = await self._bound(request).ainvoke(messages, config, **sent)
        return read(message, sent, self._notes, time.perf_counter() - started, request)

    def _bound(self, request: Request) -> Any:
        """The model, with the request's tools bound to it where there are any."""
        if not request.tools:
            return self.model
        tools = [{"type": "function", "function": asdict(tool)} for tool in request.tools]
        return self.model.bind_tools(tools)

    def _parameters(self, request: Request) -> dict[str, Any]:
        asked = {
            "temperature": request.temperature,
            "top_p": request.top_p,
            "max_tokens": request.max_tokens,
            "seed": request.seed,
        }
        return said_over(asked, self.params, request.params)

    def _fault(self, error: Exception) -> Reply | ModelError:
        stated = error.args[0] if isinstance(error, ValueError) and error.args else None
        if isinstance(stated, dict):  # the error object of a 200, as ChatOpenAI hands it on
            error = stated_error({"error": stated})
        refusal = wire_error(error)
        if refusal is not None:
            categories = filtered_categories(refusal.body, refusal.status_code)
            if categories is not None:
                notes = (*self._notes, *(Note("content_filter", "", name) for name in categories))
                return Reply("", "content_filter", model=self.name, notes=notes)
        fault = model_error(self.name, error, self.timeout, *_keys_in(self.model))
        if fault.kind == "model" and isinstance(error, _CONFUSED):
            return ModelError(f"{fault} (the answer may not be the provider's)", "malformed")
        return fault


def _parts(model: Any) -> Iterator[Any]:
    """A runnable and all that it is made of."""
    from langchain_core.runnables import Runnable  # noqa: PLC0415 - an extra

    waiting, seen = [model], set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list | tuple):
            waiting += part
        elif isinstance(part, Runnable) and id(part) not in seen:
            seen.add(id(part))
            yield part
            # `deps`: what a function inside a chain calls, as LangChain itself finds
            # it.
            waiting += [*getattr(part, "__dict__", {}).values(), *getattr(part, "deps", ())]


def _pools(model: Any) -> list[Any]:
    """The connection pools of httpx behind a model and those inside it, each once.

    httpx has no public name for them: where they stand elsewhere, none is found and nothing closed.
    """
    pools = [getattr(getattr(one, "_transport", None), "_pool", None) for one in _clients(model)]
    return list({id(pool): pool for pool in pools if _lists_connections(pool)}.values())


def _lists_connections(pool: Any) -> bool:
    return isinstance(getattr(pool, "connections", None), list) and hasattr(pool, "aclose")


def _clients(model: Any) -> list[Any]:
    """What may be the client by which a model is asked: what its parts hold, and what stands in it.

    An integration holds its provider's SDK, or a resource of it, and that a client of httpx.
    """
    parts = list(_parts(model))
    held = [value for part in parts for value in getattr(part, "__dict__", {}).values()]
    held += [getattr(part, "_async_client", None) for part in parts]  # made when it is looked at
    inner = [getattr(one, "_client", None) for one in held]
    return [*held, *inner, *(getattr(one, "_client", None) for one in inner)]


def _is_http(client: Any) -> bool:
    """Whether it is an asynchronous client of httpx, of whichever httpx."""
    named = any(kind.__name__ == "AsyncClient" for kind in type(client).__mro__)
    return named and hasattr(client, "event_hooks")


@cache
def listener() -> Any:
    """The class that notes what models said, and stops one that streams when it says too much.

    It is made late: an extra.
    """
    from langchain_core.callbacks import BaseCallbackHandler  # noqa: PLC0415 - an extra
    from langchain_core.messages import AIMessage  # noqa: PLC0415 - an extra

    class Listener(BaseCallbackHandler):  # type: ignore[misc]
        # Else LangChain logs what a handler raises and goes on; in line, else it would be
        # called in a thread, after the fact.
        raise_error = True
        run_inline = True

        def __init__(self) -> None:
            self.messages: list[Any] = []
            self.length = 0

        def on_llm_new_token(self, token: Any, **_: Any) -> None:
            self.length += len(texts_in(token))
            if self.length > LARGEST:
                raise TooLargeError(f"more than {LARGEST} characters")

        def on_llm_end(self, response: Any, **_: Any) -> None:
            for generation in response.generations[0][:1] if response.generations else ():
                message = getattr(generation, "message", None)
                self.messages.append(message or AIMessage(generation.text))

    return Listener


def _retries(part: Any) -> Iterator[Note]:
    # Of chat models; below, of what `with_retry` makes.
    if retries := getattr(part, "max_retries", 0):
        yield Note("retries", "", f"the model retries by itself, max_retries={retries}")
    if attempts := getattr(part, "max_attempt_number", 0):
        yield Note("retries", "", f"the model retries by itself, up to {attempts} attempts")


def message_for(message: Message) -> Any:
    """As LangChain takes it: a role and a text, or its own kind for calls and their results."""
    if not (message.calls or message.role == "tool"):
        return message.role, message.content
    from langchain_core.messages import AIMessage, ToolMessage  # noqa: PLC0415 - an extra

    if message.role == "tool":
        return ToolMessage(message.content, tool_call_id=message.call_id, name=message.name)
    calls = [
        {"id": c.id, "name": c.name, "args": object_in(c.arguments), "type": "tool_call"}
        for c in message.calls
    ]
    kept = dict(message.thoughts[0]) if message.thoughts else {}
    content = kept.get("content") or message.content
    return AIMessage(content, tool_calls=calls, additional_kwargs=kept.get("extra", {}))


def _thoughts(content: Any, extra: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """What an integration wants back beside the calls: blocks of reasoning and signatures."""
    blocks = {text(part.get("type")) for part in items(content)} - {"text", "tool_use"}
    more = {key: value for key, value in extra.items() if value and key not in _IN_CALLS}
    kept = {"content": content if blocks else None, "extra": more}
    return ({key: value for key, value in kept.items() if value},) if blocks or more else ()


#: What `tool_calls` of a message say already.
_IN_CALLS = frozenset({"tool_calls", "function_call", "refusal"})


def _binds(model: Any) -> bool:
    """Whether the integration knows tools: LangChain's own `bind_tools` only raises."""
    from langchain_core.language_models import BaseChatModel  # noqa: PLC0415 - an extra

    is_chat = isinstance(model, BaseChatModel)
    return is_chat and type(model).bind_tools is not BaseChatModel.bind_tools


def _keys_in(model: Any) -> list[SecretKey]:
    """The keys that a LangChain model, or one inside it, holds as pydantic secrets."""
    held = [value for part in _parts(model) for value in getattr(part, "__dict__", {}).values()]
    revealed = [value.get_secret_value() for value in held if hasattr(value, "get_secret_value")]
    return [SecretKey(value) for value in revealed if isinstance(value, str)]


def read(
    message: Any, sent: Mapping[str, Any], notes: tuple[Note, ...], seconds: float, request: Request
) -> Reply:
    """The reply in a message, whatever integration made it; else what was handed to tools."""
    meta = mapping(getattr(message, "response_metadata", None))
    extra = mapping(getattr(message, "additional_kwargs", None))
    made = items(getattr(message, "tool_calls", None))
    broken = items(getattr(message, "invalid_tool_calls", None))
    calls = asked_calls(
        (
            ToolCall(text(c.get("id")), text(c.get("name")), arguments_of(c.get("args")))
            for c in (*made, *broken)
        ),
        request,
    )
    answer = texts_in(getattr(message, "content", ""))
    if not calls:
        answer = answer or given_to(c.get("args") for c in made)
    usage = usage_of(mapping(getattr(message, "usage_metadata", None)))
    native = text(meta.get("native_finish_reason"))
    reason, ended = sure_end(_reason(meta), native, usage, request.max_tokens)
    refusal = text(extra.get("refusal")) or _refusals(getattr(message, "content", ""))
    return Reply(
        text=answer or refusal,
        finish_reason=finish_of(reason, answer or ("call" if calls else ""), refusal),
        usage=usage,
        model=text(meta.get("model_name")) or text(meta.get("model")),
        params=dict(sent),
        provider_id=text(meta.get("id")) or text(getattr(message, "id", "")),
        latency=seconds,
        notes=(*notes, *unknown_finish(reason)),
        tool_calls=calls,
        thoughts=_thoughts(getattr(message, "content", ""), extra) if calls else (),
        parts=(*parts_in(getattr(message, "content", "")), *call_parts(calls)),
        ended_by=ended,
    )


def _refusals(content: Any) -> str:
    return "".join(text(p.get("refusal")) for p in items(content) if p.get("type") == "refusal")


def _reason(meta: dict[str, Any]) -> str:
    incomplete = mapping(meta.get("incomplete_details")).get("reason")
    # Google's, as its integration hands it on; responses of OpenAI say it in
    # `incomplete_details`.
    blocked = mapping(meta.get("prompt_feedback")).get("block_reason")
    if blocked:
        return "content_filter"
    reason = incomplete or meta.get("finish_reason") or meta.get("stop_reason") or ""
    return str(getattr(reason, "name", reason))
