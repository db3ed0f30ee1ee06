"""What `voirdire paper angst` does, apart from its flags."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire import InputError
from voirdire.examining.consensus import consensus, gold_section
from voirdire.files import whole, write_text
from voirdire.running import run
from voirdire.store import ratings_frame
from voirdire.study import annotator_panel
from voirdire.study import write_study as write_files
from voirdire.tables import read_labelled
from voirdire.tabular import Section, Table, count, text
from voirdire_plugins.angst.corpus import DISCLOSURE, build_corpus
from voirdire_plugins.angst.labels import LABELS, read_posts
from voirdire_plugins.angst.silver import COLUMNS, silver_corpus
from voirdire_plugins.angst.studies import angst_study

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


_OWN = ("id", "text", *LABELS, "class")
_AUTHOR = "author"


def write_study(
    gold: str,
    models: Sequence[str],
    out: Path,
    silver: str | None,
    shots: Mapping[str, Any],
    scales: Mapping[str, float | None],
    panel: Mapping[str, Any],
    columns: Mapping[str, str],
) -> str:
    """Write gold.csv and study.toml; with silver posts also silver.csv and finetune.toml."""
    also = {name: theirs for name, theirs in columns.items() if name == _AUTHOR}
    posts = read_posts(gold, columns)
    kept = [name for name in ("evidence",) if name in posts.columns]
    pool = None if silver is None else read_posts(silver, also)
    unclear = 0 if pool is None else pool["class"].null_count()
    pool = None if pool is None else pool.drop_nulls("class")
    examples = None
    if pool is not None:
        examples = {**shots, "pool": "silver.csv", "index": "silver-index", "cache": "vectors"}
    study = angst_study(
        models, examples=examples, scales=scales, author=next(iter(also), ""), extra=kept, **panel
    )
    tables = {"gold.csv": posts.select(*_OWN, *also, *kept)}
    if pool is not None:
        tables["silver.csv"] = pool.select(*_OWN, *also)
    path = write_files(out, study, tables)
    if pool is not None:
        grid = files("voirdire_plugins.angst") / "finetune.toml"
        write_text(out / "finetune.toml", grid.read_text(encoding="utf-8"))
    unlabelled = posts.filter(pl.col("class").is_null()).height
    return (
        f"{path}: {len(study.panel) - 1} raters, {posts.height} posts"
        + (f" ({unlabelled} without both gold labels)" if unlabelled else "")
        + (f"; left out {unclear} silver posts without both labels" if unclear else "")
        + ". No result licenses clinical use."
    )


def scales_of(given: Sequence[str]) -> dict[str, float | None]:
    """Questionnaires and their thresholds from ``NAME`` or ``NAME=THRESHOLD``."""
    found: dict[str, float | None] = {}
    for said in given:
        name, equals, threshold = said.partition("=")
        try:
            found[name] = float(threshold) if equals else None
        except ValueError:
            raise InputError(f"--scale {said!r}: the threshold must be a number") from None
    return found


def label_silver(
    posts: Path,
    models: Sequence[str],
    out: Path,
    columns: Mapping[str, str],
    asked: Mapping[str, Any],
    kept: Mapping[str, Any],
    how: Mapping[str, Any],
) -> tuple[list[Section], int]:
    """Run the open question over posts and write the silver corpus; sections, exit code.

    Parameters
    ----------
    asked : mapping
        ``runs, temperature, model_options`` of the models.
    kept : mapping
        ``at_least, keep_controls, seed, gold``.
    how : mapping
        Of the run: ``resume, max_cost, quiet``.
    """
    known = read_labelled(posts, (), columns)
    gold = None if kept["gold"] is None else read_posts(kept["gold"])
    study = {
        "name": "angst-silver",
        "items": {"path": "posts.jsonl"},
        "panel": annotator_panel(models, "angst-silver", **asked),
    }
    path = write_files(out, study, {"posts.jsonl": _with_gold(known, gold)})
    result = run(path, out / "session", **how)
    ratings = ratings_frame(out / "session")
    labels = consensus(ratings, COLUMNS, kept["at_least"])
    silver, counts = silver_corpus(
        labels, known, keep_controls=kept["keep_controls"], seed=kept["seed"]
    )
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
    said = f"Written: {out / 'silver.jsonl'}."
    table = Table((text("What"), count("Posts")), tuple(rows))
    sections = [Section("Silver labels", said, (table,))]
    if gold is not None:
        sections.append(_against_gold(ratings, labels, gold))
    return sections, result.exit_code


def _with_gold(posts: pl.DataFrame, gold: pl.DataFrame | None) -> pl.DataFrame:
    """The posts to label, and those of the gold sample: one question is asked about all."""
    if gold is None:
        return posts
    both = posts.join(gold, on="id", how="semi")["id"]
    if len(both):
        raise InputError(f"--gold: post {both[0]!r} is among the posts to label; remove it there")
    return pl.concat([posts.select("id", "text"), gold.select("id", "text")])


def _against_gold(ratings: pl.DataFrame, labels: pl.DataFrame, gold: pl.DataFrame) -> Section:
    """How far each model by its first run, and what all agree on, agrees with the gold labels."""
    said = {"all together": labels}
    for rater in ratings["rater"].unique(maintain_order=True):
        first = ratings.filter((pl.col("rater") == rater) & (pl.col("run") == 1))
        said[str(rater)] = consensus(first, COLUMNS)
    return gold_section(gold.rename({"id": "item"}), said, LABELS)


def write_corpus(
    posts: Path,
    out: Path,
    columns: Mapping[str, str],
    lexicons: Sequence[str],
    patterns: Path | None,
    seed: int,
    sizes: Mapping[str, int],
) -> list[str]:
    """Build a corpus and write its sample and the rest; one line a step."""
    known = read_labelled(posts, (), columns)
    asked = DISCLOSURE if patterns is None else _lines(patterns)
    found = build_corpus(known, patterns=asked, lexicons=lexicons, seed=seed, **sizes)
    out.mkdir(parents=True, exist_ok=True)
    found.sample.write_csv(out / "sample.csv")
    found.rest.write_csv(out / "rest.csv")
    wide = max(len(step.name) for step in found.steps)
    return [
        f"{'step':<{wide}}  {'posts':>8}  {'authors':>8}",
        *(f"{s.name:<{wide}}  {s.posts:>8}  {s.authors:>8}" for s in found.steps),
    ]


def _lines(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--patterns {path}: cannot be read ({error})") from error
