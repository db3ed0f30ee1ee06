"""A judge frozen in a file: what it is, and what it said of canary items, to be held to later."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from voirdire.errors import InputError
from voirdire.examining.certificate import CascadeCertificate  # noqa: TC001 - pydantic reads it
from voirdire.examining.changing.chosen import Choices
from voirdire.examining.spec.rated_question import RatedQuestion  # noqa: TC001 - pydantic reads it
from voirdire.files import write_text
from voirdire.schema import Scale
from voirdire.study import (
    Gate,
    Margins,
    Rater,
    StudyPart,
    build_part,
    own_systems,
    read_toml,
    to_toml,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.examining.changing.measured import Measured
    from voirdire.study import Study

    Floats = NDArray[np.float64]

HEAD = (
    "# A judge frozen by `voirdire gate freeze`. It is sealed: a file changed by hand is refused.\n"
    "# Scores stand in the order of `attributes`; nan is missing.\n\n"
)
#: The newest format of a lock that is read; what `freeze` writes.
FORMAT = 2
#: Looks that a lock plans by default: one a week for half a year.
LOOKS = 26
Names = tuple[str, ...]
Scores = dict[str, tuple[float, ...]]


class LockedJudge(StudyPart):
    """What a judge is: what the study declares, and the models that answered for it.

    `schema_enforced` is *yes* or *no* where its server was asked whether it enforces a JSON schema.
    `verdicts` are those at the freeze: attribute -> use -> state, where humans labelled anchors.
    `own` are compared systems of its own family.
    """

    name: str
    model: str = ""
    answered_by: Names = ()
    prompt: str = ""
    temperature: float | None = None
    schema_enforced: str = ""
    verdicts: dict[str, dict[str, str]] = Field(default_factory=dict)
    own: Names = ()


class LockCheck(StudyPart):
    """One check against the lock: its day, and a hash of the scores that it saw.

    `shifts` and `errors` hold, for each judge, the mean shift of each attribute and its standard
    error, nan where there is none: the chart of drifts rests on them.
    """

    date: str
    data: str
    shifts: Scores = Field(default_factory=dict)
    errors: Scores = Field(default_factory=dict)


class CanaryResponse(StudyPart):
    """A response that every check scores again; one with labels of humans is an anchor.

    `text` is a hash of the response, empty where its text is not known. Of a comparison `scores` is
    who won, from 0 to 1; `choices` is what each judge said as it was asked first, in the other
    order, and who was shown first, three numbers an attribute; `chosen` is what people said, and
    `length` how much longer the response named first is.
    """

    item: str
    system: str = ""
    cluster: str = ""
    text: str = ""
    scores: Scores
    humans: Scores = Field(default_factory=dict)
    choices: Scores = Field(default_factory=dict)
    chosen: Scores = Field(default_factory=dict)
    length: float | None = None


class Lock(StudyPart):
    """A lock file.

    `margin` is how many points a mean may move and still be as good; `alpha` is the probability of
    any false alarm over all looks together. `planned` is how many looks these are, each at the same
    level; `one_in` says in their place that one look in so many raises a false alarm, however many
    there are. A lock of format 1 declares neither: its looks spend ever less. `questions` say what
    attributes of labels, probabilities and comparisons answer; `width` is that of the scale of
    comparisons (0: winners alone are kept), `drawn` whether an order that is not recorded was drawn
    each time. `read` is how the source was read,
    `cascade` what was certified of these judges together, and `seal` a hash over all else in the
    file. `sealed` holds a short hash of each part, from which it is told what was changed.
    """

    format: int = 1
    seal: str = ""
    sealed: dict[str, str] = Field(default_factory=dict)
    rule: str = ""
    study: str = ""
    frozen: str
    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    planned: Annotated[int, Field(ge=0)] = 0
    one_in: Annotated[int, Field(ge=0)] = 0
    read: dict[str, Any] = Field(default_factory=dict)
    margin: Annotated[float, Field(gt=0)]
    scale: tuple[float, float]
    step: Annotated[float, Field(ge=0)] = 1
    rubric: str = ""
    attributes: Annotated[Names, Field(min_length=1)]
    questions: tuple[RatedQuestion, ...] = ()
    width: Annotated[float, Field(ge=0)] = 0
    drawn: bool = False
    reference: Names = ()
    margins: Margins = Margins()
    gate: Gate | None = None
    cascade: CascadeCertificate | None = None
    looks: tuple[LockCheck, ...] = ()
    judges: Annotated[tuple[LockedJudge, ...], Field(min_length=1)]
    canary: Annotated[tuple[CanaryResponse, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> Lock:
        if self.format > FORMAT:
            raise ValueError(
                f"made by a newer voirdire (format {self.format}; this one reads formats up to "
                f"{FORMAT}): update voirdire, or freeze a new lock"
            )
        judges = {judge.name for judge in self.judges}
        seen = set()
        for one in self.canary:
            where = f"canary {one.item!r}" + (f" of {one.system!r}" if one.system else "")
            if (one.item, one.system) in seen:
                raise ValueError(f"{where} occurs more than once")
            seen.add((one.item, one.system))
            if set(one.scores) != judges:
                raise ValueError(f"{where}: scores must name the judges {sorted(judges)}")
            for name, values in (*one.scores.items(), *one.humans.items()):
                if len(values) != len(self.attributes):
                    raise ValueError(
                        f"{where}: {name!r} has {len(values)} scores for "
                        f"{len(self.attributes)} attributes"
                    )
        return self

    def scores(self, judge: str, attribute: str) -> Floats:
        """(N,) what a judge said of the canary at the freeze, NaN where missing."""
        at = self.attributes.index(attribute)
        return np.array([one.scores[judge][at] for one in self.canary], dtype=np.float64)

    def humans(self, attribute: str) -> Floats:
        """(R, N) labels in the order of `reference`, NaN where there is none."""
        # A human who labelled nothing of a response has no entry there.
        at, none = self.attributes.index(attribute), (math.nan,) * len(self.attributes)
        return np.array(
            [[one.humans.get(name, none)[at] for one in self.canary] for name in self.reference],
            dtype=np.float64,
        ).reshape(len(self.reference), len(self.canary))

    def choices(self, judge: str, attribute: str) -> Choices:
        """What a judge chose at the freeze of the canary's comparisons."""
        at, n = 3 * self.attributes.index(attribute), 3 * len(self.attributes)
        none = (math.nan,) * n
        said = np.array([one.choices.get(judge, none)[at : at + 3] for one in self.canary])
        return Choices(*(said[:, k].astype(np.float64) for k in range(3)))

    def chosen(self, attribute: str) -> Floats:
        """(R, N) what people chose of the canary's comparisons, NaN where nothing."""
        at, none = self.attributes.index(attribute), (math.nan,) * len(self.attributes)
        return np.array(
            [[one.chosen.get(name, none)[at] for one in self.canary] for name in self.reference],
            dtype=np.float64,
        ).reshape(len(self.reference), len(self.canary))

    @property
    def lengths(self) -> Floats:
        """(N,) how much longer the response named first is; NaN where it is not known."""
        return np.array(
            [math.nan if one.length is None else one.length for one in self.canary], np.float64
        )

    @property
    def groups(self) -> NDArray[np.str_]:
        """(N,) what is resampled: declared clusters, else items."""
        return np.array([one.cluster or one.item for one in self.canary], dtype=np.str_)

    def look_number(self, data: str) -> int:
        """Of a look at the scores with that hash: one more than there were, or as it was before."""
        seen = [look.data for look in self.looks]
        return seen.index(data) + 1 if data in seen else len(seen) + 1

    def remembering(self, data: str, shifts: Scores, errors: Scores) -> Lock:
        """The lock with one more look, unless it saw these scores before."""
        if any(look.data == data for look in self.looks):
            return self
        look = LockCheck(
            date=dt.datetime.now(dt.UTC).date().isoformat(), data=data, shifts=shifts, errors=errors
        )
        return self.model_copy(update={"looks": (*self.looks, look)})

    @property
    def scale_of(self) -> Scale:
        """The scale."""
        return Scale(*self.scale, self.step)


