"""Candidates: other ways to ask a judge, and what can be made of its scores without a call."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire import plugins
from voirdire.errors import InputError
from voirdire.examining.narrowing import beside
from voirdire.schema import Finding
from voirdire.store.raters import participants
from voirdire.study import Rater, build_part, read_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from voirdire.study import Study
    from voirdire_plugins.tune.goals import Marks

    Floats = NDArray[np.float64]

#: Suffixes of files that hold a wording each.
_WORDINGS = (".txt", ".md")


def read_candidates(
    judge: Rater, paths: Sequence[str | Path], folder: str = "."
) -> tuple[Rater, ...]:
    """Members of a panel that differ from the judge in what the files say.

    A file of TOML holds tables ``[[candidate]]`` with the keys of a ``[[panel]]``; ``instructions``
    and ``rubric`` (a file of the same attributes in other words) may stand next to them. A file
    that is itself a rubric is a candidate in its words. A text file holds the instructions of one
    candidate, which bears its name; a folder holds such files. `folder` is the study's: paths in it
    are seen from there.

    Raises
    ------
    InputError
        There is no such file, or a key of it is wrong; two bear one name.
    """
    made: dict[str, Rater] = {}
    for name, keys, where in _read(paths, folder):
        one = candidate(judge, name, keys, where)
        if one.name in made:
            raise InputError(f"{where}: there is a candidate {name!r} already")
        made[one.name] = one
    return tuple(made.values())


def _read(paths: Sequence[str | Path], folder: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(one for one in path.iterdir() if one.suffix in (*_WORDINGS, ".toml"))
            if not inside:
                raise InputError(f"{path}: it holds no .toml, .txt or .md file of candidates")
            yield from _read(inside, folder)
        elif not path.is_file():
            raise InputError(f"--candidates {path}: there is no such file")
        elif path.suffix in _WORDINGS:
            yield path.stem, {"instructions": path.read_text(encoding="utf-8").strip()}, str(path)
        else:
            yield from _of_toml(path, folder)


def _of_toml(path: Path, folder: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    raw = read_toml(path, "candidates")
    if "attributes" in raw and "candidate" not in raw:
        yield path.stem, {"options": {"words": beside(path, folder)}}, str(path)
        return
    rows = raw.pop("candidate", None)
    if raw or not isinstance(rows, list) or not rows:
        odd = f"the key {next(iter(raw))!r} is unknown" if raw else "it has none"
        raise InputError(f"{path}: candidates are tables [[candidate]], and {odd}")
    for number, row in enumerate(rows, 1):
        keys = dict(row)
        if rubric := keys.pop("rubric", ""):
            words = beside(path.parent / str(rubric), folder)
            keys["options"] = {**keys.get("options", {}), "words": words}
        yield str(keys.pop("name", number)), keys, f"{path}, candidate {number}"


def candidate(judge: Rater, name: str, keys: dict[str, Any], where: str) -> Rater:
    """The judge with some keys exchanged; `options` and `model_options` are added to its own."""
    given = judge.model_dump(exclude_unset=True)
    keys = dict(keys)
    instructions = keys.pop("instructions", None)
    for part in ("options", "model_options"):
        keys[part] = {**given.get(part, {}), **keys.get(part, {})}
    if instructions is not None:
        keys["options"][wording_key(judge, where)] = str(instructions)
    made = {**given, **{key: value for key, value in keys.items() if value != {}}}
    made["name"] = f"{judge.name} {name}"
    return build_part(Rater, made, where)


def wording_key(judge: Rater, where: str) -> str:
    """The option in which a judge takes its words.

    Raises
    ------
    InputError
        It takes none.
    """
    factory = plugins().resolve(judge.kind, judge.use or "rubric")
    takes = inspect.signature(factory).parameters
    for key in ("instructions", "prompt", "question"):
        if key in takes:
            return key
    raise InputError(
        f"{where}: {judge.use!r} takes no instructions: name its options in a [[candidate]]"
    )


def forms(judge: Rater, study: Study) -> tuple[tuple[Rater, ...], tuple[Finding, ...]]:
    """The same question in other forms, as far as its judge takes them.

    A judge of a rubric is asked one attribute at a time, by log-probabilities, whether a response
    reaches the gate, and how probable that is; the last two where the study declares a gate or the
    scale has two values. An annotator that names labels is asked yes or no for each, and the other
    way round.

    Raises
    ------
    InputError
        The judge takes none of them.
    """
    tried = _of_rubric(judge) if judge.use in ("", "rubric") else _of_labels(judge)
    made, left = [], []
    for one in tried:
        try:
            participants(study.model_copy(update={"panel": (one,), "generators": ()}), plugins())
        except InputError as error:  # such as a gate that nobody declared
            left.append(
                Finding(
                    "form_not_asked",
                    "note",
                    judge.name,
                    1,
                    (judge.name,),
                    f"{one.name} is not asked: {error}",
                    "The other forms are.",
                )
            )
        else:
            made.append(one)
    if not made:
        raise InputError(
            f"--forms: {judge.name} ({judge.use}) takes no other form; a [[candidate]] may name "
            "any that its options have"
        )
    return tuple(made), tuple(left)


def _of_rubric(judge: Rater) -> tuple[Rater, ...]:
    if judge.kind != "judge":
        return ()
    ways: dict[str, dict[str, Any]] = {
        "asked one by one": {"ask": "each"},
        "by log-probabilities": {"score": "levels"},
        "by yes or no": {"score": "yes-no"},
        "by probability": {"score": "probability"},
    }
    return tuple(
        candidate(judge, name, {"options": options}, "forms")
        for name, options in ways.items()
        if any(judge.options.get(key) != value for key, value in options.items())
    )


def _of_labels(judge: Rater) -> tuple[Rater, ...]:
    """Labels named in one list, and yes or no for each; with nothing else of its options."""
    other = {"labels": ("yes-no", "by yes or no"), "yes-no": ("labels", "by a list")}
    labels = judge.options.get("labels", ())
    # One label alone is a question of yes or no.
    if judge.kind != "annotator" or judge.use not in other or len(labels) < 2:
        return ()
    use, name = other[judge.use]
    given = {**judge.model_dump(exclude_unset=True), "use": use, "options": {"labels": labels}}
    return (build_part(Rater, {**given, "name": f"{judge.name} {name}"}, "forms"),)


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A way to score: a judge that was asked, or what is made of its scores.

    Attributes
    ----------
    name : str
    runs : (R, n) float64
        Its scores, a row a run; NaN is missing.
    rater : str
        Whose calls it takes.
    change : str
        What is done with them; empty where they are taken as they come.
    calls : int
        Runs that one score takes.
    """

    name: str
    runs: Floats
    rater: str
    change: str = ""
    calls: int = 1


