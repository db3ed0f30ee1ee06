"""What these ratings can and cannot show, beside the published figures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from voirdire.examining import Section

if TYPE_CHECKING:
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


def review(examination: Examination) -> Examination:
    """Add notes on the published figures and the table of the two exclusion rules."""
    policy = str(examination.options.get("off_scale", ""))
    notes = (MERGED, CLASSES, OFF_SCALE.format(policy="kept" if policy == "keep" else policy))
    return examination.replace(
        notes=(*examination.notes, *notes), sections=(*examination.sections, _family(examination))
    )


def _family(examination: Examination) -> Section:
    rows = tuple(row for result in examination.results if (row := _family_row(result)))
    shifts = [abs(row[-1]) for row in rows if not math.isnan(row[-1])]
    most = f"ICC(A,1) moves by up to {max(shifts):.3f}. " if shifts else ""
    return Section(
        title="Self-exclusion: one system, or the whole family",
        text=(
            "The published study leaves out one system a judge, so GPT-4o still judges GPT-4o-Mini "
            f"and o4-mini judges GPT-4o. Leaving out the judge's whole family changes: {most}"
            "Claude and Gemini have one system of their family each, so both rules agree on them."
        ),
        columns=(
            "Judge",
            "Attribute",
            "n",
            "ICC(C,1)",
            "ICC(A,1)",
            "n, family",
            "ICC(C,1), family",
            "ICC(A,1), family",
            "Difference of ICC(A,1)",
        ),
        rows=rows,
    )


def _family_row(result: PairResult) -> Row | None:
    other = result.extra.get("family_rule")
    if not other:
        return None
    return (
        result.judge,
        result.attribute,
        result.n_systems,
        result.icc_c1,
        result.icc_a1,
        other["n_systems"],
        other["icc_c1"],
        other["icc_a1"],
        other["icc_a1"] - result.icc_a1,
    )
