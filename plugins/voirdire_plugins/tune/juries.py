"""A jury's ways that cost no call: how its members are put together, weighed and left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.errors import InputError, StatisticsError, not_there
from voirdire.examining.panel import member_of
from voirdire.stats import combine
from voirdire_plugins.tune.candidates import Scored, mean_run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from voirdire.study import Rater, Study
    from voirdire_plugins.tune.asking import Asking
    from voirdire_plugins.tune.units import Units

    Floats = NDArray[np.float64]

#: Ways to put members together that are tried, and how a report names them.
_HOW = {
    "mean": "the mean", "median": "the median", "vote": "the commonest score",
    "fitted": "weights by people's scores",
}  # fmt: skip


def members_of(jury: Rater, study: Study) -> tuple[Rater, ...]:
    """The members of a jury that ask a model.

    Raises
    ------
    InputError
        One is not in the panel, or asks nobody.
    """
    asked = {one.name: one for one in study.panel if one.model_names}
    for name in jury.members:
        if name not in asked:
            raise not_there("member", name, list(asked), f"members of {jury.name} that ask a model")
    return tuple(asked[name] for name in jury.members)


def jury_specs(jury: Rater, members: Sequence[Rater]) -> tuple[Rater, ...]:
    """The jury as it is, otherwise combined, without each of its members; and each alone."""
    made = [jury]
    for how in _HOW:
        if how != jury.combine:
            name = f"{jury.name} {how}"
            made.append(jury.model_copy(update={"name": name, "combine": how}))
    for one in members if len(members) > 2 else ():
        rest = tuple(name for name in jury.members if name != one.name)
        name = f"{jury.name} without {one.name}"
        made.append(jury.model_copy(update={"name": name, "members": rest}))
    return (*made, *members)


def jury_scores(
    specs: Sequence[Rater], units: Units, ratings: pl.DataFrame, asking: Asking
) -> list[Scored]:
    """What each of these would say, by what its members said; nobody is asked."""
    jury = specs[0]
    said = {
        name: units.without(excluded_by(name, asking.study), units.scores(ratings, name))
        for name in jury.members
    }
    for spec in specs:
        if spec.is_jury:
            each = [asking.used.get(name, (0, None))[1] for name in spec.members]
            runs = [len(said[name]) for name in spec.members]
            known = [cost * n for cost, n in zip(each, runs, strict=True) if cost is not None]
            asking.used[spec.name] = (0, sum(known) if len(known) == len(each) else None)
            asking.unread[spec.name] = 0
    return list(_scored(specs, said, units))


def excluded_by(name: str, study: Study) -> tuple[str, ...]:
    """Systems that a member of the panel may not judge: what it excludes, else its own family's."""
    rater = study.rater(name)
    return () if rater is None else member_of(rater, study).excluded


def _scored(specs: Sequence[Rater], said: dict[str, Floats], units: Units) -> Iterator[Scored]:
    jury = specs[0]
    for spec in specs:
        if not spec.is_jury:
            yield Scored(spec.name, said[spec.name], spec.name, f"{spec.name} alone")
            continue
        try:
            scores = _combined(spec, [mean_run(said[name]) for name in spec.members], units)
        except StatisticsError as error:
            if spec is jury:
                raise InputError(
                    f"jury {jury.name!r}, combine = {spec.combine!r}: {error}"
                ) from error
            continue  # fine scores are not voted on
        change = "" if spec is jury else _HOW[spec.combine]
        if len(spec.members) < len(jury.members):
            (left,) = set(jury.members) - set(spec.members)
            change = f"without {left}"
        yield Scored(spec.name, scores[None], spec.name, change)


def _combined(spec: Rater, members: Sequence[Floats], units: Units) -> Floats:
    """(n,) by attribute, as an examination derives it."""
    people = mean_run(units.humans.T)
    attributes = units.keys["attribute"].to_numpy()
    values = np.full(len(units), np.nan)
    for name in np.unique(attributes):
        own = attributes == name
        fitted = spec.combine == "fitted"
        if fitted and np.isnan(people[own]).all():
            raise InputError(
                f"{spec.name} weighs its members by people's scores: without any it has none"
            )
        values[own] = combine(
            np.stack([one[own] for one in members]),
            spec.combine,
            reference=people[own] if fitted else None,
            clusters=units.cluster[own],
        )
    return values
