"""Calibrated judges: what their scores become, whether means may be quoted, how often wrongly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.errors import InputError, not_there
from voirdire.examining.as_ratings import check_scores
from voirdire.examining.at_prompt import AtPrompt, Telling
from voirdire.examining.ratings.cube import build_cube
from voirdire.examining.simulate import KINDS, deserved, simulate_panel
from voirdire.examining.source import inputs_of, open_source
from voirdire.examining.spec.scores.case import Case
from voirdire.examining.spoken import speaks_python
from voirdire.examining.verdict.gathering import gather_cases, item_names
from voirdire.examining.verdict.judging import judge_cases
from voirdire.files import write_text
from voirdire.progress import stage
from voirdire.stats import calibrate
from voirdire.stats.response_panel import mean_present
from voirdire.study import Margins, ReadOptions, build_study, study_to_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire.examining.simulate import SimulatedPanel
    from voirdire.examining.sources import AnySource
    from voirdire.examining.verdict.facts import Verdict
    from voirdire.schema import Finding
    from voirdire.stats.calibration import Calibration, Method
    from voirdire.study import Study

    Floats = NDArray[np.float64]

#: How a calibrated judge is called beside the raw one.
SUFFIX = ", calibrated"
#: Panels drawn; items that stand for all items; the largest design that is drawn.
_PANELS, _ENDLESS, _SYSTEMS, _ITEMS, _HUMANS = 8, 2000, 12, 200, 5


@dataclass(frozen=True, slots=True)
class CalibratedJudge:
    """One judge and attribute, raw and calibrated.

    Attributes
    ----------
    before, after : Verdict
        Whether its means may be quoted, as they are and calibrated. Each calibrated score was
        taught by other items alone, so `after` rests on what the calibration was not fitted on.
    bias_before, bias_after : float
        Mean of judge less human on the responses of both.
    """

    judge: str
    attribute: str
    calibration: Calibration
    before: Verdict
    after: Verdict
    bias_before: float
    bias_after: float


@dataclass(frozen=True, slots=True)
class VerdictErrors:
    """Verdicts on simulated judges, for the use "score".

    Attributes
    ----------
    undeserving, wrong : int
        Judges whose means must not be quoted, by the truth, and those of them with a yes.
    deserving, right : int
        Judges whose means may be quoted, and those of them with a yes.
    """

    undeserving: int
    wrong: int
    deserving: int
    right: int


@dataclass(frozen=True, slots=True)
class CalibrationErrors:
    """The verdict's errors on raw and on calibrated judges, in panels of this size."""

    systems: int
    items: int
    humans: int
    panels: int
    raw: VerdictErrors
    calibrated: VerdictErrors


@dataclass(frozen=True, slots=True)
class Calibrations(AtPrompt):
    """What `voirdire calibrate` found; `errors` where these were simulated."""

    telling = Telling(
        title="Calibrated judges",
        rows="judges",
        sections="voirdire.examining.correcting.sections:calibration_sections",
    )

    judges: tuple[CalibratedJudge, ...]
    method: str
    findings: tuple[Finding, ...]
    errors: CalibrationErrors | None = None


@dataclass(frozen=True, slots=True)
class CalibratedRatings:
    """The ratings with the calibrated judges beside the raw ones, and a study of them."""

    calibrations: Calibrations
    ratings: pl.DataFrame
    study: Study


