"""`google:`: Gemini through google-genai."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.lazy import require
from voirdire.schema import BatchState, Note, Part, PartKind, Reply, ToolCall, Usage
from voirdire_judges.models._batches import BatchWire
from voirdire_judges.models._body import (
    added,
    arguments_of,
    asked_calls,
    count,
    ended_by,
    finish_of,
    given_to,
    items,
    joined,
    mapping,
    object_in,
    parse_body,
    sure_end,
    text,
    unknown_finish,
    usage_of,
)
from voirdire_judges.models._capped import capped_session
from voirdire_judges.models._endpoint import (
    Endpoint,
    OnRefused,
    Options,
    checked_address,
    key_from_environment,
)
from voirdire_judges.models._faults import WireError
from voirdire_judges.models._logprobs import Position, option_logprobs
from voirdire_judges.models._remote import Dialect, RemoteModel
from voirdire_judges.models._requests import said_over

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Message, Request


def open_client(endpoint: Endpoint) -> Any:
    """Google's client over an aiohttp session of ours, which allows any number of calls at a time.

    `attempts=1` is said on purpose: without it the SDK sleeps up to ten seconds after a
    broken connection and asks again.
    """
    import aiohttp  # noqa: PLC0415
    from google import genai  # noqa: PLC0415
    from google.genai import types  # noqa: PLC0415

    # aiohttp's own limit of 100 connections would hold back a study that allows more.
    session = capped_session(aiohttp.TCPConnector(limit=0))
    client = genai.Client(
        api_key=endpoint.key.reveal() if endpoint.key is not None else None,
        http_options=types.HttpOptions(
            base_url=endpoint.base_url,
            api_version=dict(endpoint.query).get("api_version"),
            retry_options=types.HttpRetryOptions(attempts=1),
            aiohttp_client=session,
        ),
    )
    return client, session


async def close_client(opened: Any) -> None:
    """Close the client and its session."""
    client, session = opened
    await client.aio.aclose()
    await session.close()


#: Finish reasons that our own word says in full; of the others the word itself is noted.
_PLAIN = frozenset({"", "STOP", "MAX_TOKENS"})


def params(model: str, request: Request, options: Options) -> dict[str, Any]:
    """The parameters of a call; all but `model` and `contents` are google-genai's config."""
    system = "\n\n".join(m.content for m in request.messages if m.role == "system")
    sent: dict[str, Any] = {
        "model": model,
        "contents": _contents(request.messages),
        "system_instruction": system or None,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "max_output_tokens": request.max_tokens,
        "seed": request.seed,
    }
    if request.options and options.logprobs:
        # 20 is the most (API reference, GenerationConfig).
        sent |= {"response_logprobs": True, "logprobs": 20}
    if request.tools:
        declared = [
            {
                "name": t.name,
                "description": t.description,
                "parameters_json_schema": dict(t.parameters),
            }
            for t in request.tools
        ]
        # Not with a schema: the API refuses a JSON answer beside function calling.
        sent["tools"] = [{"function_declarations": declared}]
    elif request.schema is not None and options.structured:
        sent |= {
            "response_mime_type": "application/json",
            "response_json_schema": dict(request.schema),
        }
    return said_over(sent, options.params, request.params)


