"""Comparisons of systems: who is preferred, and how far raters agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.examining.parts.part import Examined

if TYPE_CHECKING:
    from voirdire.examining.inputs import Inputs
    from voirdire.examining.preferences import Preferences
    from voirdire.tabular import Section


class PreferencesPart:
    """Of sources that compare systems."""

    def needs(self, inputs: Inputs) -> bool:
        """Whether there are comparisons."""
        return inputs.compared

    def examine(self, inputs: Inputs, before: tuple[Any, ...]) -> Examined[Preferences]:
        """What the comparisons say; not by group where a benchmark has groups of its own."""
        from voirdire.examining.preferences import (  # noqa: PLC0415 - most sources compare nothing
            examine_preferences,
        )

        del before
        compared, analysis = inputs.preferences, inputs.study.analysis
        if compared is None:
            raise InputError("there are no comparisons to examine")
        facts = examine_preferences(
            compared.table,
            None if inputs.benchmark else compared.groups,
            level=analysis.level,
            resamples=analysis.resamples,
            seed=analysis.seed,
        )
        return Examined(facts)

    def sections(self, facts: Preferences) -> tuple[Section, ...]:
        """Tables of preferences, agreement and the place at which a response was shown."""
        from voirdire.examining.preferences import preference_sections  # noqa: PLC0415 - as above

        return preference_sections(facts)


PREFERENCES_PART = PreferencesPart()
