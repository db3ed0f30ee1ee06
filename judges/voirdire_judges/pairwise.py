"""`pairwise`: which of two responses is better, on each attribute of a rubric, in five levels."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from voirdire.errors import InputError
from voirdire.parsing import LEVELS, parse_preferences
from voirdire.schema import Message, Parsed, Reply, Request, Sampling
from voirdire_judges._parsed import echo_flags, flagged
from voirdire_judges.prompts import MARKS_NOTE, attribute_text, delimited, object_schema
from voirdire_judges.rubrics import in_own_words, load_rubric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Attribute, Comparison, Item, Rubric
    from voirdire.study import Study

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

    Attributes
    ----------
    criteria_by, criteria_of
        What the first attributes mean may depend on the item, as in `[humans]`: a further column
        of it, and for each of its values what they mean.
    """

    rubric: Rubric
    sampling: Sampling = Sampling()
    criteria_by: str = ""
    criteria_of: Mapping[str, Sequence[str]] = field(default_factory=dict)
    task: str = "comparison"
    instructions: str = ""

    def requests(self, task: Comparison) -> list[Request]:
        """One request; none where a response has no text.

        Raises
        ------
        InputError
            The item's column holds nothing that has criteria.
        """
        if not (task.first.text.strip() and task.second.text.strip()):
            return []
        context = [delimited(task.item.text, "CONTEXT")] if task.item.text.strip() else []
        shown = (delimited(task.first.text, "A"), delimited(task.second.text, "B"))
        return [
            self.sampling.request(
                (
                    Message("system", self._instructions(task.item)),
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

    def _attributes(self, item: Item) -> tuple[Attribute, ...]:
        """The attributes, in the words of the item's own criteria where these depend on it."""
        if not self.criteria_by:
            return self.rubric.attributes
        value = item.extra.get(self.criteria_by)
        if value not in self.criteria_of:
            raise InputError(
                f"pairwise judge: {self.criteria_by} {value!r} of item {item.id!r} has no criteria "
                f"(there are: {'; '.join(self.criteria_of)})"
            )
        # Attributes behind the last criterion keep their own words, such as an overall one.
        texts = (*self.criteria_of[str(value)], *[None] * len(self.rubric.attributes))
        return tuple(
            attribute if text is None else replace(attribute, description=text)
            for attribute, text in zip(self.rubric.attributes, texts, strict=False)
        )

    def _instructions(self, item: Item) -> str:
        names = ", ".join(f'"{name}": "LEVEL"' for name in self.rubric.names)
        levels = "\n".join(f"  {level}: {meaning}" for level, meaning in _MEANINGS.items())
        parts = (
            self.instructions or _TASK,
            MARKS_NOTE,
            "Attributes:\n" + "\n".join(attribute_text(a) for a in self._attributes(item)),
            f"Levels:\n{levels}",
            f'{_FORM}\n{{{names}, "Explanation": "one sentence"}}',
        )
        return "\n\n".join(parts)


def make(
    rubric: Rubric | str,
    *,
    instructions: str = "",
    words: str = "",
    criteria_by: str = "",
    criteria_of: Mapping[str, Sequence[str]] | None = None,
    sampling: Sampling = Sampling(temperature=0.0),
    study: Study | None = None,
) -> PairwiseJudge:
    """A pairwise judge (`use = "pairwise"`).

    Parameters
    ----------
    rubric : Rubric or str
        The attributes to compare on: a rubric, the name of a built-in one, or a TOML file.
    instructions : str
        What the judge is told first, in place of the built-in sentence.
    words : str
        A TOML file of a rubric with the same attributes: this judge's own words for them.
    criteria_by, criteria_of : str, mapping of str to sequence of str
        A further column of the items, and for each of its values what the first attributes mean;
        as in `[humans]`.
    sampling : Sampling
        Sent with every request; what is None is left to the model.

    Raises
    ------
    InputError
        The rubric is wrong, only one of `criteria_by` and `criteria_of` is given, or a value has
        more criteria than there are attributes.

    Examples
    --------
    >>> from voirdire.schema import Reply
    >>> judge = make("mentalalign")
    >>> judge.parse([Reply('{"Empathy": "B>>A"}')]).scores["Empathy"]
    -2.0
    """
    asked = load_rubric(rubric) if isinstance(rubric, str) else rubric
    asked = in_own_words(asked, words, study)
    if not asked.attributes:
        raise InputError(f"pairwise judge: rubric {asked.name!r} has no attributes")
    if bool(criteria_by) != bool(criteria_of):
        raise InputError("pairwise judge: criteria_by (a column) and criteria_of go together")
    for value, texts in (criteria_of or {}).items():
        if len(texts) > len(asked.attributes):
            raise InputError(
                f"pairwise judge: {criteria_by} {value!r} has {len(texts)} criteria, more than the "
                f"{len(asked.attributes)} attributes of the rubric"
            )
    return PairwiseJudge(
        asked, sampling, criteria_by, criteria_of or {}, instructions=instructions.strip()
    )
