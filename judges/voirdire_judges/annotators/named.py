"""An annotator that asks openly what is there, and maps what it is called to labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from voirdire.parsing import parse_named
from voirdire.schema import Message, Sampling
from voirdire_judges._combine import missing_reply
from voirdire_judges.yes_no import fenced

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Item, Parsed, Reply, Request


@dataclass(frozen=True, slots=True)
class NamedAnnotator:
    """Asks openly and reads three lines: yes or no, a name, and why. Pure.

    Attributes
    ----------
    prompt : str
        What the model is told; ``{post}`` stands for the text, which is put between backticks.
    fields : tuple of three str
        The names of the lines that it answers in.
    patterns : mapping of str to sequence of str
        Label -> regular expressions of what names it; see `voirdire.parsing.parse_named`.
    whole : str
        The attribute that says whether anything is there.
    nameless : frozenset of str
        What stands where no name is given.
    """

    prompt: str
    fields: tuple[str, ...]
    patterns: Mapping[str, Sequence[str]]
    whole: str = "any"
    nameless: frozenset[str] = field(default=frozenset({""}))
    sampling: Sampling = Sampling()

    def requests(self, task: Item) -> list[Request]:
        """One request; none for an item without text."""
        if not task.text.strip():
            return []
        message = Message("user", self.prompt.replace("{post}", fenced(task.text)))
        return [self.sampling.request((message,))]

    def parse(self, replies: Sequence[Reply]) -> Parsed:
        """1, 0 or None for `whole` and each label; never raises."""
        reply = replies[-1] if replies else missing_reply(replies)
        return parse_named(
            reply.text,
            self.fields,
            self.patterns,
            whole=self.whole,
            nameless=self.nameless,
            finish_reason=reply.finish_reason,
        )