def without_calls(
    judge: Scored, use: str, marks: Marks, step: float, *, shifts: bool = True
) -> tuple[Scored, ...]:
    """What the judge's own scores can be made into: the mean of its runs, and shifted scores.

    A shift moves the threshold of a gate, and calibrates the level of scores. It changes neither
    the order of responses nor what they explain; labels that were said have no threshold.
    """
    made = []
    if len(judge.runs) > 1:
        made.append(
            Scored(
                f"{judge.name}, {len(judge.runs)} runs",
                mean_run(judge.runs)[None],
                judge.rater,
                f"the mean of {len(judge.runs)} runs",
                len(judge.runs),
            )
        )
    if use in ("pick", "worth") or not shifts:
        return tuple(made)
    # A judge on a scale of two values has no other threshold.
    size = step or marks.width / 20
    for shift in (-2, -1, -0.5, 0.5, 1, 2):
        moved = np.clip(judge.runs + shift * size, marks.low, marks.high)
        if use in ("gate", "filter"):
            if not marks.low < marks.gate - shift * size <= marks.high:
                continue  # nothing passes, or all
            same = ((moved >= marks.gate) == (judge.runs >= marks.gate)) | np.isnan(judge.runs)
            if same.all():
                continue
            change = f"passes from {marks.gate - shift * size:g}"
        else:
            change = f"scores {shift * size:+g}"
        made.append(Scored(f"{judge.name}, {change}", moved, judge.rater, change))
    return tuple(made)


def mean_run(runs: Floats) -> Floats:
    """(n,) mean over the runs that gave a score; NaN where none did."""
    read = ~np.isnan(runs)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(read, runs, 0.0).sum(axis=0) / read.sum(axis=0))
