"""`compatible:`: any endpoint with OpenAI's chat completions (vLLM, Ollama, Azure's path).

The client is our own: of OpenAI's SDK a call of a judge needs one POST and one object of JSON, and
pays for much more. Volume is where one's own servers are, so here that price is not paid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from urllib.request import getproxies, proxy_bypass

from voirdire.errors import InputError
from voirdire.lazy import require
from voirdire_judges.models import _openai_chat
from voirdire_judges.models._body import dump_body, parse_body, parse_error
from voirdire_judges.models._capped import capped_session
from voirdire_judges.models._endpoint import (
    Endpoint,
    OnRefused,
    Options,
    checked_address,
    key_from_environment,
)
from voirdire_judges.models._faults import MalformedBodyError, WireError
from voirdire_judges.models._remote import Dialect, RemoteModel

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Client:
    """A session of aiohttp with all that is the same in every call to an endpoint."""

    session: Any
    url: Any
    proxy: str | None
    follows: bool


def open_client(endpoint: Endpoint, path: str = "chat/completions") -> Client:
    """A client over aiohttp, which keeps its pace at hundreds of calls in flight.

    A proxy of the environment is looked up once: aiohttp would do so at every call.
    """
    import aiohttp  # noqa: PLC0415
    from yarl import URL  # noqa: PLC0415 - comes with aiohttp

    address = (endpoint.base_url or "").rstrip("/")
    url = URL(f"{address}/{path}").update_query(dict(endpoint.query))
    headers = {"Content-Type": "application/json"}
    if endpoint.key is not None:
        headers["Authorization"] = f"Bearer {endpoint.key.reveal()}"
        if endpoint.key_header:
            headers[endpoint.key_header] = endpoint.key.reveal()
    proxy = None if proxy_bypass(url.host or "") else getproxies().get(url.scheme)
    # No limit of connections but the runner's; the proxy was looked up above.
    session = capped_session(aiohttp.TCPConnector(limit=0), headers, trust_env=False)
    # To another host aiohttp sends no Authorization, but it would send a header of our own.
    return Client(session, url, proxy, follows=not endpoint.key_header)


async def close_client(client: Client) -> None:
    """Close the client's connections."""
    await client.session.close()


async def send(client: Client, sent: dict[str, Any], holds: str = "choices") -> dict[str, Any]:
    """The body of a success, which holds that key; any other status is an error with its body."""
    import aiohttp  # noqa: PLC0415

    try:
        # Read to its end, or closed by what fails in reading it, a response needs no `async with`,
        # which takes a tenth of the time of a call.
        answer = await client.session.post(
            client.url, data=dump_body(sent), proxy=client.proxy, allow_redirects=client.follows
        )
        content = await answer.read()
    except aiohttp.ClientHttpProxyError:  # told apart from what a server answers
        raise
    except aiohttp.ClientResponseError as error:  # it has a status, of no answer that came
        raise MalformedBodyError(f"no HTTP: {error.message}") from None
    # A few servers answer 201.
    if answer.status // 100 != 2:
        headers = {name.lower(): value for name, value in answer.headers.items()}
        raise WireError(answer.status, parse_error(content), headers)
    return parse_body(content, holds)


COMPATIBLE = Dialect(
    "compatible",
    open_client,
    close_client,
    _openai_chat.compatible_params,
    send,
    _openai_chat.read,
    _openai_chat.billed,
)


def own_server(
    name: str,
    base_url: str,
    api_key_env: str,
    query: Mapping[str, str] | None = None,
    api_key_header: str = "",
) -> Endpoint:
    """A server of the user's, its address checked, with its key where it takes one.

    Raises
    ------
    InputError
        No `base_url`.
    ModelError
        The environment variable is not set.
    MissingExtraError
        The extra `compatible` is not installed.
    """
    if not base_url:
        raise InputError(f'{name} needs an option base_url, such as "http://localhost:11434/v1"')
    require("aiohttp", name, "compatible")
    require("orjson", name, "compatible")
    key = key_from_environment(name, api_key_env) if api_key_env else None
    # Sorted, so that the same query in another order shares the client.
    ordered = tuple(sorted((query or {}).items()))
    return Endpoint(checked_address(name, base_url), key, ordered, api_key_header)


def make(  # noqa: PLR0913 - each is an option of the study
    model_name: str,
    *,
    base_url: str = "",
    api_key_env: str = "",
    api_key_header: str = "",
    query: Mapping[str, str] | None = None,
    timeout: float = 120.0,
    on_refused_parameter: OnRefused = "error",
    structured: bool | Literal["ask"] = "ask",
    logprobs: bool = True,
    params: Mapping[str, Any] | None = None,
    native_tools: bool = True,
) -> RemoteModel:
    """A model behind an OpenAI-compatible endpoint (`compatible:llama3`).

    Parameters
    ----------
    model_name : str
        The endpoint's name of the model.
    base_url : str
        The address up to and without `/chat/completions`; required.
    api_key_env : str
        The environment variable that holds the key; empty where the endpoint takes none.
    api_key_header : str
        A header that carries the key besides `Authorization` (`api-key` at Azure).
    query : mapping, optional
        Query parameters of every call (`{"api-version": "2024-10-21"}` on Azure's older path).
    timeout, on_refused_parameter, structured, logprobs, params, native_tools
        See `Options`; with `structured="ask"`, the default, a new session asks the server once, by
        one short call, whether it enforces a schema, and sends none where it does not.

    Raises
    ------
    InputError
        No `base_url`.
    ModelError
        The environment variable is not set.
    MissingExtraError
        The extra `compatible` is not installed.
    """
    name = f"compatible:{model_name}"
    endpoint = own_server(name, base_url, api_key_env, query, api_key_header)
    options = Options(
        timeout, on_refused_parameter, structured, logprobs, params or {}, native_tools
    )
    return RemoteModel(name, model_name, COMPATIBLE, endpoint, options)
