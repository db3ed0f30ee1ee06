"""`anthropic:`: Claude through Anthropic's SDK."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from voirdire.lazy import require
from voirdire.schema import BatchState, Note, Reply, ToolCall, Usage
from voirdire_judges.models._batches import (
    BatchWire,
    answer_of,
    ask_raw,
    failed,
    lines_of,
    number_in,
    pages,
    seconds_of,
)
from voirdire_judges.models._body import (
    RAW,
    added,
    arguments_of,
    asked_calls,
    content_of,
    count,
    finish_of,
    items,
    mapping,
    object_in,
    parse_body,
    parts_in,
    sure_end,
    text,
    unknown_finish,
    unknown_parts,
)
from voirdire_judges.models._capped import ACCEPTED, cap_response
from voirdire_judges.models._endpoint import (
    Endpoint,
    OnRefused,
    Options,
    checked_address,
    key_from_environment,
)
from voirdire_judges.models._faults import WireError, stated_status
from voirdire_judges.models._remote import Dialect, RemoteModel
from voirdire_judges.models._requests import said_over

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Message, Request


def open_client(endpoint: Endpoint) -> Any:
    """Anthropic's async client over aiohttp."""
    import anthropic  # noqa: PLC0415

    return anthropic.AsyncAnthropic(
        api_key=endpoint.key.reveal() if endpoint.key is not None else None,
        base_url=endpoint.base_url,
        timeout=None,
        # As for OpenAI, whose SDK is of the same make: retries and the time limit are ours.
        max_retries=0,
        default_headers={"Accept-Encoding": ACCEPTED},
        http_client=anthropic.DefaultAioHttpClient(
            timeout=None, event_hooks={"response": [cap_response]}
        ),
    )


async def close_client(client: Any) -> None:
    """Close the client's connections."""
    await client.close()


#: The API takes no call without a limit.
DEFAULT_MAX_TOKENS = 1024


def params(model: str, request: Request, options: Options) -> dict[str, Any]:
    """The body of a call: the system text apart, a schema as a tool that must be called."""
    system = "\n\n".join(m.content for m in request.messages if m.role == "system")
    sent: dict[str, Any] = {
        "model": model,
        "messages": _messages(request.messages),
        "max_tokens": request.max_tokens or DEFAULT_MAX_TOKENS,
        "system": system or None,
        "temperature": request.temperature,
        "top_p": request.top_p,
    }
    if request.tools:
        sent["tools"] = [
            {"name": t.name, "description": t.description, "input_schema": dict(t.parameters)}
            for t in request.tools
        ]
    elif request.schema is not None and options.structured:
        tool = {
            "name": "answer",
            "description": "Give the answer.",
            "input_schema": dict(request.schema),
        }
        # A tool that must be called is how every model with tools can be asked for a
        # schema. With extended thinking a call cannot be forced: there `structured = false`
        # is needed (page on tool use).
        sent |= {"tools": [tool], "tool_choice": {"type": "tool", "name": "answer"}}
    return said_over(sent, options.params, request.params)


def _messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """All but the system's; results of calls that were made together must come in one message."""
    sent: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "tool":
            result = {"tool_use_id": message.call_id, "content": message.content}
            blocks = [{"type": "tool_result", **result}]
            # Results of one reply's calls must stand in the next message, all of them
            # (page on tool use).
            if sent and sent[-1]["role"] == "user" and isinstance(sent[-1]["content"], list):
                sent[-1]["content"] += blocks
            else:
                sent.append({"role": "user", "content": blocks})
        elif message.calls:
            sent.append({"role": "assistant", "content": _called(message)})
        elif message.role != "system":
            sent.append({"role": message.role, "content": message.content})
    return sent


def _called(message: Message) -> list[dict[str, Any]]:
    if message.thoughts:  # thinking is signed, together with where it stands
        return [dict(block) for block in message.thoughts]
    # A blank text block is refused.
    blocks = [{"type": "text", "text": message.content}] if message.content.strip() else []
    return blocks + [
        {"type": "tool_use", "id": c.id, "name": c.name, "input": object_in(c.arguments)}
        for c in message.calls
    ]


async def send(client: Any, sent: dict[str, Any]) -> dict[str, Any]:
    """The body of a 200."""
    # The rest as an extra body, for the reason that openai.py gives.
    first = {"model", "messages", "max_tokens"}
    rest = {name: value for name, value in sent.items() if name not in first}
    raw = await client.messages.with_raw_response.create(
        model=sent["model"],
        messages=sent["messages"],
        max_tokens=sent["max_tokens"],
        extra_body=rest,
    )
    return parse_body(await content_of(raw), "content")


def read(body: dict[str, Any], request: Request) -> Reply:
    """The reply in a message: its text blocks and the input of the tool called, nothing else.

    >>> from voirdire.schema import Message, Request
    >>> blocks = [{"type": "thinking", "thinking": "..."}, {"type": "text", "text": "4"}]
    >>> read({"content": blocks, "stop_reason": "end_turn"}, Request((Message("user", "Hi"),))).text
    '4'
    """
    content = body.get("content")
    # The API sends blocks; a proxy in front of another model may send a bare text.
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else items(content)
    texts = [text(block.get("text")) for block in blocks if block.get("type") == "text"]
    uses = [block for block in blocks if block.get("type") == "tool_use"]
    calls = asked_calls(
        (
            ToolCall(text(use.get("id")), text(use.get("name")), arguments_of(use.get("input")))
            for use in uses
        ),
        request,
    )
    # The tool named `answer` is ours: what it was called with is the reply.
    given = [] if calls else [block.get("input") for block in uses]
    answer = "\n".join([*texts, *(json.dumps(part, ensure_ascii=False) for part in given)])
    usage, reason = billed(body), text(body.get("stop_reason"))
    # Of a server that speaks this format in front of other models *end_turn* may mean nothing.
    native = text(body.get("native_finish_reason"))
    names = ("stop_reason", "output_tokens")
    reason, ended = sure_end(reason, native, usage, request.max_tokens, names=names)
    notes = (Note("option_logprobs", "", "Anthropic gives none"),) if request.options else ()
    return Reply(
        text=answer,
        finish_reason=finish_of(reason, answer or ("call" if calls else "")),
        usage=usage,
        model=text(body.get("model")),
        provider_id=text(body.get("id")),
        notes=(*notes, *unknown_finish(reason), *unknown_parts(blocks)),
        tool_calls=calls,
        thoughts=tuple(blocks) if calls and _thinks(blocks) else (),
        parts=tuple(parts_in(blocks)),
        ended_by=ended,
    )


