"""`voirdire humans import`: sheets and the page's database, back as tidy tables."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import InputError, TableError
from voirdire.files import PRIVATE, own_folder, whole, write_text
from voirdire.humans.database import DATABASE, read_answers
from voirdire.humans.exporting import STUDY
from voirdire.humans.plan import KEY, PLAN, read_key, read_plan
from voirdire.humans.questions import (
    LEVELS,
    NEVER_FAILS,
    REASON,
    applies,
    asked_alone,
    open_questions,
)
from voirdire.humans.sheets import read_sheet
from voirdire.store import is_session
from voirdire.store.parsed import PREFERENCES
from voirdire.study import build_study, load_study, study_to_toml
from voirdire.tables import FACTS, RATINGS, STATUS
from voirdire.units import cluster_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from voirdire.humans.plan import Origin, Plan, PlanKey
    from voirdire.humans.questions import Answer, Answered, Form, FormQuestion
    from voirdire.study import Study

    Answers = Mapping[str, Mapping[str, Answer]]

_DATABASES = (".sqlite", ".sqlite3", ".db")
_FILES = tuple(f"{name}.parquet" for name in ("ratings", "preferences", "texts", "items"))
_LABELS = ("alpha_nominal", "ac1")
#: How people alone are examined where the study does not say: by how far they agree.
_MEASURES = {"pointwise": ("icc", "alpha"), "labels": _LABELS, "nested": _LABELS, "choice": _LABELS}


@dataclass(frozen=True, slots=True)
class Imported:
    """What was read.

    Attributes
    ----------
    tables : mapping of str to DataFrame
        ``ratings``, and ``preferences`` or ``texts`` where the task brings them.
    counts : mapping of str to tuple
        Rater -> judgements complete, begun and untouched.
    """

    folder: Path
    tables: dict[str, pl.DataFrame]
    counts: dict[str, tuple[int, int, int]]


def import_answers(
    work: str | Path,
    files: Sequence[str | Path],
    out: str | Path,
    *,
    key: str | Path | None = None,
    shared: bool = False,
) -> Imported:
    """Read answers, and write them as a folder that `voirdire examine` takes.

    Parameters
    ----------
    work : path
        The folder of the plan.
    files : sequence of path
        Sheets (workbooks, CSV) and databases of the page; by default the database in `work`.
    out : path
        The folder for ``study.toml`` and the tables as Parquet.
    key : path, optional
        By default ``key.json`` in `work`.
    shared : bool
        Whether others may read what is written, as the umask says; by default its owner alone may.

    Raises
    ------
    InputError
        The plan or its key cannot be used, or the folder holds files that are no answers to it.
    TableError
        A sheet cannot be used; the message names the file, the row and the value.
    """
    work, out = Path(work), Path(out)
    plan = read_plan(work / PLAN)
    origins = read_key(Path(key) if key else work / KEY, plan)
    _check_free(out, plan)
    answers = gather(plan, [Path(file) for file in files] or [work / DATABASE])
    frames = tables_of(plan, origins, answers)
    study = human_study(load_study(work / STUDY), plan)
    text = _mark(plan) + study_to_toml(study)
    _write(out, text, frames, items_of(origins), shared=shared)
    return Imported(out, frames, count_open(plan, answers))


def gather(plan: Plan, files: Sequence[Path]) -> dict[str, Answered]:
    """The answers of all files: judgement -> question -> answer.

    Raises
    ------
    TableError
        A judgement is answered in two files.
    """
    answers: dict[str, tuple[str, Answered]] = {}
    for path in files:
        for ident, (where, answered) in _read(plan, path).items():
            if ident in answers:
                raise TableError(
                    f"{where}: id {ident!r} is answered in {answers[ident][0]} already"
                )
            answers[ident] = (where, answered)
    return {ident: answered for ident, (_, answered) in answers.items()}


def human_study(study: Study, plan: Plan) -> Study:
    """The study of the answers alone: its panel are the people who judged.

    What it says of thresholds and analysis stands; without measures, those of agreement are asked.
    """
    raw = study.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    for key in ("data", "items", "responses", "generators", "run", "classify", "humans"):
        raw.pop(key, None)
    declared = {rater["name"]: rater for rater in raw.get("panel", ())}
    raw["panel"] = [declared.get(name, {"name": name, "kind": "human"}) for name in plan.raters]
    if plan.task in _MEASURES and not study.analysis.measures:
        raw["analysis"] = {**raw.get("analysis", {}), "measures": _MEASURES[plan.task]}
    if plan.task == "pointwise" and study.conversations.unit == "first":
        longest = max(len(q.options) for one in plan.judgements.values() for q in one.form)
        names = [{"name": name} for name in attributes_of(plan)]
        raw["rubric"] = {"scale": [0, longest - 1], "step": 1, "attributes": names}
    if plan.task in ("labels", "nested", "choice"):
        raw["rubric"] = {
            "scale": [0, 1],
            "attributes": [{"name": name} for name in attributes_of(plan)],
        }
    return build_study(raw)


def _read(plan: Plan, path: Path) -> dict[str, tuple[str, Answered]]:
    if path.suffix.lower() not in _DATABASES:
        return read_sheet(plan, path)
    answers: dict[str, tuple[str, Answered]] = {}
    for ident, answered in read_answers(path, plan).items():
        if ident not in plan.judgements:
            raise TableError(f"{path}: id {ident!r} was not sent out with this plan")
        kept = asked_alone(plan.judgements[ident].form, answered)
        if kept:
            answers[ident] = (str(path), kept)
    return answers


def _check_free(out: Path, plan: Plan) -> None:
    """Nothing is written over but the answers to this plan."""
    if is_session(out) or (out / PLAN).exists():
        raise InputError(f"{out}: holds a session or a plan; give another folder for the answers")
    held = next((name for name in (STUDY, *_FILES) if (out / name).exists()), None)
    study = out / STUDY
    if held and not (study.is_file() and study.read_bytes().startswith(_mark(plan).encode())):
        raise InputError(
            f"{out}: holds a {held} that is no answer to this plan; give another folder"
        )


def _mark(plan: Plan) -> str:
    """How the study beside the answers to a plan begins."""
    return f"# Answers to the plan {plan.hash[:16]}, read by voirdire humans import.\n"


def _write(
    out: Path,
    study: str,
    frames: dict[str, pl.DataFrame],
    items: pl.DataFrame | None,
    *,
    shared: bool,
) -> None:
    own_folder(out, shared=shared)
    mode = None if shared else PRIVATE
    write_text(out / STUDY, study, mode=mode)
    for name in _FILES:
        (out / name).unlink(missing_ok=True)
    tables = frames if items is None else {**frames, "items": items}
    for name, frame in tables.items():
        with whole(out / f"{name}.parquet", mode=mode) as draft:
            frame.write_parquet(draft)


TEXTS: dict[str, Any] = {
    "item": pl.String, "system": pl.String, "system_b": pl.String, "rater": pl.String,
    "run": pl.Int32, "question": pl.String, "text": pl.String, "status": STATUS,
}  # fmt: skip
_SCHEMAS: dict[str, dict[str, Any]] = {
    "ratings": dict(RATINGS),
    "preferences": PREFERENCES,
    "texts": TEXTS,
}
#: Letters that a choice is scored on: those that the judge `choice` scores, so that both join.
_LETTERS = 8


def tables_of(plan: Plan, key: PlanKey, answers: Answers) -> dict[str, pl.DataFrame]:
    """Ratings, and preferences and texts (reasons among them) where the task brings them.

    Every judgement of the plan has its rows; one without an answer has null and status ``blank``.
    Where a queue named the tasks, the ratings say whether it chose them or drew them at random, and
    with which probability.
    """
    rows: dict[str, list[tuple[Any, ...]]] = {"ratings": []}
    write = {
        "pointwise": _scores,
        "labels": _labels,
        "nested": _labels,
        "pairwise": _preferences,
        "choice": _choices,
    }[plan.task]
    letters = _letters(plan)
    for ident, rater in plan.owners.items():
        form, origin = plan.judgements[ident].form, key.origins[ident]
        answered = answers.get(ident, {})
        asked = tuple(question for question in form if question.kind != "text")
        for table, row in write(asked, origin, rater, answered, letters):
            rows.setdefault(table, []).append(row)
        for row in _texts(form, origin, rater, answered):
            rows.setdefault("texts", []).append(row)
    tables = {
        name: pl.DataFrame(given, schema=_SCHEMAS[name], orient="row")
        for name, given in rows.items()
    }
    if "texts" in tables and plan.task != "pairwise":
        tables["ratings"] = _with_reasons(tables["ratings"], tables["texts"])
    if key.labels:
        tables["ratings"] = _with_origin(tables["ratings"], key)
    return {
        name: _with_clusters(frame) if name in _CLUSTERED else frame
        for name, frame in tables.items()
    }


_CLUSTERED = ("ratings", "preferences")


def _with_clusters(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows about turns with their conversation as cluster, as a session's are."""
    names = rows["item"].unique(maintain_order=True)
    talks = {name: cluster_of(name) for name in names.to_list()}
    if all(name == talk for name, talk in talks.items()):
        return rows
    cluster = pl.col("item").replace_strict(talks, return_dtype=FACTS["cluster"])
    return rows.with_columns(cluster=cluster)


