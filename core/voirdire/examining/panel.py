"""Who judges, who is the reference, and on which scale: a study's panel as its data have it."""

from __future__ import annotations

import json
from dataclasses import field
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import InputError, QuestionError, check_allowed, listed, not_rated
from voirdire.late import dataclass
from voirdire.schema import Scale
from voirdire.study import Rater, Study, family_of, own_systems

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.tables import Tables

#: So many raters are offered as the reference.
_MOST_CHOICES = 8


@dataclass(frozen=True, slots=True)
class Member:
    """A rater of the panel that has ratings.

    Attributes
    ----------
    excluded : tuple of str
        Systems whose ratings by this rater are left out: those that it excludes, else those of its
        own family.
    family_systems : tuple of str or None
        Systems of its own family where it excludes others; None where there is nothing to compare.
    human : bool
        Whether it is declared to be one.
    derived : bool
        Whether it is a jury, whose scores follow from those of others.
    """

    name: str
    excluded: tuple[str, ...] = ()
    family_systems: tuple[str, ...] | None = None
    human: bool = False
    derived: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """Who judges, who is the reference, and what is rated on which scale.

    Attributes
    ----------
    members : tuple of Member
        Raters with ratings, in the order of the study's panel, then of the tables.
    reference : tuple of str
        The raters that the others are held against; empty where there are none.
    each : bool
        Whether judges are held against each reference rater in turn, and not against their mean.
    quorum : int
        The fewest reference raters whose mean counts.
    listwise : bool
        Whether a pair counts only where every member rated.
    attributes, systems : tuple of str
        In their declared order; `systems` are those that are declared.
    composites : mapping
        Name -> the attributes that it is the mean of.
    """

    members: tuple[Member, ...] = ()
    reference: tuple[str, ...] = ()
    each: bool = False
    quorum: int = 1
    listwise: bool = False
    attributes: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    composites: Mapping[str, Sequence[str]] = field(default_factory=dict)
    scale: Scale = Scale(1, 5)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the members."""
        return tuple(member.name for member in self.members)

    @property
    def judges(self) -> tuple[Member, ...]:
        """The members that are no reference."""
        return tuple(member for member in self.members if member.name not in self.reference)

    def chosen(self, asked: Sequence[str]) -> tuple[str, ...]:
        """Names of the members that `asked` means: humans, judges, names; all where it is empty.

        Humans are the members declared so, or the reference where none is; judges are the others. A
        jury repeats what its members said, and is meant only where it is named.

        Raises
        ------
        InputError
            A name that has no ratings.
        """
        own = {member.name for member in self.members if not member.derived}
        humans = {member.name for member in self.members if member.human} & own
        humans = humans or set(self.reference)
        groups = {"humans": humans, "judges": own - humans}
        check_allowed("rater", asked, [*groups, *self.names])
        wanted = {name for word in asked for name in groups.get(word, {word})} if asked else own
        return tuple(name for name in self.names if name in wanted)

    @property
    def references(self) -> tuple[tuple[str, ...], ...]:
        """The groups of raters whose mean the judges are held against, one after another."""
        if self.each:
            return tuple((name,) for name in self.reference)
        return (self.reference,) if self.reference else ()


def panel_of(study: Study, rated: Tables, only: Sequence[str] = ()) -> Panel:
    """Who takes part: the study's panel as far as it has ratings, then others that have some.

    Parameters
    ----------
    only : sequence of str, optional
        Leave out all raters but these.

    Raises
    ------
    InputError
        A reference that has no ratings.
    """
    present = [name for name in rated.raters["rater"].to_list() if not only or name in only]
    declared = [rater for rater in study.panel if rater.name in present]
    names = {rater.name for rater in declared}
    raters = declared + [Rater(name=name) for name in present if name not in names]
    # Declared ones in their order, rated or not: an attribute that nobody rated is said to be
    # missing.
    attributes = [attribute.name for attribute in study.rubric.attributes]
    if not attributes:
        occurring = rated.ratings["attribute"].cast(pl.String)
        attributes = occurring.unique(maintain_order=True).to_list()
    return Panel(
        members=tuple(member_of(rater, study) for rater in raters),
        reference=_reference(study, raters),
        each=study.data.reference_use == "each",
        quorum=study.data.quorum,
        listwise=study.data.pairs == "listwise",
        attributes=tuple(attributes),
        systems=tuple(system.name for system in study.systems),
        composites=study.rubric.composites,
        scale=scale_of(study),
    )


def scale_of(study: Study) -> Scale:
    """The declared scale."""
    return Scale(*study.rubric.scale, study.rubric.step)


def check_panel(study: Study, panel: Panel, *, others: bool, compared: bool) -> None:
    """Raise where nobody can be held against anybody, and nothing else is there to examine.

    Parameters
    ----------
    others : bool
        Whether there is anything to say without a reference: labels over runs, or comparisons.
    compared : bool
        Whether systems were compared.

    Raises
    ------
    QuestionError
        There is no reference: whose judgements are it?
    InputError
        There is no judge beside one human.
    """
    if study.analysis.measures:
        return
    if not panel.reference and not (others or compared):
        raise _whose_reference(panel)
    # Whoever only compares is judged by preferences, and is no member of this panel.
    if not panel.judges and not compared:
        asked = ", ".join(rater.name for rater in study.panel if rater.model)
        # Two people and no judge: how they agree is what can be said.
        if len(panel.reference) > 1 and not asked:
            return
        raise InputError(
            f"there is no judge to examine: all raters are the reference "
            f"({', '.join(panel.reference)})"
            + (f"; not rated yet, voirdire run asks them: {asked}" if asked else "")
        )


def _whose_reference(panel: Panel) -> QuestionError:
    """The question who is the reference; columns of one file may be people as well as attributes.

    A file of its own with columns that nobody knows is one rater with these attributes. Two people
    look alike, and their agreement is what a first look is for.
    """
    names, people = tuple(panel.names), tuple(panel.names[:1])
    columns = panel.attributes
    said = f"no reference is named. Whose judgements are the others held against: {listed(names)}?"
    if len(names) == 1 and len(columns) > 1 and not any(set(name) & {",", '"'} for name in columns):
        said = (
            f"no reference is named, and {listed(columns)} are read as what {names[0]!r} judged. "
            "Are they people? Then their agreement is examined. If one is a person and the others "
            "judges, name the person."
        )
        names, people = (",".join(columns), *columns), columns
    said += " Labels of people in a file of their own are given by --human FILE."
    line = f"reference = {json.dumps(people)}"
    return QuestionError(said, "reference", names[:_MOST_CHOICES], line, likely=False)


def _reference(study: Study, raters: Sequence[Rater]) -> tuple[str, ...]:
    """The declared reference, else every human."""
    names = [rater.name for rater in raters]
    unknown = [name for name in study.data.reference if name not in names]
    if unknown:
        raise not_rated(unknown, names, error=InputError)
    return study.data.reference or tuple(r.name for r in raters if r.kind == "human")


def member_of(rater: Rater, study: Study) -> Member:
    family = own_systems(rater, study)
    human = rater.kind == "human"
    if rater.excludes is None:
        return Member(rater.name, family, human=human)
    known = bool(family_of(rater, study))
    return Member(rater.name, rater.excludes, family if known else None, human)
