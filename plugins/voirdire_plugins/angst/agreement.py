"""Annotators: their agreement, evidence beside labels, conflicts settled, flagged posts removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from voirdire import InputError, TableError
from voirdire._errors import check_columns
from voirdire.stats import cohen_kappa, fleiss_kappa, joint_agreement, krippendorff_alpha
from voirdire_plugins.angst.data import as_labels
from voirdire_plugins.angst.labels import LABELS, with_class

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from voirdire.stats import Estimate

Rule = Literal["secondary", "majority", "at_least_one"]
RULES: tuple[Rule, ...] = ("secondary", "majority", "at_least_one")
#: One row an annotator and post; `evidence` and `flag` may be absent.
NEEDED = ("item", "annotator", *LABELS)


def agreement(
    annotations: pl.DataFrame, annotators: Sequence[str]
) -> dict[str, dict[str, Estimate]]:
    """Krippendorff's alpha, Fleiss' kappa, Cohen's kappa (of two) and agreement, by label.

    On the same complete data of two annotators ``alpha = kappa + (1 - kappa) / (2 n)`` holds of
    Fleiss' kappa, so it cannot lie above alpha; Cohen's can.

    Parameters
    ----------
    annotations : pl.DataFrame
        ``item, annotator, depression, anxiety`` with 0, 1 or null.
    annotators : sequence of str
        Whom to compare, two or more.

    Raises
    ------
    TableError
        A column or an annotator is absent, or someone labels a post twice.
    InputError
        Fewer than two annotators.

    Examples
    --------
    >>> rows = [(i, who, i % 2, 0 if who == "b" and i == 1 else i % 2) for i in range(6)
    ...         for who in "ab"]
    >>> table = pl.DataFrame(rows, schema=["item", "annotator", "depression", "anxiety"],
    ...                      orient="row")
    >>> found = agreement(table, ["a", "b"])
    >>> round(found["depression"]["alpha"].value, 3), round(found["anxiety"]["alpha"].value, 3)
    (1.0, 0.686)
    """
    if len(set(annotators)) < 2:
        raise InputError(f"agreement is of two annotators or more, got {list(annotators)}")
    _check(annotations, annotators)
    found: dict[str, dict[str, Estimate]] = {}
    for label in LABELS:
        matrix = _matrix(annotations, annotators, label)
        found[label] = {
            "alpha": krippendorff_alpha(matrix, "nominal", levels=[0, 1]),
            "fleiss": fleiss_kappa(matrix, levels=[0, 1]),
            "agreement": joint_agreement(matrix, levels=[0, 1]),
        }
        if len(annotators) == 2:
            found[label]["cohen"] = cohen_kappa(matrix[:, 0], matrix[:, 1], levels=[0, 1])
    return found


@dataclass(frozen=True, slots=True)
class SettledLabels:
    """Final labels, and how they came about.

    Attributes
    ----------
    labels : pl.DataFrame
        ``item, depression, anxiety, class, evidence`` (spans of all annotators who said yes to
        either label) of the posts kept. A conflict that nobody settled is null.
    items, flagged : int
        Posts annotated; of these removed because someone flagged them.
    conflicts, settled : dict
        By label: posts on which the annotators differ; of these settled.
    spans, foreign : int
        These spans; of these not found in the post's text (0 where no texts were given).
    """

    labels: pl.DataFrame
    items: int
    flagged: int
    conflicts: dict[str, int]
    settled: dict[str, int]
    spans: int
    foreign: int


def settle(
    annotations: pl.DataFrame,
    annotators: Sequence[str],
    *,
    rule: Rule = "secondary",
    secondary: str = "",
    texts: pl.DataFrame | None = None,
) -> SettledLabels:
    """Final labels from several annotators; a post that anyone flags is removed.

    Parameters
    ----------
    annotations : pl.DataFrame
        As in `agreement`; optionally ``evidence`` (spans, separated by ``|``) and ``flag`` (1 or
        yes: the post may show who wrote it).
    annotators : sequence of str
        The primary ones.
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
    _check(annotations, [*annotators, *([secondary] if secondary else [])])
    flagged = _flagged(annotations)
    kept = annotations.filter(~pl.col("item").is_in(flagged))
    final = _final(kept, annotators, rule, secondary)
    spans = _evidence(kept)
    together = spans.group_by("item", maintain_order=True).agg("evidence")
    return SettledLabels(
        with_class(final)
        .select("item", *LABELS, "class")
        .join(together, on="item", how="left", maintain_order="left"),
        annotations["item"].n_unique(),
        len(flagged),
        {label: final.filter(f"{label} differ").height for label in LABELS},
        {label: final.filter(f"{label} differ").drop_nulls(label).height for label in LABELS},
        spans.height,
        _foreign(spans, texts),
    )


