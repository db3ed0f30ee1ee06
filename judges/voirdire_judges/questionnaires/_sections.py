"""Questionnaires in a report: complete and partial answers, totals, what the variant can reach."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.tabular import Marked, Section, Table, count, number, text
from voirdire_judges.questionnaires._load import load_questionnaire

if TYPE_CHECKING:
    from voirdire.schema import Scale
    from voirdire.study import Rater, Study
    from voirdire_judges.questionnaires._load import Questionnaire

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
    notes = " ".join(
        dict.fromkeys(
            f"{one.name}: {said}" for one in known for said in (one.note, one.descriptions) if said
        )
    )
    said = _TEXT.format(notes=notes).strip()
    return [Section("Questionnaires", said, (Table(_COLUMNS, rows),))]


def sweep_sections(study: Study, session: Path, gold: pl.DataFrame) -> list[Section]:
    """What each threshold of a questionnaire would decide, against the gold label of its construct.

    `gold` has ``item`` and a column a label. A post is decided where no missing answer could change
    it (the bounds of its total agree); else it is missing, and in no score.
    """
    ratings = pl.read_parquet(session / "ratings.parquet")
    rows: list[tuple[Any, ...]] = []
    for rater in study.panel:
        known = _questionnaire(rater, study) if rater.use == "questionnaire" else None
        if known is not None and known.construct in gold.columns:
            own = ratings.filter(pl.col("rater") == rater.name)
            bounds = _bounds(known, own).join(
                gold.select("item", truth=known.construct).drop_nulls(), on="item", how="inner"
            )
            rows += [
                (rater.name, one, *_decided(bounds, one), _declared(rater, one))
                for one in _thresholds(known.total)
                if bounds.height
            ]
    columns = (
        text("Rater"), number("Threshold", 0), count("Decided"), count("Missing"),
        *map(number, ("Accuracy", "Precision", "Recall", "F1")), text("Declared"),
    )  # fmt: skip
    return [
        Section(
            "Thresholds of questionnaires, swept",
            "Posts times runs. A threshold that is chosen where it does best on these posts is "
            "fitted to them: declare it before, or choose it on others.",
            (Table(columns, tuple(rows)),),
        )
    ]


def _bounds(known: Questionnaire, ratings: pl.DataFrame) -> pl.DataFrame:
    """``item, low, high`` of each post and run that was asked about: what the total can be."""
    serials = [f"{known.name}.{serial}" for serial in range(1, len(known.questions) + 1)]
    score, scale = pl.col("score"), known.scale
    return (
        ratings.filter(pl.col("attribute").cast(pl.String).is_in(serials))
        .group_by("item", "run", maintain_order=True)
        .agg(
            (score.sum() + score.null_count() * scale.low).alias("low"),
            (score.sum() + score.null_count() * scale.high).alias("high"),
        )
    )


def _thresholds(total: Scale) -> list[float]:
    """At most twenty whole thresholds, evenly over what a total can be."""
    first, last = int(total.low) + 1, int(total.high)
    step = -(-(last - first + 1) // 20)
    return [float(one) for one in range(first, last + 1, step)]


def _decided(bounds: pl.DataFrame, threshold: float) -> tuple[Any, ...]:
    yes, no = pl.col("low") >= threshold, pl.col("high") < threshold
    decided = bounds.filter(yes | no).select(yes.alias("said"), (pl.col("truth") == 1).alias("is"))
    hits = decided.filter(pl.col("said") & pl.col("is")).height
    named, true = int(decided["said"].sum()), int(decided["is"].sum())
    right = int((decided["said"] == decided["is"]).sum())
    return (
        decided.height,
        bounds.height - decided.height,
        right / decided.height if decided.height else None,
        hits / named if named else None,
        hits / true if true else None,
        2 * hits / (named + true) if named + true else None,
    )


def _declared(rater: Rater, threshold: float) -> str:
    return "declared" if rater.options.get("threshold") == threshold else ""


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
