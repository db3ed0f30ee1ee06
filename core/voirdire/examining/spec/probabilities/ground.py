"""What the components of one judge's probabilities rest on."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from voirdire.examining.spec.probabilities import ABOVE, BELOW
from voirdire.examining.spec.probabilities.found import probability_components
from voirdire.examining.spec.scores import responses
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.stats.probability import ProbabilityPanel

if TYPE_CHECKING:
    from voirdire.examining.spec.component import Component


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
            name = key if isinstance(key, str) else key[0]
            found[name] = (*found.get(name, ()), part)
        return found