def _with_origin(ratings: pl.DataFrame, key: PlanKey) -> pl.DataFrame:
    """The ratings with how their responses came to be labelled."""
    ratings = ratings.with_columns(origin=pl.lit(key.labels, FACTS["origin"]))
    drawn = {
        (origin.item, origin.system_a or None): origin.probability
        for origin in key.origins.values()
        if origin.probability is not None
    }
    if not drawn:
        return ratings
    rows = [(*named, probability) for named, probability in drawn.items()]
    schema = {name: ratings.schema[name] for name in ("item", "system")}
    facts = pl.DataFrame(
        rows, schema={**schema, "label_probability": FACTS["label_probability"]}, orient="row"
    )
    return ratings.join(
        facts, on=["item", "system"], how="left", nulls_equal=True, maintain_order="left"
    )


def _with_reasons(ratings: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """The ratings with a column `reason`: what its rater said in words of that unit."""
    by = ["item", "system", "rater", "run"]
    said = (
        texts.rename({"text": "reason"})
        .filter(pl.col("question") == REASON)
        .drop_nulls("reason")
        .with_columns(pl.col(name).cast(ratings.schema[name]) for name in by)
        .group_by(by, maintain_order=True)
        .agg(pl.col("reason").str.join(" "))
    )
    return ratings.join(said, on=by, how="left", nulls_equal=True, maintain_order="left")


def items_of(key: PlanKey) -> pl.DataFrame | None:
    """The further columns of the items, as text; None where they have none."""
    names = dict.fromkeys(name for extra in key.items.values() for name in extra if name != "item")
    rows = [(i, *(_plain(extra.get(n)) for n in names)) for i, extra in key.items.items()]
    schema = {"item": pl.String, **dict.fromkeys(names, pl.String)}
    return pl.DataFrame(rows, schema=schema, orient="row") if names else None


def _plain(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def attributes_of(plan: Plan) -> tuple[str, ...]:
    """The attributes of the ratings, in the form's order."""
    if plan.task == "choice":
        return _letters(plan)
    if plan.task in ("labels", "nested"):
        return tuple(label for question in plan.form for label in question.options)
    return tuple(question.name for question in plan.form if question.kind != "text")


def count_open(plan: Plan, answers: Answers) -> dict[str, tuple[int, int, int]]:
    """Rater -> judgements complete, begun and untouched."""
    counts = {}
    for rater, ids in plan.raters.items():
        begun = [ident for ident in ids if answers.get(ident)]
        left = [i for i in begun if open_questions(plan.judgements[i].form, answers[i])]
        counts[rater] = (len(begun) - len(left), len(left), len(ids) - len(begun))
    return counts


def _texts(
    form: Form, origin: Origin, rater: str, answered: Mapping[str, Answer]
) -> Iterator[tuple[Any, ...]]:
    """What was answered in words; of a comparison both systems are named, as declared."""
    systems = origin.system_a or None, origin.system_b or None
    for question in form:
        if question.kind == "text":
            answer = answered.get(question.name)
            text = answer if isinstance(answer, str) else None
            head = (origin.item, *systems, rater, 1, question.name)
            yield (*head, text, "blank" if text is None else "ok")


def _scores(
    form: Form, origin: Origin, rater: str, answered: Mapping[str, Answer], _: tuple[str, ...]
) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for question in form:
        answer = answered.get(question.name)
        # Of first failures 0 is never, as judges say it.
        place = "0" if answer == NEVER_FAILS else answer
        score = float(place) if isinstance(place, str) else None
        yield "ratings", _rating(origin, rater, question.name, score)


def _labels(
    form: Form, origin: Origin, rater: str, answered: Mapping[str, Answer], _: tuple[str, ...]
) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for question in form:
        for label in question.options:
            yield "ratings", _rating(origin, rater, label, _label_score(question, label, answered))


def _label_score(
    question: FormQuestion, label: str, answered: Mapping[str, Answer]
) -> float | None:
    """1 or 0; None where it is not known. Under a label that was not chosen nothing is named."""
    # Not answered above, so that it is not known whether this was to be asked.
    if question.parent and question.parent not in answered:
        return None
    if not applies(question, answered):
        return 0.0
    answer = answered.get(question.name)
    return None if answer is None else float(label in answer)


def _preferences(
    form: Form, origin: Origin, rater: str, answered: Mapping[str, Answer], _: tuple[str, ...]
) -> Iterator[tuple[str, tuple[Any, ...]]]:
    sign = 1.0 if origin.first == origin.system_a else -1.0
    for question in form:
        answer = answered.get(question.name)
        # 0.0 is added so that a tie turned round is no -0.0.
        score = None if answer is None else sign * (2.0 - LEVELS.index(str(answer))) + 0.0
        head = (origin.item, origin.system_a, origin.system_b, origin.first, rater, 1)
        yield "preferences", (*head, question.name, score, "blank" if answer is None else "ok")


def _choices(
    form: Form, origin: Origin, rater: str, answered: Mapping[str, Answer], letters: tuple[str, ...]
) -> Iterator[tuple[str, tuple[Any, ...]]]:
    answer = answered.get(form[0].name)
    for letter in letters:
        score = None if answer is None else float(letter == answer)
        yield "ratings", _rating(origin, rater, letter, score)


def _letters(plan: Plan) -> tuple[str, ...]:
    """The options of all questions: letters, or those that the study declares."""
    if plan.task != "choice":
        return ()
    longest = max((j.form[0].options for j in plan.judgements.values()), key=len)
    if longest != tuple(ascii_uppercase[: len(longest)]):
        return longest
    return tuple(ascii_uppercase[: max(_LETTERS, len(longest))])


def _rating(origin: Origin, rater: str, attribute: str, score: float | None) -> tuple[Any, ...]:
    status = "blank" if score is None else "ok"
    return origin.item, origin.system_a or None, rater, 1, attribute, score, None, status
