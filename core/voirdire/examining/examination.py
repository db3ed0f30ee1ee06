"""What an examination found, frozen; `report` renders it and nothing else is read from it."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from voirdire.examining.ratings.facts import RatingsFacts
from voirdire.examining.verdict.facts import Judged
from voirdire.late import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import polars as pl

    from voirdire.examining.gains import Simpler
    from voirdire.examining.gates import GateResult
    from voirdire.examining.inputs import Inputs, TextTables
    from voirdire.examining.ratings.facts import PairResult
    from voirdire.examining.verdict.facts import Evidence, Target, Verdict
    from voirdire.schema import Finding
    from voirdire.study import Study
    from voirdire.tabular import Section

SCHEMA_VERSION = 1
Facts = TypeVar("Facts")


@dataclass(frozen=True, slots=True)
class Examination:
    """Everything that was read and found out, in one frozen object.

    Attributes
    ----------
    inputs : Inputs
        What was read: the study, who judges and who is the reference, the ratings, the session.
    parts : tuple
        What each part found, such as `RatingsFacts`, `Judged`, `Preferences`; what had nothing to
        examine is not there. `facts` looks one up by its type.
    findings : tuple of Finding
        What is odd in the data, and in what was found; worst first.
    sections : tuple of Section
        Tables that the report shows besides; a plugin adds its own.
    notes : tuple of str
        What else a reader must know.
    requirements : tuple of GateResult
        The gates that it was held to.
    texts : TextTables
        Texts of items, responses, replies and reasons, which no output shows unless it is asked to.
    date : str
        Of the day, as YYYY-MM-DD.
    versions : mapping
        Of ourselves and of what the numbers depend on.
    """

    inputs: Inputs
    parts: tuple[Any, ...]
    findings: tuple[Finding, ...]
    sections: tuple[Section, ...]
    notes: tuple[str, ...]
    requirements: tuple[GateResult, ...]
    texts: TextTables
    date: str
    versions: Mapping[str, str]

    def __repr__(self) -> str:
        """One line: the whole holds every rating, which no prompt should print."""
        states = Counter(verdict.state for verdict in self.verdicts)
        return (
            f"Examination(study={self.study.name!r}, judges={self.judges}, "
            f"attributes={self.attributes}, findings={len(self.findings)}, verdicts={dict(states)})"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: a sentence a judge, and its card; names are escaped."""
        return str(_shown("render_cards", "_html")(self))

    def summary(self) -> str:
        """What each judge may be used for, a line of sentences a judge, and what is wrong.

        Examples
        --------
        >>> import numpy as np, polars as pl, voirdire
        >>> chance = np.random.default_rng(0)
        >>> rows = [(i, r, i % 5 + chance.normal()) for i in range(60) for r in ("ann", "gpt")]
        >>> frame = pl.DataFrame(rows, schema=["item", "rater", "score"], orient="row")
        >>> print(voirdire.examine(frame, reference=["ann"]).summary().partition(" (")[0])
        Use gpt to extend your labels
        """
        return str(_shown("summary_text")(self))

    def to_frame(self) -> pl.DataFrame:
        """One row a verdict.

        Returns
        -------
        DataFrame
            ``judge, attribute, label, use, target, state, component`` (what decided) as text,
            and ``estimate, low, high, margin_low, margin_high, p, p_holm`` as numbers on the
            natural scale of the component; null where there is none.
        """
        frame: pl.DataFrame = _shown("verdict_frame")(self)
        return frame

    def facts(self, kind: type[Facts]) -> Facts | None:
        """What the part of that kind of facts found; None where it had nothing to examine."""
        return next((part for part in self.parts if isinstance(part, kind)), None)

    def with_facts(self, facts: object) -> Examination:
        """A copy with these facts in place of those of the same part."""
        others = tuple(facts if type(part) is type(facts) else part for part in self.parts)
        return self.replace(parts=others)

    @property
    def study(self) -> Study:
        """What was asked for."""
        return self.inputs.study

    @property
    def session(self) -> Path | None:
        """The folder of the session examined."""
        return self.inputs.session

    @property
    def ratings(self) -> pl.DataFrame:
        """The ratings that the results rest on."""
        return self.inputs.ratings

    @property
    def rated(self) -> RatingsFacts:
        """What the ratings say."""
        return self.facts(RatingsFacts) or RatingsFacts()

    @property
    def judged(self) -> Judged:
        """The verdicts, and what they rest on."""
        return self.facts(Judged) or Judged((), ())

    @property
    def results(self) -> tuple[PairResult, ...]:
        """Each judge and attribute against the reference."""
        return self.rated.results

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What each judge may be used for, by attribute, use and target."""
        return self.judged.verdicts

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What was seen of each judge and attribute."""
        return self.judged.evidence

    @property
    def simpler(self) -> tuple[Simpler, ...]:
        """What costs less than a judge and is not shown to be worse."""
        return tuple(one for part in self.parts for one in getattr(part, "simpler", ()))

    @property
    def judges(self) -> tuple[str, ...]:
        """Judges in the order of the panel."""
        return tuple(dict.fromkeys(result.judge for result in self.results))

    @property
    def attributes(self) -> tuple[str, ...]:
        """Attributes in the order of the rubric."""
        return tuple(dict.fromkeys(result.attribute for result in self.results))

    @property
    def units(self) -> str:
        """What the coefficients count: systems or responses, the same for all results."""
        return self.results[0].units if self.results else "systems"

    def raters_of_systems(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Reference raters, and the others, as far as they rated systems."""
        seen = dict.fromkeys(mean.rater for mean in self.rated.system_means)
        declared = self.inputs.reference
        others = self.judges if not declared else [name for name in seen if name not in declared]
        humans = tuple(name for name in seen if name not in others)
        return humans, tuple(name for name in seen if name not in humans)

    def reference_means(self) -> dict[str, float]:
        """System -> mean over the reference raters of what each gives it overall; NaN for none."""
        humans, _ = self.raters_of_systems()
        means: dict[str, list[float]] = {}
        for mean in self.rated.system_means:
            own = means.setdefault(mean.system, [])
            if mean.rater in humans and math.isfinite(mean.overall):
                own.append(mean.overall)
        return {name: sum(own) / len(own) if own else math.nan for name, own in means.items()}

    def result(self, judge: str, attribute: str) -> PairResult:
        """The result of one judge and attribute."""
        for one in (*self.results, *self.rated.composites):
            if (one.judge, one.attribute) == (judge, attribute):
                return one
        raise KeyError((judge, attribute))

    def verdict(
        self, judge: str, attribute: str, use: str, target: Target = "these systems"
    ) -> Verdict:
        """The verdict on one judge, attribute and use."""
        for one in self.verdicts:
            if (one.judge, one.attribute, one.use, one.target) == (
                judge,
                attribute,
                use,
                target,
            ):
                return one
        raise KeyError((judge, attribute, use, target))

    def evidence_of(self, judge: str, attribute: str) -> Evidence:
        """What was seen of one judge on one attribute."""
        for one in self.evidence:
            if (one.judge, one.attribute) == (judge, attribute):
                return one
        raise KeyError((judge, attribute))

    def with_verdicts(self, verdicts: tuple[Verdict, ...]) -> Examination:
        """A copy with these verdicts alone."""
        return self.with_facts(dataclasses.replace(self.judged, verdicts=verdicts))

    def without_judges(self) -> Examination:
        """A copy without coefficients and verdicts, where attributes are nothing to be judged on.

        Such are the letters of a question's options: what is right is the whole answer.
        """
        kept = tuple(part for part in self.parts if not isinstance(part, RatingsFacts | Judged))
        return self.replace(parts=kept)

    def replace(self, **changes: Any) -> Examination:
        """A copy with some parts exchanged (a plugin adds notes and sections so)."""
        return dataclasses.replace(self, **changes)


def _shown(name: str, module: str = "summary") -> Any:
    """How `report` shows an examination: found when asked for, as the room above this one."""
    return getattr(import_module(f"voirdire.report.{module}"), name)
