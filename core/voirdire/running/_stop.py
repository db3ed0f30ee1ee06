"""How a run is told to end before its work is done."""

from __future__ import annotations

import asyncio

from voirdire.errors import VoirdireError

#: Seconds that calls under way are given to come back after an interruption.
GRACE = 3.0


class StoppedError(VoirdireError):
    """Inside the runner: no further call is to be made."""


class Stop:
    """Set once, with the reason: ``interrupted``, ``budget`` or an error's text."""

    def __init__(self) -> None:
        self.reason = ""
        self._event = asyncio.Event()
        self.hurry = asyncio.Event()

    def set(self, reason: str) -> None:
        """Make no further calls; a second time: do not wait for those under way."""
        if self.reason:
            self.hurry.set()
        self.reason = self.reason or reason
        self._event.set()

    async def wait(self) -> None:
        """Until it is set."""
        await self._event.wait()

    def check(self) -> None:
        """Raise `StoppedError` once it is set."""
        if self.reason:
            raise StoppedError(self.reason)
