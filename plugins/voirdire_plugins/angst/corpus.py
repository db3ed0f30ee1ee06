"""A corpus of posts to annotate, in the steps of 3.1, with counts at every step."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire import InputError, TableError
from voirdire.errors import check_columns
from voirdire.tables import read_labelled
from voirdire.tabular import Section, Table, count, text
from voirdire_plugins.resources import resource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

#: Self-disclosure of a diagnosis, after the high-precision patterns of Cohan et al. (2018); ours.
DISCLOSURE: tuple[str, ...] = tuple(resource("angst", "patterns")["disclosure"]["patterns"])


@dataclass(frozen=True, slots=True)
class CorpusStep:
    """One step: how many posts and authors are left after it."""

    name: str
    posts: int
    authors: int


@dataclass(frozen=True, slots=True)
class Corpus:
    """The sample to annotate, the rest of the ranked pool, and the counts.

    `rest` is what silver labels are made of; no post stands in both.
    """

    sample: pl.DataFrame
    rest: pl.DataFrame
    steps: tuple[CorpusStep, ...]


def build_corpus(
    posts: pl.DataFrame,
    *,
    patterns: Sequence[str] = DISCLOSURE,
    lexicons: Sequence[str] = (),
    min_words: int = 75,
    min_posts: int = 10,
    top: int = 25_000,
    sample: int = 3_000,
    seed: int = 0,
) -> Corpus:
    """Build a corpus as Hengle et al. (2024), 3.1.

    Authors with a post that discloses a diagnosis; all their posts; those of `min_words` or more
    (split at white space) by authors with `min_posts` or more posts (counted before short posts go:
    the paper does not say); ranked by the mean of the lexicons' ranks; the top; a random sample.

    Parameters
    ----------
    posts : pl.DataFrame
        ``id, author, text``, and one column a lexicon. A post without text or author goes first; a
        repeated text stays once.
    patterns : sequence of str
        Regular expressions of self-disclosure, in any case. Declare your own: whom they miss is not
        in the corpus.
    lexicons : sequence of str
        Columns of scores of yours (emotion, sentiment), higher being more to the point. Without
        any, posts are not ranked and none is dropped there.
    min_words, min_posts, top, sample, seed
        As above; the sample is drawn by ``numpy.random.default_rng(seed)``.

    Raises
    ------
    TableError
        A column is absent, an id is empty or repeated, or a lexicon's score is no number.
    InputError
        No pattern, or one that is no regular expression.

    Examples
    --------
    >>> rows = [(str(i), "ann", f"I have anxiety {i}", i) for i in range(4)]
    >>> table = pl.DataFrame(rows, schema=["id", "author", "text", "fear"], orient="row")
    >>> corpus = build_corpus(table, lexicons=["fear"], min_words=3, min_posts=2, top=3, sample=2)
    >>> [(step.name, step.posts) for step in corpus.steps][-2:], corpus.rest.height
    ([('top 3 by lexicon', 3), ('random sample of 2', 2)], 1)
    """
    _check(posts, lexicons)
    steps = [_step("posts given", posts)]
    blank = pl.col("text").fill_null("").str.strip_chars() == ""
    usable = posts.filter(~blank & pl.col("author").is_not_null()).unique(
        "text", keep="first", maintain_order=True
    )
    steps.append(_step("with text and author, each text once", usable))
    disclosed = usable.filter(_discloses(usable["text"], patterns))["author"].unique()
    frame = usable.filter(pl.col("author").is_in(disclosed.implode()))
    steps.append(_step("of authors who disclose a diagnosis", frame))
    words = pl.col("text").str.count_matches(r"\S+")
    # Before short posts go, as the docstring says; kept in a column, since the next step drops
    # rows.
    active = pl.len().over("author") >= min_posts
    frame = frame.with_columns(active.alias("_active"))
    frame = frame.filter(words >= min_words)
    steps.append(_step(f"of {min_words} words or more", frame))
    frame = frame.filter(pl.col("_active")).drop("_active")
    steps.append(_step(f"of authors with {min_posts} posts or more", frame))
    if lexicons:
        frame = _ranked(frame, lexicons).head(top)
        steps.append(_step(f"top {top} by lexicon", frame))
    # A permutation and not a choice: a larger sample of one seed holds the smaller.
    drawn = np.random.default_rng(seed).permutation(frame.height)[:sample]
    chosen = pl.Series(np.isin(np.arange(frame.height), drawn))
    steps.append(_step(f"random sample of {sample}", frame.filter(chosen)))
    return Corpus(frame.filter(chosen), frame.filter(~chosen), tuple(steps))


def _discloses(texts: pl.Series, patterns: Sequence[str]) -> pl.Series:
    if not patterns:
        raise InputError(
            "give at least one pattern of self-disclosure: without any, no author is kept"
        )
    try:
        compiled = [re.compile(pattern, re.IGNORECASE) for pattern in patterns]
    except re.error as error:
        raise InputError(f"pattern {error.pattern!r} is no regular expression: {error}") from error
    return pl.Series(
        [any(one.search(text) for one in compiled) for text in texts], dtype=pl.Boolean
    )


def _ranked(posts: pl.DataFrame, lexicons: Sequence[str]) -> pl.DataFrame:
    """The best first, by the mean of the columns' ranks; a missing score ranks last, ties by id."""
    ranks = [
        pl.col(name)
        .cast(pl.Float64)
        .fill_nan(None)
        .rank("average", descending=True)
        .fill_null(posts.height)
        for name in lexicons
    ]
    return posts.with_columns(pl.mean_horizontal(ranks).alias("rank")).sort("rank", "id")


def _step(name: str, posts: pl.DataFrame) -> CorpusStep:
    return CorpusStep(name, posts.height, posts["author"].n_unique() if posts.height else 0)


def _check(posts: pl.DataFrame, lexicons: Sequence[str]) -> None:
    check_columns("posts", ("id", "author", "text", *lexicons), posts.columns)
    if posts["id"].null_count() or posts["id"].is_duplicated().any():
        raise TableError("posts, column 'id': an id is empty or occurs more than once")
    for name in lexicons:
        lost = posts[name].is_not_null() & posts[name].cast(pl.Float64, strict=False).is_null()
        if lost.any():
            value = posts[name].filter(lost)[0]
            raise TableError(f"posts, column {name!r}: a score must be a number, got {value!r}")


def write_corpus(
    posts: Path, out: Path, columns: Mapping[str, str], patterns: Path | None = None, **how: Any
) -> list[Section]:
    """Build a corpus and write its sample and the rest; a row a step."""
    declared = DISCLOSURE if patterns is None else _lines(patterns)
    corpus = build_corpus(read_labelled(posts, (), columns), patterns=declared, **how)
    out.mkdir(parents=True, exist_ok=True)
    corpus.sample.write_csv(out / "sample.csv")
    corpus.rest.write_csv(out / "rest.csv")
    rows = tuple((step.name, step.posts, step.authors) for step in corpus.steps)
    table = Table((text("Step"), count("Posts"), count("Authors")), rows)
    return [Section("Corpus", f"Written: sample.csv and rest.csv in {out}.", (table,))]


def _lines(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--patterns {path}: cannot be read ({error})") from error
