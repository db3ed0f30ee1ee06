"""Juries: raters derived from the ratings of others, and whether they are worth their price."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.errors import InputError, listed
from voirdire.examining.at_prompt import AtPrompt, Telling
from voirdire.examining.ratings.cube import build_cube
from voirdire.examining.source import inputs_of, open_source
from voirdire.examining.spoken import speaks_python
from voirdire.progress import stage
from voirdire.stats import jury_worth
from voirdire.study import Rater, ReadOptions
from voirdire.tabular import Section, Table, count, interval, number, number_text, share, text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire.examining.inputs import Inputs
    from voirdire.examining.ratings.cube import Cube
    from voirdire.examining.sources import AnySource
    from voirdire.schema import Finding
    from voirdire.stats import JuryWorth
    from voirdire.store.counts import Spent
    from voirdire.study import Combine, Study

    Floats = NDArray[np.float64]
from voirdire.examining.deriving import clusters_or_items, human_scores, member_scores
from voirdire.examining.gains import JuryResult, Price, together

_SECTION = "What each jury is worth"
_HOW = (
    "Explained is the share of the humans' variance (squared correlation). The best member is "
    "chosen on other items than those it is measured on. Votes says how many independent judges "
    "the members are worth, given how much they err together about what the humans share; with one "
    "human, whose own noise nobody knows, between which numbers it lies. Agrees is the share of "
    "responses on which a rater says what the humans say; a tied vote is no answer and counts as "
    "none. Intervals hold for one attribute; with many attributes some lie off zero by chance."
)
_COST = "A jury costs what its members cost together. A cell is empty where no price is known."


@dataclass(frozen=True, slots=True)
class JuryReport(AtPrompt):
    """What `examine_jury` found; `ratings` has the jury's own rows."""

    telling = Telling(
        title="What each jury is worth",
        rows="results",
        sections="voirdire.examining.juries:report_sections",
        said="voirdire.examining.juries:report_sentences",
    )

    results: tuple[JuryResult, ...]
    ratings: pl.DataFrame
    findings: tuple[Finding, ...]

    def to_dict(self) -> dict[str, Any]:
        """What a JSON record holds: all but the ratings."""
        return {"results": self.results, "findings": self.findings}


def measure_juries(inputs: Inputs, cube: Cube) -> tuple[JuryResult, ...]:
    """Every jury of the study on every attribute, against the reference.

    Parameters
    ----------
    inputs : Inputs
        The inputs of a panel with a reference; their ratings hold those of the juries.
    cube : Cube
        The cube of these ratings.
    """
    spent = used(inputs)
    results = []
    for jury in inputs.study.juries:
        prices = tuple(spent.get(name, Price(name)) for name in jury.members)
        each = member_scores(jury, inputs.panel, cube)
        priced = prices if spent else ()
        results += [
            _result(jury, at, each[:, at], inputs, cube, priced) for at in range(each.shape[1])
        ]
    return tuple(results)


def _result(
    jury: Rater,
    at: int,
    each: Floats,
    inputs: Inputs,
    cube: Cube,
    prices: tuple[Price, ...],
) -> JuryResult:
    attribute, names = cube.attributes[at], jury.members
    own = cube.of(jury.name, attribute)
    asked = cube.asked[cube.raters.index(jury.name)]
    rated = ~np.isnan(each)
    worth = jury_worth(
        each,
        own,
        human_scores(inputs.panel, cube, at),
        humans=cube.scores[[cube.raters.index(name) for name in inputs.panel.reference], at],
        clusters=clusters_or_items(inputs.ratings, cube),
        level=inputs.study.analysis.level,
    )
    # The best member is chosen anew in each fold: the commonest choice is named.
    chosen = Counter(worth.chosen).most_common(1)
    return JuryResult(
        jury=jury.name,
        attribute=attribute,
        combine=jury.combine,
        members=names,
        dead=tuple(name for name, row in zip(names, rated, strict=True) if not row.any()),
        abstained={
            name: int((asked & ~row).sum())
            for name, row in zip(names, rated, strict=True)
            if row.any()
        },
        asked=int(asked.sum()),
        missing=int((asked & np.isnan(own)).sum()),
        worth=worth,
        best=names[chosen[0][0]] if chosen else "",
        prices=prices,
    )


