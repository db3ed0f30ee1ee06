"""What all parts of one examination share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from voirdire.examining.ratings.cube import Cube
    from voirdire.schema import Scale
    from voirdire.study import Study

#: The forms of ICC that every result has.
FORMS = ("C,1", "A,1")


@dataclass(frozen=True, slots=True)
class Context:
    """What all pairings of a study share."""

    cube: Cube
    study: Study
    scale: Scale
