"""`openai:` and `openai-responses:`: models of OpenAI through its own SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from voirdire.schema import BatchState
from voirdire_judges.models import _openai_chat, _openai_responses
from voirdire_judges.models._batches import (
    RAW,
    BatchWire,
    answer_of,
    ask_raw,
    failed,
    lines_of,
    number_in,
    pages,
)
from voirdire_judges.models._body import (
    content_of,
    dump_body,
    items,
    mapping,
    parse_body,
    text,
)
from voirdire_judges.models._capped import ACCEPTED, cap_response
from voirdire_judges.models._faults import WireError
from voirdire_judges.models._imports import require
from voirdire_judges.models._keys import checked_address, key_from_environment
from voirdire_judges.models._options import OnRefused, Options
from voirdire_judges.models._remote import Dialect, Endpoint, RemoteModel

if TYPE_CHECKING:
    from collections.abc import Mapping


def open_client(endpoint: Endpoint) -> Any:
    """OpenAI's async client over aiohttp, which keeps its pace at hundreds of calls in flight."""
    import openai  # noqa: PLC0415

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
        max_retries=0,
        http_client=openai.DefaultAioHttpClient(
            timeout=None, event_hooks={"response": [cap_response]}
        ),
    )


async def close_client(client: Any) -> None:
    """Close the client's connections."""
    await client.close()


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
            "completion_window": "24h",
            "metadata": {_NAME: name},
        }
        return str((await ask_raw(client, "post", "/batches", "id", body=body))["id"])

    return BatchWire(submit, _batch_states, _batch_state, _batch_results, _batch_cancel)


async def _batch_states(client: Any, since: float) -> list[BatchState]:
    found = [_state_in(row) for row in await pages(client, "/batches", "after")]
    return [state for state in found if state.created >= since]


async def _batch_state(client: Any, number: str) -> BatchState:
    return _state_in(await ask_raw(client, "get", f"/batches/{quote(number)}", "id"))


def _state_in(row: dict[str, Any]) -> BatchState:
    counts, word = mapping(row.get("request_counts")), text(row.get("status"))
    errors = items(mapping(row.get("errors")).get("data"))
    said = "; ".join(text(error.get("message")) for error in errors)
    return BatchState(
        text(row.get("id")),
        text(mapping(row.get("metadata")).get(_NAME)),
        ended=word in _ENDED,
        lines=number_in(counts, "total"),
        done=number_in(counts, "completed"),
        failed=number_in(counts, "failed"),
        created=float(number_in(row, "created_at")),
        said=f"{word}: {said}" if said else word,
    )


async def _batch_results(client: Any, number: str, _: Any) -> list[tuple[str, Any]]:
    row = await ask_raw(client, "get", f"/batches/{quote(number)}", "id")
    found = []
    for name in ("output_file_id", "error_file_id"):
        if file := text(row.get(name)):
            raw = await client.get(f"/files/{quote(file)}/content", cast_to=object, options=RAW)
            lines = lines_of(await content_of(raw))
            found += [(text(line.get("custom_id")), _line_outcome(line)) for line in lines]
    return found


def _line_outcome(line: dict[str, Any]) -> Any:
    answer, error = mapping(line.get("response")), mapping(line.get("error"))
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
    _openai_responses.params,
    _openai_responses.send,
    _openai_responses.read,
    _openai_responses.billed,
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