def used(inputs: Inputs) -> dict[str, Price]:
    """What each rater of a session used; empty where the source is none."""
    if inputs.session is None:
        return {}
    from voirdire.store import is_session  # noqa: PLC0415 - loads the store
    from voirdire.store.counts import spent_by_rater  # noqa: PLC0415

    if not is_session(inputs.session):
        return {}
    used_by = {}
    for name, models in spent_by_rater(inputs.session).items():
        parts = [_price(name, model, spent, inputs.study) for model, spent in models.items()]
        used_by[name] = together(name, parts)
    return used_by


def _price(name: str, model: str, spent: Spent, study: Study) -> Price:
    """What one model of a rater used."""
    from voirdire.store.raters import model_name  # noqa: PLC0415 - loads the store

    prices = study.run.prices.get(model_name(model))
    # Some reply came without counts of tokens: a sum of the others would pass for the whole.
    if spent.blind:
        return Price(name, spent.calls)
    money = None if prices is None else spent.cost(prices)
    return Price(name, spent.calls, spent.input + spent.output, money)


@speaks_python
def examine_jury(
    source: AnySource,
    members: Sequence[str] = (),
    how: Combine = "mean",
    *,
    name: str = "jury",
    data: str | Path | None = None,
    reference: Sequence[str] = (),
    read: ReadOptions | None = None,
    level: float | None = None,
) -> JuryReport:
    """Whether several judges together are worth their price.

    Parameters
    ----------
    source, data, reference, read
        As in `voirdire.examine`.
    members : sequence of str
        The raters put together; without any, the juries that the study declares.
    how : {"mean", "median", "vote", "fitted", "dawid_skene"}
        As in `voirdire.stats.combine`.
    name : str
        What the jury is called.
    level : float, optional
        Nominal coverage of intervals.

    Raises
    ------
    InputError
        No ratings, no reference, no jury, or a member that is no rater.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> chance = np.random.default_rng(0)
    >>> truth = chance.normal(3, 1, 200)
    >>> rows = [("human", i, score) for i, score in enumerate(truth)]
    >>> for judge in ("a", "b", "c"):
    ...     rows += [(judge, i, s + chance.normal(0, 1)) for i, s in enumerate(truth)]
    >>> frame = pl.DataFrame(rows, schema=["rater", "item", "score"], orient="row")
    >>> jury = examine_jury(frame, ["a", "b", "c"], reference=["human"])
    >>> jury.results[0].is_worth_it, round(jury.results[0].worth.votes_low, 1)
    (True, 2.7)
    """
    changes: dict[str, dict[str, Any]] = {
        "data": {"reference": tuple(reference) or None},
        "analysis": {"level": level},
    }
    opened = open_source(source, data=data, reference=reference, read=read, changes=changes)
    if opened.tables is None:
        from voirdire.examining.as_ratings import (  # noqa: PLC0415 - most hold scores
            as_ratings,
        )

        # Members vote by labels; a share of votes is the jury's own probability.
        opened = as_ratings(opened, reference, claims=False)
    study = opened.study
    if members:
        if len(set(members)) < max(2, len(members)):
            raise InputError(
                f"a jury needs two or more different members, and --members gives {listed(members)}"
            )
        asked = Rater(name=name, use="jury", members=tuple(members), combine=how)
        # Only the jury that was asked for: those of the study would be measured besides.
        others = tuple(rater for rater in study.panel if not rater.is_jury)
        study = study.model_copy(update={"panel": (*others, asked)})
    if not study.juries:
        raise InputError("no jury: name its members by --members, or declare one in the study")
    if opened.tables is None:
        raise InputError("there are no ratings that a jury could be derived from")
    inputs = inputs_of(replace(opened, study=study))
    panel = inputs.panel
    if not panel.reference:
        raise InputError(
            "no reference: say by --reference NAME which rater the jury is held against "
            f"(raters: {', '.join(panel.names)})"
        )
    stage("weighing the jury")
    cube = build_cube(inputs.ratings, panel.names, panel.attributes, panel.systems)
    juries = [jury.name for jury in study.juries]
    own = inputs.ratings.filter(pl.col("rater").cast(pl.String).is_in(juries))
    return JuryReport(measure_juries(inputs, cube), own, inputs.findings)


def jury_sections(results: Sequence[JuryResult]) -> tuple[Section, ...]:
    """What each jury is worth, and what it costs."""
    sentences = " ".join(worth_sentence(result) for result in results)
    parts = [Section(_SECTION, f"{sentences} {_HOW}", (_worths(results), _members(results)))]
    priced = {result.jury: result for result in results if result.prices}
    if priced:
        parts.append(Section("What each jury costs", _COST, (_prices(list(priced.values())),)))
    return tuple(parts)


