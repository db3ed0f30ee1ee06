"""Judges and systems at a glance: ranks, groups, decisions by MSE and ICC, quality and its price.

Sections that an examination may be given besides; `mentalalign` gives them to its own.
"""

from __future__ import annotations

import math
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.store import replies_frame
from voirdire.tabular import Marked, Section, SectionFigure, Table, count, number, text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from voirdire.examining.examination import Examination
    from voirdire.examining.ratings.facts import PairResult, SystemMean
    from voirdire.study import Guidance, Study
    from voirdire.tabular import Cell


def over_judges(examination: Examination) -> Section:
    """Every system's mean over the judges and its mean rank, with each judge's mean beside it."""
    judges, study = examination.judges, examination.study
    overall = {(seen.rater, seen.system): seen.overall for seen in examination.rated.system_means}
    names = _systems(examination)
    means = {
        name: math.fsum(overall.get((judge, name), math.nan) for judge in judges) / len(judges)
        for name in names
        if judges
    }
    ranks = [
        _ranks({name: overall.get((judge, name), math.nan) for name in names}) for judge in judges
    ]
    # NaN compares with nothing: what has no mean goes last.
    order = sorted(means, key=lambda name: (math.isnan(means[name]), -means[name]))
    columns = (
        text("System"),
        *map(number, judges),
        number("Mean rank", 2),
        number("Mean"),
        count("Rank"),
    )
    marks = [
        _marks(study, {name: overall.get((judge, name), math.nan) for name in names})
        for judge in judges
    ]
    of_means = _marks(study, means)
    rows = tuple(
        (
            study.system(name).label or name,
            *(own[name] for own in marks),
            math.fsum(own[name] for own in ranks) / len(ranks),
            of_means[name],
            rank,
        )
        for rank, name in enumerate(order, start=1)
    )
    return Section(
        title="Systems over all judges (as Table 9)",
        text="The mean of the judges' overall means, its rank, and the mean of the ranks that each "
        f"judge gives; no system is left out of any of them.{_legend(study)}",
        tables=(Table(columns, rows),),
    )


#: Behind the highest of all, and of a group that the highest of all is not in.
_BEST, _BEST_OF_GROUP = " *", " †"


def _legend(study: Study) -> str:
    groups = list(dict.fromkeys(system.group for system in study.systems if system.group))
    of_group = f"; † of its group ({', '.join(groups)})" if len(groups) > 1 else ""
    return f" * marks the highest of a column{of_group}."


def _marks(study: Study, values: Mapping[str, float]) -> dict[str, Cell]:
    """System -> its value, marked where it is the highest of all, or of its group."""
    present = {name: value for name, value in values.items() if not math.isnan(value)}
    top = max(present.values(), default=math.nan)
    tops: dict[str, float] = {}
    for name, value in present.items():
        group = study.system(name).group
        tops[group] = max(value, tops.get(group, value))
    marked: dict[str, Cell] = {}
    for name, value in values.items():
        group = study.system(name).group
        mark = ""
        if value == top:
            mark = _BEST
        elif group and value == tops.get(group):
            mark = _BEST_OF_GROUP
        marked[name] = Marked(value, mark) if mark else value
    return marked


def by_attribute(examination: Examination) -> Section:
    """Each rater's mean of each system on every attribute and group of attributes."""
    study, names = examination.study, _systems(examination)
    rows: list[tuple[Cell, ...]] = []
    heads: list[str] = []
    for rater in dict.fromkeys(seen.rater for seen in examination.rated.system_means):
        seen = {one.system: one for one in examination.rated.system_means if one.rater == rater}
        present = [name for name in names if name in seen]
        own = {
            head: _marks(study, {name: of(seen[name]) for name in present})
            for head, of in _parts_of(seen[present[0]])
        }
        heads = list(own)
        rows += [
            (
                rater,
                study.system(name).label or name,
                *(own[head][name] for head in heads),
                seen[name].rank,
            )
            for name in sorted(present, key=lambda one: seen[one].rank)
        ]
    columns = (text("Rater"), text("System"), *map(number, heads), number("Rank", 1))
    return Section(
        "Systems by attribute and group of attributes (as Tables 2 and 10 to 14)",
        f"Means over all responses; no system is left out.{_legend(study)}",
        (Table(columns, tuple(rows)),),
    )


