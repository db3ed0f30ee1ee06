"""`openai:` and `openai-responses:`: models of OpenAI through its own SDK."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from voirdire.lazy import require
from voirdire.schema import BatchState, Part, Reply, ToolCall
from voirdire_judges.models import _openai_chat
from voirdire_judges.models._batches import (
    BatchWire,
    answer_of,
    ask_raw,
    failed,
    lines_of,
    number_in,
    pages,
)
from voirdire_judges.models._body import (
    RAW,
    arguments_of,
    asked_calls,
    content_of,
    dump_body,
    ended_by,
    finish_of,
    given_to,
    items,
    mapping,
    one_answer,
    parse_body,
    parts_in,
    stated_error,
    text,
    texts_in,
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
from voirdire_judges.models._faults import MalformedBodyError, WireError
from voirdire_judges.models._logprobs import option_logprobs
from voirdire_judges.models._openai_chat import positions_of
from voirdire_judges.models._remote import Dialect, RemoteModel
from voirdire_judges.models._requests import said_over

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.schema import Message, Request


def open_client(endpoint: Endpoint) -> Any:
    """OpenAI's async client over aiohttp, which keeps its pace at hundreds of calls in flight."""
    import openai  # noqa: PLC0415

    # The SDK insists on a key; an endpoint that wants none ignores it.
    key = endpoint.key.reveal() if endpoint.key is not None else "none"
    return openai.AsyncOpenAI(
        api_key=key,
        base_url=endpoint.base_url,
        default_headers={
            "Accept-Encoding": ACCEPTED,
            **({endpoint.key_header: key} if endpoint.key_header else {}),
        },
        default_query=dict(endpoint.query),
        timeout=None,
        # The SDK would ask twice more by itself, unseen and paid for, and wait 600 s for
        # each answer: retries are the runner's, the time limit is `RemoteModel`'s.
        max_retries=0,
        http_client=openai.DefaultAioHttpClient(
            timeout=None, event_hooks={"response": [cap_response]}
        ),
    )


async def close_client(client: Any) -> None:
    """Close the client's connections."""
    await client.close()


def responses_params(model: str, request: Request, options: Options) -> dict[str, Any]:
    """The body of a call; nothing is stored at the provider."""
    sent: dict[str, Any] = {
        "model": model,
        "input": [part for m in request.messages for part in _response_parts(m)],
        "temperature": request.temperature,
        "top_p": request.top_p,
        "max_output_tokens": request.max_tokens,
        # Else the API keeps requests and answers for 30 days.
        "store": False,
    }
    if request.options and options.logprobs:
        # Without `include` the API gives none, whatever the number (API reference, Create a
        # model response).
        sent |= {"top_logprobs": 20, "include": ["message.output_text.logprobs"]}
    if request.tools:
        sent["tools"] = [{"type": "function", **asdict(tool)} for tool in request.tools]
    elif request.schema is not None and options.structured:
        form = {"type": "json_schema", "name": "answer", "schema": dict(request.schema)}
        sent["text"] = {"format": {**form, "strict": True}}
    return said_over(sent, options.params, request.params)


def _response_parts(message: Message) -> list[dict[str, Any]]:
    """A message, the calls that it makes, or the result of one."""
    if message.role == "tool":
        output = {"call_id": message.call_id, "output": message.content}
        return [{"type": "function_call_output", **output}]
    if message.thoughts:  # a call must stand behind the reasoning that led to it
        return [dict(item) for item in message.thoughts]
    text_part = {"role": message.role, "content": message.content}
    calls = [
        {"type": "function_call", "call_id": c.id, "name": c.name, "arguments": c.arguments}
        for c in message.calls
    ]
    return [*([text_part] if message.content or not calls else []), *calls]


async def send_response(client: Any, sent: dict[str, Any]) -> dict[str, Any]:
    """The body of a 200."""
    # As an extra body: the SDK's signature would refuse what it does not know yet, and a study's
    # `params` may hold it.
    rest = {name: value for name, value in sent.items() if name not in {"model", "input"}}
    raw = await client.responses.with_raw_response.create(
        model=sent["model"], input=sent["input"], extra_body=rest
    )
    return parse_body(await content_of(raw), "output")


