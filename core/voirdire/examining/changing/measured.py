"""A source read as far as two of them can be held beside each other, and what they share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire import tables
from voirdire.errors import InputError, listed, not_there
from voirdire.examining.as_ratings import as_ratings, questions_of
from voirdire.examining.changing.chosen import compared_facts
from voirdire.examining.examination import Examination
from voirdire.examining.panel import scale_of
from voirdire.examining.ratings.cube import build_cube
from voirdire.examining.source import inputs_of, open_source
from voirdire.examining.spec import KINDS
from voirdire.examining.verdict.gathering import clusters_of, judged_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.changing.chosen import ComparedFacts
    from voirdire.examining.inputs import Inputs
    from voirdire.examining.ratings.cube import Cube
    from voirdire.examining.sources import AnySource
    from voirdire.examining.spec.rated_question import RatedQuestion
    from voirdire.examining.verdict.facts import Evidence, Verdict
    from voirdire.schema import Finding, Scale
    from voirdire.study import ReadOptions, Source, Study

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Ratings of one source as a cube, with what is said about its judges.

    Attributes
    ----------
    name : str
        The file or folder, or the study's name where there is none.
    judges, reference : tuple of str
        Raters that are examined, and those that they are held against.
    clusters : (N,) array or None
        The declared cluster of each response of the cube; None where items are the unit.
    verdicts, evidence : tuple
        Empty where there is no reference.
    raters : DataFrame
        ``rater, model, temperature, prompt_hash`` and more, as `voirdire.tables.RATERS`.
    ratings : DataFrame
        As `voirdire.tables.RATINGS`.
    replies : DataFrame or None
        Raw replies that a file holds: ``item, system, rater, run, reply``.
    session : Path or None
        The folder of the session that it is.
    questions : tuple of RatedQuestion
        What attributes of labels, probabilities and comparisons answer; none of scores.
    compared : ComparedFacts or None
        Comparisons as they were shown.
    files : tuple of Source
        How labels and comparisons were read, which are examined as votes; empty of scores, whose
        study says so.
    """

    name: str
    study: Study
    cube: Cube
    judges: tuple[str, ...]
    reference: tuple[str, ...]
    scale: Scale
    clusters: NDArray[np.str_] | None
    verdicts: tuple[Verdict, ...]
    evidence: tuple[Evidence, ...]
    raters: pl.DataFrame
    ratings: pl.DataFrame
    findings: tuple[Finding, ...] = ()
    replies: pl.DataFrame | None = None
    session: Path | None = None
    questions: tuple[RatedQuestion, ...] = ()
    compared: ComparedFacts | None = None
    files: tuple[Source, ...] = ()

    @property
    def item(self) -> NDArray[np.str_]:
        """(N,) the item of each response."""
        return np.array(self.cube.items, dtype=np.str_)[self.cube.item]

    @property
    def system(self) -> NDArray[np.str_]:
        """(N,) the system of each response; empty where there are none."""
        return np.array(self.cube.systems, dtype=np.str_)[self.cube.system]

    @property
    def groups(self) -> NDArray[np.str_]:
        """(N,) what is resampled: declared clusters, else items."""
        return self.item if self.clusters is None else self.clusters


def measured_of(
    source: AnySource | Examination,
    *,
    reference: Sequence[str] = (),
    read: ReadOptions | None = None,
    judges: Sequence[str] = (),
    verdicts: bool = True,
) -> Measured:
    """Read a source, or take what an examination read.

    Parameters
    ----------
    source, reference, read
        As in `voirdire.examine`; an Examination is taken as it is.
    judges : sequence of str
        Leave out all judges but these.
    verdicts : bool
        Whether judges with a reference are given verdicts by use.

    Raises
    ------
    InputError
        What is wrong with the source; no rater that is not the reference; a judge of `judges` that
        is not there.
    """
    if isinstance(source, Examination):
        return _of_examination(source, judges)
    changes = {"data": {"reference": tuple(reference) or None}}
    opened = open_source(source, reference=reference, read=read, changes=changes)
    questions = questions_of(opened)
    judged = compared = None
    files = opened.study.data.sources if questions else ()
    if questions:
        compared = compared_facts(opened)
        if verdicts:
            whole = inputs_of(opened)
            judged = judged_of(whole)
        opened = as_ratings(opened, reference)
    inputs = inputs_of(opened)
    panel = inputs.panel
    cube = inputs.cube
    if verdicts and panel.reference and not questions:
        judged = judged_of(inputs, [KINDS["score"]])
    name = _name(source, inputs.study)
    return Measured(
        name=name,
        study=inputs.study,
        cube=cube,
        judges=_chosen([judge.name for judge in panel.judges], judges, name),
        reference=panel.reference,
        scale=panel.scale,
        clusters=clusters_of(inputs.ratings, cube),
        verdicts=() if judged is None else judged.verdicts,
        evidence=() if judged is None else judged.evidence,
        raters=_raters(inputs),
        ratings=inputs.ratings,
        findings=inputs.findings,
        replies=None if inputs.tables is None else inputs.tables.replies,
        session=inputs.session,
        questions=questions,
        compared=compared,
        files=files,
    )


