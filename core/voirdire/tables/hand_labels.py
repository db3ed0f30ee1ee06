"""Labels that people set or corrected by hand while they looked at single responses.

They lie in ``labels.parquet``: in the folder of a session, or in ``SOURCE.voirdire`` beside a file.
Rows are only ever added, so that two people at once lose nothing; the latest of a rater counts.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import TableError, check_columns
from voirdire.files import file_hash, locked, mode_like, own_folder, whole
from voirdire.late import dataclass
from voirdire.study import Rater, Study
from voirdire.tables._tables import FACTS, ORIGIN, RATERS, REASONS, STATUS, Tables, finding, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Finding

NAME = "labels.parquet"
FOLDER = ".voirdire"
#: A null `score` takes an earlier label back.
HAND_LABELS = pl.Schema(
    {
        "item": pl.String(),
        "system": pl.String(),
        "attribute": pl.String(),
        "rater": pl.String(),
        "score": pl.Float64(),
        "origin": ORIGIN,
        "labelled_by": pl.String(),
        "labelled_at": pl.String(),
        "note": pl.String(),
    }
)
_KEY = ("item", "system", "attribute", "rater")


@dataclass(frozen=True, slots=True)
class HandLabel:
    """A label that somebody set.

    Attributes
    ----------
    system : str or None
        None where items are rated without systems.
    rater : str
        Whose label it is: a human of the panel, whose label it takes the place of, or a new one.
    score : float or None
        None takes the label back that was set by hand before.
    labelled_by : str
        The person who set it.
    """

    item: str
    system: str | None
    attribute: str
    rater: str
    score: float | None
    labelled_by: str
    note: str = ""


def hand_labels_path(source: str | Path) -> Path:
    """Where the labels of a source lie.

    >>> hand_labels_path("ratings.csv").as_posix()
    'ratings.csv.voirdire/labels.parquet'
    """
    path = Path(source)
    folder = path if path.is_dir() else path.with_name(path.name + FOLDER)
    return folder / NAME


def keep_hand_label(path: Path, label: HandLabel) -> None:
    """Add a label to the file, with the time. Other processes that do so wait for one another.

    Raises
    ------
    TableError
        The file is no such table, or cannot be written.
    """
    now = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")
    row = (
        label.item,
        label.system,
        label.attribute,
        label.rater,
        label.score,
        "chosen",
        label.labelled_by,
        now,
        label.note or None,
    )
    added = pl.DataFrame([row], schema=HAND_LABELS, orient="row")
    try:
        own_folder(path.parent)
        with locked(path):
            both = pl.concat([read_hand_labels(path), added])
            with whole(path, mode=mode_like(path)) as draft:
                both.write_parquet(draft)
    except OSError as error:
        raise TableError(f"{path}: cannot be written ({error.strerror or error})") from None


def read_hand_labels(path: Path) -> pl.DataFrame:
    """Every label as it was set, oldest first, in the columns of `HAND_LABELS`.

    Empty where there is no such file.

    Raises
    ------
    TableError
        The file is no such table.
    """
    if not path.is_file():
        return HAND_LABELS.to_frame()
    try:
        labels = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise TableError(f"{path}: cannot be read as Parquet ({error})") from None
    check_columns(str(path), tuple(HAND_LABELS), labels.columns, error=TableError)
    return labels.select(pl.col(name).cast(kind) for name, kind in HAND_LABELS.items())


def latest(labels: pl.DataFrame) -> pl.DataFrame:
    """The label of each response, attribute and rater that counts; those taken back are gone."""
    kept = labels.unique(_KEY, keep="last", maintain_order=True)
    return kept.filter(pl.col("score").is_not_null())


def with_hand_labels(study: Study, rated: Tables, path: Path) -> tuple[Study, Tables]:
    """The study and its tables with the labels that were set by hand, and a finding that says so.

    A label of a human who rated that response already takes that rating's place. A rater who is
    new joins the panel as a human, and the reference.
    """
    kept = latest(read_hand_labels(path))
    if kept.is_empty():
        return study, rated
    ratings = rated.ratings
    names = ratings["attribute"].cast(pl.String).unique()
    responses = ratings.select("item", pl.col("system").cast(pl.String)).unique()
    # Labels of responses that the file no longer holds are counted, and join nothing.
    matched = kept.filter(pl.col("attribute").is_in(names.implode())).join(
        responses, on=["item", "system"], how="semi", nulls_equal=True
    )
    before = ratings.with_columns(pl.col("system", "rater", "attribute").cast(pl.String))
    earlier = before.join(matched, on=list(_KEY), how="semi", nulls_equal=True)
    stays = before.join(matched, on=list(_KEY), how="anti", nulls_equal=True)
    joined = pl.concat([stays, _as_ratings(matched)], how="diagonal")
    kinds = {name: ratings.schema[name] for name in ("system", "rater", "attribute")}
    tables = replace(
        rated,
        ratings=joined.with_columns(
            pl.col(name).cast(kind if name == "attribute" else pl.String)
            for name, kind in kinds.items()
        ),
        raters=_with_raters(rated.raters, matched),
        rated=joined.select("rater", "item", "system").unique(maintain_order=True),
        reasons=pl.concat([rated.reasons, _notes(matched)]),
        findings=(*rated.findings, _finding(matched, earlier.height, kept.height - matched.height)),
        hashes={**rated.hashes, f"{path.parent.name}/{NAME}": file_hash(path)},
    )
    return _with_humans(
        study, matched["rater"].unique(maintain_order=True).to_list(), rated
    ), tables


def _notes(labels: pl.DataFrame) -> pl.DataFrame:
    """Why a label was set, in the words of whoever set it."""
    named = labels.filter(pl.col("note").is_not_null()).with_columns(
        run=pl.lit(1, pl.Int32), text=pl.col("note")
    )
    return named.select(pl.col(name).cast(kind) for name, kind in REASONS.items())


def _as_ratings(labels: pl.DataFrame) -> pl.DataFrame:
    facts = [name for name in FACTS if name in labels.columns]
    return labels.select(
        "item",
        "system",
        "rater",
        pl.lit(1, pl.Int32).alias("run"),
        "attribute",
        "score",
        pl.lit(None, pl.Int32).alias("rank"),
        pl.lit("ok", STATUS).alias("status"),
        *facts,
    )


def _with_raters(raters: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    new = [
        name
        for name in labels["rater"].unique(maintain_order=True)
        if name not in set(raters["rater"])
    ]
    rows = [(name, "human", *[None] * (len(RATERS) - 2)) for name in new]
    return pl.concat([raters, pl.DataFrame(rows, schema=RATERS, orient="row")], how="diagonal")


def _with_humans(study: Study, names: Sequence[str], rated: Tables) -> Study:
    there = {*rated.raters["rater"], *(rater.name for rater in study.panel)}
    new = [name for name in names if name not in there]
    if not new:
        return study
    panel = (*study.panel, *(Rater(name=name, kind="human") for name in new))
    # Without a reference all people are it already; one name would leave the others out.
    reference = study.data.reference and (*study.data.reference, *new)
    data = study.data.model_copy(update={"reference": reference})
    return study.model_copy(update={"panel": panel, "data": data})


def _finding(labels: pl.DataFrame, replaced: int, unmatched: int) -> Finding:
    by = labels.group_by("rater", "labelled_by", maintain_order=True).len()
    counts = ", ".join(f"{n:,} of {rater} by {who}" for rater, who, n in by.iter_rows())
    takes, names = ("takes" if replaced == 1 else "take"), ("names" if unmatched == 1 else "name")
    more = f" {replaced:,} {takes} the place of an earlier rating." if replaced else ""
    lost = f" {plural(unmatched, 'more label')} {names} no response here." if unmatched else ""
    return finding(
        "labels_by_hand",
        "serious",
        NAME,
        labels["item"].unique(maintain_order=True).to_list(),
        f"{plural(labels.height, 'label')} set by hand on chosen responses: {counts}.{more}{lost}",
        "They count as ratings of those humans. Responses that somebody chose do not stand for the "
        f"others, so voirdire correct refuses them; take {NAME} away to examine without them.",
        count=labels.height,
    )
