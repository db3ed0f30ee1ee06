"""What the server answers: a text, or a function of the request."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from wire_server._seen import Seen

ATTRIBUTES = (
    "Guidance",
    "Informativeness",
    "Relevance",
    "Safety",
    "Empathy",
    "Helpfulness",
    "Understanding",
)


@dataclass
class Answer:
    """One answer, before it is put in a provider's format.

    `finish` is stop, length, refusal, content_filter or empty. `logprobs` holds the first token's
    alternatives. `input` counts all prompt tokens, `cached` those of them that were cached;
    `output` counts all billed output, `reasoning` the hidden part of it. `blocks` are extra content
    blocks that stand before the text: thinking in the Anthropic format, items before the message in
    that of responses, fields of the message in that of chat. `calls` are
    tools called, each with its arguments as text; Anthropic and Google have them as objects, so
    that text which is no JSON stands there as a string.
    """

    text: str
    finish: str = "stop"
    input: int = 100
    output: int = 20
    cached: int = 0
    reasoning: int = 0
    logprobs: dict[str, float] = field(default_factory=dict)
    blocks: list[dict[str, Any]] = field(default_factory=list)
    calls: list[tuple[str, str]] = field(default_factory=list)


Answering = str | Answer | Callable[[Seen], str | Answer]


def rubric_text(**scores: float) -> str:
    """A judge's reply in the output format of paper 001's Table 7."""
    given = {name: scores.get(name, 4) for name in ATTRIBUTES}
    return json.dumps({**given, "Overall": 4, "Explanation": "A warm, general answer."})


def rubric_answer(seen: Seen) -> str:
    """Scores 1..5 that depend on the prompt alone."""
    digest = hashlib.blake2b(seen.prompt.encode()).digest()
    scores = {name: 1 + digest[i] % 5 for i, name in enumerate(ATTRIBUTES)}
    return rubric_text(**scores)


def rubric_words(seen: Seen) -> str:
    """The same scores as a model writes them that was not asked for JSON."""
    scores = json.loads(rubric_answer(seen))
    lines = [f"**{name}:** {scores[name]}/5" for name in (*ATTRIBUTES, "Overall")]
    return "Here is my assessment.\n\n" + "\n".join(lines) + "\n\nA warm, general answer."


def answer_of(answering: Answering, seen: Seen) -> Answer:
    found = answering(seen) if callable(answering) else answering
    return found if isinstance(found, Answer) else Answer(found)