def _parts_of(mean: SystemMean) -> list[tuple[str, Callable[[SystemMean], float]]]:
    """Attributes, groups of attributes and the mean over attributes: heading and value."""
    return [
        *((name, lambda one, name=name: one.means.get(name, math.nan)) for name in mean.means),
        *(
            (name, lambda one, name=name: one.composites.get(name, math.nan))
            for name in mean.composites
        ),
        ("Mean", lambda one: one.overall),
    ]


def _systems(examination: Examination) -> list[str]:
    """Systems as declared, else as they occur."""
    declared = [system.name for system in examination.study.systems]
    return declared or list(dict.fromkeys(seen.system for seen in examination.rated.system_means))


def _ranks(means: Mapping[str, float]) -> dict[str, float]:
    """Ranks from 1 (the highest mean); ties share theirs, and what has no mean has none."""
    present = {name: value for name, value in means.items() if not math.isnan(value)}
    falling = pl.Series(list(present.values()), dtype=pl.Float64).rank("average", descending=True)
    ranks = dict(zip(present, falling.to_list(), strict=True))
    return {name: ranks.get(name, math.nan) for name in means}


def by_group(examination: Examination) -> Section:
    """Closed against open systems: the mean of each rater over the systems of a group."""
    groups = {system.name: system.group for system in examination.study.systems if system.group}
    names = list(dict.fromkeys(groups.values()))
    cells: dict[tuple[str, str], list[float]] = {}
    for seen in examination.rated.system_means:
        if seen.system in groups:
            cells.setdefault((seen.rater, groups[seen.system]), []).append(seen.overall)
    raters = list(dict.fromkeys(rater for rater, _ in cells))
    gap = len(names) >= 2 and {"closed", "open"} <= set(names)
    columns = (
        text("Rater"),
        *(number(f"{name} ({sum(g == name for g in groups.values())} systems)") for name in names),
        *([number("closed - open", signed=True)] if gap else []),
    )
    rows = []
    for rater in raters:
        means = {name: fmean(cells.get((rater, name), [math.nan])) for name in names}
        rows.append((rater, *means.values(), *([means["closed"] - means["open"]] if gap else [])))
    return Section(
        "Closed and open systems",
        "The mean of the overall means of the systems of a group (`group` of a system in the "
        "study); no system is left out. A few systems of each kind say little of the kind.",
        (Table(columns, tuple(rows) if names else ()),),
    )


def decisions(examination: Examination) -> Section:
    """Which judge comes out best by MSE and by ICC, and how many pairs of judges change places."""
    rows = []
    found = (*examination.results, *examination.rated.composites)
    for attribute in dict.fromkeys(result.attribute for result in found):
        own = [result for result in found if result.attribute == attribute]
        results = [r for r in own if not math.isnan(r.icc_c1)]
        if len(results) < 2:
            continue
        best = [
            min(results, key=lambda r: r.mse).judge,
            max(results, key=lambda r: r.icc_c1).judge,
            max(results, key=lambda r: r.icc_a1).judge,
        ]
        pairs = list(combinations(results, 2))
        turned = [
            # A small MSE is good, a large ICC is: the two agree where the differences have opposite
            # signs.
            sum((a.mse - b.mse) * (getattr(a, form) - getattr(b, form)) > 0 for a, b in pairs)
            for form in ("icc_c1", "icc_a1")
        ]
        rows.append((attribute, *best, len(pairs), *turned))
    columns = (
        *map(text, ("Attribute", "Best by MSE", "Best by ICC(C,1)", "Best by ICC(A,1)")),
        *map(count, ("Pairs of judges", "ordered otherwise by ICC(C,1)", "by ICC(A,1)")),
    )
    return Section(
        "Decisions by MSE and by ICC",
        "Two judges are ordered otherwise where the one with the smaller squared error has the "
        "smaller ICC. MSE is over single responses, ICC over means of systems.",
        (Table(columns, tuple(rows)),),
    )


