"""Silver labels: the open question of Table 17, and the posts that are kept and discarded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire import InputError, running
from voirdire.examining.annotating import consensus, gold_section
from voirdire.files import whole
from voirdire.schema import Sampling
from voirdire.store import ratings_frame
from voirdire.study import model_entries, write_study
from voirdire.tables import read_labelled
from voirdire.tabular import Section, Table, count, text
from voirdire_judges.labels import NamedAnnotator
from voirdire_plugins.angst.labels import LABELS, read_posts, with_class
from voirdire_plugins.resources import resource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

#: The columns that a silver-labelling session rates: is there any disorder, and which.
DISORDER = "disorder"
COLUMNS = (DISORDER, *LABELS)
_ASKED = resource("angst", "prompts")["silver"]
#: What names a label in free text.
PATTERNS: dict[str, list[str]] = resource("angst", "patterns")["names"]


def make(
    *,
    sampling: Sampling = Sampling(temperature=0.0),
) -> NamedAnnotator:
    r"""The annotator that makes silver labels (`use = "angst-silver"`).

    Examples
    --------
    >>> text = "Mental Health Disorder: Yes\nName of Mental Health Disorder: Panic disorder\n"
    >>> from voirdire.schema import Reply
    >>> make().parse([Reply(text + "DSM5 Rationale: sudden fear")]).scores
    {'disorder': 1.0, 'depression': 0.0, 'anxiety': 1.0}
    """
    nameless = frozenset(_ASKED["nameless"])
    lines = tuple(_ASKED["lines"])
    return NamedAnnotator(_ASKED["text"], lines, PATTERNS, DISORDER, nameless, sampling)


@dataclass(frozen=True, slots=True)
class SilverCounts:
    """What became of the posts.

    ``labelled = kept + controls + no_disorder + other_disorder + unread``: `controls` are kept
    too, of the posts in which no disorder was seen; `no_disorder` are the others of these.
    """

    labelled: int
    kept: int
    controls: int
    no_disorder: int
    other_disorder: int
    unread: int

    @property
    def discarded(self) -> int:
        """Posts that do not enter the silver corpus."""
        return self.labelled - self.kept - self.controls


def silver_corpus(
    labels: pl.DataFrame, posts: pl.DataFrame, *, keep_controls: int = 0, seed: int = 0
) -> tuple[pl.DataFrame, SilverCounts]:
    """Posts with depression and/or anxiety, some without, and what became of the others.

    Parameters
    ----------
    labels : pl.DataFrame
        ``item`` and `COLUMNS`, as `voirdire.examining.annotating.consensus` gives them.
    posts : pl.DataFrame
        ``id`` and ``text`` of all posts labelled; further columns (an author) are kept.
    keep_controls : int
        How many of the posts in which no disorder was seen are kept as well, drawn by `seed`. The
        paper keeps none, so that no prompt can show a control and no classifier can learn one.

    Returns
    -------
    tuple of pl.DataFrame and SilverCounts
        ``id, text, depression, anxiety, class`` and what else is known of the posts kept. A
        post whose labels are missing is ``unread``, and neither kept nor taken for a control.
    """
    ours = ("class", *COLUMNS)
    full = posts.select(pl.col("id").cast(pl.String), pl.exclude("id", *ours)).join(
        labels, left_on="id", right_on="item", how="left", maintain_order="left"
    )
    # A post with one label missing is neither of them: it could be either.
    read = pl.all_horizontal(pl.col(COLUMNS).is_not_null())
    has = pl.any_horizontal(pl.col(label) == 1 for label in LABELS)
    kept = full.filter(read & has)
    calm = full.filter(read & ~has & (pl.col(DISORDER) == 0))
    # A permutation, so that more controls of one seed hold the fewer; sorted below, so that the
    # file keeps the posts' order.
    drawn = np.random.default_rng(seed).permutation(calm.height)[:keep_controls]
    controls = calm[np.sort(drawn).tolist()]
    counts = SilverCounts(
        labelled=full.height,
        kept=kept.height,
        controls=controls.height,
        no_disorder=calm.height - controls.height,
        other_disorder=full.filter(read & ~has & (pl.col(DISORDER) == 1)).height,
        unread=full.filter(~read).height,
    )
    both = pl.concat([kept, controls]).with_columns(pl.col(LABELS).cast(pl.Int8))
    first = ("id", "text", *LABELS, "class")
    return with_class(both).select(*first, pl.exclude(*first, DISORDER)), counts


def label_silver(  # noqa: PLR0913 - each is an option of the command
    posts: Path,
    models: Sequence[str],
    out: Path,
    *,
    columns: Mapping[str, str] | None = None,
    gold: Path | None = None,
    at_least: int | None = None,
    keep_controls: int = 0,
    seed: int = 0,
    run: Mapping[str, Any] | None = None,
    **asked: Any,
) -> tuple[list[Section], int]:
    """Run the open question over posts and write silver.jsonl; sections, exit code of the run.

    Gold posts are labelled too where they are given, and none of them becomes a silver one. `run`
    are parameters of the run (``resume, max_cost, quiet``), `asked` those of the models.
    """
    texts = read_labelled(posts, (), columns)
    sample = None if gold is None else read_posts(gold)
    study = {
        "name": "angst-silver",
        "items": {"path": "posts.jsonl"},
        "panel": model_entries(models, "angst-silver", **asked),
    }
    path = write_study(out, study, {"posts.jsonl": _with_gold(texts, sample)})
    result = running.run(path, out / "session", **(run or {}))
    ratings = ratings_frame(out / "session")
    labels = consensus(ratings, COLUMNS, at_least)
    silver, counts = silver_corpus(labels, texts, keep_controls=keep_controls, seed=seed)
    with whole(out / "silver.jsonl") as draft:
        silver.write_ndjson(draft)
    rows = [
        ("posts", counts.labelled),
        ("kept", counts.kept),
        ("kept as controls", counts.controls),
        ("discarded", counts.discarded),
        ("  no disorder", counts.no_disorder),
        ("  other disorder", counts.other_disorder),
        ("  unread or undecided", counts.unread),
        *((f"class {name}", n) for name, n in silver["class"].value_counts(sort=True).iter_rows()),
    ]
    table = Table((text("What"), count("Posts")), tuple(rows))
    sections = [Section("Silver labels", f"Written: {out / 'silver.jsonl'}.", (table,))]
    if sample is not None:
        labellings = {"all together": labels}
        for rater in ratings["rater"].unique(maintain_order=True):
            # One run each, beside all together: what a single call would have labelled.
            first = ratings.filter((pl.col("rater") == rater) & (pl.col("run") == 1))
            labellings[str(rater)] = consensus(first, COLUMNS)
        sections.append(gold_section(sample.rename({"id": "item"}), labellings, LABELS))
    return sections, result.exit_code


def _with_gold(posts: pl.DataFrame, gold: pl.DataFrame | None) -> pl.DataFrame:
    """The posts to label, and those of the gold sample: one question is asked about all."""
    if gold is None:
        return posts
    both = posts.join(gold, on="id", how="semi")["id"]
    if len(both):
        raise InputError(f"--gold: post {both[0]!r} is among the posts to label; remove it there")
    return pl.concat([posts.select("id", "text"), gold.select("id", "text")])
