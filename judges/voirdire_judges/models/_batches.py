"""Calls handed to a provider in one piece, answered within a day at a lower price.

One transport over three wire formats: a `BatchWire` says how a provider takes, lists and gives back
a batch, and everything else (parameters, replies, faults, keys) is the live model's own.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from voirdire.errors import ModelError
from voirdire_judges.models._body import RAW, content_of, load_body, mapping, parse_body, text
from voirdire_judges.models._faults import MalformedBodyError, WireError, model_error
from voirdire_judges.models._requests import sendable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

    from voirdire.schema import BatchState, Reply, Request
    from voirdire_judges.models._endpoint import SecretKey

#: Seconds for one call to a batch endpoint; results of many lines take a while to come.
PATIENCE = 600.0


@dataclass(frozen=True, slots=True)
class BatchWire:
    """A provider's batches as functions of an open client.

    Attributes
    ----------
    submit
        (client, model, name, lines) -> the provider's id; a line is its key and its parameters.
    states
        (client, since) -> the batches made since then (seconds since 1970), as far as it says.
    state
        (client, id) -> how far one is.
    results
        (client, id, keys) -> (key, outcome) of each line; `keys` are those of the lines in order.
    cancel
        (client, id): ask the provider to stop.
    named
        Whether the provider keeps the batch's name.
    """

    submit: Callable[[Any, str, str, Sequence[tuple[str, dict[str, Any]]]], Awaitable[str]]
    states: Callable[[Any, float], Awaitable[list[BatchState]]]
    state: Callable[[Any, str], Awaitable[BatchState]]
    results: Callable[[Any, str, Sequence[str]], Awaitable[list[tuple[str, Any]]]]
    cancel: Callable[[Any, str], Awaitable[None]]
    named: bool = True


class Batchable(Protocol):
    """What batches need of the model whose calls they carry."""

    name: str
    model: str

    @property
    def key(self) -> SecretKey | None:
        """The key that an error text must not show."""

    def client(self) -> Any:
        """The open client of the endpoint."""

    def parameters(self, request: Request) -> dict[str, Any]:
        """The parameters that a live call would send."""

    def fits_batch(self, request: Request) -> bool:
        """Whether a request can be a line of a batch."""

    def received(self, outcome: Any, request: Request) -> Reply | ModelError:
        """What a body says that did not come in answer to a call."""


@dataclass(frozen=True, slots=True)
class RemoteBatches:
    """A model's batches; all methods raise `ModelError`."""

    model: Batchable
    wire: BatchWire

    def fits(self, request: Request) -> bool:
        """Whether a request can be a line of a batch."""
        return self.model.fits_batch(request)

    @property
    def named(self) -> bool:
        """Whether the provider keeps the name that a batch is submitted under."""
        return self.wire.named

    async def submit(self, name: str, lines: Sequence[tuple[str, Request]]) -> str:
        """Hand over calls by their keys; returns the provider's id of the batch."""
        sent = [
            (key, self.model.parameters(sendable(self.model.name, request)))
            for key, request in lines
        ]
        made: str = await self._call(
            lambda client: self.wire.submit(client, self.model.model, name, sent)
        )
        return made

    async def states(self, since: float) -> list[BatchState]:
        """The batches that the provider was given since then, by seconds since 1970."""
        states: list[BatchState] = await self._call(lambda client: self.wire.states(client, since))
        return states

    async def state(self, number: str) -> BatchState:
        """How far a batch is."""
        state: BatchState = await self._call(lambda client: self.wire.state(client, number))
        return state

    async def cancel(self, number: str) -> None:
        """Ask the provider to stop; what was answered before is billed and can be fetched."""
        await self._call(lambda client: self.wire.cancel(client, number))

    async def results(
        self, number: str, requests: Mapping[str, Request]
    ) -> list[tuple[str, Reply | ModelError]]:
        """What became of each line, by its key, in whatever order; keys that were none are left."""
        outcomes = await self._call(
            lambda client: self.wire.results(client, number, tuple(requests))
        )
        return [
            (key, self.model.received(outcome, requests[key]))
            for key, outcome in outcomes
            if key in requests
        ]

    async def _call(self, ask: Callable[[Any], Awaitable[Any]]) -> Any:
        """One call to the provider; the SDK's exception ends here, since it may hold the key."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await ask(self.model.client())
        except ModelError:
            raise
        except Exception as error:  # noqa: BLE001 - an SDK may raise anything at all
            fault = model_error(self.model.name, error, PATIENCE, self.model.key)
        raise fault


async def ask_raw(client: Any, method: str, path: str, *keys: str, body: Any = None) -> Any:
    """The object that an endpoint of a Stainless SDK answers; with `keys`, one that holds them."""
    sent = {"body": body} if body is not None else {}
    raw = await getattr(client, method)(path, cast_to=object, options=RAW, **sent)
    return parse_body(await content_of(raw), *keys)


async def pages(client: Any, path: str, after: str) -> list[dict[str, Any]]:
    """The newest hundred objects of a list and those behind them, page by page, ten at most."""
    listed: list[dict[str, Any]] = []
    last = ""
    # A batch is looked for by its name soon after it was handed over, so it is among the
    # newest; a server that always says `has_more` would keep us for ever.
    for _ in range(10):
        more = f"&{after}={last}" if last else ""
        page = await ask_raw(client, "get", f"{path}?limit=100{more}", "data")
        rows = [row for row in page["data"] or () if isinstance(row, dict)]
        listed += rows
        last = text(rows[-1].get("id")) if rows else ""
        if not last or page.get("has_more") is not True:
            break
    return listed


def lines_of(content: bytes) -> Iterator[dict[str, Any]]:
    """The objects of a JSONL file; a line that holds no object belongs to no call."""
    for line in content.split(b"\n"):
        try:
            value = load_body(line) if line.strip() else None
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def number_in(body: Mapping[str, Any], *names: str) -> int:
    """The sum of the counts that stand under these names."""
    values = (body.get(name) for name in names)
    # True is an int in Python, and no count.
    return sum(value for value in values if isinstance(value, int) and not isinstance(value, bool))


def seconds_of(stamp: Any) -> float:
    """Seconds since 1970 of a time as ISO 8601 writes it; 0 where it is none.

    >>> seconds_of("1970-01-01T00:01:00Z"), seconds_of(None)
    (60.0, 0.0)
    """
    try:
        return datetime.fromisoformat(stamp).timestamp()
    except (TypeError, ValueError):
        return 0.0


def failed(kind: str, message: str, status: int = 400) -> WireError:
    """A line that got no answer."""
    return WireError(status, {"error": {"type": kind, "message": message}})


def answer_of(body: Any, what: str) -> dict[str, Any] | MalformedBodyError:
    """The answer in a line, or that there is none."""
    answer = mapping(body)
    return answer or MalformedBodyError(f"a line of a batch without {what}")