def spending(examination: Examination, session: Path) -> Section:
    """Each judge's agreement beside what its replies used: tokens, seconds, cost."""
    rows = []
    # What was generated is no judging.
    used = _used(session, pl.col("stage") != "generate")
    for judge in examination.judges:
        spec, row = examination.study.rater(judge), used.get(judge)
        if spec is None or row is None:
            continue
        own = [r for r in examination.results if r.judge == judge]
        rated = int(sum(r.n_pairs for r in own) / len(own)) if own else 0
        means = [
            fmean(getattr(r, name) for r in own) if own else math.nan
            for name in ("icc_c1", "icc_a1", "mse")
        ]
        rows.append((judge, *means, *_spent(row, examination.study, spec.model), rated))
    columns = (
        text("Judge"),
        *map(number, ("Mean ICC(C,1)", "Mean ICC(A,1)", "Mean MSE")),
        *_SPENT,
        count("Responses"),
    )
    return Section(
        "Agreement beside what it takes",
        f"Means over attributes; what all attempts of the judge used. {_UNKNOWN}",
        (Table(columns, tuple(rows)),),
    )


def generating(examination: Examination, session: Path) -> Section:
    """The quality of each generator's responses beside what they used: tokens, seconds, cost."""
    study, rows = examination.study, []
    used = _used(session, pl.col("stage") == "generate")
    humans, judges = examination.raters_of_systems()
    for generator in study.generators:
        row = used.get(generator.name)
        if row is None:
            continue
        means = {
            seen.rater: seen.overall
            for seen in examination.rated.system_means
            if seen.system == generator.name and not math.isnan(seen.overall)
        }
        quality = [
            fmean(own) if (own := [means[name] for name in names if name in means]) else None
            for names in (humans, judges)
        ]
        calls, given, out, seconds, cost = _spent(row, study, generator.model)
        rows.append(
            (
                generator.name,
                *quality,
                calls,
                given,
                out,
                seconds,
                cost,
                None if out is None else out / calls,
                None if cost is None else 1000 * cost / calls,
            )
        )
    columns = (
        text("System"), number("Mean by humans"), number("Mean by judges"), *_SPENT,
        number("Output tokens a call", 1), number("Cost of 1,000 calls", 4),
    )  # fmt: skip
    return Section(
        "Quality of responses beside what they take",
        "Means over attributes, of the reference raters and of the judges; what all attempts of "
        f"the generator used. {_UNKNOWN}",
        (Table(columns, tuple(rows)),),
    )


_SPENT = (
    *map(count, ("Calls", "Input tokens", "Output tokens")), number("Seconds a call", 2),
    number("Cost", 4),
)  # fmt: skip
_UNKNOWN = (
    "Tokens are missing where the provider does not count them in every reply, cost where the "
    'study names no prices (`[run.prices."MODEL"]`, per million tokens).'
)


def _used(session: Path, wanted: pl.Expr) -> dict[str, dict[str, Any]]:
    """Rater -> what its replies used; failed attempts count, for they were paid."""
    used = (
        replies_frame(session)
        .filter(wanted)
        .group_by("rater")
        .agg(
            pl.len().alias("calls"),
            pl.col("input", "output", "cached", "written", "latency").sum(),
            pl.col("input", "output").null_count().name.suffix("_unknown"),
        )
    )
    return {row["rater"]: row for row in used.to_dicts()}


def _spent(row: Mapping[str, Any], study: Study, model: str) -> tuple[Any, ...]:
    """Calls, input and output tokens, seconds a call, cost: the columns of `_SPENT`."""
    counted = row["input_unknown"] == row["output_unknown"] == 0
    given, out = (row["input"], row["output"]) if counted else (None, None)
    prices = study.run.prices.get(model)
    cost = None
    if counted and prices is not None:
        cost = prices.cost(row["input"], row["output"], row["cached"], row["written"])
    return row["calls"], given, out, row["latency"] / row["calls"], cost


