"""Questionnaires in a report: complete and partial answers, totals, what the variant can reach."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.tabular import Marked, Section, Table, count, number, text
from voirdire_judges.questionnaires import load_questionnaire

if TYPE_CHECKING:
    from voirdire.study import Rater, Study
    from voirdire_judges.questionnaires import Questionnaire

_TEXT = (
    "A total stands only where every item is answered; a partial sum would look like a low score. "
    "Bounds are the means of the least and the most that totals could be, over all posts. {notes}"
)
_COLUMNS = (
    text("Rater"),
    text("Variant"),
    number("Threshold", 1),
    text("Range"),
    count("Posts x runs"),
    count("Complete"),
    count("Items missing"),
    number("Mean total"),
    number("Least mean"),
    number("Most mean"),
)


def scale_sections(study: Study, session: Path) -> list[Section]:
    """One section over all questionnaires of the panel, from the session's ratings."""
    raters = [rater for rater in study.panel if rater.use == "questionnaire"]
    if not raters:
        return []
    ratings = pl.read_parquet(session / "ratings.parquet")
    known = [_questionnaire(rater, study) for rater in raters]
    rows = tuple(
        row
        for rater, one in zip(raters, known, strict=True)
        if (row := _row(rater, one, ratings.filter(pl.col("rater") == rater.name)))
    )
    notes = " ".join(dict.fromkeys(f"{one.name}: {one.note}" for one in known if one.note))
    said = _TEXT.format(notes=notes).strip()
    return [Section("Questionnaires (A.5)", said, (Table(_COLUMNS, rows),))]


def _questionnaire(rater: Rater, study: Study) -> Questionnaire:
    name = str(rater.options.get("scale", study.rubric.use))
    beside = Path(study.folder) / name
    variant = str(rater.options.get("variant", "standard"))
    return load_questionnaire(beside if beside.is_file() else name, variant)


def _row(rater: Rater, known: Questionnaire, ratings: pl.DataFrame) -> tuple[Any, ...]:
    attribute = pl.col("attribute").cast(pl.String)
    totals = ratings.filter(attribute == f"{known.name}.total")
    if totals.is_empty():
        return ()
    serials = [f"{known.name}.{serial}" for serial in range(1, len(known.questions) + 1)]
    items = ratings.filter(attribute.is_in(serials))
    lacking = items["score"].null_count()
    answered, size = float(items["score"].sum() or 0), totals.height
    total = known.total
    return (
        rater.name,
        known.variant,
        rater.options.get("threshold", Marked(None, "none declared")),
        f"{total.low:g} to {total.high:g}",
        size,
        size - totals["score"].null_count(),
        lacking,
        totals["score"].mean(),
        (answered + lacking * known.scale.low) / size,
        (answered + lacking * known.scale.high) / size,
    )
