"""Raters of several steps: what they did on the way, and whether it was worth its price."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.errors import VoirdireError
from voirdire.examining.deriving import clusters_or_items, human_scores
from voirdire.stats import explained_gain
from voirdire.store.counts import spent_by_rater
from voirdire.store.frames import iterate_traces, panel_of
from voirdire.store.raters import is_run, model_name
from voirdire.tabular import Section, Table, count, interval, number, number_text, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.inputs import Inputs
    from voirdire.examining.ratings.cube import Cube
    from voirdire.schema import Usage
    from voirdire.store.frames import TracedTask
    from voirdire.study import Rater, Study

    Floats = NDArray[np.float64]
from voirdire.examining.gains import BESIDE, Simpler, StepsGain, StepsResult, Use

_WORTH = "What further steps are worth"
_HOW = (
    "Explained is the share of the humans' variance (squared correlation); both are measured on "
    "the same responses. Tokens are those of one response, in and out. The judge alone is asked "
    "the same question without tools or debate. Intervals hold for one attribute."
)
_STEPS = (
    "Changed is the share of scores that differ from what the judge said alone, before any "
    "evidence; a cell is empty where it was not asked alone."
)


@dataclass
class _StepScores:
    """Scores and tokens of some steps, by response."""

    scores: dict[str, dict[tuple[str, str], list[float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    used: list[Use] = field(default_factory=list)

    def add(self, task: TracedTask, scores: Mapping[str, float | None], use: Use) -> None:
        for attribute, score in scores.items():
            if score is not None:
                self.scores[attribute][task.item, task.first].append(score)
        self.used.append(use)


@dataclass(frozen=True, slots=True)
class TraceFacts:
    """What raters of several steps did and gained; `why_not` says why nothing can be said."""

    steps: tuple[StepsResult, ...] = ()
    gains: tuple[StepsGain, ...] = ()
    why_not: str = ""

    @property
    def simpler(self) -> tuple[Simpler, ...]:
        """What costs less and is not shown to be worse; the cheapest of each rater first."""
        found = (one.simpler for one in self.gains)
        return tuple(sorted(filter(None, found), key=lambda one: -one.times))

    @property
    def sections(self) -> tuple[Section, ...]:
        """As the report shows it."""
        if self.why_not:
            return (Section(_WORTH, f"Nothing can be said of further steps: {self.why_not}"),)
        return trace_sections(self.steps, self.gains)


def measure_traces(inputs: Inputs, cube: Cube | None) -> TraceFacts:
    """What each rater of several steps did, and what it gained over fewer.

    Parameters
    ----------
    inputs : Inputs
        Of a session; of anything else nothing comes.
    cube : Cube, optional
        Of its ratings; without one, or without a reference, nothing is said of gains.
    """
    if inputs.session is None:
        return TraceFacts()
    try:
        panel = panel_of(inputs.session)
    except VoirdireError as error:  # a plugin or a tool's file that this machine lacks
        return TraceFacts(why_not=str(error))
    tasks: dict[str, list[TracedTask]] = defaultdict(list)
    for task in iterate_traces(panel):
        tasks[task.rater].append(task)
    results = tuple(_steps(name, traced, inputs.study) for name, traced in tasks.items())
    if cube is None or not inputs.panel.reference:
        return TraceFacts(results)
    gains = [gain for name, traced in tasks.items() for gain in _gains(name, traced, inputs, cube)]
    return TraceFacts(results, tuple(gains))


def _steps(name: str, tasks: Sequence[TracedTask], study: Study) -> StepsResult:
    counts = Counter[str]()
    within = Counter[str]()
    compared = changed = 0
    for task in tasks:
        counts.update(task.trace.used)
        within.update(task.trace.used.keys())
        for beside in task.trace.beside:
            # Other positions (the openings of a debate) are not what the judge itself said first.
            if beside.name == "alone":
                pairs = [
                    (score, task.parsed.scores.get(attribute))
                    for attribute, score in beside.scores.items()
                ]
                complete = [(a, b) for a, b in pairs if a is not None and b is not None]
                compared += len(complete)
                changed += sum(a != b for a, b in complete)
    lengths = [len(task.steps) for task in tasks]
    whole = _mean([_use(task.steps, name, study) for task in tasks])
    return StepsResult(
        name,
        len(tasks),
        sum(lengths) / len(lengths),
        max(lengths),
        {key: (counts[key], within[key]) for key in sorted(counts)},
        dict(Counter(task.trace.ended for task in tasks if task.trace.ended)),
        compared,
        changed,
        whole,
    )


def _use(steps: Iterable[tuple[str, Usage]], rater: str, study: Study) -> Use:
    """What some replies took; not known where one of them is not."""
    tokens, money = 0, 0.0
    asks = spec.asks if (spec := study.rater(rater)) is not None else {}
    priced = True
    for role, usage in steps:
        # One reply without counts makes the whole unknown: a sum that lacks some would look cheap.
        if usage.input is None or usage.output is None:
            return Use()
        tokens += usage.input + usage.output
        asked = asks.get(role) or asks.get("")
        prices = study.run.prices.get(asked.model) if asked is not None else None
        if prices is None:
            priced = False
        else:
            cached, written = usage.cached or 0, usage.written or 0
            money += prices.cost(usage.input, usage.output, cached, written)
    return Use(tokens, money if priced else None)


def _mean(uses: Sequence[Use]) -> Use:
    def mean(values: Sequence[float | None]) -> float | None:
        present = [value for value in values if value is not None]
        return sum(present) / len(present) if present and len(present) == len(values) else None

    return Use(mean([use.tokens for use in uses]), mean([use.money for use in uses]))


def _gains(
    name: str, tasks: Sequence[TracedTask], inputs: Inputs, cube: Cube
) -> Iterable[StepsGain]:
    if name not in cube.raters:  # it compares, or labels
        return
    parts: dict[str, _StepScores] = defaultdict(_StepScores)
    for task in tasks:
        for beside in task.trace.beside:
            steps = [task.steps[at] for at in beside.steps]
            parts[beside.name].add(task, beside.scores, _use(steps, name, inputs.study))
    whole = _mean([_use(task.steps, name, inputs.study) for task in tasks])
    places = {
        (cube.items[item], cube.systems[system]): at
        for at, (item, system) in enumerate(zip(cube.item, cube.system, strict=True))
    }
    others = [
        (key, {a: _placed(part.scores[a], places) for a in part.scores}, _mean(part.used), 0, 0)
        for key, part in parts.items()
    ]
    others += _plain(name, whole, inputs, cube, places)
    clusters = clusters_or_items(inputs.ratings, cube)
    for at, attribute in enumerate(cube.attributes):
        human = human_scores(inputs.panel, cube, at)
        own = cube.scores[cube.raters.index(name), at]
        for key, scores, use, runs, wanted in others:
            if attribute in scores:
                gain = explained_gain(
                    own,
                    scores[attribute],
                    human,
                    clusters=clusters,
                    level=inputs.study.analysis.level,
                )
                yield StepsGain(name, attribute, key, gain, whole, use, runs, wanted)


def _placed(
    scores: Mapping[tuple[str, str], Sequence[float]], places: Mapping[tuple[str, str], int]
) -> Floats:
    """(N,) means by response, in the order of the cube."""
    filled = np.full(len(places), np.nan)
    for place, values in scores.items():
        if place in places:
            filled[places[place]] = sum(values) / len(values)
    return filled


def _plain(
    name: str, whole: Use, inputs: Inputs, cube: Cube, places: Mapping[tuple[str, str], int]
) -> list[tuple[str, dict[str, Floats], Use, int, int]]:
    """Raters of the panel that ask the same in one step: one run, and as many as cost the same."""
    spec = inputs.study.rater(name)
    if spec is None:
        return []
    lines = []
    for other in inputs.study.panel:
        if _asks_the_same(other, spec) and other.name in cube.raters:
            use = _of_rater(other, inputs)
            there = cube.runs.get(other.name, 1)
            wanted = _as_dear(whole, use)
            # One run, and as many as cost the same, as far as there are: where both are one, once.
            for runs in dict.fromkeys((1, min(wanted, there))):
                scores = _runs(other.name, runs, inputs.ratings, cube, places)
                paid = Use(*(None if v is None else v * runs for v in (use.tokens, use.money)))
                lines.append((other.name, scores, paid, runs, wanted))
    return lines


def _asks_the_same(other: Rater, spec: Rater) -> bool:
    """Whether a rater is the judge of another that takes further steps, without these."""
    asks = spec.asks
    judge = asks.get("judge") or asks.get("")
    return (
        other.kind == spec.kind
        and is_run(other)
        and other.name != spec.name
        and (other.use or "rubric") == spec.options.get("judge", "rubric")
        and other.options == spec.options.get("options", {})
        and list(other.asks.values()) == [judge]
    )


def _of_rater(rater: Rater, inputs: Inputs) -> Use:
    """What one response took of a rater of one step, over all of its attempts."""
    if inputs.session is None:
        return Use()
    tokens, money, calls, priced = 0, 0.0, 0, True
    for model, spent in spent_by_rater(inputs.session).get(rater.name, {}).items():
        prices = inputs.study.run.prices.get(model_name(model))
        calls, tokens = calls + spent.calls, tokens + spent.input + spent.output
        priced = priced and prices is not None
        if prices is not None:
            money += spent.cost(prices)
        if spent.blind:
            return Use()
    return Use(tokens / calls, money / calls if priced else None) if calls else Use()


def _as_dear(whole: Use, use: Use) -> int:
    """Runs of the plain judge that cost what one task of the other does, by money or by tokens."""
    # Money first, since tokens of a small model and of a large one do not compare.
    pairs = ((whole.money, use.money), (whole.tokens, use.tokens))
    return next((max(1, round(a / b)) for a, b in pairs if a is not None and b), 1)


def _runs(
    name: str, runs: int, ratings: pl.DataFrame, cube: Cube, places: Mapping[tuple[str, str], int]
) -> dict[str, Floats]:
    """The mean of a rater's first runs, by attribute."""
    rows = ratings.filter(
        pl.col("rater").cast(pl.String) == name,
        # The first runs: the rater's own numbering starts at 1.
        pl.col("run") <= runs,
        pl.col("score").is_not_null(),
    ).select(
        pl.col("attribute", "item").cast(pl.String),
        pl.col("system").cast(pl.String).fill_null(""),
        "score",
    )
    scores_of: dict[str, dict[tuple[str, str], list[float]]] = {
        attribute: defaultdict(list) for attribute in cube.attributes
    }
    for attribute, item, system, score in rows.iter_rows():
        if attribute in scores_of:
            scores_of[attribute][item, system].append(score)
    return {attribute: _placed(scores, places) for attribute, scores in scores_of.items()}


