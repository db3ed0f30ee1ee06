"""Several annotators of the same items: agreement, conflicts settled, flagged items removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from voirdire.errors import InputError, TableError, check_columns
from voirdire.stats import cohen_kappa, fleiss_kappa, joint_agreement, krippendorff_alpha
from voirdire.tables import read_raw, yes_no

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np

    from voirdire.stats import Estimate

Rule = Literal["secondary", "majority", "at_least_one"]
RULES: tuple[Rule, ...] = ("secondary", "majority", "at_least_one")


@dataclass(frozen=True, slots=True)
class SettledLabels:
    """Final labels, and how they came about.

    Attributes
    ----------
    labels : pl.DataFrame
        ``item``, each label (1, 0 or null) and ``evidence`` (spans of all annotators who said yes
        to any label) of the items kept. A conflict that nobody settled is null.
    items, flagged : int
        Items annotated; of these removed because someone flagged them.
    conflicts, settled : dict
        By label: items on which the annotators differ; of these settled.
    spans, foreign : int
        Spans of evidence; of these not found in the item's text (0 where no texts were given).
    """

    labels: pl.DataFrame
    items: int
    flagged: int
    conflicts: dict[str, int]
    settled: dict[str, int]
    spans: int
    foreign: int


def read_annotations(path: str | Path, labels: Sequence[str]) -> pl.DataFrame:
    """A file of annotations: ``item, annotator``, a column a label, and whatever else it holds.

    Labels are read as yes and no; an empty cell is missing.

    Raises
    ------
    TableError
        A column is absent, or a label is neither yes nor no.
    """
    frame = read_raw(path).frame
    _need(frame, labels, str(path))
    return frame.with_columns(
        pl.col("item", "annotator").cast(pl.String),
        *(yes_no(frame[label], str(path)) for label in labels),
    )


def annotator_agreement(
    annotations: pl.DataFrame,
    annotators: Sequence[str],
    labels: Sequence[str],
    *,
    ci: str | None = None,
    level: float = 0.95,
) -> dict[str, dict[str, Estimate]]:
    """Krippendorff's alpha, Fleiss' kappa, Cohen's kappa (of two) and agreement, by label.

    On the same complete data of two annotators ``alpha = kappa + (1 - kappa) / (2 n)`` holds of
    Fleiss' kappa, so it cannot lie above alpha; Cohen's can.

    Parameters
    ----------
    annotations : pl.DataFrame
        ``item, annotator`` and a column a label with 0, 1 or null.
    annotators : sequence of str
        Whom to compare, two or more.
    labels : sequence of str
    ci, level : str, float
        Method and nominal coverage of the intervals over items, as in `voirdire.stats`
        (``"percentile"``); without a method there are none.

    Raises
    ------
    TableError
        A column or an annotator is absent, or someone labels an item more than once.
    InputError
        Fewer than two annotators.

    Examples
    --------
    >>> rows = [(i, who, 0 if who == "b" and i == 1 else i % 2) for i in range(6) for who in "ab"]
    >>> table = pl.DataFrame(rows, schema=["item", "annotator", "calm"], orient="row")
    >>> round(annotator_agreement(table, ["a", "b"], ["calm"])["calm"]["alpha"].value, 3)
    0.686
    """
    if len(set(annotators)) < 2:
        raise InputError(f"agreement is of two annotators or more, got {list(annotators)}")
    _check(annotations, annotators, labels)
    options: dict[str, Any] = {"levels": [0, 1], "ci": ci, "level": level}
    found: dict[str, dict[str, Estimate]] = {}
    for label in labels:
        matrix = _matrix(annotations, annotators, label)
        found[label] = {
            "alpha": krippendorff_alpha(matrix, "nominal", **options),
            "fleiss": fleiss_kappa(matrix, **options),
            "agreement": joint_agreement(matrix, **options),
        }
        if len(annotators) == 2:
            found[label]["cohen"] = cohen_kappa(matrix[:, 0], matrix[:, 1], **options)
    return found


def settle_annotations(
    annotations: pl.DataFrame,
    annotators: Sequence[str],
    labels: Sequence[str],
    *,
    rule: Rule = "secondary",
    secondary: str = "",
    texts: pl.DataFrame | None = None,
) -> SettledLabels:
    """Final labels from several annotators; an item that anyone flags is removed.

    Parameters
    ----------
    annotations : pl.DataFrame
        As in `annotator_agreement`; optionally ``evidence`` (spans, separated by ``|``) and
        ``flag`` (1 or yes: the item must not be used).
    annotators : sequence of str
        The primary ones.
    labels : sequence of str
    rule : {"secondary", "majority", "at_least_one"}
        A conflict is settled by `secondary`; by the majority (a tie stays open); or is a yes.
    texts : pl.DataFrame, optional
        ``item`` and ``text``: spans are looked for in them.

    Raises
    ------
    InputError
        An unknown rule, or no secondary annotator where the rule needs one.
    TableError
        A column or an annotator is absent, or a flag is neither yes nor no.
    """
    if rule not in RULES:
        raise InputError(f"rule must be one of {', '.join(RULES)}, got {rule!r}")
    if rule == "secondary" and not secondary:
        raise InputError("rule 'secondary' needs the name of the secondary annotator")
    _check(annotations, [*annotators, *([secondary] if secondary else [])], labels)
    flagged = _flagged(annotations)
    kept = annotations.filter(~pl.col("item").is_in(flagged))
    final = _final(kept, annotators, labels, rule, secondary)
    spans = _evidence(kept, labels)
    together = spans.group_by("item", maintain_order=True).agg("evidence")
    return SettledLabels(
        final.select("item", *labels).join(together, on="item", how="left", maintain_order="left"),
        annotations["item"].n_unique(),
        len(flagged),
        {label: final.filter(f"{label} differ").height for label in labels},
        {label: final.filter(f"{label} differ").drop_nulls(label).height for label in labels},
        spans.height,
        _foreign(spans, texts),
    )


def _final(
    annotations: pl.DataFrame,
    annotators: Sequence[str],
    labels: Sequence[str],
    rule: Rule,
    secondary: str,
) -> pl.DataFrame:
    """One row an item: each label, and whether the annotators differ on it."""
    primary = annotations.filter(pl.col("annotator").is_in(list(annotators)))
    found = primary.group_by("item", maintain_order=True).agg(
        pl.col(label).drop_nulls().alias(f"{label} all") for label in labels
    )
    other = annotations.filter(pl.col("annotator") == secondary).select("item", *labels)
    joined = found.join(other, on="item", how="left", maintain_order="left")
    differ = {label: pl.col(f"{label} all").list.n_unique() > 1 for label in labels}
    return joined.with_columns(
        *(differ[label].alias(f"{label} differ") for label in labels),
        *(
            pl.when(differ[label])
            .then(_by_rule(pl.col(f"{label} all"), pl.col(label), rule))
            .otherwise(pl.col(f"{label} all").list.first())
            .cast(pl.Int8)
            .alias(label)
            for label in labels
        ),
    )


def _by_rule(said: pl.Expr, secondary: pl.Expr, rule: Rule) -> pl.Expr:
    mean = said.list.mean()
    if rule == "secondary":
        return secondary
    if rule == "majority":
        return pl.when(mean != 0.5).then((mean > 0.5).cast(pl.Int8))
    return said.list.max()


def _flagged(annotations: pl.DataFrame) -> list[str]:
    if "flag" not in annotations.columns:
        return []
    flag = yes_no(annotations["flag"], "annotations") == 1
    found: list[str] = annotations.filter(flag)["item"].unique().to_list()
    return found


def _evidence(annotations: pl.DataFrame, labels: Sequence[str]) -> pl.DataFrame:
    """One row a span of someone who said yes: item and evidence."""
    if "evidence" not in annotations.columns:
        return pl.DataFrame(schema={"item": pl.String, "evidence": pl.String})
    yes = annotations.filter(pl.any_horizontal(pl.col(labels) == 1))
    spans = yes.select(
        pl.col("item").cast(pl.String), pl.col("evidence").cast(pl.String).str.split("|")
    ).explode("evidence", empty_as_null=True, keep_nulls=True)
    tidy = spans.with_columns(pl.col("evidence").str.strip_chars())
    return tidy.filter(pl.col("evidence").is_not_null() & (pl.col("evidence") != ""))


def _foreign(spans: pl.DataFrame, texts: pl.DataFrame | None) -> int:
    """Spans that do not stand in their item, up to case and white space."""
    if texts is None:
        return 0
    plain = {str(item): _plain(text) for item, text in texts.select("item", "text").iter_rows()}
    return sum(_plain(span) not in plain.get(item, "") for item, span in spans.iter_rows())


def _plain(text: str | None) -> str:
    return " ".join((text or "").casefold().split())


def _matrix(annotations: pl.DataFrame, annotators: Sequence[str], label: str) -> np.ndarray:
    """(items, annotators) with NaN where there is none."""
    wide = annotations.filter(pl.col("annotator").is_in(list(annotators))).pivot(
        on="annotator", index="item", values=label, aggregate_function="first"
    )
    return wide.select(pl.col(name).cast(pl.Float64) for name in annotators).to_numpy()


def _need(frame: pl.DataFrame, labels: Sequence[str], where: str) -> None:
    check_columns(where, ("item", "annotator", *labels), frame.columns)


def _check(annotations: pl.DataFrame, annotators: Sequence[str], labels: Sequence[str]) -> None:
    _need(annotations, labels, "annotations")
    there = annotations["annotator"].unique().to_list()
    unknown = [name for name in annotators if name not in there]
    if unknown:
        raise TableError(
            f"annotations: no annotator {unknown[0]!r} (there are {', '.join(map(str, there))})"
        )
    repeated = annotations.filter(pl.struct("item", "annotator").is_duplicated())
    if repeated.height:
        item, who = repeated.select("item", "annotator").row(0)
        raise TableError(f"annotations: annotator {who!r} labels item {item!r} more than once")
    for label in labels:
        values = set(annotations[label].drop_nulls().unique().to_list())
        if not values <= {0, 1}:
            raise TableError(
                f"annotations, column {label!r}: values must be 0, 1 or empty, got {sorted(values)}"
            )