def guidance(examination: Examination) -> Section:
    """Judges and attributes sorted by consistency and the width of its interval (section 5.4).

    By the bounds that the study declares (`analysis.guidance`); by the classes of a published
    study where it follows one. No rows where there is neither.
    """
    bounds, published = examination.study.analysis.guidance, _published(examination)
    high = bounds.icc if bounds else HIGH
    cells: dict[tuple[bool, str], list[str]] = {}
    # The published classes rank pairs of judge and attribute; a group of these was none of them.
    groups = () if bounds is None else examination.rated.composites
    for result in (*examination.results, *groups):
        width = result.reliability_class if bounds is None else _width(result, bounds)
        if width:
            own = cells.setdefault((result.icc_c1 >= high, width), [])
            own.append(f"{result.judge} {result.attribute}")
    limits = (
        ("",) * 3
        if bounds is None
        else (
            f", to {bounds.narrow:g}",
            f", to {bounds.wide:g}",
            f", over {bounds.wide:g}",
        )
    )
    codes = [f" ({code})" for code in WIDTHS] if bounds is None else [""] * 3
    names = ("narrow", "moderate", "wide")
    columns = (
        text("ICC(C,1)"),
        *(
            text(f"{name}{code}{limit}")
            for name, code, limit in zip(names, codes, limits, strict=True)
        ),
    )
    rows = tuple(
        (name, *("; ".join(cells.get((is_high, width), [])) or "none" for width in WIDTHS))
        for name, is_high in ((f"{high:g} or more", True), (f"below {high:g}", False))
    )
    limit = (
        f"High is here ICC(C,1) from {HIGH:g}, where Koo and Li's band of good begins; the paper "
        "names no limit."
        if bounds is None
        else "The bounds are the study's own, of the F interval, and were declared before its data "
        "were examined."
    )
    return Section(
        "The published guidance matrix" if published and bounds is None else "Guidance matrix",
        "Section 5.4 of Badawi et al. reads a high ICC with a narrow interval as reliable, a high "
        "one with a wide interval as promising and to be validated, a low one with a narrow "
        f"interval as unreliable, and a low one with a wide interval as poor. {limit} The verdicts "
        "do not rest on it, and no cell licenses clinical use, whatever the paper says of the "
        "first.",
        (Table(columns, rows if bounds or published else ()),),
    )


#: From here on an ICC is "good" (Koo and Li 2016).
HIGH = 0.75
WIDTHS = ("GR", "MR", "PR")


def _published(examination: Examination) -> bool:
    return bool(examination.study.analysis.published_class)


def _width(result: PairResult, bounds: Guidance) -> str:
    """GR, MR or PR by declared widths; empty where there is no interval."""
    interval = result.interval("C,1", "f")
    if interval is None or math.isnan(interval.width):
        return ""
    return WIDTHS[(interval.width > bounds.narrow) + (interval.width > bounds.wide)]


def precision(examination: Examination, order: Sequence[str]) -> Section:
    """Consistency and the width of its interval, judges by attributes in a given order (figure 2).

    The width is that of the percentile interval where it was asked for, else that of the F one.
    """
    found = {(one.judge, one.attribute): one for one in examination.results}
    names = [name for name in order if name in examination.attributes]
    names += [name for name in examination.attributes if name not in names]
    drawn = any(one.interval("C,1", "percentile") for one in found.values())
    method = "percentile" if drawn else "f"

    def width(result: PairResult) -> float:
        interval = result.interval("C,1", method)
        return math.nan if interval is None else interval.width

    said = "bootstrap" if drawn else "F"
    values = {
        "ICC(C,1)": lambda one: one.icc_c1,
        f"Width of its {said} interval": width,
    }
    grids = {
        head: {
            judge: tuple(
                of(found[judge, name]) if (judge, name) in found else math.nan for name in names
            )
            for judge in examination.judges
        }
        for head, of in values.items()
    }
    tables = tuple(
        Table(
            (text(head), *map(number, names)), tuple((judge, *own) for judge, own in grid.items())
        )
        for head, grid in grids.items()
    )
    figures = tuple(
        SectionFigure("heat", tuple(names), tuple(grid.items()), y=head)
        for head, grid in grids.items()
    )
    return Section(
        "Consistency and its precision, by attribute (figure 2)",
        "Columns stand in the order of the paper: cognitive attributes, affective ones, then "
        "safety and relevance; others behind them. A high value with a wide interval is no "
        "evidence of reliability.",
        tables,
        figures,
    )
