"""Annotators that are asked in several steps of one conversation, of which the last is answered.

What frameworks of several prompts do (Diagnosis of Thought, Chen et al. 2023; ERD, Lim et al.
2024): the model first works through instructions about the text, each with what it said before in
sight, and is asked for labels last. Every step is a kept reply, so that a run that was killed goes
on at it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from voirdire.errors import InputError
from voirdire.schema import Item, Message
from voirdire_judges._parsed import missing_reply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.parsing import LabelSet
    from voirdire.protocols import Annotator
    from voirdire.schema import Parsed, Reply, Request

#: Stands in a step for the text of the item.
TEXT = "{text}"


@dataclass(frozen=True, slots=True)
class StepwiseAnnotator:
    """Asks steps before an annotator's own question, in one conversation. Pure.

    Attributes
    ----------
    annotator : Annotator
        Who asks the last question and reads its answer; it asks one question an item.
    steps : tuple of str
        What is asked before. ``{text}`` in the first stands for the item's text, and must stand
        there.
    """

    annotator: Annotator
    steps: tuple[str, ...]
    task: str = "item"

    def __post_init__(self) -> None:
        if not self.steps:
            raise InputError("stepwise annotator: give at least one step before the question")
        if TEXT not in self.steps[0]:
            raise InputError(
                f"stepwise annotator: the first step must hold {TEXT}, where the item's text goes"
            )

    @property
    def runs(self) -> int:
        """Independent runs where the study does not say how many: the annotator's own."""
        return int(getattr(self.annotator, "runs", 1))

    @property
    def labels(self) -> LabelSet | None:
        """The annotator's label set."""
        return getattr(self.annotator, "labels", None)

    @property
    def unsure(self) -> tuple[str, str]:
        """What an item without a recurring label is called: the annotator's own words."""
        return getattr(self.annotator, "unsure", ("not sure if any", "not sure which"))

    def requests(self, task: Item) -> list[Request]:
        """The first step; none for an item of which the annotator asks nothing.

        Raises
        ------
        InputError
            The annotator asks several questions about one item.
        """
        asked = self.annotator.requests(task)
        if len(asked) > 1:
            raise InputError(
                f"stepwise annotator: its last question must be one, got {len(asked)} about item "
                f"{task.id!r}"
            )
        return [self._first(one, task) for one in asked]

    def _first(self, question: Request, task: Item) -> Request:
        words = self.steps[0].replace(TEXT, task.text)
        return replace(question, messages=(Message("user", words),), schema=None, options=())

    def follow_up(self, replies: Sequence[Reply]) -> list[Request]:
        """The next step with all that was said so far; none after the answer or a lost reply."""
        last = replies[-1]
        if last.request is None or len(replies) > len(self.steps) or not _said(last):
            return []
        said = (*last.request.messages, Message("assistant", last.text))
        if len(replies) < len(self.steps):
            step = Message("user", self.steps[len(replies)])
            return [replace(last.request, messages=(*said, step))]
        return [self._question(last.request, said)]

    def _question(self, request: Request, said: tuple[Message, ...]) -> Request:
        """The annotator's own question, about the text that stands above it."""
        (asked,) = self.annotator.requests(Item("", ABOVE))
        words = "\n\n".join(message.content for message in asked.messages)
        return replace(asked, messages=(*said, Message("user", words)), run=request.run)

    def parse(self, replies: Sequence[Reply]) -> Parsed:
        """What the annotator reads in the answer; missing where a step before it was lost.

        Never raises. Labels that a step before the last names are no answer.
        """
        if len(replies) <= len(self.steps):
            lost = replies[-1] if replies and not _said(replies[-1]) else missing_reply(replies)
            return self.annotator.parse([lost])
        return self.annotator.parse(replies[-1:])


#: What the last question is about, in place of the text, which the first step showed.
ABOVE = "The text is the one above."


def _said(reply: Reply) -> bool:
    """Whether a step was answered, so that the next can build on it."""
    return bool(reply.text.strip()) and reply.finish_reason in ("stop", "length")
