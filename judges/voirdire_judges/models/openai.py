"""`openai:` and `openai-responses:`: models of OpenAI through its own SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire_judges.models import _openai_chat, _openai_responses
from voirdire_judges.models._capped import ACCEPTED, cap_response
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


CHAT = Dialect(
    "openai",
    open_client,
    close_client,
    _openai_chat.params,
    _openai_chat.send,
    _openai_chat.read,
    _openai_chat.billed,
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