@speaks_python
def calibrate_ratings(
    source: AnySource,
    *,
    reference: Sequence[str] = (),
    read: ReadOptions | None = None,
    judges: Sequence[str] = (),
    method: Method = "level_and_spread",
    simulate: bool = False,
) -> CalibratedRatings:
    """Bring judges to the humans' scale, cross-fitted by item or cluster, and examine them again.

    Parameters
    ----------
    source, reference, read
        As in `voirdire.examine`.
    judges : sequence of str
        Leave out all judges but these.
    method : {"level_and_spread", "isotonic"}
        As in `voirdire.stats.calibrate`.
    simulate : bool
        Whether to simulate what calibration does to the verdict's errors, in panels of this size.

    Raises
    ------
    InputError
        No reference, or no such judge.
    """
    changes = {"data": {"reference": tuple(reference) or None}}
    opened = open_source(source, reference=reference, read=read, changes=changes)
    check_scores(opened, "calibrate brings scores to people's scale")
    inputs = inputs_of(opened)
    panel, study = inputs.panel, inputs.study
    names = [member.name for member in panel.judges]
    unknown = [name for name in judges if name not in names]
    if unknown:
        raise not_there("judge", unknown[0], names)
    if not panel.reference or not names:
        raise InputError(
            "calibration needs a judge and human scores: say by --reference who is human"
        )
    cube = build_cube(inputs.ratings, panel.names, panel.attributes, panel.systems)
    stage("calibrating the judges")
    judged, frames = [], [inputs.ratings]
    items = item_names(cube)
    for case in gather_cases(cube, panel, study, inputs.ratings):
        # Left out here and not in the panel: the reference and the other judges' verdicts stay as
        # they are.
        if judges and case.judge not in judges:
            continue
        calibration = calibrate(
            case.scores,
            mean_present(case.humans),
            systems=case.systems,
            clusters=case.groups(),
            method=method,
        )
        after = replace(case, scores=calibration.scores)
        verdicts = [
            judge_cases([one], study.margins, uses=("score",)).verdicts for one in (case, after)
        ]
        judged.append(
            CalibratedJudge(
                case.judge,
                case.attribute,
                calibration,
                verdicts[0][0],
                verdicts[1][0],
                _bias(case),
                _bias(after),
            )
        )
        frames.append(_frame(after, items, inputs.ratings))
    ratings = pl.concat(frames, how="diagonal_relaxed")
    errors = None
    if simulate:
        stage("simulating panels of this size")
        size = len(cube.systems), len(cube.items), len(panel.reference)
        errors = simulate_errors(*size, method)
    made = Calibrations(tuple(judged), method, inputs.findings, errors)
    return CalibratedRatings(made, ratings, _beside(study, judged))


def write_calibrated(made: CalibratedRatings, folder: Path) -> Path:
    """Write the ratings, and beside them a study that `voirdire examine` takes; its path."""
    folder.mkdir(parents=True, exist_ok=True)
    made.ratings.write_parquet(folder / "ratings.parquet")
    path = folder / "study.toml"
    write_text(path, study_to_toml(made.study))
    return path


def _beside(study: Study, judges: Sequence[CalibratedJudge]) -> Study:
    """The study of the calibrated ratings: on the same scale, between and beyond whose levels
    calibrated scores may lie.
    """
    # Only what was declared: a default that is written down would be held to by later versions.
    raw = study.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    for part in ("items", "responses", "generators", "run", "humans", "classify"):
        raw.pop(part, None)
    data = {key: raw["data"][key] for key in ("reference", "reference_use") if key in raw["data"]}
    raw["data"] = {
        **data,
        "sources": [{"path": "ratings.parquet", "layout": "long"}],
        "off_scale": "keep",
    }
    # Calibrated scores lie between the levels: a step of 0 says that any number may occur.
    scale, step = list(study.rubric.scale), 0
    raw["rubric"] = {**raw.get("rubric", {}), "scale": scale, "step": step}
    declared = {rater["name"]: rater for rater in raw.get("panel", [])}
    names = dict.fromkeys(one.judge for one in judges)
    own = [{**declared.get(name, {"name": name}), "name": name + SUFFIX} for name in names]
    # Nobody is asked again: what ran the raters is no part of a study of their ratings.
    keys = ("name", "kind", "family", "excludes")
    raw["panel"] = [
        {key: rater[key] for key in keys if key in rater} for rater in (*declared.values(), *own)
    ]
    return build_study(raw)


def _bias(case: Case) -> float:
    apart = mean_present(case.scores) - mean_present(case.humans)
    present = apart[~np.isnan(apart)]
    return float(present.mean()) if len(present) else float("nan")


