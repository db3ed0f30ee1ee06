"""One client an endpoint and event loop, shared by all models that talk to it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

Close = Callable[[Any], Awaitable[None]]


@dataclass
class Lease:
    """A share in a client; the last share that is returned closes it."""

    client: Any
    loop: asyncio.AbstractEventLoop
    close: Close
    holders: int = 1


@dataclass
class Pool:
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
        if lease.holders > 0 or lease.loop is not asyncio.get_running_loop():
            return
        for key in [key for key, found in held.items() if found is lease]:
            del held[key]
        await lease.close(lease.client)


@cache
def pool() -> Pool:
    """The pool of this process."""
    return Pool()
