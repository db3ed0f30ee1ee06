"""Freezing a judge: what it is, and what it said of canary items, as a lock."""

from __future__ import annotations

import datetime as dt
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError, listed, not_there
from voirdire.examining.changing.anchored import with_verdicts
from voirdire.examining.changing.lock import (
    FORMAT,
    LOOKS,
    CanaryResponse,
    Lock,
    locked_judges,
    rubric_hash,
    study_name,
    text_hashes,
)
from voirdire.examining.changing.measured import measured_of
from voirdire.examining.source import is_of_files
from voirdire.examining.spoken import speaks_python
from voirdire.examining.verdict.gathering import gate_of
from voirdire.progress import stage
from voirdire.schema import RULE
from voirdire.study import Gate, ReadOptions

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.certificate import CascadeCertificate
    from voirdire.examining.changing.measured import Measured
    from voirdire.examining.examination import Examination
    from voirdire.examining.sources import AnySource

    Floats = NDArray[np.float64]


@speaks_python
def freeze(  # noqa: PLR0913 - the options are those of the command
    source: AnySource | Examination,
    *,
    reference: Sequence[str] = (),
    read: ReadOptions | None = None,
    judges: Sequence[str] = (),
    items: int | None = None,
    margin: float | None = None,
    alpha: float = 0.05,
    looks: int = LOOKS,
    one_in: int | None = None,
    cascade: CascadeCertificate | None = None,
    seed: int = 0,
) -> Lock:
    """Freeze the judges of a session: what they are, and what they said.

    Parameters
    ----------
    source, reference, read
        As in `voirdire.examine`. A session also says which models answered, and holds the texts
        by whose hashes a changed response is known.
    judges : sequence of str
        Leave out all judges but these.
    items : int, optional
        Draw so many items as canaries; by default all are.
    margin : float, optional
        Points within which a mean is as good as before; by default the study's margin of bias.
    alpha : float
        The probability of any false alarm over all looks together.
    looks : int
        How many looks that promise is for; each has the same limits.
    one_in : int, optional
        In place of `alpha` and `looks`: one look in so many may raise a false alarm.
    cascade : CascadeCertificate, optional
        What was certified of these judges, which each check then says to hold or not.
    seed : int
        The seed of the draw of items.

    Returns
    -------
    Lock

    Raises
    ------
    InputError
        What is wrong with the source; a judge that has no score at all; more items than there are;
        a certificate of other judges or of another attribute.
    """
    if looks < 1 or (one_in is not None and one_in < 2):
        raise InputError(
            f"--looks is 1 or more and --one-in 2 or more, got "
            f"{looks if one_in is None else one_in}"
        )
    measured = measured_of(source, reference=reference, read=read, judges=judges, verdicts=False)
    return _frozen(
        measured,
        source,
        read,
        items=items,
        margin=margin,
        alpha=alpha,
        looks=looks,
        one_in=one_in,
        cascade=cascade,
        seed=seed,
    )


def freeze_each(
    source: AnySource, judges: Collection[str], *, reference: Sequence[str] = ()
) -> dict[str, Lock]:
    """A lock for each of some judges of a source, which is read once.

    A judge that has no score, or is not there, has none.

    Raises
    ------
    InputError
        What is wrong with the source.
    """
    measured = measured_of(source, reference=reference, verdicts=False)
    made = {}
    for judge in measured.judges:
        if judge not in judges:
            continue
        with suppress(InputError):
            made[judge] = _frozen(replace(measured, judges=(judge,)), source, None)
    return made


def _frozen(  # noqa: PLR0913 - those of `freeze`
    measured: Measured,
    source: object,
    read: ReadOptions | None,
    *,
    items: int | None = None,
    margin: float | None = None,
    alpha: float = 0.05,
    looks: int = LOOKS,
    one_in: int | None = None,
    cascade: CascadeCertificate | None = None,
    seed: int = 0,
) -> Lock:
    for judge in measured.judges:
        if np.isnan(measured.cube.scores[measured.cube.raters.index(judge)]).all():
            raise InputError(
                f"{measured.name}: judge {judge!r} has no score, so it cannot be frozen"
            )
    if cascade is not None:
        _check_certificate(cascade, measured)
    stage("freezing the judges")
    kept = _drawn(measured, items, seed)
    gate = gate_of(measured.study, measured.scale)
    lock = Lock(
        format=FORMAT,
        rule=RULE,
        planned=0 if one_in is not None else looks,
        one_in=one_in or 0,
        read=_reading(source, read, measured),
        study=study_name(source, measured),
        frozen=dt.datetime.now(dt.UTC).date().isoformat(),
        alpha=alpha,
        margin=measured.study.margins.bias * measured.scale.width if margin is None else margin,
        scale=(measured.scale.low, measured.scale.high),
        step=measured.scale.step,
        rubric=rubric_hash(measured.study),
        attributes=measured.cube.attributes,
        questions=measured.questions,
        width=0 if measured.compared is None else measured.compared.width,
        drawn=measured.compared is not None and measured.compared.drawn,
        reference=measured.reference,
        margins=measured.study.margins,
        gate=None
        if gate is None
        else Gate(at=gate.at, sensitivity=gate.sensitivity, specificity=gate.specificity),
        cascade=cascade,
        judges=locked_judges(measured),
        canary=_canary(measured, kept),
    )
    return with_verdicts(lock)


