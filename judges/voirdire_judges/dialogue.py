"""`dialogue`: a generator of conversations between a system under test and a simulated client."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from voirdire.errors import InputError, check_allowed
from voirdire.schema import Message, Request, Response, Sampling, Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Item, Reply

#: Roles in which models are asked: the one that is examined, and the one that plays its client.
SYSTEM, CLIENT = "system", "client"
#: Who says so in the conversation that is kept.
USER, ASSISTANT = "user", "assistant"
#: By what a client ends the conversation.
END = "[END]"
CLIENT_PROMPT = (
    "You play a person who talks to a counsellor by text. Stay in this part throughout and never "
    "say that you play it. Write only what the person says next: one message, in their own words "
    "and in the language in which they are described, as long as people write in a chat. Let what "
    "the counsellor says have the effect that it would have on this person. When the person would "
    f"leave, write {END} and nothing else.\n\nThe person:\n{{persona}}"
)
_BEGIN = "The conversation begins. Write the first message of the person."


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Produces a conversation about an item, message by message. Pure.

    Attributes
    ----------
    client : {"model", "script"}
        Who speaks to the system: a model in the role ``client`` that plays a persona, or the
        messages of a script.
    field : str
        The field of the item with the persona or script; empty for the item's text.
    turns : int
        Messages of the system at most.
    system_prompt, client_prompt : str
        What each is told; ``{persona}`` in the client's is the persona.
    client_sampling : Sampling
        How the client draws; `sampling` is the system's.
    """

    client: Literal["model", "script"]
    field: str
    turns: int
    system_prompt: str
    client_prompt: str
    sampling: Sampling = Sampling()
    client_sampling: Sampling = Sampling()
    slow: bool = False

    @property
    def roles(self) -> tuple[str, ...]:
        """Every role in which a model is asked."""
        return (SYSTEM, CLIENT) if self.client == "model" else (SYSTEM,)

    @property
    def speakers(self) -> tuple[str, ...]:
        """Every role of a turn."""
        return (USER, ASSISTANT)

    @property
    def max_steps(self) -> int:
        """Messages in the role that begins."""
        return self.turns + 1

    def requests(self, task: Item) -> list[Request]:
        """The first message; none for an item without persona or script.

        Raises
        ------
        InputError
            The item lacks the field, or its script is none.
        """
        return self.next_of(task, ())

    def follow_up(self, replies: Sequence[Reply]) -> list[Request]:
        """Nothing: what comes next needs the item (`next_of`)."""
        del replies
        return []

    def next_of(self, task: Item, replies: Sequence[Reply]) -> list[Request]:
        """The next message of whoever speaks next; none where the conversation has ended."""
        said = self._said(task, replies)
        # A message without text, refused by a filter or cut before it began, has no answer.
        if replies and not replies[-1].text.strip():
            return []
        if self.client == "script":
            lines = self._script(task)
            if len(replies) >= min(self.turns, len(lines)):
                return []
            return [self._of_system([*said, Turn(USER, lines[len(replies)])])]
        persona = self._material(task)
        ended = bool(replies) and len(said) < len(replies)
        if not persona or ended or len(replies) >= 2 * self.turns:
            return []
        return [self._of_system(said) if len(replies) % 2 else self._of_client(persona, said)]

    def conversation(self, task: Item, replies: Sequence[Reply]) -> Response:
        """The conversation so far as a response with turns; its system is the generator's name."""
        return Response(task.id, "", "", tuple(self._said(task, replies)))

    def parse(self, replies: Sequence[Reply], item: str = "") -> Response:
        """The system's last message; of the whole see `conversation`."""
        return Response(item, "", replies[-1].text if replies else "")

    def _said(self, task: Item, replies: Sequence[Reply]) -> list[Turn]:
        if self.client == "script":
            pairs = zip(self._script(task), replies, strict=False)
            return [
                turn
                for line, reply in pairs
                for turn in (Turn(USER, line), Turn(ASSISTANT, reply.text))
            ]
        said: list[Turn] = []
        for at, reply in enumerate(replies):
            if at % 2 == 0 and END in reply.text:
                break
            said.append(Turn(ASSISTANT if at % 2 else USER, reply.text))
        return said

    def _of_system(self, said: Sequence[Turn]) -> Request:
        told = (Message("system", self.system_prompt),) if self.system_prompt else ()
        spoken = (Message("user" if t.role == USER else "assistant", t.content) for t in said)
        return _in_role(self.sampling.request((*told, *spoken)), SYSTEM)

    def _of_client(self, persona: str, said: Sequence[Turn]) -> Request:
        # Seen from the client's side its own messages are the model's.
        spoken = (Message("assistant" if t.role == USER else "user", t.content) for t in said)
        told = Message("system", self.client_prompt.replace("{persona}", persona))
        messages = (told, Message("user", _BEGIN), *spoken)
        return _in_role(self.client_sampling.request(messages), CLIENT)

    def _material(self, task: Item) -> str:
        if not self.field:
            return task.text.strip()
        if task.extra.get(self.field) in (None, ""):
            raise InputError(
                f"item {task.id!r} has no {self.field!r}, which the client is made from: name it "
                "under [items] in 'extra'"
            )
        return str(task.extra[self.field]).strip()

    def _script(self, task: Item) -> list[str]:
        given = task.extra.get(self.field) if self.field else task.text
        if isinstance(given, str):
            try:
                given = json.loads(given) if given.strip().startswith("[") else given.splitlines()
            except ValueError as error:
                raise InputError(f"item {task.id!r}: its script is no JSON list: {error}") from None
        if not isinstance(given, list) or not all(isinstance(line, str) for line in given):
            raise InputError(
                f"item {task.id!r}: a script is a list of the client's messages, or a message a "
                f"line, got {given!r:.80}"
            )
        return [line.strip() for line in given if line.strip()]


