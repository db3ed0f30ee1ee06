"""What these ratings can and cannot show, beside the published figures."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.examining.decomposed import all_raters, decomposition
from voirdire.examining.overall import overall_sections
from voirdire.examining.overviews import (
    by_attribute,
    by_group,
    decisions,
    generating,
    guidance,
    over_judges,
    precision,
    spending,
)
from voirdire.stats import icc
from voirdire.tabular import Section, Table, count, interval, number, share, text
from voirdire_plugins.resources import resource

if TYPE_CHECKING:
    from pathlib import Path

    from voirdire.examining import Examination, PairResult

    Row = tuple[str, str, int, float, float, int, float, float, float]

MERGED = (
    "The human file holds one merged column of three experts, so neither their agreement with one "
    "another (the ceiling for any judge) nor the replaceability of an expert can be tested."
)
CLASSES = (
    "GR, MR and PR are the published classes: widths of the percentile interval of ICC(C,1) over "
    "nine systems, cut at tertiles of the widths observed in that study (0.355, 0.560). They "
    "measure precision relative to that study, not reliability."
)
OFF_SCALE = (
    "The published figures keep 231 zeros and 8 sixes of the human file as if they were ratings. "
    "Here off-scale values are {policy}; compare --off-scale keep with the default, missing."
)

#: The columns of figure 2: cognitive, affective, then safety and relevance.
FIGURE_2 = tuple(resource("mentalalign", "published")["figure_2"])
#: What judges give beside the attributes (Table 7), and say of it.
OVERALL, JUSTIFICATION = "Overall", "Explanation"


def review(examination: Examination) -> Examination:
    """The paper's tables; for its own ratings also notes, the guidance matrix and Figure 5."""
    session = examination.session
    sections = [
        guidance(examination),
        by_attribute(examination),
        over_judges(examination),
        precision(examination, FIGURE_2),
        by_group(examination),
        decisions(examination),
        all_raters(examination),
        decomposition(examination),
        *overall_sections(examination, OVERALL, JUSTIFICATION),
        *(
            part(examination, session)
            for part in (spending, generating, conditions)
            if session is not None
        ),
    ]
    notes: tuple[str, ...] = ()
    if examination.study.analysis.published_class:
        policy = examination.study.data.off_scale
        off_scale = OFF_SCALE.format(policy="kept" if policy == "keep" else policy)
        notes = (MERGED, CLASSES, off_scale)
        sections += [_family(examination), scenarios()]
    return examination.replace(
        notes=(*examination.notes, *notes),
        sections=(*examination.sections, *(part for part in sections if part.has_rows)),
    )


def conditions(examination: Examination, session: Path) -> Section:
    """The most frequent combinations of conditions, and how the raters score them (figure 3)."""
    from voirdire.store.frames import session_items  # noqa: PLC0415 - loads the store

    conditions_of = {
        item.id: str(item.extra.get("conditions") or "") for item in session_items(session)
    }
    # Sorted, since two orders of the same conditions are one combination.
    named = {
        item: "; ".join(sorted(filter(None, map(str.strip, joined.split(";")))))
        for item, joined in conditions_of.items()
    }
    counts = Counter(filter(None, named.values()))
    of_item = {name: [item for item, own in named.items() if own == name] for name in counts}
    raters = examination.ratings["rater"].cast(pl.String).unique(maintain_order=True).to_list()
    means = {
        (name, rater): examination.ratings.filter(
            pl.col("item").cast(pl.String).is_in(items), pl.col("rater").cast(pl.String) == rater
        )["score"].mean()
        for name, items in of_item.items()
        for rater in raters
    }
    rows = tuple(
        (name, n, n / len(conditions_of), *(means[name, rater] for rater in raters))
        for name, n in counts.most_common(15)
    )
    columns = (
        text("Conditions"), count("Conversations"), share("Share"), *map(number, raters),
    )  # fmt: skip
    return Section(
        "Combinations of conditions (figure 3)",
        "The 15 most frequent combinations in the column `conditions` of the conversations, with "
        "each rater's mean over all attributes and systems. Some combinations are rare.",
        (Table(columns, rows),),
    )


def scenarios() -> Section:
    """Figure 5, computed anew from the ratings printed in it."""
    rows = []
    for name, one in resource("mentalalign", "published")["scenarios"].items():
        # Systems by raters, as `icc` takes them.
        matrix = np.column_stack([one["human"], one["judge"]])
        gap = matrix[:, 1] - matrix[:, 0]
        consistency = icc(matrix, "C,1", ci=("f", "exact"))
        agreement = icc(matrix, "A,1", ci=None)
        rows.append(
            (
                f"{name}: {one['what']}",
                float((gap**2).mean()),
                one.get("mse"),
                float(gap.mean()),
                consistency.value,
                one["icc"],
                consistency.interval("f"),
                consistency.interval("exact"),
                tuple(one["interval"]) if "interval" in one else None,
                agreement.value,
            )
        )
    columns = (
        text("Scenario"), number("MSE"), number("MSE, printed", 2), number("Bias", signed=True),
        number("ICC(C,1)"), number("ICC(C,1), printed", 2), interval("F interval"),
        interval("Bootstrap, exact"), interval("Bootstrap, printed"), number("ICC(A,1)"),
    )  # fmt: skip
    return Section(
        "The two scenarios of Figure 5",
        "From the five means a scenario prints. Scenario A follows from its ratings: its MSE "
        "comes from the bias alone, and its order is perfect. The 0.31 of scenario B does not "
        "follow: its ratings have an ICC(C,1) near 0. By its intervals the order may be anything: "
        "five systems cannot tell.",
        (Table(columns, tuple(rows)),),
    )


def _family(examination: Examination) -> Section:
    rows = tuple(row for result in examination.results if (row := _family_row(result)))
    shifts = [abs(row[-1]) for row in rows if not math.isnan(row[-1])]
    most = f"ICC(A,1) moves by up to {max(shifts):.3f}. " if shifts else ""
    columns = (
        text("Judge"),
        text("Attribute"),
        count("n"),
        number("ICC(C,1)"),
        number("ICC(A,1)"),
        count("n, family"),
        number("ICC(C,1), family"),
        number("ICC(A,1), family"),
        number("Difference of ICC(A,1)"),
    )
    return Section(
        title="Self-exclusion: one system, or the whole family",
        text=(
            "The published study leaves out one system a judge, so GPT-4o still judges GPT-4o-Mini "
            f"and o4-mini judges GPT-4o. Leaving out the judge's whole family changes: {most}"
            "Claude and Gemini have one system of their family each, so both rules agree on them."
        ),
        tables=(Table(columns, rows),),
    )


def _family_row(result: PairResult) -> Row | None:
    other = result.family_rule
    if other is None:
        return None
    return (
        result.judge,
        result.attribute,
        result.n_systems,
        result.icc_c1,
        result.icc_a1,
        other.n_systems,
        other.icc_c1,
        other.icc_a1,
        other.icc_a1 - result.icc_a1,
    )
