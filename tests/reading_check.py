"""What becomes of a made file: read rightly, asked about, or read wrongly without a word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire import tables
from voirdire.errors import InputError, QuestionError
from voirdire.study import ReadOptions

if TYPE_CHECKING:
    from pathlib import Path

    from reading_files import Case, Truth


def outcome(case: Case, folder: Path) -> tuple[str, str]:
    """``right``, ``asked`` (and right with the answers given), ``wrong``, ``error`` or ``unanswered``."""
    paths = case.make(folder)
    try:
        found = read(paths, case.reference, ReadOptions())
    except QuestionError as question:
        try:
            found = read(paths, *tables.with_answers(question, case.reference, ReadOptions()))
        except InputError as error:
            return "unanswered", f"{question.question} || {error}"
        fault = unlike(found, case.truth)
        return (
            ("asked", question.question)
            if not fault
            else ("wrong answer", f"{question.question} || {fault}")
        )
    except InputError as error:
        return "error", str(error)
    fault = unlike(found, case.truth)
    return ("wrong", fault) if fault else ("right", "")


def read(paths: Any, reference: tuple[str, ...], options: ReadOptions) -> Truth:
    """The judgements of files by rater and attribute."""
    judged = tables.read_judged(paths, reference=reference, read=options)
    if judged is not None:
        _, found_judged = judged
        if found_judged.preferences is not None:
            return _preferences(found_judged.preferences)
        return _labels(found_judged.labels)
    _, rated = tables.read_file(paths, reference=reference, read=options)
    ratings = tables.apply_off_scale(rated.ratings, "missing")
    found: Truth = {}
    wanted = ratings.select("rater", pl.col("attribute").cast(pl.String), "item", "system", "score")
    for rater, attribute, item, system, score in wanted.iter_rows():
        if score is not None:
            found.setdefault((rater, attribute), {})[item, system] = score
    if len({attribute for _, attribute in found}) == 1:
        found = {(rater, ""): scores for (rater, _), scores in found.items()}
    return found


def _labels(table: pl.DataFrame) -> Truth:
    found: Truth = {}
    for row in table.iter_rows(named=True):
        if row["labels"]:
            key = row["rater"], ""
            found.setdefault(key, {})[row["item"], row["system"]] = ";".join(row["labels"])
    return found


def _preferences(table: pl.DataFrame) -> Truth:
    found: Truth = {}
    for row in table.iter_rows(named=True):
        first = row["shown_first"] or row["system_a"]
        sign = 1 if row["system_a"] == first else -1
        second = row["system_b"] if sign > 0 else row["system_a"]
        score = None if row["score"] is None else sign * row["score"]
        if score is not None:
            score = float((score > 0) - (score < 0))
        found.setdefault((row["rater"], ""), {})[row["item"], f"{first}>{second}"] = score
    return found


def unlike(found: Truth, truth: Truth) -> str:
    """The first thing that differs, in words; empty where nothing does."""
    if set(found) != set(truth):
        return f"raters {sorted(found)} for {sorted(truth)}"
    for key, scores in truth.items():
        if set(found[key]) != set(scores):
            return f"{key}: units {sorted(map(str, found[key]))[:2]} for {sorted(map(str, scores))[:2]}"
        for unit, value in scores.items():
            got = found[key][unit]
            same = got == value if isinstance(value, str) else abs(got - value) < 1e-6
            if not same:
                return f"{key}, {unit}: {got} for {value}"
    return ""
