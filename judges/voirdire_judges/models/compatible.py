"""`compatible:`: any endpoint with OpenAI's chat completions (vLLM, Ollama, Azure's path)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire_judges.models import _openai_chat
from voirdire_judges.models._imports import require
from voirdire_judges.models._keys import checked_address, key_from_environment
from voirdire_judges.models._options import OnRefused, Options
from voirdire_judges.models._remote import Dialect, Endpoint, RemoteModel
from voirdire_judges.models.openai import close_client, open_client

if TYPE_CHECKING:
    from collections.abc import Mapping

COMPATIBLE = Dialect(
    "openai",
    open_client,
    close_client,
    _openai_chat.compatible_params,
    _openai_chat.send,
    _openai_chat.read,
    _openai_chat.billed,
)


def make(  # noqa: PLR0913 - each is an option of the study
    model_name: str,
    *,
    base_url: str = "",
    api_key_env: str = "",
    api_key_header: str = "",
    query: Mapping[str, str] | None = None,
    timeout: float = 120.0,
    on_refused_parameter: OnRefused = "error",
    structured: bool = False,
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
        See `Options`; `structured` is off, since many endpoints do not enforce a schema.

    Raises
    ------
    InputError
        No `base_url`.
    ModelError
        The environment variable is not set.
    MissingExtraError
        The extra `openai` is not installed.
    """
    name = f"compatible:{model_name}"
    if not base_url:
        raise InputError(f'{name} needs an option base_url, such as "http://localhost:11434/v1"')
    require("openai", name, "openai")
    require("aiohttp", name, "openai")
    key = key_from_environment(name, api_key_env) if api_key_env else None
    address = checked_address(name, base_url)
    endpoint = Endpoint(address, key, tuple(sorted((query or {}).items())), api_key_header)
    options = Options(
        timeout, on_refused_parameter, structured, logprobs, params or {}, native_tools
    )
    return RemoteModel(name, model_name, COMPATIBLE, endpoint, options)
