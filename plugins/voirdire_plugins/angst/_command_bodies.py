"""What `voirdire paper angst` does, apart from its flags."""

from __future__ import annotations

import json
import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire import InputError, TableError
from voirdire._errors import check_columns
from voirdire.examining import examine
from voirdire.examining.corpora import adversarial_validation, class_divergences
from voirdire.running import run
from voirdire.store import ratings_frame
from voirdire.study import build_study, load_study, study_to_toml
from voirdire.tables import read_raw
from voirdire.tabular import Section, Table, count, frame_table, is_missing, number, text
from voirdire_plugins.angst.agreement import agreement, settle
from voirdire_plugins.angst.benchmark import BENCHMARK
from voirdire_plugins.angst.corpus import DISCLOSURE, build_corpus
from voirdire_plugins.angst.data import PREFIX, as_labels, read_posts
from voirdire_plugins.angst.labels import LABELS
from voirdire_plugins.angst.leaks import few_shots, leaks_of
from voirdire_plugins.angst.silver import silver_corpus
from voirdire_plugins.angst.studies import angst_study

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from voirdire.examining import Examination
    from voirdire_plugins.angst.agreement import Rule, SettledLabels

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
    pool = None if silver is None else read_posts(silver, also)
    unclear = 0 if pool is None else pool["class"].null_count()
    pool = None if pool is None else pool.drop_nulls("class")
    examples = None
    if pool is not None:
        examples = {**shots, "pool": "silver.csv", "index": "silver-index", "cache": "vectors"}
    study = angst_study(
        models, examples=examples, scales=scales, author=next(iter(also), ""), **panel
    )
    out.mkdir(parents=True, exist_ok=True)
    posts.select(*_OWN, *also).write_csv(out / "gold.csv")
    if pool is not None:
        pool.select(*_OWN, *also).write_csv(out / "silver.csv")
        grid = files("voirdire_plugins.angst") / "finetune.toml"
        (out / "finetune.toml").write_text(grid.read_text(encoding="utf-8"), encoding="utf-8")
    (out / "study.toml").write_text(study_to_toml(study), encoding="utf-8")
    unlabelled = posts.filter(pl.col("class").is_null()).height
    return (
        f"{out / 'study.toml'}: {len(study.panel) - 1} raters, {posts.height} posts"
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


def options_of(given: Sequence[str] | None) -> dict[str, Any]:
    """A model's options from ``NAME=VALUE``; a value that is a TOML value is read as one."""
    found: dict[str, Any] = {}
    for said in given or ():
        name, equals, value = said.partition("=")
        if not equals:
            raise InputError(f"--model-option {said!r}: write NAME=VALUE")
        try:
            found[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[name] = value
    return found


def label_silver(
    posts: Path,
    model: str,
    out: Path,
    columns: Mapping[str, str],
    options: Mapping[str, Any],
    how: Mapping[str, Any],
) -> tuple[list[str], int]:
    """Run the open question over posts and write the silver corpus; lines to print, exit code."""
    known = read_posts(posts, columns, labelled=False)
    out.mkdir(parents=True, exist_ok=True)
    known.write_ndjson(out / "posts.jsonl")
    study = build_study(
        {
            "name": "angst-silver",
            "items": {"path": "posts.jsonl"},
            "panel": [
                {
                    "name": "silver",
                    "kind": "annotator",
                    "use": "angst-silver",
                    "model": model,
                    "model_options": dict(options),
                }
            ],
        },
        folder=str(out),
    )
    session = out / "session"
    result = run(study, session, **how)
    kept, counts = silver_corpus(ratings_frame(session), known)
    kept.write_ndjson(out / "silver.jsonl")
    lines = [
        f"posts            {counts.labelled}",
        f"kept             {counts.kept}",
        f"discarded        {counts.discarded}",
        f"  no disorder    {counts.no_disorder}",
        f"  other disorder {counts.other_disorder}",
        f"  unread         {counts.unread}",
        *(f"{name:<17}{n}" for name, n in kept["class"].value_counts(sort=True).iter_rows()),
        f"written          {out / 'silver.jsonl'}",
    ]
    return lines, result.exit_code


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
    known = read_posts(posts, columns, labelled=False)
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
    annotations = _labels(file)
    coefficients = agreement(annotations, primary)
    rows = tuple(
        (label, name, one.value, one.n, one.reason or "")
        for label, found in coefficients.items()
        for name, one in found.items()
    )
    columns = (text("Label"), text("Coefficient"), number("Value"), count("Posts"), text("Reason"))
    sections = [Section("Agreement of annotators", tables=(Table(columns, rows),))]
    if rule == "secondary" and not secondary:
        return sections
    texts = None
    if posts is not None:
        texts = read_posts(posts, labelled=False).rename({"id": "item"})
    final = settle(annotations, primary, rule=rule, secondary=secondary, texts=texts)
    if out is not None:
        _with_posts(final.labels, texts).write_csv(out)
    return [*sections, _settled(final)]


def _with_posts(labels: pl.DataFrame, posts: pl.DataFrame | None) -> pl.DataFrame:
    """Final labels as gold posts: with text and what else is flat and known of the posts."""
    plain = labels.with_columns(pl.col("evidence").list.join("|"))
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


def _labels(file: Path) -> pl.DataFrame:
    frame = read_raw(file).frame
    check_columns(file, ("item", "annotator", *LABELS), frame.columns)
    return frame.with_columns(
        pl.col("item", "annotator").cast(pl.String),
        *(as_labels(frame[label], str(file)) for label in LABELS),
    )


def analyse(
    posts: str,
    label: str,
    embedder: str | None,
    against: Sequence[str],
    seed: int,
    text: str,
) -> list[Section]:
    """Divergence of classes, and validation against other corpora."""
    frame, column = _classed(posts, label, text)
    vectors = None if embedder is None else _vectors(embedder, frame[column].to_list())
    table = class_divergences(frame, text=column, label=label, vectors=vectors, seed=seed)
    caption = (
        "JSD to base 2 of add-one smoothed n-grams (the divergence, not its root); MMD^2 unbiased, "
        "Gaussian kernel, one bandwidth by the median heuristic; pairings are our reading of the "
        "paper's 1,000 random pairs. Lower: harder to tell apart. Values compare only between "
        "corpora of like size."
    )
    found = [Section("Classes (as Table 2)", caption, (frame_table(table, _CLASSES),))]
    if against:
        found.append(_validation(frame[column].to_list(), against, seed, text))
    return found


def _classed(posts: str, label: str, text: str) -> tuple[pl.DataFrame, str]:
    """Posts with a column of classes, and the name of that of texts."""
    by_name = posts.startswith(PREFIX)
    if not by_name:
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
    shots = list(few_shots(study))
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


def write_report(
    session: Path, out: Path, excerpt: int | None, resamples: int, formats: str
) -> str:
    """Examine a session with the benchmark's review and write the report."""
    from voirdire.report import write_outputs  # noqa: PLC0415 - heavy

    found = examined(session, excerpt, resamples)
    asked = [part.strip() for part in formats.split(",") if part.strip()]
    written = write_outputs(found, out, formats=asked, figures=False)
    return "\n".join(map(str, written))


def examined(session: Path, excerpt: int | None = None, resamples: int = 1000) -> Examination:
    """The examination of a session; excerpts no longer than the study allows."""
    study = BENCHMARK.study(session)
    allowed = study.data.excerpt
    most = allowed if excerpt is None else min(excerpt, allowed)
    data = study.data.model_copy(update={"excerpt": most})
    return BENCHMARK.review(examine(study.model_copy(update={"data": data}), resamples=resamples))


def shown(sections: Sequence[Section], *, as_json: bool) -> str:
    """Sections as aligned text, or as JSON."""
    if as_json:
        plain = [
            {"title": s.title, "text": s.text,
             "rows": [_plain(row) for row in s.table.records()]}
            for s in sections
        ]  # fmt: skip
        return json.dumps(plain, indent=2, ensure_ascii=False)
    return "\n\n".join("\n".join(_aligned(section)) for section in sections)


def _aligned(section: Section) -> list[str]:
    if not section.has_rows:
        return [section.title, section.text or "There is nothing to show."]
    cells = [section.table.names, *section.table.written()]
    wide = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(c.ljust(w) for c, w in zip(row, wide, strict=True)).rstrip() for row in cells
    ]
    return [section.title, *lines, *([section.text] if section.text else [])]


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: None if is_missing(cell) else cell for name, cell in row.items()}
