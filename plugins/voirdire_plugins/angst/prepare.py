"""What `voirdire paper angst` does, apart from its flags."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire import InputError, TableError
from voirdire.errors import check_columns
from voirdire.examining.annotating import (
    annotator_agreement,
    read_annotations,
    settle_annotations,
)
from voirdire.examining.labels.corpora import adversarial_validation, class_divergences
from voirdire.files import whole, write_text
from voirdire.running import run
from voirdire.store import ratings_frame
from voirdire.study import annotator_panel, load_study
from voirdire.study import write_study as write_files
from voirdire.tables import read_labelled, read_raw
from voirdire.tabular import Section, Table, count, frame_table, interval, number, text
from voirdire_judges.few_shot import few_shots, leaks_of
from voirdire_plugins.angst.corpus import DISCLOSURE, build_corpus
from voirdire_plugins.angst.labels import LABELS, read_posts, with_class
from voirdire_plugins.angst.silver import silver_corpus, silver_labels
from voirdire_plugins.angst.studies import angst_study

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.examining.annotating import Rule, SettledLabels

_OWN = ("id", "text", *LABELS, "class")
_AUTHOR, CLASS = "author", "class"
_PAIRS = ("jsd_unigram", "jsd_bigram", "mmd2", "p", "pairings_mean", "pairings_median", "gamma")
_CLASSES = {
    "class_a": text("class_a"),
    "class_b": text("class_b"),
    "n_a": count("n_a"),
    "n_b": count("n_b"),
    **{name: number(name) for name in _PAIRS},
}
_CORPORA = (
    text("Source"),
    *map(number, ("Acc", "macro-F1", "ROC-AUC", "MCC", "AUC of labels", "Share of target")),
    count("Repeated"),
)


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
    labels = silver_labels(ratings, kept["at_least"])
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
    """How far each model's first run, and what all agree on, agrees with the gold labels."""
    items = gold.select(pl.col("id").alias("item"))
    said = {
        "gold": gold.select(pl.col("id").alias("item"), *LABELS),
        "all together": labels.join(items, on="item", how="semi").select("item", *LABELS),
    }
    for rater in ratings["rater"].unique(maintain_order=True):
        first = ratings.filter((pl.col("rater") == rater) & (pl.col("run") == 1))
        said[str(rater)] = silver_labels(first.join(items, on="item", how="semi"), 1).select(
            "item", *LABELS
        )
    answers = pl.concat(
        frame.select("item", pl.lit(name).alias("annotator"), pl.col(LABELS).cast(pl.Int8))
        for name, frame in said.items()
    )
    rows = [
        (name, label, found["agreement"].value, found["cohen"].value, found["cohen"].n)
        for name in list(said)[1:]
        for label, found in annotator_agreement(answers, ["gold", name], LABELS).items()
    ]
    return Section(
        "Agreement with the gold sample",
        "Each model by its first run. Silver labels are a model's: these figures say how far they "
        "are from people's, on posts that are not among them.",
        (
            Table(
                (
                    text("Rater"),
                    text("Label"),
                    number("Agreement"),
                    number("Cohen's kappa"),
                    count("Posts"),
                ),
                tuple(rows),
            ),
        ),
    )


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


def compare_annotators(
    file: Path, primary: Sequence[str], secondary: str, rule: Rule, posts: Path | None,
    out: Path | None,
) -> list[Section]:  # fmt: skip
    """Agreement of the primary annotators; with a rule that can settle, the final labels too."""
    if out is not None and rule == "secondary" and not secondary:
        raise InputError("--out writes final labels: name --secondary, or another --rule")
    annotations = read_annotations(file, LABELS)
    coefficients = annotator_agreement(annotations, primary, LABELS, ci="percentile")
    rows = tuple(
        (label, name, one.value, one.interval(), one.n, one.reason or "")
        for label, found in coefficients.items()
        for name, one in found.items()
    )
    columns = (
        text("Label"), text("Coefficient"), number("Value"), interval("Interval"), count("Posts"),
        text("Reason"),
    )  # fmt: skip
    sections = [Section("Agreement of annotators", tables=(Table(columns, rows),))]
    if rule == "secondary" and not secondary:
        return sections
    texts = None
    if posts is not None:
        texts = read_labelled(posts).rename({"id": "item"})
    final = settle_annotations(
        annotations, primary, LABELS, rule=rule, secondary=secondary, texts=texts
    )
    if out is not None:
        _with_posts(final.labels, texts).write_csv(out)
    return [*sections, _settled(final)]


def _with_posts(labels: pl.DataFrame, posts: pl.DataFrame | None) -> pl.DataFrame:
    """Final labels as gold posts: with text and what else is flat and known of the posts."""
    plain = with_class(labels).select("item", *LABELS, "class", pl.col("evidence").list.join("|"))
    if posts is None:
        return plain.rename({"item": "id"})
    absent = labels.join(posts, on="item", how="anti")
    if absent.height:
        raise TableError(f"--posts: there is no post {absent['item'][0]!r}, which has labels")
    known = posts.drop(pl.selectors.nested()).drop(plain.columns[1:], strict=False)
    joined = plain.join(known, on="item", how="left", maintain_order="left")
    return joined.select(pl.col("item").alias("id"), "text", pl.exclude("item", "text"))


