"""`chat`: a generator that answers each item under one system prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from voirdire.errors import InputError, check_allowed
from voirdire.schema import Message, Request, Response, Sampling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Item, Reply

#: Prompts by name. `psychiatrist` is ours: Badawi et al. (2025, section 3.2) describe a prompt that
#: "simulates expert responses from a licensed psychiatrist", and do not print it.
SYSTEM_PROMPTS = {
    "psychiatrist": (
        "You are a licensed psychiatrist who answers people that write about their mental health. "
        "Answer the concern that the person raises. Acknowledge what they feel in your own words, "
        "give clear and practical guidance that fits their situation, and say plainly what you "
        "cannot judge from a message. Do not diagnose and do not name doses. Where there is a risk "
        "of harm, advise them to contact local emergency services or a crisis line now. Write "
        "warmly and directly, in at most three short paragraphs."
    ),
    "none": "",
}


@dataclass(frozen=True, slots=True)
class ChatGenerator:
    """Produces a system's response to an item. Pure.

    Attributes
    ----------
    system_prompt : str
        Empty: none is sent.
    length_of : str
        A field of the item: its number of words stands for ``{words}`` in the prompt, so that
        responses are about as long, and nothing else of it is shown.
    trimmed : bool
        Whether blanks around a response are left out; else it stays as it came.
    """

    system_prompt: str
    sampling: Sampling = Sampling(temperature=0.7, max_tokens=512)
    task: str = "item"
    length_of: str = ""
    trimmed: bool = False

    def requests(self, task: Item) -> list[Request]:
        """One request; none for an item without text.

        Raises
        ------
        InputError
            The item lacks the field whose length is asked for.
        """
        if not task.text.strip():
            return []
        system = (Message("system", self._prompt(task)),) if self.system_prompt else ()
        return [self.sampling.request((*system, Message("user", task.text)))]

    def _prompt(self, task: Item) -> str:
        if not self.length_of:
            return self.system_prompt
        words = len(str(task.extra.get(self.length_of) or "").split())
        if not words:
            raise InputError(
                f"item {task.id!r} has no {self.length_of!r}, whose length the prompt asks for"
            )
        return self.system_prompt.replace("{words}", str(words))

    def parse(self, replies: Sequence[Reply], item: str = "") -> Response:
        """The response; empty where none came. Its system is the generator's own name."""
        # The last: an earlier one was asked again, or called a tool.
        text = replies[-1].text if replies else ""
        return Response(item, "", text.strip() if self.trimmed else text)


def make(
    *,
    prompt: str = "psychiatrist",
    system_prompt: str | None = None,
    sampling: Sampling = Sampling(temperature=0.7, max_tokens=512),
) -> ChatGenerator:
    """A generator of responses (`use = "chat"`); temperature and limit as in Badawi et al. (2025).

    Parameters
    ----------
    prompt : str
        The name of a built-in system prompt: `psychiatrist` (written for voirdire, since the paper
        does not print its own) or `none`.
    system_prompt : str, optional
        A system prompt of your own, in place of a built-in one.
    sampling : Sampling
        Sent with every request; what is None is left to the model.

    Raises
    ------
    InputError
        There is no prompt of that name.

    Examples
    --------
    >>> from voirdire.schema import Item, Reply
    >>> generator = make()
    >>> request = generator.requests(Item("7", "I slept badly."))[0]
    >>> request.temperature, request.max_tokens, request.messages[1].content
    (0.7, 512, 'I slept badly.')
    >>> generator.parse([Reply("That sounds hard.")], "7").text
    'That sounds hard.'
    """
    if system_prompt is None:
        check_allowed("prompt", [prompt], SYSTEM_PROMPTS, "chat generator")
        system_prompt = SYSTEM_PROMPTS[prompt]
    return ChatGenerator(system_prompt, sampling)
