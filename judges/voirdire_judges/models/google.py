"""`google:`: Gemini through google-genai."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire_judges.models import _google_content as content
from voirdire_judges.models._imports import require
from voirdire_judges.models._keys import key_from_environment
from voirdire_judges.models._options import OnRefused, Options
from voirdire_judges.models._remote import Dialect, Endpoint, RemoteModel

if TYPE_CHECKING:
    from collections.abc import Mapping


def open_client(endpoint: Endpoint) -> Any:
    """Google's client over an aiohttp session of ours, which bears any number of calls in flight.

    One attempt is asked for in so many words: without it the SDK sleeps up to ten seconds after a
    broken connection and asks again.
    """
    import aiohttp  # noqa: PLC0415
    from google import genai  # noqa: PLC0415
    from google.genai import types  # noqa: PLC0415

    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), trust_env=True)
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


CONTENT = Dialect("google", open_client, close_client, content.params, content.send, content.read)


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
    endpoint = Endpoint(base_url, key_from_environment(name, api_key_env), query)
    options = Options(timeout, on_refused_parameter, structured, logprobs, params or {})
    return RemoteModel(name, model_name, CONTENT, endpoint, options)