def report_sections(report: JuryReport) -> tuple[Section, ...]:
    """The sections of a report, as the command prints them."""
    return jury_sections(report.results)


def report_sentences(report: JuryReport) -> list[str]:
    """Whether to use each jury."""
    return [worth_sentence(result) for result in report.results]


def worth_sentence(jury: JuryResult) -> str:
    """Whether to use a jury, in one or two sentences that begin with what to do."""
    worth, about = jury.worth, f"{jury.jury} on {jury.attribute}"
    if worth.reason == "too_few_raters":
        return f"{about} is no jury: fewer than two members scored anything."
    if worth.reason is not None:
        return f"{about}: too few responses have a human rating to say what this jury is worth."
    low, high = jury.over_best.bounds
    if jury.over_best is worth.over_single:
        numbers = (
            f"It explains {worth.jury:.2f} of the humans' variance, its best member {jury.best} "
            f"alone {worth.single:.2f}"
        )
    else:
        numbers = (
            f"It says what the humans say on {worth.agreement:.0%} of the responses, its best "
            f"member {jury.best} alone on {worth.single_agreement:.0%}"
        )
    numbers += (
        f" (difference {number_text(low, 2, signed=True)} to "
        f"{number_text(high, 2, signed=True)}){_times(jury)}"
    )
    if jury.is_worth_it:
        # A fitted jury must also beat what costs nothing to fit.
        as_well = jury.combine != "mean" and not worth.over_mean.bounds[0] > 0
        more = " No gain over the plain mean of its members is shown." if as_well else ""
        return f"Use this jury: {about} beats its best member. {numbers}.{more}"
    what = "is worse than" if high < 0 else "shows no gain over"
    return f"Do not use this jury: {about} {what} its best member. {numbers}."


def _times(jury: JuryResult) -> str:
    """The jury's price beside its best member's, as the end of a sentence."""
    whole, one = jury.price, jury.price_of_best
    if whole.money is not None and one.money:
        return f", at {whole.money / one.money:.1f} times the cost"
    if whole.calls is not None and one.calls:
        return f", at {whole.calls / one.calls:.1f} times the calls"
    alive = len(jury.members) - len(jury.dead)
    return f", with {alive} judges in place of one"


def _worths(results: Sequence[JuryResult]) -> Table:
    columns = (
        text("Jury"), text("Attribute"), text("Combined by"), count("Responses"),
        number("Error correlation", 2), number("Votes", 2),
        interval("Votes, between", 2), number("Explained", 2),
        text("Best member"), number("Best member explains", 2), number("Plain mean explains", 2),
        interval("Gain over best member", 2), interval("Gain over plain mean", 2),
        share("Agrees"), share("Best member agrees"),
    )  # fmt: skip
    rows = tuple(
        (
            jury.jury,
            jury.attribute,
            jury.combine.replace("_", " "),
            worth.n,
            worth.error_correlation,
            worth.votes,
            _votes_between(worth),
            worth.jury,
            jury.best or None,
            worth.single,
            worth.mean,
            worth.over_single.bounds,
            worth.over_mean.bounds,
            worth.agreement,
            worth.single_agreement,
        )
        for jury in results
        for worth in [jury.worth]
    )
    return Table(columns, rows)


def _votes_between(worth: JuryWorth) -> tuple[float, float] | None:
    return None if math.isnan(worth.votes_low) else (worth.votes_low, worth.votes_high)


def _members(results: Sequence[JuryResult]) -> Table:
    columns = (
        text("Jury"), text("Attribute"), text("Member"), count("Asked"), count("Abstained"),
    )  # fmt: skip
    rows = []
    for jury in results:
        counts = {**jury.abstained, **dict.fromkeys(jury.dead, jury.asked)}
        rows += [
            (jury.jury, jury.attribute, name, jury.asked, counts[name]) for name in jury.members
        ]
        rows.append((jury.jury, jury.attribute, "the jury itself", jury.asked, jury.missing))
    return Table(columns, tuple(rows))


def _prices(results: Sequence[JuryResult]) -> Table:
    columns = (text("Rater"), text("Jury"), count("Calls"), count("Tokens"), number("Cost", 4))
    rows = []
    for jury in results:
        rows += [(p.rater, jury.jury, p.calls, p.tokens, p.money) for p in jury.prices]
        whole = jury.price
        rows.append(("all members", jury.jury, whole.calls, whole.tokens, whole.money))
    return Table(columns, tuple(rows))
