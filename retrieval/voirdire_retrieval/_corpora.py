"""What `voirdire corpora` does: how far classes of texts differ, and corpora from another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import InputError, check_columns
from voirdire.tables import read_raw, yes_no
from voirdire.tabular import Section, Table, count, frame_table, number, text

if TYPE_CHECKING:
    from collections.abc import Sequence

_PAIRS = ("jsd_unigram", "jsd_bigram", "mmd2", "p", "pairings_mean", "pairings_median", "gamma")
_CLASSES = {
    "class_a": text("class_a"), "class_b": text("class_b"), "n_a": count("n_a"),
    "n_b": count("n_b"), **{name: number(name) for name in _PAIRS},
}  # fmt: skip
_OTHERS = (
    text("Source"),
    *map(number, ("Acc", "macro-F1", "ROC-AUC", "MCC", "AUC of labels", "Share of target")),
    count("Repeated"),
)


def corpora_sections(
    corpora: Sequence[str],
    labels: Sequence[str],
    text_column: str,
    *,
    embedder: str | None = None,
    against: Sequence[str] = (),
    seed: int = 0,
) -> list[Section]:
    """Divergence of the classes of each corpus, and the first corpus against others."""
    read = _read(corpora, [text_column, *labels])
    parts = [
        _divergences(name, frame, text_column, labels, embedder, seed)
        for name, frame in read.items()
    ]
    several = {"corpus": text("Corpus")} if len(read) > 1 else {}
    note = (
        "JSD to base 2 of add-one smoothed n-grams (the divergence, not its root); MMD^2 unbiased, "
        "Gaussian kernel, one bandwidth by the median heuristic; pairings are the mean and median "
        "of 1,000 random pairings. Lower: harder to tell apart. Values compare only between "
        "corpora of like size."
    )
    sections = [Section("Classes", note, (frame_table(pl.concat(parts), {**several, **_CLASSES}),))]
    if against:
        first = next(iter(read.values()))[text_column].cast(pl.String).to_list()
        sections.append(_validation(first, _read(against, [text_column]), text_column, seed))
    return sections


def _read(given: Sequence[str], columns: Sequence[str]) -> dict[str, pl.DataFrame]:
    """Name -> table of each ``NAME=FILE``; a bare file is called by its own name."""
    corpora_read = {}
    for one in given:
        name, equals, file = one.partition("=")
        path, name = (file, name) if equals else (one, Path(one).stem)
        if name in corpora_read:
            raise InputError(f"two corpora have the name {name!r}: write NAME=FILE")
        corpora_read[name] = read_raw(path).frame
        check_columns(path, columns, corpora_read[name].columns)
    return corpora_read


def _divergences(
    name: str,
    frame: pl.DataFrame,
    text: str,
    labels: Sequence[str],
    embedder: str | None,
    seed: int,
) -> pl.DataFrame:
    from voirdire.examining.labels.corpora import class_divergences  # noqa: PLC0415 - slow

    classed = frame.select(pl.col(text).cast(pl.String), _classes(frame, labels, name))
    vectors: Any = None
    if embedder is not None:
        from voirdire_retrieval import embed_texts, open_embedder  # noqa: PLC0415 - heavy

        vectors = embed_texts(open_embedder(embedder), classed[text].to_list()).vectors
    differing = class_divergences(classed, text=text, label="class", vectors=vectors, seed=seed)
    return differing.select(pl.lit(name).alias("corpus"), pl.all())


def _classes(frame: pl.DataFrame, labels: Sequence[str], where: str) -> pl.Series:
    """The class of each text: a column as it is, or which of several labels are yes.

    >>> table = pl.DataFrame({"low": [1, 0, 1], "calm": ["no", "no", "yes"]})
    >>> _classes(table, ["low", "calm"], "file").to_list()
    ['low', 'none', 'low + calm']
    """
    if len(labels) == 1:
        return frame[labels[0]].cast(pl.String).alias("class")
    read = pl.DataFrame([yes_no(frame[label], where) for label in labels])
    rows = [
        # An unknown label leaves the class unknown: "none" would be a claim.
        None
        if None in row
        else " + ".join(label for label, yes in zip(labels, row, strict=True) if yes) or "none"
        for row in read.iter_rows()
    ]
    return pl.Series("class", rows, pl.String)


def _validation(
    target: list[str], others: dict[str, pl.DataFrame], text: str, seed: int
) -> Section:
    from voirdire.examining.labels.corpora import adversarial_validation  # noqa: PLC0415 - slow

    rows = []
    for name, frame in others.items():
        validation = adversarial_validation(
            frame[text].cast(pl.String).to_list(), target, seed=seed
        )
        values = (validation.accuracy, validation.f1_macro, validation.roc_auc, validation.mcc)
        rest = (validation.auc_of_labels, validation.share_target, validation.repeated)
        rows.append((name, *(one.value for one in values), *rest))
    return Section(
        "Other corpora",
        "TF-IDF of words and pairs, logistic regression, five folds; repeated texts are held out "
        "together. ROC-AUC is from scores; from hard labels it would be the column after MCC. "
        "High: the corpora differ in their words; this says nothing about the quality of labels.",
        (Table(_OTHERS, tuple(rows)),),
    )
