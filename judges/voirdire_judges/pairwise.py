"""`pairwise`: which of two responses is better, on each attribute of a rubric, in five levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from voirdire.errors import InputError
from voirdire.parsing import LEVELS, parse_preferences
from voirdire.schema import Message, Parsed, Reply, Request, Sampling
from voirdire_judges._flags import echo_flags, flagged
from voirdire_judges.prompts._delimit import MARKS_NOTE, delimited
from voirdire_judges.prompts._rubric import attribute_text
from voirdire_judges.prompts._schema import object_schema
from voirdire_judges.rubrics import load_rubric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Comparison, Rubric

_TASK = (
    "Two responses to the same context are shown to you, A and B. Compare them on each attribute "
    "below. Which one stands first says nothing about it, and neither does its length."
)
_FORM = "Answer with nothing but a JSON object of this form, LEVEL being one of the levels:"
_MEANINGS = {
    "A>>B": "response A is much better",
    "A>B": "response A is better",
    "A=B": "they are equally good",
    "B>A": "response B is better",
    "B>>A": "response B is much better",
}


@dataclass(frozen=True, slots=True)
class PairwiseJudge:
    """Compares two responses, blind to the systems behind them. Pure.

    The response shown first is A. The order is the task's: whoever makes the tasks shows a pair in
    a random order or in both. A score > 0 prefers the response shown first.
    """

    rubric: Rubric
    sampling: Sampling = Sampling()
    task: str = "comparison"

    def requests(self, task: Comparison) -> list[Request]:
        """One request; none where a response has no text."""
        if not (task.first.text.strip() and task.second.text.strip()):
            return []
        context = [delimited(task.item.text, "CONTEXT")] if task.item.text.strip() else []
        shown = (delimited(task.first.text, "A"), delimited(task.second.text, "B"))
        return [
            self.sampling.request(
                (
                    Message("system", self._instructions()),
                    Message("user", "\n\n".join([*context, *shown])),
                ),
                schema=self._schema(),
            )
        ]

    def parse(self, replies: Sequence[Reply]) -> Parsed:
        """One score an attribute in -2..2; > 0 prefers the response shown first."""
        reply = replies[-1] if replies else Reply("", "empty")
        parsed = parse_preferences(reply.text, self.rubric.names, finish_reason=reply.finish_reason)
        return flagged(parsed, *echo_flags(reply.text))

    def _schema(self) -> dict[str, object]:
        level = {"type": "string", "enum": list(LEVELS)}
        fields = {name: dict(level) for name in self.rubric.names}
        return object_schema({**fields, "Explanation": {"type": "string"}})

    def _instructions(self) -> str:
        names = ", ".join(f'"{name}": "LEVEL"' for name in self.rubric.names)
        levels = "\n".join(f"  {level}: {meaning}" for level, meaning in _MEANINGS.items())
        parts = (
            _TASK,
            MARKS_NOTE,
            "Attributes:\n" + "\n".join(attribute_text(a) for a in self.rubric.attributes),
            f"Levels:\n{levels}",
            f'{_FORM}\n{{{names}, "Explanation": "one sentence"}}',
        )
        return "\n\n".join(parts)


def make(
    rubric: Rubric | str,
    *,
    sampling: Sampling = Sampling(temperature=0.0),
) -> PairwiseJudge:
    """A pairwise judge (`use = "pairwise"`).

    Parameters
    ----------
    rubric : Rubric or str
        The attributes to compare on: a rubric, the name of a built-in one, or a TOML file.
    sampling : Sampling
        Sent with every request; what is None is left to the model.

    Raises
    ------
    InputError
        The rubric is wrong.

    Examples
    --------
    >>> from voirdire.schema import Reply
    >>> judge = make("mentalalign")
    >>> judge.parse([Reply('{"Empathy": "B>>A"}')]).scores["Empathy"]
    -2.0
    """
    found = load_rubric(rubric) if isinstance(rubric, str) else rubric
    if not found.attributes:
        raise InputError(f"pairwise judge: rubric {found.name!r} has no attributes")
    return PairwiseJudge(found, sampling)
