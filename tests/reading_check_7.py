"""What becomes of a made file at the command line, and whether what was read is the truth."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING, Any

import polars as pl
from command_line import typed

from voirdire import tables
from voirdire.errors import InputError, QuestionError
from voirdire.study import ReadOptions

if TYPE_CHECKING:
    from pathlib import Path

    from reading_files_7 import Made

Signature = Counter[frozenset[tuple[str, str, str, Any]]]


def command(words: list[str], folder: Path) -> tuple[int, str]:
    """What a command ends with, and all that it printed."""
    ended = typed(*words, cwd=folder, COLUMNS="4000")
    return ended.returncode, f"{ended.stdout}\n{ended.stderr}"


def options_of(made: Made, folder: Path) -> ReadOptions:
    named: dict[str, Any] = {}
    for key, value in zip(made.options[::2], made.options[1::2], strict=True):
        name = key.lstrip("-").replace("-", "_")
        named[name] = [str(folder / value)] if name == "human" else value
    return ReadOptions(**named)


def outcome(made: Made, folder: Path) -> tuple[str, str]:
    """``right``, ``asked``, ``wrong``, ``stuck`` or ``wrong answer``, and what was said."""
    shown = made.write(folder)
    reference = tuple(made.reference.split(",")) if made.reference else ()
    paths, options = [folder / name for name in shown], options_of(made, folder)
    try:
        found = read(paths, reference, options)
    except QuestionError as question:
        try:
            found = read(paths, *tables.with_answers(question, reference, options))
        except InputError as error:
            return "stuck", f"{question.question} || {error}"
        fault = unlike(found, made)
        return (
            ("wrong answer", f"{question.question} || {fault}")
            if fault
            else ("asked", question.question)
        )
    except InputError as error:
        return "stuck", str(error)
    fault = unlike(found, made)
    return ("wrong", fault) if fault else ("right", "")


def at_the_shell(made: Made, folder: Path) -> tuple[str, str]:
    """``right``, ``asked`` where the copied command ends well, else ``stuck`` with what was printed."""
    shown = made.write(folder)
    words = [
        "examine",
        *shown,
        *(["--reference", made.reference] if made.reference else []),
        *made.options,
    ]
    code, printed = command([*words, "--resamples", "0"], folder)
    if code == 0:
        return "right", printed
    last = printed.strip().splitlines()[-1] if printed.strip() else ""
    if "voirdire examine" not in last:
        return "stuck", printed
    again = shlex.split(last[last.index("voirdire examine") :])[1:]
    code, second = command(again, folder)
    return ("asked" if code == 0 else "stuck"), f"{printed}\n>>> {last}\n{second if code else ''}"


def read(paths: Any, reference: tuple[str, ...], options: ReadOptions) -> Signature:
    judged = tables.read_judged(paths, reference=reference, read=options)
    if judged is not None:
        _, found = judged
        if found.preferences is not None:
            return _signature(_preferences(found.preferences))
        return _signature(
            (r["item"], r["system"], r["rater"], "", "|".join(sorted(r["labels"])))
            for r in found.labels.iter_rows(named=True)
            if r["labels"] is not None and len(r["labels"])
        )
    _, rated = tables.read_file(paths, reference=reference, read=options)
    ratings = tables.apply_off_scale(rated.ratings, "missing")
    return _signature(
        (i, s, r, a, v)
        for i, s, r, a, v in ratings.select(
            "item", "system", "rater", pl.col("attribute").cast(pl.String), "score"
        ).iter_rows()
        if v is not None
    )


def _preferences(table: pl.DataFrame) -> Any:
    for r in table.iter_rows(named=True):
        if r["score"] is not None:
            pair = "|".join(sorted((r["system_a"], r["system_b"])))
            winner = (
                "tie" if r["score"] == 0 else r["system_a"] if r["score"] > 0 else r["system_b"]
            )
            yield r["item"], pair, r["rater"], "", winner


def _signature(rows: Any) -> Signature:
    rows = list(rows)
    alone = len({a for _, _, _, a, _ in rows}) == 1
    one = len({s for _, s, _, _, _ in rows}) == 1
    units: dict[str, set[Any]] = {}
    for i, s, r, a, v in rows:
        value = round(float(v), 6) if isinstance(v, float | int) else str(v).casefold()
        system = "" if one else str(s)
        units.setdefault(str(i), set()).add(
            (system, str(r).casefold(), "" if alone else str(a).casefold(), value)
        )
    return Counter(frozenset(u) for u in units.values())


def unlike(found: Signature, made: Made) -> str:
    """How what was found differs from the truth; empty where it does not."""
    truth = _signature((*k, v) for k, v in made.truth.items())
    if made.own_names:
        found, truth = (
            _again(s, lambda e: (e[0], e[1] == "human", *e[2:])) for s in (found, truth)
        )
    if made.kind == "words":
        return _words(found, truth)
    if made.rescaled:
        found, truth = _without(found, made.rescaled), _without(truth, made.rescaled)
    if made.kind in ("label", "label set") and _rater_values(found) != _rater_values(truth):
        found = _booleans(found, truth)
    if found == truth:
        return ""
    for what, at in (("raters", 1), ("systems", 0), ("attributes", 2)):
        one, two = ({e[at] for u in s for e in u} for s in (found, truth))
        if one != two:
            return f"{what}: found {sorted(one)}, not {sorted(two)}"
    extra, gone = found - truth, truth - found
    return f"{sum(found.values())} items, not {sum(truth.values())}: " + "; ".join(
        f"{label} {sorted(next(iter(s)))}"
        for label, s in (("found", extra), ("not found", gone))
        if s
    )


def _rater_values(s: Signature) -> set[Any]:
    return {e[3] for u in s for e in u}


def _without(s: Signature, raters: tuple[str, ...]) -> Signature:
    """Whoever has a scale of its own: that it is there, not its numbers."""
    own = {r.casefold() for r in raters}
    return _again(s, lambda e: (e[0], e[1], e[2], None) if e[1] in own else e)


def _again(s: Signature, of: Any) -> Signature:
    made: Signature = Counter()
    for unit, n in s.items():
        made[frozenset(of(e) for e in unit)] += n
    return made


def _booleans(found: Signature, truth: Signature) -> Signature:
    """Two labels read as numbers, or spelt otherwise, are the same where one order of them is."""
    mine, right = sorted(_rater_values(found), key=str), sorted(_rater_values(truth), key=str)
    if len(mine) != len(right) or len(mine) > 2:
        return found
    for order in (right, right[::-1]):
        changed = _again(found, lambda e, m=dict(zip(mine, order, strict=True)): (*e[:3], m[e[3]]))
        if changed == truth:
            return changed
    return found


def _words(found: Signature, truth: Signature) -> str:
    """Words of a scale may stay words or become its numbers, each word one number."""
    words: dict[str, set[Any]] = {}
    one, two = (_again(s, lambda e: (e[0], e[1], e[2], None)) for s in (found, truth))
    if one != two:
        return "raters, systems or attributes differ"
    mine = Counter(e[3] for u, n in found.items() for e in u for _ in range(n))
    right = Counter(e[3] for u, n in truth.items() for e in u for _ in range(n))
    del words
    return "" if sorted(mine.values()) == sorted(right.values()) else f"values: {mine} for {right}"