def trace_sections(
    results: Sequence[StepsResult], gains: Sequence[StepsGain]
) -> tuple[Section, ...]:
    """What further steps are worth, and what was done in them."""
    parts = []
    if gains:
        sentences = " ".join(gain_sentence(gain) for gain in gains)
        parts.append(Section(_WORTH, f"{sentences} {_HOW}", (_worths(gains),)))
    if results:
        tables = tuple(filter(None, (_done(results), _used(results))))
        parts.append(Section("What was done in further steps", _STEPS, tables))
    return tuple(parts)


def gain_sentence(steps_gain: StepsGain) -> str:
    """Whether the further steps pay, in a sentence that begins with what to do."""
    gain, about = steps_gain.gain, f"{steps_gain.rater} on {steps_gain.attribute}"
    beside = _beside(steps_gain)
    if gain.reason is not None:
        return f"{about}: too few responses have a human rating to set it beside {beside}."
    low, high = gain.gain.bounds
    numbers = (
        f"It explains {gain.first:.2f} of the humans' variance, {beside} {gain.second:.2f} "
        f"(difference {number_text(low, 2, signed=True)} to "
        f"{number_text(high, 2, signed=True)}){_times(steps_gain)}."
    )
    if steps_gain.is_worth_it:
        return f"Use the further steps: {about} beats {beside}. {numbers}"
    what = "is worse than" if steps_gain.is_worse else "shows no gain over"
    return f"Do not pay for the further steps: {about} {what} {beside}. {numbers}"