def read_response(body: dict[str, Any], request: Request) -> Reply:
    """The reply in a response object; without a text, what the model handed to tools."""
    status = text(body.get("status"))
    # A response that failed is a 200 all the same; "incomplete" holds a text that was cut or
    # filtered (API reference, The response object).
    if status == "failed":
        raise stated_error(body)
    if status not in {"", "completed", "incomplete"}:
        raise MalformedBodyError(f"a response whose status is {status[:40]!r}", body)
    messages = _final_messages(items(body.get("output")))
    parts = [part for message in messages for part in items(message.get("content"))]
    answer, several = one_answer([texts_in(message.get("content")) for message in messages])
    refusal = "".join(text(p.get("refusal")) for p in parts if p.get("type") == "refusal")
    calls = [item for item in items(body.get("output")) if item.get("type") == "function_call"]
    asked = asked_calls(map(_function_call, calls), request)
    if not asked:
        answer = answer or given_to(call.get("arguments") for call in calls)
    handed = "call" if asked else ""
    positions = [token for part in parts for token in items(part.get("logprobs"))]
    usage, ended = _openai_chat.billed(body), _why_ended(body)
    # A message may have been cut though the response says that it is complete.
    if ended == "completed" and any(m.get("status") == "incomplete" for m in messages[-1:]):
        ended = "max_output_tokens"
    if ended == "completed" and usage.output is not None and usage.output == request.max_tokens:
        ended = "max_output_tokens"
    return Reply(
        text=answer or refusal,
        finish_reason=finish_of(ended, answer or handed, refusal),
        usage=usage,
        model=text(body.get("model")),
        provider_id=text(body.get("id")),
        notes=(*unknown_finish(ended), *unknown_parts(parts), *several),
        option_logprobs=option_logprobs(positions_of(positions), request.options, answer),
        tool_calls=asked,
        thoughts=_kept_whole(items(body.get("output"))) if asked else (),
        parts=tuple(_parts(items(body.get("output")))),
        ended_by=ended_by("status", ended),
    )


def _parts(output: list[dict[str, Any]]) -> list[Part]:
    """All items of a response: thoughts, the texts of each message with its phase, calls."""
    parts: list[Part] = []
    for item in output:
        if item.get("type") == "message":
            phase = text(item.get("phase"))
            parts += [replace(part, phase=phase) for part in parts_in(item.get("content"))]
        else:
            parts += parts_in([item])
    return parts


