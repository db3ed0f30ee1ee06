"""Several annotators of the same items: agreement, adjudication, consensus, a gold sample."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from voirdire.errors import InputError, TableError, check_allowed, check_columns, listed
from voirdire.stats import cohen_kappa, fleiss_kappa, joint_agreement, krippendorff_alpha
from voirdire.study import ReadOptions
from voirdire.tables import read_raw, to_scores, yes_no
from voirdire.tables.judged import read_judged
from voirdire.tabular import Section, Table, count, interval, number, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from voirdire.stats import Estimate

Rule = Literal["secondary", "majority", "at_least_one", "unanimous"]
RULES: tuple[Rule, ...] = ("secondary", "majority", "at_least_one", "unanimous")
#: What the gold labels are called among annotators.
_GOLD = "gold"
#: Columns of a file of annotations that are no labels.
_OTHERS = ("item", "annotator", "evidence", "flag")
_AGREEMENT = (
    text("Label"), text("Coefficient"), number("Value"), interval("Interval"), count("Items"),
    text("Reason"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Adjudicated:
    """Final labels, and how they came about.

    Attributes
    ----------
    labels : pl.DataFrame
        ``item``, each label (1, 0 or null) and ``evidence`` (spans of all annotators who said yes
        to any label) of the items kept. A conflict that nobody adjudicated is null.
    items, flagged : int
        Items annotated; of these removed because someone flagged them.
    conflicts, adjudicated : dict
        By label: items on which the annotators differ; of these adjudicated.
    spans, foreign : int
        Spans of evidence; of these not found in the item's text (0 where no texts were given).
    unconfirmed, unwanted : int
        Items removed by the rule ``unanimous``, and since a label of `keep` is not a yes.
    """

    labels: pl.DataFrame
    items: int
    flagged: int
    conflicts: dict[str, int]
    adjudicated: dict[str, int]
    spans: int
    foreign: int
    unconfirmed: int = 0
    unwanted: int = 0


def read_annotations(
    path: str | Path, labels: Sequence[str] = (), annotators: Sequence[str] = ()
) -> tuple[pl.DataFrame, list[str]]:
    """A file of annotations as ``item, annotator`` and a column a label, and these labels.

    A file with these columns is taken as it is: labels are read as yes and no, an empty cell is
    missing, and what else it holds stays. Any other, and one whose only further column names the
    label, is read as `voirdire examine` reads labels.

    Parameters
    ----------
    path : path
    labels : sequence of str
        Those that count; by default all.
    annotators : sequence of str
        The people among its raters.

    Raises
    ------
    TableError
        A column is absent, a label is neither yes nor no, or the file holds no labels.
    QuestionError
        It may be read in two ways.
    """
    frame = read_raw(path).frame
    by_label = {"item", "annotator"} <= set(frame.columns) and (labels or not _in_words(frame))
    if not by_label:
        said = _as_annotations(path, annotators)
        if said is not None:
            frame = said
    labels = list(labels) or [name for name in frame.columns if name not in _OTHERS]
    _need(frame, labels, str(path))
    annotations = frame.with_columns(
        pl.col("item", "annotator").cast(pl.String),
        *(yes_no(frame[label], str(path)) for label in labels),
    )
    return annotations, labels


def _in_words(frame: pl.DataFrame) -> bool:
    """Whether one column names the label of a row, in place of a yes or no a label."""
    said = [name for name in frame.columns if name not in ("item", "annotator")]
    return len(said) == 1 and bool(to_scores(frame[said[0]].cast(pl.String)).bad.any())


def _as_annotations(path: str | Path, annotators: Sequence[str]) -> pl.DataFrame | None:
    """Labels of one question, whatever their layout: 1 in the column of each that was given."""
    found = read_judged(Path(path), reference=annotators, read=ReadOptions())
    if found is None or not found[1].questions:
        return None
    said = found[1]
    if len(said.questions) > 1:
        names = [one.attribute for one in said.questions]
        raise TableError(f"{path}: it holds several questions ({listed(names)}); give a file each")
    (question,) = said.questions
    unit = pl.concat_str("item", "system", separator=" ", ignore_nulls=True)
    return said.labels.select(
        unit.alias("item"), pl.col("rater").alias("annotator"),
        *(pl.col("labels").list.contains(one).cast(pl.Int8).alias(one) for one in question.labels),
    )  # fmt: skip


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
    agreements: dict[str, dict[str, Estimate]] = {}
    for label in labels:
        matrix = _matrix(annotations, annotators, label)
        agreements[label] = {
            "alpha": krippendorff_alpha(matrix, "nominal", **options),
            "fleiss": fleiss_kappa(matrix, **options),
            "agreement": joint_agreement(matrix, **options),
        }
        if len(annotators) == 2:
            agreements[label]["cohen"] = cohen_kappa(matrix[:, 0], matrix[:, 1], **options)
    return agreements


def adjudicate(
    annotations: pl.DataFrame,
    annotators: Sequence[str],
    labels: Sequence[str],
    *,
    rule: Rule = "secondary",
    secondary: str = "",
    texts: pl.DataFrame | None = None,
    keep: Sequence[str] = (),
) -> Adjudicated:
    """Final labels from several annotators; an item that anyone flags is removed.

    By the rule ``unanimous`` annotators verify one another: an item stays only where all of them
    gave every label and none differs. What they were asked may be a verdict on the item itself
    ("is this question sound?"): name it in `keep`, and items for which it is no yes are removed.

    Parameters
    ----------
    annotations : pl.DataFrame
        As in `annotator_agreement`; optionally ``evidence`` (spans, separated by ``|``) and
        ``flag`` (1 or yes: the item must not be used).
    annotators : sequence of str
        The primary ones.
    labels : sequence of str
    rule : {"secondary", "majority", "at_least_one", "unanimous"}
        A conflict is adjudicated by `secondary`; by the majority (a tie stays open); is a yes; or
        removes the item, as a missing label does.
    texts : pl.DataFrame, optional
        ``item`` and ``text``: spans are looked for in them.
    keep : sequence of str, optional
        Labels that an item must have to stay.

    Raises
    ------
    InputError
        An unknown rule, no secondary annotator where the rule needs one, or a label to keep items
        by that is none of the labels.
    TableError
        A column or an annotator is absent, or a flag is neither yes nor no.

    Examples
    --------
    >>> rows = [(i, who, int(who == "a" or i != 1)) for i in range(4) for who in "ab"]
    >>> table = pl.DataFrame(rows, schema=["item", "annotator", "sound"], orient="row")
    >>> settled = adjudicate(table, ["a", "b"], ["sound"], rule="unanimous", keep=["sound"])
    >>> settled.labels["item"].to_list(), settled.unconfirmed, settled.unwanted
    ([0, 2, 3], 1, 0)
    """
    check_allowed("rule", [rule], RULES)
    if rule == "secondary" and not secondary:
        raise InputError("rule 'secondary' needs the name of the secondary annotator")
    check_allowed("label to keep items by", keep, labels)
    _check(annotations, [*annotators, *([secondary] if secondary else [])], labels)
    # By anyone, the secondary annotator included, and before any rule: a flagged item is not to be
    # used.
    flagged = _flagged(annotations)
    kept = annotations.filter(~pl.col("item").is_in(flagged))
    final = _final(kept, annotators, labels, rule, secondary)
    confirmed = final.filter("confirmed") if rule == "unanimous" else final
    wanted = confirmed.filter(*(pl.col(label) == 1 for label in keep)) if keep else confirmed
    spans = _evidence(kept, labels)
    together = spans.group_by("item", maintain_order=True).agg("evidence")
    return Adjudicated(
        wanted.select("item", *labels).join(together, on="item", how="left", maintain_order="left"),
        annotations["item"].n_unique(),
        len(flagged),
        {label: final.filter(f"{label} differ").height for label in labels},
        {label: final.filter(f"{label} differ").drop_nulls(label).height for label in labels},
        spans.height,
        _foreign(spans, texts),
        final.height - confirmed.height,
        confirmed.height - wanted.height,
    )


def consensus(
    ratings: pl.DataFrame, labels: Sequence[str], at_least: int | None = None
) -> pl.DataFrame:
    """One answer an item and label: what enough of all raters and runs say.

    Parameters
    ----------
    ratings : pl.DataFrame
        Tidy ratings of the labels, scored 0 or 1, by one or several raters in one or several runs.
    labels : sequence of str
    at_least : int, optional
        Answers that must agree; by default more than half of those asked for. One rater with one
        run decides alone.

    Returns
    -------
    pl.DataFrame
        ``item`` and a column a label: 1, 0, or null where too few agree or could be read.

    Raises
    ------
    InputError
        More answers must agree than are asked for, or fewer than one.

    Examples
    --------
    >>> rows = [("1", who, 1, "calm", float(who != "c")) for who in "abc"]
    >>> names = ["item", "rater", "run", "attribute", "score"]
    >>> consensus(pl.DataFrame(rows, schema=names, orient="row"), ["calm"]).rows()
    [('1', 1.0)]
    """
    # Those asked for, not those that could be read: a majority of few answers is none.
    asked = ratings.select("rater", "run").unique().height
    needed = asked // 2 + 1 if at_least is None else at_least
    if not 1 <= needed <= max(asked, 1):
        raise InputError(f"--at-least {needed}: only {asked} answers are asked for about each item")
    name, score = pl.col("attribute").cast(pl.String), pl.col("score")
    return ratings.group_by("item", maintain_order=True).agg(
        pl.when((score.filter(name == label) == 1).sum() >= needed).then(1.0)
        .when((score.filter(name == label) == 0).sum() >= needed).then(0.0)
        .alias(label)
        for label in labels
    )  # fmt: skip


def gold_section(
    gold: pl.DataFrame, raters: Mapping[str, pl.DataFrame], labels: Sequence[str]
) -> Section:
    """How far raters agree with the gold labels of a sample, with intervals over its items.

    Parameters
    ----------
    gold : pl.DataFrame
        ``item`` and a column a label with 1, 0 or null.
    raters : mapping
        Name -> the same of a rater, or of several together; items that are not gold are left out.
    labels : sequence of str
    """
    # Items that are no gold would count as missing on one side, and lower nothing but the number
    # said.
    frames = {
        _GOLD: gold,
        **{n: one.join(gold, on="item", how="semi") for n, one in raters.items()},
    }
    answers = pl.concat(
        frame.select("item", pl.lit(name).alias("annotator"), pl.col(labels).cast(pl.Int8))
        for name, frame in frames.items()
    )
    rows = [
        (name, label, share.value, share.interval(), kappa.value, kappa.interval(), kappa.n)
        for name in raters
        for label, agreement in annotator_agreement(
            answers, [_GOLD, name], labels, ci="percentile"
        ).items()
        for share, kappa in [(agreement["agreement"], agreement["cohen"])]
    ]
    columns = (
        text("Rater"), text("Label"), number("Agreement"), interval("Agreement, interval"),
        number("Cohen's kappa"), interval("Cohen's kappa, interval"), count("Items"),
    )  # fmt: skip
    return Section(
        "Agreement with the gold sample",
        "Labels of models are models': these figures say how far they are from people's, on items "
        "that are not among those kept.",
        (Table(columns, tuple(rows)),),
    )


def with_items(final: Adjudicated, items: pl.DataFrame | None, ident: str = "id") -> pl.DataFrame:
    """Final labels as a table to write: behind the columns of the items, where these are given.

    Raises
    ------
    TableError
        The items have no such column, or an item with labels is not among them.
    """
    plain = final.labels.with_columns(pl.col("item").cast(pl.String))
    if items is None:
        return plain
    check_columns("items", (ident,), items.columns)
    item_rows = items.drop(plain.columns, strict=False) if ident != "item" else items
    item_rows = item_rows.with_columns(pl.col(ident).cast(pl.String))
    absent = plain.join(item_rows, left_on="item", right_on=ident, how="anti")
    if absent.height:
        raise TableError(f"items: there is no item {absent['item'][0]!r}, which has labels")
    return item_rows.join(
        plain, left_on=ident, right_on="item", how="inner", maintain_order="right"
    )


def agreement_section(
    annotations: pl.DataFrame,
    annotators: Sequence[str],
    labels: Sequence[str],
    title: str = "Agreement of annotators",
    intro: str = "",
) -> Section:
    """Every coefficient of `annotator_agreement`, with intervals over items."""
    agreements = annotator_agreement(annotations, annotators, labels, ci="percentile")
    rows = tuple(
        (label, name, one.value, one.interval(), one.n, one.reason or "")
        for label, coefficients in agreements.items()
        for name, one in coefficients.items()
    )
    return Section(title, intro, (Table(_AGREEMENT, rows),))


def adjudicated_section(final: Adjudicated) -> Section:
    """What became of the items and of the conflicts."""
    rows: list[tuple[str, int]] = [
        ("items", final.items),
        ("removed: flagged", final.flagged),
        ("removed: not confirmed", final.unconfirmed),
        ("removed: not to be kept", final.unwanted),
        ("left", final.labels.height),
        *((f"conflicts on {label}", n) for label, n in final.conflicts.items()),
        *((f"adjudicated on {label}", n) for label, n in final.adjudicated.items()),
        ("spans of evidence", final.spans),
        ("spans not in their text", final.foreign),
    ]
    return Section("Final labels", tables=(Table((text("What"), count("Count")), tuple(rows)),))


def _final(
    annotations: pl.DataFrame,
    annotators: Sequence[str],
    labels: Sequence[str],
    rule: Rule,
    secondary: str,
) -> pl.DataFrame:
    """One row an item: each label, whether the annotators differ on it, and whether on none."""
    primary = annotations.filter(pl.col("annotator").is_in(list(annotators)))
    frame = primary.group_by("item", maintain_order=True).agg(
        pl.col(label).drop_nulls().alias(f"{label} all") for label in labels
    )
    other = annotations.filter(pl.col("annotator") == secondary).select("item", *labels)
    # Only items that the primary annotators saw; what the secondary one adds alone is no
    # adjudication.
    joined = frame.join(other, on="item", how="left", maintain_order="left")
    differ = {label: pl.col(f"{label} all").list.n_unique() > 1 for label in labels}
    whole = [pl.col(f"{label} all").list.len() == len(annotators) for label in labels]
    return joined.with_columns(
        pl.all_horizontal(*whole, *(~one for one in differ.values())).alias("confirmed"),
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


def _by_rule(primary: pl.Expr, secondary: pl.Expr, rule: Rule) -> pl.Expr:
    mean = primary.list.mean()
    if rule == "secondary":
        return secondary
    if rule == "majority":
        return pl.when(mean != 0.5).then((mean > 0.5).cast(pl.Int8))
    return primary.list.max() if rule == "at_least_one" else pl.lit(None, pl.Int8)


def _flagged(annotations: pl.DataFrame) -> list[str]:
    if "flag" not in annotations.columns:
        return []
    flag = yes_no(annotations["flag"], "annotations") == 1
    names: list[str] = annotations.filter(flag)["item"].unique().to_list()
    return names


def _evidence(annotations: pl.DataFrame, labels: Sequence[str]) -> pl.DataFrame:
    """One row a span of someone who said yes: item and evidence."""
    if "evidence" not in annotations.columns:
        return pl.DataFrame(schema={"item": annotations.schema["item"], "evidence": pl.String})
    yes = annotations.filter(pl.any_horizontal(pl.col(labels) == 1))
    spans = yes.select("item", pl.col("evidence").cast(pl.String).str.split("|")).explode(
        "evidence", empty_as_null=True, keep_nulls=True
    )
    tidy = spans.with_columns(pl.col("evidence").str.strip_chars())
    return tidy.filter(pl.col("evidence").is_not_null() & (pl.col("evidence") != ""))


def _foreign(spans: pl.DataFrame, texts: pl.DataFrame | None) -> int:
    """Spans that do not stand in their item, up to case and white space."""
    if texts is None:
        return 0
    plain = {str(item): _plain(text) for item, text in texts.select("item", "text").iter_rows()}
    return sum(_plain(span) not in plain.get(str(item), "") for item, span in spans.iter_rows())


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
