"""`cbt-dp`: a therapist's response to a client, about as long as the reference (Table 22)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from voirdire import InputError
from voirdire.schema import Message, Request, Response, Sampling
from voirdire_plugins.resources import resource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Item, Reply


_PROMPT: str = resource("cbt_bench", "prompts")["dp"]


@dataclass(frozen=True, slots=True)
class TherapistGenerator:
    """Answers a client's statement; the reference's length stands in the prompt, not its words."""

    sampling: Sampling = Sampling(temperature=0.7)
    task: str = "item"

    def requests(self, task: Item) -> list[Request]:
        """One request: the prompt, then the statement.

        Raises
        ------
        InputError
            The item has no `extra["reference"]`, from which the length is taken.
        """
        words = word_count(str(task.extra.get("reference") or ""))
        if not words:
            raise InputError(f"cbt-dp: exercise {task.id!r} has no 'reference' to take a length of")
        messages = (
            Message("system", _PROMPT.replace("{words}", str(words))),
            Message("user", task.text),
        )
        return [
            self.sampling.request(
                messages,
            )
        ]

    def parse(self, replies: Sequence[Reply], item: str = "") -> Response:
        """The response as it came; empty where none did."""
        return Response(item, "", replies[-1].text.strip() if replies else "")


def word_count(text: str) -> int:
    """Words, as white space tells them apart.

    >>> word_count("Let us look at this together.")
    6
    """
    return len(text.split())


def make(
    *,
    sampling: Sampling = Sampling(temperature=0.7),
) -> TherapistGenerator:
    """A generator of level III (`use = "cbt-dp"`); the paper's temperature is 0.7."""
    return TherapistGenerator(sampling)