def _final_messages(output: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages that answer: where phases are given (API reference), those of the last one."""
    messages = [item for item in output if item.get("type") == "message"]
    if not any(message.get("phase") for message in messages):
        return messages
    return [message for message in messages if message.get("phase") == "final_answer"]


def _kept_whole(output: list[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """The items of a response that may be sent back whole; none where nothing was thought.

    Nothing is stored at the provider, so that it knows its reasoning again by the encrypted content
    alone. A model gives that where the study's `params` ask it to include it; reasoning without it
    would be an item that is not found.
    """
    kept = [i for i in output if i.get("type") != "reasoning" or i.get("encrypted_content")]
    return tuple(kept) if any(i.get("type") == "reasoning" for i in kept) else ()


def _function_call(item: dict[str, Any]) -> ToolCall:
    number = text(item.get("call_id")) or text(item.get("id"))
    return ToolCall(number, text(item.get("name")), arguments_of(item.get("arguments")))


def _why_ended(body: dict[str, Any]) -> str:
    """Why it is incomplete; one that does not say why was cut."""
    if body.get("status") != "incomplete":
        return "completed"
    return text(mapping(body.get("incomplete_details")).get("reason")) or "max_output_tokens"


#: Where a batch carries the name that it was submitted under.
_NAME = "voirdire"
_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})


def batch_wire(path: str) -> BatchWire:
    """OpenAI's batches of calls to one path: a file of lines goes up, two files come back."""
    endpoint = f"/v1{path}"

    async def submit(client: Any, _: str, name: str, lines: Any) -> str:
        rows = [
            dump_body({"custom_id": key, "method": "POST", "url": endpoint, "body": sent})
            for key, sent in lines
        ]
        raw = await client.files.with_raw_response.create(
            file=(f"{name}.jsonl", b"\n".join(rows)), purpose="batch"
        )
        body = {
            "input_file_id": parse_body(await content_of(raw), "id")["id"],
            "endpoint": endpoint,
            # The only window that there is (API reference, Create batch).
            "completion_window": "24h",
            # Comes back in lists: a batch that was handed over just before a kill is
            # known again by it.
            "metadata": {_NAME: name},
        }
        return str((await ask_raw(client, "post", "/batches", "id", body=body))["id"])

    return BatchWire(submit, _batch_states, _batch_state, _batch_results, _batch_cancel)


async def _batch_states(client: Any, since: float) -> list[BatchState]:
    states = [_state_in(row) for row in await pages(client, "/batches", "after")]
    return [state for state in states if state.created >= since]


async def _batch_state(client: Any, number: str) -> BatchState:
    # An id goes into a path as data: it came over the network, or out of a file.
    return _state_in(await ask_raw(client, "get", f"/batches/{quote(number)}", "id"))


def _state_in(row: dict[str, Any]) -> BatchState:
    counts, word = mapping(row.get("request_counts")), text(row.get("status"))
    errors = items(mapping(row.get("errors")).get("data"))
    detail = "; ".join(text(error.get("message")) for error in errors)
    return BatchState(
        text(row.get("id")),
        text(mapping(row.get("metadata")).get(_NAME)),
        ended=word in _ENDED,
        lines=number_in(counts, "total"),
        done=number_in(counts, "completed"),
        failed=number_in(counts, "failed"),
        created=float(number_in(row, "created_at")),
        said=f"{word}: {detail}" if detail else word,
    )


async def _batch_results(client: Any, number: str, _: Any) -> list[tuple[str, Any]]:
    row = await ask_raw(client, "get", f"/batches/{quote(number)}", "id")
    outcomes = []
    # Lines that failed stand in a second file, in no order (guide, Batch API).
    for name in ("output_file_id", "error_file_id"):
        if file := text(row.get(name)):
            raw = await client.get(f"/files/{quote(file)}/content", cast_to=object, options=RAW)
            lines = lines_of(await content_of(raw))
            outcomes += [(text(line.get("custom_id")), _line_outcome(line)) for line in lines]
    return outcomes


def _line_outcome(line: dict[str, Any]) -> Any:
    answer, error = mapping(line.get("response")), mapping(line.get("error"))
    # A line never asked (the batch expired) has an `error`; one that was refused has a
    # `response` with its status.
    status = answer.get("status_code")
    if error or not isinstance(status, int):
        return failed(text(error.get("code")), text(error.get("message")))
    if status // 100 != 2:
        return WireError(status, answer.get("body"))
    return answer_of(answer.get("body"), "a body")


async def _batch_cancel(client: Any, number: str) -> None:
    await ask_raw(client, "post", f"/batches/{quote(number)}/cancel", "id")


CHAT = Dialect(
    "openai",
    open_client,
    close_client,
    _openai_chat.params,
    _openai_chat.send,
    _openai_chat.read,
    _openai_chat.billed,
    batches=batch_wire("/chat/completions"),
)
RESPONSES = Dialect(
    "openai",
    open_client,
    close_client,
    responses_params,
    send_response,
    read_response,
    _openai_chat.billed,
    # The responses API takes no seed.
    lacking=frozenset({"seed"}),
    batches=batch_wire("/responses"),
)


def make(
    model_name: str,
    *,
    base_url: str | None = None,
    api_key_env: str = "OPENAI_API_KEY",
    timeout: float = 120.0,
    on_refused_parameter: OnRefused = "error",
    structured: bool = True,
    logprobs: bool = True,
    params: Mapping[str, Any] | None = None,
) -> RemoteModel:
    """A model of OpenAI through chat completions (`openai:gpt-4o`).

    Parameters
    ----------
    model_name : str
        OpenAI's name of the model.
    base_url : str, optional
        Another address than OpenAI's own, such as a proxy's.
    api_key_env : str
        The environment variable that holds the key.
    timeout, on_refused_parameter, structured, logprobs, params
        See `Options`.

    Raises
    ------
    ModelError
        The environment variable is not set.
    MissingExtraError
        The extra `openai` is not installed.
    """
    options = Options(timeout, on_refused_parameter, structured, logprobs, params or {})
    return _made(f"openai:{model_name}", model_name, CHAT, base_url, api_key_env, options)


def make_responses(
    model_name: str,
    *,
    base_url: str | None = None,
    api_key_env: str = "OPENAI_API_KEY",
    timeout: float = 120.0,
    on_refused_parameter: OnRefused = "error",
    structured: bool = True,
    logprobs: bool = True,
    params: Mapping[str, Any] | None = None,
) -> RemoteModel:
    """The same through the responses API (`openai-responses:o4-mini`); nothing is stored there."""
    options = Options(timeout, on_refused_parameter, structured, logprobs, params or {})
    name = f"openai-responses:{model_name}"
    return _made(name, model_name, RESPONSES, base_url, api_key_env, options)


def _made(
    name: str,
    model: str,
    dialect: Dialect,
    base_url: str | None,
    api_key_env: str,
    options: Options,
) -> RemoteModel:
    require("openai", name, "openai")
    require("aiohttp", name, "openai")
    endpoint = Endpoint(checked_address(name, base_url), key_from_environment(name, api_key_env))
    return RemoteModel(name, model, dialect, endpoint, options)