def _in_role(request: Request, role: str) -> Request:
    return replace(request, role=role)


def make(
    *,
    client: Literal["model", "script"] = "model",
    field: str = "",
    turns: int = 6,
    system_prompt: str = "",
    client_prompt: str = CLIENT_PROMPT,
    client_temperature: float | None = 0.7,
    client_max_tokens: int | None = 256,
    sampling: Sampling = Sampling(temperature=0.7, max_tokens=512),
) -> Dialogue:
    r"""A generator of conversations (`use = "dialogue"`).

    Parameters
    ----------
    client : {"model", "script"}
        A model that plays a persona (``models.client``), or the messages of a script.
    field : str
        The field of the item (``extra`` under ``[items]``) that holds the persona or script; the
        item's text where it is empty.
    turns : int
        Messages of the system at most, from 1. A client may end before by writing ``[END]``.
    system_prompt, client_prompt : str
        What each is told; the client's holds ``{persona}``.
    client_temperature, client_max_tokens : optional
        How the client draws.
    sampling : Sampling
        How the system under test draws.

    Raises
    ------
    InputError
        An option is wrong.

    Examples
    --------
    >>> from voirdire.schema import Item, Reply
    >>> generator = make(client="script")
    >>> talk = Item("1", "I slept badly.\nSince May.")
    >>> generator.requests(talk)[0].messages[-1].content
    'I slept badly.'
    >>> [t.content for t in generator.conversation(talk, [Reply("Since when?")]).turns]
    ['I slept badly.', 'Since when?']
    """
    check_allowed("client", [client], ("model", "script"), "dialogue generator")
    if turns < 1:
        raise InputError(
            f"dialogue generator: turns count the system's messages, from 1, got {turns}"
        )
    if client == "model" and "{persona}" not in client_prompt:
        raise InputError("dialogue generator: client_prompt must hold {persona}")
    return Dialogue(
        client,
        field,
        turns,
        system_prompt,
        client_prompt,
        sampling,
        Sampling(temperature=client_temperature, max_tokens=client_max_tokens),
    )
