"""Where and how a model is asked: its key, its options, and the client that models share."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

from voirdire.errors import InputError, ModelError
from voirdire.secrets import secret_in_address

if TYPE_CHECKING:
    from collections.abc import Mapping


class SecretKey:
    """A secret that no repr, str or format shows; `reveal` is for the SDK alone."""

    __slots__ = ("_text", "variable")

    def __init__(self, text: str, variable: str = "") -> None:
        self._text, self.variable = text, variable

    def reveal(self) -> str:
        """The secret itself."""
        return self._text

    def __repr__(self) -> str:
        return "Key(hidden)"

    def __eq__(self, other: object) -> bool:
        # By the text, so that endpoints with one key share a client.
        return isinstance(other, SecretKey) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


def key_from_environment(model: str, variable: str) -> SecretKey:
    """The key in the environment variable, or an error that names the variable."""
    # A key out of a file often ends in a line break, which no header may hold.
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ModelError(
            f"{model} needs the environment variable {variable}, which is not set", "auth"
        )
    return SecretKey(key, variable)


def checked_address(model: str, address: str | None) -> str | None:
    """The address of an endpoint, which carries no key.

    Raises
    ------
    InputError
        A user, a password or a query stands in it: it is kept with the session and shown.
    """
    if address and (part := secret_in_address(address)):
        raise InputError(
            f"{model}: base_url holds {part}, which may be a key and would be kept and shown: keys "
            "come from the environment (api_key_env); a query belongs into the option query"
        )
    return address


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is asked; equal endpoints share one client."""

    base_url: str | None = None
    key: SecretKey | None = None
    query: tuple[tuple[str, str], ...] = ()
    key_header: str = ""


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
    structured : bool or "ask"
        Whether a request's JSON schema is enforced by the provider; with "ask" the server is asked
        once, when a session is made, and the session keeps its answer.
    logprobs : bool
        Whether log-probabilities are asked for where a request names options.
    params : mapping
        Further parameters of the provider, sent with every call (``{"reasoning_effort": "low"}``).
    native_tools : bool
        Whether the endpoint supports tools; else they are described and called in plain text.
    """

    timeout: float = 120.0
    on_refused_parameter: OnRefused = "error"
    structured: bool | Literal["ask"] = True
    logprobs: bool = True
    params: Mapping[str, Any] = field(default_factory=dict)
    native_tools: bool = True

    def __post_init__(self) -> None:
        if not self.timeout > 0:
            raise InputError(f"timeout must be more than 0 seconds, got {self.timeout!r}")
        if self.structured not in (True, False, "ask"):
            raise InputError(f'structured must be true, false or "ask", got {self.structured!r}')
        if self.on_refused_parameter not in {"error", "drop"}:
            raise InputError(
                f'on_refused_parameter must be "error" or "drop", got {self.on_refused_parameter!r}'
            )


Close = Callable[[Any], Awaitable[None]]


@dataclass
class Lease:
    """A share in a client; the last share that is returned closes it."""

    client: Any
    loop: asyncio.AbstractEventLoop
    close: Close
    holders: int = 1


@dataclass
class ClientPool:
    """Clients by event loop and endpoint: a client works on the loop that it was made on."""

    leases: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Hashable, Lease]] = field(
        default_factory=WeakKeyDictionary
    )

    def take(self, key: Hashable, make: Callable[[], Any], close: Close) -> Lease:
        """The running loop's client for this endpoint, made if there is none."""
        loop = asyncio.get_running_loop()
        held = self.leases.setdefault(loop, {})
        if key in held:
            held[key].holders += 1
        else:
            held[key] = Lease(make(), loop, close)
        return held[key]

    async def give_back(self, lease: Lease) -> None:
        """One holder fewer; closes the client after the last, if its loop is the running one."""
        lease.holders -= 1
        held = self.leases.get(lease.loop, {})
        # A client of a loop that has ended cannot be closed any more: its sockets went with
        # it.
        if lease.holders > 0 or lease.loop is not asyncio.get_running_loop():
            return
        for key in [key for key, other in held.items() if other is lease]:
            del held[key]
        await lease.close(lease.client)


@cache
def pool() -> ClientPool:
    """The pool of this process."""
    return ClientPool()
