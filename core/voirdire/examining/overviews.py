"""Judges and systems at a glance: ranks, groups, decisions by MSE and ICC, agreement and its price.

Sections that an examination may be given besides; `mentalalign` gives them to its own.
"""

from __future__ import annotations

import math
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING

import polars as pl

from voirdire.store import replies_frame
from voirdire.tabular import Section, Table, count, number, text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from voirdire.examining.examination import Examination


def over_judges(examination: Examination) -> Section:
    """Every system's mean over the judges and its mean rank, with each judge's mean beside it."""
    judges, study = examination.judges, examination.study
    overall = {(seen.rater, seen.system): seen.overall for seen in examination.system_means}
    names = _systems(examination)
    means = {
        name: math.fsum(overall.get((judge, name), math.nan) for judge in judges) / len(judges)
        for name in names
        if judges
    }
    ranks = [_ranks({name: overall.get((judge, name), math.nan) for name in names})
             for judge in judges]  # fmt: skip
    # NaN compares with nothing: what has no mean goes last.
    order = sorted(means, key=lambda name: (math.isnan(means[name]), -means[name]))
    columns = (
        text("System"),
        *map(number, judges),
        number("Mean rank", 2),
        number("Mean"),
        count("Rank"),
    )
    rows = tuple(
        (
            study.system(name).label or name,
            *(overall.get((judge, name)) for judge in judges),
            math.fsum(own[name] for own in ranks) / len(ranks),
            means[name],
            rank,
        )
        for rank, name in enumerate(order, start=1)
    )
    return Section(
        title="Systems over all judges (as Table 9)",
        text="The mean of the judges' overall means, its rank, and the mean of the ranks that each "
        "judge gives; no system is left out of any of them.",
        tables=(Table(columns, rows),),
    )


def _systems(examination: Examination) -> list[str]:
    """Systems as declared, else as they occur."""
    declared = [system.name for system in examination.study.systems]
    return declared or list(dict.fromkeys(seen.system for seen in examination.system_means))


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
    for seen in examination.system_means:
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
    for attribute in examination.attributes:
        own = [r for r in examination.results if r.attribute == attribute]
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
    # What was generated is no judging; failed attempts count, for they were paid.
    used = replies_frame(session).filter(pl.col("stage") != "generate").group_by("rater").agg(
        pl.len().alias("calls"), pl.col("input", "output", "cached", "latency").sum(),
        pl.col("input", "output").null_count().name.suffix("_unknown"),
    )  # fmt: skip
    of = {row["rater"]: row for row in used.to_dicts()}
    rows = []
    for judge in examination.judges:
        spec, row = examination.study.rater(judge), of.get(judge)
        if spec is None or row is None:
            continue
        own = [r for r in examination.results if r.judge == judge]
        rated = int(sum(r.n_pairs for r in own) / len(own)) if own else 0
        means = [fmean(getattr(r, name) for r in own) if own else math.nan
                 for name in ("icc_c1", "icc_a1", "mse")]  # fmt: skip
        counted = row["input_unknown"] == row["output_unknown"] == 0
        given, out = row["input"], row["output"]
        prices = examination.study.run.prices.get(spec.model)
        cost = prices.cost(given, out, row["cached"]) if counted and prices is not None else None
        tokens = (given, out) if counted else (None, None)
        seconds = row["latency"] / row["calls"]
        rows.append((judge, *means, row["calls"], *tokens, seconds, cost, rated))
    columns = (
        text("Judge"), *map(number, ("Mean ICC(C,1)", "Mean ICC(A,1)", "Mean MSE")),
        *map(count, ("Calls", "Input tokens", "Output tokens")), number("Seconds a call", 2),
        number("Cost", 4), count("Responses"),
    )  # fmt: skip
    return Section(
        "Agreement beside what it takes",
        "Means over attributes; what all attempts of the judge used. Tokens are missing where the "
        "provider does not count them in every reply, cost where the study names no prices "
        '(`[run.prices."MODEL"]`, per million tokens).',
        (Table(columns, tuple(rows)),),
    )