def _of_examination(examination: Examination, judges: Sequence[str]) -> Measured:
    # From the ratings themselves: an Examination that a plugin made may have no panel.
    raters = examination.ratings["rater"].cast(pl.String).unique(maintain_order=True).to_list()
    reference = examination.inputs.reference
    attributes = [part.name for part in examination.study.rubric.attributes]
    attributes = attributes or (
        examination.ratings["attribute"].cast(pl.String).unique(maintain_order=True).to_list()
    )
    cube = build_cube(
        examination.ratings,
        raters,
        attributes,
        [system.name for system in examination.study.systems],
    )
    others = [name for name in raters if name not in reference]
    return Measured(
        name=examination.study.name,
        study=examination.study,
        cube=cube,
        judges=_chosen(others, judges, examination.study.name),
        reference=reference,
        scale=scale_of(examination.study),
        clusters=clusters_of(examination.ratings, cube),
        verdicts=examination.verdicts,
        evidence=examination.evidence,
        raters=examination.inputs.raters,
        ratings=examination.ratings,
        findings=examination.findings,
        replies=examination.texts.replies,
        session=examination.session,
    )


def _raters(inputs: Inputs) -> pl.DataFrame:
    """The raters; a session also knows by a hash what each was asked with."""
    path = None if inputs.session is None else inputs.session / "raters.parquet"
    if path is not None and path.is_file():
        return pl.read_parquet(path)
    return tables.RATERS.to_frame() if inputs.tables is None else inputs.tables.raters


def _chosen(there: Sequence[str], wanted: Sequence[str], name: str) -> tuple[str, ...]:
    unknown = [judge for judge in wanted if judge not in there]
    if unknown:
        raise not_there("judge", unknown[0], there, name)
    if not there:
        raise InputError(f"{name}: all raters are the reference, so there is no judge in it")
    return tuple(judge for judge in there if not wanted or judge in wanted)


def _name(source: AnySource, study: Study) -> str:
    if isinstance(source, str | Path):
        return str(source)
    return study.name


def check_scales(a: Measured, b: Measured) -> None:
    """Raise where two sources do not use the same scale.

    Raises
    ------
    InputError
        Other ends: a difference of scores would mean nothing.
    """
    if (a.scale.low, a.scale.high) != (b.scale.low, b.scale.high):
        raise InputError(
            f"the scale has changed: {_scale(a.scale)} in {a.name}, {_scale(b.scale)} in {b.name}; "
            "scores on different scales cannot be held beside each other"
        )


def _scale(scale: Scale) -> str:
    return f"{scale.low:g} to {scale.high:g}"


def matched(
    what: str, a: Sequence[str], b: Sequence[str], given: Mapping[str, str], names: tuple[str, str]
) -> dict[str, str]:
    """Names of A -> names of B: those given and no others; else those alike, or the only ones.

    Raises
    ------
    InputError
        A given name is not there, or nothing is shared.

    Examples
    --------
    >>> matched("judge", ["old", "x"], ["new", "x"], {}, ("A", "B"))
    {'x': 'x'}
    >>> matched("judge", ["old"], ["new"], {}, ("A", "B"))
    {'old': 'new'}
    """
    for old, new in given.items():
        for name, there, where in ((old, a, names[0]), (new, b, names[1])):
            if name not in there:
                raise not_there(what, name, there, where)
    # Who names some means these alone: a pair that is not wanted must be left out somehow.
    pairs = dict(given) or {name: name for name in a if name in b}
    if not pairs and len(a) == len(b) == 1:
        return {a[0]: b[0]}
    if not pairs:
        raise InputError(
            f"no {what} is in both: {listed(a)} in {names[0]}, {listed(b)} in {names[1]}; "
            f"say by --{what} OLD=NEW which belong together"
        )
    return pairs


def shared_responses(
    a: Measured, b: Measured, systems: Mapping[str, str]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Positions in A and in B of the responses (item and system) that are in both."""
    number = {name: at for at, name in enumerate(systems)}
    of_new = {new: number[old] for old, new in systems.items()}
    keys = []
    # Both sides are numbered by the items of A; -1 marks what A does not have.
    places = {name: at for at, name in enumerate(a.cube.items)}
    for measured, numbers in ((a, number), (b, of_new)):
        item = np.array([places.get(name, -1) for name in measured.cube.items])[measured.cube.item]
        system = np.array([numbers.get(name, -1) for name in measured.cube.systems])
        at = system[measured.cube.system]
        keys.append(np.where((item < 0) | (at < 0), -1, item * len(number) + at))
    _, first, second = np.intersect1d(keys[0], keys[1], return_indices=True)
    # -1 stands for all that is not shared, and would pair them with each other.
    kept = keys[0][first] >= 0
    return first[kept].astype(np.intp), second[kept].astype(np.intp)


def replies_of(measured: Measured) -> pl.DataFrame:
    """Raw replies: ``item, system, rater, reply``, of the first run; empty where none is kept."""
    empty = pl.DataFrame(schema=dict.fromkeys(("item", "system", "rater", "reply"), pl.String))
    if measured.session is not None:
        from voirdire.store import is_session, replies_frame  # noqa: PLC0415 - loads the store

        if is_session(measured.session):
            kept = replies_frame(measured.session).filter(
                pl.col("final") == 1, pl.col("current") == 1, pl.col("run") == 1
            )
            return kept.select(
                "item", pl.col("first").alias("system"), "rater", pl.col("text").alias("reply")
            )
    if measured.replies is None or measured.replies.is_empty():
        return empty
    # One reply is enough to read; the first run is there where any is.
    kept = measured.replies.filter(pl.col("run") == pl.col("run").min())
    return kept.select(
        *(pl.col(name).cast(pl.String).fill_null("") for name in ("item", "system", "rater")),
        "reply",
    )