def _settled(final: SettledLabels) -> Section:
    rows: list[tuple[str, int]] = [
        ("posts", final.items),
        ("removed: flagged", final.flagged),
        *((f"conflicts on {label}", n) for label, n in final.conflicts.items()),
        *((f"settled on {label}", n) for label, n in final.settled.items()),
        ("spans of evidence", final.spans),
        ("spans not in their post", final.foreign),
    ]
    return Section("Final labels", tables=(Table((text("What"), count("Count")), tuple(rows)),))


def analyse(
    corpora: Sequence[str],
    label: str,
    embedder: str | None,
    against: Sequence[str],
    seed: int,
    column_of_texts: str,
) -> list[Section]:
    """Divergence of classes in each corpus, and validation of the first against others."""
    read = {_corpus_name(one): _classed(one.partition("=")[2] or one, label, column_of_texts)
            for one in corpora}  # fmt: skip
    if len(read) < len(corpora):
        raise InputError(
            f"two corpora have one name: write NAME=FILE (given: {', '.join(corpora)})"
        )
    parts = []
    for name, (frame, column) in read.items():
        vectors = None if embedder is None else _vectors(embedder, frame[column].to_list())
        one = class_divergences(frame, text=column, label=label, vectors=vectors, seed=seed)
        parts.append(one.select(pl.lit(name).alias("corpus"), pl.all()))
    several = {"corpus": text("Corpus")} if len(read) > 1 else {}
    caption = (
        "JSD to base 2 of add-one smoothed n-grams (the divergence, not its root); MMD^2 unbiased, "
        "Gaussian kernel, one bandwidth by the median heuristic; pairings are our reading of the "
        "paper's 1,000 random pairs. Lower: harder to tell apart. Values compare only between "
        "corpora of like size."
    )
    table = frame_table(pl.concat(parts), {**several, **_CLASSES})
    found = [Section("Classes (as Table 2)", caption, (table,))]
    if against:
        frame, column = next(iter(read.values()))
        found.append(_validation(frame[column].to_list(), against, seed, column_of_texts))
    return found


def _corpus_name(given: str) -> str:
    """The name in ``NAME=FILE``, else the file's."""
    name, equals, _ = given.partition("=")
    return name if equals else Path(given).stem


def _classed(posts: str, label: str, text: str) -> tuple[pl.DataFrame, str]:
    """Posts with a column of classes, and the name of that of texts."""
    frame = read_raw(posts).frame
    if label in frame.columns and text in frame.columns:
        return frame, text
    if label != CLASS:
        check_columns(posts, (label, text), frame.columns)
    return read_posts(posts, {"text": text}), "text"


def _vectors(name: str, texts: list[str]) -> Any:
    from voirdire_retrieval import embed_texts, open_embedder  # noqa: PLC0415 - heavy

    return embed_texts(open_embedder(name), texts).vectors


def _validation(target: list[str], against: Sequence[str], seed: int, text: str) -> Section:
    rows = []
    for one in against:
        name, equals, file = one.partition("=")
        if not equals:
            raise InputError(f"--against {one!r}: write NAME=FILE")
        frame = read_raw(file).frame
        check_columns(file, (text,), frame.columns)
        found = adversarial_validation(frame[text].to_list(), target, seed=seed)
        values = (found.accuracy, found.f1_macro, found.roc_auc, found.mcc)
        rest = (found.auc_of_labels, found.share_target, found.repeated)
        rows.append((name, *(one.value for one in values), *rest))
    return Section(
        "Other corpora (as Table 8)",
        "TF-IDF of words and pairs, logistic regression, five folds; repeated texts are held out "
        "together. ROC-AUC is from scores; from hard labels it would be the column after MCC. "
        "High: the corpora differ in their words; this says nothing on the quality of labels.",
        (Table(_CORPORA, tuple(rows)),),
    )


def look_for_leaks(path: Path) -> list[Section]:
    """The findings of a study's examples."""
    study = load_study(path)
    shots = few_shots(study)
    if not shots:
        raise InputError(f"{path}: nobody in the panel asks for examples")
    findings, notes = leaks_of(study)
    rows = tuple((f.kind, f.count, f.message, ", ".join(f.places[:3])) for f in findings)
    columns = (text("Finding"), count("Count"), text("What"), text("Places"))
    said = " ".join(
        [
            f"{len(shots)} way(s) of choosing examples.",
            *([] if findings or notes else ["Nothing odd was found in them."]),
            *notes,
        ]
    )
    return [Section("Few-shot examples", said, (Table(columns, rows),))]