def _final(
    annotations: pl.DataFrame, annotators: Sequence[str], rule: Rule, secondary: str
) -> pl.DataFrame:
    """One row an item: each label, and whether the annotators differ on it."""
    primary = annotations.filter(pl.col("annotator").is_in(list(annotators)))
    found = primary.group_by("item", maintain_order=True).agg(
        pl.col(label).drop_nulls().alias(f"{label} all") for label in LABELS
    )
    other = annotations.filter(pl.col("annotator") == secondary).select("item", *LABELS)
    joined = found.join(other, on="item", how="left", maintain_order="left")
    differ = {label: pl.col(f"{label} all").list.n_unique() > 1 for label in LABELS}
    return joined.with_columns(
        *(differ[label].alias(f"{label} differ") for label in LABELS),
        *(
            pl.when(differ[label])
            .then(_by_rule(pl.col(f"{label} all"), pl.col(label), rule))
            .otherwise(pl.col(f"{label} all").list.first())
            .cast(pl.Int8)
            .alias(label)
            for label in LABELS
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
    flag = as_labels(annotations["flag"], "annotations") == 1
    found: list[str] = annotations.filter(flag)["item"].unique().to_list()
    return found


def _evidence(annotations: pl.DataFrame) -> pl.DataFrame:
    """One row a span of someone who said yes: item and evidence."""
    if "evidence" not in annotations.columns:
        return pl.DataFrame(schema={"item": pl.String, "evidence": pl.String})
    yes = annotations.filter(pl.any_horizontal(pl.col(LABELS) == 1))
    spans = yes.select(
        pl.col("item").cast(pl.String), pl.col("evidence").cast(pl.String).str.split("|")
    ).explode("evidence", empty_as_null=True, keep_nulls=True)
    tidy = spans.with_columns(pl.col("evidence").str.strip_chars())
    return tidy.filter(pl.col("evidence").is_not_null() & (pl.col("evidence") != ""))


def _foreign(spans: pl.DataFrame, texts: pl.DataFrame | None) -> int:
    """Spans that do not stand in their post, up to case and white space."""
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


def _check(annotations: pl.DataFrame, annotators: Sequence[str]) -> None:
    check_columns("annotations", NEEDED, annotations.columns)
    there = annotations["annotator"].unique().to_list()
    unknown = [name for name in annotators if name not in there]
    if unknown:
        raise TableError(
            f"annotations: no annotator {unknown[0]!r} (there are {', '.join(map(str, there))})"
        )
    twice = annotations.filter(pl.struct("item", "annotator").is_duplicated())
    if twice.height:
        item, who = twice.select("item", "annotator").row(0)
        raise TableError(f"annotations: annotator {who!r} labels post {item!r} more than once")
    for label in LABELS:
        values = set(annotations[label].drop_nulls().unique().to_list())
        if not values <= {0, 1}:
            raise TableError(
                f"annotations, column {label!r}: values must be 0, 1 or empty, got {sorted(values)}"
            )