def _contents(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """All but the system's; results of calls that were made together are parts of one content."""
    sent: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            continue
        parts = _parts(message)
        # The API wants as many results in one content as the turn before made calls.
        if message.role == "tool" and sent and "function_response" in sent[-1]["parts"][0]:
            sent[-1]["parts"] += parts
        else:
            role = "model" if message.role == "assistant" else "user"
            sent.append({"role": role, "parts": parts})
    return sent


def _parts(message: Message) -> list[dict[str, Any]]:
    if message.role == "tool":
        answered = {"name": message.name, "response": {"result": message.content}}
        return [{"function_response": answered}]
    parts = [{"text": message.content}] if message.content or not message.calls else []
    return parts + [
        {
            "function_call": {"name": c.name, "args": object_in(c.arguments)},
            # Gemini 3 refuses a call that comes back without it (page on thought
            # signatures).
            **({"thought_signature": c.signature} if c.signature else {}),
        }
        for c in message.calls
    ]


async def send(opened: Any, sent: dict[str, Any]) -> dict[str, Any]:
    """The body of a 200, taken as it came."""
    config = {name: value for name, value in sent.items() if name not in {"model", "contents"}}
    client, _ = opened
    answer = await client.aio.models.generate_content(
        model=sent["model"],
        contents=sent["contents"],
        # The body itself: the SDK's objects leave out fields that its version does not
        # know.
        config={**config, "should_return_http_response": True},
    )
    body = answer.sdk_http_response.body or ""
    # A prompt that was blocked has no candidates, and is no malformed answer.
    return parse_body(body, "candidates", "promptFeedback", "usageMetadata")


def read(body: dict[str, Any], request: Request) -> Reply:
    """The reply in a generateContent answer; without a text, what the model handed to tools.

    Thoughts are left aside.

    >>> from voirdire.schema import Message, Request
    >>> body = {"candidates": [], "promptFeedback": {"blockReason": "SAFETY"}}
    >>> reply = read(body, Request((Message("user", "Hi"),)))
    >>> reply.finish_reason, str(reply.notes[0])
    ('content_filter', 'block_reason: SAFETY')
    """
    # The prompt was withheld, and the answer is a 200 (API reference, PromptFeedback).
    blocked = text(mapping(body.get("promptFeedback")).get("blockReason"))
    candidates = items(body.get("candidates"))
    candidate = min(candidates, key=lambda each: count(each.get("index")) or 0, default={})
    parts = items(mapping(candidate.get("content")).get("parts"))
    answer = joined(
        text(part.get("text")) if "text" in part and part.get("thought") is not True else None
        for part in parts
    )
    calls = asked_calls((_call(part) for part in parts if part.get("functionCall")), request)
    if not calls:
        answer = answer or given_to(mapping(part.get("functionCall")).get("args") for part in parts)
    usage, reason = billed(body), text(candidate.get("finishReason"))
    names = ("finishReason", "candidatesTokenCount")
    reason, ended = sure_end(reason, "", usage, request.max_tokens, names=names)
    notes = [Note("block_reason", "", blocked)] if blocked else []
    notes += [Note("finish_reason", "", reason)] if reason not in _PLAIN else []
    notes += unknown_finish(reason)
    return Reply(
        text=answer,
        finish_reason=finish_of(
            "content_filter" if blocked else reason, answer or ("call" if calls else "")
        ),
        usage=usage,
        model=text(body.get("modelVersion")),
        provider_id=text(body.get("responseId")),
        notes=tuple(notes),
        option_logprobs=option_logprobs(_positions(candidate), request.options, answer),
        tool_calls=calls,
        parts=tuple(filter(None, map(_part, parts))),
        ended_by=ended_by("blockReason", blocked) or ended,
        candidate=count(candidate.get("index")) or 0,
    )


def _part(part: dict[str, Any]) -> Part | None:
    if call := mapping(part.get("functionCall")):
        return Part("tool_call", arguments_of(call.get("args") or {}), "", text(call.get("name")))
    kind: PartKind = "reasoning" if part.get("thought") is True else "text"
    return Part(kind, text(part.get("text"))) if part.get("text") else None


def _call(part: dict[str, Any]) -> ToolCall:
    call = mapping(part.get("functionCall"))
    return ToolCall(
        text(call.get("id")),
        text(call.get("name")),
        arguments_of(call.get("args") or {}),
        text(part.get("thoughtSignature")),
    )


def billed(body: dict[str, Any]) -> Usage:
    """The tokens of an answer, whatever else is wrong with it."""
    usage = mapping(body.get("usageMetadata"))
    # What tools put into the prompt is counted apart, and paid for as input. A count of 0 is left
    # out, as is all that is 0 in Google's JSON.
    tools = count(usage.get("toolUsePromptTokenCount"))
    given = added(count(usage.get("promptTokenCount")), tools)
    whole = {"promptTokenCount": given}
    if "totalTokenCount" in usage or "thoughtsTokenCount" in usage:
        whole["candidatesTokenCount"] = count(usage.get("candidatesTokenCount")) or 0
    return usage_of({**usage, **whole}, beside=True)


def _positions(candidate: dict[str, Any]) -> list[Position]:
    """Each token of a reply with its alternatives; Google lists the tokens apart from these."""
    result = mapping(candidate.get("logprobsResult"))
    chosen = [text(each.get("token")) for each in items(result.get("chosenCandidates"))]
    tops = [
        [
            (text(top.get("token")), float(top["logProbability"]))
            for top in items(position.get("candidates"))
            if isinstance(top.get("logProbability"), int | float)
        ]
        for position in items(result.get("topCandidates"))
    ]
    # Where the two lists do not match, the likeliest alternative stands for the token: at
    # temperature 0 it is the one chosen.
    likeliest = [max(top, key=lambda pair: pair[1], default=("", 0.0))[0] for top in tops]
    return list(zip(chosen if len(chosen) == len(tops) else likeliest, tops, strict=True))


_KEY = "voirdire"
#: Ends of the names of states: JOB_STATE_PARTIALLY_SUCCEEDED has ended too.
_ENDED = ("SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED")


async def _submit(opened: Any, model: str, name: str, lines: Any) -> str:
    """Hand over a batch under its display name, each line with its key beside it."""
    requests = [
        {
            "model": model,
            "contents": sent["contents"],
            "config": {n: v for n, v in sent.items() if n not in {"model", "contents"}},
            # The only place for a key of ours in a request that is handed over inline.
            "metadata": {_KEY: key},
        }
        for key, sent in lines
    ]
    client, _ = opened
    made = await client.aio.batches.create(model=model, src=requests, config={"display_name": name})
    return str(made.name)


async def _states(opened: Any, since: float) -> list[BatchState]:
    client, _ = opened
    states: list[BatchState] = []
    async for job in await client.aio.batches.list(config={"page_size": 100}):
        state = _state_in(job)
        # The newest come first, so that the rest is older still; and a list need not end.
        if state.created < since or len(states) >= 1000:
            break
        states.append(state)
    return states


async def _state(opened: Any, number: str) -> BatchState:
    client, _ = opened
    return _state_in(await client.aio.batches.get(name=number))


def _state_in(job: Any) -> BatchState:
    """How far a batch is; of the lines that are done Google's SDK says nothing."""
    word = str(getattr(job.state, "value", job.state) or "").removeprefix("JOB_STATE_")
    error = getattr(job.error, "message", None)
    return BatchState(
        job.name or "",
        job.display_name or "",
        ended=word.endswith(_ENDED),
        created=job.create_time.timestamp() if job.create_time else 0.0,
        said=f"{word}: {error}" if error else word,
    )


async def _results(opened: Any, number: str, keys: Sequence[str]) -> list[tuple[str, Any]]:
    """What became of each line; one that does not come with its key is known by its place."""
    client, _ = opened
    job = await client.aio.batches.get(name=number)
    answers = (job.dest.inlined_responses if job.dest else None) or []
    # Answers come in the order of the requests (page on the Batch API), so that their places
    # tell where a version of the SDK drops the metadata.
    whole = len(answers) == len(keys) and not any(answer.metadata for answer in answers)
    outcomes = []
    for at, answer in enumerate(answers):
        key = keys[at] if whole else (answer.metadata or {}).get(_KEY, "")
        outcomes.append((key, _outcome(answer)))
    return outcomes


def _outcome(answer: Any) -> Any:
    if answer.response is None:
        error = answer.error
        message = str(error.message or "") if error else "no answer"
        return WireError(
            # 13 is gRPC's internal fault, for an error without a code.
            _STATUS.get((error.code if error else None) or 13, 500),
            {"error": {"message": message}},
        )
    return answer.response.model_dump(mode="json", by_alias=True, exclude_none=True)


#: HTTP's number for the codes of gRPC with which a line of a batch ends.
_STATUS = {3: 400, 5: 404, 7: 403, 8: 429, 13: 500, 14: 503, 16: 401}


async def _cancel(opened: Any, number: str) -> None:
    client, _ = opened
    await client.aio.batches.cancel(name=number)


CONTENT = Dialect(
    "google",
    open_client,
    close_client,
    params,
    send,
    read,
    billed,
    batches=BatchWire(_submit, _states, _state, _results, _cancel),
)


def make(  # noqa: PLR0913 - each is an option of the study
    model_name: str,
    *,
    base_url: str | None = None,
    api_version: str | None = None,
    api_key_env: str = "GEMINI_API_KEY",
    timeout: float = 120.0,
    on_refused_parameter: OnRefused = "error",
    structured: bool = True,
    logprobs: bool = False,
    params: Mapping[str, Any] | None = None,
) -> RemoteModel:
    """A Gemini model (`google:gemini-2.5-flash`).

    Parameters
    ----------
    model_name : str
        Google's name of the model.
    base_url, api_version : str, optional
        Another address, and another version in its path than the SDK's own (`v1beta`).
    api_key_env : str
        The environment variable that holds the key.
    timeout, on_refused_parameter, structured, logprobs, params
        See `Options`; `logprobs` is off, since few Gemini models give log-probabilities.

    Raises
    ------
    ModelError
        The environment variable is not set.
    MissingExtraError
        The extra `google` is not installed.
    """
    name = f"google:{model_name}"
    require("google.genai", name, "google")
    require("aiohttp", name, "google")
    query = (("api_version", api_version),) if api_version else ()
    address = checked_address(name, base_url)
    endpoint = Endpoint(address, key_from_environment(name, api_key_env), query)
    options = Options(timeout, on_refused_parameter, structured, logprobs, params or {})
    return RemoteModel(name, model_name, CONTENT, endpoint, options)