def write_lock(path: str | Path, lock: Lock) -> None:
    """Write a lock file, whole or not at all."""
    sealed = lock
    if lock.format >= FORMAT:
        sealed = lock.model_copy(update={"sealed": _parts(lock)})
        sealed = sealed.model_copy(update={"seal": seal_of(sealed)})
    write_text(path, HEAD + to_toml(sealed.model_dump(mode="python", exclude_defaults=True)))


def seal_of(lock: Lock) -> str:
    """A hash over all that a check reads: scores, texts, labels, margins, looks and how to read."""
    return _digest(_content(lock, "seal"), 16)


def _content(lock: Lock, *without: str) -> dict[str, Any]:
    # Without defaults, so that a key of a later version moves no seal.
    return lock.model_dump(mode="json", exclude_defaults=True, exclude=set(without))


def _digest(content: object, size: int) -> str:
    text = json.dumps(content, sort_keys=True)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


def _parts(lock: Lock) -> dict[str, str]:
    """Key -> a short hash of what stands under it; of a list of tables one of each of them."""
    return {
        key: " ".join(_digest(one, 3) for one in _tables(value)) or _digest(value, 3)
        for key, value in _content(lock, "seal", "sealed").items()
    }


def _tables(value: object) -> list[Any]:
    return value if isinstance(value, list) and value and isinstance(value[0], dict) else []


