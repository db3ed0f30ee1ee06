"""`anthropic:`: Claude through Anthropic's SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire_judges.models import _anthropic_messages as messages
from voirdire_judges.models._imports import require
from voirdire_judges.models._keys import key_from_environment
from voirdire_judges.models._options import OnRefused, Options
from voirdire_judges.models._remote import Dialect, Endpoint, RemoteModel

if TYPE_CHECKING:
    from collections.abc import Mapping


def open_client(endpoint: Endpoint) -> Any:
    """Anthropic's async client over aiohttp."""
    import anthropic  # noqa: PLC0415

    return anthropic.AsyncAnthropic(
        api_key=endpoint.key.reveal() if endpoint.key is not None else None,
        base_url=endpoint.base_url,
        timeout=None,
        max_retries=0,
        http_client=anthropic.DefaultAioHttpClient(timeout=None),
    )


async def close_client(client: Any) -> None:
    """Close the client's connections."""
    await client.close()


MESSAGES = Dialect(
    "anthropic",
    open_client,
    close_client,
    messages.params,
    messages.send,
    messages.read,
    lacking=frozenset({"seed"}),
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
    endpoint = Endpoint(base_url, key_from_environment(name, api_key_env))
    options = Options(timeout, on_refused_parameter, structured, params=params or {})
    return RemoteModel(name, model_name, MESSAGES, endpoint, options)