def _thinks(blocks: list[dict[str, Any]]) -> bool:
    """Whether a message holds thoughts: then the API wants it back whole, and as it was."""
    return any(block.get("type") in ("thinking", "redacted_thinking") for block in blocks)


def billed(body: dict[str, Any]) -> Usage:
    """The tokens of a message, whatever else is wrong with it."""
    usage = mapping(body.get("usage"))
    # input_tokens leave out what was read from or written to the cache.
    # Both are paid for as input, at prices of their own (page on prompt caching).
    cached = count(usage.get("cache_read_input_tokens"))
    written = count(usage.get("cache_creation_input_tokens"))
    fresh = count(usage.get("input_tokens"))
    return Usage(
        input=None if fresh is None else added(fresh, cached, written),
        output=count(usage.get("output_tokens")),
        cached=cached,
        written=written or None,
    )


_BATCHES = "/v1/messages/batches"


async def _submit(client: Any, _: str, __: str, lines: Any) -> str:
    """Hand over a batch, of which Anthropic keeps no name."""
    body = {"requests": [{"custom_id": key, "params": sent} for key, sent in lines]}
    return str((await ask_raw(client, "post", _BATCHES, "id", body=body))["id"])


async def _states(client: Any, since: float) -> list[BatchState]:
    states = [_state_in(row) for row in await pages(client, _BATCHES, "after_id")]
    return [state for state in states if state.created >= since]


async def _state(client: Any, number: str) -> BatchState:
    return _state_in(await ask_raw(client, "get", f"{_BATCHES}/{quote(number)}", "id"))


def _state_in(row: dict[str, Any]) -> BatchState:
    counts, word = mapping(row.get("request_counts")), text(row.get("processing_status"))
    # Lines by what became of them; there is no total (API reference, Message Batches).
    bad = number_in(counts, "errored", "canceled", "expired")
    done = number_in(counts, "succeeded")
    return BatchState(
        text(row.get("id")),
        ended=word == "ended",
        lines=done + bad + number_in(counts, "processing"),
        done=done,
        failed=bad,
        created=seconds_of(row.get("created_at")),
        said=word,
    )


async def _results(client: Any, number: str, _: Any) -> list[tuple[str, Any]]:
    # Not by the `results_url` of the answer: the SDK would send the key to wherever that leads.
    path = f"{_BATCHES}/{quote(number)}/results"
    raw = await client.get(path, cast_to=object, options=RAW)
    lines = lines_of(await content_of(raw))
    return [(text(line.get("custom_id")), _outcome(mapping(line.get("result")))) for line in lines]


def _outcome(result: dict[str, Any]) -> Any:
    kind = text(result.get("type"))
    if kind == "succeeded":
        return answer_of(result.get("message"), "a message")
    # A whole error response stands here, whose own `error` says what was wrong.
    error = mapping(mapping(result.get("error")).get("error"))
    if not error:
        return failed(kind, f"{kind} in the batch")
    return WireError(stated_status(error), {"error": error})


async def _cancel(client: Any, number: str) -> None:
    await ask_raw(client, "post", f"{_BATCHES}/{quote(number)}/cancel", "id")


MESSAGES = Dialect(
    "anthropic",
    open_client,
    close_client,
    params,
    send,
    read,
    billed,
    # The Messages API takes no seed; its batches have no name.
    lacking=frozenset({"seed"}),
    batches=BatchWire(_submit, _states, _state, _results, _cancel, named=False),
)


def make(
    model_name: str,
    *,
    base_url: str | None = None,
    api_key_env: str = "ANTHROPIC_API_KEY",
    timeout: float = 120.0,
    on_refused_parameter: OnRefused = "error",
    structured: bool = True,
    params: Mapping[str, Any] | None = None,
) -> RemoteModel:
    """A Claude model (`anthropic:claude-3-7-sonnet-latest`); it gives no log-probabilities.

    Parameters
    ----------
    model_name : str
        Anthropic's name of the model.
    base_url : str, optional
        Another address than Anthropic's own, without `/v1`.
    api_key_env : str
        The environment variable that holds the key.
    timeout, on_refused_parameter, structured, params
        See `Options`; a schema is enforced as the input of a tool that the model must call.

    Raises
    ------
    ModelError
        The environment variable is not set.
    MissingExtraError
        The extra `anthropic` is not installed.
    """
    name = f"anthropic:{model_name}"
    require("anthropic", name, "anthropic")
    require("aiohttp", name, "anthropic")
    endpoint = Endpoint(checked_address(name, base_url), key_from_environment(name, api_key_env))
    options = Options(timeout, on_refused_parameter, structured, params=params or {})
    return RemoteModel(name, model_name, MESSAGES, endpoint, options)
