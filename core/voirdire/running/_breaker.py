"""When a rater is given up for this run, so that the others do not wait for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.running._retry import HOPELESS, OF_THE_ITEM
from voirdire.store import scrub

if TYPE_CHECKING:
    from voirdire._errors import ModelError

_SAY = {
    "auth": "its key was refused",
    "quota": "billing: its account is out of credit",
    "refused_parameter": "its model refuses a parameter",
}


class Breaker:
    """Opens after so many failed calls in a row, or at once where no call can succeed.

    `answered` says that the rater's model has answered before, in an earlier run.

    Attributes
    ----------
    reason : str
        Why it is open; empty while it is closed.
    """

    def __init__(self, threshold: int, *, answered: bool = False) -> None:
        self._threshold, self._row = threshold, 0
        self._answered = answered
        self.reason = ""

    def succeeded(self) -> None:
        """A call came back with a reply: the row of failures ends."""
        self._row, self._answered = 0, True

    def park(self, reason: str) -> None:
        """Open at once: the rater itself is broken."""
        self.reason = self.reason or scrub(reason)

    def failed(self, fault: ModelError) -> None:
        """A call was given up."""
        if self.reason or self._of_the_item(fault):
            return
        self._row += 1
        if fault.kind in HOPELESS:
            self.reason = f"{_SAY[fault.kind]} ({scrub(str(fault))})"
        elif self._row >= self._threshold:
            last = f"{fault.kind}: {scrub(str(fault))}"
            self.reason = f"{self._row} calls failed in a row, the last by {last}"

    def _of_the_item(self, fault: ModelError) -> bool:
        """Whether other requests may fare better; of a model that has answered, a 400 says so."""
        refused = fault.kind == "bad_request" and fault.status_code in {400, 413, 422}
        return fault.of_item or fault.kind in OF_THE_ITEM or (refused and self._answered)
