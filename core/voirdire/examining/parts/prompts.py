"""Several prompts of one judge: how much of its scores' variance is the wording's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.examining.parts.part import Examined
from voirdire.late import dataclass

if TYPE_CHECKING:
    from voirdire.examining.inputs import Inputs
    from voirdire.tabular import Section


@dataclass(frozen=True, slots=True)
class PromptFacts:
    """Variance by prompt, as the tables that show it."""

    tables: tuple[Section, ...]


class PromptsPart:
    """Of studies that ask a judge in several words."""

    def needs(self, inputs: Inputs) -> bool:
        """Whether any member of the panel has words of its own."""
        return any("instructions" in rater.options for rater in inputs.study.panel)

    def examine(self, inputs: Inputs, before: tuple[Any, ...]) -> Examined[PromptFacts]:
        """What the wording does."""
        from voirdire.examining.prompts import prompt_sections  # noqa: PLC0415 - few studies vary it

        del before
        return Examined(PromptFacts(prompt_sections(inputs.study, inputs.ratings)))

    def sections(self, facts: PromptFacts) -> tuple[Section, ...]:
        """Variance of each judge's prompts, and of judges that share them."""
        return facts.tables


PROMPTS_PART = PromptsPart()