def _check_certificate(cascade: CascadeCertificate, measured: Measured) -> None:
    lost = [name for name in cascade.judges if name not in measured.judges]
    if lost:
        raise InputError(
            f"--cascade: it is certified of {listed(lost)}, not frozen here (frozen: "
            f"{listed(measured.judges)})"
        )
    if cascade.attribute not in measured.cube.attributes:
        raise not_there("attribute", cascade.attribute, measured.cube.attributes, "--cascade")


def _reading(source: object, read: ReadOptions | None, measured: Measured) -> dict[str, Any]:
    """How a source was read, without what joined labels to it: a check joins none.

    Of one file without a study also what was found out about it, so that a check looks for
    nothing anew: its columns, its scales and who judged.
    """
    read = read or ReadOptions()
    kept = {**read.keys_set("human", "key", "about")}
    sources = measured.files or measured.study.data.sources
    one = source[0] if isinstance(source, list | tuple) and source else source
    name = Path(one).name if isinstance(one, str | Path) else "frame"
    alone = len(sources) == 1 and Path(sources[0].path).name == name
    if is_of_files(source) and alone and not read.human:
        found = sources[0].keys_set("key", "about", "layout", "columns", "prefix")
        kept = {**found, **kept, **({"judge": measured.judges} if read.judge else {})}
    elif read.judge:
        kept["judge"] = read.judge
    return {**kept, **({"families": read.families} if read.families else {})}


def _drawn(measured: Measured, items: int | None, seed: int) -> NDArray[np.bool_]:
    """(N,) the responses whose items were drawn and that some judge scored."""
    at = [measured.cube.raters.index(judge) for judge in measured.judges]
    scored = np.asarray(~np.isnan(measured.cube.scores[at]).all(axis=(0, 1)))
    if items is None:
        return scored
    # Items are drawn whole: all systems' answers to one are compared together.
    there = np.unique(measured.cube.item[scored])
    if items > len(there):
        raise InputError(
            f"--items {items}: {measured.name} has {len(there)} items that a judge scored"
        )
    chosen = np.random.default_rng(seed).choice(there, items, replace=False)
    return scored & np.isin(measured.cube.item, chosen)


def _canary(measured: Measured, kept: NDArray[np.bool_]) -> tuple[CanaryResponse, ...]:
    cube, hashes = measured.cube, text_hashes(measured)
    item, system = measured.item, measured.system
    scores = {name: cube.scores[cube.raters.index(name)] for name in cube.raters}
    choices, chosen, length = _compared(measured)
    return tuple(
        CanaryResponse(
            item=str(item[k]),
            system=str(system[k]),
            cluster="" if measured.clusters is None else str(measured.clusters[k]),
            text=hashes.get((str(item[k]), str(system[k])), ""),
            scores={name: tuple(scores[name][:, k].tolist()) for name in measured.judges},
            humans={
                name: tuple(scores[name][:, k].tolist())
                for name in measured.reference
                if not np.isnan(scores[name][:, k]).all()
            },
            choices={name: tuple(own[:, k].tolist()) for name, own in choices.items()},
            chosen={
                name: tuple(own[:, k].tolist())
                for name, own in chosen.items()
                if not np.isnan(own[:, k]).all()
            },
            length=None if np.isnan(length[k]) else float(length[k]),
        )
        for k in np.flatnonzero(kept)
    )


def _compared(measured: Measured) -> tuple[dict[str, Floats], dict[str, Floats], Floats]:
    """Of comparisons: judge -> (3 A, N) choices, human -> (A, N), and (N,) lengths; else nothing.

    Winners alone would leave who was shown first, and how clear a choice is, to nobody.
    """
    item, system = measured.item, measured.system
    facts, none = measured.compared, np.full(len(item), np.nan)
    if facts is None:
        return {}, {}, none
    by_name = {one.name: one for one in measured.questions if one.kind == "preference"}
    asked = [by_name.get(name) for name in measured.cube.attributes]
    choices: dict[str, Floats] = {}
    for judge in measured.judges:
        rows: list[Floats] = []
        for one in asked:
            own = None if one is None else facts.choices(judge, one, item, system)
            rows += [none] * 3 if own is None else [own.scores, own.swapped, own.first]
        choices[judge] = np.stack(rows)
    people = [
        np.full((len(measured.reference), len(item)), np.nan)
        if one is None
        else facts.people(measured.reference, one, item, system)
        for one in asked
    ]
    chosen = {
        name: np.stack([own[k] for own in people]) for k, name in enumerate(measured.reference)
    }
    known = next((one for one in asked if one is not None), None)
    return choices, chosen, none if known is None else facts.lengths(known, item, system)
