"""What the ratings say, as frozen nouns: a process that reads them loads nothing that made them."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import TYPE_CHECKING, Any

from voirdire.late import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from voirdire.examining.ratings.cube import Cube
    from voirdire.examining.ratings.pairing import Pairing, SystemPair, UnderRule
    from voirdire.stats._results import Estimate, Interval


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


_ONE_VALUE = {"str": str, "str | None": str, "int": int, "float": float, "bool": bool}
#: The fields of a result that hold one value, with its type: the columns of a flat table, and
#: (those that are numbers) what a requirement can name.
RESULT_KINDS: Mapping[str, type] = {
    part.name: _ONE_VALUE[str(part.type)]
    for part in dataclasses.fields(PairResult)
    if part.type in _ONE_VALUE
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
class RatingsFacts:
    """What the ratings say; empty where there are none.

    Attributes
    ----------
    results, composites : tuple of PairResult
        Each judge and attribute against the reference; the same of means of attributes.
    ceiling : tuple of PairResult
        Where there are several humans, each of them against the mean of the others: no judge can be
        asked to agree with humans better than they do with one another.
    paired : tuple of Pairing
        The single responses that the results rest on, a judge and attribute each.
    cube : Cube or None
        Whose codes they hold.
    """

    results: tuple[PairResult, ...] = ()
    composites: tuple[PairResult, ...] = ()
    ceiling: tuple[PairResult, ...] = ()
    system_means: tuple[SystemMean, ...] = ()
    tests: tuple[SystemTest, ...] = ()
    measures: tuple[Measure, ...] = ()
    paired: tuple[Pairing, ...] = ()
    cube: Cube | None = None

    @property
    def pairs(self) -> pl.DataFrame:
        """The paired responses as a frame (see `voirdire.examining.ratings.pairing`)."""
        # Made when it is asked for: a terminal shows none of it.
        from voirdire.examining.ratings.pairing import no_pairs, pairs_frame  # noqa: PLC0415

        return no_pairs() if self.cube is None else pairs_frame(self.paired, self.cube)

    @property
    def disagreements(self) -> pl.DataFrame:
        """The pairs on which judge and reference differ most."""
        from voirdire.examining.ratings.pairing import disagreements  # noqa: PLC0415 - loads polars

        return disagreements(self.pairs)