def _frame(case: Case, items: NDArray[np.str_], ratings: pl.DataFrame) -> pl.DataFrame:
    """The calibrated judge's ratings, a row a run and response that it scored."""
    run, at = np.nonzero(~np.isnan(case.scores))
    systems = np.full(len(at), None) if case.systems is None else np.asarray(case.systems)[at]
    frame = pl.DataFrame(
        {
            "item": items[np.asarray(case.items)[at]],
            "system": [None if one is None else str(one) for one in systems],
            "run": run + 1,
            "score": case.scores[run, at],
        }
    )
    return frame.with_columns(
        *(pl.col(name).cast(ratings.schema[name]) for name in ("item", "system", "run", "score")),
        rater=pl.lit(case.judge + SUFFIX),
        attribute=pl.lit(case.attribute).cast(ratings.schema["attribute"]),
        status=pl.lit("ok").cast(ratings.schema["status"]),
    )


def simulate_errors(
    systems: int, items: int, humans: int, method: Method = "level_and_spread"
) -> CalibrationErrors | None:
    """How often a verdict on means is wrong, without calibration and with it.

    Panels of this size (at most 12 systems, 200 items and 5 humans, at least 2) with a judge of
    each kind of `voirdire.examining.simulate.KINDS`. The truth is what the judge deserves on 2,000
    items of the same systems; after calibration, what it deserves calibrated on all of these.

    Returns
    -------
    CalibrationErrors or None
        None with fewer than three systems, where no truth about their means is defined.
    """
    if systems < 3:
        return None
    size = min(systems, _SYSTEMS), min(items, _ITEMS), min(max(humans, 2), _HUMANS)
    counts = np.zeros((2, 2, 2), int)  # raw or calibrated; deserved; yes
    for seed in range(_PANELS):
        for at, truth, yes in _verdicts(*size, seed, method):
            counts[at, int(truth), int(yes)] += 1
    raw, after = (
        VerdictErrors(*(int(x) for x in (of[0].sum(), of[0, 1], of[1].sum(), of[1, 1])))
        for of in counts
    )
    return CalibrationErrors(*size, _PANELS, raw, after)


def _verdicts(
    systems: int, items: int, humans: int, seed: int, method: Method
) -> Iterator[tuple[int, bool, bool]]:
    """Raw (0) or calibrated (1), whether a yes is deserved, whether there is one."""
    whole = simulate_panel(systems, items + _ENDLESS, seed, humans=humans)
    # The items that are examined are some of those that the truth is known on.
    drawn = np.random.default_rng(seed).permutation(items + _ENDLESS)[:items]
    part = replace(
        whole,
        humans=whole.humans[:, :, drawn],
        special=whole.special[drawn],
        judges={name: scores[:, drawn] for name, scores in whole.judges.items()},
    )
    people = whole.humans.mean((0, 2))
    for name in KINDS:
        raw, case = whole.judges[name], _case(part, name)
        mean_human = part.humans.mean(0).ravel()
        scores = calibrate(
            case.scores, mean_human, systems=case.systems, clusters=case.items, method=method
        ).scores
        level = _calibrated(whole, name, method)
        for at, (means, one) in enumerate(
            ((raw.mean(1), case), (level.mean(1), replace(case, scores=scores)))
        ):
            # The truth is about the means; that a judge passes and stops as a human does is no part
            # of this use.
            panel = replace(
                whole,
                humans=part.humans,
                means={"humans": people, name: means},
                stops={name: True},
            )
            truth = deserved(panel, name)["score"]
            # A close call: neither answer would be wrong.
            if truth is None:
                continue
            verdict = judge_cases([one], Margins(), uses=("score",)).verdicts[0]
            yield at, truth, verdict.state == "yes"


def _calibrated(whole: SimulatedPanel, name: str, method: Method) -> Floats:
    """A judge's scores of all items, calibrated by all of these."""
    scores = whole.judges[name]
    system, item = (at.ravel() for at in np.indices(scores.shape))
    human = whole.humans.mean(0).ravel()
    calibration = calibrate(scores.ravel(), human, systems=system, clusters=item, method=method)
    return np.asarray(calibration.scores.reshape(scores.shape))


def _case(panel: SimulatedPanel, name: str) -> Case:
    raters, systems, items = panel.humans.shape
    system, item = (at.ravel() for at in np.indices((systems, items)))
    return Case(
        name,
        "quality",
        tuple(map(str, range(raters))),
        panel.judges[name].reshape(1, -1),
        panel.humans.reshape(raters, -1),
        item,
        4.0,
        systems=system,
        family={str(k): bool(own) for k, own in enumerate(panel.family)},
    )
