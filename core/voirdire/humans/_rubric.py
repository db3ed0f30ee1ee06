"""The rubric that a study names in place of declaring it: people are asked what its judges are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire._errors import StudyError, VoirdireError
from voirdire._manager import plugins
from voirdire.store import read_rubric
from voirdire.study import build_study

if TYPE_CHECKING:
    from voirdire.schema import Attribute
    from voirdire.study import Study


def with_rubric(study: Study) -> Study:
    """The study, the rubric under `rubric.use` written out in it.

    Where attributes are declared beside
    `use`, they stand.

    Raises
    ------
    StudyError
        There is no rubric of that name or path, or a key of it is wrong.
    """
    spec = study.rubric
    if not spec.use or spec.attributes:
        return study
    try:
        found = read_rubric(study, plugins())
    except VoirdireError as error:
        raise StudyError(f"rubric.use: {error}") from error
    declared = {
        "name": spec.name or found.name,
        "scale": (found.scale.low, found.scale.high),
        "step": found.scale.step,
        "attributes": [_declared(attribute) for attribute in found.attributes],
        "composites": found.composites,
        "instructions": found.instructions,
    }
    read = build_study({"name": study.name, "rubric": declared}, f"rubric.use {spec.use!r}")
    return study.model_copy(update={"rubric": read.rubric})


def _declared(attribute: Attribute) -> dict[str, Any]:
    return {
        "name": attribute.name,
        "description": attribute.description,
        "levels": {f"{level:.10g}": text for level, text in attribute.levels.items()},
        "safety_critical": attribute.safety_critical,
    }