def _beside(steps_gain: StepsGain) -> str:
    if steps_gain.runs > 1:
        dear = (
            ""
            if steps_gain.runs >= steps_gain.wanted
            else f" ({steps_gain.wanted} would cost the same)"
        )
        return f"the mean of {steps_gain.runs} runs of {steps_gain.beside}{dear}"
    return BESIDE.get(steps_gain.beside, steps_gain.beside)


def _times(steps_gain: StepsGain) -> str:
    pairs = (
        (steps_gain.use.money, steps_gain.beside_use.money, "cost"),
        (steps_gain.use.tokens, steps_gain.beside_use.tokens, "tokens"),
    )
    return next((f", at {a / b:.1f} times the {word}" for a, b, word in pairs if a and b), "")


def _worths(gains: Sequence[StepsGain]) -> Table:
    columns = (
        text("Rater"), text("Attribute"), text("Beside"), count("Responses"),
        number("Explained", 2), number("Beside explains", 2), interval("Gain", 2),
        number("Tokens", 0), number("Beside: tokens", 0), number("Cost", 6),
        number("Beside: cost", 6),
    )  # fmt: skip
    rows = tuple(
        (
            one.rater,
            one.attribute,
            _beside(one),
            one.gain.n,
            one.gain.first,
            one.gain.second,
            one.gain.gain.bounds,
            one.use.tokens,
            one.beside_use.tokens,
            one.use.money,
            one.beside_use.money,
        )
        for one in gains
    )
    return Table(columns, rows)


def _done(results: Sequence[StepsResult]) -> Table:
    columns = (
        text("Rater"), count("Tasks"), number("Replies a task", 1), count("Most replies"),
        count("Scores compared"), number("Changed", 2), number("Tokens a task", 0),
        number("Cost a task", 6), text("Ended"),
    )  # fmt: skip
    rows = tuple(
        (
            one.rater,
            one.tasks,
            one.steps,
            one.most,
            one.compared or None,
            one.changed / one.compared if one.compared else None,
            one.use.tokens,
            one.use.money,
            ", ".join(f"{word} {n}" for word, n in sorted(one.ended.items())) or None,
        )
        for one in results
    )
    return Table(columns, rows)


def _used(results: Sequence[StepsResult]) -> Table | None:
    rows = tuple(
        (one.rater, name, times, tasks)
        for one in results
        for name, (times, tasks) in one.used.items()
    )
    columns = (text("Rater"), text("What"), count("Times"), count("Tasks"))
    return Table(columns, rows) if rows else None
