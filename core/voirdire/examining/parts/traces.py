"""Raters of several steps: what they did on the way, and what they gained by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.examining.parts.part import Examined

if TYPE_CHECKING:
    from voirdire.examining.inputs import Inputs
    from voirdire.examining.traces import TraceFacts
    from voirdire.tabular import Section


class TracesPart:
    """Of sessions with agents, debates and the like."""

    def needs(self, inputs: Inputs) -> bool:
        """Whether there is a session that holds raters of several steps."""
        if inputs.session is None:
            return False
        from voirdire.store import is_session  # noqa: PLC0415 - loads the store
        from voirdire.store.counts import has_steps  # noqa: PLC0415 - as above

        return is_session(inputs.session) and has_steps(inputs.session)

    def examine(self, inputs: Inputs, before: tuple[Any, ...]) -> Examined[TraceFacts]:
        """What each rater of several steps did, and gained over fewer."""
        from voirdire.examining.traces import measure_traces  # noqa: PLC0415 - loads the store

        del before
        cube = None if inputs.tables is None else inputs.cube
        return Examined(measure_traces(inputs, cube))

    def sections(self, facts: TraceFacts) -> tuple[Section, ...]:
        """Steps by rater, and what further ones are worth."""
        return facts.sections


TRACES_PART = TracesPart()
