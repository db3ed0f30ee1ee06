"""Labels: the consistency of annotators, and errors against a key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.examining.parts.part import Examined

if TYPE_CHECKING:
    from voirdire.examining.inputs import Inputs
    from voirdire.examining.labels import LabelFacts
    from voirdire.tabular import Section


class LabelsPart:
    """Of sources with annotators, or with labels in the place of scores."""

    def needs(self, inputs: Inputs) -> bool:
        """Whether there may be labels."""
        return inputs.labelled

    def examine(self, inputs: Inputs, before: tuple[Any, ...]) -> Examined[LabelFacts]:
        """What annotators named, and where they and the key differ."""
        from voirdire.examining.labels import (  # noqa: PLC0415 - most sources name no labels
            examine_labels,
        )

        del before
        facts = examine_labels(inputs)
        return Examined(facts, notes=facts.notes)

    def sections(self, facts: LabelFacts) -> tuple[Section, ...]:
        """Tables of consistency, and of labels beside a rubric."""
        return facts.sections


LABELS_PART = LabelsPart()
