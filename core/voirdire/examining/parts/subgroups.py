"""Results by subgroup: in each declared part of the responses, such as a language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.examining.parts.part import Examined

if TYPE_CHECKING:
    from voirdire.examining.by_subgroup import SubgroupFacts
    from voirdire.examining.inputs import Inputs
    from voirdire.tabular import Section


class SubgroupsPart:
    """Of sources that say which subgroup, or which language, a response belongs to."""

    def needs(self, inputs: Inputs) -> bool:
        """Whether one is declared, and somebody is a reference."""
        if not inputs.reference:
            return False
        if inputs.judgements is not None:
            rows = inputs.judgements.labels
        elif inputs.tables is not None:
            rows = inputs.ratings
        else:
            return False
        return "subgroup" in rows.columns and rows["subgroup"].null_count() < rows.height

    def examine(self, inputs: Inputs, before: tuple[Any, ...]) -> Examined[SubgroupFacts]:
        """How far judges and people are from people, in each."""
        from voirdire.examining.by_subgroup import (  # noqa: PLC0415 - few sources have any
            measure_subgroups,
        )

        del before
        return Examined(measure_subgroups(inputs))

    def sections(self, facts: SubgroupFacts) -> tuple[Section, ...]:
        """One table."""
        from voirdire.examining.by_subgroup import subgroup_sections  # noqa: PLC0415 - as above

        return subgroup_sections(facts)


SUBGROUPS_PART = SubgroupsPart()
