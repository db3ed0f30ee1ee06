"""A stream of parts to the same Examination as a table in memory: two passes of sums."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.errors import InputError, NotSummableError
from voirdire.examining.inputs import Inputs
from voirdire.examining.measures import measured
from voirdire.examining.panel import check_panel, panel_of
from voirdire.examining.parts import DATA_PART, RATINGS_PART, VERDICTS_PART, examination_of
from voirdire.examining.parts.part import Examined
from voirdire.examining.parts.verdicts import examined
from voirdire.examining.ratings.facts import RatingsFacts
from voirdire.examining.source import adjust
from voirdire.examining.streaming.auditing import audit_stream
from voirdire.examining.streaming.counted import counted, means_of_systems
from voirdire.examining.streaming.first_pass import SAMPLED, Taken, first_sums
from voirdire.examining.streaming.parts import system_in
from voirdire.examining.streaming.results import (
    measure_of,
    plan_measures,
    plan_pairs,
    result_of,
    spread_of,
)
from voirdire.examining.streaming.second_pass import AskedSums, SecondSums, second_sums
from voirdire.examining.streaming.source import parts_of
from voirdire.examining.streaming.verdicts import board_of, found_out, pattern_cases
from voirdire.examining.verdict.gathering import blocked_pairs
from voirdire.examining.verdict.judging import judge_by_study
from voirdire.executors import open_executor
from voirdire.schema import Finding, by_severity
from voirdire.stats.sums import Linear
from voirdire.study import ReadOptions
from voirdire.tables import RATINGS, from_frame, read_tables

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from voirdire.examining.examination import Examination
    from voirdire.examining.panel import Panel
    from voirdire.examining.parts.part import ExaminationPart
    from voirdire.examining.ratings.facts import Measure, PairResult
    from voirdire.examining.streaming.counted import Counted, Planned, PlannedSizes
    from voirdire.examining.streaming.first_pass import FirstSums
    from voirdire.examining.streaming.results import MeasurePlan, PairPlan
    from voirdire.examining.streaming.source import Stream
    from voirdire.examining.streaming.verdicts import Board
    from voirdire.examining.verdict.facts import Judged
    from voirdire.protocols import Executor
    from voirdire.study import Gate, Study
    from voirdire.tables import Tables
    from voirdire.tables.partitioned import StreamPart

#: Replicates of the Poisson bootstrap at most: each draws a weight for every cluster.
MOST_REPLICATES = 200


def examine_stream(
    stream: Stream,
    *,
    reference: Sequence[str],
    read: ReadOptions,
    changes: Mapping[str, Mapping[str, Any]],
    gate: Gate | None,
    workers: str | int | None,
    insecure: bool,
) -> Examination | None:
    """Examine ratings that need not fit into memory.

    None where files that nobody asked to stream hold several ratings a row: these are read whole.

    Parameters
    ----------
    stream : Stream
        Parquet files, as `voirdire.examining.streaming.source.stream_of` finds them.
    reference, read, changes, gate
        As `voirdire.examine` and `voirdire.examining.source.open_source` take them.
    workers, insecure
        As `voirdire.executors.open_executor` takes them.

    Raises
    ------
    InputError
        As `voirdire.examine`.
    """
    notes: list[Finding] = []
    try:
        with (
            parts_of(stream, read, notes) as parts,
            open_executor(workers or "threads", insecure=insecure) as executor,
        ):
            if gate is None and stream.study is not None:
                gate = stream.study.gate
            taken = Taken() if gate is None else Taken(gate.at)
            sums = executor.map_reduce(partial(first_sums, taken=taken), parts)
            study, inputs = _inputs(stream, parts, sums, reference, changes, gate, read)
            if study.analysis.compat:
                raise NotSummableError(
                    f"compat {study.analysis.compat!r} repeats a published study on its whole "
                    "table, which no stream holds: leave it out, or leave out --streaming"
                )
            inputs = replace(inputs, findings=(*notes, *inputs.findings))
            again = _on_scale(taken, sums, study, inputs.panel)
            # Scores on no grid are condensed as they are read: whether some are off the scale is
            # known afterwards, and then they are read once more.
            if again != taken:
                taken = again
                sums = executor.map_reduce(partial(first_sums, taken=taken), parts)
            odd = audit_stream(sums, _without_notes(inputs), inputs.panel, study, parts, executor)
            inputs = replace(inputs, findings=by_severity((*inputs.findings, *odd)))
            return _examined(study, inputs, parts, sums, taken, executor)
    except NotSummableError:
        if stream.asked:
            raise
        return None


def _without_notes(inputs: Inputs) -> Tables:
    """The tables of the sample, whose findings stand among those of the inputs already."""
    if inputs.tables is None:
        raise InputError(f"{inputs.study.name}: there are no ratings")
    return replace(inputs.tables, findings=())


def _on_scale(taken: Taken, sums: FirstSums, study: Study, panel: Panel) -> Taken:
    """How scores on no grid must be read: with those off the scale as missing, if there are any."""
    scale, policy = panel.scale, study.data.off_scale
    for patterns in sums.patterns.values():
        if policy != "missing" or patterns.moments is None:
            continue
        low, high = patterns.moments.low, patterns.moments.high
        for place in range(len(patterns.loose)):
            ends = (low[place].min(), high[place].max())
            off = [end for end in ends if np.isfinite(end) and not scale.low <= end <= scale.high]
            if off:
                taken = replace(taken, low=scale.low, high=scale.high)
    return taken


def _inputs(
    stream: Stream,
    parts: Sequence[StreamPart],
    sums: FirstSums,
    reference: Sequence[str],
    changes: Mapping[str, Mapping[str, Any]],
    gate: Gate | None,
    read: ReadOptions,
) -> tuple[Study, Inputs]:
    """The study, else one that some of the rows suggest, its panel, and what the sums find odd."""
    sample = _with_every_rater(_sample(sums), sums)
    if stream.study is not None:
        study = adjust(stream.study, changes, read.families)
        rated, read_off = read_tables(study, sources=(), ratings=sample), "the study's scale holds"
    else:
        # The parts bear the names of a tidy table by now: only how words are read is left to say.
        words = ReadOptions(words=read.words, assume=read.assume)
        study, rated = from_frame(sample, reference=reference, name=stream.name, read=words)
        study = adjust(study, changes, read.families)
        read_off = f"the scale was read off {sample.height:,} of them"
    if gate is not None:
        study = study.model_copy(update={"gate": gate})
    # Of the sample: it holds a row of every rater of the stream.
    panel = panel_of(study, rated)
    check_panel(study, panel, others=False, compared=False)
    note = Finding(
        "streamed",
        "note",
        stream.name,
        sum(sums.rows.values()),
        tuple(f"{name}: {rows:,} ratings" for name, rows in sorted(sums.rows.items())),
        f"{sum(sums.rows.values()):,} ratings were examined as sums, in {len(parts):,} parts; "
        f"{read_off}.",
        "Ranks of scores, REML, the alt-test, paired tests between systems, "
        "calibration over folds, texts and the order of rows are no sums of this kind and were "
        "left out; voirdire examine without --streaming reads them. Of what is odd the first "
        "places are named, and who rated a response is looked up on the attribute with most "
        "ratings.",
    )
    # What the sample says of single responses is true of the sample alone.
    findings = (*(one for one in rated.findings if one.kind != "unlabelled"), note)
    return study, Inputs(study, panel, rated, RATINGS.to_frame(), None, findings, "", None)


def _sample(sums: FirstSums) -> pl.DataFrame:
    """Some responses of each attribute, at even steps through the counts.

    The study is drafted from these: they are the same however the ratings are cut into parts.
    """
    loose = sums.sample.drop("_key")
    frames = [loose] if loose.height else []
    for attribute, patterns in sorted(sums.patterns.items()):
        if patterns.loose:
            continue
        n, rated = patterns.n, patterns.rows()
        some = min(n, SAMPLED)
        # The middles of equal parts of 0..n: even steps, no matter how the patterns were met.
        steps = (np.arange(some) * 2 + 1) * n // (2 * some)
        rows = np.searchsorted(np.cumsum(patterns.counts), steps, side="right")
        systems = [system_in(patterns.systems[at]) or None for at in patterns.system[rows]]
        for place, (rater, run) in enumerate(patterns.columns):
            frame = pl.DataFrame(
                {
                    "item": pl.Series(range(some)).cast(pl.String),
                    "system": pl.Series(systems, dtype=pl.String),
                    "rater": rater,
                    "run": run,
                    "attribute": attribute,
                    "score": pl.Series(rated.scores[rows, place]).fill_nan(None),
                }
            )
            frames.append(frame.filter(pl.Series(rated.asked[rows, place])))
    made = pl.concat(frames, how="diagonal_relaxed")
    return made.drop("system") if made["system"].null_count() == made.height else made


def _with_every_rater(sample: pl.DataFrame, sums: FirstSums) -> pl.DataFrame:
    """Rows of the raters that the sample misses: one pattern of each."""
    sampled = set(sample["rater"].cast(pl.String).unique())
    rows = []
    for attribute, patterns in sums.patterns.items():
        scores = patterns.rows().scores
        for place, (rater, run) in enumerate(patterns.columns):
            there = np.flatnonzero(~np.isnan(scores[:, place]))
            if rater not in sampled and len(there):
                score = float(scores[there[0], place])
                rows.append(("0", rater, run, attribute, score))
    if not rows:
        return sample
    more = pl.DataFrame(rows, schema=["item", "rater", "run", "attribute", "score"], orient="row")
    return pl.concat([sample, more], how="diagonal_relaxed")


def _examined(
    study: Study,
    inputs: Inputs,
    parts: Sequence[StreamPart],
    sums: FirstSums,
    taken: Taken,
    executor: Executor,
) -> Examination:
    panel = inputs.panel
    tables = {
        attribute: counted(
            sums.patterns[attribute],
            attribute,
            panel,
            study,
            clusters=sums.clusters[attribute],
            largest=sums.largest[attribute],
        )
        for attribute in (*panel.attributes, *panel.composites)
        if attribute in sums.patterns
    }
    own = {name: table for name, table in tables.items() if name in panel.attributes}
    if not own:
        raise InputError(f"there are no ratings on {', '.join(panel.attributes)}")
    plans = {name: _AttributePlan.of(table, panel, study) for name, table in tables.items()}
    boards = {name: board_of(table, sums.largest[name]) for name, table in tables.items()}
    judged = partial(
        _judged,
        own,
        boards,
        panel,
        study,
        blocked=blocked_pairs(inputs.findings, panel, study),
        clustered=sums.clustered,
    )
    verdicts = judged()
    # Each replicate draws a weight for every cluster: the time of a pass grows with their number.
    replicates = min(study.analysis.resamples, MOST_REPLICATES)
    asked = {
        name: AskedSums(
            table.rows,
            None if table.alone else Linear.of(plans[name].moves, boards[name].most),
            replicates,
            study.analysis.seed,
            dict(boards[name].wanted),
            taken,
            plans[name].apart,
        )
        for name, table in tables.items()
    }
    kept = [part for part in parts if part.attribute in tables]
    second = SecondSums()
    if replicates or not all(table.alone for table in tables.values()):
        second = executor.map_reduce(partial(second_sums, asked), kept)
        answers = second.answers
        # Verdicts are functions of sums: run once to learn which they need, once more with them,
        # and again where items are crossed with systems, whose effects must be known first.
        while found_out(boards, answers):
            verdicts = judged()
            if not any(board.wanted for board in boards.values()):
                break
            answers = executor.map_reduce(partial(second_sums, _again(asked, boards)), kept).answers
    ratings = _ratings(tables, plans, asked, second, panel, study)
    found: list[tuple[ExaminationPart[Any], Examined[Any]]] = [
        (DATA_PART, DATA_PART.examine(inputs, ())),
        (RATINGS_PART, Examined(ratings)),
        (VERDICTS_PART, examined(verdicts)),
    ]
    return examination_of(inputs, found)


def _again(asked: Mapping[str, AskedSums], boards: Mapping[str, Board]) -> dict[str, AskedSums]:
    """What a further pass is asked for: the sums that the boards still lack, and nothing else."""
    return {
        name: replace(
            one, linear=None, replicates=0, apart=None, requests=dict(boards[name].wanted)
        )
        for name, one in asked.items()
    }


def _ratings(
    tables: Mapping[str, Counted],
    plans: Mapping[str, _AttributePlan],
    asked: Mapping[str, AskedSums],
    second: SecondSums,
    panel: Panel,
    study: Study,
) -> RatingsFacts:
    """Coefficients of every pair and over all raters, from the sums of both passes."""
    results: list[PairResult] = []
    composites: list[PairResult] = []
    ceiling: list[PairResult] = []
    measures: list[Measure] = []
    for name, table in tables.items():
        plan = plans[name]
        spread = spread_of(table, plan.planned, plan.sizes, asked[name], second)
        made = partial(
            result_of, table=table, spread=spread, panel=panel, study=study, resampled=True
        )
        (composites if name in panel.composites else results).extend(map(made, plan.pairs))
        ceiling += map(made, plan.ceiling)
        measures += [measure_of(one, table, spread, study.analysis.level) for one in plan.measures]
    return RatingsFacts(
        results=_in_order(results, panel.attributes, panel),
        composites=_in_order(composites, list(panel.composites), panel),
        ceiling=_in_order(ceiling, panel.attributes, panel),
        system_means=means_of_systems(
            [table for name, table in tables.items() if name in panel.attributes],
            [table for name, table in tables.items() if name in panel.composites],
        ),
        measures=tuple(measures),
    )


def _judged(
    tables: Mapping[str, Counted],
    boards: Mapping[str, Board],
    panel: Panel,
    study: Study,
    *,
    blocked: Collection[tuple[str, str]],
    clustered: bool,
) -> Judged:
    """Verdicts as far as the boards know; what they do not know, they note."""
    cases = [
        case
        for name, table in tables.items()
        for case in pattern_cases(table, boards[name], panel, study, clustered=clustered)
    ]
    order = {judge.name: place for place, judge in enumerate(panel.judges)}
    # No alt-test: it ranks single responses, which sums do not hold.
    return judge_by_study(sorted(cases, key=lambda case: order[case.judge]), study, blocked)


class _AttributePlan:
    """What is computed of one attribute."""

    def __init__(
        self,
        pairs: Sequence[PairPlan],
        ceiling: Sequence[PairPlan],
        measures: Sequence[MeasurePlan],
    ) -> None:
        self.pairs, self.ceiling, self.measures = pairs, ceiling, measures

    @classmethod
    def of(cls, table: Counted, panel: Panel, study: Study) -> _AttributePlan:
        pairs = list(plan_pairs(table, panel, panel.judges, panel.references))
        if table.cube.attributes[0] in panel.composites:
            return cls(pairs, [], [])
        humans = [member for member in panel.members if member.name in panel.reference]
        ceiling = [
            plan
            for human in humans
            if len(humans) > 1
            for plan in plan_pairs(
                table,
                panel,
                [human],
                [tuple(other.name for other in humans if other != human)],
            )
        ]
        # Composites have no measures of their own in memory either.
        chosen = measured(study.analysis, panel)
        return cls(
            pairs,
            ceiling,
            list(plan_measures(table, panel, study.analysis.measures, chosen)),
        )

    @property
    def planned(self) -> list[Planned]:
        """All coefficients, in one order."""
        own = [one for plan in (*self.pairs, *self.ceiling) for one in plan.planned.values()]
        return [*own, *(plan.planned for plan in self.measures if plan.planned is not None)]

    @property
    def sizes(self) -> list[PlannedSizes]:
        """Of differences on no grid, in one order."""
        every: list[PairPlan | MeasurePlan] = [*self.pairs, *self.ceiling, *self.measures]
        return [plan.sizes for plan in every if plan.sizes is not None]

    @property
    def apart(self) -> Any:
        """(P, M) these differences; None without any."""
        sizes = self.sizes
        return np.stack([one.apart for one in sizes], axis=1) if sizes else None

    @property
    def moves(self) -> Any:
        """(P, M) their linearised values."""
        return np.stack([one.moves for one in self.planned], axis=1)


def _in_order(
    results: Sequence[PairResult], attributes: Sequence[str], panel: Panel
) -> tuple[PairResult, ...]:
    """By rater, then attribute, as in memory."""
    names = panel.names
    return tuple(
        sorted(results, key=lambda r: (names.index(r.judge), attributes.index(r.attribute)))
    )