def _changed(lock: Lock) -> str:
    """What was changed, by the hashes of the parts."""
    if not lock.sealed:
        return "its seal does not fit its content"
    now, content = _parts(lock), _content(lock, "seal", "sealed")
    told = []
    for key in sorted({*now, *lock.sealed}):
        was, is_ = lock.sealed.get(key, "").split(), now.get(key, "").split()
        if was == is_:
            continue
        if not was or not is_:
            told.append(f"`{key}` was {'added' if not was else 'taken out'}")
        elif len(was) != len(is_):
            told.append(f"`{key}` has {len(is_)} entries, and had {len(was)}")
        else:
            other = [n for n, pair in enumerate(zip(was, is_, strict=True)) if pair[0] != pair[1]]
            tables = _tables(content[key])
            which = [_entry(tables[n], n) for n in other[:3]] if tables else []
            more = f" and {len(other) - 3} more" if len(other) > 3 else ""
            told.append(f"`{key}` was changed{' at ' if which else ''}{', '.join(which)}{more}")
    return "; ".join(told) or "its seal or the hashes under `sealed` were changed"


def _entry(table: dict[str, Any], n: int) -> str:
    """An entry of a list by its name, item (and system) or date; by its place where it has none."""
    named = [str(table[key]) for key in ("name", "item", "system", "date") if table.get(key)]
    return " of ".join(map(repr, named)) or f"entry {n + 1}"


def read_lock(path: str | Path) -> Lock:
    """Read a lock file.

    Raises
    ------
    InputError
        No such file, not TOML, a key that is wrong, or a file that was changed by hand since it was
        sealed; the message names the file and the key.
    """
    lock = build_part(Lock, read_toml(path, "lock"), f"lock {path}")
    # A lock of format 1 has no seal; a newer one does not lose it by saying that it is old.
    newer = lock.format >= FORMAT or lock.seal or lock.sealed or lock.planned or lock.one_in
    if newer and lock.seal != seal_of(lock):
        raise InputError(
            f"lock {path}: it was changed by hand after voirdire wrote it ({_changed(lock)}). "
            "Restore the file from version control, or freeze a new lock"
        )
    return lock


