"""What the components of one judge's probabilities rest on."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from voirdire.examining.spec.probabilities import ABOVE, BELOW
from voirdire.examining.spec.probabilities.found import probability_components
from voirdire.examining.spec.scores import responses
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.stats.probability import ProbabilityPanel, Side

if TYPE_CHECKING:
    from voirdire.examining.spec.component import Component


#: Of the two sides, as statistics have them and as uses do.
SIDES: dict[Side, str] = {"yes": ABOVE, "no": BELOW}


class ProbabilityGround(ScoreGround):
    """P(yes) of one judge beside humans who say yes (1) or no (0)."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The two sides that may be released."""
        return (ABOVE, BELOW)

    @cached_property
    def claims(self) -> ProbabilityPanel:
        """Probabilities and what humans say, one row a run and response."""
        case = self.case
        return ProbabilityPanel.of(
            case.scores, case.humans, systems=case.systems, clusters=case.groups()
        )

    @cached_property
    def parts(self) -> dict[str, tuple[Component, ...]]:
        """Every component of its own, by key."""
        read = responses.reading("READ", *self.read_scores, self.margins)
        groups = self.case.subgroups
        rows = None
        if groups is not None:
            kept = ~np.isnan(self.case.scores) & self.case.labelled
            rows = groups[np.nonzero(kept)[1]].astype(str)
        found: dict[str, tuple[Component, ...]] = {}
        made = probability_components(self.claims, read, self.margins, subgroups=rows)
        for key, part in made.items():
            if isinstance(key, tuple):
                name, side = key
                found[name] = (*found.get(name, ()), replace(part, at=(SIDES[side],)))
            elif part is not read:
                found[key] = (part,)
        return found

    def own(self, key: str) -> tuple[Component, ...] | None:
        """Those of probabilities alone; the others as of scores."""
        return None if self.few else self.parts.get(key)
