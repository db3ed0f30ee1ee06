"""The options that every remote model takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from voirdire.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

OnRefused = Literal["error", "drop"]


@dataclass(frozen=True, slots=True)
class Options:
    """How a remote model is asked.

    Attributes
    ----------
    timeout : float
        Seconds for one call in all, connecting and reading included.
    on_refused_parameter : {"error", "drop"}
        What happens when the model refuses a parameter: an error, or the call is repeated once
        without it and every reply carries a note.
    structured : bool
        Whether a request's JSON schema is enforced by the provider.
    logprobs : bool
        Whether log-probabilities are asked for where a request names options.
    params : mapping
        Further parameters of the provider, sent with every call (``{"reasoning_effort": "low"}``).
    native_tools : bool
        Whether the endpoint knows tools; else they are told and called in plain text.
    """

    timeout: float = 120.0
    on_refused_parameter: OnRefused = "error"
    structured: bool = True
    logprobs: bool = True
    params: Mapping[str, Any] = field(default_factory=dict)
    native_tools: bool = True

    def __post_init__(self) -> None:
        if not self.timeout > 0:
            raise InputError(f"timeout must be more than 0 seconds, got {self.timeout!r}")
        if self.on_refused_parameter not in {"error", "drop"}:
            raise InputError(
                f'on_refused_parameter must be "error" or "drop", got {self.on_refused_parameter!r}'
            )
