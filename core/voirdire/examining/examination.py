"""What an examination found, frozen; `report` renders it and nothing else is read from it."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import polars as pl

    from voirdire.examining.gains import JuryResult, StepsGain, StepsResult
    from voirdire.examining.gates import GateResult
    from voirdire.examining.panel import Panel
    from voirdire.examining.preferences import Preferences
    from voirdire.examining.probing import ProbeEffect
    from voirdire.examining.ratings.pairing import SystemPair, UnderRule
    from voirdire.examining.verdict.facts import Evidence, HumanPair, Target, Verdict
    from voirdire.schema import Finding
    from voirdire.stats._results import Estimate, Interval
    from voirdire.study import Study
    from voirdire.tabular import Section

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class FormInterval:
    """An interval of one ICC form: `form` is ``"C,1"`` or ``"A,1"``."""

    form: str
    interval: Interval

    def to_dict(self) -> dict[str, Any]:
        """``form, method, level, low, high`` and what qualifies them."""
        return {"form": self.form, **self.interval.to_dict()}


@dataclass(frozen=True, slots=True)
class PairResult:
    """One judge and attribute against the reference.

    Numbers are at system level (one mean a system) unless their name says otherwise: `mse`, `rmse`,
    `mae`, `qwk` and `alpha_ordinal` are at response level. NaN is undefined, with `reason`.

    Attributes
    ----------
    reference : tuple of str
        The human raters whose mean the judge is held against.
    n_pairs, n_expected : int
        Pairs where reference and judge both rated, and pairs there would be with nothing missing:
        one for each response that the table gives a reference rater.
    systems : tuple of SystemPair
        The matrix that the ICCs are computed on.
    left_out : tuple of SystemPair
        The systems that `excludes` leaves out, for before and after.
    loo_c1, loo_a1 : mapping
        System left out -> the ICC of the rest.
    without_exclusion, family_rule : UnderRule or None
        The same with every system, and with every system of the judge's family left out; None
        where that is the rule of this result already.
    label_alpha : Estimate or None
        Krippendorff's alpha of a label at response level.
    compat_shift : tuple of float
        By how much a published rule of dropping resamples moved each percentile bound; empty where
        no such rule was followed.
    """

    judge: str
    attribute: str
    level: str
    n_systems: int
    n_pairs: int
    n_expected: int
    icc_c1: float
    icc_a1: float
    ci: tuple[FormInterval, ...]
    reliability_class: str
    class_exact: str
    class_borderline: bool
    band: str
    mass_below_0: Mapping[str, float]
    bias: float
    bias_interval: Interval | None
    bias_normalised: float
    human_mean: float
    judge_mean: float
    human_sd: float
    judge_sd: float
    mse: float
    mse_system: float
    mae: float
    rmse: float
    ms_rows: float
    ms_raters: float
    ms_error: float
    ccc: float
    pearson_r: float
    loa_low: float
    loa_high: float
    loa_low_ci: Interval | None
    loa_high_ci: Interval | None
    qwk: float
    alpha_ordinal: float
    excluded_systems: tuple[str, ...]
    reason: str | None
    reference: tuple[str, ...] = ()
    systems: tuple[SystemPair, ...] = ()
    left_out: tuple[SystemPair, ...] = ()
    loo_c1: Mapping[str, float] = field(default_factory=dict)
    loo_a1: Mapping[str, float] = field(default_factory=dict)
    without_exclusion: UnderRule | None = None
    family_rule: UnderRule | None = None
    label_alpha: Estimate | None = None
    compat_shift: tuple[float, ...] = ()

    @property
    def n_units(self) -> int:
        """What the coefficients count: systems, or pairs at response level."""
        return self.n_systems if self.level == "system" else self.n_pairs

    @property
    def units(self) -> str:
        """What `n_units` counts: systems or responses."""
        return "systems" if self.level == "system" else "responses"

    def interval(self, form: str, method: str) -> Interval | None:
        """The interval of that form and method, if it was asked for."""
        for one in self.ci:
            if one.form == form and one.interval.method == method:
                return one.interval
        return None


#: The fields of a result that hold one value, with its type: the columns of a flat table, and
#: (those that are numbers) what a requirement can name.
RESULT_KINDS: Mapping[str, type] = {
    **dict.fromkeys(("judge", "attribute", "level"), str),
    **dict.fromkeys(("n_systems", "n_pairs", "n_expected"), int),
    **dict.fromkeys(("icc_c1", "icc_a1"), float),
    **dict.fromkeys(("reliability_class", "class_exact"), str),
    "class_borderline": bool,
    "band": str,
    **dict.fromkeys(("bias", "bias_normalised", "human_mean", "judge_mean"), float),
    **dict.fromkeys(("human_sd", "judge_sd", "mse", "mse_system", "mae", "rmse"), float),
    **dict.fromkeys(("ms_rows", "ms_raters", "ms_error", "ccc", "pearson_r"), float),
    **dict.fromkeys(("loa_low", "loa_high", "qwk", "alpha_ordinal"), float),
    "reason": str,
}


@dataclass(frozen=True, slots=True)
class SystemMean:
    """How one rater sees one system: means and SDs by attribute, overall, rank (1 is best)."""

    rater: str
    system: str
    means: Mapping[str, float]
    sds: Mapping[str, float]
    n: int
    overall: float
    overall_sd: float
    rank: float
    composites: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SystemTest:
    """A paired t-test between two systems within one rater, the unit being the item."""

    rater: str
    system_a: str
    system_b: str
    n: int
    difference: float
    t: float
    p: float
    p_holm: float
    family_size: int


@dataclass(frozen=True, slots=True)
class Measure:
    """One coefficient asked for by `--measure`: over all raters, or of a pair."""

    name: str
    attribute: str
    level: str
    raters: tuple[str, ...]
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class Examination:
    """Everything that was found out, in one frozen object.

    `choices` say what each option did to the data, `notes` what else must be known. `ceiling`
    holds, where there are several humans, each of them against the mean of the others: no judge
    can be asked to agree with humans better than they do with one another. `items`,
    `responses` (what systems answered), `replies` (what raters replied) and `reasons` (what they
    said beside their scores) hold texts, which no output shows unless it is asked to; their columns
    are those of `voirdire.tables.Tables`. `preferences` is what the comparisons of systems say,
    where there are any. `pairs` are the single responses that the
    results rest on, and `disagreements` those on which judge and reference differ most (see
    `voirdire.examining.ratings.pairing`). `label_errors` are the items whose labels differ
    from a key (see `voirdire.examining.labels.label_errors`). `juries` says what each jury is
    worth on each attribute, `steps` what raters of several steps did, such as agents and debates,
    and `step_gains` what they gained by it. `probes` are the effects that `voirdire probe` left in
    the session, `requirements` the gates that it was held to. `session` is the folder of the
    session examined, `panel` who judged and who was the reference.
    """

    study: Study
    date: str
    seed: int
    versions: Mapping[str, str]
    options: Mapping[str, Any]
    input_hashes: Mapping[str, str]
    findings: tuple[Finding, ...]
    results: tuple[PairResult, ...]
    composites: tuple[PairResult, ...]
    ceiling: tuple[PairResult, ...]
    system_means: tuple[SystemMean, ...]
    tests: tuple[SystemTest, ...]
    measures: tuple[Measure, ...]
    verdicts: tuple[Verdict, ...]
    ratings: pl.DataFrame
    raters: pl.DataFrame
    choices: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    items: pl.DataFrame | None = None
    replies: pl.DataFrame | None = None
    responses: pl.DataFrame | None = None
    reasons: pl.DataFrame | None = None
    preferences: Preferences | None = None
    pairs: pl.DataFrame | None = None
    disagreements: pl.DataFrame | None = None
    label_errors: pl.DataFrame | None = None
    session: Path | None = None
    evidence: tuple[Evidence, ...] = ()
    human_pairs: tuple[HumanPair, ...] = ()
    juries: tuple[JuryResult, ...] = ()
    steps: tuple[StepsResult, ...] = ()
    step_gains: tuple[StepsGain, ...] = ()
    probes: tuple[ProbeEffect, ...] = ()
    requirements: tuple[GateResult, ...] = ()
    panel: Panel | None = None

    def __repr__(self) -> str:
        """One line: the whole holds every rating, which no prompt should print."""
        states = Counter(verdict.state for verdict in self.verdicts)
        return (
            f"Examination(study={self.study.name!r}, judges={self.judges}, "
            f"attributes={self.attributes}, findings={len(self.findings)}, verdicts={dict(states)})"
        )

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
        seen = dict.fromkeys(mean.rater for mean in self.system_means)
        declared = self.options.get("reference")
        others = self.judges if not declared else [name for name in seen if name not in declared]
        humans = tuple(name for name in seen if name not in others)
        return humans, tuple(name for name in seen if name not in humans)

    def reference_means(self) -> dict[str, float]:
        """System -> mean over the reference raters of what each gives it overall; NaN for none."""
        humans, _ = self.raters_of_systems()
        means: dict[str, list[float]] = {}
        for mean in self.system_means:
            own = means.setdefault(mean.system, [])
            if mean.rater in humans and math.isfinite(mean.overall):
                own.append(mean.overall)
        return {name: sum(own) / len(own) if own else math.nan for name, own in means.items()}

    def influential(self, most: int = 200) -> pl.DataFrame:
        """The responses that move the verdicts most: see `voirdire.examining.influential`.

        They are looked for when they are asked for: most examinations end in numbers alone.
        """
        from voirdire.examining.influential import influential  # noqa: PLC0415 - as said

        return influential(self.ratings, self.study, self.panel, self.verdicts, most)

    def result(self, judge: str, attribute: str) -> PairResult:
        """The result of one judge and attribute."""
        for one in (*self.results, *self.composites):
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

    def replace(self, **changes: Any) -> Examination:
        """A copy with some parts exchanged (a plugin adds notes and sections so)."""
        return dataclasses.replace(self, **changes)