def study_name(source: object, measured: Measured) -> str:
    """The name that a study declares; empty for a file of ratings, whose name says nothing."""
    if isinstance(source, pl.DataFrame):
        return ""
    path = Path(source) if isinstance(source, str | Path) else None
    # The name of a drafted study is that of its file, which differs from day to day.
    of_file = path is not None and path.is_file() and path.suffix != ".toml"
    return "" if of_file else measured.study.name


def check_same_study(lock: Lock, where: str, name: str, scale: Scale) -> None:
    """Raise where what is held to the lock is of another study, or on another scale.

    `name` is the study's; empty for a file of ratings, which says none.
    """
    if lock.study and name and lock.study != name:
        raise InputError(
            f"the lock is of study {lock.study!r}, and {where} is of {name!r}: freeze a lock of "
            "its own"
        )
    old = lock.scale_of
    if (old.low, old.high) != (scale.low, scale.high):
        raise InputError(
            f"the scale has changed: {old.low:g} to {old.high:g} in the lock, "
            f"{scale.low:g} to {scale.high:g} in {where}; freeze a new lock"
        )


def rubric_hash(study: Study) -> str:
    """A short hash of the rubric: scale, attributes, levels and instructions."""
    # Sorted keys: the order in which a study file lists them is no change of the rubric.
    text = json.dumps(study.rubric.model_dump(mode="json"), sort_keys=True)
    return short_hash(text.encode())


def short_hash(content: bytes) -> str:
    """Twelve hexadecimal digits."""
    # 48 bits tell a few thousand texts apart and keep a lock short enough to be reviewed; it is no
    # protection against forgery.
    return hashlib.blake2b(content, digest_size=6).hexdigest()


def locked_judges(measured: Measured) -> tuple[LockedJudge, ...]:
    """The judges as the study declares them and as the provider's replies name their models."""
    rows = {row["rater"]: row for row in measured.raters.iter_rows(named=True)}
    answered = answered_by(measured)
    enforced = _schema_answers(measured)
    return tuple(
        LockedJudge(
            name=name,
            model=rows.get(name, {}).get("model") or "",
            answered_by=answered.get(name, ()),
            prompt=rows.get(name, {}).get("prompt_hash") or "",
            temperature=rows.get(name, {}).get("temperature"),
            own=_own(measured, name),
            schema_enforced=next(
                (
                    answer
                    for model, answer in enforced.items()
                    if model in (rows.get(name, {}).get("model") or "")
                ),
                "",
            ),
        )
        for name in measured.judges
    )


def _own(measured: Measured, judge: str) -> Names:
    """Of what is compared, the systems of a judge's own family."""
    if measured.compared is None:
        return ()
    return own_systems(measured.study.rater(judge) or Rater(name=judge), measured.study)


def _schema_answers(measured: Measured) -> dict[str, str]:
    if measured.session is None:
        return {}
    from voirdire.store import schema_answers  # noqa: PLC0415 - loads the store

    return schema_answers(measured.session)


def answered_by(measured: Measured) -> dict[str, Names]:
    """Rater -> the models that its replies name; nothing outside of a session."""
    if measured.session is None:
        return {}
    from voirdire.store import is_session, replies_frame  # noqa: PLC0415 - loads the store

    if not is_session(measured.session):
        return {}
    replies = replies_frame(measured.session).filter(
        pl.col("final") == 1, pl.col("current") == 1, pl.col("answered_by") != ""
    )
    models = replies.group_by("rater").agg(pl.col("answered_by").unique().sort())
    return {rater: tuple(names) for rater, names in models.iter_rows()}


def text_hashes(measured: Measured) -> dict[tuple[str, str], str]:
    """(item, system) -> a hash of the response's text; nothing outside of a session."""
    if measured.session is None:
        return {}
    from voirdire.store import is_session, responses_frame  # noqa: PLC0415 - loads the store

    if not is_session(measured.session):
        return {}
    rows = responses_frame(measured.session).select("item", "system", "text").iter_rows()
    return {
        (item, system): short_hash(text.encode("utf-8", "replace"))
        for item, system, text in rows
        if text is not None
    }
